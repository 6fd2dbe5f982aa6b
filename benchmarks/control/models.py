"""The models of the benchmark at the sizes of their papers, and at small sizes for
tests: parameters, inputs, and the minimum work of any program.

Parameters are uniform in +-gain * sqrt(3 / number of inputs of an output). Parameters of decisions
are adjusted so that instances decide differently. The score of the word that ends a
sentence varies more than other scores. Biases make about half of the decisions of a policy
positive, and 70 % of the decisions of gates.
"""

import numpy

import residual
import residual_models


class Model:
    """A model. `sizes(small)`: its named sizes; `shapes(s)`: the shapes of its parameters;
    `instance(random, s)`: an input, with NumPy arrays; `work(s, inputs, outputs)`: the parts of
    the work on a mini-batch that run one after the other, each as (number of repetitions, FLOPs,
    bytes of weights and caches); `decisions`: outputs that show which path was taken;
    `options(s)`: options of batch-compile."""

    decisions, gains = (), {}

    def sizes(self, small):
        return {"H": 16 if small else 256}

    def options(self, s):
        return ["--size=H=%d" % s["H"]]

    def source(self, s):
        """Returns the text of the model, or None to use the file batchtest.model(name)."""
        return None

    def adjust(self, p, random, s):
        """Adjusts the parameters, which were drawn at random."""


def lstm_shapes(prefix, h):
    return {"%s.%s_%s" % (prefix, kind, gate): (h,) if kind == "b" else (h, h)
            for gate in "ifgo" for kind in "WUb"}


class Sentences(Model):
    """Models with loops over given words. All sentences have the same length, as in the paper."""

    words, few = 64, 5

    def instance(self, random, s):
        count = self.few if s["H"] == 16 else self.words
        return {"tokens": random.integers(0, 1000, count).tolist()}


class LSTM10(Sentences):
    def shapes(self, s):
        found = {"E": (1000, s["H"])}
        for layer in range(10):
            found.update(lstm_shapes("l%d" % layer, s["H"]))
        return found

    def work(self, s, inputs, outputs):
        # Layers run one after the other. In each, one product multiplies all words by the input
        # weights.
        count, flops, weights = len(inputs[0]["tokens"]), 8 * s["H"] ** 2, 16 * s["H"] ** 2
        return 10 * [(1, flops * count * len(inputs), weights),
                     (count, flops * len(inputs), weights)]


class NASRNN(Sentences):
    words = 1000

    def shapes(self, s):
        h = s["H"]
        return dict({"E": (1000, h)},
                    **{"%s_%d" % (net, k): (h, h) for net in "WU" for k in range(8)})

    def work(self, s, inputs, outputs):
        count, flops, weights = len(inputs[0]["tokens"]), 16 * s["H"] ** 2, 32 * s["H"] ** 2
        return [(1, flops * count * len(inputs), weights),
                (count, flops * len(inputs), weights)]


class Attention(Model):
    def sizes(self, small):
        return {"HEADS": 2 if small else 12, "D": 8 if small else 64, "SLOTS": 64}

    def options(self, s):
        return ["--size=%s=%d" % item for item in s.items()]

    def shapes(self, s):
        return {"W_" + net: (s["HEADS"], s["D"], s["D"]) for net in "qkvo"}

    def instance(self, random, s):
        # As in the paper, half of the slots are filled, and the other half are zeros.
        cache = (s["HEADS"], s["SLOTS"], s["D"])
        found = {"x": random.uniform(-1.7, 1.7, (s["HEADS"], s["D"])).astype("f4")}
        for name in "KV":
            found[name] = random.uniform(-1.7, 1.7, cache).astype("f4")
            found[name][:, s["SLOTS"] - 32:] = 0
        return found

    def slots(self, s):
        """Returns the numbers of slots that the steps read, in the order of the steps."""
        return [s["SLOTS"]] * 32

    def work(self, s, inputs, outputs):
        projections, head = 4 * s["HEADS"] * s["D"] ** 2, s["HEADS"] * s["D"]
        return [(1, len(inputs) * (2 * projections + 4 * head * slots),
                 4 * projections + 8 * head * slots * len(inputs))
                for slots in self.slots(s)]


class Masked(Attention):
    def slots(self, s):
        return range(s["SLOTS"] - 31, s["SLOTS"] + 1)


class Seq2seq(Model):
    decisions = ("count", "out")
    gains = {"E": 2, "l.U_": 2, "out.W": 2}

    def sizes(self, small):
        return {"H": 16 if small else 256, "V": 97 if small else 3797}

    def options(self, s):
        return ["--size=%s=%d" % item for item in s.items()]

    def shapes(self, s):
        h, v = s["H"], s["V"]
        return dict({"E": (v, h), "out.W": (v, h), "out.b": (v,)}, **lstm_shapes("l", h))

    def adjust(self, p, random, s):
        # With these factors, sentences have about 20 words on average, and some have 50.
        p["out.W"][0] *= 2
        p["out.b"][:] *= 0.01

    def instance(self, random, s):
        return {name: random.uniform(-1, 1, s["H"]).astype("f4") for name in ("h0", "c0")}

    def work(self, s, inputs, outputs):
        steps = [int(output["count"]) for output in outputs]
        table = s["V"] * s["H"]
        return [(1, (16 * s["H"] ** 2 + 2 * table) * sum(t < count for count in steps),
                 32 * s["H"] ** 2 + 4 * table) for t in range(max(steps))]


class Forced(Seq2seq):
    def instance(self, random, s):
        # Sentences have 4 to 50 words, including the word that ends them.
        count = int(random.integers(4, 51))
        force = numpy.zeros(50, "i4")
        force[:count - 1] = random.integers(2, s["V"], count - 1)
        return dict(super().instance(random, s), force=force)


class Residual(Model):
    """Models whose text residual_models.py generates."""

    def __init__(self, name):
        self.name = name
        self.decisions = ("ran" if name == "skipnet38" else "keep", "cls")

    def sizes(self, small):
        return {"pixels": 8 if small else residual_models.SIZE, "small": small}

    def options(self, s):
        return []

    def net(self, s):
        return residual.Net(self.name, s)

    def source(self, s):
        return self.net(s).text()

    def shapes(self, s):
        return self.net(s).shapes()

    def adjust(self, p, random, s):
        self.net(s).adjust(p, random, [self.instance(random, s) for _ in range(16)])

    def instance(self, random, s):
        size = s["pixels"]
        # An image is the sum of a colour, two waves and noise. Images of pure noise would have
        # nearly equal means, on which decisions depend.
        grid = numpy.arange(size) / size
        image = random.normal(0, 1, (3, 1, 1)) + random.normal(0, 0.3, (3, size, size))
        for _ in range(2):
            a, b, phase = random.uniform(-9, 9, 3)
            image = image + random.normal(0, 1, (3, 1, 1)) * numpy.sin(
                a * grid[:, None] + b * grid + phase)
        found = {"image": image.astype("f4")}
        if self.name == "blockdrop_given":
            # At full size, seven of the 15 blocks run, which is the average in the paper.
            count = len(self.net(s).blocks)
            found["probs"] = random.uniform(0, 0.45, count).astype("f4")
            found["probs"][random.permutation(count)[:(count - 1) // 2]] += 0.5
        return found

    def work(self, s, inputs, outputs):
        return self.net(s).work([output[self.decisions[0]] for output in outputs])


class RAE(Model):
    leaves = 33

    def sizes(self, small):
        return {"H": 16 if small else 512}

    def shapes(self, s):
        h = s["H"]
        return {"E": (127, h), "W": (h, 2 * h), "b": (h,)}

    def instance(self, random, s):
        # Adjacent subtrees are joined in a random order. The tree has 65 nodes, as in the paper.
        trees = [["leaf", int(word)] for word in random.integers(0, 127, self.leaves)]
        while len(trees) > 1:
            at = int(random.integers(len(trees) - 1))
            trees[at:at + 2] = [["node", trees[at], trees[at + 1]]]
        return {"tree": trees[0]}

    def work(self, s, inputs, outputs):
        heights = {}

        def height(tree):
            if tree[0] == "leaf":
                return 0
            found = 1 + max(height(kid) for kid in tree[1:])
            heights[found] = heights.get(found, 0) + 1
            return found

        for instance in inputs:
            height(instance["tree"])
        return [(1, 4 * s["H"] ** 2 * nodes, 8 * s["H"] ** 2) for nodes in heights.values()]


MODELS = {"lstm10": LSTM10(), "nasrnn": NASRNN(), "nasrnn_add": NASRNN(),
          "attention": Attention(), "attention_masked": Masked(), "seq2seq": Seq2seq(),
          "seq2seq_forced": Forced(), "blockdrop": Residual("blockdrop"),
          "blockdrop_given": Residual("blockdrop_given"),
          "skipnet38": Residual("skipnet38"), "rae": RAE()}


def parameters(name, s):
    """Returns {name: array}. The arrays are the same in each run."""
    model, random = MODELS[name], numpy.random.default_rng(list(name.encode()))
    found = {}
    for key, shape in model.shapes(s).items():
        gain = next((gain for start, gain in model.gains.items() if key.startswith(start)), 1)
        fan_in = numpy.prod(shape[1:]) if len(shape) in (2, 4) else shape[-1]
        bound = gain * (3 / fan_in) ** 0.5
        found[key] = random.uniform(-bound, bound, shape).astype("f4")
    model.adjust(found, random, s)
    return found


def inputs(name, s, count):
    random = numpy.random.default_rng(7)
    return [MODELS[name].instance(random, s) for _ in range(count)]


def work(name, s, values, outputs, batch):
    """Returns the work of all mini-batches (see Model)."""
    return [part for first in range(0, len(values), batch)
            for part in MODELS[name].work(s, values[first:first + batch],
                                          outputs[first:first + batch])]


def floor(parts, threads, peak):
    """Returns the minimum time of the work in microseconds, summed over its parts, and the
    component that dominates it. Each repetition of a part takes the larger of two times: of its
    products at the FMA peak, and of reading its bytes at the measured rate."""
    rates = sorted((float(size) * 2 ** 20, rate * 1e3)
                   for size, rate in peak["read_gbytes"].items())
    total, products = 0.0, 0.0
    for times, flops, size in parts:
        rate = next((rate for limit, rate in rates if size / threads <= limit), rates[-1][1])
        product, read = flops / (1e3 * peak["fma_gflops"]), size / rate
        total += times * max(product, read)
        products += times * product if product > read else 0
    return total, "products" if products > total / 2 else "reads"
