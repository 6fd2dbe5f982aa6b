#!/usr/bin/env python3
"""check_headers.py COMPILER BUILD LLVM_INCLUDE [--all | --minutes=N --seed=N] [HEADER...]:
checks that each installed header compiles on its own, without the precompiled header of
this project's build.

Headers of the runtime take a second each. Headers of the compiler take several seconds;
options and names select some of them.
"""

import argparse
import concurrent.futures
import itertools
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))

import batchtest  # noqa: E402

parser = argparse.ArgumentParser()
for name in ("compiler", "build", "llvm"):
    parser.add_argument(name)
parser.add_argument("names", nargs="*", metavar="HEADER",
                    help="compile these headers of the compiler")
parser.add_argument("--all", action="store_true", help="compile all headers of the compiler")
batchtest.add_draw_options(parser, "headers of the compiler")
options = parser.parse_intermixed_args()
FLAGS = ["-std=c++17", "-fsyntax-only", "-w", "-fno-rtti", "-x", "c++"]
FOLDERS = [os.path.join(ROOT, "runtime", "include"), os.path.join(ROOT, "include"),
           os.path.join(options.build, "include"), options.llvm]


def headers(folder):
    """Returns the paths of all headers in a folder, relative to it."""
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names
                  if name.endswith(".h"))


def compiled(header):
    """Returns the compiler's messages for a program that includes one header, or None if it
    compiles."""
    done = subprocess.run([options.compiler, *FLAGS, *("-I" + folder for folder in FOLDERS), "-"],
                          input='#include "%s"\n' % header, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.stdout or "exit code %d" % done.returncode if done.returncode else None


wanted = headers(FOLDERS[0])
others = headers(FOLDERS[1])
unknown = [name for name in options.names if name not in wanted + others]
if unknown or not wanted or not others:
    sys.exit("error: cannot find " + (", ".join(unknown) or "headers"))
wanted += [name for name in options.names if name not in wanted]
others = [name for name in others if name not in wanted]
if not options.all and options.minutes is None:
    others = []
cases = itertools.chain(wanted, batchtest.draw(options, others))
made = failed = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    # The next headers are drawn only after the previous ones have been compiled.
    while now := list(itertools.islice(cases, os.cpu_count())):
        made += len(now)
        for header, message in zip(now, pool.map(compiled, now)):
            if message:
                failed += 1
                print("%s does not compile on its own:\n%s" % (header, message))
print("%d of %d headers compile on their own" % (made - failed, made))
sys.exit(failed > 0)
