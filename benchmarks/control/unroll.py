#!/usr/bin/env python3
"""What do unrolled loops bring to programs of single instances (strategy `replicate`)?

  unroll.py [--build=build] [--threads=1,2] [--rounds=5] [--output=FILE]

Runs two models, one instance, with loops as they are and with bodies of several rounds: the
fold of nasrnn over 1,000 words, by hand (a list for each word of the body), and the loop of
attention over 32 steps, by `mlir-opt` of the same LLVM. Results are compared with those of
unbatched code. All run in turn, --rounds times; times are medians in microseconds, and
ratios are over the loop as it is, of the same turn. Counts are barriers of two workers.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = os.path.join(ROOT, "examples", "models")
FACTORS = (1, 2, 4, 8)
WORDS = 1000

SCRIPT = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%%root: !transform.any_op {transform.readonly}) {
    %%loop = transform.structured.match ops{["scf.for"]} in %%root
        : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %%loop {factor = %d} : !transform.any_op
    transform.yield
  }
}
"""


def unroll_attention(factor, folder):
    source = os.path.join(MODELS, "attention.mlir")
    if factor == 1:
        return source, "random:1,1"
    model = os.path.join(folder, "attention%d.mlir" % factor)
    script = os.path.join(folder, "unroll%d.mlir" % factor)
    with open(script, "w") as file:
        file.write(SCRIPT % factor)
    tools = subprocess.run(["llvm-config-22", "--bindir"], capture_output=True,
                           text=True, check=True).stdout.strip()
    subprocess.run([os.path.join(tools, "mlir-opt"), source, "-o", model,
                    "--allow-unregistered-dialect",
                    "--transform-preload-library=transform-library-paths=" + script,
                    "--transform-interpreter"], check=True)
    return model, "random:1,1"


def unroll_nasrnn(factor, folder):
    """The same cell `factor` times in the body of a fold over as many lists."""
    with open(os.path.join(MODELS, "nasrnn.mlir")) as file:
        source = file.read()
    lists = ["tokens"] + ["tokens%d" % i for i in range(1, factor)]
    argument = '%%%s: !words {batch.name = "%s"},'
    source = source.replace(argument % ("tokens", "tokens"),
                            " ".join(argument % (name, name) for name in lists))
    fold = re.search(r"    %c, %m = rec\.fold.*?\n    }\n", source, re.S)
    slice_, call = re.search(r"( *%x = .*?)\n( *%c_next.*?)\n *rec\.yield", fold[0],
                             re.S).groups()
    words = ["%%w%d" % i for i in range(factor)]
    lines = ["    %%c, %%m = rec.fold (%s) in (%s) init(%%c0 = %%zero, %%m0 = %%zero)" % (
        ", ".join(words), ", ".join("%" + name for name in lists)),
        "        : %s -> !vec, !vec {" % ", ".join(["!words"] * factor)]
    for i, word in enumerate(words):
        lines.append(slice_.replace("%x", "%%x%d" % i).replace("%w", word))
        lines.append(call.replace("%c_next, %m_next", "%%c%d, %%m%d" % (i + 1, i + 1))
                     .replace("%x, %c, %m", "%%x%d, %%c%d, %%m%d" % (i, i, i)))
    lines += ["      rec.yield %%c%d, %%m%d : !vec, !vec" % (factor, factor), "    }\n"]
    model = os.path.join(folder, "nasrnn%d.mlir" % factor)
    with open(model, "w") as file:
        file.write(source.replace(fold[0], "\n".join(lines)))
    tokens = random.Random(1).choices(range(100), k=WORDS)
    inputs = os.path.join(folder, "words%d.jsonl" % factor)
    with open(inputs, "w") as file:
        json.dump({name: tokens[i::factor] for i, name in enumerate(lists)}, file)
    return model, inputs


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output")
    options = parser.parse_args()
    tool = os.path.join(options.build, "bin", "batch-run")

    def run(model, inputs, threads, *more):
        done = subprocess.run([tool, model, "--inputs=" + inputs, "--params=random:0",
                               "--strategy=replicate", "--threads=%s" % threads, "--json",
                               *more], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return json.loads(done.stdout)

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("nasrnn", unroll_nasrnn), ("attention", unroll_attention)):
            made = {factor: make(factor, folder) for factor in FACTORS}
            for threads in options.threads.split(","):
                barriers, times = {}, {factor: [] for factor in FACTORS}
                for factor in FACTORS:
                    report = run(*made[factor], threads, "--check-unbatched")
                    if report["max_relative_error"] > 1e-5:
                        sys.exit("%s, %d rounds at once: wrong" % (name, factor))
                    barriers[factor] = report["barriers"]
                for turn in range(options.rounds):
                    print("%s, %s threads, turn %d" % (name, threads, turn),
                          file=sys.stderr)
                    for factor in FACTORS:
                        times[factor].append(run(*made[factor], threads, "--bench=40")
                                             ["time_us"]["total"])
                for factor in FACTORS:
                    rows.append({
                        "model": name, "threads": int(threads), "rounds_at_once": factor,
                        "barriers": barriers[factor],
                        "time_us": statistics.median(times[factor]),
                        "ratio": statistics.median(
                            time / one for time, one in zip(times[factor], times[1]))})
                    print("%(model)-10s %(threads)d threads, %(rounds_at_once)d rounds at "
                          "once: %(barriers)5d barriers, %(time_us)9.1f us, %(ratio).2f "
                          "of the loop" % rows[-1])
    if options.output:
        with open(options.output, "w") as file:
            json.dump({"command": " ".join(["unroll.py"] + sys.argv[1:]), "rows": rows},
                      file, indent=1)
            file.write("\n")


main()
