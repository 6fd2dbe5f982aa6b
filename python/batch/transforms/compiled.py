"""Traced functions that are compiled on their first run."""

import collections
import contextlib
import functools
import threading

import jax
import jax.numpy as jnp
import numpy
from jax.extend import core

from batch.core.source_map import translated_errors
from batch.lowering.entry import lower_jaxpr
from batch.runtime.arrivals import arrived_model, carried_object
from batch.runtime.binding import Bound, trace
from batch.runtime.compiler import compile
from batch.runtime.model import explain_run
from batch.runtime.ragged import Ragged
from batch.tracing.entries import check_path
from batch.tracing.extents import extent_names, number_type
from batch.tracing.jaxprs import constant_type, is_empty, is_key, words_of
from batch.tracing.options import checks_results, find_unwanted, own_options
from batch.transforms.arrays import (
    UNMAPPED,
    for_runtime,
    is_plain,
    key_of,
    quick_put,
    shaped_array,
)
from batch.transforms.forest import Forest, Nodes, fields_in, model_arguments, nodes_of
from batch.transforms.xla import XlaCalls

_BOUND = 8  # limit on the bound models that each compiled function caches


def depends_on_mapped(jaxpr, mapped):
    """Returns, for each result, whether it depends on a mapped input."""
    known = {v: is_mapped for v, is_mapped in zip(jaxpr.invars, mapped)}
    for equation in jaxpr.eqns:
        any_mapped = any(known.get(atom, False) for atom in equation.invars
                         if not isinstance(atom, core.Literal))
        known.update((v, any_mapped) for v in equation.outvars)
    return [not isinstance(atom, core.Literal) and known.get(atom, False)
            for atom in jaxpr.outvars]


def without_mesh():
    """Returns a context in which JAX has no mesh.

    Code compiled in it runs on this machine's CPU, under any mesh of the caller.
    """
    return jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ()))


# --- compiled functions ------------------------------------------------------------------

def _array(leaf):
    return numpy.asarray(leaf.value if isinstance(leaf, Bound) else leaf)


class Compiled:
    """A closed jaxpr with its compiled model, which is created on first use.

    shared: for each argument, whether it is the same for all instances.
    recursion: an EntryTypes if the program has data types, else None.
    failed: (path, error) pairs of paths that raise an error, as in tracing.entries.Entry.
    """

    def __init__(self, closed, shared, options, recursion=None, failed=()):
        self.closed, self.shared, self._options = closed, list(shared), options
        self.recursion, self.failed = recursion, failed
        self.device = options.get("device", "cpu")
        self.is_traced = any(isinstance(value, jax.core.Tracer) for value in closed.consts)
        self.dtypes = [words_of(v.aval).dtype for v in closed.jaxpr.invars]
        self.results = [atom.aval for atom in closed.jaxpr.outvars]
        self.depends = depends_on_mapped(closed.jaxpr, [not is_shared for is_shared in shared])
        is_there = [not is_empty(v.aval) for v in closed.jaxpr.invars]
        # Positions of the model's parameters and arguments. The model receives no empty arrays.
        self.parameters = [i for i, there in enumerate(is_there) if there and shared[i]]
        self.mapped = [i for i, there in enumerate(is_there) if there and not shared[i]]
        self._plain = [is_plain(dtype) for dtype in self.dtypes]
        self.words = [(aval, is_empty(aval)) for aval in map(words_of, self.results)]
        self._others = {}
        self._bound = collections.OrderedDict()
        self._lock = threading.RLock()
        self._model = None
        self._object = []  # the object of the model, for pickles
        self.xla = XlaCalls(self)
        self._only = None  # the bound model, if there is only one way to bind it
        self._positions = None  # positions of results in the model's outputs, if some are data

    @property
    def model(self):
        if self._model is not None:
            return self._model
        with self._lock:
            if self._model is None:
                with without_mesh(), own_options():
                    self.text, constants, self.source_map = lower_jaxpr(
                        self.closed, self.shared, self.recursion)
                self.constants = {f"p{i}": value for i, value in enumerate(constants)}
                self.changing = [value for value in constants if isinstance(value, Bound)]
                with translated_errors(self.source_map):
                    self._model = arrived_model(self.text, self.strategy(), self.device) or \
                        compile(self.text, strategy=self.strategy(), device=self.device)
            return self._model

    def objects(self):
        """Returns the objects of this function and of sharing(), if they are compiled."""
        if self._model and not self._object:
            self._object = [carried_object(self.text, self.strategy(), self._model)]
        return self._object + [carried for other in list(self._others.values())
                               for carried in other.objects()]

    @functools.cached_property
    def operations(self):
        """The text of the jaxpr."""
        return str(self.closed.jaxpr)

    def strategy(self):
        """Returns the strategy: lockstep if refilling lanes improves performance, else the
        requested one.

        Without a loop, all instances take equally long, so refilling has no benefit. Arrays whose
        extents differ between instances do not run in lockstep.
        """
        strategy = self._options["strategy"]
        refills = strategy == "auto" and self._options.get("refill") and \
            "scf.while" in self.text and not extent_names(
                v.aval.shape for v in self.closed.jaxpr.invars)
        return "lockstep" if refills else strategy

    def sharing(self, shared):
        """Returns the same function with another set of parameters."""
        shared = tuple(shared)
        with self._lock:
            if shared == tuple(self.shared):
                return self
            if shared not in self._others:
                self._others[shared] = Compiled(self.closed, shared, self._options,
                                                self.recursion, self.failed)
            return self._others[shared]

    def with_operands(self):
        """Returns the same function with traced constants as parameters, and their values."""
        if not self.is_traced or self.recursion:
            return self, []
        jaxpr, constants = self.closed.jaxpr, self.closed.consts
        is_traced = [isinstance(value, jax.core.Tracer) for value in constants]

        def chosen(values, wanted):
            return [value for value, traced in zip(values, is_traced) if traced is wanted]

        values = chosen(constants, True)
        closed = core.ClosedJaxpr(jaxpr.replace(
            constvars=chosen(jaxpr.constvars, False),
            invars=[*jaxpr.invars, *chosen(jaxpr.constvars, True)]), chosen(constants, False))
        shared = [*self.shared, *[True] * len(values)]
        return Compiled(closed, shared, self._options, failed=self.failed), values

    def bind(self, leaves, keep=True):
        """Returns the model bound to these parameters.

        The cache identifies JAX arrays, and the values of bound arrays, by identity. They are
        immutable.

        keep: whether the result may be cached.
        """
        if self._only:
            return self._only
        model = self.model
        changing = [value.value if isinstance(value, Bound) else value
                    for value in (*[leaves[i] for i in self.parameters], *self.changing)]
        key = tuple(map(id, changing))
        with self._lock:
            known = self._bound.get(key)  # arrays of a bound model are alive and do not change
            if known:
                self._bound.move_to_end(key)
                return known[1]
        given = {f"a{i}": leaves[i] for i in self.parameters}
        # If no argument is a parameter, all parameters are constants, so the model may be cached.
        keeps = keep or not given
        given.update(self.constants)
        keeps = keeps and all(isinstance(value, (jax.Array, Bound))
                              for value in given.values())
        # The lock is not held here: a JAX array may wait for a callback that needs the lock.
        values = [value.value if isinstance(value, Bound) else value
                  for value in given.values()]
        function = model.bind({name: self.parameter(name, value)
                               for name, value in zip(given, values)},
                              **self.session_options(), bits=True)
        if keeps:
            with self._lock:
                if not key:
                    self._only = function
                # References to the arrays ensure that their ids remain valid.
                self._bound[key] = [*given.values(), *changing], function
                while len(self._bound) > _BOUND:
                    self._bound.popitem(last=False)
        return function

    def parameter(self, name, value):
        """Returns the value of a parameter as an array for the runtime."""
        return for_runtime(value, constant_type(value).dtype if name[0] == "p"
                           else self.dtypes[int(name[1:])])

    def session_options(self):
        return {"lanes": self._options["lanes"], "threads": self._options["threads"],
                "stack_depth": self._options.get("stack_depth", 64)}

    def run(self, leaves, axes, size, keep=True):
        """Returns the results as NumPy arrays whose first dimension indexes the instances.

        Calls no JAX function.

        keep: whether the same parameter arrays may be passed again.
        """
        function = self.bind(leaves, keep)
        with translated_errors(self.source_map):
            given = self._given(leaves, axes, size)
            try:
                outputs = function.run(size, *given, bits=True)
            except TypeError:
                # NumPy copies an array that is on several devices. JAX reports deleted arrays.
                given = self._given(leaves, axes, size, as_they_are=False)
                outputs = function.run(size, *given, bits=True)
        return self.from_runtime(outputs)

    def check(self, outputs, leaves=None, axes=None, numbers=None):
        """Raises FloatingPointError for values that jax_debug_nans or jax_debug_infs forbids.

        leaves, axes: arguments of the call, with which JAX finds the operation.
        numbers: numbers of the instances; None: counted from 0.
        """
        if not checks_results():
            return
        owners, arrays = [], []
        for number, output in enumerate(outputs):
            for array in output._fields.values() if isinstance(output, Nodes) else [output]:
                owners.append((number, getattr(array, "offsets", None)))
                arrays.append(getattr(array, "values", array))
        found = find_unwanted(arrays)
        if not found:
            return
        name, position, row = found
        number, offsets = owners[position]
        if offsets is not None:
            row = int(numpy.searchsorted(offsets, row, "right")) - 1
        instance = row if numbers is None else numbers[row]
        where = f"result {number} of instance {instance} of batch.vmap"
        if leaves is not None:
            self._find(leaves, axes, row, where)
        raise FloatingPointError(f"invalid value ({name}) encountered in {where}")

    def _find(self, leaves, axes, row, where):
        """Runs an instance in JAX, which checks each operation, unless JAX cannot run it."""
        avals = [v.aval for v in self.closed.jaxpr.invars]
        if self.recursion or extent_names(aval.shape for aval in avals):
            return
        with jax.transfer_guard("allow"):
            arguments = [leaf if axis is UNMAPPED else numpy.take(leaf, row, axis)
                         for leaf, axis in zip(map(_array, leaves), axes)]
            try:
                core.jaxpr_as_fun(self.closed)(*[
                    key_of(value) if is_key(aval) else jnp.asarray(value, aval.dtype)
                    for value, aval in zip(arguments, avals)])
            except FloatingPointError as error:
                error.add_note("of " + where)
                raise
            except Exception:  # JAX cannot run the instance
                return

    def arguments(self, leaves):
        """Returns the arguments of one instance as arrays with one row."""
        return [for_runtime(leaf, dtype)[None] for leaf, dtype, v in zip(
            leaves, self.dtypes, self.closed.jaxpr.invars) if not is_empty(v.aval)]

    def explain(self, leaves, axes, size, name):
        """Runs the function and returns an explanation of the compiler's decisions and of the run.

        name: the function's name in the explanation.
        """
        function = self.bind(leaves)
        with translated_errors(self.source_map):
            return explain_run(function, size, *self._given(leaves, axes, size),
                                    source_map=self.source_map, what=name)

    def _given(self, leaves, axes, size, as_they_are=True):
        """Returns the arguments as arrays, and the nodes of data structures or None."""
        values = self._values(leaves, axes, as_they_are)
        if all(value is not None for value in values):  # no data structures
            return values, None
        return model_arguments(self.model, {f"a{i}": leaves[i] for i in self.mapped}, values, size)

    def quick(self, leaves, axes, size, outputs):
        """Returns a native call that combines run() and to_jax(), for arguments of these kinds.

        Returns False if the call needs further work in Python.

        outputs: the results of one run.
        """
        if self.recursion or not self._only or not quick_put() or \
                not all(self._reads(i, leaves[i], axes[i]) for i in self.mapped) or \
                not all(is_plain(aval.dtype) and not is_empty
                        for aval, is_empty in self.words):
            return False
        # Without x64, JAX narrows 64-bit results. The native call does not narrow them.
        types = [shaped_array(array.shape, array.dtype,
                              bool(getattr(aval, "weak_type", False)))
                 for array, aval in zip(outputs, self.results)]
        if any(jax.dtypes.canonicalize_dtype(t.dtype) != t.dtype for t in types):
            return False
        return self._only.quick(size, self.mapped, types, quick_put())

    def _reads(self, i, leaf, axis):
        """Returns whether the runtime reads an argument of this kind in place."""
        return self._plain[i] and axis == 0 and (
            type(leaf) is numpy.ndarray or isinstance(leaf, jax.Array)) and \
            leaf.dtype == self.dtypes[i]

    def _values(self, leaves, axes, as_they_are=True):
        """Returns the arguments in the runtime's format.

        as_they_are: whether the runtime may read them in place.
        """
        values, lengths = [], {}
        for i in self.mapped:
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
        for path, error in self.failed:
            check_path(path, error, lengths)
        return values + [(numbers.astype(number_type().replace("i", "int")), [])
                         for numbers in lengths.values()]

    def from_runtime(self, outputs):
        """Returns the results with their JAX dtypes.

        Results without elements are not computed by the model; they are created here.
        """
        size, results = len(outputs[0]), []
        if self.recursion:
            return self._with_data(outputs, size)
        outputs = iter(outputs)
        for aval, has_none in self.words:
            array = numpy.zeros((size,) + aval.shape, aval.dtype) if has_none else \
                next(outputs)
            results.append(array if array.dtype == aval.dtype else array.view(aval.dtype))
        return results

    def _with_data(self, outputs, size):
        """Works like from_runtime(), for results that may have data types."""
        if self._positions is None:
            numbers = {field.name: i for i, field in enumerate(self.model.outputs)}
            self._positions = [
                fields_in(kind.adt, numbers) if kind else numbers.get(f"r{i}")
                for i, kind in enumerate(self.recursion.results)]
        results = []
        for (aval, has_none), kind, place in zip(self.words, self.recursion.results,
                                                 self._positions):
            if kind:
                results.append(nodes_of(kind.adt, place, outputs))
                continue
            array = numpy.zeros((size,) + aval.shape, aval.dtype) if has_none else \
                outputs[place]
            results.append(array if array.dtype == aval.dtype else array.view(aval.dtype))
        return results


# --- JAX ---------------------------------------------------------------------------------

# Primitive for an array of batch.bind in functions that Batch compiles.
bound_p = core.Primitive("batch_bound")
bound_p.def_abstract_eval(lambda *, bound: jax.core.ShapedArray(
    bound.shape, jax.dtypes.canonicalize_dtype(bound.dtype)))
bound_p.def_impl(lambda *, bound: jnp.asarray(bound.value))


def in_batch_trace():
    """Returns whether this thread traces a function that Batch compiles."""
    return trace.bind is not None


@contextlib.contextmanager
def tracing():
    before, trace.bind = trace.bind, lambda bound: bound_p.bind(bound=bound)
    try:
        yield
    finally:
        trace.bind = before
