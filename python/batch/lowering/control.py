"""Lowering of the loops and branches of a jaxpr to `scf`."""

import jax

from batch.core.errors import LoweringError
from batch.lowering.registry import lowers
from batch.lowering.types import element_type, tensor_type
from batch.tracing.extents import number_type
from batch.tracing.jaxprs import open_jaxpr, scan_counts
from batch.tracing.locations import describe_place


def _select(lanes, new, old):
    """Selects the new values in lanes that run, and the old values in the other lanes."""
    shape = lanes.shape + (1,) * (new.ndim - lanes.ndim)
    return [jax.numpy.where(lanes.reshape(shape), new, old)]


@lowers("while")
def _while(lowering, equation, values):
    parameters = equation.params
    first, second = parameters["cond_nconsts"], parameters["body_nconsts"]
    test, body = values[:first], values[first:first + second]
    carried = values[first + second:]
    types = [lowering.type_of(name, v.aval) for name, v in zip(carried, equation.outvars)]
    results, before = lowering.fresh(types), lowering.fresh(types)
    lowering.emit("%s = scf.while (%s) : (%s) -> (%s) {",
              ", ".join(results),
              ", ".join("{} = {}".format(*pair) for pair in zip(before, carried)),
              ", ".join(types), ", ".join(types))
    lowering.depth += 1
    (goes_on,) = lowering.call(parameters["cond_jaxpr"], test + before)
    # Under jax.vmap, a loop runs while the condition of any lane is true.
    (ends,) = open_jaxpr(parameters["cond_jaxpr"])[0].outvars
    lanes = jax.ShapeDtypeStruct(ends.aval.shape, bool)
    if lanes.shape:
        (goes_on,) = lowering.computed(lambda p: [p.any()], [goes_on], [lanes],
                                   [jax.ShapeDtypeStruct((), bool)], [equation])
    place = lowering.place
    condition = open_jaxpr(parameters["cond_jaxpr"])[0]
    ends = [e for e in condition.eqns if condition.outvars[0] in e.outvars]
    if ends:
        lowering.place = lowering.source_map.add(ends)
    lowering.emit("scf.condition(%s) %s : %s", lowering.scalar(goes_on, "i1"),
              ", ".join(before), ", ".join(types))
    lowering.place = place
    lowering.depth -= 1
    lowering.emit("} do {")
    now = lowering.fresh(types)
    lowering.emit("^bb0(%s):", ", ".join("{}: {}".format(*pair) for pair in zip(now, types)))
    lowering.depth += 1
    after = lowering.call(parameters["body_jaxpr"], body + now)
    if lanes.size > 1:
        (runs,) = lowering.call(parameters["cond_jaxpr"], test + now)
        avals = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype)
                 for v in equation.outvars]
        after = [lowering.computed(_select, [runs, new, old], [lanes, aval, aval], [aval],
                               [equation])[0]
                 for new, old, aval in zip(after, now, avals)]
    lowering.emit("scf.yield %s : %s", ", ".join(after), ", ".join(types))
    lowering.depth -= 1
    lowering.emit("}")
    return results


@lowers("scan")
def _scan(lowering, equation, values):
    parameters = equation.params
    constants, carries = scan_counts(parameters)
    length = parameters["length"]
    fixed, first = values[:constants], values[constants:constants + carries]
    sequences = values[constants + carries:]
    sources = [atom.aval for atom in equation.invars[constants + carries:]]
    stacked = [v.aval for v in equation.outvars[carries:]]
    types = [lowering.type_of(name, v.aval) for name, v in zip(first, equation.outvars)]
    types += map(tensor_type, stacked)
    starts = list(first)
    for aval in stacked:
        zero = "false" if element_type(aval.dtype) == "i1" else \
            "0" if element_type(aval.dtype)[0] == "i" else "0.0"
        starts.append(lowering.constant(tensor_type(aval), f"dense<{zero}>"))
    if stacked and not isinstance(length, int):
        raise LoweringError(f"{describe_place(equation)}scan returns a result for each row of a "
                            "ragged array, which is not supported; store the needed values in "
                            "the carry")
    bounds = [_extent(lowering, n, equation) for n in (0, length, 1)]
    index = lowering.name("i")
    results, now = lowering.fresh(types), lowering.fresh(types)
    lowering.emit("%sscf.for %s = %s to %s step %s%s {",
              ", ".join(results) + " = " if results else "", index, *bounds,
              " iter_args({}) -> ({})".format(
                  ", ".join("{} = {}".format(*pair) for pair in zip(now, starts)),
                  ", ".join(types)) if results else "")
    lowering.depth += 1
    if parameters["reverse"]:
        one = lowering.constant("index", 1)
        last = lowering.name("i")
        lowering.emit("%s = arith.subi %s, %s : index", last, bounds[1], one)
        place = lowering.name("i")
        lowering.emit("%s = arith.subi %s, %s : index", place, last, index)
    else:
        place = index
    elements = [_element(lowering, value, aval, place)
                for value, aval in zip(sequences, sources)]
    after = lowering.call(parameters["jaxpr"], fixed + now[:carries] + elements)
    rows = [_insert(lowering, value, into, aval, place) for value, into, aval in
            zip(after[carries:], now[carries:], stacked)]
    if results:
        lowering.emit("scf.yield %s : %s", ", ".join(after[:carries] + rows),
                  ", ".join(types))
    lowering.depth -= 1
    lowering.emit("}")
    return results


def _extent(lowering, n, equation):
    """Returns the name of the index for `n`, a number or the symbol of a ragged extent.

    Raises LoweringError for other extents, with the location of the equation.
    """
    if isinstance(n, int):
        return lowering.constant("index", n)
    if str(n) not in lowering.extents:
        raise LoweringError(f"{describe_place(equation)}unsupported loop of {n} iterations; "
                            "expected a fixed number, or the number of rows of a ragged array or "
                            "list")
    kind = number_type()
    number = lowering.scalar(lowering.extents[str(n)].number, kind)
    result = lowering.name("i")
    lowering.emit("%s = arith.index_cast %s : %s to index", result, number, kind)
    return result


def _slice(lowering, aval, place):
    rest = ["0"] * (len(aval.shape) - 1)
    return "[{}] [{}] [{}]".format(", ".join([place] + rest),
                               ", ".join(["1"] + [str(n) for n in aval.shape[1:]]),
                               ", ".join(["1"] * len(aval.shape)))


def _row_type(lowering, aval):
    return "tensor<{}>".format("x".join([str(n) for n in aval.shape[1:]] +
                                   [element_type(aval.dtype)]))


def _element(lowering, value, aval, place):
    result = lowering.name()
    lowering.emit("%s = tensor.extract_slice %s%s : %s to %s", result, value,
              _slice(lowering, aval, place), tensor_type(aval), _row_type(lowering, aval))
    return result


def _insert(lowering, value, into, aval, place):
    result = lowering.name()
    lowering.emit("%s = tensor.insert_slice %s into %s%s : %s into %s", result, value, into,
              _slice(lowering, aval, place), _row_type(lowering, aval), tensor_type(aval))
    return result


@lowers("cond")
def _cond(lowering, equation, values):
    branches = equation.params["branches"]
    kind = element_type(equation.invars[0].aval.dtype)
    which = lowering.scalar(values[0], kind)
    avals = [v.aval for v in equation.outvars]
    return _choose(lowering, which, kind, branches, 0, values[1:], avals)


def _choose(lowering, which, kind, branches, first, values, avals):
    """Emits the branches from number `first` on and returns the names of their results.

    The first branch also runs for all smaller numbers, and the last one for all larger numbers.
    """
    if first == len(branches) - 1:
        return lowering.call(branches[first], values)
    if kind == "i1":
        takes = which  # true selects the second of two branches
        order = [1, 0]
    else:
        bound = lowering.constant(kind, first)
        takes = lowering.name("s")
        lowering.emit("%s = arith.cmpi sle, %s, %s : %s", takes, which, bound, kind)
        order = [first, None]
    regions, ends = [], []
    for number in order:
        lowering.depth += 1
        with lowering.aside() as lines:
            ends.append(lowering.call(branches[number], values) if number is not None else
                        _choose(lowering, which, kind, branches, first + 1, values, avals))
            types = list(map(lowering.type_of, ends[-1], avals))
            if types:
                lowering.emit("scf.yield %s : %s", ", ".join(ends[-1]), ", ".join(types))
        lowering.depth -= 1
        regions.append(lines)
    return lowering.emit_if(takes, types, regions)


