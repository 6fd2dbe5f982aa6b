"""The C API of the runtime (batch-runtime/CAPI.h) through ctypes, for tests"""

import array
import ctypes
import itertools
import os

STATUS = ["ok", "invalid", "failed", "cancelled", "no memory"]
# Type codes of the module `array`, indexed by element type.
CODES = ["B", "b", "h", "i", "q", "B", "H", "H", "f", "d"]
I1, I8, I16, I32, I64, U8, F16, BF16, F32, F64 = range(10)
PARAMETER, ARGUMENT, OUTPUT = range(3)

int32, int64, pointer = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p


class Array(ctypes.Structure):
    _fields_ = [("data", pointer), ("type", ctypes.c_int), ("rank", int32),
                ("shape", ctypes.POINTER(int64)), ("strides", ctypes.POINTER(int64))]


class Values(ctypes.Structure):
    _fields_ = [("elements", Array), ("offsets", ctypes.POINTER(ctypes.POINTER(int64)))]


class Nodes(ctypes.Structure):
    _fields_ = [("count", int64), ("instances", ctypes.POINTER(int64)),
                ("variants", ctypes.POINTER(int32)),
                ("fields", ctypes.POINTER(ctypes.POINTER(Values)))]


class Inputs(ctypes.Structure):
    _fields_ = [("instances", int64), ("arguments", ctypes.POINTER(Values)),
                ("nodes", ctypes.POINTER(Nodes))]


class Options(ctypes.Structure):
    _fields_ = [("threads", int32), ("lanes", int64), ("maxSteps", int64),
                ("stackDepth", int64), ("partialResults", int32), ("deviceNumber", int32)]


class Field(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("description", ctypes.c_char_p),
                ("type", ctypes.c_int), ("rank", int32), ("shape", ctypes.POINTER(int64)),
                ("lists", int32), ("isIndex", int32), ("dataType", ctypes.c_char_p),
                ("isRagged", int32)]


class Variant(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dataType", ctypes.c_char_p),
                ("numFields", int64)]


class Progress(ctypes.Structure):
    _fields_ = [("instances", int64), ("ended", int64), ("flushes", int64)]


class ApiError(Exception):
    def __init__(self, status, message):
        super().__init__("%s: %s" % (status, message))
        self.status, self.message = status, message


def integers(kind, values):
    return (kind * max(len(values), 1))(*values)


class Tensor:
    """Elements in their own memory, with strides in elements (None: no gaps)"""

    def __init__(self, kind, shape, elements, strides=None, begin=0):
        self.memory = array.array(CODES[kind], elements)
        size = self.memory.itemsize
        address = self.memory.buffer_info()[0] + begin * size
        self.shape = integers(int64, shape)
        self.strides = strides and integers(int64, [size * s for s in strides])
        self.array = Array(address, kind, len(shape), self.shape, self.strides)


def values(kind, shape, elements, offsets=(), strides=None, begin=0):
    """Returns the values of an argument or a field. `offsets` contains the offsets of each level of
    nested lists."""
    tensor = Tensor(kind, shape, elements, strides, begin)
    result = Values(tensor.array)
    levels = [integers(int64, level) for level in offsets]
    if levels:
        result.offsets = (ctypes.POINTER(int64) * len(levels))(
            *[ctypes.cast(level, ctypes.POINTER(int64)) for level in levels])
    result.keep = tensor, levels
    return result


def nodes(instances, variants, fields):
    """Returns the nodes of all instances. fields[v] contains the values of the fields of
    variant v."""
    tables = [(Values * max(len(list_), 1))(*list_) for list_ in fields]
    result = Nodes(len(variants), integers(int64, instances), integers(int32, variants),
                   (ctypes.POINTER(Values) * max(len(tables), 1))(
                       *[ctypes.cast(table, ctypes.POINTER(Values)) for table in tables]))
    result.keep = tables, fields
    return result


def inputs(instances, arguments, all_nodes=None):
    result = Inputs(instances, (Values * max(len(arguments), 1))(*arguments))
    if all_nodes is not None:
        result.nodes = ctypes.pointer(all_nodes)
    result.keep = arguments, all_nodes
    return result


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        self.calls.batchLastError.restype = ctypes.c_char_p
        self.calls.batchModelDescriptor.restype = ctypes.c_char_p
        self.calls.batchSessionFailure.restype = ctypes.c_char_p
        self.calls.batchModelCount.restype = int64
        self.calls.batchModelVariants.restype = int64

    def call(self, name, *arguments):
        status = getattr(self.calls, name)(*arguments)
        if status != 0:
            raise ApiError(STATUS[status], self.calls.batchLastError().decode())

    def make(self, name, *arguments):
        """Calls a function whose last argument is the address for a new handle, and returns the
        handle."""
        handle = pointer()
        self.call(name, *arguments, ctypes.byref(handle))
        return handle


class Model:
    def __init__(self, library, path):
        self.library = library
        self.handle = library.make("batchModelOpenVersion",
                                   library.calls.batchAbiVersion(),
                                   os.fsencode(path))

    def close(self):
        self.library.calls.batchModelFree(self.handle)

    def fields(self, kind):
        count = self.library.calls.batchModelCount(self.handle, kind)
        found = []
        for number in range(count):
            field = Field()
            self.library.call("batchModelField", self.handle, kind, int64(number),
                              ctypes.byref(field))
            found.append(field)
        return found

    def variants(self):
        """Returns (name, data type, [field]) for each variant, ordered by number."""
        found = []
        for number in range(self.library.calls.batchModelVariants(self.handle)):
            variant = Variant()
            self.library.call("batchModelVariant", self.handle, int64(number),
                              ctypes.byref(variant))
            fields = [Field() for _ in range(variant.numFields)]
            for f, field in enumerate(fields):
                self.library.call("batchModelVariantField", self.handle, int64(number),
                                  int64(f), ctypes.byref(field))
            found.append((variant.name.decode(), variant.dataType.decode(), fields))
        return found

    def bind(self, tensors):
        """Binds {name: Tensor}, and returns a handle of the parameters."""
        names = [name.encode() for name in tensors]
        arrays = [tensor.array for tensor in tensors.values()]
        return self.library.make(
            "batchParametersBind", self.handle, int64(len(names)),
            (ctypes.c_char_p * max(len(names), 1))(*names),
            (Array * max(len(arrays), 1))(*arrays))


class Session:
    def __init__(self, model, parameters, **options):
        self.model, self.library = model, model.library
        given = Options()
        self.library.calls.batchSessionDefaults(ctypes.byref(given))
        for name, value in options.items():
            setattr(given, name, value)
        self.handle = self.library.make("batchSessionMake", model.handle, parameters,
                                        ctypes.byref(given))

    def close(self):
        self.library.calls.batchSessionFree(self.handle)

    def run(self, given, cancellation=None):
        self.library.call("batchSessionRun", self.handle, ctypes.byref(given),
                          cancellation)

    def progress(self):
        now = Progress()
        self.library.calls.batchSessionProgress(self.handle, ctypes.byref(now))
        return now.instances, now.ended, now.flushes

    def failure(self, instance):
        text = self.library.calls.batchSessionFailure(self.handle, int64(instance))
        return text and text.decode()

    def rows(self, output):
        count = int64()
        self.library.call("batchSessionRows", self.handle, int64(output),
                          ctypes.byref(count))
        return count.value

    def read(self, output, strides=None, begin=0, capacity=None):
        """Returns the elements of an output in row-major order, and the offsets of
        instances. With strides, the C API first writes the elements to memory of `capacity`
        elements."""
        field = self.model.fields(OUTPUT)[output]
        shape = [self.rows(output)] + field.shape[:field.rank]
        count = 1
        for extent in shape:
            count *= extent
        target = Tensor(field.type, shape, [0] * (capacity or count), strides, begin)
        offsets = (int64 * (self.progress()[0] + 1))()
        self.library.call("batchSessionRead", self.handle, int64(output),
                          ctypes.byref(target.array), offsets)
        elements = target.memory
        if strides:
            places = itertools.product(*[range(extent) for extent in shape])
            elements = array.array(CODES[field.type], [
                target.memory[begin + sum(i * s for i, s in zip(place, strides))]
                for place in places])
        return elements, list(offsets)
