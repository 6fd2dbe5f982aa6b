//===- BatchToUProg.cpp - Make a uprog.program of the executor ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTBATCHTOUPROGPASS
#include "Batch/Conversion/BatchToUProg/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module)
      : symbols(module), builder(module.getContext()) {}

  LogicalResult convert(func::FuncOp executor);

private:
  LogicalResult convertBlock(Block &block);
  LogicalResult convertLaunch(LaunchOp launch);
  void makeBarrier(scf::ForOp loop);

  SymbolTable symbols;
  OpBuilder builder;
  IRMapping mapping;
};

} // namespace

/// Says where the rows of a table lie, if that is not clear from their type.
static void markLayout(SymbolTable &symbols, FlatSymbolRefAttr name,
                       function_ref<void(StringRef, Attribute)> mark) {
  auto table = name ? symbols.lookup<TableOp>(name.getAttr()) : TableOp();
  if (!table)
    return;
  if (AffineMapAttr layout = table.getLayoutAttr())
    mark(uprog::OperatorOp::kLayout, layout);
  int64_t bytes = table.getTableLayout().getBlockBytes();
  if (bytes != table.getOwnLayout().getBlockBytes())
    mark(uprog::OperatorOp::kBlockBytes,
         Builder(name.getContext()).getI64IntegerAttr(bytes));
}

/// Hands on how a launch reads and writes to the operator, whose lowering
/// depends on it.
static void markOperator(SymbolTable &symbols, uprog::OperatorOp op,
                         KernelOp kernel, LaunchOp launch) {
  OpBuilder builder(op);
  for (auto [index, attr] : llvm::enumerate(launch.getReads())) {
    auto read = cast<ReadAttr>(attr);
    if (read.getKind() == ReadKind::Shared)
      continue;
    op.setArgAttr(index + 1, "uprog.read",
                  builder.getStringAttr(stringifyReadKind(read.getKind())));
    markLayout(symbols, read.getFrom(),
               [&, index = index](StringRef key, Attribute value) {
                 op.setArgAttr(index + 1, key, value);
               });
    if (std::optional<int64_t> domain = op.getRagged(index + 1))
      kernel.setArgAttr(index, uprog::OperatorOp::kRagged,
                        builder.getI64IntegerAttr(*domain));
  }
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    auto table = cast<FlatSymbolRefAttr>(launch.getWrites()[i]);
    auto mark = [&](StringRef key, Attribute value) {
      op.setResultAttr(i, key, value);
    };
    int64_t siblings = llvm::count(launch.getWrites(), launch.getWrites()[i]);
    int64_t position =
        llvm::count(launch.getWrites().getValue().take_front(i), table);
    if (siblings > 1)
      mark("uprog.siblings", builder.getI64IntegerAttr(siblings));
    if (position > 0)
      mark("uprog.position", builder.getI64IntegerAttr(position));
    markLayout(symbols, table, mark);
  }
}

/// How the unbatched code hands in operands of kernels that are never launched.
static void markDefaults(ModuleOp module) {
  SymbolTable symbols(module);
  OpBuilder builder(module.getContext());
  for (auto kernel : module.getOps<KernelOp>()) {
    auto op = symbols.lookup<uprog::OperatorOp>(
        (kernel.getSymName() + ".rows").str());
    for (unsigned i = 0; op && i < kernel.getNumArguments(); ++i) {
      if (kernel.isShared(i) || kernel.getArgAttr(i, kReadAttr))
        continue;
      if (kernel.getArgumentTypes()[i].isIntOrIndexOrFloat())
        op.setArgAttr(i + 1, "uprog.read", builder.getStringAttr("scalar"));
      else if (kernel.isRagged(i))
        op.setArgAttr(i + 1, "uprog.read", builder.getStringAttr("rows"));
      if (std::optional<int64_t> domain = op.getRagged(i + 1))
        kernel.setArgAttr(i, uprog::OperatorOp::kRagged,
                          builder.getI64IntegerAttr(*domain));
    }
  }
}

LogicalResult ProgramBuilder::convertLaunch(LaunchOp launch) {
  Location loc = launch.getLoc();
  std::string name = (launch.getKernel() + ".rows").str();
  auto op = symbols.lookup<uprog::OperatorOp>(name);
  if (!op)
    return launch.emitError("there is no operator @")
           << name << "; run batch-vectorize-kernels first";
  auto kernel = symbols.lookup<KernelOp>(launch.getKernel());
  markOperator(symbols, op, kernel, launch);

  Value step = mapping.lookup(launch.getStep());
  Value tasks = StepTasksOp::create(builder, loc, builder.getIndexType(), step);
  SmallVector<Value> inputs;
  auto shared = launch.getShared().begin();
  int64_t number = 0;
  for (auto [index, attr] : llvm::enumerate(launch.getReads())) {
    auto read = cast<ReadAttr>(attr);
    if (read.getKind() == ReadKind::Shared)
      inputs.push_back(mapping.lookup(*shared++));
    else
      inputs.push_back(OperandOp::create(builder, loc,
                                         op.getArgumentTypes()[index + 1], step,
                                         number++, read));
  }
  uprog::RunOp::create(builder, loc,
                       FlatSymbolRefAttr::get(op.getSymNameAttr()), inputs,
                       step, tasks);
  return success();
}

/// Ends an iteration of `loop`: the units meet where the step says so.
void ProgramBuilder::makeBarrier(scf::ForOp loop) {
  Location loc = loop.getLoc();
  auto steps = loop.getBody()->getOps<PlanStepOp>();
  if (steps.empty()) {
    uprog::BarrierOp::create(builder, loc, uprog::Level::Device);
    return;
  }
  Value meets = StepMeetsOp::create(builder, loc, builder.getIndexType(),
                                    mapping.lookup(*steps.begin()));
  auto branch = uprog::BranchOp::create(builder, loc, meets, /*uniform=*/true,
                                        ArrayRef<int64_t>{1}, 1);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&branch.getCaseRegions().front());
  uprog::BarrierOp::create(builder, loc, uprog::Level::Device);
  uprog::YieldOp::create(builder, loc);
}

LogicalResult ProgramBuilder::convertBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto launch = dyn_cast<LaunchOp>(op)) {
      if (failed(convertLaunch(launch)))
        return failure();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      auto copy = uprog::ForOp::create(builder, loop.getLoc(),
                                       mapping.lookup(loop.getLowerBound()),
                                       mapping.lookup(loop.getUpperBound()));
      mapping.map(loop.getInductionVar(), copy.getBody().getArgument(0));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(copy.getBody().front().getTerminator());
      if (failed(convertBlock(*loop.getBody())))
        return failure();
      makeBarrier(loop);
    } else if (auto choice = dyn_cast<scf::IndexSwitchOp>(op)) {
      auto copy = uprog::BranchOp::create(
          builder, choice.getLoc(), mapping.lookup(choice.getArg()),
          /*uniform=*/true, choice.getCases(), choice.getCases().size());
      for (auto [from, to] :
           llvm::zip_equal(choice.getCaseRegions(), copy.getCaseRegions())) {
        OpBuilder::InsertionGuard guard(builder);
        builder.createBlock(&to);
        if (failed(convertBlock(from.front())))
          return failure();
        uprog::YieldOp::create(builder, choice.getLoc());
      }
    } else {
      builder.clone(op, mapping);
    }
  }
  return success();
}

LogicalResult ProgramBuilder::convert(func::FuncOp executor) {
  builder.setInsertionPoint(executor);
  auto program = uprog::ProgramOp::create(
      builder, executor.getLoc(), executor.getSymName(),
      executor.getFunctionType(), uprog::Level::Device,
      executor.getArgAttrsAttr(), executor.getResAttrsAttr());
  program->setAttr(kExecutorAttr, builder.getUnitAttr());
  Block *body = builder.createBlock(
      &program.getBody(), {}, executor.getArgumentTypes(),
      SmallVector<Location>(executor.getNumArguments(), executor.getLoc()));
  mapping.map(executor.getArguments(), body->getArguments());
  if (failed(convertBlock(executor.getBody().front())))
    return failure();
  uprog::YieldOp::create(builder, executor.getLoc());
  executor.erase();
  return success();
}

namespace {
class ConvertBatchToUProgPass
    : public batch::impl::ConvertBatchToUProgPassBase<ConvertBatchToUProgPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    markDefaults(module);
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (function->hasAttr(kExecutorAttr) &&
          llvm::any_of(function.getArgumentTypes(),
                       [](Type type) { return isa<PlanType>(type); }))
        if (failed(ProgramBuilder(module).convert(function)))
          return signalPassFailure();
  }
};
} // namespace
