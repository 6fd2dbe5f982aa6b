#!/usr/bin/env python3
"""check_release.py [ROOT]: checks that the changelog, CITATION.cff and the project have
one version.

CHANGELOG.md begins with "## Unreleased". The first heading "## VERSION - DATE" after it
has the version of project(Batch) in CMakeLists.txt, and the version and date-released of
CITATION.cff. An entry of the changelog is one line of at most 100 characters. The exit
code is 1 on any error.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONGEST = 100  # longest entry, in characters

root = sys.argv[1] if len(sys.argv) > 1 else ROOT
errors = []


def contents(name):
    with open(os.path.join(root, name), encoding="utf-8") as file:
        return file.read()


def found(name, pattern):
    """Returns the groups of a pattern in a file."""
    match = re.search(pattern, contents(name), re.M)
    if not match:
        sys.exit("error: %s has no line that matches %s" % (name, pattern))
    return match.groups()


def compare(name, what, text, expected):
    if text != expected:
        errors.append("%s: %s is %s; expected %s" % (name, what, text, expected))


def check_entries():
    """Reports entries that are too long or have more than one line."""
    after_entry = False
    for number, line in enumerate(contents("CHANGELOG.md").splitlines(), 1):
        place = "CHANGELOG.md:%d: " % number
        is_entry = line.startswith("- ")
        if is_entry and len(line) > LONGEST:
            errors.append(place + "the entry has %d characters; use at most %d" % (
                len(line), LONGEST))
        if after_entry and line and not is_entry and not line.startswith("#"):
            errors.append(place + "the entry above has more than one line")
        after_entry = is_entry


project, = found("CMakeLists.txt", r"^project\(Batch VERSION ([0-9.]+)")
first, = found("CHANGELOG.md", r"^## (.*)$")
version, date = found("CHANGELOG.md", r"^## (\d+\.\d+\.\d+) - (\d{4}-\d{2}-\d{2})$")
compare("CHANGELOG.md", "the first heading", first, "Unreleased")
compare("CHANGELOG.md", "the newest version", version, project)
compare("CITATION.cff", "version", *found("CITATION.cff", r"^version: (\S+)$"), project)
compare("CITATION.cff", "date-released", *found("CITATION.cff", r"^date-released: (\S+)$"), date)
check_entries()
for error in errors:
    print("error: " + error)
print("version %s of %s" % (version, date))
sys.exit(bool(errors))
