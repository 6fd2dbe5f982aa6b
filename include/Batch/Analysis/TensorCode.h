//===- TensorCode.h - Code that belongs in kernels --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_TENSORCODE_H
#define BATCH_ANALYSIS_TENSORCODE_H

#include "Batch/Analysis/Sharedness.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::batch {

/// `op` if it is a sum of products of floats with one result; else null.
linalg::LinalgOp getContraction(Operation *op);

/// Separates the tensor code of a program, which goes into kernels, from
/// control.
class TensorCode {
public:
  TensorCode(const InstanceProgram &program, const Sharedness &sharedness);

  /// True if a kernel can hold `op`: it computes tensors, or scalars from
  /// elements of tensors that only tensor code reads.
  bool contains(Operation *op) const;

  /// True for the tensor code that computes scalars.
  bool isScalarCode(Operation *op) const { return scalarCode.contains(op); }

  /// The blocks of control: those of functions, and those in regions of ops
  /// that are not tensor code.
  ArrayRef<Block *> getBlocks() const { return blocks; }

private:
  void collectBlocks(Region &region);
  void findScalarCode();

  const Sharedness &sharedness;
  SmallVector<Block *> blocks;
  DenseSet<Operation *> scalarCode;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_TENSORCODE_H
