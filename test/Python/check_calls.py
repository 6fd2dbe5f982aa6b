#!/usr/bin/env python3
"""check_calls.py: what batch.vmap remembers of a call serves arguments of the same kinds,
and no others; results are arrays that JAX may keep, and give to others."""

import gc
import json
import os
import sys
import threading
import weakref
from unittest import mock

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402

import batchtest  # noqa: E402
import comparison  # noqa: E402

checks = batchtest.Checks("calls of batch.vmap")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")

import batch  # noqa: E402
from batch import _arrays  # noqa: E402

refused = checks.refused
numbers = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)


def same(what, mapped, f, *arguments, **options):
    """Compares with jax.vmap, three times: calls that are checked, and known ones."""
    for call in "", ", again", ", a third time":
        wanted = jax.vmap(f, **options)(*arguments)
        difference = comparison.difference(mapped(*arguments), wanted)
        checks.expect(what + call, difference is None, difference)


def grow(x, y):
    """A loop, so that there is something to run."""
    return lax.while_loop(lambda s: (s[0] < 100).all(), lambda s: (s[0] * 2 + 1, s[1] + y),
                          (x, y))


# --- kinds of arguments ----------------------------------------------------------------

checks.expect("this version of JAX has the quick way to an array", _arrays.quick_put())

mapped = batch.vmap(grow)
kinds = [("NumPy's float32", numbers, numbers[:, 0] + 1),
         ("JAX's float32", jnp.asarray(numbers) + 1, jnp.asarray(numbers[:, 0])),
         ("int32 of the same shape", numbers.astype(numpy.int32) + 1,
          numpy.arange(3, dtype=numpy.int32)),
         ("int32 of JAX's", jnp.asarray(numbers, jnp.int32) + 1, jnp.arange(3)),
         ("uint32", numbers.astype(numpy.uint32) + 1, numpy.arange(3, dtype=numpy.uint32)),
         ("float16", numbers.astype(numpy.float16) + 1, numpy.ones(3, numpy.float16)),
         ("bfloat16", jnp.asarray(numbers, jnp.bfloat16) + 1, jnp.ones(3, jnp.bfloat16)),
         ("float64, which is narrowed", numbers.astype(float) + 1, numpy.ones(3)),
         ("columns", numbers.T[:3, :], numbers[:, 0] + 1),
         ("backwards", numbers[::-1], numbers[::-1, 0] + 1),
         ("a mix of both", numbers, jnp.ones(3)),
         ("more instances", numpy.tile(numbers, (5, 1)), jnp.ones(15)),
         ("one instance", numbers[:1], jnp.ones(1)),
         ("no instance", numbers[:0], jnp.ones(0)),
         ("other extents", numbers[:, :2] + 1, jnp.ones(3))]
for _ in range(2):  # in turn: each finds what the others have left
    for what, x, y in kinds:
        same(what, mapped, grow, x, y)
checks.expect("float32 goes without Python's code between, bfloat16 does not",
              {bool(call.quick) for call in mapped.calls.values()} == {True, False})
refused("refuse other sizes, after good ones", ValueError, "inconsistent sizes",
        lambda: mapped(numbers, jnp.ones(4)))
refused("refuse the other byte order", TypeError, "",
        lambda: mapped(numbers.astype(">f4"), numpy.ones(3, ">f4")))
refused("refuse another number of arguments", TypeError, "",
        lambda: mapped(numbers))

# Weak types: with a strong one the result is strong.
weak = jax.vmap(lambda _: 2.0)(numbers)
checks.expect("a weak argument", jax.typeof(weak).weak_type)
half = jnp.ones(3, jnp.float16)
add = batch.vmap(lambda a, b: a + b)
for _ in range(2):
    same("a weak type", add, lambda a, b: a + b, half, weak)
    same("the same type, not weak", add, lambda a, b: a + b, half, weak.astype(jnp.float32))
    same("both weak", add, lambda a, b: a + b, weak, weak)

# The switch for 64 bits, also where the arguments stay the same.
is_x64 = jax.config.jax_enable_x64
x = numpy.linspace(1, 2, 3)
wide = batch.vmap(lambda v: jnp.cumsum(v * jnp.array([1 / 3, 1])))
for _ in range(2):
    for width, is_wide in (("float32", False), ("float64", True)):
        jax.config.update("jax_enable_x64", is_wide)
        same("narrow" if not is_wide else "wide", wide,
             lambda v: jnp.cumsum(v * jnp.array([1 / 3, 1])), x)
        checks.expect("its type", wide(x).dtype == width, str(wide(x).dtype))
jax.config.update("jax_enable_x64", is_x64)
for value in True, False:
    with jax.threefry_partitionable(value):
        draw = lambda key: jax.random.uniform(jax.random.wrap_key_data(key), (3,))  # noqa: E731
        raw = numpy.arange(6, dtype=numpy.uint32).reshape(3, 2)
        drawing = batch.vmap(draw) if value else drawing
        same("random bits, partitionable=%s" % value, drawing, draw, raw)
keys = jax.random.split(jax.random.key(3), 5)
same("keys", batch.vmap(jax.random.split), jax.random.split, keys)
same("raw keys, like numbers", batch.vmap(lambda k: k + 1), lambda k: k + 1,
     jax.random.key_data(keys))

# Trees: the same leaves in another structure.
total = lambda t: (jax.tree.reduce(lambda a, b: a * 2 + b, t),  # noqa: E731
                   jax.tree.map(lambda a: a - 1, t))
trees = batch.vmap(total)
a, b, c = (jnp.asarray(numbers[:, i]) + i for i in range(3))
for _ in range(2):
    for what, tree in (("a tuple", (a, b, c)), ("nested", ((a, b), c)), ("a list", [a, b, c]),
                       ("a dictionary", {"z": a, "y": b, "x": c}), ("None inside", (a, None, b))):
        same(what, trees, total, tree)
named = batch.vmap(lambda p, q, r=2.0: p - r * q)
for _ in range(2):
    checks.expect("arguments by name", numpy.array_equal(named(p=a, q=b), a - 2 * b) and
                  numpy.array_equal(named(q=a, p=b), b - 2 * a) and
                  numpy.array_equal(named(a, b), a - 2 * b) and
                  numpy.array_equal(named(a, q=b), a - 2 * b) and
                  numpy.array_equal(named(a, r=b, q=c), a - b * c) and
                  numpy.array_equal(named(a, b, c), a - b * c) and
                  numpy.array_equal(named(c, q=a, r=b), c - a * b))

# Axes.
matrix = jnp.asarray(numbers)
for options in ({"in_axes": 1}, {"in_axes": (-1, 0)}, {"in_axes": (1, None)},
                {"out_axes": 1}, {"out_axes": -1}, {"out_axes": (1, 0)}):
    f = lambda p, q: (p + q.sum(), p * 2)  # noqa: E731
    y = numpy.ones((4 if "in_axes" in options else 3, 2), numpy.float32)
    same("%s" % options, batch.vmap(f, **options), f,
         *((matrix, y[:, 0]) if options.get("in_axes") == (-1, 0) else
           (matrix, y.T) if options.get("in_axes") == 1 else (matrix, y)), **options)
axes = [1, {"k": 0}]
own = batch.vmap(lambda p, t: p + t["k"], in_axes=axes)
before = own(matrix, {"k": jnp.arange(4.0)})
axes[1]["k"] = None
checks.expect("axes are those that vmap was given", numpy.array_equal(
    own(matrix, {"k": jnp.arange(4.0)}), before) and numpy.array_equal(
        own(matrix[:2], {"k": jnp.arange(4.0)}), before[:, :2]))

# --- what a function closes over -------------------------------------------------------

memory = numpy.ones(4, numpy.float32)
shared = batch.bind(memory)
scale = batch.vmap(lambda v: v * jnp.asarray(shared))
scale_given = batch.vmap(lambda v, w: v * w, in_axes=(0, None))
for turn in range(3):
    memory[:] = turn + 2
    shared.update()
    wanted = matrix * (turn + 2)
    checks.expect("a bound array that changes, closed over", numpy.array_equal(
        scale(matrix), wanted) and numpy.array_equal(scale(matrix), wanted))
    checks.expect("as an argument", numpy.array_equal(scale_given(matrix, shared), wanted) and
                  numpy.array_equal(scale_given(matrix, shared), wanted))
    checks.expect("an array that changes", numpy.array_equal(
        scale_given(matrix, memory), wanted))
    checks.expect("another array each time", numpy.array_equal(
        scale_given(matrix, jnp.full(4, turn + 2.0)), wanted))
other = batch.bind(numpy.full(4, 7, numpy.float32))
checks.expect("another bound array of the same type", numpy.array_equal(
    scale_given(matrix, other), matrix * 7))
checks.expect("and the first one again", numpy.array_equal(
    scale_given(matrix, shared), matrix * 4))
refused("refuse a bound array of another shape", (TypeError, ValueError), "",
        lambda: scale_given(matrix, batch.bind(numpy.ones(5, numpy.float32))))

# --- places ----------------------------------------------------------------------------

mesh = jax.make_mesh((2,), ("a",))
double = batch.vmap(lambda v: v * 2)
rows = jnp.arange(8.0).reshape(4, 2)
for _ in range(2):
    same("an array on one device", double, lambda v: v * 2, rows)
    # Axes of the first mesh are part of an array's type, of the second they are not.
    for over in mesh, jax.make_mesh((2,), ("a",), axis_types=(AxisType.Auto,)):
        refused("refuse the same array on two, after that", ValueError, "check_calls.py:",
                lambda: double(jax.device_put(rows, NamedSharding(over, PartitionSpec("a")))))
second = jax.devices()[1]
before = len(double.calls)
elsewhere = double(jax.device_put(rows, second))
checks.expect("an array that is committed to another CPU device",
              numpy.array_equal(elsewhere, rows * 2))
# What is no CPU's is refused in the same way, which a machine without such cannot show.
checks.expect("it is looked at by itself", len(double.calls) == before + 1)
with jax.default_device(second):
    found = double(rows)
    checks.expect("results are on the default device", found.devices() == {second} and
                  not found.committed, "%s" % found.devices())
found = double(rows)
checks.expect("and back", found.devices() == {jax.devices()[0]} and not found.committed)
with jax.set_mesh(mesh):
    found, wanted = double(numpy.asarray(rows)), jnp.asarray(numpy.asarray(rows))
    checks.expect("in a mesh results are where JAX puts arrays",
                  found.sharding == wanted.sharding, "%s" % found.sharding)
    triple = batch.vmap(lambda v: v * 3)
    checks.expect("a first call in a mesh", numpy.array_equal(triple(rows), rows * 3))
checks.expect("and after it", numpy.array_equal(
    jax.vmap(triple)(jax.device_put(rows[None], jax.sharding.NamedSharding(
        mesh, jax.sharding.PartitionSpec())))[0], rows * 3))
with jax.transfer_guard("disallow"):
    found = double(rows)
checks.expect("a call makes no transfer that is not allowed",
              numpy.array_equal(found, rows * 2))
checks.expect("a call after that", numpy.array_equal(double(rows), rows * 2))

# --- inside of JAX ---------------------------------------------------------------------

same("called", double, lambda v: v * 2, rows)
checks.expect("inside jit, after a call", numpy.array_equal(jax.jit(double)(rows), rows * 2))
checks.expect("inside jit, of an array that is known", numpy.array_equal(
    jax.jit(lambda v: double(rows) + v)(1.0), rows * 2 + 1))
checks.expect("inside jax.vmap", numpy.array_equal(
    jax.vmap(double)(jnp.stack([rows, rows + 1])), jnp.stack([rows, rows + 1]) * 2))
outer = batch.vmap(lambda v: double(v) + double(rows).sum())
checks.expect("inside batch.vmap, of arrays that are known, too", numpy.array_equal(
    outer(jnp.stack([rows, rows])), jnp.stack([rows, rows]) * 2 + rows.sum() * 2))
with jax.disable_jit():
    checks.expect("without jit", numpy.array_equal(double(rows), rows * 2))
    count = batch.vmap(lambda v: lax.while_loop(lambda s: s[0] < 50.0,
                                                lambda s: (s[0] * 2 + 1, s[1] + 1), (v, 0))[1])
    checks.expect("a weak type without jit", jax.typeof(count(rows[:, 1])).weak_type)
with jax.debug_nans(True):
    refused("a result that is no number", FloatingPointError, "invalid value (nan)",
            lambda: batch.vmap(jnp.log)(-rows[:, 1]))

# --- results ---------------------------------------------------------------------------

large = numpy.random.default_rng(1).normal(size=(64, 4096)).astype(numpy.float32)
for what, given in (("small", numbers), ("large", large)):
    first = double(given)
    kept = numpy.array(first)
    for turn in range(3):
        double(given + turn)  # of the same session
    checks.expect("%s results stay what they are" % what, numpy.array_equal(first, kept) and
                  numpy.array_equal(kept, given * 2))
    donated = jax.jit(lambda v: v + 1, donate_argnums=0)(double(given))
    checks.expect("%s results may be donated" % what, numpy.array_equal(donated, kept + 1))
    view = numpy.asarray(double(given))
    del first, donated
    gc.collect()
    checks.expect("%s results live as long as their views" % what,
                  numpy.array_equal(view, kept))
big = double(jnp.asarray(large))
checks.expect("large results are so aligned that JAX takes them as they are",
              big.unsafe_buffer_pointer() % 64 == 0)
argument = jnp.asarray(large) + 0
alive = weakref.ref(argument)
double(argument)
del argument
gc.collect()
checks.expect("a call keeps no argument", alive() is None)

# What a call of a known kind raises names lines as the first one does.
down = batch.vmap(lambda x: lax.while_loop(lambda x: x > 0, lambda x: x - 1, x))
down(jnp.ones(3))
(call,) = down.calls.values()


def fail(*_):
    raise batch.Error("it failed in the loop at jaxpr:1")


checks.expect("the first call has prepared a quick one", call.quick)
call.quick = fail
refused("name the line of a failure", batch.Error, "check_calls.py:",
        lambda: down(jnp.ones(3)))

deleted = jnp.ones((4, 2))
deleted.delete()
refused("refuse a deleted array", RuntimeError, "has been deleted", lambda: double(deleted))
same("a call after that", double, lambda v: v * 2, rows)

many = batch.vmap(lambda v: v + 1)
for size in range(1, 400):
    many(numpy.zeros(size, numpy.float32))
checks.expect("not all calls are remembered", len(many.calls) <= 256, str(len(many.calls)))
same("nor does it matter", many, lambda v: v + 1, numpy.zeros(1, numpy.float32))

# Keys that are there, where JAX traces.
keys = jax.random.split(jax.random.key(0), 4)
draws = batch.vmap(lambda key: jax.random.uniform(key))
wanted = jax.vmap(lambda key: jax.random.uniform(key))(keys)
for turn in ("new", "remembered"):
    checks.expect("keys in jit, %s" % turn, bool(jnp.array_equal(
        jax.jit(lambda v: draws(keys) + v)(0.0), wanted)))
checks.expect("keys in scan", bool(jnp.array_equal(jax.lax.scan(
    lambda v, _: (v, draws(keys) + v), 0.0, None, length=2)[1][1], wanted)))

offset = batch.vmap(lambda v: v + jax.random.uniform(jax.random.key(0)))
same("no offset of seeds", offset, offset.function, numbers[:, 0])
jax.config.update("jax_random_seed_offset", 5)
same("an offset of seeds", offset, offset.function, numbers[:, 0])
jax.config.update("jax_random_seed_offset", 0)

# A result that is the same for all does not hold on to what all have.
handed, put = [], _arrays.putter()
with mock.patch.object(_arrays, "putter", return_value=lambda array, is_weak: (
        handed.append(array), put(array, is_weak))[1]):
    batch.vmap(lambda v: (v[0], jnp.arange(1000.0)), out_axes=(0, None))(
        numpy.zeros((50, 1), numpy.float32))
checks.equal("one row of a result has memory of its own",
             [(array.shape, array.base is None) for array in handed[1:]], [((1000,), True)])

# Threads, with arguments of several kinds at the same time.
wrong = []


def call(seed):
    for turn in range(60):
        _, x, y = kinds[(seed + turn) % 6]
        wanted = expected[(seed + turn) % 6]
        if comparison.difference(mapped(x, y), wanted):
            wrong.append((seed, turn))


expected = [jax.vmap(grow)(x, y) for _, x, y in kinds[:6]]
threads = [threading.Thread(target=call, args=(seed,)) for seed in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
checks.expect("threads", not wrong, str(wrong[:3]))

# --- workers ---------------------------------------------------------------------------

# A single instance wakes no other worker, if none would have work.
alone = batch.vmap(grow, threads=2)
for x, y in ((numbers[:1], numbers[:1, 0]), (numbers, numbers[:, 0]),
             (numbers[:1] + 3, numbers[:1, 0])):
    same("two workers, %d instance(s)" % len(x), alone, grow, x + 1, y)
compiled, _ = next(iter(alone.known.values()))
for options, room in ((), 0), (("--level=device",), 64):
    model = batch.compile(compiled.text, options=options)
    found = json.loads(model._model.descriptor)["replicate"]["room"]
    checks.expect("instances that run together, of %s" % (options,), found == room, str(found))

# --- options ---------------------------------------------------------------------------

for name, value, error, text in (
        ("lanes", 2 ** 62, ValueError, "lanes must be at most 2147483647, found 461168"),
        ("lanes", 2 ** 70, ValueError, "lanes must be at most 2147483647"),
        ("lanes", -2 ** 70, ValueError, "0 lanes or more"),
        ("lanes", 1.5, TypeError, "lanes must be a whole number, found 1.5"),
        ("threads", 2 ** 40, ValueError, "threads must be at most"),
        ("threads", "two", TypeError, "threads must be a whole number, found 'two'")):
    refused("refuse %s=%r" % (name, value), error, text,
            lambda: batch.vmap(lambda v: v + 1, **{name: value})(rows))
refused("refuse as many lanes of a map", ValueError, "at most 1073741823 lanes, found 461168",
        lambda: batch.map(lambda v: v + 1, iter(rows), lanes=2 ** 62))

# --- recursion in lock step --------------------------------------------------------------

@batch.function
def countdown(n) -> int:
    return jax.lax.cond(n < 1, lambda: 0, lambda: 1 + countdown(n - 1))


checks.refused("too deep a recursion", batch.Error, "; allow more with stack_depth",
               lambda: batch.vmap(countdown)(jnp.array([3, 100])))
checks.equal("a deeper one by vmap", batch.vmap(countdown, stack_depth=101)(
    jnp.array([3, 100])).tolist(), [3, 100])
checks.equal("a deeper one by map", batch.map(countdown, jnp.array([3, 100]),
                                              stack_depth=101).tolist(), [3, 100])
# --- concatenations ----------------------------------------------------------------------

wide = jnp.arange(80.0).reshape(2, 40)
for width, is_kept in (16, True), (2, False):
    both = batch.vmap(lambda x: jnp.concatenate([x[width:2 * width], x[:width]]))
    checks.equal("concatenated rows of %d" % width, both(wide).tolist(), jnp.concatenate(
        [wide[:, width:2 * width], wide[:, :width]], 1).tolist())
    (compiled, _), = both.known.values()
    checks.equal("rows of %d are copied together" % width,
                 "tensor.concat" in compiled.text, is_kept)

# --- what has to know how many rows there are --------------------------------------------

rows = batch.Ragged.of([numpy.ones(3, numpy.float32), numpy.zeros(2, numpy.float32)])
for name, function in [
        ("concatenate", lambda x: jnp.concatenate([x, x]).sum()), ("sort", jnp.sort),
        ("cumsum", jnp.cumsum), ("scatter", lambda x: x.at[0].set(1.0)),
        ("broadcast_in_dim", lambda x: jnp.outer(x, x).sum())]:
    checks.refused("rows: " + name, NotImplementedError, "): %s of float32[n0]" % name,
                   lambda: batch.vmap(lambda x: function(x).sum())(rows))
checks.equal("rows: argmax", batch.vmap(lambda x: jnp.argmax(x))(rows).tolist(), [0, 0])
checks.exit()
