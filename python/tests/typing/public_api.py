# pyright: strict
"""Types of the public API, as Pyright's strict mode infers them.

    pyright python/tests/typing/public_api.py

Nothing runs this module. Each function covers a part of the API. assert_type() fails if a public
name has another type, and strict mode reports a name whose type is not fully known.
"""

import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Literal, assert_type

import jax
import numpy
from jax.core import ShapedArray
from numpy.typing import NDArray

import batch
from batch.core.types import Data, List, PyTree, Tensor
from batch.explain.explanation import Block, Control, Remark, Tasks
from batch.runtime.binding import Bound
from batch.sampling.results import Samples
from batch.torch.from_torch import Cell
from batch.tracing.values import ListValue, Value
from batch.transforms.function import Function
from batch.transforms.vmap import Mapped

# --- models ------------------------------------------------------------------------------


def models(path: Path, b: jax.Array) -> None:
    assert_type(batch.compiler(), str)
    assert_type(batch.clear_cache(), None)
    assert_type(batch.__version__, str)
    batch.compile("model.mlir")
    batch.compile(b"module {\n}")
    model = batch.compile(path, sizes={"H": 512}, strategy="lockstep", instances=64,
                          device="cuda:1", options=["--level=block"], progress=False)
    assert_type(model, batch.Model)
    assert_type(model.device, str)
    assert_type([field.name for field in model.parameters], list[str])
    assert_type([field.shape for field in model.arguments], list[list[int]])
    assert_type([field.data_type for field in model.outputs], list[str | None])
    remarks, text = model.decisions()
    assert_type(remarks, list[dict[str, Any]])
    assert_type(text, str)

    model.bind()
    model.bind(path)
    model.bind({"W": numpy.ones(3), "b": b, "c": [1.0, 2.0]})
    f = model.bind("weights.safetensors", threads=2, lanes=8, max_steps=100, stack_depth=32,
                   partial_results=True, bits=False)
    assert_type(f, batch.Function)
    assert_type(f.model, batch.Model)
    assert_type(f([[3, 1], [4, 1, 5]], limit=numpy.ones(2)), dict[str, Any])
    assert_type(f.failures, dict[int, str])
    assert_type(f.explain([[3, 1], [4, 1, 5]]), batch.Explanation)
    assert_type(f.run(2, [numpy.ones(2)]), list[Any])
    assert_type(f.traced(2, [numpy.ones(2)]), dict[str, Any])

    assert_type(model.save("model.batch"), None)
    assert_type(f.save(path), None)
    assert_type(batch.load(path), batch.Model | batch.Function)

    cancellation = batch.Cancellation()
    assert_type(cancellation.request(), None)
    assert_type(cancellation.reset(), None)
    try:
        f(numpy.ones(2), cancellation=cancellation)
    except batch.Cancelled as error:
        assert_type(error, batch.Cancelled)
    except (batch.Error, batch.CompileError, batch.LoweringError) as error:
        print(error)


def errors(error: type[Exception]) -> None:
    """All errors of the package are exceptions, and a LoweringError is a NotImplementedError."""
    for error in (batch.Cancelled, batch.CompileError, batch.Error, batch.LoweringError):
        print(error)
    lowering: type[NotImplementedError] = batch.LoweringError
    print(lowering)


def ragged(arrays: list[NDArray[Any]]) -> None:
    rows = batch.Ragged.of(arrays)
    assert_type(rows, batch.Ragged)
    assert_type(batch.Ragged([1, 2, 4], [0, 2, 3]), batch.Ragged)
    assert_type(rows.values, Any)
    assert_type(rows.offsets, NDArray[numpy.int64])
    assert_type(len(rows), int)
    assert_type(rows[-1], Any)
    assert_type(iter(rows), Iterator[Any])


# --- data types --------------------------------------------------------------------------

@batch.adt
class Tree:
    class Leaf:
        word: int

    class Node:
        left: "Tree"
        right: "Tree"


@batch.adt(kind="dag", arity=2)
class Circuit:
    class Gate:
        parents: list["Circuit"]


class Parsed:
    """Object of another library. batch.view() declares it as a node."""

    children: list["Parsed"]


@batch.view(Tree, Parsed)
def parsed(node: Parsed) -> Tree:
    return Tree.Node(node.children[0], node.children[1])


def data_types() -> None:
    assert_type(batch.tensor(256), Tensor)
    assert_type(batch.tensor((2, 3), numpy.int32), Tensor)
    assert_type(batch.tensor(2, 3, dtype="bfloat16"), Tensor)
    assert_type(batch.tensor(4).shape, tuple[int, ...])
    assert_type(batch.tensor(4).name, str)
    assert_type(batch.view(Tree, Parsed, Tree.Leaf), type[Parsed])
    assert_type(parsed, Callable[[Parsed], Any])


def forests(trees: list[Tree], words: jax.Array) -> None:
    forest = batch.forest(Tree, trees, share="equal")
    assert_type(forest, batch.Forest)
    assert_type(batch.forest(list[Tree], iter([trees])), batch.Forest)
    assert_type(batch.forest(Tree, forest), batch.Forest)
    assert_type(batch.Forest.of_arrays(
        Tree, [0, 0, 1], {"Leaf.word": words, "Node.left": [0], "Node.right": [1],
                          "Node.rest": batch.Ragged([0], [0, 1])}, numpy.array([2])),
        batch.Forest)
    assert_type(forest.order, batch.Ragged)
    assert_type(forest.kind, Data | List)
    assert_type(forest.where, str)
    assert_type(forest.share, Literal["identity", "equal"])
    assert_type(forest.aval, ShapedArray)
    assert_type(len(forest), int)


def nodes(made: batch.Nodes) -> None:
    assert_type(made.h, batch.Ragged)
    assert_type(made["Tree.h"], batch.Ragged)
    assert_type(dir(made), list[str])
    assert_type(len(made), int)


# --- functions ---------------------------------------------------------------------------

def root(x: jax.Array) -> jax.Array:
    return x**0.5


def both(x: jax.Array, scale: float = 1.0) -> tuple[jax.Array, jax.Array]:
    return x, x * scale


@batch.function
def total(tree: Tree, scale: jax.Array) -> jax.Array:
    if isinstance(tree, Tree.Leaf):
        return tree.word * scale
    return total(tree.left, scale) + total(tree.right, scale)


def functions(tree: Tree, x: jax.Array) -> None:
    assert_type(total(tree, x), jax.Array)
    assert_type(total(tree, scale=x), jax.Array)
    assert_type(batch.function(both)(x, 2.0), tuple[jax.Array, jax.Array])
    decorated: Function[[jax.Array, float], tuple[jax.Array, jax.Array]] = batch.function(both)
    print(decorated)
    total(tree)  # pyright: ignore[reportCallIssue]
    total(tree, "text")  # pyright: ignore[reportArgumentType]


def vmap(trees: list[Tree], rows: batch.Ragged, xs: NDArray[Any]) -> None:
    mapped = batch.vmap(root)
    assert_type(mapped, Mapped[jax.Array])
    # Arguments are batches, so they do not have the types of the function's parameters.
    assert_type(mapped(xs), jax.Array)
    assert_type(mapped(rows), jax.Array)
    assert_type(batch.vmap(both, in_axes=(0, None))(xs, batch.bind(xs)),
                tuple[jax.Array, jax.Array])
    assert_type(batch.vmap(total)(trees, scale=xs), jax.Array)
    assert_type(batch.vmap(total)(batch.forest(Tree, trees), xs), jax.Array)
    assert_type(batch.vmap(root, 0, 0, 8, axis_name=None, lanes=4, threads=2,
                           strategy="lockstep", stack_depth=16, device="emulator"),
                Mapped[jax.Array])
    assert_type(mapped.explain(xs), batch.Explanation)
    assert_type(mapped.in_axes, PyTree)


def batch_map(trees: list[Tree], forest: batch.Forest, xs: jax.Array,
              stream: Iterator[jax.Array]) -> None:
    def leaves(tree: Tree) -> jax.Array:
        return tree.word

    assert_type(batch.map(root, xs), jax.Array)
    assert_type(batch.map(root, [xs, xs], lanes=8, device="cuda"), list[jax.Array])
    assert_type(batch.map(leaves, trees), list[jax.Array])
    assert_type(batch.map(leaves, forest), jax.Array)
    assert_type(batch.map(root, stream, threads=2), Generator[jax.Array, None, None])
    assert_type(batch.map(root, xs, ordered=False, strategy="lockstep", stack_depth=16),
                Generator[tuple[int, jax.Array], None, None])
    assert_type(batch.map(root, [xs], ordered=False),
                Generator[tuple[int, jax.Array], None, None])


def bound(array: NDArray[numpy.float32], x: jax.Array) -> None:
    weights = batch.bind(array)
    assert_type(weights, Bound)
    batch.bind(x)
    batch.bind([1, 2, 3])
    assert_type(weights.update(), None)
    assert_type(weights.update(2 * array), None)
    assert_type(weights.shape, tuple[int, ...])
    assert_type(weights.dtype, numpy.dtype[Any])
    assert_type(weights.value, NDArray[Any])
    assert_type(weights.version, int)
    assert_type(weights.__jax_array__(), jax.Array)


def traced(value: Value, values: ListValue, h: jax.Array) -> None:
    """Traced functions receive these objects in place of values of data types and lists."""
    def plus(carry: jax.Array, x: jax.Array) -> jax.Array:
        return carry + x

    assert_type(value.word, Any)
    assert_type(values.length, jax.Array)
    assert_type(values.array, jax.Array)
    assert_type(values.map(root), PyTree)
    assert_type(values.map(plus, h), PyTree)
    assert_type(values.fold(plus, h), PyTree)
    assert_type(values.sum(), PyTree)
    assert_type(values.sum(root), PyTree)
    assert_type(values.__jax_array__(), jax.Array)


# --- explanations ------------------------------------------------------------------------

def explanations(e: batch.Explanation) -> None:
    assert_type(e.strategy, str)
    assert_type((e.instances, e.workers, e.flushes, e.waits), tuple[int, int, int, int])
    assert_type(e.control, list[Control])
    assert_type(e.remarks, list[Remark])
    assert_type(e.remarks[0].get("line"), int | None)
    assert_type(e.blocks, list[Block])
    assert_type(e.blocks[0]["lines"], list[tuple[str, int]])
    assert_type(e.batches, dict[str, NDArray[Any]])
    assert_type(e.tasks, Tasks)
    assert_type(e.tasks["reads"], list[list[int]])
    assert_type(e.utilization, float | None)
    assert_type(e.hints, list[str])
    assert_type(e.to_json(), str)
    assert_type(str(e), str)


def plots(e: batch.Explanation) -> None:
    from matplotlib.axes import Axes
    assert_type(e.plot(), Axes)
    assert_type(e.plot_tasks(1, ax=e.plot()), Axes)


# --- PyTorch and sampling ----------------------------------------------------------------

def torch_modules(module: Any, example: Any, x: jax.Array) -> None:
    # Without PyTorch, its classes are unknown.
    cell = batch.from_torch(module, example)  # pyright: ignore[reportUnknownMemberType]
    assert_type(cell, Cell)
    assert_type(cell.parameters, dict[str, jax.Array])
    assert_type(cell(x, x), PyTree)
    assert_type(cell(cell.parameters, x), PyTree)


def sampling(model: Callable[..., None], data: jax.Array) -> None:
    def log_density(position: dict[str, jax.Array]) -> jax.Array:
        return -0.5 * (position["x"]**2).sum()

    samples = batch.sample(
        model, chains=2, lanes=2, warmup=10, draws=10, seed=jax.random.key(0),
        model_args=(data,), model_kwargs={"y": data}, algorithm="slice", mass="dense",
        target_accept=0.9, max_depth=8, threads=1, device="cuda", progress=False)
    assert_type(samples, Samples)
    assert_type(batch.sample(log_density, init={"x": numpy.zeros((4, 3))}), Samples)
    assert_type(samples.draws, PyTree)
    assert_type(samples.stats, dict[str, NDArray[Any]])
    assert_type(samples.to_arviz(), Any)
    assert_type(samples.summary(), Any)
    batch.sample(model, mass="full")  # pyright: ignore[reportArgumentType]


def paths(path: os.PathLike[str]) -> None:
    batch.compile(path).bind(path)
    batch.Model(path)
