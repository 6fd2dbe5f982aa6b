"""explain() names the lines that compute values read by control flow.

It also counts the work of each line. The programs have known numbers of rounds.
"""

import functools
import json
import os

import jax
import jax.numpy as jnp
import numpy
import pytest
from jax import lax
from support.comparison import raises

import batch

TRIPS = [0, 3, 17, 1]  # rounds of each lane
COUNTS = numpy.array(TRIPS, numpy.int32)[:, None]
XS = numpy.ones((4, 8), numpy.float32)
W = numpy.eye(8, dtype=numpy.float32) / 2


def countdown(n, x, w):
    return lax.while_loop(
        lambda state: state[0].sum() > 0,  # decides
        lambda state: (state[0] - 1,
                       jnp.tanh(w @ state[1])),  # body
        (n, x))


FILE = countdown.__code__.co_filename


def line_of(comment):
    """Returns the number of the line in this file that ends with the given comment."""
    with open(FILE) as file:
        return 1 + [line.rstrip().endswith(f"# {comment}") for line in file].index(True)


BODY, DECIDES = line_of("body"), line_of("decides")


def block_at(explanation, line):
    """Among the blocks that compute a line, returns the one with the most tasks."""
    blocks = [b for b in explanation.blocks if (FILE, line) in b["lines"]]
    return max(blocks, key=lambda b: b["tasks"])


@functools.cache
def explain(**options):
    return batch.vmap(countdown, in_axes=(0, 0, None), **options).explain(COUNTS, XS, W)


# --- strategies --------------------------------------------------------------------------

STRATEGIES = pytest.mark.parametrize("strategy", ["lockstep", "mask", "replicate", "lazy"])


@STRATEGIES
def test_body_of_loop(strategy):
    found = explain(strategy=strategy, threads=1)
    assert found.strategy == strategy
    assert found.instances == 4
    body = block_at(found, BODY)
    assert body["batches"] == max(TRIPS)
    assert body["tasks"] == sum(TRIPS)
    # 3 lanes run in the first round, 2 until the third, and 1 until the seventeenth.
    assert body["sizes"] == {3: 1, 2: 2, 1: 14}
    assert body["capacity"] == 4 * max(TRIPS)
    assert body["mean"] == sum(TRIPS) / max(TRIPS)


@pytest.mark.parametrize("strategy", ["lockstep", "mask"])
def test_condition_of_loop(strategy):
    """Each lane computes the condition one more time than the body."""
    condition = block_at(explain(strategy=strategy, threads=1), DECIDES)
    assert condition["batches"] == max(TRIPS) + 1
    assert condition["tasks"] == sum(TRIPS) + 4


@STRATEGIES
def test_batches(strategy):
    found = explain(strategy=strategy, threads=1)
    is_body = found.batches["block"] == block_at(found, BODY)["number"]
    assert found.batches["tasks"][is_body].tolist() == [3, 2, 2] + 14 * [1]
    assert set(found.batches["worker"]) == {0}


@STRATEGIES
def test_control(strategy):
    found = explain(strategy=strategy, threads=1)
    assert {(c["file"], c["line"]) for c in found.control} == {(FILE, DECIDES)}
    text = f"whether the loop at {os.path.basename(FILE)}:{DECIDES - 1} continues"
    assert all(text in c["text"] for c in found.control)


@STRATEGIES
def test_text(strategy):
    text = str(explain(strategy=strategy, threads=1))
    assert "how 'countdown' is compiled" in text
    assert f"{os.path.basename(FILE)}:{DECIDES}: " in text
    assert "lambda state: state[0].sum() > 0" in text
    assert f"strategy '{strategy}'" in text
    assert "17 batches of 1 to 3" in text
    assert "21 in total, 1.2 on average" in text
    assert "with masks" in text
    # The compiler's locations are translated to lines of Python.
    assert "jaxpr" not in text
    assert "<stdin>" not in text


@STRATEGIES
def test_hint_of_small_batches(strategy):
    """The hint names the slowest block. Blocks with fewer than 8 batches have no hint."""
    found = explain(strategy=strategy, threads=1)
    slowest = max(found.blocks, key=lambda block: block["time_us"])
    single = f"{slowest['sizes'].get(1, 0)} of its {slowest['batches']} batches contain only one"
    assert any(single in hint for hint in found.hints) == (slowest["batches"] >= 8)


def test_auto_has_a_reason():
    found = explain()
    assert any(r["subject"] == "ChooseStrategy" and f"strategy '{found.strategy}'" in r["text"]
               for r in found.remarks)


def test_one_lane():
    found = explain(strategy="lockstep", lanes=1, threads=1)
    assert any("one lane" in hint for hint in found.hints)
    assert block_at(found, BODY)["tasks"] == sum(TRIPS)


# --- waits -------------------------------------------------------------------------------

def test_flushes_and_waits():
    found = explain(strategy="lazy", threads=1)
    assert found.flushes == max(TRIPS) + 1
    # Each instance waits before each of its rounds, and before its end.
    assert found.waits == sum(TRIPS) + 4


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
def sum_of_chosen(row: Row, which: Choices, y):
    match row, which:
        case Row.More(x, rest), Choices.More(is_large, others):
            y = lax.cond(is_large, lambda: y + jnp.tanh(x * jnp.ones(64)).sum(), lambda: y)
            return sum_of_chosen(rest, others, y)
        case _:
            return y


def row_of(*values):
    return Row.More(values[0], row_of(*values[1:])) if values else Row.End()


def choose_first(row: Row):
    return sum_of_chosen(row, choices(row), 0.0)


def test_flushes_of_computed_choices():
    """Control flow reads the truth values themselves, not numbers computed from them."""
    rows = [row_of(1.0, 0.1, 2.0), row_of(), row_of(0.2, 3.0)]
    mapped = batch.vmap(choose_first, strategy="lazy")
    sums = [64 * (numpy.tanh(1) + numpy.tanh(2)), 0, 64 * numpy.tanh(3)]
    numpy.testing.assert_allclose(mapped(rows), sums, rtol=1e-5)
    assert mapped.explain(rows).flushes == 2


# --- workers -----------------------------------------------------------------------------

def test_two_workers():
    """Each worker has two lanes and runs its own steps."""
    found = explain(strategy="lockstep", threads=2)
    assert block_at(found, BODY)["tasks"] == sum(TRIPS)
    assert set(found.batches["capacity"]) == {2}


def test_workers_that_share_instances():
    """A step that two workers run together counts once."""
    found = explain(strategy="replicate", threads=2)
    if any(found.batches["capacity"] > 1):
        assert block_at(found, BODY)["tasks"] == sum(TRIPS)


def test_sets_of_instances():
    """Sets have at most 64 instances; the last one is smaller."""
    found = batch.vmap(countdown, in_axes=(0, 0, None), strategy="replicate", threads=2).explain(
        jnp.full((100, 1), 2, jnp.int32), jnp.ones((100, 8)), W)
    body = block_at(found, BODY)
    assert body["tasks"] == 200
    if max(body["sizes"]) > 1:
        assert body["sizes"] == {64: 2, 36: 2}
        assert body["capacity"] == 200
        assert found.utilization == 1


# --- branches ----------------------------------------------------------------------------

def sides(x, w):
    return lax.cond(jnp.tanh(w @ x)[0] > 0,
                    lambda x: jnp.tanh(w @ x),  # positive
                    lambda x: w @ (w @ x), x)  # negative


def test_sides_of_branch():
    """Each side of the branch is a block whose tasks are the lanes that take this side."""
    found = batch.vmap(sides, in_axes=(0, None), strategy="lockstep", threads=1).explain(
        jnp.array([1.0, -1, -2, 3, -4])[:, None] * jnp.ones((5, 8)), W)
    assert block_at(found, line_of("positive"))["tasks"] == 2
    assert block_at(found, line_of("negative"))["tasks"] == 3
    assert any("which branch of the conditional" in c["text"] for c in found.control)


# --- locations ---------------------------------------------------------------------------

def test_moved_function_keeps_its_object(monkeypatch, tmp_path):
    """A module's text does not depend on line numbers, so both functions use one cached object."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = ("import jax.numpy as jnp\n"
              "from jax import lax\n"
              "def f(x):\n"
              "  return lax.while_loop(lambda y: y.sum() < 9,\n"
              "                        lambda y: jnp.exp(y), x)\n")
    objects, lines = [], []
    for name, prefix in ("moved0.py", ""), ("moved1.py", "\n\n"):
        file = tmp_path / name
        file.write_text(prefix + source)
        scope = {}
        exec(compile(prefix + source, str(file), "exec"), scope)
        found = batch.vmap(scope["f"], strategy="lockstep").explain(jnp.zeros((3, 4)))
        objects.append([path.name for path in (tmp_path / "batch").glob("*.so")])
        lines.append((os.path.basename(found.control[0]["file"]), found.control[0]["line"]))
    assert len(objects[0]) == 1
    assert objects[1] == objects[0]
    assert lines == [("moved0.py", 4), ("moved1.py", 6)]


def test_error_of_compiler_has_a_location():
    with raises(batch.CompileError, f"{os.path.basename(FILE)}:{DECIDES}: "):
        explain(strategy="linearize")


def test_refuses_different_sizes():
    with raises(ValueError, "inconsistent sizes"):
        batch.vmap(countdown, in_axes=(0, 0, None)).explain(COUNTS, XS[:2], W)


def test_refuses_jit():
    with raises(TypeError, "call it outside of jax.jit"):
        jax.jit(lambda v: batch.vmap(jnp.sin).explain(v))(XS)


def test_results_after_explain():
    mapped = batch.vmap(countdown, in_axes=(0, 0, None))
    before = mapped(COUNTS, XS, W)
    mapped.explain(COUNTS, XS, W)
    for found, wanted in zip(mapped(COUNTS, XS, W), before, strict=True):
        numpy.testing.assert_array_equal(found, wanted)


# --- models in MLIR ----------------------------------------------------------------------

TREES = """!tree = !rec.adt<@Tree>
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
"""
TANH, ADD = (1 + [operation in line for line in TREES.splitlines()].index(True)
             for operation in ("math.tanh", "arith.addf"))


def leaf():
    return ("leaf", numpy.ones(8, numpy.float32))


def full(depth):
    return ("node", full(depth - 1), full(depth - 1)) if depth else leaf()


def comb(depth):
    return ("node", comb(depth - 1), leaf()) if depth else leaf()


@pytest.fixture(scope="module")
def trees_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("explain") / "trees.mlir"
    file.write_text(TREES)
    return str(file)


@pytest.fixture(scope="module")
def trees(trees_file):
    """A model that batches trees of known shape by depth."""
    return batch.compile(trees_file).bind(threads=1)


@pytest.fixture(scope="module")
def explained_trees(trees):
    return trees.explain([full(3), comb(2)])


def test_blocks_of_trees(explained_trees, trees_file):
    assert explained_trees.strategy == "linearize"
    leaves, = [b for b in explained_trees.blocks if (trees_file, TANH) in b["lines"]]
    nodes, = [b for b in explained_trees.blocks if (trees_file, ADD) in b["lines"]]
    assert nodes["lines"][0][0] == trees_file
    assert leaves["sizes"] == {8 + 3: 1}
    assert nodes["capacity"] is None  # an instance has several tasks in a batch
    batches = explained_trees.batches
    is_node = batches["block"] == nodes["number"]
    assert dict(zip(batches["depth"][is_node].tolist(), batches["tasks"][is_node].tolist())) \
        == {1: 4 + 1, 2: 2 + 1, 3: 1}


def test_text_of_trees(explained_trees):
    text = str(explained_trees)
    assert "20 tasks in 4 batches at 4 depths" in text
    assert "15 tasks" not in text
    assert "trees.mlir" in text
    assert "control flow reads only the inputs" in text


def test_trees_refuse_missing_argument(trees):
    with raises(TypeError, "missing"):
        trees.explain()


def test_repr(explained_trees):
    assert repr(explained_trees) == \
        "Explanation('trees.mlir', strategy='linearize', instances=2, 4 batches)"


def test_json(explained_trees):
    data = json.loads(explained_trees.to_json())
    assert [b["tasks"] for b in data["blocks"]] == [b["tasks"] for b in explained_trees.blocks]
    assert data["batches"]["tasks"] == explained_trees.batches["tasks"].tolist()
    assert data["text"] == str(explained_trees)


# --- plots -------------------------------------------------------------------------------

@pytest.fixture
def pyplot(monkeypatch):
    """Matplotlib without a display."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    from matplotlib import pyplot
    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize("name", ["trees", "lockstep", "lazy", "auto"])
def test_plot(name, pyplot, tmp_path, request):
    explanation = request.getfixturevalue("explained_trees") if name == "trees" else \
        explain() if name == "auto" else explain(strategy=name, threads=1)
    axes = explanation.plot()
    file = tmp_path / "plot.png"
    axes.figure.savefig(file)
    assert file.stat().st_size > 5000
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert explanation.strategy in axes.get_title()
    # Together, the bars contain all tasks.
    area = sum(bar.get_height() * bar.get_width() for bar in axes.patches
               if hasattr(bar, "get_height"))
    assert area == pytest.approx(explanation.batches["tasks"].sum(), abs=1e-6)


def test_plot_of_long_run(pyplot):
    """Each bar shows the mean of several of the 3,000 steps."""
    found = batch.vmap(countdown, in_axes=(0, 0, None), strategy="lockstep", threads=1).explain(
        numpy.array([[3000], [10]], numpy.int32), XS[:2], W)
    axes = found.plot()
    assert len(axes.patches) < 1000
    assert "mean of" in axes.get_ylabel()
    assert ", 2 instances, utilization " in axes.get_title()
    assert found.plot(axes) is axes


def test_plot_without_batches(pyplot):
    found = batch.vmap(countdown, in_axes=(0, 0, None), strategy="lockstep", threads=1).explain(
        COUNTS[:0], XS[:0], W)
    assert [text.get_text() for text in found.plot().texts] == ["no batches"]


def test_tasks_of_lanes_are_not_recorded():
    with raises(ValueError, "strategy 'lockstep' does not record tasks; use 'linearize' or 'lazy'"):
        explain(strategy="lockstep", threads=1).plot_tasks()


def test_tasks_without_instances():
    found = batch.vmap(countdown, in_axes=(0, 0, None), strategy="lazy", threads=1).explain(
        COUNTS[:0], XS[:0], W)
    with raises(ValueError, "the first input has no tasks, or more than 4,000"):
        found.plot_tasks()
