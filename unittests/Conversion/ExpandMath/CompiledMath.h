//===- CompiledMath.h - Expanded functions as machine code ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tests of math's expansion share: sources of loops over arrays, their
// way to machine code in memory, and the types under test.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_UNITTESTS_CONVERSION_EXPANDMATH_COMPILEDMATH_H
#define BATCH_UNITTESTS_CONVERSION_EXPANDMATH_COMPILEDMATH_H

#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <cmath>
#include <cstring>

namespace mlir::batch {

/// A type under test.
template <typename T>
struct Info;
template <>
struct Info<float> {
  using Bits = uint32_t;
  using Wide = double;
  static constexpr const char *name = "f32";
  /// From here on, the arguments of sin and cos are reduced by 2 / pi.
  static constexpr float sineRange = 0x1p18f;
};
template <>
struct Info<double> {
  using Bits = uint64_t;
  using Wide = long double;
  static constexpr const char *name = "f64";
  static constexpr double sineRange = 0x1p46;
};

/// Calls a generic function with a float and with a double.
template <typename Check>
void forAllTypes(Check check) {
  check(float());
  check(double());
}

template <typename T>
T fromBits(typename Info<T>::Bits bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
template <typename T>
bool sameBits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}
/// True for any two NaNs too.
template <typename T>
bool sameNumber(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || sameBits(a, b);
}

/// Puts `to`, which has no `from` in it, in place of every `from`.
void replaceAll(std::string &text, StringRef from, StringRef to);

/// `type`, or a vector of it if `width` is not 1.
std::string vectorOf(StringRef type, int width);

/// The name of a function on numbers or vectors of a type.
std::string symbol(StringRef function, StringRef element, int width);

/// llvm.func @symbol(name, element, width) with a loop from i = 0 to `count`,
/// in steps of `width`. In `body`, TYPE becomes the type of what is computed,
/// ELEMENT that of its elements.
std::string loopSource(StringRef name, StringRef element, int width, int count,
                       StringRef arguments, StringRef body);

/// Functions whose ops of math are expanded, in memory.
class CompiledMath {
public:
  CompiledMath();

  /// Reads the functions and expands them.
  LogicalResult expand(StringRef source);
  /// What expand() made.
  ModuleOp getModule() const { return *module; }
  /// Makes machine code of it.
  LogicalResult compile();
  /// The address of a function, or null and a failed expectation.
  void *lookup(StringRef name) const;

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ExecutionEngine> engine;
};

} // namespace mlir::batch

#endif // BATCH_UNITTESTS_CONVERSION_EXPANDMATH_COMPILEDMATH_H
