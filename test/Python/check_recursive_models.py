#!/usr/bin/env python3
"""check_recursive_models.py: recursive models give the bits of the examples in MLIR that they
are, others what NumPy gives.
"""

import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import batchtest  # noqa: E402

path = batchtest.temporary_paths()
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["JAX_PLATFORMS"] = "cpu"

import batch  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import recursive_models as models  # noqa: E402

checks = batchtest.Checks("recursive models")
H = 16
EXAMPLES = os.path.join(os.path.dirname(TESTS), "examples", "models")

# --- models that are in MLIR, too --------------------------------------------------------

for name, make in models.IN_MLIR.items():
    in_mlir = batch.compile(os.path.join(EXAMPLES, name + ".mlir"), sizes={"H": H})
    parameters = models.parameters(H, {
        field.name: [-1 if n is None or n < 0 else n for n in field.shape]
        for field in in_mlir.parameters})
    generator = np.random.default_rng(1)
    inputs = [models.random_input(name, H, generator) for _ in range(9)]
    wanted = in_mlir.bind(parameters)(inputs)
    model = make(H)
    results = batch.vmap(model.function, in_axes=(0, None))(
        batch.forest(model.argument, inputs), parameters)
    results = results if isinstance(results, tuple) else (results,)
    for key, found in zip(model.outputs, wanted.values()):
        if isinstance(key, str):
            same = np.array_equal(results[0][key].offsets, found.offsets) and \
                np.array_equal(results[0][key].values, found.values)
        else:
            same = np.array_equal(results[key], found)
        checks.expect("%s, %s: the bits of the model in MLIR" % (name, key), same)

# --- models that are not -----------------------------------------------------------------

SHAPES = {"E": (-1, H), "W": (H, H), "U": (H, H), "Q": (H, H), "h0": (H,)}
for name, make in models.OTHERS.items():
    parameters = models.parameters(H, SHAPES)
    generator = np.random.default_rng(2)
    inputs = [models.random_input(name, H, generator) for _ in range(9)]
    model = make(H)
    function = batch.vmap(model.function, in_axes=(0, None))
    results = jax.tree.leaves(function(inputs, parameters))
    wanted = [jax.tree.leaves(model.outputs(one, parameters)) for one in inputs]
    for number, column in enumerate(zip(*wanted)):
        found, column = np.asarray(results[number]), np.stack(column)
        checks.expect("%s, result %d" % (name, number), np.allclose(
            found, column, rtol=1e-5, atol=1e-5), abs(found - column).max())
    # Of each instance alone, and in another order: the same bits.
    alone = jax.tree.leaves(function(inputs[4:5], parameters))
    checks.expect("%s: one instance alone" % name, all(
        np.array_equal(a[0], b[4]) for a, b in zip(alone, results)))
    backwards = jax.tree.leaves(function(inputs[::-1], parameters))
    checks.expect("%s: in another order" % name, all(
        np.array_equal(a[::-1], b) for a, b in zip(backwards, results)))
checks.exit()
