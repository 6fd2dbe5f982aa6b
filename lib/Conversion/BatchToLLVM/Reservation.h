//===- Reservation.h - Room that traversals make beforehand -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOLLVM_RESERVATION_H
#define BATCH_CONVERSION_BATCHTOLLVM_RESERVATION_H

#include "Batch/Dialect/Batch/Batch.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::batch {

/// The most that a traversal adds per node that it visits. With that much room
/// its loop calls nothing that moves memory.
struct Reservation {
  int64_t nodes = 0;                          ///< nodes of the forest
  llvm::MapVector<KernelOp, int64_t> records; ///< records by kernel
  SmallVector<Operation *> ops; ///< what adds it, and need not make room itself
};

/// What `traverse` adds per node outside of loops. Nothing if its functions
/// call others, and nothing of a kind that they also add in loops: how much
/// that takes is not known. Kernels of `constants` have one record in all.
Reservation reserve(TraverseOp traverse,
                    const DenseSet<Operation *> &constants);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_RESERVATION_H
