#!/usr/bin/env python3
"""Measures the compile times of models, and the run times of their objects.

  models.py [--build=build] [--models=a,b] [--runs=7] [--levels=1,3] [--data=FOLDER]
            [--no-run] [--output=FILE]

Compiles each model at each optimization level, in turn. Reports medians of CPU seconds and of
wall seconds, from start to exit. Then runs the objects on one thread, in turn. Reports the CPU
seconds of batch-run, including start and inputs, and the median of the ratios to the last level
of --levels. The exit code is 1 if any outputs differ in any bit. On a shared machine, ratios and
CPU seconds are the most reliable.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INTEGRATION = os.path.join(ROOT, "test", "Integration")
sys.path.insert(0, INTEGRATION)
sys.dont_write_bytecode = True
import batchtest  # noqa: E402, calls tools, stores records

# For each model: options of the compiler, and its runs as (name, number of instances, number of
# repetitions).
MODELS = {
    "treelstm_nary": (["--size=H=256"], [("batch 64", 64, 40), ("batch 1", 1, 400)]),
    "seq2seq": (["--size=H=256"], [("batch 64", 64, 10)]),
    "nuts_gauss": ([], [("64 chains", 64, 20)]),
    "nuts_logreg": (["--size=D=16,ROWS=64"], [("64 chains", 64, 20)]),
    "german_credit": ([], []),
    "eight_schools_noncentered": ([], [("64 chains", 64, 1), ("512 chains", 512, 1)]),
}


def timed(command):
    """Returns the CPU seconds and the wall seconds of a process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise batchtest.ToolError("%s exited with status %d:\n%s" % (
            " ".join(command), done.returncode, done.stderr.decode(errors="replace")))
    return (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall)


def inputs(model, options, instances, folder, data):
    """Returns the options of batch-run for the inputs and parameters of a model. If they are not
    random, writes them to files in `folder`."""
    if model not in batchtest.CONTROL:
        return ["--inputs=random:1,%d" % instances, "--params=random:0"]
    sizes = dict(part.split("=") for option in options
                 for part in option.replace("--size=", "").split(","))
    sizes = [flag + sizes[name] for name, flag in
             (("D", "--dimensions="), ("ROWS", "--rows=")) if name in sizes]
    subprocess.run([sys.executable, os.path.join(INTEGRATION, "posteriors.py"), "inputs",
                    model, folder, "--chains=%d" % instances, *sizes] +
                   (["--data=" + data] if data else []), check=True)
    path = os.path.join(folder, model)
    found = ["--inputs=" + path + ".jsonl"]
    for flag, file in (("--params=", path + ".safetensors"),
                       ("--input-tensors=", path + "_starts.safetensors")):
        if os.path.exists(file):
            found.append(flag + file)
    return found


def compare(objects, arguments, repetitions, runs, folder):
    """Returns {level: CPU seconds of each run}. Raises an error if outputs differ."""
    tool, outputs = batchtest.tool("batch-run"), {}
    for level, program in objects.items():
        path = os.path.join(folder, "outputs." + level)
        subprocess.run([tool, program, *arguments, "--outputs=" + path], check=True,
                       stdout=subprocess.DEVNULL)
        outputs[level] = batchtest.contents(path)
    if len(set(outputs.values())) > 1:
        raise batchtest.ToolError("the outputs of levels %s are not bit-identical" %
                                  ", ".join(objects))
    bench = ["--bench=%d" % repetitions] if repetitions > 1 else []
    seconds = {level: [] for level in objects}
    for _ in range(runs):
        for level, program in objects.items():
            seconds[level].append(timed([tool, program, *arguments, *bench])[0])
    return seconds


def measure(model, options, folder):
    """Measures a model. Returns its record."""
    flags, points = MODELS[model]
    source = batchtest.model(model)
    objects = {level: os.path.join(folder, "%s.%s.so" % (model, level))
               for level in options.levels}
    times = {level: [] for level in objects}
    for _ in range(options.runs):
        for level, path in objects.items():
            times[level].append(timed([batchtest.tool("batch-compile"), source, *flags,
                                       "-O" + level, "-o", path]))
    record = {"model": model, "compile": {
        level: {"cpu_s": statistics.median(cpu for cpu, _ in taken),
                "wall_s": statistics.median(wall for _, wall in taken),
                "best_wall_s": min(wall for _, wall in taken),
                "bytes": os.path.getsize(objects[level])}
        for level, taken in times.items()}, "runs": []}
    for level, found in record["compile"].items():
        print("%-26s -O%s: %.2f CPU s, %.2f s, %d KB" % (
            model, level, found["cpu_s"], found["wall_s"], found["bytes"] // 1000))
    for name, instances, repetitions in [] if options.no_run else points:
        arguments = inputs(model, flags, instances, folder, options.data)
        seconds = compare(objects, arguments, repetitions, options.runs, folder)
        last = seconds[options.levels[-1]]
        ratios = {level: statistics.median(a / b for a, b in zip(taken, last))
                  for level, taken in seconds.items()}
        record["runs"].append({"run": name, "ratio": ratios, "cpu_s": {
            level: statistics.median(taken) for level, taken in seconds.items()}})
        print("%26s  %s" % (name, ", ".join("-O%s %.3f CPU s (%.3f)" % (
            level, statistics.median(taken), ratios[level])
            for level, taken in seconds.items())), flush=True)
    return record


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--levels", default="1,3", type=lambda text: text.split(","))
    parser.add_argument("--data", help="read the data of the real posteriors here")
    parser.add_argument("--no-run", action="store_true", help="only compile")
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "compile-models.json"))
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    folder = batchtest.temporary()
    try:
        results = [measure(model, options, folder) for model in options.models.split(",")]
    except batchtest.ToolError as error:
        sys.exit("models.py: " + str(error))
    batchtest.store_record(options.output, {
        **batchtest.where_and_when("compile-models"), "levels": options.levels,
        "results": results})


main()
