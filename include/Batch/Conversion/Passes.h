//===- Passes.h - Passes between levels -------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_PASSES_H
#define BATCH_CONVERSION_PASSES_H

#include "Batch/Conversion/BatchToLLVM/Passes.h"
#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Conversion/ExpandFloats/Passes.h"
#include "Batch/Conversion/ExpandMath/Passes.h"
#include "Batch/Conversion/GPUToHostEmulation/Passes.h"
#include "Batch/Conversion/RecToLLVM/Passes.h"
#include "Batch/Conversion/SCFToCF/Passes.h"
#include "Batch/Conversion/UProgToCPU/Passes.h"
#include "Batch/Conversion/UProgToGPU/Passes.h"
#include "Batch/Conversion/UProgToSCF/Passes.h"

namespace mlir::batch {

inline void registerConversionPasses() {
  registerBatchToUProgPasses();
  registerUProgToSCFPasses();
  registerUProgToCPUPasses();
  registerBatchToLLVMPasses();
  registerUProgToGPUPasses();
  registerExpandFloatsPasses();
  registerExpandMathPasses();
  registerGPUToHostEmulationPasses();
  registerRecToLLVMPasses();
  registerSCFToCFPasses();
}

} // namespace mlir::batch

#endif // BATCH_CONVERSION_PASSES_H
