//===- GenerateCode.h - Object files of an LLVM module ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_TARGET_COMPILE_GENERATECODE_H
#define BATCH_LIB_TARGET_COMPILE_GENERATECODE_H

#include "Batch/Target/Compile/Compile.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::batch {

/// Bytes of an ELF object file.
using ObjectFile = SmallVector<char, 0>;

/// Optimizes the functions of `module` with `optimizeFunctions`, and creates
/// object files to be linked together. Uses all cores that the MLIR context may
/// use; the files do not depend on the number of cores. `module` must not be
/// used afterwards.
FailureOr<std::vector<ObjectFile>>
generateCode(Location loc, llvm::Module &module, llvm::TargetMachine &machine,
             unsigned level, Sanitizer sanitizer);

} // namespace mlir::batch

#endif // BATCH_LIB_TARGET_COMPILE_GENERATECODE_H
