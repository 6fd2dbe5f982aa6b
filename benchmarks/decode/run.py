#!/usr/bin/env python3
"""Compares Batch, jit(vmap) and transformers' `generate` on a decoder with caches.

  run.py [--widths=256,768] [--lanes=1,8,64] [--spellings=tuple,stacked,scan]
         [--requests=256] [--map-lanes=32] [--layers=4] [--threads=1] [--rounds=5]
         [--minutes=7] [--torch=PYTHON] [--output=FILE] [--small]

Run the script in a Python with the package and JAX (scripts/python-environment creates
build/python). --torch is a Python with PyTorch and transformers (default: the same). If they
are missing, their column is empty. The script looks for batch-peak in $BATCH_TOOLS and then
on the PATH.

The decoder is examples/python/decode: GPT-2 with random weights and 4,096 tokens. Its caches
have three spellings: a tuple with one array per layer, one array, and lax.scan over layers.
Each request ends at its own token. There are two kinds of points:

  all at once    N requests on N lanes: batch.vmap, jit(vmap), `generate` with padding
  in turn        --requests on --map-lanes lanes: batch.map refills lanes; jit(vmap) and
                 `generate` take the requests in chunks

All programs take turns for up to --rounds rounds. The points share --minutes. Compilation is
not timed. The script measures CPU time on one thread, and wall time on several threads. Times
are medians of the rounds. Ratios are medians of the ratios of each round: the time of a peer
over ours, so a loss is below 1. "of the peak" is the rate of products with weights over the
FMA peak. It counts only the steps that requests need. batch-peak runs before and after the
programs, and the larger peak counts.

A request must produce the same tokens in all spellings. The first 8 requests must also
produce these tokens on one lane. At least 97 % of the requests must have the tokens of
jit(vmap), and of `generate`: the two highest logits may be nearly equal.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "benchmarks", "decode")
sys.path.insert(0, os.path.join(ROOT, "benchmarks"))
sys.dont_write_bytecode = True
import workers  # noqa: E402
import batchtest  # noqa: E402, on the path that workers adds
import turns  # noqa: E402

SPELLINGS = ["tuple", "stacked", "scan"]
LEAST_SAME, COMPARED = 0.97, 8


class Form:
    """A program that runs in a worker and takes turns with other programs."""

    def __init__(self, worker, name, lanes, count):
        self.worker, self.name = worker, name
        self.asked = {"form": name, "lanes": lanes, "count": count}
        worker.ask("prepare", **self.asked)

    def time(self, point):
        found = self.worker.ask("run", **self.asked)
        self.tokens = found["tokens"]
        return found["seconds"]


def measure_peak(threads):
    found = json.loads(batchtest.call("batch-peak", threads))["threads"]
    return found[str(threads)]["fma_gflops"]


def count_same(found, wanted):
    return sum(map(lambda a, b: a == b, found, wanted))


class Point:
    """A point of the benchmark: `count` requests on `lanes` lanes, and forms that take turns."""

    def __init__(self, width, lanes, count, ours, theirs):
        self.width, self.lanes, self.count = width, lanes, count
        self.ours, self.theirs = ours, theirs  # forms of batch, and the peer of each

    def prepare(self, jax, torch):
        forms = {name: Form(jax, name, self.lanes, self.count)
                 for name in self.ours + list(dict.fromkeys(self.theirs))}
        if torch:
            forms["generate"] = Form(torch, "generate", self.lanes, self.count)
        return forms

    def measure(self, jax, torch, reference, products, options, seconds):
        """Returns the results and the failures."""
        forms = self.prepare(jax, torch)
        times = turns.take_turns(list(forms.values()), None, options.rounds, seconds)
        results, failed = [], []
        wanted = forms[self.ours[0]].tokens
        steps = sum(map(len, wanted)) - len(wanted)
        for name, peer in zip(self.ours, self.theirs):
            where = "width %d, %d lanes, %s" % (self.width, self.lanes, name)
            if forms[name].tokens != wanted or wanted[:COMPARED] != reference[:self.count]:
                failed.append(where + ": tokens depend on the spelling or the lanes")
            taken = statistics.median(times[name])
            result = {"width": self.width, "lanes": self.lanes, "requests": self.count,
                      "threads": options.threads, "form": name, "seconds": taken,
                      "rounds": len(times[name]), "steps": steps,
                      "longest": max(map(len, wanted)), "gflops": 1e-9 * products * steps / taken}
            for key, other in ("vmap", peer), ("generate", "generate"):
                if other not in forms:
                    continue
                same = count_same(forms[other].tokens, wanted)
                if same < LEAST_SAME * self.count:
                    failed.append("%s: %d of %d requests have the tokens of %s" % (
                        where, same, self.count, other))
                result.update({key + "_seconds": statistics.median(times[other]),
                               key + "_same": same,
                               "over_" + key: turns.median_ratio(times[other], times[name])})
            results.append(result)
        return results, failed


def points_of(width, options):
    """Returns the points of a width. Fast points come first and leave time for the slow ones."""
    found = [Point(width, lanes, lanes, ["batch " + s for s in options.spellings],
                   ["vmap " + s for s in options.spellings]) for lanes in sorted(options.lanes)]
    return found + [Point(width, options.map_lanes, options.requests, ["map"],
                          ["vmap tuple"])]


def describe(result):
    text = "%5d %3d lanes %4d requests  %-13s %8.3f s" % (
        result["width"], result["lanes"], result["requests"], result["form"],
        result["seconds"])
    for key, title in ("vmap", "jit(vmap)"), ("generate", "generate"):
        if "over_" + key in result:
            text += "  %.2fx %s (%d the same)" % (
                result["over_" + key], title, result[key + "_same"])
    return text


def print_table(results):
    """Prints a table for the README."""
    print("\n| width | lanes | requests, steps | form | s | of the peak | jit(vmap) | generate |")
    print("|---|---|---|---|---|---|---|---|")
    for r in results:
        print("| %d | %d | %d, %d | %s | %.3f | %.0f %% | %.2f | %s |" % (
            r["width"], r["lanes"], r["requests"], r["steps"], r["form"], r["seconds"],
            100 * r["peak_share"], r["over_vmap"],
            "%.2f" % r["over_generate"] if "over_generate" in r else "-"))


def has_transformers(python):
    return subprocess.run([python, "-c", "import torch, transformers"],
                          stderr=subprocess.DEVNULL).returncode == 0


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("--widths", type=numbers, default=[256, 768])
    parser.add_argument("--lanes", type=numbers, default=[1, 8, 64])
    parser.add_argument("--spellings", type=lambda text: text.split(","), default=SPELLINGS)
    parser.add_argument("--requests", type=int, default=256)
    parser.add_argument("--map-lanes", type=int, default=32)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=float, default=7)
    parser.add_argument("--torch", default=sys.executable)
    parser.add_argument("--output",
                        default=os.path.join(ROOT, "benchmarks", "results", "decode.json"))
    parser.add_argument("--small", action="store_true", help="use few requests, for tests")
    options = parser.parse_args()
    unknown = sorted(set(options.spellings) - set(SPELLINGS))
    if unknown:
        parser.error("unknown spelling %s; expected one of %s" % (
            ", ".join(unknown), ", ".join(SPELLINGS)))
    if options.small:
        options.widths, options.lanes, options.layers = [64], [5], 2
        options.requests, options.map_lanes, options.rounds = 8, 3, 1
    return options


def main():
    options = parse_options()
    end = time.monotonic() + 60 * options.minutes
    record = {**batchtest.where_and_when("decode"), "layers": options.layers, "results": []}
    print("%s, %s, %d cores" % (record["date"], record["cpu"], record["cores"]))
    script = os.path.join(HERE, "worker.py")
    jax, torch = workers.Peer(script, "jax", options.threads), None
    if "missing" in jax.about:
        sys.exit("%s lacks requirements (%s); use build/python/bin/python" % (
            sys.executable, jax.about["missing"]))
    record["jax"] = jax.about["version"]
    if has_transformers(options.torch):
        torch = workers.Peer(script, "transformers", options.threads, python=options.torch)
        record["transformers"] = torch.about["version"]
    else:
        print("%s lacks PyTorch or transformers: their column is empty" % options.torch)
    peak, failures = measure_peak(options.threads), []
    points = [point for width in sorted(options.widths) for point in points_of(width, options)]
    loaded = None
    for n, point in enumerate(points):
        if point.width != loaded:
            loaded = point.width
            asked = {"width": loaded, "layers": options.layers,
                     "requests": max(options.lanes + [options.requests])}
            products = jax.ask("load", **asked)["products"]
            if torch:
                torch.ask("load", **asked)
            one_by_one = {"form": "batch tuple", "lanes": 1, "count": COMPARED}
            jax.ask("prepare", **one_by_one)
            reference = jax.ask("run", **one_by_one)["tokens"]
        seconds = max(0, end - time.monotonic()) / (len(points) - n)
        results, failed = point.measure(jax, torch, reference, products, options, seconds)
        record["results"] += results
        failures += failed
        print("\n".join(["FAILED: " + text for text in failed] + list(map(describe, results))),
              flush=True)
    for worker in (jax, torch):
        if worker:
            worker.close()
    record["peak_gflops"] = max(peak, measure_peak(options.threads))
    for result in record["results"]:
        result["peak_share"] = result["gflops"] / record["peak_gflops"]
    print_table(record["results"])
    batchtest.store_record(options.output, record)
    print("stored in " + options.output)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
