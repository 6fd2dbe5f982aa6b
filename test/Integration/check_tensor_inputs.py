#!/usr/bin/env python3
"""check_tensor_inputs.py: tests tensors in JSON lines, of each rank and element type.

A model for each element type doubles tensors of rank 0 to 4. Nested arrays give the same
bytes as the same tensors in a safetensors file, and those of Python: batched, unbatched,
in lock step and on the emulator. Tensors are also fields of nodes, and an argument may
have any number of rows.
"""

import random

import batchtest

SHAPES = [[], [5], [3, 7], [2, 3, 4], [2, 1, 3, 5]]
COUNT = 13
LIMITS = {"i8": 2**6, "i16": 2**14, "i32": 2**30, "i64": 2**62}
FILE_TYPES = {"i1": "BOOL", "index": "I64"}

checks = batchtest.Checks("tensors as nested arrays")
path = batchtest.temporary_paths()
draw = random.Random(11)


def element(dtype):
    """Returns a number of the type; two times this number is also a number of the type."""
    if dtype == "i1":
        return draw.random() < 0.5
    if dtype == "index":
        return draw.randrange(1000)
    if dtype in LIMITS:
        return draw.randrange(-LIMITS[dtype], LIMITS[dtype])
    if dtype == "f64":
        return draw.uniform(-2, 2)
    return (batchtest.narrow(draw.uniform(-2, 2)) if dtype == "f32"
            else draw.randrange(-64, 64) / 64)


def nested(values, shape):
    if not shape:
        return values[0]
    part = size(shape[1:])
    return [nested(values[i * part:(i + 1) * part], shape[1:])
            for i in range(shape[0])]


def size(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def tensor_type(shape, dtype):
    return "tensor<%s%s>" % ("".join("%dx" % extent for extent in shape), dtype)


def source(dtype):
    types = [tensor_type(shape, dtype) for shape in SHAPES]
    add = ("arith.xori" if dtype == "i1" else
           "arith.addf" if "f" in dtype else "arith.addi")
    lines = ["func.func @main(" + ", ".join(
        '%%x%d: %s {batch.name = "x%d"}' % (i, t, i) for i, t in enumerate(types))]
    lines.append("    ) -> (" + ", ".join(
        '%s {batch.name = "y%d"}' % (t, i) for i, t in enumerate(types)) +
        ") attributes {batch.entry} {")
    for i, t in enumerate(types):
        lines.append("  %%y%d = %s %%x%d, %%x%d : %s" % (i, add, i, i, t))
    lines.append("  return " + ", ".join("%%y%d" % i for i in range(len(types))) +
                 " : " + ", ".join(types))
    return "\n".join(lines) + "\n}\n"


def stored(values, dtype):
    """Returns numbers in the encoding of safetensors files."""
    return [batchtest.encode(dtype, value) for value in values]


def twice(value, dtype):
    return False if dtype == "i1" else 2 * value


def check_type(dtype):
    model = path(dtype + ".mlir")
    with open(model, "w") as file:
        file.write(source(dtype))
    lines, named, tensors, wanted = [], [], {}, [[] for _ in SHAPES]
    for i in range(COUNT):
        values = [[element(dtype) for _ in range(size(shape))] for shape in SHAPES]
        lines.append({"x%d" % n: nested(v, shape)
                      for n, (v, shape) in enumerate(zip(values, SHAPES))})
        named.append({"x%d" % n: {"tensor": "%d.%d" % (i, n)}
                      for n in range(len(SHAPES))})
        for n, (v, shape) in enumerate(zip(values, SHAPES)):
            tensors["%d.%d" % (i, n)] = (
                FILE_TYPES.get(dtype, dtype.upper()), shape, stored(v, dtype))
            wanted[n] += stored([twice(value, dtype) for value in v], dtype)
    batchtest.write_lines(path("lines"), lines)
    batchtest.write_lines(path("named"), named)
    batchtest.write_safetensors(path("tensors"), tensors)

    def run(program, *options, inputs="lines"):
        out = path("outputs")
        found = checks.run(
            " ".join([dtype, inputs] + list(options)),
            lambda: batchtest.call("batch-run", program, "--inputs=" + path(inputs),
                                   "--outputs=" + out, *options))
        if found is None:
            return None
        return batchtest.contents(out)

    program = checks.run("compile " + dtype, lambda: batchtest.compile_model(
        model, path(dtype + ".so"), None, "--strategy=linearize"))
    if not program:
        return
    first = run(program, "--check-unbatched")
    if first:
        outputs = batchtest.read_safetensors(path("outputs"))
        for n, shape in enumerate(SHAPES):
            _, found, values = outputs["y%d" % n]
            checks.equal("shape of %s" % tensor_type(shape, dtype), list(found),
                         [COUNT] + shape)
            checks.equal("values of %s" % tensor_type(shape, dtype), list(values),
                         wanted[n])
        checks.equal("same bytes from a file", run(
            program, "--input-tensors=" + path("tensors"), inputs="named"), first)
    checks.equal("same bytes unbatched", run(program, "--unbatched"), first)
    checks.equal("same bytes in batches", run(program, "--batch=4", "--threads=2"),
                 first)
    ways = [["--device=emulator"]]
    if dtype not in ("f16", "bf16"):  # lanes keep no values of these types
        ways.append(["--strategy=lockstep"])
    for options in ways:
        other = checks.run("compile %s %s" % (dtype, options[0]),
                           lambda: batchtest.compile_model(
                               model, path("other.so"), None, *options))
        if other:
            checks.equal("same bytes with " + options[0], run(other), first)


NODES = """
!tree = !rec.adt<@Tree>
!row = tensor<3xf32>
rec.adt @Tree {
  rec.variant @leaf(x: tensor<2x3xf32>)
  rec.variant @node(bias: tensor<f32>, kids: !rec.list<!tree>, more: !rec.list<!row>)
}
func.func private @add(%rows: tensor<?x3xf32>) -> !row {
  %zero = arith.constant dense<0.0> : !row
  %sum = linalg.reduce { arith.addf } ins(%rows : tensor<?x3xf32>) outs(%zero : !row)
      dimensions = [0]
  return %sum : !row
}
func.func @sum(%t: !tree) -> !row {
  %h = rec.match %t : !tree -> !row {
  case @leaf(%x: tensor<2x3xf32>) {
    %zero = arith.constant dense<0.0> : !row
    %y = linalg.reduce { arith.addf } ins(%x : tensor<2x3xf32>) outs(%zero : !row)
        dimensions = [0]
    rec.yield %y : !row
  }
  case @node(%bias: tensor<f32>, %kids: !rec.list<!tree>, %more: !rec.list<!row>) {
    %hs = rec.map (%kid: !tree) in (%kids) : !rec.list<!tree> -> tensor<?x3xf32> {
      %hk = func.call @sum(%kid) : (!tree) -> !row
      rec.yield %hk : !row
    }
    %s = func.call @add(%hs) : (tensor<?x3xf32>) -> !row
    %ms = rec.map (%m: !row) in (%more) : !rec.list<!row> -> tensor<?x3xf32> {
      %m2 = arith.addf %m, %m : !row
      rec.yield %m2 : !row
    }
    %a = func.call @add(%ms) : (tensor<?x3xf32>) -> !row
    %b = tensor.extract %bias[] : tensor<f32>
    %v = tensor.splat %b : !row
    %y = arith.addf %s, %v : !row
    %z = arith.addf %y, %a : !row
    rec.yield %z : !row
  } }
  return %h : !row
}
func.func @main(%t: !tree {batch.name = "t"}, %rows: tensor<?x3xf32> {batch.name = "rows"})
    -> (!row {batch.name = "y"}) attributes {batch.entry} {
  %h = func.call @sum(%t) : (!tree) -> !row
  %r = func.call @add(%rows) : (tensor<?x3xf32>) -> !row
  %y = arith.addf %h, %r : !row
  return %y : !row
}
"""


def check_nodes():
    """Tests tensors in nodes and lists. Sums of eighths are exact in any order."""
    def eighths(*shape):
        return nested([draw.randrange(-64, 64) / 8 for _ in range(size(shape))],
                      list(shape))

    def tree(depth):
        if depth == 0 or draw.random() < 0.3:
            return ["leaf", eighths(2, 3)]
        return ["node", eighths(), [tree(depth - 1) for _ in range(draw.randrange(4))],
                eighths(draw.randrange(3), 3)]

    def total(tree):
        rows = ([[tree[1]] * 3] + [total(kid) for kid in tree[2]] + 2 * tree[3]
                if tree[0] == "node" else tree[1])
        return add(rows)

    def add(rows):
        return [sum(row[i] for row in rows) for i in range(3)]

    with open(path("nodes.mlir"), "w") as file:
        file.write(NODES)
    instances = [{"t": tree(3), "rows": eighths(draw.randrange(5), 3)}
                 for _ in range(40)]
    batchtest.write_lines(path("nodes"), instances)
    program = checks.run("compile nodes", lambda: batchtest.compile_model(
        path("nodes.mlir"), path("nodes.so")))
    if not program:
        return
    for batch in (40, 7):
        checks.run("nodes, batch %d" % batch, lambda: batchtest.run_model(
            program, path("nodes"), "--outputs=" + path("outputs"), batch=batch))
        found = batchtest.rows(batchtest.read_safetensors(path("outputs"))["y"])
        checks.equal("sums, batch %d" % batch, [list(row) for row in found],
                     [add([total(i["t"])] + i["rows"]) for i in instances])


for name in ("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64"):
    check_type(name)
check_nodes()
checks.exit()
