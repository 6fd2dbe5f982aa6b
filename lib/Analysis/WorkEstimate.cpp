//===- WorkEstimate.cpp - Work of an instance -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/WorkEstimate.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::batch;

int64_t mlir::batch::countOperationsPerPoint(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
    return 0;
  int64_t nested = 0;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block.without_terminator())
        nested += !inner.hasTrait<OpTrait::ConstantLike>();
  return std::max<int64_t>(nested, 1);
}

static int64_t countPoints(ArrayRef<int64_t> extents) {
  int64_t points = 1;
  for (int64_t extent : extents)
    if (!ShapedType::isDynamic(extent))
      points *= extent;
  return points;
}

int64_t mlir::batch::countOperations(Operation *op) {
  int64_t points = 1;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    points = countPoints(linalgOp.getStaticLoopRanges());
  else
    for (Type type : op->getResultTypes())
      if (auto shaped = dyn_cast<ShapedType>(type))
        points = std::max(points, countPoints(shaped.getShape()));
  return points * countOperationsPerPoint(op);
}

double mlir::batch::countRuns(Operation *op, double unknownRounds) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return 1.0 / op->getNumRegions();
  std::optional<APInt> rounds = loop.getStaticTripCount();
  return rounds ? rounds->getLimitedValue() : unknownRounds;
}

WorkEstimate mlir::batch::estimateWork(const InstanceProgram &program,
                                       const Sharedness &sharedness,
                                       const StructuralControl &control) {
  TensorCode code(program, sharedness);
  // Number of runs of each region. Enclosing regions and callers are visited
  // first.
  DenseMap<Region *, double> runs;
  SmallVector<double> calls(program.getComponents().size());
  calls[program.getComponent(program.getEntry())] = 1;
  llvm::MapVector<Value, double> waits;
  WorkEstimate work;
  auto visit = [&](Operation *op) {
    const double often = runs.lookup(op->getParentRegion());
    if (code.contains(op)) {
      work.operations += often * countOperations(op);
      return WalkResult::skip();
    }
    auto read = dyn_cast<tensor::ExtractOp>(op);
    if (read && llvm::is_contained(control.getWaits(), read)) {
      // After one wait, the tensor is available to all reads.
      Value tensor = read.getTensor();
      waits[tensor] = std::min(waits[tensor] + often,
                               runs.lookup(tensor.getParentRegion()));
    }
    if (auto call = dyn_cast<func::CallOp>(op);
        call && !program.isRecursiveCall(call))
      calls[program.getComponent(program.getCallee(call))] += often;
    for (Region &region : op->getRegions())
      runs[&region] = often * countRuns(op);
    return WalkResult::advance();
  };
  for (ArrayRef<func::FuncOp> component :
       llvm::reverse(program.getComponents()))
    for (func::FuncOp function : component) {
      runs[&function.getBody()] = calls[program.getComponent(function)];
      for (Operation &op : function.getBody().getOps())
        op.walk<WalkOrder::PreOrder>(visit);
    }
  for (auto [tensor, often] : waits)
    work.waits += often;
  return work;
}
