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

/// Says that a function's accesses to memory will be checked. Before
/// optimization, which then makes none that the program does not have.
void markChecked(llvm::Function &function, Sanitizer sanitizer);

/// Has the functions that are marked call the sanitizer at each access to
/// memory. After optimization.
void insertChecks(llvm::Module &module, Sanitizer sanitizer,
                  llvm::ModuleAnalysisManager &analyses);

} // namespace mlir::batch

#endif // BATCH_LIB_TARGET_COMPILE_SANITIZE_H
