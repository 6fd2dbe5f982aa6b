"""batch.map returns the results of jax.lax.map, for arrays, lists and iterators.

Lanes that finish an element take the next one. Interrupts and closed results end a map.
"""

import concurrent.futures
import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import assert_same, raises

import batch
from batch import _native

HERE = os.path.basename(__file__)
rng = numpy.random.default_rng(5)


def normal(*shape):
    return rng.normal(size=shape).astype(numpy.float32)


def collatz(n):
    """Returns the number of rounds until n is 1, which differs greatly between numbers."""
    return lax.while_loop(
        lambda s: s[0] > 1,
        lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1),
        (n, jnp.int32(0)))[1]


def rounds(n):
    """Returns the result of collatz(), computed in plain Python."""
    count = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


NUMBERS = numpy.arange(1, 300, dtype=numpy.int32)
ROUNDS = [rounds(n) for n in NUMBERS.tolist()]


def with_tree(element):
    return {"sum": element["a"].sum() * element["b"][0], "none": None,
            "rows": element["a"] * 2}


TREE = {"a": normal(9, 3), "b": (normal(9), None)}
ELEMENTS = [{"a": a, "b": (b, None)} for a, b in zip(TREE["a"], TREE["b"][0])]


# --- arrays and lists --------------------------------------------------------------------

@pytest.mark.parametrize("lanes", [1, 7, 64, 1000])
def test_array(lanes):
    found = batch.map(collatz, NUMBERS, lanes)
    assert isinstance(found, jax.Array)
    assert found.tolist() == ROUNDS


def test_tree_of_arrays():
    assert_same(batch.map(with_tree, TREE, 4), lax.map(with_tree, TREE))


def test_list():
    found = batch.map(with_tree, ELEMENTS)
    assert isinstance(found, list)
    assert len(found) == 9
    for result, element in zip(found, ELEMENTS):
        assert_same(result, with_tree(element))


def test_empty_list():
    assert batch.map(with_tree, []) == []


def test_list_of_python_numbers():
    assert_same(batch.map(lambda v: v * 2, [1, 2, 3]), [jnp.asarray(n) for n in (2, 4, 6)])


def test_array_of_keys():
    keys = jax.random.split(jax.random.key(3), 5)
    assert_same(batch.map(jax.random.normal, keys), jax.vmap(jax.random.normal)(keys))


def test_array_without_elements():
    assert_same(batch.map(lambda v: v * 2, normal(0, 3)), jnp.zeros((0, 3), jnp.float32))


def test_array_under_jit():
    assert_same(jax.jit(lambda v: batch.map(jnp.sin, v))(TREE["a"]), jnp.sin(TREE["a"]))


# --- iterators ---------------------------------------------------------------------------

LANES_AND_THREADS = pytest.mark.parametrize("lanes, threads", [(1, 1), (3, 1), (8, 2), (64, 2)])


@LANES_AND_THREADS
def test_iterator(lanes, threads):
    found = batch.map(collatz, iter(NUMBERS), lanes, threads=threads)
    assert not isinstance(found, list)
    assert [int(n) for n in found] == ROUNDS


@LANES_AND_THREADS
def test_iterator_unordered(lanes, threads):
    found = batch.map(collatz, (int(n) for n in NUMBERS), lanes, threads=threads,
                      ordered=False)
    assert sorted((i, int(n)) for i, n in found) == list(enumerate(ROUNDS))


@pytest.mark.parametrize("form", [numpy.asarray, list], ids=["array", "list"])
def test_unordered(form):
    found = batch.map(collatz, form(NUMBERS[:20]), 4, ordered=False)
    assert sorted((i, int(n)) for i, n in found) == list(enumerate(ROUNDS[:20]))


def test_iterator_gives_the_bits_of_an_array():
    def f(v):
        return lax.while_loop(lambda s: s.sum() < 5, lambda s: s * 1.1 + 0.3, v)

    found = list(batch.map(f, iter(TREE["a"]), 4))
    numpy.testing.assert_array_equal(found, batch.map(f, TREE["a"], 4))


def test_iterator_of_trees():
    found = list(batch.map(with_tree, iter(ELEMENTS), 2))
    assert len(found) == 9
    for result, element in zip(found, ELEMENTS):
        assert_same(result, with_tree(element))


def test_empty_iterator():
    assert list(batch.map(collatz, iter([]))) == []


def test_range():
    assert [int(n) for n in batch.map(collatz, range(1, 20))] == ROUNDS[:19]


def test_iterator_of_bfloat16():
    found = batch.map(lambda v: v * 2, iter(jnp.arange(3, dtype=jnp.bfloat16)))
    assert [float(n) for n in found] == [0, 2, 4]


def test_iterator_of_empty_arrays():
    found = batch.map(lambda x: x.sum() + 1, iter([jnp.zeros((0,))] * 3), lanes=2)
    assert [float(n) for n in found] == [1, 1, 1]


def endless(read):
    """Yields 1, 2, 3 and so on. Appends each number to the list `read` before yielding it."""
    for n in itertools.count(1):
        read.append(n)
        yield numpy.int32(n)


def test_infinite_iterator():
    """A map reads elements as it needs them, so its memory is bounded."""
    read = []
    results = batch.map(collatz, endless(read), 4)
    assert read == []  # no result is needed yet
    assert [int(n) for n in itertools.islice(results, 50)] == ROUNDS[:50]
    assert 50 <= len(read) <= 50 + 2 * 64
    results.close()


def test_first_result_of_infinite_iterator():
    assert int(next(batch.map(collatz, endless([]), 4))) == 0
    gc.collect()


def countdown(n):
    """Counts n down to 0, and returns the number of rounds, which is n."""
    return lax.while_loop(lambda s: s[0] > 0, lambda s: (s[0] - 1, s[1] + 1),
                          (n, jnp.int32(0)))[1]


def slow_head(count):
    """Yields elements: the first one takes `count` rounds, and all others take one."""
    yield numpy.int32(count)
    yield from itertools.repeat(numpy.int32(1))


def test_elements_pass_a_slow_one():
    results = batch.map(countdown, slow_head(30_000_000), 2, ordered=False, threads=1)
    order = [i for i, _ in itertools.islice(results, 500)]
    assert 0 not in order
    assert order == sorted(order)


def test_results_wait_for_a_slow_one():
    results = batch.map(countdown, itertools.islice(slow_head(2_000_000), 40), 2, threads=1)
    assert [int(n) for n in results] == [2_000_000] + 39 * [1]


# --- errors ------------------------------------------------------------------------------

def broken(kind):
    """Yields two numbers, then raises OSError or yields a value that is not an int32 number."""
    yield numpy.int32(5)
    yield numpy.int32(6)
    if kind == "exception":
        raise OSError("no more numbers")
    yield {"shape": numpy.ones(3, numpy.int32), "type": numpy.float32(1), "text": "seven",
           "tree": (numpy.int32(1), 2)}[kind]


BROKEN = {"shape": (ValueError, "element 2 of xs has type int32[3]; expected int32[]"),
          "type": (ValueError, "element 2 of xs has type float32[]; expected int32[]"),
          "tree": (ValueError, "the structure PyTreeDef((*, *)); expected PyTreeDef(*)"),
          "text": (TypeError, "element 2 of xs: ")}


@pytest.mark.parametrize("kind", BROKEN)
def test_refuses_element_of_iterator(kind):
    with raises(*BROKEN[kind]):
        list(batch.map(collatz, broken(kind), 1))


@pytest.mark.parametrize("kind", BROKEN)
def test_refuses_element_of_list(kind):
    with raises(*BROKEN[kind]):
        batch.map(collatz, list(broken(kind)))


def test_exception_in_iterator():
    """The map may yield results of elements that precede the exception."""
    found = []
    with raises(OSError, "no more numbers"):
        for value in batch.map(collatz, broken("exception"), 1):
            found.append(int(value))
    assert found in ([], [5], [5, 8])


def test_refuses_no_lanes():
    with raises(ValueError, "lanes must be a positive integer, got 0"):
        batch.map(collatz, NUMBERS, 0)


def test_refuses_number_as_function():
    with raises(TypeError, "expects a function"):
        batch.map(3, NUMBERS)


def test_refuses_strategy_without_lanes():
    with raises(ValueError, "use 'lockstep' or 'auto'"):
        batch.map(collatz, iter(NUMBERS), strategy="replicate")


def test_refuses_arrays_of_different_extents():
    with raises(ValueError, "arrays with equal first extents, got [(2,), (3,)]"):
        batch.map(lambda v: v[0], (numpy.ones(2), numpy.ones(3)), ordered=False)


def test_error_has_a_location():
    with raises(batch.LoweringError, f"{HERE}:"):
        list(batch.map(lambda v: jnp.fft.fft(v), iter(TREE["a"])))


# --- interrupts --------------------------------------------------------------------------

def forever(v):
    """Loops forever, except for negative numbers."""
    return lax.while_loop(lambda s: s[0] >= 0, lambda s: (s[0] * 1, s[1] + 1), (v, 0))


@pytest.fixture
def keyboard_interrupts():
    """Makes SIGINT raise KeyboardInterrupt, even in background processes of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def seconds_to_stop(run):
    """Interrupts a run after 1.5 s, and returns the seconds that the run takes to stop."""
    ended, times = threading.Event(), []

    def interrupt():
        if not ended.wait(1.5):
            times.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run()
        return time.monotonic() - times[0]
    finally:
        ended.set()
        thread.join()


# Runs stop within half a second. The tests allow two seconds, because the machine may be busy.

@pytest.mark.parametrize("form", [iter, numpy.asarray], ids=["iterator", "array"])
@pytest.mark.usefixtures("keyboard_interrupts")
def test_interrupt_ends_map(form):
    list(batch.map(forever, form(-numpy.ones(2, numpy.float32)), 2))  # compiles it
    xs = form(numpy.ones(9, numpy.float32))
    assert seconds_to_stop(lambda: list(batch.map(forever, xs, 2))) < 2
    assert [int(n) for n in batch.map(collatz, iter(NUMBERS), 8)] == ROUNDS


@pytest.mark.parametrize("count", [1, 16])
@pytest.mark.usefixtures("keyboard_interrupts")
def test_interrupt_ends_loop_of_fixed_length(count):
    looping = batch.vmap(lambda x: lax.fori_loop(0, 2_000_000_000,
                                                 lambda i, y: jnp.tanh(y + x), x))
    looping(jnp.ones(0))  # compiles it
    assert seconds_to_stop(lambda: looping(jnp.ones(count))) < 2


# --- sessions ----------------------------------------------------------------------------

def first_ends():
    """Yields an element for which forever() ends, then elements for which it does not end."""
    yield numpy.float32(-1)
    yield from itertools.repeat(numpy.float32(1))


def test_closed_map_returns_its_session(monkeypatch):
    made, make = [], batch.Function._make
    monkeypatch.setattr(batch.Function, "_make", lambda self: made.append(1) or make(self))
    results = batch.map(forever, iter(-numpy.ones(4, numpy.float32)), 3)
    next(results)
    results.close()
    for _ in range(20):
        results = batch.map(forever, first_ends(), 3)
        next(results)
        results.close()  # while lanes run
        del results
    assert len(made) <= 1


def test_deleted_map_ends():
    begin = time.monotonic()
    results = batch.map(forever, first_ends(), 3)
    next(results)
    del results
    gc.collect()
    assert time.monotonic() - begin < 20


def test_maps_in_several_threads():
    def run(_):
        return [int(n) for n in batch.map(collatz, iter(NUMBERS), 4, threads=1)]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(4))) == [ROUNDS] * 4


def test_forked_process_cannot_continue_map():
    done = subprocess.run([sys.executable, "-c", """
import batch, itertools, jax, numpy, os, sys
f = lambda n: jax.lax.while_loop(lambda s: s > 0, lambda s: s - 1, n)
r = batch.map(f, (numpy.int32(n) for n in itertools.count()), 4)
print(int(next(r)), flush=True)
child = os.fork()
if child == 0:
    try:
        print(len(list(itertools.islice(r, 1000))))
    except ValueError as error:
        print("forked" in str(error))
    del r
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
print(int(next(r)), flush=True)
"""], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "0\nTrue\n0\n"), done.stderr


ROW = """
func.func @main(%x: tensor<4xf32>, %i: index, %P: tensor<7x4xf32> {batch.shared = "P"})
    -> tensor<4xf32> attributes {batch.entry} {
  %row = tensor.extract_slice %P[%i, 0] [1, 4] [1, 1] : tensor<7x4xf32> to tensor<4xf32>
  %sum = arith.addf %row, %x : tensor<4xf32>
  return %sum : tensor<4xf32>
}"""


def test_index_out_of_range_ends_only_its_stream():
    function = batch.compile(ROW, strategy="lockstep").bind(
        {"P": numpy.ones((7, 4), numpy.float32)}, lanes=2)
    session, zeros = function._session(), numpy.zeros((1, 4), numpy.float32)
    stream = _native.Stream(session, capacity=4)
    stream.put(1, [zeros, numpy.array([99])])
    with raises(batch.Error, "99"):
        stream.take()
    stream.close()
    for _ in range(2):
        stream = _native.Stream(session, capacity=4)
        stream.put(1, [zeros, numpy.array([99])])
        time.sleep(0.1)
        stream.close()
    stream = _native.Stream(session, capacity=4)
    stream.put(1, [zeros, numpy.array([2])])
    assert list(stream.take()) == [0]
    stream.close()
