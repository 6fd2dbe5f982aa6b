"""The command batch-import, and modules that its tests import."""

import contextlib
import io
import os
import subprocess
import typing

import batchtest
import jax.numpy as jnp
import numpy
from jax import lax

from batch.cli import import_model

# torch.nn.LSTMCell(4, 4), written by torch-mlir.
CELL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                    "inputs", "lstm_cell.mlir")
# A module with comments, strings and attributes in unusual places.
MODULE = """// A module. func.func @no(
#map = affine_map<(d0) -> (d0)>
module @named attributes {torch.debug = "a \\" } func.func @no(", x.keep} {
  func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = arith.addf %x, %x : tensor<4xf32> // )
    return %y : tensor<4xf32>
  }
  func.func public @"two words"(%x: tensor<4xf32> {jax.buffer = 1 : i64,
        batch.name = "in"},
      // Between lines (
      %w: tensor<4xf32>) -> tensor<4xf32> attributes {llvm.x = {a = "}"}} {
    %y = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = arith.mulf %y, %w : tensor<4xf32>
    return %z : tensor<4xf32>
  }
}
"""
# The same module with attributes that batch-opt accepts.
PLAIN = MODULE.replace("llvm.x", "x").replace("jax.buffer = 1 : i64,", "").replace(
    'torch.debug = "a \\" } func.func @no(", x.keep', "")

_rng = numpy.random.default_rng(3)


def normal(*shape):
    return _rng.normal(size=shape).astype(numpy.float32)


# Arguments of functions f(W, x, n) for five instances.
W, V = normal(4, 4) / 3, normal(4, 4)
XS, NS = normal(5, 4), numpy.array([3, 0, 7, 1, 5], numpy.int32)


def looping(W, x, n):
    return lax.while_loop(lambda s: s[1] < n, lambda s: (jnp.tanh(W @ s[0]) + x, s[1] + 1),
                          (x, jnp.int32(0)))


def nested(W, x, n):
    def outer(s):
        y, _ = lax.while_loop(lambda t: t[1] < s[1] % 3,
                              lambda t: (jnp.sin(t[0]) @ W, t[1] + 1), (s[0], jnp.int32(0)))
        return lax.cond(y[0] > 0, lambda: y * 0.5, lambda: y + W[0]), s[1] + 1
    return lax.while_loop(lambda s: s[1] < n, outer, (x, jnp.int32(0)))[0]


class Result(typing.NamedTuple):
    code: int
    output: str
    errors: str


def batch_import(*arguments):
    """Runs the command in this process; returns its exit status and what it printed."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            code = import_model.main([str(a) for a in arguments])
        except SystemExit as error:  # argparse raises it
            code = error.code
    return Result(code, output.getvalue(), errors.getvalue())


def batch_opt(text, *options):
    """Returns the output of batch-opt for a module."""
    return subprocess.run([batchtest.tool("batch-opt"), "-", *options], input=text.encode(),
                          stdout=subprocess.PIPE, check=True).stdout
