"""Data types for the tests of forests, functions of their values, and random values."""

import gc

import jax
import jax.numpy as jnp
import numpy as np

import batch
from batch.transforms import forest as forests

INT = np.iinfo(jax.dtypes.canonicalize_dtype(np.int64))  # JAX's type for int
# Error for integers beyond INT. No type is wider than uint64.
TOO_WIDE = (TypeError, ", got") if INT.bits > 32 else \
    (ValueError, f" from {INT.min} to {INT.max}, got")


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


@batch.adt
class Value:
    class Number:
        x: np.float32

    class Vector:
        h: batch.tensor(2)

    class Lists:
        of: "list[list[Value]]"
        numbers: "list[int]"


Leaf, Node = Tree.Leaf, Tree.Node


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


total_of, copy_of, see_of = batch.vmap(total), batch.vmap(copy), batch.vmap(see)


def words(graphs):
    """Returns the words of all nodes, one list per instance."""
    return [rows.tolist() for rows in copy_of(graphs).word]


def count_nodes(forest):
    """Returns the number of nodes that the runtime receives."""
    see_of([("Number", 0.0)])  # compiles
    model = next(iter(see_of.known.values()))[0].model
    return len(forests._read(model, {"a0": forest}, len(forest))[1][1])


def merged(values, kind=Graph):
    """Returns a forest whose equal nodes are merged."""
    return batch.forest(kind, values, share="equal")


def random_tree(rng, size):
    """Returns a tree with `size` leaves."""
    if size == 1:
        return Leaf(int(rng.integers(100)))
    left = int(rng.integers(1, size))
    return Node(random_tree(rng, left), random_tree(rng, size - left))


def random_graph(rng, size):
    nodes = [Graph.Leaf(0)]
    for i in range(1, size):
        few = [nodes[j] for j in rng.integers(0, i, rng.integers(0, 4))]
        nodes.append(Graph.Join(few + [nodes[-1]] * (i % 3 == 0) or nodes[-1:], i))
    return nodes[-1]


def random_graphs(rng):
    return [random_graph(rng, size) for size in (1, 2, 9, 40, 200)]


# --- views of objects -------------------------------------------------------------------

@batch.view(Graph, complex)
def _(number):
    """Returns a join of copies of the real part. The imaginary part is the number of copies."""
    return Graph.Join([number.real] * int(number.imag), 7)


@batch.view(Graph, float)
def _(number):
    return Graph.Leaf(int(number))


class Made:
    """A leaf if there is one part, or a node if there are two."""

    def __init__(self, *parts):
        self.parts = parts


@batch.view(Tree, Made)
def _(thing):
    return Leaf(*thing.parts) if len(thing.parts) == 1 else ("Node", *thing.parts)


class Viewed:
    """An object with a view that returns `made` if it is set, or else the object itself.

    If `error` is set, the view raises it instead.
    """

    def __init__(self, error=None):
        self.error, self.made = error, None


@batch.view(Tree, Viewed)
def _(thing):
    if thing.error is not None:
        raise thing.error
    return thing if thing.made is None else thing.made


class Changing:
    """An object whose view empties the list that is being read, and fills it again.

    generation: the oldest generation of objects to collect in between.
    """

    def __init__(self, home, generation=2):
        self.home, self.generation = home, generation


@batch.view(Graph, Changing)
def _(changing):
    changing.home.clear()
    gc.collect(changing.generation)
    changing.home.extend([object()] * 1000)
    return Graph.Leaf(5)
