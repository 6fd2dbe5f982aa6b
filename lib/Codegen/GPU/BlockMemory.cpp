//===- BlockMemory.cpp - Layout of a block's shared memory ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockMemory.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "WarpEmitter.h"
#include "WorkShare.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::uprog;

/// Bytes of shared memory that a block may use on every chip.
static constexpr int64_t kLeastSharedMemory = 48 * 1024;
/// Maximum number of bytes for a quad of multiplied rows. These bytes are
/// reserved before parameters are placed.
static constexpr int64_t kFewRowBytes = 24 * 1024;
/// Maximum number of bytes for multiplied rows after parameters are placed.
static constexpr int64_t kManyRowBytes = 64 * 1024;

RepeatedOperators::RepeatedOperators(ModuleOp module) {
  DenseSet<Attribute> unknown;
  module.walk([&](batch::RecordOp record) {
    auto depth = record.getDepth().getDefiningOp<batch::DepthOp>();
    bool constant = (depth && depth.getInputs().empty()) ||
                    matchPattern(record.getDepth(), m_Constant());
    (constant ? once : unknown).insert(record.getKernelAttr());
  });
  for (Attribute kernel : unknown)
    once.erase(kernel);
  module.walk([&](RunOp run) {
    if (run.getLevel())
      onOneBlock.insert(run.getCalleeAttr().getAttr());
  });
}

std::optional<StringRef> RepeatedOperators::findReason(OperatorOp op) const {
  if (onOneBlock.contains(op.getSymNameAttr()))
    return "one block runs it by itself";
  if (once.contains(op.getKernelAttr()))
    return "it runs at only one step of a plan";
  return std::nullopt;
}

static int64_t getControlBytes(ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](CompactOp) {
    bytes += batch::kListBytes;
    return WalkResult::interrupt();
  });
  for (auto program : module.getOps<ProgramOp>())
    if (program.getLevel() == Level::Device) {
      bytes += batch::kLeftBytes;
      break;
    }
  return bytes;
}

BlockMemory::BlockMemory(ModuleOp module, ArrayRef<OperatorOp> operators,
                         Plans plans, const Options &options)
    : parameters(std::max<int64_t>(options.units, 1), options.asyncCopies,
                 options.precision),
      controlBytes(getControlBytes(module)), repeated(module),
      options(options) {
  for (auto [plan, op] : llvm::zip_equal(plans, operators))
    if (options.units && repeated.contains(op))
      parameters.add(*plan);
  place(plans);
}

StringRef BlockMemory::getReason(OperatorOp op) const {
  return repeated.findReason(op).value_or(
      "groups of blocks of different sizes run it");
}

int64_t BlockMemory::getSumBytes(const StagePlan &plan) const {
  int64_t most = 0;
  for (const Stage &stage : plan.getStages()) {
    ProductPlan products(plan, stage, options.precision);
    if (products.products.empty())
      continue;
    int64_t tiles = ProductEmitter::countTiles(
        products, options.blockSize / ProductEmitter::kLanes);
    most = std::max<int64_t>(most, tiles * products.shares.size() *
                                       products.sumBytes);
  }
  return most;
}

/// Reserves memory for sums and for a few of the rows that products multiply.
/// Then places parameters, and uses the remaining memory for more rows.
void BlockMemory::place(Plans plans) {
  constexpr int64_t quad = RowShare<NumberMath>::kQuad;
  int64_t sums = 0, few = 0, many = 0;
  for (const auto &plan : plans) {
    sums = std::max(sums, getSumBytes(*plan));
    for (const Stage &stage : plan->getStages()) {
      ProductPlan of(*plan, stage, options.precision);
      if (of.products.empty())
        continue;
      int64_t row = of.rowBytes();
      few = std::max(few, std::min(quad * row, kFewRowBytes));
      many = std::max(many,
                      std::min(ProductMemory::kMostRows * row, kManyRowBytes));
    }
  }
  int64_t available = options.sharedMemory - controlBytes;
  int64_t residentBytes =
      parameters.place(std::max<int64_t>(available - sums - few, 0));
  products.sums = llvm::alignTo(residentBytes, FactorFormat::kVectorBytes);
  products.rows = products.sums + sums;
  products.rowBytes =
      std::clamp(available - products.rows, few, std::max(few, many));
  products.rowBytes -= products.rowBytes % FactorFormat::kVectorBytes;
}

LogicalResult BlockMemory::verify(ArrayRef<OperatorOp> operators,
                                  Plans plans) const {
  int64_t most = std::max<int64_t>(options.sharedMemory, kLeastSharedMemory);
  if (getBytes() + controlBytes <= most)
    return success();
  auto deepest = llvm::max_element(plans, [&](auto &a, auto &b) {
    return getSumBytes(*a) < getSumBytes(*b);
  });
  OperatorOp op = operators[deepest - plans.begin()];
  return op.emitError("the products of this operator have too many terms: "
                      "sums and rows need ")
         << getBytes() + controlBytes
         << " bytes of shared memory, but a block has " << most;
}
