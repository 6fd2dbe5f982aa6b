"""Data types of recursive functions: fields, lists, methods and names."""

import jax
import jax.numpy as jnp
import numpy
from support.comparison import raises
from support.word_trees import Leaf, Node, Rose, Tree, height, rose, total, tree

import batch

ROSES = [rose, Rose.rose(5, [])]


# --- fields -----------------------------------------------------------------------------

@batch.adt
class Pair:
    class pair:
        first: Tree
        second: Tree
        weight: float
        flag: bool
        code: numpy.int8
        vector: batch.tensor(2, dtype="float64")


@batch.function
def pair(p: Pair):
    """Reads the fields of a type with one variant, without testing for the variant."""
    return total(p.first) - total(p.second), p.weight * 2, p.flag, p.code, p.vector[1]


def test_fields_of_all_types():
    found = batch.vmap(pair)([
        Pair.pair(tree, Leaf(1), 0.5, True, -3, numpy.array([1.0, 2.0])),
        ("pair", ("Leaf", 1), tree, 1, False, 4, numpy.ones(2))])
    assert [a.tolist() for a in found] == \
        [[5, -5], [1.0, 2.0], [True, False], [-3, 4], [2.0, 1.0]]


@batch.adt
class Typed:
    class typed:
        a: jnp.uint8
        b: jnp.bfloat16
        c: batch.tensor(2, dtype="bfloat16")
        d: list[numpy.uint16]


@batch.function
def same(t: Typed) -> Typed:
    return Typed.typed(t.a, t.b, t.c * 1, t.d.array)


def test_types_of_fields_of_results():
    made = batch.vmap(same)([Typed.typed(255, 1.5, jnp.ones(2, jnp.bfloat16), [65535, 1])])
    assert [(str(made[name].values.dtype), made[name].values.astype(float).tolist())
            for name in "abcd"] == [
        ("uint8", [255.0]), ("bfloat16", [1.5]), ("bfloat16", [[1.0, 1.0]]),
        ("uint16", [65535.0, 1.0])]


@batch.adt
class Odd:
    class Leaf:
        x: batch.tensor(2)
        y: float

    class Node:
        x: batch.tensor(3)
        y: float
        left: "Odd"


@batch.function
def odd(tree: Tree) -> Odd:
    match tree:
        case Tree.Leaf(word):
            return Odd.Leaf(jnp.full(2, word, jnp.float32), 1.5)
        case Tree.Node(left, _):
            return Odd.Node(jnp.ones(3, jnp.float32), 2.0, odd(left))


def test_field_whose_type_differs_between_variants():
    made = batch.vmap(odd)([Node(Leaf(7), Leaf(8))])
    assert made.y[0].tolist() == [1.5, 2.0]
    assert made["Odd.Leaf.x"][0].tolist() == [[7.0, 7.0]]
    assert made["Odd.Node.x"][0].tolist() == [[1.0, 1.0, 1.0]]
    with raises(AttributeError, "more than one field 'x'"):
        _ = made.x


# --- names ------------------------------------------------------------------------------

@batch.adt
class Words:
    class end:
        pass

    class loc:
        true: int
        i32: int
        tensor: "Words"


WORDS = [Words.loc(5, 2, Words.loc(4, 0, Words.end())), Words.end()]


@batch.function
def segment0(w: Words):
    match w:
        case Words.end():
            return 0
        case Words.loc(a, b, rest):
            return a - b + segment0(rest)


@batch.function
def main(w: Words):
    return segment0(w)


def test_names_that_mlir_and_the_package_use():
    assert batch.vmap(main)(WORDS).tolist() == [7, 0]


def test_argument_as_result():
    found = batch.vmap(lambda w: w)(batch.forest(Words, WORDS))
    assert found.true[0].tolist() == [4, 5]


def test_arrays_without_elements_next_to_data():
    found = batch.vmap(lambda w, none, x: (segment0(w), none.sum(), x))(
        batch.forest(Words, WORDS), jnp.zeros((2, 0)), jnp.ones(2))
    assert [a.tolist() for a in found] == [[7, 0], [0.0, 0.0], [1.0, 1.0]]


# --- methods and defaults ---------------------------------------------------------------

@batch.adt
class Shape:
    class Square:
        side: int
        scale: float = 2.0

        def area(self):
            return self._square() * self.scale

        def _square(self):
            return self.side * self.side

    class Both:
        first: "Shape"
        second: "Shape"

        def area(self):
            return self.first.twice() + area(self.second)

        @property
        def corners(self):
            return 2 * Shape.most

    most = 4

    def twice(self):
        return 2 * area(self)


@batch.function
def area(shape: Shape):
    return shape.area()


@batch.function
def larger(shape: Shape) -> Shape:
    match shape:
        case Shape.Square(side):
            return Shape.Square(side + 1)
        case Shape.Both(first, _):
            return Shape.Both(larger(first), Shape.Square(shape.corners + first.most))


SHAPES = [Shape.Square(3), Shape.Both(Shape.Square(1, 0.5), Shape.Square(2))]


def test_methods_of_values():
    found = batch.vmap(lambda s: s.twice())(batch.forest(Shape, SHAPES))
    assert found.tolist() == [36.0, 18.0]


def test_methods_of_objects():
    assert (SHAPES[0].area(), SHAPES[1].corners) == (18.0, 8)


def test_fields_with_defaults():
    made = batch.vmap(larger)(SHAPES)
    assert made.side.values.tolist() == [4, 2, 12]
    assert made.scale.values.tolist() == [2.0, 2.0, 2.0]


# --- lists ------------------------------------------------------------------------------

@batch.function
def doubled(r: Rose) -> Rose:
    return Rose.rose(r.value * 2, r.below.map(doubled))


@batch.function
def nodes(r: Rose) -> int:
    return 1 + r.below.sum(nodes)


def test_list_mapped_to_data():
    assert batch.vmap(doubled)([rose]).value[0].tolist() == [4, 8, 6, 2]


def test_place_of_the_maximum_of_a_list():
    found = batch.vmap(lambda r: jnp.argmax(r.below.map(height)))(batch.forest(Rose, ROSES))
    assert found.tolist() == [1, 0]


def test_maximum_of_a_list():
    assert batch.vmap(height)([rose, Rose.rose(1, [])]).tolist() == [3, 1]


@batch.function
def last(r: Rose) -> (int, Rose):
    best, kept = r.below.fold(
        lambda carry, kid: (jnp.maximum(carry[0], kid.value), kid), (r.value, r))
    return best, Rose.rose(best, [kept, Rose.rose(1, []), kept])


def test_fold_with_data_as_carry():
    best, kept = batch.vmap(last)([rose, Rose.rose(9, [])])
    assert best.tolist() == [3, 9]
    assert kept.value[0].tolist() == [4, 3, 1, 3]


@batch.function
def empty_carry(r: Rose):
    def step(carry, kid):
        none, n, kept = carry
        return none, n + (kid.value if isinstance(kid, Rose.rose) else 0), kid
    return r.below.fold(step, (jnp.zeros(0), 1, r))[1]


def test_fold_with_an_empty_array_as_carry():
    assert batch.vmap(empty_carry)(ROSES).tolist() == [6, 1]


def test_fold_of_each_lane():
    found = batch.vmap(lambda r, xs: jax.vmap(
        lambda x: r.below.fold(lambda carry, kid: carry + x * kid.value, 0))(xs))(
            batch.forest(Rose, ROSES), jnp.arange(8).reshape(2, 4))
    assert found.tolist() == [[0, 5, 10, 15], [0, 0, 0, 0]]


@batch.function
def pairs(r: Rose):
    """Nests traversals; the inner traversal reads values of the enclosing functions."""
    return r.below.sum(lambda a: r.below.sum(lambda b: a.value * b.value + r.value))


def test_walks_in_walks():
    assert batch.vmap(pairs)(ROSES).tolist() == [29, 0]


@batch.function
def crossed(r: Rose):
    """Traverses the lists in the elements of two nested traversals."""
    return r.below.sum(lambda a: r.below.sum(
        lambda b: 10 * a.below.sum(nodes) + b.below.sum(nodes)))


def test_lists_of_elements_of_both_walks():
    assert batch.vmap(crossed)(ROSES).tolist() == [22, 0]


@batch.function
def mixed(r: Rose):
    """Adds lists of different lengths row by row. They belong to elements of two traversals."""
    return r.below.sum(lambda a: r.below.sum(
        lambda b: (a.below.map(nodes) + b.below.map(nodes)).sum(axis=0)))


def test_lists_without_common_lengths():
    with raises(TypeError, "(n1,), (n2,)"):
        batch.vmap(mixed)(ROSES)


@batch.function
def of_result(r: Rose):
    """Reads the fields of a call's result, and traverses the list in the result twice."""
    made = doubled(r)
    return made.value, (made.below.map(lambda k: k.value) * made.below.map(nodes)).sum(axis=0)


def test_fields_and_lists_of_a_result():
    assert [a.tolist() for a in batch.vmap(of_result)(ROSES)] == [[2, 10], [16, 0]]
