#!/usr/bin/env python3
"""Measures compiled models on a GPU, from a folder made by make_bundle.py.

  run.py [--parts=ceilings,barriers,models] [--models=a,b] [--sizes=256,512]
         [--batches=1,10,64] [--repetitions=3] [--runs=5] [--output=results.json]
         [--add] [--quick] [--no-peers] [--forms=recursive,levels,graph,compiled,cudnn]
         [--device=cuda|emulator] [--torch-device=cuda|cpu] [--tolerance=1e-4]

ceilings   products and copies by PyTorch, and a launch
barriers   the time that a barrier adds to steps without tasks, by executor and number of blocks
models     all models, sizes and batch sizes with each executor; PyTorch node by node, by level,
           and by level as a CUDA graph; cuDNN for sequences (lib/torch_gpu.py)

--forms selects forms of PyTorch. `compiled`, levels by TorchInductor, takes a minute, so it runs
only if selected.

Mini-batches have exactly the sizes of --batches; the remainder of the instances does not run.
Before timing, the results of all nodes are compared: with the unbatched code on the CPU, bit for
bit between batch sizes, and those of PyTorch with ours. |a-b| / max(|b|, rms of b) must be at
most the tolerance, else the exit code is 1.

Our programs and the peers take turns in each repetition. Times are medians in microseconds per
mini-batch: the kernel; the host, which inspects and schedules; the copies of inputs, plans and
all results, with the launch; and the total, with the fastest executor. Ratios are those of
pairs, peer over our total: above 1, ours is faster. The floor divides the larger of two times by
the time of the kernel. The two are the time of the products at the GPU's f32 rate, and the time of
the bytes that must move at its copy bandwidth. Next to the kernel's time with executor `device` is
its estimate from counts (work.py). Stores JSON, and a plot in the same folder. --add keeps the
contents of the output file, for a run in pieces. --quick is for trying out: few runs, small
batches.
"""

import argparse
import concurrent.futures
import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402
import graphs  # noqa: E402
import structural  # noqa: E402

PARAMETERS = "random:1"
COUNTS = ("tasks", "batches", "launches", "barriers", "copies")
FORMS = ["recursive", "levels", "graph", "cudnn"]


class Object:
    """A model at one size: its objects by executor, and its inputs."""

    def __init__(self, entry, options):
        self.model, self.size = entry["model"], entry["size"]
        self.paths = {executor: os.path.join(HERE, path)
                      for executor, path in entry["objects"].items()}
        self.inputs = os.path.join(HERE, entry["inputs"])
        self.estimates = entry.get("estimate_us", {})
        self.options = options
        with open(self.inputs) as file:
            self.values = [json.loads(line) for line in file][:options.instances]
        self.is_sequence = self.model not in structural.MODELS
        self.graphs = self.values if self.is_sequence else [
            graphs.graph_of(value) for value in self.values]

    def shapes(self):
        """Returns the shapes of the parameters, from an object's descriptor
        (docs/reference/abi.md)."""
        class BatchObject(ctypes.Structure):
            _fields_ = [("abi", ctypes.c_uint64), ("text", ctypes.c_char_p)]

        library = ctypes.CDLL(next(iter(self.paths.values())))
        text = BatchObject.in_dll(library, "batch_object").text
        return {parameter["name"]: parameter["shape"]
                for parameter in json.loads(text)["parameters"]}

    def whole(self, batch):
        """Returns the number of instances in full mini-batches of size `batch`."""
        return batch * batchtest.mini_batches(len(self.values), batch)

    def run(self, executor, batch, instances, *more):
        return batchtest.run_model(
            self.paths[executor], self.inputs, "--limit=%d" % instances,
            *more, *self.options.blocks, params=PARAMETERS, batch=batch,
            check=False)

    def nodes(self, instances):
        """Returns the numbers of leaves, inner nodes and children."""
        kids = [own for graph in self.graphs[:instances] for own in graph[0]]
        leaves = sum(not own for own in kids)
        return leaves, len(kids) - leaves, sum(map(len, kids))


# --- the machine --------------------------------------------------------------

def find_missing(bundle, objects, options):
    """Returns the reasons why the bundle cannot run here, one line each."""
    found = []
    name, version = platform.libc_ver()
    if name == "glibc" and [int(x) for x in version.split(".")] < [
            int(x) for x in bundle["glibc"].split(".")]:
        found.append("glibc %s or later; this is %s" % (bundle["glibc"], version))
    try:
        batchtest.run_model(
            next(iter(objects[0].paths.values())), objects[0].inputs, "--limit=1",
            *options.blocks, params=PARAMETERS, check=False)
    except (batchtest.ToolError, OSError) as error:
        found.append("a device that runs the objects: %s" %
                     str(error).splitlines()[-1])
    return found


def open_peer(options):
    """Returns (PyTorch on its device, or None; the reason why it is None)."""
    if options.no_peers:
        return None, "--no-peers"
    try:
        import torch
        import torch_gpu
    except ImportError as error:
        return None, "PyTorch (python3 -m pip install torch): %s" % error
    if options.torch_device == "cuda" and not torch.cuda.is_available():
        return None, "PyTorch %s has no CUDA device" % torch.__version__
    return torch_gpu.Peer(options.torch_device), None


def driver():
    """Returns the GPU's name, the driver's version and the clocks, as nvidia-smi reports them."""
    fields = "name,driver_version,clocks.sm,clocks.max.sm,clocks.mem"
    try:
        return subprocess.run(
            ["nvidia-smi", "--query-gpu=" + fields, "--format=csv,noheader"],
            stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return None


# --- measuring ----------------------------------------------------------------

def measure_barriers(objects, options, processors):
    """Runs batch-barrier with the kernels of treefc, or of another model if the bundle lacks it.
    Uses the smallest size."""
    chosen = min(objects, key=lambda each: (each.model != "treefc", each.size))
    steps, runs = (5, 3) if options.quick else (1000, 21)
    grids = [1 << i for i in range(16) if 1 << i < processors] + [processors]
    found = []
    for executor, path in chosen.paths.items():
        blocks = {"device": grids, "cluster": [8], "cluster-16": [16]}.get(executor, [1])
        found += json.loads(batchtest.call("batch-barrier", path, steps, runs,
                                           *blocks))
    for result in found:
        print("%-8s %4d blocks: barrier %9.1f ns, step %9.1f ns" % (
            result["executor"], result["blocks"], result["barrier_ns"],
            result["step_ns"]))
    return found


def outputs_of(path):
    """Returns tensors by name, without the offsets of ragged tensors."""
    import torch
    return {name: torch.frombuffer(values, dtype=torch.float32).view(shape)
            for name, (_, shape, values)
            in batchtest.read_safetensors(path).items()
            if not name.endswith(".offsets")}


def check_ours(entry, counts, options, folder):
    """Compares the outputs of each executor with those of unbatched code, for mini-batches of the
    sizes `counts`. Returns {instances: {executor: (largest error and counts, file of outputs)}}.
    Several checks run at once, since unbatched code takes most of their time."""
    def check(job):
        instances, executor = job
        path = os.path.join(folder, "%s-%d.safetensors" % (executor, instances))
        found = entry.run(executor, None, instances, "--outputs=" + path,
                          "--check-unbatched=%g" % options.tolerance)
        return {"error": found["max_relative_error"], "counts": {
            key: found[key] for key in COUNTS}}, path

    jobs = [(instances, executor) for instances in counts for executor in entry.paths]
    workers = max(1, min(8, (os.cpu_count() or 2) // 2))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        done = dict(zip(jobs, pool.map(check, jobs)))
    return {instances: {executor: done[instances, executor] for executor in entry.paths}
            for instances in counts}


def same_files(a, b):
    with open(a, "rb") as first, open(b, "rb") as second:
        return first.read() == second.read()


def node_by_node(entry, form, batch, known):
    """Returns the key of a known result that is also the result of `batch`, or None. In form
    `recursive`, nodes run one by one, so results of the same instances do not depend on the batch
    size."""
    return next((key for key in known if form == key[0] == "recursive" and
                 key[1] != batch and entry.whole(key[1]) == entry.whole(batch)), None)


def check_peer(entry, wanted, peer, options):
    """Returns {(form, batch): largest error}. Omits forms that cannot be captured or compiled.
    `wanted` contains the expected results by number of instances."""
    peer.load(entry.model, entry.size, entry.shapes(), entry.values, entry.graphs)
    tensors = {instances: outputs_of(next(iter(found.values()))[1])
               for instances, found in wanted.items()}
    errors = {}
    for form in filter(options.forms.__contains__, peer.forms()):
        for batch in options.batches:
            same = node_by_node(entry, form, batch, errors)
            if same:
                errors[form, batch] = errors[same]
                continue
            try:
                error = peer.check(form, batch, entry.whole(batch),
                                   tensors[entry.whole(batch)])
            except Exception as problem:
                if form not in ("graph", "compiled"):
                    raise
                print("skipped: %s as %s (%s)" % (
                    entry.model, form, str(problem).splitlines()[0]))
                break
            if not error <= options.tolerance:
                raise batchtest.ToolError("the outputs of PyTorch %s differ from ours by %g" %
                                          (form, error))
            errors[form, batch] = error
    return errors


def time_all(entry, wanted, peer, forms, options, folder):
    """Returns ({(executor, batch): times}, {(form, batch): times}) of all repetitions."""
    path = os.path.join(folder, "outputs.safetensors")
    ours = {(executor, batch): [] for batch in options.batches
            for executor in entry.paths}
    theirs = {key: [] for key in forms}
    for repetition in range(options.repetitions):
        for (executor, batch), times in ours.items():
            more = [] if repetition else ["--outputs=" + path]
            instances = entry.whole(batch)
            times.append(entry.run(executor, batch, instances,
                                   "--bench=%d" % options.runs, *more)["time_us"])
            if more and not same_files(path, wanted[instances][executor][1]):
                raise batchtest.ToolError(
                    "%s: results with --batch=%d are not bit-identical to those of one batch" %
                    (executor, batch))
        for (form, batch), times in theirs.items():
            same = node_by_node(entry, form, batch, [
                key for key in theirs if len(theirs[key]) > repetition])
            if same:
                times.append(theirs[same][-1])
                continue
            runs = peer.time(form, batch, entry.whole(batch),
                             1 if form == "recursive" else options.runs)
            times.append({part: statistics.median(run[part] for run in runs)
                          for part in runs[0]})
    return ours, theirs


def summarize(parts, count):
    """Returns the times per mini-batch in all repetitions, and the medians of these times."""
    parts = {part: [round(value / count, 2) for value in values]
             for part, values in parts.items()}
    return {"us": parts, "median_us": {part: statistics.median(values)
                                       for part, values in parts.items()}}


def measure(entry, peer, options, folder):
    """Yields the result of a model at one size, for each batch size."""
    wanted = check_ours(entry, sorted({entry.whole(batch) for batch in options.batches}),
                        options, folder)
    errors = check_peer(entry, wanted, peer, options) if peer else {}
    ours, theirs = time_all(entry, wanted, peer, errors, options, folder)
    for batch in options.batches:
        count = entry.whole(batch) // batch
        result = {"model": entry.model, "size": entry.size, "batch": batch,
                  "mini_batches": count, "ours": {}, "peers": {}}
        for executor in entry.paths:
            times = ours[executor, batch]
            parts = {part: [time[part] for time in times] for part in times[0]}
            parts["host"] = [time["inspect"] + time["schedule"] for time in times]
            parts["copies"] = [time["execute"] - time["kernels"] for time in times]
            result["ours"][executor] = {**summarize(parts, count),
                                        **wanted[count * batch][executor][0]}
        if str(batch) in entry.estimates:
            result["estimate_us"] = entry.estimates[str(batch)]
        best = result["best"] = min(entry.paths, key=lambda executor: result[
            "ours"][executor]["median_us"]["total"])
        totals = [time["total"] for time in ours[best, batch]]
        for (form, of), times in theirs.items():
            if of != batch:
                continue
            parts = {part: [time[part] for time in times] for part in times[0]}
            ratios = [a / b for a, b in zip(parts["us"], totals)]
            result["peers"][form] = dict(
                summarize(parts, count), error=errors[form, batch],
                ratio=round(statistics.median(ratios), 3),
                ratio_range=[round(min(ratios), 3), round(max(ratios), 3)])
        yield result


def add_floors(result, entry, ceilings):
    """Adds the GFLOP/s of the kernels' products, and the floor as a share of the kernels' time."""
    if entry.is_sequence or not ceilings:
        return
    kernel = result["ours"][result["best"]]["median_us"]["kernels"]
    kernel *= result["mini_batches"]
    flops, compute, memory = structural.floors(
        entry.model, entry.size,
        entry.nodes(result["mini_batches"] * result["batch"]),
        {"fma_gflops": ceilings["f32_gflops"],
         "copy_gbytes": ceilings["copy_gbytes"]}, result["mini_batches"])
    result["gflops"] = flops / kernel / 1e3
    result["floor_share"] = max(compute, memory) / kernel * 1e6


def print_result(result):
    parts = result["ours"][result["best"]]["median_us"]
    line = "%-18s %5d %5d %-8s %9.1f %8.1f %8.1f %9.1f" % (
        result["model"], result["size"], result["batch"], result["best"],
        parts["kernels"], parts["host"], parts["copies"], parts["total"])
    line += " %6.1f%%" % (100 * result["floor_share"]) if "floor_share" in result \
        else " %7s" % "-"
    device = result["ours"].get("device")
    line += " %9.1f %8.1f" % (device["median_us"]["kernels"], result["estimate_us"]) \
        if device and "estimate_us" in result else " %9s %8s" % ("-", "-")
    for form, peer in result["peers"].items():
        line += "  %s %.1f (%.2fx)" % (form, peer["median_us"]["us"],
                                       peer["ratio"])
    print(line)
    sys.stdout.flush()


def store(record, kept, options):
    """Writes the record. Adds the results of an earlier record that the new record lacks."""
    def key(result):
        return result["model"], result["size"], result["batch"]

    again = {key(result) for result in record["results"]}
    batchtest.store_record(options.output, dict(
        record, results=record["results"] + [
            result for result in kept.get("results", []) if key(result) not in again]))


def measure_models(objects, peer, options, record, kept):
    """Adds results to the record and stores it after each model, so that an interrupted run
    keeps its results. Returns the number of failed models."""
    print("%-18s %5s %5s %-8s %9s %8s %8s %9s %7s %9s %8s  PyTorch, us (over ours)" % (
        "model", "size", "batch", "best", "kernel", "host", "copies", "total us",
        "floor", "on device", "estimate"))
    failures = 0
    for entry in objects:
        with tempfile.TemporaryDirectory() as folder:
            try:
                for result in measure(entry, peer, options, folder):
                    add_floors(result, entry, record.get("ceilings"))
                    record["results"].append(result)
                    print_result(result)
                store(record, kept, options)
            except (batchtest.ToolError, RuntimeError, ValueError) as error:
                print("%-18s %5d FAILED: %s" % (
                    entry.model, entry.size,
                    (str(error).strip() or repr(error)).splitlines()[-1]))
                failures += 1
    return failures


def parse(bundle):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    names = lambda text: text.split(",")
    parser.add_argument("--parts", type=names,
                        default=["ceilings", "barriers", "models"])
    parser.add_argument("--models", type=names)
    parser.add_argument("--sizes", type=numbers)
    parser.add_argument("--batches", type=numbers)
    parser.add_argument("--instances", type=int, default=bundle["instances"])
    parser.add_argument("--repetitions", type=int)
    parser.add_argument("--runs", type=int,
                        help="take the median of RUNS runs per repetition")
    parser.add_argument("--output", default="results.json")
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--forms", type=names, default=FORMS)
    parser.add_argument("--device", default=bundle["device"])
    parser.add_argument("--torch-device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tolerance", type=float, default=1e-4)
    options = parser.parse_args()
    if options.device != bundle["device"]:
        parser.error("the objects in this bundle were compiled for --device=%s; make a bundle "
                     "with make_bundle.py --device=%s" %
                     (bundle["device"], options.device))
    options.batches = options.batches or ([1, 4] if options.quick
                                          else [1, 10, 64])
    options.repetitions = options.repetitions or (1 if options.quick else 3)
    options.runs = options.runs or (2 if options.quick else 5)
    # On the emulator, all executors run on 8 blocks. The default depends on the executor:
    # 4 blocks, or two clusters.
    options.blocks = ["--blocks=8"] if options.device == "emulator" else []
    return options


def main():
    with open(os.path.join(HERE, "bundle.json")) as file:
        bundle = json.load(file)
    options = parse(bundle)
    os.environ["BATCH_TOOLS"] = os.path.join(HERE, "bin")
    objects = [Object(entry, options) for entry in bundle["models"]
               if not options.models or entry["model"] in options.models]
    if options.sizes:
        objects = [entry for entry in objects if entry.size in options.sizes or
                   entry.model == "mvrnn" and 4 * entry.size in options.sizes]
    if not objects:
        sys.exit("the bundle contains none of these models and sizes")
    missing = find_missing(bundle, objects, options)
    peer, why = open_peer(options)
    if not peer and not options.no_peers:
        if options.device == "cuda":
            missing.append(why + "; --no-peers measures ours alone")
        else:
            print("skipped: the peers (%s)" % why)
    if missing:
        sys.exit("\n".join("missing: " + line for line in missing))

    record = {**batchtest.where_and_when("gpu"), "bundle": {
        key: value for key, value in bundle.items() if key not in ("models", "programs")},
        "driver": driver(),
        "instances": options.instances, "repetitions": options.repetitions,
        "runs": options.runs, "results": []}
    kept = {}
    if options.add and os.path.exists(options.output):
        with open(options.output) as file:
            kept = json.load(file)
    for part in ("ceilings", "barriers"):
        if part in kept:
            record[part] = kept[part]
    processors = 8
    if peer:
        import torch_gpu
        about = record["peer"] = torch_gpu.describe(peer.cuda)
        print(", ".join("%s %s" % item for item in about.items()))
        processors = about.get("multiprocessors", processors)
        if "ceilings" in options.parts:
            record["ceilings"] = torch_gpu.ceilings(peer.cuda)
            print(", ".join("%s %.4g" % item
                            for item in record["ceilings"].items()))
    failures = 0
    if "barriers" in options.parts:
        try:
            record["barriers"] = measure_barriers(objects, options, processors)
        except batchtest.ToolError as error:
            print("barriers FAILED: " + str(error).strip().splitlines()[-1])
            failures = 1
    if "models" in options.parts:
        failures += measure_models(objects, peer, options, record, kept)
    store(record, kept, options)
    print("stored in " + options.output, flush=True)
    subprocess.run([sys.executable, os.path.join(HERE, "lib", "plot.py"),
                    options.output], check=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
