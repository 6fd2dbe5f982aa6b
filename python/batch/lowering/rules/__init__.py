"""Rules: functions that are traced in place of the equations of primitives."""

from batch.lowering.rules import linalg, random, reduce, scatter, sort, special

__all__ = ["linalg", "random", "reduce", "scatter", "sort", "special"]
