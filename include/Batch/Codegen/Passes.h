//===- Passes.h - Passes that emit code for operators -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_PASSES_H
#define BATCH_CODEGEN_PASSES_H

#include "Batch/Codegen/CPU/Passes.h"
#include "Batch/Codegen/GPU/Passes.h"
#include "Batch/Codegen/Stages/Passes.h"

namespace mlir::batch {

inline void registerCodegenPasses() {
  registerCodegenCPUPasses();
  registerCodegenGPUPasses();
  registerCodegenStagesPasses();
}

} // namespace mlir::batch

#endif // BATCH_CODEGEN_PASSES_H
