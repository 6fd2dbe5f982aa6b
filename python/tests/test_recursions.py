"""Recursive functions of trees: arguments, results, closures and tasks."""

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import raises
from support.word_trees import Leaf, Node, Tree, mirror, total, tree

import batch

# Tree 2 contains tree 0 twice.
TREES = [tree, Leaf(4), Node(tree, tree), Node(Leaf(5), Leaf(2))]


def of_each(f):
    """Returns the results of a function for each of TREES."""
    return [f(one) for one in TREES]


# --- arguments and results --------------------------------------------------------------

def total_of(t):
    return t.word if isinstance(t, Leaf) else total_of(t.left) + total_of(t.right)


def test_sum():
    assert batch.vmap(total)(TREES).tolist() == of_each(total_of)


def test_one_instance():
    assert int(total(tree)) == 6


@batch.function
def nested(tree: Tree, x):
    match tree:
        case Tree.Node(Tree.Leaf(a), Tree.Leaf(b)):
            return x * a - b
        case Tree.Node(left=Tree.Leaf(a)):
            return x + a + nested(tree.right, x)
        case Tree.Node(left, right):
            return nested(left, x) * nested(right, x)
        case _:
            return tree.word * 1.0


def nested_of(t, x):
    if isinstance(t, Leaf):
        return float(t.word)
    if isinstance(t.left, Leaf):
        return x * t.left.word - t.right.word if isinstance(t.right, Leaf) else \
            x + t.left.word + nested_of(t.right, x)
    return nested_of(t.left, x) * nested_of(t.right, x)


def test_nested_patterns_by_position_and_by_name():
    assert batch.vmap(nested, in_axes=(0, None))(TREES, 2.0).tolist() == \
        of_each(lambda t: nested_of(t, 2.0))


@batch.function
def below(tree: Tree, depth):
    """Passes a state from a node to its children."""
    if isinstance(tree, Tree.Leaf):
        return depth * tree.word
    return below(tree.left, depth + 1) + below(tree.right, depth + 1)


def below_of(t, depth):
    return depth * t.word if isinstance(t, Leaf) else \
        below_of(t.left, depth + 1) + below_of(t.right, depth + 1)


def test_state_passed_down():
    found = batch.vmap(lambda t: below(t, 0))(batch.forest(Tree, TREES))
    assert found.tolist() == of_each(lambda t: below_of(t, 0))


def test_shared_node_with_several_states():
    shared = Node(tree, Node(tree, Node(tree, Leaf(1))))
    found = batch.vmap(lambda t: below(t, 0))(batch.forest(Tree, [shared, tree]))
    assert found.tolist() == [below_of(shared, 0), below_of(tree, 0)]


def test_tree_as_result():
    made = batch.vmap(mirror)(TREES)
    assert [made.word[i].tolist() for i in range(2)] == [[4, 3, 2], [5]]


def test_tree_of_a_new_tree():
    made = batch.vmap(lambda t: mirror(Node(t, Leaf(7))))(batch.forest(Tree, TREES))
    assert [made.word[i].tolist() for i in range(2)] == [[8, 4, 3, 2], [8, 5]]


def test_data_without_a_function():
    made = batch.vmap(lambda n: Leaf(n))(jnp.arange(2))
    assert made.word.values.tolist() == [0, 1]


@batch.function
def keyed(tree: Tree, key):
    match tree:
        case Tree.Leaf(word):
            return jax.random.normal(key) * word
        case Tree.Node(left, right):
            a, b = jax.random.split(key)
            return keyed(left, a) + keyed(right, b)


def keyed_of(t, key):
    if isinstance(t, Leaf):
        return jax.random.normal(key) * t.word
    a, b = jax.random.split(key)
    return keyed_of(t.left, a) + keyed_of(t.right, b)


def test_keys():
    keys = jax.random.split(jax.random.key(0), len(TREES))
    wanted = [keyed_of(t, key) for t, key in zip(TREES, keys)]
    numpy.testing.assert_allclose(batch.vmap(keyed)(TREES, keys), wanted, rtol=1e-6, atol=1e-8)


@batch.function
def fib(n) -> int:
    """Makes recursive calls that depend only on a tensor."""
    return lax.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2))


def test_recursion_on_a_number():
    assert batch.vmap(fib)(jnp.arange(12)).tolist() == \
        [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]


@batch.function
def deepest(tree: Tree, found):
    """Descends into the child with the larger sum."""
    match tree:
        case Tree.Leaf(word):
            return found + word
        case Tree.Node(left, right):
            return lax.cond(total(left) > total(right), lambda: deepest(left, found + 1),
                            lambda: deepest(right, found + 10))


def deepest_of(t, found):
    if isinstance(t, Leaf):
        return found + t.word
    return deepest_of(t.left, found + 1) if total_of(t.left) > total_of(t.right) else \
        deepest_of(t.right, found + 10)


def test_recursion_on_a_condition():
    found = batch.vmap(lambda t: deepest(t, 0))(batch.forest(Tree, TREES))
    assert found.tolist() == of_each(lambda t: deepest_of(t, 0))


def test_integers_of_64_bits():
    with jax.enable_x64(True):
        found = batch.vmap(total)([Node(Leaf(2 ** 40), Leaf(1))])
        assert found.tolist() == [2 ** 40 + 1]


def test_tree_of_100000_levels():
    deep = Leaf(1)
    for _ in range(100000):
        deep = Node(deep, Leaf(0))
    found = batch.vmap(total)([deep, Leaf(2)]).tolist()
    assert found == [1, 2]


@batch.function
def scaled(tree: Tree, w):
    """Passes changed parameters to a recursive call."""
    match tree:
        case Tree.Leaf(word):
            return w[word % 4]
        case Tree.Node(left, right):
            return scaled(left, w / 2) + scaled(right, w)


def scaled_of(t, s):
    return s * (t.word % 4) if isinstance(t, Leaf) else \
        scaled_of(t.left, s / 2) + scaled_of(t.right, s)


def test_parameters_that_change():
    found = batch.vmap(scaled, in_axes=(0, None))(TREES, jnp.arange(4.0))
    assert found.tolist() == of_each(lambda t: scaled_of(t, 1))


@batch.function
def weighted(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return word
        case Tree.Node(left, right):
            return weighted(left) + 2 * weighted(right)


@batch.function
def chosen(tree: Tree, x):
    return weighted(lax.cond(x > 0, lambda: mirror(tree), lambda: tree))


def test_tree_as_result_of_a_branch():
    found = batch.vmap(chosen)([tree, tree], jnp.array([1.0, -1.0]))
    assert found.tolist() == [14, 17]


@batch.function
def caught(tree: Tree):
    try:
        return caught(tree.left) + 1
    except AttributeError:
        return tree.word


def test_caught_exception():
    assert batch.vmap(caught)(TREES).tolist() == [2, 4, 3, 6]


@batch.adt
class Backwards:
    """Data type whose first variant is the recursive one."""
    class Node:
        left: "Backwards"
        right: "Backwards"

    class Leaf:
        word: int


@batch.function
def catches(tree: Backwards):
    if isinstance(tree, Backwards.Node):
        try:
            return catches(tree.left) + catches(tree.right)
        except:  # noqa: E722
            return -1
    return tree.word


def test_end_of_a_path_is_not_caught():
    assert batch.vmap(catches)([("Node", ("Leaf", 1), ("Leaf", 2))]).tolist() == [3]


@batch.function
def loops(tree: Tree, xs):
    """Calls functions in the bodies of loops."""
    added, _ = lax.scan(lambda c, x: (c * x + total(tree), x), 0.0, xs)
    rounds = lax.while_loop(lambda s: s[0] < total(tree), lambda s: (s[0] + 2, s[1] + 1),
                            (0, 0))[1]
    return {"added": added, "rounds": rounds, "none": None}


def test_loops_with_calls_and_a_tree_of_results():
    found = batch.vmap(loops, in_axes=(0, None))([tree, Leaf(2)], jnp.array([1.0, 2.0, 3.0]))
    assert found["added"].tolist() == [60.0, 20.0]
    assert found["rounds"].tolist() == [3, 1]
    assert found["none"] is None


@batch.function
def defaults(tree: Tree, k=3, *, scale=2.0):
    match tree:
        case Tree.Leaf(word):
            return word * scale + k
        case Tree.Node(left, right):
            return defaults(left, scale=scale) + defaults(right, k + 1, scale=scale)


def defaults_of(t, k=3):
    return t.word * 2.0 + k if isinstance(t, Leaf) else \
        defaults_of(t.left) + defaults_of(t.right, k + 1)


def test_defaults():
    assert batch.vmap(defaults)(TREES).tolist() == of_each(defaults_of)


# --- maps in maps -----------------------------------------------------------------------

@batch.function
def count(tree: Tree, n):
    return n if isinstance(tree, Leaf) else count(tree.left, n) + count(tree.right, n)


def test_new_tree_under_jax_vmap():
    found = jax.vmap(
        batch.vmap(lambda n, m: count(Node(Leaf(1), Leaf(2)), n) + m, in_axes=(0, None)),
        in_axes=(None, 0))(jnp.arange(3), jnp.arange(2))
    assert found.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_maps_in_each_other_in_turn():
    """Alternates between a nested map and a single map of the same function."""
    numbers = jnp.arange(12).reshape(3, 4)
    inner = batch.vmap(fib)
    for _ in range(2):
        assert batch.vmap(inner)(numbers).tolist() == \
            [[0, 1, 1, 2], [3, 5, 8, 13], [21, 34, 55, 89]]
        assert inner(numbers[1]).tolist() == [3, 5, 8, 13]


@pytest.mark.parametrize("vmap", [batch.vmap, jax.vmap], ids=["batch", "jax"])
def test_map_in_a_function(vmap):
    """The inner map reads values of the outer function, and calls functions."""
    def lanes(tree: Tree, xs):
        return vmap(lambda x: total(tree) + count(tree, x))(xs)

    numbers = jnp.arange(12).reshape(3, 4)
    leaves = [3, 1, 6]
    assert batch.vmap(lanes)(TREES[:3], numbers).tolist() == [
        [total_of(t) + n * x for x in row]
        for t, n, row in zip(TREES, leaves, numbers.tolist())]


def test_map_that_reads_an_array_around_it():
    found = batch.vmap(lambda x: batch.vmap(lambda y: y * x.sum())(x))(
        jnp.arange(4.0).reshape(2, 2))
    assert found.tolist() == [[0, 1], [10, 15]]


# --- arrays of a closure, and tasks -----------------------------------------------------

@pytest.fixture(scope="module")
def closed():
    """Function that closes over a JAX array and a NumPy array."""
    table = jnp.arange(12, dtype=jnp.float32).reshape(4, 3)
    copies = numpy.arange(6, dtype=numpy.float32)

    @batch.function
    def closed(tree: Tree):
        match tree:
            case Tree.Leaf(word):
                return table[word % 4].sum() + copies.sum()
            case Tree.Node(left, right):
                return closed(left) + copies[3] * closed(right)

    return closed


def closed_of(t):
    if isinstance(t, Leaf):
        return float(9 * (t.word % 4) + 3 + 15)
    return closed_of(t.left) + 3 * closed_of(t.right)


def test_arrays_of_a_closure(closed):
    assert batch.vmap(closed)(TREES).tolist() == of_each(closed_of)


@pytest.fixture(scope="module")
def explained(closed):
    return batch.vmap(closed).explain(TREES)


@pytest.fixture
def figures():
    """Draws the figures of a test without a display."""
    from matplotlib import pyplot
    backend = pyplot.get_backend()
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")
    pyplot.switch_backend(backend)


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_tasks_of_each_tree(explained):
    groups = explained.tasks["group"]
    assert [groups.count(g) for g in range(4)] == [5, 1, 6, 3]


def test_tasks_read_earlier_tasks_of_the_same_tree(explained):
    groups, reads = explained.tasks["group"], explained.tasks["reads"]
    assert all(r < t and groups[r] == groups[t] for t, some in enumerate(reads) for r in some)


def test_inner_nodes_read_two_results_and_leaves_none(explained):
    assert sorted(map(len, explained.tasks["reads"])) == [0] * 9 + [2] * 6


def test_batches_of_tasks(explained):
    assert [explained.tasks["batch"].count(b)
            for b in range(len(explained.batches["tasks"]))] == \
        explained.batches["tasks"].tolist()


def test_picture_of_a_tree_with_a_shared_node(explained, figures):
    axes = explained.plot_tasks(2)
    assert "input 2 of 4" in axes.get_title(loc="left")
    assert len(axes.lines) == 2 * 3
    assert "of 9 tasks" in str(legend(axes))


def test_picture_of_an_absent_group(explained):
    with raises(ValueError, "group 4 is out of range; expected a number from 0 to 3"):
        explained.plot_tasks(4)


def test_tasks_for_which_control_waits(figures):
    waiting = batch.vmap(lambda t: deepest(t, 0)).explain(batch.forest(Tree, TREES[:1]))
    assert waiting.tasks["waits"].count(True) == waiting.waits > 0
    assert "control flow waits for it" in str(legend(waiting.plot_tasks()))
