//===- UProgToCPU.cpp - Lower programs to a pool of workers ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/Passes.h"
#include "Batch/Conversion/RecToLLVM/ABILayout.h"
#include "Batch/Conversion/RecToLLVM/ContextAccess.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTUPROGTOCPUPASS
#include "Batch/Conversion/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

namespace {

/// Lowers one program. Every unit of device level is a worker thread.
class ProgramLowering {
public:
  ProgramLowering(ModuleOp module, int64_t rowSplit, int64_t rowBlock)
      : symbols(module), builder(module.getContext()), rowSplit(rowSplit),
        rowBlock(rowBlock) {}

  LogicalResult lower(uprog::ProgramOp program);

private:
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerRun(uprog::RunOp run);
  Value toI64(Value index);
  Value toIndex(Value integer);

  SymbolTable symbols;
  OpBuilder builder;
  IRMapping mapping;
  int64_t rowSplit, rowBlock;
  Value context, worker, workers;
};

} // namespace

Value ProgramLowering::toI64(Value index) {
  return arith::IndexCastOp::create(builder, index.getLoc(),
                                    builder.getI64Type(), index);
}

Value ProgramLowering::toIndex(Value integer) {
  return arith::IndexCastOp::create(builder, integer.getLoc(),
                                    builder.getIndexType(), integer);
}

LogicalResult ProgramLowering::lowerRun(uprog::RunOp run) {
  Location loc = run.getLoc();
  auto kernel = symbols.lookup<func::FuncOp>(run.getCallee());
  auto info = kernel ? kernel->getAttrOfType<DictionaryAttr>(kKernelInfoAttr)
                     : DictionaryAttr();
  if (!info)
    return run.emitError("operator @")
           << run.getCallee()
           << " is no kernel function yet; run convert-operators-to-cpu first";
  for (StringRef name : {"stages", "row_split", "row_block"})
    if (!info.getAs<IntegerAttr>(name))
      return run.emitError("kernel function @")
             << run.getCallee() << " does not say '" << name
             << "' in 'batch.kernel_info'";
  auto getInfo = [&](StringRef name) {
    return info.getAs<IntegerAttr>(name).getInt();
  };
  int64_t stages = getInfo("stages");
  int64_t split = rowSplit > 0 ? rowSplit : getInfo("row_split");
  int64_t block = rowBlock >= 0 ? rowBlock : getInfo("row_block");

  ContextBuilder cb(builder, loc, context);
  Value step = mapping.lookup(run.getStep());
  Value tasks = toI64(mapping.lookup(run.getTasks()));
  Value forms = cb.loadField(ContextField::forms);
  Value scratch = cb.loadPointer(step, kStepScratch);
  Value allScratch = cb.loadField(ContextField::workerScratch);
  Value scratchCell = cb.loadCell(allScratch, worker);
  Value own = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      scratchCell);
  Value zero = cb.constant(0), one = cb.constant(1);
  auto call = [&](Value begin, Value end, Value part, Value parts,
                  Value stageBegin, Value stageEnd) {
    func::CallOp::create(builder, loc, kernel,
                         ValueRange{step, forms, scratch, own, begin, end, part,
                                    parts, stageBegin, stageEnd});
  };

  // The rows of a large batch, or the columns of a small one.
  Value enough =
      arith::MulIOp::create(builder, loc, workers, cb.constant(split));
  Value alone = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      workers, one);
  Value large = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      tasks, enough);
  Value byRows = arith::OrIOp::create(builder, loc, alone, large);
  auto choice = scf::IfOp::create(builder, loc, byRows, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(choice.thenBlock()->getTerminator());
  auto share = [&](Value position) -> Value {
    Value product = arith::MulIOp::create(builder, loc, tasks, position);
    return arith::DivSIOp::create(builder, loc, product, workers);
  };
  Value next = arith::AddIOp::create(builder, loc, worker, one);
  Value begin = share(worker);
  Value end = share(next);
  if (block == 0) {
    call(begin, end, zero, one, zero, cb.constant(stages));
  } else {
    auto loop =
        scf::ForOp::create(builder, loc, begin, end, cb.constant(block));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    Value first = loop.getInductionVar();
    Value last = arith::AddIOp::create(builder, loc, first, cb.constant(block));
    last = arith::MinSIOp::create(builder, loc, last, end);
    call(first, last, zero, one, zero, cb.constant(stages));
  }
  builder.setInsertionPoint(choice.elseBlock()->getTerminator());
  for (int64_t stage = 0; stage < stages; ++stage) {
    call(zero, tasks, worker, workers, cb.constant(stage),
         cb.constant(stage + 1));
    if (stage + 1 < stages)
      cb.call(RuntimeFunction::barrier, worker);
  }
  return success();
}

LogicalResult ProgramLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator()) {
    Location loc = op.getLoc();
    ContextBuilder cb(builder, loc, context);
    if (auto run = dyn_cast<uprog::RunOp>(op)) {
      if (failed(lowerRun(run)))
        return failure();
    } else if (auto loop = dyn_cast<uprog::ForOp>(op)) {
      Value one = arith::ConstantIndexOp::create(builder, loc, 1);
      auto copy =
          scf::ForOp::create(builder, loc, mapping.lookup(loop.getLower()),
                             mapping.lookup(loop.getUpper()), one);
      mapping.map(loop.getBody().getArgument(0), copy.getInductionVar());
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(copy.getBody()->getTerminator());
      if (failed(lowerBlock(loop.getBody().front())))
        return failure();
    } else if (auto branch = dyn_cast<uprog::BranchOp>(op)) {
      auto copy = scf::IndexSwitchOp::create(
          builder, loc, TypeRange(), mapping.lookup(branch.getSelector()),
          branch.getCases(), branch.getCases().size());
      OpBuilder::InsertionGuard guard(builder);
      builder.createBlock(&copy.getDefaultRegion());
      scf::YieldOp::create(builder, loc);
      for (auto [from, to] :
           llvm::zip_equal(branch.getCaseRegions(), copy.getCaseRegions())) {
        builder.createBlock(&to);
        if (failed(lowerBlock(from.front())))
          return failure();
        scf::YieldOp::create(builder, loc);
      }
    } else if (auto barrier = dyn_cast<uprog::BarrierOp>(op)) {
      // Workers are the units of the device; what is below runs on one.
      if (barrier.getLevel() == uprog::Level::Device)
        cb.call(RuntimeFunction::barrier, worker);
    } else if (auto size = dyn_cast<PlanSizeOp>(op)) {
      mapping.map(size.getResult(),
                  toIndex(cb.loadField(ContextField::numSteps)));
    } else if (auto step = dyn_cast<PlanStepOp>(op)) {
      Value index = toI64(mapping.lookup(step.getIndex()));
      Value offset =
          arith::MulIOp::create(builder, loc, index, cb.constant(kStepBytes));
      mapping.map(step.getResult(),
                  cb.address(cb.loadField(ContextField::steps), offset,
                             builder.getI8Type()));
    } else if (auto number = dyn_cast<StepKernelOp>(op)) {
      mapping.map(number.getResult(),
                  toIndex(cb.loadCell(mapping.lookup(number.getStep()),
                                      cb.constant(kStepKernel))));
    } else if (auto count = dyn_cast<StepTasksOp>(op)) {
      mapping.map(count.getResult(),
                  toIndex(cb.loadCell(mapping.lookup(count.getStep()),
                                      cb.constant(kStepCount))));
    } else if (auto meets = dyn_cast<StepMeetsOp>(op)) {
      mapping.map(meets.getResult(),
                  toIndex(cb.loadCell(mapping.lookup(meets.getStep()),
                                      cb.constant(kStepMeets))));
    } else if (isa<OperandOp>(op)) {
      // Kernel functions find their operands in the step.
    } else if (op.getDialect() && isa<arith::ArithDialect>(op.getDialect())) {
      builder.clone(op, mapping);
    } else {
      return op.emitError("has no lowering to CPU workers");
    }
  }
  return success();
}

LogicalResult ProgramLowering::lower(uprog::ProgramOp program) {
  if (program.getLevel() != uprog::Level::Device)
    return program.emitError("only programs of device level run on workers");
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  builder.setInsertionPoint(program);
  auto function =
      func::FuncOp::create(builder, program.getLoc(), program.getSymName(),
                           builder.getFunctionType({pointer, i64, i64}, {}));
  function->setAttr(kExecutorAttr, builder.getUnitAttr());
  Block *body = function.addEntryBlock();
  context = body->getArgument(0);
  worker = body->getArgument(1);
  workers = body->getArgument(2);
  builder.setInsertionPointToStart(body);
  if (failed(lowerBlock(program.getBody().front())))
    return failure();
  func::ReturnOp::create(builder, program.getLoc());
  program.erase();
  return success();
}

namespace {
class ConvertUProgToCPUPass
    : public batch::impl::ConvertUProgToCPUPassBase<ConvertUProgToCPUPass> {
  using ConvertUProgToCPUPassBase::ConvertUProgToCPUPassBase;
  void runOnOperation() override {
    for (auto program :
         llvm::make_early_inc_range(getOperation().getOps<uprog::ProgramOp>()))
      if (failed(ProgramLowering(getOperation(), rowSplit, rowBlock)
                     .lower(program)))
        return signalPassFailure();
  }
};
} // namespace
