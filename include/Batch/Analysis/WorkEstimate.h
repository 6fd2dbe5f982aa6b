//===- WorkEstimate.h - Work of an instance ---------------------*- C++ -*-===//
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
/// two for a matrix product, for example. Constants and empty tensors cost
/// nothing.
int64_t countOperationsPerPoint(Operation *op);
/// Counts the operations of a tensor op at all points, for one instance.
/// Extents that are not static count as 1.
int64_t countOperations(Operation *op);

/// Estimated rounds of a loop whose number of rounds is not static.
inline constexpr int64_t kUnknownRounds = 10;

/// Estimates how often a region of `op` runs each time that `op` runs. Assumes
/// that a loop runs its static number of rounds or `unknownRounds`, and that
/// all regions of a conditional are equally likely.
double countRuns(Operation *op, double unknownRounds = kUnknownRounds);

/// Estimated work of one instance. The estimate uses the assumptions of
/// countRuns(). It counts each recursive function once per call from outside
/// the recursion.
struct WorkEstimate {
  double operations = 0; ///< operations on elements, in tensor code
  /// Number of waits for tensors from which control flow reads elements.
  /// Several reads of the same tensor count as one wait.
  double waits = 0;
};

WorkEstimate estimateWork(const InstanceProgram &program,
                          const Sharedness &sharedness,
                          const StructuralControl &control);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_WORKESTIMATE_H
