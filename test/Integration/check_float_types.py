#!/usr/bin/env python3
"""check_float_types.py: tests elements of f16, bf16, f32, f64, i8 and i1 in parameters,
inputs, constants, tables, results and variables of lanes.

Results are compared with those of Python, by the rule of docs/reference/element-types.md.
Each op rounds once to its type, so most results must have the same bits. Math functions, sums
and products of matrices have a tolerance: one unit in the last place for f16 and bf16, and 256
units for f32 and f64. On the CPU, batched and unbatched results have the same bits, for any
mini-batch and number of threads. On the emulator, results have the same bits for any
mini-batch. Compiled objects need only symbols of the C math library.

    check_float_types.py [--quick]     f16 and bf16 only (for slow emulators)
"""

import fractions
import math
import platform
import random
import shutil
import subprocess
import sys

import batchtest

COUNT, N, ROWS = 64, 37, 21
# Number of bits in the significand, exponent of the lowest bit of subnormal numbers, name in
# files, and type in which instructions compute
FORMATS = {"f16": (11, -24, "F16", "f32"), "bf16": (8, -133, "BF16", "f32"),
           "f32": (24, -149, "F32", "f32"), "f64": (53, -1074, "F64", "f64")}
MOST = {"f16": 65504.0, "bf16": 255 * 2.0**120, "f32": (2 - 2.0**-23) * 2.0**127,
        "f64": sys.float_info.max}
# Symbols of the C math library that code for any type may need
ALLOWED = {"fmod", "fmodf"}

checks = batchtest.Checks("floating-point types")
path = batchtest.temporary_paths()
draw = random.Random(5)


def unit(kind, value):
    """Returns the distance between adjacent numbers around `value`."""
    bits, least, _, _ = FORMATS[kind]
    exponent = math.frexp(value)[1] if value else least
    return 2.0 ** max(exponent - bits, least)


def to(kind, value):
    """Returns the nearest number of a type, ties to even; `value` is exact."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    exact = fractions.Fraction(value)
    bits, least, _, _ = FORMATS[kind]
    size, two = abs(exact), fractions.Fraction(2)
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - bits
    exponent = max(exponent + (size >= two ** (exponent + bits)), least)
    result = round(size / two ** exponent) * two ** exponent
    sign = -1.0 if exact < 0 or value == 0 and math.copysign(1, value) < 0 else 1.0
    return sign * (float(result) if result <= MOST[kind] else math.inf)


def reals(kind, count, most=2.0):
    return [to(kind, draw.uniform(-most, most)) for _ in range(count)]


MODEL = """
#id = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
!vec = tensor<37x@>
!out = tensor<21x@>
func.func @main(%x: !vec {batch.name = "x"}, %y: !vec {batch.name = "y"},
                %f: @ {batch.name = "f"}, %k: index {batch.name = "k"},
                %n: tensor<37xi64> {batch.name = "n"},
                %d: tensor<37xf64> {batch.name = "d"},
                %b: tensor<13xi8> {batch.name = "b"},
                %m: tensor<37xi1> {batch.name = "m"},
                %W: tensor<21x37x@> {batch.shared = "W"},
                %T: tensor<?x37x@> {batch.shared = "T"},
                %B: tensor<9x13xi8> {batch.shared = "B"},
                %M: tensor<37xi1> {batch.shared = "M"})
    -> (!vec {batch.name = "sums"}, !vec {batch.name = "quotients"},
        !vec {batch.name = "roots"}, !vec {batch.name = "chosen"},
        tensor<37xi1> {batch.name = "less"}, !vec {batch.name = "exp"},
        !vec {batch.name = "tanh"}, !out {batch.name = "Wx"},
        tensor<@> {batch.name = "sum"}, tensor<@> {batch.name = "largest"},
        tensor<i64> {batch.name = "where"}, !vec {batch.name = "row"},
        tensor<37xf64> {batch.name = "wide"}, !vec {batch.name = "narrow"},
        !vec {batch.name = "counted"}, !vec {batch.name = "natural"},
        tensor<37xi32> {batch.name = "whole"}, @ {batch.name = "square"},
        tensor<9xi32> {batch.name = "bytes"}, tensor<37xi1> {batch.name = "bits"})
    attributes {batch.entry} {
  %c = arith.constant dense<[CONSTANT]> : !vec
  %p = arith.addf %x, %y : !vec
  %q = arith.mulf %p, %x : !vec
  %sums = arith.subf %q, %c : !vec
  %quotients = arith.divf %sums, %y : !vec
  %abs = math.absf %sums : !vec
  %roots = math.sqrt %abs : !vec
  %less = arith.cmpf olt, %x, %y : !vec
  %neg = arith.negf %x : !vec
  %max = arith.maximumf %neg, %y : !vec
  %chosen = arith.select %less, %max, %c : tensor<37xi1>, !vec
  %exp = math.exp %x : !vec
  %tanh = math.tanh %x : !vec
  %zero = arith.constant 0.0 : @
  %start = tensor.empty() : !out
  %zeros = linalg.fill ins(%zero : @) outs(%start : !out) -> !out
  %Wx = linalg.matvec ins(%W, %x : tensor<21x37x@>, !vec) outs(%zeros : !out) -> !out
  %e0 = arith.constant dense<0.0> : tensor<@>
  %sum = linalg.reduce ins(%x : !vec) outs(%e0 : tensor<@>) dimensions = [0]
    (%in: @, %acc: @) {
      %s = arith.addf %in, %acc : @
      linalg.yield %s : @
    }
  %least = arith.constant dense<-60000.0> : tensor<@>
  %none = arith.constant dense<-1> : tensor<i64>
  %largest, %where = linalg.generic
      {indexing_maps = [#id, #one, #one], iterator_types = ["reduction"]}
      ins(%x : !vec) outs(%least, %none : tensor<@>, tensor<i64>) {
  ^bb0(%in: @, %best: @, %at: i64):
    %i = linalg.index 0 : index
    %now = arith.index_cast %i : index to i64
    %more = arith.cmpf ogt, %in, %best : @
    %v = arith.select %more, %in, %best : @
    %w = arith.select %more, %now, %at : i64
    linalg.yield %v, %w : @, i64
  } -> (tensor<@>, tensor<i64>)
  %t = tensor.extract_slice %T[%k, 0] [1, 37] [1, 1] : tensor<?x37x@> to !vec
  %row = arith.addf %t, %y : !vec
  %wide = WIDE
  %narrow = NARROW
  %counted = arith.sitofp %n : tensor<37xi64> to !vec
  %natural = arith.uitofp %n : tensor<37xi64> to !vec
  %whole = arith.fptosi %sums : !vec to tensor<37xi32>
  %square = arith.mulf %f, %f : @
  %words = arith.constant dense<1> : tensor<9xi32>
  %bytes = linalg.matvec ins(%B, %b : tensor<9x13xi8>, tensor<13xi8>)
             outs(%words : tensor<9xi32>) -> tensor<9xi32>
  %pattern = arith.constant dense<[PATTERN]> : tensor<37xi1>
  %either = arith.ori %m, %M : tensor<37xi1>
  %bits = arith.xori %either, %pattern : tensor<37xi1>
  return %sums, %quotients, %roots, %chosen, %less, %exp, %tanh, %Wx, %sum, %largest,
         %where, %row, %wide, %narrow, %counted, %natural, %whole, %square, %bytes, %bits
    : !vec, !vec, !vec, !vec, tensor<37xi1>, !vec, !vec, !out, tensor<@>, tensor<@>,
      tensor<i64>, !vec, tensor<37xf64>, !vec, !vec, !vec, tensor<37xi32>, @,
      tensor<9xi32>, tensor<37xi1>
}
"""

# Doubles a row, and adds a parameter, until the sum of the squares of the row is large. The data
# determines the number of rounds. The loop also carries a scalar.
LOOP = """
!vec = tensor<37x@>
func.func @main(%x: !vec {batch.name = "x"}, %f: @ {batch.name = "f"},
                %w: !vec {batch.shared = "w"})
    -> (!vec {batch.name = "y"}, @ {batch.name = "g"}, i64 {batch.name = "steps"})
    attributes {batch.entry} {
  %none = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %limit = arith.constant 100.0 : @
  %third = arith.constant 0.333 : @
  %y, %g, %steps = scf.while (%u = %x, %h = %f, %s = %none)
      : (!vec, @, i64) -> (!vec, @, i64) {
    %zero = arith.constant dense<0.0> : tensor<@>
    %dot = linalg.dot ins(%u, %u : !vec, !vec) outs(%zero : tensor<@>) -> tensor<@>
    %size = tensor.extract %dot[] : tensor<@>
    %c = arith.cmpf olt, %size, %limit : @
    scf.condition(%c) %u, %h, %s : !vec, @, i64
  } do {
  ^bb0(%u: !vec, %h: @, %s: i64):
    %twice = arith.addf %u, %u : !vec
    %v = arith.addf %twice, %w : !vec
    %third1 = arith.mulf %h, %third : @
    %isSmall = arith.cmpf olt, %third1, %third : @
    %i = scf.if %isSmall -> @ {
      %sum = arith.addf %third1, %h : @
      scf.yield %sum : @
    } else {
      %size = math.absf %h : @
      %negated = arith.negf %third1 : @
      %signed = math.copysign %size, %negated : @
      scf.yield %signed : @
    }
    %t = arith.addi %s, %one : i64
    scf.yield %v, %i, %t : !vec, @, i64
  }
  return %y, %g, %steps : !vec, @, i64
}
"""

# Values that are halfway between numbers of f16 or bf16 after rounding to f32 or f64
TIES = [1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-8 + 2.0**-40, 3 + 2.0**-10 - 2.0**-45,
        2.0**-25 + 2.0**-60, -2.0**-134 - 2.0**-180, 65519.999999999, 2.0**-150]
LARGE = [2**62 + 2**54 + 1, -2**62 - 2**54 - 1, 2**40 + 2**32 + 1, 2**53 + 2**45 - 1,
         65519, 2049, 257, -2**63, 2**63 - 1, 2**62 + 2**54]


def write_data(kind):
    file = FORMATS[kind][2]
    data = {"c": reals(kind, N), "pattern": [i % 3 == 0 for i in range(N)], "W": reals(kind, ROWS * N), "T": reals(kind, 5 * N),
            "w": reals(kind, N, 0.5),
            "B": [draw.randrange(-128, 128) for _ in range(9 * 13)],
            "M": [draw.randrange(2) for _ in range(N)]}
    encoded = {name: [batchtest.encode(kind, v) for v in data[name]] for name in "WTw"}
    batchtest.write_safetensors(path("parameters"), {
        "W": (file, [ROWS, N], encoded["W"]), "T": (file, [5, N], encoded["T"]),
        "w": (file, [N], encoded["w"]),
        "B": ("I8", [9, 13], data["B"]), "M": ("BOOL", [N], data["M"])})
    tensors, lines, instances = {}, [], []
    for i in range(COUNT):
        v = {"x": reals(kind, N), "y": [a or 1.0 for a in reals(kind, N)],
             "f": to(kind, draw.uniform(-3, 3)), "k": draw.randrange(5),
             "n": [draw.randrange(-2**63, 2**63) >> draw.randrange(64)
                   for _ in range(N - len(LARGE))] + LARGE,
             "d": [draw.uniform(-4, 4) for _ in range(N - len(TIES))] + TIES,
             "b": [draw.randrange(-128, 128) for _ in range(13)],
             "m": [draw.randrange(2) for _ in range(N)]}
        instances.append(v)
        tensors["%d.x" % i] = (file, [N], [batchtest.encode(kind, a) for a in v["x"]])
        tensors["%d.m" % i] = ("BOOL", [N], v["m"])
        line = dict(v, x={"tensor": "%d.x" % i}, m={"tensor": "%d.m" % i})
        lines.append(line)
    batchtest.write_safetensors(path("tensors"), tensors)
    batchtest.write_lines(path("inputs"), lines)
    batchtest.write_lines(path("loops"), [{"x": l["x"], "f": l["f"]} for l in lines])
    return data, instances


def step(kind, value):
    """Returns the exact result of one op, rounded first to the type in which instructions
    compute, and then to `kind`."""
    return to(kind, to(FORMATS[kind][3], value))


def expected(kind, data, v):
    """Returns {result: (values, tolerance in units of the last place)}."""
    exact = fractions.Fraction
    x, y, c, W = v["x"], v["y"], data["c"], data["W"]

    def op(function, *operands):
        return [step(kind, function(*map(exact, each))) for each in zip(*operands)]

    # In f32 and f64, polynomials and sums have larger errors, because intermediate results have
    # the same precision.
    inexact = 1 if kind in ("f16", "bf16") else 256
    p = op(lambda a, b: a + b, x, y)
    sums = op(lambda a, b: a - b, op(lambda a, b: a * b, p, x), c)
    less = [a < b for a, b in zip(x, y)]
    top = max(x)
    table = data["T"][v["k"] * N:(v["k"] + 1) * N]
    return {
        "sums": (sums, 0), "quotients": (op(lambda a, b: a / b, sums, y), 0),
        "roots": ([step(kind, math.sqrt(abs(a))) for a in sums], 0),
        "chosen": ([max(-a, b) if l else d for l, a, b, d in zip(less, x, y, c)], 0),
        "less": (less, 0),
        "exp": ([math.exp(a) for a in x], inexact),
        "tanh": ([math.tanh(a) for a in x], inexact),
        "Wx": ([float(sum(exact(W[r * N + i]) * exact(x[i]) for i in range(N)))
                for r in range(ROWS)], inexact),
        "sum": ([float(sum(map(exact, x)))], inexact),
        "largest": ([top], 0), "where": ([x.index(top)], 0),
        "row": (op(lambda a, b: a + b, table, y), 0),
        "wide": (x, 0), "narrow": ([to(kind, a) for a in v["d"]], 0),
        "counted": ([to(kind, a) for a in v["n"]], 0),
        "natural": ([to(kind, a % 2**64) for a in v["n"]], 0),
        "whole": ([int(a) for a in sums], 0),
        "square": ([step(kind, exact(v["f"]) ** 2)], 0),
        "bytes": ([1 + sum(data["B"][r * 13 + i] * v["b"][i] for i in range(13))
                   for r in range(9)], 0),
        "bits": ([bool(a or b) != c for a, b, c in zip(v["m"], data["M"], data["pattern"])], 0),
    }


def loop(kind, data, v):
    """Returns the results of LOOP, and whether the order of a sum may change the number
    of steps."""
    exact, x, f, steps, doubtful = fractions.Fraction, v["x"], v["f"], 0, False
    third = to(kind, 0.333)
    while True:
        size = to(kind, float(sum(exact(a) ** 2 for a in x)))
        doubtful |= abs(size - 100) <= 4 * unit(kind, 100.0)
        if not size < 100:
            break
        x = [step(kind, exact(step(kind, 2 * exact(a))) + exact(w))
             for a, w in zip(x, data["w"])]
        product = step(kind, exact(f) * exact(third))
        f = step(kind, exact(product) + exact(f)) if product < third else -abs(f)
        steps += 1
    return {"y": (x, 0), "g": ([f], 0), "steps": ([steps], 0)}, doubtful


FILE_TYPES = {"less": "BOOL", "where": "I64", "wide": "F64", "whole": "I32",
              "bytes": "I32", "bits": "BOOL", "steps": "I64"}


def compare(what, kind, outputs, wanted):
    """Compares outputs with `wanted`, which has the results of each instance. None means that all
    results of an instance are valid."""
    some = next(each for each in wanted if each)
    checks.equal("%s: results" % what, sorted(outputs), sorted(some))
    for name in some:
        dtype, _, values = outputs[name]
        checks.equal("%s: type of %s" % (what, name), dtype,
                     FILE_TYPES.get(name, FORMATS[kind][2]))
        own = name not in FILE_TYPES
        values = [batchtest.decode(kind, e) if own else e for e in values]
        size, wrong = len(some[name][0]), []
        for i, each in enumerate(wanted):
            if not each:
                continue
            right, units = each[name]
            found = values[i * size:(i + 1) * size]
            for e, (f, r) in enumerate(zip(found, right)):
                # If terms cancel, the error of a sum is relative to the terms.
                most = units * max(unit(kind, r), unit(kind, 1.0) / 8) if units else 0
                if not (f == r or abs(f - r) <= most):
                    wrong.append((i, e, f, r))
        checks.expect("%s: %s" % (what, name),
                      len(values) == COUNT * size and not wrong, wrong[:3])


def run(program, inputs, batch, threads, *more):
    out = path("outputs")
    batchtest.run_model(program, path(inputs), "--input-tensors=" + path("tensors"),
                        "--outputs=" + out, *more, params=path("parameters"),
                        batch=batch, threads=threads, check=not more)
    return batchtest.contents(out)


def check_symbols(what, program):
    """Checks that each undefined symbol of the object is one of the C math library."""
    nm = shutil.which("llvm-nm") or "nm"
    found = subprocess.run([nm, "-D", "--undefined-only", program],
                           stdout=subprocess.PIPE, check=True).stdout.decode()
    names = {line.split()[-1].split("@")[0] for line in found.splitlines()}
    checks.expect("%s: symbols" % what, names <= ALLOWED, sorted(names - ALLOWED))


def compiled(what, source, strategy, *options):
    return checks.run("%s: compile" % what, lambda: batchtest.compile_model(
        source, path("program.so"), None, "--strategy=" + strategy, *options))


def ran(what, program, *arguments):
    return checks.run("%s: run" % what, lambda: run(program, *arguments))


def check_program(what, kind, source, inputs, wanted, strategy):
    """Checks that runs on the CPU return correct results, with the same bits for any mini-batch
    and number of threads."""
    program = compiled(what, source, strategy)
    first = program and ran(what, program, inputs, COUNT, 1)
    if not first:
        return
    compare(what, kind, batchtest.read_safetensors(path("outputs")), wanted)
    check_symbols(what, program)
    for batch, threads in [(1, 1), (7, 1), (7, 2), (COUNT, 2)]:
        checks.equal("%s: same bits, batches of %d on %d threads" % (what, batch, threads),
                     ran(what, program, inputs, batch, threads) == first, True)
    if platform.machine() == "x86_64" and not quick:
        what += " with AVX2"
        program = compiled(what, source, strategy, "--cpu=x86-64-v3")
        if program and ran(what, program, inputs, 9, 2):
            check_symbols(what, program)
            compare(what, kind, batchtest.read_safetensors(path("outputs")), wanted)


def check_emulator(what, kind, source, inputs, wanted, strategy):
    """Checks that a mini-batch and single instances return correct results with the same bits."""
    what += " on the emulator"
    program = compiled(what, source, strategy, "--device=emulator")
    # The emulator computes sums in a different order.
    more = ["--check-unbatched=%g" % (8 * unit(kind, 1.0)), "--blocks=4"]
    one = program and ran(what, program, inputs, 1, 1, *more)
    if one:
        compare(what, kind, batchtest.read_safetensors(path("outputs")), wanted)
        checks.equal("%s: same bits together" % what,
                     ran(what, program, inputs, COUNT, 1, *more) == one, True)


def write_source(name, kind, text, data):
    """Writes a program of a type and returns its path. A constant with equal elements
    is written as a splat."""
    def dense(values):
        return values[0] if len(set(values)) == 1 else "[%s]" % ", ".join(values)

    names = {"[CONSTANT]": dense(["%.24e" % c for c in data["c"]]),
             "[PATTERN]": dense([str(p).lower() for p in data["pattern"]]),
             "WIDE": "arith.extf %x : !vec to tensor<37xf64>",
             "NARROW": "arith.truncf %d : tensor<37xf64> to !vec",
             "@main": "<main>", "@": kind, "<main>": "@main"}
    if kind == "f64":
        names.update(WIDE="arith.maximumf %x, %x : !vec",
                     NARROW="arith.maximumf %d, %d : !vec")
    for key, value in names.items():
        text = text.replace(key, value)
    source = path("%s_%s.mlir" % (name, kind))
    with open(source, "w") as file:
        file.write(text)
    return source


def check(kind):
    data, instances = write_data(kind)
    model = write_source("model", kind, MODEL, data)
    repeat = write_source("loop", kind, LOOP, data)
    check_program(kind, kind, model, "inputs",
                  [expected(kind, data, v) for v in instances], "linearize")
    loops = [loop(kind, data, v) for v in instances]
    sure = [None if doubtful else result for result, doubtful in loops]
    checks.expect("%s: most loops have a certain end" % kind,
                  sum(map(bool, sure)) > COUNT / 2)
    looped = kind + " in lock step"
    check_program(looped, kind, repeat, "loops", sure, "lockstep")
    if not quick:
        # The emulator does not support constants with different elements.
        data.update(c=data["c"][:1] * N, pattern=[True] * N)
        check_emulator(kind, kind, write_source("splat", kind, MODEL, data), "inputs",
                       [expected(kind, data, v) for v in instances], "linearize")
        check_emulator(looped, kind, repeat, "loops", sure, "lockstep")
    # Random data of all these types, compared with unbatched runs
    for source in (model, repeat):
        program = checks.run("%s: compile for random data" % kind, lambda:
                             batchtest.compile_model(source, path("random.so")))
        for batch in (2, 9) if program else ():
            checks.run("%s: random data" % kind, lambda: batchtest.run_model(
                program, "random:1,9", params="random:1", batch=batch))


quick = "--quick" in sys.argv[1:]
for each in ["f16", "bf16"] if quick else FORMATS:
    check(each)
checks.exit()
