"""Forests from arrays give the same results as those from objects. Invalid arrays raise errors."""

import jax.numpy as jnp
import numpy as np
import pytest
from support.comparison import raises
from support.forests import (
    INT,
    TOO_WIDE,
    Graph,
    Leaf,
    Tree,
    copy_of,
    random_graphs,
    total_of,
)

import batch

of_arrays = batch.Forest.of_arrays


def arrays_of(graphs, order=None):
    """Returns the arguments of of_arrays() for the nodes of graphs.

    order: a function from the number of nodes to a permutation of them.
    """
    nodes, numbers = [], {}

    def add_node(node, instance):
        if (instance, id(node)) not in numbers:
            for part in getattr(node, "parts", ()):
                add_node(part, instance)
            numbers[instance, id(node)] = len(nodes)
            nodes.append((node, instance))
        return numbers[instance, id(node)]

    roots = np.array([add_node(graph, i) for i, graph in enumerate(graphs)])
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


def backwards(count):
    return np.arange(count)[::-1]


def shuffled(count):
    return np.random.default_rng(7).permutation(count)


@pytest.mark.parametrize("order", [None, backwards, shuffled],
                         ids=["post_order", "backwards", "any_order"])
def test_order_of_nodes(rng, order):
    graphs = random_graphs(rng)
    wanted = copy_of(graphs).word
    given = arrays_of(graphs, order)
    forest = of_arrays(Graph, **given)
    found = copy_of(forest).word
    assert [rows.tolist() for rows in found] == [rows.tolist() for rows in wanted]
    # The attribute `order` stores the number of the node to which each row belongs.
    word = np.zeros(len(given["variants"]), int)
    for number, name in enumerate(("Leaf.word", "Join.word")):
        word[given["variants"] == number] = given["fields"][name]
    assert word[forest.order.values].tolist() == found.values.tolist()
    assert forest.order.offsets.tolist() == wanted.offsets.tolist()


def test_forest_of_objects_has_no_order():
    with raises(AttributeError, "its rows are in post-order"):
        _ = batch.forest(Tree, [Leaf(1)]).order


# --- two data types ---------------------------------------------------------------------

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


@batch.function
def add_all(one: Graph, other: Graph, rows: "list[Row]"):
    return add(one) * 1000 + add(other), rows.map(weigh).sum()


weigh_of, sums_of = batch.vmap(weigh), batch.vmap(add_all)
TWO = Graph.Join([Graph.Leaf(3), Graph.Leaf(4)], 1)
ROWS = [Row.Item(TWO, 0.5, Row.Item(Graph.Leaf(2), 2, Row.End())), Row.End()]
# The nodes of ROWS, as arrays.
BOTH = dict(variants=[0, 1, 1, 3, 2, 2, 2, 0],
            fields={"Item.of": [3, 4], "Item.weight": np.float32([0.5, 2]), "Item.next": [2, 0],
                    "Leaf.word": [2, 3, 4], "Graph.Join.word": [1],
                    "Join.parts": np.array([[5, 6]])}, roots=[1, 7])


def test_two_data_types():
    assert weigh_of(ROWS).tolist() == [8.0, 0.0]


def test_two_data_types_in_arrays():
    assert weigh_of(of_arrays(Row, **BOTH)).tolist() == [8.0, 0.0]


PAIRS = [Graph.Leaf(i) for i in range(3)], [TWO, TWO, Graph.Leaf(9)]


@pytest.mark.parametrize("first, second", [
    pytest.param(lambda: PAIRS[0], lambda: PAIRS[1], id="objects"),
    pytest.param(lambda: of_arrays(Graph, [0, 0, 0], {"Leaf.word": [2, 1, 0]}, [2, 1, 0]),
                 lambda: PAIRS[1], id="arrays_and_objects"),
    pytest.param(*[lambda part=part: of_arrays(Graph, **arrays_of(part, backwards))
                   for part in PAIRS], id="two_forests_in_arrays"),
])
def test_several_arguments(first, second):
    lists = [[ROWS[0], ROWS[1]], [], [ROWS[0], ROWS[0]]]
    found = sums_of(first(), second(), lists)
    assert [part.tolist() for part in found] == [[8, 1008, 2009], [8.0, 0.0, 16.0]]


def test_list_of_roots():
    lists = of_arrays(list[Row], **dict(BOTH, roots=batch.Ragged([1, 7], [0, 2, 2, 2])))
    assert sums_of(*PAIRS, lists)[1].tolist() == [8.0, 0.0, 0.0]


# --- invalid arrays ---------------------------------------------------------------------

LEAVES = dict(variants=[0, 0], fields={"Leaf.word": [1, 2]}, roots=[0, 1])
NODE = dict(variants=[0, 1, 0], fields={"Leaf.word": [1, 2], "Node.left": [0],
                                        "Node.right": [2]}, roots=[1])


def changed(given, **changes):
    """Returns changed arrays: Node_left=a replaces Node.left with a; Node_left=None removes it."""
    result = dict(given, fields=dict(given["fields"]))
    for name, new in changes.items():
        if name in result:
            result[name] = new
        elif new is None:
            del result["fields"][name.replace("_", ".")]
        else:
            result["fields"][name.replace("_", ".")] = new
    return result


def test_tree_in_arrays():
    assert total_of(of_arrays(Tree, **NODE)).tolist() == [5]


def invalid(name, error, text, kind, given):
    return pytest.param(error, text, kind, given, id=name)


@pytest.mark.parametrize("error, text, kind, given", [
    invalid("field_by_two_names", TypeError,
            "unknown field 'Row.Item.of'; expected one of Item.of",
            Row, changed(BOTH, Row_Item_of=[3, 4])),
    invalid("variant", ValueError,
            "node 1 has the invalid variant 2; expected one of 0 (Tree.Leaf), 1 (Tree.Node)",
            Tree, changed(NODE, variants=[0, 2, 0])),
    invalid("floats_for_variants", TypeError,
            "variants: expected a one-dimensional array of integers, got float64[3]",
            Tree, changed(NODE, variants=[0.0, 1, 0])),
    invalid("missing_field", TypeError,
            "field 'Node.left' is missing; expected one row per node, 1 in total",
            Tree, changed(NODE, Node_left=None)),
    invalid("unknown_field", TypeError,
            "unknown field 'Node.middle'; expected one of Leaf.word, Node.left, Node.right",
            Tree, changed(NODE, Node_middle=[3])),
    invalid("too_few_rows", ValueError,
            "field 'Leaf.word': expected one row per node, 2 in total, got an array of shape [1]",
            Tree, changed(NODE, Leaf_word=[1])),
    invalid("child_out_of_range", ValueError,
            "field 'left' of node 1, a Tree.Node, is node 3, which is out of range for 3 nodes",
            Tree, changed(NODE, Node_left=[3])),
    invalid("negative_child", ValueError, "is node -1, which is out of range", Tree,
            changed(NODE, Node_left=[-1])),
    invalid("floats_for_children", TypeError,
            "field 'Node.left': expected a one-dimensional array of integers",
            Tree, changed(NODE, Node_left=[0.5])),
    invalid("too_large_child", ValueError,
            "field 'Node.left': number 9223372036854775808 is out of range",
            Tree, changed(NODE, Node_left=np.array([2 ** 63], np.uint64))),
    invalid("cycle", ValueError, "node 1 contains itself; cycles are not supported", Tree,
            changed(NODE, Node_left=[1])),
    invalid("two_parents_in_tree", ValueError,
            "node 0 is a child of two nodes, but Tree is declared as a tree; declare it with "
            "kind='dag', or copy the node",
            Tree, changed(NODE, Node_right=[0])),
    invalid("node_below_no_root", ValueError,
            "node 2 is not below the root of an instance; remove the node", Tree,
            dict(variants=[0] * 3, fields={"Leaf.word": [1, 2, 3]}, roots=[0, 1])),
    invalid("root_out_of_range", ValueError,
            "the root of instance 1 is node 2, which is out of range for 2 nodes",
            Tree, changed(LEAVES, roots=[0, 2])),
    invalid("root_of_another_type", ValueError,
            "the root of instance 0 is node 3, a Graph.Join; expected a Row",
            Row, changed(BOTH, roots=[3, 7])),
    invalid("child_of_another_type", ValueError,
            "field 'of' of node 1, a Row.Item, is node 2, a Row.Item; expected a Graph",
            Row, changed(BOTH, Item_of=[2, 4])),
    invalid("node_of_two_instances", ValueError,
            "node 0 belongs to instances 0 and 1; copy it, because instances cannot share nodes",
            Tree, changed(LEAVES, roots=[0, 0])),
    invalid("no_lists", TypeError, "field 'Join.parts' requires lists; pass a batch.Ragged",
            Row, changed(BOTH, Join_parts=[5])),
    invalid("offsets", ValueError,
            "field 'Join.parts': invalid offsets for 1 lists; expected 2 non-decreasing",
            Row, changed(BOTH, Join_parts=batch.Ragged([5, 6], [0, 1, 2]))),
    invalid("offsets_beyond_the_end", ValueError, "field 'Join.parts': expected 3 rows, got 2",
            Row, changed(BOTH, Join_parts=batch.Ragged([5, 6], [0, 3]))),
])
def test_invalid_arrays(error, text, kind, given):
    with raises(error, text):
        of_arrays(kind, **given)


def test_integers_out_of_range():
    """JAX would convert these numbers to a narrower type."""
    beyond = np.array([1, INT.max + 1], np.int64 if INT.bits == 32 else np.uint64)
    error, text = TOO_WIDE
    with raises(error, f"field 'Leaf.word': expected int{text}"):
        total_of(of_arrays(Tree, **changed(LEAVES, Leaf_word=beyond)))


def test_floats_for_integers():
    with raises(TypeError, "field 'Leaf.word': expected int, got"):
        total_of(of_arrays(Tree, **changed(LEAVES, Leaf_word=[1, 1.5])))
