"""BlockDrop and SkipNet for the benchmark: networks of residual_models.py with parameters
for which decisions differ between images; the work of the blocks; and traces, in which the
decisions of one run are fixed."""

import numpy

import residual_models
from residual_models import BLOCKS


class Net:
    """A network with the sizes `s` of models.py."""

    def __init__(self, name, s):
        self.name, self.pixels = name, s["pixels"]
        self.counts = (2, 1, 1) if s["small"] else BLOCKS[name]
        self.model = residual_models.Model(name, self.pixels, self.counts)
        self.blocks = self.model.blocks
        self.policy = residual_models.all_blocks("s", (1, 1, 1)) \
            if name == "blockdrop" else []

    def text(self):
        return self.model.text()

    def shapes(self):
        """Returns the shapes of the parameters by name."""
        self.model.entry()
        shapes = self.model.shapes()
        return {name: tuple(shapes[kind[1:]])
                for name, kind in self.model.parameters.items()}

    # NumPy code that processes one image at a time, to compute the biases of decisions.

    def adjust(self, p, random, instances):
        for name in p:
            norm, _, key = name.rpartition(".")
            if norm + ".var" in p:
                middle = {"var": 1, "g": 0.4 if norm.endswith(".n2") else 1}.get(key, 0)
                p[name][:] = random.uniform(middle - 0.2, middle + 0.2, p[name].shape)
        images = [instance["image"] for instance in instances]
        if self.name == "blockdrop":
            W = p["policy.fc.W"]
            scores = []
            for image in images:
                x = stem(p, "policy.", image)
                for block in self.policy:
                    x = relu(self.shortcut(p, block, x) + branch(p, "policy." + block.name,
                                                                 x, block))
                scores.append(W @ x.mean((1, 2)))
            p["policy.fc.b"][:] = -numpy.median(scores, axis=0)
        if self.name == "skipnet38":
            for block in self.blocks[:-1]:
                p[block.name + ".gate.W"] *= 3
            p["rnn.proj.b"][:] = 0
            for _ in range(3):
                scores = [score for image in images for score in self.gates(p, image)]
                # In the paper, 23 of 33 blocks run, so 70 % of the scores become positive.
                p["rnn.proj.b"][:] -= numpy.quantile(scores, 0.3)

    def shortcut(self, p, block, x):
        if not block.narrows:
            return x
        if self.model.gated:
            return layer(p, block.name + ".ds", block.name + ".ds.n", x, 2)
        c, h, w = x.shape
        means = x.reshape(c, h // 2, 2, w // 2, 2).mean((2, 4))
        return numpy.concatenate([means, numpy.zeros((block.channels - c, h // 2, w // 2))])

    def gates(self, p, image):
        """Returns the scores that the gates of SkipNet compare with zero."""
        x, h, c, found = stem(p, "", image), numpy.zeros(10), numpy.zeros(10), []
        for block in self.blocks:
            run = True
            if block.number:
                before = self.blocks[block.number - 1].name
                u = p[before + ".gate.W"] @ x.mean((1, 2)) + p[before + ".gate.b"]
                i, f, g, o = (p["rnn.W_" + k] @ u + p["rnn.U_" + k] @ h + p["rnn.b_" + k]
                              for k in "ifgo")
                c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
                h = sigmoid(o) * numpy.tanh(c)
                found.append(float(p["rnn.proj"][0] @ h + p["rnn.proj.b"][0]))
                run = found[-1] > 0
            short = self.shortcut(p, block, x)
            x = relu(short + branch(p, block.name, x, block)) if run else short
        return found

    # The FLOPs and bytes of the convolutions.

    def work(self, decisions):
        """Returns the work, as Model.work of models.py does."""
        def convolution(into, out, size, side, rows):
            weights = into * out * size ** 2
            return 1, 2 * weights * side ** 2 * rows, 4 * weights

        def blocks(list_, counts):
            found = [convolution(3, 16, 3, self.pixels, rows)]
            for block, count in zip(list_, counts):
                side = self.pixels * 16 // block.channels
                if block.narrows and self.model.gated:
                    found.append(convolution(block.before, block.channels, 1, side, rows))
                if count:
                    found += [convolution(block.before, block.channels, 3, side, count),
                              convolution(block.channels, block.channels, 3, side, count)]
            return found

        rows = len(decisions)
        return (blocks(self.blocks, [int(n) for n in numpy.sum(decisions, axis=0)]) +
                (blocks(self.policy, [rows] * 3) if self.policy else []))


class Trace(residual_models.Model):
    """A network without control flow. It runs the blocks that another network ran, and still
    computes policies and gates."""

    def __init__(self, net, ran):
        super().__init__(net.name, net.pixels, net.counts)
        self.ran = [bool(run) for run in ran]

    def block(self, block, x, prefix, run=None):
        if run is None or self.ran[block.number]:
            return super().block(block, x, prefix)
        # A block that the other network did not run keeps only its shortcut.
        if not block.narrows:
            return "", x
        text, result = super().block(block, x, prefix)
        short = "%%%ss%d" % (x[1], block.number)
        return text[:text.index("    " + result + " =")], short


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def relu(x):
    return numpy.maximum(x, 0)


def layer(p, filters, norm, x, stride):
    """Returns the result of a convolution followed by its norm."""
    W = p[filters]
    pad = W.shape[2] // 2
    windows = numpy.lib.stride_tricks.sliding_window_view(
        numpy.pad(x, ((0, 0), (pad, pad), (pad, pad))), W.shape[2:], (1, 2))
    y = numpy.tensordot(W, windows[:, ::stride, ::stride], ([1, 2, 3], [0, 3, 4]))
    g, b, mean, var = (p["%s.%s" % (norm, key)][:, None, None]
                       for key in ("g", "b", "mean", "var"))
    return (y - mean) / numpy.sqrt(var + 1e-5) * g + b


def stem(p, prefix, image):
    return relu(layer(p, prefix + "stem", prefix + "stem.n", image, 1))


def branch(p, name, x, block):
    y = relu(layer(p, name + ".c1", name + ".n1", x, 2 if block.narrows else 1))
    return layer(p, name + ".c2", name + ".n2", y, 1)
