//===- CheckPrograms.h - Check programs of persistent kernels ---*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOGPU_CHECKPROGRAMS_H
#define BATCH_CONVERSION_UPROGTOGPU_CHECKPROGRAMS_H

#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::uprog {

/// Returns the program that a reference runs.
ProgramOp findCallee(RefOp ref);
/// Returns the code of the operator that `run` runs, or null.
CodeAttr getCode(RunOp run);

/// Emits an error and fails if `program` cannot run in a persistent kernel with
/// the functions of `device`.
LogicalResult checkKernelProgram(ProgramOp program, gpu::GPUModuleOp device);
/// Emits an error and fails if a function fills shared memory for clusters, but
/// `usesClusters` is false.
LogicalResult checkFillLevels(gpu::GPUModuleOp device, bool usesClusters);

} // namespace mlir::uprog

#endif // BATCH_CONVERSION_UPROGTOGPU_CHECKPROGRAMS_H
