"""Values of data types as objects, tuples and views; large, deep and cyclic values."""

import collections
import gc
import signal

import jax.numpy as jnp
import numpy as np
import pytest
from support.comparison import raises
from support.forests import (
    Changing,
    Graph,
    Leaf,
    Made,
    Node,
    Tree,
    Value,
    count_nodes,
    random_tree,
    total_of,
    words,
)

import batch


def value(tree):
    return tree.word if isinstance(tree, Leaf) else value(tree.left) + 2 * value(tree.right)


@pytest.fixture
def trees(rng):
    return [random_tree(rng, size) for size in (1, 2, 7, 30, 101)]


# --- forms of objects -------------------------------------------------------------------

class PlainLeaf:
    def __init__(self, word):
        self.word = word


class PlainNode:
    def __init__(self, left, right):
        self.left, self.right = left, right


class Derived(PlainNode):
    pass


class Computed:
    """A node with two fields: a property, and an attribute that __getattr__ returns."""

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


def converted(tree, leaf, node):
    """Returns the same tree, built from other objects."""
    return leaf(tree.word) if isinstance(tree, Leaf) else \
        node(converted(tree.left, leaf, node), converted(tree.right, leaf, node))


@pytest.mark.parametrize("leaf, node", [
    pytest.param(Leaf, Node, id="variants"),
    pytest.param(lambda word: ("Leaf", word), lambda *parts: ("Node", *parts), id="tuples"),
    pytest.param(Leaf, lambda *parts: ("Node", *parts), id="variants_in_tuples"),
    pytest.param(Leaf, OwnNode, id="class_derived_of_variant"),
    pytest.param(lambda word: Leaf(np.int64(word)), Node, id="numbers_of_numpy"),
    pytest.param(lambda word: Leaf(jnp.int32(word)), Node, id="numbers_of_jax"),
    pytest.param(PlainLeaf, PlainNode, id="views_by_attributes"),
    pytest.param(PlainLeaf, Derived, id="views_of_bases"),
    pytest.param(Leaf, Pair, id="view_of_named_tuples"),
    pytest.param(int, Node, id="view_of_numbers"),
    pytest.param(Made, Made, id="view_that_makes_nodes"),
])
def test_form(trees, leaf, node):
    found = total_of([converted(tree, leaf, node) for tree in trees])
    assert found.tolist() == [value(tree) for tree in trees]


def test_computed_attributes():
    assert total_of([Computed(5)]).tolist() == [25]


def test_iterator_of_values(trees):
    assert total_of(iter(trees)).tolist() == [value(tree) for tree in trees]


def test_no_value():
    assert total_of([]).shape == (0,)


def test_error_of_iterator(trees):
    def values():
        yield trees[0]
        raise KeyError("of the iterator")

    with raises(KeyError, "of the iterator"):
        total_of(values())


def test_one_value_instead_of_list(trees):
    with raises(TypeError, "argument 'tree' must be a list with one Tree for each instance"):
        total_of(trees[0])


def test_value_without_text():
    """The repr() of a deeply nested tuple exceeds the recursion limit."""
    deep = ()
    for _ in range(10 ** 5):
        deep = (deep,)
    with raises(TypeError, "got an object of type tuple"):
        total_of(deep)


# --- large and deep ---------------------------------------------------------------------

def test_tree_of_depth_300_000():
    chain = Leaf(1)
    for _ in range(300000):
        chain = Node(chain, Leaf(0))
    assert total_of([chain]).tolist() == [1]


def test_node_with_one_child_a_million_times():
    assert len(words([Graph.Join([Graph.Leaf(1)] * 10 ** 6, 3)])[0]) == 2


def test_node_with_a_million_children():
    numbers = [Value.Number(1) for _ in range(10 ** 6)]
    assert count_nodes(batch.forest(Value, [Value.Lists([numbers], [])])) == 10 ** 6 + 1


# --- cycles, endless values -------------------------------------------------------------

@pytest.fixture
def cycle():
    node = Node(Leaf(1), Leaf(2))
    node.right = Node(Leaf(1), node)
    return node


def test_cycle(cycle):
    with raises(ValueError, "argument 'tree' of instance 1, .right.right: a node contains "
                "itself; cycles are not supported"):
        total_of([Leaf(1), cycle])


def test_cycle_through_lists():
    ring = Graph.Join([], 1)
    ring.parts.extend([Graph.Leaf(1), Graph.Join([ring], 2)])
    with raises(ValueError, "instance 0, .parts[1].parts[0]: a node contains itself"):
        words([ring])


def test_cycle_below_1000_nodes(cycle):
    for _ in range(1000):
        cycle = Node(Leaf(0), cycle)
    end = ".right" * 8
    with raises(ValueError,
                f"instance 0, {end} ... 986 more ... {end}: a node contains itself"):
        total_of([cycle])


class Endless:
    left = Leaf(1)
    right = property(lambda self: Endless())


batch.view(Tree, Endless, Node)


@pytest.mark.slow
def test_endless_nodes():
    with raises(ValueError, ": nodes are nested more than 4194304 levels deep; check for views "
                "that create nodes without end"):
        total_of([Endless()])


def tree_of_shared_nodes():
    """Returns an object that represents a tree with 2^40 leaves."""
    tree = Leaf(1)
    for _ in range(40):
        tree = Node(tree, tree)
    return tree


@pytest.fixture
def alarm():
    """Sets an alarm that raises InterruptedError."""
    def interrupt(*_):
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # an exception raised in JAX's garbage-collection callback would be lost
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    gc.enable()
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("make", [tree_of_shared_nodes, Endless],
                         ids=["tree_of_2_to_40_nodes", "endless_nodes"])
def test_signal_ends_reading(alarm, make):
    tree = make()
    total_of([Leaf(1)])  # compiles
    with pytest.raises(InterruptedError):
        alarm(0.2)
        total_of([tree])


# --- lists that change ------------------------------------------------------------------

def test_list_that_changes_while_it_is_read():
    home = []
    home.extend([Graph.Leaf(1), Changing(home), Graph.Leaf(2)])
    assert words([Graph.Join(home, 9)]) == [[1, 5, 2, 9]]


def test_batch_that_changes_while_it_is_read():
    roots = [Graph.Leaf(1)]
    roots.extend([Changing(roots), Graph.Leaf(3)])
    assert words(batch.forest(Graph, roots)) == [[1], [5], [3]]
