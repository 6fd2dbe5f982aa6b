#!/usr/bin/env python3
"""Compares loops, branches and recursion over tensors with PyTorch and JAX.

  run.py [--build=build] [--models=a,b] [--batches=1,64] [--threads=1,2]
         [--strategies=a,b] [--peers=a,b] [--rounds=5] [--runs=2] [--minutes=60]
         [--output=FILE] [--add] [--small]
  run.py --overhead [as above, without --batches, --peers]

Examples:

  run.py --models=seq2seq --batches=1 --threads=1 --minutes=2    # one line of the table
  run.py --overhead --models=blockdrop_given --threads=1         # the cost of control

Needs a Python with NumPy, and with PyTorch and JAX for their columns (python3 -m venv,
pip install numpy torch jax). The script reports missing packages and skips their columns. Models,
parameters and inputs are those of models.py, at the sizes of Cocktailer's paper. The instances of a
mini-batch differ. The columns are:

  linearize, lockstep, lazy, none, replicate
                   our program by strategy; "not legal" if the compiler rejects it, with the
                   reason printed and stored. `none` is unbatched, on one thread
  torch eager      PyTorch, batched by hand (torch_models.py), with its fastest settings
  torch compiled   the same with steps compiled by Inductor; a step that does not compile runs
                   eagerly, and a line reports it
  jax              JAX, compiled whole: lax.scan, lax.while_loop, lax.cond (jax_models.py);
                   mini-batches by vmap, or one instance at a time, whichever is faster

Before timing, all outputs are compared with those of our first strategy. Decisions must be
equal, unless two scores are within 1e-4 of each other, and |a-b| / max(|b|, rms of b) must be
at most 1e-4. Otherwise, the peer is FAILED, and the exit code is 1. Then all programs take
turns for --rounds rounds. A program that exceeds its share of --minutes gets fewer rounds. When the
time is over, the script lists the remaining models. Times are medians in microseconds per
mini-batch, ours from inspection to results. Ratios are medians of the ratios per round, over the
fastest of our strategies: below 1 is a loss.

The floor is a sum over steps of the model: a step of a loop for all instances, a layer, a
convolution, or a height of a tree. For each step, the larger of two times counts: its products at
the FMA peak, and its reads of weights and caches at the speed of repeated reads of as many bytes.
batch-peak measures both speeds before and after the programs, and the larger values count.

--overhead compares each strategy with a trace, at batch 1. A trace has the same operations, but
the decisions of the instance are fixed: loops have a constant number of steps, and blocks follow
each other. It is compiled with strategy `linearize`. If control reads no tensors, linearize's plan
is the trace. BlockDrop with given probabilities runs with 0, 25, 50, 75 and 100 % of its blocks.

Progress goes to stderr, tables to stdout. --add keeps the contents of the output file.
--small is for tests. Builds nothing.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "benchmarks", "control")
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import workers  # noqa: E402
import batchtest  # noqa: E402, on the path that workers adds
import turns  # noqa: E402

STRATEGIES = ["linearize", "lockstep", "lazy", "none", "replicate"]
PEERS = {"torch eager": "torch", "torch compiled": "torch", "jax": "jax"}
SHARES = [0, 25, 50, 75, 100]


def progress(text):
    print(text, file=sys.stderr, flush=True)


class Strategy(turns.Ours):
    """Form that runs our program with a strategy. check() allows a tolerance, because two
    strategies may round results differently."""

    def __init__(self, model, strategy, program):
        super().__init__(strategy, program, *(["--unbatched"] if strategy == "none" else []))
        self.decisions = models.MODELS[model].decisions

    def check(self, point):
        path = point.outputs + ".other"
        self.outputs(point, path)
        try:
            error, close = checked.compare(
                tensors.read_outputs(path, point.count),
                tensors.read_outputs(point.outputs, point.count), self.decisions,
                point.margins)
        except ValueError as problem:
            raise batchtest.ToolError(str(problem))
        if not error <= turns.TOLERANCE:
            raise batchtest.ToolError("the outputs differ from the expected outputs by %g" % error)
        return {"error": error, "close": close}


def compile_source(name, s, strategy, path, text):
    source = batchtest.write_lines(path + ".mlir", [text]) if text else batchtest.model(name)
    return batchtest.compile_model(source, path + ".so", None, "--strategy=" + strategy,
                                   *models.MODELS[name].options(s))


def reason(error):
    """Returns the compiler's message."""
    lines = str(error).splitlines()
    return next((line.split("error: ", 1)[-1].split("batch-compile: ", 1)[-1]
                 for line in lines[2:]), lines[-1])


def compile_strategies(name, s, strategies, folder):
    """Returns the legal strategies, and {strategy: reason} for strategies that are not legal."""
    legal, refused = [], {}
    text = models.MODELS[name].source(s)
    for strategy in strategies:
        progress("%s: compile for %s" % (name, strategy))
        try:
            legal.append(Strategy(name, strategy, compile_source(
                name, s, strategy, os.path.join(folder, name + "." + strategy), text)))
        except batchtest.ToolError as error:
            refused[strategy] = reason(error)
            print("%s, %s: not legal: %s" % (name, strategy, refused[strategy]), flush=True)
    return legal, refused


def start_peers(names, threads):
    """Returns {library: process} for the installed libraries, and descriptions of all
    libraries."""
    processes, about = {}, {}
    for library in dict.fromkeys(PEERS[name] for name in names):
        process = workers.Peer(os.path.join(HERE, "worker.py"), library, threads)
        about[library] = process.about
        if "missing" in process.about:
            print("skipped: %s (%s)" % (library, process.about["missing"]))
        else:
            processes[library] = process
    return processes, about


def write_files(name, s, values, folder):
    files = [os.path.join(folder, part) for part in
             ("inputs.jsonl", "params.safetensors", "outputs.safetensors")]
    if os.path.exists(tensors.sidecar(files[0])):
        os.remove(tensors.sidecar(files[0]))
    tensors.write_inputs(files[0], values)
    tensors.write_tensors(files[1], models.parameters(name, s))
    return files


def check_forms(forms, point, label):
    """Checks all forms. Returns their results and the failures."""
    found, failed = {}, []
    for form in forms:
        progress("%s: check %s" % (label, form.name))
        try:
            found[form.name] = form.check(point)
            for text in found[form.name].get("fell_back", []):
                print("%s: %s: %s" % (label, form.name, text), flush=True)
        except batchtest.ToolError as error:
            failed.append("%s, %s: %s" % (label, form.name, str(error)[:300]))
    return found, failed


def time_forms(forms, found, point, rounds, seconds, label, reference=None):
    """Times the forms, and divides their times by that of the reference. Stores times and ratios
    in `found`. Returns the reference, which is the fastest strategy by default."""
    progress("%s: time %s" % (label, ", ".join(form.name for form in forms)))
    times = turns.take_turns(forms, point, rounds, seconds)
    for name, us in times.items():
        found[name].update(us=statistics.median(us), all_us=us)
    reference = reference or min((name for name in times if name in STRATEGIES),
                                 key=lambda name: found[name]["us"])
    for name, us in times.items():
        found[name]["ratio"] = round(turns.median_ratio(us, times[reference]), 3)
    return reference


def describe(found, reference):
    return "; ".join("%s %.2fx%s" % (
        name, form["ratio"], " (%s)" % form["setting"] if form.get("setting") else "")
        for name, form in found.items() if "ratio" in form and name != reference)


def run_model(name, s, legal, refused, peers, threads, options, folder, left):
    """Yields (result, failures) of a model for each batch size. The result is None if no strategy
    passes its check. Yields (None, failures) for each library that cannot load the model."""
    model = models.MODELS[name]
    values = models.inputs(name, s, max(turns.LEAST_INSTANCES, *options.batches))
    files = write_files(name, s, values, folder)
    loaded = {}
    for library in peers:
        peers[library] = peers[library].again()
        try:
            peers[library].ask("load", model=name, sizes=s, params=files[1], inputs=files[0])
            loaded[library] = peers[library]
        except batchtest.ToolError as error:
            yield None, ["%s, %s: %s" % (name, library, error)]
    others = [turns.Other(form, form.split()[-1], [loaded[library]])
              for form, library in PEERS.items()
              if form in options.peers and library in loaded]
    for batch in options.batches:
        label = "%s, batch %d, %d thread(s)" % (name, batch, threads)
        point = turns.Point(files, batch, threads, options.runs)
        if "torch" in loaded and model.decisions:
            point.margins = loaded["torch"].ask("margins", count=point.count)["margins"]
        legal[0].outputs(point, point.outputs)
        found, failed = check_forms(legal + others, point, label)
        ready = [form for form in legal + others if form.name in found]
        if not any(form in legal for form in ready):
            yield None, failed
            continue
        fastest = time_forms(ready, found, point, options.rounds, left(), label)
        outputs = tensors.read_outputs(files[2], point.count)
        yield {"model": name, "batch": batch, "threads": threads,
               "mini_batches": point.mini_batches, "fastest": fastest,
               "us": found[fastest]["us"], "forms": found, "not_legal": refused,
               "work": models.work(name, s, values[:point.count], outputs, batch)}, failed


def overhead_cases(name, s, folder, program):
    """Yields (case, files, outputs) of each case. The outputs of a case determine its trace."""
    first = models.inputs(name, s, 1)[0]
    cases = [("", first)]
    if name == "blockdrop_given":
        count = len(first["probs"])
        order = numpy.random.default_rng(1).permutation(count)
        cases = []
        for share in SHARES:
            probs = numpy.full(count, 0.25, "f4")
            probs[order[:round(count * share / 100)]] = 0.75
            cases.append(("%d %% of blocks" % share, dict(first, probs=probs)))
    for what, instance in cases:
        values = [instance] * turns.LEAST_INSTANCES
        files = write_files(name, s, values, folder)
        point = turns.Point(files, 1, 1, 1)
        program.outputs(point, files[2])
        yield what, files, tensors.read_outputs(files[2], 1)[0]


def run_overhead(name, s, legal, threads, options, folder, left, compiled):
    """Yields (result, failures) for each case of a model. The result is None if the reference fails
    its check. `compiled` caches traces."""
    for what, files, outputs in overhead_cases(name, s, folder, legal[0]):
        label = ", ".join(part for part in (name, what, "%d thread(s)" % threads) if part)
        forms = [form for form in legal if form.name != "none"]
        text = traces.trace(name, s, outputs)
        if text:
            key = name + what
            if key not in compiled:
                progress(label + ": compile the trace")
                compiled[key] = compile_source(
                    name, s, "linearize", os.path.join(folder, "trace%d" % len(compiled)),
                    text)
            forms.append(Strategy(name, "trace", compiled[key]))
        reference = "trace" if text else "linearize"
        point = turns.Point(files, 1, threads, options.runs)
        found, failed = check_forms(forms, point, label)
        ready = [form for form in forms if form.name in found]
        if reference not in found:
            yield None, failed
            continue
        time_forms(ready, found, point, options.rounds, left(), label, reference)
        yield {"model": name, "case": what, "batch": 1, "threads": threads,
               "reference": reference, "us": found[reference]["us"], "forms": found}, failed


def peak_of(threads):
    return json.loads(batchtest.call("batch-peak", threads))["threads"][str(threads)]


def add_floor(result, peak):
    floor, bound = models.floor(result["work"], result["threads"], peak)
    result.update(floor_us=floor / result["mini_batches"], floor_is=bound)
    result["over_floor"] = result["us"] / result["floor_us"]


def print_result(result):
    print("%-16s %5d %3d  %-9s %10.0f us  %.2f of the floor  %s" % (
        result["model"], result["batch"], result["threads"], result["fastest"], result["us"],
        result["over_floor"], describe(result["forms"], result["fastest"])), flush=True)


def print_overhead(result):
    print("%-16s %-15s %3d  %-9s %10.0f us  %s" % (
        result["model"], result["case"], result["threads"], result["reference"],
        result["us"], describe(result["forms"], result["reference"])), flush=True)


def cells(result, names):
    return ["%.2fx" % result["forms"][name]["ratio"]
            if "ratio" in result["forms"].get(name, {}) else "-" for name in names]


def print_table(results):
    """Prints a table for the README."""
    names = [name for name in STRATEGIES + list(PEERS)
             if any(name in r["forms"] for r in results)]
    columns = ["model", "batch", "threads", "ours", "by", "floor", "over it"] + names
    print("\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for r in results:
        print("| " + " | ".join([
            r["model"], str(r["batch"]), str(r["threads"]), "%.2f ms" % (r["us"] / 1e3),
            r["fastest"], "%.2f ms, %s" % (r["floor_us"] / 1e3, r["floor_is"]),
            "%.2f" % r["over_floor"]] + cells(r, names)) + " |")


def print_overhead_table(results):
    names = [name for name in STRATEGIES if any(name in r["forms"] for r in results)]
    columns = ["model", "threads", "trace"] + names
    print("\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for r in results:
        print("| " + " | ".join([
            ", ".join(part for part in (r["model"], r["case"]) if part), str(r["threads"]),
            "%.2f ms" % (r["us"] / 1e3)] + cells(r, names)) + " |")


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--models", type=names, default=list(models.MODELS))
    parser.add_argument("--batches", type=numbers, default=[1, 64])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--strategies", type=names, default=STRATEGIES)
    parser.add_argument("--peers", type=names, default=list(PEERS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=2, help="run each RUNS times per round")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--output", help="output file (default: benchmarks/results/control.json or "
                                         "control-overhead.json)")
    parser.add_argument("--overhead", action="store_true")
    parser.add_argument("--add", action="store_true",
                        help="keep results in the output file that this run lacks")
    parser.add_argument("--small", action="store_true", help="use small sizes, for tests")
    options = parser.parse_args()
    for given, known in ((options.models, models.MODELS), (options.peers, PEERS),
                         (options.strategies, STRATEGIES)):
        batchtest.check_names("name", given, known)
    if options.overhead:
        options.batches, options.peers = [1], []
    options.output = options.output or os.path.join(
        ROOT, "benchmarks", "results",
        "control-overhead.json" if options.overhead else "control.json")
    return options


def key(result):
    return (list(models.MODELS).index(result["model"]), SHARES.index(
        int(result["case"].split()[0])) if result.get("case") else 0, result["batch"],
        result["threads"])


def main():
    options = parse_options()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    end = time.perf_counter() + 60 * options.minutes
    record = {**batchtest.where_and_when("control"), "rounds": options.rounds,
              "small": options.small, "results": []}
    if options.overhead:
        record["benchmark"] = "control-overhead"
    print("%s, %s, %d cores" % (record["date"], record["cpu"], record["cores"]))
    failures, skipped, peaks, peers = [], [], {}, {}
    for threads in options.threads:
        peers[threads], record["peers"] = start_peers(options.peers, threads)
        progress("the peak of %d thread(s)" % threads)
        peaks[threads] = peak_of(threads)
    work = [(name, threads) for name in options.models for threads in options.threads]
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models:
            if time.perf_counter() > end:
                skipped.append(name)
                continue
            s = models.MODELS[name].sizes(options.small)
            legal, refused = compile_strategies(name, s, options.strategies, folder)
            if not legal:
                failures.append(name)
                print("FAILED: %s: no strategy is legal" % name)
            compiled = {}
            for threads in options.threads if legal else []:
                points = (len(work) - work.index((name, threads))) * len(options.batches)
                # The remaining points share the remaining time. Half of each share is for
                # compilation and checks.
                left = lambda: max(1, (end - time.perf_counter()) / points / 2)
                runs = run_overhead(name, s, legal, threads, options, folder, left, compiled) \
                    if options.overhead else run_model(
                        name, s, legal, refused, peers[threads], threads, options, folder, left)
                try:
                    for result, failed in runs:
                        failures += failed
                        for text in failed:
                            print("FAILED: " + text, flush=True)
                        if result and options.overhead:
                            print_overhead(result)
                        elif result:
                            add_floor(result, peaks[threads])
                            print_result(result)
                        if result:
                            record["results"].append(result)
                except batchtest.ToolError as error:
                    failures.append(name)
                    print("FAILED: %s: %s" % (name, error), flush=True)
    for process in (p for its in peers.values() for p in its.values()):
        process.close()
    if not options.overhead:
        for threads, before in peaks.items():
            peaks[threads] = larger(before, peak_of(threads))
        for result in record["results"]:
            add_floor(result, peaks[result["threads"]])
            del result["work"]
    record["peaks"] = peaks
    if skipped:
        print("no time left for " + ", ".join(skipped))
    if options.add and os.path.exists(options.output):
        again = [key(result) for result in record["results"]]
        with open(options.output) as file:
            record["results"] += [old for old in json.load(file)["results"]
                                  if key(old) not in again]
    record["results"].sort(key=key)
    batchtest.store_record(options.output, record)
    (print_overhead_table if options.overhead else print_table)(record["results"])
    print("stored in " + os.path.relpath(options.output))
    sys.exit(1 if failures else 0)


def larger(before, after):
    """Merges two answers of batch-peak: returns the larger of each pair of numbers."""
    if isinstance(before, dict):
        return {name: larger(before[name], after[name]) for name in before}
    return max(before, after)


try:
    import numpy  # noqa: E402
    import checked  # noqa: E402
    import models  # noqa: E402, in this folder
    import tensors  # noqa: E402
    import traces  # noqa: E402
except ImportError as problem:
    print("skipped: %s; nothing was run" % problem)
    sys.exit(0)
main()
