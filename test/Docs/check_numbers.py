#!/usr/bin/env python3
"""check_numbers.py: checks that numbers in the documents match those in the code."""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def contents(name):
    with open(os.path.join(ROOT, name)) as file:
        return file.read()


def of_code(name, pattern):
    """Returns the text that the group of a pattern matches in the code."""
    found = re.search(pattern, contents(name), re.M)
    if not found:
        sys.exit("error: %s has no text that matches %s" % (name, pattern))
    return found[1]


def parts(count):
    """Returns a function that returns the first `count` parts of a version."""
    return lambda text: text.split(".")[:count]


def bytes_(text):
    """Converts a size in the notation of the code or of documents to bytes."""
    number, unit = re.match(r"(\d+) ?(.*)", text).groups()
    if unit.startswith("<<"):
        return int(number) << int(unit[2:])
    return int(number) * UNITS[unit]


ABI = of_code("runtime/include/batch-runtime/ABI.h", r"^#define BATCH_ABI_VERSION (\d+)")
PROJECT = of_code("CMakeLists.txt", r"^project\(Batch VERSION ([0-9.]+)")
LLVM = of_code("CMakeLists.txt", r"^find_package\(MLIR ([0-9.]+)")

# (name, the number in the code, a pattern for the documents, a function applied to both before
# they are compared)
def limit(start):
    """Returns the maximum number of lines of files whose paths begin with a pattern."""
    return of_code("scripts/check-layers", r'\(r?"%s", (\d+)\)' % re.escape(start))


# (name, the number in the code, a pattern for the documents, a function applied to both before
# they are compared)
NUMBERS = [
    ("the library's version", ABI, r"libbatch-runtime\.so\.(\d+)", str),
    ("the ABI version", ABI, r"this runtime has version (\d+)", str),
    ("the project's version", PROJECT, r"It is ([0-9.]+) \(\[release notes\]", str),
    ("the project's first numbers", PROJECT, r"find_package\(Batch(?:Runtime)? ([0-9.]+)",
     parts(2)),
    ("LLVM's version", LLVM, r"(?:LLVM(?: is pinned to)?|with LLVM) (\d+\.\d+)", parts(2)),
    ("LLVM's first number", LLVM, r"LLVM (\d+)\b", parts(1)),
    ("the cache's size", of_code("python/batch/runtime/cache.py",
                                 r'"BATCH_CACHE_BYTES", str\((.*?)\)'),
     r"cache takes (\d+ [KMG]iB)", bytes_),
    ("lines of a file", limit(""), r"a file has at most (\d+)", str),
    ("lines of a Passes.td", limit(r".*/Passes\.td$"), r"a `Passes.td` (\d+)", str),
    ("lines of a generated page", limit("docs/reference/generated/"),
     r"a generated page (\d+)", str),
    ("lines of README.md", limit(r"README\.md$"), r"`README.md` (\d+)", str),
    ("lines of a module of the package", limit("python/batch/"), r"A file has at most (\d+)",
     str),
]

pages = {os.path.relpath(path, ROOT): None for path in
         glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True) +
         [os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md")]}
failed = False
for what, code, pattern, compared in NUMBERS:
    count = 0
    for page in sorted(pages):
        text = contents(page)
        for found in re.finditer(pattern, text):
            count += 1
            if compared(found[1]) != compared(code):
                failed = True
                print("%s:%d: error: %s is %s, but the code has %s" % (
                    page, text.count("\n", 0, found.start()) + 1, what, found[1], code))
    if not count:
        failed = True
        print("error: no document has %s; remove its row" % what)
print("%d kinds of numbers compared" % len(NUMBERS))
sys.exit(failed)
