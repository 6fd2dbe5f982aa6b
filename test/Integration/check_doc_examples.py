#!/usr/bin/env python3
"""check_doc_examples.py FILE.md…: checks that each complete ```mlir block parses and
verifies.

Blocks with an ellipsis are fragments, and are skipped.
"""

import os
import re
import sys

import batchtest

checks = batchtest.Checks("examples in documents")
scratch = batchtest.temporary()
for document in sys.argv[1:]:
    with open(document) as file:
        blocks = re.findall(r"```mlir\n(.*?)```", file.read(), re.S)
    for number, block in enumerate(blocks):
        if "..." in block or "…" in block:
            continue
        path = os.path.join(scratch, "example.mlir")
        with open(path, "w") as file:
            file.write(block)
        checks.run("%s, example %d" % (os.path.basename(document), number + 1),
                   lambda: batchtest.call("batch-opt", path))
checks.exit()
