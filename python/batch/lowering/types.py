"""MLIR types of arrays."""

from batch.core.errors import LoweringError
from batch.lowering.ragged_extents import extent_text

_ELEMENTS = {"bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
             "uint8": "i8", "uint16": "i16", "uint32": "i32", "uint64": "i64",
             "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}


def element_type(dtype):
    name = getattr(dtype, "name", str(dtype))
    if name not in _ELEMENTS:
        raise LoweringError(f"unsupported element type {name}; expected one of "
                            f"{', '.join(_ELEMENTS)}")
    return _ELEMENTS[name]


def tensor_type(aval):
    return "tensor<{}>".format("x".join([extent_text(n) for n in aval.shape] +
                                   [element_type(aval.dtype)]))
