#!/usr/bin/env python3
"""check_explain.py: explain() says which line decides, and counts what ran; numbers are
those of programs that are known."""

import json
import os
import sys
import warnings

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, "Integration"))
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["MPLBACKEND"] = "Agg"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy  # noqa: E402
from jax import lax  # noqa: E402

import batchtest  # noqa: E402

checks = batchtest.Checks("explain()")
path = batchtest.temporary_paths()
os.environ["XDG_CACHE_HOME"] = path("cache")
os.environ["BATCH_COMPILE"] = batchtest.tool("batch-compile")
warnings.filterwarnings("ignore", category=UserWarning)

import batch  # noqa: E402

HERE = os.path.abspath(__file__)
TRIPS = [0, 3, 17, 1]


def line_of(text):
    """The line of this file that has a text."""
    with open(HERE) as file:
        return 1 + [text in line for line in file].index(True)


def countdown(n, x, w):
    return lax.while_loop(
        lambda state: state[0].sum() > 0,  # decides
        lambda state: (state[0] - 1,
                       jnp.tanh(w @ state[1])),  # the body
        (n, x))


counts = jnp.stack([jnp.array(TRIPS, jnp.int32)], axis=1)
xs = jnp.ones((4, 8), jnp.float32)
w = jnp.eye(8, dtype=jnp.float32) / 2
BODY, DECIDES = line_of("# the body"), line_of("# decides")


def block_at(explanation, line):
    """The block with most tasks of those that compute a line."""
    found = [b for b in explanation.blocks if (HERE, line) in b["lines"]]
    return max(found, key=lambda b: b["tasks"])


def explain(**options):
    return batch.vmap(countdown, in_axes=(0, 0, None), **options).explain(counts, xs, w)


# Lanes with 0, 3, 17 and 1 rounds.
for strategy in "lockstep", "mask", "replicate", "lazy":
    found = explain(strategy=strategy, threads=1)
    body = block_at(found, BODY)
    checks.equal("%s: strategy" % strategy, found.strategy, strategy)
    checks.equal("%s: instances" % strategy, found.instances, 4)
    checks.equal("%s: rounds of the body" % strategy, body["batches"], max(TRIPS))
    checks.equal("%s: lane-steps of the body" % strategy, body["tasks"], sum(TRIPS))
    # 3 lanes in the first round, 2 until the third, 1 until the seventeenth.
    checks.equal("%s: sizes" % strategy, body["sizes"], {3: 1, 2: 2, 1: 14})
    checks.equal("%s: with masks" % strategy, body["room"], 4 * max(TRIPS))
    checks.equal("%s: mean" % strategy, body["mean"], sum(TRIPS) / max(TRIPS))
    if strategy in ("lockstep", "mask"):
        test = block_at(found, DECIDES)
        checks.equal("%s: the condition, once more for each" % strategy,
                     (test["batches"], test["tasks"]), (max(TRIPS) + 1, sum(TRIPS) + 4))
    mine = found.batches["block"] == body["number"]
    checks.equal("%s: the body's batches" % strategy, found.batches["tasks"][mine].tolist(),
                 [3, 2, 2] + 14 * [1])
    checks.equal("%s: one worker" % strategy, set(found.batches["worker"]), {0})
    checks.equal("%s: what decides" % strategy,
                 {(c["file"], c["line"]) for c in found.control}, {(HERE, DECIDES)})
    checks.expect("%s: what it decides" % strategy, all(
        "whether the loop at check_explain.py:%d goes on" % (DECIDES - 1) in c["text"]
        for c in found.control), found.control)
    text = str(found)
    for part in ("how 'countdown' is compiled", "check_explain.py:%d: " % DECIDES,
                 "lambda state: state[0].sum() > 0", "strategy '%s'" % strategy,
                 "17 batches of 1 to 3", "21 in all, 1.2 on average", "with masks"):
        checks.expect("%s: the text has %r" % (strategy, part), part in text, text)
    checks.expect("%s: places are the user's" % strategy,
                  "jaxpr" not in text and "<stdin>" not in text, text)
    checks.expect("%s: batches of one are a hint" % strategy,
                  any("14 of the 17 batches" in hint for hint in found.hints) or
                  max(found.blocks, key=lambda b: b["time_us"]) is not body, found.hints)
lazy = explain(strategy="lazy", threads=1)
checks.equal("lazy: flushes", lazy.flushes, max(TRIPS) + 1)


@batch.adt(kind="sequence")
class Row:
    class End:
        pass

    class More:
        x: float
        rest: "Row"


@batch.adt
class Choices:
    class End:
        pass

    class More:
        is_large: bool
        rest: "Choices"


@batch.function
def choices(row: Row):
    match row:
        case Row.End():
            return Choices.End()
        case Row.More(x, rest):
            return Choices.More(jnp.tanh(x) > 0.5, choices(rest))


@batch.function
def chosen(row: Row, which: Choices, y):
    match row, which:
        case Row.More(x, rest), Choices.More(is_large, others):
            y = lax.cond(is_large, lambda: y + jnp.tanh(x * jnp.ones(64)).sum(), lambda: y)
            return chosen(rest, others, y)
        case _:
            return y


def row_of(*values):
    return Row.More(values[0], row_of(*values[1:])) if values else Row.End()


def both(row: Row):
    return chosen(row, choices(row), 0.0)


rows = [row_of(1.0, 0.1, 2.0), row_of(), row_of(0.2, 3.0)]
ahead = batch.vmap(both, strategy="lazy")
sums = [64 * (numpy.tanh(1) + numpy.tanh(2)), 0, 64 * numpy.tanh(3)]
checks.expect("choices that are made before", numpy.allclose(ahead(rows), sums, rtol=1e-5),
              ahead(rows))
# The truth value is there, and no number is computed of it first.
checks.equal("choices that are made before: flushes", ahead.explain(rows).flushes, 2)
# Each instance waits before each of its rounds, and once to learn that it has ended.
checks.equal("lazy: waits", lazy.waits, sum(TRIPS) + 4)

# Two workers have two lanes each, whose steps are their own.
two = explain(strategy="lockstep", threads=2)
body = block_at(two, BODY)
checks.equal("two workers: lane-steps", body["tasks"], sum(TRIPS))
checks.equal("two workers: lanes of each", set(two.batches["room"]), {2})
# Two workers that run instances together count a step once.
together = explain(strategy="replicate", threads=2)
if any(together.batches["room"] > 1):
    checks.equal("together: lane-steps", block_at(together, BODY)["tasks"], sum(TRIPS))
# Sets of up to 64: the last one is smaller.
many = batch.vmap(countdown, in_axes=(0, 0, None), strategy="replicate", threads=2).explain(
    jnp.full((100, 1), 2, jnp.int32), jnp.ones((100, 8)), w)
body = block_at(many, BODY)
checks.equal("sets: lane-steps", body["tasks"], 200)
if max(body["sizes"]) > 1:
    checks.equal("sets: sizes", body["sizes"], {64: 2, 36: 2})
    checks.equal("sets: room", body["room"], 200)
    checks.equal("sets: utilization", many.utilization, 1)

# The strategy that auto takes has a reason.
auto = explain()
checks.expect("auto: why", any(r["subject"] == "ChooseStrategy" and
                               "strategy '%s'" % auto.strategy in r["text"]
                               for r in auto.remarks), auto.remarks)
one = batch.vmap(countdown, in_axes=(0, 0, None), strategy="lockstep", lanes=1,
                 threads=1).explain(counts, xs, w)
checks.expect("one lane is a hint", any("one lane" in hint for hint in one.hints), one.hints)
checks.equal("one lane: lane-steps", block_at(one, BODY)["tasks"], sum(TRIPS))


# Branches: each side is a block, and the lanes that take it are its tasks.
def sides(x, w):
    return lax.cond(jnp.tanh(w @ x)[0] > 0,
                    lambda x: jnp.tanh(w @ x),  # positive
                    lambda x: w @ (w @ x), x)  # negative


branches = batch.vmap(sides, in_axes=(0, None), strategy="lockstep", threads=1).explain(
    jnp.array([1.0, -1, -2, 3, -4])[:, None] * jnp.ones((5, 8)), w)
checks.equal("the side of two", block_at(branches, line_of("# positive"))["tasks"], 2)
checks.equal("the side of three", block_at(branches, line_of("# negative"))["tasks"], 3)
checks.expect("what a condition decides", any("which side of the conditional" in c["text"]
                                              for c in branches.control), branches.control)

# A module's text does not depend on where the lines are: one object serves both.
source = "\n".join(["import jax.numpy as jnp", "from jax import lax", "def f(x):",
                    "  return lax.while_loop(lambda y: y.sum() < 9,",
                    "                        lambda y: jnp.exp(y), x)", ""])
objects, lines = [], []
for number, prefix in enumerate(("", "\n\n")):
    name = path("moved%d.py" % number)
    with open(name, "w") as file:
        file.write(prefix + source)
    scope = {}
    exec(compile(prefix + source, name, "exec"), scope)
    mapped = batch.vmap(scope["f"], strategy="lockstep")
    found = mapped.explain(jnp.zeros((3, 4)))
    objects.append({name for name in os.listdir(path("cache/batch"))
                    if name.endswith(".so")})
    lines.append((os.path.basename(found.control[0]["file"]), found.control[0]["line"]))
checks.equal("the object of a function that has moved", objects[1], objects[0])
checks.equal("lines of it", lines, [("moved0.py", 4), ("moved1.py", 6)])

# Errors name lines, too.
checks.refused("an error of the compiler", batch.CompileError,
               "check_explain.py:%d: " % DECIDES, lambda: explain(strategy="linearize"))
checks.refused("of arguments", ValueError, "inconsistent sizes",
               lambda: batch.vmap(countdown, in_axes=(0, 0, None)).explain(
                   counts, xs[:2], w))
checks.refused("under jit", TypeError, "outside of jax.jit", lambda: jax.jit(
    lambda v: batch.vmap(jnp.sin).explain(v))(xs))

# What is not explained stays as it is.
mapped = batch.vmap(countdown, in_axes=(0, 0, None))
before = mapped(counts, xs, w)
mapped.explain(counts, xs, w)
after = mapped(counts, xs, w)
checks.expect("results after explain()", all(
    bool((a == b).all()) for a, b in zip(before, after)))

# A model in MLIR: trees of known shape, batches by depth.
with open(path("trees.mlir"), "w") as file:
    file.write("""!tree = !rec.adt<@Tree>
!vec = tensor<8xf32>
rec.adt @Tree {
  rec.variant @leaf(x: tensor<8xf32>)
  rec.variant @node(left: !tree, right: !tree)
}
func.func @sum(%t: !tree) -> !vec {
  %h = rec.match %t : !tree -> !vec {
  case @leaf(%x: !vec) {
    %y = math.tanh %x : !vec
    rec.yield %y : !vec
  }
  case @node(%l: !tree, %r: !tree) {
    %hl = func.call @sum(%l) : (!tree) -> !vec
    %hr = func.call @sum(%r) : (!tree) -> !vec
    %s = arith.addf %hl, %hr : !vec
    rec.yield %s : !vec
  } }
  return %h : !vec
}
func.func @main(%t: !tree {batch.name = "t"}) -> (!vec {batch.name = "h"})
    attributes {batch.entry} {
  %h = call @sum(%t) : (!tree) -> !vec
  return %h : !vec
}
""")


def leaf():
    return ("leaf", numpy.ones(8, numpy.float32))


def full(depth):
    return ("node", full(depth - 1), full(depth - 1)) if depth else leaf()


def comb(depth):
    return ("node", comb(depth - 1), leaf()) if depth else leaf()


trees = batch.compile(path("trees.mlir")).bind(threads=1)
found = trees.explain([full(3), comb(2)])
checks.equal("trees: strategy", found.strategy, "linearize")
leaves, = [b for b in found.blocks if any(line == 10 for _, line in b["lines"])]
nodes, = [b for b in found.blocks if any(line == 16 for _, line in b["lines"])]
checks.equal("trees: the file", nodes["lines"][0][0], path("trees.mlir"))
checks.equal("trees: leaves", leaves["sizes"], {8 + 3: 1})
mine = found.batches["block"] == nodes["number"]
checks.equal("trees: nodes by depth", dict(zip(found.batches["depth"][mine].tolist(),
                                               found.batches["tasks"][mine].tolist())),
             {1: 4 + 1, 2: 2 + 1, 3: 1})
checks.equal("trees: no room where an instance has several tasks", nodes["room"], None)
checks.expect("trees: text", "15 tasks" not in str(found) and
              "20 tasks in 4 batches at 4 depths" in str(found), str(found))
checks.expect("trees: reason", "trees.mlir" in str(found) and
              "control reads nothing but the inputs" in str(found), str(found))
checks.refused("trees: other arguments", TypeError, "missing", lambda: trees.explain())

# As data.
data = json.loads(found.to_json())
checks.equal("JSON: blocks", [b["tasks"] for b in data["blocks"]],
             [b["tasks"] for b in found.blocks])
checks.equal("JSON: batches", data["batches"]["tasks"], found.batches["tasks"].tolist())
checks.expect("JSON: text", data["text"] == str(found))

# Pictures.
from matplotlib import pyplot  # noqa: E402

for name, explanation in (("trees", found), ("lanes", explain(strategy="lockstep")),
                          ("lazy", lazy), ("together", auto)):
    axes = explanation.plot()
    file = path(name + ".png")
    axes.figure.savefig(file)
    checks.expect("%s: a picture" % name, os.path.getsize(file) > 5000)
    checks.expect("%s: axes have names" % name, axes.get_xlabel() and axes.get_ylabel() and
                  explanation.strategy in axes.get_title())
    heights = sum(bar.get_height() * bar.get_width() for bar in axes.patches
                  if hasattr(bar, "get_height"))
    checks.expect("%s: bars have all tasks" % name,
                  abs(heights - explanation.batches["tasks"].sum()) < 1e-6, heights)
    pyplot.close(axes.figure)
# Thousands of steps become bars that mean several.
long = batch.vmap(countdown, in_axes=(0, 0, None), strategy="lockstep", threads=1).explain(
    jnp.array([[3000], [10]], jnp.int32), xs[:2], w)
axes = long.plot()
checks.expect("a long run has few bars", len(axes.patches) < 1000, len(axes.patches))
checks.expect("its bars are means", "mean of" in axes.get_ylabel(), axes.get_ylabel())
checks.equal("the axes that are given", long.plot(axes), axes)
checks.exit()
