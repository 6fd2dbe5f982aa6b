#!/usr/bin/env python3
"""ast_encoder.py FILE…: compares several Python programs, and finds the most similar other program
for each of them. An encoder reads the syntax trees of `ast`.

The encoder is a child-sum TreeLSTM (Tai et al. 2015): a node may have any number of children. Its
weights are random, since nothing is trained here, but equal subtrees still have equal states. It is
written for ONE tree and reads the objects of `ast` directly. `batch.vmap` runs it on many trees.
Equal subtrees of a program are computed once.

    $ python ast_encoder.py ast_encoder.py compare.py ../tree_lstm/compare.py
    ast_encoder.py is most like ../tree_lstm/compare.py, 0.90
    compare.py is most like ../tree_lstm/compare.py, 0.95
    ../tree_lstm/compare.py is most like compare.py, 0.95
"""

import ast
import sys
import zlib

import batch
import jax
import jax.numpy as jnp
import numpy

SIZE, NAMES = 128, 4096
KINDS = {kind: number for number, kind in enumerate(sorted(
    {kind for kind in vars(ast).values()
     if isinstance(kind, type) and issubclass(kind, ast.AST)}, key=lambda k: k.__name__))}


@batch.adt
class Tree:
    class Node:
        kind: int
        name: int  # hash of all names, numbers and strings in the node
        children: list["Tree"]


@batch.view(Tree, ast.AST)
def node_of(node):
    children, texts = [], []
    for field in node._fields:
        value = getattr(node, field, None)
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, ast.AST):
                children.append(part)
            elif part is not None:
                texts.append(repr(part))
    name = zlib.crc32(" ".join(texts).encode()) % NAMES if texts else NAMES
    return Tree.Node(KINDS[type(node)], name, children)


@batch.function
def read(tree: Tree, w) -> (batch.tensor(SIZE), batch.tensor(SIZE)):
    """Returns the output and the cell of a TreeLSTM for a tree."""
    x = w["kind"][tree.kind] + w["name"][tree.name]
    hs, cs = tree.children.map(lambda child: read(child, w))
    forget = jax.nn.sigmoid(x[:SIZE] + hs @ w["U_forget"])
    gates = x[SIZE:] + w["U"] @ hs.sum(0)
    i, o = jnp.split(jax.nn.sigmoid(gates[:2 * SIZE]), 2)
    c = i * jnp.tanh(gates[2 * SIZE:]) + (forget * cs).sum(0)
    return o * jnp.tanh(c), c


def code(tree: Tree, w):
    """Returns a vector for ONE program."""
    return read(tree, w)[0]


def weights(seed=0):
    draw = numpy.random.default_rng(seed)
    shapes = {"kind": (len(KINDS), 4 * SIZE), "name": (NAMES + 1, 4 * SIZE),
              "U": (3 * SIZE, SIZE), "U_forget": (SIZE, SIZE)}
    return {name: draw.normal(0, shape[-1] ** -0.5 if name[0] == "U" else 0.5, shape)
            .astype("f4") for name, shape in shapes.items()}


def parse(file):
    with open(file, "rb") as source:
        return ast.parse(source.read(), file)


def main(files):
    trees = batch.forest(Tree, list(map(parse, files)), share="equal")
    found = numpy.asarray(batch.vmap(code, (0, None))(trees, weights()))
    found = found / numpy.linalg.norm(found, axis=1, keepdims=True)
    alike = found @ found.T - 2 * numpy.eye(len(files))
    for file, row in zip(files, alike):
        print("%s is most like %s, %.2f" % (file, files[row.argmax()], row.max()))


if __name__ == "__main__":
    main(sys.argv[1:])
