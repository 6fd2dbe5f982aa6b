#!/usr/bin/env python3
"""check_op_examples.py [NAME…]: checks the descriptions of all ops, attributes and types,
or of the named ones. Each description has a text, and an example that parses and
verifies.

An example is a whole module or a piece of one. The program around a piece is in the
dialect's file in test/Docs/Inputs, once for each op. Examples of attributes and
types are only attributes and types, one in each line that begins with # or !.
"""

import os
import re
import sys

import batchtest
import descriptions

LEAST_WORDS = 8


def check(kind, name, record, programs, scratch):
    if len(descriptions.prose(record)) < LEAST_WORDS:
        raise batchtest.ToolError("the description of %s is too short; use at least %d words" % (
            name, LEAST_WORDS))
    found = descriptions.examples(record)
    if not found:
        raise batchtest.ToolError("%s has no example" % name)
    if kind == "op" and not re.search(re.escape(name) + r"\b", "".join(found)):
        raise batchtest.ToolError("the example of %s does not contain the op" % name)
    for example in found:
        if "..." in example:
            raise batchtest.ToolError("the example of %s contains '...'; use complete code" % name)
        if name in programs:
            example = descriptions.surrounded(example, programs[name])
        elif kind == "attribute":
            example = "".join("func.func private @f%d() attributes {a = %s}\n" % each
                              for each in enumerate(re.split(r"\n(?=#)", example.strip())))
        elif kind == "type":
            example = "".join("func.func private @f%d(%s)\n" % each
                              for each in enumerate(re.split(r"\n(?=!)", example.strip())))
        path = os.path.join(scratch, "example.mlir")
        with open(path, "w") as file:
            file.write(example)
        batchtest.call("batch-opt", path)


def main(names):
    checks = batchtest.Checks("examples of ops, attributes and types")
    scratch = batchtest.temporary()
    programs = {}
    for dialect in descriptions.DIALECTS:
        programs.update(descriptions.surroundings(dialect.lower()))
    known = set()
    for kind, name, record in descriptions.definitions():
        known.add(name)
        if not names or name in names:
            checks.run(name, lambda: check(kind, name, record, programs, scratch))
    for name in sorted(set(programs) - known):
        checks.expect(name, False, "test/Docs/Inputs has a program for it, but there is no such op")
    checks.exit()


main(sys.argv[1:])
