//===- UnitThreads.h - The threads of a unit --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_UNITTHREADS_H
#define BATCH_CODEGEN_UNITTHREADS_H

#include "mlir/IR/Value.h"

namespace mlir::batch {

/// What runs the code of a unit: one thread, or all threads of a GPU's block.
struct UnitThreads {
  int64_t threads = 1;
  Value thread; ///< the number of this one, an i64, if there are several
  /// Where a host that may look at any time sees what the unit is at: the field
  /// of a BatchBlockControl. Null: nobody looks.
  Value progress;
  /// The scopes of atomic operations: threads of a block, and of all blocks.
  StringRef blockScope, deviceScope;
  unsigned stackSpace = 0; ///< the address space of a thread's own memory

  bool isGroup() const { return threads > 1; }
};

} // namespace mlir::batch

#endif // BATCH_CODEGEN_UNITTHREADS_H
