#!/usr/bin/env python3
"""Compares the same models on the same inputs with PyTorch and NumPy.

  run.py [--build=build] [--trees=FILE] [--instances=64] [--repetitions=7] [--runs=3]
         [--models=a,b] [--size=256] [--batches=1,10,64] [--threads=1,2]
         [--peers=torch,numpy] [--output=FILE] [--add]

Runs the models on the first trees of a file (default: the GUM trees of ../shared/data if
present, else examples/data) with random parameters, at one hidden size (MV-RNN: a quarter of
it), with batch-run --bench and with

  torch levels     PyTorch, eager, batched by hand: all nodes of one height of the mini-batch at
                   once, gathers by index_select, one product for all gates, results into slices
                   of tensors that hold all nodes
  torch recursive  PyTorch, eager, one Python call per node (no mini-batches)
  numpy levels     NumPy, batched by hand in the same way as torch levels

All programs take turns in each repetition, so changes in the machine's speed affect all of them.
Before timing, the results of all nodes are compared with ours: |a-b| / max(|b|, rms of b) must be
at most 1e-4, else the exit code is 1. The script reports and skips peers that this Python lacks.
Without any peer, it does nothing, and the exit code is 0. Builds nothing: run scripts/check first.

Mini-batches have exactly the sizes of --batches; the remainder of --instances does not run
("mini_batches" of "batch" instances in the JSON). The recursive peer runs the same instances.

Times are medians over the repetitions, in microseconds per mini-batch. Our time is the
total of inspect, schedule and execute. The time of a peer excludes its level lists. Next to it is
the median of the paired ratios, peer over ours: above 1, ours is faster. "+lists" includes the
peer's level lists and views, which are plain Python; our total includes their counterpart in both
cases. The JSON has all repetitions. --add keeps the contents of the output file, for a run in
pieces.

The peers are optimized by hand as far as their public, eager interfaces allow: weights are fused
and transposed beforehand, buffers are reused, views are made in advance, Python code only makes
calls, and inference mode is on. torch.compile, which can pack weights for the BLAS, was not tried.
"""

import argparse
import json
import math
import os
import platform
import random
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.dont_write_bytecode = True
import workers  # noqa: E402
import batchtest  # noqa: E402, on the path that workers adds

TOLERANCE = 1e-4

# Shapes of the parameters. V: number of words; H: hidden size; P: twice the hidden size. Values are
# drawn uniformly from +-sqrt(3 / last extent), so that sums of products do not grow.
LSTM = {"E": "VH", "W_i": "HH", "W_o": "HH", "W_u": "HH", "U_i": "HP", "U_o": "HP",
        "U_u": "HP", "b_i": "H", "b_o": "H", "b_u": "H", "b_f": "H", "W_out": "5H"}
MODELS = {
    "treefc": {"E": "VH", "W": "HP", "b": "H"},
    "treegru_nary": dict({"E": "VH", "W_out": "5H"},
                         **{"U_%s%d" % (gate, kid): "HH"
                            for gate in "rzc" for kid in range(3)},
                         **{"b_" + gate: "H" for gate in "rzc"}),
    "treelstm_nary": dict(LSTM, U_fl="HH", U_fr="HH"),
    "treelstm_nary_tai": dict(LSTM, U_fl="HP", U_fr="HP"),
    "mvrnn": {"E_v": "VH", "E_m": "VHH", "W_v": "HP", "b_v": "H", "W_m": "HP",
              "b_m": "H", "W_out": "5H"},
}
FORMS = {"torch": ["levels", "recursive"], "numpy": ["levels"]}
WORKER = os.path.join(ROOT, "benchmarks", "peers", "worker.py")


def start_peers(names, threads):
    """Returns {threads: [peer, …]} for the installed libraries, and descriptions of the
    libraries."""
    peers, about = {count: [] for count in threads}, {}
    for name in names:
        for count in threads:
            peer = workers.Peer(WORKER, name, count)
            if "missing" in peer.about:
                print("skipped: %s (%s)" % (name, peer.about["missing"]))
                peer.close()
                break
            peers[count].append(peer)
            about[name] = peer.about
    return peers, about


def make_inputs(options, folder):
    """Writes trees with numbered words. Returns the path of the file, the number of different
    words, and the number of nodes."""
    words, nodes = {}, 0

    def convert(tree):
        nonlocal nodes
        nodes += 1
        if isinstance(tree[1], str):
            return ["leaf", words.setdefault(tree[1], len(words))]
        return ["node"] + [convert(kid) for kid in tree[1:]]

    with open(options.trees) as file:
        lines = [line.strip() for line in file if line.strip()]
    values = [convert(batchtest.parse_brackets(lines[i % len(lines)]))
              for i in range(options.instances)]
    path = os.path.join(folder, "trees.jsonl")
    return batchtest.write_lines(path, values), len(words), nodes


def make_parameters(model, size, words, path):
    generator, tensors = random.Random(1), {}
    extents = {"V": words, "H": size, "P": 2 * size, "5": 5}
    for name, letters in MODELS[model].items():
        shape = [extents[letter] for letter in letters]
        bound = math.sqrt(3 / shape[-1])
        tensors[name] = ("F32", shape, [generator.uniform(-bound, bound)
                                        for _ in range(math.prod(shape))])
    batchtest.write_safetensors(path, tensors)


def measure(program, model, size, batch, threads, peers, options, files):
    """Checks the outputs of all peers, then times our program and all peers in turn. Returns the
    result for one line of the table."""
    inputs, params, outputs = files
    count = batchtest.mini_batches(options.instances, batch)
    whole = count * batch
    batchtest.run_model(program, inputs, "--outputs=" + outputs, "--limit=%d" % whole,
                        params=params, batch=batch, threads=threads, check=False)
    forms = [(peer, form) for peer in peers for form in FORMS[peer.name]]
    errors = {}
    for peer, form in forms:
        error = peer.ask("check", form=form, batch=batch, instances=whole,
                         outputs=outputs)["error"]
        if not error <= TOLERANCE:
            raise batchtest.ToolError("the outputs of %s %s differ from ours by %g" %
                                      (peer.name, form, error))
        errors[peer.name, form] = error

    ours = {"inspect": [], "schedule": [], "execute": [], "total": []}
    found = {key: {"lists": [], "execute": []} for key in errors}
    for _ in range(options.repetitions):
        times = batchtest.run_model(
            program, inputs, "--bench=%d" % options.runs, "--limit=%d" % whole,
            params=params, batch=batch, threads=threads, check=False)["time_us"]
        for part in ours:
            ours[part].append(times[part] / count)
        for peer, form in forms:
            runs = options.runs if form == "levels" else 1
            times = peer.ask("time", form=form, batch=batch, instances=whole,
                             runs=runs)
            for part, values in found[peer.name, form].items():
                values.append(statistics.median(times[part]) / count)

    for times in [ours] + list(found.values()):
        for part, values in times.items():
            times[part] = [round(value, 1) for value in values]
    result = {"model": model, "size": size, "batch": batch, "threads": threads,
              "mini_batches": count, "ours_us": ours,
              "ours_median_us": {part: statistics.median(values)
                                 for part, values in ours.items()}, "peers": {}}
    for (name, form), times in found.items():
        ratios = [peer / total for peer, total
                  in zip(times["execute"], ours["total"])]
        with_lists = [(peer + lists) / total for peer, lists, total
                      in zip(times["execute"], times["lists"], ours["total"])]
        result["peers"][name + " " + form] = {
            "us": times, "median_us": {part: statistics.median(values)
                                       for part, values in times.items()},
            "ratio": round(statistics.median(ratios), 3),
            "ratio_range": [round(min(ratios), 3), round(max(ratios), 3)],
            "ratio_with_lists": round(statistics.median(with_lists), 3),
            "error": errors[name, form]}
    return result


def print_result(result, columns):
    text = "%-18s %5d %5d %3d %10.1f" % (
        result["model"], result["size"], result["batch"], result["threads"],
        result["ours_median_us"]["total"])
    for column in columns:
        peer = result["peers"][column]
        text += " %11.1f %6.2fx" % (peer["median_us"]["execute"], peer["ratio"])
        if column.endswith("levels"):
            text += " %6.2fx" % peer["ratio_with_lists"]
    print(text)
    sys.stdout.flush()


def key(result):
    """Returns the key that identifies a result, and by which results are sorted."""
    return [list(MODELS).index(result["model"])] + [
        result[part] for part in ("size", "batch", "threads")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.path.join(ROOT, "..", "shared", "data", "gum_trees", "binary.txt")
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--trees", default=data if os.path.exists(data) else
                        os.path.join(batchtest.INPUTS, "trees.txt"))
    parser.add_argument("--instances", type=int, default=64)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--runs", type=int, default=3,
                        help="take the median of RUNS runs per repetition")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--batches", type=numbers, default=[1, 10, 64])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--peers", default="torch,numpy")
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "peers.json"))
    parser.add_argument("--add", action="store_true",
                        help="keep results in the output file that this run lacks")
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    models = options.models.split(",")
    for given, known in ((models, MODELS), (options.peers.split(","), FORMS)):
        batchtest.check_names("name", given, known)

    peers, about = start_peers(options.peers.split(","), options.threads)
    if not about:
        print("skipped: no peer is installed; nothing was run")
        return
    record = {**batchtest.where_and_when("peers"),
              "python": platform.python_version(),
              "ours": batchtest.call("batch-run", "--version").splitlines()[0],
              "peers": about,
              "trees": os.path.basename(os.path.dirname(options.trees)),
              "instances": options.instances, "repetitions": options.repetitions,
              "runs": options.runs, "results": []}
    kept = []
    if options.add and os.path.exists(options.output):
        with open(options.output) as file:
            kept = json.load(file)["results"]
    print("%s, %s, %d cores" % (record["date"], record["cpu"], record["cores"]))
    for name, peer in about.items():
        print("%s %s: %s" % (name, peer["version"], "; ".join(peer["config"])))
    columns = [name + " " + form for name in about for form in FORMS[name]]
    header = "%-18s %5s %5s %3s %10s" % ("model", "size", "batch", "thr", "ours us")
    for column in columns:
        header += " %19s" % column
        if column.endswith("levels"):
            header += " %7s" % "+lists"
    print(header)

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        inputs, words, record["nodes"] = make_inputs(options, folder)
        program, params, outputs = (os.path.join(folder, name) for name in (
            "model.so", "params.safetensors", "outputs.safetensors"))
        for model in models:
            size = options.size // 4 if model == "mvrnn" else options.size
            try:
                compiled = batchtest.compile_model(batchtest.model(model), program, size)
                make_parameters(model, size, words, params)
                for peer in sum(peers.values(), []):
                    peer.ask("load", model=model, size=size, params=params,
                             inputs=inputs)
                for batch in options.batches:
                    for threads in options.threads:
                        record["results"].append(measure(
                            compiled, model, size, batch, threads, peers[threads],
                            options, (inputs, params, outputs)))
                        print_result(record["results"][-1], columns)
            except batchtest.ToolError as error:
                print("%-18s %5d FAILED: %s" % (model, size, error))
                failures += 1
    for peer in sum(peers.values(), []):
        peer.close()
    again = [key(result) for result in record["results"]]
    record["results"] += [old for old in kept if key(old) not in again]
    record["results"].sort(key=key)
    batchtest.store_record(options.output, record)
    print("stored in " + os.path.relpath(options.output))
    sys.exit(1 if failures else 0)


main()
