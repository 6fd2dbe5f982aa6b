"""Finds the equations that the results of a jaxpr depend on."""

from batch.tracing.extents import extents_of
from batch.tracing.jaxprs import variables


def live_equations(equations, results):
    """Returns the live equations and the variables that are read.

    Live equations have effects, or results depend on them. A result also depends on the map over a
    list if the length of the list is an extent of the result.
    """
    live = set(variables(results))
    kept, extents = [], set()
    dims = {str(equation.params["dim"]) for equation in equations
            if equation.primitive.name == "batch_map"}
    for equation in reversed(equations):
        is_extent = equation.primitive.name == "batch_map" and \
            str(equation.params["dim"]) in extents and \
            any(v.aval.shape for v in equation.outvars)
        if equation.effects or is_extent or live.intersection(equation.outvars):
            live.update(variables(equation.invars))
            kept.append(equation)
            if equation.primitive.name == "batch_map":
                extents.discard(str(equation.params["dim"]))
            if dims:
                extents.update(dims.intersection(extents_of((), [equation])))
    return kept[::-1], live
