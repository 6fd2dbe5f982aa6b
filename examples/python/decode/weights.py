#!/usr/bin/env python3
"""weights.py FILE [--width=N] [--layers=N]: weights of GPT-2, random or from a file.

Writes random weights to FILE in the safetensors format, with the names and shapes of Hugging
Face's GPT-2: `wte.weight`, `h.0.attn.c_attn.weight`, … decode.py reads such files, with random
or trained weights.
"""

import argparse
import json

import numpy

TYPES = {"F32": "<f4", "F16": "<f2"}
LONGER = 2.6  # factor by which random weights scale the embedding of the end token


def random(width, layers, vocabulary=4096, positions=96, seed=0):
    """Returns random weights: {name: array}.

    A random network would repeat one token. To avoid that, attention, which hardly changes
    between steps, has small weights. The columns of mlp.c_proj have zero mean, because the
    mean of the results of GELU is not zero. The last token is the end token, as in GPT-2. Its
    embedding is longer than others by the factor LONGER, so it has the highest logit in about one
    of 30 steps.
    """
    generator = numpy.random.default_rng(seed)

    def normal(*shape, scale):
        return (scale * generator.standard_normal(shape, numpy.float32))

    found = {"wte.weight": normal(vocabulary, width, scale=0.1),
             "wpe.weight": normal(positions, width, scale=0.1)}
    for n in range(layers):
        for name, rows, columns in (("attn.c_attn", width, 3 * width),
                                    ("attn.c_proj", width, width),
                                    ("mlp.c_fc", width, 4 * width),
                                    ("mlp.c_proj", 4 * width, width)):
            found["h.%d.%s.weight" % (n, name)] = normal(rows, columns, scale=rows ** -0.5)
            found["h.%d.%s.bias" % (n, name)] = normal(columns, scale=0.02)
        attention, feed = ("h.%d.%s.c_proj.weight" % (n, part) for part in ("attn", "mlp"))
        found[attention] *= 0.3
        found[feed] -= found[feed].mean(0)
    for name in ["h.%d.ln_%d" % (n, i) for n in range(layers) for i in (1, 2)] + ["ln_f"]:
        found[name + ".weight"] = 1 + normal(width, scale=0.02)
        found[name + ".bias"] = normal(width, scale=0.02)
    found["wte.weight"][-1] *= LONGER
    return found


def write(file, arrays):
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": array.shape,
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    with open(file, "wb") as output:
        output.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            output.write(array.astype("<f4").tobytes())


def read(file):
    """Reads weights from a file in the safetensors format: {name: array of float32}."""
    with open(file, "rb") as input:
        header = json.loads(input.read(int.from_bytes(input.read(8), "little")))
        data = input.read()
    found = {}
    for name, entry in header.items():
        # Files of GPT-2 also contain masks, which are not weights.
        if name == "__metadata__" or name.endswith((".attn.bias", ".attn.masked_bias")):
            continue
        if entry["dtype"] not in TYPES:
            raise ValueError("%s: unsupported type %s of %s; expected %s" % (
                file, entry["dtype"], name, " or ".join(TYPES)))
        begin, end = entry["data_offsets"]
        array = numpy.frombuffer(data[begin:end], TYPES[entry["dtype"]])
        found[name.removeprefix("transformer.")] = \
            array.reshape(entry["shape"]).astype(numpy.float32)
    return found


def by_layer(arrays):
    """Groups weights as a step of the decoder reads them: arrays outside of layers by name, and a
    list of one dictionary per layer under "layers"."""
    layers = {}
    found = {"layers": [], **{name: array for name, array in arrays.items()
                              if not name.startswith("h.")}}
    for name, array in arrays.items():
        if name.startswith("h."):
            _, n, rest = name.split(".", 2)
            layers.setdefault(int(n), {})[rest] = array
    found["layers"] = [layers[n] for n in sorted(layers)]
    return found


def stacked(w):
    """Stacks the weights of `by_layer`: one array for all layers instead of one per layer."""
    names = w["layers"][0]
    return {**w, "layers": {name: numpy.stack([layer[name] for layer in w["layers"]])
                            for name in names}}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("file")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    options = parser.parse_args()
    write(options.file, random(options.width, options.layers))
