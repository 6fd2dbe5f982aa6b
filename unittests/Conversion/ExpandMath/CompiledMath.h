//===- CompiledMath.h - Expanded functions as machine code ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code shared by the tests of the expansion of math functions: sources of loops
// over arrays, their compilation to machine code in memory, and the types under
// test.
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
  /// From this value on, sin and cos reduce their arguments with many bits of
  /// 2 / pi.
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
/// Returns true if `a` and `b` have the same bits or are both NaN.
template <typename T>
bool sameNumber(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || sameBits(a, b);
}

/// Replaces every `from` with `to`, which must not contain `from`.
void replaceAll(std::string &text, StringRef from, StringRef to);

/// Returns `type`, or a vector of it if `width` is not 1.
std::string vectorOf(StringRef type, int width);

/// Returns the name of a function on numbers or vectors of a type.
std::string symbol(StringRef function, StringRef element, int width);

/// Returns llvm.func @symbol(name, element, width) with a loop from i = 0 to
/// `count`, in steps of `width`. In `body`, TYPE becomes the type of the
/// computed values, and ELEMENT the type of their elements.
std::string loopSource(StringRef name, StringRef element, int width, int count,
                       StringRef arguments, StringRef body);

/// Functions in memory whose math ops are expanded.
class CompiledMath {
public:
  CompiledMath();

  /// Parses the functions and expands them.
  LogicalResult expand(StringRef source);
  /// Returns the module that expand() created.
  ModuleOp getModule() const { return *module; }
  /// Compiles the module to machine code.
  LogicalResult compile();
  /// Returns the address of a function. If there is none, returns null and adds
  /// a test failure.
  void *lookup(StringRef name) const;

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<ExecutionEngine> engine;
};

} // namespace mlir::batch

#endif // BATCH_UNITTESTS_CONVERSION_EXPANDMATH_COMPILEDMATH_H
