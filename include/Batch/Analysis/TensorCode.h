//===- TensorCode.h - What belongs into kernels -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_TENSORCODE_H
#define BATCH_ANALYSIS_TENSORCODE_H

#include "Batch/Analysis/Sharedness.h"

namespace mlir::batch {

/// Tells the tensor code of a program, which kernels hold, from its control.
class TensorCode {
public:
  TensorCode(const InstanceProgram &program, const Sharedness &sharedness);

  /// True if a kernel can hold `op`: it computes tensors, or numbers out of
  /// elements of tensors that tensor code alone reads.
  bool contains(Operation *op) const;

  /// True for those that compute numbers.
  bool isScalarCode(Operation *op) const { return scalarCode.contains(op); }

  /// The blocks of control: those of functions, and of the regions of ops that
  /// are no tensor code.
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
