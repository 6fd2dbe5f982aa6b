#!/usr/bin/env python3
"""scripts/insert_fields.py FOLDER: inserts a field before each field of the ABI.

Changes copies of the batch-runtime headers in FOLDER. Every struct that compiled code
reads or writes gets an additional field before each of its fields. Code compiled with
these headers must run as before. Code with a hard-coded offset or position fails.
"""

import os
import re
import sys

STRUCT = re.compile(r"^(typedef )?struct Batch\w+ \{$")
FIELD = re.compile(r"^  (?!typedef)(\w+).*;")
# The control block must begin with the field `arrivals`; the compiler checks this.
FIRST = re.compile(r"\barrivals;")


def change_structs(text):
    lines, inside, count = [], False, 0
    for line in text.split("\n"):
        if STRUCT.match(line):
            inside = True
        elif line.startswith("}"):
            inside = False
        goes_on = lines and lines[-1].endswith("\\")
        field = None if goes_on else FIELD.match(line)
        first_of_list = line.startswith("#define BATCH_") and inside
        if inside and (first_of_list or field and not FIRST.search(line)):
            kind = "uint32_t" if field and field[1] == "uint32_t" else "int64_t"
            lines.append("  %s inserted%d;" % (kind, count))
            count += 1
        lines.append(line)
    return "\n".join(lines), count


def change_list(text, macro):
    """Inserts an entry before each entry of a list of fields."""
    count = 0

    def insert(found):
        nonlocal count
        count += 1
        return "%s\n%s" % (macro % count, found[0])

    name = re.escape(macro.split("(")[0])
    return re.sub(r"^%s\(" % name, insert, text, flags=re.M), count


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    total = 0
    for name, macro in (("ABI.h", None), ("EmulatorABI.h", None),
                        ("ContextFields.def", "BATCH_CONTEXT_FIELD(int64_t, more%d)"),
                        ("EmulatorFunctions.def", "BATCH_EMULATOR_REGISTER(more%d)")):
        path = os.path.join(sys.argv[1], name)
        with open(path) as file:
            text = file.read()
        text, count = change_list(text, macro) if macro else change_structs(text)
        if count == 0:
            sys.exit("error: found no fields in " + path)
        total += count
        with open(path, "w") as file:
            file.write(text)
    print("%d fields inserted in %s" % (total, sys.argv[1]))


main()
