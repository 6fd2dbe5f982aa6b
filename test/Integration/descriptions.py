"""Descriptions of ops, attributes, types and passes in the .td files: their examples, as
llvm-tblgen reads them, and the programs around examples (test/Docs/Inputs)"""

import glob
import json
import os
import re
import shutil
import subprocess

import batchtest

DIALECTS = ("Rec", "Batch", "UProg")
SURROUNDINGS = os.path.join(batchtest.ROOT, "test", "Docs", "Inputs")


def records(file):
    """Returns the records of a .td file."""
    path = os.pathsep.join(["/usr/lib/llvm-22/bin", os.environ.get("PATH", "")])
    tablegen = shutil.which("llvm-tblgen", path=path)
    if not tablegen:
        raise batchtest.ToolError("no llvm-tblgen on the PATH")
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(tablegen))),
                           "include")
    text = subprocess.check_output(
        [tablegen, "--dump-json", "-I", os.path.join(batchtest.ROOT, "include"),
         "-I", include, file])
    return {name: record for name, record in json.loads(text).items()
            if isinstance(record, dict) and not name.startswith("!")}


def examples(record):
    """Returns the ```mlir blocks of a description, without indentation."""
    return re.findall(r"^```mlir\n(.*?)^```", dedent(record["description"] or ""),
                      re.S | re.M)


def dedent(text):
    lines = text.split("\n")
    margin = min((len(l) - len(l.lstrip()) for l in lines if l.strip()), default=0)
    return "\n".join(l[margin:] for l in lines)


def prose(record):
    """Returns the words of a description outside of examples."""
    return re.sub(r"```.*?```|Example:", "", record["description"] or "",
                  flags=re.S).split()


def definitions():
    """Yields (kind, name, record) of all ops, attributes and types: op batch.invoke,
    attribute #batch.read, type !batch.plan."""
    for dialect in DIALECTS:
        path = os.path.join(batchtest.ROOT, "include", "Batch", "Dialect", dialect,
                            dialect + "Ops.td")
        for record in records(path).values():
            kinds = set(record["!superclasses"])
            owner = record.get("opDialect") or record.get("dialect")
            if not owner or owner["def"] != dialect + "_Dialect":
                continue
            prefix = dialect.lower() + "."
            if "Op" in kinds:
                yield "op", prefix + record["opName"], record
            elif kinds & {"AttrDef", "EnumAttr"}:
                yield "attribute", "#" + prefix + record["mnemonic"], record
            elif "TypeDef" in kinds:
                yield "type", "!" + prefix + record["mnemonic"], record


def passes():
    """Returns (flag, record) of all passes."""
    root = os.path.join(batchtest.ROOT, "include", "Batch")
    for path in sorted(glob.glob(os.path.join(root, "**", "Passes.td"), recursive=True)):
        for record in records(path).values():
            if "PassBase" in record["!superclasses"]:
                yield record["argument"], record


def surroundings(name):
    """Returns {name: program} of a file of surroundings. Each program begins with a line
    "// ----- NAME" and has a line "EXAMPLE"."""
    with open(os.path.join(SURROUNDINGS, name + ".mlir")) as file:
        pieces = re.split(r"^// ----- (\S+)\n", file.read(), flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2]))


def surrounded(example, program):
    """Returns the program with the example in place of its line EXAMPLE."""
    place = re.search(r"^( *)EXAMPLE\n", program, re.M)
    if not place:
        raise batchtest.ToolError("no line EXAMPLE in\n" + program)
    inside = "".join(place[1] + line + "\n" for line in example.rstrip("\n").split("\n"))
    return program[:place.start()] + inside + program[place.end():]
