#!/usr/bin/env python3
"""Measures the benefit of unrolled loops in programs of single instances (`replicate`).

  unroll.py [--build=build] [--threads=1,2] [--rounds=5] [--runs=5] [--output=FILE] [--small]

Runs two models at batch 1, with their own loops and with loops whose bodies have several rounds:
the fold of nasrnn over 1,000 words, unrolled by hand (a list for each word of the body), and the
loop of attention over 32 steps, unrolled by `mlir-opt` of the same LLVM. Results are compared with
those of unbatched code, and must have the same bits with and without unrolling. All programs take
turns for --rounds rounds, with --runs runs each. Times are medians in microseconds per instance.
Ratios are medians of the ratios per round, over the original loop. Barriers and bytes copied by
inserts are per instance, too. --small is for tests. Builds nothing.
"""

import argparse
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402
import turns  # noqa: E402

FACTORS = (1, 2, 4, 8)
SIZES = {"nasrnn": ["--size=H=16"], "attention": ["--size=D=8", "--size=HEADS=2"]}

SCRIPT = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%%root: !transform.any_op {transform.readonly}) {
    %%loop = transform.structured.match ops{["scf.for"]} in %%root
        : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %%loop {factor = %d} : !transform.any_op
    transform.yield
  }
}
"""


def unroll_attention(factor, folder, words):
    source = batchtest.model("attention")
    inputs = "random:1,%d" % turns.LEAST_INSTANCES
    if factor == 1:
        return source, inputs
    model = os.path.join(folder, "attention%d.mlir" % factor)
    script = batchtest.write_lines(os.path.join(folder, "script%d.mlir" % factor),
                                   [SCRIPT % factor])
    tools = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True,
                           text=True, check=True).stdout.strip()
    subprocess.run([os.path.join(tools, "mlir-opt"), source, "-o", model,
                    "--allow-unregistered-dialect",
                    "--transform-preload-library=transform-library-paths=" + script,
                    "--transform-interpreter"], check=True)
    return model, inputs


def unroll_nasrnn(factor, folder, words):
    """Writes NASRNN as a fold over `factor` lists. The body of the fold contains the cell `factor`
    times. Returns the files of the model and of its inputs."""
    with open(batchtest.model("nasrnn")) as file:
        source = file.read()
    lists = ["tokens"] + ["tokens%d" % i for i in range(1, factor)]
    argument = '%%%s: !words {batch.name = "%s"},'
    source = source.replace(argument % ("tokens", "tokens"),
                            " ".join(argument % (name, name) for name in lists))
    fold = re.search(r"    %c, %m = rec\.fold.*?\n    }\n", source, re.S)
    slice_, call = re.search(r"( *%x = .*?)\n( *%c_next.*?)\n *rec\.yield", fold[0],
                             re.S).groups()
    elements = ["%%w%d" % i for i in range(factor)]
    lines = ["    %%c, %%m = rec.fold (%s) in (%s) init(%%c0 = %%zero, %%m0 = %%zero)" % (
        ", ".join(elements), ", ".join("%" + name for name in lists)),
        "        : %s -> !vec, !vec {" % ", ".join(["!words"] * factor)]
    for i, word in enumerate(elements):
        lines.append(slice_.replace("%x", "%%x%d" % i).replace("%w", word))
        lines.append(call.replace("%c_next, %m_next", "%%c%d, %%m%d" % (i + 1, i + 1))
                     .replace("%x, %c, %m", "%%x%d, %%c%d, %%m%d" % (i, i, i)))
    lines += ["      rec.yield %%c%d, %%m%d : !vec, !vec" % (factor, factor), "    }\n"]
    model = batchtest.write_lines(os.path.join(folder, "nasrnn%d.mlir" % factor),
                                  [source.replace(fold[0], "\n".join(lines))])
    chosen = random.Random(1)
    sentences = [chosen.choices(range(100), k=words) for _ in range(turns.LEAST_INSTANCES)]
    return model, batchtest.write_lines(
        os.path.join(folder, "words%d.jsonl" % factor),
        [{name: tokens[i::factor] for i, name in enumerate(lists)} for tokens in sentences])


class Unrolled(turns.Ours):
    """One form of a model, with its inputs. Forms of nasrnn with more cells read more lists."""

    def __init__(self, factor, program, inputs):
        super().__init__("1 round" if factor == 1 else "%d rounds" % factor, program)
        self.inputs = inputs

    def outputs(self, point, path):
        point.inputs = self.inputs
        return super().outputs(point, path)

    def time(self, point):
        point.inputs = self.inputs
        return super().time(point)


def measure(model, programs, threads, options, folder):
    """Measures all forms of a model. Returns a result for the output file."""
    point = turns.Point((programs[0].inputs, "random:0", os.path.join(folder, "outputs")),
                        1, threads, options.runs)
    forms = {}
    for form in programs:
        batchtest.run_model(form.program, form.inputs, "--limit=1", params=point.params)
        if form is programs[0]:
            found = form.outputs(point, point.outputs)
        else:
            form.check(point)
            found = form.outputs(point, point.outputs + ".other")
        forms[form.name] = {count: found[count] / point.mini_batches
                            for count in ("barriers", "copied_bytes")}
    print("%s, %d thread(s)" % (model, threads), file=sys.stderr, flush=True)
    times = turns.take_turns(programs, point, options.rounds, 600)
    for name, all_us in times.items():
        forms[name].update(us=statistics.median(all_us), all_us=all_us,
                           ratio=turns.median_ratio(all_us, times[programs[0].name]))
    return {"model": model, "batch": 1, "threads": threads,
            "reference": programs[0].name, "forms": forms}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--threads", default=[1, 2],
                        type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "control-unrolled.json"))
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    record = {**batchtest.where_and_when("control-unrolled"), "rounds": options.rounds,
              "runs": options.runs, "small": options.small, "results": []}
    with tempfile.TemporaryDirectory() as folder:
        for model, unroll in (("nasrnn", unroll_nasrnn), ("attention", unroll_attention)):
            programs = []
            for factor in FACTORS:
                source, inputs = unroll(factor, folder, 16 if options.small else 1000)
                path = os.path.join(folder, "%s%d.so" % (model, factor))
                programs.append(Unrolled(factor, batchtest.compile_model(
                    source, path, None, "--strategy=replicate", "--instances=1",
                    *(SIZES[model] if options.small else [])), inputs))
            for threads in options.threads:
                result = measure(model, programs, threads, options, folder)
                record["results"].append(result)
                for name, form in result["forms"].items():
                    print("%-10s %d thread(s), %-8s a body: %6.0f barriers, %8.0f bytes "
                          "copied, %9.1f us, %.2f of the loop" % (
                              model, threads, name, form["barriers"],
                              form["copied_bytes"], form["us"], form["ratio"]), flush=True)
    batchtest.store_record(options.output, record)
    print("stored in " + os.path.relpath(options.output))


main()
