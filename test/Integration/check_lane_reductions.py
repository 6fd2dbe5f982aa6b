#!/usr/bin/env python3
"""check_lane_reductions.py: tests reductions that lanes of a warp share.

The reductions are sums, products, extremes and positions of extremes, for several element types.
They reduce rows of 1 to 300 elements, and rows and columns of matrices, with ties, NaN and
infinities. All sums are exact, so the emulator returns the bits of the CPU's code. This holds for
any mini-batch and number of blocks, with executors `device` and `block`, and in lock step. If the
largest elements are zeros of both signs, `maxnum` may return either.
"""

import math
import os
import random

import batchtest

EXTENTS = (1, 2, 3, 7, 8, 31, 32, 33, 64, 100, 300)
COUNT = 9
checks = batchtest.Checks("reductions of lanes")
scratch = batchtest.temporary()
draw = random.Random(3)


def path(name):
    return os.path.join(scratch, name)


# --- the program -------------------------------------------------------------

# Name: (start, body that combines the element %a with the partial result %o).
FLOATS = {
    "sum": ("0.0", "%r = arith.addf %o, %a : T"),
    "product": ("1.0", "%r = arith.mulf %a, %o : T"),
    "squares": ("0.5", "%p = arith.mulf %a, %a : T\n%r = arith.addf %o, %p : T"),
}
# Reductions that select one of their elements
EXTREMES = {
    "maximum": ("-1.0e30", "%r = arith.maximumf %a, %o : T"),
    "maxnum": ("-1.0e30", "%r = arith.maxnumf %a, %o : T"),
    "minimum": ("1.0e30", "%r = arith.minimumf %a, %o : T"),
}
INTEGERS = {
    "add": ("3", "%r = arith.addi %a, %o : T"),
    "max": ("-100", "%r = arith.maxsi %a, %o : T"),
    "umin": ("100", "%r = arith.minui %a, %o : T"),
    "xor": ("0", "%r = arith.xori %a, %o : T"),
    "and": ("-1", "%r = arith.andi %a, %o : T"),
}


class Program:
    def __init__(self):
        self.code, self.results, self.count = [], [], 0

    def new(self):
        self.count += 1
        return "%%v%d" % self.count

    def convert(self, value, shape, element):
        """Emits a conversion of `value`, an f32 tensor, to another element type. Returns the
        result."""
        if element == "f32":
            return value
        op = {"f64": "extf", "f16": "truncf"}.get(element, "fptosi")
        result = self.new()
        types = "tensor<%sxf32> to tensor<%sx%s>" % (shape, shape, element)
        if element == "i1":
            zero, start = self.new(), "arith.constant dense<0.0> : tensor<%sxf32>" % shape
            self.code += ["%s = %s" % (zero, start), "%s = arith.cmpf ogt, %s, %s : tensor<%sxf32>" % (
                result, value, zero, shape)]
        else:
            self.code.append("%s = arith.%s %s : %s" % (result, op, value, types))
        return result

    def reduce(self, name, value, shape, element, dim, starts, body):
        """Reduces a tensor along dimension `dim`. `shape` is text, such as "3x5"."""
        extents = shape.split("x")
        rank = len(extents)
        kept = [extents[d] for d in range(rank) if d != dim]
        dims = ["d%d" % d for d in range(rank)]
        maps = ["affine_map<(%s) -> (%s)>" % (", ".join(dims), ", ".join(dims))]
        outs, types, arguments = [], [], ["%%a: %s" % element]
        for number, (type, start) in enumerate(starts):
            tensor = "tensor<%s%s>" % ("".join(e + "x" for e in kept), type)
            filled = self.new()
            if "." not in start and type[0] == "f":
                start += ".0"
            if type == "i1":
                start = {"0": "false"}.get(start, "true")
            self.code.append("%s = arith.constant dense<%s> : %s" % (filled, start, tensor))
            outs.append(filled)
            types.append(tensor)
            maps.append("affine_map<(%s) -> (%s)>" % (", ".join(dims), ", ".join(
                d for i, d in enumerate(dims) if i != dim)))
            arguments.append("%%o%s: %s" % ("" if len(starts) == 1 else number, type))
        kinds = ['"%s"' % ("reduction" if d == dim else "parallel") for d in range(rank)]
        result = self.new()
        self.code.append("""%s:%d = linalg.generic {indexing_maps = [%s], iterator_types = [%s]}
    ins(%s : tensor<%sx%s>) outs(%s : %s) {
^bb0(%s):
%s
} -> (%s)""" % (result, len(starts), ", ".join(maps), ", ".join(kinds), value, shape,
                element, ", ".join(outs), ", ".join(types), ", ".join(arguments),
                body, ", ".join(types)))
        for number, type in enumerate(types):
            self.results.append(("%s#%d" % (result, number), type, "%s.%d" % (name, number)))

    def fold(self, name, value, shape, element, dim, kinds):
        for kind, (start, body) in kinds.items():
            body = body.replace("T", element) + "\nlinalg.yield %%r : %s" % element
            self.reduce("%s.%s.%s" % (name, element, kind), value, shape, element, dim,
                        [(element, start)], body)

    def select(self, name, value, shape, dim, sign):
        """Emits a search for the first of the largest or smallest elements, and for its index."""
        body = """%%i = linalg.index %d : index
%%k = arith.index_cast %%i : index to i32
%%better = arith.cmpf %s, %%a, %%o0 : f32
%%best = arith.select %%better, %%a, %%o0 : f32
%%at = arith.select %%better, %%k, %%o1 : i32
linalg.yield %%best, %%at : f32, i32""" % (dim, "ogt" if sign > 0 else "olt")
        self.reduce("%s.%s" % (name, "first" if sign > 0 else "last"), value, shape, "f32", dim,
                    [("f32", "-1.0e30" if sign > 0 else "1.0e30"), ("i32", "-1")], body)

    def all(self, name, exact, odd, shape, dim, elements):
        for element in elements:
            kinds = INTEGERS if element[0] == "i" else FLOATS
            if element == "f16":
                kinds = {}  # sums of f16 are computed in f32
            exact_value = self.convert(exact, shape, element)
            self.fold(name, exact_value, shape, element, dim, kinds)
            if element[0] == "f":
                self.fold(name, self.convert(odd, shape, element), shape, element, dim,
                          EXTREMES if element != "f16" else {
                              k: (s.replace("e30", "e3"), b) for k, (s, b) in EXTREMES.items()})
        for sign in (1, -1):
            self.select(name, odd, shape, dim, sign)


def write_program():
    p = Program()
    arguments = []
    for n in EXTENTS:
        for kind in ("exact", "odd"):
            arguments.append('%%%s%d: tensor<%dxf32> {batch.name = "%s%d"}' % (kind, n, n, kind, n))
        p.all("row%d" % n, "%%exact%d" % n, "%%odd%d" % n, str(n), 0,
              ("f32", "f64", "f16", "i8", "i32", "i64", "i1") if n in (31, 33) else ("f32", "i32"))
    for shape in ("3x33", "40x32"):
        for kind in ("exact", "odd"):
            arguments.append('%%%s%s: tensor<%sxf32> {batch.name = "%s%s"}' % (
                kind, shape, shape, kind, shape))
        for dim in (0, 1):
            p.all("%s.along%d" % (shape, dim), "%exact" + shape, "%odd" + shape, shape, dim,
                  ("f32", "i32"))
    # An operand that consists of two pieces
    for kind in ("exact", "odd"):
        p.code.append("%%%sboth = tensor.concat dim(0) %%%s31, %%%s33 : "
                      "(tensor<31xf32>, tensor<33xf32>) -> tensor<64xf32>" % (kind, kind, kind))
    p.all("both", "%exactboth", "%oddboth", "64", 0, ("f32",))
    with open(path("program.mlir"), "w") as file:
        file.write("func.func @main(%s)\n    -> (%s) attributes {batch.entry} {\n%s\nreturn %s : %s\n}\n" % (
            ",\n".join(arguments),
            ",\n".join('%s {batch.name = "%s"}' % r[1:] for r in p.results),
            "\n".join(p.code), ", ".join(r[0] for r in p.results),
            ", ".join(r[1] for r in p.results)))


# --- inputs ------------------------------------------------------------------

def shape_of(name):
    return [int(e) for e in name.lstrip("exactod").split("x")]


def make(number, name):
    shape = shape_of(name)
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    if name.startswith("exact"):
        values = [draw.choice([-2.0, -1.0, 1.0, 1.0, 2.0]) for _ in range(count)]
        if number == 0:
            values = [-0.0] * count
        return values
    values = [draw.randrange(-3, 4) / 2 for _ in range(count)]
    if number % 3 == 1:
        values[draw.randrange(count)] = draw.choice(
            [float("nan"), float("inf"), float("-inf")])
    if number == 2:
        values = [float("nan")] * count
    if number == 3:
        values = [draw.choice([0.0, -0.0]) for _ in range(count)]
    if number == 4:  # only the last element is the largest
        values = [1.0] * (count - 1) + [2.0]
    if number == 5:  # all elements are equal
        values = [2.0] * count
    return values


def write_inputs():
    names = ["%s%s" % (kind, e) for e in [*EXTENTS, "3x33", "40x32"] for kind in ("exact", "odd")]
    tensors, lines = {}, []
    for number in range(COUNT):
        line = {}
        for name in names:
            tensors["%s.%d" % (name, number)] = ("F32", shape_of(name), make(number, name))
            line[name] = {"tensor": "%s.%d" % (name, number)}
        lines.append(line)
    batchtest.write_safetensors(path("tensors"), tensors)
    batchtest.write_lines(path("inputs"), lines)


# --- runs --------------------------------------------------------------------

def run(program, *options):
    batchtest.call("batch-run", program, "--inputs=" + path("inputs"), "--input-tensors=" +
                   path("tensors"), "--outputs=" + path("outputs"), *options)
    return batchtest.read_safetensors(path("outputs"))


def alike(x, y, signs):
    """Returns whether two numbers are equal, including the signs of zeros if `signs`.
    NaNs are equal."""
    if x != x or y != y:
        return x != x and y != y
    return x == y and (not signs or math.copysign(1, x) == math.copysign(1, y))


def compare(name, found, wanted):
    if not found:
        return
    checks.equal(name + ": results", sorted(found), sorted(wanted))
    for result in wanted:
        a, b = found[result][2], wanted[result][2]
        signs = "num" not in result
        # f16 values are read as integers, in which bit 15 is the sign.
        if "f16" in result and not signs:
            a, b = ([0 if x == 0x8000 else x for x in values] for values in (a, b))
        different = [(i, x, y) for i, (x, y) in enumerate(zip(a, b))
                     if not alike(x, y, signs)]
        checks.expect("%s: %s" % (name, result), not different, repr(different[:3]))


write_program()
write_inputs()
cpu = checks.run("compile for the CPU", lambda: batchtest.compile_model(
    path("program.mlir"), path("cpu.so"), None, "-O0"))
wanted = checks.run("run on the CPU", lambda: run(cpu, "--unbatched"))
for name, options, launches in (
        ("device", ["--executor=device"], ["--batch=1 --blocks=3", "--batch=9 --blocks=3",
                                           "--batch=4 --blocks=40"]),
        ("block", ["--executor=block"], ["--batch=9 --blocks=2"]),
        ("lock step", ["--strategy=lockstep"], ["--batch=1 --blocks=2", "--batch=9 --blocks=2"])):
    program = checks.run("compile for " + name, lambda: batchtest.compile_model(
        path("program.mlir"), path(name.replace(" ", "") + ".so"), None, "-O0",
        "--device=emulator", *options))
    for launch in launches if program and wanted else []:
        what = "%s, %s" % (name, launch)
        compare(what, checks.run(what, lambda: run(program, *launch.split())), wanted)
checks.exit()
