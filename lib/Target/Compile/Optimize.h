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

/// Runs the passes of level 1 that need the whole module, or all LLVM passes of
/// levels 2 and 3.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    unsigned level);

/// Runs the other passes of level 1, and the passes that all levels need. Call
/// this after optimizeModule(), for the module or for each of its pieces.
void optimizeFunctions(llvm::Module &module, llvm::TargetMachine &machine,
                       unsigned level, Sanitizer sanitizer);

} // namespace mlir::batch

#endif // BATCH_LIB_TARGET_COMPILE_OPTIMIZE_H
