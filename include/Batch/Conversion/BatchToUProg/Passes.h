//===- Passes.h - The conversion from batch to uprog ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_PASSES_H
#define BATCH_CONVERSION_BATCHTOUPROG_PASSES_H

#include "Batch/Conversion/BatchToUProg/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::batch {

#define GEN_PASS_DECL
#include "Batch/Conversion/BatchToUProg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Batch/Conversion/BatchToUProg/Passes.h.inc"

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_PASSES_H
