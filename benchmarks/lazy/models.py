"""The models of the benchmark: sizes, parameters, inputs, products.

Parameters are uniform in +-gain * sqrt(3 / last extent). The gains and biases below make
decisions differ between instances and between steps, as in trained models. With plain random
parameters, most models take the same path for every input.
"""

import numpy


def linear(name, out, into):
    return {name + ".W": (out, into), name + ".b": (out,)}


class Model:
    """A model. `sizes(hidden)`: its named sizes; `shapes(s)`: the shapes of its parameters;
    `instance(random, s)`: an input; `flops(s, inputs, outputs, tasks)`: the FLOPs of its
    products, with `outputs` by instance and `tasks` by kernel; `waits`: whether control flow
    waits for tensors; `decisions`: outputs that show which path was taken; `named`: the sizes that
    the module names (None: all)."""

    waits, decisions, gains, named = True, (), {}, None

    def sizes(self, hidden):
        return {"H": hidden}

    def module_sizes(self, s):
        return {name: s[name] for name in self.named or s}

    def adjust(self, p, random):
        """Adjusts the parameters, which were drawn at random."""


def uniform(seed, chain, first, second):
    """Returns draws in (0, 1) for (seed, chain), selected by two arrays of integers. Draws equal
    those of random.uniform.f32 of the library: the first word of Threefry-2x32 with 20 rounds."""
    key = [numpy.uint32(seed), numpy.uint32(chain)]
    key.append(key[0] ^ key[1] ^ numpy.uint32(0x1BD11BDA))
    x, y = (numpy.asarray(n, "u4") + k for n, k in zip((first, second), key))
    for i in range(20):
        turn = (13, 15, 26, 6, 17, 29, 16, 24)[i % 8]
        x = x + y
        y = (y << turn | y >> 32 - turn) ^ x
        if i % 4 == 3:
            step = i // 4 + 1
            x, y = x + key[step % 3], y + key[(step + 1) % 3] + numpy.uint32(step)
    return (x >> 9).astype("f4") * numpy.float32(2 ** -23) + numpy.float32(2 ** -24)


def words(random, count, vocabulary):
    return random.integers(2, vocabulary, int(count)).tolist()


class Greedy(Model):
    decisions = ("out",)
    gains = {"U_": 2, "E_": 2, "W_out": 2}

    def sizes(self, hidden):
        return {"H": hidden, "V": 4000}

    def shapes(self, s):
        h, v = s["H"], s["V"]
        found = {"E_src": (v, h), "E_tgt": (v, h), "h0": (h,), "c0": (h,),
                 "W_out": (v, h), "b_out": (v,)}
        for side in ("enc", "dec"):
            found.update(linear(side + ".in", h, h))
            for gate in "ifgo":
                found.update({"%s.W_%s" % (side, gate): (h, h),
                              "%s.U_%s" % (side, gate): (h, h),
                              "%s.b_%s" % (side, gate): (h,)})
        return found

    def instance(self, random, s):
        # A random network rarely ends a sentence, so most sentences end at their limit. Because a
        # sentence may end earlier, the number of steps is not known in advance.
        return {"src": words(random, random.integers(8, 41), s["V"]),
                "limit": int(random.integers(8, 41))}

    def flops(self, s, inputs, outputs, tasks):
        step = 2 * 9 * s["H"] ** 2
        written = sum(len(o["out"]) for o in outputs)
        return (step * (sum(len(i["src"]) for i in inputs) + written) +
                2 * s["V"] * s["H"] * written)


class Beam(Greedy):
    decisions = ("out", "steps")

    def adjust(self, p, random):
        # The score of word 0, the end, varies more than the scores of other words, so that some
        # beams reach it and others do not.
        p["W_out"][0] *= p["W_out"].shape[1] / 170

    def flops(self, s, inputs, outputs, tasks):
        # Number of beams in progress, summed over all steps. Each of these beams reads its last
        # word.
        running = sum(count for name, count in tasks.items()
                      if name.startswith("main_while") and name.endswith("_input"))
        if not running:
            raise ValueError("cannot count beams: no kernel is named main_while*_input")
        step = 2 * 9 * s["H"] ** 2
        return (step * sum(len(i["src"]) for i in inputs) +
                (step + 2 * s["V"] * s["H"]) * running)


class Speculative(Model):
    """A draft network with one layer and a target network with four. Words form groups of 8 similar
    words. In both networks, the next word is in the previous group. After a word of the second
    group, the next word is word 0, the end. The choice among the 8 words of a group depends on all
    words read. The target therefore accepts some words of the draft and rejects others."""

    decisions = ("out", "accepted")
    named = ("D", "F", "V")
    LAYERS = ["d.0", "t.0", "t.1", "t.2", "t.3"]

    def sizes(self, hidden):
        return {"H": hidden, "D": hidden // 4, "F": 4 * hidden, "V": 4000}

    def shapes(self, s):
        h, found = s["H"], {}
        for net in "dt":
            found.update({net + ".E": (s["V"], h), net + ".pos": (128, h),
                          net + ".W_out": (s["V"], h)})
        for name in self.LAYERS:
            for part in "qkvo":
                found.update(linear("%s.%s" % (name, part), h, h))
            found.update(linear(name + ".ff1", s["F"], h))
            found.update(linear(name + ".ff2", h, s["F"]))
        for norm in ["d.lnf", "t.lnf"] + [name + ".ln" + i for name in self.LAYERS
                                          for i in "12"]:
            found.update({norm + ".g": (h,), norm + ".b": (h,)})
        return found

    def adjust(self, p, random):
        for name in p:
            if ".ln" in name and name.endswith(".g"):
                p[name][:] = 1 + 0.1 * random.standard_normal(p[name].shape)
        count, h = p["t.E"].shape
        groups = random.standard_normal((count // 8, h)).repeat(8, axis=0)
        own, chosen = random.standard_normal((2, count, h))
        E = 3 * groups + 2 * own
        W = numpy.roll(groups, -8, axis=0) * (40 / h) + chosen * (1.5 / h ** 0.5)
        W[0] *= 1.5
        for net in "dt":
            p[net + ".E"][:], p[net + ".W_out"][:] = E, W

    def instance(self, random, s):
        # Some instances reach word 0, the end, before they have written 24 words.
        return {"tokens": words(random, random.integers(7, 40), s["V"]) +
                words(random, 1, 480), "limit": 24}

    def flops(self, s, inputs, outputs, tasks):
        h, layer, total = s["H"], 24 * s["H"] ** 2, 0
        for i, o in zip(inputs, outputs):
            # Number of words of a prompt except the last. For these words, the last layer
            # computes only keys and values.
            length = len(i["tokens"]) - 1
            total += length * (3 * layer + 2 * 4 * h * h + 3 * 2 * length * h)
            for accepted in o["accepted"]:
                total += 4 * (layer + 2 * s["V"] * h) + 4 * h * h
                total += 5 * (4 * layer + 2 * s["V"] * h)
                total += 4 * h * (4 * (length + 3) + 5 * 4 * (length + 3))
                length += int(accepted) + 1
        return total


class SpeculativeSampled(Speculative):
    def instance(self, random, s):
        return dict(super().instance(random, s), seed=1,
                    chain=int(random.integers(1 << 30)))


class StackRNN(Model):
    decisions = ("actions",)
    gains = {"E": 4, "W_p": 3, "W_c": 3, "W_s": 3, "W_a": 3, "W_b": 3, "G": 2, "A": 4, "R": 4}

    def sizes(self, hidden):
        return {"H": hidden, "ACTIONS": 41}

    def shapes(self, s):
        h, actions = s["H"], s["ACTIONS"]
        found = {"E": (10000, h), "A": (actions, h), "R": (actions - 1, h),
                 "W_p": (h, 3 * h), "b_p": (h,), "W_c": (h, 3 * h), "b_c": (h,),
                 "G": (actions, h), "g": (actions,)}
        for net in "sba":
            found.update({"W_" + net: (h, 2 * h), "b_" + net: (h,), "h0_" + net: (h,)})
        return found

    def adjust(self, p, random):
        # Makes about half of the steps shifts.
        for net in ("W_p", "W_s", "W_a", "W_b", "W_c", "G"):
            p[net] -= p[net].mean(axis=1, keepdims=True)
        p["g"][0] += 2.2

    def instance(self, random, s):
        return {"tokens": words(random, random.integers(8, 41), 10000)}

    def flops(self, s, inputs, outputs, tasks):
        h, total = s["H"], 0
        for i, o in zip(inputs, outputs):
            reduces = int((o["actions"] > 0).sum())
            steps = len(o["actions"])
            total += 4 * h * h * len(i["tokens"]) + 6 * h * h * reduces + \
                steps * (14 * h * h + 2 * s["ACTIONS"] * h)
        return total


class DRNN(Model):
    decisions = ("child_count",)
    gains = {"W_a": 4, "W_f": 4, "W_pred": 3, "U_af": 3}

    def shapes(self, s):
        h = s["H"]
        return {"W_a": (h, 2 * h), "b_a": (h,), "W_f": (h, 2 * h), "b_f": (h,),
                "W_pred": (h, 2 * h), "W_out": (h, h), "v_a": (h,), "v_f": (h,),
                "U_af": (2, h), "b_af": (2,)}

    def adjust(self, p, random):
        for net in ("W_a", "W_f", "W_pred"):
            p[net] -= p[net].mean(axis=1, keepdims=True)
        p["b_af"][:] = (1.1, 1.4)

    def instance(self, random, s):
        return {name: random.uniform(-1.7, 1.7, s["H"]).astype("f4").tolist()
                for name in "xh"}

    def flops(self, s, inputs, outputs, tasks):
        h = s["H"]
        nodes = sum(len(o["child_count"]) - 1 for o in outputs)
        parents = sum(int((o["child_count"] > 0).sum()) for o in outputs)
        return nodes * (10 * h * h + 4 * h) + parents * 4 * h * h


class Berxit(Model):
    decisions = ("layers",)
    gains = {"exit.W": 1}

    def sizes(self, hidden):
        # For hidden sizes of 256 or more, the sizes are those of BERT-base. Tests use smaller
        # sizes.
        h, heads, tokens, v = (768, 12, 128, 30522) if hidden >= 256 else (hidden, 2, 16, 500)
        return {"H": h, "HEADS": heads, "D": h // heads, "TOKENS": tokens, "V": v}

    def shapes(self, s):
        h = s["H"]
        found = {"E": (s["V"], h), "pos": (s["TOKENS"], h)}
        for name in "qkvo":
            found.update(linear(name, h, h))
        found.update(linear("ff1", 4 * h, h))
        found.update(linear("ff2", h, 4 * h))
        found.update(linear("exit", 1, h))
        found.update(linear("cls", 16, h))
        for norm in ("ln1", "ln2"):
            found.update({norm + ".g": (h,), norm + ".b": (h,)})
        return found

    def adjust(self, p, random):
        for norm in ("ln1", "ln2"):
            p[norm + ".g"][:] = 1 + 0.1 * random.standard_normal(p[norm + ".g"].shape)
        p["exit.b"][:] = -0.8

    def instance(self, random, s):
        return {"tokens": words(random, s["TOKENS"], s["V"])}

    def flops(self, s, inputs, outputs, tasks):
        h, tokens = s["H"], s["TOKENS"]
        layer = tokens * (2 * 12 * h * h + 4 * tokens * h)
        return layer * sum(int(o["layers"]) for o in outputs)


class Experts(Model):
    decisions = ("route",)
    gains = {"gate": 2, "E": 2}

    def __init__(self, picks):
        self.picks = picks

    def shapes(self, s):
        h = s["H"]
        found = {"E": (10000, h)}
        for layer in range(2):
            found["l%d.gate" % layer] = (8, h)
            for expert in range(8):
                name = "l%d.e%d." % (layer, expert)
                found.update(linear(name + "1", 4 * h, h))
                found.update(linear(name + "2", h, 4 * h))
        return found

    def instance(self, random, s):
        return {"tokens": words(random, random.integers(16, 65), 10000)}

    def flops(self, s, inputs, outputs, tasks):
        h = s["H"]
        tokens = sum(len(i["tokens"]) for i in inputs)
        return tokens * 2 * (16 * h + self.picks * 16 * h * h)


class Nested(Model):
    decisions = ("counts",)

    def shapes(self, s):
        h = s["H"]
        found = linear("node", h, h)
        for net in "zrne":
            found.update({"W_" + net: (h, 2 * h), "b_" + net: (h,)})
        return found

    def flops(self, s, inputs, outputs, tasks):
        h = s["H"]
        edges = sum(int(o["counts"].sum()) for o in outputs)
        nodes = sum(len(o["counts"]) for o in outputs)
        # The products for the edges of a node have a common term, which the node computes once.
        return nodes * 16 * h * h + edges * 2 * h * h


class NestedGiven(Nested):
    waits = False

    def instance(self, random, s):
        return {"x": random.uniform(-1.7, 1.7, s["H"]).astype("f4").tolist(),
                "counts": random.integers(20, 41, random.integers(20, 41)).tolist()}


class NestedDrawn(Nested):
    gains = {"w_halt": 4, "W_e": 3, "E": 2}

    def shapes(self, s):
        h = s["H"]
        return dict(super().shapes(s), E=(10000, h), w_halt=(1, h), b_halt=(1,))

    def adjust(self, p, random):
        p["w_halt"] -= p["w_halt"].mean()
        p["b_halt"][:] = 0
        p["W_e"] -= p["W_e"].mean(axis=1, keepdims=True)

    def instance(self, random, s):
        return {"x": random.uniform(-1.7, 1.7, s["H"]).astype("f4").tolist(),
                "tokens": words(random, 40, 10000)}


class BiRNN(Model):
    waits = False

    def shapes(self, s):
        h = s["H"]
        found = dict({"E": (10000, h)}, **linear("out", 16, 2 * h))
        for net in "fb":
            found.update({"W_" + net: (h, 2 * h), "b_" + net: (h,), "h0_" + net: (h,)})
        return found

    def instance(self, random, s):
        return {"tokens": words(random, random.integers(8, 65), 10000)}

    def flops(self, s, inputs, outputs, tasks):
        h = s["H"]
        return sum(len(i["tokens"]) for i in inputs) * (8 * h * h + 64 * h)


class RnnMap(Model):
    waits = False

    def shapes(self, s):
        h = s["H"]
        return dict({"E": (10000, h), "W_i": (h, h), "W_h": (h, h), "b": (h,), "h0": (h,)},
                    **linear("out", 16, h))

    instance = BiRNN.instance

    def flops(self, s, inputs, outputs, tasks):
        h = s["H"]
        return sum(len(i["tokens"]) for i in inputs) * (4 * h * h + 32 * h)


# Models in the order in which they run.
MODELS = {"lstm_nmt_greedy": Greedy(), "stackrnn": StackRNN(), "drnn": DRNN(),
          "berxit": Berxit(), "moe_top1": Experts(1), "moe_top2": Experts(2),
          "nestedrnn_td": NestedDrawn(), "birnn": BiRNN(), "rnn_map": RnnMap(),
          "nestedrnn": NestedGiven(), "lstm_nmt_beam": Beam(), "specdec": Speculative(),
          "specdec_sample": SpeculativeSampled()}


def parameters(name, sizes):
    """Returns {name: array}. The arrays are the same in each run."""
    model, random = MODELS[name], numpy.random.default_rng(list(name.encode()))
    found = {}
    for key, shape in model.shapes(sizes).items():
        gain = next((gain for start, gain in model.gains.items()
                     if key.split(".", 1)[-1].startswith(start) or key.startswith(start)), 1)
        bound = gain * (3 / shape[-1]) ** 0.5
        found[key] = random.uniform(-bound, bound, shape).astype("f4")
    model.adjust(found, random)
    return found


def inputs(name, sizes, count):
    random = numpy.random.default_rng(7)
    return [MODELS[name].instance(random, sizes) for _ in range(count)]
