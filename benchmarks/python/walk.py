#!/usr/bin/env python3
"""Measures the time to read the nodes of trees, from Python objects and from arrays.

  walk.py [--trees=200] [--leaves=500] [--rounds=9] [--output=FILE]

Needs a Python with the package: build/python/bin/python benchmarks/python/walk.py. The inputs are
random binary trees with a whole number in each leaf, in each of these forms. Numbers are
microseconds of CPU time per node, until the trees are in the form of the runtime. They are medians
of the rounds, in which the forms take turns.

  variants     objects of batch.adt               tuples    ("Node", left, right)
  attributes   a class of the user, with batch.view(Tree, Mine, Tree.Node)
  function     a class with a view that is a function, which makes a node
  equal        variants, with share="equal"
  arrays       batch.Forest.of_arrays, nodes in post-order
  any order    the same with nodes in any order
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Integration"))
sys.dont_write_bytecode = True
os.environ.setdefault("JAX_PLATFORMS", "cpu")
import batchtest  # noqa: E402

import batch  # noqa: E402
import numpy as np  # noqa: E402
from batch.transforms import forest as forests  # noqa: E402


@batch.adt
class Tree:
    class Leaf:
        word: int

    class Node:
        left: "Tree"
        right: "Tree"


@batch.function
def total(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return word
        case Tree.Node(left, right):
            return total(left) + 2 * total(right)


class Leaf:
    def __init__(self, word):
        self.word = word


class Node:
    def __init__(self, left, right):
        self.left, self.right = left, right


class MadeLeaf(Leaf):
    pass


class MadeNode(Node):
    pass


batch.view(Tree, Leaf, Tree.Leaf)
batch.view(Tree, Node, Tree.Node)
batch.view(Tree, MadeLeaf)(lambda leaf: Tree.Leaf(leaf.word))
batch.view(Tree, MadeNode)(lambda node: Tree.Node(node.left, node.right))


def random_tree(generator, leaves, leaf, node):
    """Returns a random tree. The recursion is a few tens of levels deep."""
    if leaves == 1:
        return leaf(int(generator.integers(1000)))
    left = int(generator.integers(1, leaves))
    return node(random_tree(generator, left, leaf, node),
                random_tree(generator, leaves - left, leaf, node))


def trees(options, leaf, node):
    generator = np.random.default_rng(1)
    return [random_tree(generator, options.leaves, leaf, node)
            for _ in range(options.trees)]


def arrays_of(given, order):
    """Converts trees of variants to arrays of nodes, in post-order or in random order."""
    variants, words, children, roots = [], [], [], []

    def add(tree):
        if isinstance(tree, Tree.Leaf):
            words.append(tree.word)
        else:
            children.append((add(tree.left), add(tree.right)))
        variants.append(len(tree._names) - 1)
        return len(variants) - 1

    roots = np.array([add(tree) for tree in given])
    variants, words, children = map(np.array, (variants, words, children))
    if order is not None:
        order = order(len(variants))
        new = np.empty_like(order)
        new[order] = np.arange(len(order))
        rank = np.cumsum(variants == 0) - 1, np.cumsum(variants) - 1
        variants, roots = variants[order], new[roots]
        words = words[rank[0][order[variants == 0]]]
        children = new[children[rank[1][order[variants == 1]]]]
    return variants, {"Leaf.word": words, "Node.left": children[:, 0].copy(),
                      "Node.right": children[:, 1].copy()}, roots


def main():
    parser = argparse.ArgumentParser(
        usage=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--leaves", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output",
                        default=os.path.join(ROOT, "benchmarks", "results", "walk.json"))
    options = parser.parse_args()
    variants = trees(options, Tree.Leaf, Tree.Node)
    nodes = options.trees * (2 * options.leaves - 1)
    mapped = batch.vmap(total)
    wanted = mapped(variants).tolist()
    (compiled, _), = mapped.known.values()

    def of(values, share="identity"):
        return lambda: batch.forest(Tree, values, share)

    def of_arrays(order):
        given = arrays_of(variants, order)
        return lambda: batch.Forest.of_arrays(Tree, *given)

    forms = {
        "variants": of(variants),
        "tuples": of(trees(options, lambda *f: ("Leaf", *f), lambda *f: ("Node", *f))),
        "attributes": of(trees(options, Leaf, Node)),
        "function": of(trees(options, MadeLeaf, MadeNode)),
        "equal": of(variants, "equal"),
        "arrays": of_arrays(None),
        "any order": of_arrays(np.random.default_rng(2).permutation)}
    times = {name: [] for name in forms}
    for name, make in forms.items():
        if mapped(make()).tolist() != wanted:
            sys.exit("FAILED: the results of '%s' differ from the expected results" % name)
    gc.collect()
    for _ in range(options.rounds):
        for name, make in forms.items():
            start = time.process_time()
            forests._read(compiled.model, {"a0": make()}, options.trees)
            times[name].append((time.process_time() - start) / nodes * 1e6)
    record = {**batchtest.where_and_when("walk"), "trees": options.trees, "nodes": nodes,
              "us_a_node": {name: round(statistics.median(found), 4)
                            for name, found in times.items()}}
    print("%s, %s" % (record["date"], record["cpu"]))
    for name, found in record["us_a_node"].items():
        print("%-10s %6.3f us a node" % (name, found))
    with open(options.output, "w") as file:
        json.dump(record, file, indent=1)
    print("stored in " + options.output)


if __name__ == "__main__":
    main()
