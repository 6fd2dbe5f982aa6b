"""batch-import: imported modules have the results of JAX, or of an LSTM cell in NumPy.

The modules are StableHLO from JAX, text from torch-mlir, and text with unusual syntax.
"""

import functools
import os
import re

import batchtest
import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import export, lax
from support.import_command import (
    CELL,
    MODULE,
    NS,
    PLAIN,
    XS,
    V,
    W,
    batch_import,
    batch_opt,
    looping,
    nested,
    normal,
)

import batch


@pytest.fixture
def imported(tmp_path):
    """A function that imports a module and returns the compiled model."""
    def imported(data, *options):
        source, model = tmp_path / "module.mlir", tmp_path / "model.mlir"
        source.write_bytes(data if isinstance(data, bytes) else data.encode())
        result = batch_import(source, "-o", model, *options)
        assert result.code == 0, result.errors
        return batch.compile(model)

    return imported


# --- StableHLO --------------------------------------------------------------------------

def newton(W, x, n):
    return lax.while_loop(lambda y: jnp.abs(y * y - x).max() > 1e-3,
                          lambda y: (y + x / y) / 2, jnp.abs(x) + 1) @ W


def attention(W, x, n):
    keys = W * x
    return jax.nn.softmax(keys @ x) @ W


PROGRAMS = {
    "layers": lambda W, x, n: {"y": jax.nn.gelu(W @ x), "z": jnp.argmax(W @ x)},
    "while": looping,
    "until_converged": newton,
    "nested": nested,
    "cond": lambda W, x, n: lax.cond(n > 2, lambda: W @ x, lambda: x * n),
    "switch": lambda W, x, n: lax.switch(n % 4, [
        lambda: x, lambda: x * 2, lambda: W @ x, lambda: -x]),
    "switch_out_of_range": lambda W, x, n: lax.switch(n - 2, [
        lambda: x, lambda: x * 2, lambda: W @ x]),
    "scan": lambda W, x, n: lax.scan(lambda c, a: (jnp.tanh(W @ c + a), c[0]), x,
                                     jnp.stack([x, x + 1, x * n]))[1],
    "fori": lambda W, x, n: lax.fori_loop(0, n, lambda i, c: c + W[i % 4], x),
    "row": lambda W, x, n: W[n % 4] + x[n % 4],
    "attention": attention,
    "update": lambda W, x, n: x + lax.dynamic_update_slice(x, W[0, :2], (n % 3,)),
    "integers": lambda W, x, n: (n.astype(jnp.uint32) * 3 >> 1, n ^ 5, (x > 0).sum()),
    "bfloat16": lambda W, x, n: (x.astype(jnp.bfloat16) * 2).astype(jnp.float32),
    "calls": lambda W, x, n: jax.jit(lambda a: jnp.cumsum(a))(x) + jnp.var(x),
    "special": lambda W, x, n: jax.scipy.special.erfinv(jnp.tanh(x)) + lax.lgamma(
        jnp.abs(x) + 1),
    "convolution": lambda W, x, n: jnp.convolve(x, W[0], mode="same"),
    "chlo": lambda W, x, n: jnp.sinh(x) + jnp.square(jnp.tan(x / 9)) + lax.erf(x),
}
NAMES = ["--name=0=W", "--name=1=x", "--name=2=n"]


def instances_of(name):
    """Returns the argument x of a program for all instances. newton() needs positive numbers."""
    return numpy.abs(XS) + 0.5 if PROGRAMS[name] is newton else XS


@functools.cache
def results_of_jax(name):
    """Returns the leaves of a program's results. Each leaf has the values of all instances."""
    f = jax.jit(PROGRAMS[name])
    results = [jax.tree.leaves(f(W, x, n)) for x, n in zip(instances_of(name), NS)]
    return [numpy.stack(values) for values in zip(*results)]


def text(f):
    return f.lower(W, XS[0], NS[0]).as_text()


def text_with_locations(f):
    return f.lower(W, XS[0], NS[0]).as_text(debug_info=True)


def exported_text(f):
    return export.export(f)(W, XS[0], NS[0]).mlir_module()


def portable_bytecode(f):
    return export.export(f)(W, XS[0], NS[0]).mlir_module_serialized


@pytest.mark.parametrize("name, form", [
    *((name, form) for form in (text, text_with_locations) for name in PROGRAMS),
    *((name, form) for form in (exported_text, portable_bytecode)
      for name in ("while", "cond", "integers")),
], ids=lambda value: getattr(value, "__name__", value))
def test_stablehlo(imported, name, form):
    # Text without locations does not contain the names of the arguments.
    options = NAMES if form in (text, exported_text) else []
    model = imported(form(jax.jit(PROGRAMS[name], keep_unused=True)), "--shared=0", *options)
    outputs = model.bind({"W": W})(x=instances_of(name), n=NS)
    wanted = results_of_jax(name)
    assert len(outputs) == len(wanted)
    for found, value in zip(outputs.values(), wanted):
        found = numpy.asarray(found)
        assert found.shape == value.shape
        numpy.testing.assert_allclose(found, value, rtol=1e-5, atol=1e-5)


def test_trees_of_arguments_and_results(imported):
    params = {"W": [V, V], "b": normal(4)}

    def layers(params, x):
        return {"y": params["W"][0] @ x + params["b"], "z": (x * 2, params["W"][1] @ x)}

    model = imported(jax.jit(layers).lower(params, XS[0]).as_text(debug_info=True),
                     "--shared=params.W.0,params.W.1,params.b", "--name=params.b=bias")
    run = model.bind({"params.W.0": V, "params.W.1": V, "bias": params["b"]})
    outputs = run(x=XS)
    assert list(outputs) == ["y", "z.0", "z.1"]
    numpy.testing.assert_allclose(outputs["y"], XS @ V.T + params["b"], rtol=1e-5, atol=1e-5)


def test_loop_carries_only_changing_values(tmp_path):
    """A loop does not carry a parameter that it only reads."""
    source = tmp_path / "f.mlir"
    source.write_text(jax.jit(looping).lower(W, XS[0], NS[0]).as_text())
    output = batch_import(source).output
    assert re.search(r"scf.while \([^)]*\) : \(tensor<4xf32>, tensor<i32>\) ->", output), output
    assert "stablehlo" not in output


def test_locations_are_kept(tmp_path):
    source = tmp_path / "f.mlir"
    source.write_text(jax.jit(lambda x, y: x + y).lower(XS[0], XS[0]).as_text(debug_info=True))
    output = batch_import(source).output
    assert f'loc("{os.path.abspath(__file__)}":' in output


# --- linalg on tensors ------------------------------------------------------------------

def lstm_cell(x, h, c, input_weights, hidden_weights, bias):
    """Returns the new (h, c) of an LSTM cell, computed with NumPy."""
    def sigmoid(v):
        return 1 / (1 + numpy.exp(-v))

    i, f, g, o = numpy.split(x @ input_weights.T + h @ hidden_weights.T + bias, 4, 1)
    c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
    return sigmoid(o) * numpy.tanh(c), c


@pytest.mark.parametrize("suffix", [".safetensors", ".npz"])
def test_torch_mlir(tmp_path, suffix):
    file, weights_file = tmp_path / "cell.mlir", tmp_path / f"w{suffix}"
    result = batch_import(CELL, "-o", file, "--params", weights_file, "--name=0=x",
                          "--name=arg1=h", "--name=2=c", "--outputs=h,c")
    assert result.code == 0, result.errors
    assert result.output.startswith(
        "entry @cell(x: tensor<4xf32>, h: tensor<4xf32>, c: tensor<4xf32>) -> "
        "(h: tensor<4xf32>, c: tensor<4xf32>)\n")
    assert result.output.count("and shared") == 4
    assert "0x" not in file.read_text(), "values are only in the file of parameters"
    model = batch.compile(file)
    if suffix == ".npz":
        weights = dict(numpy.load(weights_file))
        run = model.bind(weights)
    else:
        weights = {name: numpy.array(values).reshape(shape) for name, (_, shape, values)
                   in batchtest.read_safetensors(weights_file).items()}
        run = model.bind(weights_file)
    x, h, c = normal(3, 5, 4)
    found = run(x=x, h=h, c=c)
    # The names of the weights do not show which ones multiply x and which ones multiply h.
    b, U, d, T = (weights[f"torch_tensor_16{columns}_torch.float32{number}"]
                  for columns, number in (("", "_1"), ("_4", "_1"), ("", ""), ("_4", "")))
    matches = 0
    for first, second in (T, U), (U, T):
        new_h, new_c = lstm_cell(x, h, c, first, second, b + d)
        matches += (numpy.allclose(found["c"], new_c, 1e-5, 1e-5) and
                    numpy.allclose(found["h"], new_h, 1e-5, 1e-5))
    assert matches == 1


# --- syntax -----------------------------------------------------------------------------

def test_comments_strings_and_attributes(imported, tmp_path):
    model = imported(MODULE, "--shared=w", "--outputs=y")
    assert str(model) == ("Model(in: tensor<4xf32>) -> (y: tensor<4xf32>) with "
                          "parameters (w: tensor<4xf32>)")
    assert numpy.array_equal(model.bind({"w": W[0]})(XS)["y"], 2 * XS * W[0])
    lines = (tmp_path / "model.mlir").read_text().splitlines()
    assert len(lines) == len(MODULE.splitlines()), "operations keep their lines"


def test_comments_within_attributes(imported, tmp_path):
    model = imported("""module @"a b" attributes {mhlo.x = 1 : i32, // why
    batch.sizes = {H = 4 : index} // last
} {
  func.func @f(%x: tensor<4xf32> { // the first
        batch.name = "a" }, %w: tensor<4xf32> {jax.q = {p = 1, // within
        q = "// not"}, batch.name = "b" // last
      } // of all
      ) -> (tensor<4xf32> { // its name:
        batch.name = "y"}) attributes {u, // c
      jax.k = 1} {
    %y = arith.addf %x, %w : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
""", "--shared=b")
    assert str(model) == ("Model(a: tensor<4xf32>) -> (y: tensor<4xf32>) with "
                          "parameters (b: tensor<4xf32>)")
    assert not re.search("mhlo|jax", (tmp_path / "model.mlir").read_text())


@pytest.mark.parametrize("option", ["--emit-bytecode", "--mlir-print-op-generic"],
                         ids=["bytecode", "generic_syntax"])
def test_forms_of_mlir(imported, option):
    model = imported(batch_opt(PLAIN, option), "--shared=1")
    assert numpy.array_equal(model.bind({"arg1": W[0]})(XS)["result"], 2 * XS * W[0])


def test_util_func(imported):
    model = imported("""util.func public @f(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  %y = util.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  util.return %y : tensor<4xf32>
}
util.func private @g(%x: tensor<4xf32>) -> (tensor<4xf32>) {
  util.return %x : tensor<4xf32>
}
""")
    assert numpy.array_equal(model.bind()(XS)["result"], XS)
