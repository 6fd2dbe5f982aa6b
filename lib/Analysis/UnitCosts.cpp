//===- UnitCosts.cpp - Costs of work on units -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/UnitCosts.h"

#include "Batch/Analysis/GPUTimes.h"
#include "Batch/Analysis/WorkEstimate.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns the size in bytes of a value. A dynamic extent counts as 1, and a
/// scalar as 8 bytes.
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

/// Returns true if the kernel uses the argument only as the destination of
/// in-place inserts.
static bool isOnlyWritten(KernelOp kernel, BlockArgument argument) {
  for (unsigned i = 0, e = kernel.getNumResults(); i < e; ++i) {
    auto place = kernel.getResultAttrOfType<IntegerAttr>(i, kInPlaceAttr);
    if (place && place.getInt() == argument.getArgNumber())
      return llvm::all_of(argument.getUses(), [](OpOperand &use) {
        Operation *insert = use.getOwner();
        return isa<tensor::InsertOp, tensor::InsertSliceOp>(insert) &&
               cast<DestinationStyleOpInterface>(insert).isDpsInit(&use) &&
               insert->hasOneUse() && isa<YieldOp>(*insert->user_begin());
      });
  }
  return false;
}

/// Returns true if the argument is a factor of a product with a parameter.
static bool isFactor(KernelOp kernel, BlockArgument argument) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto product = dyn_cast<linalg::LinalgOp>(user);
    return product && product.getNumReductionLoops() > 0 &&
           llvm::any_of(product->getOperands(), [&](Value operand) {
             auto other = dyn_cast<BlockArgument>(operand);
             return other && other.getOwner()->getParentOp() == kernel &&
                    kernel.isShared(other.getArgNumber());
           });
  });
}

/// Returns the number of consecutive reductions in an op.
static int64_t countReductions(Operation *op) {
  // A softmax computes a maximum, then a sum.
  if (isa<linalg::SoftmaxOp>(op))
    return 2;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() > 0;
}

TaskWork batch::estimateTask(KernelOp kernel) {
  TaskWork work;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    const double bytes = countBytes(argument.getType());
    if (kernel.isShared(argument.getArgNumber())) {
      work.sharedBytes += bytes;
    } else if (!isOnlyWritten(kernel, argument)) {
      work.bytes += bytes;
      if (isFactor(kernel, argument))
        work.factorBytes += bytes;
    }
  }
  for (auto [index, type] : llvm::enumerate(kernel.getResultTypes()))
    if (!kernel.getResultAttr(index, kInPlaceAttr))
      work.bytes += countBytes(type);
  // Number of reductions on the longest path to each value.
  DenseMap<Value, int64_t> depths;
  int64_t deepest = 0;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    work.operations += static_cast<double>(countOperations(&op));
    int64_t depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, depths.lookup(operand));
    depth += countReductions(&op);
    for (Value result : op.getResults())
      depths[result] = depth;
    deepest = std::max(deepest, depth);
  }
  work.barriers = std::max<int64_t>(deepest - 1, 0);
  return work;
}

/// Approximate speed of a few CPU workers, measured with `batch-run --bench`.
static constexpr UnitSpeed kWorkers = {4, 500, 50, 0, 70, 17, 16 << 20, 80};

/// Returns the speed of the blocks of a GPU that share a barrier: all blocks,
/// or the blocks of a cluster.
static constexpr UnitSpeed getBlockSpeed(int64_t blocks, double barrier) {
  using namespace gpu_times;
  return {blocks,      barrier,      kStep + kSite, kStage,
          kCacheBytes, kMemoryBytes, kCache,        kOperations};
}

EstimatedCosts::EstimatedCosts(bool gpu)
    : speed(gpu ? getBlockSpeed(gpu_times::kBlocks, gpu_times::kDeviceBarrier)
                : kWorkers) {}

EstimatedCosts EstimatedCosts::ofCluster(int64_t blocks) {
  return EstimatedCosts(getBlockSpeed(blocks, gpu_times::kClusterBarrier));
}

int64_t EstimatedCosts::getUnits() const { return speed.units; }

double EstimatedCosts::getBarrierTime() const { return speed.barrier; }

double EstimatedCosts::getMoveTime(double bytes) const {
  return bytes / speed.bytes;
}

double EstimatedCosts::getStepTime(const TaskWork &task, double tasks,
                                   int64_t units) const {
  const double bytes = task.sharedBytes + tasks * task.bytes;
  // Data that does not fit in the cache is read from memory, because it is
  // evicted before the next step reads it.
  const bool isFar = bytes > speed.cache;
  const double factors = tasks * task.factorBytes;
  double perUnit = factors + (bytes - factors) / units;
  double work = std::max(perUnit / (isFar ? speed.farBytes : speed.bytes),
                         tasks * task.operations / (speed.operations * units));
  double wait = units > 1 ? speed.barrier + speed.stage : 0;
  return speed.begin + work + task.barriers * wait;
}
