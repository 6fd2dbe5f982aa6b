#!/usr/bin/env python3
"""check_case.py MODEL CASE: checks a golden case, and compares batched with unbatched
runs.

The script checks all nodes at each batch size up to the number of instances, on one and two
threads, with each policy and order of tasks. Models of ED-Batch also run with each layout of
kernels. Models whose control flow reads tensors run in lock step, with each choice of lanes. In
models that wait for tensors, decisions determine the number of flushes. Some models do both.
Models in lock step, and models without another test, also run on the emulator. Models of
loops and branches also run instance by instance (strategy `replicate`).
"""

import itertools
import os
import sys

import batchtest
import convert_case
import residual_models
import speculative_models
import waits


def sizes(model, meta):
    """Returns the options of batch-compile that set the sizes of a case."""
    if model == "bilstm_tagger_char":
        return ["--size=L=%d" % (meta["hidden"] // 2)]
    if model in ("attention", "attention_masked"):
        heads = meta["cfg"]["heads"]
        return ["--size=HEADS=%d" % heads, "--size=D=%d" % (meta["hidden"] // heads),
                "--size=SLOTS=%d" % meta["cfg"]["length"]]
    if model in ("lstm_nmt", "lstm_nmt_greedy", "seq2seq", "seq2seq_forced"):
        return ["--size=H=%d" % meta["hidden"], "--size=V=%d" % meta["cfg"]["vocab"]]
    if model == "berxit":
        heads = meta["cfg"]["heads"]
        return ["--size=H=%d" % meta["hidden"], "--size=HEADS=%d" % heads,
                "--size=D=%d" % (meta["hidden"] // heads),
                "--size=TOKENS=%d" % meta["cfg"]["seq"],
                "--size=V=%d" % meta["cfg"]["vocab"]]
    if model in batchtest.SPECULATIVE:
        return ["--size=D=%d" % (meta["hidden"] // meta["cfg"]["heads"]),
                "--size=F=%d" % (4 * meta["hidden"]), "--size=V=%d" % meta["cfg"]["vocab"]]
    if model == "stackrnn":
        return ["--size=H=%d" % meta["hidden"],
                "--size=ACTIONS=%d" % (1 + 2 * meta["cfg"]["labels"])]
    if model == "fib" or model in batchtest.RESIDUAL:
        return []
    if model == "nuts_gauss":
        return ["--size=D=%d" % meta["hidden"]]
    if model == "nuts_logreg":
        return ["--size=D=%d" % meta["hidden"], "--size=ROWS=%d" % meta["cfg"]["n"]]
    return ["--size=H=%d" % meta["hidden"]]


def source(model, meta, folder):
    """Returns the file of the model. The model of the case may have fewer blocks or layers than
    the default model."""
    if model in batchtest.RESIDUAL:
        text = residual_models.write(model, meta["cfg"]["size"], meta["cfg"]["blocks"])
    elif model in batchtest.SPECULATIVE:
        text = speculative_models.write(model, meta["cfg"]["layers"])
    else:
        return batchtest.model(model)
    return batchtest.write_lines(os.path.join(folder, model + ".mlir"), [text])


def input_tensors(case):
    """Returns the options of batch-run that specify the input tensors of a case."""
    path = os.path.join(case, "inputs.safetensors")
    return ["--input-tensors=" + path] if os.path.exists(path) else []


# Options that choose which lanes run together. Results are bit-identical for all choices.
LOCKSTEP = [[], ["--threads=2"], ["--block-choice=most", "--patience=3"],
            ["--refill", "--batch=2"], ["--block-choice=program"],
            ["--mask-from=0"],
            ["--mask-from=0.5", "--block-choice=most", "--threads=2"]]


# Models of ED-Batch's workloads
WORKLOADS = (["treelstm_nary", "treegru_nary", "mvrnn"] + batchtest.CHAINS +
             batchtest.TYPED + batchtest.LATTICES)


def check_control(checks, path, case, inputs, folder, expect, options):
    given = input_tensors(case)
    params = os.path.join(case, "params.safetensors")
    for strategy in ("lockstep", "mask"):
        program = checks.run("compile " + strategy, lambda: batchtest.compile_model(
            path, os.path.join(folder, strategy + ".so"), None,
            "--strategy=" + strategy, *options))
        for choice in LOCKSTEP if program else []:
            checks.run("%s %s" % (strategy, " ".join(choice)),
                       lambda: batchtest.run_model(program, inputs, expect, *given,
                                                   *choice, params=params))


def check_instances(checks, path, case, inputs, folder, expect, options):
    params = os.path.join(case, "params.safetensors")
    for level in ("auto", "device"):
        program = checks.run("compile replicate, level %s" % level, lambda:
                             batchtest.compile_model(
                                 path, os.path.join(folder, level + ".so"), None,
                                 "--strategy=replicate", "--level=" + level, *options))
        for batch, threads in ((None, 1), (1, 2), (3, 2)) if program else ():
            checks.run("replicate, level %s, batch %s, %d threads" % (
                level, batch, threads), lambda: batchtest.run_model(
                    program, inputs, expect, *input_tensors(case), params=params,
                    batch=batch, threads=threads))


def check_emulator(checks, path, case, inputs, folder, expect, rounding, options):
    """Checks the case on the emulator. GPUs add in a different order, so results may differ by
    rounding."""
    program = checks.run("compile for the emulator", lambda: batchtest.compile_model(
        path, os.path.join(folder, "emulator.so"), None, "--device=emulator", *options))
    if program:
        checks.run("on two blocks of the emulator", lambda: batchtest.run_model(
            program, inputs, expect, *input_tensors(case), "--blocks=2",
            "--check-unbatched=%g" % rounding, check=False,
            params=os.path.join(case, "params.safetensors")))


def compile_laid_out(model, meta, folder, layout):
    """Compiles the model with kernels that batch equal operators. Returns the program."""
    path = os.path.join(folder, layout + ".mlir")
    values = ",".join(option[len("--size="):] for option in sizes(model, meta))
    batchtest.call("batch-opt", batchtest.model(model), "-o", path,
                   "--autobatch=sizes=%s layout-kernels=%s" % (values, layout))
    return batchtest.compile_model(path, path + ".so", None, "-O0")


def main(model, case):
    checks = batchtest.Checks(os.path.basename(case))
    folder = batchtest.temporary()
    meta, inputs, expected = convert_case.convert(case, folder)
    expect = "--expect=%s,%g,%g" % (expected, meta["rtol"], meta["atol"])
    path = source(model, meta, folder)
    given = (checks, path, case, inputs, folder, expect)
    if model in batchtest.CONTROL + batchtest.DECIDING:
        check_control(*given, sizes(model, meta))
        rounding = 1e-6 if model in batchtest.CONTROL else 1e-5  # for f64 and f32
        check_emulator(*given, rounding, ["--strategy=lockstep"] + sizes(model, meta))
        if model in batchtest.CONTROL:
            checks.exit()
    if model in batchtest.FURTHER:
        check_emulator(*given, 1e-5, sizes(model, meta))
    if model in batchtest.REPLICATED:
        check_instances(*given, sizes(model, meta))
    waiting = model in batchtest.WAITING + batchtest.DECIDING
    strategy = ["--strategy=lazy"] if waiting else []
    program = checks.run("compile", lambda: batchtest.compile_model(
        path, os.path.join(folder, "model.so"), None, *strategy, *sizes(model, meta)))
    if not program:
        checks.exit()
    params = os.path.join(case, "params.safetensors")

    def check(program, batch, threads, *options):
        checks.run("batch %d on %d threads %s" % (batch, threads, " ".join(options)),
                   lambda: batchtest.run_model(
                       program, inputs, "--share-tasks=%d" % batch, expect,
                       *input_tensors(case), *options,
                       params=params, batch=batch, threads=threads))

    for batch, threads in ((1, 1), (2, 1), (2, 2), (meta["batch"], 1),
                           (meta["batch"], 2)):
        check(program, batch, threads)
    if waiting:
        report = checks.run("counters", lambda: batchtest.run_model(
            program, inputs, *input_tensors(case), params=params))
        if report and model in batchtest.WAITING:
            checks.equal("flushes", report["flushes"], waits.flushes(
                model, batchtest.read_safetensors(expected), range(meta["batch"])))
        for policy in ("agenda", "greedy"):
            check(program, meta["batch"], 1, "--policy=" + policy)
        checks.exit()
    programs = [program]
    for layout in ("shapes", "weights") if model in WORKLOADS else ():
        programs.append(checks.run("compile, layout-kernels=" + layout, lambda:
                                   compile_laid_out(model, meta, folder, layout)))
    for program, policy in itertools.product(
            filter(None, programs), ("depth", "agenda", "greedy", "fsm")):
        check(program, meta["batch"], 1, "--policy=" + policy)
    checks.exit()


if __name__ == "__main__":
    main(*sys.argv[1:])
