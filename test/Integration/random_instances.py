#!/usr/bin/env python3
"""random_instances.py [--programs=20 | --minutes=N] [--first=0] [--seed=1]
                    [--instances=24] [--keep=FOLDER]

Runs random programs of loops and branches that depend on tensors, by strategy `replicate`: on one
to three workers, one instance at a time or in sets, with all workers or one worker per step. Every
bit must equal that of the unbatched code. Loops and branches pass tensors on unchanged, swapped,
twice, or from outside. Slices are inserted into tensors that a loop carries, that are inputs, or
that another op reads afterwards. Some loops have a known number of rounds, so that products run
ahead, layer after layer or as a wavefront. The same seed and number make the same program: --first
repeats one, and --keep writes its file to a folder.
"""

import argparse
import json
import os
import random
import re

import batchtest

# Products take a long time, so an op that reads a row too early finds a partly written product.
ROWS, COLUMNS = 4, 150
TYPES = {"v": "tensor<%dxf32>" % COLUMNS, "c": "tensor<%dx%dxf32>" % (ROWS, COLUMNS)}
WAYS = {
    ("--level=auto",): ([], ["--batch=1"], ["--batch=7", "--threads=2"], ["--threads=3"]),
    ("--level=device",): (["--threads=2"], ["--batch=5", "--threads=3"]),
    ("--level=block",): (["--threads=2"],),
    ("--level=cluster",): (["--threads=2"],),
    ("--level=device", "--order=layers"): (["--threads=2"], ["--batch=5", "--threads=3"]),
    ("--level=device", "--order=wavefront"): (["--threads=2"],
                                              ["--batch=5", "--threads=3"]),
}


class Program:
    """Text of an entry. `scope` contains the visible tensors by kind, and the visible numbers."""

    def __init__(self, generator):
        self.pick, self.chance = generator.choice, generator.random
        self.count = generator.randint
        self.lines, self.names = [], 0

    def emit(self, indent, text):
        self.names += 1
        name = "%%t%d" % self.names
        self.lines.append("  " * indent + name + " = " + text)
        return name

    def tensor(self, scope, kind):
        """Returns a recently created tensor, or any tensor."""
        known = scope[kind]
        return self.pick(known[-3:] if self.chance() < 0.8 else known)

    def position(self, indent, scope):
        """Returns the index of a row of a cache: a number that control flow computes, modulo
        the number of rows."""
        most = self.emit(indent, "arith.constant %d : index" % ROWS)
        return self.emit(indent, "arith.remui %s, %s : index" % (
            self.pick(scope["n"]), most))

    def compute(self, indent, scope):
        vector = TYPES["v"]
        kind = self.pick(["add", "product", "insert", "insert", "row", "embedding"])
        if kind == "add":
            value = self.emit(indent, "arith.subf %s, %s : %s" % (
                self.tensor(scope, "v"), self.tensor(scope, "v"), vector))
            value = self.emit(indent, "math.tanh %s : %s" % (value, vector))
        elif kind == "product":
            value = self.emit(indent, "linalg.matvec ins(%%W, %s : tensor<%dx%dxf32>, %s) "
                              "outs(%s : %s) -> %s" % (
                                  self.tensor(scope, "v"), COLUMNS, COLUMNS, vector,
                                  self.tensor(scope, "v"), vector, vector))
            value = self.emit(indent, "math.tanh %s : %s" % (value, vector))
        elif kind == "embedding":
            rows = self.position(indent, scope)
            row = self.emit(indent, "tensor.extract_slice %%E[%s, 0] [1, %d] [1, 1] : "
                            "tensor<?x%dxf32> to %s" % (rows, COLUMNS, COLUMNS, vector))
            value = self.emit(indent, "linalg.matvec ins(%%W, %s : tensor<%dx%dxf32>, %s) "
                              "outs(%%b : %s) -> %s" % (
                                  row, COLUMNS, COLUMNS, vector, vector, vector))
        elif kind == "insert":
            scope["c"].append(self.emit(
                indent, "tensor.insert_slice %s into %s[%s, 0] [1, %d] [1, 1] : %s into %s"
                % (self.tensor(scope, "v"), self.tensor(scope, "c"),
                   self.position(indent, scope), COLUMNS, vector, TYPES["c"])))
            return
        else:
            value = self.emit(
                indent, "tensor.extract_slice %s[%s, 0] [1, %d] [1, 1] : %s to %s"
                % (self.tensor(scope, "c"), self.position(indent, scope), COLUMNS,
                   TYPES["c"], vector))
            value = self.emit(indent, "arith.addf %s, %%b : %s" % (value, vector))
        scope["v"].append(value)

    def condition(self, indent, scope):
        place = self.emit(indent, "arith.constant %d : index" % self.count(0, COLUMNS - 1))
        element = self.emit(indent, "tensor.extract %s[%s] : %s" % (
            self.tensor(scope, "v"), place, TYPES["v"]))
        bound = self.emit(indent, "arith.constant %g : f32" % (self.chance() - 0.5))
        return self.emit(indent, "arith.cmpf olt, %s, %s : f32" % (element, bound))

    def statements(self, indent, scope, depth):
        scope = {kind: list(names) for kind, names in scope.items()}
        for _ in range(self.count(1, 4)):
            if depth == 0 or self.chance() < 0.55:
                self.compute(indent, scope)
            else:
                self.pick([self.branch, self.rounds, self.loop])(indent, scope, depth - 1)
        return scope

    def carried(self, scope):
        """Returns the kinds of the tensors that a branch or loop returns, and initial tensors."""
        kinds = [self.pick("vvc") for _ in range(self.count(1, 4))]
        return kinds, [self.tensor(scope, kind) for kind in kinds]

    def next(self, indent, scope, kind, carried_in):
        """Returns a value for the next round: any tensor, a carried tensor, or a new tensor
        computed from a carried one."""
        way = self.chance()
        same = [name for name, other in carried_in if other == kind]
        if way < 0.25 or not same:
            return self.tensor(scope, kind)
        if way < 0.5:
            return self.pick(same)
        value = self.emit(indent, "arith.subf %s, %s : %s" % (
            self.pick(same), self.tensor(scope, kind), TYPES[kind]))
        if kind == "v" and way < 0.8:
            value = self.emit(indent, "linalg.matvec ins(%%W, %s : tensor<%dx%dxf32>, %s) "
                              "outs(%%b : %s) -> %s" % (
                                  value, COLUMNS, COLUMNS, TYPES[kind], TYPES[kind],
                                  TYPES[kind]))
        return self.emit(indent, "math.tanh %s : %s" % (value, TYPES[kind]))

    def end(self, indent, op, scope, kinds, extra=("", ""), carried_in=()):
        values = [extra[0]] if extra[0] else []
        values += [self.next(indent, scope, kind, carried_in) for kind in kinds]
        types = ([extra[1]] if extra[0] else []) + [TYPES[k] for k in kinds]
        self.lines.append("  " * indent + "%s %s : %s" % (op, ", ".join(values),
                                                          ", ".join(types)))

    def results(self, scope, name, kinds, first=0):
        for number, kind in enumerate(kinds):
            scope[kind].append("%s#%d" % (name, number + first))

    def branch(self, indent, scope, depth):
        kinds, _ = self.carried(scope)
        condition = self.condition(indent, scope)
        self.names += 1
        name = "%%r%d" % self.names
        self.lines.append("  " * indent + "%s:%d = scf.if %s -> (%s) {" % (
            name, len(kinds), condition, ", ".join(TYPES[k] for k in kinds)))
        self.end(indent + 1, "scf.yield", self.statements(indent + 1, scope, depth), kinds)
        self.lines.append("  " * indent + "} else {")
        inner = self.statements(indent + 1, scope, depth) if self.chance() < 0.5 else scope
        self.end(indent + 1, "scf.yield", inner, kinds)
        self.lines.append("  " * indent + "}")
        self.results(scope, name, kinds)

    def rounds(self, indent, scope, depth):
        kinds, inits = self.carried(scope)
        self.names += 1
        base = self.names
        name, number = "%%r%d" % base, "%%i%d" % base
        inner = {kind: list(names) for kind, names in scope.items()}
        arguments = ["%%a%d_%d" % (base, i) for i in range(len(kinds))]
        for kind, argument in zip(kinds, arguments):
            inner[kind] += [argument, argument]
        inner["n"].append(number)
        step = self.pick(["%c1", "%c1", "%c2"])
        upper = self.pick([self.position(indent, scope), "%many"] if depth == 0 else
                          [self.position(indent, scope)])
        self.lines.append("  " * indent + "%s:%d = scf.for %s = %%c0 to %s step %s "
                          "iter_args(%s) -> (%s) {" % (
                              name, len(kinds), number, upper, step, ", ".join(
                                  "%s = %s" % pair for pair in zip(arguments, inits)),
                              ", ".join(TYPES[k] for k in kinds)))
        self.end(indent + 1, "scf.yield", self.statements(indent + 1, inner, depth), kinds,
                 carried_in=list(zip(arguments, kinds)))
        self.lines.append("  " * indent + "}")
        self.results(scope, name, kinds)

    def loop(self, indent, scope, depth):
        kinds, inits = self.carried(scope)
        self.names += 1
        base = self.names
        name = "%%r%d" % base
        types = ", ".join(["index"] + [TYPES[k] for k in kinds])
        arguments = ["%%n%d" % base] + ["%%a%d_%d" % (base, i) for i in range(len(kinds))]
        self.lines.append("  " * indent + "%s:%d = scf.while (%s) : (%s) -> (%s) {" % (
            name, len(kinds) + 1, ", ".join(
                "%s = %s" % pair for pair in zip(arguments, ["%c0"] + inits)), types, types))
        inner = {kind: list(names) for kind, names in scope.items()}
        for kind, argument in zip(kinds, arguments[1:]):
            inner[kind] += [argument, argument]
        inner["n"].append(arguments[0])
        inner = self.statements(indent + 1, inner, 0)
        few = self.emit(indent + 1, "arith.cmpi ult, %s, %%c%d : index" % (
            arguments[0], self.count(2, 3)))
        more = self.emit(indent + 1, "arith.andi %s, %s : i1" % (
            few, self.condition(indent + 1, inner)))
        self.end(indent + 1, "scf.condition(%s)" % more, inner, kinds,
                 (arguments[0], "index"), list(zip(arguments[1:], kinds)))
        self.lines.append("  " * indent + "} do {")
        after = ["%%b%d_%d" % (base, i) for i in range(len(kinds) + 1)]
        self.lines.append("  " * indent + "^bb0(%s):" % ", ".join(
            "%s: %s" % pair for pair in zip(after, types.split(", "))))
        inner = {kind: list(names) for kind, names in scope.items()}
        for kind, argument in zip(kinds, after[1:]):
            inner[kind] += [argument, argument]
        inner["n"].append(after[0])
        inner = self.statements(indent + 1, inner, depth)
        following = self.emit(indent + 1, "arith.addi %s, %%c1 : index" % after[0])
        self.end(indent + 1, "scf.yield", inner, kinds, (following, "index"),
                 list(zip(after[1:], kinds)))
        self.lines.append("  " * indent + "}")
        self.results(scope, name, kinds, first=1)
        scope["n"].append(name + "#0")

    def write(self):
        scope = {"v": ["%x", "%y"], "c": ["%c"], "n": ["%n", "%c1"]}
        for value in (0, 1, 2, 3):
            self.lines.append("    %%c%d = arith.constant %d : index" % (value, value))
        self.lines.append("    %many = arith.constant 70 : index")
        for depth in (3, 2, 2):
            scope = self.statements(2, scope, depth)
        # The results depend on all computed tensors.
        results = []
        for kind in "vc":
            results.append(scope[kind][0])
            for name in scope[kind][1:]:
                value = self.emit(2, "arith.subf %s, %s : %s" % (
                    results[-1], name, TYPES[kind]))
                results[-1] = self.emit(2, "math.tanh %s : %s" % (value, TYPES[kind]))
        results += [self.tensor(scope, kind) for kind in "vc"] + [self.pick(scope["n"])]
        types = [TYPES[kind] for kind in "vcvc"] + ["index"]
        return """func.func @main(%%x: %(v)s, %%y: %(v)s, %%c: %(c)s, %%n: index,
    %%W: tensor<%(n)dx%(n)dxf32> {batch.shared = "W"}, %%b: %(v)s {batch.shared = "b"},
    %%E: tensor<?x%(n)dxf32> {batch.shared = "E"})
    -> (%(types)s) attributes {batch.entry} {
%(lines)s
    return %(results)s : %(types)s
}
""" % dict(TYPES, n=COLUMNS, types=", ".join(types), results=", ".join(results),
           lines="\n".join(self.lines))


def check_units(checks, generator, path, folder, inputs, what):
    """Checks runs in which one unit runs all tasks of some kernels, which are selected at
    random."""
    text = checks.run(what + ", kernels", lambda: batchtest.call(
        "batch-opt", path, "--autobatch=strategy=replicate level=device"))
    names = re.findall(r"batch\.kernel (?:private )?@([\w.$-]+)", text or "")
    tuning = os.path.join(folder, "tuning.json")
    chosen = {name: {"units": generator.choice(["one", "one", "all"])} for name in names}
    with open(tuning, "w") as file:
        json.dump({"version": 1, "kernels": chosen}, file)
    program = checks.run(what + ", units", lambda: batchtest.compile_model(
        path, os.path.join(folder, "program.so"), None, "-O1", "--strategy=replicate",
        "--level=device", "--tuning=" + tuning))
    for threads in (2, 3) if program else ():
        checks.run("%s, units, %d threads" % (what, threads), lambda: batchtest.run_model(
            program, inputs, "--batch=1", "--threads=%d" % threads))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    batchtest.add_soak_options(parser, 20)
    parser.add_argument("--instances", type=int, default=24)
    parser.add_argument("--keep", metavar="FOLDER", help="keep the files in FOLDER")
    options = parser.parse_args()
    folder = options.keep or batchtest.temporary()
    os.makedirs(folder, exist_ok=True)
    checks = batchtest.Checks("random programs of single instances")
    made = refused = 0
    for number in batchtest.soak_numbers(options):
        made += 1
        generator = random.Random("%d %d" % (options.seed, number))
        path = os.path.join(folder, "program%d.mlir" % number)
        batchtest.write_lines(path, [Program(generator).write()])
        inputs = "random:%d,%d" % (number, options.instances)
        try:
            batchtest.compile_model(path, os.path.join(folder, "none.so"), None, "-O0",
                                    "--strategy=none")
        except batchtest.ToolError:
            refused += 1  # the program has inserts that no strategy supports
            continue
        for chosen, ways in WAYS.items():
            what = "program %d of seed %d, %s" % (number, options.seed, " ".join(chosen))
            program = checks.run(what, lambda: batchtest.compile_model(
                path, os.path.join(folder, "program.so"), None, "-O1",
                "--strategy=replicate", *chosen))
            for way in ways if program else ():
                checks.run("%s %s" % (what, " ".join(way)), lambda: batchtest.run_model(
                    program, inputs, *way))
        check_units(checks, generator, path, folder, inputs,
                    "program %d of seed %d" % (number, options.seed))
    checks.expect("few programs are refused", refused <= (made + 9) // 10 and refused < made,
                  "%d of %d" % (refused, made))
    checks.exit()


main()
