#!/usr/bin/env python3
"""check_again.py: checks that a second run of a pipeline on its own output changes
nothing.

batch-compile runs --autobatch on modules that batch-opt has batched. The IR contains the
decisions of the first run's options, and the second run, without options, keeps them.
Each option in batch-opt --help has a case here. The script compares the text of both
modules after canonicalization, which may remove dead constants.
"""

import re
import sys

import batchtest

checks = batchtest.Checks("pipelines that run again")
path = batchtest.temporary_paths()

LAZY = "stackrnn", "strategy=lazy sizes=H=16"
FORKS = "drnn", "strategy=lazy sizes=H=16"
TREE = "treelstm_cs", "sizes=H=16"
LOOP = "seq2seq", "strategy=replicate sizes=H=16"
# For each option of a pipeline: models with the other options of the first run, and the values to
# test
CASES = {
    "autobatch": {
        "assume-finite": [(TREE, ["true"])],
        "cluster-size": [((LOOP[0], LOOP[1] + " gpu=true level=cluster"), ["4"])],
        "coarsen": [(LAZY, ["false"]), (TREE, ["false"])],
        "defer": [(LAZY, ["false"])],
        "fork": [(FORKS, ["false", "true"]), (("moe_top1", FORKS[1]), ["false"])],
        "ghosts": [(LAZY, ["false"])],
        "gpu": [(TREE, ["true"])],
        "hoist": [(LAZY, ["false"]), (("bilstm_tagger", "sizes=H=16"), ["false"])],
        "instances": [(("seq2seq", "sizes=H=16"), ["1"])],
        "layout": [(("treelstm_nary", "sizes=H=16"), ["split(0,8)"])],
        "layout-kernels": [(TREE, ["weights", "shapes"])],
        "level": [(LOOP, ["block", "device"])],
        "order": [(LOOP, ["rounds", "layers", "wavefront"])],
        "phases": [(LAZY, ["false"]), (TREE, ["false"])],
        "policy": [(TREE, ["agenda", "depth"])],
        "policy-table": [(TREE, [])],  # tested by check_policies
        "refactor": [(TREE, ["true"])],
        "rounds": [((LOOP[0], LOOP[1] + " gpu=true"), ["1000"])],
        "select": [(LAZY, ["false"]), (FORKS, ["false"])],
        "sizes": [(("treelstm_cs", ""), ["H=16"])],
        "specialize": [(TREE, ["leaf"])],
        "strategy": [((LOOP[0], LOOP[1].split()[1]),
                      ["lockstep", "mask", "lazy", "replicate"]),
                     (("treelstm_cs", "sizes=H=16"), ["linearize", "none"])],
        "tuning": [(LOOP, [])],  # no test: makes the same kinds of choices as order and level
        "unroll": [(TREE, ["2"])],
    },
    "cpu-workers": {
        "cpu": [(TREE, ["haswell"])],
        "features": [(TREE, ["+avx2"])],
        "triple": [(TREE, ["x86_64-linux-gnu"])],
        "tuning": [(TREE, [])],
        "vector-bits": [(TREE, ["256"])],
        "vector-registers": [(TREE, ["16"])],
    },
}


def options_of(pipeline):
    """Returns the options of a pipeline in batch-opt --help."""
    text = batchtest.call("batch-opt", "--help")
    part = re.split(r"\n      --%s +- " % pipeline, text)[1]
    part = re.split(r"\n      --", part)[0]
    return set(re.findall(r"\n        --([a-z-]+)", part))


def check(pipeline, model, first):
    """Checks that the second run, without options, leaves the output of the first one
    unchanged."""
    what = "%s --%s=%s" % (model, pipeline, first)
    once, again = path("once.mlir"), path("again.mlir")
    source = batchtest.model(model)
    before = [] if pipeline == "autobatch" else ["--autobatch=sizes=H=16"]

    def run():
        batchtest.call("batch-opt", source, *before,
                       "--%s=%s" % (pipeline, first), "-o", once)
        batchtest.call("batch-opt", once, "--" + pipeline, "-o", again)
        return [batchtest.call("batch-opt", file, "--canonicalize")
                for file in (once, again)]

    texts = checks.run(what, run)
    if texts:
        differ = [lines for lines in zip(*[text.splitlines() for text in texts])
                  if lines[0] != lines[1]]
        checks.expect(what, texts[0] == texts[1],
                      "\n".join("%s\n%s" % lines for lines in differ[:4]))


names = sys.argv[1:] or list(CASES)
for pipeline in names:
    cases = CASES[pipeline]
    checks.equal("options of --" + pipeline, sorted(cases), sorted(options_of(pipeline)))
    for option, list_of in cases.items():
        for (model, others), values in list_of:
            for value in values:
                check(pipeline, model, ("%s %s=%s" % (
                    others if pipeline == "autobatch" else "", option, value)).strip())
checks.exit()
