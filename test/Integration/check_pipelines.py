#!/usr/bin/env python3
"""check_pipelines.py: checks that the tables in docs/reference/pipelines.md list the
passes of the pipelines, in order."""

import re
import subprocess

import batchtest

checks = batchtest.Checks("pipelines")
# Passes that a pipeline adds only on request
OPTIONAL = {"rec-refactor", "batch-layout-pq", "batch-attach-policy"}

for pipeline in ("--autobatch", "--cpu-workers"):
    table = batchtest.table_of_passes(pipeline)
    # The module has no entry, so the first pass fails after the pipeline is printed.
    dump = subprocess.run(
        [batchtest.tool("batch-opt"), pipeline, "--dump-pass-pipeline"], input=b"module {}",
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False).stderr.decode()
    names = re.findall(r"^ *([a-z0-9-]+)(?:\{|,|$|\))", dump, re.M)
    # Upstream passes are listed only where the table explains them.
    found = [name for name in dict.fromkeys(names)
             if name in table or name.split("-")[0] in ("batch", "rec", "uprog")]
    checks.equal(pipeline, found, [name for name in table if name not in OPTIONAL])
checks.exit()
