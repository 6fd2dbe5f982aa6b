#!/usr/bin/env python3
"""check_gpu_strategies.py [--seed=N] [MODEL…]: tests the models with each strategy and
executor on the emulator.

A legal pair gives the values of the unbatched code. An illegal pair is an error of the
strategy, at a line of the model. A seed draws one model in eight, and one executor of each
strategy.
"""

import argparse
import re

import batchtest
import residual_models

parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
parser.add_argument("--seed", help="run one model in eight, and one executor of each strategy")
parser.add_argument("models", nargs="*", metavar="MODEL", help="run only these models")
arguments = parser.parse_args()
checks = batchtest.Checks("strategies on the emulator")
file = batchtest.temporary_paths()

LEVELS = ("auto", "device", "cluster", "block")
# Executor options by strategy.
EXECUTORS = {"auto": [""], "linearize": ["--executor=" + level for level in LEVELS],
             "replicate": ["--level=" + level for level in LEVELS],
             "lockstep": [""], "mask": [""], "lazy": [""], "none": [""]}
# Errors for programs that a strategy does not support
REFUSALS = re.compile("|".join((
    "strategy '(lockstep|mask|replicate|linearize)'", "strategies 'lockstep' and 'mask'",
    "control flow depends on a tensor here", "control flow can wait for tensors only on CPUs",
    "runs no operators, so a device has nothing to do",
    "which GPU blocks do not have")))
# Small sizes. H is 16 for models that are not listed. lstm_nmt keeps its own V, because random
# words are below this V.
SIZES = {"attention": "HEADS=2 D=8", "attention_masked": "HEADS=2 D=8",
         "berxit": "H=16 HEADS=2 D=8 V=97", "bilstm_tagger_char": "L=8",
         "lstm_nmt": "H=16", "lstm_nmt_beam": "H=16 V=97", "lstm_nmt_greedy": "H=16 V=97",
         "seq2seq": "H=16 V=30", "seq2seq_forced": "H=16 V=30", "stackrnn": "H=16 ACTIONS=7",
         "mvrnn": "H=8", "nuts_gauss": "D=4", "nuts_logreg": "D=4"}
# Image size, and the number of blocks of each width.
IMAGE = 4, (1, 1, 1)
# With random parameters, these models run for a long time or read missing rows, so this script
# only compiles them. lanes.test and golden cases run them.
COMPILED = ["ackermann", "arK", "blr", "eight_schools_noncentered", "german_credit",
            "kidscore_interaction", "nuts_gauss", "nuts_logreg", "lstm_nmt_beam", "specdec",
            "specdec_sample"]


def prepared(model):
    """Returns the source of a model with small sizes, options of batch-compile, and
    parameters."""
    if model in batchtest.RESIDUAL:
        residual_models.write_params(model, file("params"), *IMAGE)
        return batchtest.write_lines(file(model + ".mlir"), [
            residual_models.write(model, *IMAGE)]), [], file("params")
    source = batchtest.model(model)
    sizes = SIZES.get(model, "H=16" if batchtest.small_size(source) else "")
    return source, ["--size=" + size for size in sizes.split()], "random:1"


def outputs(program, params, *options):
    out = file("out.safetensors")
    batchtest.run_model(program, "random:1,3", "--outputs=" + out, *options, params=params,
                        check=False)
    return batchtest.contents(out)


def check(model, strategy, executor):
    what = " ".join(filter(None, (model, strategy, executor)))
    source, sizes, params = prepared(model)
    made = file("model.so")
    try:
        said = batchtest.call("batch-compile", source, "-o", made, "--device=emulator",
                              "--strategy=" + strategy, *filter(None, [executor]), *sizes,
                              errors=True)
    except batchtest.ToolError as error:
        checks.expect(what + ": a refusal of the strategy", re.search(
            r"\.mlir:\d+:\d+: error: ", str(error)) and
            REFUSALS.search(str(error)), str(error))
        if strategy in ("auto", "none"):  # legal for every program with tensors
            checks.expect(what + ": legal", "runs no operators" in str(error), str(error))
        return
    if model in COMPILED:
        checks.expect(what + ": compiles", True)
        return
    if strategy == "none" or "not batched" in said:
        unbatched = file("unbatched.so")
        checks.run(what, lambda: batchtest.call(
            "batch-compile", source, "-o", unbatched, "--strategy=none", *sizes))
        found = checks.run(what + " runs", lambda: outputs(made, params, "--unbatched"))
        checks.expect(what + ": the values of the CPU",
                      found and found == outputs(unbatched, params, "--unbatched"))
        return
    checks.run(what, lambda: outputs(made, params, "--check-unbatched=1e-5"))


models = arguments.models or batchtest.sample(
    [name for name in batchtest.models() if name != "skipnet101"], arguments.seed, 8)
for model in models:
    for strategy, executors in EXECUTORS.items():
        seed = arguments.seed and arguments.seed + model + strategy
        for executor in batchtest.sample(executors, seed, len(executors)):
            check(model, strategy, executor)
checks.exit()
