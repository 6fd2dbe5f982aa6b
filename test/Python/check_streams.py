#!/usr/bin/env python3
"""check_streams.py: checks batch.map of live iterators. Results come as lanes end, whatever
the iterator does."""

import contextvars
import gc
import itertools
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax import lax  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("batch.map of live iterators")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")

import batch  # noqa: E402
from batch import _reader  # noqa: E402
from word_trees import Leaf, Node, Tree, total  # noqa: E402

BLOCKED = 60  # seconds for which an iterator blocks, unless it is released
SOON = 20  # seconds; results take milliseconds, but test machines are busy


def countdown(n):
    return lax.while_loop(lambda s: s > 0, lambda s: s - 1, n)


def forever(n):
    return lax.while_loop(lambda s: s[0] >= 0, lambda s: (s[0] * 1, s[1] + 1), (n, 0))


def summed(tree: Tree):
    return total(tree)


class Requests:
    """A live iterator of the values that are put; it blocks between them."""

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


def readers():
    return [thread for thread in threading.enumerate() if thread.name == "batch.map"]


def int32(*values):
    return list(map(numpy.int32, values))


def waits(condition):
    end = time.monotonic() + SOON
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    return condition()


# --- results while the iterator blocks ---------------------------------------------------

list(batch.map(countdown, iter(int32(1))))  # compiled
for lanes in 1, 2, 64:
    requests = Requests(*int32(5, 4, 3))
    results, begin = batch.map(countdown, requests, lanes), time.monotonic()
    found = [int(next(results)) for _ in range(3)]
    late = time.monotonic() - begin
    checks.expect("three requests are answered without a fourth, %d lanes" % lanes,
                  found == [0, 0, 0] and late < SOON, (found, late))
    requests.values.put(numpy.int32(2))
    checks.equal("and the fourth", int(next(results)), 0)
    requests.values.put(None)
    checks.equal("and the end", list(results), [])

requests = Requests(*int32(2, 1))
results, begin = batch.map(countdown, requests, 4, ordered=False), time.monotonic()
found = sorted(int(number) for number, _ in itertools.islice(results, 2))
checks.expect("as they end", found == [0, 1] and time.monotonic() - begin < SOON, found)
results.close()
requests.values.put(None)

# The first element never ends; a later one runs next to it, on a free lane.
requests = Requests(numpy.float32(1))
results = batch.map(forever, requests, 2, ordered=False)
threading.Timer(1, requests.values.put, [numpy.float32(-1)]).start()
begin = time.monotonic()
number, _ = next(results)
checks.expect("an element that comes while lanes run takes a free one",
              number == 1 and time.monotonic() - begin < SOON)
results.close()
requests.values.put(None)

trees = [Node(Leaf(1), Leaf(2)), Leaf(4), Leaf(5)]
requests = Requests(*trees)
results, begin = batch.map(summed, requests, 64), time.monotonic()
found = [int(next(results)) for _ in range(3)]
checks.expect("trees", found == [3, 4, 5] and time.monotonic() - begin < SOON + 20, found)
requests.values.put(Leaf(7))
requests.values.put(None)
checks.equal("and further ones", [int(n) for n in results], [7])
checks.equal("trees of an iterator that ends", [int(n) for n in batch.map(
    summed, iter(trees * 5), 2)], [3, 4, 5] * 5)

# --- reading ahead -----------------------------------------------------------------------

requests = Requests(*int32(*[1] * 1000))
results = batch.map(countdown, requests, 3)
checks.equal("nothing is read, and no thread runs, before the first result",
             (requests.count, readers()), (0, []))
next(results)
time.sleep(0.3)  # time to read as many as it may
checks.expect("elements are read as they are needed", 1 <= requests.count <= 1 + 2 * 3,
              requests.count)
for _ in range(20):
    next(results)
checks.expect("so are later ones", 21 <= requests.count <= 21 + 16 * 3, requests.count)
results.close()
checks.expect("close() ends the thread", waits(lambda: not readers()), readers())

variable = contextvars.ContextVar("variable", default="another thread's")


def in_context():
    for _ in range(2):
        yield jnp.asarray(1.5) if variable.get() == "the caller's" else jnp.asarray(-1.0)


variable.set("the caller's")
with jax.enable_x64(True):
    found = list(batch.map(lambda x: x * 2, in_context()))
checks.equal("the iterator has the caller's context",
             [(float(x), x.dtype.name) for x in found], [(3.0, "float64")] * 2)

# --- errors ------------------------------------------------------------------------------


def failing(error, count=3):
    yield from int32(*range(1, count + 1))
    raise error


for error in OSError("no more requests"), KeyboardInterrupt(), SystemExit(3):
    for what, f, xs in ("", countdown, failing(error)), (", of trees", summed, itertools.chain(
            trees, failing(error, 0))):
        got = []
        try:
            for value in batch.map(f, xs, 2):
                got.append(int(value))
            checks.expect("%r is raised%s" % (error, what), False, got)
        except BaseException as raised:
            frames = [frame.name for frame in traceback.extract_tb(raised.__traceback__)]
            checks.expect("%r comes after all results%s" % (error, what),
                          raised is error and len(got) == 3 and "failing" in frames,
                          (raised, got, frames))
got = []
try:
    for value in batch.map(countdown, [*int32(1, 2), numpy.float32(1)], 1, ordered=False):
        got.append(value)
except ValueError as raised:
    checks.expect("an element of another type ends the map after the results before it",
                  len(got) == 2 and "element 2 of xs is float32[]" in str(raised), got)
checks.refused("a generator that stops wrongly", RuntimeError, "StopIteration",
               lambda: list(batch.map(countdown, failing(StopIteration()))))
checks.expect("threads of iterators that failed have ended", waits(lambda: not readers()))


def of_itself():
    yield numpy.int32(1)
    yield next(itself)


itself = batch.map(countdown, of_itself(), 1)
checks.refused("an iterator that wants its own results", ValueError,
               "generator already executing", lambda: list(itself))


def later():
    yield from int32(1, 1)
    is_idle.wait(SOON)
    yield next(itself)


is_idle = threading.Event()
itself = batch.map(countdown, later(), 2)
got = [next(itself)]
is_idle.set()
checks.expect("the thread has ended", waits(lambda: not readers()))
checks.refused("so does one that wants them between two calls", ValueError,
               "generator already executing", lambda: got.extend(itself))
checks.equal("after the results before", len(got), 2)


def running():
    """A generator that maps itself."""
    yield from batch.map(countdown, executing)


executing = running()
checks.refused("a generator that runs already", ValueError, "generator already executing",
               lambda: next(executing))

# --- leaving early -----------------------------------------------------------------------

for what in "close", "forget":
    requests = Requests(*int32(1))
    results = batch.map(countdown, requests, 2)
    next(results)
    checks.expect("the iterator blocks", waits(lambda: len(readers()) == 1))
    begin = time.monotonic()
    if what == "close":
        results.close()
    del results
    gc.collect()
    checks.expect("%s does not wait for an iterator that blocks" % what,
                  time.monotonic() - begin < SOON)
    known = weakref.ref(requests)
    requests.values.put(numpy.int32(1))
    del requests
    checks.expect("%s ends the thread when the iterator returns" % what,
                  waits(lambda: not readers()))
    gc.collect()
    checks.expect("%s keeps nothing" % what, known() is None)

closed = []


def closes():
    try:
        yield from itertools.repeat(numpy.int32(1))
    finally:
        closed.append(1)


results = batch.map(countdown, closes(), 2)
next(results)
results.close()
checks.equal("a generator is closed with its results", closed, [1])
checks.equal("a closed map has no more results", list(results), [])
numbered = batch.map(total, iter([Leaf(3), Leaf(4), Leaf(5)]), 2, ordered=False)
checks.equal("trees have numbers as they end", next(numbered), (0, 3))
numbered.close()
checks.equal("their map can be closed", list(numbered), [])


class Connects:
    def __iter__(self):
        is_connected.wait(BLOCKED)
        return iter(())


is_connected, begin = threading.Event(), time.monotonic()
_reader.Thread(Connects()).close()
checks.expect("a map can be closed while iter() blocks", time.monotonic() - begin < SOON)
is_connected.set()

program = """
import batch, itertools, jax, numpy, queue, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
f = lambda n: jax.lax.while_loop(lambda s: s > 0, lambda s: s - 1, n)
def requests():
    yield numpy.int32(1)
    %s
    yield numpy.int32(1)
results = batch.map(f, requests(), 4)
next(results)
print("answered", flush=True)
try:
    next(results)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
delays = []
for what, blocks in ("sleeps", "time.sleep(%d)" % BLOCKED), \
        ("waits for a queue", "queue.SimpleQueue().get(timeout=%d)" % BLOCKED), \
        ("reads standard input", "sys.stdin.readline()"):
    process = subprocess.Popen([sys.executable, "-c", program % blocks], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    checks.equal("an iterator that %s" % what, process.stdout.readline(), "answered\n")
    time.sleep(0.5)  # by then it blocks
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    line, late = process.stdout.readline(), time.monotonic() - begin
    try:
        rest, errors = process.communicate(timeout=SOON)
    except subprocess.TimeoutExpired:
        process.kill()
        rest, errors = "", "it goes on"
    checks.expect("an interrupt ends it", (line, process.returncode) == ("interrupted\n", 0)
                  and late < SOON, (line, process.returncode, late, errors))
    print("an interrupt took %.0f ms" % (1e3 * late))
    delays.append(late)
checks.expect("within 0.2 s, on a machine that has time", min(delays) < 0.2, delays)

program = """
import batch, jax, numpy, time
def requests():
    yield numpy.int32(1)
    time.sleep(%d)
results = batch.map(lambda n: n + 1, requests())
print(int(next(results)))
""" % BLOCKED
begin = time.monotonic()
ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                       timeout=2 * BLOCKED)
checks.expect("a process ends while an iterator blocks, in silence",
              (ended.returncode, ended.stdout, ended.stderr) == (0, "2\n", "") and
              time.monotonic() - begin < BLOCKED, (ended, time.monotonic() - begin))

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
        print("forked" in str(error), "call batch.map in this one" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(int(next(r)), flush=True)
"""
ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True,
                       text=True, timeout=120)
checks.equal("a forked process has no reader", (ended.returncode, ended.stdout),
             (0, "True True\n0\n"))
checks.exit()
