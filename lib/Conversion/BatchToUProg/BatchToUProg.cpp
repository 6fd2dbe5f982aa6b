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
#include "llvm/ADT/StringMap.h"

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

namespace {
/// A kernel that tasks are recorded of.
struct RecordedKernel {
  int64_t number; ///< in module order
  KernelOp kernel;
  uprog::OperatorOp op;
};
} // namespace

/// Checks that a step knows how to run a kernel that is recorded at `record`.
static LogicalResult checkKernel(RecordOp record, RecordedKernel recorded) {
  KernelOp kernel = recorded.kernel;
  StringRef name = kernel.getSymName();
  if (!recorded.op)
    return record.emitError("there is no operator @")
           << getOperatorName(name) << "; run batch-vectorize-kernels first";
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (!kernel.getArgAttr(i, kReadAttr))
      return record.emitError("nothing says how argument #")
             << i << " of kernel @" << name
             << " is read; run batch-assign-slots first";
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (!kernel.getResultAttr(i, kTableAttr))
      return record.emitError("result #")
             << i << " of kernel @" << name
             << " has no table; run batch-assign-slots first";
  return success();
}

/// The kernels that tasks are recorded of, in module order.
static FailureOr<SmallVector<RecordedKernel>>
findRecordedKernels(ModuleOp module, SymbolTable &symbols) {
  llvm::StringMap<RecordOp> records;
  module.walk([&](RecordOp record) {
    records.try_emplace(record.getKernel(), record);
  });
  SmallVector<RecordedKernel> kernels;
  for (auto [number, kernel] : llvm::enumerate(module.getOps<KernelOp>())) {
    auto record = records.find(kernel.getSymName());
    if (record == records.end())
      continue;
    auto op =
        symbols.lookup<uprog::OperatorOp>(getOperatorName(kernel.getSymName()));
    kernels.push_back({static_cast<int64_t>(number), kernel, op});
    if (failed(checkKernel(record->second, kernels.back())))
      return failure();
  }
  return kernels;
}

/// Makes the program that runs a plan: a loop over its steps, which runs the
/// operator of each step's kernel. All units meet after a step that says so.
static void makeProgram(func::FuncOp entry, SymbolTable &symbols,
                        ArrayRef<RecordedKernel> kernels) {
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
  SmallVector<int64_t> cases;
  for (const RecordedKernel &recorded : kernels)
    cases.push_back(recorded.number);
  auto choice = uprog::BranchOp::create(builder, loc, number, /*uniform=*/true,
                                        cases, cases.size());
  Value meets = uprog::StepMeetsOp::create(builder, loc, index, step);
  auto meeting = uprog::BranchOp::create(builder, loc, meets, /*uniform=*/true,
                                         ArrayRef<int64_t>{1}, 1);

  builder.createBlock(&meeting.getCaseRegions().front());
  uprog::BarrierOp::create(builder, loc, uprog::Level::Device);
  uprog::YieldOp::create(builder, loc);
  for (auto [recorded, region] :
       llvm::zip_equal(kernels, choice.getCaseRegions())) {
    KernelOp kernel = recorded.kernel;
    uprog::OperatorOp op = recorded.op;
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
    auto kernels = findRecordedKernels(module, symbols);
    if (failed(kernels))
      return signalPassFailure();
    makeProgram(entry, symbols, *kernels);
  }
};
} // namespace
