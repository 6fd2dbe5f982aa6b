//===- Tuning.h - Measured choices for kernels ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_CPU_TUNING_H
#define BATCH_CODEGEN_CPU_TUNING_H

#include "Batch/Dialect/UProg/UProg.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::uprog {

/// The best choices measured for a kernel; -1: the cost model decides.
struct KernelTuning {
  int64_t tileRows = -1; ///< rows of a register tile, at least 1
  int64_t rowSplit = -1; ///< see Sharing.h
  int64_t stageRows = -1;
  int64_t shareTasks = -1;
};

/// The contents of a file that `batch-run --tune` wrote (docs/Formats.md).
class Tuning {
public:
  /// Reads `path`; an empty path means an empty file. Emits errors at the
  /// module, also for kernels that it lacks.
  LogicalResult load(StringRef path, ModuleOp module);

  KernelTuning get(OperatorOp op) const;

private:
  llvm::StringMap<KernelTuning> kernels;
  KernelTuning others; ///< entry "*"
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_CPU_TUNING_H
