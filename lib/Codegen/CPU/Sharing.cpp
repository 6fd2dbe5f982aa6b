//===- Sharing.cpp - Sharing of a batch's tasks among workers -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sharing.h"

using namespace mlir;
using namespace mlir::uprog;

/// Bytes that a worker can keep in its second-level cache in addition to the
/// data that streams through the cache.
static constexpr int64_t kCachedBytes = int64_t(1) << 20;
/// FLOPs that a worker executes while it reads a byte of parameters that are
/// not in its cache. This number allows for latency that prefetching does not
/// hide. A dense layer has half a FLOP per byte and row. On two cores with
/// AVX-512, division by rows is faster if such a layer has about 100 rows or
/// more.
static constexpr int64_t kFlopsPerByte = 48;
/// Minimum number of FLOPs per barrier for tasks that workers divide. With
/// fewer FLOPs, two workers save less than the cost of their barrier. This cost
/// is a quarter of a microsecond if each worker has its own core.
static constexpr int64_t kSharedFlops = 1 << 16;
/// FLOPs that a worker executes in the time that an elementwise op takes to
/// read and write a byte of rows.
static constexpr int64_t kFlopsPerRowByte = 4;

Sharing uprog::chooseSharing(const StagePlan &plan,
                             const RegisterTiles &registers) {
  OperatorOp op = plan.getOperator();
  Sharing sharing{};
  ContractionCost cost = plan.getContractionCost();
  sharing.weightBytes = cost.weightBytes;
  sharing.taskFlops = cost.taskFlops;
  int64_t leading = 1, columns = 0;
  for (const Stage &stage : plan.getStages()) {
    columns = std::max(columns, stage.space.columns());
    for (const Reduction &reduction : stage.reductions)
      if (reduction.isContraction())
        leading = std::max(leading, stage.space.leading());
  }
  auto addBytes = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && tensor.getRank() > 1)
      sharing.taskBytes +=
          makeLayout(tensor.getShape().drop_front(), tensor.getElementType())
              .getRowBytes();
  };
  for (BlockArgument argument : op.getBody().getArguments())
    if (plan.getStepOperand(argument.getArgNumber()) >= 0)
      addBytes(argument.getType());
  for (Type type : op.getResultTypes())
    addBytes(type);
  sharing.taskBytes += plan.getTaskScratch();
  for (int64_t bytes : plan.getRaggedScratch())
    sharing.taskBytes += bytes;

  // If only one worker would have columns, divide by rows, even if each worker
  // then has fewer rows than a register tile.
  bool areCached = sharing.weightBytes <= kCachedBytes;
  int64_t tile = llvm::divideCeil(registers.maxRows, leading);
  if (columns <= getPanelWidth(columns, plan.getLanes()))
    sharing.rowSplit = 1;
  else if (areCached)
    sharing.rowSplit = tile;
  else
    sharing.rowSplit = std::max<int64_t>(
        tile, llvm::divideCeil(kFlopsPerByte * sharing.weightBytes,
                               std::max<int64_t>(sharing.taskFlops, 1)));
  int64_t stages = plan.getStages().size(), waits = 1;
  for (const Stage &stage : plan.getStages())
    waits += stage.op.getBarrier();
  int64_t taskWork = sharing.taskFlops + kFlopsPerRowByte * sharing.taskBytes;
  sharing.shareTasks =
      llvm::divideCeil(kSharedFlops * waits, std::max<int64_t>(taskWork, 1));
  // Group tasks only if parameters are cached: otherwise, every group of tasks
  // would read the parameters again.
  if (areCached && stages > 1)
    sharing.stageRows =
        std::max<int64_t>(tile, (kCachedBytes - sharing.weightBytes) /
                                    std::max<int64_t>(sharing.taskBytes, 1));
  return sharing;
}
