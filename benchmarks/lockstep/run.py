#!/usr/bin/env python3
"""Measures the speed-up of samplers whose control flow runs in lockstep.

  run.py [--build=build] [--parts=utilization,choices,traffic,speed]
         [--lanes=1,8,32,128] [--chains=1,16,64,256,1024] [--transitions=10]
         [--dimensions=100] [--observations=10000] [--repetitions=5]
         [--output=FILE] [--add]

Builds nothing: run scripts/check first. Prints tables and stores JSON. --add keeps the results
of the file for other parts and other numbers of lanes or chains. The program is the No-U-Turn
Sampler of nuts_gauss and nuts_logreg. The comparison follows the paper on program-counter
autobatching (Radul et al., MLSys 2020). `program` is the paper's choice of blocks, the earliest
one; the sampler's blocks have the order of the authors' program: the recursion, then the leaf.
`masks` is the paper's baseline, its Algorithm 1, with the same choice. `learned` follows a table
that was learned from 32 chains, none of which is in a measured run.

utilization  of gradients on a correlated Gaussian: needed evaluations over available lanes, by
             block choice, without and with refill (then 4 chains per lane), and with masks,
             where lanes wait at every transition. Figure 7 of the paper, whose runs have no
             refill. Does not depend on the machine.
choices      steps, and utilization of gradients and of all blocks weighted by the compiler's
             cost estimates, with refill, 4 chains per lane, on 32 lanes: the Gaussian with 5
             times the transitions, and a small regression. Does not depend on the machine.
traffic      bytes that move from and to variables (stacks, and rows next to them) per gradient
             on the same chains, with each optimization of section 3.2 switched off by itself.
             Does not depend on the machine.
speed        gradients per second of one thread on logistic regression, by number of chains: in
             lock step; with masks (`masks`: every block on all lanes, as in the paper's
             Algorithm 1; `masks, compacted`: only on lanes that take part, the gather and
             scatter of its section 2, as in our lock step); one chain at a time; and a loop
             written by hand (batch-gradient) that evaluates the same gradient for all chains,
             at least 32, every time. All programs take turns; ratios are medians of the ratios
             per turn. Figure 6 of the paper. Our time is that of the whole run, including the tree
             of the sampler, over the gradients that it needed.

Before speeds are compared, all variants must return the same bits.
"""

import argparse
import ctypes
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
# Algorithm 1 of the paper runs the earliest block for which a lane waits, however long other
# lanes wait.
MASKS = ["--block-choice=program", "--patience=1000000000"]
# Number of chains from which `batch-run --learn-policy` learns.
LEARNT = 32

# Maps each name to options of passes, and to the passes that are omitted.
OPTIMIZATIONS = {
    "all on": ({}, []),
    "live-saves=false": ({"batch-recursion-to-stack": "live-saves=false"}, []),
    "temporaries=false": ({"batch-recursion-to-stack": "temporaries=false"}, []),
    "needed-stacks=false": ({"batch-recursion-to-stack": "needed-stacks=false"}, []),
    "cached-tops=false": ({"batch-recursion-to-stack": "cached-tops=false"}, []),
    "no batch-cancel-pops": ({}, ["batch-cancel-pops"]),
}


class Sampler:
    """A model and its inputs in a folder, in which the model is compiled. Runs use the first
    `chains` chains. The option --learn-policy of batch-run learns from the next LEARNT chains."""

    def __init__(self, model, folder, chains, sizes, **inputs):
        self.model = model
        self.folder = folder
        self.source = batchtest.model(model)
        self.sizes = ",".join("%s=%d" % size for size in sizes.items())
        posteriors.write_inputs(model, folder, chains + LEARNT, **inputs)
        with open(self.path(".jsonl")) as file:
            lines = file.read().splitlines()
        batchtest.write_lines(self.path(".jsonl"), lines[:chains])
        batchtest.write_lines(self.path("-held-out.jsonl"), lines[chains:])

    def path(self, name):
        return os.path.join(self.folder, self.model + name)

    def compile(self, name, strategy):
        output = self.path("-%s.so" % name)
        batchtest.call("batch-compile", self.source, "-o", output,
                       "--size=" + self.sizes, "--strategy=" + strategy)
        return output

    def lower(self, options, without):
        """Compiles the model with `options` for passes of --autobatch, and without the passes in
        `without`."""
        lowered, output = self.path(".lowered.mlir"), self.path("-lowered.so")
        options = dict({"batch-specialize-sizes": "sizes=" + self.sizes,
                        "batch-choose-strategy": "strategy=lockstep"}, **options)
        batchtest.call("batch-opt", self.source, "-o", lowered,
                       *batchtest.autobatch_passes(options, without),
                       "--cpu-workers=" + batchtest.vector_options())
        batchtest.call("batch-compile", lowered, "-o", output)
        return output

    def choices(self, program):
        """Returns the options of batch-run for each block choice. Learns the table of "learned"."""
        table = self.path(".table")
        batchtest.run_model(
            program, self.path("-held-out.jsonl"), "--learn-policy=" + table,
            "--input-tensors=" + self.path("_starts.safetensors"),
            params=self.path(".safetensors"), batch=LEARNT, check=False)
        return {choice: ["--policy-table=" + table] if choice == "learned" else
                ["--block-choice=" + choice] for choice in CHOICES}

    def run(self, program, chains, lanes, *options):
        """Returns the report of batch-run, the bytes of the outputs, and the number of gradients
        that the sampler required."""
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
    """Returns the block whose number of lane runs equals the model's count of gradients. Another
    block computes the first gradient of each chain, which the model does not count."""
    for block in found["blocks"]:
        if block["lane_runs"] == gradients:
            return block
    raise batchtest.ToolError("no block ran once per gradient; the model counted %d gradients" %
                              gradients)


def utilization(options, folder):
    most = max(options.lanes)
    sampler = Sampler("nuts_gauss", folder, 4 * most,
                      {"D": options.dimensions, "N": options.transitions},
                      dimensions=options.dimensions)
    lockstep, masks = (sampler.compile(name, name) for name in ("lockstep", "mask"))
    ways = [(choice, lockstep, 1, given)
            for choice, given in sampler.choices(lockstep).items()]
    ways.append(("masks", masks, 1, MASKS))
    ways += [(way + ", refill", program, 4, given + ["--refill"])
             for way, program, _, given in ways]
    for lanes in options.lanes:
        for way, program, share, given in ways:
            found, _, gradients = sampler.run(program, share * lanes, lanes, *given)
            block = gradient_block(found, gradients)
            yield {"part": "utilization", "model": sampler.model, "lanes": lanes,
                   "chains": share * lanes, "way": way, "gradients": gradients,
                   "runs": block["runs"], "utilization":
                   round(gradients / max(block["lane_capacity"], 1), 4)}


class Object(ctypes.Structure):
    """The first fields of BatchObject in batch-runtime/ABI.h."""
    _fields_ = [("version", ctypes.c_uint64), ("descriptor", ctypes.c_char_p)]


def block_costs(program):
    """Returns the cost of each block on a lane, estimated by the compiler. --learn-policy
    computes the same costs (costsOfBlocks in runtime/lib/Executors/Lockstep.cpp)."""
    described = json.loads(Object.in_dll(
        ctypes.CDLL(program, os.RTLD_LAZY), "batch_object").descriptor)
    return {block["name"]:
            1 + 65536 // described["kernels"][block["kernel"]]["shareTasks"]
            if "kernel" in block else 1 for block in described["lockstep"]["blocks"]}


def choices(options, folder):
    lanes = 32
    few, rows = max(options.dimensions // 5, 2), max(options.observations // 20, 2)
    for model, sizes, inputs in (
            ("nuts_gauss", {"D": options.dimensions, "N": 5 * options.transitions},
             {"dimensions": options.dimensions}),
            ("nuts_logreg", {"D": few, "N": options.transitions, "ROWS": rows},
             {"dimensions": few, "rows": rows})):
        sampler = Sampler(model, folder, 4 * lanes, sizes, **inputs)
        lockstep, masks = (sampler.compile(name, name) for name in ("lockstep", "mask"))
        ways = [(choice, lockstep, given)
                for choice, given in sampler.choices(lockstep).items()]
        ways.append(("masks", masks, MASKS))
        for way, program, given in ways:
            found, _, gradients = sampler.run(program, 4 * lanes, lanes, "--refill",
                                              *given)
            costs = block_costs(program)
            ran, capacity = (sum(costs[block["name"]] * block[count]
                             for block in found["blocks"])
                         for count in ("lane_runs", "lane_capacity"))
            block = gradient_block(found, gradients)
            yield {"part": "choices", "model": model, "lanes": lanes,
                   "chains": 4 * lanes, "way": way, "steps": found["batches"],
                   "unknown_states": found["unknown_states"], "gradients": gradients,
                   "utilization": round(gradients / block["lane_capacity"], 4),
                   "all_blocks": round(ran / capacity, 4)}


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
            raise batchtest.ToolError(
                "the outputs of '%s' are not bit-identical to those of the first run" % name)
        yield {"part": "traffic", "model": sampler.model, "lanes": lanes,
               "optimizations": name,
               "stack_bytes": round(found["stack_bytes"] / gradients),
               "top_bytes": round(found["top_bytes"] / gradients)}


def speed(options, folder):
    sampler = Sampler("nuts_logreg", folder, max(options.chains),
                      {"D": options.dimensions, "ROWS": options.observations, "N": 2},
                      dimensions=options.dimensions, rows=options.observations)
    lockstep, masks = (sampler.compile(name, name) for name in ("lockstep", "mask"))
    choices = sampler.choices(lockstep)
    for chains in options.chains:
        ways = {choice: (lockstep, given) for choice, given in choices.items()}
        ways["masks"] = (masks, MASKS + ["--mask-from=0"])
        ways["masks, compacted"] = (masks, MASKS)
        rates = {way: [] for way in [*ways, "one at a time", "by hand"]}
        reference, shares = None, {}
        for _ in range(options.repetitions):
            for way, (program, given) in ways.items():
                found, outputs, gradients = sampler.run(program, chains, chains,
                                                        *given)
                reference = reference or outputs
                if outputs != reference:
                    raise batchtest.ToolError(
                        "the outputs of '%s' are not bit-identical to those of the first "
                        "run" % way)
                block = gradient_block(found, gradients)
                shares[way] = round(gradients / block["lane_capacity"], 4)
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
                      "way": way, "per_second": [round(rate, 1) for rate in found]}
            for name, other in (("hand", "by hand"), ("masks", "masks"),
                                ("compacted", "masks, compacted")):
                result["over_" + name] = round(statistics.median(
                    a / b for a, b in zip(found, rates[other])), 3)
            if way in shares:
                result["utilization"] = shares[way]
            yield result


def line_of(result):
    if result["part"] == "utilization":
        return "%5d lanes, %5d chains, %-15s %7d gradients, utilization %.3f" % (
            result["lanes"], result["chains"], result["way"], result["gradients"],
            result["utilization"])
    if result["part"] == "choices":
        return "%-12s %-8s %7d steps, utilization %.3f of gradients, %.3f of all" % (
            result["model"], result["way"], result["steps"], result["utilization"],
            result["all_blocks"])
    if result["part"] == "traffic":
        return "%-20s %8d bytes of stacks and %8d beside them per gradient" % (
            result["optimizations"], result["stack_bytes"], result["top_bytes"])
    return "%5d chains, %-16s %9.1f gradients/s, %5.2f of by hand, %5.2f of masks, \
%5.2f of compacted" % (
        result["chains"], result["way"], statistics.median(result["per_second"]),
        result["over_hand"], result["over_masks"], result["over_compacted"])


def key(result):
    """Returns the key of a result. Results of an earlier run with this key are replaced."""
    return [result.get(name) for name in
            ("part", "model", "lanes", "chains", "way", "optimizations")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parts = {"utilization": utilization, "choices": choices, "traffic": traffic,
             "speed": speed}
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
    parser.add_argument("--add", action="store_true",
                        help="keep results in the output file that this run lacks")
    options = parser.parse_args()
    os.environ["BATCH_TOOLS"] = os.path.join(options.build, "bin")
    wanted = options.parts.split(",")
    batchtest.check_names("part", wanted, parts)

    record = {**batchtest.where_and_when("lockstep"),
              "peak": json.loads(batchtest.call("batch-peak", "1")),
              "dimensions": options.dimensions, "transitions": options.transitions,
              "observations": options.observations, "results": []}
    kept = []
    if options.add and os.path.exists(options.output):
        with open(options.output) as file:
            kept = json.load(file)["results"]
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
    again = [key(result) for result in record["results"]]
    record["results"] += [old for old in kept if key(old) not in again]
    record["results"].sort(key=lambda result: (
        list(parts).index(result["part"]), result.get("chains", 0)
        if result["part"] == "speed" else result["lanes"]))
    batchtest.store_record(options.output, record)
    print("stored in " + os.path.relpath(options.output))
    sys.exit(1 if failures else 0)


main()
