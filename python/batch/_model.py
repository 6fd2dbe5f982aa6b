"""Models that are compiled, bound to parameters, and called for mini-batches."""

import json
import operator
import os

import numpy

from batch import _runtime


class Ragged:
    """Rows of all instances one after the other, and where those of each begin.

    values: an array whose first dimension are rows.
    offsets: an int64 array with one entry more than there are instances.
    """

    __slots__ = ("values", "offsets")

    def __init__(self, values, offsets):
        self.values = values
        self.offsets = numpy.ascontiguousarray(offsets, dtype=numpy.int64)

    @classmethod
    def of(cls, arrays):
        """Of a list of arrays, one of each instance, that differ in their first extent."""
        arrays = [numpy.asarray(array) for array in arrays]
        if not arrays:
            raise ValueError("Ragged.of() needs an array, which says what rows are")
        for i, array in enumerate(arrays):
            if array.ndim == 0 or array.shape[1:] != arrays[0].shape[1:] or \
                    array.dtype != arrays[0].dtype:
                raise ValueError("array %d is %s%s, the first one %s%s: only the first "
                                 "extent may differ" % (
                                     i, array.dtype, list(array.shape), arrays[0].dtype,
                                     list(arrays[0].shape)))
        return cls(numpy.concatenate(arrays), _offsets([len(array) for array in arrays]))

    def __len__(self):
        return len(self.offsets) - 1

    def __getitem__(self, instance):
        if not -len(self) <= instance < len(self):
            raise IndexError("there are %d instances" % len(self))
        instance %= len(self)
        return self.values[self.offsets[instance]:self.offsets[instance + 1]]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return "Ragged(%d instances, %d rows)" % (len(self), self.offsets[-1])


def _offsets(lengths):
    result = numpy.zeros(len(lengths) + 1, dtype=numpy.int64)
    numpy.cumsum(lengths, out=result[1:])
    return result


def _is_array(value):
    return hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")


def _checked(field, what, array):
    """PyTorch would lose a gradient without a word."""
    if getattr(array, "requires_grad", False):
        raise TypeError("%s needs a gradient, which calls do not pass on: give its "
                        "detach()" % what)
    # Within the package int16 stands for it, with its bits.
    if field.dtype == "bfloat16" and \
            str(getattr(array, "dtype", "")).rpartition(".")[2] == "int16":
        raise TypeError("%s is %s; found numbers of type int16" % (
            what, field.description))
    return array


_NUMPY_TYPES = {name: numpy.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64")}


def _dense(field, what, value):
    """An array of a field's type: arrays as they are, else from Python's numbers."""
    if _is_array(value):
        return _checked(field, what, value)
    if field.dtype not in _NUMPY_TYPES:
        raise TypeError("%s has elements of %s, which NumPy does not have: give an array "
                        "of JAX or PyTorch" % (what, field.dtype))
    try:
        array = numpy.asarray(value)
    except ValueError as error:  # lists of different lengths
        raise TypeError("%s is %s: %s" % (what, field.description, error)) from None
    if array.size == 0:
        return array.astype(_NUMPY_TYPES[field.dtype])
    wanted = _NUMPY_TYPES[field.dtype]
    kinds = {"b": "b", "i": "iu", "u": "iu", "f": "biuf"}[wanted.kind]
    if array.dtype.kind not in "biuf":
        raise TypeError("%s is %s; found a %s that holds other things than numbers" % (
            what, field.description, type(value).__name__))
    if array.dtype.kind not in kinds:
        raise TypeError("%s is %s; found numbers of type %s" % (
            what, field.description, array.dtype))
    if wanted.kind in "iu":
        limits = numpy.iinfo(wanted)
        if array.min() < limits.min or array.max() > limits.max:
            raise ValueError("%s is %s, from %d to %d; found %d to %d" % (
                what, field.description, limits.min, limits.max, array.min(), array.max()))
    return array.astype(wanted)


def _shape(array):
    shape = getattr(array, "shape", None)
    return tuple(shape) if shape is not None else numpy.shape(array)


class Reading:
    """What the runtime asks for where it reads nodes: tuples of a variant's name and its
    fields."""

    # Of the name of a data type and a class, how its objects are read (_forest.Views).
    reader = None

    def __init__(self, variants):
        self.fields = [variant.fields for variant in variants]

    def convert(self, variant, field, what, value, is_list):
        """An array with the bits of a field's value, or if `is_list`, of all elements of a
        list of them; None if it is none."""
        field = self.fields[variant][field]
        if not _is_array(value) and not (field.shape and isinstance(value, (list, tuple))):
            return None
        return self.array(field, what, value, is_list)

    def array(self, field, what, value, is_list):
        array = _numpy(_dense(field, what, value))
        wanted = _NUMPY_TYPES.get(field.dtype, numpy.dtype(numpy.int16))
        if array.shape[is_list:] != tuple(field.shape) or array.ndim < is_list:
            raise ValueError("%s is %s; found an array of shape %s" % (
                what, field.description, list(array.shape)))
        if field.is_index and array.dtype.kind in "iu":
            array = array.astype(wanted, copy=False)
        if array.dtype != wanted:
            raise TypeError("%s is %s; found an array of %s" % (
                what, field.description, array.dtype))
        return array


def _numpy(array):
    """An array of NumPy's; bfloat16 is int16, with its bits."""
    if type(array).__module__ == "torch" and str(array.dtype) == "torch.bfloat16":
        import torch
        array = array.view(torch.int16)
    array = numpy.asarray(array)
    return array.view(numpy.int16) if array.dtype.name == "bfloat16" else array


def _values(field, what, value):
    """An array of all elements, and the offsets of lists."""
    levels = []
    for level in range(field.lists):
        if isinstance(value, Ragged):
            levels.append(value.offsets)
            value = value.values
            continue
        if _is_array(value):
            if level == 0 and field.lists == 1:
                break  # all of equal length
            shape = _shape(value)
            if len(shape) < 2:
                raise TypeError("%s is %s for each instance; found an array of shape %s" %
                                (what, field.description, shape))
            levels.append(numpy.arange(shape[0] + 1, dtype=numpy.int64) * shape[1])
            value = numpy.asarray(value).reshape((shape[0] * shape[1],) + shape[2:])
            continue
        lists = list(value)
        try:
            levels.append(_offsets([_shape(part)[0] if _is_array(part) else len(part)
                                    for part in lists]))
        except (TypeError, IndexError):
            raise TypeError("%s is %s for each instance" %
                            (what, field.description)) from None
        if lists and all(_is_array(part) for part in lists):
            value = numpy.concatenate([numpy.asarray(_checked(field, what, part))
                                       for part in lists]) \
                if field.dtype in _NUMPY_TYPES else _concatenate(lists)
        else:
            value = [element for part in lists for element in part]
    if not _is_array(value) and isinstance(value, list) and not value:
        value = numpy.zeros([0] + list(field.shape), _NUMPY_TYPES.get(field.dtype))
    if isinstance(value, list) and any(_is_array(element) for element in value):
        value = numpy.stack([numpy.asarray(_checked(field, what, element))
                             for element in value])
    return _dense(field, what, value), levels


def _concatenate(arrays):
    """Of arrays that NumPy has no type for."""
    module = type(arrays[0]).__module__
    if module.startswith("torch"):
        import torch
        return torch.cat(arrays)
    import jax.numpy
    return jax.numpy.concatenate(arrays)


# What options may be at most; the runtime says what they are at least.
_MOST = {"threads": 2 ** 31 - 1, "lanes": 2 ** 31 - 1, "max_steps": 2 ** 63 - 1,
         "stack_depth": 2 ** 63 - 1}


def _check_options(options):
    for name, most in _MOST.items():
        value = options[name]
        if value is None and name == "max_steps":
            continue
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError("%s must be a whole number, found %r" % (name, value)) from None
        if number > most:
            raise ValueError("%s must be at most %d, found %d" % (name, most, number))
        options[name] = max(number, -1)


class Model:
    """A compiled model; batch.compile() makes one."""

    def __init__(self, path):
        self._model = _runtime.Model(os.fspath(path))
        self.parameters = self._model.parameters
        self.arguments = self._model.arguments
        self.outputs = self._model.outputs
        self._variants = self._model.variants
        # Of data types: whether no node has two parents, and the arity, or -1.
        self._declared = {adt["name"]: (adt.get("kind") in ("tree", "sequence"),
                                        adt.get("arity", -1))
                          for adt in json.loads(self._model.descriptor)["adts"]}
        # Gives what the compiler decided, and the name of the text that it read.
        self.decisions = lambda: ([], os.fspath(path))

    def __repr__(self):
        def names(fields):
            return ", ".join("%s: %s" % (f.name, f.description) for f in fields)
        return "Model(%s) -> (%s) with parameters (%s)" % (
            names(self.arguments), names(self.outputs), names(self.parameters))

    def bind(self, parameters=None, *, threads=None, lanes=0, max_steps=None,
             stack_depth=64, partial_results=False, bits=False):
        """Binds parameters, which are copied once, and returns a Function.

        parameters: {"W": array, ...} or the path of a safetensors file.
        threads: workers; None: one for each core that the process may use.
        lanes: instances in progress at once in lock step; 0: all.
        max_steps: rounds of loops and calls of recursions that an instance may take, or
            blocks in lock step; None: no limit.
        partial_results: keep the results of instances that end if others do not;
            Function.failures says which these are.
        bits: int16 stands for bfloat16, with its bits.
        """
        if threads is None:
            threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") \
                else os.cpu_count() or 1
        options = dict(threads=threads, lanes=lanes, max_steps=max_steps,
                       stack_depth=stack_depth, partial_results=partial_results)
        _check_options(options)
        if isinstance(parameters, (str, os.PathLike)):
            bound = self._model.read(os.fspath(parameters))
        else:
            given = dict(parameters or {})
            for field in self.parameters:
                if field.name in given and not bits:
                    given[field.name] = _dense(field, "parameter %r" % field.name,
                                               given[field.name])
            bound = self._model.bind(given)
        return Function(self, bound, options)


def structures(model, given, reading, instances):
    """The arguments that are data structures, as the runtime takes them, and all nodes.

    given: for each, by name: its values, where one is that has a mistake, with "{}" for
        the instance, "{64}" if the first one is the 64th, and whether nodes that are equal
        become one.
    """
    fields = [field for field in model.arguments if field.name in given]
    roots, nodes = _runtime.read_nodes(
        model._variants,
        [[(field.dtype, field.description) for field in own] for own in reading.fields],
        model._declared, reading,
        [(given[field.name][1], field.data_type, field.lists, given[field.name][2])
         for field in fields],
        [given[field.name][0] for field in fields], instances)
    return dict(zip([field.name for field in fields], roots)), nodes


class Function:
    """A model with its parameters; called with a mini-batch.

    Threads may call it at the same time: each gets workers of its own.
    """

    def __init__(self, model, parameters, options):
        self.model = model
        self._parameters = parameters
        self._options = options
        self._idle = [self._make()]
        self.failures = {}

    def _make(self):
        return _runtime.Session(self.model._model, self._parameters, **self._options)

    def __call__(self, *arguments, cancellation=None, **named):
        """Runs a mini-batch: {output: array, or Ragged}.

        Each argument has a value for each instance: an array whose first dimension are
        instances; for lists a list of lists or arrays, a Ragged, or an array if all are
        equally long; for data structures a list of tuples, ("node", left, right).
        cancellation: a Cancellation, with which another thread ends the run. Ctrl-C
        ends it, too, and the function can be called again.
        """
        outputs = self.run(*self._given(arguments, named), cancellation)
        return {field.name: output for field, output in zip(self.model.outputs, outputs)}

    def explain(self, *arguments, **named):
        """Runs a mini-batch, and returns an Explanation: what the compiler decided, and
        which parts of the model ran for how many instances at once."""
        from batch import _explain
        return _explain.explain(self, *self._given(arguments, named))

    def _given(self, arguments, named):
        """The number of instances, their values and nodes."""
        fields = self.model.arguments
        if len(arguments) > len(fields):
            raise TypeError("the model has %d arguments, found %d" %
                            (len(fields), len(arguments)))
        given = {field.name: value for field, value in zip(fields, arguments)}
        for name, value in named.items():
            if name in given:
                raise TypeError("argument %r is given twice" % name)
            if all(field.name != name for field in fields):
                raise TypeError("the model has no argument %r; it has %s" % (
                    name, ", ".join(repr(field.name) for field in fields)))
            given[name] = value
        missing = [field.name for field in fields if field.name not in given]
        if missing:
            raise TypeError("argument %r (%s) is missing" % (
                missing[0], next(f.description for f in fields if f.name == missing[0])))
        counts = {name: len(value) if hasattr(value, "__len__") else None
                  for name, value in given.items()}
        if None in counts.values():
            name = next(n for n, count in counts.items() if count is None)
            raise TypeError("argument %r has no first dimension of instances" % name)
        if len(set(counts.values())) > 1:
            raise ValueError("arguments have different numbers of instances: " +
                             ", ".join("%s %d" % pair for pair in counts.items()))
        instances = next(iter(counts.values()), 1)
        return (instances, *self._values(given, instances))

    def _session(self):
        try:
            return self._idle.pop()
        except IndexError:
            return self._make()

    def traced(self, instances, values, nodes=None):
        """As run(); returns what the runtime says about the run."""
        session = self._session()
        try:
            return json.loads(session.run(instances, values, nodes, explained=True))
        finally:
            self._idle.append(session)

    def run(self, instances, values, nodes=None, cancellation=None, bits=False):
        """The same for arrays in the order of arguments: (elements, [offsets of lists])
        each, and those of nodes. Returns a list of outputs; bfloat16 has its `bits` in
        int16, of NumPy's."""
        session = self._session()
        try:
            session.run(instances, values, nodes, cancellation)
            outputs = [self._read(session, number, bits)
                       for number in range(len(self.model.outputs))]
            if self._options["partial_results"]:
                texts = ((i, session.failure(i)) for i in range(instances))
                self.failures = {i: text for i, text in texts if text}
        finally:
            self._idle.append(session)
        return outputs

    def _values(self, given, instances):
        roots, nodes = {}, None
        structured = {
            field.name: (list(given[field.name]),
                         "argument %r of instance {}" % field.name, False)
            for field in self.model.arguments if field.data_type}
        if structured:
            roots, nodes = structures(self.model, structured,
                                      Reading(self.model._variants), instances)
        return [roots[field.name] if field.name in roots else
                _values(field, "argument %r" % field.name, given[field.name])
                for field in self.model.arguments], nodes

    def quick(self, instances, reads, types, put):
        """run() as one object of the extension's, from dense arrays to results that `put`
        takes."""
        return _runtime.Call(self._idle, self._make, instances, reads, types, put)

    def _read(self, session, number, bits):
        array, offsets = session.read(number, bits)
        if bits or self.model.outputs[number].dtype in _NUMPY_TYPES:
            array = numpy.from_dlpack(array)
        return array if offsets is None else Ragged(array, offsets)
