"""batch.map of live iterators: results arrive as lanes end, whatever the iterator does."""

import contextvars
import gc
import itertools
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import raises
from support.word_trees import Leaf, Node, Tree, total

import batch
from batch.transforms import reader

BLOCKED = 60  # seconds for which an iterator blocks, unless it is released
SOON = 20  # seconds; results take milliseconds, but test machines are busy


def countdown(n):
    return lax.while_loop(lambda s: s > 0, lambda s: s - 1, n)


def forever(n):
    return lax.while_loop(lambda s: s[0] >= 0, lambda s: (s[0] * 1, s[1] + 1), (n, 0))


def summed(tree: Tree):
    return total(tree)


class Requests:
    """A live iterator of the values in its queue; it blocks until the next value arrives.

    None ends the iterator, and exceptions are raised.
    """

    def __init__(self, *values):
        self.values, self.count = queue.SimpleQueue(), 0
        for value in values:
            self.values.put(value)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            value = self.values.get(timeout=BLOCKED)
        except queue.Empty:
            raise StopIteration from None
        if value is None:
            raise StopIteration
        if isinstance(value, BaseException):
            raise value
        self.count += 1
        return value


def int32(*values):
    return list(map(numpy.int32, values))


def waits(condition):
    """Waits at most SOON seconds for a condition. Returns whether it became true."""
    end = time.monotonic() + SOON
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compiles countdown() before the tests that measure time."""
    list(batch.map(countdown, iter(int32(1))))


@pytest.fixture(autouse=True)
def readers():
    """A function that returns the reader threads started by a test. None may remain after it."""
    before = threading.enumerate()

    def started():
        return [thread for thread in threading.enumerate()
                if thread.name == "batch.map" and thread not in before]

    yield started
    assert waits(lambda: not started())


# --- results while the iterator blocks --------------------------------------------------

@pytest.mark.parametrize("lanes", [1, 2, 64])
def test_results_arrive_without_another_request(lanes):
    requests = Requests(*int32(5, 4, 3))
    results, begin = batch.map(countdown, requests, lanes), time.monotonic()
    assert [int(next(results)) for _ in range(3)] == [0, 0, 0]
    assert time.monotonic() - begin < SOON
    requests.values.put(numpy.int32(2))
    assert int(next(results)) == 0
    requests.values.put(None)
    assert list(results) == []


def test_results_as_they_end():
    requests = Requests(*int32(2, 1))
    results, begin = batch.map(countdown, requests, 4, ordered=False), time.monotonic()
    assert sorted(int(number) for number, _ in itertools.islice(results, 2)) == [0, 1]
    assert time.monotonic() - begin < SOON
    results.close()
    requests.values.put(None)


def test_late_element_takes_a_free_lane():
    """The loop of the first element never ends. The next element runs in another lane."""
    requests = Requests(numpy.float32(1))
    results = batch.map(forever, requests, 2, ordered=False)
    threading.Timer(1, requests.values.put, [numpy.float32(-1)]).start()
    begin = time.monotonic()
    number, _ = next(results)
    assert number == 1
    assert time.monotonic() - begin < SOON
    results.close()
    requests.values.put(None)


TREES = [Node(Leaf(1), Leaf(2)), Leaf(4), Leaf(5)]


def test_trees():
    requests = Requests(*TREES)
    results, begin = batch.map(summed, requests, 64), time.monotonic()
    assert [int(next(results)) for _ in range(3)] == [3, 4, 5]
    assert time.monotonic() - begin < SOON + 20  # includes the compilation
    requests.values.put(Leaf(7))
    requests.values.put(None)
    assert [int(n) for n in results] == [7]


def test_trees_of_iterator_that_ends():
    assert [int(n) for n in batch.map(summed, iter(TREES * 5), 2)] == [3, 4, 5] * 5


# --- reading ahead ----------------------------------------------------------------------

def test_elements_are_read_as_they_are_needed(readers):
    requests = Requests(*int32(*[1] * 1000))
    results = batch.map(countdown, requests, 3)
    # The map reads nothing, and starts no thread, before the first result.
    assert (requests.count, readers()) == (0, [])
    next(results)
    time.sleep(0.3)  # enough time for the map to read all elements that it may read
    assert 1 <= requests.count <= 1 + 2 * 3
    for _ in range(20):
        next(results)
    assert 21 <= requests.count <= 21 + 16 * 3
    results.close()
    assert waits(lambda: not readers())


VARIABLE = contextvars.ContextVar("VARIABLE", default="another thread's")


def test_iterator_has_the_context_of_the_caller():
    def in_context():
        for _ in range(2):
            yield jnp.asarray(1.5) if VARIABLE.get() == "the caller's" else jnp.asarray(-1.0)

    def run():
        VARIABLE.set("the caller's")
        with jax.enable_x64(True):
            return list(batch.map(lambda x: x * 2, in_context()))

    found = contextvars.copy_context().run(run)
    assert [(float(x), x.dtype.name) for x in found] == [(3.0, "float64")] * 2


# --- errors -----------------------------------------------------------------------------

def failing(error, count=3):
    yield from int32(*range(1, count + 1))
    raise error


@pytest.mark.parametrize("f, elements", [(countdown, lambda error: failing(error)),
                                         (summed, lambda error: itertools.chain(
                                             TREES, failing(error, 0)))],
                         ids=["numbers", "trees"])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt, SystemExit])
def test_error_comes_after_all_results(kind, f, elements):
    error, found = kind("no more requests"), []
    with pytest.raises(kind) as info:
        for value in batch.map(f, elements(error), 2):
            found.append(int(value))
    assert info.value is error
    assert len(found) == 3
    assert "failing" in [entry.name for entry in info.traceback]


def test_element_of_another_type_comes_after_all_results():
    found, elements = [], [*int32(1, 2), numpy.float32(1)]
    with raises(ValueError, "element 2 of xs has type float32[]"):
        for value in batch.map(countdown, elements, 1, ordered=False):
            found.append(value)
    assert len(found) == 2


def test_generator_that_raises_stop_iteration():
    with raises(RuntimeError, "StopIteration"):
        list(batch.map(countdown, failing(StopIteration())))


def test_iterator_that_requests_its_own_results():
    def of_itself():
        yield numpy.int32(1)
        yield next(results)

    results = batch.map(countdown, of_itself(), 1)
    with raises(ValueError, "generator already executing"):
        list(results)


def test_iterator_that_requests_its_own_results_between_two_calls(readers):
    is_idle = threading.Event()

    def later():
        yield from int32(1, 1)
        is_idle.wait(SOON)
        yield next(results)

    results = batch.map(countdown, later(), 2)
    found = [next(results)]
    is_idle.set()
    assert waits(lambda: not readers())
    with raises(ValueError, "generator already executing"):
        found.extend(results)
    assert len(found) == 2


def test_generator_that_maps_itself():
    def running():
        yield from batch.map(countdown, executing)

    executing = running()
    with raises(ValueError, "generator already executing"):
        next(executing)


# --- leaving early ----------------------------------------------------------------------

@pytest.mark.parametrize("is_closed", [True, False], ids=["close", "forget"])
def test_leaving_does_not_wait_for_the_iterator(readers, is_closed):
    requests = Requests(*int32(1))
    results = batch.map(countdown, requests, 2)
    next(results)
    assert waits(lambda: len(readers()) == 1)  # the thread that the iterator blocks
    begin = time.monotonic()
    if is_closed:
        results.close()
    del results
    gc.collect()
    assert time.monotonic() - begin < SOON
    known = weakref.ref(requests)
    requests.values.put(numpy.int32(1))
    del requests
    assert waits(lambda: not readers())  # the thread ends when the iterator returns
    gc.collect()
    assert known() is None


def test_generator_is_closed_with_its_results():
    closed = []

    def closes():
        try:
            yield from itertools.repeat(numpy.int32(1))
        finally:
            closed.append(1)

    results = batch.map(countdown, closes(), 2)
    next(results)
    results.close()
    assert closed == [1]
    assert list(results) == []


def test_results_of_trees_as_they_end():
    results = batch.map(total, iter([Leaf(3), Leaf(4), Leaf(5)]), 2, ordered=False)
    assert next(results) == (0, 3)
    results.close()
    assert list(results) == []


def test_close_while_iter_blocks():
    class Connects:
        def __iter__(self):
            is_connected.wait(BLOCKED)
            return iter(())

    is_connected, begin = threading.Event(), time.monotonic()
    reader.Thread(Connects()).close()
    assert time.monotonic() - begin < SOON
    is_connected.set()


# --- processes --------------------------------------------------------------------------

INTERRUPTED = """
import batch, jax, numpy, queue, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
f = lambda n: jax.lax.while_loop(lambda s: s > 0, lambda s: s - 1, n)
def requests():
    yield numpy.int32(1)
    BLOCKS
    yield numpy.int32(1)
results = batch.map(f, requests(), 4)
next(results)
print("answered", flush=True)
try:
    next(results)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
BLOCKING = {"sleeps": f"time.sleep({BLOCKED})",
            "waits_for_queue": f"queue.SimpleQueue().get(timeout={BLOCKED})",
            "reads_standard_input": "sys.stdin.readline()"}


class Interrupted:
    """A process that is interrupted while its iterator blocks."""

    def __init__(self, blocks):
        program = INTERRUPTED.replace("BLOCKS", blocks)
        process = subprocess.Popen([sys.executable, "-c", program], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.answer = process.stdout.readline()
        time.sleep(0.5)  # by then the iterator blocks
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.line = process.stdout.readline()
        self.seconds = time.monotonic() - begin
        try:
            _, self.errors = process.communicate(timeout=SOON)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.errors = "the process does not end"
        self.status = process.returncode


@pytest.fixture(scope="module")
def interrupted():
    return {name: Interrupted(blocks) for name, blocks in BLOCKING.items()}


@pytest.mark.parametrize("name", BLOCKING)
def test_interrupt_ends_iterator_that(interrupted, name):
    process = interrupted[name]
    assert process.answer == "answered\n", process.errors
    assert (process.line, process.status) == ("interrupted\n", 0), process.errors
    assert process.seconds < SOON


def test_interrupt_takes_less_than_200_ms(interrupted):
    """One fast interrupt of several is enough, because the machine may be busy."""
    assert min(process.seconds for process in interrupted.values()) < 0.2


def test_process_ends_in_silence_while_iterator_blocks():
    program = f"""
import batch, jax, numpy, time
def requests():
    yield numpy.int32(1)
    time.sleep({BLOCKED})
results = batch.map(lambda n: n + 1, requests())
print(int(next(results)))
"""
    begin = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                           timeout=2 * BLOCKED)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "2\n", "")
    assert time.monotonic() - begin < BLOCKED


def test_forked_process_has_no_reader():
    program = """
import batch, itertools, jax, numpy, os, sys
f = lambda n: jax.lax.while_loop(lambda s: s > 0, lambda s: s - 1, n)
r = batch.map(f, (numpy.int32(n) for n in itertools.count()), 4)
next(r)
child = os.fork()
if child == 0:
    try:
        list(r)
    except ValueError as error:
        print("forked" in str(error), "call batch.map in the forked" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(int(next(r)), flush=True)
"""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program],
                           capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout) == (0, "True True\n0\n"), ended.stderr
