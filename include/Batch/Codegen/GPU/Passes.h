//===- Passes.h - Operators as code for a GPU -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_PASSES_H
#define BATCH_CODEGEN_GPU_PASSES_H

#include "Batch/Target/GPU/GPUTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::batch {

#define GEN_PASS_DECL
#include "Batch/Codegen/GPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Batch/Codegen/GPU/Passes.h.inc"

} // namespace mlir::batch

#endif // BATCH_CODEGEN_GPU_PASSES_H
