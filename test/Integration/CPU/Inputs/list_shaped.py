"""Prints values of type !trees (list-shaped.mlir) as JSON lines."""

import json
import random

generator = random.Random(0)


class Value:
    """Nodes of one value, children first."""

    def __init__(self):
        self.nodes = []

    def add(self, *node):
        self.nodes.append(list(node))
        return {"ref": len(self.nodes) - 1}

    def words(self, count, rest=None):
        rest = rest or self.add("end")
        for _ in range(count):
            rest = self.add("word", generator.randrange(50), rest)
        return rest

    def trees(self, kids, rest=None):
        rest = rest or self.add("none", generator.random() < 0.5)
        for kid in reversed(kids):
            rest = self.add("tree", rest, kid)
        return rest

    def node(self, kids, count):
        weights = [generator.uniform(-1, 1) for _ in range(count)]
        return self.add("node", weights, kids)

    def leaf(self, count):
        return self.add("leaf", self.words(count))

    def print(self, root):
        print(json.dumps({"nodes": self.nodes, "root": root["ref"]}))


value = Value()  # no trees
value.print(value.trees([]))

value = Value()  # trees without words or subtrees
value.print(value.trees([value.leaf(0), value.node(value.trees([]), 0)]))

value = Value()  # lists that share tails, and lists that share nodes
words = value.words(5)
leaves = [value.add("leaf", value.words(n, words)) for n in range(4)]
rest = value.trees(leaves)
pair = value.trees(leaves[:2], rest)
nodes = [value.node(rest, 4), value.node(pair, 6), value.node(pair, 6)]
value.print(value.trees(nodes + nodes, rest))

value = Value()  # many words
value.print(value.trees([value.leaf(10000)]))

value = Value()  # many trees
value.print(value.trees([value.leaf(n % 3) for n in range(10000)]))

value = Value()  # many trees below one node
leaves = [value.leaf(1), value.leaf(2)]
value.print(value.trees([value.node(value.trees(leaves * 5000), 10000)]))

value = Value()  # a deep tree
kid = value.leaf(1)
for _ in range(300):
    kid = value.node(value.trees([kid, value.leaf(2)]), 2)
value.print(value.trees([kid]))
