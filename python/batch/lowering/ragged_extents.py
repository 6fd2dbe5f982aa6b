"""Ragged batches: extents that differ from instance to instance.

JAX traces and lowers these extents as symbols. The number of each symbol is an argument in
addition to the ragged ones. JAX computes extents of tensors from these numbers. This module
replaces the computed extents with the first extents of ragged arguments, which the compiler
recognizes.
"""

import collections

from jax.extend.mlir import ir

from batch.core.errors import LoweringError

# Extent that a symbol represents. `carrier` is the name of an array with this first extent, and
# `aval` is the type of that array. `number` is the name of the extent's value.
Extent = collections.namedtuple("Extent", ["number", "carrier", "aval"])


def extent_text(n):
    """Returns an extent as it appears in the text of a type: "?" for a symbol.

    Raises LoweringError for an expression of symbols.
    """
    if isinstance(n, int):
        return str(n)
    if not str(n).isidentifier():
        raise LoweringError(f"a ragged array has unsupported extent {n}; expected the number of "
                            "rows of an argument or list")
    return "?"


def mark_broadcasts(operation):
    """Marks the dimensions that broadcasts to symbolic shapes expand.

    These are the dimensions of extent 1, because a symbol is equal only to itself. The jaxlib
    passes require the two attributes.
    """
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


# Operations that compute shapes. Sums are excluded, because a sum is a different extent.
_SHAPES = ("arith.cmpi", "arith.constant", "arith.extsi", "arith.index_cast", "arith.trunci",
           "linalg.generic", "linalg.index", "linalg.yield", "scf.if", "scf.yield", "tensor.cast",
           "tensor.collapse_shape", "tensor.empty", "tensor.expand_shape", "tensor.extract",
           "tensor.from_elements")


def _comes_from(value, numbers):
    """Returns the index of the element of `numbers` that equals an extent, or None."""
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
    """Makes a JAX function read extents from arguments instead of computing them from numbers.

    The numbers of the symbols `names` are the first arguments. Argument `carriers` + i, not
    counting the numbers, has the extent of the i-th name. Returns the names in the order of
    the numbers, and whether all extents of tensors were resolved.
    """
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
