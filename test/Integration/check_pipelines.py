#!/usr/bin/env python3
"""check_pipelines.py: the passes of each numbered table in docs/Pipelines.md are those of
the pipeline, in order."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Passes that a pipeline adds only if an option asks for them.
OPTIONAL = {"rec-refactor", "batch-layout-pq", "batch-attach-policy"}

with open(os.path.join(ROOT, "docs", "Pipelines.md")) as file:
    text = file.read()
failed = False
for pipeline in ("--autobatch", "--cpu-workers"):
    section = text.split("\n## %s\n" % pipeline)[1].split("\n## ")[0]
    table = re.findall(r"^\| *\d+ *\| *`([a-z0-9-]+)` *\|", section, re.M)
    # The module has no entry, so the first pass fails after the pipeline is printed.
    dump = subprocess.run(["batch-opt", pipeline, "--dump-pass-pipeline"], input=b"module {}",
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, check=False)
    names = re.findall(r"^ *([a-z0-9-]+)(?:\{|,|$|\))", dump.stderr.decode(), re.M)
    # Upstream passes are listed only where the table explains them.
    found = [name for i, name in enumerate(names) if name not in names[:i] and
             (name in table or name.split("-")[0] in ("batch", "rec", "uprog"))]
    wanted = [name for name in table if name not in OPTIONAL]
    if found != wanted:
        failed = True
        only = [[n for n in a if n not in b] for a, b in ((found, wanted), (wanted, found))]
        print("docs/Pipelines.md, %s: the pipeline has %s, the table %s" % (
            pipeline, *(only if any(only) else (found, wanted))))
    print("%s: %d passes compared" % (pipeline, len(wanted)))
sys.exit(failed)
