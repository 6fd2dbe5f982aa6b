"""Compares the results of batch.from_torch with those of PyTorch.

Modules that import this module are skipped if PyTorch is not installed.
"""

import numpy
import pytest

import batch
from batch.torch.export import jax_dtype

torch = pytest.importorskip("torch")
_TOLERANCES = {torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float32: 1e-5,
               torch.float64: 1e-11}


class FunctionModule(torch.nn.Module):
    """A module that calls a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def _leaves_of(value):
    return [leaf for leaf in torch.utils._pytree.tree_flatten(value)[0] if leaf is not None]


def assert_as_torch(found, wanted):
    """Requires that JAX arrays have the types, shapes and values of tensors.

    Floating-point numbers may differ by rounding of their type.
    """
    found, wanted = _leaves_of(found), _leaves_of(wanted)
    assert len(found) == len(wanted), f"{len(found)} results, wanted {len(wanted)}"
    for i, (a, b) in enumerate(zip(found, wanted)):
        kind, expected = f"{a.dtype}{list(a.shape)}", f"{jax_dtype(b.dtype)}{list(b.shape)}"
        assert kind == expected, f"result {i} is {kind}, wanted {expected}"
        tolerance = _TOLERANCES.get(b.dtype, 0)
        numpy.testing.assert_allclose(
            numpy.asarray(a).astype(numpy.float64), b.detach().to(torch.float64).numpy(),
            rtol=tolerance, atol=tolerance, err_msg=f"result {i}")


def compare(module, *inputs):
    """Compares a module in eval mode with its conversion."""
    module.eval()
    wanted = module(*[v.clone() if isinstance(v, torch.Tensor) else v for v in inputs])
    assert_as_torch(batch.from_torch(module, inputs)(*inputs), wanted)
