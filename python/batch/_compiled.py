"""A function of JAX for arguments of certain types: traced, compiled when it first runs,
and to JAX, a primitive."""

import collections
import contextlib
import threading

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core
from jax.interpreters import ad, batching, mlir

from batch import _arrays, _bound, _compiler, _expand, _explain, _extents, _forest, _functions
from batch import _lowering
from batch import _options, _places
from batch._arrays import UNMAPPED, for_runtime, is_plain, key_of, to_jax
from batch._forest import Forest
from batch._model import Ragged

_BOUND = 8  # sets of parameters that stay bound, for each compiled function


def depends(jaxpr, mapped):
    """Which results depend on the inputs that are mapped."""
    known = {v: is_mapped for v, is_mapped in zip(jaxpr.invars, mapped)}
    for equation in jaxpr.eqns:
        any_mapped = any(known.get(atom, False) for atom in equation.invars
                         if not isinstance(atom, core.Literal))
        known.update((v, any_mapped) for v in equation.outvars)
    return [not isinstance(atom, core.Literal) and known.get(atom, False)
            for atom in jaxpr.outvars]


def without_mesh():
    """A context in which JAX knows no mesh: what is compiled here runs on this machine's
    CPU, wherever it is called."""
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ()))


# --- compiled functions ------------------------------------------------------------------

def _array(leaf):
    return numpy.asarray(leaf.value if isinstance(leaf, _bound.Bound) else leaf)


class Compiled:
    """A closed jaxpr, and which of its arguments are the same for all instances.

    recursion: what is known of its data types (_functions.Types), if it has any.
    failed: (path, error) of paths that raise one, as _functions.Entry has them.
    """

    def __init__(self, closed, shared, options, recursion=None, failed=()):
        self.closed, self.shared, self._options = closed, list(shared), options
        self.recursion, self._failed = recursion, failed
        self.dtypes = [_expand.words(v.aval).dtype for v in closed.jaxpr.invars]
        self.results = [atom.aval for atom in closed.jaxpr.outvars]
        self.depends = depends(closed.jaxpr, [not is_shared for is_shared in shared])
        is_there = [not _expand.is_empty(v.aval) for v in closed.jaxpr.invars]
        # Those that the model has: its parameters and its arguments.
        self._parameters = [i for i, there in enumerate(is_there) if there and shared[i]]
        self._arguments = [i for i, there in enumerate(is_there) if there and not shared[i]]
        self._plain = [is_plain(dtype) for dtype in self.dtypes]
        self._words = [(aval, _expand.is_empty(aval))
                       for aval in map(_expand.words, self.results)]
        self._others = {}
        self._bound = collections.OrderedDict()
        self._lock = threading.RLock()
        self._model = None
        self._only = None  # the model bound, where there is only one way
        self._places = None  # of results among the model's outputs, where some are data

    @property
    def model(self):
        if self._model is not None:
            return self._model
        with self._lock:
            if self._model is None:
                with without_mesh(), _options.ours():
                    self.text, constants, self.places = _lowering.lower(
                        self.closed, self.shared, self.recursion)
                self._constants = {"p%d" % i: value for i, value in enumerate(constants)}
                self._changing = [value for value in constants
                                  if isinstance(value, _bound.Bound)]
                with _places.translated(self.places):
                    self._model = _compiler.compile(self.text, strategy=self._strategy())
            return self._model

    def _strategy(self):
        """Lanes refill in lock step; where all instances take equally long, and where
        extents differ, there is nothing to gain, or no lock step."""
        strategy = self._options["strategy"]
        refills = strategy == "auto" and self._options.get("refill") and \
            "scf.while" in self.text and not _extents.of(
                v.aval.shape for v in self.closed.jaxpr.invars)
        return "lockstep" if refills else strategy

    def sharing(self, shared):
        """The same function, of which other arguments are the same for all instances."""
        shared = tuple(shared)
        with self._lock:
            if shared == tuple(self.shared):
                return self
            if shared not in self._others:
                self._others[shared] = Compiled(self.closed, shared, self._options,
                                                self.recursion, self._failed)
            return self._others[shared]

    def bind(self, leaves, keep=True):
        """The model with these parameters. Arrays of JAX do not change: they are
        known again by identity, and bound arrays by their versions."""
        if self._only:
            return self._only
        model = self.model
        changing = [*[leaves[i] for i in self._parameters], *self._changing]
        key = tuple([(id(value), getattr(value, "version", 0)) for value in changing])
        with self._lock:
            known = self._bound.get(key)  # which has arrays that live, and do not change
            if known:
                self._bound.move_to_end(key)
                return known[1]
        given = {"a%d" % i: leaves[i] for i in self._parameters}
        # Without arguments there are only constants.
        keeps = keep or not given
        given.update(self._constants)
        keeps = keeps and all(isinstance(value, (jax.Array, _bound.Bound))
                              for value in given.values())
        # Without the lock: an array of JAX may wait for a call back that wants it.
        values = [value.value if isinstance(value, _bound.Bound) else value
                  for value in given.values()]
        function = model.bind(
            {name: for_runtime(value, _expand.type_of(value).dtype if name[0] == "p"
                               else self.dtypes[int(name[1:])])
             for name, value in zip(given, values)},
            lanes=self._options["lanes"], threads=self._options["threads"],
            stack_depth=self._options.get("stack_depth", 64), bits=True)
        if keeps:
            with self._lock:
                if not key:
                    self._only = function
                # The arrays live as long as their ids.
                self._bound[key] = list(given.values()), function
                while len(self._bound) > _BOUND:
                    self._bound.popitem(last=False)
        return function

    def run(self, leaves, axes, size, keep=True):
        """Results with the instances in front, as NumPy's arrays. `keep`: whether the
        same arrays may come again. Calls nothing of JAX's."""
        function = self.bind(leaves, keep)
        with _places.translated(self.places):
            given = self._given(leaves, axes, size)
            try:
                outputs = function.run(size, *given, bits=True)
            except TypeError:  # of arrays on several devices, or deleted, which say so
                given = self._given(leaves, axes, size, as_they_are=False)
                outputs = function.run(size, *given, bits=True)
        return self.from_runtime(outputs)

    def check(self, outputs, leaves=None, axes=None, numbers=None):
        """Raises JAX's error for values that jax_debug_nans or jax_debug_infs forbids.

        leaves, axes: arguments of the call, with which JAX finds the operation.
        numbers: numbers of the instances; None: counted from 0.
        """
        if not _options.is_checked():
            return
        places, arrays = [], []
        for number, output in enumerate(outputs):
            for array in output._fields.values() if isinstance(output, _forest.Nodes) else [output]:
                places.append((number, getattr(array, "offsets", None)))
                arrays.append(getattr(array, "values", array))
        found = _options.unwanted(arrays)
        if not found:
            return
        name, position, row = found
        number, offsets = places[position]
        if offsets is not None:
            row = int(numpy.searchsorted(offsets, row, "right")) - 1
        where = "result %d of instance %d of batch.vmap" % (
            number, row if numbers is None else numbers[row])
        if leaves is not None:
            self._find(leaves, axes, row, where)
        raise FloatingPointError("invalid value (%s) encountered in %s" % (name, where))

    def _find(self, leaves, axes, row, where):
        """Runs an instance in JAX, if possible, which checks one operation at a time."""
        avals = [v.aval for v in self.closed.jaxpr.invars]
        if self.recursion or _extents.of(aval.shape for aval in avals):
            return
        with jax.transfer_guard("allow"):
            arguments = [leaf if axis is UNMAPPED else numpy.take(leaf, row, axis)
                         for leaf, axis in zip(map(_array, leaves), axes)]
            try:
                core.jaxpr_as_fun(self.closed)(*[
                    key_of(value) if _expand.is_key(aval) else jnp.asarray(value, aval.dtype)
                    for value, aval in zip(arguments, avals)])
            except FloatingPointError as error:
                error.add_note("of " + where)
                raise
            except Exception:  # JAX cannot run it
                return

    def arguments(self, leaves):
        """The arguments of one instance, as arrays of one."""
        return [for_runtime(leaf, dtype)[None] for leaf, dtype, v in zip(
            leaves, self.dtypes, self.closed.jaxpr.invars) if not _expand.is_empty(v.aval)]

    def explain(self, leaves, axes, size, name):
        """Runs the same; what was decided and what ran, of a function of this name."""
        function = self.bind(leaves)
        with _places.translated(self.places):
            return _explain.explain(function, size, *self._given(leaves, axes, size),
                                    places=self.places, what=name)

    def _given(self, leaves, axes, size, as_they_are=True):
        """The arrays of arguments, and the nodes of data structures."""
        values = self._values(leaves, axes, as_they_are)
        if all(value is not None for value in values):  # no data
            return values, None
        return _forest.given(self.model, {"a%d" % i: leaves[i] for i in self._arguments},
                             values, size)

    def quick(self, leaves, axes, size, outputs):
        """run() and to_jax() for all arguments of these kinds, without Python between;
        False if there is more to do. `outputs`: the results of one run."""
        if self.recursion or not self._only or not _arrays.quick_put() or \
                not all(self._reads(i, leaves[i], axes[i]) for i in self._arguments) or \
                not all(is_plain(aval.dtype) and not is_empty
                        for aval, is_empty in self._words):
            return False
        # Without x64 JAX narrows what the function has given all the same.
        types = [_arrays.aval(array.shape, array.dtype,
                              bool(getattr(aval, "weak_type", False)))
                 for array, aval in zip(outputs, self.results)]
        if any(jax.dtypes.canonicalize_dtype(t.dtype) != t.dtype for t in types):
            return False
        return self._only.quick(size, self._arguments, types, _arrays.quick_put())

    def _reads(self, i, leaf, axis):
        """Whether the runtime reads an argument, and others of its kind, from where it
        is."""
        return self._plain[i] and axis == 0 and (
            type(leaf) is numpy.ndarray or isinstance(leaf, jax.Array)) and \
            leaf.dtype == self.dtypes[i]

    def _values(self, leaves, axes, as_they_are=True):
        """What the runtime reads of the arguments. `as_they_are`: it may read them from
        where they are."""
        values, lengths = [], {}
        for i in self._arguments:
            leaf, dtype, axis = leaves[i], self.dtypes[i], axes[i]
            if type(leaf) is Forest:
                values.append(None)
            elif as_they_are and self._reads(i, leaf, axis):
                values.append(leaf)
            elif isinstance(leaf, Ragged):
                values.append((for_runtime(leaf.values, dtype), [leaf.offsets]))
                lengths.setdefault(str(self.closed.jaxpr.invars[i].aval.shape[0]),
                                   numpy.diff(leaf.offsets))
            else:
                values.append((for_runtime(leaf, dtype, axis), []))
        for path, error in self._failed:
            _functions.check_path(path, error, lengths)
        return values + [(numbers.astype(_extents.number_type().replace("i", "int")), [])
                         for numbers in lengths.values()]

    def from_runtime(self, outputs):
        """Results as JAX has them; those without elements were not computed."""
        size, results = len(outputs[0]), []
        if self.recursion:
            return self._with_data(outputs, size)
        outputs = iter(outputs)
        for aval, is_empty in self._words:
            array = numpy.zeros((size,) + aval.shape, aval.dtype) if is_empty else \
                next(outputs)
            results.append(array if array.dtype == aval.dtype else array.view(aval.dtype))
        return results

    def _with_data(self, outputs, size):
        """The same of results that may be of data types."""
        if self._places is None:
            numbers = {field.name: i for i, field in enumerate(self.model.outputs)}
            self._places = [
                _forest.fields_in(kind.adt, numbers) if kind else numbers.get("r%d" % i)
                for i, kind in enumerate(self.recursion.results)]
        results = []
        for (aval, is_empty), kind, place in zip(self._words, self.recursion.results,
                                                 self._places):
            if kind:
                results.append(_forest.nodes_of(kind.adt, place, outputs))
                continue
            array = numpy.zeros((size,) + aval.shape, aval.dtype) if is_empty else \
                outputs[place]
            results.append(array if array.dtype == aval.dtype else array.view(aval.dtype))
        return results


# --- JAX ---------------------------------------------------------------------------------

_state = threading.local()


def is_tracing():
    """Whether this thread traces a function that Batch compiles."""
    return getattr(_state, "tracing", False)


@contextlib.contextmanager
def tracing():
    before, _state.tracing = is_tracing(), True
    try:
        yield
    finally:
        _state.tracing = before


def _result(aval, size):
    aval = _expand.words(aval)
    return jax.core.ShapedArray((size,) + aval.shape, aval.dtype,
                                weak_type=getattr(aval, "weak_type", False))


def by_jax(compiled, axes, size):
    """What batch.vmap computes as jax.vmap does, of words for keys."""
    kinds = [v.aval for v in compiled.closed.jaxpr.invars]

    def one(*leaves):
        leaves = [key_of(leaf) if _expand.is_key(aval) else leaf
                  for leaf, aval in zip(leaves, kinds)]
        return [jax.random.key_data(result) if _expand.is_key(aval) else result
                for result, aval in zip(core.jaxpr_as_fun(compiled.closed)(*leaves),
                                        compiled.results)]

    return jax.vmap(one, tuple(None if axis is UNMAPPED else axis for axis in axes),
                    axis_size=size)


# A call of a compiled function, of arrays with words for keys; its results have the
# instances in front.
call_p = core.Primitive("batch_vmap")
call_p.multiple_results = True


@call_p.def_abstract_eval
def _(*_, compiled, axes, size):
    return [_result(aval, size) for aval in compiled.results]


@call_p.def_impl
def _(*leaves, compiled, axes, size):
    outputs = compiled.run(leaves, axes, size)
    compiled.check(outputs, leaves, axes)
    return [to_jax(array, getattr(aval, "weak_type", False))
            for array, aval in zip(outputs, compiled.results)]


def _lower(context, *values, compiled, axes, size):
    compiled.model  # errors come from here, not from the call back
    specs = [jax.ShapeDtypeStruct(out.shape, out.dtype) for out in context.avals_out]

    def run(*leaves):
        return compiled.run(leaves, axes, size, keep=False)

    return mlir.lower_fun(lambda *leaves: jax.pure_callback(run, specs, *leaves),
                          multiple_results=True)(context, *values)


mlir.register_lowering(call_p, _lower)


@_expand.rule("batch_vmap")
def _(*leaves, compiled, axes, size):
    # A part of a function that is being compiled is compiled with it.
    return by_jax(compiled, axes, size)(*leaves)


def _tangent(primal, tangent):
    if not isinstance(tangent, ad.Zero):
        return tangent
    dtype = jnp.result_type(primal)
    return numpy.zeros(jnp.shape(primal), dtype if jnp.issubdtype(dtype, jnp.inexact)
                       else jax.dtypes.float0)


def _jvp(primals, tangents, *, compiled, axes, size):
    if is_tracing():
        return jax.jvp(by_jax(compiled, axes, size), tuple(primals),
                       tuple(map(_tangent, primals, tangents)))
    raise NotImplementedError(
        "batch.vmap(f) is not differentiated from outside: use batch.vmap(jax.grad(f)), "
        "whose derivative is compiled with it")


ad.primitive_jvps[call_p] = _jvp


def _batch(leaves, dims, *, compiled, axes, size):
    """As many instances as all together; what was shared by some is so no more."""
    (count,) = {leaf.shape[dim] for leaf, dim in zip(leaves, dims)
                if dim is not None}
    shared, flat = [], []
    for leaf, dim, axis in zip(leaves, dims, axes):
        is_same = dim is None
        shared.append(is_same and axis is UNMAPPED)
        if shared[-1]:
            flat.append(leaf)
            continue
        # Before its own dimensions: the batch, and the instances.
        if axis is not UNMAPPED and not is_same and dim <= axis:
            axis += 1  # of the array with both
        if axis is UNMAPPED:
            leaf = jnp.moveaxis(leaf, dim, 0)[:, None]
        elif is_same:
            leaf = jnp.moveaxis(leaf, axis, 0)[None]
        else:
            leaf = jnp.moveaxis(leaf, (dim, axis), (0, 1))
        leaf = jnp.broadcast_to(leaf, (count, size) + leaf.shape[2:])
        flat.append(leaf.reshape((count * size,) + leaf.shape[2:]))
    results = call_p.bind(*flat, compiled=compiled.sharing(shared),
                          axes=tuple(UNMAPPED if same else 0 for same in shared),
                          size=count * size)
    return [result.reshape((count, size) + result.shape[1:]) for result in results], \
        [0] * len(results)


batching.primitive_batchers[call_p] = _batch

# An array of batch.bind, in functions that Batch compiles.
bound_p = core.Primitive("batch_bound")
bound_p.def_abstract_eval(lambda *, bound: jax.core.ShapedArray(
    bound.shape, jax.dtypes.canonicalize_dtype(bound.dtype)))
bound_p.def_impl(lambda *, bound: jnp.asarray(bound.value))
