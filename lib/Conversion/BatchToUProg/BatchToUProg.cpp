//===- BatchToUProg.cpp - Create the executor of a plan -------------------===//
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

namespace {
/// Placement of rows in a table, if the type of the rows does not determine it.
struct RowPlace {
  AffineMap layout;
  int64_t blockBytes = 0;

  RowPlace(SymbolTable &symbols, FlatSymbolRefAttr name) {
    auto table = name ? symbols.lookup<TableOp>(name.getAttr()) : TableOp();
    if (!table)
      return;
    layout = table.getLayout().value_or(AffineMap());
    int64_t bytes = table.getTableLayout().getBlockBytes();
    if (bytes != table.getOwnLayout().getBlockBytes())
      blockBytes = bytes;
  }
};
} // namespace

static uprog::OperandKind getOperandKind(ReadKind kind) {
  switch (kind) {
  case ReadKind::Gather:
    return uprog::OperandKind::Gather;
  case ReadKind::Rows:
    return uprog::OperandKind::Rows;
  case ReadKind::Scalar:
    return uprog::OperandKind::Scalar;
  case ReadKind::Shared:
    return uprog::OperandKind::Shared;
  }
  llvm_unreachable("unknown kind of read");
}

/// Copies the reads and writes of a step to the operator, whose code depends on
/// them. Copies the numbers of ragged domains to the kernel.
static void setAccesses(SymbolTable &symbols, uprog::OperatorOp op,
                        KernelOp kernel) {
  MLIRContext *context = op.getContext();
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    std::optional<int64_t> domain = op.getRagged(i + 1);
    if (domain)
      kernel.setArgAttr(i, kRaggedAttr,
                        Builder(context).getI64IntegerAttr(*domain));
    // Shared operands, and operands of kernels that no step runs, are in no
    // table.
    auto read = kernel.getArgAttrOfType<ReadAttr>(i, kReadAttr);
    if (!read || read.getKind() == ReadKind::Shared)
      continue;
    RowPlace place(symbols, read.getFrom());
    op.setRead(i + 1,
               uprog::OperandAttr::get(context, getOperandKind(read.getKind()),
                                       /*number=*/-1, domain.value_or(-1),
                                       place.layout, place.blockBytes));
  }
  for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
    RowPlace place(
        symbols, kernel.getResultAttrOfType<FlatSymbolRefAttr>(i, kTableAttr));
    auto write = uprog::ResultAttr::get(
        context, kernel.getSiblings(i), kernel.getPosition(i), place.layout,
        place.blockBytes,
        /*rows=*/kernel.getResultAttr(i, kRowListAttr) != Attribute());
    if (write != op.getWrite(i))
      op.setResultAttr(i, uprog::kResultAttr, write);
  }
}

namespace {
/// Kernel whose tasks are recorded.
struct RecordedKernel {
  int64_t number; ///< number in module order
  KernelOp kernel;
  uprog::OperatorOp op;
};
} // namespace

/// Checks that a step can run the kernel that `record` records.
static LogicalResult checkKernel(RecordOp record, RecordedKernel recorded) {
  KernelOp kernel = recorded.kernel;
  StringRef name = kernel.getSymName();
  if (!recorded.op)
    return record.emitError("kernel @")
           << name << " has no operator; run batch-vectorize-kernels first";
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (!kernel.getArgAttr(i, kReadAttr))
      return record.emitError("argument #")
             << i << " of kernel @" << name
             << " has no 'batch.read'; run batch-assign-slots first";
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (!kernel.getResultAttr(i, kTableAttr))
      return record.emitError("result #")
             << i << " of kernel @" << name
             << " has no table; run batch-assign-slots first";
  return success();
}

/// Returns, in module order, the kernels whose tasks are recorded.
static FailureOr<SmallVector<RecordedKernel>>
findRecordedKernels(ModuleOp module, const uprog::OperatorMap &operators) {
  llvm::StringMap<RecordOp> records;
  module.walk([&](RecordOp record) {
    records.try_emplace(record.getKernel(), record);
  });
  SmallVector<RecordedKernel> kernels;
  for (auto [number, kernel] : llvm::enumerate(module.getOps<KernelOp>())) {
    auto record = records.find(kernel.getSymName());
    if (record == records.end())
      continue;
    kernels.push_back({static_cast<int64_t>(number), kernel,
                       operators.lookup(kernel.getSymNameAttr())});
    if (failed(checkKernel(record->second, kernels.back())))
      return failure();
  }
  return kernels;
}

/// Creates the program that runs a plan. It loops over the steps of the plan,
/// runs the operator of each step's kernel, and has a barrier after each step
/// that needs one.
static void makeProgram(func::FuncOp entry, ArrayRef<RecordedKernel> kernels) {
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
  auto choice = uprog::BranchOp::create(builder, loc, TypeRange(), number,
                                        cases, cases.size());
  Value barrier = uprog::StepBarrierOp::create(builder, loc, index, step);
  auto branch = uprog::BranchOp::create(builder, loc, TypeRange(), barrier,
                                        ArrayRef<int64_t>{1}, 1);

  builder.createBlock(&branch.getCaseRegions().front());
  uprog::BarrierOp::create(builder, loc, uprog::Level::Device);
  uprog::YieldOp::create(builder, loc);
  for (auto [recorded, region] :
       llvm::zip_equal(kernels, choice.getCaseRegions())) {
    uprog::OperatorOp op = recorded.op;
    builder.createBlock(&region);
    Location at = op.getLoc();
    Value tasks = uprog::StepTasksOp::create(builder, at, index, step);
    uprog::RunOp::create(builder, at, op.getSymName(), step, tasks,
                         /*inputs=*/ValueRange(),
                         /*level=*/uprog::LevelAttr());
    uprog::YieldOp::create(builder, loc);
  }
}

namespace {
class ConvertBatchToUProgPass
    : public batch::impl::ConvertBatchToUProgPassBase<ConvertBatchToUProgPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    uprog::OperatorMap operators = uprog::mapOperators(module);
    for (auto kernel : module.getOps<KernelOp>())
      if (uprog::OperatorOp op = operators.lookup(kernel.getSymNameAttr()))
        setAccesses(symbols, op, kernel);
    auto entry =
        dyn_cast_or_null<func::FuncOp>(lookupEntry(module).getOperation());
    if (!entry || symbols.lookup(getExecutorName(entry.getSymName())) ||
        !symbols.lookup(getInspectorName(entry.getSymName())))
      return;
    auto kernels = findRecordedKernels(module, operators);
    if (failed(kernels))
      return signalPassFailure();
    makeProgram(entry, *kernels);
  }
};
} // namespace
