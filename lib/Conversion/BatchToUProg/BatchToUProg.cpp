//===- BatchToUProg.cpp - Make a uprog.program of the executor ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTBATCHTOUPROGPASS
#include "Batch/Conversion/BatchToUProg/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

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

/// Hands on how a step reads and writes to the operator, whose lowering depends
/// on it.
static void markOperator(SymbolTable &symbols, uprog::OperatorOp op,
                         KernelOp kernel) {
  OpBuilder builder(op);
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index) {
    auto read = kernel.getArgAttrOfType<ReadAttr>(index, kReadAttr);
    if (read.getKind() == ReadKind::Shared)
      continue;
    op.setArgAttr(index + 1, "uprog.read",
                  builder.getStringAttr(stringifyReadKind(read.getKind())));
    markLayout(symbols, read.getFrom(), [&](StringRef key, Attribute value) {
      op.setArgAttr(index + 1, key, value);
    });
    if (std::optional<int64_t> domain = op.getRagged(index + 1))
      kernel.setArgAttr(index, uprog::OperatorOp::kRagged,
                        builder.getI64IntegerAttr(*domain));
  }
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    auto table = kernel.getResultAttrOfType<FlatSymbolRefAttr>(i, kTableAttr);
    auto mark = [&](StringRef key, Attribute value) {
      op.setResultAttr(i, key, value);
    };
    int64_t siblings = kernel.getSiblings(i), position = kernel.getPosition(i);
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
    auto op =
        symbols.lookup<uprog::OperatorOp>(getOperatorName(kernel.getSymName()));
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

/// Checks that every recorded kernel has an operator and tables.
static LogicalResult checkKernels(ModuleOp module, SymbolTable &symbols) {
  WalkResult result = module.walk([&](RecordOp record) {
    auto kernel = symbols.lookup<KernelOp>(record.getKernel());
    std::string name = getOperatorName(kernel.getSymName());
    if (!symbols.lookup<uprog::OperatorOp>(name)) {
      record.emitError("there is no operator @")
          << name << "; run batch-vectorize-kernels first";
      return WalkResult::interrupt();
    }
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (!kernel.getArgAttr(i, kReadAttr)) {
        record.emitError("nothing says how argument #")
            << i << " of kernel @" << kernel.getSymName()
            << " is read; run batch-assign-slots first";
        return WalkResult::interrupt();
      }
    for (unsigned i = 0; i < kernel.getNumResults(); ++i)
      if (!kernel.getResultAttr(i, kTableAttr)) {
        record.emitError("result #")
            << i << " of kernel @" << kernel.getSymName()
            << " has no table; run batch-assign-slots first";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// The kernels that tasks are recorded of, and their numbers in module order.
static SmallVector<std::pair<int64_t, KernelOp>>
getRecordedKernels(ModuleOp module) {
  llvm::StringSet<> names;
  module.walk([&](RecordOp record) { names.insert(record.getKernel()); });
  SmallVector<std::pair<int64_t, KernelOp>> kernels;
  for (auto [number, kernel] : llvm::enumerate(module.getOps<KernelOp>()))
    if (names.contains(kernel.getSymName()))
      kernels.push_back({number, kernel});
  return kernels;
}

/// Makes the program that runs a plan: a loop over its steps, which runs the
/// operator of each step's kernel. All units meet after a step that says so.
static void makeProgram(func::FuncOp entry, SymbolTable &symbols) {
  auto module = entry->getParentOfType<ModuleOp>();
  Location loc = entry.getLoc();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type index = builder.getIndexType();
  Type planType = PlanType::get(builder.getContext());
  auto program = uprog::ProgramOp::create(
      builder, loc, getExecutorName(entry.getSymName()),
      builder.getFunctionType(planType, {}), uprog::Level::Device,
      /*arg_attrs=*/ArrayAttr(), /*res_attrs=*/ArrayAttr());
  program->setAttr(kExecutorAttr, builder.getUnitAttr());
  Value plan = builder.createBlock(&program.getBody(), {}, planType, loc)
                   ->getArgument(0);

  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value steps = uprog::PlanSizeOp::create(builder, loc, index, plan);
  auto loop = uprog::ForOp::create(builder, loc, zero, steps);
  uprog::YieldOp::create(builder, loc);
  builder.setInsertionPoint(loop.getBody().front().getTerminator());
  Value step = uprog::PlanStepOp::create(
      builder, loc, uprog::StepType::get(builder.getContext()), plan,
      loop.getBody().getArgument(0));
  Value number = uprog::StepKernelOp::create(builder, loc, index, step);
  auto kernels = getRecordedKernels(module);
  auto choice = uprog::BranchOp::create(
      builder, loc, number, /*uniform=*/true,
      llvm::to_vector(llvm::make_first_range(kernels)), kernels.size());
  Value meets = uprog::StepMeetsOp::create(builder, loc, index, step);
  auto meeting = uprog::BranchOp::create(builder, loc, meets, /*uniform=*/true,
                                         ArrayRef<int64_t>{1}, 1);

  builder.createBlock(&meeting.getCaseRegions().front());
  uprog::BarrierOp::create(builder, loc, uprog::Level::Device);
  uprog::YieldOp::create(builder, loc);
  for (auto [kernel, region] : llvm::zip_equal(llvm::make_second_range(kernels),
                                               choice.getCaseRegions())) {
    auto op =
        symbols.lookup<uprog::OperatorOp>(getOperatorName(kernel.getSymName()));
    markOperator(symbols, op, kernel);
    builder.createBlock(&region);
    Location at = kernel.getLoc();
    Value tasks = uprog::StepTasksOp::create(builder, at, index, step);
    uprog::RunOp::create(builder, at, op.getSymName(), step, tasks);
    uprog::YieldOp::create(builder, loc);
  }
}

namespace {
class ConvertBatchToUProgPass
    : public batch::impl::ConvertBatchToUProgPassBase<ConvertBatchToUProgPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    markDefaults(module);
    auto entry =
        dyn_cast_or_null<func::FuncOp>(lookupEntry(module).getOperation());
    SymbolTable symbols(module);
    if (!entry || symbols.lookup(getExecutorName(entry.getSymName())) ||
        !symbols.lookup(getInspectorName(entry.getSymName())))
      return;
    if (failed(checkKernels(module, symbols)))
      return signalPassFailure();
    makeProgram(entry, symbols);
  }
};
} // namespace
