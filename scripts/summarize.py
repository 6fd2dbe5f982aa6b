#!/usr/bin/env python3
"""summarize.py FOLDER: adds up test results; exit code 1 if any failed.

FOLDER holds lit's --output as *.json, ctest's --output-junit as *.xml, and
empty files NAME.pass, NAME.fail or NAME.skip for single checks.
"""

import glob
import json
import os
import sys
import xml.etree.ElementTree

# An expected failure is a known bug: it is named with what was skipped.
LIT = {"PASS": "passed", "FLAKYPASS": "passed", "XFAIL": "skipped",
       "UNSUPPORTED": "skipped", "SKIPPED": "skipped"}


def main(folder):
    counts, failures, skipped = {"passed": 0, "failed": 0, "skipped": 0}, [], []

    def add(kind, name):
        counts[kind] += 1
        if kind == "failed":
            failures.append(name)
        elif kind == "skipped":
            skipped.append(name)

    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as file:
            for test in json.load(file)["tests"]:
                if test["code"] != "EXCLUDED":  # by the user's filter
                    known = test["code"] == "XFAIL"
                    add(LIT.get(test["code"], "failed"),
                        test["name"] + (" (known to fail)" if known else ""))
    for path in sorted(glob.glob(os.path.join(folder, "*.xml"))):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            status, skip = case.get("status"), case.find("skipped")
            missing = skip is not None and "Unable" in skip.get("message", "")
            add("passed" if status == "run" else
                "skipped" if status in ("disabled", "notrun") and not missing
                else "failed", case.get("name"))
    for path in sorted(glob.glob(os.path.join(folder, "*.pass"))):
        add("passed", path)
    for path in sorted(glob.glob(os.path.join(folder, "*.fail"))):
        add("failed", os.path.basename(path)[:-5])
    for path in sorted(glob.glob(os.path.join(folder, "*.skip"))):
        add("skipped", os.path.basename(path)[:-5])
    for name in skipped:
        print("skipped: " + name)
    for name in failures:
        print("FAILED: " + name)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0


sys.exit(main(sys.argv[1]))
