//===- WorkEstimate.h - How much an instance computes -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_WORKESTIMATE_H
#define BATCH_ANALYSIS_WORKESTIMATE_H

#include "Batch/Analysis/ControlStructure.h"

namespace mlir::batch {

/// Counts the operations of a tensor op at each point of its iteration space:
/// two in a product of matrices. Constants and empty tensors are free.
int64_t countOperationsPerPoint(Operation *op);
/// Counts the operations of a tensor op at all points, for one instance.
/// Extents that are not static count as 1.
int64_t countOperations(Operation *op);

/// Estimated rounds of a loop whose number of rounds is not static.
inline constexpr int64_t kUnknownRounds = 10;

/// Estimates how often a region of `op` runs each time that `op` runs: for a
/// loop, its static number of rounds or `unknownRounds`; for a conditional, all
/// regions are equally frequent.
double countRuns(Operation *op, double unknownRounds = kUnknownRounds);

/// Estimated work of one instance. A loop has its static number of rounds or
/// 10, and all regions of a conditional run equally often. Each function of a
/// recursion runs once per call from outside of the recursion.
struct WorkEstimate {
  double operations = 0; ///< on elements, of tensor code
  /// Waits for tensors from which control reads elements. Several reads of one
  /// tensor are one wait.
  double waits = 0;
};

WorkEstimate estimateWork(const InstanceProgram &program,
                          const Sharedness &sharedness,
                          const StructuralControl &control);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_WORKESTIMATE_H
