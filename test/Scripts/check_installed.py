#!/usr/bin/env python3
"""check_installed.py BUILD: checks that the target `batch-installed` produces each
build output that `cmake --install` installs, and that scripts/demo builds this target."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.realpath(sys.argv[1])


def ninja(*arguments):
    return subprocess.run(["ninja", "-C", build, *arguments], stdout=subprocess.PIPE,
                          text=True, check=True).stdout.splitlines()


products = {line.rpartition(":")[0] for line in ninja("-t", "targets", "all")}
installed = set()
for folder, folders, names in os.walk(build):
    folders[:] = [name for name in folders if name not in ("CMakeFiles", "python")]
    if "cmake_install.cmake" in names:
        with open(os.path.join(folder, "cmake_install.cmake")) as file:
            installed.update(os.path.relpath(path, build) for path in re.findall(
                r'"(%s/[^"]+)"' % re.escape(build), file.read()))
installed &= products
# The first command lists the inputs of the target's inputs, and the second lists the target's
# inputs.
built = set(ninja("-t", "inputs", "batch-installed"))
built.update(line.strip(" |") for line in ninja("-t", "query", "batch-installed"))
missing = sorted(installed - built)
print("%d files are installed" % len(installed))
for path in missing:
    print("error: batch-installed does not build %s; add its target to BATCH_TOOLS" % path)
with open(os.path.join(ROOT, "scripts", "demo")) as file:
    demo = re.search(r"^compile build (.*)$", file.read(), re.M)
if not demo or "batch-installed" not in demo[1].split():
    print("error: scripts/demo does not build batch-installed")
    missing.append("demo")
sys.exit(bool(missing) or len(installed) < 10)
