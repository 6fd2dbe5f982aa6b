"""Traces functions of ragged arrays and decides their comparisons of row counts."""

import contextlib
import copy
import itertools

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.extend import core

from batch.core.errors import LoweringError
from batch.tracing.locations import user_location
from batch.tracing.options import own_options
from batch.tracing.paths import (
    Arm,
    advance,
    are_same,
    argument_type,
    path_text,
    with_suffix,
    without_suffix,
)
from batch.tracing.primitives import paths_p
from batch.tracing.questions import extent_refusal, question_state
from batch.tracing.refusals import python_refusal
from batch.tracing.values import Frame, is_value, root_frame, state

# --- questions about row counts -----------------------------------------------------------

def _is_traced(scope):
    return state.program is not None and scope is state.program.scope and \
        bool(state.frames) or any(scope is one for one, _ in state.entries)


def _answer(question):
    scope = question.expression.scope
    for one, frame in state.entries:
        if scope is one:
            question.sources = {name: without_suffix(name) for name in question.names}
            return frame.answer(question)
    found = [_source(name) for name in question.names]
    frame = found[0] and found[0][0]
    if frame is None or any(source is None or source[0] is not frame for source in found):
        raise LoweringError(
            f"{user_location()}Python code cannot compare the length of a list that a function "
            "constructs, or row counts that belong to different functions; compare "
            "list.length in jnp.where or lax.cond")
    question.sources = {name: key for name, (_, key) in zip(question.names, found)}
    return frame.answer(question)


def _source(name):
    """Returns (frame, key) of the rows that an extent counts, or None if no frame has them.

    The key is the name of an argument's extent, or the key of a value in the frame.
    """
    owner = root_frame()
    if name in owner.extents:
        return owner, owner.extents[name]
    for key, (dim, _) in owner.dims.items():
        if str(dim) == name and isinstance(key, tuple):
            for frame in state.frames:
                if frame.number == key[0]:
                    return frame, key[1]
    return None


@contextlib.contextmanager
def answered_questions():
    """Context that answers questions: comparisons of row counts in Python code.

    Raises LoweringError if Python uses a row count or a traced array in an unsupported way, or if
    it does not end.
    """
    state = question_state
    before = state.is_traced, state.answer
    state.is_traced, state.answer = _is_traced, _answer
    try:
        yield
    except Exception as error:
        refusal = extent_refusal(error) or python_refusal(error)
        if refusal is None:
            raise
        raise refusal from None
    finally:
        state.is_traced, state.answer = before


class Entry:
    """Function of arrays, some of them ragged, that is traced along all of its paths.

    closed: closed jaxpr of the function.
    result: tree of the results' shapes and dtypes, from the first path that raises no error.
    tree: structure of the results.
    failed: (path, error) of each path that raises an error.

    Raises the first error if all paths raise one. Raises TypeError if the structures or shapes of
    the results differ between paths. If paths compute different values, raises LoweringError for a
    result with a symbolic extent.
    """

    def __init__(self, function, specs, scope):
        self.failed, arms = [], []
        leaves, tree = jax.tree.flatten(specs)
        script, results = [], {}
        for number in itertools.count():
            frame = Frame(script, None)
            suffix = f"_{number}" if number else ""
            own = [jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=leaf.weak_type)
                   for aval, leaf in zip(with_suffix(map(argument_type, leaves), suffix),
                                         leaves)]
            before = state.entries
            state.entries = (*before, (scope, frame))
            try:
                closed, result = jax.make_jaxpr(
                    lambda *leaves: function(*jax.tree.unflatten(tree, leaves)),
                    return_shape=True)(*own)
            except LoweringError:
                raise
            except Exception as error:
                if not frame.asked or extent_refusal(error):
                    raise
                self.failed.append((frame.path(), python_refusal(error) or error))
            else:
                arms.append(Arm(frame.path(), closed))
                results[tuple(script)] = result
            finally:
                state.entries = before
            if not advance(script, 0, frame.asked):
                break
        if not arms:
            raise self.failed[0][1]
        self.result = next(iter(results.values()))
        self.tree = jax.tree.structure(self.result, is_leaf=is_value)
        for arm, other in zip(arms, results.values()):
            if jax.tree.structure(other) != jax.tree.structure(self.result):
                raise TypeError(
                    f"the function returns {self.tree}, but {jax.tree.structure(other)} where "
                    f"{path_text(arm.path)}; all paths must return the same tree structure")
        with own_options():
            self.closed = arms[0].closed if are_same(arms) else self._joined(leaves, arms)

    def _joined(self, leaves, arms):
        """Joins the paths into one closed jaxpr. Its result types are common to all paths."""
        avals = []
        for outs in zip(*[arm.closed.jaxpr.outvars for arm in arms]):
            outs = [v.aval for v in outs]
            for arm, aval in zip(arms, outs):
                if any(not isinstance(n, int) for n in aval.shape):
                    raise LoweringError("a result has one row for each row of a ragged "
                                        "argument, which is not supported; reduce over the rows")
                if aval.shape != outs[0].shape:
                    raise TypeError(
                        f"the function returns {outs[0].str_short()}, but {aval.str_short()} "
                        f"where {path_text(arm.path)}; all paths must return the same shapes")
            dtype = outs[0].dtype if len({aval.dtype for aval in outs}) == 1 else \
                jnp.result_type(*[_WEAK[aval.dtype.kind] if aval.weak_type else aval.dtype
                                  for aval in outs])
            avals.append(outs[0].update(dtype=dtype, weak_type=all(
                aval.weak_type for aval in outs)))
        arms = [Arm(arm.path, _converted(arm.closed, avals)) for arm in arms]
        return jax.make_jaxpr(lambda *values: paths_p.bind(
            *values, arms=tuple(arms), avals=tuple(avals)))(*leaves)


_WEAK = {"b": bool, "i": int, "u": int, "f": float}


def _converted(closed, avals):
    """Returns the closed jaxpr with its results converted to the dtypes of `avals`."""
    def function(*values):
        return [value if value.dtype == aval.dtype else
                lax.convert_element_type(value, aval.dtype)
                for value, aval in zip(core.jaxpr_as_fun(closed)(*values), avals)]

    return jax.make_jaxpr(function)(*[jax.ShapeDtypeStruct(
        v.aval.shape, v.aval.dtype, weak_type=v.aval.weak_type) for v in closed.jaxpr.invars])


def check_path(path, error, lengths):
    """Raises the error of a path if an instance takes that path.

    lengths: for each extent, by name, an array of the row counts of all instances.
    """
    lengths = {without_suffix(name): values for name, values in lengths.items()}
    takes = True
    for _, question, number in path:
        holds = question.holds({name: lengths[source] for name, source in
                                question.sources.items()}, numpy)
        takes &= holds == question.answer(number)
    if numpy.any(takes):
        error = copy.copy(error)
        instance = numpy.argmax(takes)
        rows = ", ".join(str(values[instance]) for values in lengths.values())
        error.add_note(f"raised for instance {instance}, which has {rows} rows")
        raise error from None
