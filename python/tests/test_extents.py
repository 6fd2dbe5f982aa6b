"""Tests questions in Python code about the number of rows of an array, such as `n > 0`.

The number differs between instances. Each question is asked about ragged arrays in batch.vmap,
about lists in batch.map, and about the rows of lists of a @batch.function. The answers are
those of JAX for each array, with 0, 1 and more rows.
"""

import functools
import math
import os

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import raises

import batch

HERE = os.path.basename(__file__)

# --- questions with an answer ------------------------------------------------------------


@jax.jit
def guarded_mean(x):
    return x.mean() if x.shape[0] > 1 else jnp.float32(-1)


def matched(n):
    match n:
        case 0:
            return 10
        case 2:
            return 12
    return 5


def add_row(total, row, x):
    return total + row.sum() * (2 if x.shape[0] == 3 else 1), None


# Questions that Python decides. The code has one path each for 0, 1, 2, 3, and more than 3 rows.
DECIDED = {
    "n > 0": lambda x, n: 1 if n > 0 else 2,
    "n >= 1": lambda x, n: 1 if n >= 1 else 2,
    "0 < n": lambda x, n: 1 if 0 < n else 2,  # noqa: SIM300
    "1 > n": lambda x, n: 1 if 1 > n else 2,  # noqa: SIM300
    "n == 0": lambda x, n: 1 if n == 0 else 2,
    "n != 0": lambda x, n: 1 if n != 0 else 2,
    "n == 3": lambda x, n: 1 if n == 3 else 2,
    "3 != n": lambda x, n: 1 if 3 != n else 2,  # noqa: SIM300
    "n < 2": lambda x, n: 1 if n < 2 else 2,
    "n <= 1": lambda x, n: 1 if n <= 1 else 2,
    "0 < n < 3": lambda x, n: 1 if 0 < n < 3 else 2,
    "n > 1.5": lambda x, n: 1 if n > 1.5 else 2,
    "n <= 1.5": lambda x, n: 1 if n <= 1.5 else 2,
    "n == 2.0": lambda x, n: 1 if n == 2.0 else 2,
    "n == 0.5": lambda x, n: 1 if n == 0.5 else 2,
    "n < inf": lambda x, n: 1 if n < math.inf else 2,
    "n == None": lambda x, n: 1 if n == None else 2,  # noqa: E711
    "numpy.int32(1) < n": lambda x, n: 1 if numpy.int32(1) < n else 2,
    "n > array": lambda x, n: jnp.where(n > jnp.asarray(1), 1, 2),
    "n in (0, 3)": lambda x, n: 1 if n in (0, 3) else 2,
    "n not in [1]": lambda x, n: 1 if n not in [1] else 2,
    "shape == (1, 2)": lambda x, n: 1 if x.shape == (1, 2) else 2,
    "bool(n)": lambda x, n: 1 if bool(n) else 2,
    "if n": lambda x, n: 1 if n else 2,
    "not n": lambda x, n: 1 if not n else 2,
    "n or 7": lambda x, n: n or 7,
    "n and 7": lambda x, n: n and 7,
    "if size": lambda x, n: 1 if x.size else 2,
    "size > 2": lambda x, n: 1 if x.size > 2 else 2,
    "size == 2": lambda x, n: 1 if x.size == 2 else 2,
    "n - 1 > 0": lambda x, n: 1 if n - 1 > 0 else 2,
    "2 * n == 4": lambda x, n: 1 if 2 * n == 4 else 2,
    "3 - n > 0": lambda x, n: 1 if 3 - n > 0 else 2,
    "max(n, 1)": lambda x, n: max(n, 1),
    "max(1, n)": lambda x, n: max(1, n),
    "min(n, 2)": lambda x, n: min(n, 2),
    "sorted": lambda x, n: sorted((n, 2))[0],
    "numpy.maximum": lambda x, n: numpy.maximum(n, 1) * 1,
    "match": lambda x, n: matched(n),
    "in jit": lambda x, n: guarded_mean(x),
    "in the body of a scan": lambda x, n: lax.scan(
        lambda total, row: add_row(total, row, x), jnp.float32(0), x)[0],
    "jnp.where(n > 0)": lambda x, n: jnp.where(n > 0, x.mean(), 0.0),
    "cond": lambda x, n: lax.cond(n == 0, lambda: jnp.float32(0), lambda: x.mean()),
    "sum / max(n, 1)": lambda x, n: x.sum() / max(n, 1),
    "mean if n else 0": lambda x, n: x.mean() if n else 0.0}
# Expressions that the compiled code computes at run time, on one path.
COMPUTED = {
    "n // 2": lambda x, n: n // 2,
    "n % 2": lambda x, n: n % 2,
    "divmod": lambda x, n: divmod(n, 2)[0] + divmod(n, 2)[1],
    "(n - 1) // 2": lambda x, n: (n - 1) // 2,
    "n ** 2": lambda x, n: n ** 2 - n,
    "n / 2": lambda x, n: n / 2,
    "-n": lambda x, n: -n,
    "n * 1.5": lambda x, n: n * 1.5,
    "jnp.asarray(n)": lambda x, n: jnp.asarray(n),
    "jnp.maximum(n, 1)": lambda x, n: x.sum() / jnp.maximum(n, 1),
    "jnp.where(n)": lambda x, n: jnp.where(n, x.sum(), -1.0),
    "ones(shape)": lambda x, n: jnp.ones(x.shape).sum(),
    "fori_loop to n": lambda x, n: lax.fori_loop(0, n, lambda i, c: c * 2 + i, 1)}
# Questions about products and remainders. Their code has more paths than distinct row counts.
PRODUCTS = {
    "n * n > 3": lambda x, n: 1 if n * n > 3 else 2,
    "n // 2 == 1": lambda x, n: 1 if n // 2 == 1 else 2,
    "n % 2 == 0": lambda x, n: 1 if n % 2 == 0 else 2}
GROUPS = {"decided": DECIDED, "computed": COMPUTED, "products": PRODUCTS}


def answers_to(questions):
    """Returns a function that maps an array to the answers for it, as numbers of one type."""
    def answers(x):
        return tuple(jnp.asarray(ask(x, x.shape[0]), jnp.float32).reshape(())
                     for ask in questions.values())
    return answers


@batch.adt
class Rows:
    class rows:
        x: list[batch.tensor((2,), jnp.float32)]


LENGTHS = 3, 0, 1, 5, 2, 4
ARRAYS = [numpy.arange(2 * n, dtype=numpy.float32).reshape(n, 2) + 1 for n in LENGTHS]
RAGGED = batch.Ragged.of(ARRAYS)


def in_vmap(questions):
    return batch.vmap(answers_to(questions))(RAGGED)


def in_map(questions):
    return numpy.transpose(batch.map(answers_to(questions), ARRAYS))


def of_list(questions):
    answers = answers_to(questions)

    @batch.function
    def of_rows(t: Rows) -> (batch.tensor(),) * len(questions):
        return answers(t.x.array)

    return batch.vmap(of_rows)([Rows.rows(list(array)) for array in ARRAYS])


def of_argument(questions):
    answers = answers_to(questions)

    @batch.function
    def of_array(x):
        return answers(x)

    return batch.vmap(lambda x: of_array(x))(RAGGED)


@functools.cache
def answers_of(way, group):
    """Returns {question: its answers for all instances} for the questions of a group."""
    found = numpy.asarray(way(GROUPS[group]))
    assert found.shape == (len(GROUPS[group]), len(ARRAYS))
    return dict(zip(GROUPS[group], found))


@pytest.mark.parametrize("group, question", [
    (group, question) for group, questions in GROUPS.items() for question in questions])
@pytest.mark.parametrize("way", [in_vmap, in_map, of_list, of_argument],
                         ids=lambda way: way.__name__)
def test_question(way, group, question):
    answer = answers_to({question: GROUPS[group][question]})
    wanted = [answer(jnp.asarray(array))[0] for array in ARRAYS]
    numpy.testing.assert_allclose(answers_of(way, group)[question], wanted, rtol=1e-5)


# --- paths, types ------------------------------------------------------------------------

OTHER = batch.Ragged.of([numpy.ones(n, numpy.float32) for n in (3, 1, 0, 0, 9, 2)])


def compare(f, *arguments):
    """Compares the results of batch.vmap(f) with those of f for each instance."""
    numpy.testing.assert_allclose(batch.vmap(f)(*arguments), [
        f(*[jnp.asarray(argument[i]) for argument in arguments])
        for i in range(len(arguments[0]))], rtol=1e-5)


def test_order_of_two_lengths():
    compare(lambda x, y: x.sum() if x.shape[0] >= y.shape[0] else y.sum() + 0.5, RAGGED, OTHER)


def test_equality_of_two_lengths():
    compare(lambda x, y: 1.0 if x.shape[0] == y.shape[0] else 2.0, RAGGED, OTHER)


def test_paths_that_compute_the_same():
    found = batch.vmap(lambda x: x.sum() + (0.0 if x.shape[0] == 3 else 0.0))(RAGGED)
    assert found.tolist() == [array.sum() for array in ARRAYS]


def test_integer_on_one_path():
    found = batch.vmap(lambda x: 0 if x.shape[0] == 0 else x.sum())(RAGGED)
    assert found.dtype == "float32"


def test_question_with_one_answer_is_traced_once():
    traced = []

    def f(x):
        traced.append(x.shape[0])
        return x.sum() if x.shape[0] >= 0 and x.size >= 0 and x.shape[0] > -3 else 0.0

    compare(f, RAGGED)
    assert len([n for n in traced if not isinstance(n, int)]) == 1


# --- lists of a data type ----------------------------------------------------------------

@batch.adt
class Rose:
    class rose:
        x: numpy.float32
        kids: list["Rose"]


LEAF = Rose.rose(2.0, [])
ROSES = [LEAF, Rose.rose(2.0, [LEAF, LEAF]), Rose.rose(1.0, [Rose.rose(3.0, [LEAF])])]


@batch.function
def plus_mean(t: Rose) -> batch.tensor():
    means = t.kids.map(plus_mean)
    return t.x + (means.mean() if means.shape[0] > 0 else 0.0)


@batch.function
def plus_count(t: Rose) -> batch.tensor():
    return t.x + t.kids.map(plus_count).shape[0]


@batch.function
def of_kids(t: Rose) -> batch.tensor():
    """Asks a question in the body of a map."""
    rows = t.kids.map(lambda kid: of_kids(kid) + (
        10 if kid.kids.map(of_kids).shape[0] == 0 else 20))
    return rows.sum() if rows.shape[0] > 1 else t.x


@batch.function
def of_outer(t: Rose) -> batch.tensor():
    """Asks, in the body of a sum, about a list outside of the body."""
    rows = t.kids.map(of_outer)
    return t.x + t.kids.sum(lambda kid: kid.x if rows.shape[0] > 1 else 2 * kid.x)


@pytest.mark.filterwarnings("error:core.Jaxpr is missing a DebugInfo:DeprecationWarning")
@pytest.mark.parametrize("f, values", [
    (plus_mean, [2, 4, 6]), (plus_count, [2, 4, 2]), (of_kids, [2, 24, 1]),
    (of_outer, [2, 6, 7])], ids=["mean", "count", "in_body_of_map", "of_outer_list"])
def test_rose_tree(f, values):
    numpy.testing.assert_allclose(batch.vmap(f)(ROSES), values, rtol=1e-5)


@batch.function
def of_two(t: Rose, x) -> batch.tensor():
    rows = t.kids.map(lambda kid: of_two(kid, x))
    return rows.sum() if rows.shape[0] >= 2 and x.shape[0] > 0 else t.x


@pytest.mark.parametrize("arrays, values", [
    (ARRAYS[:3], [2, 2, 1]), (ARRAYS[:1] * 3, [2, 4, 1])], ids=["rows_3_0_1", "rows_3_3_3"])
def test_list_and_array(arrays, values):
    assert batch.vmap(of_two)(ROSES, batch.Ragged.of(arrays)).tolist() == values


# --- paths that raise --------------------------------------------------------------------

def strict_sum(x):
    if x.shape[0] == 0:
        raise ValueError("no rows")
    return x.sum()


def test_path_that_raises_is_not_taken():
    some = [array for array in ARRAYS if len(array)]
    numpy.testing.assert_allclose(batch.vmap(strict_sum)(batch.Ragged.of(some)),
                                  [array.sum() for array in some], rtol=1e-5)


def test_path_that_raises_is_taken():
    with raises(ValueError, "no rows") as caught:
        batch.vmap(strict_sum)(RAGGED)
    assert caught.value.__notes__[-1] == "raised for instance 1, which has 0 rows"


def test_path_that_raises_in_map():
    with raises(ValueError, "no rows"):
        batch.map(strict_sum, ARRAYS)


@batch.function
def strict_rose(t: Rose) -> batch.tensor():
    rows = t.kids.map(strict_rose)
    # pytest would rewrite an assertion into code that asks different questions.
    if not rows.shape[0] > 0:
        raise AssertionError
    return rows.sum()


def test_path_that_raises_in_function():
    with pytest.raises(AssertionError) as caught:
        batch.vmap(strict_rose)(ROSES)
    assert "on the path of strict_rose where not" in caught.value.__notes__[-1]


# --- paths whose results differ ------------------------------------------------------------

@pytest.mark.parametrize("f, error, text", [
    pytest.param(lambda x: x.sum() if x.shape[0] > 1 else (x.sum(), 1), TypeError,
                 "all paths must return the same tree structure", id="structure"),
    pytest.param(lambda x: x.sum() if x.shape[0] > 1 else jnp.zeros(2), TypeError,
                 "all paths must return the same shapes", id="shape"),
    pytest.param(lambda x: x if x.shape[0] > 1 else x * 2, batch.LoweringError,
                 "a result has one row for each row of a ragged argument", id="rows")])
def test_results_of_paths(f, error, text):
    with raises(error, text):
        batch.vmap(f)(RAGGED)


@batch.function
def total_of_rows(rows):
    return rows.sum()


def test_ragged_axis_of_a_function():
    with raises(batch.LoweringError, "float32[2,n0] has a ragged extent on axis 1; only axis 0"):
        batch.vmap(lambda x: total_of_rows(jnp.ones((2, 1), x.dtype) * x))(
            batch.Ragged.of([numpy.ones(n, numpy.float32) for n in (2, 3)]))


# --- questions without an answer ---------------------------------------------------------

def count_rows(x):
    k = 0
    while k < x.shape[0]:
        k += 1
    return jnp.float32(k)


@pytest.mark.parametrize("f, text", [
    pytest.param(f, text, id=name) for name, text, f in (
        ("int(n)", "compute with jnp.asarray(n)", lambda x: int(x.shape[0])),
        ("float(n)", "compute with jnp.asarray(n)", lambda x: float(x.shape[0])),
        ("len(x)", "compute with jnp.asarray(n)", lambda x: len(x)),
        ("abs(n)", "compute with jnp.asarray(n)", lambda x: abs(x.shape[0])),
        ("round(n)", "compute with jnp.asarray(n)", lambda x: round(x.shape[0])),
        ("range(n)", "process rows with lax.scan", lambda x: sum(range(x.shape[0]))),
        ("math.sqrt(n)", "compute with jnp.asarray(n)", lambda x: math.sqrt(x.shape[0])),
        ("arange(n)", "count them in the carry of lax.scan",
         lambda x: jnp.arange(x.shape[0]).sum()),
        ("linspace to n", "compute with jnp.asarray(n)",
         lambda x: jnp.linspace(0, 1, x.shape[0]).sum()),
        ("n in a set", "or use a tuple", lambda x: 1 if x.shape[0] in {0, 1} else 2),
        ("loop in Python", "in more than 32 ways", count_rows))])
def test_refuses(f, text):
    with raises(batch.LoweringError, text) as caught:
        batch.vmap(f)(RAGGED)
    assert f"{HERE}:" in str(caught.value)


@batch.function
def copy_rose(t: Rose) -> Rose:
    return Rose.rose(t.x, t.kids.map(copy_rose))


@batch.function
def of_copy(t: Rose) -> batch.tensor():
    rows = copy_rose(t).kids.map(lambda kid: kid.x)
    return rows.sum() if rows.shape[0] > 1 else jnp.float32(0)


def test_refuses_list_that_a_function_makes():
    with raises(batch.LoweringError, "compare list.length in jnp.where or lax.cond"):
        batch.vmap(of_copy)(ROSES)
