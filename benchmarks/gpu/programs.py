"""Programs of first_hour.py that run.py does not measure: golden cases with each executor,
level and precision on a GPU; a tree model with products on tensor cores; and models whose
control flow does not follow a structure.

A program is {"part": of first_hour.py, "name", "object", "options": of batch-run, "checks":
options of batch-run that check results}. Paths are relative to the bundle's folder.
"""

import json
import os
import shutil

import batchtest
import check_case
import convert_case
import graphs

EXECUTORS = {"device": ["--executor=device"], "cluster": ["--executor=cluster"],
             "cluster-16": ["--executor=cluster", "--cluster-size=16"],
             "block": ["--executor=block"]}
LEVELS = ("cluster", "block", "device")
# Folder of the golden cases, if present.
CASES = os.path.join(batchtest.ROOT, "..", "shared", "cases")
# Relative rounding errors of the factors of products (docs/explanation/gpu.md).
ROUNDING = {"tf32": 2.0 ** -11, "bf16": 2.0 ** -8}
# Model TREES runs on tensor cores, and part `times` measures the models in TIMED. The sources of
# the models in SEQUENCES are in the folder models.
TREES = "treelstm_nary"
TIMED = (TREES, "lstm")
SEQUENCES = ("lstm", "gru")
# Models that run under the sanitizer. Each covers code that the others do not.
SANITIZED = (TREES, "treegru_nary", "seq2seq", "nuts_gauss")
# Models that are large, or similar to other models. Each runs with one executor and one level.
ONCE = ("bilstm_tagger_char", "lstm10", "skipnet38", "blockdrop_given", "nasrnn_add",
        "attention_masked", "seq2seq_forced")
# A decoder, attention, a sampler and ten layers, each with small sizes for the emulator and
# the number of instances to compare with unbatched code. The decoder selects the largest of
# many numbers. With many instances, rounding changes the order of two of these numbers, so 8
# instances are compared.
CONTROL = {"seq2seq": ("H=16,V=30", 8), "attention": ("HEADS=2,D=8,SLOTS=34", 64),
           "nuts_gauss": ("D=4", 64), "lstm10": ("H=8", 8)}


def source_of(model):
    if model in SEQUENCES:
        return os.path.join(os.path.dirname(os.path.abspath(__file__)), "models",
                            model + ".mlir")
    return batchtest.model(model)


def ways(model, executors, levels):
    """Returns {name: options of batch-compile} of all ways to run a model on a GPU."""
    found = {}
    if model in batchtest.EVERY + batchtest.FURTHER:
        for executor in executors:
            found[executor] = ["--strategy=linearize"] + EXECUTORS[executor]
    if model in batchtest.REPLICATED:
        for level in levels:
            found["replicate " + level] = ["--strategy=replicate", "--level=" + level]
    if model in batchtest.CONTROL + batchtest.DECIDING:
        found["lock step"] = ["--strategy=lockstep"]
    return found


def bound(precision, trees):
    """Returns the option that sets the error bound of the results. Each level adds one product to
    the chain of products below it, and the output layer adds one more."""
    levels = len(graphs.Plan([graphs.graph_of(tree) for tree in trees]).levels)
    return ["--check-unbatched=%.2g" % (2 * ROUNDING[precision] * (levels + 2))]


def cases(options, scratch):
    """Yields (program, source, options of batch-compile) of golden cases."""
    names = sorted(os.listdir(CASES)) if os.path.isdir(CASES) else []
    for model in names:
        few = 1 if model in ONCE else None
        # Clusters of 16 run the same code as smaller ones, so only sanitized models run on them.
        executors = [executor for executor in options.executors
                     if executor != "cluster-16" or model in SANITIZED]
        found = ways(model, executors[:few], LEVELS[:few])
        if not found or options.models and model not in options.models:
            continue
        case, folder = os.path.join(CASES, model), "cases/" + model
        target = os.path.join(options.output, folder)
        meta, inputs, _ = convert_case.convert(case, target)
        given = ["--inputs=%s/inputs.jsonl" % folder]
        for name, option in (("params", "params"), ("inputs", "input-tensors")):
            path = os.path.join(case, name + ".safetensors")
            if os.path.exists(path):
                shutil.copyfile(path, os.path.join(target, os.path.basename(path)))
                given.append("--%s=%s/%s.safetensors" % (option, folder, name))
        rounding = 1e-6 if model in batchtest.CONTROL else 1e-5  # CONTROL models use f64, not f32
        checks = ["--check-unbatched=%g" % rounding,
                  "--expect=%s/expected.safetensors,%g,%g" % (
                      folder, meta["rtol"], meta["atol"])]
        source = check_case.source(model, meta, scratch)
        sizes = check_case.sizes(model, meta)

        def program(way, checks):
            return {"part": "answers", "name": "%s, %s" % (model, way),
                    "options": given, "checks": checks,
                    "sanitized": model in SANITIZED}

        for way, flags in found.items():
            yield program(way, checks), source, flags + sizes
        if model != TREES:
            continue
        with open(inputs) as file:
            trees = [json.loads(line)["tree"] for line in file]
        for precision in ROUNDING:
            for executor in options.executors:
                yield (program("%s %s" % (executor, precision),
                               bound(precision, trees)), source,
                       EXECUTORS[executor] + ["--precision=" + precision] + sizes)


def tensor_cores(options, entries):
    """Yields tuples like those of cases() for a tree model on tensor cores, at the sizes of
    run.py."""
    for entry in entries:
        if entry["model"] != TREES:
            continue
        with open(os.path.join(options.output, entry["inputs"])) as file:
            trees = [json.loads(line) for line in file]
        for precision in ROUNDING:
            for executor in options.executors:
                row = "%s %d %s" % (TREES, entry["size"], precision)
                yield ({"part": "times", "row": row, "name": "%s, %s" % (row, executor),
                        "options": ["--params=random:1",
                                    "--inputs=" + entry["inputs"]],
                        "checks": bound(precision, trees),
                        "checked": len(trees), "singles": len(trees),
                        "sanitized": False}, source_of(TREES),
                       ["--size=H=%d" % entry["size"], "--precision=" + precision] +
                       EXECUTORS[executor])


def control(options):
    """Yields tuples like those of cases(), for models whose control flow does not follow a
    structure."""
    for model, (small, checked) in CONTROL.items():
        if options.models and model not in options.models:
            continue
        sizes = ["--size=" + small] if options.device == "emulator" else []
        for way, flags in ways(model, options.executors, LEVELS).items():
            if way in EXECUTORS:
                continue
            # By default, a GPU always runs the block for which most lanes wait.
            choices = ["", "work"] if way == "lock step" else [""]
            for choice in choices:
                given = ["--block-choice=" + choice] if choice else []
                name = ", ".join(filter(None, [model, way, choice]))
                yield ({"part": "control", "name": name,
                        "options": ["--params=random:1",
                                    "--inputs=random:1,%d" % options.instances] + given,
                        "checks": ["--check-unbatched=1e-4"], "checked": checked,
                        "singles": 8, "sanitized": False},
                       source_of(model), flags + sizes)
