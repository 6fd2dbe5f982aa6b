#!/usr/bin/env python3
"""random_recursions.py [--programs=20 | --minutes=N] [--first=0] [--seed=1]
                     [--instances=24] [--keep=FILE]

Runs random recursive programs over numbers and tensors, including parameters and their rows, with
loops and branches that depend on both, as scf and as graphs of blocks (cf). They run in lock step
and by masks, with every choice of which lanes run together, and lazily. Every bit must equal that
of the unbatched lowering. Twenty programs are one module: an entry calls the one that an argument
selects, and all tensors have the same type. The same seed and number make the same program, so
--first repeats a failed module.
"""

import argparse
import math
import os
import random
import shutil

import batchtest

PER_MODULE = 20
TYPES = [("f32", (4,)), ("f64", (3,)), ("f32", (2, 3)), ("f32", (17,)), ("f64", (1, 1))]
LANES = [[], ["--threads=2"], ["--block-choice=most", "--patience=2"], ["--refill", "--batch=5"],
           ["--refill", "--batch=3", "--threads=2"], ["--mask-from=0"],
           ["--mask-from=0.5"],
           ["--block-choice=program"], ["--block-choice=learned", "--limit=40"]]
LANES = [choice + ["--max-steps=1000000"] for choice in LANES]
WAITS = [[], ["--batch=1", "--limit=40"], ["--batch=7"], ["--threads=2"],
         ["--threads=3", "--batch=11", "--share-tasks=1"], ["--policy=greedy"],
         ["--policy=agenda", "--batch=13"]]
CHOICES = {"lockstep": LANES, "mask": LANES, "lazy": WAITS}


class Function:
    """Text of one function. n counts down with each call. Calls pass a number and a tensor
    (vector), and two parameters: a tensor and a table with four rows. Numbers remain below
    1024."""

    def __init__(self, generator, name, callees, element, shape):
        self.generator, self.name, self.callees = generator, name, callees
        self.element, self.shape = element, shape
        self.lines, self.values, self.calls = [], 0, generator.randint(1, 3)

    def emit(self, indent, text):
        self.values += 1
        name = "%%v%d" % self.values
        self.lines.append("  " * indent + name + " = " + text)
        return name

    def constant(self, indent, value):
        return self.emit(indent, "arith.constant %d : i64" % value)

    def number(self, indent, numbers):
        pick = self.generator.choice
        kind = pick(["addi", "subi", "muli", "xori", "constant"])
        if kind == "constant":
            return self.constant(indent, self.generator.randint(0, 9))
        value = self.emit(indent, "arith.%s %s, %s : i64" % (
            kind, pick(numbers), pick(numbers)))
        mask = self.constant(indent, 1023)
        return self.emit(indent, "arith.andi %s, %s : i64" % (value, mask))

    def vector(self, indent, numbers, vectors):
        pick = self.generator.choice
        kind = pick(["addf", "subf", "maximumf", "tanh", "splat", "row"])
        if kind == "tanh":
            return self.emit(indent, "math.tanh %s : !vec" % pick(vectors))
        if kind == "splat":
            value = self.emit(indent, "arith.sitofp %s : i64 to %s" % (
                pick(numbers), self.element))
            return self.emit(indent, "tensor.splat %s : !vec" % value)
        if kind == "row":
            three = self.constant(indent, 3)
            value = self.emit(indent, "arith.andi %s, %s : i64" % (
                pick(numbers), three))
            index = self.emit(indent, "arith.index_cast %s : i64 to index" % value)
            rank = len(self.shape)
            return self.emit(indent, "tensor.extract_slice %%t[%s%s] [1, %s] [1%s] : "
                             "!table to !vec" % (
                                 index, ", 0" * rank, ", ".join(map(str, self.shape)),
                                 ", 1" * rank))
        return self.emit(indent, "arith.%s %s, %s : !vec" % (
            kind, pick(vectors), pick(vectors)))

    def condition(self, indent, numbers, vectors):
        if self.generator.random() < 0.5:
            one = self.constant(indent, 1)
            bit = self.emit(indent, "arith.andi %s, %s : i64" % (
                self.generator.choice(numbers), one))
            return self.emit(indent, "arith.cmpi eq, %s, %s : i64" % (bit, one))
        place = [self.emit(indent, "arith.constant %d : index" %
                           self.generator.randrange(extent))
                 for extent in self.shape]
        value = self.emit(indent, "tensor.extract %s[%s] : !vec" % (
            self.generator.choice(vectors), ", ".join(place)))
        zero = self.emit(indent, "arith.constant 0.25 : %s" % self.element)
        return self.emit(indent, "arith.cmpf ogt, %s, %s : %s" % (
            value, zero, self.element))

    def call(self, indent, numbers, vectors):
        self.calls -= 1
        less = self.constant(indent, self.generator.randint(1, 2))
        n = self.emit(indent, "arith.subi %%n, %s : i64" % less)
        name = self.emit(indent, "func.call @%s(%s, %s, %s, %%w, %%t) : (i64, i64, "
                         "!vec, !vec, !table) -> (i64, !vec)" % (
                             self.generator.choice(self.callees), n,
                             self.generator.choice(numbers),
                             self.generator.choice(vectors)))
        self.lines[-1] = self.lines[-1].replace(name + " =", name + ":2 =")
        return name + "#0", name + "#1"

    def structured(self, indent, numbers, vectors, depth, head, ends):
        """Adds an op with regions, whose results are a number and a vector."""
        self.values += 1
        name = "%%v%d" % self.values
        self.lines.append("  " * indent + name + ":2 = " + head)
        for end, inner in ends:
            a, x = self.body(indent + 1, numbers + inner[:1], vectors + inner[1:],
                             depth + 1)
            self.lines.append("  " * (indent + 1) +
                              "scf.yield %s, %s : i64, !vec" % (a, x))
            self.lines.append("  " * indent + end)
        return name + "#0", name + "#1"

    def body(self, indent, numbers, vectors, depth):
        numbers, vectors = list(numbers), list(vectors)
        for _ in range(self.generator.randint(1, 4 - depth)):
            kind = self.generator.choice(["number", "vector", "call", "if", "for"])
            if kind == "number":
                numbers.append(self.number(indent, numbers))
            elif kind == "vector":
                vectors.append(self.vector(indent, numbers, vectors))
            elif kind == "call" and self.calls > 0:
                a, x = self.call(indent, numbers, vectors)
                numbers.append(a)
                vectors.append(x)
            elif kind == "if" and depth < 2:
                c = self.condition(indent, numbers, vectors)
                a, x = self.structured(indent, numbers, vectors, depth,
                                       "scf.if %s -> (i64, !vec) {" % c,
                                       [("} else {", []), ("}", [])])
                numbers.append(a)
                vectors.append(x)
            elif kind == "for" and depth < 2:
                three = self.constant(indent, 3)
                trips = self.emit(indent, "arith.andi %s, %s : i64" % (
                    self.generator.choice(numbers), three))
                zero, one = self.constant(indent, 0), self.constant(indent, 1)
                self.values += 1
                tag = self.values
                head = ("scf.for %%i%d = %s to %s step %s iter_args(%%a%d = %s, "
                        "%%x%d = %s) -> (i64, !vec) : i64 {" % (
                            tag, zero, trips, one, tag,
                            self.generator.choice(numbers), tag,
                            self.generator.choice(vectors)))
                a, x = self.structured(
                    indent, numbers, vectors, depth, head,
                    [("}", ["%%a%d" % tag, "%%x%d" % tag])])
                numbers.append(a)
                vectors.append(x)
        a = self.number(indent, numbers)
        if self.generator.random() < 0.7:
            return a, vectors[-1]
        return numbers[-1], self.vector(indent, numbers, vectors)

    def text(self):
        one = self.constant(1, 1)
        base = self.emit(1, "arith.cmpi slt, %%n, %s : i64" % one)
        a, x = self.choice(base)
        return ("func.func private @%s(%%n: i64, %%a: i64, %%x: !vec, %%w: !vec, "
                "%%t: !table) -> (i64, !vec) {\n%s\n  return %s, %s : i64, !vec\n}\n"
                % (
                    self.name, "\n".join(self.lines), a, x))

    def choice(self, base):
        self.values += 1
        name = "%%v%d" % self.values
        self.lines.append("  " + name + ":2 = scf.if %s -> (i64, !vec) {" % base)
        x = self.vector(2, ["%n", "%a"], ["%x", "%w"])
        self.lines.append("    scf.yield %%a, %s : i64, !vec" % x)
        self.lines.append("  } else {")
        a, x = self.body(2, ["%n", "%a"], ["%x", "%w"], 0)
        self.lines.append("    scf.yield %s, %s : i64, !vec" % (a, x))
        self.lines.append("  }")
        return name + "#0", name + "#1"


class Graph(Function):
    """A function whose body is a graph of blocks. Branches between any two blocks form loops with
    several entries and exits. k counts down with each block."""

    def text(self):
        pick = self.generator.choice
        count = self.generator.randint(2, 4)
        types = "(%s : i64, i64, !vec)"
        three = self.constant(1, 3)
        k = self.emit(1, "arith.andi %%a, %s : i64" % three)
        one = self.constant(1, 1)
        base = self.emit(1, "arith.cmpi slt, %%n, %s : i64" % one)
        self.lines.append("  cf.cond_br %s, ^end(%%a, %%x : i64, !vec), ^b0%s" % (
            base, types % ("%s, %%a, %%x" % k)))
        for block in range(count):
            k, a, x = ("%%%s%d" % (name, block) for name in "kax")
            self.lines.append("^b%d(%s: i64, %s: i64, %s: !vec):" % (
                block, k, a, x))
            numbers, vectors = ["%n", "%a", a], ["%x", "%w", x]
            numbers.append(self.number(1, numbers))
            vectors.append(self.vector(1, numbers, vectors))
            if self.calls > 0 and self.generator.random() < 0.6:
                a, x = self.call(1, numbers, vectors)
                numbers.append(a)
                vectors.append(x)
            condition = self.condition(1, numbers, vectors)
            which = self.emit(1, "arith.andi %s, %s : i64" % (pick(numbers), three))
            less = self.emit(1, "arith.subi %s, %s : i64" % (k, one))
            ends = self.emit(1, "arith.cmpi slt, %s, %s : i64" % (less, one))

            def to(values):
                return "^b%d%s" % (self.generator.randrange(count), types % values)

            self.lines.append("  cf.cond_br %s, ^end(%s, %s : i64, !vec), ^go%d" % (
                ends, numbers[-1], vectors[-1], block))
            self.lines.append("^go%d:" % block)
            # An operand of a switch target cannot be one of several results, such as %v#1.
            numbers, vectors = ([value for value in values if "#" not in value]
                                for values in (numbers, vectors))
            onward = ["%s, %s, %s" % (less, pick(numbers), pick(vectors))
                      for _ in range(3)]
            if self.generator.random() < 0.3:
                self.lines.append("  cf.switch %s : i64, [default: %s, 1: %s, 2: %s]"
                                  % (which, *map(to, onward)))
            else:
                self.lines.append("  cf.cond_br %s, %s, %s" % (
                    condition, to(onward[0]), to(onward[1])))
        return ("func.func private @%s(%%n: i64, %%a: i64, %%x: !vec, %%w: !vec, "
                "%%t: !table) -> (i64, !vec) {\n%s\n^end(%%r: i64, %%y: !vec):\n"
                "  return %%r, %%y : i64, !vec\n}\n"
                % (self.name, "\n".join(self.lines)))


def module(generator, count, element="f32", shape=(4,)):
    """Returns the text of `count` programs and their entry, over tensors of a type."""
    extents = "".join("%dx" % extent for extent in shape)
    text = ["!vec = tensor<%s%s>\n!table = tensor<4x%s%s>\n" % (
        2 * (extents, element))]
    for program in range(count):
        names = ["p%d_%d" % (program, i) for i in range(generator.randint(1, 3))]
        for name in names:
            kind = Graph if generator.random() < 0.3 else Function
            text.append(kind(generator, name, names, element, shape).text())
    text.append('''func.func @main(%which: index {batch.name = "which"},
                %n: i64 {batch.name = "n"}, %a: i64 {batch.name = "a"},
                %x: !vec {batch.name = "x"}, %w: !vec {batch.shared = "w"},
                %t: !table {batch.shared = "t"})
    -> (i64 {batch.name = "a"}, !vec {batch.name = "x"}) attributes {batch.entry} {
  %r:2 = scf.index_switch %which -> i64, !vec
''')
    for program in range(count):
        text.append('''  case %d {
    %%r:2 = func.call @p%d_0(%%n, %%a, %%x, %%w, %%t)
      : (i64, i64, !vec, !vec, !table) -> (i64, !vec)
    scf.yield %%r#0, %%r#1 : i64, !vec
  }
''' % (program, program))
    text.append('''  default {
    scf.yield %a, %x : i64, !vec
  }
  return %r#0, %r#1 : i64, !vec
}
''')
    return "".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    batchtest.add_soak_options(parser, PER_MODULE)
    parser.add_argument("--instances", type=int, default=24)
    parser.add_argument("--keep", help="write the first module to this file")
    options = parser.parse_args()
    if options.first % PER_MODULE:
        parser.error("--first must be a multiple of %d" % PER_MODULE)
    checks = batchtest.Checks("random recursions")
    folder = batchtest.temporary()
    for first in batchtest.soak_numbers(options, PER_MODULE):
        generator = random.Random("%d %d" % (options.seed, first))
        count = PER_MODULE
        if options.minutes is None:
            count = min(count, options.first + options.programs - first)
        source = os.path.join(folder, "programs.mlir")
        with open(source, "w") as file:
            element, shape = TYPES[first // PER_MODULE % len(TYPES)]
            file.write(module(generator, count, element, shape))
        if options.keep and first == options.first:
            shutil.copy(source, options.keep)
        inputs, tensors = [], {}
        for i in range(options.instances * count // 4):
            tensors["%d.x" % i] = (element.upper(), shape, [
                generator.uniform(-1, 1) for _ in range(math.prod(shape))])
            inputs.append({"which": i % count, "n": generator.randint(0, 4),
                           "a": generator.randint(0, 99),
                           "x": {"tensor": "%d.x" % i}})
        lines = batchtest.write_lines(os.path.join(folder, "inputs.jsonl"), inputs)
        rows = os.path.join(folder, "x.safetensors")
        batchtest.write_safetensors(rows, tensors)
        for strategy, choices in CHOICES.items():
            what = "programs %d to %d of seed %d by %s" % (
                first, first + count - 1, options.seed, strategy)
            program = checks.run(what, lambda: batchtest.compile_model(
                source, os.path.join(folder, strategy + ".so"), None,
                # LLVM takes most of the time, so only the first module is optimized.
                "-O0" if first else "-O1",
                "--strategy=" + strategy))
            for choice in choices if program else []:
                checks.run("%s %s" % (what, " ".join(choice)),
                           lambda: batchtest.run_model(
                               program, lines, "--input-tensors=" + rows, *choice))
    checks.exit()


if __name__ == "__main__":
    main()
