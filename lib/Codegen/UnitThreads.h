//===- UnitThreads.h - The threads of a unit --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_UNITTHREADS_H
#define BATCH_CODEGEN_UNITTHREADS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::batch {

/// Threads that run the code of a unit: one thread, or all threads of a GPU
/// block.
struct UnitThreads {
  int64_t threads = 1;
  Value thread; ///< number of this thread, an i64, if there are several threads
  /// Address at which a host can read the unit's progress at any time: the
  /// field `progress` of a BatchBlockControl. If null, no host reads it.
  Value progress;
  /// Scopes of atomic operations: threads of a block, and threads of all
  /// blocks.
  StringRef blockScope, deviceScope;
  unsigned stackSpace = 0; ///< address space of a thread's private memory

  bool isGroup() const { return threads > 1; }
};

/// Returns `number`, an i64, and hides its origin from optimizers. Values that
/// a thread computes from the result are then recomputed where they are used,
/// with one instruction each. An optimizer that knew the origin would compute
/// as many values as possible before loops and keep them in registers. A kernel
/// that runs a whole program has too few registers for this.
inline Value makeOpaque(OpBuilder &builder, Location loc, Value number) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value opaque = LLVM::IntToPtrOp::create(builder, loc, pointer, number);
  opaque = LLVM::LaunderInvariantGroupOp::create(builder, loc, opaque);
  return LLVM::PtrToIntOp::create(builder, loc, number.getType(), opaque);
}

} // namespace mlir::batch

#endif // BATCH_CODEGEN_UNITTHREADS_H
