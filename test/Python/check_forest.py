#!/usr/bin/env python3
"""check_forest.py: values of data types get into the runtime as they are: objects, tuples,
views and arrays, what is shared, rows by node; and mistakes say where they are.

Runs in an environment that has the package, NumPy and JAX.
"""

import collections
import gc
import os
import signal
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import numpy as np  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("values of data types")
path = batchtest.temporary_paths()
os.environ.update(XDG_CACHE_HOME=path("cache"), JAX_PLATFORMS="cpu",
                  BATCH_COMPILE=batchtest.tool("batch-compile"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import batch  # noqa: E402
from batch import _forest  # noqa: E402

generator = np.random.default_rng(7)
refused = checks.refused
INT = np.iinfo(jnp.zeros((), int).dtype)  # JAX's type for int


@batch.adt(kind="tree")
class Tree:
    class Leaf:
        word: int

    class Node:
        left: "Tree"
        right: "Tree"


@batch.adt
class Graph:
    class Leaf:
        word: int

    class Join:
        parts: "list[Graph]"
        word: int


@batch.adt
class Copy:
    class Leaf:
        word: int

    class Join:
        parts: "list[Copy]"
        word: int


@batch.function
def total(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return word
        case Tree.Node(left, right):
            return total(left) + 2 * total(right)


@batch.function
def copy(graph: Graph):
    match graph:
        case Graph.Leaf(word):
            return Copy.Leaf(word)
        case Graph.Join(parts, word):
            return Copy.Join(parts.map(copy), word)


Leaf, Node = Tree.Leaf, Tree.Node
total_of, copy_of = batch.vmap(total), batch.vmap(copy)


def model_of(mapped):
    return next(iter(mapped.known.values()))[0].model


def words(graphs):
    """The rows of all nodes, by instance."""
    return [rows.tolist() for rows in copy_of(graphs).word]


def random_tree(size):
    if size == 1:
        return Leaf(int(generator.integers(100)))
    left = int(generator.integers(1, size))
    return Node(random_tree(left), random_tree(size - left))


def value(tree):
    return tree.word if isinstance(tree, Leaf) else value(tree.left) + 2 * value(tree.right)


# --- forms of objects --------------------------------------------------------------------

def made(tree, leaf, node):
    """The same tree of other objects."""
    return leaf(tree.word) if isinstance(tree, Leaf) else \
        node(made(tree.left, leaf, node), made(tree.right, leaf, node))


class PlainLeaf:
    def __init__(self, word):
        self.word = word


class PlainNode:
    def __init__(self, left, right):
        self.left, self.right = left, right


class Derived(PlainNode):
    pass


class Made:
    def __init__(self, *parts):
        self.parts = parts


class Computed:
    __slots__ = ("_word",)
    right = property(lambda self: Leaf(2 * self._word))

    def __init__(self, word):
        self._word = word

    def __getattr__(self, name):
        if name != "left":
            raise AttributeError(name)
        return Leaf(self._word)


Pair = collections.namedtuple("Pair", ["left", "right"])


class OwnNode(Node):
    __slots__ = ()


batch.view(Tree, PlainLeaf, Leaf)
batch.view(Tree, PlainNode, Node)
batch.view(Tree, Computed, Node)
batch.view(Tree, Pair, Node)
batch.view(Tree, int, None)(lambda number: Leaf(number))


@batch.view(Tree, Made)
def _(thing):
    return Leaf(*thing.parts) if len(thing.parts) == 1 else ("Node", *thing.parts)


trees = [random_tree(size) for size in (1, 2, 7, 30, 101)]
wanted = [value(tree) for tree in trees]
for what, leaf, node in [
        ("variants", Leaf, Node),
        ("tuples", lambda word: ("Leaf", word), lambda *parts: ("Node", *parts)),
        ("variants in tuples", Leaf, lambda *parts: ("Node", *parts)),
        ("a class derived of a variant", Leaf, OwnNode),
        ("NumPy's numbers", lambda word: Leaf(np.int64(word)), Node),
        ("numbers of JAX", lambda word: Leaf(jnp.int32(word)), Node),
        ("views by attributes", PlainLeaf, PlainNode),
        ("views of bases", PlainLeaf, Derived),
        ("a view of named tuples", Leaf, Pair),
        ("a view of numbers", int, Node),
        ("a view that makes nodes", Made, Made)]:
    found = total_of([made(tree, leaf, node) for tree in trees])
    checks.equal(what, found.tolist(), wanted)
checks.equal("properties, and attributes that are made", total_of([Computed(5)]).tolist(),
             [25])
checks.equal("an iterator of values", total_of(iter(trees)).tolist(), wanted)
checks.equal("no value", total_of([]).shape, (0,))


def raises():
    yield trees[0]
    raise KeyError("of the iterator")


refused("what an iterator raises", KeyError, "of the iterator", lambda: total_of(raises()))
refused("one value", TypeError, "argument 'tree' has a Tree for each instance",
        lambda: total_of(trees[0]))
deep = ()
for _ in range(10 ** 5):
    deep = (deep,)
refused("of which there is no text", TypeError, "found an object of type tuple",
        lambda: total_of(deep))

# --- what is shared ----------------------------------------------------------------------

twin = Graph.Leaf(1)
join = Graph.Join([twin, twin, Graph.Leaf(1)], 2)
checks.equal("an object in two places is one node", words([join]), [[1, 1, 2]])
checks.equal("in each instance", words([join, twin, join]), [[1, 1, 2], [1], [1, 1, 2]])
checks.equal("of a tree it is two", total_of([Node(*[Leaf(3)] * 2)]).tolist(), [9])
ladder = Graph.Leaf(0)
for i in range(1, 40):
    ladder = Graph.Join([ladder, ladder], i)
checks.equal("a graph with 2^39 paths", words([ladder]), [list(range(40))])


class Fresh:
    """Its children are made whenever they are asked for, where others were."""

    parts = property(lambda self: [Fresh(self.word - 1) for _ in range(self.word)])

    def __init__(self, count):
        self.word = count


def fresh(count):
    return fresh(count - 1) * count + [count] if count else [0]


batch.view(Graph, Fresh, Graph.Join)
checks.equal("objects that do not live are not the same", words([Fresh(5)]), [fresh(5)])


@batch.view(Graph, complex)
def _(number):
    return Graph.Join([number.real] * int(number.imag), 7)


@batch.view(Graph, float)
def _(number):
    return Graph.Leaf(int(number))


checks.equal("what a view is asked for twice", words([Graph.Join([2 + 3j] * 2, 9)]),
             [[2, 7, 9]])


def equal(values, kind=Graph):
    return batch.forest(kind, values, share="equal")


five, six = Graph.Leaf(5), ("Leaf", 6)
checks.equal("equal subtrees are one", words(equal([join, Graph.Join([
    ("Join", [five, six], 3), Graph.Join([("Leaf", 5), Graph.Leaf(6)], 3),
    Graph.Join([six, five], 3), ("Join", [], 3), ("Join", [five], 3)], 0)])),
    [[1, 2], [5, 6, 3, 3, 3, 3, 0]])
balanced = [Graph.Leaf(0) for _ in range(2 ** 12)]
while len(balanced) > 1:
    balanced = [Graph.Join([a, b], 1) for a, b in zip(balanced[::2], balanced[1::2])]
checks.equal("a tree of 8,191 nodes is 13", [len(rows) for rows in words(equal(balanced))],
             [13])
refused("equal nodes of a tree", ValueError, "Tree is declared a tree, whose nodes have one",
        lambda: equal(trees, Tree))
refused("another word", ValueError, "share is 'identity' or 'equal', found 'all'",
        lambda: batch.forest(Graph, [], share="all"))
forest = equal([join])
checks.expect("a forest is taken as it is", batch.forest(Graph, forest) is forest)


@batch.adt
class Value:
    class Number:
        x: np.float32

    class Vector:
        h: batch.tensor(2)

    class Lists:
        of: "list[list[Value]]"
        numbers: "list[int]"


def nodes_of(forest):
    """How many nodes the runtime gets."""
    if not see_of.known:
        see_of([("Number", 0.0)])
    return len(_forest._read(model_of(see_of), {"a0": forest}, len(forest))[1][1])


@batch.function
def see(value: Value):
    match value:
        case Value.Number(x):
            return x
        case Value.Vector(h):
            return h.sum()
        case Value.Lists(of, numbers):
            return of.sum(lambda part: part.sum(see)) + \
                numbers.fold(lambda s, n: s + n, jnp.asarray(0, int)).astype(jnp.float32)


see_of = batch.vmap(see)
V, nan = Value, float("nan")
for what, parts, count in [
        ("numbers with equal bits", [("Number", nan), ("Number", nan), V.Number(2),
                                     V.Number(2.0)], 2),
        ("0 and -0", [V.Number(0.0), V.Number(-0.0)], 2),
        ("numbers that differ past float32", [V.Number(0.1), V.Number(np.float32(0.1))], 1),
        ("tensors", [V.Vector([1, 2]), V.Vector(np.float32([1, 2])), V.Vector([2, 1])], 2),
        ("lists of lists", [V.Lists([[], []], []), V.Lists([[]], []), V.Lists([[], []], []),
                            V.Lists([[], []], [1]), V.Lists([[], []], np.array([1]))], 3),
        ("children in other lists", [
            V.Lists([[V.Number(1)], [V.Number(2)]], []),
            V.Lists([[V.Number(1), V.Number(2)], []], []),
            V.Lists([[V.Number(1)], [V.Number(2)]], [])], 4)]:
    checks.equal("equal: " + what, nodes_of(equal([V.Lists([parts], [])], V)) - 1, count)

# --- rows by node ------------------------------------------------------------------------


def random_graph(size):
    nodes = [Graph.Leaf(0)]
    for i in range(1, size):
        few = [nodes[j] for j in generator.integers(0, i, generator.integers(0, 4))]
        nodes.append(Graph.Join(few + [nodes[-1]] * (i % 3 == 0) or nodes[-1:], i))
    return nodes[-1]


def post_order(node, seen):
    if id(node) not in seen:
        for part in getattr(node, "parts", ()):
            post_order(part, seen)
        seen[id(node)] = node.word
    return seen


graphs = [random_graph(size) for size in (1, 2, 9, 40, 200)]
copies = copy_of(graphs)
checks.equal("row n belongs to node n, and a shared one has one row",
             [rows.tolist() for rows in copies.word],
             [list(post_order(graph, {}).values()) for graph in graphs])
checks.equal("rows by instance", copies.word.offsets.tolist(), np.cumsum(
    [0] + [len(post_order(graph, {})) for graph in graphs]).tolist())

# --- arrays ------------------------------------------------------------------------------


def arrays_of(graphs, order=None):
    """The nodes of graphs in arrays, in an order of their numbers."""
    nodes, numbers = [], {}

    def add(node, instance):
        if (instance, id(node)) not in numbers:
            for part in getattr(node, "parts", ()):
                add(part, instance)
            numbers[instance, id(node)] = len(nodes)
            nodes.append((node, instance))
        return numbers[instance, id(node)]

    roots = np.array([add(graph, i) for i, graph in enumerate(graphs)])
    order = np.arange(len(nodes)) if order is None else order(len(nodes))
    new = np.empty_like(order)
    new[order] = np.arange(len(order))
    nodes = [nodes[n] for n in order]
    joins = [(node, i) for node, i in nodes if isinstance(node, Graph.Join)]
    return dict(
        variants=np.array([isinstance(node, Graph.Join) for node, _ in nodes], int),
        fields={"Leaf.word": np.array([node.word for node, _ in nodes
                                       if isinstance(node, Graph.Leaf)]),
                "Join.word": [node.word for node, _ in joins],
                "Join.parts": batch.Ragged(
                    np.array([new[numbers[i, id(part)]] for node, i in joins
                              for part in node.parts], int),
                    np.cumsum([0] + [len(node.parts) for node, _ in joins]))},
        roots=new[roots])


of_arrays = batch.Forest.of_arrays
for what, order in [("in post-order", None), ("backwards", lambda n: np.arange(n)[::-1]),
                    ("in any order", lambda n: generator.permutation(n))]:
    given = arrays_of(graphs, order)
    forest = of_arrays(Graph, **given)
    found = copy_of(forest)
    checks.expect("arrays %s" % what, all(
        a.tolist() == b.tolist() for a, b in zip(found.word, copies.word)))
    word = np.zeros(len(given["variants"]), int)
    for number, name in enumerate(("Leaf.word", "Join.word")):
        word[given["variants"] == number] = given["fields"][name]
    checks.equal("and which node is in each row, %s" % what,
                 word[forest.order.values].tolist(), found.word.values.tolist())
    checks.equal("by instance", forest.order.offsets.tolist(), copies.word.offsets.tolist())


@batch.adt(kind="sequence")
class Row:
    class End:
        pass

    class Item:
        of: Graph
        weight: np.float32
        next: "Row"


@batch.function
def add(graph: Graph):
    match graph:
        case Graph.Leaf(word):
            return word
        case Graph.Join(parts, word):
            return parts.sum(add) + word


@batch.function
def weigh(row: Row):
    match row:
        case Row.End():
            return jnp.float32(0)
        case Row.Item(of, weight, next):
            return add(of) * weight + weigh(next)


weigh_of = batch.vmap(weigh)
two = Graph.Join([Graph.Leaf(3), Graph.Leaf(4)], 1)
rows = [Row.Item(two, 0.5, Row.Item(Graph.Leaf(2), 2, Row.End())), Row.End()]
checks.equal("two data types", weigh_of(rows).tolist(), [8.0, 0.0])
both = dict(variants=[0, 1, 1, 3, 2, 2, 2, 0],
            fields={"Item.of": [3, 4], "Item.weight": np.float32([0.5, 2]), "Item.next": [2, 0],
                    "Row.Item.of": [3, 4], "Leaf.word": [2, 3, 4], "Graph.Join.word": [1],
                    "Join.parts": np.array([[5, 6]])}, roots=[1, 7])
refused("a field by two names", TypeError, "there is no field 'Row.Item.of'; fields are Item.of",
        lambda: of_arrays(Row, **both))
del both["fields"]["Row.Item.of"]
checks.equal("two data types in arrays", weigh_of(of_arrays(Row, **both)).tolist(),
             [8.0, 0.0])


@batch.function
def add_all(one: Graph, other: Graph, rows: "list[Row]"):
    return add(one) * 1000 + add(other), rows.map(weigh).sum()


pairs = [Graph.Leaf(i) for i in range(3)], [two, two, Graph.Leaf(9)]
lists = [[rows[0], rows[1]], [], [rows[0], rows[0]]]
sums_of = batch.vmap(add_all)
wanted_pairs = [[8, 1008, 2009], [8.0, 0.0, 16.0]]
for what, one, other in [
        ("objects", *pairs), ("arrays and objects", of_arrays(
            Graph, [0, 0, 0], {"Leaf.word": [2, 1, 0]}, [2, 1, 0]), pairs[1]),
        ("two forests in arrays", *[of_arrays(Graph, **arrays_of(part, lambda n: np.arange(
            n)[::-1])) for part in pairs])]:
    found = sums_of(one, other, lists)
    checks.equal("several arguments: " + what, [part.tolist() for part in found],
                 wanted_pairs)
of_lists = of_arrays(list[Row], **dict(both, roots=batch.Ragged([1, 7], [0, 2, 2, 2])))
found = sums_of(*pairs, of_lists)[1].tolist()
checks.equal("a list of roots", found, [8.0, 0.0, 0.0])

leaves = dict(variants=[0, 0], fields={"Leaf.word": [1, 2]}, roots=[0, 1])
node = dict(variants=[0, 1, 0], fields={"Leaf.word": [1, 2], "Node.left": [0],
                                        "Node.right": [2]}, roots=[1])
checks.equal("a tree in arrays", total_of(of_arrays(Tree, **node)).tolist(), [5])


def changed(given, **changes):
    result = dict(given, fields=dict(given["fields"]))
    for name, new in changes.items():
        if name in result:
            result[name] = new
        elif new is None:
            del result["fields"][name.replace("_", ".")]
        else:
            result["fields"][name.replace("_", ".")] = new
    return result


for what, error, text, kind, given in [
        ("a variant", ValueError, "node 1 has variant 2; there are 0: Tree.Leaf, 1: Tree.Node",
         Tree, changed(node, variants=[0, 2, 0])),
        ("floats for variants", TypeError, "variants: an array of whole numbers belongs here",
         Tree, changed(node, variants=[0.0, 1, 0])),
        ("a missing field", TypeError, "field 'Node.left' is missing: a row for each of 1",
         Tree, changed(node, Node_left=None)),
        ("a field that is none", TypeError, "there is no field 'Node.middle'; fields are "
         "Leaf.word, Node.left, Node.right", Tree, changed(node, Node_middle=[3])),
        ("too few rows", ValueError, "field 'Leaf.word' has a row for each of 2 nodes; found "
         "an array of shape [1]", Tree, changed(node, Leaf_word=[1])),
        ("a node that is not there", ValueError,
         "field 'left' of node 1, a Tree.Node, is node 3, but there are 3 nodes",
         Tree, changed(node, Node_left=[3])),
        ("a negative one", ValueError, "is node -1, but", Tree, changed(node, Node_left=[-1])),
        ("floats for children", TypeError, "field 'Node.left': an array of whole numbers",
         Tree, changed(node, Node_left=[0.5])),
        ("a cycle", ValueError, "node 1 is part of itself", Tree,
         changed(node, Node_left=[1])),
        ("two parents in a tree", ValueError,
         "node 0 is a child of two nodes, but Tree is declared a tree", Tree,
         changed(node, Node_right=[0])),
        ("a node that nobody needs", ValueError, "node 2 is below no root", Tree,
         dict(variants=[0] * 3, fields={"Leaf.word": [1, 2, 3]}, roots=[0, 1])),
        ("a root that is not there", ValueError, "the root of instance 1 is node 2, but",
         Tree, changed(leaves, roots=[0, 2])),
        ("one of another type", ValueError, "the root of instance 0 is node 3, a Graph.Join, "
         "but it is a Row", Row, changed(both, roots=[3, 7])),
        ("a child of another type", ValueError, "field 'of' of node 1, a Row.Item, is a "
         "Graph, but node 2 is a Row.Item", Row, changed(both, Item_of=[2, 4])),
        ("a node of two instances", ValueError, "node 0 belongs to instances 0 and 1, which "
         "have no nodes in common", Tree, changed(leaves, roots=[0, 0])),
        ("no lists", TypeError, "has lists: give a batch.Ragged", Row, changed(both, Join_parts=[5])),
        ("offsets", ValueError, "field 'Join.parts' has 1 lists: their offsets are", Row,
         changed(both, Join_parts=batch.Ragged([5, 6], [0, 1, 2]))),
        ("offsets past the end", ValueError, "field 'Join.parts' has 3 rows, found 2", Row,
         changed(both, Join_parts=batch.Ragged([5, 6], [0, 3])))]:
    refused("arrays: " + what, error, text, lambda: of_arrays(kind, **given))
# JAX would narrow wide numbers; no type is wider than uint64.
beyond = np.array([1, INT.max + 1], np.int64 if INT.bits == 32 else np.uint64)
WIDE = (TypeError, "; found") if INT.bits > 32 else (
    ValueError, ", from %d to %d" % (INT.min, INT.max))
refused("numbers out of range", WIDE[0], "field 'Leaf.word' is int" + WIDE[1],
        lambda: total_of(of_arrays(Tree, **changed(leaves, Leaf_word=beyond))))
refused("floats for whole numbers", TypeError, "field 'Leaf.word' is int; found",
        lambda: total_of(of_arrays(Tree, **changed(leaves, Leaf_word=[1, 1.5]))))
refused("no numbers", AttributeError, "post-order", lambda: batch.forest(Tree, trees).order)

# --- large and deep ----------------------------------------------------------------------

chain = Leaf(1)
for _ in range(300000):
    chain = Node(chain, Leaf(0))
checks.equal("a tree of depth 300,000", total_of([chain]).tolist(), [1])
checks.equal("a node of a million children",
             len(words([Graph.Join([Graph.Leaf(1)] * 10 ** 6, 3)])[0]), 2)
checks.equal("and of as many different ones", nodes_of(batch.forest(V, [V.Lists(
    [[V.Number(1) for _ in range(10 ** 6)]], [])])), 10 ** 6 + 1)
cycle = Node(Leaf(1), Leaf(2))
cycle.right = Node(Leaf(1), cycle)
refused("a cycle", ValueError, "argument 'tree' of instance 1, .right.right: a node is part "
        "of itself", lambda: total_of([Leaf(1), cycle]))
ring = Graph.Join([], 1)
ring.parts.extend([Graph.Leaf(1), Graph.Join([ring], 2)])
refused("a cycle through lists", ValueError, "instance 0, .parts[1].parts[0]: a node is part "
        "of itself", lambda: words([ring]))
for _ in range(1000):
    cycle = Node(Leaf(0), cycle)
refused("a cycle that lies deep", ValueError, "instance 0, .right.right.right.right.right."
        "right.right.right ... 986 more ... .right.right.right.right.right.right.right.right:"
        " a node is part of itself", lambda: total_of([cycle]))


class Endless:
    left = Leaf(1)
    right = property(lambda self: Endless())


batch.view(Tree, Endless, Node)
many = Leaf(1)
for _ in range(40):
    many = Node(many, many)


def alarm(*_):
    raise InterruptedError


before = signal.signal(signal.SIGALRM, alarm)
gc.disable()  # JAX ignores what is raised in its callback
for what, tree in ("a tree of 2^40 nodes", many), ("nodes without end", Endless()):
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    refused("a signal ends the walk of " + what, InterruptedError, "", lambda: total_of([tree]))
gc.enable()
signal.signal(signal.SIGALRM, before)

# --- mistakes ----------------------------------------------------------------------------

IS_TREE = "a Tree is Tree.Leaf or Tree.Node, or a tuple that begins with 'Leaf' or 'Node'; "


class Gone:
    left = Leaf(1)


batch.view(Tree, Gone, Node)
half = Leaf(1)
del half.word
wrong = Node(Leaf(1), Leaf(2))
for what, error, text, tree in [
        ("no node", TypeError, ", .right: " + IS_TREE + "found 'x'", Node(Leaf(1), "x")),
        ("nothing", TypeError, ": " + IS_TREE + "found None", None),
        ("a node of another type", TypeError, IS_TREE + "found <", two),
        ("the class of a variant", TypeError, IS_TREE + "found Tree.Leaf", Leaf),
        ("an unknown variant", TypeError, ": " + IS_TREE + "found ('Twig', 1)", ("Twig", 1)),
        ("an empty tuple", TypeError, IS_TREE + "found ()", ()),
        ("too few fields", TypeError, ", .left: 'Node' has 2 fields (left: Tree, right: "
         "Tree), found 1", Node(("Node", Leaf(1)), Leaf(1))),
        ("a text", TypeError, ", .right.left.word is int; found 'x'",
         Node(Leaf(1), Node(Leaf("x"), Leaf(2)))),
        ("a float", TypeError, ", .word is int; found 1.0", Leaf(1.0)),
        ("a truth value", TypeError, ", .word is int; found True", Leaf(True)),
        ("an array", ValueError, "found an array of shape [1]", Leaf(np.array([1]))),
        ("a number out of range", ValueError, ", .word is int, from %d to %d; found %d" % (
            INT.min, INT.max, INT.max + 1), Leaf(INT.max + 1)),
        ("a larger one", ValueError, "found 1000000000000000000000", Leaf(10 ** 21)),
        ("a field that is deleted", AttributeError, "word", Node(Leaf(1), half)),
        ("an attribute that is not there", AttributeError, "right", Gone())]:
    refused(what, error, text, lambda: total_of([Leaf(1), tree]))
for what, error, text, item in [
        ("no list", TypeError, ", .of: a list belongs here; found 3", V.Lists(3, [])),
        ("a text for a list", TypeError, "a list belongs here; found 'ab'", V.Lists("ab", [])),
        ("no inner list", TypeError, ", .of[1]: a list belongs here; found 3",
         V.Lists([[], 3], [])),
        ("in lists of lists", TypeError, ", .of[1][2]: a Value is Value.Number or",
         V.Lists([[], [V.Number(1), V.Number(1), 3]], [])),
        ("in a list of numbers", TypeError, ", .numbers[1] is int; found 'x'",
         V.Lists([], [1, "x"])),
        ("numbers out of range in an array", WIDE[0], ", .numbers is list[int]" + WIDE[1],
         V.Lists([], beyond)),
        ("floats for a list of whole numbers", TypeError, ", .numbers is list[int]; found an "
         "array of float32", V.Lists([], np.ones(2, np.float32))),
        ("a shape", ValueError, ", .h is batch.tensor(2); found an array of shape [3]",
         V.Vector(np.zeros(3))),
        ("complex numbers", TypeError, ", .h is batch.tensor(2); found an array of complex",
         V.Vector(np.zeros(2, complex))),
        ("a list of texts", TypeError, ", .h is batch.tensor(2); found a list that holds",
         V.Vector(["a", "b"])),
        ("uneven lists", TypeError, ", .h is batch.tensor(2)", V.Vector([[1], [2, 3]]))]:
    refused(what, error, text, lambda: see_of([item]))
refused("an element of a map", TypeError, "xs[70].right: a Tree", lambda: list(batch.map(
    total, iter([Leaf(1)] * 70 + [Node(Leaf(1), "")]), lanes=64)))
refused("in a forest", TypeError, "values[1]: a Tree is",
        lambda: total_of(batch.forest(Tree, [Leaf(1), 0.5])))
refused("tuples are no classes to view", TypeError, "tuples are nodes",
        lambda: batch.view(Tree, tuple, Leaf))


class Raises:
    @property
    def left(self):
        raise RuntimeError("of an attribute") from KeyError("cause")


class Again:
    pass


batch.view(Tree, Raises, Node)


@batch.view(Tree, Again)
def _(node):
    if hasattr(node, "error"):
        raise node.error
    return getattr(node, "made", node)


def noted(tree):
    try:
        total_of([Leaf(1), Node(Leaf(1), tree)])
    except Exception as error:
        return type(error), str(error), getattr(error, "__notes__", None), error.__cause__


NOTE = ["in argument 'tree' of instance 1, .right"]
kind, text, notes, cause = noted(Raises())
checks.equal("an error of an attribute", (kind, text, notes, repr(cause)),
             (RuntimeError, "of an attribute", NOTE, "KeyError('cause')"))
failing, other = Again(), Again()
failing.error = ZeroDivisionError("of a view")
checks.equal("an error of a view", noted(failing)[:3], (ZeroDivisionError, "of a view", NOTE))
refused("a view that gives what it gets", TypeError, "found <", lambda: total_of([other]))
other.made = Again()
other.made.made = other
refused("views that go in a circle", TypeError, "views make objects that are viewed, 100 "
        "times", lambda: total_of([other]))


class Changing:
    """Empties the list that is being walked, and fills it."""

    def __init__(self, home):
        self.home = home


@batch.view(Graph, Changing)
def _(changing):
    changing.home.clear()
    gc.collect()
    changing.home.extend([object()] * 1000)
    return Graph.Leaf(5)


home = []
home.extend([Graph.Leaf(1), Changing(home), Graph.Leaf(2)])
checks.equal("a list that changes while it is walked", words([Graph.Join(home, 9)]),
             [[1, 5, 2, 9]])
roots = [Graph.Leaf(1)]
roots.extend([Changing(roots), Graph.Leaf(3)])
checks.equal("and so the batch itself", words(batch.forest(Graph, roots)), [[1], [5], [3]])

# --- types of elements -------------------------------------------------------------------


@batch.adt
class Typed:
    class One:
        a: bool
        b: np.int8
        c: np.int16
        d: "np.int32"
        e: np.uint8
        f: np.uint16
        g: np.uint32
        h: np.float16
        i: jnp.bfloat16
        j: float
        k: batch.tensor(2, dtype="bfloat16")
        l: batch.tensor(2, 2, dtype=np.uint32)  # noqa: E741
        m: "list[batch.tensor(2)]"
        n: "list[bool]"


TYPES = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16",
         "bfloat16", jnp.zeros(()).dtype.name]  # JAX's type for float


@batch.function
def scalars(one: Typed):
    match one:
        case Typed.One(a, b, c, d, e, f, g, h, i, j, k, l, m, n):
            return (a, b, c, d, e, f, g, h, i, j, k, l, m.sum(lambda row: row),
                    n.fold(lambda count, is_so: count + is_so, jnp.int32(0)))


numbers = [True, -128, 2 ** 15 - 1, -2 ** 31, 255, 2 ** 16 - 1, 2 ** 32 - 1, 1 / 3, 1 / 3, 1e39]
tensors = [np.array([1, 2 ** 32 - 1], np.uint32), 7]
matrix = np.array([[1, 2], [3, 2 ** 32 - 1]], np.uint32)
rest = [jnp.array([0.5, 1 / 3], jnp.bfloat16), matrix, [[1, 2], np.float32([3, 4]),
                                                        np.float32([5.0, 6.0])], [True, False]]
scalars_of = batch.vmap(scalars)
np.seterr(over="ignore")
for what, ten, others in [
        ("Python's numbers", numbers, rest),
        ("of NumPy", [np.asarray(n).astype(t if t != "bfloat16" else "float32")[()]
                      for n, t in zip(numbers, TYPES)],
         [rest[0], matrix[::-1][::-1], np.array([[1, 2], [3, 4], [5, 6]], np.float32),
          np.array([True, False])]),
        ("of JAX", [jnp.asarray(np.asarray(n).astype(t)) for n, t in zip(numbers, TYPES)],
         [rest[0], jnp.asarray(matrix), jnp.float32([[1, 2], [3, 4], [5, 6]]), [True, False]])]:
    found = scalars_of([Typed.One(*ten, *others)])
    wanted = [jnp.asarray(np.asarray(n).astype(t)) for n, t in zip(numbers, TYPES)]
    checks.equal("numbers, %s" % what, [(v.dtype.name, float(v[0])) for v in found[:10]],
                 [(v.dtype.name, float(v)) for v in wanted])
    checks.expect("tensors, %s" % what, (found[10][0] == rest[0]).all() and (
        found[11][0] == matrix).all() and found[12].tolist() == [[9, 12]] and
        found[13].tolist() == [1], found[10:])
for place, wrong, text in [
        (1, 128, ".b is int8, from -128 to 127; found 128"), (1, -129, "found -129"),
        (6, 2 ** 32, ".g is uint32, from 0 to 4294967295; found 4294967296"),
        (0, 1, ".a is bool; found 1"), (5, -1, ".f is uint16, from 0 to 65535; found -1")]:
    refused("%r at %d" % (wrong, place), (TypeError, ValueError), text, lambda: scalars_of(
        [Typed.One(*[wrong if i == place else n for i, n in enumerate(numbers)], *rest)]))

# --- what is kept ------------------------------------------------------------------------


def attempt(action):
    try:
        action()
    except Exception:
        pass


kept = [Leaf(1), Node(Leaf(2), "x"), failing, Made(1), home, cycle, half, 0.5]
walks = [lambda: total_of([Node(kept[0], kept[3])]), lambda: total_of([kept[1]]),
         lambda: total_of([Node(kept[0], kept[2])]), lambda: words([Graph.Join(kept[4], 1)]),
         lambda: total_of([kept[5]]), lambda: total_of([Node(kept[0], kept[6])]),
         lambda: words(equal([Graph.Join([2 + 3j, kept[7]] * 2, 9)])),
         lambda: see_of([V.Lists([[V.Number(1)], [V.Vector([1, "x"])]], [])]),
         lambda: total_of(of_arrays(Tree, **node)),
         lambda: of_arrays(Tree, **changed(node, Node_left=[1]))]
failing.error.__traceback__ = None


def state():
    failing.error.__traceback__, failing.error.__notes__ = None, []
    gc.collect()
    return [sys.getrefcount(thing) for thing in kept], sys.getallocatedblocks()


for number, walk in enumerate(walks):
    for _ in range(20):
        attempt(walk)
    counts, blocks = state()
    for _ in range(200):
        attempt(walk)
    counts_after, blocks_after = state()
    checks.equal("walk %d keeps no reference" % number, counts_after, counts)
    checks.expect("walk %d keeps no object" % number, blocks_after - blocks < 190,
                  blocks_after - blocks)  # of 200 walks

checks.exit()
