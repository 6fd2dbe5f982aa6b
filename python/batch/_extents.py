"""Ragged batches: extents that differ from instance to instance.

JAX traces and lowers shapes with symbols for these. Each symbol is a number that is an
argument beside the ragged ones; a tensor whose extent JAX computes from it gets that of a
ragged argument, which is what the compiler knows.
"""

import collections

import jax
from jax.extend.mlir import ir

from batch import _expand

# A symbol: a number, and the argument whose first extent it is. Names of values.
Extent = collections.namedtuple("Extent", ["number", "carrier", "aval"])


def symbols(groups):
    """Of the names of extents, what shapes have in their place, of one scope."""
    if not groups:
        return {}
    return dict(zip(groups, jax.export.symbolic_shape(", ".join(groups))))


def extent(n):
    """An extent in a type's text."""
    if isinstance(n, int):
        return str(n)
    if not str(n).isidentifier():
        raise _expand.LoweringError("ragged arrays keep their extents; this one has %s" % n)
    return "?"


def number_type():
    return "i64" if jax.config.jax_enable_x64 else "i32"


def of(shapes):
    """The names of the symbols in shapes, in a fixed order."""
    return list(dict.fromkeys(str(n) for shape in shapes for n in shape
                              if not isinstance(n, int)))


def mark_broadcasts(operation):
    """Says of broadcasts to symbols' shapes which dimensions grow: those of extent 1, as
    symbols are equal only to themselves. jaxlib's passes want to know."""
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                inner = inner.operation
                mark_broadcasts(inner)
                if inner.name != "stablehlo.dynamic_broadcast_in_dim":
                    continue
                shape = ir.RankedTensorType(inner.operands[0].type).shape
                grows = [d for d, n in enumerate(shape) if n == 1]
                stays = [d for d, n in enumerate(shape) if n != 1]
                inner.attributes["known_expanding_dimensions"] = ir.DenseI64ArrayAttr.get(grows)
                inner.attributes["known_nonexpanding_dimensions"] = \
                    ir.DenseI64ArrayAttr.get(stays)


# What shapes are put together of; not of sums, which are other extents.
_SHAPES = ("arith.cmpi", "arith.constant", "arith.extsi", "arith.index_cast", "arith.trunci",
           "linalg.generic", "linalg.index", "linalg.yield", "scf.if", "scf.yield", "tensor.cast",
           "tensor.collapse_shape", "tensor.empty", "tensor.expand_shape", "tensor.extract",
           "tensor.from_elements")


def _comes_from(value, numbers):
    """Which of these arguments of a function an extent is, if it is one of them."""
    found, seen, work = set(), set(), [value]
    while work:
        value = work.pop()
        if value in numbers:
            found.add(numbers.index(value))
        if isinstance(value.owner, ir.Block) or value.owner in seen:
            continue
        seen.add(value.owner)
        operations = [value.owner.operation]
        while operations:
            operation = operations.pop()
            if operation.name not in _SHAPES:
                return None
            work += operation.operands
            operations += [inner.operation for region in operation.regions
                           for block in region.blocks for inner in block.operations]
    return found.pop() if len(found) == 1 else None


def take_extents(function, names, carriers):
    """Tensors of a function of JAX's that are as long as one of its numbers says get the
    extent of an argument; that of the i-th name is argument `carriers` + i, not counting
    the numbers, which come first. Returns their order, and whether all have one."""
    if not names:
        return [], True
    block = function.regions[0].blocks[0]
    arguments = list(block.arguments)
    attributes = ir.ArrayAttr(function.attributes["arg_attrs"])
    order = [ir.StringAttr(ir.DictAttr(attributes[i])["jax.global_constant"]).value
             for i in range(len(names))]
    numbers = arguments[:len(names)]
    carriers = [len(names) + carriers + names.index(name) for name in order]
    known, have_all = {}, True

    def first_extent(i):
        if i not in known:
            with ir.InsertionPoint.at_block_begin(block), function.location:
                index = ir.IndexType.get()
                zero = ir.Operation.create("arith.constant", results=[index], attributes={
                    "value": ir.IntegerAttr.get(index, 0)}).result
                known[i] = ir.Operation.create("tensor.dim", results=[index], operands=[
                    arguments[carriers[i]], zero]).result
        return known[i]

    for operation in list(block.operations):
        operation = operation.operation
        if operation.name not in ("tensor.empty", "tensor.splat"):
            continue
        for position, value in enumerate(operation.operands):
            found = _comes_from(value, numbers)
            if found is not None:
                operation.operands[position] = first_extent(found)
            elif isinstance(value.owner, ir.Block) or \
                    value.owner.operation.name not in ("arith.constant", "tensor.dim"):
                have_all = False
    return order, have_all
