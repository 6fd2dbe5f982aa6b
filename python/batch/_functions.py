"""@batch.function: functions that call themselves, on trees and other data types.

A function is run once for each variant that it can tell apart, with fields that stand for
any value. What it asks of its arguments (`match`, `isinstance`) is answered with one
variant after the other, so each run takes one path through it, and gives one jaxpr. A call
is an equation; its result's type comes from a path that calls nothing unknown.
"""

import contextlib
import copy
import functools
import inspect
import itertools
import re
import threading

import jax
import jax.numpy as jnp
import numpy
from jax import lax
from jax.extend import core

from batch import _adt, _expand, _options, _questions, _trees
from batch._adt import Data, List, Scalar, Tensor, describe, fields_of
from batch._expand import LoweringError
from batch._questions import Question
from batch._values import (ListValue, Value, aval_of, call_p, is_value, kinds_in, open_p,
                           paths_p, value_of)

_NESTED = 6  # calls of a function within each other, each with new types of arguments


class _State(threading.local):
    program = None
    frames = ()  # of the functions that are being run, the innermost last
    entries = ()  # of those that are none, of ragged arrays: (scope, frame)


_state = _State()


# --- paths -------------------------------------------------------------------------------

class _Unknown(BaseException):
    """A call of a function whose result's type is not known yet."""

    def __init__(self, spec):
        super().__init__(spec)
        self.spec = spec


_numbers = itertools.count()


class _Frame:
    """A run of a function along one path.

    script: which variants, by number, the values are whose variant is asked for.
    """

    def __init__(self, script, root):
        self.script, self.asked, self.decided = script, [], {}
        self.root, self.number = root or self, next(_numbers)
        self.keys = {}  # of values that can be told apart, by id; what keeps them alive
        self.unknown = None  # what ends this run, even if the user's code catches it
        # Of all that belongs to one function, by what the lists are.
        self.dims, self.lists, self.symbols = {}, {}, 0
        # Suffix of its symbols' names: JAX caches traces by name, and a cached trace asks
        # no question.
        self.suffix = ""
        self.extents = {}  # of arguments: those of the function by the names that they have here

    def know(self, value, key):
        self.keys[id(value._tracer)] = key, value._tracer

    def variant(self, key, data):
        if key not in self.decided:
            if len(self.asked) == len(self.script):
                self.script.append(0)
            self.decided[key] = self.script[len(self.asked)]
            self.asked.append((key, data))
        return self.decided[key]

    def answer(self, question):
        """The answer of this path."""
        before = [(asked, asked.answer(number)) for (_, asked), number in
                  zip(self.asked, self.script) if isinstance(asked, Question)]
        answer = question.decided(before)
        if answer is None:
            _questions.most(before)
            answer = question.answer(self.variant(question.text, question))
        return answer

    def forget(self):
        """Drops the traced values at the end of a trace."""
        self.keys, self.dims, self.lists = {}, {}, {}

    def path(self):
        return tuple((*asked, number) for asked, number in zip(self.asked, self.script))


def _key_of(value):
    """The innermost frame that can tell what a value is, and what it is in that frame."""
    for frame in reversed(_state.frames):
        known = frame.keys.get(id(value._tracer))
        if known:
            return frame, known[0]
    return None, None


def variant_of(value):
    frame, key = _key_of(value)
    if frame:
        return frame.variant(key, value._data)
    if len(value._data._variants) == 1:
        return 0
    raise TypeError("what variant this %s is, is known to a @batch.function that has it as "
                    "an argument, and to map and fold: pass it to one" %
                    value._data.__name__)


def _decide(cls, value):
    if not isinstance(value, Value):
        return False
    if value._data is not getattr(cls, "_adt", cls):
        return False
    return cls is value._data or variant_of(value) == cls._number


def fields(value, variant):
    """The fields of a value, by name."""
    frame, key = _key_of(value)
    tracers = open_p.bind(value._tracer, variant=variant)
    fields = {}
    for (name, kind), tracer in zip(fields_of(value._data)[variant._number], tracers):
        fields[name] = value_of(kind, tracer)
        if is_value(fields[name]) and frame:
            frame.know(fields[name], (key, name))
        elif isinstance(fields[name], ListValue):  # of a value of one variant
            root().lists[id(tracer)] = (id(value._tracer), name), (tracer, value)
    return fields


def dim_of(value):
    """The extent of a list, or of the first axis of an array of rows."""
    if not isinstance(value, ListValue):
        shape = jnp.shape(value)
        if not shape or isinstance(shape[0], int):
            raise TypeError("map and fold walk lists, and arrays that have a row for each of "
                            "their elements; found an array of shape %s" % (shape,))
        return shape[0]
    frame, key = _key_of(value)
    owner = root()
    if frame:
        key = frame.number, key
    else:
        tracer = id(value._tracer)
        key = owner.lists[tracer][0] if tracer in owner.lists else tracer
    if key not in owner.dims:
        owner.dims[key] = _symbol(owner), value._tracer
    return owner.dims[key][0]


def root():
    if not _state.frames:
        raise TypeError("lists are walked in a @batch.function")
    return _state.frames[-1].root


def _symbol(root):
    (dim,) = jax.export.symbolic_shape("n%d%s" % (root.symbols, root.suffix),
                                       scope=_state.program.scope)
    root.symbols += 1
    return dim


def _suffixed(avals, suffix):
    """Types with other names for their symbols: `n0` is `n0_3`."""
    return [aval.update(shape=tuple(
        n if isinstance(n, int) else jax.export.symbolic_shape(str(n) + suffix, scope=n.scope)[0]
        for n in aval.shape)) for aval in avals]


def without_suffix(name):
    return name.partition("_")[0]


# --- questions of numbers of rows ---------------------------------------------------------

def _is_traced(scope):
    return _state.program is not None and scope is _state.program.scope and \
        bool(_state.frames) or any(scope is one for one, _ in _state.entries)


def _answer(question):
    scope = question.expression.scope
    for one, frame in _state.entries:
        if scope is one:
            question.sources = {name: without_suffix(name) for name in question.names}
            return frame.answer(question)
    found = [_source(name) for name in question.names]
    frame = found[0] and found[0][0]
    if frame is None or any(source is None or source[0] is not frame for source in found):
        raise LoweringError(
            "%sthe number of elements of a list that a function makes, or numbers of rows of "
            "several functions, are compared in Python: compare list.length, a number that "
            "jnp.where and lax.cond take" % _expand.here())
    question.sources = {name: key for name, (_, key) in zip(question.names, found)}
    return frame.answer(question)


def _source(name):
    """The frame of the rows that an extent counts, and a key of its values or the name of the
    extent of its arguments; None if there is no such frame."""
    owner = root()
    if name in owner.extents:
        return owner, owner.extents[name]
    for key, (dim, _) in owner.dims.items():
        if str(dim) == name and isinstance(key, tuple):
            for frame in _state.frames:
                if frame.number == key[0]:
                    return frame, key[1]
    return None


@contextlib.contextmanager
def _asked():
    """A context in which Python's questions of numbers of rows are answered."""
    state = _questions.state
    before = state.is_traced, state.answer
    state.is_traced, state.answer = _is_traced, _answer
    try:
        yield
    except Exception as error:
        refusal = _questions.refusal(error)
        if refusal is None:
            raise
        raise refusal from None
    finally:
        state.is_traced, state.answer = before


class Entry:
    """A function of arrays, some of which are ragged, that is traced along all paths.

    closed: what it computes.   tree: of its results.
    failed: (path, error) of those that raise one.
    """

    def __init__(self, function, specs, scope):
        self.failed, arms = [], []
        leaves, tree = jax.tree.flatten(specs)
        script, results = [], {}
        for number in itertools.count():
            frame = _Frame(script, None)
            own = [jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=leaf.weak_type)
                   for aval, leaf in zip(_suffixed(
                       map(_argument_type, leaves), "_%d" % number if number else ""), leaves)]
            before = _state.entries
            _state.entries = (*before, (scope, frame))
            try:
                closed, result = jax.make_jaxpr(
                    lambda *leaves: function(*jax.tree.unflatten(tree, leaves)),
                    return_shape=True)(*own)
            except LoweringError:
                raise
            except Exception as error:
                if not frame.asked or _questions.refusal(error):
                    raise
                self.failed.append((frame.path(), error))
            else:
                arms.append(Arm(frame.path(), closed))
                results[tuple(script)] = result
            finally:
                _state.entries = before
            if not advance(script, 0, frame.asked):
                break
        if not arms:
            raise self.failed[0][1]
        self.result = next(iter(results.values()))
        self.tree = jax.tree.structure(self.result, is_leaf=is_value)
        for path, other in zip(arms, results.values()):
            if jax.tree.structure(other) != jax.tree.structure(self.result):
                raise TypeError("the function gives %s, and %s where %s: all paths give values "
                                "of the same types" % (self.tree, jax.tree.structure(other),
                                                       _path_text(path.path)))
        with _options.ours():
            self.closed = arms[0].closed if are_same(arms) else self._joined(leaves, arms)

    def _joined(self, leaves, arms):
        """The paths as one, whose results are of types that all of them have."""
        avals = []
        for outs in zip(*[arm.closed.jaxpr.outvars for arm in arms]):
            outs = [v.aval for v in outs]
            for arm, aval in zip(arms, outs):
                if any(not isinstance(n, int) for n in aval.shape):
                    raise LoweringError("a result has as many rows as a ragged argument, which "
                                        "is not supported: reduce over them")
                if aval.shape != outs[0].shape:
                    raise TypeError("the function gives %s, and %s where %s: all paths give "
                                    "values of the same types" % (
                                        outs[0].str_short(), aval.str_short(),
                                        _path_text(arm.path)))
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
    """A closed jaxpr whose results have these types."""
    def function(*values):
        return [value if value.dtype == aval.dtype else
                lax.convert_element_type(value, aval.dtype)
                for value, aval in zip(core.jaxpr_as_fun(closed)(*values), avals)]

    return jax.make_jaxpr(function)(*[jax.ShapeDtypeStruct(
        v.aval.shape, v.aval.dtype, weak_type=v.aval.weak_type) for v in closed.jaxpr.invars])


def _path_text(path):
    return ", ".join(data._variants[number].__name__ for _, data, number in path)


def check_path(path, error, lengths):
    """Raises the error of a path that an instance takes.

    lengths: for each extent those of all instances.
    """
    lengths = {without_suffix(name): values for name, values in lengths.items()}
    takes = True
    for _, question, number in path:
        holds = question.holds({name: lengths[source] for name, source in
                                question.sources.items()}, numpy)
        takes &= holds == question.answer(number)
    if numpy.any(takes):
        error = copy.copy(error)
        error.add_note("of instance %d, which has %s rows" % (
            numpy.argmax(takes), ", ".join(str(values[numpy.argmax(takes)])
                                           for values in lengths.values())))
        raise error from None


def are_same(arms):
    """Whether all paths compute the same. Objects and functions, which a jaxpr's text names by
    their addresses, may differ."""
    texts = {re.sub(r"\b(n\d+)_\d+\b", r"\1", str(arm.closed.jaxpr)) for arm in arms}
    first = arms[0].closed.consts
    return len(texts) == 1 and " at 0x" not in texts.pop() and all(
        len(arm.closed.consts) == len(first) and
        all(a is b for a, b in zip(arm.closed.consts, first)) for arm in arms)


def advance(script, first, asked):
    """Makes a script that of the next path, another variant for the last one that has one;
    False if there is none. The first numbers of it stay."""
    counts = [len(data._variants) for _, data in asked]
    while len(script) > first and script[-1] + 1 == counts[len(script) - 1]:
        script.pop()
    if len(script) == first:
        return False
    script[-1] += 1
    return True


def give_up(error):
    """Ends the run of a function that has a call whose type is not known."""
    if _state.frames:
        _state.frames[-1].unknown = error
    raise error


class Arm:
    """What a function computes along one path.

    path: (key, data type, number of the variant) of values, in the order in which they are
        asked for.
    """

    def __init__(self, path, closed):
        self.path, self.closed = path, closed

    def expanded(self, expand):
        return Arm(self.path, expand(self.closed))


class Body:
    """A function that is traced along all of its paths.

    arms: of the paths.   tree, avals_out, kinds_out: what all of them give.
    """

    def __init__(self, name, function, avals, build):
        self.name, self.function, self.avals, self._build = name, function, avals, build
        self.arms, self._pending = [], [[]]
        self.tree = self.avals_out = self.kinds_out = None
        self.unknown = None  # why paths are pending

    def explore(self, root=None):
        """Runs paths that have not been run, as far as they know their calls' results."""
        pending, self._pending = self._pending, []
        for position, first in enumerate(pending):
            script = list(first)
            while True:
                try:
                    asked = self._run(script, root)
                except _Unknown as error:
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
        """The same with other closed jaxprs."""
        body = copy.copy(self)
        body.arms = [arm.expanded(expand) for arm in self.arms]
        return body

    def _run(self, script, root):
        frame, found = _Frame(script, root), {}
        avals = self.avals
        if root is None:
            frame.suffix = _state.program.suffix()
            avals = _suffixed(avals, frame.suffix)
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

        before, _state.frames = _state.frames, (*_state.frames, frame)
        try:
            closed = jax.make_jaxpr(function)(*[
                jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)
                for aval in avals])
        except Exception as error:
            questions = [part for part in frame.path() if isinstance(part[1], Question)]
            if questions and not isinstance(error, LoweringError):
                error.add_note("on the path of %s where %s, which is traced as an input may "
                               "take it" % (self.name, _path_text(questions)))
            raise
        finally:
            _state.frames = before
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
                raise LoweringError("%s gives an array of %s: one with a row for each element "
                                    "of a list is not given on, reduce over them" % (
                                        self.name, aval.str_short()))
        if self.tree is None:
            self.tree, self.avals_out, self.kinds_out = tree, avals, kinds
            self._first = _variants(frame)
            return
        if (tree, [(a.shape, a.dtype) for a in avals]) != \
                (self.tree, [(a.shape, a.dtype) for a in self.avals_out]):
            raise TypeError("%s gives %s, and %s: all paths give values of the same "
                            "types" % (
                                self.name, _text(self._first, self.tree, self.avals_out),
                                _text(_variants(frame), tree, avals)))


def _variants(frame):
    """"Leaf, Node": what is asked for on a path."""
    return ", ".join(data._variants[number].__name__ for (_, data), number in
                     zip(frame.asked, frame.script))


def _text(variants, tree, avals):
    """"int32[] for Leaf", for a message."""
    what = jax.tree.unflatten(tree, [_Text(aval.str_short()) for aval in avals])
    return "%s for %s" % (what, variants) if variants else str(what)


class _Text(str):
    __repr__ = str.__str__


def strong(value):
    value = value if isinstance(value, jax.Array) else jnp.asarray(value)
    return value if _expand.is_key(value) else lax.convert_element_type(value, value.dtype)


# --- functions ---------------------------------------------------------------------------

class Spec(Body):
    """A function for arguments of certain types, which have so many symbols."""

    def __init__(self, function, tree, avals, kinds, symbols):
        super().__init__(function.__name__, function.function, avals, self._arguments)
        self.argument_tree, self.kinds, self._symbols = tree, kinds, symbols
        self.is_running = False
        known = function.returns()
        if known is not None:
            leaves, self.tree = jax.tree.flatten(known)
            self.avals_out, self.kinds_out = list(map(_argument_type, leaves)), \
                kinds_in(known)
            self._first = "its annotation"

    def _arguments(self, frame, tracers):
        arguments = jax.tree.unflatten(self.argument_tree, tracers)
        values = jax.tree.leaves(arguments, is_leaf=is_value)
        for number, value in enumerate(values):
            if is_value(value):
                frame.know(value, number)
        frame.symbols = self._symbols  # further ones are its own
        return arguments

    def _check(self, closed):
        if any(isinstance(value, jax.core.Tracer) for value in closed.consts):
            raise TypeError("%s reads what a function around it computes: pass it as an "
                            "argument" % self.name)

    def resolve(self):
        """Finds out what the function gives."""
        if self.tree is not None:
            return
        if self.is_running:
            raise _Unknown(self)
        self.is_running = True
        try:
            self.explore()
        finally:
            self.is_running = False
        if self.tree is None:
            raise self.unknown


def _argument_type(leaf):
    return leaf if isinstance(leaf, jax.core.ShapedArray) else jax.core.ShapedArray(
        leaf.shape, leaf.dtype)


class Program:
    """All functions that are reached from an entry."""

    def __init__(self):
        self.scope = jax.export.SymbolicScope()
        self.specs = {}
        self.constructed = set()  # data types that functions make values of
        self._runs = itertools.count()

    def suffix(self):
        """Another one for each run of a function."""
        number = next(self._runs)
        return "_%d" % number if number else ""

    def spec(self, function, tree, avals, kinds):
        avals, symbols = _renamed(avals, self.scope)
        key = function, tree, tuple((a.shape, a.dtype, a.weak_type) for a in avals)
        if key not in self.specs:
            around = [spec for (f, *_), spec in self.specs.items()
                      if f is function and spec.is_running]
            if len(around) >= _NESTED:
                raise TypeError("%s calls itself with ever new types of arguments: %s" % (
                    function.__name__, "; ".join(", ".join(
                        a.str_short() for a, kind in zip(spec.avals, spec.kinds) if not kind)
                        for spec in around)))
            self.specs[key] = Spec(function, tree, avals, kinds, symbols)
        return self.specs[key]

    def complete(self):
        """Traces what is left of all functions."""
        while True:
            before = sum(len(spec.arms) for spec in self.specs.values())
            left = [spec for spec in list(self.specs.values()) if not spec.explore()]
            count = sum(len(spec.arms) for spec in self.specs.values())
            if not left and all(not spec._pending for spec in self.specs.values()):
                return
            if count == before and left:
                raise unknown(left[0].unknown.spec)


def unknown(spec):
    """The error where no path of a function gives its type."""
    return TypeError(
        "every path of %s calls %s, or a function that does, before anything says what it "
        "gives: annotate it, such as `def %s(...) -> batch.tensor(256):`" % (
            spec.name, spec.name, spec.name))


def _renamed(avals, scope):
    """Types with symbols of their own, by first appearance; how many there are."""
    names, renamed = {}, []
    for aval in avals:
        shape = []
        for axis, n in enumerate(aval.shape):
            if not isinstance(n, int):
                if axis:
                    raise LoweringError("only the first extent of an array may be that of a "
                                        "list; found %s" % aval.str_short())
                n = names.setdefault(str(n), jax.export.symbolic_shape(
                    "n%d" % len(names), scope=scope)[0])
            shape.append(n)
        renamed.append(aval.update(shape=tuple(shape)))
    return renamed, len(names)


def check_results(kinds):
    """Refuses results that have nodes of the same data types: outputs of a model have one
    name each."""
    found = {}
    for number, kind in enumerate(kinds):
        if isinstance(kind, List):
            raise TypeError("result %d is a %s: lists of data are results in fields only" % (
                number, describe(kind)))
        for data in _adt.reachable(kind.adt) if kind else ():
            if found.setdefault(data, number) != number:
                raise TypeError("results %d and %d both have nodes of %s: give one value that "
                                "has both" % (found[data], number, data.__name__))


class Types:
    """What the arguments and results of an entry are declared to be, None for arrays, and
    which data types values are made of."""

    def __init__(self, program, arguments, results):
        self.constructed, self.arguments, self.results = program.constructed, arguments, \
            results


def program_now():
    """The program that is being traced, or None."""
    return _state.program


@contextlib.contextmanager
def program():
    """A context in which functions are traced, that of an outer program if there is one."""
    if _state.program is not None:
        yield _state.program
        return
    _state.program = Program()
    from batch import _walks
    _adt.tracing.construct, _adt.tracing.decide = _walks.construct, _decide
    try:
        with _asked():
            yield _state.program
    except _Unknown as error:
        raise unknown(error.spec) from None
    finally:
        _state.program = None
        _adt.tracing.construct = _adt.tracing.decide = None


class Defined:
    """A function of @batch.function."""

    def __init__(self, function, scope):
        functools.update_wrapper(self, function)
        self.function, self._scope = function, scope
        self._returns = _UNREAD
        self.alone = {}  # what it is, called outside of others

    def __call__(self, *arguments, **named):
        if _state.program is None:
            from batch import _vmap
            return _vmap.one(self, arguments, named)
        leaves, tree = _trees.flatten((arguments, named))
        for leaf in leaves:
            if isinstance(leaf, str):
                raise TypeError("%s%s is called with the text %r; inside of functions a node is "
                                "made by its variant, `Tree.Leaf(3)`, not by a tuple" % (
                                    _expand.here(), self.__name__, leaf))
        leaves = [leaf if isinstance(leaf, jax.Array) else jnp.asarray(leaf)
                  for leaf in leaves]
        avals = list(map(jax.typeof, leaves))
        spec = _state.program.spec(self, tree, avals, kinds_in((arguments, named)))
        try:
            spec.resolve()
        except _Unknown as error:
            give_up(error)
        return jax.tree.unflatten(spec.tree, call_p.bind(*leaves, spec=spec))

    def __get__(self, instance, owner=None):
        raise TypeError("%s is a method: @batch.function takes functions" % self.__name__)

    def returns(self):
        """The tree of what the function is annotated to give, or None."""
        if self._returns is _UNREAD:
            annotation = inspect.get_annotations(self.function).get("return")
            self._returns = None if annotation is None else _annotated(
                annotation, self._scope.names())
        return self._returns

    def data_arguments(self):
        return data_arguments(self.function, self._scope)


_UNREAD = object()


def data_arguments(function, scope=None):
    """The data types of a function's parameters by name, as its annotations say."""
    try:
        annotations = inspect.get_annotations(function)
    except (TypeError, NameError):
        return {}
    names = scope.names() if scope else lambda text: eval(
        text, getattr(function, "__globals__", {}), {})
    found = {}
    for name, annotation in annotations.items():
        try:
            kind = _adt.type_of(annotation, names)
        except Exception:  # it says something else
            continue
        if isinstance(_adt.element_of(kind), Data):
            found[name] = kind
    return found


def _annotated(annotation, names):
    """The tree of types in an annotation; None if it says something else."""
    if isinstance(annotation, str):
        try:
            annotation = names(annotation)
        except Exception:
            return None
    if getattr(annotation, "__origin__", None) is tuple:
        annotation = annotation.__args__
    if isinstance(annotation, tuple) and not isinstance(annotation, (Scalar, Tensor, List)):
        parts = [_annotated(part, names) for part in annotation]
        return None if any(part is None for part in parts) else tuple(parts)
    if isinstance(annotation, dict):
        parts = {key: _annotated(part, names) for key, part in annotation.items()}
        return None if any(part is None for part in parts.values()) else parts
    try:
        kind = _adt.type_of(annotation, names)
    except TypeError:
        return None
    return value_of(kind, aval_of(kind))


def function(f):
    """Makes a function one that may call itself, on values of data types.

        @batch.function
        def total(tree: Tree):
            match tree:
                case Tree.Leaf(word):
                    return word
                case Tree.Node(left, right):
                    return total(left) + total(right)

    It is compiled with the functions that `batch.vmap` is given. What it computes of
    arrays may be any function of JAX. Which variant a value is, it may ask of its arguments
    and of their fields, in `match` or by isinstance; lists have map, fold and sum. Where it
    calls itself on every path, it says what it gives: `-> batch.tensor(256)`, or a tuple.

    Called outside of others, it runs for one instance; arrays are parameters then.
    """
    if not inspect.isfunction(f):
        raise TypeError("@batch.function takes a function, found %r" % (f,))
    return Defined(f, _adt.Scope(1))
