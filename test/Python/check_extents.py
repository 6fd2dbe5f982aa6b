#!/usr/bin/env python3
"""check_extents.py: what Python asks of numbers of rows that differ from instance to instance.

Each question is asked of ragged arrays in batch.vmap, of lists in batch.map, and of the rows of
lists of a @batch.function, and gives what JAX gives for each array alone, of 0, 1 and more rows.
"""

import math
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
import numpy  # noqa: E402
from jax import lax  # noqa: E402

checks = batchtest.Checks("questions of numbers of rows")

# --- questions that have an answer ---------------------------------------------------------


@jax.jit
def guarded(x):
    return x.mean() if x.shape[0] > 1 else jnp.float32(-1)


def matched(n):
    match n:
        case 0:
            return 10
        case 2:
            return 12
    return 5


def kept(c, row, x):
    return c + row.sum() * (2 if x.shape[0] == 3 else 1), None


# Decided in Python: code has a path for 0, 1, 2, 3 and more rows.
DECIDED = {
    "n > 0": lambda x, n: 1 if n > 0 else 2,
    "n >= 1": lambda x, n: 1 if n >= 1 else 2,
    "0 < n": lambda x, n: 1 if 0 < n else 2,
    "1 > n": lambda x, n: 1 if 1 > n else 2,
    "n == 0": lambda x, n: 1 if n == 0 else 2,
    "n != 0": lambda x, n: 1 if n != 0 else 2,
    "n == 3": lambda x, n: 1 if n == 3 else 2,
    "3 != n": lambda x, n: 1 if 3 != n else 2,
    "n < 2": lambda x, n: 1 if n < 2 else 2,
    "n <= 1": lambda x, n: 1 if n <= 1 else 2,
    "0 < n < 3": lambda x, n: 1 if 0 < n < 3 else 2,
    "n > 1.5": lambda x, n: 1 if n > 1.5 else 2,
    "n <= 1.5": lambda x, n: 1 if n <= 1.5 else 2,
    "n == 2.0": lambda x, n: 1 if n == 2.0 else 2,
    "n == 0.5": lambda x, n: 1 if n == 0.5 else 2,
    "n < inf": lambda x, n: 1 if n < math.inf else 2,
    "n == None": lambda x, n: 1 if n == None else 2,  # noqa: E711
    "a number of NumPy": lambda x, n: 1 if numpy.int32(1) < n else 2,
    "an array": lambda x, n: jnp.where(n > jnp.asarray(1), 1, 2),
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
    "NumPy's maximum": lambda x, n: numpy.maximum(n, 1) * 1,
    "match": lambda x, n: matched(n),
    "in jit": lambda x, n: guarded(x),
    "in the body of a scan": lambda x, n: lax.scan(
        lambda c, row: kept(c, row, x), jnp.float32(0), x)[0],
    "jnp.where(n > 0)": lambda x, n: jnp.where(n > 0, x.mean(), 0.0),
    "cond": lambda x, n: lax.cond(n == 0, lambda: jnp.float32(0), lambda: x.mean()),
    "sum / max(n, 1)": lambda x, n: x.sum() / max(n, 1),
    "mean if n else 0": lambda x, n: x.mean() if n else 0.0}
# Computed when the code runs, on one path.
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
# Of more paths than there are numbers of rows with an answer of their own.
PRODUCTS = {
    "n * n > 3": lambda x, n: 1 if n * n > 3 else 2,
    "n // 2 == 1": lambda x, n: 1 if n // 2 == 1 else 2,
    "n % 2 == 0": lambda x, n: 1 if n % 2 == 0 else 2}


def answers_to(questions):
    """The answers to questions, as numbers of one type."""
    def answers(x):
        return tuple(jnp.asarray(ask(x, x.shape[0]), jnp.float32).reshape(())
                     for ask in questions.values())
    return answers


@batch.adt
class Rows:
    class rows:
        x: list[batch.tensor((2,), jnp.float32)]


LENGTHS = 3, 0, 1, 5, 2, 4
arrays = [numpy.arange(2 * n, dtype=numpy.float32).reshape(n, 2) + 1 for n in LENGTHS]
ragged = batch.Ragged.of(arrays)
lists = [Rows.rows(list(array)) for array in arrays]
for questions in DECIDED, COMPUTED, PRODUCTS:
    answers = answers_to(questions)
    wanted = numpy.transpose([answers(jnp.asarray(array)) for array in arrays])

    @batch.function
    def of_rows(t: Rows) -> (batch.tensor(),) * len(questions):
        return answers(t.x.array)

    @batch.function
    def of_array(x):
        return answers(x)

    for what, ask in [
            ("batch.vmap", lambda: batch.vmap(answers)(ragged)),
            ("batch.map", lambda: numpy.transpose(batch.map(answers, arrays))),
            ("rows of lists", lambda: batch.vmap(of_rows)(lists)),
            ("a function's argument", lambda: batch.vmap(lambda x: of_array(x))(ragged))]:
        try:
            found = numpy.asarray(ask())
        except Exception as error:
            checks.expect(what, False, repr(error))
            continue
        for question, mine, alone in zip(questions, found, wanted):
            checks.expect("%s: %s" % (what, question),
                          numpy.allclose(mine, alone, rtol=1e-5, equal_nan=True),
                          "%s, wanted %s" % (mine, alone))

# --- one path, several, types ---------------------------------------------------------------


def same(what, f, *arguments):
    """Compares with f for each instance alone."""
    found = batch.vmap(f)(*arguments)
    alone = [f(*[jnp.asarray(argument[i]) for argument in arguments])
             for i in range(len(arguments[0]))]
    checks.expect(what, numpy.allclose(found, numpy.stack(alone)), found)
    return found


other = batch.Ragged.of([numpy.ones(n, numpy.float32) for n in (3, 1, 0, 0, 9, 2)])
same("two lengths", lambda x, y: x.sum() if x.shape[0] >= y.shape[0] else y.sum() + 0.5,
     ragged, other)
same("two lengths, equal", lambda x, y: 1.0 if x.shape[0] == y.shape[0] else 2.0, ragged, other)
checks.equal("paths that compute the same", batch.vmap(
    lambda x: x.sum() + (0.0 if x.shape[0] == 3 else 0.0))(ragged).tolist(),
    [array.sum() for array in arrays])
checks.equal("an integer on one path", batch.vmap(
    lambda x: 0 if x.shape[0] == 0 else x.sum())(ragged).dtype, "float32")
traced = []


def counts(x):
    traced.append(x.shape[0])
    return x.sum() if x.shape[0] >= 0 and x.size >= 0 and x.shape[0] > -3 else 0.0


same("what is always so", counts, ragged)
checks.equal("what is always so: traced once", len([
    n for n in traced if not isinstance(n, int)]), 1)


@batch.adt
class Rose:
    class rose:
        x: numpy.float32
        kids: list["Rose"]


leaf = Rose.rose(2.0, [])
roses = [leaf, Rose.rose(2.0, [leaf, leaf]), Rose.rose(1.0, [Rose.rose(3.0, [leaf])])]


def rose_check(what, function, values):
    try:
        checks.expect(what, numpy.allclose(batch.vmap(function)(roses), values),
                      batch.vmap(function)(roses))
    except Exception as error:
        checks.expect(what, False, repr(error))


@batch.function
def mean(t: Rose) -> batch.tensor():
    means = t.kids.map(mean)
    return t.x + (means.mean() if means.shape[0] > 0 else 0.0)


rose_check("a rose tree", mean, [2, 4, 6])


@batch.function
def count(t: Rose) -> batch.tensor():
    return t.x + t.kids.map(count).shape[0]


rose_check("the number of rows alone", count, [2, 4, 2])


@batch.function
def of_kids(t: Rose) -> batch.tensor():
    rows = t.kids.map(lambda kid: of_kids(kid) + (
        10 if kid.kids.map(of_kids).shape[0] == 0 else 20))
    return rows.sum() if rows.shape[0] > 1 else t.x


rose_check("in the body of a map", of_kids, [2, 24, 1])


@batch.function
def of_outer(t: Rose) -> batch.tensor():
    rows = t.kids.map(of_outer)
    return t.x + t.kids.sum(lambda kid: kid.x if rows.shape[0] > 1 else 2 * kid.x)


rose_check("of a list around", of_outer, [2, 6, 7])

@batch.function
def of_two(t: Rose, x) -> batch.tensor():
    rows = t.kids.map(lambda kid: of_two(kid, x))
    return rows.sum() if rows.shape[0] >= 2 and x.shape[0] > 0 else t.x


checks.equal("of a list and of an array", batch.vmap(of_two)(roses, batch.Ragged.of(
    [arrays[0], arrays[1], arrays[2]])).tolist(), [2, 2, 1])
checks.equal("of a list and of an array, other rows", batch.vmap(of_two)(
    roses, batch.Ragged.of(arrays[:1] * 3)).tolist(), [2, 4, 1])

# --- paths that raise ------------------------------------------------------------------------


def strict(x):
    if x.shape[0] == 0:
        raise ValueError("no rows")
    return x.sum()


full = batch.Ragged.of([array for array in arrays if len(array)])
checks.expect("a path that raises, not taken", numpy.allclose(
    batch.vmap(strict)(full), [array.sum() for array in arrays if len(array)]))
checks.refused("a path that raises, taken", ValueError, "no rows",
               lambda: batch.vmap(strict)(ragged))
checks.refused("a path that raises, in batch.map", ValueError, "no rows",
               lambda: batch.map(strict, arrays))
try:
    batch.vmap(strict)(ragged)
except ValueError as error:
    checks.equal("which instance", error.__notes__[-1], "of instance 1, which has 0 rows")


@batch.function
def strict_rose(t: Rose) -> batch.tensor():
    rows = t.kids.map(strict_rose)
    assert rows.shape[0] > 0
    return rows.sum()


try:
    batch.vmap(strict_rose)(roses)
    checks.expect("a path that raises, of a function", False)
except AssertionError as error:
    checks.expect("a path that raises, of a function",
                  "on the path of strict_rose where not" in error.__notes__[-1],
                  error.__notes__)

# --- what Python cannot have -----------------------------------------------------------------


@batch.function
def copied(t: Rose) -> Rose:
    return Rose.rose(t.x, t.kids.map(copied))


def made(t: Rose) -> batch.tensor():
    rows = copied(t).kids.map(lambda kid: kid.x)
    return rows.sum() if rows.shape[0] > 1 else jnp.float32(0)


def counted(x):
    k = 0
    while k < x.shape[0]:
        k += 1
    return jnp.float32(k)


for what, text, f in [
        ("int(n)", "compute with jnp.asarray(n)", lambda x: int(x.shape[0])),
        ("float(n)", "compute with jnp.asarray(n)", lambda x: float(x.shape[0])),
        ("len(x)", "compute with jnp.asarray(n)", lambda x: len(x)),
        ("abs(n)", "compute with jnp.asarray(n)", lambda x: abs(x.shape[0])),
        ("round(n)", "compute with jnp.asarray(n)", lambda x: round(x.shape[0])),
        ("range(n)", "walk rows by lax.scan", lambda x: sum(range(x.shape[0]))),
        ("math.sqrt(n)", "compute with jnp.asarray(n)", lambda x: math.sqrt(x.shape[0])),
        ("arange(n)", "count them in the carry of lax.scan",
         lambda x: jnp.arange(x.shape[0]).sum()),
        ("linspace to n", "compute with jnp.asarray(n)",
         lambda x: jnp.linspace(0, 1, x.shape[0]).sum()),
        ("n in a set", "look it up in a tuple", lambda x: 1 if x.shape[0] in {0, 1} else 2),
        ("a loop of Python", "in more than 32 ways", counted)]:
    checks.refused(what, batch.LoweringError, text, lambda: batch.vmap(f)(ragged))
    checks.refused(what + ": its place", batch.LoweringError, "check_extents.py:",
                   lambda: batch.vmap(f)(ragged))
checks.refused("a list that was made", batch.LoweringError, "list.length, a number that",
               lambda: batch.vmap(batch.function(made))(roses))
checks.exit()
