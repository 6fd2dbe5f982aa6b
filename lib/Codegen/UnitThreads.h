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

/// The same number, an i64, of which an optimizer knows nothing. What a thread
/// computes of it stays where it is used, an instruction each: of a number that
/// it knows it computes all that it can in front of loops, and keeps it in
/// registers, which a kernel that runs a whole program does not have.
inline Value makeOpaque(OpBuilder &builder, Location loc, Value number) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value opaque = LLVM::IntToPtrOp::create(builder, loc, pointer, number);
  opaque = LLVM::LaunderInvariantGroupOp::create(builder, loc, opaque);
  return LLVM::PtrToIntOp::create(builder, loc, number.getType(), opaque);
}

} // namespace mlir::batch

#endif // BATCH_CODEGEN_UNITTHREADS_H
