#!/usr/bin/env python3
"""Compares Batch with PyTorch and DyNet on models whose control flow waits for tensors.

  run.py [--build=build] [--models=a,b] [--hidden=256,512] [--batches=8,64,1]
         [--threads=1] [--rounds=3] [--peers=a,b] [--minutes=20] [--output=FILE] [--add]
  run.py --overheads [as above, without --hidden, --batches, --peers]

Needs a Python with NumPy, and with PyTorch and DyNet for their columns (python3 -m venv,
pip install numpy torch dynet38). The script reports missing packages and skips their columns.
Models, parameters and inputs are those of models.py. The peers:

  torch eager      PyTorch, one instance at a time, in the usual style
  torch hand       PyTorch, batched by hand as an expert would (torch_models.py,
                   torch_decoders.py)
  torch compiled   the same with steps compiled by Inductor, in the faster of two settings
  dynet            DyNet with autobatching, by the fastest of its three schedulers; users
                   interleave the instances by hand where control waits
  no analysis      our runtime without static analysis: all switches of SWITCHES that the tools
                   have; the script lists the others
  unbatched        our kernels, one task at a time

Before timing, the outputs of every peer are compared with those of batch-run. Decisions must be
equal, unless two scores are within 1e-4 of each other, and |a-b| / max(|b|, rms of b) must be
at most 1e-4. Otherwise, the peer is FAILED, and the exit code is 1. Then all programs take
turns for --rounds rounds. A peer that exceeds its share of --minutes gets fewer rounds, but at
least one. When the time is over, the script lists the remaining models. Times are medians in
microseconds per mini-batch, ours from inspection to results. The ratio is the median of the ratios
per round, peer over ours: below 1 is a loss. The share of the peak is that of products, by the FMA
peak of the same run (batch-peak, the larger of before and after).

The script then prints the time outside of kernels, from the same runs: nanoseconds of
inspection per recorded task, less a switch for each wait; scheduling over its target of 1.5 us
per flush and 12 ns per task; the total over the time in kernels; and nanoseconds of a switch to
one of 64 instances and back (batch-fibers). --overheads measures only these values, at hidden sizes
256 and 32, batch 8 and 64. --add keeps the contents of the output file. Builds nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "benchmarks", "lazy")
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.dont_write_bytecode = True
import workers  # noqa: E402
import batchtest  # noqa: E402, on the path that workers adds
import turns  # noqa: E402

# Options of --autobatch and of batch-run that switch off the analyses, for the form "no
# analysis".
SWITCHES = ["hoist=false", "fork=false", "defer=false", "select=false", "phases=false",
            "coarsen=false", "ghosts=false", "--depths=flush"]
DYNET_SCHEDULERS = [1, 2, 3]
PEERS = ["torch eager", "torch hand", "torch compiled", "dynet", "no analysis", "unbatched"]


def known_switches(folder):
    """Returns the SWITCHES that the tools support, and those that they do not support."""
    model = batchtest.write_lines(os.path.join(folder, "model.mlir"), [
        "func.func @main(%x: f32) -> f32 attributes {batch.entry} { return %x : f32 }"])
    known, unknown = [], []
    for switch in SWITCHES:
        if switch.startswith("--"):
            command = [batchtest.tool("batch-run"), switch, "--version"]
        else:
            command = [batchtest.tool("batch-opt"), model, "--autobatch=" + switch]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (unknown if done.returncode else known).append(switch)
    if unknown == SWITCHES:
        raise SystemExit("the tools support none of " + ", ".join(unknown))
    return known, unknown


def start_workers(names, threads):
    """Returns {form: [process, …]} for the installed libraries, and descriptions of the
    libraries."""
    script = os.path.join(HERE, "worker.py")
    forms, about = {}, {}
    torch = [name for name in names if name.startswith("torch ")]
    wanted = [("torch", torch, [[]])] if torch else []
    if "dynet" in names:
        wanted.append(("dynet", ["dynet"], [[s] for s in DYNET_SCHEDULERS]))
    for library, its, arguments in wanted:
        processes = [workers.Peer(script, library, threads, *a) for a in arguments]
        about[library] = processes[0].about
        if "missing" in about[library]:
            print("skipped: %s (%s)" % (library, about[library]["missing"]))
            continue
        for name in its:
            forms[name] = processes
    return forms, about


def compile_programs(model, sizes, folder, switches, names):
    """Compiles the model. Returns form "ours", and the forms "no analysis" and "unbatched" if
    `names` contains them."""
    strategy = "lazy" if models.MODELS[model].waits else "auto"
    sizes = models.MODELS[model].module_sizes(sizes)
    options = ["--strategy=" + strategy] + ["--size=%s=%d" % item for item in sizes.items()]
    source = batchtest.model(model)
    program = batchtest.compile_model(source, os.path.join(folder, model + ".so"), None,
                                      *options)
    forms = []
    if "no analysis" in names and switches:
        text = os.path.join(folder, model + ".plain.mlir")
        run = [switch for switch in switches if switch.startswith("--")]
        batchtest.call("batch-opt", source, "-o", text,
                       "--autobatch=strategy=%s sizes=%s %s" % (
                           strategy, ",".join("%s=%d" % item for item in sizes.items()),
                           " ".join(s for s in switches if s not in run)))
        forms.append(turns.Ours(
            "no analysis", batchtest.compile_model(text, text + ".so"), *run))
    if "unbatched" in names:
        forms.append(turns.Ours("unbatched", program, "--unbatched"))
    return turns.Ours("ours", program), forms


def measure(ours, forms, point, rounds, seconds):
    """Checks and times one point. Returns its result and the failures."""
    counts = ours.outputs(point, point.outputs)
    result = {"counts": {key: counts[key] for key in
                         ("tasks", "batches", "flushes", "waits", "fibers_most")},
              "tasks": {kernel["name"]: kernel["tasks"] for kernel in counts["kernels"]},
              "mini_batches": point.mini_batches, "peers": {}}
    failed, ready = [], []
    for form in forms:
        try:
            result["peers"][form.name] = form.check(point)
            ready.append(form)
        except batchtest.ToolError as error:
            failed.append("%s: %s" % (form.name, str(error)[:300]))
    times = turns.take_turns([ours] + ready, point, rounds, seconds)
    mine = times.pop("ours")
    result.update(us=statistics.median(mine), ours_us=mine, parts=ours.parts)
    for name, theirs in times.items():
        result["peers"][name].update(us=statistics.median(theirs), all_us=theirs,
                                     ratio=round(turns.median_ratio(theirs, mine), 3))
    return result, failed


def peak_of(threads):
    return json.loads(batchtest.call("batch-peak", threads))["threads"][str(threads)][
        "fma_gflops"]


def print_result(result):
    print("%-16s %6d %5d %3d %10.0f %5.0f%%  %s" % (
        result["model"], result["hidden"], result["batch"], result["threads"],
        result["us"], 100 * result["peak_share"], "; ".join(
            "%s %.2fx%s" % (name, peer["ratio"],
                            " (%s)" % peer["setting"] if peer.get("setting") else "")
            for name, peer in result["peers"].items() if "ratio" in peer)), flush=True)


def key(result):
    return (list(models.MODELS).index(result["model"]), result["hidden"], result["batch"],
            result["threads"])


def overheads(result, switch):
    """Returns measures of the time outside of kernels, for a result on one thread. `switch` is the
    time of a fiber switch in nanoseconds."""
    counts, parts = result["counts"], result["parts"]
    tasks, flushes, waits = (counts[key] / result["mini_batches"]
                             for key in ("tasks", "flushes", "waits"))
    return {"record_ns": (1e3 * parts["inspect"] - switch * waits) / tasks,
            "schedule_over_asked": parts["schedule"] / (1.5 * flushes + 0.012 * tasks),
            "total_over_kernels": parts["total"] / parts["kernels"]}


def print_overheads(results, fibers):
    print("\n%-16s %6s %5s %8s %8s %12s %16s %14s" % (
        "model", "hidden", "batch", "tasks", "flushes", "ns to record", "schedule / asked",
        "total / kernel"))
    for r in results:
        found = r["overheads"]
        print("%-16s %6d %5d %8d %8d %12.1f %16.2f %14.2f" % (
            r["model"], r["hidden"], r["batch"], r["counts"]["tasks"] / r["mini_batches"],
            r["counts"]["flushes"] / r["mini_batches"], found["record_ns"],
            found["schedule_over_asked"], found["total_over_kernels"]))
    print("a switch to one of 64 instances and back: %.1f ns" % fibers)


def print_table(results):
    """Prints a table for the README: our milliseconds, then each peer's time divided by ours."""
    names = [name for name in PEERS if any(name in r["peers"] for r in results)]
    columns = ["model, hidden size", "batch", "threads", "ours", "of the peak"] + names
    print("\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for r in results:
        cells = ["%.2fx" % r["peers"][name]["ratio"] if "ratio" in r["peers"].get(name, {})
                 else "-" for name in names]
        print("| " + " | ".join([
            "%s, %d" % (r["model"], r["hidden"]), str(r["batch"]), str(r["threads"]),
            "%.2f ms" % (r["us"] / 1e3), "%.0f %%" % (100 * r["peak_share"])] + cells) + " |")


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    names = lambda text: [name for name in text.split(",") if name]
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--models", type=names, default=list(models.MODELS))
    parser.add_argument("--hidden", type=numbers, default=[256, 512])
    parser.add_argument("--batches", type=numbers, default=[8, 64, 1])
    parser.add_argument("--threads", type=numbers, default=[1])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=2, help="run each RUNS times per round")
    parser.add_argument("--peers", type=names, default=PEERS)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--output",
                        help="output file (default: benchmarks/results/lazy.json or "
                        "lazy-overheads.json)")
    parser.add_argument("--overheads", action="store_true")
    parser.add_argument("--add", action="store_true",
                        help="keep results in the output file that this run lacks")
    options = parser.parse_args()
    for given, known in ((options.models, models.MODELS), (options.peers, PEERS)):
        batchtest.check_names("name", given, known)
    if options.overheads:
        options.hidden, options.batches, options.peers = [256, 32], [8, 64], []
    options.output = options.output or os.path.join(
        ROOT, "benchmarks", "results",
        "lazy-overheads.json" if options.overheads else "lazy.json")
    return options


def run_model(name, hidden, threads, options, switches, others, folder, left):
    """Yields (result, failures) of a model for each batch size."""
    model = models.MODELS[name]
    sizes, files = model.sizes(hidden), [os.path.join(folder, part) for part in (
        "inputs.jsonl", "params.safetensors", "outputs.safetensors")]
    values = models.inputs(name, sizes, max(turns.LEAST_INSTANCES, *options.batches))
    tensors.write_inputs(files[0], values)
    tensors.write_tensors(files[1], models.parameters(name, sizes))
    ours, forms = compile_programs(name, sizes, folder, switches, options.peers)
    margins, started = None, {}
    for form, processes in others.items():
        its = []
        processes[:] = [process.again() for process in processes]
        for process in processes:
            try:
                if process not in started:
                    started[process] = process.ask("load", model=name, sizes=sizes,
                                                   params=files[1], inputs=files[0])
                if not started[process].get("missing"):
                    its.append(process)
            except batchtest.ToolError as error:
                yield None, ["%s %s: %s" % (name, form, error)]
        if its:
            forms.append(turns.Other(form, form.split()[-1], its))
    torch = next((p for form, p in others.items() if form.startswith("torch")), None)
    for batch in options.batches:
        point = turns.Point(files, batch, threads, options.runs)
        if torch and model.waits:
            margins = torch[0].ask("margins", count=point.count)["margins"]
        point.margins = margins
        result, failed = measure(ours, forms, point, options.rounds, left())
        outputs = tensors.read_outputs(files[2], point.count)
        result = {"model": name, "hidden": sizes["H"], "batch": batch, "threads": threads,
                  **result}
        result["gflop"] = model.flops(sizes, values[:point.count], outputs,
                                      result.pop("tasks")) / 1e9 / point.mini_batches
        yield result, ["%s %d, batch %d, %s" % (name, hidden, batch, f) for f in failed]


def main():
    options = parse_options()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    end = time.perf_counter() + 60 * options.minutes
    record = {**batchtest.where_and_when("lazy"), "rounds": options.rounds, "results": []}
    print("%s, %s, %d cores" % (record["date"], record["cpu"], record["cores"]))
    failures, skipped = [], []
    # For some models, such as Berxit, several hidden sizes result in the same size. Run each size
    # once.
    order = list({(threads, name, models.MODELS[name].sizes(hidden)["H"]):
                  (threads, hidden, name) for threads in options.threads
                  for hidden in reversed(options.hidden) for name in options.models}.values())
    order.sort(key=lambda item: (options.hidden.index(item[1]),
                                 options.models.index(item[2])))
    with tempfile.TemporaryDirectory() as folder:
        record["switch_ns"] = json.loads(batchtest.call("batch-fibers", 64))["64"]
        switches, unknown = known_switches(folder)
        record["no_analysis"] = switches
        if unknown and "no analysis" in options.peers:
            print("no analysis: the tools have no " + ", ".join(unknown))
        for threads in options.threads:
            others, record["peers"] = start_workers(options.peers, threads)
            before, first = peak_of(threads), len(record["results"])
            work = [item for item in order if item[0] == threads]
            for place, (_, hidden, name) in enumerate(work):
                points = (len(work) - place) * len(options.batches)
                # The remaining points share the remaining time. Half of it is for
                # compilation and checks.
                left = lambda: max(1, (end - time.perf_counter()) / points / 2)
                if time.perf_counter() > end:
                    skipped.append("%s %d" % (name, hidden))
                    continue
                try:
                    for result, failed in run_model(name, hidden, threads, options, switches,
                                                    others, folder, left):
                        failures += failed
                        for text in failed:
                            print("FAILED: " + text, flush=True)
                        if result and threads == 1 and result["counts"]["flushes"]:
                            result["overheads"] = overheads(result, record["switch_ns"])
                        if result:
                            result["gflops"] = result["gflop"] / result["us"] * 1e6
                            result["peak_share"] = result["gflops"] / before
                            record["results"].append(result)
                            print_result(result)
                except batchtest.ToolError as error:
                    failures.append(name)
                    print("FAILED: %s %d: %s" % (name, hidden, error), flush=True)
            for process in {p for its in others.values() for p in its}:
                process.close()
            peak = max(before, peak_of(threads))
            for result in record["results"][first:]:
                result["peak"], result["peak_share"] = peak, result["gflops"] / peak
    if skipped:
        print("no time left for " + ", ".join(skipped))
    if options.add and os.path.exists(options.output):
        again = [key(result) for result in record["results"]]
        with open(options.output) as file:
            record["results"] += [old for old in json.load(file)["results"]
                                  if key(old) not in again]
    record["results"].sort(key=key)
    batchtest.store_record(options.output, record)
    if options.peers:
        print_table(record["results"])
    print_overheads([r for r in record["results"] if "overheads" in r], record["switch_ns"])
    print("stored in " + os.path.relpath(options.output))
    sys.exit(1 if failures else 0)


try:
    import models  # noqa: E402, in this folder
    import tensors  # noqa: E402
except ImportError as problem:
    print("skipped: %s; nothing was run" % problem)
    sys.exit(0)
main()
