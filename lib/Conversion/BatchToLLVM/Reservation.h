//===- Reservation.h - Space that traversals reserve ------------*- C++ -*-===//
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

/// Maximum number of objects that a traversal adds per node that it visits. If
/// space for these objects is reserved, the loop of the traversal calls nothing
/// that moves memory.
struct Reservation {
  int64_t nodes = 0;                          ///< nodes of the forest
  llvm::MapVector<KernelOp, int64_t> records; ///< records by kernel
  /// Ops that add these nodes and records, for which space is reserved.
  SmallVector<Operation *> ops;
};

/// Returns the maximum numbers of objects that `traverse` adds per node, or an
/// empty reservation if its functions call other functions. Omits kinds of
/// objects that the functions add in loops, because the required space is
/// unknown. Also omits the kernels in `constants`, which have one record each.
Reservation reserve(TraverseOp traverse,
                    const DenseSet<Operation *> &constants);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_RESERVATION_H
