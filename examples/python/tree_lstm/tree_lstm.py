#!/usr/bin/env python3
"""tree_lstm.py [FILE]: runs a TreeLSTM on the parse trees of sentences.

A node's state depends on the states of its children. An output layer computes a score for each of
five classes, which are sentiments in the Stanford Sentiment Treebank. FILE can be a file of this
treebank. Weights are random, since nothing is trained here. The recursive function takes ONE tree.
`batch.vmap` runs it on many trees, with all ready nodes at once. The model is the same as in
examples/mlir/treelstm_nary.mlir (Tai et al. 2015).

    $ python tree_lstm.py
    ((The baker) ((sold ((three (warm loaves)) (before sunrise))) .)): class 0
    (It (rains .)): class 3
    ...
"""

import os
import re
import sys

import batch
import jax
import jax.numpy as jnp
import numpy

SIZE = 256
TREES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/trees.txt")


@batch.adt(kind="tree", arity=2)
class Tree:
    class Leaf:
        word: int

    class Node:
        left: "Tree"
        right: "Tree"


@batch.adt(kind="tree", arity=2)
class States:
    """Results of each node."""
    class Leaf:
        h: batch.tensor(SIZE)
        c: batch.tensor(SIZE)
        logits: batch.tensor(5)

    class Node:
        left: "States"
        right: "States"
        h: batch.tensor(SIZE)
        c: batch.tensor(SIZE)
        logits: batch.tensor(5)


@batch.function
def encode(tree: Tree, w):
    match tree:
        case Tree.Leaf(word):
            x = w["E"][word]
            i, o = (jax.nn.sigmoid(w["W_" + gate] @ x + w["b_" + gate])
                    for gate in "io")
            c = i * jnp.tanh(w["W_u"] @ x + w["b_u"])
            h = o * jnp.tanh(c)
            return h, c, States.Leaf(h, c, w["W_out"] @ h)
        case Tree.Node(left, right):
            hl, cl, sl = encode(left, w)
            hr, cr, sr = encode(right, w)
            e = jnp.concatenate([hl, hr])
            i, o = (jax.nn.sigmoid(w["U_" + gate] @ e + w["b_" + gate])
                    for gate in "io")
            fl, fr = (jax.nn.sigmoid(w[name] @ h + w["b_f"])
                      for name, h in (("U_fl", hl), ("U_fr", hr)))
            c = i * jnp.tanh(w["U_u"] @ e + w["b_u"]) + fl * cl + fr * cr
            h = o * jnp.tanh(c)
            return h, c, States.Node(sl, sr, h, c, w["W_out"] @ h)


def states(tree: Tree, w):
    """Returns the results of each node of ONE tree, with weights w."""
    return encode(tree, w)[2]


def weights(words, size=SIZE, seed=0):
    """Returns random weights: {name: array}, with the names of the model in MLIR."""
    draw = numpy.random.default_rng(seed)
    shapes = {"E": (words, size), "W_out": (5, size),
              **{"W_" + gate: (size, size) for gate in "iou"},
              **{"U_" + gate: (size, 2 * size) for gate in "iou"},
              **{"U_f" + side: (size, size) for side in "lr"},
              **{"b_" + gate: (size,) for gate in "iouf"}}
    return {name: draw.uniform(-1, 1, shape).astype("f4") * (3 / shape[-1]) ** 0.5
            for name, shape in shapes.items()}


def read(file=TREES):
    """Returns the trees of a file with lines `(label (label word) (label word))`, and its
    words in the order of their first appearance."""
    words = {}

    def tree(tokens):
        """Parses the text after an opening bracket."""
        next(tokens)  # a label
        token = next(tokens)
        if token == "(":
            left, _ = tree(tokens), next(tokens)
            made = Tree.Node(left, tree(tokens))
        else:
            made = Tree.Leaf(words.setdefault(token, len(words)))
        next(tokens)  # the closing bracket
        return made

    with open(file, encoding="utf-8") as lines:
        trees = [tree(iter(re.findall(r"[()]|[^\s()]+", line)[1:])) for line in lines
                 if line.strip()]
    return trees, list(words)


def show(tree, words):
    if isinstance(tree, Tree.Leaf):
        return words[tree.word]
    return "(%s %s)" % (show(tree.left, words), show(tree.right, words))


def main(file=TREES):
    trees, words = read(file)
    found = batch.vmap(states, in_axes=(0, None))(trees, weights(len(words)))
    for i, tree in enumerate(trees):
        root = found.logits[i][-1]  # nodes are in post-order
        print("%s: class %d" % (show(tree, words), root.argmax()))


if __name__ == "__main__":
    main(*sys.argv[1:])
