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

/// Choices for a kernel. -1 leaves a choice to the cost model.
struct KernelTuning {
  int64_t tileRows = -1; ///< rows of a register tile, at least 1
  int64_t rowSplit = -1; ///< see Sharing.h
  int64_t stageRows = -1;
  int64_t shareTasks = -1;
  /// If set, specifies whether one unit runs the tasks of an instance by
  /// itself.
  std::optional<bool> onOneUnit;
};

/// Choices of a tuning file, which replace the choices of the cost models
/// (docs/reference/formats.md). `batch-run --tune` writes such files.
class Tuning {
public:
  /// Reads the file at `path`. An empty path specifies no choices.
  LogicalResult load(StringRef path, MLIRContext *context);
  /// Emits an error if the file names a kernel for which the module has no
  /// operator.
  LogicalResult checkKernels(ModuleOp module) const;
  /// Emits an error if the file names a loop that the program does not have.
  /// `loops` are the locations of the program's loops.
  LogicalResult checkLoops(ModuleOp module, ArrayRef<Location> loops) const;

  KernelTuning getKernel(StringRef name) const;
  std::optional<Order> getOrder(Location loop) const;
  /// Returns the level of the units that run an instance, if it is specified.
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
