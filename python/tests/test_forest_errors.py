"""Errors about invalid values of data types give the location of the value."""

import numpy as np
import pytest
from support.comparison import raises
from support.forests import (
    INT,
    TOO_WIDE,
    Graph,
    Leaf,
    Node,
    Tree,
    Value,
    Viewed,
    see_of,
    total,
    total_of,
)

import batch

A_TREE = "expected a Tree (Tree.Leaf or Tree.Node, or a tuple that begins with 'Leaf' or 'Node'), "


class Gone:
    left = Leaf(1)


batch.view(Tree, Gone, Node)


def leaf_without_word():
    leaf = Leaf(1)
    del leaf.word
    return leaf


def invalid(name, error, text, value):
    return pytest.param(error, text, value, id=name)


@pytest.mark.parametrize("error, text, tree", [
    invalid("no_node", TypeError, f", .right: {A_TREE}got 'x'", Node(Leaf(1), "x")),
    invalid("none", TypeError, f": {A_TREE}got None", None),
    invalid("node_of_another_type", TypeError, f"{A_TREE}got <",
            Graph.Join([Graph.Leaf(3), Graph.Leaf(4)], 1)),
    invalid("class_of_variant", TypeError, f"{A_TREE}got Tree.Leaf", Leaf),
    invalid("unknown_variant", TypeError, f": {A_TREE}got ('Twig', 1)", ("Twig", 1)),
    invalid("empty_tuple", TypeError, f"{A_TREE}got ()", ()),
    invalid("too_few_fields", TypeError,
            ", .left: 'Node' has 2 fields (left: Tree, right: Tree); got 1",
            Node(("Node", Leaf(1)), Leaf(1))),
    invalid("text", TypeError, ", .right.left.word: expected int, got 'x'",
            Node(Leaf(1), Node(Leaf("x"), Leaf(2)))),
    invalid("float", TypeError, ", .word: expected int, got 1.0", Leaf(1.0)),
    invalid("bool", TypeError, ", .word: expected int, got True", Leaf(True)),
    invalid("array", ValueError, ", .word: expected int, got an array of shape [1]",
            Leaf(np.array([1]))),
    invalid("number_out_of_range", ValueError,
            f", .word: expected int from {INT.min} to {INT.max}, got {INT.max + 1}",
            Leaf(INT.max + 1)),
    invalid("large_number", ValueError, ", got 1000000000000000000000", Leaf(10 ** 21)),
    invalid("deleted_field", AttributeError, "word", Node(Leaf(1), leaf_without_word())),
    invalid("missing_attribute", AttributeError, "right", Gone()),
])
def test_invalid_tree(error, text, tree):
    with raises(error, text):
        total_of([Leaf(1), tree])


V = Value


@pytest.mark.parametrize("error, text, value", [
    invalid("no_list", TypeError, ", .of: expected a list, got 3", V.Lists(3, [])),
    invalid("text_for_list", TypeError, ": expected a list, got 'ab'", V.Lists("ab", [])),
    invalid("no_inner_list", TypeError, ", .of[1]: expected a list, got 3",
            V.Lists([[], 3], [])),
    invalid("in_lists_of_lists", TypeError, ", .of[1][2]: expected a Value (Value.Number or",
            V.Lists([[], [V.Number(1), V.Number(1), 3]], [])),
    invalid("in_list_of_numbers", TypeError, ", .numbers[1]: expected int, got 'x'",
            V.Lists([], [1, "x"])),
    invalid("numbers_out_of_range_in_array", TOO_WIDE[0],
            f", .numbers: expected list[int]{TOO_WIDE[1]}",
            V.Lists([], np.array([1, INT.max + 1],
                                 np.int64 if INT.bits == 32 else np.uint64))),
    invalid("floats_for_list_of_integers", TypeError,
            ", .numbers: expected list[int], got an array of float32",
            V.Lists([], np.ones(2, np.float32))),
    invalid("shape", ValueError, ", .h: expected batch.tensor(2), got an array of shape [3]",
            V.Vector(np.zeros(3))),
    invalid("complex_numbers", TypeError,
            ", .h: expected batch.tensor(2), got an array of complex",
            V.Vector(np.zeros(2, complex))),
    invalid("list_of_texts", TypeError,
            ", .h: expected batch.tensor(2), got a list that contains", V.Vector(["a", "b"])),
    invalid("uneven_lists", TypeError, ", .h: cannot convert the value to batch.tensor(2)",
            V.Vector([[1], [2, 3]])),
])
def test_invalid_field(error, text, value):
    with raises(error, text):
        see_of([value])


def test_element_of_map():
    trees = iter([Leaf(1)] * 70 + [Node(Leaf(1), "")])
    with raises(TypeError, "xs[70].right: expected a Tree"):
        list(batch.map(total, trees, lanes=64))


def test_value_of_forest():
    with raises(TypeError, "values[1]: expected a Tree"):
        total_of(batch.forest(Tree, [Leaf(1), 0.5]))


# --- views ------------------------------------------------------------------------------

def test_view_of_tuples():
    with raises(TypeError, "batch.view does not support tuple"):
        batch.view(Tree, tuple, Leaf)


@pytest.mark.parametrize("text, view", [
    pytest.param("expects a class of batch.adt, got Tree.Leaf", (Leaf, int), id="no_data_type"),
    pytest.param("expects the class of the viewed objects, got 3", (Tree, 3), id="no_class"),
    pytest.param("Tree.Node is a data type; batch.view expects", (Tree, Node), id="data_type"),
    pytest.param("Graph.Leaf is not a variant of Tree; expected one of Tree.Leaf, Tree.Node",
                 (Tree, int, Graph.Leaf), id="variant_of_another_type"),
])
def test_wrong_view(text, view):
    with raises(TypeError, text):
        batch.view(*view)


class Raises:
    @property
    def left(self):
        raise RuntimeError("of an attribute") from KeyError("cause")


batch.view(Tree, Raises, Node)
NOTE = ["in argument 'tree' of instance 1, .right"]


def test_error_of_attribute():
    with raises(RuntimeError, "of an attribute") as info:
        total_of([Leaf(1), Node(Leaf(1), Raises())])
    error = info.value
    assert (type(error), str(error), error.__notes__, repr(error.__cause__)) == \
        (RuntimeError, "of an attribute", NOTE, "KeyError('cause')")


def test_error_of_view():
    error = ZeroDivisionError("of a view")
    with raises(ZeroDivisionError, "of a view") as info:
        total_of([Leaf(1), Node(Leaf(1), Viewed(error))])
    assert info.value is error
    assert (str(error), error.__notes__) == ("of a view", NOTE)


def test_view_that_returns_its_argument():
    with raises(TypeError, f"{A_TREE}got <"):
        total_of([Viewed()])


def test_views_in_a_circle():
    thing, other = Viewed(), Viewed()
    thing.made, other.made = other, thing
    with raises(TypeError, ": no node after 100 views in sequence; the last object is <"):
        total_of([thing])
