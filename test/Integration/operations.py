"""Operations that tests cover, and operations of MLIR

Each function in test/Integration/Operations/Inputs runs some operations. The
comment before a function lists them, and how they are batched:

    // Ops: tensor.collapse_shape tensor.expand_shape
    // How: a view: its reader reads it in place

If some strategies do not run it, it also has `// Only: lockstep`. An argument whose name
begins with a capital letter is a parameter. test/Integration/Operations/refused.mlir
contains the rejected operations, each with its error.
"""

import collections
import glob
import os
import re

import batchtest
import descriptions

FOLDER = os.path.join(batchtest.ROOT, "test", "Integration", "Operations")
REFUSED = os.path.join(FOLDER, "refused.mlir")
DIALECTS = {
    "arith": ["Arith/IR/ArithOps.td"],
    "math": ["Math/IR/MathOps.td"],
    "tensor": ["Tensor/IR/TensorOps.td"],
    "linalg": ["Linalg/IR/LinalgOps.td", "Linalg/IR/LinalgStructuredOps.td",
               "Linalg/IR/LinalgRelayoutOps.td"],
    "scf": ["SCF/IR/SCFOps.td"]}
OP = r"\b((?:%s)\.[\w.]+)" % "|".join(DIALECTS)
STRATEGIES = ("linearize", "lockstep")

# A function. `arguments` contains (name, type). `ops` is in the order of the function's comment
Function = collections.namedtuple(
    "Function", "file name ops how strategies arguments results text")
# A rejected op, the condition of the rejection (if any), and the message
Refused = collections.namedtuple("Refused", "op when text")


def split(text):
    """Splits `text` at commas outside angle brackets."""
    return [part.strip() for part in re.split(r",(?![^<]*>)", text) if part.strip()]


def ops_in(text):
    """Returns the ops of the five dialects in MLIR text, except in comments and strings."""
    return re.findall(OP, re.sub(r'//.*|"[^"]*"|#linalg\.\w+', "", text))


def functions():
    found = []
    for path in sorted(glob.glob(os.path.join(FOLDER, "Inputs", "*.mlir"))):
        with open(path) as file:
            text = file.read()
        for match in re.finditer(
                r"((?:^//[^\n]*\n)*)^func\.func private @(\w+)\(([^)]*)\)\s*"
                r"-> \(([^)]*)\) \{\n.*?^\}\n", text, re.M | re.S):
            comment = re.sub(r"\n//   +", " ", match[1])
            fields = dict(re.findall(r"^// (Ops|How|Only): (.*)$", comment, re.M))
            found.append(Function(
                os.path.basename(path), match[2], fields.get("Ops", "").split(),
                fields.get("How", ""), fields.get("Only", " ".join(STRATEGIES)).split(),
                [tuple(a[1:].split(": ")) for a in split(match[3])], split(match[4]),
                match[0]))
    return found


def refused():
    with open(REFUSED) as file:
        lines = file.read().split("\n")
    found = []
    for number, line in enumerate(lines):
        error = re.search(r"// expected-error @\+(\d+) \{\{(.*)\}\}", line)
        if error:
            before = "\n".join(lines[number - 2:number])
            ops, when = (re.search("// %s: (.*)" % field, before)
                         for field in ("Ops", "When"))
            found += [Refused(op, when[1] if when else "", error[2]) for op in (
                ops[1].split() if ops else
                ops_in(lines[number + int(error[1])])[:1])]
    return found


def registered():
    """Returns {dialect: ops} of MLIR, from mlir-tblgen."""
    ops = {}
    for dialect, files in DIALECTS.items():
        text = "".join(descriptions.tablegen("mlir-tblgen", "mlir/Dialect/" + file, "-gen-op-doc")
                       for file in files)
        ops[dialect] = sorted(re.findall(r"^### `(%s\.[\w.]+)`" % dialect, text, re.M))
    return ops
