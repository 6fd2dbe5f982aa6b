"""The models in JAX, for one instance. Loops over given words use lax.scan, loops whose end is
computed use lax.while_loop, and branches use lax.cond. jax.vmap makes mini-batches, in which
loops run until the last instance ends, and both sides of branches run for all instances.

A net is a function of its parameters and one instance's arrays. prepare() makes these
arrays, and outputs() arranges a result by instance.
"""

import jax
import jax.numpy as jnp
import numpy
from jax import lax

import residual


def gates(a, c):
    i, f, g, o = jnp.split(a, 4)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def lstm_parameters(p, prefix):
    return {prefix + "_" + kind: numpy.concatenate(
        [p["%s.%s_%s" % (prefix, kind, gate)] for gate in "ifgo"]) for kind in "WUb"}


class Net:
    """A net. `keep(p)` returns the arrays that run() takes as parameters; `run(p, *instance)` runs
    an instance."""

    names = ()  # names of an instance's arrays

    def __init__(self, p, name, sizes):
        self.name, self.sizes = name, sizes
        self.p = {key: jnp.asarray(value) for key, value in self.keep(p).items()}

    def instance(self, value):
        return tuple(numpy.asarray(value[name]) for name in self.names)

    def prepare(self, instances):
        values = [self.instance(value) for value in instances]
        return tuple(jnp.asarray(numpy.stack(arrays)) for arrays in zip(*values))


class LSTM10(Net):
    names = ("tokens",)

    def keep(self, p):
        found = {"E": p["E"]}
        for layer in range(10):
            found.update(lstm_parameters(p, "l%d" % layer))
        return found

    def run(self, p, tokens):
        x, hs, cs = p["E"][tokens], [], []
        for layer in range(10):
            W, U, b = (p["l%d_%s" % (layer, kind)] for kind in "WUb")

            def step(state, a):
                h, c = gates(a + U @ state[0], state[1])
                return (h, c), h

            zero = jnp.zeros_like(x[0])
            (h, c), x = lax.scan(step, (zero, zero), x @ W.T + b)
            hs.append(h)
            cs.append(c)
        return {"h": jnp.stack(hs), "c": jnp.stack(cs)}


class NASRNN(Net):
    names = ("tokens",)

    def keep(self, p):
        return {"E": p["E"], **{net: numpy.concatenate(
            [p["%s_%d" % (net, k)] for k in range(8)]) for net in "WU"}}

    def run(self, p, tokens):
        sigmoid, tanh, relu = jax.nn.sigmoid, jnp.tanh, jax.nn.relu

        def step(state, a):
            c, m = state
            b = p["U"] @ m
            a, b = jnp.split(a, 8), jnp.split(b, 8)
            s = [x + y for x, y in zip(a, b)]
            if self.name == "nasrnn":
                s[3] = a[3] * b[3]
            q0, q1 = tanh(sigmoid(s[0]) * relu(s[1])), tanh(sigmoid(s[2]) + relu(s[3]))
            q2, q3 = tanh(tanh(s[4]) * sigmoid(s[5])), sigmoid(tanh(s[6]) + sigmoid(s[7]))
            c = tanh(q0 + c) * q1
            return (c, tanh(c * tanh(q2 + q3))), None

        zero = jnp.zeros(self.sizes["H"])
        (c, m), _ = lax.scan(step, (zero, zero), p["E"][tokens] @ p["W"].T)
        return {"c": c, "m": m}


class Attention(Net):
    names = ("x", "K", "V")

    def keep(self, p):
        return {"W_qkv": numpy.concatenate([p["W_" + net] for net in "qkv"], 1),
                "W_o": p["W_o"]}

    def run(self, p, x, K, V):
        slots, size = K.shape[1:]

        def step(t, state):
            x, K, V, ys = state
            q, k, v = jnp.split(jnp.einsum("hnk,hk->hn", p["W_qkv"], x), 3, 1)
            K, V = K.at[:, t].set(k), V.at[:, t].set(v)
            scores = jnp.einsum("htk,hk->ht", K, q) / size ** 0.5
            if self.name == "attention_masked":
                scores = jnp.where(jnp.arange(slots) <= t, scores, -jnp.inf)
            a = jax.nn.softmax(scores, -1)
            x = jnp.einsum("hnk,hk->hn", p["W_o"], jnp.einsum("htn,ht->hn", V, a))
            return x, K, V, ys.at[t - (slots - 32)].set(x)

        _, K, V, ys = lax.fori_loop(slots - 32, slots, step,
                                    (x, K, V, jnp.zeros((32,) + x.shape)))
        return {"x": ys, "K": K, "V": V}


class Seq2seq(Net):
    names = ("h0", "c0")

    def keep(self, p):
        return {"E": p["E"], "out_W": p["out.W"], "out_b": p["out.b"],
                **lstm_parameters(p, "l")}

    def run(self, p, h, c, force=None):
        def goes_on(state):
            return (state[0] != 0) & (state[3] < 50)

        def step(state):
            word, h, c, n, out, hs = state
            h, c = gates(p["l_W"] @ p["E"][word] + p["l_U"] @ h + p["l_b"], c)
            y = p["out_W"] @ h + p["out_b"]
            if force is not None:
                y = y.at[force[n]].add(1e6)
            word = jnp.argmax(y).astype(jnp.int32)
            return word, h, c, n + 1, out.at[n].set(word), hs.at[n].set(h)

        start = (jnp.int32(1), h, c, jnp.int32(0), jnp.zeros(50, jnp.int32),
                 jnp.zeros((50, h.shape[0])))
        _, _, _, n, out, hs = lax.while_loop(goes_on, step, start)
        return {"count": n, "out": out, "h": hs}


class Forced(Seq2seq):
    names = ("h0", "c0", "force")


class Residual(Net):
    """Norms are folded into convolutions. Channels are last, because XLA's convolutions with
    channels first are slow in branches."""

    def __init__(self, p, name, sizes):
        self.net = residual.Net(name, sizes)
        self.gated = self.net.model.gated
        self.names = ("image", "probs") if name == "blockdrop_given" else ("image",)
        super().__init__(p, name, sizes)

    def keep(self, p):
        found = {name: value for name, value in p.items() if ".fc." in "." + name or
                 ".gate." in name or name.startswith("rnn.proj")}
        for name, value in p.items():
            if value.ndim == 4:
                norm = name + ".n" if name.endswith(("stem", ".ds")) else \
                    name[:-2] + "n" + name[-1]
                scale = p[norm + ".g"] / numpy.sqrt(p[norm + ".var"] + numpy.float32(1e-5))
                found[name] = (value * scale[:, None, None, None]).transpose(2, 3, 1, 0)
                found[name + "_b"] = p[norm + ".b"] - p[norm + ".mean"] * scale
        if self.gated:
            found.update(lstm_parameters(p, "rnn"))
        return found

    def run(self, p, image, probs=None):
        def conv(name, x, stride=1):
            pad = p[name].shape[0] // 2
            return lax.conv_general_dilated(
                x[None], p[name], (stride, stride), [(pad, pad)] * 2,
                dimension_numbers=("NHWC", "HWIO", "NHWC"))[0] + p[name + "_b"]

        def linear(name, x):
            return p[name + ".W"] @ x.mean((0, 1)) + p[name + ".b"]

        def body(prefix, block, x, short):
            y = jax.nn.relu(conv(prefix + ".c1", x, 2 if block.narrows else 1))
            return jax.nn.relu(short + conv(prefix + ".c2", y))

        def shortcut(block, x):
            if not block.narrows:
                return x
            if self.gated:
                return conv(block.name + ".ds", x, 2)
            side, _, size = x.shape
            x = x.reshape(side // 2, 2, side // 2, 2, size).mean((1, 3))
            return jnp.pad(x, ((0, 0), (0, 0), (0, block.channels - size)))

        image = image.transpose(1, 2, 0)
        if self.net.policy:
            x = jax.nn.relu(conv("policy.stem", image))
            for block in self.net.policy:
                x = body("policy." + block.name, block, x, shortcut(block, x))
            keep = linear("policy.fc", x) > 0
        elif probs is not None:
            keep = probs >= 0.5
        x, ran = jax.nn.relu(conv("stem", image)), []
        h = c = jnp.zeros(10)
        for block in self.net.blocks:
            if not self.gated:
                runs = keep[block.number]
            elif block.number:
                u = linear(self.net.blocks[block.number - 1].name + ".gate", x)
                h, c = gates(p["rnn_W"] @ u + p["rnn_U"] @ h + p["rnn_b"], c)
                runs = (p["rnn.proj"] @ h + p["rnn.proj.b"])[0] > 0
            else:
                runs = jnp.bool_(True)
            short = shortcut(block, x)
            if self.gated and not block.number:
                x = body(block.name, block, x, short)
            else:
                x = lax.cond(runs, lambda x, short, block=block: body(block.name, block, x,
                                                                      short),
                             lambda x, short: short, x, short)
            ran.append(runs)
        logits = linear("fc", x)
        return {"logits": logits, "ran" if self.gated else "keep": jnp.stack(ran).astype(
            jnp.int32), "cls": jnp.argmax(logits).astype(jnp.int32)}


class RAE(Net):
    """JAX does not support recursion, so a loop computes the inner nodes in post-order. A join
    contains the positions of a node and its children."""

    def keep(self, p):
        return p

    def instance(self, value):
        words, joins, count = [], [], 0

        def number(tree):
            nonlocal count
            if tree[0] == "leaf":
                words.append((count, tree[1]))
            else:
                left, right = number(tree[1]), number(tree[2])
                joins.append((count, left, right))
            count += 1
            return count - 1

        number(value["tree"])
        return numpy.array(words, "i4"), numpy.array(joins, "i4")

    def run(self, p, words, joins):
        h = jnp.zeros((len(words) + len(joins), p["E"].shape[1]))
        h = h.at[words[:, 0]].set(p["E"][words[:, 1]])

        def step(h, join):
            at, left, right = join
            pair = jnp.concatenate([h[left], h[right]])
            return h.at[at].set(jnp.tanh(p["W"] @ pair + p["b"])), None

        return {"h": lax.scan(step, h, joins)[0]}


NETS = {"lstm10": LSTM10, "nasrnn": NASRNN, "nasrnn_add": NASRNN, "attention": Attention,
        "attention_masked": Attention, "seq2seq": Seq2seq, "seq2seq_forced": Forced,
        "blockdrop": Residual, "blockdrop_given": Residual, "skipnet38": Residual, "rae": RAE}
