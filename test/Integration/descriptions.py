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
INCLUDE = os.path.join(batchtest.ROOT, "include")
SURROUNDINGS = os.path.join(batchtest.ROOT, "test", "Docs", "Inputs")


def tablegen(name, file, *options):
    """Returns the output of mlir-tblgen or llvm-tblgen for a .td file of Batch or MLIR."""
    path = os.pathsep.join(["/usr/lib/llvm-22/bin", os.environ.get("PATH", "")])
    tool = shutil.which(name, path=path) or shutil.which(name + "-22", path=path)
    if not tool:
        raise batchtest.ToolError("cannot find %s; install mlir-22-tools and llvm-22" % name)
    folders = INCLUDE, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(tool))),
                                    "include")
    paths = [os.path.join(folder, file) for folder in folders]
    return subprocess.check_output(
        [tool, *options, *("-I" + folder for folder in folders),
         next(filter(os.path.exists, paths), paths[0])]).decode()


def records(file):
    """Returns the records of a .td file."""
    records = json.loads(tablegen("llvm-tblgen", file, "--dump-json"))
    return {name: record for name, record in records.items()
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
        for record in records("Batch/Dialect/%s/%sOps.td" % (dialect, dialect)).values():
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


def files_of_passes():
    return sorted(glob.glob("Batch/**/Passes.td", root_dir=INCLUDE, recursive=True))


def passes():
    """Yields (flag, record) of all passes."""
    for file in files_of_passes():
        for record in records(file).values():
            if "PassBase" in record["!superclasses"]:
                yield record["argument"], record


def surroundings(name):
    """Returns {name: program} of a file with programs around examples. Each program begins with
    a line "// ----- NAME" and has a line "EXAMPLE"."""
    with open(os.path.join(SURROUNDINGS, name + ".mlir")) as file:
        pieces = re.split(r"^// ----- (\S+)\n", file.read(), flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2]))


def surrounded(example, program):
    """Returns the program with the example in place of its line EXAMPLE."""
    place = re.search(r"^( *)EXAMPLE\n", program, re.M)
    if not place:
        raise batchtest.ToolError("the program has no line EXAMPLE:\n" + program)
    inside = "".join(place[1] + line + "\n" for line in example.rstrip("\n").split("\n"))
    return program[:place.start()] + inside + program[place.end():]
