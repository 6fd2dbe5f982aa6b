#!/usr/bin/env python3
"""check_map.py: batch.map gives what jax.lax.map gives, of arrays, lists and iterators,
whose lanes refill; ragged batches, bound arrays, and batch.vmap inside of JAX."""

import gc
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax import lax  # noqa: E402

import batchtest  # noqa: E402
import comparison  # noqa: E402

checks = batchtest.Checks("batch.map")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")
warnings.filterwarnings("ignore", category=UserWarning)

import batch  # noqa: E402
from batch import _model, _runtime  # noqa: E402

generator = numpy.random.default_rng(5)
refused = checks.refused


def normal(*shape):
    return generator.normal(size=shape).astype(numpy.float32)


def close(found, wanted, tolerance=None):
    return comparison.difference(found, wanted, tolerance) is None


def run(program, timeout=120, **environment):
    """Runs a program of Python's in a process of its own."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=timeout, env={**os.environ, **environment})


def collatz(n):
    """Rounds that differ much from number to number."""
    return lax.while_loop(
        lambda s: s[0] > 1,
        lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1),
        (n, jnp.int32(0)))[1]


def rounds(n):
    """The same of a number of Python's."""
    count = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


# --- arrays and lists --------------------------------------------------------------------

numbers = numpy.arange(1, 300, dtype=numpy.int32)
wanted = [rounds(int(n)) for n in numbers]
for lanes in 1, 7, 64, 1000:
    found = batch.map(collatz, numbers, lanes)
    checks.expect("an array, %d lanes" % lanes, isinstance(found, jax.Array) and
                  found.tolist() == wanted)


def with_tree(element):
    return {"sum": element["a"].sum() * element["b"][0], "none": None,
            "rows": element["a"] * 2}


tree = {"a": normal(9, 3), "b": (normal(9), None)}
checks.expect("a tree", close(batch.map(with_tree, tree, 4), lax.map(with_tree, tree)))
elements = [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(9)]
found = batch.map(with_tree, elements)
checks.expect("a list", isinstance(found, list) and len(found) == 9 and all(
    close(a, with_tree(b)) for a, b in zip(found, elements)))
checks.equal("an empty list", batch.map(with_tree, []), [])
checks.expect("numbers of Python's", close(batch.map(lambda v: v * 2, [1, 2, 3]),
                                           [jnp.asarray(n) for n in (2, 4, 6)]))
keys = jax.random.split(jax.random.key(3), 5)
checks.expect("keys", close(batch.map(jax.random.normal, keys),
                            jax.vmap(jax.random.normal)(keys)))
checks.expect("an array of no element", close(batch.map(lambda v: v * 2, normal(0, 3)),
                                              jnp.zeros((0, 3), jnp.float32)))
checks.expect("under jit", close(jax.jit(lambda v: batch.map(jnp.sin, v))(tree["a"]),
                                 jnp.sin(tree["a"])))

# --- iterators ---------------------------------------------------------------------------

for lanes, threads in (1, 1), (3, 1), (8, 2), (64, 2):
    found = batch.map(collatz, iter(numbers), lanes, threads=threads)
    checks.expect("an iterator, %d lanes on %d threads" % (lanes, threads),
                  not isinstance(found, list) and [int(n) for n in found] == wanted)
    found = list(batch.map(collatz, (int(n) for n in numbers), lanes, threads=threads,
                           ordered=False))
    checks.equal("as they end, %d lanes on %d threads" % (lanes, threads),
                 sorted((i, int(n)) for i, n in found), list(enumerate(wanted)))
checks.expect("bits are those of arrays", all(
    numpy.array_equal(a, b) for a, b in zip(
        batch.map(lambda v: lax.while_loop(lambda s: s.sum() < 5, lambda s: s * 1.1 + 0.3, v),
                  iter(tree["a"]), 4),
        batch.map(lambda v: lax.while_loop(lambda s: s.sum() < 5, lambda s: s * 1.1 + 0.3, v),
                  tree["a"], 4))))
checks.expect("trees", all(close(a, with_tree(b)) for a, b in zip(
    batch.map(with_tree, iter(elements), 2), elements)))
checks.expect("an array, as its elements end", sorted(
    (i, int(n)) for i, n in batch.map(collatz, numbers[:20], 4, ordered=False)) ==
    list(enumerate(wanted[:20])))
checks.expect("a list, as its elements end", sorted(
    (i, int(n)) for i, n in batch.map(collatz, list(numbers[:20]), 4, ordered=False)) ==
    list(enumerate(wanted[:20])))
checks.equal("an empty iterator", list(batch.map(collatz, iter([]))), [])
checks.expect("a range", [int(n) for n in batch.map(collatz, range(1, 20))] == wanted[:19])
checks.expect("bfloat16", [float(n) for n in batch.map(
    lambda v: v * 2, iter(jnp.arange(3, dtype=jnp.bfloat16)))] == [0, 2, 4])

read = []


def endless():
    for n in itertools.count(1):
        read.append(n)
        yield numpy.int32(n)


results = batch.map(collatz, endless(), 4)
checks.equal("nothing is read before it is asked for", read, [])
checks.equal("an iterator without an end", [int(n) for n in itertools.islice(results, 50)],
             wanted[:50])
checks.expect("memory is bounded: elements are read as they are needed",
              50 <= len(read) <= 50 + 2 * 64)
results.close()
checks.expect("a result at once", int(next(batch.map(collatz, endless(), 4))) == 0)
gc.collect()


def slow_head():
    """The first element takes much longer than all the others."""
    yield numpy.int32(30_000_000)
    yield from itertools.repeat(numpy.int32(1))


def countdown(n):
    return lax.while_loop(lambda s: s > 0, lambda s: s - 1, n)


order = [i for i, _ in itertools.islice(
    batch.map(countdown, slow_head(), 2, ordered=False, threads=1), 500)]
checks.expect("others take the lanes beside a slow one", 0 not in order and
              sorted(order) == order)
refilled = batch.map(countdown, itertools.islice(slow_head(), 40), 2, threads=1)
checks.equal("a slow first one is the first", len([int(n) for n in refilled]), 40)

# --- what does not work ------------------------------------------------------------------


def broken(kind):
    yield numpy.int32(5)
    yield numpy.int32(6)
    if kind == "raise":
        raise OSError("no more numbers")
    yield {"shape": numpy.ones(3, numpy.int32), "type": numpy.float32(1), "text": "seven",
           "tree": (numpy.int32(1), 2)}[kind]


for what, kind, error, text in [
        ("an exception in the iterator", "raise", OSError, "no more numbers"),
        ("another shape", "shape", ValueError, "element 2 of xs is int32[3]"),
        ("another type", "type", ValueError, "element 2 of xs is float32[]"),
        ("another tree", "tree", ValueError, "element 2 of xs is the tree"),
        ("text", "text", TypeError, "element 2 of xs: ")]:
    refused(what, error, text, lambda: list(batch.map(collatz, broken(kind), 1)))
    if kind != "raise":
        refused(what + " in a list", error, text,
                lambda: batch.map(collatz, list(broken(kind))))
got = []
try:
    for value in batch.map(collatz, broken("raise"), 1):
        got.append(int(value))
except OSError:
    pass
checks.expect("results before an exception", got in ([], [5], [5, 8]))
refused("refuse 0 lanes", ValueError, "at least one lane",
        lambda: batch.map(collatz, numbers, 0))
refused("refuse what is no function", TypeError, "expects a function",
        lambda: batch.map(3, numbers))
refused("refuse a strategy without lanes", ValueError, "lock step",
        lambda: batch.map(collatz, iter(numbers), strategy="replicate"))
refused("an error says where", batch.LoweringError, "check_map.py:",
        lambda: list(batch.map(lambda v: jnp.fft.fft(v), iter(tree["a"]))))


def forever(v):
    return lax.while_loop(lambda s: s[0] >= 0, lambda s: (s[0] * 1, s[1] + 1), (v, 0))


# Processes in the background of a shell ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupt_later():
    time.sleep(1.5)  # by then it runs
    times.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)


for what, xs in ("an iterator", lambda: iter(numpy.ones(9, numpy.float32))), \
        ("an array", lambda: numpy.ones(9, numpy.float32)):
    times = []
    batch.map(forever, -numpy.ones(2, numpy.float32), 2)  # compiled
    list(batch.map(forever, iter(-numpy.ones(2, numpy.float32)), 2))
    thread = threading.Thread(target=interrupt_later)
    thread.start()
    try:
        list(batch.map(forever, xs(), 2))
        checks.expect("an interrupt ends the map of %s" % what, False)
    except KeyboardInterrupt:
        late = time.monotonic() - times[0]
        # Half a second, on a machine that does other things, too.
        checks.expect("an interrupt ends the map of %s" % what, late < 2, late)
    thread.join()
checks.expect("a map after that", [int(n) for n in batch.map(collatz, iter(numbers), 8)] ==
              wanted)
times = []


def long_loop(x):
    return lax.fori_loop(0, 2_000_000_000, lambda i, y: jnp.tanh(y + x), x)


looping = batch.vmap(long_loop)
for count in 1, 16:  # by itself, and side by side
    thread = threading.Thread(target=interrupt_later)
    thread.start()
    try:
        looping(jnp.ones(count))
        checks.expect("an interrupt ends a loop of known length", False)
    except KeyboardInterrupt:
        checks.expect("an interrupt ends a loop of known length, %d" % count,
                      time.monotonic() - times[-1] < 2)
    thread.join()

made = []
real_make = _model.Function._make
_model.Function._make = lambda self: made.append(1) or real_make(self)
results = batch.map(forever, iter(-numpy.ones(4, numpy.float32)), 3)
next(results)
results.close()
for _ in range(20):
    stopped = batch.map(forever, itertools.chain(
        [numpy.float32(-1)], itertools.repeat(numpy.float32(1))), 3)
    next(stopped)
    stopped.close()  # while lanes run
    del stopped
checks.expect("a map that is closed gives its session back", len(made) <= 1, made)
_model.Function._make = real_make
begin = time.monotonic()
forgotten = batch.map(forever, itertools.chain(
    [numpy.float32(-1)], itertools.repeat(numpy.float32(1))), 3)
next(forgotten)
del forgotten
gc.collect()
checks.expect("a map that is forgotten ends", time.monotonic() - begin < 20)

together = [None] * 4


def one_of_many(number):
    together[number] = [int(n) for n in batch.map(collatz, iter(numbers), 4, threads=1)]


threads = [threading.Thread(target=one_of_many, args=(i,)) for i in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
checks.equal("maps of several threads", together, [wanted] * 4)

ended = run("""
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
""")
checks.equal("a map whose process is forked", (ended.returncode, ended.stdout),
             (0, "0\nTrue\n0\n"))

# --- ragged batches ------------------------------------------------------------------------

LENGTHS = 3, 0, 1, 5, 2


def ragged(*shape, lengths=LENGTHS):
    return batch.Ragged.of([normal(n, *shape) for n in lengths])


def compare(what, f, *arguments, skip=()):
    """Compares with f, instance by instance; twice, as other lengths compile nothing."""
    mapped = batch.vmap(f)
    for again in False, True:
        if again:
            arguments = [batch.Ragged.of([a[i] for i in (4, 3, 0, 2)])
                         if isinstance(a, batch.Ragged) else a[jnp.array([4, 3, 0, 2])]
                         for a in arguments]
        try:
            found = mapped(*arguments)
        except Exception as error:
            checks.expect(what, False, repr(error))
            return
        size = len(arguments[0])
        with numpy.errstate(all="ignore"):
            checks.expect("ragged: %s%s" % (what, ", other lengths" if again else ""), all(
                close(jax.tree.map(lambda leaf: leaf[i], found),
                      jax.tree.map(jnp.asarray, f(*[jnp.asarray(a[i])
                                                    for a in arguments])), 1e-4)
                for i in range(size) if again or i not in skip), found)
    checks.equal("ragged: %s, compiled once" % what, len(mapped.known), 1)


def attention(q, K, V):
    return jax.nn.softmax(K @ q) @ V


q, K, V, x = normal(5, 8), ragged(8), ragged(8), ragged()
compare("attention", attention, q, K, V)
compare("the derivative of attention", jax.grad(lambda q, K, V: attention(q, K, V).sum()),
        q, K, V)
compare("scan", lambda v: lax.scan(lambda c, a: (jnp.tanh(c + a), None), jnp.zeros(8), v)[0],
        K)
compare("scan backwards", lambda v: lax.scan(
    lambda c, a: (jnp.tanh(2 * c + a), None), jnp.zeros(8), v, reverse=True)[0], K)
compare("fori_loop", lambda v: lax.fori_loop(
    0, v.shape[0], lambda i, c: jnp.tanh(c + v[i]), jnp.zeros(8)), K,
    skip=(1,))  # which JAX itself refuses: of no row there is none to take
compare("sum and mean", lambda v: (v.sum(0), v.mean(0), v.var()), K)
compare("a maximum", lambda v: v.max(initial=-9.0), x)
compare("its length", lambda v: v.shape[0] * 1.5, x)
compare("argmax", lambda v: (v.argmax(0), v.argmin(0)), K, skip=(1,))
compare("argmax of rows", lambda v: (v.argmax(1).sum(), v.argmin(1).sum()), K)
ties = batch.Ragged.of([jnp.array(a, jnp.float32) for a in (
    [1, 5, 5], [7], [3, numpy.nan, 9, numpy.nan], [-jnp.inf, -jnp.inf], [])])
checks.equal("argmax: the first of equal ones and NaNs, 0 of none", [
    [int(i) for i in batch.vmap(f)(ties)] for f in (jnp.argmax, jnp.argmin)],
    [[1, 0, 1, 0, 0], [0, 0, 1, 0, 0]])
compare("products", lambda a, b: jnp.einsum("nd,ne->de", a, jnp.tanh(b)), K, V)
compare("layers", lambda v: jnp.tanh((v - v.mean(1, keepdims=True)) @ jnp.ones((8, 3))).sum(0),
        K)
compare("logsumexp", jax.nn.logsumexp, x)
compare("where", lambda v: jnp.where(v > 0, v, 0).sum(), x)
compare("a loop around", lambda v: lax.while_loop(
    lambda s: s.sum() < 10, lambda s: s + (v ** 2).sum(0) + 1, jnp.zeros(8)), K)
compare("the last row", lambda v: v[-1], ragged(8, lengths=(3, 1, 4, 5, 2)))
compare("two lengths", lambda a, b: a.sum(0) * b.sum(), K, ragged(lengths=(1, 2, 3, 0, 7)))
found = batch.map(lambda v: v.sum(0), [normal(n, 8) for n in LENGTHS])
checks.expect("a list of arrays of different lengths", isinstance(found, list) and
              [a.shape for a in found] == [(8,)] * 5)
checks.expect("a ragged batch in batch.map", close(batch.map(lambda v: v.sum(0), K),
                                                   jnp.stack([K[i].sum(0) for i in range(5)])))
for what, error, text, call in [
        ("a result with a row for each", batch.LoweringError, "check_map.py:",
         lambda: batch.vmap(lambda v: jnp.tanh(v))(K)),
        ("results of a scan", batch.LoweringError, "check_map.py:", lambda: batch.vmap(
            lambda v: lax.scan(lambda c, a: (c, a * 2), 0.0, v)[1].sum())(x)),
        ("another extent", batch.LoweringError, "go over the rows, by lax.scan",
         lambda: batch.vmap(lambda v: jnp.concatenate([v, v]).sum())(x)),
        ("another axis", ValueError, "axis 0", lambda: batch.vmap(jnp.sum, in_axes=1)(K)),
        ("other lengths together", Exception, "", lambda: batch.vmap(
            lambda a, b: a @ b)(x, ragged(lengths=(1, 2, 3, 0, 7)))),
        ("under jit", TypeError, "", lambda: jax.jit(batch.vmap(jnp.sum))(K)),
        ("rows of other shapes", ValueError, "array 1",
         lambda: batch.Ragged.of([normal(2, 3), normal(2, 4)]))]:
    refused("ragged: refuse %s" % what, error, text, call)

# --- bound arrays --------------------------------------------------------------------------

W = normal(4, 4)
x = normal(3, 4)
bound = batch.bind(W)
packed = []
real_bind = batch.Model.bind
batch.Model.bind = lambda *a, **k: packed.append(1) or real_bind(*a, **k)
mapped = batch.vmap(lambda v, w: v @ w, in_axes=(0, None))
closing = batch.vmap(lambda v: lax.fori_loop(0, 2, lambda _, s: s @ jnp.asarray(bound), v))
before = numpy.array(W)
for _ in range(3):
    checks.expect("a bound array", close(mapped(x, bound), jnp.asarray(x @ before)))
    checks.expect("a bound array in a closure", close(closing(x), jnp.asarray(
        x @ before @ before), 1e-4))
checks.equal("it is packed once by each function", len(packed), 2)
W += 1
checks.expect("it stays what it is", close(mapped(x, bound), jnp.asarray(x @ before)))
bound.update()
checks.expect("until it is updated", close(mapped(x, bound), jnp.asarray(x @ W)))
bound.update(W * 2)
checks.expect("by another array", close(mapped(x, bound), jnp.asarray(x @ W * 2)))
checks.expect("in a closure, too", close(closing(x), jnp.asarray(x @ W @ W * 4), 1e-4))
checks.equal("and packed again then", len(packed), 5)
batch.Model.bind = real_bind
checks.expect("outside of Batch it is an array", close(jnp.asarray(bound),
                                                       jnp.asarray(W * 2)))
refused("refuse another shape", ValueError, "keeps its shape",
        lambda: bound.update(normal(3)))
refused("refuse to map it", ValueError, "in_axes is None",
        lambda: batch.vmap(jnp.sin)(bound))
refused("refuse what is no array", TypeError, "", lambda: batch.bind("text"))

# --- weak types, x64, transformations around it ---------------------------------------------

for what, f, *arguments in [
        ("a constant of Python's", lambda v: 2.0, x), ("several", lambda v: (v, 1, 1.5, True),
                                                       x),
        ("an argument", lambda v: v * 2, x), ("integers", lambda v: v + 1, numbers)]:
    checks.expect("weak types: %s" % what, close(batch.vmap(f)(*arguments),
                                                 jax.vmap(f)(*arguments)))
    checks.expect("weak types under jit: %s" % what, close(jax.jit(batch.vmap(f))(*arguments),
                                                           jax.vmap(f)(*arguments)))
checks.expect("weak types: a number that all have", close(
    batch.vmap(lambda v, s: (s, v * s), in_axes=(0, None))(x, 3.0),
    jax.vmap(lambda v, s: (s, v * s), in_axes=(0, None))(x, 3.0)))
with jax.enable_x64(True):
    wide = numpy.asarray(x, numpy.float64)
    for what, f, argument in [("floats", lambda v: jnp.cumsum(v * 2.0), wide),
                              ("narrow ones", lambda v: v * 2.0, x),
                              ("integers", lambda v: v * 3, numpy.arange(5)),
                              ("constants", lambda v: (1, 2.0), x)]:
        checks.expect("x64: %s" % what, close(batch.vmap(f)(argument), jax.vmap(f)(argument)))
    checks.expect("x64: a loop", close(
        batch.vmap(lambda v: lax.fori_loop(0, 3, lambda i, s: s + i, v))(wide),
        jax.vmap(lambda v: lax.fori_loop(0, 3, lambda i, s: s + i, v))(wide)))
    checks.expect("x64: ragged", close(batch.vmap(lambda v: v.sum() / v.shape[0])(
        batch.Ragged(numpy.array([1.0, 2.0, 4.0]), [0, 1, 3])), jnp.asarray([1.0, 3.0])))
checks.expect("without x64 again", close(batch.vmap(lambda v: v * 2.0)(wide),
                                         jax.vmap(lambda v: v * 2.0)(wide)))


def halve(v):
    return lax.while_loop(lambda s: s.sum() > 1, lambda s: s / 2, v)


compiled = jax.jit(batch.vmap(halve))
both = jnp.stack([x, x + 1])
for when in "first", "then":
    checks.expect("jit of batch.vmap, %s outside" % when, close(compiled(x),
                                                                jax.vmap(halve)(x)))
    checks.expect("jit of batch.vmap, %s inside of another" % when, close(
        batch.vmap(lambda v: compiled(v))(both), jax.vmap(jax.vmap(halve))(both)))
fresh = jax.jit(batch.vmap(halve))
checks.expect("jit of batch.vmap, inside of another at first", close(
    batch.vmap(lambda v: fresh(v))(both), jax.vmap(jax.vmap(halve))(both)))
checks.expect("it calls Batch outside then", "batch_vmap" in str(jax.make_jaxpr(fresh)(x)))
checks.expect("jax.vmap around it", close(jax.vmap(batch.vmap(halve))(both),
                                          jax.vmap(jax.vmap(halve))(both)))
for axes in ((0, None), (0, 0)), ((None, 0), (0, None)), ((1, 0), (1, None)), ((2, None), (0, 0)):
    outer, inner = axes[0], axes[1]
    cube, square = normal(3, 3, 3), normal(3, 3, 3)

    def scaled(a, b):
        return a * 2 + b.sum()

    checks.expect("jax.vmap along %r around batch.vmap along %r" % (outer, inner), close(
        jax.vmap(batch.vmap(scaled, in_axes=inner), in_axes=outer)(cube, square),
        jax.vmap(jax.vmap(scaled, in_axes=inner), in_axes=outer)(cube, square)))
checks.expect("a derivative inside of another batch.vmap", close(
    batch.vmap(jax.grad(lambda v: batch.vmap(jnp.sin)(v).sum()))(x), jnp.cos(x)))
half = jnp.asarray(x, jnp.bfloat16)
checks.expect("bfloat16 under jit", close(
    jax.jit(batch.vmap(lambda v, w: v * 2 + w, in_axes=(1, None), out_axes=1))(half, half[:, 0]),
    jax.vmap(lambda v, w: v * 2 + w, in_axes=(1, None), out_axes=1)(half, half[:, 0]), 1e-2))
checks.expect("keys under jit", numpy.array_equal(
    jax.random.key_data(jax.jit(batch.vmap(jax.random.split))(keys)),
    jax.random.key_data(jax.vmap(jax.random.split)(keys))))

ended = run("""
import batch, jax, jax.numpy as jnp, numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec
mesh = Mesh(numpy.array(jax.devices()), ("i",))
x = jax.device_put(jnp.ones((4, 2)), NamedSharding(mesh, PartitionSpec("i")))
def call():
    return batch.vmap(jnp.sin)(x)
try:
    call()
except ValueError as error:
    print(error)
try:
    list(batch.map(jnp.sin, iter([x])))
except ValueError as error:
    print(error)
print(batch.vmap(jnp.cos)(jax.device_put(x, jax.devices()[1])).shape)
""", XLA_FLAGS="--xla_force_host_platform_device_count=2")
lines = ended.stdout.splitlines()
checks.expect("arrays on several devices are an error that says where",
              len(lines) == 3 and lines[0].startswith("<string>:7 (in call): ") and
              "jax.device_put" in lines[0] and "one device" in lines[1] and
              lines[2] == "(4, 2)", ended)

# An array that is not computed yet, and whose code calls back.
ended = run("""
import batch, jax, jax.numpy as jnp
g = batch.vmap(lambda w, x: x + w, in_axes=(None, 0))
called = jax.jit(lambda w, x: g(w, x)[0])
slow = jax.jit(lambda a: jax.lax.fori_loop(0, 12, lambda i, a: jnp.tanh(a @ a), a)[0, :4])
a, xs = jnp.full((900, 900), 1e-3), jnp.arange(4.0)
called(xs, xs), slow(a).block_until_ready()
for i in range(3):
    w = called(slow(a + i), xs)
    g(w, xs)
print("ended")
""")
checks.equal("a parameter that waits for a call back", ended.stdout, "ended\n")


def drawn(x):
    return jax.random.uniform(jax.random.key(3), (5,)) + x


draw, both = batch.vmap(drawn), (True, False, True)
for partitionable in both:
    with jax.threefry_partitionable(partitionable):
        checks.expect("what a trace depends on, %s" % partitionable,
                      close(draw(jnp.zeros(2)), jax.vmap(drawn)(jnp.zeros(2))))
refused("a ragged batch under jit", TypeError, "outside of jax.jit", lambda: jax.jit(
    lambda x: batch.vmap(lambda rows, x: rows.sum() + x)(
        batch.Ragged.of([numpy.ones(2), numpy.ones(3)]), x))(jnp.ones(2)))
nothing = [jnp.zeros((0,))] * 3
checks.equal("elements without elements", [float(r) for r in batch.map(
    lambda x: x.sum() + 1, iter(nothing), lanes=2)], [1, 1, 1])

# An index out of range ends a stream, and not those after it.
rows = batch.compile("""
func.func @main(%x: tensor<4xf32>, %i: index, %P: tensor<7x4xf32> {batch.shared = "P"})
    -> tensor<4xf32> attributes {batch.entry} {
  %row = tensor.extract_slice %P[%i, 0] [1, 4] [1, 1] : tensor<7x4xf32> to tensor<4xf32>
  %sum = arith.addf %row, %x : tensor<4xf32>
  return %sum : tensor<4xf32>
}""", strategy="lockstep").bind({"P": numpy.ones((7, 4), numpy.float32)}, lanes=2)
session, zeros = rows._session(), numpy.zeros((1, 4), numpy.float32)
stream = _runtime.Stream(session, seats=4)
stream.put(1, [zeros, numpy.array([99])])
refused("an index out of range in a stream", batch.Error, "99", stream.take)
stream.close()
for _ in range(2):
    stream = _runtime.Stream(session, seats=4)
    stream.put(1, [zeros, numpy.array([99])])
    time.sleep(0.1)
    stream.close()
stream = _runtime.Stream(session, seats=4)
stream.put(1, [zeros, numpy.array([2])])
checks.equal("a stream after that", list(stream.take()), [0])
stream.close()
checks.exit()
