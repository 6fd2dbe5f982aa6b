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

/// Returns `op` if it has one result and computes sums of products of floats,
/// and null otherwise.
linalg::LinalgOp getContraction(Operation *op);

/// Partitions a program into tensor code, which is moved into kernels, and
/// control flow.
class TensorCode {
public:
  TensorCode(const InstanceProgram &program, const Sharedness &sharedness);

  /// Returns true if a kernel can contain `op`. Such an op computes tensors or,
  /// if only tensor code reads the results, scalars from elements of tensors.
  bool contains(Operation *op) const;

  /// Returns true for tensor code that computes scalars.
  bool isScalarCode(Operation *op) const { return scalarCode.contains(op); }

  /// Returns the blocks of control flow: the blocks of functions, and the
  /// blocks in regions of ops that are not tensor code.
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
