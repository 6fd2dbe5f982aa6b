"""The models in DyNet, with autobatching, as far as DyNet can express them directly.

The code is in the style of DyNet's users: the graphs of all instances grow next to each
other. If control waits for values, each instance first runs until it waits. Then one
dynet.forward computes the values for all instances, and DyNet finds the batches. Each instance is a
generator that yields the expressions for which it waits.
"""

import contextlib



def start(threads, scheduler):
    """Starts DyNet with scheduler 1, 2 or 3, on one thread."""
    global dy, numpy, setting
    import dynet_config
    if threads > 1:
        raise ImportError("DyNet supports only one thread")
    setting = "scheduler %d" % scheduler
    dynet_config.set(mem=1024, random_seed=1, autobatch=scheduler)
    import dynet as dy
    import numpy


def describe():
    import importlib.metadata
    return {"version": importlib.metadata.version("dynet38"), "config": []}


inference = contextlib.nullcontext


class Net:
    def __init__(self, p):
        """Creates weights from the results of `prepare`. Weights in TABLES are read by row."""
        self.collection = dy.ParameterCollection()
        self.weights = {}
        for name, value in self.prepare(p).items():
            if name in self.TABLES:
                setattr(self, name,
                        self.collection.lookup_parameters_from_numpy(value))
            else:
                self.weights[name] = self.collection.parameters_from_numpy(value)

    TABLES = ("E",)

    def prepare(self, p):
        return p

    def linear(self, name, *parts):
        x = dy.concatenate(list(parts)) if len(parts) > 1 else parts[0]
        return dy.affine_transform([self.weights[name + "_b"], self.weights[name], x])

    def cell(self, name, x, h):
        return dy.logistic(self.linear(name, x, h))

    def run(self, instances):
        """Runs instances together, from one wait to the next."""
        dy.renew_cg()
        fibers = [self.program(instance) for instance in instances]
        found, left = [None] * len(fibers), dict(enumerate(fibers))
        answers = dict.fromkeys(left)
        while left:
            asked = {}
            for i, fiber in list(left.items()):
                try:
                    asked[i] = fiber.send(answers[i])
                except StopIteration as end:
                    found[i] = end.value
                    del left[i]
            if asked:
                dy.forward(list(asked.values()))
                answers = {i: x.npvalue() for i, x in asked.items()}
        # Computes the values for which no instance waited.
        last = [x for result in found for x in self.last(result)]
        if last:
            dy.forward(last)
        return found

    def last(self, result):
        """Returns expressions that together depend on all results."""
        return [values[-1] for values in result.values()
                if values and isinstance(values[-1], dy.Expression)]

    def outputs(self, found, count):
        """Returns {name: array} for each instance: rows of expressions, or numbers."""
        def value(values):
            if values and isinstance(values[0], dy.Expression):
                return numpy.stack([x.npvalue() for x in values])
            return numpy.array(values)
        return [{name: value(values) for name, values in result.items()} for result in found]


def gates(p, start, names):
    return numpy.concatenate([p[start + name] for name in names])


class Greedy(Net):
    TABLES = ("E_src", "E_tgt")

    def prepare(self, p):
        found = {name: p[name] for name in ("E_src", "E_tgt", "h0", "c0")}
        found.update(out=p["W_out"], out_b=p["b_out"])
        for side in ("enc", "dec"):
            found[side + "_in"], found[side + "_in_b"] = p[side + ".in.W"], p[side + ".in.b"]
            found[side] = numpy.concatenate(
                [gates(p, side + ".W_", "ifog"), gates(p, side + ".U_", "ifog")], 1)
            found[side + "_b"] = gates(p, side + ".b_", "ifog")
        return found

    def step(self, side, table, word, h, c):
        size = table.shape()[1]
        x = dy.tanh(self.linear(side + "_in", table[word]))
        a = self.linear(side, x, h)
        i, f, o = (dy.logistic(dy.pickrange(a, k * size, (k + 1) * size)) for k in range(3))
        c = dy.cmult(f, c) + dy.cmult(i, dy.tanh(dy.pickrange(a, 3 * size, 4 * size)))
        return dy.cmult(o, dy.tanh(c)), c

    def program(self, instance):
        h, c = self.weights["h0"], self.weights["c0"]
        for word in instance["src"]:
            h, c = self.step("enc", self.E_src, word, h, c)
        word, out, hs = 1, [], []
        while True:
            h, c = self.step("dec", self.E_tgt, word, h, c)
            word = int((yield self.linear("out", h)).argmax())
            out.append(word)
            hs.append(h)
            if word == 0 or len(out) == instance["limit"]:
                return {"out": out, "h": hs}


class Beam(Greedy):
    def program(self, instance):
        h, c = self.weights["h0"], self.weights["c0"]
        for word in instance["src"]:
            h, c = self.step("enc", self.E_src, word, h, c)
        # A beam is (score, words, state). Beams that have ended have no state.
        beams, steps = [(0.0, [1], (h, c))], 0
        while steps < instance["limit"] and any(state for _, _, state in beams):
            states = [state and self.step("dec", self.E_tgt, text[-1], *state)
                      for _, text, state in beams]
            laws = iter((yield dy.concatenate_cols([
                dy.log_softmax(self.linear("out", state[0])) for state in states if state]
            )).reshape(self.E_tgt.shape()[0], -1, order="F").T)
            nexts = []
            for (score, text, before), state in zip(beams, states):
                if not state:
                    nexts.append((score, text, None))
                    continue
                law = next(laws)
                best = numpy.argpartition(-law, 4)[:4]
                nexts += [(score + law[word], text + [int(word)], word and state)
                          for word in best[numpy.argsort(-law[best])]]
            beams = sorted(nexts, key=lambda beam: -beam[0])[:4]
            steps += 1
        score, text, _ = ([beam for beam in beams if not beam[2]] or beams)[0]
        return {"out": text[1:], "score": score, "steps": steps}

    def last(self, result):
        return []

    def outputs(self, found, count):
        return found


class StackRNN(Net):
    TABLES = ("E", "A", "R")

    def prepare(self, p):
        found = {name: p[name] for name in ("E", "A", "R", "h0_s", "h0_b", "h0_a")}
        for net in "pcsba":
            found[net], found[net + "_b"] = p["W_" + net], p["b_" + net]
        return dict(found, g=p["G"], g_b=p["g"])

    def program(self, instance):
        words = [self.E[w] for w in instance["tokens"]]
        buffer = [self.weights["h0_b"]]
        for e in reversed(words):
            buffer.append(self.cell("b", e, buffer[-1]))
        stack, history = [(None, self.weights["h0_s"])], self.weights["h0_a"]
        i, n, actions, tops = 0, len(words), [], []
        while i < n or len(stack) > 2:
            scores = yield self.linear("g", dy.rectify(self.linear(
                "p", stack[-1][1], buffer[n - i], history)))
            if i == n:
                scores[0] = -numpy.inf
            if len(stack) < 3:
                scores[1:] = -numpy.inf
            a = int(scores.argmax())
            if a == 0:
                e, i = words[i], i + 1
            else:
                (top, _), (second, _) = stack.pop(), stack.pop()
                head, dependent = (top, second) if a % 2 else (second, top)
                e = dy.tanh(self.linear("c", head, dependent, self.R[a - 1]))
            state = self.cell("s", e, stack[-1][1])
            stack.append((e, state))
            history = self.cell("a", self.A[a], history)
            actions.append(a)
            tops.append(state)
        return {"actions": actions, "top_states": tops, "root": stack[-1][:1]}

    def outputs(self, found, count):
        return [dict(result, root=result["root"][0])
                for result in super().outputs(found, count)]


class DRNN(Net):
    TABLES = ()

    def prepare(self, p):
        found = dict(p, p=p["W_pred"], p_b=numpy.zeros(len(p["b_a"]), "f4"), u=p["U_af"],
                     u_b=p["b_af"], o=p["W_out"])
        for net in "af":
            found[net], found[net + "_b"] = p["W_" + net], p["b_" + net]
        return found

    def run(self, instances):
        """Runs trees frontier by frontier. All nodes of a frontier wait together, including nodes
        of the same instance."""
        dy.renew_cg()
        w, roots, frontier = self.weights, [], []
        for instance in instances:
            x, h = (dy.inputVector(instance[name]) for name in "xh")
            roots.append([x, h, []])
            frontier.append((x, h, self.cell("a", x, h), 0, roots[-1][2]))
        while frontier:
            asked = []
            for x, h, ha, depth, siblings in frontier:
                hf = self.cell("f", x, h)
                p = dy.tanh(self.linear("p", ha, hf))
                s = self.linear("u", p)
                q = dy.logistic(s)
                o = dy.softmax(dy.affine_transform(
                    [w["v_a"] * q[0], w["o"], p]) + w["v_f"] * q[1])
                asked.append((o, hf, s))
            dy.forward([s for _, _, s in asked])
            following = []
            for (x, h, ha, depth, siblings), (o, hf, s) in zip(frontier, asked):
                down, on = s.npvalue()
                siblings.append([o, ha, []])
                if down > 0 and depth + 1 < 4:
                    following.append((o, ha, self.cell("a", o, ha), depth + 1,
                                      siblings[-1][2]))
                if on > 0 and len(siblings) < 4:
                    following.append((o, hf, ha, depth, siblings))
            frontier = following
        dy.forward([node[0] for root in roots for node in self.preorder(root)])
        return roots

    def preorder(self, node):
        return [node] + [below for kid in node[2] for below in self.preorder(kid)]

    def outputs(self, found, count):
        results = []
        for root in found:
            nodes = self.preorder(root)[::-1]
            results.append({"x": [n[0] for n in nodes], "h": [n[1] for n in nodes],
                            "child_count": [len(n[2]) for n in nodes]})
        return super().outputs(results, count)


class Nested(Net):
    TABLES = ("E",)

    def prepare(self, p):
        found = {"zr": gates(p, "W_", "zr"), "zr_b": gates(p, "b_", "zr"), "o": p["node.W"],
                 "o_b": p["node.b"]}
        for net in "ne":
            found[net], found[net + "_b"] = p["W_" + net], p["b_" + net]
        if "E" in p:
            found.update(E=p["E"], halt=p["w_halt"], halt_b=p["b_halt"])
        return found

    def node(self, h, e, size):
        zr = dy.logistic(self.linear("zr", h, e))
        z, r = dy.pickrange(zr, 0, size), dy.pickrange(zr, size, 2 * size)
        m = dy.tanh(self.linear("n", h, dy.cmult(r, e)))
        return e + dy.cmult(z, m - e)

    def halt(self, s, v):
        return s + (dy.logistic(self.linear("halt", v)) + 1) * 0.25

    def program(self, instance):
        size = len(instance["x"])
        h, e = dy.inputVector(instance["x"]), dy.zeros(size)
        found = {"h": [], "e": [], "counts": []}
        if "counts" in instance:
            for count in instance["counts"]:
                h = self.node(h, e, size)
                o = e = dy.tanh(self.linear("o", h))
                for _ in range(count):
                    e = self.cell("e", o, e)
                self.write(found, h, e, count)
            return found
        s = dy.zeros(1)
        for token in instance["tokens"]:
            h = self.node(h, e, size)
            o = e = dy.tanh(self.linear("o", h) + self.E[token])
            s, u, count = self.halt(s, o), dy.zeros(1), 0
            while True:
                e = self.cell("e", o, e)
                u, count = self.halt(u, e), count + 1
                if (yield u)[0] > 9.9:
                    break
            self.write(found, h, e, count)
            if s.value() > 9.9:
                return found
        return found

    @staticmethod
    def write(found, h, e, count):
        found["h"].append(h)
        found["e"].append(e)
        found["counts"].append(count)


class Sequence(Net):
    """Base class of models without waits. Each program is one graph."""

    def program(self, instance):
        return self.build(instance)
        yield  # makes this a generator, like program() of other classes

    def last(self, result):
        return [x for values in result.values() for x in values]


class BiRNN(Sequence):
    def prepare(self, p):
        found = {"E": p["E"], "h0_f": p["h0_f"], "h0_b": p["h0_b"], "out": p["out.W"],
                 "out_b": p["out.b"]}
        for net in "fb":
            found[net], found[net + "_b"] = p["W_" + net], p["b_" + net]
        return found

    def build(self, instance):
        words = [self.E[w] for w in instance["tokens"]]

        def chain(net, words):
            hs = [self.weights["h0_" + net]]
            for e in words:
                hs.append(self.cell(net, e, hs[-1]))
            return hs[1:]

        return {"logits": [self.linear("out", f, b) for f, b in zip(
            chain("f", words), reversed(chain("b", words[::-1])))]}

    def outputs(self, found, count):
        return [dict(result, cls=result["logits"].argmax(1))
                for result in super().outputs(found, count)]


class RnnMap(Sequence):
    def prepare(self, p):
        return {"E": p["E"], "h0": p["h0"], "out": p["out.W"], "out_b": p["out.b"],
                "i": numpy.concatenate([p["W_i"], p["W_h"]], 1), "i_b": p["b"]}

    def build(self, instance):
        hs = [self.weights["h0"]]
        for w in instance["tokens"]:
            hs.append(self.cell("i", self.E[w], hs[-1]))
        return {"h": hs[1:], "y": [dy.rectify(self.linear("out", h)) for h in hs[1:]]}


NETS = {"lstm_nmt_greedy": Greedy, "lstm_nmt_beam": Beam, "stackrnn": StackRNN, "drnn": DRNN,
        "nestedrnn_td": Nested, "nestedrnn": Nested, "birnn": BiRNN, "rnn_map": RnnMap}


class Model:
    """A model, with the methods that the worker calls."""

    def __init__(self, name, tensors, sizes):
        self.net = NETS[name](tensors)

    def settings(self, form, batch):
        return {setting: (lambda instances: (instances,), self.net.run, self.net.outputs)}
