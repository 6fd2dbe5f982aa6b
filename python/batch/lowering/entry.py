"""Writes the MLIR module of a closed jaxpr."""

import jax

from batch.core.errors import LoweringError
from batch.lowering.data_types import DataTypes
from batch.lowering.expansion import expand
from batch.lowering.module_writer import ModuleWriter
from batch.lowering.ragged_extents import Extent
from batch.lowering.types import tensor_type
from batch.tracing.extents import extent_names, number_type
from batch.tracing.jaxprs import (
    constant_type,
    is_empty,
    open_jaxpr,
)
from batch.tracing.locations import describe_place


def lower_jaxpr(closed, shared, recursion=None):
    """Returns the module of a closed jaxpr: (text, constants, source map).

    The constants are the parameters "p0", "p1", … of the module. The source map has the
    locations that the text refers to. Arguments are named "a0", …, results "r0", ….
    Raises LoweringError if a result has as many rows as a ragged argument.

    shared: for each argument, whether it is the same for all instances.
    recursion: EntryTypes of the arguments and results if the program calls a
        @batch.function or constructs data, else None.
    """
    names, numbers = (
        [i for i, v in enumerate(values) if not is_empty(v.aval)]
        for values in (closed.jaxpr.invars, closed.jaxpr.outvars))
    shared = [shared[i] for i in names]
    kinds = [recursion.arguments[i] if recursion else None for i in names]
    names = [f"%a{i}" for i in names]
    closed = expand(closed)
    lowering = ModuleWriter()
    jaxpr, constants = open_jaxpr(closed)
    if recursion:
        lowering.data = DataTypes(recursion.constructed, recursion.results)
        lowering.types.update((name, lowering.data.text(kind)) for name, kind in
                              zip(names, kinds) if kind)
    for name, v in zip(names, jaxpr.invars):
        for symbol in extent_names([v.aval.shape[:1]]):
            lowering.extents.setdefault(symbol, Extent(
                "%" + symbol, name, jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype)))
    environment = dict(zip(jaxpr.constvars, map(lowering.share, constants)))
    environment.update(zip(jaxpr.invars, names))
    for v in jaxpr.outvars:
        if extent_names([v.aval.shape]):
            makers = [describe_place(equation) for equation in jaxpr.eqns if v in equation.outvars]
            raise LoweringError(f"{''.join(makers[:1])}a result has one row for each row of a "
                                "ragged argument, which is not supported; reduce over the rows")
    extents = list(lowering.extents.items())
    results = lowering.run(jaxpr, environment)
    types = [lowering.type_of(name, atom.aval) for name, atom in
             zip(results, jaxpr.outvars)]
    if not types:  # all results are empty, but an entry needs a result
        types, numbers = ["tensor<i1>"], [0]
        results = [lowering.constant(types[0], "dense<false>")]
    main, functions = lowering.lines, lowering.write() if recursion else []
    arguments = ["{}: {} {{batch.{} = \"{}\"}}".format(
        name, lowering.type_of(name, v.aval), "shared" if is_shared else "name", name[1:])
        for name, v, is_shared in zip(names, jaxpr.invars, shared)]
    arguments += [f"{extent.number}: tensor<{number_type()}> {{batch.name = \"{symbol}\"}}"
                  for symbol, extent in extents]
    constants = [(name, tensor_type(constant_type(value)))
                 for name, value in lowering.shared]
    arguments += [f"{name}: {kind} {{batch.shared = \"{name[1:]}\"}}"
                  for name, kind in constants]
    lines = ["module {"]
    if recursion:
        lines += lowering.data.lines()
    lines += ["  " + line for function in lowering.functions
              for line in function.splitlines()]
    lines += functions
    lines.append("  func.func @main({}) -> ({}) attributes {{batch.entry}} {{".format(
        ", ".join(arguments), ", ".join(f"{kind} {{batch.name = \"r{i}\"}}"
                                        for i, kind in zip(numbers, types))))
    lines += main
    lines += ["    return {} : {}".format(", ".join(results), ", ".join(types)), "  }", "}", ""]
    text = "\n".join(lines)
    for mark, parts in ((lowering.PARAMETER_NAMES, (name for name, _ in constants)),
                        (lowering.PARAMETER_TYPES, (kind for _, kind in constants)),
                        (lowering.PARAMETERS, (f"{name}: {kind}" for name, kind in constants))):
        text = _join(text, mark, list(parts))
    return text, [value for _, value in lowering.shared], lowering.source_map


def _join(text, mark, parts):
    """Replaces a mark at the end of a list with comma-separated parts."""
    text = text.replace("(" + mark, "(" + ", ".join(parts))
    return text.replace(mark, "".join(", " + part for part in parts))
