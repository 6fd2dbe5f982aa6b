"""batch.vmap: functions of JAX over a batch, each lane with control of its own."""

import functools
import inspect
import itertools
import operator
import re
import sys
import threading

import jax
import jax.numpy as jnp
import numpy

from batch import _adt, _arrays, _bound, _compiled, _expand, _extents, _forest, _functions
from batch import _lowering, _options, _recursion, _trees, _values  # noqa: F401
from batch._arrays import UNMAPPED
from batch._forest import Forest
from batch._model import Ragged

LoweringError = _expand.LoweringError
_CALLS = 256  # that stay known, for each function; sizes of batches are theirs


def _spread(axes, tree, what):
    """Axes, a prefix of a tree, for each of its leaves."""
    marked = jax.tree.map(lambda axis: UNMAPPED if axis is None else axis, axes,
                          is_leaf=lambda axis: axis is None)
    try:
        spread = jax.tree.map(lambda axis, part: jax.tree.map(lambda _: axis, part),
                              marked, tree)
    except (ValueError, TypeError) as error:
        raise ValueError("vmap %s must be an int, None, or a tree prefix of the %s: %s" % (
            what, "arguments" if what == "in_axes" else "results", error)) from None
    axes = jax.tree.leaves(spread)
    for axis in axes:
        if axis is not UNMAPPED and not isinstance(axis, int):
            raise TypeError("vmap %s must be an int, None, or a tree of them; found %r" %
                            (what, axis))
    return axes


def _copy(axes):
    return jax.tree.map(lambda axis: axis, axes, is_leaf=lambda axis: axis is None)


def words(leaf):
    """A key is its words; other arrays are what they are."""
    if isinstance(leaf, (_bound.Bound, Ragged, Forest)):
        return leaf
    aval = jax.typeof(leaf)
    return jax.random.key_data(leaf) if _expand.is_key(aval) else leaf


def check_place(array):
    if isinstance(array, jax.Array) and not isinstance(array, jax.core.Tracer):
        devices = array.devices()
        if len(devices) > 1 or any(d.platform != "cpu" for d in devices):
            raise ValueError("%sbatch.vmap runs on this machine's CPU, and takes arrays on "
                             "one device: move it there with jax.device_put; it is on %s" % (
                                 _expand.here(), ", ".join(sorted(map(str, devices)))))


def aval_of(leaf):
    """The shape and the type of an argument."""
    if isinstance(leaf, _bound.Bound):
        leaf = leaf.value
    if isinstance(leaf, Ragged):
        leaf = leaf.values
    if isinstance(leaf, Forest):
        return leaf.aval
    try:
        return jax.typeof(leaf)
    except TypeError:
        if isinstance(type(leaf), _adt.AdtType):
            raise TypeError("an argument is a %s: say so where the function is defined, `def "
                            "f(tree: %s)`, or give a batch.forest" % (
                                type(leaf)._adt, type(leaf)._adt)) from None
        if hasattr(leaf, "__dlpack__"):
            gradient = getattr(leaf, "requires_grad", False)
            raise TypeError("an argument is a %s, but those of a mapped function are arrays "
                            "of NumPy or JAX: give numpy.asarray(x%s)%s" % (
                                type(leaf).__name__, ".detach()" if gradient else "",
                                "; its gradient would not be passed on" if gradient
                                else "")) from None
        if isinstance(leaf, str):
            raise TypeError("an argument has the text %r, and is no array; a tuple that begins "
                            "with the name of a variant is data where the function is "
                            "annotated, `def f(tree: Tree)`, or in "
                            "batch.forest(Tree, values)" % leaf) from None
        raise TypeError("Argument %r of type %s is not a valid JAX type" % (
            leaf, type(leaf))) from None


def type_of(aval, axis=UNMAPPED):
    """The shape of an instance's part, the type of its elements, and if it is weak."""
    dtype = aval.dtype if _expand.is_key(aval) else \
        jax.dtypes.canonicalize_dtype(aval.dtype)
    shape = aval.shape if axis is UNMAPPED else aval.shape[:axis] + aval.shape[axis + 1:]
    return shape, dtype, bool(getattr(aval, "weak_type", False))


def ragged_types(leaves, types):
    """Types in which first extents that differ from instance to instance have names:
    equal ones one name."""
    known, named = [], []
    for leaf, (shape, dtype, is_weak) in zip(leaves, types):
        if isinstance(leaf, Ragged):
            number = next((i for i, offsets in enumerate(known)
                           if numpy.array_equal(offsets, leaf.offsets)), len(known))
            known[number:] = known[number:] or [leaf.offsets]
            shape = ("n%d" % number,) + leaf.values.shape[1:]
        named.append(leaf.kind if isinstance(leaf, Forest) else
                     (tuple(shape), dtype, is_weak))
    return named


def result(array, aval):
    """A result, or those of all instances, as the user gets it."""
    is_weak, is_key = _form(aval)
    array = _arrays.to_jax(array, is_weak)
    return _arrays.key_of(array) if is_key else array


def _form(aval):
    return bool(getattr(aval, "weak_type", False)), _expand.is_key(aval)


def _kind(leaf):
    """What is checked of an argument, and equal for all that may take its place; None if
    it has to be looked at each time."""
    if type(leaf) is numpy.ndarray:
        return leaf.shape, leaf.dtype
    if isinstance(leaf, jax.Array):
        # A type here has the shape, and whether it is weak.
        return None if isinstance(leaf, jax.core.Tracer) else (leaf.aval, leaf.sharding)
    if type(leaf) is Forest:
        return leaf.kind, len(leaf)
    return (_bound.Bound, leaf.shape, leaf.dtype) if type(leaf) is _bound.Bound else None


# Options on which a trace depends: they change values, types or errors.
_context = functools.partial(operator.attrgetter(*[name for name in (
    "jax_debug_key_reuse", "jax_default_prng_impl", "jax_enable_custom_prng", "jax_enable_x64",
    "jax_explicit_x64_dtypes", "jax_high_dynamic_range_gumbel", "jax_legacy_prng_key",
    "jax_numpy_dtype_promotion", "jax_numpy_rank_promotion", "jax_random_seed_offset",
    "jax_threefry_partitionable") if hasattr(jax.config, name)]), jax.config)


class _Call:
    """A call whose arguments have been checked: it serves all others of their kinds.

    axes: of the leaves of the arguments, none of which is negative.
    tree: of the results.
    """

    def __init__(self, compiled, axes, size, tree, out_axes):
        self.compiled, self.axes, self.size = compiled, axes, size
        self.tree, self.out_axes = tree, out_axes
        self.has_keys = any(_expand.is_key(v.aval) for v in compiled.closed.jaxpr.invars)
        self.places = None
        # The call without Python in between: None before the first call, False if checked.
        self.quick = False if any(_options.of_calls()) else None

    def __call__(self, leaves):
        if self.quick and _arrays.is_quick():
            try:
                return self.tree.unflatten(self.quick(leaves, *_arrays.default_place()))
            except TypeError:
                pass  # of an array that has been deleted, which says so
            except Exception as error:
                self.compiled.places.explain(error)
                raise
        leaves = self.words_of(leaves)
        outputs = self.compiled.run(leaves, self.axes, self.size)
        self.compiled.check(outputs, leaves, self.axes)
        results = self.finish(outputs)
        if self.quick is None:
            self.quick = self._quick(leaves, outputs)
        return results

    def _quick(self, leaves, outputs):
        """False if arguments or results are not dense arrays that are read and given as
        they are."""
        if self.has_keys or any(place[0] != 0 or place[2] for place in self.places):
            return False
        return self.compiled.quick(leaves, self.axes, self.size, outputs)

    def words_of(self, leaves):
        """The words of keys; they are there, also where JAX traces."""
        if not self.has_keys:
            return leaves
        with jax.ensure_compile_time_eval():
            return list(map(words, leaves))

    def traced(self, leaves):
        """The same as a primitive of JAX's."""
        recursion = self.compiled.recursion
        if any(isinstance(leaf, (Ragged, Forest)) for leaf in leaves) or \
                recursion and any(recursion.results):
            raise TypeError(_expand.here() + "a batch of data, or a ragged one, has no form in "
                            "JAX: call this outside of jax.jit and other transformations")
        leaves = [leaf.__jax_array__() if isinstance(leaf, _bound.Bound) else leaf
                  for leaf in map(words, leaves)]
        how = {"compiled": self.compiled, "axes": tuple(self.axes), "size": self.size}
        if _compiled.is_tracing() and (recursion or any(
                isinstance(value, jax.core.Tracer) for value in self.compiled.closed.consts)):
            return self.finish(_compiled.by_jax(**how)(*leaves))
        return self.finish(_compiled.call_p.bind(*leaves, **how))

    def finish(self, outputs):
        """The results as the caller has asked for them."""
        if self.places is None:
            self.places = self._places(outputs)
        placed, put = [], None
        for array, (axis, is_weak, is_key) in zip(outputs, self.places):
            if axis is UNMAPPED:
                array = array[0]
                if isinstance(array, numpy.ndarray):
                    array = array.copy()  # not a part of what all instances have
            elif isinstance(array, _forest.Nodes):
                placed.append(array)
                continue
            elif axis:
                module = numpy if isinstance(array, numpy.ndarray) else jnp
                array = module.moveaxis(array, 0, axis)
            put = put or _arrays.putter()
            array = put(array, is_weak)
            placed.append(_arrays.key_of(array) if is_key else array)
        return self.tree.unflatten(placed)

    def _places(self, outputs):
        """Of each result the axis of its instances, which is not negative, if its type is
        weak, and if it is a key."""
        axes = _spread(self.out_axes, self.tree.unflatten(outputs), "out_axes")
        places = []
        for axis, depends, aval, array in zip(axes, self.compiled.depends,
                                              self.compiled.results, outputs):
            if isinstance(array, _forest.Nodes) and axis != 0:
                raise ValueError("out_axes of data is 0: each instance has its own")
            if axis is UNMAPPED:
                if depends:
                    raise ValueError("vmap has mapped output but out_axes is None")
                if self.size == 0:
                    raise ValueError("there is no instance that an output which is the "
                                     "same for all could be taken from")
            else:
                rank = len(aval.shape) + 1
                if not -rank <= axis < rank:
                    raise ValueError("axis %d is out of bounds for array of dimension %d" %
                                     (axis, rank))
                axis %= rank
            places.append((axis, *_form(aval)))
        return places


def _data_of(function):
    """Of a function, the data types of arguments by name, and all names in order."""
    data = function.data_arguments() if isinstance(function, _functions.Defined) else \
        _functions.data_arguments(function)
    if not data:
        return {}, ()
    return data, tuple(inspect.signature(function).parameters)


class Mapped:
    """A function for all instances; compiled for each kind of arguments."""

    def __init__(self, function, in_axes, out_axes, axis_size, options):
        functools.update_wrapper(self, function)
        self.function, self.in_axes, self.out_axes = function, in_axes, out_axes
        self.axis_size, self.options = axis_size, options
        self.data, self._entry = _data_of(function)
        self.known = {}  # compiled functions, and the trees of their results
        self.calls = {}  # that have been checked
        self.lock = threading.RLock()

    def __call__(self, *arguments, **named):
        if self.data:  # once for all that follows
            arguments, named = self._forests(arguments, named)
        leaves, tree = arguments, None  # arrays alone have no other structure
        kinds = list(map(_kind, leaves))
        if named or None in kinds:
            leaves, tree = _trees.flatten((arguments, named))
            kinds = list(map(_kind, leaves))
        key = (tree, *kinds, _context(), _options.of_calls())
        is_tracing = _compiled.is_tracing()
        call = None if is_tracing or None in kinds else self.calls.get(key)
        if call:
            return call(leaves)
        leaves, call = self._checked(arguments, named)
        if is_tracing or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return call.traced(leaves)
        results = call(leaves)
        if None not in kinds:
            with self.lock:
                while len(self.calls) >= _CALLS:
                    del self.calls[next(iter(self.calls))]
                self.calls[key] = call
        return results

    def explain(self, *arguments, **named):
        """Runs the function, and returns an Explanation: what the compiler decided, and
        which lines ran for how many instances at once."""
        leaves, call = self._checked(arguments, named)
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            raise TypeError("explain() runs the function: call it outside of jax.jit and "
                            "other transformations")
        return call.compiled.explain(call.words_of(leaves), call.axes, call.size,
                                     "%r" % getattr(self.function, "__name__",
                                                    "a function"))

    def _checked(self, arguments, named):
        """The leaves of the arguments, and a call that fits them."""
        if self.data:
            arguments, named = self._forests(arguments, named)
        # Arguments by name are mapped along their first axis.
        in_axes = (tuple(self.in_axes) if isinstance(self.in_axes, list)
                   else self.in_axes), 0
        if isinstance(self.in_axes, (tuple, list)) and len(self.in_axes) != len(arguments):
            raise ValueError("vmap in_axes must be an int, None, or a tuple of entries "
                             "corresponding to the positional arguments passed to the "
                             "function, but got len(in_axes)=%d, len(args)=%d" % (
                                 len(self.in_axes), len(arguments)))
        leaves, tree = _trees.flatten((arguments, named))
        avals = list(map(aval_of, leaves))
        axes = _spread(in_axes, (arguments, named), "in_axes")
        size, axes = self._size(avals, axes, leaves)
        for leaf in leaves:
            check_place(leaf)
        try:
            types = ragged_types(leaves, list(map(type_of, avals, axes)))
            compiled, results = self.compile(types,
                                             [axis is UNMAPPED for axis in axes], tree)
        except LoweringError as error:  # of an argument's type, which no line has made
            if re.match(r".*:\d+ \(in ", str(error)):
                raise
            raise LoweringError(_expand.here() + str(error)) from None
        return leaves, _Call(compiled, axes, size, results, self.out_axes)

    def _forests(self, arguments, named):
        """The arguments, with batches of data for those that are annotated so."""
        arguments, named = list(arguments), dict(named)
        for i, name in enumerate(self._entry):
            if i < len(arguments) and name in self.data:
                arguments[i] = _forest.of(self.data[name], arguments[i],
                                          "argument %r" % name)
        for name in set(named).intersection(self.data):
            named[name] = _forest.of(self.data[name], named[name], "argument %r" % name)
        return tuple(arguments), named

    def _size(self, avals, axes, leaves):
        """The number of instances, and the axes, none of which is negative."""
        size, positive = self.axis_size, []
        for aval, axis, leaf in zip(avals, axes, leaves):
            if axis is UNMAPPED and isinstance(leaf, Forest):
                raise ValueError("each instance has a %s of its own: its in_axes is 0" %
                                 _adt.describe(leaf.kind))
            if axis is UNMAPPED:
                positive.append(axis)
                continue
            if isinstance(leaf, _bound.Bound):
                raise ValueError("an array of batch.bind is the same for all instances: "
                                 "its in_axes is None")
            shape = aval.shape
            if isinstance(leaf, Ragged):
                if axis != 0:
                    raise ValueError("instances of a batch.Ragged lie along axis 0, not %d" %
                                     axis)
                shape = (len(leaf),)
            if not -len(shape) <= axis < len(shape):
                raise ValueError("vmap was requested to map its argument along axis %d, "
                                 "which implies that its rank should be at least %d, but "
                                 "is only %d (its shape is %s)" % (
                                     axis, axis + 1 if axis >= 0 else -axis, len(shape),
                                     shape))
            axis %= len(shape)
            positive.append(axis)
            if size is None:
                size = shape[axis]
            elif size != shape[axis]:
                raise ValueError("vmap got inconsistent sizes for array axes to be mapped: "
                                 "%d and %d (shape %s, axis %d)" % (
                                     size, shape[axis], shape, axis))
        if size is None:
            raise ValueError("vmap must have at least one non-None value in in_axes, or "
                             "axis_size")
        return size, positive

    def compile(self, types, shared, tree):
        """The function for arguments of these types, and the tree of its results."""
        if _compiled.is_tracing():  # it may read what is there only now
            return self._compile(types, shared, tree)
        key = tree, tuple(types), tuple(shared), _context()
        with self.lock:
            if key not in self.known:
                self.known[key] = self._compile(types, shared, tree)
            return self.known[key]

    def _compile(self, types, shared, tree):
        kinds = [kind if isinstance(kind, (_adt.Data, _adt.List)) else None for kind in types]
        symbols = _extents.symbols(_extents.of(
            part[0] for part, kind in zip(types, kinds) if not kind))

        def spec(part, kind):
            if kind:
                return _values.value_of(kind, jax.ShapeDtypeStruct((), numpy.int32))
            shape, dtype, weak = part
            return jax.ShapeDtypeStruct([symbols.get(n, n) for n in shape], dtype,
                                        weak_type=weak)

        function, recursion = self.function, None
        specs = jax.tree.unflatten(tree, list(map(spec, types, kinds)))
        # What a function reads of data it reads as one that others may call.
        has_data = any(kinds)
        if has_data and not isinstance(function, _functions.Defined):
            function = _functions.Defined(function, _adt.Scope(0))
        failed = []
        with _compiled.tracing(), _compiled.without_mesh(), jax.disable_jit(False), \
                _functions.program() as program:
            if symbols and not has_data:
                entry = _functions.Entry(lambda a, k: function(*a, **k), specs,
                                         next(iter(symbols.values())).scope)
                closed, result, failed = entry.closed, entry.result, entry.failed
            else:
                closed, result = jax.make_jaxpr(lambda a, k: function(*a, **k),
                                                return_shape=True)(*specs)
            program.complete()
        for constant in closed.consts:
            check_place(constant)
        for variable in closed.jaxpr.invars:
            _lowering.element_type(_expand.words(variable.aval).dtype)
        if program.specs or program.constructed:
            _functions.check_results(_values.kinds_in(result))
            recursion = _functions.Types(program, kinds, _values.kinds_in(result))
        return (_compiled.Compiled(closed, shared, self.options, recursion, failed),
                jax.tree.structure(result, is_leaf=_values.is_value))


def one(function, arguments, named):
    """What a @batch.function gives for one instance, whose arrays are parameters."""
    bound = inspect.signature(function).bind(*arguments, **named)
    if bound.kwargs:
        raise TypeError("%s is called outside of other functions: its arguments are given in "
                        "order" % function.__name__)
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(bound.args)):
        raise TypeError(_expand.here() + "%s is a @batch.function, which JAX does not trace: call "
                        "it in what batch.vmap is given" % function.__name__)
    data, names = _data_of(function)
    is_data = tuple(name in data for name, _ in itertools.zip_longest(names, bound.args))
    mapped = function.alone.get(is_data)
    if mapped is None:
        mapped = function.alone[is_data] = Mapped(
            function, tuple(0 if is_one else None for is_one in is_data), 0, 1,
            {"lanes": 0, "threads": None, "strategy": "auto"})
    results = mapped(*[[value] if is_one else value
                       for value, is_one in zip(bound.args, is_data)])
    return jax.tree.map(
        lambda value: value if isinstance(value, _forest.Nodes) else value[0], results)


def vmap(f, in_axes=0, out_axes=0, axis_size=None, *, axis_name=None, lanes=0, threads=None,
         strategy="auto", stack_depth=64):
    """As jax.vmap, but each lane runs its loops and branches by itself.

    A loop of `jax.vmap` runs until its slowest lane has ended, and of a conditional both
    sides; here a lane that has ended costs nothing, and results do not depend on the
    batch. f is traced once for each kind of arguments, and compiled once for any number
    of lanes; the results are jax.vmap's, up to rounding.

    in_axes, out_axes, axis_size: as of jax.vmap. Arguments with in_axes=None, and arrays
        that f closes over, are parameters: they are copied once, arrays of JAX as long as
        the same ones are given, others with batch.bind.
    lanes: the most that are in progress at once, in lock step; 0: all.
    threads: workers; None: one for each core.
    strategy: where control runs (docs/Pipelines.md).
    stack_depth: the most calls within each other of a recursion in lock step, whose lanes
        have stacks of so many.
    """
    if axis_name is not None:
        raise LoweringError(_expand.here() + "batch.vmap has no axis_name: lanes do not wait for "
                            "each other; use jax.vmap for collectives")
    if not callable(f):
        raise TypeError("batch.vmap expects a function, found %r" % (f,))
    _trees.check(in_axes, "in_axes")
    _trees.check(out_axes, "out_axes")
    # They are part of what a call remembers.
    return Mapped(f, _copy(in_axes), _copy(out_axes), axis_size,
                  {"lanes": lanes, "threads": threads, "strategy": strategy,
                   "stack_depth": stack_depth})
