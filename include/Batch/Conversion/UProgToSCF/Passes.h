//===- Passes.h - Control flow of programs as scf ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOSCF_PASSES_H
#define BATCH_CONVERSION_UPROGTOSCF_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::batch {

#define GEN_PASS_DECL
#include "Batch/Conversion/UProgToSCF/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Batch/Conversion/UProgToSCF/Passes.h.inc"

} // namespace mlir::batch

#endif // BATCH_CONVERSION_UPROGTOSCF_PASSES_H
