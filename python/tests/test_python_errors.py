"""Error messages about Python code that cannot be traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support.comparison import raises
from support.word_trees import Leaf, Rose, Tree, rose, tree

import batch

TREES = [tree, Leaf(4)]
X = jnp.ones(3)


def line_of(function, number=1):
    """Returns the location of a line of a function as in a message."""
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno + number} (in {code.co_name}): "


# --- recursion without @batch.function ---------------------------------------------------

def fold(tree: Tree):
    match tree:
        case Tree.Leaf(word):
            return jnp.tanh(word)
        case Tree.Node(left, right):
            return jnp.tanh(fold(left) + fold(right))


def even(tree: Tree):
    return tree.word if isinstance(tree, Leaf) else odd(tree.left)


def odd(tree: Tree):
    return -tree.word if isinstance(tree, Leaf) else even(tree.left) + even(tree.right)


def of_list(r: Rose):
    return r.value + r.below.map(of_list).sum()


def of_array(x):
    return jnp.tanh(of_other_array(x))


def of_other_array(x):
    return of_array(x + 1)


def in_branch(x):
    return jax.lax.cond(x > 3, lambda x: x, lambda x: in_branch(x + 1), x)


@batch.function
def calls_fold(tree: Tree):
    return 2 * fold(tree)


@pytest.mark.parametrize("function, values, name, line", [
    (fold, TREES, fold, 5), (even, TREES, even, 1), (of_list, [rose], of_list, 1),
    (of_array, X, of_array, 1), (in_branch, X, in_branch, 1), (calls_fold, TREES, fold, 5)],
    ids=["data", "two_functions", "list", "array", "branch", "helper"])
def test_recursive_python_function(function, values, name, line):
    with raises(batch.LoweringError, f"{line_of(name, line)}{name.__name__} calls itself; declare "
                "it with @batch.function"):
        batch.vmap(function)(values)


def test_bounded_recursion():
    def power(x, n=20):
        return x * power(x, n - 1) if n else x

    assert batch.vmap(power)(X).tolist() == [1, 1, 1]


def leftmost(tree: Tree):
    while isinstance(tree, Tree.Node):
        tree = tree.left
    return tree.word


def test_loop_over_fields():
    with raises(batch.LoweringError, f"{line_of(leftmost, 3)}Python code follows the fields of a "
                "traced Tree through more than 50 levels; use a @batch.function that calls itself"):
        batch.vmap(leftmost)(TREES)


# --- reads of traced arrays --------------------------------------------------------------

@batch.adt
class Expr:
    class Num:
        value: float

    class Op:
        code: int
        left: "Expr"
        right: "Expr"


SUM = Expr.Op(0, Expr.Num(1.0), Expr.Num(2.0))
TEST = "Python cannot test a traced array, as in `if x > 0` or `case 0`; use jax.lax.cond, " \
    "jax.lax.switch or jax.lax.while_loop"
NUMPY = "NumPy cannot read a traced array; use the function of jax.numpy, such as jnp.tanh " \
    "instead of np.tanh"


def literal(e: Expr):
    match e:
        case Expr.Num(value):
            return value
        case Expr.Op(0, left, right):
            return literal(left) + literal(right)


def if_on_field(e: Expr):
    return e.value if isinstance(e, Expr.Num) and e.value > 0 else 0.0


def if_on_array(x):
    return x if x > 0 else -x


def uses_numpy(x):
    return np.tanh(x)


def counts(x):
    return sum(x for _ in range(x.astype(int)))


def converts(x):
    return jnp.ones(3) * float(x)


@pytest.mark.parametrize("function, values, line, text", [
    (batch.function(literal), [SUM], 4, TEST),
    (batch.function(if_on_field), [SUM], 1, TEST),
    (if_on_array, X, 1, TEST),
    (uses_numpy, X, 1, NUMPY),
    (counts, X, 1, "Python cannot use a traced array as an index or in `range`; index a JAX array, "
     "or use jax.lax.fori_loop"),
    (converts, X, 1, "Python cannot read the value of a traced array, as in `float(x)` or "
     "jnp.arange(n); compute with the array itself"),
], ids=["literal", "field", "test", "numpy", "range", "float"])
def test_read_of_a_traced_array(function, values, line, text):
    with raises(batch.LoweringError, line_of(getattr(function, "function", function), line) + text):
        batch.vmap(function)(values)


def test_read_on_the_path_of_some_rows():
    def reads(x):
        return x.sum() if x.shape[0] else float(x.sum())

    ragged = batch.Ragged(jnp.ones(2), [0, 2, 2])
    with raises(batch.LoweringError, f"{line_of(reads)}Python cannot read the value"):
        batch.vmap(reads)(ragged)
