#!/usr/bin/env python3
"""Measures the effect of each optimization by itself.

  run.py [--build=build] [--trees=FILE] [--nary=FILE] [--instances=64]
         [--repetitions=5] [--runs=3] [--models=a,b] [--variants=a,b] [--size=256]
         [--batches=1,10] [--threads=2] [--output=FILE] [--add]

Switches off each optimization that is on by default, and switches on each that is off, one at
a time, and compares with the default. Corresponds to figure 10 of Cortex. For a variant,
batch-opt runs the passes of the --autobatch table in docs/reference/pipelines.md without one of
them, or with a different option or tuning file, and then --cpu-workers. batch-compile then runs
no further pass. If it compiled the model itself, it would run the omitted pass. The default is
compiled in the same way. --variants=help lists the variants.

Models run on the first trees of a file (default: the GUM trees of ../shared/data if present,
else examples/data). DAG-RNN runs on 10x10 grids, and models of sequences and lattices on
examples/data. All use one hidden size (MV-RNN: a quarter of it). Models whose control waits
(drnn, stackrnn, nestedrnn_td, moe_top1) run only if --models names them, with strategy `lazy`,
on random inputs or examples/data. The last of their counts is the number of flushes.

No model of the tests has zeros in a base case or small conditionals, so the script makes two
from treelstm_cs. The leaf of `treelstm_cs_zeros` runs the cell on a state of zeros. The
leaf of `treelstm_cs_if` computes tanh or sigmoid, depending on its word. `treegru_marked` and
`simpletreegru_marked`, on binary trees, mark where refactor may cut; other models do not.

Mini-batches have exactly the sizes of --batches. The remainder of --instances does not run, and
the JSON has the number of instances that ran.

Before timing, the script compares the outputs of default and variant: bit for bit, or for
assume-finite |a-b| / max(|b|, rms of b) <= 1e-4. The exit code is 1 if they differ. A variant
with the same code as the default does not run, and its ratio is "=". Otherwise, default and
variant take turns. The ratio of a pair is the time of the variant over that of the default. The
time is inspect + schedule + execute, a median of --runs. The result is the median over the
repetitions. A result above 1 means that an optimization helps if it was switched off, and hurts if
it was switched on. "again" compares the default with itself: ratios that are no further from 1 are
noise. Numbers of tasks, batches and barriers, over all mini-batches, do not depend on the machine.
The unbatched lowering, and the default that it is compared with, use one thread. --add keeps the
contents of the output file, for a run in pieces. Builds nothing: run scripts/check first.
"""

import argparse
import json
import os
import random
import re
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402

TOLERANCE = 1e-4

MODELS = ["treelstm_nary", "treelstm_cs", "treegru_cs", "treernn", "mvrnn", "dagrnn",
          "treelstm_cs_zeros", "treelstm_cs_if", "treegru_marked",
          "simpletreegru_marked", "bilstm_tagger", "lstm_nmt", "lattice_lstm"]

# Files of sequences and lattices in examples/data. Lines are repeated as often as necessary.
EXAMPLES = {"bilstm_tagger": "sentences.jsonl", "lstm_nmt": "sentence_pairs.jsonl",
            "lattice_lstm": "char_lattices.jsonl"}

# Models whose control flow waits for tensors (strategy `lazy`).
WAITING = ["drnn", "stackrnn", "nestedrnn_td", "moe_top1"]
SENTENCES = ["stackrnn", "moe_top1"]

ALL = MODELS + WAITING
TREES = [model for model in MODELS if model != "dagrnn" and model not in EXAMPLES]
LSTMS = [model for model in MODELS if model.startswith("treelstm")]
BLOCKS = "split(0, 8) split(2, 16) reorder(0, 2, 1, 3)"

# Differences from the default by name. "without": omitted passes; "with": an additional
# pass; "passes": options of passes; "run": options of batch-run; "tuning": choices for all
# kernels; "models": the models to which the variant applies; "bits": False if outputs may differ
# within TOLERANCE; "unbatched": True for unbatched runs.
VARIANTS = {
    "again": {},
    "no rec-fold-zeros": {"without": ["rec-fold-zeros"]},
    "no coarsening": {"passes": {"batch-outline-kernels": "coarsen=false"}},
    "no hoisting": {"passes": {"batch-outline-kernels": "hoist=false"}},
    "no batch-if-to-select": {"without": ["batch-if-to-select"]},
    "no batch-assign-phases": {"without": ["batch-assign-phases"]},
    "no phases": {"passes": {"batch-assign-phases": "phases=false"}},
    "no batch-insert-ghosts": {"without": ["batch-insert-ghosts"]},
    "no phases or ghosts": {"passes": {"batch-assign-phases": "phases=false"},
                            "without": ["batch-insert-ghosts"]},
    "depths at the flush": {"run": ["--depths=flush"]},
    "no batch-merge-handles": {"without": ["batch-merge-handles"]},
    "no batch-fork-calls": {"without": ["batch-fork-calls"], "models": WAITING},
    "256 branches each": {"run": ["--max-fibers=256"], "models": WAITING},
    "no deferring": {"passes": {"batch-assign-phases": "defer=false"}, "models": WAITING},
    "no selects for waits": {"passes": {"batch-if-to-select": "max-elements=0"},
                             "models": WAITING},
    "no analysis": {"passes": {"batch-outline-kernels": "coarsen=false hoist=false",
                               "batch-assign-phases": "phases=false defer=false",
                               "batch-if-to-select": "max-elements=0"},
                    "without": ["batch-insert-ghosts", "batch-fork-calls"],
                    "run": ["--depths=flush"], "models": WAITING},
    "row_split=1": {"tuning": {"row_split": 1}},
    "row_split=2^32": {"tuning": {"row_split": 1 << 32}},
    "stage_rows=0": {"tuning": {"stage_rows": 0}},
    "tile_rows=4": {"tuning": {"tile_rows": 4}},
    "refactor": {"with": "rec-refactor"},
    "specialize=leaf": {"passes": {"rec-specialize": "test=leaf"}, "models": TREES},
    "unroll=2": {"passes": {"rec-unroll": "factor=2"}, "models": TREES},
    "c beside h": {"passes": {"batch-assign-slots": "layout={c: next_to(@h)}"},
                   "models": LSTMS},
    "8 slots a block": {
        "passes": {"batch-assign-slots":
                   "layout={h: %s; c: %s}" % (BLOCKS, BLOCKS)},
        "models": LSTMS},
    "layout-kernels=shapes": {"with": "batch-layout-pq",
                              "passes": {"batch-layout-pq": "equal=shapes"}},
    "layout-kernels=weights": {"with": "batch-layout-pq",
                               "passes": {"batch-layout-pq": "equal=weights"}},
    "assume-finite": {"passes": {"rec-fold-zeros": "assume-finite"}, "bits": False},
    "unbatched": {"unbatched": True},
}


def replace(text, old, new):
    """Replaces the first occurrence of `old`, which must exist."""
    if old not in text:
        raise batchtest.ToolError("a model no longer contains '%s'; update this script" % old)
    return text.replace(old, new, 1)


def model_text(model):
    base = model.removesuffix("_zeros").removesuffix("_if")
    path = os.path.join(ROOT, "test", "Integration", "CPU", "Inputs",
                        model.removesuffix("_marked") + ".mlir") \
        if model.endswith("_marked") else batchtest.model(base)
    with open(path) as file:
        text = file.read()
    if model.endswith("_zeros"):
        for gate in "iou":
            line = ("%%a%s = linalg.matvec ins(%%W_%s, %%x : !mat, !vec) "
                    "outs(%%b_%s : !vec) -> !vec" % (gate, gate, gate))
            text = replace(
                text, line,
                "%s\n"
                "%%n%s = arith.constant dense<0.0> : !vec\n"
                "%%a%s = linalg.matvec ins(%%U_%s, %%n%s : !mat, !vec) "
                "outs(%%x%s : !vec) -> !vec" %
                (line.replace("%a" + gate, "%x" + gate), gate, gate, gate, gate,
                 gate))
    elif model.endswith("_if"):
        text = replace(
            text, "%u = math.tanh %au : !vec",
            "%two = arith.constant 2 : index\n"
            "%zero = arith.constant 0 : index\n"
            "%rest = arith.remui %word, %two : index\n"
            "%even = arith.cmpi eq, %rest, %zero : index\n"
            "%u = scf.if %even -> (!vec) {\n"
            "  %then = math.tanh %au : !vec\n"
            "  scf.yield %then : !vec\n"
            "} else {\n"
            "  %else = func.call @sigmoid(%au) : (!vec) -> !vec\n"
            "  scf.yield %else : !vec\n"
            "}")
    return text


def lower(model, size, variant, path):
    """Writes the LLVM dialect of a variant to a file. Returns the text without source positions."""
    text = model_text(model)
    with open(path + ".source", "w") as file:
        file.write(text)
    options = dict({"batch-specialize-sizes": "sizes=H=%d" % size},
                   **variant.get("passes", {}))
    if model in WAITING:
        options["batch-choose-strategy"] = "strategy=lazy"
    workers = batchtest.vector_options()
    if "tuning" in variant:
        with open(path + ".json", "w") as file:
            json.dump({"version": 1, "kernels": {"*": variant["tuning"]}}, file)
        workers += " tuning=" + path + ".json"
    batchtest.call("batch-opt", path + ".source", "-o", path,
                   *batchtest.autobatch_passes(options, variant.get("without", ()),
                                               variant.get("with")),
                   "--cpu-workers=" + workers)
    with open(path) as file:  # omits the source lines of kernels
        return re.sub(r"\\22lines\\22:\{[^}]*\},", "", file.read())


def make_inputs(model, options, folder):
    base = model.removesuffix("_zeros").removesuffix("_if")
    if base in WAITING and base not in SENTENCES:
        return "random:1,%d" % options.instances
    if base in EXAMPLES or base in SENTENCES:
        with open(os.path.join(batchtest.INPUTS,
                               EXAMPLES.get(base, "sentences.jsonl"))) as file:
            lines = file.read().splitlines()
        return batchtest.write_lines(
            os.path.join(folder, base + ".jsonl"),
            [lines[i % len(lines)] for i in range(options.instances)])
    if base in batchtest.DAG:
        generator = random.Random(1)
        return batchtest.write_lines(
            os.path.join(folder, "grids.jsonl"),
            [batchtest.grid(generator, 10, 10, True)
             for _ in range(options.instances)])
    binary = base in batchtest.BINARY or model.endswith("_marked")
    with open(options.trees if binary else options.nary) as file:
        lines = [line.strip() for line in file if line.strip()]
    return batchtest.write_lines(
        os.path.join(folder, model + ".txt"),
        [lines[i % len(lines)] for i in range(options.instances)])


def difference(found, wanted):
    """Returns the largest |a-b| / max(|b|, rms of b) of two files of outputs."""
    found, wanted = (batchtest.read_safetensors(path) for path in (found, wanted))
    worst = 0 if found.keys() == wanted.keys() else float("inf")
    for name in found.keys() & wanted.keys():
        a, b = found[name][2], wanted[name][2]
        rms = (sum(y * y for y in b) / max(len(b), 1)) ** 0.5
        for x, y in zip(a, b):
            if x != y:
                error = abs(x - y) / (max(abs(y), rms) or 1)
                worst = max(worst, error if error == error else float("inf"))
    return worst


def run(program, inputs, variant, batch, threads, *arguments):
    """Runs a program. Returns its counts and its total time in microseconds."""
    if variant.get("unbatched"):
        found = batchtest.run_model(program, inputs, "--unbatched", *arguments,
                                    check=False)
        return {}, found.get("unbatched_us")
    found = batchtest.run_model(program, inputs, *arguments, *variant.get("run", []),
                                batch=batch, threads=threads, check=False)
    counts = ["tasks", "batches", "barriers"] + ["flushes"] * bool(found.get("flushes"))
    return {key: found[key] for key in counts}, found["time_us"]["total"]


def measure(programs, variant, inputs, batch, options, folder):
    """Checks and times one variant. Returns the result to store."""
    outputs = [os.path.join(folder, name) for name in ("default.st", "variant.st")]
    count = batchtest.mini_batches(options.instances, batch)
    whole = "--limit=%d" % (count * batch)
    threads = 1 if variant.get("unbatched") else options.threads
    counts = [run(program, inputs, kind, batch, threads, whole,
                  "--outputs=" + path)[0]
              for program, kind, path in zip(programs, ({}, variant), outputs)]
    data = []
    for path in outputs:
        with open(path, "rb") as file:
            data.append(file.read())
    same = data[0] == data[1]
    error = 0 if same else difference(outputs[1], outputs[0])
    if not same and variant.get("bits", True):
        raise batchtest.ToolError(
            "the outputs are not bit-identical to those of the default (difference %g)" % error)
    if not error <= TOLERANCE:
        raise batchtest.ToolError("the outputs differ from those of the default by %g" % error)
    times = [[], []]
    for _ in range(options.repetitions):
        for program, kind, found in zip(programs, ({}, variant), times):
            found.append(run(program, inputs, kind, batch, threads, whole,
                             "--bench=%d" % options.runs)[1])
    ratios = [b / a for a, b in zip(*times)]
    return {"mini_batches": count, "threads": threads, "same_bits": same, "error": error, "default": counts[0],
            "counts": counts[1],
            "default_us": [round(time, 1) for time in times[0]],
            "us": [round(time, 1) for time in times[1]],
            "ratio": round(statistics.median(ratios), 3),
            "ratio_range": [round(min(ratios), 3), round(max(ratios), 3)]}


def key(result):
    return (ALL.index(result["model"]), result["size"], result["batch"],
            list(VARIANTS).index(result["variant"]))


def show(result):
    if result.get("same_code"):
        return "="
    return "%.2f" % result["ratio"]


def print_result(result):
    line = "%-20s %5d %5d %-23s %7s" % (
        result["model"], result["size"], result["batch"], result["variant"],
        show(result))
    if not result.get("same_code"):
        line += " %15s %10.1f" % ("%.2f..%.2f" % tuple(result["ratio_range"]),
                                  statistics.median(result["default_us"]))
    if result.get("counts"):
        line += (" %7d %7d %8d" + " %7d" * (len(result["counts"]) - 3)) % tuple(
            result["counts"].values())
    print(line)
    sys.stdout.flush()


def print_table(results):
    columns = sorted({(ALL.index(r["model"]), r["batch"]) for r in results})
    cells = {(r["variant"], ALL.index(r["model"]), r["batch"]): show(r)
             for r in results}
    models = sorted({model for model, _ in columns})
    print("\n| | " + " | ".join(ALL[model] for model in models) + " |")
    print("|---" * (len(models) + 1) + "|")
    for name in VARIANTS:
        row = [" / ".join(cells.get((name,) + column, "-") for column in columns
                          if column[0] == model) for model in models]
        print("| %s | %s |" % (name, " | ".join(row)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.path.join(ROOT, "..", "shared", "data", "gum_trees")
    there = os.path.isdir(data)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--trees", default=os.path.join(data, "binary.txt")
                        if there else os.path.join(batchtest.INPUTS, "trees.txt"))
    parser.add_argument("--nary", default=os.path.join(data, "nary.txt") if there
                        else os.path.join(batchtest.INPUTS, "nary_trees.txt"))
    parser.add_argument("--instances", type=int, default=64)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3,
                        help="take the median of RUNS runs per repetition")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--batches", type=numbers, default=[1, 10])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "ablation.json"))
    parser.add_argument("--add", action="store_true",
                        help="keep results in the output file that this run lacks")
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    if options.variants == "help":
        return print("\n".join(VARIANTS))
    models, variants = options.models.split(","), options.variants.split(",")
    for given, known in ((models, ALL), (variants, VARIANTS)):
        batchtest.check_names("name", given, known)

    record = {**batchtest.where_and_when("ablation"),
              "command": "benchmarks/ablation/run.py --instances=%d --runs=%d --size=%d "
              "--threads=%d (repetitions: as many as a result has times)" %
              (options.instances, options.runs, options.size, options.threads),
              "ours": batchtest.call("batch-run", "--version").splitlines()[0],
              "trees": os.path.basename(os.path.dirname(options.trees)),
              "instances": options.instances, "threads": options.threads,
              "results": []}
    kept = []
    if options.add and os.path.exists(options.output):
        with open(options.output) as file:
            kept = json.load(file)["results"]
    print("%s, %s, %d cores" % (record["date"], record["cpu"], record["cores"]))
    print("%-20s %5s %5s %-23s %7s %15s %10s %7s %7s %8s" %
          ("model", "size", "batch", "variant", "ratio", "range", "default us",
           "tasks", "batches", "barriers"))

    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for model in models:
            size = options.size // 4 if model == "mvrnn" else options.size
            inputs = make_inputs(model, options, folder)
            reference = None
            for name in variants:
                variant = VARIANTS[name]
                if model not in variant.get("models", ALL):
                    continue
                try:
                    if not reference:
                        path = os.path.join(folder, model)
                        text = lower(model, size, {}, path + ".mlir")
                        reference = text, batchtest.compile_model(
                            path + ".mlir", path + ".so")
                    text, default = reference
                    changed = os.path.join(folder, "variant.mlir")
                    same = lower(model, size, variant, changed) == text
                    skip = same and name not in ("again", "unbatched") and \
                        "run" not in variant
                    program = default if same else batchtest.compile_model(
                        changed, os.path.join(folder, "variant.so"))
                    for batch in options.batches:
                        result = {"model": model, "size": size, "batch": batch,
                                  "variant": name}
                        if skip:
                            result["same_code"] = True
                        else:
                            result.update(measure(
                                (default, program), variant, inputs, batch, options,
                                folder))
                        record["results"].append(result)
                        print_result(result)
                except batchtest.ToolError as error:
                    print("%-20s %5d %-23s FAILED: %s" % (model, size, name, error))
                    failures += 1
    again = [key(result) for result in record["results"]]
    record["results"] += [old for old in kept if key(old) not in again]
    record["results"].sort(key=key)
    batchtest.store_record(options.output, record)
    print_table(record["results"])
    print("stored in " + os.path.relpath(options.output))
    sys.exit(1 if failures else 0)


main()
