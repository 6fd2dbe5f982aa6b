"""Recursive models in Python: those of examples/mlir and test/models, and others.

Each function builds a Model for a size H.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy

import batch


class Model(NamedTuple):
    """Recursive model.

    function: called with a tree and the parameters.
    argument: data type of the tree.
    outputs: outputs of the same model in MLIR, each the name of a field of the nodes that
      `function` returns, or the position of a result.
    reference: the same function in NumPy, called with a tuple and the parameters.
    """
    function: Callable[..., Any]
    argument: type
    outputs: tuple[str | int, ...] = ()
    reference: Callable[..., Any] | None = None

sigmoid = jax.nn.sigmoid


def lstm(i, o, u, cells):
    c = i * u
    for part in cells:
        c = c + part
    return o * jnp.tanh(c), c


def gates(p, x, first):
    """Returns the gates i, o and u of an LSTM for one vector."""
    i, o, u = (p[first + gate] @ x + p["b_" + gate] for gate in "iou")
    return sigmoid(i), sigmoid(o), jnp.tanh(u)


@batch.adt(kind="tree", arity=2)
class Tree:
    class leaf:
        word: int

    class node:
        left: "Tree"
        right: "Tree"


def lstm_states(H):
    """Returns the data type of the states that a TreeLSTM computes for binary trees."""
    @batch.adt
    class States:
        class leaf:
            h: batch.tensor(H)
            c: batch.tensor(H)
            logits: batch.tensor(5)

        class node:
            left: "States"
            right: "States"
            h: batch.tensor(H)
            c: batch.tensor(H)
            logits: batch.tensor(5)

    return States


def treelstm(H, forget):
    """Builds a TreeLSTM for binary trees; `forget` returns both forget gates."""
    States = lstm_states(H)

    @batch.function
    def encode(tree: Tree, p):
        match tree:
            case Tree.leaf(word):
                h, c = lstm(*gates(p, p["E"][word], "W_"), [])
                return h, c, States.leaf(h, c, p["W_out"] @ h)
            case Tree.node(left, right):
                hl, cl, sl = encode(left, p)
                hr, cr, sr = encode(right, p)
                fl, fr = forget(p, hl, hr)
                h, c = lstm(*gates(p, jnp.concatenate([hl, hr]), "U_"), [fl * cl, fr * cr])
                return h, c, States.node(sl, sr, h, c, p["W_out"] @ h)

    return Model(lambda tree, p: encode(tree, p)[2], Tree, ("h", "c", "logits"))


def treelstm_nary(H):
    return treelstm(H, lambda p, hl, hr: (sigmoid(p["U_fl"] @ hl + p["b_f"]),
                                          sigmoid(p["U_fr"] @ hr + p["b_f"])))


def treelstm_nary_tai(H):
    def forget(p, hl, hr):
        e = jnp.concatenate([hl, hr])
        return sigmoid(p["U_fl"] @ e + p["b_f"]), sigmoid(p["U_fr"] @ e + p["b_f"])
    return treelstm(H, forget)


def treelstm_2type(H):
    """Builds a TreeLSTM for nodes of two types, each with its own weights."""
    @batch.adt(kind="tree", arity=2)
    class Tree:
        class leaf:
            word: int

        class node:
            left: "Tree"
            right: "Tree"
            type: int

    States = lstm_states(H)

    def cell(hl, cl, hr, cr, p, of=""):
        q = {name[:-len(of)] if of else name: value for name, value in p.items()
             if not of or name.endswith(of)}
        fl, fr = sigmoid(q["U_fl"] @ hl + q["b_f"]), sigmoid(q["U_fr"] @ hr + q["b_f"])
        return lstm(*gates(q, jnp.concatenate([hl, hr]), "U_"), [fl * cl, fr * cr])

    @batch.function
    def encode(tree: Tree, p):
        match tree:
            case Tree.leaf(word):
                h, c = lstm(*gates(p, p["E"][word], "W_"), [])
                return h, c, States.leaf(h, c, p["W_out"] @ h)
            case Tree.node(left, right, type):
                hl, cl, sl = encode(left, p)
                hr, cr, sr = encode(right, p)
                h, c = jax.lax.cond(type == 0, lambda: cell(hl, cl, hr, cr, p),
                                    lambda: cell(hl, cl, hr, cr, p, "1"))
                return h, c, States.node(sl, sr, h, c, p["W_out"] @ h)

    return Model(lambda tree, p: encode(tree, p)[2], Tree, ("h", "c", "logits"))


def treelstm_cs(H):
    """Builds a TreeLSTM for nodes with any number of children."""
    @batch.adt(kind="tree")
    class Tree:
        class leaf:
            word: int

        class node:
            kids: list["Tree"]

    @batch.adt
    class States:
        class leaf:
            h: batch.tensor(H)
            c: batch.tensor(H)

        class node:
            kids: list["States"]
            h: batch.tensor(H)
            c: batch.tensor(H)

    @batch.function
    def encode(tree: Tree, p):
        match tree:
            case Tree.leaf(word):
                h, c = lstm(*gates(p, p["E"][word], "W_"), [])
                return h, c, States.leaf(h, c)
            case Tree.node(kids):
                hs, cs, states = kids.map(lambda kid: encode(kid, p))
                i, o, u = gates(p, hs.sum(axis=0), "U_")
                forget = sigmoid(hs @ p["U_f"].T + p["b_f"])
                h, c = lstm(i, o, u, [(forget * cs).sum(axis=0)])
                return h, c, States.node(states, h, c)

    return Model(lambda tree, p: encode(tree, p)[2], Tree, ("h", "c"))


def treegru_nary(H):
    @batch.adt
    class States:
        class leaf:
            h: batch.tensor(H)
            logits: batch.tensor(5)

        class node:
            left: "States"
            right: "States"
            h: batch.tensor(H)
            logits: batch.tensor(5)

    def update(h, p, k):
        r = sigmoid(p["U_r" + k] @ h + p["b_r"])
        z = sigmoid(p["U_z" + k] @ h + p["b_z"])
        c = jnp.tanh(p["U_c" + k] @ (r * h) + p["b_c"])
        return z * h + (1 - z) * c

    @batch.function
    def encode(tree: Tree, p):
        match tree:
            case Tree.leaf(word):
                h = update(p["E"][word], p, "0")
                return h, States.leaf(h, p["W_out"] @ h)
            case Tree.node(left, right):
                hl, sl = encode(left, p)
                hr, sr = encode(right, p)
                h = 0.5 * (update(hl, p, "1") + update(hr, p, "2"))
                return h, States.node(sl, sr, h, p["W_out"] @ h)

    return Model(lambda tree, p: encode(tree, p)[1], Tree, ("h", "logits"))


def mvrnn(H):
    @batch.adt
    class States:
        class leaf:
            v: batch.tensor(H)
            logits: batch.tensor(5)

        class node:
            left: "States"
            right: "States"
            v: batch.tensor(H)
            logits: batch.tensor(5)

    @batch.function
    def encode(tree: Tree, p):
        match tree:
            case Tree.leaf(word):
                v, M = p["E_v"][word], p["E_m"][word]
                return v, M, States.leaf(v, p["W_out"] @ v)
            case Tree.node(left, right):
                a, A, sl = encode(left, p)
                b, B, sr = encode(right, p)
                v = jnp.tanh(p["W_v"] @ jnp.concatenate([B @ a, A @ b]) + p["b_v"])
                M = p["W_m"] @ jnp.concatenate([A, B]) + p["b_m"][:, None]
                return v, M, States.node(sl, sr, v, p["W_out"] @ v)

    return Model(lambda tree, p: encode(tree, p)[::-1], Tree, ("v", "logits", 1))


def dagrnn(H):
    @batch.adt(kind="dag")
    class Node:
        class node:
            word: int
            preds: list["Node"]

    @batch.adt
    class States:
        class node:
            preds: list["States"]
            h: batch.tensor(H)

    @batch.function
    def visit(node: Node, p) -> (batch.tensor(H), States):
        hs, states = node.preds.map(lambda before: visit(before, p))
        h = jnp.tanh(p["W"] @ hs.sum(axis=0) + (p["U"] @ p["E"][node.word] + p["b"]))
        return h, States.node(states, h)

    return Model(lambda node, p: visit(node, p)[1], Node, ("h",))


def lattice_gru(H):
    """Builds a lattice GRU. It has two data types, one of them with a single variant."""
    @batch.adt(kind="dag")
    class Position:
        class start:
            pass

        class after:
            char: int
            before: "Position"
            words: list["Arc"]

    @batch.adt
    class Arc:
        class word:
            word: int
            begin: "Position"

    @batch.adt
    class States:
        class start:
            h: batch.tensor(H)
            logits: batch.tensor(8)

        class after:
            before: "States"
            h: batch.tensor(H)
            logits: batch.tensor(8)

    def gru(x, h, p, k):
        def gate(name, h):
            return p["U_" + name + k] @ h + (p["W_" + name + k] @ x + p["b_" + name + k])
        r, z = sigmoid(gate("r", h)), sigmoid(gate("z", h))
        n = jnp.tanh(gate("h", r * h))
        return z * h + (1 - z) * n

    @batch.function
    def visit(position: Position, p):
        match position:
            case Position.start():
                return p["h0"], States.start(p["h0"], p["W_out"] @ p["h0"])
            case Position.after(char, before, words):
                hb, sb = visit(before, p)
                h = gru(p["E_c"][char], hb, p, "c") + words.sum(
                    lambda arc: gru(p["E_w"][arc.word], visit(arc.begin, p)[0], p, "w"))
                return h, States.after(sb, h, p["W_out"] @ h)

    return Model(lambda position, p: visit(position, p)[1], Position, ("h", "logits"))


IN_MLIR = {f.__name__: f for f in (treelstm_nary, treelstm_nary_tai, treelstm_2type,
                                   treelstm_cs, treegru_nary, mvrnn, dagrnn, lattice_gru)}


# --- models without MLIR -----------------------------------------------------------------

def attention(H):
    """Builds softmax attention over any number of children, including none."""
    @batch.adt(kind="tree")
    class Tree:
        class node:
            word: int
            kids: list["Tree"]

    @batch.function
    def encode(tree: Tree, p) -> batch.tensor(H):
        x = p["E"][tree.word]
        hs = tree.kids.map(lambda kid: encode(kid, p))
        weights = jax.nn.softmax(hs @ (p["Q"] @ x))
        return jnp.tanh(p["W"] @ x + weights @ hs)

    def reference(tree, p):
        _, word, kids = tree
        x = p["E"][word]
        below = numpy.zeros(H, numpy.float32)
        if kids:
            hs = numpy.stack([reference(kid, p) for kid in kids])
            scores = hs @ (p["Q"] @ x)
            weights = numpy.exp(scores - scores.max())
            below = weights / weights.sum() @ hs
        return numpy.tanh(p["W"] @ x + below)

    return Model(encode, Tree, reference=reference)


def mutual(H):
    """Builds mutually recursive functions over statements and expressions."""
    @batch.adt
    class Statement:
        class block:
            parts: list["Statement"]

        class assign:
            name: int
            value: "Expression"

    @batch.adt
    class Expression:
        class number:
            value: numpy.float32

        class call:
            name: int
            arguments: list["Expression"]

        class function:
            body: Statement

    @batch.function
    def statement(s: Statement, p):
        match s:
            case Statement.block(parts):
                return parts.fold(lambda h, part: jnp.tanh(p["W"] @ h + statement(part, p)),
                                  p["h0"])
            case Statement.assign(name, value):
                return p["E"][name] * expression(value, p)

    @batch.function
    def expression(e: Expression, p):
        match e:
            case Expression.number(value):
                return value * p["h0"]
            case Expression.call(name, arguments):
                return jnp.tanh(arguments.sum(lambda a: expression(a, p)) + p["E"][name])
            case Expression.function(body):
                return p["U"] @ statement(body, p)

    def reference(node, p):
        match node:
            case ("block", parts):
                h = p["h0"]
                for part in parts:
                    h = numpy.tanh(p["W"] @ h + reference(part, p))
                return h
            case ("assign", name, value):
                return p["E"][name] * reference(value, p)
            case ("number", value):
                return numpy.float32(value) * p["h0"]
            case ("call", name, arguments):
                total = sum((reference(a, p) for a in arguments),
                            numpy.zeros(H, numpy.float32))
                return numpy.tanh(total + p["E"][name])
            case ("function", body):
                return p["U"] @ reference(body, p)

    return Model(statement, Statement, reference=reference)


def lists(H):
    """Builds an encoder of documents. A document has sentences, each a list of words."""
    @batch.adt
    class Document:
        class document:
            sentences: list[list[int]]
            weights: list[float]
            vectors: list[batch.tensor(H)]

    @batch.function
    def encode(document: Document, p):
        def sentence(words):
            rows = p["E"][words.array]
            return jnp.tanh(rows.sum(axis=0)) + words.length

        rows = document.sentences.map(sentence)
        scaled = document.sentences.map(lambda words, weight: sentence(words) * weight,
                                        document.weights)
        read = document.vectors.fold(
            lambda h, v: (jnp.tanh(p["W"] @ h[0] + v), h[1] + 1), (p["h0"], 0))
        return rows.sum(axis=0), scaled.max(axis=0, initial=-9.0), read[0], read[1], \
            document.vectors.array.sum(axis=0)

    def reference(document, p):
        _, sentences, weights, vectors = document
        rows = [numpy.tanh(p["E"][words].sum(axis=0)) + len(words) for words in
                (numpy.array(words, int) for words in sentences)]
        zero = numpy.zeros(H, numpy.float32)
        h = p["h0"]
        for v in vectors:
            h = numpy.tanh(p["W"] @ h + v)
        return (sum(rows, zero),
                numpy.max([row * numpy.float32(w) for row, w in zip(rows, weights)] +
                          [zero - 9], axis=0),
                h, len(vectors), sum(vectors, zero))

    return Model(encode, Document, reference=reference)


def paths(H):
    """Builds a model of chains of 40 nodes, with two edges from node to node: 2^39 paths."""
    @batch.adt(kind="dag")
    class Node:
        class end:
            word: int

        class step:
            left: "Node"
            right: "Node"

    @batch.function
    def encode(node: Node, p):
        match node:
            case Node.end(word):
                return p["E"][word], 1.0
            case Node.step(left, right):
                (a, m), (b, n) = encode(left, p), encode(right, p)
                return jnp.tanh(p["W"] @ a + p["U"] @ b), m + n

    def reference(node, p):
        known = {}
        while node[0] == "step":
            known[id(node)] = node
            node = node[1]
        h, count = p["E"][node[1]], 1.0
        for _ in known:
            h, count = numpy.tanh(p["W"] @ h + p["U"] @ h), 2 * count
        return h, count

    return Model(encode, Node, reference=reference)


OTHERS = {f.__name__: f for f in (attention, mutual, lists, paths)}


# --- inputs ------------------------------------------------------------------------------

WORDS = 9


def parameters(H, shapes, seed=0):
    """Returns random parameters by name; an extent of -1 is the number of words."""
    generator = numpy.random.default_rng(seed)
    return {name: (generator.normal(size=[WORDS if n == -1 else n for n in shape]) / 4)
            .astype(numpy.float32) for name, shape in shapes.items()}


def random_input(name, H, generator, depth=5):
    """Returns a random input of a model, as tuples."""
    def word():
        return int(generator.integers(WORDS))

    def again(less=1):
        return random_input(name, H, generator, depth - less)

    def many(most, least=0):
        return [again() for _ in range(generator.integers(least, most + 1))]

    is_last = depth == 0 or generator.random() < 0.2
    if name == "dagrnn":
        grid = {}
        for at in numpy.ndindex(4, 3):
            before = [(at[0] - 1, at[1]), (at[0], at[1] - 1)]
            grid[at] = "node", word(), [grid[b] for b in before if b in grid]
        return grid[3, 2]
    if name == "lattice_gru":
        positions = [("start",)]
        for _ in range(generator.integers(8)):
            arcs = [("word", word(), p) for p in positions if generator.random() < 0.3]
            positions.append(("after", word(), positions[-1], arcs))
        return positions[-1]
    if name == "attention":
        return "node", word(), many(3) if depth else []
    if name == "mutual":
        def expression(depth):
            kind = generator.integers(3) if depth else 0
            if kind == 0:
                return "number", float(generator.normal())
            if kind == 1:
                return "call", word(), [expression(depth - 1)
                                        for _ in range(generator.integers(4))]
            return "function", again(2) if depth > 1 else ("block", [])
        if is_last or depth < 2:
            return "assign", word(), expression(max(depth, 0))
        return "block", many(3)
    if name == "lists":
        sentences = [[word() for _ in range(generator.integers(6))]
                     for _ in range(generator.integers(5))]
        return ("document", sentences, generator.normal(size=len(sentences)).tolist(),
                list(generator.normal(size=(generator.integers(4), H))
                     .astype(numpy.float32)))
    if name == "paths":
        node = "end", word()
        for _ in range(39):
            node = "step", node, node
        return node
    if is_last:
        return "leaf", word()
    if name == "treelstm_cs":
        return "node", many(3, 1)
    if name == "treelstm_2type":
        return "node", again(), again(), int(generator.integers(2))
    return "node", again(), again()
