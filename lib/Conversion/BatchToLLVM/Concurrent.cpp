//===- Concurrent.cpp - Lower branches that wait concurrently -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The regions of a batch.concurrent become the cases of one function
// (BatchBranch in ABI.h). The body of a loop whose rounds wait concurrently
// also becomes such a function. The function reads captured values from a frame
// and stores its results there. The frame consists of cells on the stack of the
// function around the op.
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::batch;

namespace {
class BranchOutliner {
public:
  /// Prepares to outline `op`, which is in `function`, as branch `number`.
  BranchOutliner(Operation *op, FunctionOpInterface function, unsigned number,
                 bool keepsRows);
  /// Replaces the op. Returns the function of its branches.
  LLVM::LLVMFuncOp run();

private:
  void makeFunction();
  void makeCases(ConcurrentOp concurrent);
  void makeRound(scf::ForOp loop);
  void makeCall();

  Operation *op;
  FunctionOpInterface function;
  OpBuilder builder;
  Location loc;
  std::string name;
  int64_t firstResult() const {
    return static_cast<int64_t>(captured.size()) +
           (keepsRows ? abi::kFrameCells : 0);
  }

  /// Values from outside the op. The results follow them in the frame. If rows
  /// are kept, the results belong to a BatchFrame, because nothing else refers
  /// to the results of some branches while others wait.
  llvm::SetVector<Value> captured;
  bool keepsRows;
  LLVM::LLVMFuncOp branches;
};
} // namespace

/// Returns the first op within `root`, in pre-order, that waits concurrently.
/// Returns null if there is none.
static Operation *findConcurrent(Operation *root) {
  Operation *found = nullptr;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<ConcurrentOp>(op) && !op->hasAttr(kConcurrentAttr))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

BranchOutliner::BranchOutliner(Operation *op, FunctionOpInterface function,
                               unsigned number, bool keepsRows)
    : op(op), function(function), builder(op), loc(op->getLoc()),
      name((function.getName() + ".branch" + Twine(number)).str()),
      keepsRows(keepsRows) {
  // Constants are cloned, and the context is an argument, so neither is
  // captured.
  for (Region &region : op->getRegions()) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(region, region, used);
    builder.setInsertionPointToStart(&region.front());
    for (Value value : used) {
      Operation *maker = value.getDefiningOp();
      if (maker && maker->hasTrait<OpTrait::ConstantLike>())
        replaceAllUsesInRegionWith(value, builder.clone(*maker)->getResult(0),
                                   region);
      else if (value != function.getArgument(0))
        captured.insert(value);
    }
  }
}

void BranchOutliner::makeFunction() {
  auto module = function->getParentOfType<ModuleOp>();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  builder.setInsertionPointToEnd(module.getBody());
  branches = LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                  {pointer, pointer, builder.getI64Type()}),
      LLVM::Linkage::Internal);
  Block *body = branches.addEntryBlock(builder);
  builder.setInsertionPointToStart(body);
  ContextBuilder cb(builder, loc, body->getArgument(0));
  auto replace = [&](Value value, Value with) {
    value.replaceUsesWithIf(with, [&](OpOperand &use) {
      return op->isProperAncestor(use.getOwner());
    });
  };
  replace(function.getArgument(0), body->getArgument(0));
  for (auto [place, value] : llvm::enumerate(captured))
    replace(value,
            cb.fromCell(cb.loadCell(body->getArgument(1), cb.constant(place)),
                        value.getType()));
  if (auto concurrent = dyn_cast<ConcurrentOp>(op))
    makeCases(concurrent);
  else
    makeRound(cast<scf::ForOp>(op));
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// Creates a case for each region. The case stores the results of the region
/// after the captured values.
void BranchOutliner::makeCases(ConcurrentOp concurrent) {
  Block *body = builder.getBlock();
  SmallVector<int64_t> cases = llvm::to_vector(
      llvm::seq<int64_t>(0, concurrent.getBranches().size() - 1));
  Value number = arith::IndexCastOp::create(
      builder, loc, builder.getIndexType(), body->getArgument(2));
  auto choice = scf::IndexSwitchOp::create(builder, loc, TypeRange(), number,
                                           cases, cases.size());
  int64_t place = firstResult();
  for (auto [position, region] : llvm::enumerate(concurrent.getBranches())) {
    Region &target = position < cases.size() ? choice.getCaseRegions()[position]
                                             : choice.getDefaultRegion();
    target.takeBody(region);
    Operation *end = target.front().getTerminator();
    OpBuilder inside(end);
    ContextBuilder cb(inside, loc, body->getArgument(0));
    for (Value value : end->getOperands())
      cb.storeCell(body->getArgument(1), cb.constant(place++),
                   cb.toCell(value));
    scf::YieldOp::create(inside, loc);
    end->erase();
  }
}

void BranchOutliner::makeRound(scf::ForOp loop) {
  Block *body = builder.getBlock();
  loop.getInductionVar().replaceAllUsesWith(body->getArgument(2));
  loop.getBody()->getTerminator()->erase();
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  builder.setInsertionPointToEnd(body);
}

void BranchOutliner::makeCall() {
  const int64_t results = op->getNumResults();
  // A loop around the op uses one frame for all rounds, because no frame is in
  // use when the next round begins.
  builder.setInsertionPointToStart(&function.front());
  Value frame = LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getI64Type(),
      ContextBuilder(builder, loc)
          .constant(std::max<int64_t>(firstResult() + results, 1)),
      8);
  builder.setInsertionPoint(op);
  ContextBuilder cb(builder, loc);
  for (auto [place, value] : llvm::enumerate(captured))
    cb.storeCell(frame, cb.constant(place), cb.toCell(value));
  auto loop = dyn_cast<scf::ForOp>(op);
  Value count = loop ? loop.getUpperBound()
                     : cb.constant(cast<ConcurrentOp>(op).getBranches().size());
  Value code = LLVM::AddressOfOp::create(builder, loc, branches);
  Value outer;
  if (keepsRows)
    outer = enterFrame(builder, loc, cb.getContext(), frame,
                       static_cast<int64_t>(captured.size()), results);
  cb.call(RuntimeFunction::concurrent, {code, frame, count});
  if (keepsRows)
    leaveFrame(builder, loc, cb.getContext(), outer);
  for (auto [place, result] : llvm::enumerate(op->getResults()))
    result.replaceAllUsesWith(
        cb.fromCell(cb.loadCell(frame, cb.constant(firstResult() + place)),
                    result.getType()));
  op->erase();
}

LLVM::LLVMFuncOp BranchOutliner::run() {
  makeFunction();
  makeCall();
  return branches;
}

void batch::lowerConcurrent(func::FuncOp function, bool keepsRows) {
  // Branches can contain branches, so search outlined functions, too. Each
  // function allocates its own frames.
  SmallVector<FunctionOpInterface> functions = {function};
  unsigned number = 0;
  while (!functions.empty()) {
    FunctionOpInterface next = functions.pop_back_val();
    while (Operation *op = findConcurrent(next))
      functions.push_back(BranchOutliner(op, next, number++, keepsRows).run());
  }
}
