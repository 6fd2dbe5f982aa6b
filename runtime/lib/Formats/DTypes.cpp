//===- DTypes.cpp - Element types -----------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Tensors.h"

#include <algorithm>
#include <cmath>

using namespace batchrt;

namespace {
struct TypeInfo {
  DType type;
  const char *file, *name;
  int64_t bytes;
  bool isFloat;
};
constexpr TypeInfo types[] = {
    {DType::I1, "BOOL", "i1", 1, false},
    {DType::I8, "I8", "i8", 1, false},
    {DType::I16, "I16", "i16", 2, false},
    {DType::I32, "I32", "i32", 4, false},
    {DType::I64, "I64", "i64", 8, false},
    {DType::U8, "U8", "ui8", 1, false},
    {DType::F16, "F16", "f16", 2, true},
    {DType::BF16, "BF16", "bf16", 2, true},
    {DType::F32, "F32", "f32", 4, true},
    {DType::F64, "F64", "f64", 8, true},
};

const TypeInfo &info(DType type) { return types[static_cast<int>(type)]; }

template <class T>
T load(const char *data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store(char *data, int64_t index, T value) {
  std::memcpy(data + index * sizeof(T), &value, sizeof(T));
}

double halfToDouble(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  double mantissa = bits & 1023;
  double value;
  if (exponent == 31)
    value = mantissa != 0 ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(mantissa, -24);
  else
    value = std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

double bfloatToDouble(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, 4);
  return value;
}
} // namespace

int64_t batchrt::byteSize(DType type) { return info(type).bytes; }
bool batchrt::isFloat(DType type) { return info(type).isFloat; }
const char *batchrt::fileName(DType type) { return info(type).file; }
const char *batchrt::typeName(DType type) { return info(type).name; }

DType batchrt::parseTypeName(const std::string &name) {
  if (name == "index")
    return DType::I64;
  for (const TypeInfo &candidate : types)
    if (name == candidate.name)
      return candidate.type;
  raise("the element type '", name, "' is not known to this runtime");
}

double batchrt::loadDouble(DType type, const char *data, int64_t index) {
  switch (type) {
  case DType::F16:
    return halfToDouble(load<uint16_t>(data, index));
  case DType::BF16:
    return bfloatToDouble(load<uint16_t>(data, index));
  case DType::F32:
    return load<float>(data, index);
  case DType::F64:
    return load<double>(data, index);
  default:
    return static_cast<double>(loadInteger(type, data, index));
  }
}

int64_t batchrt::loadInteger(DType type, const char *data, int64_t index) {
  switch (type) {
  case DType::I1:
    return load<uint8_t>(data, index) != 0;
  case DType::I8:
    return load<int8_t>(data, index);
  case DType::U8:
    return load<uint8_t>(data, index);
  case DType::I16:
    return load<int16_t>(data, index);
  case DType::I32:
    return load<int32_t>(data, index);
  case DType::I64:
    return load<int64_t>(data, index);
  default:
    return static_cast<int64_t>(loadDouble(type, data, index));
  }
}

bool batchrt::canConvert(DType from, DType to) {
  if (from == to)
    return true;
  if (isFloat(from) != isFloat(to))
    return false;
  return to != DType::F16 && to != DType::BF16;
}

bool batchrt::convertElements(DType from, const char *source, DType to,
                              char *target, int64_t count) {
  if (from == to) {
    if (count)
      std::memcpy(target, source, count * byteSize(to));
    return true;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (to == DType::F32) {
      store(target, i, static_cast<float>(loadDouble(from, source, i)));
      continue;
    }
    if (to == DType::F64) {
      store(target, i, loadDouble(from, source, i));
      continue;
    }
    int64_t value = loadInteger(from, source, i);
    switch (to) {
    case DType::I1:
      store<uint8_t>(target, i, value != 0);
      break;
    case DType::I8:
    case DType::U8:
      store<uint8_t>(target, i, static_cast<uint8_t>(value));
      break;
    case DType::I16:
      store(target, i, static_cast<int16_t>(value));
      break;
    case DType::I32:
      store(target, i, static_cast<int32_t>(value));
      break;
    default:
      store(target, i, value);
      break;
    }
    if (loadInteger(to, target, i) != value)
      return false;
  }
  return true;
}

RowLayout::RowLayout(const int64_t *dimsBegin, const int64_t *dimsEnd,
                     DType type) {
  int64_t last = dimsBegin == dimsEnd ? 1 : dimsEnd[-1];
  for (; dimsEnd - dimsBegin > 1; ++dimsBegin)
    lines *= *dimsBegin;
  lineBytes = last * byteSize(type);
  lineStride = (lineBytes + 63) / 64 * 64;
}

void ElementLayout::unpad(const std::vector<int64_t> &shape, DType type,
                          const char *row, char *dense) const {
  int64_t bytes = byteSize(type), columns = shape.empty() ? 1 : shape.back();
  std::vector<int64_t> indices(shape.size(), 0);
  for (int64_t left = elementCount(shape); left > 0;) {
    int64_t offset = 0;
    for (const Digit &digit : digits) {
      int64_t part = indices[digit.dim] / digit.divisor;
      offset += (digit.modulus ? part % digit.modulus : part) * digit.bytes;
    }
    int64_t count = std::min(run, columns - indices.back());
    std::memcpy(dense, row + offset, count * bytes);
    dense += count * bytes;
    left -= count;
    indices.back() += count;
    for (size_t dim = shape.size() - 1; dim > 0; --dim)
      if (indices[dim] == shape[dim]) {
        indices[dim] = 0;
        ++indices[dim - 1];
      }
  }
}
