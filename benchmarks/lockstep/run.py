#!/usr/bin/env python3
"""How much do samplers gain when control runs in lock step?

  run.py [--build=build] [--parts=utilization,traffic,speed] [--lanes=1,8,32,128]
         [--chains=1,16,64,256,1024] [--transitions=10] [--dimensions=100]
         [--observations=10000] [--repetitions=5] [--output=FILE]

Builds nothing: scripts/check does. Prints tables and stores JSON. The No-U-Turn
Sampler of examples/models, compared as in the paper on program-counter autobatching
(Radul et al., MLSys 2020):

utilization  of gradients on a correlated Gaussian: evaluations that were wanted over
             lanes that were there, by block choice, without and with refill (4 chains
             a lane then), beside masks, where lanes meet at every transition. The
             paper's figure 7; does not depend on the machine.
traffic      bytes that move from and to variables (stacks, and rows beside them) per
             gradient on the same chains, with every optimization of section 3.2
             switched off alone. Does not depend on the machine either.
speed        gradients per second of one thread on logistic regression, by chains: in
             lock step, with masks (every block on all lanes, as in the paper; and on
             those that take part only), one chain at a time, and a loop written by
             hand (batch-gradient) that evaluates the same gradient for all chains,
             32 at least, every time. All run in turn, and a ratio is that of one turn; medians. The
             paper's figure 6. Ours counts the whole run, the tree of the sampler
             included, over the gradients that it wanted.

Before speeds are compared, all ways of running have to give the same bits.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
import batchtest  # noqa: E402
import posteriors  # noqa: E402

CHOICES = ["work", "learned", "most", "program"]

# Options of passes, and a pass that is left out.
OPTIMIZATIONS = {
    "all on": ({}, None),
    "live-saves=false": ({"batch-recursion-to-stack": "live-saves=false"}, None),
    "temporaries=false": ({"batch-recursion-to-stack": "temporaries=false"}, None),
    "needed-stacks=false": ({"batch-recursion-to-stack": "needed-stacks=false"}, None),
    "cached-tops=false": ({"batch-recursion-to-stack": "cached-tops=false"}, None),
    "no batch-cancel-pops": ({}, "batch-cancel-pops"),
}


class Sampler:
    """A model with its inputs, compiled in a folder."""

    def __init__(self, model, folder, chains, sizes, **inputs):
        self.model = model
        self.folder = folder
        self.source = os.path.join(batchtest.MODELS, model + ".mlir")
        self.sizes = ",".join("%s=%d" % size for size in sizes.items())
        posteriors.write_inputs(model, folder, chains, **inputs)

    def path(self, name):
        return os.path.join(self.folder, self.model + name)

    def compile(self, name, strategy):
        output = self.path("-%s.so" % name)
        batchtest.call("batch-compile", self.source, "-o", output,
                       "--size=" + self.sizes, "--strategy=" + strategy)
        return output

    def lower(self, options, without):
        """Compiles with options for passes of --autobatch, and without one."""
        lowered, output = self.path(".lowered.mlir"), self.path("-lowered.so")
        options = dict({"batch-specialize-sizes": "sizes=" + self.sizes}, **options)
        batchtest.call("batch-opt", self.source, "-o", lowered,
                       *batchtest.autobatch_passes(options, without),
                       "--cpu-workers=" + batchtest.vector_options())
        batchtest.call("batch-compile", lowered, "-o", output)
        return output

    def run(self, program, chains, lanes, *options):
        """What batch-run says, the outputs' bytes, and the gradients wanted."""
        outputs = self.path("-outputs.safetensors")
        found = batchtest.run_model(
            program, self.path(".jsonl"), "--limit=%d" % chains, "--counters",
            "--input-tensors=" + self.path("_starts.safetensors"),
            "--outputs=" + outputs, *options, params=self.path(".safetensors"),
            batch=lanes, check=False)
        counts = batchtest.read_safetensors(outputs)["doublings_leapfrogs"][2]
        with open(outputs, "rb") as file:
            return found, file.read(), sum(counts[1::2])


def gradient_block(found, gradients):
    """The block that lanes ran as often as the model counted gradients. (One more
    per chain, the first, is another block's.)"""
    for block in found["blocks"]:
        if block["lane_runs"] == gradients:
            return block
    raise batchtest.ToolError("no block ran %d times" % gradients)


def utilization(options, folder):
    most = max(options.lanes)
    sampler = Sampler("nuts_gauss", folder, 4 * most,
                      {"D": options.dimensions, "N": options.transitions},
                      dimensions=options.dimensions)
    lockstep, masks = (sampler.compile(name, name) for name in ("lockstep", "mask"))
    ways = [(choice, lockstep, 1, ["--block-choice=" + choice]) for choice in CHOICES]
    ways.append(("masks", masks, 1, []))
    ways += [(way + ", refill", program, 4, given + ["--refill"])
             for way, program, _, given in ways]
    for lanes in options.lanes:
        for way, program, share, given in ways:
            found, _, gradients = sampler.run(program, share * lanes, lanes, *given)
            block = gradient_block(found, gradients)
            yield {"part": "utilization", "model": sampler.model, "lanes": lanes,
                   "chains": share * lanes, "way": way, "gradients": gradients,
                   "runs": block["runs"], "utilization":
                   round(gradients / max(block["lane_room"], 1), 4)}


def traffic(options, folder):
    lanes = max(options.lanes)
    sampler = Sampler("nuts_gauss", folder, lanes,
                      {"D": options.dimensions, "N": options.transitions},
                      dimensions=options.dimensions)
    reference = None
    for name, given in OPTIMIZATIONS.items():
        found, outputs, gradients = sampler.run(sampler.lower(*given), lanes, lanes)
        reference = reference or outputs
        if outputs != reference:
            raise batchtest.ToolError(name + " changes bits")
        yield {"part": "traffic", "model": sampler.model, "lanes": lanes,
               "optimizations": name,
               "stack_bytes": round(found["stack_bytes"] / gradients),
               "top_bytes": round(found["top_bytes"] / gradients)}


def speed(options, folder):
    sampler = Sampler("nuts_logreg", folder, max(options.chains),
                      {"D": options.dimensions, "ROWS": options.observations, "N": 2},
                      dimensions=options.dimensions, rows=options.observations)
    lockstep, masks = (sampler.compile(name, name) for name in ("lockstep", "mask"))
    for chains in options.chains:
        ways = {choice: (lockstep, ["--block-choice=" + choice])
                for choice in CHOICES}
        ways["masks"] = (masks, ["--mask-from=0"])
        ways["masks, compacted"] = (masks, [])
        rates = {way: [] for way in [*ways, "one at a time", "by hand"]}
        reference, shares = None, {}
        for _ in range(options.repetitions):
            for way, (program, given) in ways.items():
                found, outputs, gradients = sampler.run(program, chains, chains,
                                                        *given)
                reference = reference or outputs
                if outputs != reference:
                    raise batchtest.ToolError(way + " changes bits")
                block = gradient_block(found, gradients)
                shares[way] = round(gradients / block["lane_room"], 4)
                rates[way].append((gradients + chains) * 1e6 /
                                  found["time_us"]["total"])
            found, outputs, gradients = sampler.run(
                lockstep, min(chains, 64), 1, "--unbatched")
            rates["one at a time"].append((gradients + min(chains, 64)) * 1e6 /
                                          found["unbatched_us"])
            hand = json.loads(batchtest.call(
                "batch-gradient", str(chains), str(options.observations),
                str(options.dimensions), "3"))
            rates["by hand"].append(hand["chains"] /
                                    statistics.median(hand["seconds"]))
        for way, found in rates.items():
            result = {"part": "speed", "model": sampler.model, "chains": chains,
                      "way": way, "per_second": [round(rate, 1) for rate in found],
                      "over_hand": round(statistics.median(
                          a / b for a, b in zip(found, rates["by hand"])), 3),
                      "over_masks": round(statistics.median(
                          a / b for a, b in zip(found, rates["masks"])), 3)}
            if way in shares:
                result["utilization"] = shares[way]
            yield result


def line_of(result):
    if result["part"] == "utilization":
        return "%5d lanes, %5d chains, %-15s %7d gradients, utilization %.3f" % (
            result["lanes"], result["chains"], result["way"], result["gradients"],
            result["utilization"])
    if result["part"] == "traffic":
        return "%-20s %8d bytes of stacks and %8d beside them per gradient" % (
            result["optimizations"], result["stack_bytes"], result["top_bytes"])
    return "%5d chains, %-16s %9.1f gradients/s, %5.2f of by hand, %5.2f of masks" % (
        result["chains"], result["way"], statistics.median(result["per_second"]),
        result["over_hand"], result["over_masks"])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parts = {"utilization": utilization, "traffic": traffic, "speed": speed}
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--parts", default=",".join(parts))
    parser.add_argument("--lanes", type=numbers, default=[1, 8, 32, 128])
    parser.add_argument("--chains", type=numbers, default=[1, 16, 64, 256, 1024])
    parser.add_argument("--transitions", type=int, default=10)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--observations", type=int, default=10000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--output", default=os.path.join(
        ROOT, "benchmarks", "results", "lockstep.json"))
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    wanted = options.parts.split(",")
    if set(wanted) - set(parts):
        sys.exit("parts are " + ", ".join(parts))

    record = {**batchtest.where_and_when("lockstep"),
              "peak": json.loads(batchtest.call("batch-peak", "1")),
              "dimensions": options.dimensions, "transitions": options.transitions,
              "observations": options.observations, "results": []}
    print("%s, %s" % (record["date"], record["cpu"]))
    failures = 0
    for part in wanted:
        with tempfile.TemporaryDirectory() as folder:
            try:
                for result in parts[part](options, folder):
                    record["results"].append(result)
                    print(line_of(result), flush=True)
            except batchtest.ToolError as error:
                print("%s FAILED: %s" % (part, error))
                failures += 1
    batchtest.store_record(options.output, record)
    print("stored in " + os.path.relpath(options.output))
    sys.exit(1 if failures else 0)


main()
