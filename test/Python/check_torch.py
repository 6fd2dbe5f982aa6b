#!/usr/bin/env python3
"""check_torch.py: PyTorch's tensors go in as arguments, parameters and lists of rows, and
outputs become PyTorch's, in place.

Runs in an environment that has the package and PyTorch.
"""

import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import torch  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("PyTorch in and out")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")

import batch  # noqa: E402

refused = checks.refused
torch.manual_seed(0)

# Rows of a list are added up, times a parameter, plus a vector.
MODEL = """
!vec = tensor<4x$T>
func.func @main(%rows: tensor<?x4x$T> {batch.name = "rows"}, %x: !vec {batch.name = "x"},
                %n: i64 {batch.name = "n"}, %w: !vec {batch.shared = "w"})
    -> (!vec {batch.name = "y"}, i64 {batch.name = "m"}) attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : !vec
  %sum = linalg.reduce ins(%rows : tensor<?x4x$T>) outs(%zero : !vec) dimensions = [0]
      (%a: $T, %b: $T) { %s = arith.addf %a, %b : $T linalg.yield %s : $T }
  %v = arith.mulf %sum, %w : !vec
  %y = arith.addf %v, %x : !vec
  %m = arith.addi %n, %n : i64
  return %y, %m : !vec, i64
}
"""
lengths = [3, 1, 5]
# Small integers: sums are exact in every type.
for name, dtype in ("f32", torch.float32), ("f64", torch.float64), \
        ("f16", torch.float16), ("bf16", torch.bfloat16):
    model = batch.compile(MODEL.replace("$T", name))
    rows = [torch.randint(-4, 5, (n, 4)).to(dtype) for n in lengths]
    x = torch.randint(-9, 9, (4, 3)).to(dtype).T  # strided
    n = torch.tensor([1, -2, 3])
    w = torch.tensor([1, 2, -1, 0.5]).to(dtype)
    f = model.bind({"w": w}, threads=2)
    w += 1  # it has been copied
    outputs = f(rows, x, n)
    y = torch.from_dlpack(outputs["y"])
    wanted = torch.stack([r.sum(0) for r in rows]) * (w - 1) + x
    checks.expect(name + ": arguments, a list and a parameter",
                  y.dtype == dtype and torch.equal(y, wanted), y)
    checks.expect(name + ": integers",
                  torch.equal(torch.from_dlpack(outputs["m"]), 2 * n), outputs["m"])
    again = f(batch.Ragged(torch.cat(rows), [0, 3, 4, 9]), x.contiguous(), n)
    checks.expect(name + ": a Ragged", torch.equal(torch.from_dlpack(again["y"]), wanted))
    kept = torch.from_dlpack(f(rows, x, n)["y"])
    f(rows, -x, n)
    checks.expect(name + ": outputs live as long as their tensors",
                  torch.equal(kept, wanted), kept)
    if dtype != torch.bfloat16:
        kept += 1
        checks.equal(name + ": outputs are read in place",
                     torch.from_dlpack(outputs["y"]).data_ptr(),
                     outputs["y"].__array_interface__["data"][0])

# What does not fit is an error that names it.
w = torch.ones(4)
model = batch.compile(MODEL.replace("$T", "f32"))
f = model.bind({"w": w})
rows, x, n = [torch.ones(2, 4)], torch.ones(1, 4), torch.ones(1, dtype=torch.int64)
for what, error, text, action in [
        ("another type", ValueError, "'x' has elements of type f64",
         lambda: f(rows, x.double(), n)),
        ("another shape", ValueError, "'x'", lambda: f(rows, x[:, :3], n)),
        ("a tensor that needs a gradient", TypeError, "argument 'x' needs a gradient",
         lambda: f(rows, x.clone().requires_grad_(), n)),
        ("rows that need a gradient", TypeError, "argument 'rows' needs a gradient",
         lambda: f([rows[0].clone().requires_grad_()], x, n)),
        ("a tensor without memory", TypeError, "'x'",
         lambda: f(rows, torch.ones(1, 4, device="meta"), n)),
        ("a parameter that needs a gradient", TypeError, "parameter 'w' needs a gradient",
         lambda: model.bind({"w": torch.nn.Parameter(w)})),
        ("a sparse tensor", TypeError, "'x'", lambda: f(rows, x.to_sparse(), n)),
        ("complex numbers", TypeError, "elements are bool",
         lambda: f(rows, x.to(torch.complex64), n)),
        ("a tensor in the place of JAX's arrays", TypeError, "give numpy.asarray(x)",
         lambda: batch.vmap(abs)(x)),
        ("one that needs a gradient", TypeError, "give numpy.asarray(x.detach()); its gradient",
         lambda: batch.vmap(abs)(x.clone().requires_grad_())),
]:
    refused(what, error, text, action)
checks.expect("a call after that", torch.equal(torch.from_dlpack(f(rows, x, n)["y"]),
                                               torch.full((1, 4), 3.0)))

# Its threads and ours take turns.
big = torch.ones(256, 256)
right = [bool((big @ big == 256).all()) and torch.equal(
    torch.from_dlpack(f(rows, x, n)["y"]), torch.full((1, 4), 3.0)) for _ in range(20)]
checks.equal("in turns with PyTorch's own products", right, [True] * 20)

checks.exit()
