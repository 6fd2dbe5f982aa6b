"""Names of extents that differ between instances."""

import re

import jax
from jax.extend import core

from batch.tracing.jaxprs import open_jaxpr

# --- extents that differ between instances --------------------------------------------------

def symbols_of(n):
    """Returns the names of the symbols in an extent such as `floordiv(n0, 2) + 1`."""
    return set(re.findall(r"\b[A-Za-z_]\w*\b(?!\()", str(n)))


def extents_of(avals, equations=()):
    """Returns the names of the symbols in types and in equations.

    Symbols of an equation occur in its operands, results and parameters. The results of a
    `batch_map` are excluded.
    """
    extents = [n for aval in avals for n in aval.shape] + _extents_in(equations)
    return {name for n in extents if jax.export.is_symbolic_dim(n) for name in symbols_of(n)}


def _extents_in(equations):
    found = []
    for equation in equations:
        is_map = equation.primitive.name == "batch_map"  # the map declares its results' extent
        for atom in (*equation.invars, *(() if is_map else equation.outvars)):
            found += atom.aval.shape
        for name, value in equation.params.items():
            if name != "spec" and not (is_map and name == "dim"):
                found += _parts(value)
    return found


def _parts(value):
    """Returns the elements of an equation's parameter; for a jaxpr, its extents."""
    if isinstance(value, (core.ClosedJaxpr, core.Jaxpr)):
        return _extents_in(open_jaxpr(value)[0].eqns)
    if isinstance(value, (tuple, list)):
        return [part for one in value for part in _parts(one)]
    if hasattr(value, "arms"):  # the body of a traversal
        return _parts([arm.closed for arm in value.arms])
    return _parts(value.closed) if hasattr(value, "closed") else (value,)


def symbolic_extents(groups):
    """Returns a dictionary from names of extents to symbolic dimensions of one scope."""
    if not groups:
        return {}
    return dict(zip(groups, jax.export.symbolic_shape(", ".join(groups))))


def number_type():
    return "i64" if jax.config.jax_enable_x64 else "i32"


def extent_names(shapes):
    """Returns the symbolic extents in shapes, as text, in order of first appearance."""
    return list(dict.fromkeys(str(n) for shape in shapes for n in shape
                              if not isinstance(n, int)))
