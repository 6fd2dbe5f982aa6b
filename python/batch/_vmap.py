"""batch.vmap: functions of JAX over a batch, each lane with control of its own."""

import collections
import contextlib
import functools
import threading

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core

from batch import _compiler, _expand, _explain, _lowering, _places

LoweringError = _lowering.LoweringError
_UNMAPPED = object()  # None would be an empty tree
_tracing = threading.local()
_BOUND = 8  # sets of parameters that stay bound, for each compiled function


def _spread(axes, tree, what):
    """Axes, a prefix of a tree, for each of its leaves."""
    marked = jax.tree.map(lambda axis: _UNMAPPED if axis is None else axis, axes,
                          is_leaf=lambda axis: axis is None)
    try:
        spread = jax.tree.map(lambda axis, part: jax.tree.map(lambda _: axis, part),
                              marked, tree)
    except (ValueError, TypeError) as error:
        raise ValueError("vmap %s must be an int, None, or a tree prefix of the %s: %s" % (
            what, "arguments" if what == "in_axes" else "results", error)) from None
    axes = jax.tree.leaves(spread)
    for axis in axes:
        if axis is not _UNMAPPED and not isinstance(axis, int):
            raise TypeError("vmap %s must be an int, None, or a tree of them; found %r" %
                            (what, axis))
    return axes


def _depends(jaxpr, mapped):
    """Which results depend on the inputs that are mapped."""
    known = {v: is_mapped for v, is_mapped in zip(jaxpr.invars, mapped)}
    for equation in jaxpr.eqns:
        any_mapped = any(known.get(atom, False) for atom in equation.invars
                         if not isinstance(atom, core.Literal))
        known.update((v, any_mapped) for v in equation.outvars)
    return [not isinstance(atom, core.Literal) and known.get(atom, False)
            for atom in jaxpr.outvars]


def _signed(dtype):
    """The type of the same bits that the runtime has."""
    return numpy.dtype(dtype.name[1:]) if dtype.kind == "u" and dtype.itemsize > 1 else \
        numpy.dtype(numpy.int8) if dtype.kind == "u" else dtype


def _words(leaf):
    """A key is its words; other arrays are what they are."""
    aval = jax.typeof(leaf)
    return jax.random.key_data(leaf) if _expand.is_key(aval) else leaf


def _key(words):
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def _for_runtime(array, dtype, axis):
    """An array whose first dimension is `axis`; without a copy, as a rule."""
    if dtype.name == "bfloat16":
        array = jnp.asarray(array, dtype)
        return array if axis in (_UNMAPPED, 0) else jnp.moveaxis(array, axis, 0)
    array = numpy.asarray(array)
    if array.dtype != dtype:
        array = array.astype(dtype)
    array = array.view(_signed(array.dtype)) if array.dtype.kind == "u" else array
    return array if axis in (_UNMAPPED, 0) else numpy.moveaxis(array, axis, 0)


def _check_place(array):
    if isinstance(array, jax.Array):
        devices = array.devices()
        if len(devices) > 1 or any(d.platform != "cpu" for d in devices):
            raise ValueError("batch.vmap runs on this machine's CPU: move the array there "
                             "with jax.device_put; it is on %s" % ", ".join(map(str, devices)))


class _Compiled:
    """A function for arguments of certain types."""

    def __init__(self, closed, tree, shared, options):
        self.closed, self.tree, self.shared = closed, tree, shared
        jaxpr = closed.jaxpr
        self.text, constants, self.places = _lowering.lower(closed, shared)
        with _places.translated(self.places):
            self.model = _compiler.compile(self.text, strategy=options["strategy"])
        self.options = {name: options[name] for name in ("lanes", "threads")}
        self.constants = {"p%d" % i: _for_runtime(value, jax.typeof(value).dtype, _UNMAPPED)
                          for i, value in enumerate(constants)}
        self.dtypes = [_expand.words(v.aval).dtype for v in jaxpr.invars]
        self.results = [atom.aval for atom in jaxpr.outvars]
        self.depends = _depends(jaxpr, [not is_shared for is_shared in shared])
        self.bound = collections.OrderedDict()
        self.lock = threading.Lock()

    def bind(self, leaves, keep):
        """The model with these parameters. Arrays of JAX do not change: they are
        known again by identity."""
        shared = [leaf for leaf, is_shared in zip(leaves, self.shared) if is_shared]
        key = tuple(map(id, shared))
        keeps = keep and all(isinstance(leaf, jax.Array) for leaf in shared)
        with self.lock:
            if keeps and key in self.bound:
                self.bound.move_to_end(key)
                return self.bound[key][1]
            parameters = dict(self.constants)
            for i, (leaf, dtype, is_shared) in enumerate(
                    zip(leaves, self.dtypes, self.shared)):
                if is_shared:
                    parameters["a%d" % i] = _for_runtime(leaf, dtype, _UNMAPPED)
            function = self.model.bind(parameters, **self.options)
            if keeps:
                self.bound[key] = shared, function  # the arrays live as long as their ids
                while len(self.bound) > _BOUND:
                    self.bound.popitem(last=False)
            return function

    def run(self, leaves, axes, size, keep=True):
        """Results with the instances in front, as NumPy arrays or JAX's. `keep`: whether
        the same arrays may come again."""
        function = self.bind(leaves, keep)
        with _places.translated(self.places):
            results = function.run(size, self._values(leaves, axes))
        outputs = []
        for array, aval in zip(results, self.results):
            if aval.dtype.name == "bfloat16":
                array = jnp.from_dlpack(array)
            elif array.dtype != _expand.words(aval).dtype:
                array = array.view(_expand.words(aval).dtype)
            outputs.append(array)
        return outputs

    def explain(self, leaves, axes, size, name):
        """Runs the same; what was decided and what ran, of a function of this name."""
        function = self.bind(leaves, keep=True)
        with _places.translated(self.places):
            return _explain.explain(function, size, self._values(leaves, axes),
                                    places=self.places, what=name)

    def _values(self, leaves, axes):
        return [(_for_runtime(leaf, dtype, axis), []) for leaf, dtype, axis, is_shared in
                zip(leaves, self.dtypes, axes, self.shared) if not is_shared]


class _Mapped:
    def __init__(self, function, in_axes, out_axes, axis_size, options):
        functools.update_wrapper(self, function)
        self.function, self.in_axes, self.out_axes = function, in_axes, out_axes
        self.axis_size, self.options = axis_size, options
        self.known = {}
        self.lock = threading.Lock()

    def __call__(self, *arguments, **named):
        return self._call(arguments, named)

    def explain(self, *arguments, **named):
        """Runs the function, and returns an Explanation: what the compiler decided, and
        which lines ran for how many instances at once."""
        return self._call(arguments, named, explained=True)

    def _call(self, arguments, named, explained=False):
        # Arguments by name are mapped along their first axis.
        in_axes = (tuple(self.in_axes) if isinstance(self.in_axes, list)
                   else self.in_axes), 0
        if isinstance(self.in_axes, (tuple, list)) and len(self.in_axes) != len(arguments):
            raise ValueError("vmap in_axes must be an int, None, or a tuple of entries "
                             "corresponding to the positional arguments passed to the "
                             "function, but got len(in_axes)=%d, len(args)=%d" % (
                                 len(self.in_axes), len(arguments)))
        leaves, tree = jax.tree.flatten((arguments, named))
        for leaf in leaves:
            try:
                jax.typeof(leaf)
            except TypeError:
                raise TypeError("Argument %r of type %s is not a valid JAX type" % (
                    leaf, type(leaf))) from None
        axes = _spread(in_axes, (arguments, named), "in_axes")
        if getattr(_tracing, "on", False):
            # A part of a function that is being compiled is compiled with it.
            return jax.vmap(self.function, self.in_axes, self.out_axes,
                            axis_size=self.axis_size)(*arguments, **named)
        size, axes = self._size(leaves, axes)
        compiled = self._compile(leaves, axes, tree, size)
        leaves = list(map(_words, leaves))
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            if explained:
                raise TypeError("explain() runs the function: call it outside of jax.jit "
                                "and other transformations")
            return self._in_jax(compiled, leaves, axes, size)
        for leaf in leaves:
            _check_place(leaf)
        if explained:
            return compiled.explain(leaves, axes, size, "%r" % getattr(
                self.function, "__name__", "a function"))
        return self._finish(compiled, compiled.run(leaves, axes, size), size, jnp.asarray)

    def _size(self, leaves, axes):
        """The number of instances, and the axes, none of which is negative."""
        size, positive = self.axis_size, []
        for leaf, axis in zip(leaves, axes):
            if axis is _UNMAPPED:
                positive.append(axis)
                continue
            shape = numpy.shape(leaf)
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

    def _compile(self, leaves, axes, tree, size):
        types = []
        for leaf, axis in zip(leaves, axes):
            aval = jax.typeof(leaf)
            dtype = jax.dtypes.canonicalize_dtype(aval.dtype) if not jax.dtypes.issubdtype(
                aval.dtype, jax.dtypes.extended) else aval.dtype
            shape = aval.shape if axis is _UNMAPPED else \
                aval.shape[:axis] + aval.shape[axis + 1:]
            types.append((shape, dtype, bool(getattr(aval, "weak_type", False))))
        shared = [axis is _UNMAPPED for axis in axes]
        key = tree, tuple(types), tuple(shared), jax.config.jax_enable_x64
        with self.lock:
            if key not in self.known:
                specs = jax.tree.unflatten(tree, [
                    jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)
                    for shape, dtype, weak in types])
                with self._trace():
                    closed, shape = jax.make_jaxpr(
                        lambda a, k: self.function(*a, **k), return_shape=True)(*specs)
                self.known[key] = _Compiled(closed, jax.tree.structure(shape), shared,
                                            self.options)
            return self.known[key]

    @contextlib.contextmanager
    def _trace(self):
        before = getattr(_tracing, "on", False)
        _tracing.on = True
        try:
            yield
        finally:
            _tracing.on = before

    def _finish(self, compiled, outputs, size, convert):
        """The results as the caller has asked for them."""
        results = jax.tree.unflatten(compiled.tree, outputs)
        axes = _spread(self.out_axes, results, "out_axes")
        placed = []
        for array, axis, depends, aval in zip(outputs, axes, compiled.depends,
                                              compiled.results):
            if _expand.is_key(aval):
                array = _key(jnp.asarray(array))
            if axis is _UNMAPPED:
                if depends:
                    raise ValueError("vmap has mapped output but out_axes is None")
                if size == 0:
                    raise ValueError("there is no instance that an output which is the "
                                     "same for all could be taken from")
                array = array[0]
            else:
                rank = len(aval.shape) + 1
                if not -rank <= axis < rank:
                    raise ValueError("axis %d is out of bounds for array of dimension %d" %
                                     (axis, rank))
                array = numpy.moveaxis(array, 0, axis) if isinstance(
                    array, numpy.ndarray) else jnp.moveaxis(array, 0, axis)
            placed.append(convert(array))
        return jax.tree.unflatten(compiled.tree, placed)

    def _in_jax(self, compiled, leaves, axes, size):
        """Under jax.jit: one call back."""
        results = list(map(_expand.words, compiled.results))
        specs = [jax.ShapeDtypeStruct((size,) + aval.shape, aval.dtype) for aval in results]
        outputs = jax.eval_shape(
            lambda *arrays: self._finish(compiled, list(arrays), size, _words), *specs)

        def run(*values):
            return self._finish(compiled, compiled.run(list(values), axes, size, keep=False),
                                size, lambda array: numpy.asarray(_words(array)))

        @jax.custom_jvp
        def call(*values):
            return jax.pure_callback(run, outputs, *values, vmap_method="sequential")

        @call.defjvp
        def _(*_):
            raise NotImplementedError(
                "batch.vmap(f) is not differentiated from outside: use "
                "batch.vmap(jax.grad(f)), whose derivative is compiled with it")

        leaves, tree = jax.tree.flatten(call(*leaves))
        return jax.tree.unflatten(tree, [
            _key(leaf) if _expand.is_key(aval) else leaf
            for leaf, aval in zip(leaves, compiled.results)])


def vmap(f, in_axes=0, out_axes=0, axis_size=None, *, axis_name=None, lanes=0, threads=None,
         strategy="auto"):
    """As jax.vmap, but each lane runs its loops and branches by itself.

    A loop of `jax.vmap` runs until its slowest lane has ended, and of a conditional both
    sides; here a lane that has ended costs nothing, and results do not depend on the
    batch. f is traced once for each kind of arguments, and compiled once for any number
    of lanes; the results are jax.vmap's, up to rounding.

    in_axes, out_axes, axis_size: as of jax.vmap. Arguments with in_axes=None, and arrays
        that f closes over, are parameters: they are copied once, arrays of JAX as long as
        the same ones are given.
    lanes: the most that are in progress at once, in lock step; 0: all.
    threads: workers; None: one for each core.
    strategy: where control runs (docs/Pipelines.md).
    """
    if axis_name is not None:
        raise NotImplementedError("batch.vmap has no axis_name: lanes do not wait for each "
                                  "other; use jax.vmap for collectives")
    if not callable(f):
        raise TypeError("batch.vmap expects a function, found %r" % (f,))
    return _Mapped(f, in_axes, out_axes, axis_size,
                   {"lanes": lanes, "threads": threads, "strategy": strategy})
