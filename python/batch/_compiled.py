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

from batch import _bound, _compiler, _expand, _extents, _explain, _lowering, _places
from batch._model import Ragged

UNMAPPED = object()  # an axis; None would be an empty tree
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


# --- arrays ------------------------------------------------------------------------------

def _bits(dtype):
    """The type of the same bits that the runtime reads from NumPy."""
    if dtype.name == "bfloat16":
        return numpy.dtype(numpy.int16)
    return numpy.dtype("int%d" % (8 * dtype.itemsize)) if dtype.kind == "u" else dtype


def for_runtime(array, dtype, axis=UNMAPPED):
    """An array whose first dimension is `axis`; without a copy, as a rule, and without
    calling JAX, which may wait for the caller."""
    array = numpy.asarray(array)
    if array.dtype != dtype:
        array = array.astype(dtype)
    array = array.view(_bits(dtype))
    return array if axis in (UNMAPPED, 0) else numpy.moveaxis(array, axis, 0)


def key_of(words):
    return jax.random.wrap_key_data(words, impl="threefry2x32")


# --- compiled functions ------------------------------------------------------------------

class Compiled:
    """A closed jaxpr, and which of its arguments are the same for all instances."""

    def __init__(self, closed, shared, options):
        self.closed, self.shared, self._options = closed, list(shared), options
        self.dtypes = [_expand.words(v.aval).dtype for v in closed.jaxpr.invars]
        self.results = [atom.aval for atom in closed.jaxpr.outvars]
        self.depends = depends(closed.jaxpr, [not is_shared for is_shared in shared])
        self._others = {}
        self._bound = collections.OrderedDict()
        self._lock = threading.RLock()
        self._model = None

    @property
    def model(self):
        with self._lock:
            if self._model is None:
                self.text, constants, self.places = _lowering.lower(self.closed,
                                                                    self.shared)
                self._constants = {"p%d" % i: value for i, value in enumerate(constants)}
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
                self._others[shared] = Compiled(self.closed, shared, self._options)
            return self._others[shared]

    def bind(self, leaves, keep=True):
        """The model with these parameters. Arrays of JAX do not change: they are
        known again by identity, and bound arrays by their versions."""
        model = self.model
        given = {"a%d" % i: leaf for i, (leaf, is_shared, v) in enumerate(
            zip(leaves, self.shared, self.closed.jaxpr.invars))
            if is_shared and not _expand.is_empty(v.aval)}
        # Without arguments there are only constants.
        keeps = (keep or not given) and all(
            isinstance(value, (jax.Array, _bound.Bound)) for value in given.values())
        given.update(self._constants)
        key = tuple((id(value), getattr(value, "version", 0)) for value in given.values())
        with self._lock:
            if keeps and key in self._bound:
                self._bound.move_to_end(key)
                return self._bound[key][1]
        # Without the lock: an array of JAX may wait for a call back that wants it.
        values = [value.value if isinstance(value, _bound.Bound) else value
                  for value in given.values()]
        function = model.bind(
            {name: for_runtime(value, _expand.type_of(value).dtype if name[0] == "p"
                               else self.dtypes[int(name[1:])])
             for name, value in zip(given, values)},
            lanes=self._options["lanes"], threads=self._options["threads"], bits=True)
        if keeps:
            with self._lock:
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
            outputs = function.run(size, self._values(leaves, axes), bits=True)
        return self.from_runtime(outputs)

    def arguments(self, leaves):
        """The arguments of one instance, as arrays of one."""
        return [for_runtime(leaf, dtype)[None] for leaf, dtype, v in zip(
            leaves, self.dtypes, self.closed.jaxpr.invars) if not _expand.is_empty(v.aval)]

    def explain(self, leaves, axes, size, name):
        """Runs the same; what was decided and what ran, of a function of this name."""
        function = self.bind(leaves)
        with _places.translated(self.places):
            return _explain.explain(function, size, self._values(leaves, axes),
                                    places=self.places, what=name)

    def _values(self, leaves, axes):
        values, lengths = [], {}
        for leaf, dtype, axis, is_shared, v in zip(leaves, self.dtypes, axes, self.shared,
                                                   self.closed.jaxpr.invars):
            if isinstance(leaf, Ragged):
                values.append((for_runtime(leaf.values, dtype), [leaf.offsets]))
                lengths.setdefault(str(v.aval.shape[0]), numpy.diff(leaf.offsets))
            elif not is_shared and not _expand.is_empty(v.aval):
                values.append((for_runtime(leaf, dtype, axis), []))
        return values + [(numbers.astype(_extents.number_type().replace("i", "int")), [])
                         for numbers in lengths.values()]

    def from_runtime(self, outputs):
        """Results as JAX has them; those without elements were not computed."""
        size, outputs = len(outputs[0]), iter(outputs)
        return [numpy.zeros((size,) + aval.shape, aval.dtype) if _expand.is_empty(aval)
                else next(outputs).view(aval.dtype)
                for aval in map(_expand.words, self.results)]


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


def _by_jax(compiled, axes, size):
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
    return [to_jax(array, aval) for array, aval in zip(
        compiled.run(leaves, axes, size), compiled.results)]


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
    return _by_jax(compiled, axes, size)(*leaves)


def _tangent(primal, tangent):
    if not isinstance(tangent, ad.Zero):
        return tangent
    dtype = jnp.result_type(primal)
    return numpy.zeros(jnp.shape(primal), dtype if jnp.issubdtype(dtype, jnp.inexact)
                       else jax.dtypes.float0)


def _jvp(primals, tangents, *, compiled, axes, size):
    if is_tracing():
        return jax.jvp(_by_jax(compiled, axes, size), tuple(primals),
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

# JAX has no function that makes an array of a weak type of one of another.
_weak_p = core.Primitive("batch_weak")
_weak_p.def_abstract_eval(lambda aval: jax.core.ShapedArray(aval.shape, aval.dtype,
                                                            weak_type=True))
mlir.register_lowering(_weak_p, lambda _, value: [value])
_make_weak = jax.jit(lambda array: _weak_p.bind(array))


def to_jax(array, aval):
    """A result as an array of JAX's."""
    array = jnp.asarray(array)
    return _make_weak(array) if getattr(aval, "weak_type", False) else array
