//===- Tuning.h - Choices of a tuning file ----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_TUNING_H
#define BATCH_ANALYSIS_TUNING_H

#include "Batch/Dialect/UProg/UProg.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::batch {

/// The choices for a kernel. Of a number, -1: the cost model decides.
struct KernelTuning {
  int64_t tileRows = -1; ///< rows of a register tile, at least 1
  int64_t rowSplit = -1; ///< see Sharing.h
  int64_t stageRows = -1;
  int64_t shareTasks = -1;
  /// Whether one unit runs the tasks of an instance by itself.
  std::optional<bool> alone;
};

/// A file of choices that the cost models leave to it (docs/Formats.md), such
/// as `batch-run --tune` writes.
class Tuning {
public:
  /// Reads `path`; an empty path means an empty file.
  LogicalResult load(StringRef path, MLIRContext *context);
  /// Emits errors for kernels that the module lacks.
  LogicalResult checkKernels(ModuleOp module) const;
  /// The same for loops, given where those of the program are.
  LogicalResult checkLoops(ModuleOp module, ArrayRef<Location> loops) const;

  KernelTuning getKernel(StringRef name) const;
  std::optional<Order> getOrder(Location loop) const;
  /// The units that run an instance.
  std::optional<uprog::Level> getLevel() const { return level; }

private:
  std::string path;
  llvm::StringMap<KernelTuning> kernels;
  KernelTuning others; ///< entry "*"
  llvm::StringMap<Order> orders;
  std::optional<uprog::Level> level;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_TUNING_H
