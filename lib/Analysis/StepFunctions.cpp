//===- StepFunctions.cpp - Functions as graphs of steps -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/StepFunctions.h"

#include "Batch/Analysis/StepLiveness.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns true if `op` is in the control flow of its function, not in the body
/// of a tensor op.
static bool isFunctionControl(Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa<RegionBranchOpInterface>(parent) ||
         isa_and_nonnull<scf::SCFDialect>(parent->getDialect()))
    parent = parent->getParentOp();
  return isa<func::FuncOp>(parent);
}

/// Returns true for control flow that can be lowered to a graph of blocks.
static bool hasGraph(Operation *op) {
  return isa<scf::ExecuteRegionOp, scf::ForOp, scf::IfOp, scf::IndexSwitchOp,
             scf::ParallelOp, scf::ReduceOp, scf::WhileOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

std::optional<Obstacle>
mlir::batch::findProgramObstacle(const InstanceProgram &program) {
  std::optional<Obstacle> obstacle;
  for (func::FuncOp function : program.getFunctions()) {
    if (function.isExternal())
      return Obstacle{function.getLoc(),
                      "this function is only declared; functions that the "
                      "entry calls require a body"};
    for (BlockArgument argument : function.getArguments())
      if (function.getArgAttr(argument.getArgNumber(), kSharedAttr) &&
          !isa<RankedTensorType>(argument.getType()))
        return Obstacle{argument.getLoc(),
                        "this argument is a parameter and must be a tensor; "
                        "pass a scalar as a tensor of rank 0"};
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()) &&
          isFunctionControl(op) && !hasGraph(op))
        obstacle = {op->getLoc(),
                    describeOp(op) + " is not supported by any strategy; write "
                                     "it as 'scf.for' or as tensor code"};
      else if (isa<func::CallOp>(op) && !isFunctionControl(op))
        obstacle = {
            op->getLoc(),
            "calls in the body of a tensor op are not supported; inline the "
            "called function"};
      return obstacle ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (obstacle)
      return obstacle;
  }
  return std::nullopt;
}

static void convertStructuredControl(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addDynamicallyLegalDialect<scf::SCFDialect>(
      [](Operation *op) { return !isFunctionControl(op); });
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  LogicalResult converted =
      applyPartialConversion(module, target, std::move(patterns));
  assert(succeeded(converted) &&
         "findProgramObstacle allows unknown control flow");
  (void)converted;
}

/// Expands a switch into a chain of comparisons, since a machine has only
/// two-way branches.
static void expandSwitch(cf::SwitchOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<APInt> numbers;
  if (std::optional<DenseIntElementsAttr> attr = op.getCaseValues())
    llvm::append_range(numbers, attr->getValues<APInt>());
  for (auto [i, number] : llvm::enumerate(numbers)) {
    Value value = arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(op.getFlag().getType(), number));
    Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        op.getFlag(), value);
    if (i + 1 == numbers.size()) {
      cf::CondBranchOp::create(builder, loc, equal, op.getCaseDestinations()[i],
                               op.getCaseOperands(i),
                               op.getDefaultDestination(),
                               op.getDefaultOperands());
      break;
    }
    Block *block = builder.getInsertionBlock();
    Block *next = builder.createBlock(block->getParent(),
                                      std::next(block->getIterator()));
    builder.setInsertionPointToEnd(block);
    cf::CondBranchOp::create(builder, loc, equal, op.getCaseDestinations()[i],
                             op.getCaseOperands(i), next, ValueRange());
    builder.setInsertionPointToEnd(next);
  }
  if (numbers.empty())
    cf::BranchOp::create(builder, loc, op.getDefaultDestination(),
                         op.getDefaultOperands());
  op.erase();
}

/// Returns the only value except `argument` itself that edges pass to
/// `argument`. Returns null if there is not exactly one such value.
static Value getOnlyValue(BlockArgument argument) {
  Value only;
  Block *block = argument.getOwner();
  for (auto it = block->pred_begin(), end = block->pred_end(); it != end;
       ++it) {
    auto branch = cast<BranchOpInterface>((*it)->getTerminator());
    Value value = branch.getSuccessorOperands(
        it.getSuccessorIndex())[argument.getArgNumber()];
    if (value == argument || value == only)
      continue;
    if (only)
      return {};
    only = value;
  }
  return only;
}

/// Removes block arguments that have only one value. Returns true if it removed
/// any. The upstream simplifyRegions removes these arguments only if it also
/// merges equal blocks.
static bool removeRedundantArguments(func::FuncOp function) {
  bool removed = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (Block &block : llvm::drop_begin(function.getBody())) {
      SmallVector<BlockArgument> arguments(block.getArguments());
      for (BlockArgument argument : llvm::reverse(arguments)) {
        Value value = getOnlyValue(argument);
        if (!value)
          continue;
        argument.replaceAllUsesWith(value);
        for (auto it = block.pred_begin(), end = block.pred_end(); it != end;
             ++it)
          cast<BranchOpInterface>((*it)->getTerminator())
              .getSuccessorOperands(it.getSuccessorIndex())
              .erase(argument.getArgNumber());
        block.eraseArgument(argument.getArgNumber());
        removed = changed = true;
      }
    }
  }
  return removed;
}

/// Replaces each unconditional branch to a block that contains only a return
/// with a copy of this return.
static void returnEarly(func::FuncOp function) {
  for (Block &block : llvm::make_early_inc_range(function.getBody())) {
    auto end = dyn_cast<func::ReturnOp>(block.front());
    if (!end || block.isEntryBlock())
      continue;
    for (Block *before : llvm::to_vector(block.getPredecessors())) {
      auto branch = dyn_cast<cf::BranchOp>(before->getTerminator());
      if (!branch)
        continue;
      IRMapping mapping;
      mapping.map(block.getArguments(), branch.getDestOperands());
      OpBuilder(branch).clone(*end.getOperation(), mapping);
      branch.erase();
    }
    if (block.hasNoPredecessors())
      block.erase();
  }
}

/// Merges chains of blocks, and lets branches skip blocks that contain only a
/// branch. Also removes redundant block arguments, and replaces branches to
/// returns with returns.
static void simplifyGraph(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  cf::BranchOp::getCanonicalizationPatterns(patterns, context);
  cf::CondBranchOp::getCanonicalizationPatterns(patterns, context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false);
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
  do {
    // Even if the rewriter reaches its iteration limit, the graph is valid.
    (void)applyPatternsGreedily(function, frozen, config);
  } while (removeRedundantArguments(function));
  returnEarly(function);
  removeRedundantArguments(function);
}

/// Splits blocks after calls. With `tailCalls`, a call whose results are
/// returned immediately stays in the block of the return.
static void splitAtCalls(func::FuncOp function, bool tailCalls) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls) {
    Operation *next = call->getNextNode();
    if (tailCalls && isa<func::ReturnOp>(next) &&
        llvm::equal(next->getOperands(), call.getResults()))
      continue;
    Block *block = call->getBlock();
    Block *returnPoint = block->splitBlock(next);
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    cf::BranchOp::create(builder, call.getLoc(), returnPoint);
  }
}

OwningOpRef<ModuleOp>
mlir::batch::copyAsStepFunctions(const InstanceProgram &program,
                                 bool tailCalls) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(program.getEntry().getLoc());
  for (func::FuncOp function : program.getFunctions())
    module->push_back(function->clone());
  convertStructuredControl(*module);
  for (auto function : module->getOps<func::FuncOp>()) {
    function.walk([](Operation *op) {
      if (auto force = dyn_cast<ForceOp>(op)) {
        force.getValue().replaceAllUsesWith(force.getTensor());
        force.erase();
      } else if (isa<rec::PhaseOp>(op)) {
        op->erase();
      } else if (auto branch = dyn_cast<cf::SwitchOp>(op)) {
        expandSwitch(branch);
      }
    });
    simplifyGraph(function);
    splitAtCalls(function, tailCalls);
  }
  return module;
}

SmallVector<Block *> mlir::batch::getProgramOrder(func::FuncOp function) {
  SmallVector<Block *> order;
  DenseSet<Block *> visited;
  // Blocks on the current path, each with its number of visited successors. The
  // last successor is visited first.
  SmallVector<std::pair<Block *, unsigned>> path;
  auto enter = [&](Block *block) {
    if (visited.insert(block).second)
      path.push_back({block, 0});
  };
  enter(&function.getBody().front());
  while (!path.empty()) {
    auto &[block, done] = path.back();
    unsigned left = block->getNumSuccessors() - done++;
    if (left > 0) {
      enter(block->getSuccessor(left - 1));
      continue;
    }
    order.push_back(block);
    path.pop_back();
  }
  std::reverse(order.begin(), order.end());
  return order;
}
