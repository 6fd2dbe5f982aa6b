"""Values of each kind that users pickle, and calls of these values.

The tests also execute this file as __main__.
"""

import jax
import jax.numpy as jnp
import numpy
from jax import lax

import batch


@batch.adt
class Tree:
    class Leaf:
        word: int

    class Node:
        left: "Tree"
        right: "Tree"
        scale: float = 0.5

        def doubled(self):
            return 2 * self.scale


@batch.adt
class Codes:
    class Code:
        h: batch.tensor(4)


class Pair:
    def __init__(self, first, second):
        self.first, self.second = first, second


@batch.view(Tree, Pair)
def _(pair):
    return Tree.Node(pair.first, pair.second)


@batch.function
def encode(tree: Tree, words):
    match tree:
        case Tree.Leaf(word):
            return words[word]
        case Tree.Node(left, right):
            return jnp.tanh(encode(left, words) + encode(right, words)) * tree.doubled()


@batch.function
def grow(tree: Tree) -> Tree:
    match tree:
        case Tree.Leaf(word):
            return Tree.Node(Tree.Leaf(word), Tree.Leaf(word + 1))
        case Tree.Node(left, right, scale):
            return Tree.Node(grow(left), grow(right), scale / 3)


@batch.function
def code(tree: Tree) -> Codes:
    match tree:
        case Tree.Leaf(word):
            return Codes.Code(jnp.full(4, word, jnp.float32))
        case Tree.Node(left, _):
            return code(left)


@batch.function
def depth(tree: "Tree", step: "batch.tensor(2)") -> "batch.tensor(2)":
    match tree:
        case Tree.Leaf():
            return step
        case Tree.Node(left, right):
            return step + jnp.maximum(depth(left, step), depth(right, step))


def halve(x):
    return lax.while_loop(lambda x: x > 1, lambda x: x / 3, x)


@batch.vmap
def halved(x):
    return halve(x) + 1


WORDS = numpy.arange(20, dtype=numpy.float32).reshape(5, 4) / 20
X = numpy.arange(6, dtype=numpy.float32)
TREES = [Tree.Node(Tree.Leaf(1), Tree.Node(Tree.Leaf(2), Tree.Leaf(4), 0.25)), Tree.Leaf(3)]
NODES = batch.Forest.of_arrays(
    Tree, [0, 0, 1], {"Leaf.word": [1, 2], "Node.left": [0], "Node.right": [1],
                      "Node.scale": numpy.float32([0.5])}, [2])
LOOP = b"""
func.func @main(%x: tensor<3xf32> {batch.name = "x"}, %W: tensor<3x3xf32> {batch.shared = "W"})
    -> (tensor<3xf32> {batch.name = "y"}) attributes {batch.entry} {
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %p = linalg.vecmat ins(%x, %W : tensor<3xf32>, tensor<3x3xf32>)
                     outs(%zero : tensor<3xf32>) -> tensor<3xf32>
  %s = math.sin %p : tensor<3xf32>
  return %s : tensor<3xf32>
}
"""
W = numpy.arange(9, dtype=numpy.float32).reshape(3, 3) / 9
ROWS = numpy.arange(6, dtype=numpy.float32).reshape(2, 3) / 6
scaled = jnp.asarray(WORDS)
bound = batch.bind(WORDS)

# For each kind, a function that makes the value, and a function that calls or reads it.
KINDS = {
    "vmap of a function": (lambda: batch.vmap(halve), lambda f: f(X)),
    "vmap of a lambda": (lambda: batch.vmap(lambda x: jnp.sin(x) * scaled[0]), lambda f: f(X)),
    "vmap as a decorator": (lambda: halved, lambda f: f(X)),
    "vmap with axes": (lambda: batch.vmap(jnp.dot, in_axes=(1, None), out_axes=0),
                       lambda f: f(WORDS, WORDS[:, 0])),
    "vmap of a @batch.function": (lambda: batch.vmap(encode, in_axes=(0, None)),
                                  lambda f: f(TREES, WORDS)),
    "@batch.function": (lambda: encode, lambda f: f(TREES[0], WORDS)),
    "vmap of a call of a @batch.function": (
        lambda: batch.vmap(lambda tree, step: depth(tree, step) * 2, in_axes=(0, None)),
        lambda f: f(batch.forest(Tree, TREES), jnp.ones(2))),
    "@batch.function that constructs": (lambda: batch.vmap(grow), lambda f: {
        name: f(TREES)[name].values for name in ("word", "scale")}),
    "data type": (lambda: Tree, lambda Tree: batch.vmap(encode, in_axes=(0, None))(
        [Tree.Node(Tree.Leaf(1), Tree.Leaf(0), 0.75)], WORDS)),
    "variant": (lambda: Tree.Node, lambda Node: Node(*TREES).doubled()),
    "objects": (lambda: TREES, lambda trees: batch.vmap(encode, in_axes=(0, None))(trees, WORDS)),
    "viewed objects": (lambda: [Pair(*TREES)], lambda pairs: batch.vmap(
        encode, in_axes=(0, None))(pairs, WORDS)),
    "forest": (lambda: batch.forest(Tree, TREES),
               lambda forest: batch.vmap(encode, in_axes=(0, None))(forest, WORDS)),
    "forest of arrays": (lambda: NODES, lambda forest: batch.vmap(
        lambda tree, words: encode(tree, words) + 1, in_axes=(0, None))(forest, WORDS)),
    "nodes": (lambda: batch.vmap(code)(TREES), lambda nodes: nodes.h[0]),
    "ragged array": (lambda: batch.Ragged.of([ROWS, ROWS[:1]]),
                     lambda rows: batch.vmap(lambda x: x.sum(0))(rows)),
    "bound array": (lambda: bound, lambda array: batch.vmap(
        lambda x, words: x * words[1], in_axes=(0, None))(X, array)),
    "model": (lambda: batch.compile(LOOP), lambda model: model.bind({"W": W})(ROWS)["y"]),
    "bound model": (lambda: batch.compile(LOOP).bind({"W": W}, threads=1),
                    lambda f: f(ROWS)["y"]),
    "explanation": (lambda: batch.vmap(halve).explain(X), lambda explanation: len(
        explanation.to_json()) > 100),
    "type": (lambda: batch.tensor(3, dtype="int8"), lambda kind: kind == batch.tensor(
        3, dtype="int8")),
    "errors": (lambda: [kind("text") for kind in (
        batch.Error, batch.Cancelled, batch.CompileError, batch.LoweringError)],
        lambda errors: "".join(map(str, errors)) == 4 * "text"),
}


def results():
    """Returns the bytes of the results of all kinds, by name."""
    return {name: as_bytes(use(make())) for name, (make, use) in KINDS.items()}


def as_bytes(tree):
    return [numpy.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]
