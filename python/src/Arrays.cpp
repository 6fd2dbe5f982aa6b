//===- Arrays.cpp - Python arrays for the C API ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>
#include <string>

namespace nb = nanobind;
using namespace batch::python;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns the element type of an array. `what` names the array in the error.
static BatchElementType elementType(nb::dlpack::dtype type, const char *what) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(type.code);
  const int bits = type.lanes == 1 ? type.bits : 0;
  if (code == Code::Bool && bits == 8)
    return BATCH_TYPE_I1;
  if (code == Code::UInt && bits == 8)
    return BATCH_TYPE_U8;
  if (code == Code::Bfloat && bits == 16)
    return BATCH_TYPE_BF16;
  if (code == Code::Int)
    switch (bits) {
    case 8:
      return BATCH_TYPE_I8;
    case 16:
      return BATCH_TYPE_I16;
    case 32:
      return BATCH_TYPE_I32;
    case 64:
      return BATCH_TYPE_I64;
    }
  if (code == Code::Float)
    switch (bits) {
    case 16:
      return BATCH_TYPE_F16;
    case 32:
      return BATCH_TYPE_F32;
    case 64:
      return BATCH_TYPE_F64;
    }
  throw nb::type_error((std::string(what) +
                        " has an unsupported element type; expected bool, "
                        "int8 to int64, uint8, float16 to float64, or bfloat16")
                           .c_str());
}

nb::dlpack::dtype batch::python::dlpackType(BatchElementType type) {
  using Code = nb::dlpack::dtype_code;
  auto make = [](Code code, int bits) {
    return nb::dlpack::dtype{static_cast<uint8_t>(code),
                             static_cast<uint8_t>(bits), 1};
  };
  switch (type) {
  case BATCH_TYPE_I1:
    return make(Code::Bool, 8);
  case BATCH_TYPE_I8:
    return make(Code::Int, 8);
  case BATCH_TYPE_I16:
    return make(Code::Int, 16);
  case BATCH_TYPE_I32:
    return make(Code::Int, 32);
  case BATCH_TYPE_I64:
    return make(Code::Int, 64);
  case BATCH_TYPE_U8:
    return make(Code::UInt, 8);
  case BATCH_TYPE_F16:
    return make(Code::Float, 16);
  case BATCH_TYPE_BF16:
    return make(Code::Bfloat, 16);
  case BATCH_TYPE_F32:
    return make(Code::Float, 32);
  case BATCH_TYPE_F64:
    return make(Code::Float, 64);
  }
  throw nb::type_error("unknown element type");
}

const char *batch::python::typeName(BatchElementType type) {
  static constexpr const char *names[] = {
      "bool",  "int8",    "int16",    "int32",   "int64",
      "uint8", "float16", "bfloat16", "float32", "float64"};
  return names[type];
}

/// Returns the element type of a buffer, or nullopt if the array must be read
/// through DLPack.
static std::optional<BatchElementType> elementType(const Py_buffer &view) {
  const char *format = view.format ? view.format : "B";
  if (*format == '@' || *format == '=')
    ++format;
  if (format[0] == '\0' || format[1] != '\0')
    return std::nullopt;
  switch (*format) {
  case '?':
    return BATCH_TYPE_I1;
  case 'B':
    return BATCH_TYPE_U8;
  case 'e':
    return BATCH_TYPE_F16;
  case 'f':
    return BATCH_TYPE_F32;
  case 'd':
    return BATCH_TYPE_F64;
  case 'b':
    return BATCH_TYPE_I8;
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return view.itemsize == 8   ? BATCH_TYPE_I64
           : view.itemsize == 4 ? BATCH_TYPE_I32
                                : BATCH_TYPE_I16;
  default:
    return std::nullopt;
  }
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

ArrayList::~ArrayList() {
  for (Py_buffer &buffer : buffers)
    PyBuffer_Release(&buffer);
}

/// Adds an array through the buffer protocol, which takes a fraction of the
/// time of DLPack. NumPy and JAX arrays support this protocol. Returns false if
/// the array must be read through DLPack.
bool ArrayList::addBuffer(nb::handle object, BatchArray &result) {
  if (!PyObject_CheckBuffer(object.ptr()))
    return false;
  Py_buffer &view = buffers.emplace_back();
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    buffers.pop_back();
    return false;
  }
  const std::optional<BatchElementType> type = elementType(view);
  if (!type) {
    PyBuffer_Release(&view);
    buffers.pop_back();
    return false;
  }
  const auto rank = static_cast<int32_t>(view.ndim);
  std::vector<int64_t> &numbers = extents.emplace_back(2 * rank);
  std::copy_n(view.shape, rank, numbers.data());
  std::copy_n(view.strides, rank, numbers.data() + rank);
  result = {view.buf, *type, rank, numbers.data(), numbers.data() + rank};
  return true;
}

/// Returns the capsule from an object's __dlpack__, or None if the result is
/// not a capsule. Returns objects without a working __dlpack__ unchanged.
/// Nanobind marks a capsule as used only if it receives the capsule itself. If
/// nanobind received an object that returns the same capsule twice, it would
/// free the memory twice.
static nb::object capsuleOf(nb::handle object) {
  using namespace nb::literals;
  nb::object method = nb::getattr(object, "__dlpack__", nb::none());
  if (method.is_none())
    return nb::borrow(object);
  auto checked = [](nb::object result) {
    return PyCapsule_CheckExact(result.ptr()) ? result : nb::none();
  };
  try {
    return checked(method("max_version"_a = nb::make_tuple(1, 0)));
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_Exception))
      throw;
  }
  try {
    return checked(method()); // producers that predate DLPack 1.0
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_Exception))
      throw;
    return nb::borrow(object);
  }
}

BatchArray ArrayList::addArray(nb::handle object, const char *what) {
  ReadArray array;
  if (!nb::try_cast(capsuleOf(object), array, /*convert=*/false))
    throw nb::type_error((std::string(what) +
                          " is not an array in CPU memory; expected an object "
                          "with __dlpack__ or a buffer of numbers")
                             .c_str());
  const auto rank = static_cast<int32_t>(array.ndim());
  std::vector<int64_t> &numbers = extents.emplace_back(2 * rank);
  const auto bytes = static_cast<int64_t>(array.itemsize());
  for (int32_t d = 0; d < rank; ++d) {
    numbers[d] = static_cast<int64_t>(array.shape(d));
    numbers[rank + d] = array.stride(d) * bytes;
  }
  BatchArray result = {const_cast<void *>(array.data()),
                       elementType(array.dtype(), what), rank, numbers.data(),
                       numbers.data() + rank};
  owned.push_back(std::move(array));
  return result;
}

BatchArray ArrayList::add(nb::handle object, const char *what,
                          BatchElementType wanted) {
  BatchArray result;
  if (!addBuffer(object, result))
    result = addArray(object, what);
  if (wanted == BATCH_TYPE_BF16 && result.type == BATCH_TYPE_I16)
    result.type = wanted;
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static constexpr size_t alignment = 64;

namespace {
/// Free list of large memory blocks for results. Mapping new pages takes longer
/// than copying the data of a result.
class Blocks {
public:
  char *take(size_t wanted);
  void give(char *memory);

private:
  // The size of a block is stored `alignment` bytes before the block.
  static size_t &sizeOf(char *memory) {
    return *reinterpret_cast<size_t *>(memory - alignment);
  }

  static void free(char *memory) {
    ::operator delete(memory - alignment, std::align_val_t(alignment));
  }

  static constexpr size_t smallest = 1 << 16, most = 16, mostBytes = 64 << 20;
  std::mutex mutex;
  std::deque<char *> idle; ///< oldest first
  size_t bytes = 0;
};
} // namespace

char *Blocks::take(size_t wanted) {
  if (wanted >= smallest) {
    const std::lock_guard<std::mutex> lock(mutex);
    for (auto block = idle.rbegin(); block != idle.rend(); ++block) {
      char *memory = *block;
      if (sizeOf(memory) < wanted || sizeOf(memory) / 2 > wanted)
        continue;
      bytes -= sizeOf(memory);
      idle.erase(std::next(block).base());
      return memory;
    }
  }
  char *memory = static_cast<char *>(::operator new(
                     wanted + alignment, std::align_val_t(alignment))) +
                 alignment;
  sizeOf(memory) = wanted;
  return memory;
}

void Blocks::give(char *memory) {
  const size_t size = sizeOf(memory);
  if (size < smallest || size > mostBytes)
    return free(memory);
  const std::lock_guard<std::mutex> lock(mutex);
  idle.push_back(memory);
  bytes += size;
  while (idle.size() > most || bytes > mostBytes) {
    bytes -= sizeOf(idle.front());
    free(idle.front());
    idle.pop_front();
  }
}

/// Returns the free list. It is never destroyed, because arrays may outlive
/// static objects.
static Blocks &blocks() {
  static auto *all = new Blocks;
  return *all;
}

void FreeMemory::operator()(char *memory) const noexcept {
  blocks().give(memory);
}

Memory batch::python::makeMemory(size_t bytes) {
  return Memory(blocks().take(bytes));
}
