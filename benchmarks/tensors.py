"""Tensors of inputs, parameters and outputs as NumPy arrays, for benchmarks with peers."""

import array
import json
import os

import numpy

import batchtest

CODES = {"f": "F32", "i": "I32"}


def write_tensors(path, tensors):
    packed = {}
    for name, values in tensors.items():
        code = numpy.asarray(values).dtype.kind
        data = array.array("f" if code == "f" else "i")
        data.frombytes(numpy.ascontiguousarray(values, code + "4").tobytes())
        packed[name] = (CODES[code], list(values.shape), data)
    batchtest.write_safetensors(path, packed)


def read_tensors(path):
    """Returns {name: array} of a safetensors file."""
    return {name: numpy.array(values).reshape(shape)
            for name, (_, shape, values) in batchtest.read_safetensors(path).items()}


def read_outputs(path, count):
    """Returns the outputs of batch-run: {name: array} for each instance."""
    tensors, found = read_tensors(path), [{} for _ in range(count)]
    for name, values in tensors.items():
        if name.endswith(".offsets"):
            continue
        ends = tensors.get(name + ".offsets")
        for i in range(count):
            found[i][name] = values[i] if ends is None else values[ends[i]:ends[i + 1]]
    return found


def sidecar(path):
    """Returns the path at which the arrays of an input file are stored. The file need not exist."""
    return path + ".safetensors"


def write_inputs(path, values):
    """Writes an input file. Arrays are too long for JSON and are stored in a second file."""
    tensors, lines = {}, []
    for i, value in enumerate(values):
        line = {}
        for name, part in value.items():
            if isinstance(part, numpy.ndarray):
                tensors["%d.%s" % (i, name)] = part
                part = {"tensor": "%d.%s" % (i, name)}
            line[name] = part
        lines.append(json.dumps(line))
    if tensors:
        write_tensors(sidecar(path), tensors)
    return batchtest.write_lines(path, lines)


def read_inputs(path):
    tensors = read_tensors(sidecar(path)) if os.path.exists(sidecar(path)) else {}
    with open(path) as file:
        values = [json.loads(line) for line in file]
    return [{name: tensors[part["tensor"]]
             if isinstance(part, dict) and "tensor" in part else part
             for name, part in value.items()} for value in values]
