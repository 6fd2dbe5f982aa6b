#!/usr/bin/env python3
"""Measures models whose control flow only reads the data structure.

  run.py [--build=build] [--trees=FILE] [--nary=FILE] [--instances=64] [--runs=N]
         [--models=a,b] [--sizes=256,512] [--batches=1,10,64] [--threads=1,2]
         [--cpu=NAME] [--output=FILE] [--add]

Runs every model over trees and DAGs on the first trees of a file (default: the GUM trees of
../shared/data if present, else examples/data; DAG-RNN: 10x10 grids) at two hidden sizes (MV-RNN: a
quarter of them) with batch-run --bench. batch-peak measures the peaks of the machine before and
after each model and size. Since the speed of shared machines changes, the larger of each two
numbers is the peak of the runs between. Builds nothing: run scripts/check first. Prints a table and
stores JSON.

Mini-batches have exactly the sizes of --batches. The remainder of --instances does not run, so 64
instances make 6 mini-batches of 10. The JSON has the number that ran ("mini_batches" of "batch"
instances).

The table has medians per mini-batch, and the JSON also minima:

- inspect, schedule, execute and total, in microseconds;
- "kernels": the total over the time that a worker spends in kernels, in separate runs;
- GFLOP/s of the products;
- the share of the larger of two floors: products at the FMA peak, and bytes that must move at the
  copy bandwidth;
- "levels": the share of a third floor, level by level the larger of its products at the FMA peak
  and its weights at the speed of repeated reads of as many bytes;
- "model": the share of levels and activations together, at the speed of the activations of TreeRNN;
- "batching", on one thread: the time of the unbatched lowering over the total. It runs the same
  kernels one task at a time on one thread;
- "threads", on more threads: the total on one thread over the total on these threads;
- "overheads", in microseconds, measured first: a run of a tree of one leaf, and a step of one task,
  after which all workers wait for each other.

--cpu=x86-64-v3 compiles for CPUs with AVX2, x86-64-v4 for those with AVX-512; the peaks are those
of these vectors. --add keeps the contents of the output file, including overheads, for a run in
pieces. "commands" in the JSON lists the commands that made it.
"""

import argparse
import json
import os
import random
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402, trees and graphs, as in tests

# Six numbers for each model and hidden size h. The first three are the FLOPs of the products of a
# leaf, of an inner node and of each child. The others are the numbers of floats in the parameters
# (without embeddings), in the results of a node, and in the rows of a word.
MODELS = {
    "treernn": lambda h: (0, 2 * h, 0, 0, h, h),
    "treernn_w": lambda h: (2 * h * h, 2 * h * h, 0, 2 * h * h + h, h, h),
    "treefc": lambda h: (0, 4 * h * h, 0, 2 * h * h + h, h, h),
    "treegru_nary": lambda h: (6 * h * h + 10 * h, 12 * h * h + 10 * h, 0,
                               9 * h * h + 8 * h, h + 5, h),
    "treegru_cs": lambda h: (4 * h * h, 6 * h * h, 0, 5 * h * h + 3 * h, h, h),
    "treegru_cs_dep": lambda h: (4 * h * h, 12 * h * h, 0, 6 * h * h + 3 * h, h, h),
    "simpletreegru": lambda h: (4 * h * h, 6 * h * h, 0, 5 * h * h + 3 * h, h, h),
    "treelstm_nary": lambda h: (6 * h * h + 10 * h, 16 * h * h + 10 * h, 0,
                                11 * h * h + 9 * h, 2 * h + 5, h),
    "treelstm_nary_tai": lambda h: (6 * h * h + 10 * h, 20 * h * h + 10 * h, 0,
                                    13 * h * h + 9 * h, 2 * h + 5, h),
    "treelstm_cs": lambda h: (6 * h * h, 6 * h * h, 2 * h * h,
                              7 * h * h + 4 * h, 2 * h, h),
    "treelstm_cs_dep": lambda h: (6 * h * h, 14 * h * h, 2 * h * h,
                                  8 * h * h + 4 * h, 2 * h, h),
    "mvrnn": lambda h: (10 * h, 4 * h * h * h + 8 * h * h + 10 * h, 0,
                        4 * h * h + 7 * h, h + 5, h * h + h),
    "dagrnn": lambda h: (4 * h * h, 4 * h * h, 0, 2 * h * h + h, h, h),
}

# Numbers of activations (sigmoid, tanh) of a leaf, of an inner node and of each child, for each
# of the h columns.
ACTIVATIONS = {
    "treernn": (0, 1, 0), "treernn_w": (1, 1, 0), "treefc": (0, 0, 0),
    "treegru_nary": (3, 3, 0), "treegru_cs": (2, 3, 0), "treegru_cs_dep": (2, 3, 0),
    "simpletreegru": (2, 3, 0), "treelstm_nary": (4, 6, 0),
    "treelstm_nary_tai": (4, 6, 0), "treelstm_cs": (4, 4, 1),
    "treelstm_cs_dep": (4, 4, 1), "mvrnn": (0, 1, 0), "dagrnn": (1, 1, 0),
}


def count_nodes(model, values):
    """Returns the numbers of leaves, inner nodes and children of values: trees as lists, or DAGs.
    All nodes of a DAG count as inner nodes."""
    leaves = inner = kids = 0
    for value in values:
        if isinstance(value, dict):
            inner += len(value["nodes"])
            kids += sum(len(node[2]) for node in value["nodes"])
            continue
        work = [value]
        while work:
            node = work.pop()
            children = [] if isinstance(node[1], str) else node[1:]
            if model in batchtest.DEP:
                children = node[2] if node[0] == "node" else []
            leaves += not children
            inner += bool(children)
            kids += len(children)
            work += children
    return leaves, inner, kids


def levels_of(model, value):
    """Returns the numbers of nodes and of their children for each height. Leaves of trees have
    height 0, and leaves of DAGs have height 1."""
    heights = {}

    def add(height, kids):
        nodes, children = heights.get(height, (0, 0))
        heights[height] = (nodes + 1, children + kids)
        return height

    if isinstance(value, dict):
        known = []
        for node in value["nodes"]:
            kids = [kid["ref"] if isinstance(kid, dict) else kid
                    for kid in node[2]]
            known.append(add(1 + max((known[kid] for kid in kids), default=0),
                             len(kids)))
        return heights
    # Lists parents before children, without recursion. The last loop reverses this order.
    order, work, known = [], [value], {}
    while work:
        node = work.pop()
        children = [] if isinstance(node[1], str) else node[1:]
        if model in batchtest.DEP:
            children = node[2] if node[0] == "node" else []
        order.append((node, children))
        work += children
    for node, children in reversed(order):
        known[id(node)] = add(1 + max((known[id(kid)] for kid in children),
                                      default=-1), len(children))
    return heights


def level_floor(model, size, values, batch, threads, peak):
    """Returns the minimum time in seconds, summed over mini-batches and levels. The time of a level
    is the larger of two: the time of its products at the peak, and the time of reading its weights
    at the rate of repeated reads."""
    leaf, inner, kid, parameters, _, _ = MODELS[model](size)
    rates = sorted((float(mebibytes) * 2**20, rate * 1e9)
                   for mebibytes, rate in peak["read_gbytes"].items())

    def read_time(weights):
        share = weights / threads
        rate = next((rate for limit, rate in rates if share <= limit),
                    rates[-1][1])
        return weights / rate

    total = 0
    for first in range(0, len(values), batch):
        totals = {}
        for value in values[first:first + batch]:
            for height, (nodes, kids) in levels_of(model, value).items():
                n, k = totals.get(height, (0, 0))
                totals[height] = (n + nodes, k + kids)
        for height, (nodes, kids) in totals.items():
            per_node = inner if height else leaf
            flops = per_node * nodes + kid * kids
            # A dense layer has two FLOPs per weight and row. A weight has four bytes.
            weights = min(2 * (per_node + (kid if kids else 0)), 4 * parameters)
            total += max(flops / (peak["fma_gflops"] * 1e9), read_time(weights))
    return total


def make_inputs(model, options, folder):
    """Returns the model's input file and its values."""
    path = os.path.join(folder, model + ".txt")
    if model in batchtest.DAG:
        generator = random.Random(1)
        values = [batchtest.grid(generator, 10, 10, True)
                  for _ in range(options.instances)]
        return batchtest.write_lines(path + ".jsonl", values), values
    with open(options.trees if model in batchtest.BINARY else options.nary) as file:
        lines = [line.strip() for line in file if line.strip()]
    lines = [lines[i % len(lines)] for i in range(options.instances)]
    if model in batchtest.DEP:
        values = batchtest.dep_trees(lines)
        return batchtest.write_lines(path + ".jsonl", values), values
    return (batchtest.write_lines(path, lines),
            [batchtest.parse_brackets(line) for line in lines])


def floors(model, size, nodes, peak, mini_batches):
    """Returns the FLOPs, and the seconds that products and memory traffic take at the peak rates
    of the machine. Traffic counts parameters once per mini-batch, and the rows of words and the
    results once."""
    leaf, inner, kid, parameters, results, word = MODELS[model](size)
    leaves, inners, kids = nodes
    words = leaves
    if model in batchtest.DEP + batchtest.DAG:
        words += inners
    flops = leaf * leaves + inner * inners + kid * kids
    values = (parameters * mini_batches + results * (leaves + inners) +
              word * words)
    return (flops, flops / (peak["fma_gflops"] * 1e9),
            4 * values / (peak["copy_gbytes"] * 1e9))


def larger(before, after):
    """Merges two outputs of batch-peak: returns the larger of each pair of numbers."""
    if isinstance(before, dict):
        return {key: larger(before[key], after[key]) for key in before}
    return before if isinstance(before, str) else max(before, after)


def call_peak(options):
    """Returns the rates that batch-peak measures with the vector instructions of --cpu."""
    isa = {None: "native", "x86-64-v3": "avx2", "x86-64-v4": "avx512"}[options.cpu]
    return json.loads(batchtest.call("batch-peak", "--isa=" + isa, *options.threads))


def compile_for(options, model, output, size):
    return batchtest.compile_model(batchtest.model(model), output, size,
                                   *(["--cpu=" + options.cpu] if options.cpu else []))


def measure_overheads(options, folder):
    """Returns two times for each number of threads: the time that TreeLSTM takes for one leaf, and
    the time that TreeRNN takes for a step on a chain. The threads share every step of the chain.
    Both models have hidden size 16."""

    def run(model, tree, threads, *more):
        program = compile_for(options, model, os.path.join(folder, model + ".so"), 16)
        return batchtest.run_model(
            program, batchtest.write_lines(os.path.join(folder, "tree"), [tree]),
            "--bench=%d" % (10 * options.runs), *more, threads=threads, check=False)

    found, leaf = [], "(0 word)"
    chain = ("(0 " + leaf) * 1000 + leaf + ")" * 1000
    for threads in options.threads:
        one = run("treelstm_nary", leaf, threads)
        many = run("treernn", chain, threads, "--share-tasks=1")
        found.append({"threads": threads, "leaf_us": one["time_us"]["total"],
                      "step_us": many["time_us"]["execute"] / many["batches"]})
        print("%d thread(s): one leaf %.2f us, a step of one task %.2f us" %
              (threads, found[-1]["leaf_us"], found[-1]["step_us"]))
    return found


def measure_activation(options, folder):
    """Returns the nanoseconds of a tanh of one element on one thread. The time is that of TreeRNN
    with 256 columns, which computes little else."""
    inputs, values = make_inputs("treernn", options, folder)
    program = compile_for(options, "treernn", os.path.join(folder, "treernn.so"), 256)
    found = batchtest.run_model(program, inputs, "--bench=%d" % options.runs,
                                batch=len(values), check=False)
    _, inner, _ = count_nodes("treernn", values)
    return found["time_us"]["kernels"] * 1e3 / (inner * 256)


def measure(model, size, inputs, options, folder):
    """Returns {(batch, threads): report of batch-run} and {threads: peaks of the machine}. The
    one-thread runs also time the unbatched code on the same instances."""
    program = compile_for(options, model, os.path.join(folder, "model.so"), size)
    before, runs = call_peak(options), {}
    for batch in options.batches:
        whole = batch * batchtest.mini_batches(options.instances, batch)
        for threads in options.threads:
            runs[batch, threads] = batchtest.run_model(
                program, inputs, "--bench=%d" % options.runs, "--limit=%d" % whole,
                batch=batch, threads=threads, check=threads == 1)
    return runs, larger(before, call_peak(options))["threads"]


def gains(runs, batch, threads):
    """Returns {name: speedup}: over unbatched code if `threads` is 1, and otherwise over one
    thread. The result is empty if there is no run on one thread."""
    total = runs[batch, threads]["time_us"]["total"]
    if threads == 1:
        return {"over_unbatched": runs[batch, 1]["unbatched_us"] / total}
    if (batch, 1) in runs:
        return {"over_one_thread": runs[batch, 1]["time_us"]["total"] / total}
    return {}


def evaluate(model, size, all_values, runs, peaks, activation_ns):
    """Yields the result to store for each run."""
    for (batch, threads), found in runs.items():
        count, peak = found["mini_batches"], peaks[str(threads)]
        values = all_values[:count * batch]
        nodes = count_nodes(model, values)
        activations = size * sum(
            a * n for a, n in zip(ACTIVATIONS[model], nodes)) * activation_ns / 1e9
        total = found["time_us"]["total"]
        flops, compute, memory = floors(model, size, nodes, peak, count)
        levels = level_floor(model, size, values, batch, threads, peak)
        yield {"model": model, "size": size, "batch": batch, "threads": threads,
               "mini_batches": count, "nodes": nodes[0] + nodes[1],
               "tasks": found["tasks"], "batches": found["batches"],
               "median_us": {part: time / count for part, time
                             in found["time_us"].items()},
               "min_us": {part: time / count for part, time
                          in found["time_us_min"].items()},
               "over_kernels": total / found["time_us"]["kernels"],
               "gflops": flops / total / 1e3,
               "peak": peak,
               "floor_share": max(compute, memory) / total * 1e6,
               "level_share": levels / total * 1e6,
               # Shares according to the cost model (levels and activations): the share of the FMA
               # peak that it allows, and the share of the measured time that it explains.
               "model_allows": compute / (levels + activations / threads),
               "model_share": (levels + activations / threads) / total * 1e6,
               **gains(runs, batch, threads)}


def key(result):
    """Returns the key of a result, by which results are sorted."""
    return [list(MODELS).index(result["model"])] + [
        result[part] for part in ("size", "batch", "threads")]


def print_result(result):
    parts = result["median_us"]
    gain = ["%7.2fx" % result[what] if what in result else "%8s" % "-"
            for what in ("over_unbatched", "over_one_thread")]
    print("%-18s %5d %5d %3d %9.1f %9.1f %9.1f %10.1f %7.2fx %8.1f %6.1f%% %6.1f%% "
          "%6.1f%% %s %s" %
          (result["model"], result["size"], result["batch"], result["threads"],
           parts["inspect"], parts["schedule"], parts["execute"], parts["total"],
           result["over_kernels"], result["gflops"], 100 * result["floor_share"],
           100 * result["level_share"], 100 * result["model_share"], *gain))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.path.join(ROOT, "..", "shared", "data", "gum_trees")
    there = os.path.isdir(data)
    samples = os.path.join(ROOT, "examples", "data")
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--trees", default=os.path.join(data, "binary.txt")
                        if there else os.path.join(samples, "trees.txt"))
    parser.add_argument("--nary", default=os.path.join(data, "nary.txt")
                        if there else os.path.join(samples, "nary_trees.txt"))
    parser.add_argument("--instances", type=int, default=64)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--sizes", type=numbers, default=[256, 512])
    parser.add_argument("--batches", type=numbers, default=[1, 10, 64])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--cpu", choices=["x86-64-v3", "x86-64-v4"])
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "structural.json"))
    parser.add_argument("--add", action="store_true",
                        help="keep results in the output file that this run lacks")
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    batchtest.check_names("model", options.models.split(","), MODELS)

    kept = {"commands": [], "results": []}
    if options.add and os.path.exists(options.output):
        with open(options.output) as file:
            kept = json.load(file)
    machine = call_peak(options)
    record = {**batchtest.where_and_when("structural"), "machine": machine,
              "commands": kept["commands"] + [" ".join(
                  ["benchmarks/structural/run.py"] + sys.argv[1:])],
              "trees": os.path.basename(os.path.dirname(options.trees)),
              "results": []}
    print("%s, %s, %d cores" % (record["date"], record["cpu"], record["cores"]))
    for threads in options.threads:
        print("%d thread(s): FMA peak %.0f GFLOP/s (%s), copy %.1f GB/s" %
              (threads, machine["threads"][str(threads)]["fma_gflops"],
               machine["isa"], machine["threads"][str(threads)]["copy_gbytes"]))
    if kept["results"]:
        record["overheads"] = kept["overheads"]
        record["activation_ns"] = kept["activation_ns"]
    else:
        with tempfile.TemporaryDirectory() as folder:
            record["overheads"] = measure_overheads(options, folder)
            record["activation_ns"] = measure_activation(options, folder)
            print("one activation %.2f ns" % record["activation_ns"])
    print("%-18s %5s %5s %3s %9s %9s %9s %10s %8s %8s %7s %7s %7s %8s %8s" %
          ("model", "size", "batch", "thr", "inspect", "schedule", "execute",
           "total us", "kernels", "GFLOP/s", "floor", "levels", "model",
           "batching", "threads"))

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in options.models.split(","):
            inputs, values = make_inputs(model, options, folder)
            for size in options.sizes:
                size = size // 4 if model == "mvrnn" else size
                try:
                    found = measure(model, size, inputs, options, folder)
                except batchtest.ToolError as error:
                    print("%-18s %5d %s" % (model, size, error))
                    failures += 1
                    continue
                for result in evaluate(model, size, values, *found,
                                       record["activation_ns"]):
                    record["results"].append(result)
                    print_result(result)
    again = [key(result) for result in record["results"]]
    record["results"] += [old for old in kept["results"] if key(old) not in again]
    record["results"].sort(key=key)
    batchtest.store_record(options.output, record)
    print("stored in " + os.path.relpath(options.output))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
