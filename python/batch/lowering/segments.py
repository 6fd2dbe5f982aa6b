"""Prepares StableHLO modules for the jaxlib passes."""

from jax.extend.mlir import ir

INLINE = "builtin.module(inline,symbol-dce,canonicalize,cse)"


def assembly_text(function):
    return function.get_asm(enable_debug_info=True, use_local_scope=True)


def keep_concatenations(operation):
    """Replaces concatenations of rows with `tensor.concat`.

    The jaxlib passes would select an operand for each element. Rows are static float tensors
    with a last extent of at least _ROW.
    """
    for region in operation.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                inner = inner.operation
                keep_concatenations(inner)
                types = [ir.RankedTensorType(value.type) for value in inner.operands] \
                    if inner.name == "stablehlo.concatenate" else []
                if not types or not all(
                        kind.has_static_shape and kind.shape[-1] >= _ROW and
                        isinstance(kind.element_type, ir.FloatType) for kind in types):
                    continue
                with ir.InsertionPoint(inner), inner.location:
                    made = ir.Operation.create(
                        "tensor.concat", results=[inner.results[0].type],
                        operands=list(inner.operands),
                        attributes={"dim": inner.attributes["dimension"]})
                inner.results[0].replace_all_uses_with(made.results[0])
                inner.erase()


_ROW = 16  # minimum number of elements that are copied together
