#!/usr/bin/env python3
"""write_params.py FILE NAME=SHAPE[:KIND]…: writes a safetensors file for tests.

SHAPE is for example 8x4. KIND is F32 (small numbers, the default), I64, NEGATIVE (negated
small numbers), ZERO, MINUS (-0.0), NAN or INF (one such number), LARGE (an F64 tensor with 1e300).
"""

import sys

import batchtest

tensors = {}
for argument in sys.argv[2:]:
    name, _, rest = argument.partition("=")
    shape, _, kind = rest.partition(":")
    shape = [int(extent) for extent in shape.split("x")]
    count = 1
    for extent in shape:
        count *= extent
    if kind == "I64":
        tensors[name] = ("I64", shape, list(range(count)))
    else:
        values = [i % 7 / 10 for i in range(count)]
        if kind in ("NEGATIVE", "MINUS"):
            values = [-value for value in values]
        if kind in ("ZERO", "MINUS"):
            values = [value * 0.0 for value in values]
        if kind in ("NAN", "INF"):
            values[0] = float(kind)
        if kind == "LARGE":
            values[0] = 1e300
        tensors[name] = ("F64" if kind == "LARGE" else "F32", shape, values)
batchtest.write_safetensors(sys.argv[1], tensors)
