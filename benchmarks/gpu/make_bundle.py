#!/usr/bin/env python3
"""Makes a folder with everything that a GPU machine needs to run our benchmarks.

  make_bundle.py [--build=build] [--output=bundle] [--device=cuda|emulator]
                 [--chip=sm_90a] [--models=a,b] [--sizes=256,512] [--instances=64]
                 [--executors=device,cluster,cluster-16,block] [--length=100]
                 [--cpu=x86-64-v3] [--tools=FOLDER] [--first-hour]

The folder contains:

- objects for each executor: all models over trees and DAGs (batchtest.ALL; MV-RNN at a
  quarter of the sizes), and the sequence models next to this script;
- inputs: the first trees of GUM if ../shared/data exists, else of examples/data; 10x10 grids;
  sequences;
- batch-run and batch-barrier, linked so that they only need glibc and a driver, or those of the
  folder of --tools, unchanged;
- run.py with its modules.

--cpu specifies the CPU for the host code of the objects, which inspects inputs and checks results.
A bundle for the emulator is small and serves to try out the scripts.

--first-hour adds first_hour.py and its additional programs (programs.py): golden cases of all
models if ../shared/cases exists, products on tensor cores, and models whose control does not
follow a structure. Then the default is --sizes=256, and --models accepts the names of all of these.

Does not build the compiler: run scripts/check first. Compiles BATCH_JOBS models at a time
(default: 2). Leaves out models that do not compile, and reports an error at the end. Lists the
files. A folder of more than 50 MB is an error.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
for folder in ("test/Integration", "benchmarks/structural"):
    sys.path.insert(0, os.path.join(ROOT, folder))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402
import programs  # noqa: E402
import run as structural  # noqa: E402

MOST_BYTES = 50e6
TOOLS = ["batch-run", "batch-barrier"]
MODULES = {"batchtest.py": "test/Integration/batchtest.py",
           "structural.py": "benchmarks/structural/run.py",
           "plot.py": "benchmarks/plot.py",
           "torch_peer.py": "benchmarks/peers/torch_peer.py",
           "torch_cells.py": "benchmarks/gpu/torch_cells.py",
           "torch_gpu.py": "benchmarks/gpu/torch_gpu.py",
           "graphs.py": "benchmarks/gpu/graphs.py"}


def build_tools(folder):
    """Builds the runtime's tools for any Linux whose glibc is at least as new as the one here."""
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DBATCH_BUILD_TESTS=OFF",
               "-DBATCH_BENCHMARK_TOOLS=ON", "-DBoost_USE_STATIC_LIBS=ON",
               "-DCMAKE_EXE_LINKER_FLAGS=-static-libstdc++ -Wl,--gc-sections"]
    for command in (["cmake", "-S", os.path.join(ROOT, "runtime"), "-B", folder]
                    + options, ["cmake", "--build", folder, "-j",
                                os.environ.get("BATCH_JOBS", "2")]):
        done = subprocess.run(command, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit("%s\nexited with status %d:\n%s" % (
                " ".join(command), done.returncode, done.stdout.decode()))
    return os.path.join(folder, "bin")


def needed_glibc(path):
    """Returns the newest version of glibc that a program requires."""
    with open(path, "rb") as file:
        found = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", file.read())
    return ".".join(map(str, max((int(a), int(b)) for a, b in found)))


def revision():
    """Returns git's description of the sources, which ends in -dirty if tracked files have
    changed."""
    try:
        return subprocess.check_output(
            ["git", "-C", ROOT, "describe", "--always", "--dirty"]).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return "no revision"


def numbered(values, binary):
    """Returns bracketed trees as JSON values. Words are numbered by first appearance."""
    words = {}

    def convert(tree):
        if isinstance(tree[1], str):
            return ["leaf", words.setdefault(tree[1], len(words))]
        kids = [convert(kid) for kid in tree[1:]]
        return ["node"] + (kids if binary else [kids])

    return [convert(value) for value in values]


def write_inputs(models, options, folder):
    """Writes one input file for each kind of structure. Returns {model: its input file}."""
    found = {}
    for model in models:
        kind = next((name for name in ("BINARY", "CHILD_SUM", "DEP", "DAG")
                     if model in getattr(batchtest, name)), "SEQUENCE").lower()
        found[model] = "inputs/%s.jsonl" % kind
        path = os.path.join(options.output, found[model])
        if os.path.exists(path):
            continue
        if kind == "sequence":
            generator = random.Random(1)
            values = [[generator.randrange(1000) for _ in range(options.length)]
                      for _ in range(options.instances)]
        else:
            _, values = structural.make_inputs(model, options, folder)
            if kind in ("binary", "child_sum"):
                values = numbered(values, kind == "binary")
        batchtest.write_lines(path, values)
    return found


def measured(models, inputs, options):
    """Returns entries of the manifest for run.py, and their objects to compile as (name,
    source, options)."""
    entries, work = [], []
    for model in models:
        source = programs.source_of(model)
        for size in options.sizes:
            size = size // 4 if model == "mvrnn" else size
            objects = {executor: "objects/%s-%d-%s.so" % (model, size, executor)
                       for executor in options.executors}
            entries.append({"model": model, "size": size, "inputs": inputs[model],
                            "objects": objects})
            work += [(name, source, ["--size=H=%d" % size] + programs.EXECUTORS[executor])
                     for executor, name in objects.items()]
    return entries, work


def first_hour(entries, options, scratch):
    """Returns the programs of first_hour.py, and their objects to compile."""
    found, work = [], []
    for program, source, flags in itertools.chain(
            programs.cases(options, scratch), programs.tensor_cores(options, entries),
            programs.control(options)):
        program["object"] = "objects/%s-%d.so" % (program["part"], len(found))
        found.append(program)
        work.append((program["object"], source, flags))
    return found, work


def compile_objects(work, options):
    """Compiles all objects. Returns the names of those that do not compile."""
    device = ["--device=" + options.device, "--cpu=" + options.cpu]
    if options.device == "cuda":
        device.append("--chip=" + options.chip)

    def make(job):
        name, source, flags = job
        target = os.path.join(options.output, name)
        try:
            kept = batchtest.compile_model(source, target, None, *device, *flags)
        except batchtest.ToolError as error:
            print("FAILED: " + str(error))
            return name
        if kept != target:
            shutil.copyfile(kept, target)
        return None

    jobs = int(os.environ.get("BATCH_JOBS", "2"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return set(filter(None, pool.map(make, work)))


def add_estimates(models, options):
    """Adds work.py's estimates to the models with an object for executor `device`: the time of the
    kernel by batch size."""
    import work
    batches = [batch for batch in (1, 4, 10, 64) if batch <= options.instances]
    of = argparse.Namespace(blocks=0, precision="f32", chip=options.chip,
                            instances=options.instances)
    for entry in models:
        if "device" in entry["objects"]:
            model = work.Model(entry["model"], entry["size"],
                               os.path.join(options.output, entry["inputs"]), batches, of)
            entry["estimate_us"] = {batch: round(model.estimate_us(batch), 1)
                                    for batch in batches}


def without(models, programs, failed):
    """Returns the models and programs without the failed objects."""
    for entry in models:
        entry["objects"] = {executor: name for executor, name
                            in entry["objects"].items() if name not in failed}
    return ([entry for entry in models if entry["objects"]],
            [program for program in programs if program["object"] not in failed])


def list_files(folder):
    """Prints files and their sizes, with sums for objects and cases. Returns the total number of
    bytes."""
    total, sums = 0, {"objects": [], "cases": []}
    for at, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(at, name), folder)
            size = os.path.getsize(os.path.join(at, name))
            total += size
            if path.split(os.sep)[0] in sums:
                sums[path.split(os.sep)[0]].append(size)
            else:
                print("%10d %s" % (size, path))
    for name, sizes in sums.items():
        if sizes:
            print("%10d %s/ (%d, the largest has %d)" % (sum(sizes), name, len(sizes),
                                                         max(sizes)))
    print("%10d in all" % total)
    return total


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.path.join(ROOT, "..", "shared", "data", "gum_trees")
    numbers = lambda text: [int(part) for part in text.split(",")]
    names = lambda text: text.split(",")
    everything = batchtest.ALL + list(programs.SEQUENCES)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--output", default="bundle")
    parser.add_argument("--device", choices=("cuda", "emulator"), default="cuda")
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--models", type=names)
    parser.add_argument("--sizes", type=numbers)
    parser.add_argument("--executors", type=names)
    parser.add_argument("--instances", type=int)
    parser.add_argument("--length", type=int, help="use sequences of LENGTH words")
    parser.add_argument("--cpu", default="x86-64-v3" if platform.machine() ==
                        "x86_64" else "neoverse-n1")
    parser.add_argument("--tools", help="take " + " and ".join(TOOLS) + " from this folder")
    parser.add_argument("--first-hour", action="store_true")
    options = parser.parse_args()
    small = options.device == "emulator"
    options.sizes = options.sizes or ([16] if small else [256] if options.first_hour
                                      else [256, 512])
    options.instances = options.instances or (4 if small else 64)
    # run.py and first_hour.py run 8 blocks on the emulator, too few for a cluster of 16.
    options.executors = options.executors or [
        name for name in programs.EXECUTORS if name != "cluster-16" or not small]
    unknown = set(options.executors) - set(programs.EXECUTORS)
    if unknown:
        parser.error("unknown executor: %s; expected one of %s" % (
            ", ".join(sorted(unknown)), ", ".join(programs.EXECUTORS)))
    options.length = options.length or (6 if small else 100)
    options.measured = [model for model in everything
                        if not options.models or model in options.models]
    unknown = set(options.models or []) - set(everything)
    if unknown and not options.first_hour:
        parser.error("unknown model: %s; expected one of %s" % (
            ", ".join(sorted(unknown)), ", ".join(everything)))
    there = os.path.isdir(data)
    samples = os.path.join(ROOT, "examples", "data")
    options.trees = os.path.join(*((data, "binary.txt") if there
                                   else (samples, "trees.txt")))
    options.nary = os.path.join(*((data, "nary.txt") if there
                                  else (samples, "nary_trees.txt")))
    return options


def main():
    options = parse()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    if os.path.exists(options.output):
        sys.exit("'%s' already exists; remove it or specify another --output" %
                 options.output)
    for folder in ("bin", "inputs", "lib", "objects"):
        os.makedirs(os.path.join(options.output, folder))
    with tempfile.TemporaryDirectory() as folder:
        tools = options.tools or build_tools(os.path.join(options.build, "bundle-tools"))
        for name in TOOLS:
            shutil.copy(os.path.join(tools, name),
                        os.path.join(options.output, "bin"))
        inputs = write_inputs(options.measured, options, folder)
        models, work = measured(options.measured, inputs, options)
        found, more = first_hour(models, options, folder) if options.first_hour \
            else ([], [])
        failed = compile_objects(work + more, options)
    models, found = without(models, found, failed)
    add_estimates(models, options)
    for name, source in MODULES.items():
        shutil.copyfile(os.path.join(ROOT, source),
                        os.path.join(options.output, "lib", name))
    scripts = ["run.py"] + (["first_hour.py"] if options.first_hour else [])
    for name in scripts:
        shutil.copy(os.path.join(HERE, name), options.output)
    version = batchtest.call("batch-run", "--version").splitlines()[0]
    manifest = {"device": options.device, "ours": version, "revision": revision(),
                "chip": options.chip if options.device == "cuda" else None,
                "glibc": needed_glibc(os.path.join(options.output, "bin",
                                                   "batch-run")),
                "trees": os.path.basename(os.path.dirname(options.trees)),
                "instances": options.instances, "timed": programs.TIMED, "models": models,
                "programs": found}
    with open(os.path.join(options.output, "bundle.json"), "w") as file:
        json.dump(manifest, file, indent=1)
        file.write("\n")
    total = list_files(options.output)
    print("The tools need glibc %s, a CPU as %s%s; run.py PyTorch too." % (
        manifest["glibc"], options.cpu,
        " and an NVIDIA driver" if manifest["chip"] else ""))
    if total > MOST_BYTES:
        sys.exit("the bundle is larger than %d MB; omit some models or sizes" %
                 (MOST_BYTES / 1e6))
    for name in scripts:
        print("python3 %s" % os.path.join(options.output, name))
    if failed:
        sys.exit("%d of %d objects did not compile; the bundle does not contain them" % (
            len(failed), len(work + more)))


if __name__ == "__main__":
    main()
