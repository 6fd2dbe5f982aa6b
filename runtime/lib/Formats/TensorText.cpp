//===- TensorText.cpp - A tensor as nested arrays -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorText.h"
#include "batch-runtime/Error.h"

#include <cmath>

using namespace batchrt;

static std::string elementText(DType type) {
  if (isFloat(type))
    return "a number";
  return concat("an integer of type ", typeName(type));
}

/// Describes `count` entries of an array in dimension `level`.
static std::string entries(const Type &type, size_t level, int64_t count) {
  bool last = level + 1 == type.shape.size();
  return concat(count, last ? " element" : " array", count == 1 ? "" : "s");
}

static std::string arrayText(const Type &type, size_t level) {
  return "an array of " + entries(type, level, type.shape[level]);
}

std::string TensorText::expected(const Type &type) {
  return type.shape.empty() ? elementText(type.dtype) : arrayText(type, 0);
}

void TensorText::begin(const Type &tensor) {
  type = &tensor;
  counts.assign(tensor.shape.empty() ? 0 : 1, 0);
  total = elementCount(tensor.shape);
  taken = 0;
  dense.assign(total * byteSize(tensor.dtype), 0);
}

std::string TensorText::path(size_t levels) const {
  std::string text;
  for (size_t i = 0; i < levels; ++i)
    text += concat("[", counts[i], "]");
  return text;
}

void TensorText::mismatch(const std::string &found) const {
  raise(path(counts.size()), ": expected ",
        isElement() ? elementText(type->dtype)
                    : arrayText(*type, counts.size()),
        ", found ", found, " (", describe(descriptor, *type), ")");
}

void TensorText::open() {
  if (isElement())
    mismatch("an array");
  counts.push_back(0);
}

bool TensorText::close() {
  size_t level = counts.size() - 1;
  int64_t wanted = type->shape[level];
  if (counts[level] != wanted)
    raise(path(level), " has ", entries(*type, level, counts[level]),
          "; expected ", wanted, " (", describe(descriptor, *type), ")");
  counts.pop_back();
  if (counts.empty())
    return true;
  ++counts.back();
  return false;
}

char *TensorText::next(const char *found) {
  if (!isElement())
    mismatch(found);
  if (!counts.empty())
    ++counts.back();
  return taken == total ? nullptr
                        : dense.data() + taken++ * byteSize(type->dtype);
}

void TensorText::rangeError(const std::string &digits) const {
  // The element has already been counted.
  std::string where = counts.empty() ? "" : path(counts.size() - 1);
  if (!counts.empty())
    where += concat("[", counts.back() - 1, "]");
  if (isFloat(type->dtype))
    raise(where, ": ", digits, " is too large for ", typeName(type->dtype));
  auto [least, most] = integerRange(type->dtype);
  raise(where, ": ", digits, " is out of range for ", typeName(type->dtype),
        "; expected ", least, " to ", most);
}

void TensorText::add(double value, const char *digits) {
  if (!isElement())
    mismatch("a number");
  if (!isFloat(type->dtype)) {
    // Without '.', 'e' or 'E', the text is an integer that is too large for an
    // int64_t and has been converted to a double.
    if (std::string(digits).find_first_of(".eE") != std::string::npos)
      mismatch(digits);
    next(digits);
    rangeError(digits);
  }
  char *at = next(digits);
  if (at && (std::isinf(value) || !storeFloat(type->dtype, value, at, 0)))
    rangeError(digits);
}

void TensorText::add(int64_t value) {
  char *at = next("a number");
  if (!at)
    return;
  bool fits = isFloat(type->dtype)
                  ? storeFloat(type->dtype, static_cast<double>(value), at, 0)
                  : storeInteger(type->dtype, value, at, 0);
  if (!fits)
    rangeError(std::to_string(value));
}

void TensorText::add(NonFinite value) {
  if (!isElement() || !isFloat(type->dtype))
    mismatch("a string");
  if (char *at = next("a string"))
    storeFloat(type->dtype, value.value, at, 0);
}

const char *NonFinite::name() const {
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

std::optional<NonFinite> NonFinite::find(const std::string &name) {
  for (double value : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    if (name == NonFinite{value}.name())
      return NonFinite{value};
  return std::nullopt;
}

void TensorText::add(bool value) {
  if (!isElement() || type->dtype != DType::I1)
    mismatch("a boolean");
  if (char *at = next("a boolean"))
    *at = value;
}
