//===- Passes.h - Passes within a level -------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_PASSES_H
#define BATCH_TRANSFORMS_PASSES_H

#include "Batch/Transforms/Control/Passes.h"
#include "Batch/Transforms/Executor/Passes.h"
#include "Batch/Transforms/Import/Passes.h"
#include "Batch/Transforms/Kernels/Passes.h"
#include "Batch/Transforms/Memory/Passes.h"
#include "Batch/Transforms/Normalize/Passes.h"
#include "Batch/Transforms/Recursion/Passes.h"
#include "Batch/Transforms/Schedule/Passes.h"
#include "Batch/Transforms/Verify/Passes.h"

namespace mlir::batch {

inline void registerTransformsPasses() {
  registerTransformsImportPasses();
  registerTransformsNormalizePasses();
  registerTransformsRecursionPasses();
  registerTransformsKernelsPasses();
  registerTransformsControlPasses();
  registerTransformsSchedulePasses();
  registerTransformsMemoryPasses();
  registerTransformsExecutorPasses();
  registerTransformsVerifyPasses();
}

} // namespace mlir::batch

#endif // BATCH_TRANSFORMS_PASSES_H
