"""The models in PyTorch: one instance at a time, and batched by hand.

`eager` is the usual Python program for one instance. Products over all words of a sentence
are one product.

`hand` runs the instances of a mini-batch together. Instances that have ended are removed from
all tensors (mask and compact). Recurrences over given words sort the sentences from the
longest to the shortest, so that the sentences in progress are a prefix. Stacks are tensors, tokens
of an expert are gathered, and nodes of a tree run by frontier.

prepare() computes data that is known before the run, such as words as tensors and orders by
length, and is not timed. outputs(result, count) arranges a result by instance, for comparisons.
"""

import torch
import torch.nn.functional as F
from torch.nn.utils import rnn


def cat(*parts):
    return torch.cat(parts, -1)


def rows_of(where):
    return where.nonzero().squeeze(1)


def by_length(values):
    """Returns the positions of the values, sorted from the longest value to the shortest."""
    return sorted(range(len(values)), key=lambda i: -len(values[i]))


def packed(sequences):
    """Packs sequences, which must be sorted from the longest to the shortest. Returns their
    elements step by step, as one tensor, and the number of sequences in each step."""
    sequence = rnn.pack_sequence([torch.tensor(s) for s in sequences])
    return sequence.data, sequence.batch_sizes.tolist()


def unpacked(data, sizes, order):
    """Returns the elements of each instance. `data` is in the order that packed() creates."""
    padded, lengths = rnn.pad_packed_sequence(
        rnn.PackedSequence(data, torch.tensor(sizes)), batch_first=True)
    found = [None] * len(order)
    for row, i in enumerate(order):
        found[i] = padded[row, :lengths[row]]
    return found


class Net(torch.nn.Module):
    """A net with its weights as buffers. STEPS maps the name of each compiled function to the
    number of leading arguments that have a row per instance in progress."""

    STEPS = {}

    def __init__(self, p, sizes):
        super().__init__()
        self.watch = None  # a list to which margins of decisions are appended
        self.fixed = False  # true if shapes stay the same in all steps
        self.size = sizes["H"]
        self.setup(p)

    def ready(self, instance):
        """Returns the argument of eager(). This call is not timed."""
        return instance

    def keep(self, **tensors):
        for name, value in tensors.items():
            self.register_buffer(name, value.contiguous())

    def keep_linear(self, name, W, b):
        """Registers the weights in two layouts: for products with many rows, and for products
        with one row."""
        self.keep(**{name: W, name + "_t": W.T, name + "_b": b})

    def many(self, name, x):
        return torch.addmm(getattr(self, name + "_b"), x, getattr(self, name + "_t"))

    def one(self, name, x):
        return torch.addmv(getattr(self, name + "_b"), getattr(self, name), x)

    def pick(self, scores):
        """Returns the first position of the largest score. Records the margin if `watch` is a
        list."""
        if self.watch is not None:
            first, second = scores.topk(2).values.tolist()
            self.watch.append(first - second)
        return int(scores.argmax())

    def above(self, value, level):
        if self.watch is not None:
            self.watch.append(abs(value - level))
        return value > level


class Greedy(Net):
    STEPS = {"step": 3}

    def setup(self, p):
        self.keep(E_src=p["E_src"], E_tgt=p["E_tgt"], h0=p["h0"], c0=p["c0"])
        for side in ("enc", "dec"):
            self.keep_linear(side + "_in", p[side + ".in.W"], p[side + ".in.b"])
            for what in "WUb":
                self.keep(**{side + "_" + what: torch.cat(
                    [p["%s.%s_%s" % (side, what, gate)] for gate in "ifgo"])})
        self.keep_linear("out", p["W_out"], p["b_out"])
        self.lstm = torch.nn.LSTM(self.size, self.size)
        self.lstm.load_state_dict({
            "weight_ih_l0": self.enc_W, "weight_hh_l0": self.enc_U,
            "bias_ih_l0": self.enc_b, "bias_hh_l0": torch.zeros_like(self.enc_b)})
        self.lstm.requires_grad_(False)

    def eager(self, instance):
        x = torch.tanh(self.many("enc_in", self.E_src[instance["src"]]))
        _, (h, c) = self.lstm(x, (self.h0[None], self.c0[None]))
        word, out, hs = 1, [], []
        while True:
            x = torch.tanh(self.one("dec_in", self.E_tgt[word]))
            h, c = torch.lstm_cell(x[None], (h, c), self.dec_W, self.dec_U, self.dec_b)
            word = self.pick(self.one("out", h[0]))
            out.append(word)
            hs.append(h[0])
            if word == 0 or len(out) == instance["limit"]:
                return {"out": torch.tensor(out), "h": torch.stack(hs)}

    def prepare(self, batch):
        order = by_length([i["src"] for i in batch])
        words, sizes = packed([batch[i]["src"] for i in order])
        return words, torch.tensor(sizes), torch.tensor(order), torch.tensor(
            [batch[i]["limit"] for i in order])

    def step(self, word, h, c):
        x = torch.tanh(self.many("dec_in", self.E_tgt[word]))
        h, c = torch.lstm_cell(x, (h, c), self.dec_W, self.dec_U, self.dec_b)
        return self.many("out", h).argmax(1), h, c

    def hand(self, words, sizes, order, limit):
        x = torch.tanh(self.many("enc_in", self.E_src[words]))
        count = len(order)
        start = [s.expand(1, count, -1).contiguous() for s in (self.h0, self.c0)]
        _, (h, c) = self.lstm(rnn.PackedSequence(x, sizes), start)
        h, c, word = h[0], c[0], torch.ones(count, dtype=torch.int64)
        steps = []
        while True:
            word, h, c = self.step(word, h, c)
            steps.append((order, word, h))
            keep = rows_of((word != 0) & (limit > len(steps)))
            if len(keep) == 0:
                return steps
            if len(keep) < len(order):
                order, limit, word, h, c = (
                    t[keep] for t in (order, limit, word, h, c))

    def outputs(self, steps, count):
        found = [([], []) for _ in range(count)]
        for order, word, h in steps:
            for row, i in enumerate(order.tolist()):
                found[i][0].append(word[row])
                found[i][1].append(h[row])
        return [{"out": torch.stack(out), "h": torch.stack(h)} for out, h in found]


class StackRNN(Net):
    STEPS = {"choose": 5, "compose": 3, "push": 4}

    def setup(self, p):
        self.keep(E=p["E"], A=p["A"], R=p["R"])
        self.keep(**{name: p[name] for name in ("h0_s", "h0_b", "h0_a")})
        self.keep_linear("p", p["W_p"], p["b_p"])
        self.keep_linear("c", p["W_c"], p["b_c"])
        self.keep_linear("g", p["G"], p["g"])
        self.keep_linear("s", p["W_s"], p["b_s"])
        self.keep_linear("a", p["W_a"], p["b_a"])
        # A single product multiplies all words by the buffer's input weights.
        self.keep_linear("b", p["W_b"][:, :self.size], p["b_b"])
        self.keep(U=p["W_b"][:, self.size:], U_t=p["W_b"][:, self.size:].T)

    def eager(self, instance):
        words = self.E[instance["tokens"]]
        pre, state, buffer = self.many("b", words), self.h0_b, [self.h0_b]
        for x in reversed(pre):
            state = torch.sigmoid(torch.addmv(x, self.U, state))
            buffer.append(state)
        stack, history, i, n = [(None, self.h0_s)], self.h0_a, 0, len(words)
        actions, tops = [], []
        while i < n or len(stack) > 2:
            scores = self.one("g", torch.relu(self.one("p", cat(
                stack[-1][1], buffer[n - i], history))))
            if i == n:
                scores[0] = -torch.inf
            if len(stack) < 3:
                scores[1:] = -torch.inf
            a = self.pick(scores)
            if a == 0:
                e, i = words[i], i + 1
            else:
                (top, _), (second, _) = stack.pop(), stack.pop()
                head, dependent = (top, second) if a % 2 else (second, top)
                e = torch.tanh(self.one("c", cat(head, dependent, self.R[a - 1])))
            state = torch.sigmoid(self.one("s", cat(e, stack[-1][1])))
            stack.append((e, state))
            history = torch.sigmoid(self.one("a", cat(self.A[a], history)))
            actions.append(a)
            tops.append(state)
        return {"actions": torch.tensor(actions), "top_states": torch.stack(tops),
                "root": stack[-1][0]}

    def prepare(self, batch):
        order = by_length([i["tokens"] for i in batch])
        backward, sizes = packed([batch[i]["tokens"][::-1] for i in order])
        lengths = [len(batch[i]["tokens"]) for i in order]
        # A sentence of n words takes 2 n - 1 steps.
        rows = [sum(2 * n - 1 > t for n in lengths) for t in range(2 * lengths[0] - 1)]
        return backward, sizes, torch.tensor(lengths), rows, order

    def choose(self, top, following, history, shifts, reduces):
        scores = self.many("g", torch.relu(self.many("p", cat(top, following, history))))
        legal = cat(shifts[:, None], reduces[:, None].expand(-1, scores.shape[1] - 1))
        return scores.masked_fill(~legal, -torch.inf).argmax(1)

    def compose(self, head, dependent, relation):
        return torch.tanh(self.many("c", cat(head, dependent, relation)))

    def push(self, e, under, action, history):
        return (torch.sigmoid(self.many("s", cat(e, under))),
                torch.sigmoid(self.many("a", cat(self.A[action], history))))

    def hand(self, backward, sizes, lengths, rows, order):
        count, longest = len(lengths), len(sizes)
        words, each = self.E[backward], torch.arange(count)
        pre, state, first = self.many("b", words), self.h0_b.expand(count, -1), 0
        # States and words, indexed by the instance and by the number of words that have been read
        # from the end.
        buffer = self.h0_b.repeat(count, longest + 1, 1)
        given = torch.empty(count, longest + 1, self.size)
        for t, n in enumerate(sizes):
            state = torch.sigmoid(torch.addmm(pre[first:first + n], state[:n], self.U_t))
            buffer[:n, t + 1] = state
            given[:n, t + 1] = words[first:first + n]
            first += n
        # Stacks of elements and of states, which begin at index 1. Index 0 contains the empty
        # state.
        elements = torch.empty(count, longest + 2, self.size)
        states = self.h0_s.repeat(count, longest + 2, 1)
        history = self.h0_a.expand(count, -1)
        left, depth = lengths.clone(), torch.zeros_like(lengths)
        actions, tops = [], []
        for n in rows:
            here, left, depth, history = each[:n], left[:n], depth[:n], history[:n]
            a = self.choose(states[here, depth], buffer[here, left], history,
                            left > 0, depth > 1)
            shifts = a == 0
            e = given[here, left]
            reducing = rows_of(~shifts)
            if len(reducing):
                action, top = a[reducing], depth[reducing]
                first, second = elements[reducing, top], elements[reducing, top - 1]
                odd = (action % 2 == 1)[:, None]
                e[reducing] = self.compose(torch.where(odd, first, second),
                                           torch.where(odd, second, first),
                                           self.R[action - 1])
            left = left - shifts.long()
            depth = torch.where(shifts, depth + 1, depth - 1)
            state, history = self.push(e, states[here, depth - 1], a, history)
            elements[here, depth] = e
            states[here, depth] = state
            actions.append(a)
            tops.append(state)
        return actions, tops, elements, rows, order

    def outputs(self, run, count):
        actions, tops, elements, rows, order = run
        actions, tops = (unpacked(torch.cat(t), rows, order) for t in (actions, tops))
        roots = {i: elements[row, 1] for row, i in enumerate(order)}
        return [{"actions": actions[i], "top_states": tops[i], "root": roots[i]}
                for i in range(count)]


class DRNN(Net):
    STEPS = {"child": 3, "begin": 2}

    def setup(self, p):
        zero = torch.zeros(self.size)
        self.keep_linear("a", p["W_a"], p["b_a"])
        self.keep_linear("f", p["W_f"], p["b_f"])
        self.keep_linear("p", p["W_pred"], zero)
        self.keep_linear("u", p["U_af"], p["b_af"])
        # One product computes W_out p + q_0 v_a + q_1 v_f.
        self.keep_linear("o", torch.cat([p["W_out"], p["v_a"][:, None], p["v_f"][:, None]], 1),
                         zero)

    def eager(self, instance):
        nodes = []  # parents come before children, and siblings are in order

        def kids(x, h, depth):
            ha = torch.sigmoid(self.one("a", cat(x, h)))
            count = 0
            while True:
                hf = torch.sigmoid(self.one("f", cat(x, h)))
                p = torch.tanh(self.one("p", cat(ha, hf)))
                s = self.one("u", p)
                o = torch.softmax(self.one("o", cat(p, torch.sigmoid(s))), 0)
                down, on = s.tolist()
                node = [o, ha, 0]
                nodes.append(node)
                count += 1
                if depth + 1 < 4 and self.above(down, 0):
                    node[2] = kids(o, ha, depth + 1)
                if count == 4 or not self.above(on, 0):
                    return count
                x, h = o, hf

        x, h = torch.tensor(instance["x"]), torch.tensor(instance["h"])
        nodes.append([x, h, 0])
        nodes[0][2] = kids(x, h, 0)
        xs, hs, counts = zip(*reversed(nodes))
        return {"x": torch.stack(xs), "h": torch.stack(hs),
                "child_count": torch.tensor(counts)}

    def prepare(self, batch):
        return tuple(torch.tensor([i[name] for i in batch]) for name in "xh")

    def begin(self, x, h):
        return torch.sigmoid(self.many("a", cat(x, h)))

    def child(self, x, h, ha):
        hf = torch.sigmoid(self.many("f", cat(x, h)))
        p = torch.tanh(self.many("p", cat(ha, hf)))
        s = self.many("u", p)
        return hf, s, torch.softmax(self.many("o", cat(p, torch.sigmoid(s))), 1)

    def hand(self, x, h):
        count = len(x)
        roots = x, h
        ha, depth = self.begin(x, h), torch.zeros(count, dtype=torch.int64)
        before, waves = torch.zeros_like(depth), []
        while len(x):
            hf, s, o = self.child(x, h, ha)
            more = s > 0
            down = rows_of(more[:, 0] & (depth < 3))
            on = rows_of(more[:, 1] & (before < 3))
            waves.append((o, ha, down, on))
            o_down, ha_down = o[down], ha[down]
            x = torch.cat([o_down, o[on]])
            h = torch.cat([ha_down, hf[on]])
            ha = torch.cat([self.begin(o_down, ha_down) if len(down) else ha_down, ha[on]])
            depth = torch.cat([depth[down] + 1, depth[on]])
            before = torch.cat([torch.zeros_like(down), before[on] + 1])
        return roots, waves

    def outputs(self, run, count):
        (xs, hs), waves = run
        # The first child and the next sibling, for each wave and row.
        links = [(dict(zip(down.tolist(), range(len(down)))),
                  dict(zip(on.tolist(), range(len(down), len(down) + len(on)))))
                 for _, _, down, on in waves]
        found = []
        for i in range(count):
            nodes = []

            def walk(wave, row):
                size = 0
                while row is not None:
                    node = [waves[wave][0][row], waves[wave][1][row], 0]
                    nodes.append(node)
                    down, on = links[wave]
                    if row in down:
                        node[2] = walk(wave + 1, down[row])
                    wave, row, size = wave + 1, on.get(row), size + 1
                return size

            nodes.append([xs[i], hs[i], 0])
            nodes[0][2] = walk(0, i)
            x, h, counts = zip(*reversed(nodes))
            found.append({"x": torch.stack(x), "h": torch.stack(h),
                          "child_count": torch.tensor(counts)})
        return found


class Berxit(Net):
    STEPS = {"layer": 1}

    def __init__(self, p, sizes):
        self.heads = sizes["HEADS"]
        super().__init__(p, sizes)

    def setup(self, p):
        self.keep(E=p["E"], pos=p["pos"],
                  qkv_W=torch.cat([p[k + ".W"] for k in "qkv"]),
                  qkv_b=torch.cat([p[k + ".b"] for k in "qkv"]))
        self.keep(**{key.replace(".", "_"): value for key, value in p.items()
                     if key.split(".")[0] in ("o", "ln1", "ln2", "ff1", "ff2", "exit", "cls")})

    def layer(self, x):
        count, tokens, size = x.shape
        q, k, v = F.linear(x, self.qkv_W, self.qkv_b).view(
            count, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(
            count, tokens, size)
        y = F.layer_norm(x + F.linear(a, self.o_W, self.o_b), (size,), self.ln1_g,
                         self.ln1_b)
        f = F.linear(F.gelu(F.linear(y, self.ff1_W, self.ff1_b)), self.ff2_W, self.ff2_b)
        x = F.layer_norm(y + f, (size,), self.ln2_g, self.ln2_b)
        return x, F.linear(x[:, 0], self.exit_W, self.exit_b)[:, 0]

    def eager(self, instance):
        x = (self.E[instance["tokens"]] + self.pos)[None]
        for layers in range(1, 13):
            x, score = self.layer(x)
            if layers == 12 or self.above(score.item(), 0):
                break
        logits = F.linear(x[0, 0], self.cls_W, self.cls_b)
        return {"layers": torch.tensor(layers), "first": x[0, 0], "logits": logits,
                "cls": logits.argmax()}

    def prepare(self, batch):
        return (torch.tensor([i["tokens"] for i in batch]),)

    def hand(self, tokens):
        x = self.E[tokens] + self.pos
        count = len(tokens)
        here, first = torch.arange(count), torch.empty(count, self.size)
        layers = torch.empty(count, dtype=torch.int64)
        for n in range(1, 13):
            x, score = self.layer(x)
            ends = score > 0 if n < 12 else torch.ones_like(score, dtype=torch.bool)
            done = rows_of(ends)
            if len(done):
                first[here[done]], layers[here[done]] = x[done, 0], n
                keep = rows_of(~ends)
                if len(keep) == 0:
                    break
                x, here = x[keep], here[keep]
        logits = F.linear(first, self.cls_W, self.cls_b)
        return layers, first, logits, logits.argmax(1)

    def outputs(self, run, count):
        return [dict(zip(("layers", "first", "logits", "cls"), [t[i] for t in run]))
                for i in range(count)]


class Experts(Net):
    STEPS = {"gate": 1, "expert": 1}

    def setup(self, p):
        self.keep(E=p["E"])
        for name, value in p.items():
            if name != "E":
                name = name.replace(".", "_")
                self.keep(**{name: value.T if value.dim() == 2 else value})

    def gate(self, x, W):
        """Returns the selected experts and their weights."""
        scores = x @ W
        best, picks = torch.topk(scores, self.picks, 1)
        if self.picks == 1:
            return picks, torch.exp(best - torch.logsumexp(scores, 1, keepdim=True))
        return picks, torch.softmax(best, 1)

    def expert(self, x, W1, b1, W2, b2):
        return torch.addmm(b2, torch.relu(torch.addmm(b1, x, W1)), W2)

    def run(self, words):
        x, routes = self.E[words], []
        for layer in ("l0_", "l1_"):
            W = getattr(self, layer + "gate")
            picks, shares = self.gate(x, W)
            if self.watch is not None:
                best = torch.topk(x @ W, self.picks + 1, 1).values
                self.watch.append(float((best[:, :-1] - best[:, 1:]).min()))
            routes.append(picks)
            order = picks.view(-1).argsort()
            counts = torch.bincount(picks.view(-1), minlength=8).tolist()
            tokens = order // self.picks
            parts, first, gathered = [], 0, x[tokens]
            for e, n in enumerate(counts):
                if n:
                    parts.append(self.expert(gathered[first:first + n], *(
                        getattr(self, "%se%d_%s" % (layer, e, part))
                        for part in ("1_W", "1_b", "2_W", "2_b"))))
                first += n
            x = x.index_add(0, tokens, torch.cat(parts) * shares.view(-1, 1)[order])
        return x, torch.stack(routes, 1)

    def eager(self, instance):
        x, route = self.run(instance["tokens"])
        return {"x": x, "route": route}

    def prepare(self, batch):
        lengths = [len(i["tokens"]) for i in batch]
        return torch.tensor(sum((i["tokens"] for i in batch), [])), lengths

    def hand(self, words, lengths):
        return (*self.run(words), lengths)

    def outputs(self, run, count):
        xs, routes = (t.split(run[2]) for t in run[:2])
        return [{"x": x, "route": route} for x, route in zip(xs, routes)]


class Experts1(Experts):
    picks = 1


class Experts2(Experts):
    picks = 2


class Nested(Net):
    """Base class of both nested networks. It has the layers of nodes and of edges."""

    def setup(self, p):
        self.keep_linear("zr", torch.cat([p["W_z"], p["W_r"]]),
                         torch.cat([p["b_z"], p["b_r"]]))
        self.keep_linear("n", p["W_n"], p["b_n"])
        self.keep_linear("o", p["node.W"], p["node.b"])
        # The products for the edges of a node have a common term, which the node computes once.
        self.keep_linear("eo", p["W_e"][:, :self.size], p["b_e"])
        self.keep(U=p["W_e"][:, self.size:], U_t=p["W_e"][:, self.size:].T)

    def node_one(self, h, e):
        z, r = torch.sigmoid(self.one("zr", cat(h, e))).chunk(2)
        return torch.lerp(e, torch.tanh(self.one("n", cat(h, r * e))), z)

    def node_many(self, h, e):
        z, r = torch.sigmoid(self.many("zr", cat(h, e))).chunk(2, 1)
        return torch.lerp(e, torch.tanh(self.many("n", cat(h, r * e))), z)

    @staticmethod
    def write(hs, es, counts):
        return {"h": torch.stack(hs), "e": torch.stack(es), "counts": torch.tensor(counts)}

    def outputs(self, steps, count):
        found = [([], [], []) for _ in range(count)]
        for here, *values in steps:
            for row, i in enumerate(here.tolist()):
                for to, value in zip(found[i], values):
                    to.append(value[row])
        return [self.write(*values) for values in found]


class NestedGiven(Nested):
    STEPS = {"node": 2, "edge": 2}

    def eager(self, instance):
        h, e = torch.tensor(instance["x"]), torch.zeros(self.size)
        hs, es = [], []
        for count in instance["counts"]:
            h = self.node_one(h, e)
            e = torch.tanh(self.one("o", h))
            pre = self.one("eo", e)
            for _ in range(count):
                e = torch.sigmoid(torch.addmv(pre, self.U, e))
            hs.append(h)
            es.append(e)
        return self.write(hs, es, instance["counts"])

    def prepare(self, batch):
        """Returns the inputs, and three values for each step. The first is a list of the instances
        that run the step, sorted from the longest inner loop to the shortest. The second is the
        number of instances in each round of the inner loop. The third is the number of rounds of
        each instance."""
        steps = []
        for t in range(max(len(i["counts"]) for i in batch)):
            counts = {i: b["counts"][t] for i, b in enumerate(batch) if t < len(b["counts"])}
            here = sorted(counts, key=lambda i: -counts[i])
            ends = [counts[i] for i in here]
            rows = [sum(n > k for n in ends) for k in range(ends[0])]
            steps.append((torch.tensor(here), rows, torch.tensor(ends)))
        return torch.tensor([i["x"] for i in batch]), steps

    def node(self, h, e):
        h = self.node_many(h, e)
        o = torch.tanh(self.many("o", h))
        return h, o, self.many("eo", o)

    def edge(self, pre, e):
        return torch.sigmoid(torch.addmm(pre, e, self.U_t))

    def hand(self, x, steps):
        hs, es, found = x.clone(), torch.zeros_like(x), []
        for here, rows, counts in steps:
            h, e, pre = self.node(hs[here], es[here])
            for n in rows:
                e[:n] = self.edge(pre[:n], e[:n])
            hs[here], es[here] = h, e
            found.append((here, h, e, counts))
        return found


class NestedDrawn(Nested):
    STEPS = {"node": 4, "edge": 3}

    def setup(self, p):
        super().setup(p)
        self.keep(E=p["E"])
        self.keep_linear("stop", p["w_halt"], p["b_halt"])

    def eager(self, instance):
        h, e, s = torch.tensor(instance["x"]), torch.zeros(self.size), 0.0
        hs, es, counts = [], [], []
        for token in instance["tokens"]:
            h = self.node_one(h, e)
            o = e = torch.tanh(self.one("o", h) + self.E[token])
            s = s + (1 + torch.sigmoid(self.one("stop", o))) / 4
            pre, u, count = self.one("eo", o), 0.0, 0
            while True:
                e = torch.sigmoid(torch.addmv(pre, self.U, e))
                u = u + (1 + torch.sigmoid(self.one("stop", e))) / 4
                count += 1
                if self.above(u.item(), 9.9):
                    break
            hs.append(h)
            es.append(e)
            counts.append(count)
            if self.above(s.item(), 9.9):
                break
        return self.write(hs, es, counts)

    def prepare(self, batch):
        return (torch.tensor([i["x"] for i in batch]),
                torch.tensor([i["tokens"] for i in batch]))

    def halt(self, v):
        return (1 + torch.sigmoid(self.many("stop", v))) / 4

    def node(self, h, e, s, token):
        h = self.node_many(h, e)
        o = torch.tanh(self.many("o", h) + self.E[token])
        return h, o, s + self.halt(o), self.many("eo", o)

    def edge(self, pre, e, u):
        e = torch.sigmoid(torch.addmm(pre, e, self.U_t))
        return e, u + self.halt(e)

    def edges(self, o, pre):
        """Returns the last edge and the number of edges of each node."""
        last, counts = torch.empty_like(o), torch.empty(len(o), dtype=torch.int64)
        here, e, u, n = torch.arange(len(o)), o, torch.zeros(len(o), 1), 0
        while True:
            e, u = self.edge(pre, e, u)
            n += 1
            ends = (u > 9.9)[:, 0]
            done = rows_of(ends)
            if len(done):
                last[here[done]], counts[here[done]] = e[done], n
                if len(done) == len(here):
                    return last, counts
                keep = rows_of(~ends)
                here, pre, e, u = (t[keep] for t in (here, pre, e, u))

    def hand(self, h, tokens):
        here, e, s = torch.arange(len(h)), torch.zeros_like(h), torch.zeros(len(h), 1)
        found = []
        for t in range(tokens.shape[1]):
            h, o, s, pre = self.node(h, e, s, tokens[:, t])
            e, counts = self.edges(o, pre)
            found.append((here, h, e, counts))
            keep = rows_of((s <= 9.9)[:, 0])
            if len(keep) == 0:
                break
            if len(keep) < len(here):
                here, h, e, s, tokens = (a[keep] for a in (here, h, e, s, tokens))
        return found


class BiRNN(Net):
    # Rows are the second dimension of the arguments, so no argument is padded.
    STEPS = {"cell": 0}

    def setup(self, p):
        h = self.size
        self.keep(E=p["E"], W=torch.stack([p["W_f"][:, :h].T, p["W_b"][:, :h].T]),
                  U=torch.stack([p["W_f"][:, h:].T, p["W_b"][:, h:].T]),
                  b=torch.stack([p["b_f"], p["b_b"]])[:, None],
                  h0=torch.stack([p["h0_f"], p["h0_b"]])[:, None])
        self.keep_linear("out", p["out.W"], p["out.b"])

    def eager(self, instance):
        tokens = instance["tokens"]
        pre = torch.baddbmm(self.b, self.E[torch.tensor([tokens, tokens[::-1]])], self.W)
        h, hs = self.h0, []
        for t in range(len(tokens)):
            h = torch.sigmoid(torch.baddbmm(pre[:, t:t + 1], h, self.U))
            hs.append(h)
        f, b = torch.cat(hs, 1)
        logits = self.many("out", cat(f, b.flip(0)))
        return {"logits": logits, "cls": logits.argmax(1)}

    def prepare(self, batch):
        order = by_length([i["tokens"] for i in batch])
        forward, sizes = packed([batch[i]["tokens"] for i in order])
        backward, _ = packed([batch[i]["tokens"][::-1] for i in order])
        # For each word of one direction, its position in the other direction.
        firsts = [sum(sizes[:t]) for t in range(len(sizes))]
        lengths = [len(batch[i]["tokens"]) for i in order]
        turned = torch.tensor([firsts[lengths[row] - 1 - t] + row
                               for t, n in enumerate(sizes) for row in range(n)])
        return torch.stack([forward, backward]), sizes, turned, order

    def cell(self, pre, h):
        return torch.sigmoid(torch.baddbmm(pre, h, self.U))

    def hand(self, words, sizes, turned, order):
        pre = torch.baddbmm(self.b, self.E[words], self.W)
        h, hs, first = self.h0.expand(-1, sizes[0], -1), torch.empty_like(pre), 0
        for n in sizes:
            h = self.cell(pre[:, first:first + n], h[:, :n])
            hs[:, first:first + n] = h
            first += n
        logits = self.many("out", cat(hs[0], hs[1, turned]))
        return logits, logits.argmax(1), sizes, order

    def outputs(self, run, count):
        logits, cls = (unpacked(t, *run[2:]) for t in run[:2])
        return [{"logits": l, "cls": c} for l, c in zip(logits, cls)]


class RnnMap(Net):
    STEPS = {"cell": 2}

    def setup(self, p):
        self.keep(E=p["E"], U=p["W_h"], U_t=p["W_h"].T, h0=p["h0"])
        self.keep_linear("i", p["W_i"], p["b"])
        self.keep_linear("out", p["out.W"], p["out.b"])

    def eager(self, instance):
        pre, h, hs = self.many("i", self.E[instance["tokens"]]), self.h0, []
        for x in pre:
            h = torch.sigmoid(torch.addmv(x, self.U, h))
            hs.append(h)
        h = torch.stack(hs)
        return {"h": h, "y": torch.relu(self.many("out", h))}

    def prepare(self, batch):
        order = by_length([i["tokens"] for i in batch])
        return (*packed([batch[i]["tokens"] for i in order]), order)

    def cell(self, pre, h):
        return torch.sigmoid(torch.addmm(pre, h, self.U_t))

    def hand(self, words, sizes, order):
        pre = self.many("i", self.E[words])
        h, hs, first = self.h0.expand(sizes[0], -1), torch.empty_like(pre), 0
        for n in sizes:
            h = self.cell(pre[first:first + n], h[:n])
            hs[first:first + n] = h
            first += n
        return hs, torch.relu(self.many("out", hs)), sizes, order

    def outputs(self, run, count):
        hs, ys = (unpacked(t, *run[2:]) for t in run[:2])
        return [{"h": h, "y": y} for h, y in zip(hs, ys)]


NETS = {"lstm_nmt_greedy": Greedy, "stackrnn": StackRNN, "drnn": DRNN, "berxit": Berxit,
        "moe_top1": Experts1, "moe_top2": Experts2, "nestedrnn_td": NestedDrawn,
        "nestedrnn": NestedGiven, "birnn": BiRNN, "rnn_map": RnnMap}
