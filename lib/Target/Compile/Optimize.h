//===- Optimize.h - LLVM passes by optimization level -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_TARGET_COMPILE_OPTIMIZE_H
#define BATCH_LIB_TARGET_COMPILE_OPTIMIZE_H

#include "Batch/Target/Compile/Compile.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::batch {

/// Runs the passes of an optimization level that process more than one
/// function.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    unsigned level);

/// Runs the passes that process one function at a time, and the passes that all
/// levels need. Call this after optimizeModule().
void optimizeFunctions(llvm::Module &module, llvm::TargetMachine &machine,
                       unsigned level, Sanitizer sanitizer);

} // namespace mlir::batch

#endif // BATCH_LIB_TARGET_COMPILE_OPTIMIZE_H
