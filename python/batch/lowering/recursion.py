"""Lowering of the functions, data types and lists of batch.tracing to `func` and `rec`."""

import jax

from batch.core.adt import fields_of
from batch.core.types import Scalar
from batch.lowering.expansion import expand
from batch.lowering.ragged_extents import Extent
from batch.lowering.registry import lowers
from batch.lowering.types import element_type, tensor_type
from batch.tracing.extents import number_type
from batch.tracing.jaxprs import is_empty, words_of
from batch.tracing.paths import are_same, without_suffix
from batch.tracing.primitives import dtype_of
from batch.tracing.questions import Question


def _array(lowering, name, text):
    """Returns a number as a tensor of rank 0, and other values unchanged."""
    if text[0] == "!" or text.startswith("tensor"):
        if text[0] == "!":
            lowering.types[name] = text
        return name
    if text == "index":
        kind = element_type(dtype_of(Scalar("int")))
        number = lowering.name("i")
        lowering.emit("%s = arith.index_cast %s : index to %s", number, name, kind)
        name, text = number, kind
    result = lowering.name()
    lowering.emit("%s = tensor.from_elements %s : tensor<%s>", result, name, text)
    return result


def _number(lowering, value, text):
    """Converts a value to the type in which a field or an element stores it."""
    if text[0] == "!" or text.startswith("tensor"):
        return value
    return lowering.scalar(value, text)


def _fields(lowering, variant):
    """Returns new names and the types for the fields of a variant."""
    data = variant._adt
    texts = [lowering.data.field(kind, data) for _, kind in
             fields_of(data)[variant._number]]
    return [lowering.name("f") for _ in texts], texts


def _match(lowering, value, data, types, case):
    """Emits a match and returns the names of its results.

    Each case yields the results of `case(variant, fields)`. Numbers in `fields` are tensors.
    """
    results = lowering.fresh(types)
    lowering.emit("%srec.match %s : %s%s {", ", ".join(results) + " = " if results else "",
                  value, lowering.data.declare(data),
                  " -> " + ", ".join(types) if types else "")
    for variant in data._variants:
        names, texts = _fields(lowering, variant)
        lowering.emit("%scase @%s(%s) {", "} " if variant._number else "",
                      variant.__name__, ", ".join(
                          "{}: {}".format(*pair) for pair in zip(names, texts)))
        with lowering.region():
            given = case(variant, [_array(lowering, *pair) for pair in zip(names, texts)])
            if types:
                lowering.emit("rec.yield %s : %s", ", ".join(given), ", ".join(types))
            else:
                lowering.emit("rec.yield")
    lowering.emit("} }")
    return results


def _paths(lowering, arms, names, types, inputs, depth=0):
    """Emits all paths, with a match for each value that is tested for its variant.

    names: names of values by key.
    inputs: names of the arguments of the jaxprs.
    """
    if len(arms) == 1 and depth == len(arms[0].path):
        return _leaf(lowering, arms[0].closed, inputs)
    key, data, _ = arms[0].path[depth]
    if isinstance(data, Question):
        return _chosen(lowering, arms, names, types, inputs, depth)
    value = names[key]

    def case(variant, fields):
        taken = [arm for arm in arms if arm.path[depth][2] == variant._number]
        known = dict(names)
        known.update(((key, name), field) for name, field in zip(variant._names, fields))
        lowering.opened[value] = fields  # valid only in this case of the match
        return _paths(lowering, taken, known, types, inputs, depth + 1)

    return _match(lowering, value, data, types, case)


def _leaf(lowering, closed, inputs):
    """Emits one path. A path has its own symbols for the extents of its inputs."""
    for v, name in zip(closed.jaxpr.invars, inputs):
        own = str(v.aval.shape[0]) if v.aval.shape else ""
        known = lowering.extents.get(without_suffix(own))
        if own not in lowering.extents and known:
            lowering.extents[own] = Extent(
                known.number, name, jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype))
    return lowering.call(closed, inputs)


def _chosen(lowering, arms, names, types, inputs, depth):
    """Emits paths that differ in the answer to a question about numbers of rows."""
    question = arms[0].path[depth][1]
    groups = [[arm for arm in arms if question.answer(arm.path[depth][2]) is answer]
              for answer in (True, False)]
    if not all(groups) or all(len(group) == 1 for group in groups) and are_same(arms):
        return _paths(lowering, groups[0] or groups[1], names, types, inputs, depth + 1)
    holds, regions = _holds(lowering, names, question), []
    for group in groups:
        with lowering.aside() as lines, lowering.region():
            given = _paths(lowering, group, names, types, inputs, depth + 1)
            if types:
                lowering.emit("scf.yield %s : %s", ", ".join(given), ", ".join(types))
        regions.append(lines)
    return lowering.emit_if(holds, types, regions)


def _holds(lowering, names, question):
    """Emits the answer to a question and returns the name of the truth value, an `i1`.

    A comparison of a single number with a bound uses scalars only.
    """
    kind = number_type()
    numbers = [_count(lowering, names, source) for source in question.sources.values()]
    if question.line:
        comparison, bound = question.bound()
        number, constant = lowering.scalar(numbers[0], kind), lowering.constant(kind, bound)
        holds = lowering.name("s")
        lowering.emit("%s = arith.cmpi %s, %s, %s : %s", holds, comparison, number, constant, kind)
        return holds
    number = jax.ShapeDtypeStruct((), kind.replace("i", "int"))
    (holds,) = lowering.computed(
        lambda *values: [question.holds(dict(zip(question.sources, values)))], numbers,
        [number] * len(numbers), [jax.ShapeDtypeStruct((), bool)], [])
    return lowering.scalar(holds, "i1")


def _count(lowering, names, source):
    """Returns the number of rows of an argument, or of elements of a list, as a tensor."""
    if source in lowering.extents:
        return lowering.extents[source].number
    length = lowering.name("i")
    lowering.emit("%s = rec.length %s : %s", length, names[source],
                  lowering.types[names[source]])
    return _array(lowering, length, "index")


@lowers("batch_paths")
def _all_paths(lowering, equation, values):
    arms, avals = equation.params["arms"], [v.aval for v in equation.outvars]
    return _paths(lowering, arms, {}, _types(lowering, [None] * len(avals), avals), values)


def _types(lowering, kinds, avals):
    """Returns the MLIR types of the values that are not empty."""
    return [lowering.data.text(kind) if kind else tensor_type(words_of(aval))
            for kind, aval in zip(kinds, avals) if not is_empty(aval)]


def write_function(lowering, spec):
    """Emits the body of the function of a spec and returns the first line of the function."""
    arms = [arm.expanded(expand) for arm in spec.arms]
    values = {number: lowering.name("x") for number, aval in enumerate(spec.avals)
              if not is_empty(aval)}
    names, texts = list(values.values()), _types(lowering, spec.kinds, spec.avals)
    lowering.types.update((name, text) for name, text in zip(names, texts)
                          if text[0] == "!")
    for number, name in values.items():
        aval = spec.avals[number]
        if aval.shape and not isinstance(aval.shape[0], int):
            declare_rows(lowering, aval.shape[0], name, tensor_type(aval), name,
                 jax.ShapeDtypeStruct(aval.shape, aval.dtype))
    types = _types(lowering, spec.kinds_out, spec.avals_out)
    results = _paths(lowering, arms, values, types, names)
    lowering.emit("return%s", " {} : {}".format(", ".join(results), ", ".join(types))
                  if results else "")
    return "func.func private {}({}{}) -> ({}) {{".format(
        lowering.symbol(spec), ", ".join("{}: {}".format(*pair) for pair in zip(names, texts)),
        lowering.PARAMETERS, ", ".join(types))


def declare_rows(lowering, dim, value, text, carrier, aval):
    """Declares the extent `dim`: the length of a list, and of arrays with a row per element."""
    if str(dim) in lowering.extents:
        return
    length = lowering.name("i")
    lowering.emit("%s = rec.length %s : %s", length, value, text)
    kind = number_type()
    number, tensor = lowering.name("i"), lowering.name()
    lowering.emit("%s = arith.index_cast %s : index to %s", number, length, kind)
    lowering.emit("%s = tensor.from_elements %s : tensor<%s>", tensor, number, kind)
    lowering.extents[str(dim)] = Extent(tensor, carrier, aval)


@lowers("batch_call")
def _call(lowering, equation, values):
    spec = equation.params["spec"]
    types = _types(lowering, spec.kinds_out, spec.avals_out)
    results = lowering.fresh(types)
    lowering.emit("%sfunc.call %s(%s%s) : (%s%s) -> (%s)",
                  ", ".join(results) + " = " if results else "", lowering.symbol(spec),
                  ", ".join(values), lowering.PARAMETER_NAMES,
                  ", ".join(map(lowering.type_of, values, [
                      atom.aval for atom in equation.invars])), lowering.PARAMETER_TYPES,
                  ", ".join(types))
    return results


@lowers("batch_open")
def _open(lowering, equation, values):
    variant, (value,) = equation.params["variant"], values
    if value in lowering.opened:
        return lowering.opened[value]
    # A value that has not been matched is of a data type with only one variant.
    data = variant._adt
    types = [tensor_type(v.aval) if text[0] != "!" else text for v, text in zip(
        equation.outvars, _fields(lowering, variant)[1])]
    lowering.opened[value] = _match(lowering, value, data, types, lambda _, fields: fields)
    return lowering.opened[value]


@lowers("batch_construct")
def _construct(lowering, equation, values):
    variant = equation.params["variant"]
    (result,) = lowering.fresh([lowering.data.declare(variant._adt)])
    texts = _fields(lowering, variant)[1]
    given = [_number(lowering, *pair) for pair in zip(values, texts)]
    # A list of tensors may be passed as an array of rows.
    types = [lowering.type_of(value, atom.aval) if text.startswith("!rec.list<tensor") else
             text for value, atom, text in zip(values, equation.invars, texts)]
    lowering.emit("%s = rec.construct @%s::@%s(%s) : (%s) -> %s", result,
                  variant._adt.__name__, variant.__name__, ", ".join(given),
                  ", ".join(types), lowering.types[result])
    return [result]


@lowers("batch_list")
def _list(lowering, equation, values):
    kind = equation.params["kind"]
    text = lowering.data.text(kind)
    (result,) = lowering.fresh([text])
    lowering.emit("%s = rec.empty : %s", result, text)
    for value in values:
        before, (result,) = result, lowering.fresh([text])
        lowering.emit("%s = rec.append %s, %s : %s", result, before,
                      _number(lowering, value, text[len("!rec.list<"):-1]), text)
    return [result]


@lowers("batch_length")
def _length(lowering, equation, values):
    length = lowering.name("i")
    lowering.emit("%s = rec.length %s : %s", length, values[0], lowering.types[values[0]])
    return [_array(lowering, length, "index")]


def _walked(lowering, equation, values):
    """Returns the closure, carried values and lists of a map or fold, and the list types.

    Also returns the names and types of the elements.
    """
    params = equation.params
    first = params["closure"]
    last = len(values) - len(params["kinds"])
    lists = values[last:]
    texts = [lowering.type_of(value, atom.aval) for value, atom in
             zip(lists, equation.invars[last:])]
    elements, types = [lowering.name("e") for _ in lists], []
    for kind, text, atom in zip(params["kinds"], texts, equation.invars[last:]):
        if kind:
            types.append(text[len("!rec.list<"):-1])
        else:
            types.append(tensor_type(jax.core.ShapedArray(atom.aval.shape[1:],
                                                          atom.aval.dtype)))
    return values[:first], values[first:last], lists, texts, elements, types


def _body(lowering, equation, closure, carried, elements, types, results):
    """Emits the body of a map or fold in a region and returns the names of its results."""
    body = equation.params["body"]
    inputs = [_array(lowering, *pair) for pair in zip(elements, types)]
    name = equation.primitive.name[len("batch_"):]
    keyed = [*carried, *inputs]
    places = [i for i, aval in enumerate(body.avals) if not is_empty(aval)]
    names = {(name, i): value for i, value in zip(places, keyed)}
    return _paths(lowering, body.arms, names, results, [*closure, *keyed])


def _of(lists):
    return "({})".format(", ".join(lists)) if len(lists) > 1 else lists[0]


@lowers("batch_map")
def _map(lowering, equation, values):
    body = equation.params["body"]
    closure, carried, lists, texts, elements, types = _walked(lowering, equation, values)
    given = _types(lowering, body.kinds_out, body.avals_out)
    gathered = [tensor_type(v.aval) if text[0] != "!" else f"!rec.list<{text}>"
                for text, v in zip(given, equation.outvars)]
    results = lowering.fresh(gathered)
    lowering.emit("%s = rec.map %s in %s : %s -> %s {", ", ".join(results), _of(elements),
                  _of(lists), ", ".join(texts), ", ".join(gathered))
    with lowering.region():
        after = _body(lowering, equation, closure, carried, elements, types, given)
        lowering.emit("rec.yield %s : %s", ", ".join(after), ", ".join(given))
    lowering.emit("}")
    for name, text, v in zip(results, gathered, equation.outvars):
        if text[0] != "!":
            declare_rows(lowering, equation.params["dim"], lists[0], texts[0], name,
                 jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype))
            break
    return results


@lowers("batch_fold")
def _fold(lowering, equation, values):
    closure, carried, lists, texts, elements, types = _walked(lowering, equation, values)
    first = equation.params["closure"]
    given = [lowering.type_of(value, atom.aval) for value, atom in
             zip(carried, equation.invars[first:first + len(carried)])]
    results, now = lowering.fresh(given), lowering.fresh(given)
    lowering.emit("%s = rec.fold %s in %s init(%s) : %s -> %s {", ", ".join(results),
                  _of(elements), _of(lists),
                  ", ".join("{} = {}".format(*pair) for pair in zip(now, carried)),
                  ", ".join(texts), ", ".join(given))
    with lowering.region():
        after = _body(lowering, equation, closure, now, elements, types, given)
        lowering.emit("rec.yield %s : %s", ", ".join(after), ", ".join(given))
    lowering.emit("}")
    return results
