#!/usr/bin/env python3
"""write_chain.py N: prints a left-branching binary tree of height N, as a JSON line."""

import json
import sys

nodes = [["leaf", 0]]
for _ in range(int(sys.argv[1])):
    nodes += [["leaf", 1], ["node", {"ref": len(nodes) - 1}, {"ref": len(nodes)}]]
print(json.dumps({"nodes": nodes, "root": len(nodes) - 1}))
