"""Lowering of jaxprs to the MLIR that the compiler reads."""

from batch.lowering import control, recursion, rules

__all__ = ["control", "recursion", "rules"]
