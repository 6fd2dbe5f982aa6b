//===- DTypes.cpp - Element types -----------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Tensors.h"

#include <algorithm>
#include <cfloat>
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

/// Returns the nearest number with `bits` bits after the leading bit, and no
/// bits below 2^`least`. Ties round to even.
double roundTo(double value, int bits, int least) {
  if (value == 0 || !std::isfinite(value))
    return value;
  int exponent;
  std::frexp(value, &exponent);
  int last = std::max(exponent - 1 - bits, least);
  return std::ldexp(std::nearbyint(std::ldexp(value, -last)), last);
}

/// Returns the f16 bits of a number that f16 represents exactly.
uint16_t doubleToHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return sign | 0x7e00;
  double size = std::fabs(value);
  if (std::isinf(size))
    return sign | 0x7c00;
  if (size < std::ldexp(1, -14))
    return sign | static_cast<uint16_t>(std::ldexp(size, 24));
  int exponent;
  double leading = std::frexp(size, &exponent); // in [1/2, 1)
  return sign | static_cast<uint16_t>((exponent + 14) << 10) |
         static_cast<uint16_t>(std::ldexp(leading, 11) - 1024);
}

uint16_t doubleToBfloat(double value) {
  auto single = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &single, 4);
  return static_cast<uint16_t>(bits >> 16) | (std::isnan(value) ? 0x40 : 0);
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
  raise("unknown element type '", name, "'");
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

bool batchrt::storeFloat(DType type, double value, char *data, int64_t index) {
  auto fits = [value](double rounded, double most) {
    return std::fabs(rounded) <= most || !std::isfinite(value);
  };
  switch (type) {
  case DType::F16: {
    double rounded = roundTo(value, 10, -24);
    if (!fits(rounded, 65504))
      return false;
    store(data, index, doubleToHalf(rounded));
    return true;
  }
  case DType::BF16: {
    double rounded = roundTo(value, 7, -133);
    if (!fits(rounded, std::ldexp(255, 120)))
      return false;
    store(data, index, doubleToBfloat(rounded));
    return true;
  }
  case DType::F32: {
    float rounded = static_cast<float>(value);
    if (!fits(rounded, FLT_MAX))
      return false;
    store(data, index, rounded);
    return true;
  }
  default:
    store(data, index, value);
    return true;
  }
}

std::pair<int64_t, int64_t> batchrt::integerRange(DType type) {
  if (type == DType::I1)
    return {0, 1};
  if (type == DType::U8)
    return {0, 255};
  int64_t most = INT64_MAX >> (64 - 8 * byteSize(type));
  return {-most - 1, most};
}

bool batchrt::storeInteger(DType type, int64_t value, char *data,
                           int64_t index) {
  auto [least, most] = integerRange(type);
  if (value < least || value > most)
    return false;
  // Little-endian: the low bytes are first.
  std::memcpy(data + index * byteSize(type), &value, byteSize(type));
  return true;
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
    bool fits = isFloat(to)
                    ? storeFloat(to, loadDouble(from, source, i), target, i)
                    : storeInteger(to, loadInteger(from, source, i), target, i);
    if (!fits)
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
