//===- WarpExchange.h - Values of other lanes -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WARPEXCHANGE_H
#define BATCH_CODEGEN_GPU_WARPEXCHANGE_H

#include "../Stages/CodeBuilder.h"

namespace mlir::uprog {

/// Returns the `value` of lane n XOR `distance` (an i32), where n is the number
/// of this lane. A value has up to 64 bits. Warps exchange 32 bits at a time.
/// All lanes of a warp must run this code.
Value exchange(CodeBuilder &b, Value value, Value distance);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WARPEXCHANGE_H
