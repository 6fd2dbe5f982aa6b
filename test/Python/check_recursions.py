#!/usr/bin/env python3
"""check_recursions.py: functions that call themselves, on trees, lists and DAGs."""

import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))

import batchtest  # noqa: E402

path = batchtest.temporary_paths()
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["JAX_PLATFORMS"] = "cpu"

import batch  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from word_trees import Leaf, Node, Tree, mirror, total, tree  # noqa: E402

checks = batchtest.Checks("recursion")

# --- what functions may ask and make -----------------------------------------------------


trees = [tree, Leaf(4), Node(tree, tree), Node(Leaf(5), Leaf(2))]


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


@batch.function
def below(tree: Tree, depth):
    """With a state that goes down."""
    if isinstance(tree, Tree.Leaf):
        return depth * tree.word
    return below(tree.left, depth + 1) + below(tree.right, depth + 1)


@batch.function
def keyed(tree: Tree, key):
    match tree:
        case Tree.Leaf(word):
            return jax.random.normal(key) * word
        case Tree.Node(left, right):
            a, b = jax.random.split(key)
            return keyed(left, a) + keyed(right, b)


@batch.function
def fib(n) -> int:
    """Recursion that depends on a tensor alone."""
    return lax.cond(n < 2, lambda: n, lambda: fib(n - 1) + fib(n - 2))


@batch.function
def deepest(tree: Tree, found):
    """Goes where a tensor says."""
    match tree:
        case Tree.Leaf(word):
            return found + word
        case Tree.Node(left, right):
            return lax.cond(total(left) > total(right), lambda: deepest(left, found + 1),
                            lambda: deepest(right, found + 10))


def plain(f):
    """A function of a tree by itself: for what is expected."""
    return [f(one) for one in trees]


def total_of(t):
    return t.word if isinstance(t, Leaf) else total_of(t.left) + total_of(t.right)


def nested_of(t, x):
    if isinstance(t, Leaf):
        return float(t.word)
    if isinstance(t.left, Leaf):
        return x * t.left.word - t.right.word if isinstance(t.right, Leaf) else \
            x + t.left.word + nested_of(t.right, x)
    return nested_of(t.left, x) * nested_of(t.right, x)


def below_of(t, depth):
    return depth * t.word if isinstance(t, Leaf) else \
        below_of(t.left, depth + 1) + below_of(t.right, depth + 1)


def keyed_of(t, key):
    if isinstance(t, Leaf):
        return jax.random.normal(key) * t.word
    a, b = jax.random.split(key)
    return keyed_of(t.left, a) + keyed_of(t.right, b)


def deepest_of(t, found):
    if isinstance(t, Leaf):
        return found + t.word
    return deepest_of(t.left, found + 1) if total_of(t.left) > total_of(t.right) else \
        deepest_of(t.right, found + 10)


checks.equal("a sum", batch.vmap(total)(trees).tolist(), plain(total_of))
checks.equal("of one instance", int(total(tree)), 6)
checks.equal("patterns in patterns, by position and by name",
             batch.vmap(nested, in_axes=(0, None))(trees, 2.0).tolist(),
             plain(lambda t: nested_of(t, 2.0)))
checks.equal("a state that goes down", batch.vmap(lambda t: below(t, 0))(
    batch.forest(Tree, trees)).tolist(), plain(lambda t: below_of(t, 0)))
made = batch.vmap(mirror)(trees)
checks.equal("a tree that is made", [made.word[i].tolist() for i in range(2)],
             [[4, 3, 2], [5]])
made = batch.vmap(lambda t: mirror(Node(t, Leaf(7))))(batch.forest(Tree, trees))
checks.equal("of one that is made", [made.word[i].tolist() for i in range(2)],
             [[8, 4, 3, 2], [8, 5]])
keys = jax.random.split(jax.random.key(0), len(trees))
checks.expect("keys", np.allclose(batch.vmap(keyed)(trees, keys), [
    keyed_of(t, key) for t, key in zip(trees, keys)], rtol=1e-6))
checks.equal("recursion on a number", batch.vmap(fib)(jnp.arange(12)).tolist(),
             [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89])
checks.equal("where a tensor says", batch.vmap(lambda t: deepest(t, 0))(
    batch.forest(Tree, trees)).tolist(), plain(lambda t: deepest_of(t, 0)))
with jax.enable_x64(True):
    checks.equal("integers of 64 bits", batch.vmap(total)(
        [Node(Leaf(2 ** 40), Leaf(1))]).tolist(), [2 ** 40 + 1])

table = jnp.arange(12, dtype=jnp.float32).reshape(4, 3)
copies = np.arange(6, dtype=np.float32)


@batch.function
def closed(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return table[word % 4].sum() + copies.sum()
        case Tree.Node(left, right):
            return closed(left) + copies[3] * closed(right)


def closed_of(t):
    if isinstance(t, Leaf):
        return float(table[t.word % 4].sum()) + 15
    return closed_of(t.left) + 3 * closed_of(t.right)


checks.equal("arrays that a function closes over", batch.vmap(closed)(trees).tolist(),
             plain(closed_of))
deep = Leaf(1)
for _ in range(100000):
    deep = Node(deep, Leaf(0))
checks.equal("a tree of 100,000 levels", batch.vmap(total)([deep, Leaf(2)]).tolist(), [1, 2])


@batch.adt
class Pair:
    class pair:
        first: Tree
        second: Tree
        weight: float
        flag: bool
        code: np.int8
        vector: batch.tensor(2, dtype="float64")


@batch.function
def pair(p: Pair):
    """A type of one variant: its fields are read without asking."""
    return total(p.first) - total(p.second), p.weight * 2, p.flag, p.code, p.vector[1]


found = batch.vmap(pair)([Pair.pair(tree, Leaf(1), 0.5, True, -3, np.array([1.0, 2.0])),
                          ("pair", ("Leaf", 1), tree, 1, False, 4, np.ones(2))])
checks.equal("fields of all types", [a.tolist() for a in found],
             [[5, -5], [1.0, 2.0], [True, False], [-3, 4], [2.0, 1.0]])


@batch.adt
class Rose:
    class rose:
        value: int
        below: list["Rose"]


@batch.function
def doubled(r: Rose) -> Rose:
    return Rose.rose(r.value * 2, r.below.map(doubled))


@batch.function
def height(r: Rose) -> int:
    return 1 + r.below.map(height).max(axis=0, initial=0)


@batch.function
def last(r: Rose) -> (int, Rose):
    """A carry that is data."""
    best, kept = r.below.fold(
        lambda carry, kid: (jnp.maximum(carry[0], kid.value), kid), (r.value, r))
    return best, Rose.rose(best, [kept, Rose.rose(1, []), kept])


rose = Rose.rose(1, [Rose.rose(2, []), Rose.rose(3, [Rose.rose(4, [])])])
checks.equal("a list that is mapped to data", batch.vmap(doubled)([rose]).value[0].tolist(),
             [4, 8, 6, 2])
checks.equal("where the maximum of a list is", batch.vmap(
    lambda r: jnp.argmax(r.below.map(height)))(batch.forest(Rose, [rose, Rose.rose(
        5, [])])).tolist(), [1, 0])
checks.equal("a maximum over a list", batch.vmap(height)(
    [rose, Rose.rose(1, [])]).tolist(), [3, 1])
best, kept = batch.vmap(last)([rose, Rose.rose(9, [])])
checks.equal("a fold that carries data", (best.tolist(), kept.value[0].tolist()),
             ([3, 9], [4, 3, 1, 3]))

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


made = batch.vmap(odd)([Node(Leaf(7), Leaf(8))])
checks.equal("a field whose type differs between variants", (
    made.y[0].tolist(), made["Odd.Leaf.x"][0].tolist(), made["Odd.Node.x"][0].tolist()),
    ([1.5, 2.0], [[7.0, 7.0]], [[1.0, 1.0, 1.0]]))
checks.refused("its name alone", AttributeError, "more than one field 'x'", lambda: made.x)

@batch.adt
class Words:
    class end:
        pass

    class loc:
        true: int
        i32: int
        tensor: "Words"


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


words = [Words.loc(5, 2, Words.loc(4, 0, Words.end())), Words.end()]
checks.equal("names that MLIR and the package have, too", batch.vmap(main)(words).tolist(),
             [7, 0])
checks.equal("an argument that is a result", batch.vmap(lambda w: w)(
    batch.forest(Words, words)).true[0].tolist(), [4, 5])
found = batch.vmap(lambda w, none, x: (segment0(w), none.sum(), x))(
    batch.forest(Words, words), jnp.zeros((2, 0)), jnp.ones(2))
checks.equal("beside arrays without elements", [a.tolist() for a in found],
             [[7, 0], [0.0, 0.0], [1.0, 1.0]])

# --- functions around functions ----------------------------------------------------------

inner = Rose.rose(1, [Rose.rose(2, []), Rose.rose(3, [Rose.rose(4, [])])])
roses = [inner, Rose.rose(5, [])]
shared = Node(tree, Node(tree, Node(tree, Leaf(1))))
checks.equal("a shared node with several states", batch.vmap(lambda t: below(t, 0))(
    batch.forest(Tree, [shared, tree])).tolist(), [below_of(shared, 0), below_of(tree, 0)])


@batch.function
def nodes(r: Rose) -> int:
    return 1 + r.below.sum(nodes)


@batch.function
def pairs(r: Rose):
    """Walks in walks, over what a closure has."""
    return r.below.sum(lambda a: r.below.sum(lambda b: a.value * b.value + r.value))


@batch.function
def crossed(r: Rose):
    """Lists of elements of both walks."""
    return r.below.sum(lambda a: r.below.sum(
        lambda b: 10 * a.below.sum(nodes) + b.below.sum(nodes)))


@batch.function
def mixed(r: Rose):
    return r.below.sum(lambda a: r.below.sum(
        lambda b: (a.below.map(nodes) + b.below.map(nodes)).sum(axis=0)))


@batch.function
def of_result(r: Rose):
    """Fields, and a list that is walked twice, of what a call gives."""
    made = doubled(r)
    return made.value, (made.below.map(lambda k: k.value) * made.below.map(nodes)).sum(axis=0)


@batch.function
def scaled(tree: Tree, w):
    """With parameters that change on the way."""
    match tree:
        case Tree.Leaf(word):
            return w[word % 4]
        case Tree.Node(left, right):
            return scaled(left, w / 2) + scaled(right, w)


@batch.function
def chosen(tree: Tree, x):
    """A branch that gives a tree."""
    return weighted(lax.cond(x > 0, lambda: mirror(tree), lambda: tree))


@batch.function
def weighted(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return word
        case Tree.Node(left, right):
            return weighted(left) + 2 * weighted(right)


@batch.function
def caught(tree: Tree):
    try:
        return caught(tree.left) + 1
    except AttributeError:
        return tree.word


@batch.function
def loops(tree: Tree, xs):
    """Calls in the bodies of loops."""
    added, _ = lax.scan(lambda c, x: (c * x + total(tree), x), 0.0, xs)
    rounds = lax.while_loop(lambda s: s[0] < total(tree), lambda s: (s[0] + 2, s[1] + 1),
                            (0, 0))[1]
    return {"added": added, "rounds": rounds, "none": None}


@batch.function
def defaults(tree: Tree, k=3, *, scale=2.0):
    match tree:
        case Tree.Leaf(word):
            return word * scale + k
        case Tree.Node(left, right):
            return defaults(left, scale=scale) + defaults(right, k + 1, scale=scale)


def scaled_of(t, s):
    return s * (t.word % 4) if isinstance(t, Leaf) else \
        scaled_of(t.left, s / 2) + scaled_of(t.right, s)


def defaults_of(t, k=3):
    return t.word * 2.0 + k if isinstance(t, Leaf) else \
        defaults_of(t.left) + defaults_of(t.right, k + 1)


checks.equal("walks in walks", batch.vmap(pairs)(roses).tolist(), [29, 0])
checks.equal("lists of elements of both", batch.vmap(crossed)(roses).tolist(), [22, 0])
checks.refused("which have no lengths in common", TypeError, "(n1,), (n2,)",
               lambda: batch.vmap(mixed)(roses))
checks.equal("fields and lists of a result", [a.tolist() for a in batch.vmap(of_result)(roses)],
             [[2, 10], [16, 0]])
checks.equal("parameters that change", batch.vmap(scaled, in_axes=(0, None))(
    trees, jnp.arange(4.0)).tolist(), plain(lambda t: scaled_of(t, 1)))
checks.equal("a branch that gives a tree", batch.vmap(chosen)(
    [tree, tree], jnp.array([1.0, -1.0])).tolist(), [14, 17])
checks.equal("an exception that is caught", batch.vmap(caught)(trees).tolist(), [2, 4, 3, 6])
found = batch.vmap(loops, in_axes=(0, None))([tree, Leaf(2)], jnp.array([1.0, 2.0, 3.0]))
checks.equal("loops with calls, in a tree of results",
             (found["added"].tolist(), found["rounds"].tolist(), found["none"]),
             ([60.0, 20.0], [3, 1], None))
checks.equal("defaults", batch.vmap(defaults)(trees).tolist(), plain(defaults_of))

@batch.adt
class Typed:
    class typed:
        a: jnp.uint8
        b: jnp.bfloat16
        c: batch.tensor(2, dtype="bfloat16")
        d: list[np.uint16]


@batch.function
def same(t: Typed) -> Typed:
    return Typed.typed(t.a, t.b, t.c * 1, t.d.array)


made = batch.vmap(same)([Typed.typed(255, 1.5, jnp.ones(2, jnp.bfloat16), [65535, 1])])
checks.equal("types of fields of results", [
    (str(made[name].values.dtype), made[name].values.astype(float).tolist())
    for name in "abcd"], [("uint8", [255.0]), ("bfloat16", [1.5]),
                          ("bfloat16", [[1.0, 1.0]]), ("uint16", [65535.0, 1.0])])


@batch.adt
class Backwards:
    """The variant that is asked for first calls itself."""
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


checks.equal("what ends a path is not caught", batch.vmap(catches)(
    [("Node", ("Leaf", 1), ("Leaf", 2))]).tolist(), [3])


@batch.adt
class Shape:
    """With methods and defaults."""
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
        case Shape.Both(first, second):
            return Shape.Both(larger(first), Shape.Square(shape.corners + first.most))


shapes = [Shape.Square(3), Shape.Both(Shape.Square(1, 0.5), Shape.Square(2))]
checks.equal("methods of values", batch.vmap(lambda s: s.twice())(
    batch.forest(Shape, shapes)).tolist(), [36.0, 18.0])
checks.equal("the same methods of objects", (shapes[0].area(), shapes[1].corners), (18.0, 8))
made = batch.vmap(larger)(shapes)
checks.equal("fields that have defaults", (made.side.values.tolist(),
                                           made.scale.values.tolist()),
             ([4, 2, 12], [2.0, 2.0, 2.0]))


@batch.function
def empty_carry(r: Rose):
    def step(carry, kid):
        none, n, kept = carry
        return none, n + (kid.value if isinstance(kid, Rose.rose) else 0), kid
    return r.below.fold(step, (jnp.zeros(0), 1, r))[1]


checks.equal("a carry with an empty array", batch.vmap(empty_carry)(roses).tolist(), [6, 1])


@batch.function
def count(tree: Tree, n):
    return n if isinstance(tree, Leaf) else count(tree.left, n) + count(tree.right, n)


checks.equal("a tree that is made, under jax.vmap", jax.vmap(
    batch.vmap(lambda n, m: count(Node(Leaf(1), Leaf(2)), n) + m, in_axes=(0, None)),
    in_axes=(None, 0))(jnp.arange(3), jnp.arange(2)).tolist(), [[0, 2, 4], [1, 3, 5]])

numbers = jnp.arange(12).reshape(3, 4)
twice_mapped = batch.vmap(fib)
for name in "in each other", "again":
    checks.equal("maps " + name, batch.vmap(twice_mapped)(numbers).tolist(),
                 [[0, 1, 1, 2], [3, 5, 8, 13], [21, 34, 55, 89]])
    checks.equal("the inner one, " + name, twice_mapped(numbers[1]).tolist(), [3, 5, 8, 13])


def of_lanes(vmap):
    def lanes(tree: Tree, xs):
        """A map that reads what is around it, and calls."""
        return vmap(lambda x: total(tree) + count(tree, x))(xs)
    return batch.vmap(lanes)(trees[:3], numbers).tolist()


wanted = [[total_of(t) + {0: 3, 1: 1, 2: 6}[i] * x for x in row]
          for i, (t, row) in enumerate(zip(trees, numbers.tolist()))]
for vmap in batch.vmap, jax.vmap:
    checks.equal("%s in a function" % vmap.__module__, of_lanes(vmap), wanted)
checks.equal("a fold of each lane", batch.vmap(lambda r, xs: jax.vmap(
    lambda x: r.below.fold(lambda carry, kid: carry + x * kid.value, 0))(xs))(
        batch.forest(Rose, roses), numbers[:2]).tolist(), [[0, 5, 10, 15], [0, 0, 0, 0]])
checks.equal("a map that reads an array around it", batch.vmap(lambda x: batch.vmap(
    lambda y: y * x.sum())(x))(jnp.arange(4.0).reshape(2, 2)).tolist(), [[0, 1], [10, 15]])
checks.equal("data without a function", batch.vmap(lambda n: Leaf(n))(
    jnp.arange(2)).word.values.tolist(), [0, 1])

# --- what ran ----------------------------------------------------------------------------

import matplotlib  # noqa: E402

matplotlib.use("agg")
found = batch.vmap(closed).explain(trees)
groups, reads = found.tasks["group"], found.tasks["reads"]
checks.equal("tasks of each tree", [groups.count(g) for g in range(4)], [5, 1, 6, 3])
checks.expect("they read tasks before them, of the same tree", all(
    r < t and groups[r] == groups[t] for t, some in enumerate(reads) for r in some))
checks.equal("each inner node reads two results, and no leaf any",
             sorted(map(len, reads)), [0] * 9 + [2] * 6)
checks.equal("batches of these tasks", [found.tasks["batch"].count(b) for b in range(
    len(found.batches["tasks"]))], found.batches["tasks"].tolist())
axes = found.plot_tasks(2)
checks.expect("a picture of a tree with a shared node", "input 2 of 4" in axes.get_title(
    loc="left") and len(axes.lines) == 2 * 3 and "of 9 tasks" in str(
        [text.get_text() for text in axes.get_legend().get_texts()]),
    (axes.get_title(loc="left"), len(axes.lines)))
checks.refused("a group that is not there", ValueError, "there is no group 4 of tasks, but 4",
               lambda: found.plot_tasks(4))
waiting = batch.vmap(lambda t: deepest(t, 0)).explain(batch.forest(Tree, trees[:1]))
checks.expect("where control waits", waiting.tasks["waits"].count(True) == waiting.waits > 0 and
              "control waits for it" in str([text.get_text() for text in waiting.plot_tasks()
                                             .get_legend().get_texts()]), waiting.tasks)
checks.exit()
