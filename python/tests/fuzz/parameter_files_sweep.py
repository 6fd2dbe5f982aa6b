"""Binds changed parameter files.

The sweep changes a valid safetensors file at up to four places: its bytes, its length, the
length of its header, and names, types, shapes and offsets in its header. A reader in this module
follows the rules of the format, and decides whether the changed file is valid for the parameters.
If the reader rejects a file, Batch must reject the file with an ordinary exception. Otherwise, the
file must produce the same bits as arrays of the same elements. Processes have limits on time and
memory.

The same seed and number produce the same file: --first=NUMBER --files=1 repeats it. --files=10000
is the whole sweep.
"""

import json
import os
import random
import struct
import sys
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../test/Integration"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import batchtest
import ml_dtypes
import numpy

import batch
from fuzz import trials

# Model with parameters of several types. One parameter has a dynamic number of rows.
MODEL = """
func.func @main(%x: tensor<4xf32> {batch.name = "x"},
                %E: tensor<?x4xf32> {batch.shared = "E"},
                %b: tensor<4xf64> {batch.shared = "b"},
                %s: tensor<3xi32> {batch.shared = "s"})
    -> (tensor<4xf32> {batch.name = "y"}, tensor<4xf64> {batch.name = "z"},
        tensor<3xi32> {batch.name = "t"}) attributes {batch.entry} {
  %row = tensor.extract_slice %E[1, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  %y = arith.addf %x, %row : tensor<4xf32>
  %z = arith.addf %b, %b : tensor<4xf64>
  %t = arith.addi %s, %s : tensor<3xi32>
  return %y, %z, %t : tensor<4xf32>, tensor<4xf64>, tensor<3xi32>
}
"""
SIZES = {"BOOL": 1, "I8": 1, "U8": 1, "I16": 2, "I32": 4, "I64": 8, "F16": 2, "BF16": 2,
         "F32": 4, "F64": 8}
WANTED = {"E": (None, 4), "b": (4,), "s": (3,)}


class Refused(Exception):
    """Exception for a file that contains no valid parameters for the model."""


def _pairs(items):
    if len({name for name, _ in items}) != len(items):
        raise Refused("a duplicate name")
    return dict(items)


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2 ** 63


def _tensors(data):
    """Returns {name: (type, shape, bytes)} of a safetensors file."""
    if len(data) < 8:
        raise Refused("no header")
    (size,) = struct.unpack_from("<Q", data)
    if size > len(data) - 8:
        raise Refused("a header longer than the file")
    try:
        header = json.loads(data[8:8 + size].decode(), object_pairs_hook=list,
                            parse_constant=lambda _: 1 / 0)
        if not isinstance(header, list) or data[8:8 + size].lstrip()[:1] != b"{":
            raise Refused("no object")
        header = {name: dict(entry) if isinstance(entry, list) and name != "__metadata__"
                  else entry for name, entry in _pairs(header).items()}
    except (ValueError, TypeError, ZeroDivisionError, RecursionError):
        raise Refused("no JSON") from None
    found, ranges, payload = {}, [], data[8 + size:]
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if not isinstance(entry, dict):
            raise Refused("no entry")
        kind, shape, offsets = (entry.get(key) for key in ("dtype", "shape", "data_offsets"))
        if not isinstance(kind, str) or kind not in SIZES or \
                not isinstance(shape, list) or not all(map(_is_count, shape)) or \
                not isinstance(offsets, list) or len(offsets) != 2 or \
                not all(map(_is_count, offsets)):
            raise Refused("a malformed entry")
        begin, end = offsets
        count = SIZES[kind]
        for extent in shape:
            count *= extent
        if not begin <= end <= len(payload) or end - begin != count:
            raise Refused("false offsets")
        if count:
            ranges.append((begin, end))
        found[name] = kind, shape, payload[begin:end]
    place = 0
    for begin, end in sorted(ranges):
        if begin != place:
            raise Refused("a gap or an overlap")
        place = end
    if place != len(payload):
        raise Refused("bytes that belong to no tensor")
    return found


class Programs:
    """A model, and random files with its parameters."""

    def __init__(self):
        self.types = {"BOOL": numpy.bool_, "I8": numpy.int8, "U8": numpy.uint8,
                      "I16": numpy.int16, "I32": numpy.int32, "I64": numpy.int64,
                      "F16": numpy.float16, "BF16": ml_dtypes.bfloat16,
                      "F32": numpy.float32, "F64": numpy.float64}
        self.model = batch.compile(MODEL)
        self.x = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
        self.path = batchtest.temporary_paths()("changed.safetensors")

    def outputs(self, function):
        """Returns the bytes of the results of a function."""
        found = function(self.x)
        return {name: numpy.asarray(found[name]).tobytes() for name in "yzt"}

    def valid(self, rng):
        """Returns the header and the data of a valid file."""
        kinds = {"E": rng.choice(["F32", "F32", "F64", "F16", "BF16"]), "b": "F64",
                 "s": rng.choice(["I32", "I32", "I64"])}
        header, data = {}, b""
        rows = rng.choice([2, 3, 9])
        for name in rng.sample("Ebs", 3):
            shape = [rows if extent is None else extent for extent in WANTED[name]]
            count = 1
            for extent in shape:
                count *= extent
            raw = numpy.array([rng.randrange(-99, 99) for _ in range(count)]).astype(
                self.types[kinds[name]]).tobytes()
            header[name] = {"dtype": kinds[name], "shape": shape,
                            "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        return header, data

    def make(self, seed, number):
        """Returns the bytes of a changed file, and a description of the changes."""
        rng = random.Random(f"{seed} {number}")
        header, data = self.valid(rng)
        texts = []
        for _ in range(rng.choice([0, 1, 1, 2])):
            texts.append(_change_header(rng, header))
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        file = bytearray(struct.pack("<Q", len(text)) + text + data)
        for _ in range(rng.choice([0, 1, 1, 2]) if texts else rng.choice([0, 1, 1, 1, 3])):
            texts.append(_change_bytes(rng, file, len(text)))
        return bytes(file), "; ".join(texts) or "nothing"


def _change_header(rng, header):
    """Changes an entry of a header. Returns a description of the change."""
    name = rng.choice(sorted(header))
    entry = header[name]
    if not isinstance(entry, dict) or rng.random() < 0.2:
        what = rng.choice([None, [], {}, "text", 3, True, [[[]]], {"dtype": "F32"}])
        header[rng.choice([name, "__metadata__", "other", ""])] = what
        return f"an entry of {what!r}"
    if rng.random() < 0.15:
        new = rng.choice(["E", "b", "s", "e", "E ", "\0", "\u00e9", "x" * 5000])
        header[new] = header.pop(name)
        return f"{name!r} is called {repr(new)[:9]}"
    key = rng.choice(["dtype", "shape", "shape", "data_offsets", "data_offsets"])
    numbers = [0, 1, -1, 2, 3, 4, 7, 1.5, 2 ** 31, 2 ** 32, 2 ** 61, 2 ** 62, 2 ** 63,
               2 ** 64 - 1, 2 ** 64, 10 ** 400, 1e400, None, "4", True, []]
    value = entry.get(key)
    if key == "dtype":
        entry[key] = rng.choice([*SIZES, "f32", "F8_E4M3", "U64", "", "C64", None, 3])
    elif isinstance(value, list) and value and rng.random() < 0.7:
        place = rng.randrange(len(value))
        old = value[place]
        value[place] = rng.choice([*numbers, *((old - 1, old + 1, old * 2) if isinstance(
            old, int) else ())])
    else:
        entry[key] = rng.choice([
            [], [4], [0], [1] * 99, [2 ** 32] * 2, [2 ** 62, 0], None, "text", 7, {},
            (value or [])[::-1] if isinstance(value, list) else 0,
            [*value, 1] if isinstance(value, list) else 0])
    if rng.random() < 0.1:
        del entry[key]
    return f"{key} of {name!r}: {repr(entry.get(key))[:40]}"


def _change_bytes(rng, file, header):
    """Changes bytes of a file. Returns a description of the change."""
    place = rng.randrange(8 + header if rng.random() < 0.6 else max(1, len(file)))
    place = min(place, max(0, len(file) - 1))
    which = rng.choice(["bit", "byte", "cut", "remove", "insert", "length", "longer"])
    if not file:
        which = "longer"
    if which == "bit":
        file[place] ^= 1 << rng.randrange(8)
    elif which == "byte":
        file[place] = rng.choice(b'\0\xff {}[]",:0129-e\\n')
    elif which == "cut":
        del file[place:]
    elif which == "remove":
        del file[place:place + rng.choice([1, 4, 8])]
    elif which == "insert":
        file[place:place] = rng.choice([b"\0", b"{", b"[" * 3000, b'"a":1,', b"\xff\xfe"])
    elif which == "length":
        file[:8] = struct.pack("<Q", rng.choice([
            0, 1, max(0, header - 1), header + 1, header + 8, max(0, len(file) - 8),
            len(file), 2 ** 31, 2 ** 63 - 1, 2 ** 63, 2 ** 64 - 8, 2 ** 64 - 1]))
    else:
        file += rng.choice([b"\0", b"\0" * 8, b"{}"])
    return f"{which} at {place}"


def _make(seed, number):
    """Returns the description of a file, and a function that binds it."""
    data, text = programs.make(seed, number)
    model = programs.model

    def by_arrays():
        """Returns arrays with the elements of the file."""
        found = _tensors(data)
        arrays = {}
        for name, extents in WANTED.items():
            if name not in found:
                raise Refused("no " + name)
            kind, shape, raw = found[name]
            if len(shape) != len(extents) or any(
                    extent not in (None, given) for extent, given in zip(extents, shape)):
                raise Refused("another shape")
            arrays[name] = numpy.frombuffer(raw, programs.types[kind]).reshape(shape)
        return arrays

    def run():
        with open(programs.path, "wb") as file:
            file.write(data)
        try:
            found = programs.outputs(model.bind(programs.path, threads=1))
        except Exception as error:
            found = error
            if isinstance(error, (SystemError, AssertionError, MemoryError,
                                  UnicodeDecodeError)) or not str(error):
                return False, traceback.format_exc()
        try:
            arrays = by_arrays()
        except Refused as why:
            return isinstance(found, Exception), "refused" if isinstance(
                found, Exception) else f"was bound in spite of {why}"
        if isinstance(found, Exception):
            # Batch may reject types that it does not convert, and missing rows.
            words = str(found)
            well = any(part in words for part in ("type", "convert", "range", "out of",
                                                  "fit", "row"))
            return well, "refused for its contents" if well else words
        wanted = programs.outputs(model.bind(
            {name: value.astype({"E": "f4", "b": "f8", "s": "i4"}[name])
             for name, value in arrays.items()}, threads=1))
        return found == wanted, "bound" if found == wanted else "other results"

    return text, run


def _start():
    global programs
    programs = Programs()


FILES = trials.Trials(__file__, "files", few=1000, memory=4 << 30, start=_start, make=_make,
                      repeated=100, passes=8, most={"blocks": 200})

if __name__ == "__main__":
    FILES.main()
