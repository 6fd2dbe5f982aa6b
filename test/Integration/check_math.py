#!/usr/bin/env python3
"""check_math.py: tests each op of the math dialect in kernels and in control flow, in f32
and f64.

Kernels compute with tensors, and control flow computes with scalars of the instance. The
results of both have the same bits, for any mini-batch and on the emulator, and are close to the
results of Python. Code for GPUs calls no library. ExpandMathTest measures the errors.
"""

import math
import random
import re

import batchtest

COUNT, SIZE = 9, 24

checks = batchtest.Checks("math")
path = batchtest.temporary_paths()
draw = random.Random(5)


def away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


def clamp(x, y):
    return max(min(x, 0.5), y)


# Op, operands and reference. `u` is within (-1, 1), `p` is positive, `n` is an integer, and `w`
# is an angle of any size.
REALS = [
    ("absf", "x", abs), ("acos", "u", math.acos),
    ("acosh", "a", math.acosh), ("asin", "u", math.asin),
    ("asinh", "x", math.asinh), ("atan", "x", math.atan),
    ("atan2", "x, %y", math.atan2), ("atanh", "u", math.atanh),
    ("cbrt", "x", lambda x: math.copysign(abs(x) ** (1 / 3), x)),
    ("ceil", "x", math.ceil), ("copysign", "x, %y", math.copysign),
    ("cos", "w", math.cos), ("cosh", "x", math.cosh), ("erf", "x", math.erf),
    ("erfc", "x", math.erfc), ("exp", "x", math.exp),
    ("exp2", "x", lambda x: 2 ** x), ("expm1", "x", math.expm1),
    ("floor", "x", math.floor), ("fma", "x, %y, %u", lambda x, y, u: x * y + u),
    ("log", "p", math.log), ("log10", "p", math.log10),
    ("log1p", "p", math.log1p), ("log2", "p", math.log2),
    ("powf", "p, %y", math.pow), ("round", "x", away),
    ("roundeven", "x", round), ("rsqrt", "p", lambda p: p ** -0.5),
    ("sin", "w", math.sin), ("sinh", "x", math.sinh),
    ("sqrt", "p", math.sqrt), ("tan", "w", math.tan),
    ("tanh", "x", math.tanh), ("trunc", "x", math.trunc),
]
CLASSES = [("isfinite", True), ("isinf", False), ("isnan", False),
           ("isnormal", True)]
BITS = 2**32 - 1
INTEGERS = [
    ("absi", "n", lambda n: abs(n)),
    ("ctlz", "n", lambda n: 32 - (n & BITS).bit_length()),
    ("cttz", "n", lambda n: 32 if n == 0 else (n & -n).bit_length() - 1),
    ("ctpop", "n", lambda n: bin(n & BITS).count("1")),
    ("ipowi", "n, %m", lambda n, m: signed(pow(n, m, 2**32))),
]


def signed(value):
    value &= BITS
    return value - 2**32 if value >> 31 else value


def program(element):
    """Returns the model, which has all ops on tensors and on scalars. The names of
    scalars end in `_s`."""
    tensor, longs = "tensor<%dx%s>" % (SIZE, element), "tensor<%dxi32>" % SIZE
    names = "xyupaw"
    results, code = [], []

    def add(name, line, type):
        code.append("  " + line)
        results.append((name, type))

    for suffix, real, whole, yes, value in (
            ("", tensor, longs, "tensor<%dxi1>" % SIZE, "dense<%s>"),
            ("_s", element, "i32", "i1", "%s")):
        def operands(text):
            return re.sub(r"\w+", lambda m: m[0] + suffix, text)

        for op, arguments, _ in REALS:
            add(op + suffix, "%%%s = math.%s %%%s : %s" % (
                op + suffix, op, operands(arguments), real), real)
        for op, _ in CLASSES:
            add(op + suffix, "%%%s = math.%s %%x%s : %s" % (
                op + suffix, op, suffix, real), yes)
        for op, arguments, _ in INTEGERS:
            add(op + suffix, "%%%s = math.%s %%%s : %s" % (
                op + suffix, op, operands(arguments), whole), whole)
        add("fpowi" + suffix, "%%fpowi%s = math.fpowi %%x%s, %%m%s : %s, %s" % (
            suffix, suffix, suffix, real, whole), real)
        code.append("  %%half%s = arith.constant %s : %s" % (
            suffix, value % "0.5", real))
        add("clampf" + suffix,
            "%%clampf%s = math.clampf %%x%s to [%%u%s, %%half%s] : %s" % (
                suffix, suffix, suffix, suffix, real), real)
        code.append("  %%two%s = arith.constant %s : %s" % (
            suffix, value % "2.0", real))
        add("square" + suffix, "%%square%s = math.powf %%x%s, %%two%s : %s" % (
            suffix, suffix, suffix, real), real)
        code.append("  %%sine%s, %%cosine%s = math.sincos %%w%s : %s" % (
            suffix, suffix, suffix, real))
        results.extend([("sine" + suffix, real), ("cosine" + suffix, real)])
    # Control flow that depends on a function
    code.append("""  %%isFar = arith.cmpf ogt, %%erf_s, %%half_s : %(e)s
  %%branch = scf.if %%isFar -> %(t)s {
    %%r = func.call @far(%%x) : (%(t)s) -> %(t)s
    scf.yield %%r : %(t)s
  } else {
    scf.yield %%x : %(t)s
  }""" % {"e": element, "t": tensor})
    results.append(("branch", tensor))
    arguments = ["%%%s: %s {batch.name = \"%s\"}" % item for item in
                 [(n, tensor, n) for n in names] +
                 [(n, longs, n) for n in "nm"] +
                 [(n + "_s", element, n + "_s") for n in names] +
                 [(n + "_s", "i32", n + "_s") for n in "nm"]]
    return """func.func private @far(%%x: %(t)s) -> %(t)s {
  %%r = math.erfc %%x : %(t)s
  return %%r : %(t)s
}
func.func @main(%(arguments)s)
    -> (%(results)s) attributes {batch.entry} {
%(code)s
  return %(values)s : %(types)s
}
""" % {"t": tensor, "arguments": ", ".join(arguments),
       "results": ", ".join('%s {batch.name = "%s"}' % (type, name)
                            for name, type in results),
       "code": "\n".join(code),
       "values": ", ".join("%" + name for name, _ in results),
       "types": ", ".join(type for _, type in results)}


def make_instances(element):
    exact = batchtest.narrow if element == "f32" else float
    top = 128 if element == "f32" else 1024
    instances = []

    def angle():
        size = draw.uniform(0, 6) if draw.randrange(2) else \
            2 ** draw.uniform(3, top - 1e-6)
        return draw.choice((-1, 1)) * size

    for _ in range(COUNT):
        values = {
            "x": [draw.uniform(-6, 6) for _ in range(SIZE)],
            "y": [draw.uniform(-3, 3) for _ in range(SIZE)],
            "u": [draw.uniform(-1, 1) for _ in range(SIZE)],
            "p": [2 ** draw.uniform(-20, 20) for _ in range(SIZE)],
            "a": [1 + 2 ** draw.uniform(-20, 20) for _ in range(SIZE)],
            "w": [angle() for _ in range(SIZE)]}
        values = {n: [exact(v) for v in row] for n, row in values.items()}
        values["n"] = [draw.randrange(-2**31 + 1, 2**31) >> draw.randrange(31)
                       for _ in range(SIZE)]
        values["m"] = [draw.randrange(0, 40) for _ in range(SIZE)]
        instances.append(values)
    return instances


def write_inputs(element, instances):
    tensors, lines = {}, []
    for i, values in enumerate(instances):
        line = {}
        for name, row in values.items():
            dtype = "I32" if name in "nm" else element.upper()
            tensors["%d.%s" % (i, name)] = (dtype, [SIZE], row)
            line[name] = {"tensor": "%d.%s" % (i, name)}
            line[name + "_s"] = row[0]
        lines.append(line)
    batchtest.write_safetensors(path(element + ".tensors"), tensors)
    batchtest.write_lines(path(element + ".inputs"), lines)


def wanted(values):
    """Returns {result: row} of an instance."""
    rows = {}
    for op, arguments, function in REALS + INTEGERS:
        names = arguments.replace("%", "").split(", ")
        rows[op] = [function(*v) for v in zip(*(values[n] for n in names))]
    for op, answer in CLASSES:
        rows[op] = [answer] * SIZE
    rows["fpowi"] = [x ** m for x, m in zip(values["x"], values["m"])]
    rows["clampf"] = [clamp(x, u) for x, u in zip(values["x"], values["u"])]
    rows["square"] = [x * x for x in values["x"]]
    rows["sine"] = [math.sin(w) for w in values["w"]]
    rows["cosine"] = [math.cos(w) for w in values["w"]]
    rows["branch"] = ([math.erfc(x) for x in values["x"]]
                      if math.erf(values["x"][0]) > 0.5 else values["x"])
    return rows


def compare(element, instances, outputs):
    tolerance = 1e-6 if element == "f32" else 1e-14
    rows = [wanted(values) for values in instances]
    for name in rows[0]:
        found = outputs[name][2]
        off = [(i, e, f, r) for i, row in enumerate(rows)
               for e, (f, r) in enumerate(zip(
                   found[i * SIZE:(i + 1) * SIZE], row[name]))
               if not abs(f - r) <= tolerance * (abs(r) + (name == "fma"))]
        checks.expect("%s of %s" % (name, element), not off, off[:3])
        if name != "branch":
            checks.equal("%s of %s in control" % (name, element),
                         list(outputs[name + "_s"][2]),
                         [found[i * SIZE] for i in range(COUNT)])


def check_gpu_code(element):
    for chip, library in (("sm_90a", r"\bcall\b|\.extern (?!\.shared)"),
                          ("gfx90a", r"__oc[km]l_|s_swappc|s_setpc")):
        module = checks.run("%s for %s" % (element, chip), lambda: batchtest.call(
            "batch-opt", path(element + ".mlir"),
            "--autobatch=strategy=linearize",
            "--gpu-persistent=chip=%s format=isa executor=device" % chip))
        if module:
            calls = re.findall(library, re.findall(
                r'assembly = "((?:[^"\\]|\\.)*)"', module)[0])
            checks.expect("%s for %s calls no library" % (element, chip),
                          not calls, calls[:3])


def check(element):
    with open(path(element + ".mlir"), "w") as file:
        file.write(program(element))
    instances = make_instances(element)
    write_inputs(element, instances)

    def compile(name, *options):
        return checks.run("compile " + name, lambda: batchtest.compile_model(
            path(element + ".mlir"), path(name + ".so"), None,
            "--strategy=linearize", *options))

    def run(name, model, batch, threads, *options):
        out = path("outputs")

        def call():
            batchtest.run_model(
                model, path(element + ".inputs"),
                "--input-tensors=" + path(element + ".tensors"),
                "--outputs=" + out, *options, batch=batch, threads=threads)
            return batchtest.contents(out)
        return checks.run("run " + name, call)

    model = compile(element)
    first = model and run(element, model, COUNT, 1)
    if not first:
        return
    compare(element, instances, batchtest.read_safetensors(path("outputs")))
    for batch, threads in (1, 1), (4, 2):
        checks.equal("%s: same bits in batches of %d" % (element, batch),
                     run(element, model, batch, threads), first)
    emulated = compile(element + " for the emulator", "--device=emulator")
    if emulated:
        checks.equal(element + ": same bits on the emulator",
                     run("on the emulator", emulated, 4, 1, "--blocks=3"), first)
    check_gpu_code(element)


for element in ("f32", "f64"):
    check(element)
checks.exit()
