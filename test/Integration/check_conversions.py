#!/usr/bin/env python3
"""check_conversions.py: tests arith.fptosi and fptoui of floats out of the range of the integer
type, by the rule of docs/reference/element-types.md: the nearest integer of the type, and 0 for a
NaN.

Every float type is converted to every integer type: as tensors, as scalars, in a loop of each
instance, and as constants. Results equal those of Python to the bit, for vectors of any width, in
lock step and on the emulator.
"""

import math
import platform
import struct

import batchtest

FLOATS = {"f16": ("F16", 16), "bf16": ("BF16", 16), "f32": ("F32", 32), "f64": ("F64", 64)}
WIDTHS = 8, 16, 32, 64
KINDS = [(sign, width) for sign in "su" for width in WIDTHS]
EDGES = sorted({sign * (2.0 ** power + more) for sign in (-1, 1) for more in (-1, -0.5, 0, 1)
                for power in (0, 7, 8, 15, 16, 31, 32, 63, 64)})
VALUES = EDGES + [-0.0, 0.75, -0.75, 1e20, -1e20, 60000.0, -60000.0, math.inf, -math.inf,
                  math.nan]
N, COUNT = len(VALUES), 7

checks = batchtest.Checks("conversions")
path = batchtest.temporary_paths()


def convert(value, sign, width):
    """Converts a number to an integer of `width` bits, and returns these bits as a signed integer,
    which is how they are stored."""
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if sign == "s" else \
        (0, (1 << width) - 1)
    if math.isnan(value):
        return 0
    result = low if value < low else high if value > high else int(value)
    return result - (1 << width) if result >> (width - 1) == 1 else result


def element(kind, value):
    """Converts `value` to type `kind`. Returns the bits, and the number that they represent."""
    if kind == "f64":
        return struct.unpack("<q", struct.pack("<d", value))[0], value
    if kind == "f16" and abs(value) > 65504:
        value = math.copysign(math.inf, value)
    if kind == "f16":
        bits, = struct.unpack("<h", struct.pack("<e", value))
        return bits, struct.unpack("<e", struct.pack("<h", bits))[0]
    bits, = struct.unpack("<i", struct.pack("<f", value))
    if kind == "bf16":
        bits >>= 16
        return bits, struct.unpack("<f", struct.pack("<i", bits << 16))[0]
    return bits, struct.unpack("<f", struct.pack("<i", bits))[0]


def program(kind):
    """Returns a program that converts a tensor, a scalar, constants, and a scalar that ends a
    loop. Instances run the loop one by one or in vectors."""
    bits = FLOATS[kind][1]
    lines, results = [], []

    def result(name, text, of):
        lines.append("%%%s = %s" % (name, text))
        results.append((name, of))

    for sign, width in KINDS:
        name = "%s%d" % (sign, width)
        result(name, "arith.fpto%si %%x : tensor<%dx%s> to tensor<%dxi%d>" % (
            sign, N, kind, N, width), "tensor<%dxi%d>" % (N, width))
        result("scalar_" + name, "arith.fpto%si %%s : %s to i%d" % (sign, kind, width),
               "i%d" % width)
    for what, value in ("inf", math.inf), ("minus", -1e20), ("nan", math.nan):
        raw = element(kind, value)[0] & (1 << bits) - 1
        lines.append("%%%s = arith.constant 0x%0*X : %s" % (what, bits // 4, raw, kind))
        for sign, width in ("s", 32), ("u", 8):
            result("%s_%s%d" % (what, sign, width), "arith.fpto%si %%%s : %s to i%d" % (
                sign, what, kind, width), "i%d" % width)
    lines.append("""%%none = arith.constant 0 : i32
  %%limit = arith.constant 3 : i32
  %%one = arith.constant 1 : i32
  %%bytes = arith.constant 0 : i8
  %%rounds, %%sum = scf.while (%%i = %%none, %%t = %%bytes) : (i32, i8) -> (i32, i8) {
    %%word = arith.fptosi %%s : %s to i32
    %%c0 = arith.cmpi slt, %%i, %%word : i32
    %%c1 = arith.cmpi slt, %%i, %%limit : i32
    %%c = arith.andi %%c0, %%c1 : i1
    scf.condition(%%c) %%i, %%t : i32, i8
  } do {
  ^bb0(%%i: i32, %%t: i8):
    %%byte = arith.fptosi %%s : %s to i8
    %%u = arith.addi %%t, %%byte : i8
    %%j = arith.addi %%i, %%one : i32
    scf.yield %%j, %%u : i32, i8
  }""" % (kind, kind))
    results.extend([("rounds", "i32"), ("sum", "i8")])
    return """func.func @main(%%x: tensor<%dx%s> {batch.name = "x"}, %%b: i%d {batch.name = "b"})
    -> (%s) attributes {batch.entry} {
  %%s = arith.bitcast %%b : i%d to %s
  %s
  return %s : %s
}
""" % (N, kind, bits, ", ".join('%s {batch.name = "%s"}' % (of, name) for name, of in results),
       bits, kind, "\n  ".join(lines), ", ".join("%" + name for name, _ in results),
       ", ".join(of for _, of in results))


def expected(tensor, scalar):
    wanted = {}
    for sign, width in KINDS:
        name = "%s%d" % (sign, width)
        wanted[name] = [convert(v, sign, width) for v in tensor]
        wanted["scalar_" + name] = [convert(scalar, sign, width)]
    for what, value in ("inf", math.inf), ("minus", -1e20), ("nan", math.nan):
        for sign, width in ("s", 32), ("u", 8):
            wanted["%s_%s%d" % (what, sign, width)] = [convert(value, sign, width)]
    rounds = min(max(convert(scalar, "s", 32), 0), 3)
    total = rounds * convert(scalar, "s", 8) & 255
    wanted["rounds"], wanted["sum"] = [rounds], [total - 256 * (total >> 7)]
    return wanted


def check(what, kind, lines, wanted, *options, more=()):
    compiled = checks.run("%s: compile" % what, lambda: batchtest.compile_model(
        path(kind + ".mlir"), path("program.so"), None, *options))
    if not compiled or not checks.run("%s: run" % what, lambda: batchtest.run_model(
            compiled, lines, "--input-tensors=" + path("tensors"),
            "--outputs=" + path("outputs"), *more, params=path("none"), batch=COUNT)):
        return
    found = batchtest.read_safetensors(path("outputs"))
    wrong = []
    for name in wanted[0]:
        right = [v for each in wanted for v in each[name]]
        values = list(found[name][2])
        wrong += ["%s %d: %d, wanted %d" % (name, i, f, r) for i, (f, r) in
                  enumerate(zip(values, right)) if f != r]
        if len(values) != len(right):
            wrong.append("%s has %d values" % (name, len(values)))
    checks.expect("%s: values" % what, sorted(found) == sorted(wanted[0]) and not wrong,
                  wrong[:5])


batchtest.write_safetensors(path("none"), {})
for kind, (dtype, bits) in FLOATS.items():
    with open(path(kind + ".mlir"), "w") as file:
        file.write(program(kind))
    tensors, lines, wanted = {}, [], []
    pairs = [element(kind, value) for value in VALUES]
    for i, (raw, scalar) in enumerate(pairs):
        rotated = pairs[i:] + pairs[:i]
        mask = (1 << bits) - 1
        tensors["%d.x" % i] = (dtype, [N], [r & mask if bits == 16 else v
                                            for r, v in rotated])
        lines.append({"x": {"tensor": "%d.x" % i}, "b": raw})
        wanted.append(expected([v for _, v in rotated], scalar))
    batchtest.write_safetensors(path("tensors"), tensors)
    batchtest.write_lines(path("lines"), lines)
    check(kind, kind, path("lines"), wanted)
    check(kind + " in lock step", kind, path("lines"), wanted, "--strategy=lockstep")
    if platform.machine() == "x86_64" and kind in ("f32", "f64"):
        check(kind + " with AVX2", kind, path("lines"), wanted, "--cpu=x86-64-v3")
    check(kind + " on the emulator", kind, path("lines"), wanted, "--device=emulator",
          more=["--blocks=4"])
checks.exit()
