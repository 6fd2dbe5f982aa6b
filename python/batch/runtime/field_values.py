"""Converts Python, JAX and PyTorch values to the arrays that a model reads."""

import numpy

from batch.runtime.ragged import Ragged, offsets_of


def is_array(value):
    return hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")


def checked_array(field, what, array):
    """Returns an array unchanged if it can be passed for a field.

    Raises a TypeError if it requires a gradient, which calls do not propagate. Also raises a
    TypeError for an int16 array if the field has dtype bfloat16.
    """
    if getattr(array, "requires_grad", False):
        raise TypeError(f"{what} requires a gradient, which calls do not propagate; detach the "
                        "tensor first")
    # Only code of this package may pass the bits of bfloat16 as int16.
    if field.dtype == "bfloat16" and \
            str(getattr(array, "dtype", "")).rpartition(".")[2] == "int16":
        raise TypeError(f"{what}: expected {field.description}, got numbers of type int16")
    return array


NUMPY_TYPES = {name: numpy.dtype(name) for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64")}


def dense_array(field, what, value):
    """Returns arrays unchanged, and converts Python numbers to an array of a field's dtype.

    Raises a TypeError for numbers of another type, and a ValueError for numbers out of range.
    """
    if is_array(value):
        return checked_array(field, what, value)
    if field.dtype not in NUMPY_TYPES:
        raise TypeError(f"{what} has elements of type {field.dtype}, which NumPy does not support; "
                        "pass a JAX or PyTorch array")
    try:
        array = numpy.asarray(value)
    except ValueError as error:  # the value contains lists of different lengths
        raise TypeError(
            f"{what}: cannot convert the value to {field.description}: {error}") from None
    if array.size == 0:
        return array.astype(NUMPY_TYPES[field.dtype])
    wanted = NUMPY_TYPES[field.dtype]
    kinds = {"b": "b", "i": "iu", "u": "iu", "f": "biuf"}[wanted.kind]
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what}: expected {field.description}, got a {type(value).__name__} that "
                        "contains values other than real numbers")
    if array.dtype.kind not in kinds:
        raise TypeError(
            f"{what}: expected {field.description}, got numbers of type {array.dtype}")
    if wanted.kind in "iu":
        limits = numpy.iinfo(wanted)
        if array.min() < limits.min or array.max() > limits.max:
            raise ValueError(f"{what}: expected {field.description} from {limits.min} to "
                             f"{limits.max}, got {array.min()} to {array.max()}")
    return array.astype(wanted)


def shape_of(array):
    shape = getattr(array, "shape", None)
    return tuple(shape) if shape is not None else numpy.shape(array)


class NodeReader:
    """Reads the nodes of a data type for the runtime.

    Nodes are tuples of a variant's name and its fields.
    """

    # Function of the name of a data type and a class. It returns how to read objects of the class
    # (transforms.forest.ViewReader.reader). None: only tuples are read.
    reader = None

    def __init__(self, variants):
        self.fields = [variant.fields for variant in variants]

    def convert(self, variant, field, what, value, is_list):
        """Returns an array with the bits of a field's value.

        If `is_list`, the value is a list, and the array contains all of its elements. Returns
        None for values that are not arrays, except lists and tuples for a field with a shape.
        """
        field = self.fields[variant][field]
        if not is_array(value) and not (field.shape and isinstance(value, (list, tuple))):
            return None
        return self.array(field, what, value, is_list)

    def array(self, field, what, value, is_list):
        array = to_numpy(dense_array(field, what, value))
        wanted = NUMPY_TYPES.get(field.dtype, numpy.dtype(numpy.int16))
        if array.shape[is_list:] != tuple(field.shape) or array.ndim < is_list:
            raise ValueError(f"{what}: expected {field.description}, got an array of shape "
                             f"{list(array.shape)}")
        if field.is_index and array.dtype.kind in "iu":
            array = array.astype(wanted, copy=False)
        if array.dtype != wanted:
            raise TypeError(
                f"{what}: expected {field.description}, got an array of {array.dtype}")
        return array


def to_numpy(array):
    """Returns a NumPy array. For bfloat16, it has dtype int16 and the same bits."""
    if type(array).__module__ == "torch" and str(array.dtype) == "torch.bfloat16":
        import torch
        array = array.view(torch.int16)
    array = numpy.asarray(array)
    return array.view(numpy.int16) if array.dtype.name == "bfloat16" else array


def list_values(field, what, value):
    """Returns an array of all elements, and the offsets of lists by level."""
    levels = []
    for level in range(field.lists):
        if isinstance(value, Ragged):
            levels.append(value.offsets)
            value = value.values
            continue
        if is_array(value):
            if level == 0 and field.lists == 1:
                break  # all lists have equal lengths
            shape = shape_of(value)
            if len(shape) < 2:
                raise TypeError(f"{what}: expected {field.description} for each instance, got an "
                                f"array of shape {list(shape)}")
            levels.append(numpy.arange(shape[0] + 1, dtype=numpy.int64) * shape[1])
            value = numpy.asarray(value).reshape((shape[0] * shape[1],) + shape[2:])
            continue
        lists = list(value)
        try:
            levels.append(offsets_of([shape_of(part)[0] if is_array(part) else len(part)
                                    for part in lists]))
        except (TypeError, IndexError):
            raise TypeError(f"{what}: expected {field.description} for each instance, got a value "
                            "that is not a list") from None
        if lists and all(is_array(part) for part in lists):
            value = numpy.concatenate([numpy.asarray(checked_array(field, what, part))
                                       for part in lists]) \
                if field.dtype in NUMPY_TYPES else _concatenate(lists)
        else:
            value = [element for part in lists for element in part]
    if not is_array(value) and isinstance(value, list) and not value:
        value = numpy.zeros([0] + list(field.shape), NUMPY_TYPES.get(field.dtype))
    if isinstance(value, list) and any(is_array(element) for element in value):
        value = numpy.stack([numpy.asarray(checked_array(field, what, element))
                             for element in value])
    return dense_array(field, what, value), levels


def _concatenate(arrays):
    """Concatenates arrays whose dtype NumPy does not support."""
    module = type(arrays[0]).__module__
    if module.startswith("torch"):
        import torch
        return torch.cat(arrays)
    import jax.numpy
    return jax.numpy.concatenate(arrays)
