#!/usr/bin/env python3
"""check_headers.py COMPILER BUILD LLVM_INCLUDE [--long] [HEADER...]: each installed header
compiles on its own, without the precompiled header of this project's build.

Headers of the runtime take a second each, those of the compiler, which --long or their
names add, several.
"""

import concurrent.futures
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
compiler, build, llvm = sys.argv[1:4]
chosen = [name for name in sys.argv[4:] if name != "--long"]
is_long = "--long" in sys.argv
FLAGS = ["-std=c++17", "-fsyntax-only", "-w", "-fno-rtti", "-x", "c++"]
FOLDERS = [os.path.join(ROOT, "runtime", "include"), os.path.join(ROOT, "include"),
           os.path.join(build, "include"), llvm]


def headers(folder):
    """The paths of all headers below a folder, from that folder."""
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names
                  if name.endswith(".h"))


def compiled(header):
    """The compiler's output for a program that includes one header."""
    done = subprocess.run([compiler, *FLAGS, *("-I" + folder for folder in FOLDERS), "-"],
                          input='#include "%s"\n' % header, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.stdout or "exit code %d" % done.returncode if done.returncode else None


wanted = headers(FOLDERS[0])
others = headers(FOLDERS[1])
unknown = [name for name in chosen if name not in wanted + others]
if unknown or not wanted or not others:
    sys.exit("error: not found: " + (", ".join(unknown) or "headers"))
wanted += others if is_long else [name for name in others if name in chosen]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    failed = 0
    for header, message in zip(wanted, pool.map(compiled, wanted)):
        if message:
            failed += 1
            print("%s does not compile on its own:\n%s" % (header, message))
print("%d of %d headers compile on their own" % (len(wanted) - failed, len(wanted)))
sys.exit(failed > 0)
