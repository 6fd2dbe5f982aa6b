//===- Columns.cpp - Fields of nodes, by variant --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Columns.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace nb = nanobind;
using namespace batch::python;

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

std::string batch::python::shown(nb::handle object) {
  constexpr size_t most = 60;
  std::string text;
  // repr() of a deeply nested object raises RecursionError.
  nb::object repr = nb::steal(PyObject_Repr(object.ptr()));
  Py_ssize_t size = 0;
  const char *data =
      repr.is_valid() ? PyUnicode_AsUTF8AndSize(repr.ptr(), &size) : nullptr;
  if (!data) {
    PyErr_Clear();
    return std::string("an object of type ") + Py_TYPE(object.ptr())->tp_name;
  }
  size_t end = size, characters = 0;
  for (size_t i = 0; i < end; ++i)
    if ((data[i] & 0xc0) != 0x80 && characters++ == most)
      end = i;
  return std::string(data, end);
}

bool batch::python::isList(nb::handle object) {
  PyObject *p = object.ptr();
  return PyList_Check(p) || PyTuple_Check(p) ||
         (PySequence_Check(p) && !PyUnicode_Check(p) && !PyBytes_Check(p) &&
          !PyByteArray_Check(p) && !PyType_Check(p));
}

nb::object batch::python::elementsOf(nb::handle list) {
  PyObject *p = list.ptr();
  if (PyTuple_CheckExact(p))
    return nb::borrow(list);
  nb::object result =
      nb::steal(PyList_CheckExact(p) ? PyList_AsTuple(p) : PySequence_Tuple(p));
  if (!result.is_valid())
    throw nb::python_error();
  return result;
}

namespace {
/// Memory of an array that another object owns.
class Buffer {
public:
  explicit Buffer(nb::handle object) {
    if (!PyObject_CheckBuffer(object.ptr()))
      return;
    isThere = PyObject_GetBuffer(object.ptr(), &view, PyBUF_RECORDS_RO) == 0;
    if (!isThere)
      PyErr_Clear();
  }
  ~Buffer() {
    if (isThere)
      PyBuffer_Release(&view);
  }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  explicit operator bool() const { return isThere; }
  const Py_buffer &operator*() const { return view; }
  const Py_buffer *operator->() const { return &view; }

  /// Returns the format code of the elements, or 0 if the format has several
  /// characters or a non-native byte order.
  static char code(const Py_buffer &view) {
    const char *format = view.format ? view.format : "B";
    if (*format == '@' || *format == '=' || *format == '<')
      ++format;
    return format[0] && !format[1] ? format[0] : '\0';
  }

private:
  Py_buffer view;
  bool isThere = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Element Element::of(const std::string &dtype, bool isIndex, bool isNode) {
  if (isIndex || isNode)
    return {isNode ? Node : Index, 8};
  if (dtype == "bool")
    return {Bool, 1};
  if (dtype == "bfloat16")
    return {BFloat, 2};
  const size_t digits = dtype.find_first_of("0123456789");
  if (digits == std::string::npos)
    throw nb::type_error(("unknown element type '" + dtype + "'").c_str());
  const Kind kind = dtype[0] == 'i' ? Int : dtype[0] == 'u' ? Unsigned : Float;
  return {kind, std::stoi(dtype.substr(digits)) / 8};
}

static nb::dlpack::dtype dlpackType(Element element) {
  using Code = nb::dlpack::dtype_code;
  Code code = Code::Int; // also represents the bits of bfloat16
  if (element.kind == Element::Bool)
    code = Code::Bool;
  else if (element.kind == Element::Float)
    code = Code::Float;
  else if (!element.isSignedThere)
    code = Code::UInt;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * element.bytes),
          1};
}

static int64_t leastOf(Element element) {
  return element.kind == Element::Int
             ? -1 - static_cast<int64_t>(UINT64_MAX >> (65 - 8 * element.bytes))
             : 0;
}

static uint64_t mostOf(Element element) {
  if (element.kind == Element::Index)
    return INT32_MAX;
  const bool hasSign = element.kind == Element::Int;
  return UINT64_MAX >> (64 + hasSign - 8 * element.bytes);
}

Column::Column(Element element, std::vector<int64_t> shape, int lists,
               std::string description)
    : element(element), shape(std::move(shape)), rowBytes(element.bytes),
      description(std::move(description)),
      offsets(lists, std::vector<int64_t>{0}) {
  for (int64_t extent : this->shape)
    rowBytes *= extent;
}

char *Column::grow(size_t added) {
  const size_t size = bytes.size();
  bytes.resize(size + added);
  return bytes.data() + size;
}

std::string Column::where(const ColumnUser &user) const {
  std::string result = user.where();
  for (int64_t place : places)
    result += "[" + std::to_string(place) + "]";
  return result;
}

/// Returns the description of the value expected at where(). Inside lists, this
/// is the description of an element.
std::string Column::wanted() const {
  std::string result = description;
  for (size_t i = 0; i < places.size(); ++i)
    if (result.rfind("list[", 0) == 0)
      result = result.substr(5, result.size() - 6);
    else if (result.rfind("list of ", 0) == 0)
      result = result.substr(8);
  return result;
}

void Column::refuse(nb::handle value, ColumnUser &user) const {
  const std::string found = shown(value);
  throw nb::type_error(
      (where(user) + ": expected " + wanted() + ", got " + found).c_str());
}

void Column::refuseRange(const std::string &value, ColumnUser &user) const {
  throw nb::value_error((where(user) + ": expected " + wanted() + " from " +
                         std::to_string(leastOf(element)) + " to " +
                         std::to_string(mostOf(element)) + ", got " + value)
                            .c_str());
}

//===----------------------------------------------------------------------===//
// Adding
//===----------------------------------------------------------------------===//

void Column::add(nb::handle value, ColumnUser &user) {
  places.clear();
  addTo(0, value, user);
}

void Column::addTo(int level, nb::handle value, ColumnUser &user) {
  if (level == lists())
    return addElement(value, user);
  const bool isInner = level + 1 == lists();
  const bool isSequence =
      PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
  if (isInner && !isSequence) {
    const size_t before = bytes.size();
    if (!addArray(value, /*isList=*/true, user))
      addConverted(value, /*isList=*/true, user);
    const size_t added = bytes.size() - before;
    return endList(level,
                   rowBytes ? static_cast<int64_t>(added / rowBytes) : 0);
  }
  if (!isSequence && !isList(value))
    refuse(value, user);
  nb::object elements = elementsOf(value);
  const Py_ssize_t count = PyTuple_GET_SIZE(elements.ptr());
  places.push_back(0);
  for (Py_ssize_t i = 0; i < count; ++i) {
    places.back() = i;
    addTo(level + 1, PyTuple_GET_ITEM(elements.ptr(), i), user);
  }
  places.pop_back();
  endList(level, count);
}

void Column::endList(int level, int64_t length) {
  offsets[level].push_back(offsets[level].back() + length);
}

void Column::addElement(nb::handle value, ColumnUser &user) {
  if (shape.empty()) {
    switch (element.kind) {
    case Element::Bool:
      if (PyBool_Check(value.ptr())) {
        *grow(1) = value.ptr() == Py_True;
        return;
      }
      break;
    case Element::Float:
    case Element::BFloat:
      if (addFloat(value))
        return;
      break;
    default:
      if (addInteger(value, user))
        return;
      break;
    }
  }
  if (!addArray(value, /*isList=*/false, user))
    addConverted(value, /*isList=*/false, user);
}

bool Column::addInteger(nb::handle value, ColumnUser &user) {
  PyObject *p = value.ptr();
  nb::object number;
  if (PyBool_Check(p))
    return false;
  if (!PyLong_Check(p)) {
    if (!PyIndex_Check(p))
      return false;
    number = nb::steal(PyNumber_Index(p));
    if (!number.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_TypeError))
        throw nb::python_error();
      PyErr_Clear(); // such as an array of several elements
      return false;
    }
    p = number.ptr();
  }
  int overflow = 0;
  const long long found = PyLong_AsLongLongAndOverflow(p, &overflow);
  uint64_t bits = static_cast<uint64_t>(found);
  bool isInRange = !overflow && found >= leastOf(element) &&
                   (found < 0 || bits <= mostOf(element));
  if (overflow > 0 && element.kind == Element::Unsigned && element.bytes == 8) {
    bits = PyLong_AsUnsignedLongLong(p);
    isInRange = !PyErr_Occurred();
    PyErr_Clear();
  }
  if (!isInRange)
    refuseRange(shown(p), user);
  std::memcpy(grow(element.bytes), &bits, element.bytes); // little endian
  return true;
}

/// Returns the bits of a number as bfloat16: the rounded upper 2 bytes of a
/// float32.
static uint16_t toBFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void Column::write(double value) {
  char *target = grow(element.bytes);
  if (element.kind == Element::BFloat) {
    const uint16_t bits = toBFloat(static_cast<float>(value));
    std::memcpy(target, &bits, 2);
  } else if (element.bytes == 8) {
    std::memcpy(target, &value, 8);
  } else if (element.bytes == 4) {
    const auto narrow = static_cast<float>(value);
    std::memcpy(target, &narrow, 4);
  } else if (PyFloat_Pack2(value, target, /*le=*/1) != 0) {
    PyErr_Clear(); // too large for float16
    PyFloat_Pack2(std::copysign(std::numeric_limits<double>::infinity(), value),
                  target, /*le=*/1);
  }
}

bool Column::addFloat(nb::handle value) {
  PyObject *p = value.ptr();
  if (PyFloat_Check(p)) {
    write(PyFloat_AS_DOUBLE(p));
    return true;
  }
  if (PyLong_Check(p)) {
    const double number = PyLong_AsDouble(p);
    if (number == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    write(number);
    return true;
  }
  // Read NumPy scalars of other types through the buffer protocol.
  Buffer buffer(value);
  if (!buffer || buffer->ndim != 0)
    return false;
  const char code = Buffer::code(*buffer);
  if (code == 'f' && buffer->itemsize == 4) {
    float number;
    std::memcpy(&number, buffer->buf, 4);
    write(number);
    return true;
  }
  if (code == 'd' && buffer->itemsize == 8) {
    double number;
    std::memcpy(&number, buffer->buf, 8);
    write(number);
    return true;
  }
  return false;
}

bool Column::fits(const Py_buffer &view) const {
  const char code = Buffer::code(view);
  if (view.itemsize != element.bytes || !code)
    return false;
  switch (element.kind) {
  case Element::Bool:
    return code == '?';
  case Element::Float:
    return std::strchr("efd", code);
  case Element::BFloat:
    return false;
  case Element::Unsigned:
    return std::strchr("BHILQ", code);
  default:
    return std::strchr("bhilq", code);
  }
}

/// Adds an array. Returns false if the value is not an array, or if its element
/// type or shape does not match the column.
bool Column::addArray(nb::handle value, bool isList, ColumnUser &user) {
  Buffer buffer(value);
  if (!buffer || !fits(*buffer) ||
      buffer->ndim != static_cast<int>(shape.size()) + isList ||
      !std::equal(shape.begin(), shape.end(), buffer->shape + isList))
    return false;
  const size_t begin = bytes.size();
  Py_buffer view = *buffer;
  if (PyBuffer_ToContiguous(grow(view.len), &view, view.len, 'C') != 0)
    throw nb::python_error();
  checkIndices(begin, user);
  return true;
}

void Column::checkIndices(size_t begin, ColumnUser &user) const {
  if (element.kind != Element::Index)
    return;
  for (; begin < bytes.size(); begin += 8) {
    int64_t number;
    std::memcpy(&number, bytes.data() + begin, 8);
    if (number < 0 || number > INT32_MAX)
      refuseRange(std::to_string(number), user);
  }
}

void Column::addConverted(nb::handle value, bool isList, ColumnUser &user) {
  const nb::object made = user.convert(value, isList, where(user));
  Buffer buffer(made);
  if (made.is_none() || !buffer || buffer->itemsize != element.bytes ||
      buffer->ndim != static_cast<int>(shape.size()) + isList ||
      !std::equal(shape.begin(), shape.end(), buffer->shape + isList))
    refuse(value, user);
  const size_t begin = bytes.size();
  Py_buffer view = *buffer;
  if (PyBuffer_ToContiguous(grow(view.len), &view, view.len, 'C') != 0)
    throw nb::python_error();
  checkIndices(begin, user);
}

const int64_t *Column::addNodes(const int64_t *numbers, int level) {
  if (level == lists()) {
    std::memcpy(grow(8), numbers, 8);
    return numbers + 1;
  }
  const int64_t length = *numbers++;
  if (level + 1 == lists()) {
    if (length)
      std::memcpy(grow(8 * length), numbers, 8 * length);
    numbers += length;
  } else {
    for (int64_t i = 0; i < length; ++i)
      numbers = addNodes(numbers, level + 1);
  }
  endList(level, length);
  return numbers;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

bool Column::areEqual(int64_t a, int64_t b) const {
  int64_t endA = a + 1, endB = b + 1;
  for (const std::vector<int64_t> &level : offsets) {
    for (int64_t i = 1; i <= endA - a; ++i)
      if (level[a + i] - level[a] != level[b + i] - level[b])
        return false;
    endA = level[endA], endB = level[endB];
    a = level[a], b = level[b];
    if (endA - a != endB - b)
      return false;
  }
  const char *data = bytes.data();
  const size_t size = (endA - a) * rowBytes;
  return size == 0 ||
         std::memcmp(data + a * rowBytes, data + b * rowBytes, size) == 0;
}

static uint64_t mix(uint64_t hash, uint64_t bits) {
  hash = (hash ^ bits) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 29;
}

uint64_t Column::hash(int64_t row) const {
  uint64_t result = 1;
  int64_t end = row + 1;
  for (const std::vector<int64_t> &level : offsets) {
    for (int64_t i = row; i < end; ++i)
      result = mix(result, level[i + 1] - level[i]);
    row = level[row], end = level[end];
  }
  const char *at = bytes.data() + row * rowBytes;
  size_t left = (end - row) * rowBytes;
  for (; left >= 8; left -= 8, at += 8) {
    uint64_t bits;
    std::memcpy(&bits, at, 8);
    result = mix(result, bits);
  }
  uint64_t bits = 0;
  if (left) // without elements, the pointer may be null
    std::memcpy(&bits, at, left);
  return mix(result, bits);
}

void Column::keep(int64_t rows) {
  for (std::vector<int64_t> &level : offsets) {
    level.resize(rows + 1);
    rows = level.back();
  }
  bytes.resize(rows * rowBytes);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

template <class T>
static nb::object arrayOf(std::vector<T> elements,
                          const std::vector<size_t> &shape,
                          nb::dlpack::dtype type) {
  auto *owned = new std::vector<T>(std::move(elements));
  nb::capsule owner(owned, [](void *pointer) noexcept {
    delete static_cast<std::vector<T> *>(pointer);
  });
  return nb::cast(nb::ndarray<nb::numpy>(owned->data(), shape.size(),
                                         shape.data(), owner, nullptr, type),
                  nb::rv_policy::reference);
}

nb::object batch::python::asArray(std::vector<int64_t> numbers) {
  const size_t count = numbers.size();
  return arrayOf(std::move(numbers), {count}, nb::dtype<int64_t>());
}

nb::object batch::python::asArray(std::vector<int32_t> numbers) {
  const size_t count = numbers.size();
  return arrayOf(std::move(numbers), {count}, nb::dtype<int32_t>());
}

nb::tuple Column::take() {
  std::vector<size_t> extents{rowBytes ? bytes.size() / rowBytes : 0};
  extents.insert(extents.end(), shape.begin(), shape.end());
  nb::list levels;
  for (std::vector<int64_t> &level : offsets)
    levels.append(asArray(std::move(level)));
  return nb::make_tuple(arrayOf(std::move(bytes), extents, dlpackType(element)),
                        levels);
}
