//===- UnitCosts.cpp - What units take for tasks --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/UnitCosts.h"

#include "Batch/Analysis/WorkEstimate.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::batch;

/// The bytes of a tensor; extents that are not static count as 1.
static double countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 8;
  double bytes = tensor.getElementType().isIntOrFloat()
                     ? tensor.getElementTypeBitWidth() / 8.0
                     : 8;
  for (int64_t extent : tensor.getShape())
    bytes *= ShapedType::isDynamic(extent) ? 1 : static_cast<double>(extent);
  return bytes;
}

TaskWork batch::estimateTask(KernelOp kernel) {
  TaskWork work;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    (kernel.isShared(index) ? work.sharedBytes : work.bytes) +=
        countBytes(type);
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    if (!kernel.getResultAttr(index, kInPlaceAttr))
      work.bytes += countBytes(type);
  // The reductions on the longest way to each value.
  DenseMap<Value, int64_t> depths;
  int64_t deepest = 0;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    work.operations += static_cast<double>(countOperations(&op));
    int64_t depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (linalgOp && linalgOp.getNumReductionLoops() > 0)
      ++depth;
    for (Value result : op.getResults())
      depths[result] = depth;
    deepest = std::max(deepest, depth);
  }
  work.barriers = std::max<int64_t>(deepest - 1, 0);
  return work;
}

/// A few workers of a CPU, about as measured with `batch-run --bench`; the
/// blocks of a GPU, one for each multiprocessor, by data sheets: not measured.
static constexpr UnitSpeed kWorkers = {4, 500, 50, 70, 17, 16 << 20, 80};
static constexpr UnitSpeed kBlocks = {132, 1500, 500, 40, 20, 40 << 20, 300};

/// The barrier of a cluster, which is in hardware, in nanoseconds.
static constexpr double kClusterBarrier = 300;

EstimatedCosts::EstimatedCosts(bool gpu) : speed(gpu ? kBlocks : kWorkers) {}

EstimatedCosts EstimatedCosts::ofCluster(int64_t blocks) {
  UnitSpeed speed = kBlocks;
  speed.units = blocks;
  speed.barrier = kClusterBarrier;
  return EstimatedCosts(speed);
}

int64_t EstimatedCosts::getUnits() const { return speed.units; }

double EstimatedCosts::getBarrierTime() const { return speed.barrier; }

double EstimatedCosts::getMoveTime(double bytes) const {
  return bytes / speed.bytes;
}

double EstimatedCosts::getStepTime(const TaskWork &task, double tasks,
                                   int64_t units) const {
  const double bytes = task.sharedBytes + tasks * task.bytes;
  // What does not fit is gone when the next step reads it.
  const bool isFar = bytes > speed.cache;
  double alone = std::max(bytes / (isFar ? speed.farBytes : speed.bytes),
                          tasks * task.operations / speed.operations);
  double waits = units > 1 ? task.barriers * speed.barrier : 0;
  return speed.begin + alone / static_cast<double>(units) + waits;
}
