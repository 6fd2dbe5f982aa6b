#!/usr/bin/env python3
"""check_recursive_errors.py: recursive functions that are refused, and what the errors say."""

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
from jax import lax  # noqa: E402
from word_trees import Leaf, Node, Tree, mirror, total, tree  # noqa: E402

checks = batchtest.Checks("errors of recursion")
# JAX's types for int and float.
INT, FLOAT = (jnp.zeros((), kind).dtype.name for kind in (int, float))


trees = [tree, Leaf(4)]


@batch.function
def scaled(tree: Tree, x):
    return total(tree) * x


@batch.adt
class Rose:
    class rose:
        value: int
        below: list["Rose"]


@batch.function
def height(r: Rose) -> int:
    return 1 + r.below.map(height).max(axis=0, initial=0)


rose = Rose.rose(1, [Rose.rose(2, []), Rose.rose(3, [Rose.rose(4, [])])])
roses = [rose, Rose.rose(5, [])]
numbers = jnp.arange(12).reshape(3, 4)


def error(what, kind, text, function, *arguments, run=batch.vmap):
    checks.refused(what, kind, text, lambda: run(batch.function(function))(*arguments))


def endless(tree: Tree):
    return endless(tree.left if isinstance(tree, Node) else tree)


def disagrees(tree: Tree):
    return 1 if isinstance(tree, Leaf) else 1.0


def forgets(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return word


def asks_truth(tree: Tree):
    return 1 if tree else 2


def compares(tree: Tree):
    return 1 if tree == tree else 2


def misspells(tree: Tree):
    return tree.words if isinstance(tree, Leaf) else 1


def asks_result(tree: Tree):
    return 1 if isinstance(mirror(tree), Leaf) else 2


def grows(tree: Tree, x=jnp.ones(1)):
    return x.sum() if isinstance(tree, Leaf) else grows(tree.left, jnp.concatenate([x, x]))


def iterates(r: Rose):
    return sum(height(kid) for kid in r.below)


def gives_rows(r: Rose):
    return r.below.map(height)


def makes_wrong(tree: Tree):
    return Node(tree, 3)


def makes_short(tree: Tree):
    return Node(tree)


@batch.adt
class Checked:
    class Checked:
        x: float

        def __post_init__(self):
            raise ValueError("of objects")


def makes_checked(x):
    return Checked.Checked(x)


def makes_float(tree: Tree):
    return Leaf(0.5)


def twice(tree: Tree):
    return mirror(tree), mirror(tree)


@batch.adt
class Numbers:
    class numbers:
        xs: list[float]


def branch_rows(n: Numbers):
    xs = n.xs
    return lax.cond(xs.length > 1, lambda: xs.map(lambda x: x * 2),
                    lambda: xs.map(lambda x: x - 1)).sum()


error("rows that leave a branch", NotImplementedError, "take the list's array before",
      branch_rows, [Numbers.numbers([1.5, -1.0])])
endless, grows = batch.function(endless), batch.function(grows)
checks.refused("no path says what it gives", TypeError, "annotate it, such as `def endless",
               lambda: batch.vmap(endless)(trees))
checks.refused("types that grow", TypeError, "ever new types of arguments: %s[1]; %s" % (
                   FLOAT, FLOAT),
               lambda: grows(tree, jnp.ones(1)))
error("types that differ", TypeError,
      "disagrees gives %s[] for Leaf, and %s[] for Node" % (INT, FLOAT), disagrees, trees)
error("a variant that is forgotten", TypeError, "and None for Node", forgets, trees)
error("a truth value", TypeError, "tell its variants apart", asks_truth, trees)
error("a comparison", TypeError, "no identity", compares, trees)
error("a field that is not there", AttributeError,
      "Tree.Leaf has no field 'words'; its fields are word", misspells, trees)
error("the variant of a result", TypeError, "pass it to one", asks_result, trees)
error("a list that is iterated", TypeError, "in place of a loop write list.map(f)", iterates, [rose])
for what, text, f in [
        ("len() of a list", "in place of len(list) write list.length", lambda r: len(r.below)),
        ("an element by its position", "in place of list[i] write list.fold(f, init)",
         lambda r: height(r.below[0])),
        ("the truth of a list", "in place of `if list` write list.length > 0",
         lambda r: 1 if not r.below else 2)]:
    f.__annotations__ = {"r": Rose}
    error(what, TypeError, text, f, roses)
    error(what + ": its place", TypeError, "check_recursive_errors.py:", f, roses)
tuples = [("rose", 1, [("rose", 2, [])])]
checks.equal("tuples and an annotation", batch.vmap(height)(tuples).tolist(), [2])
checks.refused("tuples without an annotation", TypeError, "where the function is annotated, `def f(",
               lambda: batch.vmap(lambda r: height(r))(tuples))
checks.refused("tuples without an annotation, in batch.map", TypeError,
               "where the function is annotated, `def f(",
               lambda: batch.map(lambda r: height(r), tuples))
error("a tuple inside of a function", TypeError, "a node is made by its variant",
      lambda x: height(("rose", 1, x)), jnp.ones(1))
checks.equal("a shape and a type", [batch.tensor((3,), jnp.int32), batch.tensor([2, 4]),
                                    batch.tensor((), dtype="bool")],
             [batch.tensor(3, dtype="int32"), batch.tensor(2, 4), batch.tensor(dtype="bool")])
checks.refused("a type among extents", TypeError, "by name, dtype=",
               lambda: batch.tensor(3, jnp.int32))
checks.refused("more than a shape and a type", TypeError, "takes a shape and a dtype",
               lambda: batch.tensor((3,), "int32", 4))


@batch.function
def last(r: Rose) -> int:
    return r.below.map(last)[-1] + r.value


checks.refused("the last row of none", batch.Error, "read one where `x.shape[0] > 0`",
               lambda: batch.vmap(last)(roses))


@batch.function
def last_if_any(r: Rose) -> int:
    rows = r.below.map(last_if_any)
    return (rows[-1] if rows.shape[0] > 0 else 0) + r.value


checks.equal("the last row where there is one", batch.vmap(last_if_any)(roses).tolist(), [8, 5])
error("rows that are given on", NotImplementedError, "reduce over them", gives_rows, [rose])
error("a wrong field", TypeError, "Tree.Node.right is a Tree, found 3", makes_wrong, trees)
error("a missing field", TypeError, "Tree.Node needs its field 'right'", makes_short, trees)
error("what objects are made with", TypeError, "Checked.Checked has a __post_init__",
      makes_checked, jnp.ones(2))
error("a number of another type", TypeError, "Tree.Leaf.word is %s[]" % INT, makes_float, trees)
error("results of one data type", TypeError, "results 0 and 1 both have nodes of Tree", twice,
      trees)


@batch.adt(kind="tree")
class Doubled:
    class end:
        pass

    class step:
        left: "Doubled"
        right: "Doubled"


chain = ("end",)
for _ in range(40):
    chain = "step", chain, chain
error("2^40 paths in a tree", ValueError,
      "nodes; Doubled is declared a tree or a sequence, where an object in several places is "
      "as many nodes: declared a dag it is one",
      lambda d: 1, batch.forest(Doubled, [chain]))


@batch.adt(kind="tree", arity=2)
class Pairs:
    class tip:
        x: int

    class fork:
        kids: list[list["Pairs"]]
        other: Rose


tip = Pairs.tip(1)
wide = Pairs.fork([[tip], [], [tip, tip]], rose)
fits = Pairs.fork([[tip], [], [Pairs.fork([], rose)]], rose)
for form, given in [("objects", Pairs.fork([[], [tip, wide]], rose)),
                    ("tuples", ("fork", [[], [tip, ("fork", [[tip], [], [tip, tip]], rose)]],
                                rose))]:
    error("more children than declared, " + form, ValueError,
          "values[1].kids[1][1]: 'fork' has 3 children of type Pairs, which is declared "
          "with arity 2", lambda p: 1, batch.forest(Pairs, [fits, given]))


@batch.adt(arity=1)
class Row:
    class word:
        before: list["Row"]


checks.refused("more children than declared, arrays", ValueError,
               "node 2, a Row.word, has 2 children of type Row, which is declared with arity 1",
               lambda: batch.Forest.of_arrays(Row, [0, 0, 0], {
                   "word.before": batch.Ragged([0, 1], [0, 0, 0, 2])}, [2]))
checks.refused("under jax.jit", TypeError, "which JAX does not trace",
               lambda: jax.jit(lambda x: scaled(tree, x))(1.0))
checks.refused("data of inner lanes", TypeError, "a batch of data",
               lambda: batch.vmap(batch.vmap(lambda n: Leaf(n)))(numbers))
checks.refused("walks of inner lanes", NotImplementedError, "neither mapped nor", lambda: batch.vmap(
    lambda r, xs: jax.vmap(lambda x: r.below.sum(lambda kid: kid.value * x))(xs))(
        batch.forest(Rose, roses), numbers[:2]))
checks.refused("a gradient", TypeError, "which JAX does not trace",
               lambda: jax.grad(lambda x: scaled(tree, x))(1.0))
checks.refused("a tree in the place of a list", TypeError, "give a list of them",
               lambda: batch.vmap(total)(tree))
checks.refused("a tree without an annotation", TypeError, "def f(tree: Tree)",
               lambda: batch.vmap(lambda t: 1)(tree))
checks.refused("one tree for all", ValueError, "its in_axes is 0",
               lambda: batch.vmap(total, in_axes=None, axis_size=2)(trees))
checks.refused("no variants", TypeError, "has no variant",
               lambda: batch.adt(type("Empty", (), {})))
checks.refused("a name that is not ASCII", TypeError, "of ASCII letters",
               lambda: batch.adt(type("B\u00fcro", (), {"A": type("A", (), {})})))
checks.refused("an unknown kind", ValueError, "'tree', 'sequence' or 'dag'",
               lambda: batch.adt(kind="bush"))
Fork = type("Fork", (), {"__annotations__": {"left": "Two", "right": "Two"}})
Long = type("Long", (), {"__annotations__": {"all": list["Two"]}})
for what, declared, text, variant in [
        ("two children in a sequence", {"kind": "sequence"},
         "Fork has 2 children, but Two is declared a sequence", Fork),
        ("a list in a sequence", {"kind": "sequence"},
         "Long has a list of children, but Two is declared a sequence", Long),
        ("more fields than the arity", {"arity": 1},
         "Fork has 2 children, but Two is declared with arity 1", Fork)]:
    two = batch.adt(type("Two", (), {"F": variant}), **declared)
    checks.refused(what, ValueError, text,
                   lambda: batch.vmap(lambda t: 1)(batch.forest(two, [1])))
checks.refused("a type of no field", TypeError, "A: <class 'dict'> is no type of a field",
               lambda: batch.vmap(lambda t: 1)(batch.forest(batch.adt(type("Odd", (), {
                   "A": type("A", (), {"__annotations__": {"x": dict}})})), [1])))
checks.refused("a type instead of a variant", TypeError, "Tree is one of Tree.Leaf, Tree.Node",
               lambda: Tree(3))
checks.exit()
