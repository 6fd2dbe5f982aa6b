"""Tests whether nodes that occur in several places are one node, and which rows they have."""

import numpy as np
import pytest
from support.comparison import raises
from support.forests import (
    Graph,
    Leaf,
    Node,
    Tree,
    Value,
    copy_of,
    count_nodes,
    merged,
    random_graphs,
    total_of,
    words,
)

import batch

# --- the same object --------------------------------------------------------------------

@pytest.fixture
def join():
    """A node that has the same child twice, and an equal child."""
    twin = Graph.Leaf(1)
    return Graph.Join([twin, twin, Graph.Leaf(1)], 2)


def test_object_in_two_places_is_one_node(join):
    assert words([join]) == [[1, 1, 2]]


def test_object_in_two_instances_is_two_nodes(join):
    assert words([join, join.parts[0], join]) == [[1, 1, 2], [1], [1, 1, 2]]


def test_object_in_two_places_of_tree_is_two_nodes():
    assert total_of([Node(*[Leaf(3)] * 2)]).tolist() == [9]


def test_graph_with_2_to_39_paths():
    ladder = Graph.Leaf(0)
    for i in range(1, 40):
        ladder = Graph.Join([ladder, ladder], i)
    assert words([ladder]) == [list(range(40))]


class Fresh:
    """A node that creates its children on each access. They may get addresses of freed objects."""

    parts = property(lambda self: [Fresh(self.word - 1) for _ in range(self.word)])

    def __init__(self, count):
        self.word = count


batch.view(Graph, Fresh, Graph.Join)


def test_objects_at_the_same_address_are_not_the_same():
    def rows(count):
        return rows(count - 1) * count + [count] if count else [0]

    assert words([Fresh(5)]) == [rows(5)]


def test_view_of_the_same_object_runs_once():
    """Views turn the complex number and its real part, a float, into nodes."""
    assert words([Graph.Join([2 + 3j] * 2, 9)]) == [[2, 7, 9]]


# --- equal nodes ------------------------------------------------------------------------

def test_equal_subtrees_are_one(join):
    five, six = Graph.Leaf(5), ("Leaf", 6)
    other = Graph.Join([
        ("Join", [five, six], 3), Graph.Join([("Leaf", 5), Graph.Leaf(6)], 3),
        Graph.Join([six, five], 3), ("Join", [], 3), ("Join", [five], 3)], 0)
    assert words(merged([join, other])) == [[1, 2], [5, 6, 3, 3, 3, 3, 0]]


def test_tree_of_8191_nodes_is_13():
    nodes = [Graph.Leaf(0) for _ in range(2 ** 12)]
    while len(nodes) > 1:
        nodes = [Graph.Join([a, b], 1) for a, b in zip(nodes[::2], nodes[1::2])]
    assert [len(rows) for rows in words(merged(nodes))] == [13]


def test_trees_cannot_be_merged():
    with raises(ValueError, "Tree is declared with kind='tree', which allows only one"):
        merged([Leaf(1)], Tree)


def test_invalid_share():
    with raises(ValueError, "invalid share 'all'; expected 'identity' or 'equal'"):
        batch.forest(Graph, [], share="all")


def test_forest_of_another_type(join):
    with raises(TypeError, "values is a forest of type Graph; expected type Tree"):
        batch.forest(Tree, batch.forest(Graph, [join]))


@pytest.mark.parametrize("data", ["Graph", float], ids=["text", "float"])
def test_forest_of_invalid_type(data):
    with raises(TypeError, "expected a class declared with @batch.adt, or list[...] of such a "
                f"class, got {data!r}"):
        batch.forest(data, [])


def test_text_of_forest(join):
    assert repr(merged([join])) == "<Forest of 1 instances of type Graph>"


def test_forest_of_forest_is_itself(join):
    forest = merged([join])
    assert batch.forest(Graph, forest) is forest


V, NAN = Value, float("nan")


@pytest.mark.parametrize("parts, count", [
    pytest.param([("Number", NAN), ("Number", NAN), V.Number(2), V.Number(2.0)], 2,
                 id="numbers_with_equal_bits"),
    pytest.param([V.Number(0.0), V.Number(-0.0)], 2, id="0_and_minus_0"),
    pytest.param([V.Number(0.1), V.Number(np.float32(0.1))], 1,
                 id="numbers_that_differ_beyond_float32"),
    pytest.param([V.Vector([1, 2]), V.Vector(np.float32([1, 2])), V.Vector([2, 1])], 2,
                 id="tensors"),
    pytest.param([V.Lists([[], []], []), V.Lists([[]], []), V.Lists([[], []], []),
                  V.Lists([[], []], [1]), V.Lists([[], []], np.array([1]))], 3,
                 id="lists_of_lists"),
    pytest.param([V.Lists([[V.Number(1)], [V.Number(2)]], []),
                  V.Lists([[V.Number(1), V.Number(2)], []], []),
                  V.Lists([[V.Number(1)], [V.Number(2)]], [])], 4,
                 id="children_in_other_lists"),
])
def test_equal_nodes(parts, count):
    root = V.Lists([parts], [])
    assert count_nodes(merged([root], V)) == count + 1


# --- rows of nodes ----------------------------------------------------------------------

def post_order(node, seen):
    """Returns {id of a node: its word} in post-order."""
    if id(node) not in seen:
        for part in getattr(node, "parts", ()):
            post_order(part, seen)
        seen[id(node)] = node.word
    return seen


def test_row_n_belongs_to_node_n(rng):
    graphs = random_graphs(rng)
    rows = copy_of(graphs).word
    wanted = [list(post_order(graph, {}).values()) for graph in graphs]
    assert [part.tolist() for part in rows] == wanted
    assert rows.offsets.tolist() == np.cumsum([0] + [len(part) for part in wanted]).tolist()
