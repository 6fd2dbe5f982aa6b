//===- Passes.h - Programs as persistent kernels ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOGPU_PASSES_H
#define BATCH_CONVERSION_UPROGTOGPU_PASSES_H

#include "Batch/Conversion/UProgToGPU/Options.h"
#include "Batch/Target/GPU/GPUTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::batch {

#define GEN_PASS_DECL
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"

} // namespace mlir::batch

#endif // BATCH_CONVERSION_UPROGTOGPU_PASSES_H
