"""Functions that are traced along all of their paths."""

import copy
import re

import jax
import jax.numpy as jnp
from jax import lax

from batch.core.errors import LoweringError
from batch.tracing.jaxprs import is_key
from batch.tracing.questions import Question
from batch.tracing.values import (
    Frame,
    ListValue,
    UnknownResult,
    Value,
    key_of,
    kinds_in,
    new_symbol,
    root_frame,
    state,
    variant_of,
)


def decide(cls, value):
    if not isinstance(value, Value):
        return False
    if value._data != getattr(cls, "_adt", cls):
        return False
    return cls == value._data or variant_of(value) == cls._number


def dim_of(value):
    """Returns the extent of a list, or of the first axis of an array of rows.

    Raises TypeError for other values, and for an array whose first extent is not symbolic.
    """
    if not isinstance(value, ListValue):
        shape = value.shape if isinstance(value, jax.Array) else None
        if not shape or isinstance(shape[0], int):
            got = f"{value!r:.60}" if shape is None else f"an array of shape {shape}"
            raise TypeError("arguments of list.map and list.fold must be lists, or arrays with "
                            f"one row for each element; got {got}")
        return shape[0]
    frame, key = key_of(value)
    owner = root_frame()
    if frame:
        key = frame.number, key
    else:
        tracer = id(value._tracer)
        key = owner.lists[tracer][0] if tracer in owner.lists else tracer
    if key not in owner.dims:
        owner.dims[key] = new_symbol(owner), value._tracer
    return owner.dims[key][0]


def with_suffix(avals, suffix):
    """Returns types with a suffix on the names of their symbols: `n0` becomes `n0_3`."""
    return [aval.update(shape=tuple(
        n if isinstance(n, int) else jax.export.symbolic_shape(str(n) + suffix, scope=n.scope)[0]
        for n in aval.shape)) for aval in avals]


def without_suffix(name):
    return name.partition("_")[0]


def path_text(path):
    return ", ".join(data._variants[number].__name__ for _, data, number in path)


def are_same(arms):
    """Returns whether all paths compute the same values.

    The text of a jaxpr shows objects and functions by address. Paths with such texts may differ,
    so the result is False.
    """
    texts = {re.sub(r"\b(n\d+)_\d+\b", r"\1", str(arm.closed.jaxpr)) for arm in arms}
    first = arms[0].closed.consts
    return len(texts) == 1 and " at 0x" not in texts.pop() and all(
        len(arm.closed.consts) == len(first) and
        all(a is b for a, b in zip(arm.closed.consts, first)) for arm in arms)


def advance(script, first, asked):
    """Advances a script to the next path; returns False after the last path.

    The last entry with an unused variant gets its next variant. The leading `first` entries do not
    change.
    """
    counts = [len(data._variants) for _, data in asked]
    while len(script) > first and script[-1] + 1 == counts[len(script) - 1]:
        script.pop()
    if len(script) == first:
        return False
    script[-1] += 1
    return True


def give_up(error):
    """Raises `error`, to end the run of a function at a call whose result type is unknown."""
    if state.frames:
        state.frames[-1].unknown = error
    raise error


class Arm:
    """Computation of a function along one path.

    path: (key, data type, number of the variant) of each value whose variant the function
        queries, in the order of the queries. In the entry of a question, the question replaces
        the data type.
    closed: closed jaxpr of the computation.
    """

    def __init__(self, path, closed):
        self.path, self.closed = path, closed

    def expanded(self, expand):
        return Arm(self.path, expand(self.closed))


class Body:
    """Function that is traced along all of its paths.

    arms: one Arm for each traced path.
    tree, avals_out, kinds_out: structure, types and declared types of the results of all paths.
    """

    def __init__(self, name, function, avals, build):
        self.name, self.function, self.avals, self._build = name, function, avals, build
        self.arms, self._pending = [], [[]]
        self.tree = self.avals_out = self.kinds_out = None
        self.unknown = None  # error that left paths pending
        self._first = ""  # variants on the path that determines the types of the results
        self._declared = None  # declaration that determines the types instead, for messages

    def explore(self, root=None):
        """Runs the pending paths. A path stays pending if the result of a call is unknown.

        Returns whether no path is pending.
        """
        pending, self._pending = self._pending, []
        for position, first in enumerate(pending):
            script = list(first)
            while True:
                try:
                    asked = self._run(script, root)
                except UnknownResult as error:
                    self.unknown = error
                    self._pending.append(list(script))
                    asked = self._asked
                except BaseException:
                    self._pending += pending[position:]
                    raise
                if not advance(script, len(first), asked):
                    break
        return not self._pending

    def expanded(self, expand):
        """Returns a copy with `expand` applied to all closed jaxprs."""
        body = copy.copy(self)
        body.arms = [arm.expanded(expand) for arm in self.arms]
        return body

    def _run(self, script, root):
        frame, found = Frame(script, root), {}
        avals = self.avals
        if root is None:
            frame.suffix = state.program.suffix()
            avals = with_suffix(avals, frame.suffix)
            frame.extents = {str(new.shape[0]): str(old.shape[0])
                             for new, old in zip(avals, self.avals)
                             if old.shape and not isinstance(old.shape[0], int)}

        def function(*tracers):
            try:
                arguments, named = self._build(frame, tracers)
                result = self.function(*arguments, **named)
                leaves, tree = jax.tree.flatten(result)
                found["tree"], found["kinds"] = tree, kinds_in(result)
                return list(map(strong, leaves))
            finally:
                frame.forget()

        before, state.frames = state.frames, (*state.frames, frame)
        try:
            closed = jax.make_jaxpr(function)(*[
                jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)
                for aval in avals])
        except Exception as error:
            questions = [part for part in frame.path() if isinstance(part[1], Question)]
            if questions and not isinstance(error, LoweringError):
                error.add_note(f"raised on the path of {self.name} where "
                               f"{path_text(questions)}; this path is traced because an input "
                               "may take it")
            raise
        finally:
            state.frames = before
            self._asked = frame.asked
        if frame.unknown:
            raise frame.unknown
        self._check(closed)
        self._give(found["tree"], [v.aval for v in closed.jaxpr.outvars], found["kinds"],
                   frame)
        self.arms.append(Arm(frame.path(), closed))
        return frame.asked

    def _check(self, closed):
        pass

    def _give(self, tree, avals, kinds, frame):
        for aval in avals:
            if any(not isinstance(n, int) for n in aval.shape):
                raise LoweringError(
                    f"{self.name} returns {aval.str_short()}, an array with one row for each "
                    "element of a list, which is not supported; reduce over the rows")
        if self.tree is None:
            self.tree, self.avals_out, self.kinds_out = tree, avals, kinds
            self._first = variant_names(frame)
            return
        if (tree, [(a.shape, a.dtype) for a in avals]) == \
                (self.tree, [(a.shape, a.dtype) for a in self.avals_out]):
            return
        wanted = result_text(self._first, self.tree, self.avals_out)
        got = result_text(variant_names(frame), tree, avals)
        for one, variants in ((tree, variant_names(frame)), (self.tree, self._first)):
            if one == _NOTHING and variants and not self._declared:
                raise TypeError(f"{self.name} returns {wanted}, but {got}; add a case or a return "
                                f"statement for {variants}")
        raise TypeError(
            f"{self.name} returns {got}; expected {wanted}, as in {self._declared}"
            if self._declared else f"{self.name} returns {wanted}, but {got}; all paths must "
            "return the same types")


_NOTHING = jax.tree.structure(None)


def variant_names(frame):
    """Returns the variants on the path of a frame as text, such as "Leaf, Node"."""
    return ", ".join(data._variants[number].__name__ for (_, data), number in
                     zip(frame.asked, frame.script))


def result_text(variants, tree, avals):
    """Returns the text of a result for a message, such as "int32[] for Leaf"."""
    what = jax.tree.unflatten(tree, [_Text(aval.str_short()) for aval in avals])
    return f"{what} for {variants}" if variants else str(what)


class _Text(str):
    __repr__ = str.__str__


def strong(value):
    value = value if isinstance(value, jax.Array) else jnp.asarray(value)
    return value if is_key(value) else lax.convert_element_type(value, value.dtype)


def argument_type(leaf):
    return leaf if isinstance(leaf, jax.core.ShapedArray) else jax.core.ShapedArray(
        leaf.shape, leaf.dtype)
