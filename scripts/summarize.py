#!/usr/bin/env python3
"""summarize.py [--time-tests] FOLDER: adds up test results. The exit code is 1 if any test failed.

FOLDER contains the --output of lit as *.json, JUnit files of ctest and pytest as *.xml, and empty
files NAME.pass, NAME.fail or NAME.skip for single checks. Prints the times of the ten slowest
tests, or of all tests with --time-tests.
"""

import argparse
import glob
import json
import os
import sys
import xml.etree.ElementTree

# An expected failure is a known bug. It is listed with the skipped tests.
LIT = {"PASS": "passed", "FLAKYPASS": "passed", "XFAIL": "skipped",
       "UNSUPPORTED": "skipped", "SKIPPED": "skipped"}


def outcome(case):
    """Returns the outcome of a JUnit test case. pytest omits the attribute `status`."""
    skip = case.find("skipped")
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if skip is not None:
        # ctest skips a test whose program it cannot find. Here, this is a failure.
        return "failed" if "Unable" in skip.get("message", "") else "skipped"
    return "passed" if case.get("status") in (None, "run") else \
        "skipped" if case.get("status") in ("disabled", "notrun") else "failed"


def main(folder, slowest):
    counts, failures, skipped = {"passed": 0, "failed": 0, "skipped": 0}, [], []
    times = []

    def add(kind, name, seconds=0):
        counts[kind] += 1
        times.append((seconds, name))
        if kind == "failed":
            failures.append(name)
        elif kind == "skipped":
            skipped.append(name)

    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path) as file:
            for test in json.load(file)["tests"]:
                if test["code"] != "EXCLUDED":  # excluded by the user's filter
                    known = test["code"] == "XFAIL"
                    add(LIT.get(test["code"], "failed"),
                        test["name"] + (" (known to fail)" if known else ""),
                        test["elapsed"] or 0)
    for path in sorted(glob.glob(os.path.join(folder, "*.xml"))):
        for case in xml.etree.ElementTree.parse(path).iter("testcase"):
            add(outcome(case), "%s.%s" % (case.get("classname"), case.get("name"))
                if case.get("status") is None else case.get("name"),
                float(case.get("time", 0)))
    for path in sorted(glob.glob(os.path.join(folder, "*.pass"))):
        add("passed", path)
    for path in sorted(glob.glob(os.path.join(folder, "*.fail"))):
        add("failed", os.path.basename(path)[:-5])
    for path in sorted(glob.glob(os.path.join(folder, "*.skip"))):
        add("skipped", os.path.basename(path)[:-5])
    for seconds, name in sorted(times, reverse=True)[:slowest]:
        print("%7.1f s  %s" % (seconds, name))
    for name in skipped:
        print("skipped: " + name)
    for name in failures:
        print("FAILED: " + name)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return 1 if counts["failed"] else 0


parser = argparse.ArgumentParser()
parser.add_argument("--time-tests", action="store_true")
parser.add_argument("folder")
options = parser.parse_args()
sys.exit(main(options.folder, None if options.time_tests else 10))
