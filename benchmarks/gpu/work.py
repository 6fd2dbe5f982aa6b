#!/usr/bin/env python3
"""Counts the work of GPU kernels, and estimates its time.

  work.py [--build=build] [--models=a,b] [--size=256] [--batches=1,10,64]
          [--instances=64] [--blocks=132] [--precision=f32] [--chip=sm_90a]
          [--results=FILE]

Needs no GPU. batch-opt reports the work of the blocks of executor `device` in each stage for each
number of rows (remark Work). A run on the CPU reports the steps of mini-batches. For the steps
of inner nodes, the levels of trees, the script prints medians and means of rows and of warps with
work. It also prints the means of these numbers: the most shares of products that a warp has, the
rows copied and weights read by all blocks together, barriers of a block, and the loads in the
longest chain of dependent loads after the barrier of all blocks.

Then it prints an estimate of the time of a kernel, for each model and batch, next to the floor
of the same GPU and the measured time. The floor is the larger of two times, for the products and
for the bytes of the kernel. The script also prints the choice of executor `auto` next to the
fastest executor. The measured times, the barrier and the peaks are those of --results (default:
benchmarks/results/gpu-2026-11-27.json). An estimate is a sum over stages of the cycles that
batch-opt counts. Nothing is fitted to the measured times (CONSTANTS,
lib/Codegen/GPU/WorkCounts.cpp). Estimates do not include a kernel's launch, its copies of weights,
and products of two tensors of a task (mvrnn).
"""

import argparse
import collections
import json
import os
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
for folder in ("test/Integration", "benchmarks/structural"):
    sys.path.insert(0, os.path.join(ROOT, folder))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402
import gpu_work  # noqa: E402
import graphs  # noqa: E402
import run as structural  # noqa: E402

RESULTS = os.path.join(ROOT, "benchmarks", "results", "gpu-2026-11-27.json")

CONSTANTS = {
    # clocks.max.sm, as nvidia-smi reports it for the measured H200.
    "clock_ghz": 1.98,
    # Times that batch-barrier measured on this H200 with 132 blocks: a barrier that all blocks
    # share, and a step without tasks.
    "barrier_us": 1.13, "step_us": 0.48,
}


class Model:
    """A model's counts at one size, and the steps of its mini-batches."""

    def __init__(self, model, size, inputs, batches, options):
        """Counts the work of the first options.instances instances in file `inputs`, for the
        chip, precision and number of blocks in `options`. With 0 blocks, uses as many as the
        chip has."""
        own = os.path.join(HERE, "models", model + ".mlir")
        self.source = own if os.path.exists(own) else batchtest.model(model)
        self.model, self.size, self.graphs = model, size, []
        if model in structural.MODELS:
            with open(inputs) as file:
                self.graphs = [graphs.graph_of(json.loads(line)) for line in file]
        nodes = [own for graph in self.graphs for own in graph[0]]
        inners = sum(map(bool, nodes))
        self.kids_of_inner = sum(map(len, nodes)) / inners if inners else 1
        self.flags = "executor=device blocks=%d precision=%s chip=%s" % (
            options.blocks, options.precision, options.chip)
        self.steps, self.barriers = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            program = batchtest.compile_model(
                self.source, os.path.join(folder, "host.so"), 16)
            for batch in batches:
                whole = batch * batchtest.mini_batches(options.instances, batch)
                self.steps[batch], self.barriers[batch] = gpu_work.find_steps(
                    program, inputs, batch, os.path.join(folder, "trace.json"),
                    "--limit=%d" % whole)
        rows = {n for steps in self.steps.values() for plan in steps
                for _, tasks in plan for n in (tasks, self.kids(tasks))}
        self.kernels = gpu_work.count(self.source, size, rows, self.flags)

    def kids(self, tasks):
        """Returns the number of rows of a ragged domain: the number of children that `tasks`
        inner nodes have on average."""
        return max(round(self.kids_of_inner * tasks), 1)

    def stages(self, kernel, tasks):
        return list(gpu_work.stages_of(self.kernels[kernel], tasks, self.kids(tasks)))

    def levels(self, batch):
        """Returns (counts, rows) for each step of the kernel with the most steps, which is the
        kernel of inner nodes. The counts are those of the first stage with products, or of the
        first stage if none has products."""
        steps = [step for plan in self.steps[batch] for step in plan]
        most = collections.Counter(name for name, _ in steps).most_common(1)[0][0]
        found = []
        for name, tasks in steps:
            if name == most:
                stages = self.stages(name, tasks)
                found.append(next((stage for stage in stages if stage[0]["passes"]),
                                  stages[0]))
        return found

    def estimate_us(self, batch, constants=CONSTANTS):
        """Returns the estimated time of a mini-batch's kernel, without its launch."""
        c, total = constants, 0
        for plan in self.steps[batch]:
            for kernel, tasks in plan:
                stages = self.stages(kernel, tasks)
                total += c["step_us"] + (len(stages) - 1) * c["barrier_us"]
                total += sum(work["cycles"] for work, _ in stages) / c["clock_ghz"] / 1e3
        total += self.barriers[batch] * c["barrier_us"]
        return total / len(self.steps[batch])


def shares_of(levels):
    """Returns, for each level, the share of warps that have work."""
    return [work["busy warps"] / work["warps"] for work, _ in levels]


def print_levels(model, options):
    print("%s, hidden size %d, %s, %d blocks of %d warps: a step of inner nodes" % (
        model.model, model.size, options.precision, options.blocks,
        model.levels(options.batches[0])[0][0]["warps"] // options.blocks))
    print("%6s %7s %14s %14s %22s %6s %7s %22s %9s %9s" % (
        "batch", "levels", "rows", "busy warps", "share: median, mean", "items",
        "passes", "KiB: rows, weights", "barriers", "loads"))
    for batch in options.batches:
        levels = model.levels(batch)
        mean = lambda what: statistics.mean(work[what] for work, _ in levels)
        median = lambda what: statistics.median(work[what] for work, _ in levels)
        rows = [rows for _, rows in levels]
        shares = shares_of(levels)
        print("%6d %7.1f %6.0f, %6.1f %6.0f, %6.1f %11.0f %%, %5.0f %% %6.1f %7.1f "
              "%10.0f, %10.0f %9.1f %9.1f" % (
                  batch, len(levels) / len(model.steps[batch]), statistics.median(rows),
                  statistics.mean(rows), median("busy warps"), mean("busy warps"),
                  100 * statistics.median(shares), 100 * statistics.mean(shares),
                  mean("most items"), mean("passes"), mean("row bytes") / 1024,
                  mean("weight bytes") / 1024, mean("block barriers"),
                  mean("dependent loads")))


def print_estimates(models, options, record):
    ceilings = record.get("ceilings")
    measured = {(result["model"], result["size"], result["batch"]):
                result["ours"]["device"]["median_us"]["kernels"]
                for result in record["results"] if "device" in result["ours"]}
    print("us of a mini-batch's kernel, executor device: floor of %s, estimate, measured" %
          record.get("peer", {}).get("gpu", "the GPU"))
    print("%-18s %6s %9s %9s %9s %19s" % (
        "model", "batch", "floor", "estimate", "measured", "estimate/measured"))
    for model in models:
        for batch in options.batches:
            mini_batches = len(model.steps[batch])
            floor = None
            if ceilings and model.model in structural.MODELS:
                kids = [own for graph in model.graphs[:batch * mini_batches]
                        for own in graph[0]]
                leaves = sum(not own for own in kids)
                nodes = leaves, len(kids) - leaves, sum(map(len, kids))
                _, compute, memory = structural.floors(
                    model.model, model.size, nodes,
                    {"fma_gflops": ceilings[options.precision + "_gflops"],
                     "copy_gbytes": ceilings["copy_gbytes"]}, mini_batches)
                floor = max(compute, memory) / mini_batches * 1e6
            took = measured.get((model.model, model.size, batch)) \
                if options.precision == "f32" else None
            estimate = model.estimate_us(batch)
            text = lambda value: "%9.1f" % value if value else "%9s" % "-"
            print("%-18s %6d %s %s %s %19s" % (
                model.model, batch, text(floor), text(estimate), text(took),
                "%.2f" % (estimate / took) if took else "-"))


def print_choices(models, options, record):
    """Prints, for each batch size, the executor that `auto` chooses and the fastest executor."""
    print("executor auto: what it takes, in total and of the kernel over the fastest one")
    print("%-18s %6s %-11s %6s %-16s %7s %s" % (
        "model", "batch", "auto", "total", "fastest", "kernel", "fastest"))
    for model in models:
        for result in record["results"]:
            if (result["model"], result["size"]) != (model.model, model.size) or \
                    result["batch"] not in options.batches:
                continue
            chosen = gpu_work.choose(model.source, model.size, "chip=%s instances=%d" % (
                options.chip, result["batch"]))
            words = [model.model, result["batch"], chosen]
            for part in ("total", "kernels"):
                times = {executor: ours["median_us"][part]
                         for executor, ours in result["ours"].items()}
                best = min(times, key=times.get)
                words += ["%.2f" % (times[chosen] / times[best]) if chosen in times
                          else "-", best]
            print("%-18s %6d %-11s %6s %-16s %7s %s" % tuple(words))


def load(models, options):
    """Returns a Model for each name in `models`, with the inputs that make_bundle.py writes."""
    import make_bundle
    found = []
    with tempfile.TemporaryDirectory() as folder:
        options.output = folder
        os.makedirs(os.path.join(folder, "inputs"))
        inputs = make_bundle.write_inputs(models, options, folder)
        for model in models:
            size = options.size // 4 if model == "mvrnn" else options.size
            found.append(Model(model, size, os.path.join(folder, inputs[model]),
                               options.batches, options))
    return found


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.path.join(ROOT, "..", "shared", "data", "gum_trees")
    there = os.path.isdir(data)
    samples = os.path.join(ROOT, "examples", "data")
    names = lambda text: text.split(",")
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--models", type=names, default=["treelstm_nary"])
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--batches", type=numbers, default=[1, 10, 64])
    parser.add_argument("--instances", type=int, default=64)
    parser.add_argument("--blocks", type=int, default=132)
    parser.add_argument("--precision", choices=("f32", "tf32", "bf16"), default="f32")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--length", type=int, default=100, help="use sequences of LENGTH words")
    parser.add_argument("--results", default=RESULTS)
    options = parser.parse_args()
    options.trees = os.path.join(*((data, "binary.txt") if there
                                   else (samples, "trees.txt")))
    options.nary = os.path.join(*((data, "nary.txt") if there
                                  else (samples, "nary_trees.txt")))
    if not there:
        print("no %s: trees of examples/data instead" % os.path.normpath(data))
    return options


def main():
    options = parse()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    models = load(options.models, options)
    for model in models:
        print_levels(model, options)
    with open(options.results) as file:
        record = json.load(file)
    print_estimates(models, options, record)
    if options.precision == "f32":
        print_choices(models, options, record)


if __name__ == "__main__":
    main()
