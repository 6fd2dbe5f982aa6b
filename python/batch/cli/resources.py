"""Extracts the values of constants in a module, and writes them as parameters."""

import json
import math
import re

import numpy

from batch.core.errors import TextError

_TYPES = {"f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "i1": "BOOL",
          "i8": "I8", "i16": "I16", "i32": "I32", "i64": "I64"}
_NUMPY = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "BOOL": "?", "I8": "i1", "I16": "<i2",
          "I32": "<i4", "I64": "<i8"}


def take_resources(text, file):
    """Returns the text without the values of its resources, and these values.

    The values are a dictionary from keys to (type, shape, bytes).
    """
    start = text.rfind("{-#")
    if start < 0:
        return text, {}
    values = {}
    for key, quoted, data in re.findall(r'(?:([\w$.-]+)|"([^"\n]*)")\s*:\s*"0x([^"\n]*)"',
                                        text[start:]):
        key = key or quoted
        kind = re.search(
            rf'dense_resource<"?{re.escape(key)}"?>\s*:\s*tensor<((?:\d+x)*)(\w+)>', text[:start])
        if not kind:  # no constant uses the resource
            continue
        if kind[2] not in _TYPES:
            raise TextError(f"{file}: error: unsupported element type {kind[2]} of resource "
                            f"'{key}'; expected one of {', '.join(_TYPES)}")
        shape = [int(n) for n in kind[1].split("x")[:-1]]
        try:
            found = bytes.fromhex(data)[4:]  # the first 4 bytes are the alignment
        except ValueError:
            raise TextError(f"{file}: error: the value of resource '{key}' is not a hexadecimal "
                            "number") from None
        size = math.prod(shape) * (int(re.sub(r"\D", "", kind[2])) + 7 >> 3)
        if len(found) != size:
            raise TextError(f"{file}: error: resource '{key}' has {len(found)} bytes; expected "
                            f"{size} for tensor<{kind[1]}{kind[2]}>")
        values[key] = _TYPES[kind[2]], shape, found
    return text[:start].rstrip() + "\n", values


def write_values(values, path, stream):
    if path.endswith(".npz"):
        refused = [key for key, (kind, _, _) in values.items() if kind not in _NUMPY]
        if refused:
            raise TextError(f"{path}: error: NumPy does not support type bf16 of resource "
                            f"'{refused[0]}'; write a .safetensors file")
        numpy.savez(stream, **{key: numpy.frombuffer(data, _NUMPY[kind]).reshape(shape)
                               for key, (kind, shape, data) in values.items()})
        return
    header, at = {}, 0
    for key, (kind, shape, data) in values.items():
        header[key] = {"dtype": kind, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    header = json.dumps(header).encode()
    header += b" " * (-len(header) % 8)
    stream.write(len(header).to_bytes(8, "little") + header)
    for _, _, data in values.values():
        stream.write(data)
