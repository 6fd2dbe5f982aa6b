//===- Reservation.h - Room that traversals reserve -------------*- C++ -*-===//
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

/// Maximum that a traversal adds per node that it visits. With that much room,
/// its loop calls nothing that moves memory.
struct Reservation {
  int64_t nodes = 0;                          ///< nodes of the forest
  llvm::MapVector<KernelOp, int64_t> records; ///< records by kernel
  SmallVector<Operation *> ops; ///< ops that add them, with room reserved
};

/// Returns the maximum that `traverse` adds per node outside loops. Returns
/// nothing if its functions call others. Kinds that they also add in loops are
/// omitted, because the room for those is not known. Kernels of `constants`
/// have one record each.
Reservation reserve(TraverseOp traverse,
                    const DenseSet<Operation *> &constants);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_RESERVATION_H
