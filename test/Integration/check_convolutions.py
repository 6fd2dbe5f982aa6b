#!/usr/bin/env python3
"""check_convolutions.py: tests convolutions and poolings in each layout.

The cases cover layouts, strides, dilations, groups, padding, and channels and pixels that do not
fill vectors. Images and filters have few different values, so that sums are exact. Results
equal those of Python to the bit, for any mini-batch and number of threads, unbatched,
with vectors of any width, and on the emulator.
"""

import collections
import itertools
import math
import os
import platform
import random
import re

import batchtest

COUNT = 5

checks = batchtest.Checks("convolutions")
scratch = batchtest.temporary()
draw = random.Random(4)

# op: the op of linalg; image, filter and result: their layouts, one letter per dimension; sizes:
# extents by dimension, those of the image without padding, and "H" for a window along h; strides,
# dilations, low and high: strides, dilations and padding by dimension of the image
Case = collections.namedtuple(
    "Case", "op image filter result sizes strides dilations low high")
Case.__new__.__defaults__ = ({}, {}, {}, {})

NCHW = ("conv_2d_nchw_fchw", "nchw", "fcHW", "nfhw")
NHWC = ("conv_2d_nhwc_hwcf", "nhwc", "HWcf", "nhwf")
NHWC_FHWC = ("conv_2d_nhwc_fhwc", "nhwc", "fHWc", "nhwf")
TWICE = {"h": 2, "w": 2}
ONE = {"h": 1, "w": 1}


def sizes(text):
    return {name: int(size) for name, size in re.findall(r"([a-zA-Z])(\d+)", text)}


CASES = [
    # If vectors have 16 elements, the first lines are a vector, two thirds of a vector, and more
    # than a panel long.
    Case(*NCHW, sizes("n1 c3 f5 h9 w16 H3 W3"), low=ONE, high=ONE),
    Case(*NCHW, sizes("n1 c2 f13 h7 w11 H3 W3"), low=ONE, high=ONE),
    Case(*NCHW, sizes("n1 c2 f3 h5 w41 H3 W3"), low=ONE, high=ONE),
    Case(*NCHW, sizes("n2 c3 f4 h6 w6 H2 W3")),
    Case(*NCHW, sizes("n1 c3 f6 h9 w10 H3 W3"), TWICE, low=ONE, high=ONE),
    Case(*NCHW, sizes("n1 c2 f6 h11 w12 H3 W2"), {"h": 3}, {"h": 2, "w": 3},
         {"h": 2}, {"w": 3}),
    Case(*NCHW, sizes("n1 c4 f33 h4 w4 H1 W1")),
    Case(*NHWC, sizes("n1 c3 f7 h6 w5 H3 W3"), low=ONE, high=ONE),
    Case(*NHWC, sizes("n1 c17 f40 h4 w5 H3 W2"), low=ONE),
    Case(*NHWC, sizes("n2 c16 f16 h5 w5 H3 W3"), TWICE, low=ONE, high=ONE),
    Case(*NHWC, sizes("n1 c2 f3 h9 w8 H3 W2"), {"w": 2}, TWICE),
    Case(*NHWC_FHWC, sizes("n1 c5 f19 h5 w6 H3 W3"), low=ONE, high=ONE),
    Case(*NHWC_FHWC, sizes("n1 c16 f4 h5 w6 H2 W2"), TWICE),
    Case("conv_2d_ngchw_gfchw", "ngchw", "gfcHW", "ngfhw",
         sizes("n1 g3 c2 f5 h6 w7 H3 W3"), low=ONE, high=ONE),
    Case("conv_2d_ngchw_fgchw", "ngchw", "fgcHW", "ngfhw",
         sizes("n1 g2 c3 f4 h5 w9 H2 W3"), TWICE, low=ONE),
    Case("conv_2d_nhwgc_gfhwc", "nhwgc", "gfHWc", "nhwgf",
         sizes("n1 g2 c4 f5 h5 w6 H3 W3"), high=ONE),
    Case("conv_1d_ncw_fcw", "ncw", "fcW", "nfw", sizes("n1 c3 f4 w37 W5"),
         dilations={"w": 2}, low={"w": 4}, high={"w": 4}),
    Case("conv_1d_nwc_wcf", "nwc", "Wcf", "nwf", sizes("n1 c3 f4 w20 W3"), {"w": 3}),
    Case("conv_3d_ncdhw_fcdhw", "ncdhw", "fcDHW", "nfdhw",
         sizes("n1 c2 f3 d4 h5 w6 D2 H3 W3"), low={"d": 1, "w": 1}, high=ONE),
    Case("conv_3d_ndhwc_dhwcf", "ndhwc", "DHWcf", "ndhwf",
         sizes("n1 c2 f3 d4 h5 w5 D2 H2 W3"), {"d": 2}, low=ONE),
    Case("depthwise_conv_2d_nchw_chw", "nchw", "cHW", "nchw",
         sizes("n1 c5 h7 w19 H3 W3"), low=ONE, high=ONE),
    Case("depthwise_conv_2d_nchw_chw", "nchw", "cHW", "nchw",
         sizes("n1 c3 h8 w9 H3 W3"), TWICE, low=ONE, high=ONE),
    Case("depthwise_conv_2d_nhwc_hwc", "nhwc", "HWc", "nhwc",
         sizes("n1 c19 h6 w5 H3 W3"), TWICE, low=ONE, high=ONE),
    Case("pooling_nchw_max", "nchw", "HW", "nchw", sizes("n1 c3 h9 w21 H3 W3"), TWICE,
         low=ONE, high=ONE),
    Case("pooling_nchw_sum", "nchw", "HW", "nchw", sizes("n1 c2 h8 w8 H2 W2"), TWICE),
    Case("pooling_nhwc_max", "nhwc", "HW", "nhwc", sizes("n1 c18 h7 w7 H3 W3"), TWICE,
         low=ONE, high=ONE),
    Case("pooling_nhwc_sum", "nhwc", "HW", "nhwc", sizes("n1 c3 h6 w6 H3 W3"), {},
         TWICE),
]


def path(name):
    return os.path.join(scratch, name)


# --- the reference -----------------------------------------------------------

def padded(case):
    """Returns the sizes of the padded image."""
    return {name: case.sizes[name] + case.low.get(name, 0) + case.high.get(name, 0)
            for name in case.image}


def result_sizes(case):
    image = padded(case)

    def extent(name):
        window = case.sizes.get(name.upper())
        if not window:
            return case.sizes[name]
        reach = case.dilations.get(name, 1) * (window - 1) + 1
        return (image[name] - reach) // case.strides.get(name, 1) + 1

    return {name: extent(name) for name in case.result}


def shape(layout, extents):
    return [extents[name] for name in layout]


def position(layout, extents, at):
    index = 0
    for name in layout:
        index = index * extents[name] + at[name]
    return index


def compute(case, image, filter):
    """Returns the elements of the result, from those of the image and the filter."""
    out, isMax = result_sizes(case), case.op.endswith("max")
    reduced = [name for name in dict.fromkeys(case.filter + case.image)
               if name.isupper() or name not in case.result and name not in "hwd"]
    values = []
    for place in itertools.product(*(range(out[name]) for name in case.result)):
        total = -math.inf if isMax else 0.0
        for step in itertools.product(*(range(case.sizes[name]) for name in reduced)):
            at = {**dict(zip(case.result, place)), **dict(zip(reduced, step))}
            of = dict(at)
            for name in "dhw":
                if name.upper() in at:
                    of[name] = (at[name] * case.strides.get(name, 1) +
                                at[name.upper()] * case.dilations.get(name, 1) -
                                case.low.get(name, 0))
            inside = all(0 <= of[name] < case.sizes[name] for name in case.image)
            pad = -math.inf if isMax else 0.0
            value = image[position(case.image, case.sizes, of)] if inside else pad
            if isMax:
                total = max(total, value)
            elif "pooling" in case.op:
                total += value
            else:
                total += value * filter[position(case.filter, case.sizes, at)]
        values.append(total)
    return values


# --- the program -------------------------------------------------------------

def tensor(extents):
    return "tensor<%sxf32>" % "x".join(map(str, extents))


def write_program(name):
    arguments, results, body = [], [], []
    for i, case in enumerate(CASES):
        image = tensor(shape(case.image, case.sizes))
        filter = tensor(shape(case.filter, case.sizes))
        result = tensor(shape(case.result, result_sizes(case)))
        arguments.append('%%x%d: %s {batch.name = "x%d"}' % (i, image, i))
        results.append((i, result))
        pooling = "pooling" in case.op
        zero = "0xFF800000" if case.op.endswith("max") else "0.0"
        operand = "%%x%d" % i
        if case.low or case.high:
            wide = tensor(shape(case.image, padded(case)))
            edge = [", ".join(str(side.get(name, 0)) for name in case.image)
                    for side in (case.low, case.high)]
            indices = ", ".join("%%i%d: index" % d for d in range(len(case.image)))
            body.append("""%%pad%d = arith.constant %s : f32
  %%p%d = tensor.pad %s low[%s] high[%s] {
  ^bb0(%s):
    tensor.yield %%pad%d : f32
  } : %s to %s""" % (i, zero, i, operand, *edge, indices, i, image, wide))
            operand, image = "%%p%d" % i, wide
        if pooling:
            body.append("%%W%d = tensor.empty() : %s" % (i, filter))
        else:
            arguments.append('%%W%d: %s {batch.shared = "W%d"}' % (i, filter, i))
        spatial = [name for name in case.image if name in "dhw"]
        values = ["[%s]" % ", ".join(str(of.get(name, 1)) for name in spatial)
                  for of in (case.dilations, case.strides)]
        body.append("""%%s%d = arith.constant dense<%s> : %s
  %%y%d = linalg.%s {dilations = dense<%s> : tensor<%dxi64>, strides = dense<%s> : tensor<%dxi64>}
      ins(%s, %%W%d : %s, %s) outs(%%s%d : %s) -> %s""" % (
            i, zero, result, i, case.op, values[0], len(spatial), values[1],
            len(spatial), operand, i, image, filter, i, result, result))
    with open(path(name), "w") as file:
        file.write("func.func @main(%s)\n    -> (%s) attributes {batch.entry} {\n  %s\n"
                   "  return %s : %s\n}\n" % (
                       ",\n    ".join(arguments),
                       ", ".join('%s {batch.name = "y%d"}' % (type, i)
                                 for i, type in results),
                       "\n  ".join(body),
                       ", ".join("%%y%d" % i for i, _ in results),
                       ", ".join(type for _, type in results)))
    return path(name)


# --- data --------------------------------------------------------------------

def numbers(count):
    return [draw.randrange(-8, 9) / 4 for _ in range(count)]


def nested(values, extents):
    if len(extents) == 1:
        return values
    step = len(values) // extents[0]
    return [nested(values[i * step:(i + 1) * step], extents[1:])
            for i in range(extents[0])]


filters = [numbers(math.prod(shape(case.filter, case.sizes))) for case in CASES]
images = [[numbers(math.prod(shape(case.image, case.sizes))) for case in CASES]
          for _ in range(COUNT)]
wanted = [[value for image in images for value in compute(case, image[i], filters[i])]
          for i, case in enumerate(CASES)]
batchtest.write_safetensors(path("parameters"), {
    "W%d" % i: ("F32", shape(case.filter, case.sizes), filters[i])
    for i, case in enumerate(CASES) if "pooling" not in case.op})
batchtest.write_lines(path("inputs"), [
    {"x%d" % i: nested(image[i], shape(case.image, case.sizes))
     for i, case in enumerate(CASES)} for image in images])


# --- runs --------------------------------------------------------------------

def run(program, batch, threads, *more):
    batchtest.call("batch-run", program, "--params=" + path("parameters"),
                   "--inputs=" + path("inputs"), "--outputs=" + path("outputs"),
                   "--batch=%d" % batch, "--threads=%d" % threads, *more)
    with open(path("outputs"), "rb") as file:
        return file.read()


def compare(what):
    outputs = batchtest.read_safetensors(path("outputs"))
    for i, case in enumerate(CASES):
        found = list(outputs["y%d" % i][2])
        wrong = [(at, f, w) for at, (f, w) in enumerate(zip(found, wanted[i])) if f != w]
        checks.expect("%s: case %d, %s" % (what, i, case.op),
                      len(found) == len(wanted[i]) and not wrong,
                      "%d and %d values, %d wrong: %r" % (
                          len(found), len(wanted[i]), len(wrong), wrong[:3]))


def compile_for(name, *options):
    return checks.run("compile for " + name, lambda: batchtest.compile_model(
        write_program("convolutions.mlir"), path(name + ".so"), None, "-O1", *options))


program = compile_for("CPU")
if program:
    first = checks.run("one by one", lambda: run(program, 1, 1))
    compare("CPU")
    for batch, threads in [(3, 1), (COUNT, 1), (1, 2), (COUNT, 2)]:
        checks.equal("same bits, batches of %d on %d threads" % (batch, threads),
                     checks.run("run", lambda: run(program, batch, threads)) == first,
                     True)
    checks.equal("same bits unbatched", checks.run(
        "run", lambda: run(program, COUNT, 1, "--unbatched")) == first, True)
emulated = compile_for("emulator", "--device=emulator")
if emulated:
    one = checks.run("one by one", lambda: run(emulated, 1, 1, "--blocks=4"))
    compare("emulator")
    checks.equal("emulator: same bits together", checks.run(
        "run", lambda: run(emulated, COUNT, 1, "--blocks=4")) == one, True)
if platform.machine() == "x86_64":
    program = compile_for("x86-64-v3", "--cpu=x86-64-v3")
    if program:
        checks.run("AVX2", lambda: run(program, COUNT, 1, "--check-unbatched"))
        compare("AVX2")
checks.exit()
