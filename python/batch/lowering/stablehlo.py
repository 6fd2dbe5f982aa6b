"""Lowering of StableHLO to the MLIR that the compiler reads, by the jaxlib passes.

The input is a file of batch-import, or a module that module_writer.py gets from JAX.
"""

import json
import re

from jax.extend.mlir import ir, passmanager
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters.mlir import make_ir_context

from batch.core.errors import TextError

stablehlo.register_stablehlo_passes()
_TO_LINALG = ("builtin.module(%ssymbol-dce,canonicalize,"
              "func.func(chlo-legalize-to-stablehlo),canonicalize,"
              "stablehlo-legalize-to-linalg,canonicalize,cse)")
_CLEAN = "builtin.module(canonicalize,cse)"
_BYTECODE = b"ML\xefR"
_DIALECTS = ("stablehlo", "chlo", "mhlo", "vhlo", "sdy")


# Operations that return an operand unchanged if it has the type of the result, each with the
# position of that operand.
_WHOLE = {"stablehlo.slice": 0, "stablehlo.dynamic_slice": 0,
          "stablehlo.dynamic_update_slice": 1, "stablehlo.reshape": 0,
          "stablehlo.real_dynamic_slice": 0, "stablehlo.dynamic_reshape": 0}
# As above, for operations that change nothing only if the result has at most one element.
_MOVES = {"stablehlo.transpose": 0, "stablehlo.reverse": 0,
          "stablehlo.broadcast_in_dim": 0, "stablehlo.dynamic_broadcast_in_dim": 0}


def _same(operation):
    """Returns the operand that an operation returns unchanged, or None."""
    (result,) = operation.results
    if not isinstance(result.type, ir.RankedTensorType):
        return None
    kind = ir.RankedTensorType(result.type)
    if not kind.has_static_shape:
        return None
    operands = list(operation.operands)
    if operation.name == "stablehlo.concatenate":
        return next((value for value in operands if value.type == kind), None)
    name = operation.name
    number = _WHOLE.get(name)
    if number is None and all(n <= 1 for n in kind.shape):
        number = _MOVES.get(name)
    if number is None and name == "stablehlo.pad" and not kind.shape:
        number = 0
    return operands[number] if number is not None and operands[number].type == kind else None


def _reduces_nothing(operation):
    """Returns whether an operation is a reduction over no dimension, which does nothing."""
    return operation.name == "stablehlo.reduce" and \
        not len(ir.DenseI64ArrayAttr(operation.attributes["dimensions"]))


def drop_moves(operation):
    """Removes operations that move no data. Their users read the operands instead.

    The jaxlib passes would read the first of zero indices, or leave such operations unchanged.
    """
    for block in _blocks(operation):
        for inner in list(block.operations):
            inner = inner.operation
            drop_moves(inner)
            if _reduces_nothing(inner):
                same = list(inner.operands)[:len(inner.results)]
            elif len(inner.results) == 1 and inner.name.startswith("stablehlo."):
                same = [_same(inner)]
            else:
                continue
            if any(value is None for value in same):
                continue
            for result, value in zip(inner.results, same):
                result.replace_all_uses_with(value)
            inner.erase()


def run_passes(operation, inline):
    """Lowers a module to `linalg`. Operations that jaxlib does not support may remain."""
    drop_moves(operation)
    _hide_conversions(operation)
    _bound_indices(operation)
    passmanager.PassManager.parse(_TO_LINALG % ("inline," if inline else "")).run(operation)
    for barrier in _operations(operation, "stablehlo.optimization_barrier"):
        for before, after in zip(barrier.operands, barrier.results):
            after.replace_all_uses_with(before)
        barrier.erase()


def _operations(operation, name):
    """Returns the operations of a module that have this name."""
    inside = [inner.operation for block in _blocks(operation) for inner in block.operations]
    return [inner for inner in inside if inner.name == name] + [
        found for inner in inside for found in _operations(inner, name)]


def _hide_conversions(operation):
    """Inserts a barrier before conversions of floats to integers.

    jaxlib folds conversions of constants and wraps numbers that are out of range. JAX
    saturates them.
    """
    for convert in _operations(operation, "stablehlo.convert"):
        (value,), (result,) = convert.operands, convert.results
        if not isinstance(_element_type(value), ir.FloatType) or \
                not isinstance(_element_type(result), ir.IntegerType):
            continue
        with ir.InsertionPoint(convert), convert.location:
            hidden = ir.Operation.create("stablehlo.optimization_barrier",
                                         results=[value.type], operands=[value])
        convert.operands[0] = hidden.results[0]


# Operations that read indices, each with the position of the first operand that is an index.
_INDICES = {"stablehlo.dynamic_slice": 1, "stablehlo.dynamic_update_slice": 2,
            "stablehlo.gather": 1}


def _bound_indices(operation):
    """Limits indices of type ui64 to the maximum of i64, which is out of range for any array.

    The jaxlib passes read such indices as i64, so larger ones would become negative.
    """
    for name, first in _INDICES.items():
        for user in _operations(operation, name):
            for number in range(first, len(user.operands)):
                value = user.operands[number]
                if str(_element_type(value)) == "ui64":
                    user.operands[number] = _at_most(value, 2 ** 63 - 1, user)


def _at_most(value, limit, user):
    """Emits the minimum of a value and a number before `user`, and returns it.

    A value without a static shape is returned unchanged.
    """
    kind = ir.RankedTensorType(value.type)
    if not kind.has_static_shape:
        return value
    limit = ir.IntegerAttr.get(kind.element_type, limit)
    with ir.InsertionPoint(user), user.location:
        limit = ir.Operation.create("stablehlo.constant", results=[kind], attributes={
            "value": ir.DenseElementsAttr.get_splat(kind, limit)}).result
        return ir.Operation.create("stablehlo.minimum", results=[kind],
                                   operands=[value, limit]).result


def _element_type(value):
    return ir.ShapedType(value.type).element_type


def is_left(operation):
    """Returns whether an operation is of a dialect that the compiler does not read."""
    return operation.name.partition(".")[0] in _DIALECTS


def _place(operation, file):
    """Returns the location of an operation, or of its closest ancestor that has one.

    The format is FILE:LINE:COLUMN, or FILE if no location is known.
    """
    while operation is not None:
        found = re.search(r'"([^"\n]+)":(\d+):(\d+)', str(operation.location))
        if found:
            return "{}:{}:{}".format(file if found[1] == "-" else found[1], found[2], found[3])
        operation = operation.parent and operation.parent.operation
    return file


def _errors(error, file):
    """Returns the text of MLIR errors, with the name of the file."""
    found = []
    for line in str(error).splitlines():
        parts = re.match(
            r'\s*error: (?:loc\()?(.*?"([^"\n]*)":(\d+:\d+)[^:]*|unknown): (.*)', line)
        if parts:
            place = f":{parts[3]}" if parts[3] else ""
            name = file if parts[2] in ("-", None) else parts[2]
            found.append(f"{name}{place}: error: {parts[4]}")
    return "\n".join(found) or f"{file}: error: {error}"


def _parse(data, context, file):
    try:
        if b"vhlo" in data and data[:4] == _BYTECODE:
            return stablehlo.deserialize_portable_artifact(context, data)
        return ir.Module.parse(data, context)
    except (ir.MLIRError, ValueError) as error:
        raise TextError(_errors(error, file)) from None


def _scalar(value):
    return ir.Operation.create("tensor.extract", results=[_element_type(value)],
                               operands=[value]).result


def _blocks(operation):
    return [block for region in operation.regions for block in region.blocks]


def _terminate(block, name, operands):
    """Replaces the StableHLO terminator of a block."""
    old = block.operations[len(block.operations) - 1].operation
    with ir.InsertionPoint(old), old.location:
        values = operands(list(old.operands))
        ir.Operation.create(name, operands=values)
    old.erase()


def _replace(old, new):
    for before, after in zip(old.results, new.results):
        before.replace_all_uses_with(after)
    old.erase()


def _while(loop):
    """Converts a loop to `scf.while`.

    Values that the body passes on unchanged, usually parameters, are read from outside.
    """
    (test,), (body,) = (region.blocks for region in loop.regions)
    passed = list(body.operations[len(body.operations) - 1].operation.operands)
    kept = [i for i, value in enumerate(passed) if value != body.arguments[i]]
    for i in set(range(len(passed))).difference(kept):
        for old in (test.arguments[i], body.arguments[i], loop.results[i]):
            old.replace_all_uses_with(loop.operands[i])
    start = [loop.operands[i] for i in kept]
    with ir.InsertionPoint(loop), loop.location:
        new = ir.Operation.create("scf.while", results=[v.type for v in start],
                                  operands=start, regions=2)
    for block, region in zip((test, body), new.regions):
        block.append_to(region)
        for i in reversed(range(len(passed))):
            if i not in kept:
                block.erase_argument(i)
    arguments = list(test.arguments)
    _terminate(test, "scf.condition", lambda v: [_scalar(v[0]), *arguments])
    _terminate(body, "scf.yield", lambda v: [v[i] for i in kept])
    for i, result in zip(kept, new.results):
        loop.results[i].replace_all_uses_with(result)
    loop.erase()


def _branch(choice):
    """Converts `if` to `scf.if`, and `case` to `scf.index_switch`.

    `if` takes a boolean, and `case` a number. The last branch of a `case` runs for all numbers
    without a branch.
    """
    blocks = _blocks(choice)
    results = [value.type for value in choice.results]
    with ir.InsertionPoint(choice), choice.location:
        which = _scalar(choice.operands[0])
        if choice.name == "stablehlo.if":
            new = ir.Operation.create("scf.if", results=results, operands=[which],
                                      regions=2)
        else:
            which = ir.Operation.create("arith.index_cast", results=[ir.IndexType.get()],
                                        operands=[which]).result
            numbers = ir.DenseI64ArrayAttr.get(range(len(blocks) - 1))
            new = ir.Operation.create("scf.index_switch", results=results,
                                      operands=[which], attributes={"cases": numbers},
                                      regions=len(blocks))
            blocks = blocks[-1:] + blocks[:-1]
    for block, region in zip(blocks, new.regions):
        block.append_to(region)
        _terminate(block, "scf.yield", lambda values: values)
    _replace(choice, new)


_CONTROL = {"stablehlo.while": _while, "stablehlo.if": _branch, "stablehlo.case": _branch}


def _convert(module, file):
    """Converts control flow to `scf`. Raises TextError for other StableHLO that remains."""
    control, left, stack = [], {}, [module]
    while stack:
        operation = stack.pop()
        if operation.name in _CONTROL:
            control.append(operation)
        elif is_left(operation) and operation.name != "stablehlo.return":
            left.setdefault(operation.name, operation)
        for name in list(operation.attributes):
            if name.partition(".")[0] in _DIALECTS + ("jax",) and "." in name:
                del operation.attributes[name]
        for block in _blocks(operation):
            stack += [inner.operation for inner in block.operations]
    if left:
        raise TextError("\n".join(
            f"{_place(operation, file)}: error: {name} is not supported{_hint(name)}"
            for name, operation in sorted(left.items())))
    for operation in reversed(control):  # inner operations first
        _CONTROL[operation.name](operation)


def _hint(name):
    """Returns the remedy for an unsupported operation of this name."""
    return " because it belongs to a sharded program; lower the program for one device" \
        if name.startswith("sdy.") else \
        "; compile the JAX function with batch.vmap, if docs/reference/python.md lists its " \
        "operations"


def signless(text):
    """Parses a text with signless types. Returns the module, or None if no type is unsigned.

    Operations specify the signedness. Casts from a type to itself are removed.
    """
    changed = re.sub(r'"(?:[^"\\\n]|\\.)*"|\bui(8|16|32|64)\b|(?<=x)ui(8|16|32|64)\b',
                     lambda m: m[0] if m[0][0] == '"' else "i" + (m[1] or m[2]), text)
    if changed == text:
        return None
    module = ir.Module.parse(changed)
    passmanager.PassManager.parse("builtin.module(canonicalize)").run(module.operation)
    return module


def lower_stablehlo(data, file):
    """Lowers a StableHLO module. Returns (text, located text, names of arguments).

    The text has locations if the module specifies them. The located text always has
    locations, by default those in the file. The names are function → [name or None, …], from
    the locations of the arguments. Raises TextError if the module is invalid or unsupported.
    """
    context = make_ir_context()
    module = _parse(data, context, file)
    with context:
        has_places = b" loc(" in data or data[:4] == _BYTECODE
        try:
            run_passes(module.operation, inline=False)
            _convert(module.operation, file)
            passmanager.PassManager.parse(_CLEAN).run(module.operation)
        except ir.MLIRError as error:
            raise TextError(_errors(error, file)) from None
        names = {}
        for function in module.body.operations:
            found = [re.fullmatch(r'loc\("([^"\n]+)"(?:\(.*\))?\)', str(v.location))
                     for block in _blocks(function.operation) for v in block.arguments]
            names[ir.StringAttr(function.attributes["sym_name"]).value] = \
                [name and name[1] for name in found]
        module = signless(module.operation.get_asm(enable_debug_info=True)) or module
        located = module.operation.get_asm(enable_debug_info=True).replace(
            'loc("-":', f"loc({json.dumps(file)}:")
        return located if has_places else str(module), located, names
