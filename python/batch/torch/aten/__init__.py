"""Rules that compute PyTorch operations with JAX."""

from batch.torch.aten import elements, reductions, shapes
from batch.torch.aten.registry import RULES

__all__ = ["RULES", "elements", "reductions", "shapes"]
