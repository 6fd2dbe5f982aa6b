#!/usr/bin/env python3
"""check_skipnet101.py [--small]: compares SkipNet (bottleneck blocks), batched and
unbatched, with a float64 reference in NumPy.

A seed determines parameters and images, such that each gate is at least 1e-2 away from its
bound, so that f32 makes the same decisions. The script checks this. --small: the same kinds
of layers, on small images.
"""

import array
import sys

import numpy

import batchtest
import bottleneck_models

MARGIN = 1e-2
# Size, blocks, width and classes of the model, and the seed
FULL, SMALL = ((), 29), ((32, (1, 2, 3, 1), 4, 10), 14)
IMAGES = 2


def draw(model, seed):
    """Returns parameters and images. With these parameters, products keep the magnitude of their
    inputs. The last norm of a block makes the block's results small. Gates depend on the image."""
    random = numpy.random.default_rng(seed)
    model.entry()
    shapes, p = model.shapes(), {}
    for name, kind in model.parameters.items():
        shape, last = shapes[kind[1:]], name.split(".")[-1]
        if len(shape) > 1:
            bound, middle = (3 / numpy.prod(shape[1:])) ** 0.5, 0
            bound *= 4 if name.endswith(".gate.W") else 1
        else:
            bound = 0.2
            middle = {"var": 1, "g": 0.4 if ".n3." in name else 1}.get(last, 0)
        p[name] = random.uniform(middle - bound, middle + bound, shape).astype("f4")
    grid, images = numpy.arange(model.size) / model.size, []
    for _ in range(IMAGES):
        # A color, two waves and noise, because images of noise alone have equal means
        image = random.normal(0, 1, (3, 1, 1)) + random.normal(
            0, 0.3, (3, model.size, model.size))
        for _ in range(2):
            a, b, phase = random.uniform(-9, 9, 3)
            image = image + random.normal(0, 1, (3, 1, 1)) * numpy.sin(
                a * grid[:, None] + b * grid + phase)
        images.append(image.astype("f4"))
    return p, images


def windows(x, size, stride, pad):
    padded = numpy.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    return numpy.lib.stride_tricks.sliding_window_view(
        padded, (size, size), (1, 2))[:, ::stride, ::stride]


def layer(p, filters, norm, x, stride):
    W = p[filters]
    y = numpy.tensordot(W, windows(x, W.shape[2], stride, W.shape[2] // 2),
                        ([1, 2, 3], [0, 3, 4]))
    g, b, mean, var = (p["%s.%s" % (norm, part)][:, None, None]
                       for part in ("g", "b", "mean", "var"))
    return (y - mean) / numpy.sqrt(var + 1e-5) * g + b


def relu(x):
    return numpy.maximum(x, 0)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def reference(model, p, image):
    """Returns the logits, the blocks that ran, and the smallest distance of a gate from its
    threshold."""
    x = relu(layer(p, "stem", "stem.n", image.astype("f8"), 2))
    x = windows(x, 3, 2, 1).max((3, 4))
    h = c = numpy.zeros(10)
    ran, margin = [1], numpy.inf
    for block in model.blocks:
        if block.number:
            before = model.blocks[block.number - 1].name
            u = p[before + ".gate.W"] @ x.mean((1, 2)) + p[before + ".gate.b"]
            i, f, g, o = (p["rnn.W_" + gate] @ u + p["rnn.U_" + gate] @ h + p["rnn.b_" + gate]
                          for gate in "ifgo")
            c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
            h = sigmoid(o) * numpy.tanh(c)
            score = float(p["rnn.proj"][0] @ h + p["rnn.proj.b"][0])
            margin = min(margin, abs(score))
            ran.append(int(score > 0))
        short = x
        if block.projection:
            short = layer(p, block.name + ".ds", block.name + ".ds.n", x, block.stride)
        if ran[-1]:
            name, y = block.name, x
            y = relu(layer(p, name + ".c1", name + ".n1", y, 1))
            y = relu(layer(p, name + ".c2", name + ".n2", y, block.stride))
            short = relu(short + layer(p, name + ".c3", name + ".n3", y, 1))
        x = short
    return p["fc.W"] @ x.mean((1, 2)) + p["fc.b"], ran, margin


def packed(values):
    data = array.array("f")
    data.frombytes(numpy.ascontiguousarray(values, "f4").tobytes())
    return "F32", list(values.shape), data


def main(small):
    checks = batchtest.Checks("skipnet101")
    path = batchtest.temporary_paths()
    sizes, seed = SMALL if small else FULL
    model = bottleneck_models.Model(*sizes)
    source = batchtest.write_lines(path("model.mlir"), [model.text()])
    p, images = draw(model, seed)
    files = [path(name + ".safetensors") for name in ("params", "inputs", "expected")]
    batchtest.write_safetensors(files[0], {name: packed(value) for name, value in p.items()})
    batchtest.write_safetensors(files[1], {"%d.image" % i: packed(image)
                                           for i, image in enumerate(images)})
    inputs = batchtest.write_lines(path("inputs.jsonl"), [
        {"image": {"tensor": "%d.image" % i}} for i in range(IMAGES)])
    p = {name: value.astype("f8") for name, value in p.items()}
    expected, decisions = {}, []
    for i, image in enumerate(images):
        logits, ran, margin = reference(model, p, image)
        checks.expect("gates of image %d are decided by %g" % (i, margin), margin >= MARGIN)
        decisions.append(ran)
        expected["%d.logits" % i] = packed(logits)
        expected["%d.ran" % i] = ("I32", [len(ran)], ran)
        expected["%d.cls" % i] = ("I32", [], [int(logits.argmax())])
    checks.expect("images decide differently, and skip blocks", decisions[0] != decisions[1]
                  and 0 < sum(map(sum, decisions)) < IMAGES * len(model.blocks), decisions)
    batchtest.write_safetensors(files[2], expected)
    for strategy in ("lockstep", "lazy"):
        program = checks.run("compile " + strategy, lambda: batchtest.compile_model(
            source, path(strategy + ".so"), None, "--strategy=" + strategy))
        for batch, threads in ((1, 1), (IMAGES, 2)) if program else ():
            checks.run("%s, batch %d on %d thread(s)" % (strategy, batch, threads),
                       lambda: batchtest.run_model(
                           program, inputs, "--input-tensors=" + files[1],
                           "--expect=%s,1e-3,1e-4" % files[2], params=files[0], batch=batch,
                           threads=threads))
    checks.exit()


if __name__ == "__main__":
    main("--small" in sys.argv[1:])
