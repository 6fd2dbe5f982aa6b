#!/usr/bin/env python3
"""check_types.py: tests kernels that compute with f64 and integers of all widths, with
scalars of instances and of parameters, and the types of results.

Results are compared with those of Python: integers and single operations to the bit, sums
of products within rounding. Batched and unbatched results agree to the bit, for any mini-batch
and number of threads, and on the emulator.
"""

import os
import platform
import random

import batchtest

MODEL = os.path.join(batchtest.ROOT, "test", "Integration", "CPU", "Inputs",
                     "element_types.mlir")
COUNT = 31
LEAST = -2**63

checks = batchtest.Checks("element types")
path = batchtest.temporary_paths()
draw = random.Random(3)


def signed(value, bits=64):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def reals(count):
    return [draw.uniform(-2, 2) for _ in range(count)]


# Parameters in f32 and i32 are widened exactly.
W = [batchtest.narrow(v) for v in reals(37 * 21)]
C, D = batchtest.narrow(0.3), [7, -5, 11]
batchtest.write_safetensors(path("parameters"), {
    "W": ("F32", [37, 21], W), "C": ("F32", [], [C]), "D": ("I32", [3], D)})

tensors, lines, instances = {}, [], []
for i in range(COUNT):
    instance = {
        "x": [batchtest.narrow(v) for v in reals(21)], "y": reals(37), "a": reals(35),
        "b": reals(63), "s": reals(1),
        "n": [draw.randrange(-2**63, 2**63) for _ in range(9)] + [LEAST, 5],
        "w": [draw.randrange(-2**31, 2**31) for _ in range(8)] + [0, -1, 0]}
    scalars = {"p": draw.random() < 0.5, "k": draw.randrange(-2**63, 2**63),
               "j": draw.randrange(-2**31, 2**31), "f": draw.uniform(-3, 3)}
    line = dict(scalars)
    for name, dtype, shape in [
            ("x", "F32", [21]), ("y", "F64", [37]), ("a", "F64", [5, 7]),
            ("b", "F64", [7, 9]), ("s", "F64", []), ("n", "I64", [11]),
            ("w", "I32", [11])]:
        tensors["%d.%s" % (i, name)] = (dtype, shape, instance[name])
        line[name] = {"tensor": "%d.%s" % (i, name)}
    instance.update(scalars)
    instances.append(instance)
    lines.append(line)
batchtest.write_safetensors(path("tensors"), tensors)
batchtest.write_lines(path("inputs"), lines)


def quotient(n, d):
    """Divides like the processor, which rounds toward zero."""
    q = abs(n) // abs(d)
    return q if (n < 0) == (d < 0) else -q


def expected(v):
    """Returns {result: (values, tolerance)}, in which None permits any value."""
    x, y, w, n = v["x"], v["y"], v["w"], v["n"]
    wx = [sum(W[r * 21 + c] * x[c] for c in range(21)) for r in range(37)]
    products = [m * 0x9e3779b97f4a7c15 % 2**64 for m in n]
    mixed = [p ^ (p >> 32 | p << 32 & 2**64 - 1) for p in products]
    undefined = [d == 0 or (m == LEAST and d == -1) for m, d in zip(n, w)]
    pairs = [(m, d & 2**32 - 1) for m, d in zip(n, w)]
    chosen = [min(m, d) if v["p"] else signed(max(m & 2**64 - 1, d))
              for m, d in pairs]
    less = [m < d for m, d in pairs]
    looped = v["s"][0]
    for _ in range(4):
        looped *= looped
    return {
        "wx": (wx, 1e-13),
        "yw": ([sum(y[r] * W[r * 21 + c] for r in range(37)) for c in range(21)],
               1e-13),
        "dot": ([sum(p * q for p, q in zip(wx, y))], 1e-13),
        "ab": ([sum(v["a"][r * 7 + k] * v["b"][k * 9 + c] for k in range(7))
                for r in range(5) for c in range(9)], 1e-13),
        "mixed": ([signed(m) for m in mixed], 0),
        "uniform": ([(m >> 11) * 2.0**-53 for m in mixed], 0),
        "quotient": ([None if u else quotient(m, d)
                      for m, d, u in zip(n, w, undefined)], 0),
        "rest": ([None if u else m - quotient(m, d) * d
                  for m, d, u in zip(n, w, undefined)], 0),
        "unsigned": ([None if d == 0 else
                      signed((m & 2**32 - 1) // (d & 2**32 - 1), 32)
                      for m, d in zip(n, w)], 0),
        "less": (less, 0),
        "narrow": ([signed(c, 32) for c in chosen], 0),
        "sum": ([signed(sum(chosen))], 0),
        "all": ([all(less)], 0),
        "real": ([(x[2] + v["s"][0]) * v["f"] * C], 0),
        "word": ([signed(D[2] + v["k"] + v["j"], 32)], 0),
        "line": ([signed(i * v["k"] + D[2]) for i in range(11)], 0),
        "looped": ([looped], 0),
        "where": ([signed(D[2] + v["k"])], 0),
        "k2": ([signed(v["k"] ** 2)], 0),
        "j2": ([signed(v["j"] ** 2, 32)], 0),
        "f2": ([v["f"] * v["f"]], 0),
        "positive": ([v["f"] > 0], 0),
    }


TYPES = {"mixed": "I64", "quotient": "I64", "rest": "I64", "unsigned": "I32",
         "less": "BOOL", "narrow": "I32", "sum": "I64", "all": "BOOL",
         "word": "I32", "line": "I64", "where": "I64", "k2": "I64", "j2": "I32",
         "positive": "BOOL"}


def compare(outputs):
    wanted = [expected(instance) for instance in instances]
    checks.equal("results", sorted(outputs), sorted(wanted[0]))
    for name in wanted[0]:
        dtype, shape, values = outputs[name]
        checks.equal("type of " + name, dtype, TYPES.get(name, "F64"))
        size = len(wanted[0][name][0])
        wrong = []
        for i in range(COUNT):
            right, tolerance = wanted[i][name]
            found = values[i * size:(i + 1) * size]
            wrong += [(i, e, f, r) for e, (f, r) in enumerate(zip(found, right))
                      if r is not None and abs(f - r) > tolerance * (1 + abs(r))]
        checks.expect(name, len(values) == COUNT * size and not wrong, wrong[:3])


def run(program, batch, threads, *more):
    out = path("outputs")
    batchtest.run_model(
        program, path("inputs"), "--input-tensors=" + path("tensors"),
        "--outputs=" + out, *more, params=path("parameters"), batch=batch,
        threads=threads, check=not more)
    return batchtest.contents(out)


program = checks.run("compile", lambda: batchtest.compile_model(
    MODEL, path("model.so"), None, "--strategy=linearize"))
if program:
    first = checks.run("all at once", lambda: run(program, COUNT, 1))
    if first:
        compare(batchtest.read_safetensors(path("outputs")))
    for batch, threads in [(1, 1), (7, 1), (COUNT, 2), (5, 2)]:
        checks.equal("same bits, batches of %d on %d threads" % (batch, threads),
                     checks.run("run", lambda: run(program, batch, threads)), first)
if platform.machine() == "x86_64":
    narrower = checks.run("compile for AVX2", lambda: batchtest.compile_model(
        MODEL, path("narrower.so"), None, "--strategy=linearize",
        "--cpu=x86-64-v3"))
    if narrower and checks.run("vectors of four", lambda: run(narrower, 9, 2)):
        compare(batchtest.read_safetensors(path("outputs")))
emulated = checks.run("compile for the emulator", lambda: batchtest.compile_model(
    MODEL, path("emulated.so"), None, "--strategy=linearize", "--device=emulator"))
if emulated:
    one = checks.run("one by one", lambda: run(
        emulated, 1, 1, "--check-unbatched=1e-13", "--blocks=8"))
    compare(batchtest.read_safetensors(path("outputs")))
    checks.equal("same bits together",
                 checks.run("run", lambda: run(emulated, COUNT, 1,
                                               "--check-unbatched=1e-13",
                                               "--blocks=8")), one)

# The order in which a reduction adds does not depend on the other computations in its kernel.
# Here, a sum of products of f32 is next to f64 code, which halves the lanes of all vectors.
DOT = """
#v = affine_map<(i) -> (i)>
#s = affine_map<(i) -> ()>
func.func @main(%%x: tensor<%(n)dxf32> {batch.name = "x"})
    -> (tensor<f32> {batch.name = "dot"}%(results)s) attributes {batch.entry} {
  %%zero = arith.constant 0.0 : f32
  %%e = tensor.empty() : tensor<f32>
  %%s = linalg.fill ins(%%zero : f32) outs(%%e : tensor<f32>) -> tensor<f32>
  %%dot = linalg.dot ins(%%x, %%x : tensor<%(n)dxf32>, tensor<%(n)dxf32>)
           outs(%%s : tensor<f32>) -> tensor<f32>
  %(code)s
}
"""
WIDE = """%%wide = arith.extf %%x : tensor<%(n)dxf32> to tensor<%(n)dxf64>
  return %%dot, %%wide : tensor<f32>, tensor<%(n)dxf64>"""
for n in (20, 77):
    found = []
    for name, results, code in [
            ("dot", "", "return %dot : tensor<f32>"),
            ("wide", ', tensor<%dxf64> {batch.name = "wide"}' % n,
             WIDE % {"n": n})]:
        source = path("%s%d.mlir" % (name, n))
        with open(source, "w") as file:
            file.write(DOT % {"n": n, "results": results, "code": code})
        out = path(name)
        made = checks.run("%s, %d elements" % (name, n), lambda: batchtest.run_model(
            batchtest.compile_model(source, path(name + ".so")), "random:4,9",
            "--outputs=" + out, batch=4))
        found.append(made and batchtest.read_safetensors(out)["dot"])
    checks.equal("same bits with and without f64, %d elements" % n, *found)
checks.exit()
