"""Calls of compiled functions by XLA, which run without Python."""

import collections
import functools
import hashlib
import os
import secrets
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy

import batch._native as _native
from batch.runtime.model import session_options
from batch.tracing.options import own_options
from batch.transforms.arrays import UNMAPPED

_TARGET = "batch_run"  # name by which XLA finds the function

_compiled = weakref.WeakValueDictionary()  # compiled functions by the keys of their programs
_failures = collections.deque(maxlen=16)  # exceptions of the last failed runs
_ERRORS = {1: ValueError, 2: _native.Error, 4: MemoryError}  # by status


@functools.lru_cache(maxsize=1)
def is_available():
    """Registers the function that XLA calls. Returns False if calls need a Python callback.

    This is the case if the environment variable BATCH_XLA_FFI is 0, or if this version of jaxlib
    does not accept the function.
    """
    if os.environ.get("BATCH_XLA_FFI") == "0":
        return False
    try:
        # Before JAX has devices, a function that jaxlib rejects would make JAX unusable.
        jax.local_devices(backend="cpu")
        jax.ffi.register_ffi_target(_TARGET, _native.xla_handler(_report), platform="cpu")
    except Exception:
        return False
    return True


def _report(key, status, message):
    """Returns the text of a failed run, in which errors refer to lines of the function."""
    error = _ERRORS[status](message)
    compiled = _compiled.get(key)
    if compiled is not None:
        compiled.source_map.explain(error)
    _failures.append(error)
    return str(error)


def failure_of(error):
    """Returns the exception of the failed run that an exception of JAX reports, or None."""
    return next((failure for failure in reversed(_failures) if str(failure) in str(error)), None)


class Known:
    """Values of a call's leaves that are known when JAX traces the call. Compared by identity.

    values: dictionary from positions to arrays.
    """

    def __init__(self, values):
        self.values = values
        self._key = tuple((i, id(value)) for i, value in values.items())
        self.programs = []  # native programs that lowered calls use

    def __eq__(self, other):
        return isinstance(other, Known) and self._key == other._key

    def __hash__(self):
        return hash(self._key)

    def __repr__(self):
        return f"Known({', '.join(map(str, self.values))})"

    def others(self, leaves):
        """Returns the leaves whose values are not known."""
        return [leaf for i, leaf in enumerate(leaves) if i not in self.values]

    def leaves(self, others):
        """Returns all leaves, given those whose values are not known."""
        count, others = len(self.values) + len(others), iter(others)
        return [self.values[i] if i in self.values else next(others) for i in range(count)]


class XlaCalls:
    """Calls of a compiled function by XLA."""

    def __init__(self, compiled):
        self._compiled = compiled
        self._programs = weakref.WeakValueDictionary()
        self._lock = threading.Lock()

    def are_possible(self):
        """Returns whether XLA can call the model.

        Updates of arrays of batch.bind, ragged arguments, and other devices require Python. Also,
        without x64, JAX narrows results of 64 bits.
        """
        compiled = self._compiled
        dtypes = [*compiled.dtypes, *[aval.dtype for aval, _ in compiled.words]]
        return is_available() and compiled.device == "cpu" and compiled.model is not None and \
            not compiled.changing and not compiled.failed and \
            all(jax.dtypes.canonicalize_dtype(d) == d for d in dtypes)

    def key(self, leaves):
        """Returns the key of a program with the parameters among these leaves, for one device."""
        function = self._compiled.bind(leaves)
        if function.key is None:
            program = function.program(secrets.randbits(63), self._outputs())
            _compiled[program.key] = self._compiled
            with jax.ensure_compile_time_eval(), own_options():
                function.key = jnp.asarray(words_of_key(program)), program
        return function.key[0]

    def _outputs(self):
        """Returns the model's outputs that are results of calls."""
        numbers = {field.name: i for i, field in enumerate(self._compiled.model.outputs)}
        return [numbers[f"r{i}"] for i, (_, is_empty) in enumerate(self._compiled.words)
                if not is_empty]

    def program(self, known, devices=1):
        """Returns a native program, which XLA can call as long as it exists.

        known: a Known with the parameters that are known; the others are operands of the calls.
        devices: number of devices that call the program at the same time.
        """
        compiled = self._compiled
        given = compiled.session_options()
        options = session_options(**given)
        if given["threads"] is None:
            options["threads"] = max(1, options["threads"] // devices)
        key = known, options["threads"]
        with self._lock:
            program = self._programs.get(key)
        if program is None:
            program = self._make(known.values, options)
            with self._lock:
                self._programs[key] = program
        known.programs.append(program)
        return program

    def _make(self, known, options):
        compiled, outputs = self._compiled, self._outputs()
        given = {**{f"a{i}": known.get(i) for i in compiled.parameters}, **compiled.constants}
        given = [(name, None if value is None else
                  numpy.ascontiguousarray(compiled.parameter(name, value)))
                 for name, value in given.items()]
        key = _content_key(compiled.text, compiled.strategy(), outputs, options, given)
        if all(i in known for i in compiled.parameters):
            program = compiled.bind(known).program(key, outputs, options["threads"])
        else:
            program = _native.XlaProgram(key, compiled.model._model, None, given, outputs,
                                         **options)
        _compiled[key] = compiled
        return program

    def call(self, key, known, others, axes, size):
        """Returns the results of a call, under a trace of JAX.

        key: the words of the key of a program.
        others: the leaves whose values are not known.
        """
        compiled, leaves = self._compiled, known.leaves(others)

        def operand(i):
            leaf = jnp.asarray(leaves[i], compiled.dtypes[i])
            return leaf if axes[i] in (UNMAPPED, 0) else jnp.moveaxis(leaf, axes[i], 0)

        operands = [operand(i) for i in compiled.mapped]
        operands += [operand(i) for i in compiled.parameters if i not in known.values]
        specs = [jax.ShapeDtypeStruct((size, *aval.shape), aval.dtype)
                 for aval, is_empty in compiled.words if not is_empty]
        results = iter(jax.ffi.ffi_call(_TARGET, specs)(
            key, *operands, instances=numpy.int64(size)) if specs else ())
        return [jnp.zeros((size, *aval.shape), aval.dtype) if is_empty else next(results)
                for aval, is_empty in compiled.words]


def _content_key(*content):
    """Returns a number that depends on everything that the results of a program depend on.

    JAX's cache of compiled programs on disk can therefore be used in other processes.
    """
    digest = hashlib.blake2b(digest_size=8)

    def add(part):
        if isinstance(part, numpy.ndarray):
            add((part.dtype.name, part.shape))
            digest.update(part)
        elif isinstance(part, (list, tuple)):
            digest.update(b"%d:" % len(part))
            for element in part:
                add(element)
        else:
            digest.update(repr(part).encode() + b"\0")

    add(content)
    return int.from_bytes(digest.digest(), "little", signed=True)


def words_of_key(program):
    """Returns the key of a program as an operand of calls."""
    return numpy.array([program.key], numpy.int64).view(numpy.uint32)
