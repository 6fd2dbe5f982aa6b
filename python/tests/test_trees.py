"""Data structures as arguments of models: trees of tuples."""

import pytest
from support.comparison import raises
from support.oracle import assert_outputs
from support.package_models import TREES, bind_encoder, encoder_results


@pytest.fixture(scope="module")
def encode():
    return bind_encoder(threads=2)


def test_trees(encode, tmp_path):
    assert_outputs(encode(TREES), encoder_results(tmp_path))


def test_deep_tree(encode):
    deep = ("leaf", 1)
    for _ in range(3000):
        deep = ("node", ("leaf", 2), deep)
    assert len(encode([deep])["h"][0]) == 6001


def test_repeated_object_is_two_nodes(encode):
    twig = ("leaf", 1)
    assert len(encode([("node", twig, twig)])["h"][0]) == 3


@pytest.mark.parametrize("tree, text", [
    pytest.param(("twig", 1), "expected a Tree (a tuple that begins with 'leaf' or 'node'), got "
                 "('twig', 1)", id="unknown_variant"),
    pytest.param(3, "expected a Tree (a tuple", id="number"),
    pytest.param(("node", ("leaf", 1)),
                 "'node' has 2 fields (left: Tree, right: Tree); got 1", id="too_few_fields"),
    pytest.param(("leaf", ("leaf", 1)), "instance 0, .word: expected index, got ('leaf', 1)",
                 id="tree_instead_of_index"),
])
def test_wrong_tree(encode, tree, text):
    with raises(TypeError, text):
        encode([tree])
