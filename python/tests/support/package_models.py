"""Models for tests of the Python package: a loop, a parser of sentences, an encoder of trees."""

import json

import batchtest
import numpy

import batch
from support.oracle import oracle

# Adds 1 + sin(y W)^2 to a matrix until its first element reaches a limit.
LOOP = """
module {
  func.func @main(%x: tensor<2x5xf32> {batch.name = "x"}, %limit: f32 {batch.name = "limit"},
                  %W: tensor<5x5xf32> {batch.shared = "W"})
      -> (tensor<2x5xf32> {batch.name = "y"}, i32 {batch.name = "rounds"})
      attributes {batch.entry} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %step = arith.constant dense<1.0> : tensor<2x5xf32>
    %none = arith.constant dense<0.0> : tensor<2x5xf32>
    %y, %rounds = scf.while (%now = %x, %count = %zero)
        : (tensor<2x5xf32>, i32) -> (tensor<2x5xf32>, i32) {
      %first = tensor.extract %now[%c0, %c0] : tensor<2x5xf32>
      %less = arith.cmpf olt, %first, %limit : f32
      scf.condition(%less) %now, %count : tensor<2x5xf32>, i32
    } do {
    ^bb0(%now: tensor<2x5xf32>, %count: i32):
      %p = linalg.matmul ins(%now, %W : tensor<2x5xf32>, tensor<5x5xf32>)
                         outs(%none : tensor<2x5xf32>) -> tensor<2x5xf32>
      %s = math.sin %p : tensor<2x5xf32>
      %a = arith.addf %now, %step : tensor<2x5xf32>
      %m = arith.mulf %s, %s : tensor<2x5xf32>
      %b = arith.addf %a, %m : tensor<2x5xf32>
      %more = arith.addi %count, %one : i32
      scf.yield %b, %more : tensor<2x5xf32>, i32
    }
    return %y, %rounds : tensor<2x5xf32>, i32
  }
}
"""
PARSER = batchtest.model("stackrnn")
PARSER_SIZES = {"H": 16, "ACTIONS": 5}
WORDS = 200
ENCODER = batchtest.model("treelstm_nary")
ENCODER_SIZES = {"H": 16}

_rng = numpy.random.default_rng(5)


def _fractions(shape, divisor):
    """Returns random multiples of 1 / divisor."""
    return _rng.integers(-64, 64, shape).astype(numpy.float32) / divisor


def _random_tree(size):
    if size == 1:
        return ("leaf", int(_rng.integers(0, 100)))
    left = int(_rng.integers(1, size))
    return ("node", _random_tree(left), _random_tree(size - left))


# Arguments of the loop for nine instances, and the loop's parameter.
N = 9
X = _fractions((N, 2, 5), 64)
LIMIT = _rng.integers(-2, 6, N).astype(numpy.float32)
W = _fractions((5, 5), 512)
# Limits. Instance 4 never reaches its limit.
ENDLESS = numpy.where(numpy.arange(N) == 4, numpy.float32(1e30), LIMIT)

SENTENCES = [_rng.integers(0, WORDS, _rng.integers(1, 9)).tolist() for _ in range(7)]
TREES = [_random_tree(size) for size in (1, 2, 5, 11, 30)]


def _weights(model, rows):
    """Returns random parameters of a model; dynamic extents are `rows`."""
    rng = numpy.random.default_rng(6)
    return {p.name: rng.integers(-64, 64, [rows if e < 0 else e for e in p.shape])
            .astype(numpy.float32) / 512 for p in model.parameters}


def _flags(sizes):
    return [f"--size={name}={extent}" for name, extent in sizes.items()]


def loop_results(folder):
    """Returns the results that batch-run computes for the loop."""
    source = batchtest.write_lines(folder / "loop.mlir", [LOOP])
    return oracle(folder, source, {"W": W}, [
        {"x": x.tolist(), "limit": float(limit)} for x, limit in zip(X, LIMIT)])


def bind_parser(**options):
    model = batch.compile(PARSER, sizes=PARSER_SIZES)
    return model.bind(_weights(model, WORDS), **options)


def parser_results(folder):
    """Returns the results that batch-run computes for SENTENCES with the parser."""
    weights = _weights(batch.compile(PARSER, sizes=PARSER_SIZES), WORDS)
    return oracle(folder, PARSER, weights, [{"tokens": words} for words in SENTENCES],
                  *_flags(PARSER_SIZES))


def bind_encoder(**options):
    model = batch.compile(ENCODER, sizes=ENCODER_SIZES)
    return model.bind(_weights(model, 100), **options)


def encoder_results(folder):
    """Returns the results that batch-run computes for TREES with the encoder."""
    weights = _weights(batch.compile(ENCODER, sizes=ENCODER_SIZES), 100)
    return oracle(folder, ENCODER, weights, json.loads(json.dumps(TREES)),
                  *_flags(ENCODER_SIZES))
