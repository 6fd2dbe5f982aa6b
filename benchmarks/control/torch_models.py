"""The models in PyTorch, for any number of instances at once.

RUNS of a net is {setting: method}. Each method runs a mini-batch, and the fastest counts.
EAGER and COMPILED have further methods for the eager and for the compiled form. prepare()
makes the arguments of a method, and outputs() arranges its result by instance; neither is timed.
STEPS lists the functions that are compiled. Norms are folded into convolutions, and the
input products of given words are one product.
"""

import torch
import torch.nn.functional as F

import residual


def gates(a, c):
    i, f, g, o = a.chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def tensors(instances, name):
    return torch.stack([torch.as_tensor(instance[name]) for instance in instances])


class Net(torch.nn.Module):
    """A net with its weights as buffers. DYNAMIC lists the settings in which the number of rows
    changes from step to step."""

    RUNS, EAGER, COMPILED, STEPS, DYNAMIC = {}, {}, {}, [], []

    def __init__(self, p, name, sizes):
        super().__init__()
        self.name, self.sizes = name, sizes
        self.watch = None  # None, or a list to which margins of decisions are appended
        self.setup(p)

    def keep(self, **tensors):
        for name, value in tensors.items():
            self.register_buffer(name, value.contiguous())

    def keep_lstm(self, p, prefix):
        for kind in "WUb":
            value = torch.cat([p["%s.%s_%s" % (prefix, kind, gate)] for gate in "ifgo"])
            name = prefix + "_" + kind
            self.keep(**{name: value if kind == "b" else value.T})

    def above(self, scores):
        """Returns whether each score is above zero. Records the margin if `watch` is a list."""
        if self.watch is not None:
            self.watch.append(float(scores.abs().min()))
        return scores > 0


class LSTM10(Net):
    RUNS = {"layer by layer": "layers"}
    EAGER, COMPILED = {"nn.LSTM": "library"}, {"layer by layer, eight words a step": "eights"}
    STEPS = ["steps"]

    def setup(self, p):
        self.keep(E=p["E"])
        h = self.sizes["H"]
        self.lstm, state = torch.nn.LSTM(h, h, 10), {}
        for layer in range(10):
            self.keep_lstm(p, "l%d" % layer)
            W, U, b = (getattr(self, "l%d_%s" % (layer, kind)) for kind in "WUb")
            state.update({"weight_ih_l%d" % layer: W.T, "weight_hh_l%d" % layer: U.T,
                          "bias_ih_l%d" % layer: b, "bias_hh_l%d" % layer: 0 * b})
        self.lstm.load_state_dict(state)
        self.lstm.requires_grad_(False)

    def prepare(self, instances):
        return torch.tensor([instance["tokens"] for instance in instances]).T.contiguous(),

    def steps(self, inputs, U, h, c):
        hs = []
        for a in inputs:
            h, c = gates(torch.addmm(a, h, U), c)
            hs.append(h)
        return hs, c

    def eights(self, tokens):
        return self.layers(tokens, 8)

    def layers(self, tokens, words=1):
        x = self.E[tokens]  # dimensions: words, instances, columns
        zero, hs, cs = torch.zeros_like(x[0]), [], []
        for layer in range(10):
            W, U, b = (getattr(self, "l%d_%s" % (layer, kind)) for kind in "WUb")
            ys, c = [zero], zero
            for a in torch.addmm(b, x.flatten(0, 1), W).view(*x.shape[:2], -1).split(words):
                more, c = self.steps(a, U, ys[-1], c)
                ys += more
            x = torch.stack(ys[1:])
            hs.append(ys[-1])
            cs.append(c)
        return torch.stack(hs, 1), torch.stack(cs, 1)

    def library(self, tokens):
        _, (h, c) = self.lstm(self.E[tokens])
        return h.transpose(0, 1), c.transpose(0, 1)

    def outputs(self, found, count):
        return [{"h": h, "c": c} for h, c in zip(*found)]


class NASRNN(Net):
    RUNS, COMPILED = {"a word a step": "words"}, {"eight words a step": "eights"}
    STEPS = ["steps"]

    def setup(self, p):
        self.keep(E=p["E"], **{net: torch.cat([p["%s_%d" % (net, k)] for k in range(8)]).T
                               for net in "WU"})

    prepare = LSTM10.prepare

    def step(self, a, c, m):
        b = m @ self.U
        third = slice(3 * self.sizes["H"], 4 * self.sizes["H"])
        s = list((a + b).chunk(8, -1))
        if self.name == "nasrnn":
            s[3] = a[:, third] * b[:, third]
        q0 = torch.tanh(torch.sigmoid(s[0]) * torch.relu(s[1]))
        q1 = torch.tanh(torch.sigmoid(s[2]) + torch.relu(s[3]))
        q2 = torch.tanh(torch.tanh(s[4]) * torch.sigmoid(s[5]))
        q3 = torch.sigmoid(torch.tanh(s[6]) + torch.sigmoid(s[7]))
        c = torch.tanh(q0 + c) * q1
        return c, torch.tanh(c * torch.tanh(q2 + q3))

    def steps(self, inputs, c, m):
        for a in inputs:
            c, m = self.step(a, c, m)
        return c, m

    def eights(self, tokens):
        return self.words(tokens, 8)

    def words(self, tokens, words=1):
        x = self.E[tokens]
        c = m = torch.zeros_like(x[0])
        for a in (x.flatten(0, 1) @ self.W).view(*x.shape[:2], -1).split(words):
            c, m = self.steps(a, c, m)
        return c, m

    def outputs(self, found, count):
        return [{"c": c, "m": m} for c, m in zip(*found)]


class Attention(Net):
    """The first dimension of x, K and V is the head, and the second is the instance."""

    RUNS = {"": "steps"}
    STEPS = ["project", "attend"]

    def setup(self, p):
        self.keep(W_qkv=torch.cat([p["W_" + net] for net in "qkv"], 1).transpose(1, 2),
                  W_o=p["W_o"].transpose(1, 2))

    def prepare(self, instances):
        return tuple(tensors(instances, name).transpose(0, 1).contiguous()
                     for name in "xKV")

    def project(self, x):
        return torch.bmm(x, self.W_qkv).chunk(3, -1)

    def attend(self, q, K, V, mask=None):
        heads, rows, slots, size = K.shape
        scores = torch.bmm(K.reshape(-1, slots, size), q.reshape(-1, size, 1)) / size ** 0.5
        if mask is not None:
            scores = scores + mask
        a = torch.softmax(scores, 1).transpose(1, 2)
        return torch.bmm(torch.bmm(a, V.reshape(-1, slots, size)).view(heads, rows, size),
                         self.W_o)

    def steps(self, x, K, V):
        return self.loop(x, K, V, lambda q, K, V, t: self.attend(q, K, V))

    def loop(self, x, K, V, attend):
        K, V, ys, slots = K.clone(), V.clone(), [], K.shape[2]
        for t in range(slots - 32, slots):
            q, K[:, :, t], V[:, :, t] = self.project(x)
            x = attend(q, K, V, t)
            ys.append(x)
        return torch.stack(ys), K, V

    def outputs(self, found, count):
        ys, K, V = found
        return [{"x": ys[:, :, i], "K": K[:, i], "V": V[:, i]} for i in range(count)]


class Masked(Attention):
    """Attends to all slots and masks the empty ones, or attends only to the filled slots."""

    RUNS = {"masked": "steps"}
    EAGER = {"filled slots": "filled"}

    def setup(self, p):
        super().setup(p)
        slots = self.sizes["SLOTS"]
        self.keep(mask=torch.full((slots, slots), -torch.inf).triu(1)[:, :, None])

    def steps(self, x, K, V):
        return self.loop(x, K, V, lambda q, K, V, t: self.attend(q, K, V, self.mask[t]))

    def filled(self, x, K, V):
        return self.loop(x, K, V, lambda q, K, V, t: self.attend(
            q, K[:, :, :t + 1], V[:, :, :t + 1]))


class Seq2seq(Net):
    RUNS = {"all rows": "full", "rows that go on": "compact"}
    STEPS, DYNAMIC = ["step"], ["rows that go on"]

    def setup(self, p):
        self.keep(E=p["E"], out_W=p["out.W"].T, out_b=p["out.b"])
        self.keep_lstm(p, "l")

    def prepare(self, instances):
        force = tensors(instances, "force").long() if "force" in instances[0] else None
        return tensors(instances, "h0"), tensors(instances, "c0"), force

    def step(self, word, h, c, force):
        a = torch.addmm(torch.addmm(self.l_b, self.E[word], self.l_W), h, self.l_U)
        h, c = gates(a, c)
        y = torch.addmm(self.out_b, h, self.out_W)
        if force is not None:
            y = y.scatter_add(1, force[:, None], y.new_full((len(y), 1), 1e6))
        return y.argmax(1), h, c, y if self.watch is not None else None

    def decide(self, y):
        if self.watch is not None:
            first, second = y[0].topk(2).values.tolist()
            self.watch.append(first - second)

    def full(self, h, c, force):
        """Runs all instances until the last one ends, for at most 50 steps. Clears the results of
        each instance after its end token."""
        word, words, hs = torch.ones(len(h), dtype=torch.int64), [], []
        going = torch.ones(len(h), dtype=torch.bool)
        for t in range(50):
            word, h, c, y = self.step(word, h, c, None if force is None else force[:, t])
            self.decide(y)
            words.append(word)
            hs.append(h)
            going = going & (word != 0)
            if not going.any():
                break
        out, hs = torch.stack(words, 1), torch.stack(hs, 1)
        ends = (out == 0).long()
        running = ends.cumsum(1) == ends  # true up to and including the first end token
        return running.sum(1), out * running, hs * running[:, :, None]

    def compact(self, h, c, force):
        count, rows = len(h), torch.arange(len(h))
        word = torch.ones(count, dtype=torch.int64)
        out, states = torch.zeros(count, 50, dtype=torch.int64), torch.zeros(
            count, 50, h.shape[1])
        counts = torch.full((count,), 50)
        for t in range(50):
            word, h, c, y = self.step(word, h, c, None if force is None else force[:, t])
            self.decide(y)
            out[rows, t], states[rows, t] = word, h
            on = word != 0
            if not on.all():
                counts[rows[~on]] = t + 1
                keep = on.nonzero().squeeze(1)
                if not len(keep):
                    break
                rows, word, h, c = rows[keep], word[keep], h[keep], c[keep]
                force = force if force is None else force[keep]
        return counts, out, states

    def outputs(self, found, count):
        counts, out, h = found
        missing = 50 - out.shape[1]
        return [{"count": n.int(), "out": F.pad(o, (0, missing)).int(),
                 "h": F.pad(s, (0, 0, 0, missing))} for n, o, s in zip(counts, out, h)]


class Residual(Net):
    """A block runs for the rows that do not skip it. In the setting "masked", it runs for all rows,
    and the results of the rows that skip it are dropped."""

    RUNS = {"gathered": "gathered", "masked": "masked"}
    EAGER = {"gathered, channels last": "last"}
    DYNAMIC = ["gathered"]
    STEPS = ["first", "body", "gate"]

    def setup(self, p):
        net = residual.Net(self.name, self.sizes)
        self.blocks, self.policy = net.blocks, net.policy
        self.gated = net.model.gated
        self.fold(p, "stem", "stem.n")
        for block in self.blocks:
            self.keep_block(p, block, "")
            if self.gated and block.narrows:
                self.fold(p, block.name + ".ds", block.name + ".ds.n")
            if block.name + ".gate.W" in p:
                self.keep_linear(p, block.name + ".gate")
        self.keep_linear(p, "fc")
        if self.policy:
            self.fold(p, "policy.stem", "policy.stem.n")
            for block in self.policy:
                self.keep_block(p, block, "policy.")
            self.keep_linear(p, "policy.fc")
        if self.gated:
            self.keep_lstm(p, "rnn")
            self.keep(proj=p["rnn.proj"].T, proj_b=p["rnn.proj.b"])

    def fold(self, p, filters, norm):
        scale = p[norm + ".g"] / torch.sqrt(p[norm + ".var"] + 1e-5)
        name = filters.replace(".", "_")
        self.keep(**{name: p[filters] * scale[:, None, None, None],
                     name + "_b": p[norm + ".b"] - p[norm + ".mean"] * scale})

    def keep_block(self, p, block, prefix):
        name = prefix + block.name
        self.fold(p, name + ".c1", name + ".n1")
        self.fold(p, name + ".c2", name + ".n2")

    def keep_linear(self, p, name):
        self.keep(**{name.replace(".", "_"): p[name + ".W"].T,
                     name.replace(".", "_") + "_b": p[name + ".b"]})

    def linear(self, name, x):
        return torch.addmm(getattr(self, name + "_b"), x.mean((2, 3)), getattr(self, name))

    def conv(self, name, x, stride=1):
        W = getattr(self, name)
        return F.conv2d(x, W, getattr(self, name + "_b"), stride, W.shape[2] // 2)

    def prepare(self, instances):
        probs = tensors(instances, "probs") if "probs" in instances[0] else None
        return tensors(instances, "image"), probs

    def first(self, image, prefix=""):
        return torch.relu(self.conv(prefix + "stem", image))

    def body(self, name, narrows, x, short):
        y = torch.relu(self.conv(name + "_c1", x, 2 if narrows else 1))
        return torch.relu(short + self.conv(name + "_c2", y))

    def shortcut(self, block, x):
        if not block.narrows:
            return x
        if self.gated:
            return self.conv(block.name + "_ds", x, 2)
        return F.pad(F.avg_pool2d(x, 2), (0, 0, 0, 0, 0, block.channels - x.shape[1]))

    def gate(self, name, x, h, c):
        u = self.linear(name, x)
        h, c = gates(torch.addmm(torch.addmm(self.rnn_b, u, self.rnn_W), h, self.rnn_U), c)
        return torch.addmm(self.proj_b, h, self.proj)[:, 0], h, c

    def scores(self, image):
        x = self.first(image, "policy_")
        for block in self.policy:
            x = self.body("policy_" + block.name, block.narrows, x, self.shortcut(block, x))
        return self.linear("policy_fc", x)

    def run(self, image, probs, maybe):
        ran, keep = [], None
        if not self.gated:
            keep = self.above(self.scores(image)) if probs is None else probs >= 0.5
        else:
            h = c = image.new_zeros(len(image), 10)
        x = self.first(image)
        for block in self.blocks:
            if keep is not None:
                runs = keep[:, block.number]
            elif not block.number:
                runs = image.new_ones(len(image), dtype=torch.bool)
            else:
                before = self.blocks[block.number - 1].name
                score, h, c = self.gate(before + "_gate", x, h, c)
                runs = self.above(score)
            x = maybe(block, x, self.shortcut(block, x), runs)
            ran.append(runs)
        return self.linear("fc", x), torch.stack(ran, 1)

    def gathered(self, image, probs):
        def maybe(block, x, short, runs):
            rows = runs.nonzero().squeeze(1)
            if len(rows) == 0:
                return short
            if len(rows) == len(x):
                return self.body(block.name, block.narrows, x, short)
            return short.index_copy(0, rows, self.body(block.name, block.narrows, x[rows],
                                                       short[rows]))

        return self.run(image, probs, maybe)

    def last(self, image, probs):
        return self.gathered(image.contiguous(memory_format=torch.channels_last), probs)

    def masked(self, image, probs):
        return self.run(image, probs, lambda block, x, short, runs: torch.where(
            runs[:, None, None, None], self.body(block.name, block.narrows, x, short), short))

    def outputs(self, found, count):
        logits, ran = found
        name = "ran" if self.gated else "keep"
        return [{"logits": y, name: r.int(), "cls": y.argmax().int()}
                for y, r in zip(logits, ran)]


class RAE(Net):
    RUNS = {"by height": "heights"}
    STEPS, DYNAMIC = ["join"], ["by height"]
    EAGER = {"recursion": "recursion"}

    def setup(self, p):
        self.keep(E=p["E"], W=p["W"].T, b=p["b"])

    def prepare(self, instances):
        """Numbers the nodes in post-order. Returns the words and the numbers of the leaves, and the
        inner nodes of each height with their children. Also returns the offsets of the instances'
        nodes, and the trees."""
        words, leaves, levels, count = [], [], {}, 0

        def number(tree):
            nonlocal count
            if tree[0] == "leaf":
                words.append(tree[1])
                leaves.append(count)
                height, found = 0, count
            else:
                (l, a), (r, b) = number(tree[1]), number(tree[2])
                height, found = 1 + max(a, b), count
                levels.setdefault(height, []).append((found, l, r))
            count += 1
            return found, height

        ends = [0]
        for instance in instances:
            number(instance["tree"])
            ends.append(count)
        return (torch.tensor(words), torch.tensor(leaves),
                [torch.tensor(levels[height]).T.contiguous() for height in sorted(levels)],
                ends, [instance["tree"] for instance in instances])

    def join(self, pair):
        return torch.tanh(torch.addmm(self.b, pair, self.W))

    def heights(self, words, leaves, levels, ends, trees):
        h = self.E.new_empty(ends[-1], self.sizes["H"])
        h[leaves] = self.E[words]
        for at, left, right in levels:
            h[at] = self.join(torch.cat([h[left], h[right]], 1))
        return h, ends

    def recursion(self, words, leaves, levels, ends, trees):
        hs = []

        def encode(tree):
            if tree[0] == "leaf":
                h = self.E[tree[1]:tree[1] + 1]
            else:
                h = self.join(torch.cat([encode(tree[1]), encode(tree[2])], 1))
            hs.append(h)
            return h

        for tree in trees:
            encode(tree)
        return torch.cat(hs), ends

    def outputs(self, found, count):
        h, ends = found
        return [{"h": h[a:b]} for a, b in zip(ends, ends[1:])]


NETS = {"lstm10": LSTM10, "nasrnn": NASRNN, "nasrnn_add": NASRNN, "attention": Attention,
        "attention_masked": Masked, "seq2seq": Seq2seq, "seq2seq_forced": Seq2seq,
        "blockdrop": Residual, "blockdrop_given": Residual, "skipnet38": Residual,
        "rae": RAE}
