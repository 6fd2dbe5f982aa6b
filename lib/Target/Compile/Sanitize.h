//===- Sanitize.h - Checks of compiled code at run time ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_TARGET_COMPILE_SANITIZE_H
#define BATCH_LIB_TARGET_COMPILE_SANITIZE_H

#include "Batch/Target/Compile/Compile.h"
#include "llvm/IR/PassManager.h"

namespace mlir::batch {

/// Marks a function whose memory accesses will be checked. Call this before
/// optimization, which adds no accesses to marked functions.
void markChecked(llvm::Function &function, Sanitizer sanitizer);

/// Makes the marked functions call the sanitizer at each memory access. Call
/// this after optimization.
void insertChecks(llvm::Module &module, Sanitizer sanitizer,
                  llvm::ModuleAnalysisManager &analyses);

} // namespace mlir::batch

#endif // BATCH_LIB_TARGET_COMPILE_SANITIZE_H
