//===- TileFunctions.h - Register tiles of contractions ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_CPU_TILEFUNCTIONS_H
#define BATCH_CODEGEN_CPU_TILEFUNCTIONS_H

#include "../Stages/CodeBuilder.h"
#include "../Stages/StagePlan.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>

namespace mlir::uprog {

/// Sizes of the register tiles for which the target has enough registers.
struct RegisterTiles {
  explicit RegisterTiles(int64_t registers);

  int64_t budget;  ///< number of accumulators
  int64_t maxRows; ///< maximum number of rows of a tile that is one panel wide
  /// Returns the number of panels that a tile of `rows` rows covers. With few
  /// rows, more columns are needed to hide the latency of an fma.
  int64_t panelsFor(int64_t rows) const;
};

/// Shape of a contraction's code. All contractions of a module that have the
/// same shape share code.
struct TileShape {
  Type element;        ///< f32 or f64
  int64_t lanes;       ///< elements of a vector
  int64_t fullLanes;   ///< elements that a vector register holds
  int64_t leftStride;  ///< elements between rows of A
  int64_t rightStride; ///< elements between rows of a panel
  int64_t vectors;     ///< vectors of a panel that are computed
  int64_t outStride;   ///< elements between rows of C
  bool accumulate;     ///< start from the values in C instead of zero
  bool streamed;       ///< panels come from beyond the first-level cache

  /// Returns a suffix for function names that distinguishes this shape from
  /// others.
  std::string getSuffix() const;
};

/// Creates the register-tile functions of a module. For any number of rows and
/// columns, each function adds products in ascending order, with one fma per
/// step.
class TileFunctions {
public:
  TileFunctions(ModuleOp module, const RegisterTiles &tiles)
      : module(module), tiles(tiles) {}

  /// Returns the function f(A, B, C, depth, rows, panels, bytes from panel to
  /// panel, ahead, step). It computes C[rows][panels * width] = A[rows][depth]
  /// * B. If the shape accumulates, it adds the product to C instead. If panels
  /// are streamed, the function also prefetches memory, beginning at `ahead`
  /// and advancing by `step` bytes with each step of the reduction.
  func::FuncOp get(const TileShape &shape);

private:
  func::FuncOp getTile(const TileShape &shape, int64_t rows, int64_t panels);

  ModuleOp module;
  RegisterTiles tiles;
  std::map<std::string, func::FuncOp> dispatchers; ///< by name
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_CPU_TILEFUNCTIONS_H
