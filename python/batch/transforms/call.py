"""A call of batch.vmap whose arguments have been checked."""

import jax
import jax.numpy as jnp
import numpy

from batch.runtime.binding import Bound
from batch.runtime.ragged import Ragged
from batch.tracing.jaxprs import is_key
from batch.tracing.locations import user_location
from batch.tracing.options import call_options
from batch.transforms.arguments import form_of, key_words, spread_axes
from batch.transforms.arrays import UNMAPPED, default_place, is_quick, key_of, putter
from batch.transforms.compiled import in_batch_trace
from batch.transforms.direct import Direct
from batch.transforms.forest import Forest, Nodes
from batch.transforms.primitive import vmap_by_jax, vmap_p
from batch.transforms.xla import Known


class Call:
    """A call with checked arguments. It is used for all calls with arguments of the same kinds.

    axes: for each leaf of the arguments, a non-negative axis or UNMAPPED.
    tree: structure of the results.
    """

    def __init__(self, compiled, axes, size, tree, out_axes):
        self.compiled, self.axes, self.size = compiled, axes, size
        self.tree, self.out_axes = tree, out_axes
        self.has_keys = any(is_key(v.aval) for v in compiled.closed.jaxpr.invars)
        self.result_axes = None
        # Native call without Python code in between. None: before the first call. False: not
        # available, for example because JAX options require checks.
        self.quick = False if any(call_options()) else None
        self.direct = Direct(self)

    def __call__(self, leaves):
        results = self.direct(leaves)
        if results is None:
            results = self._run(leaves)
            self.direct.count(leaves, results)
        return results

    def _run(self, leaves):
        if self.quick and is_quick():
            try:
                return self.tree.unflatten(self.quick(leaves, *default_place()))
            except TypeError:
                pass  # an array has been deleted; the path below raises the JAX error
            except Exception as error:
                self.compiled.source_map.explain(error)
                raise
        leaves = self.words_of(leaves)
        outputs = self.compiled.run(leaves, self.axes, self.size)
        self.compiled.check(outputs, leaves, self.axes)
        results = self.finish(outputs)
        if self.quick is None:
            self.quick = self._quick(leaves, outputs)
        return results

    def _quick(self, leaves, outputs):
        """Returns the native call, or False if arguments or results need a conversion.

        The native call reads and returns dense arrays as they are.
        """
        if self.has_keys or any(axis != 0 or has_key for axis, _, has_key in self.result_axes):
            return False
        return self.compiled.quick(leaves, self.axes, self.size, outputs)

    def words_of(self, leaves):
        """Returns the leaves with keys replaced by their words.

        The words are concrete values, even under a JAX trace.
        """
        if not self.has_keys:
            return leaves
        with jax.ensure_compile_time_eval():
            return list(map(key_words, leaves))

    def traced(self, leaves):
        """Performs the call as a JAX primitive, under a JAX transformation.

        Raises TypeError if arguments or results are ragged or have data types.
        """
        recursion = self.compiled.recursion
        if any(isinstance(leaf, (Ragged, Forest)) for leaf in leaves) or \
                recursion and any(recursion.results):
            raise TypeError(user_location() + "JAX cannot trace a batch.Forest, batch.Ragged or "
                            "batch.Nodes; call this function outside of jax.jit and other "
                            "transformations")
        leaves = [leaf.__jax_array__() if isinstance(leaf, Bound) else leaf
                  for leaf in map(key_words, leaves)]
        how = {"compiled": self.compiled, "axes": tuple(self.axes), "size": self.size}
        if in_batch_trace() and (recursion or self.compiled.is_traced):
            return self.finish(vmap_by_jax(**how)(*leaves))
        if not in_batch_trace():
            how["compiled"], values = self.compiled.with_operands()
            leaves += map(key_words, values)
            how["axes"] += (UNMAPPED,) * len(values)
        known = Known({} if in_batch_trace() else {
            i: leaf for i, (leaf, axis) in enumerate(zip(leaves, how["axes"]))
            if axis is UNMAPPED and isinstance(leaf, jax.Array) and
            not isinstance(leaf, jax.core.Tracer) and leaf.is_fully_addressable})
        return self.finish(vmap_p.bind(*known.others(leaves), **how, known=known))

    def finish(self, outputs):
        """Converts outputs to results with the axes that out_axes specifies."""
        if self.result_axes is None:
            self.result_axes = self._result_axes(outputs)
        placed, put = [], None
        for array, (axis, is_weak, has_key) in zip(outputs, self.result_axes):
            if axis is UNMAPPED:
                array = array[0]
                if isinstance(array, numpy.ndarray):
                    array = array.copy()  # instead of a view of the array of all instances
            elif isinstance(array, Nodes):
                placed.append(array)
                continue
            elif axis:
                module = numpy if isinstance(array, numpy.ndarray) else jnp
                array = module.moveaxis(array, 0, axis)
            put = put or putter()
            array = put(array, is_weak)
            placed.append(key_of(array) if has_key else array)
        return self.tree.unflatten(placed)

    def _result_axes(self, outputs):
        """Returns (axis of the instances, is_weak, is_key) for each result.

        Axes are non-negative, or UNMAPPED. Raises ValueError if out_axes does not fit.
        """
        axes = spread_axes(self.out_axes, self.tree.unflatten(outputs), "out_axes")
        found = []
        for axis, depends, aval, array in zip(axes, self.compiled.depends,
                                              self.compiled.results, outputs):
            if isinstance(array, Nodes) and axis != 0:
                shown = None if axis is UNMAPPED else axis
                raise ValueError(f"out_axes={shown} is unsupported for batch.Nodes, which differ "
                                 "between instances; use out_axes=0")
            if axis is UNMAPPED:
                if depends:
                    raise ValueError("vmap has mapped output but out_axes is None; use "
                                     "out_axes=0")
                if self.size == 0:
                    raise ValueError("out_axes=None requires at least one instance, but the "
                                     "batch is empty; use out_axes=0")
            else:
                rank = len(aval.shape) + 1
                if not -rank <= axis < rank:
                    raise ValueError(f"out_axes={axis} is out of range for a result of rank "
                                     f"{rank}; expected {-rank} to {rank - 1}")
                axis %= rank
            found.append((axis, *form_of(aval)))
        return found
