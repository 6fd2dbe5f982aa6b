"""Calls of batch.vmap that JAX dispatches and XLA runs, outside of JAX transformations.

JAX compiles a program for each kind of arguments, which takes milliseconds. Therefore, only kinds
that recur are called this way.
"""

import operator

import jax
import numpy

from batch._native import expect_leaks, has_run, raise_interruption
from batch.runtime.binding import Bound
from batch.tracing.jaxprs import is_key
from batch.tracing.options import call_options
from batch.transforms.arrays import UNMAPPED, default_place
from batch.transforms.xla import Known, failure_of

_EARLIER = 2  # number of other calls before the first direct call
_MOST_COPIED = 1 << 16  # limit on the bytes of a NumPy array, which JAX copies
shape_of = operator.attrgetter("shape")


class Place:
    """The type of the results of direct calls, and their sharding.

    The sharding is None after results in another place.
    """

    def __init__(self, kind, sharding):
        self.kind, self.sharding = kind, sharding


def run(jitted, operands, place):
    """Calls a jitted function that consists of one call of batch.vmap.

    Returns None if the results are not arrays in this place. This is the case under a trace, in a
    mesh, and for arguments on other devices. Raises the exception of a failed run.
    """
    kind = place.kind
    has_run()
    try:
        results = jitted(*operands)
        leaf = results if type(results) is kind else jax.tree.leaves(results)[0]
        if type(leaf) is not kind:
            return None
        sharding = leaf.sharding
        if sharding is not place.sharding or leaf.committed:
            if sharding != place.sharding or leaf.committed:
                place.sharding = None
                return None
            place.sharding = sharding  # comparing objects with `is` takes a fifth of the time
        if not has_run():  # XLA runs the call in another thread
            leaf.block_until_ready()
        return results
    except Exception as error:
        raise_interruption()
        failure = failure_of(error)
        if failure is None:
            return None  # the other path raises the error of JAX
        raise failure from None


class Direct:
    """Direct calls of a Call.

    place: the Place of the results, or None if there are no direct calls.
    """

    def __init__(self, call):
        self.place = None
        self._call, self._earlier = call, 0
        self._mapped = [i for i, axis in enumerate(call.axes) if axis is not UNMAPPED]
        self._jitted = None

    def __call__(self, leaves):
        """Returns the results, or None if another call is necessary."""
        if self.place is None or self.place.sharding is None:
            return None
        key = self._call.compiled.xla.key(leaves)
        return run(self._jitted, [key, *[leaves[i] for i in self._mapped]], self.place)

    def count(self, leaves, results):
        """Counts another call, and decides whether later calls are direct."""
        self._earlier += 1
        if self._earlier == _EARLIER and self._is_possible(leaves, results):
            expect_leaks()  # JAX may keep the compiled program until the process ends
            call, rest = self._call, set(range(len(leaves))).difference(self._mapped)
            known = Known(dict.fromkeys(rest))
            self._jitted = jax.jit(lambda key, *mapped: call.finish(
                call.compiled.xla.call(key, known, mapped, call.axes, call.size)))
            self.place = Place(type(jax.tree.leaves(results)[0]), default_place()[0])

    def _is_possible(self, leaves, results):
        compiled, found = self._call.compiled, jax.tree.leaves(results)
        return bool(found) and not any(call_options()) and compiled.xla.are_possible() and \
            all(isinstance(leaves[i], (jax.Array, Bound)) for i in compiled.parameters) and \
            all(isinstance(leaf, jax.Array) and not is_key(leaf) for leaf in found) and \
            self._can_be_passed([leaves[i] for i in self._mapped], type(found[0]))

    @staticmethod
    def _can_be_passed(leaves, kind):
        """Returns whether JAX passes these arguments quickly.

        JAX copies NumPy arrays, and takes longer to convert several than the runtime.
        """
        others = [leaf for leaf in leaves if type(leaf) is not kind]
        return len(others) <= 1 and all(
            type(leaf) is numpy.ndarray and leaf.nbytes <= _MOST_COPIED for leaf in others)

    def needs_only_arguments(self):
        """Returns whether the shapes and types of the arguments determine the program.

        Parameters have keys, and options of random numbers are unknown to jax.jit.
        """
        return len(self._mapped) == len(self._call.axes) and \
            "random_" not in self._call.compiled.operations
