//===- TensorText.h - A tensor as nested arrays -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_FORMATS_TENSORTEXT_H
#define BATCH_RUNTIME_LIB_FORMATS_TENSORTEXT_H

#include "batch-runtime/Descriptor.h"

#include <optional>

namespace batchrt {

/// A NaN or an infinity, which JSON numbers cannot represent. In JSON texts it
/// is a string: "NaN", "Infinity" or "-Infinity".
struct NonFinite {
  double value;

  const char *name() const;
  static std::optional<NonFinite> find(const std::string &name);
};

/// Collects the elements of one tensor after another from the brackets and
/// numbers that a parser reads. Stores them in row-major order. Errors begin
/// with the indices of the element or array, for example "[1][3]: ...". They
/// contain neither the line nor the argument.
class TensorText {
public:
  explicit TensorText(const Descriptor &descriptor) : descriptor(descriptor) {}

  /// Begins a tensor: at its outer bracket, or at its number if it has rank 0.
  void begin(const Type &type);
  /// Handles an opening bracket within the tensor.
  void open();
  /// Handles a closing bracket. Returns true if it ends the tensor.
  bool close();
  /// Adds an element. `digits` is its text, for errors. If `value` is infinite,
  /// the element is too large for a double.
  void add(double value, const char *digits);
  void add(int64_t value);
  void add(bool value);
  /// Adds an element that is not finite.
  void add(NonFinite value);
  /// Raises an error for text that is not the expected element or array.
  [[noreturn]] void mismatch(const std::string &found) const;

  /// Returns the elements in row-major order, without padding.
  const char *elements() const { return dense.data(); }

  /// Describes a tensor of the type, for errors: "an array of 3 elements".
  static std::string expected(const Type &type);

private:
  bool isElement() const { return counts.size() == type->shape.size(); }
  /// Returns the address for the next element, or null if there are too many
  /// elements. In that case, close() raises an error.
  char *next(const char *found);
  /// Returns the index of the next value in each of the first `levels` open
  /// arrays, as in "[1][3]".
  std::string path(size_t levels) const;
  [[noreturn]] void rangeError(const std::string &digits) const;

  const Descriptor &descriptor;
  const Type *type = nullptr;
  std::vector<char> dense;
  std::vector<int64_t> counts; ///< number of entries so far, indexed by open
                               ///< array
  int64_t taken = 0, total = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_FORMATS_TENSORTEXT_H
