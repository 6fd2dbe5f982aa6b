//===- UProgToCPU.cpp - Lower programs to a pool of workers ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LaneCode/LaneCode.h"
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

/// Lowers one program. Workers are the units of the device, which run a program
/// of that level together; each runs one of block level by itself.
class ProgramLowering {
public:
  ProgramLowering(ModuleOp module, int64_t rowSplit, int64_t rowBlock)
      : symbols(module), builder(module.getContext()), rowSplit(rowSplit),
        rowBlock(rowBlock) {}

  LogicalResult lower(uprog::ProgramOp program);

private:
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerRun(uprog::RunOp run);
  LogicalResult lowerWhile(uprog::WhileOp loop);
  LogicalResult lowerStart(StartLanesOp start);
  LogicalResult lowerLaneOps(LaneOpsOp op);
  Value toI64(Value index);
  Value toIndex(Value integer);

  SymbolTable symbols;
  OpBuilder builder;
  IRMapping mapping;
  int64_t rowSplit, rowBlock;
  Value context, worker, workers;
  bool alone = false; ///< of block level
  MachineOp machine;  ///< of a program that has lanes
  Value lanes;
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
    auto op = func::CallOp::create(builder, loc, kernel,
                                   ValueRange{step, forms, scratch, own, begin,
                                              end, part, parts, stageBegin,
                                              stageEnd});
    // LLVM takes quadratic time for one function with the code of all blocks.
    op.setNoInline(alone);
  };

  auto callRows = [&](Value begin, Value end) {
    if (block == 0)
      return call(begin, end, zero, one, zero, cb.constant(stages));
    auto loop =
        scf::ForOp::create(builder, loc, begin, end, cb.constant(block));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    Value first = loop.getInductionVar();
    Value last = arith::AddIOp::create(builder, loc, first, cb.constant(block));
    last = arith::MinSIOp::create(builder, loc, last, end);
    call(first, last, zero, one, zero, cb.constant(stages));
  };
  if (alone) {
    callRows(zero, tasks);
    return success();
  }

  // The rows of a large batch, or the columns of a small one.
  Value enough =
      arith::MulIOp::create(builder, loc, workers, cb.constant(split));
  Value single = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       workers, one);
  Value large = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      tasks, enough);
  Value byRows = arith::OrIOp::create(builder, loc, single, large);
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
  callRows(begin, end);
  builder.setInsertionPoint(choice.elseBlock()->getTerminator());
  for (int64_t stage = 0; stage < stages; ++stage) {
    call(zero, tasks, worker, workers, cb.constant(stage),
         cb.constant(stage + 1));
    if (stage + 1 < stages)
      cb.call(RuntimeFunction::barrier, worker);
  }
  return success();
}

LogicalResult ProgramLowering::lowerWhile(uprog::WhileOp loop) {
  Location loc = loop.getLoc();
  auto condition =
      cast<uprog::ConditionOp>(loop.getBefore().front().getTerminator());
  auto copy = scf::WhileOp::create(
      builder, loc, condition.getValues().getTypes(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&copy.getBefore());
  if (failed(lowerBlock(loop.getBefore().front())))
    return failure();
  SmallVector<Value> values;
  for (Value value : condition.getValues())
    values.push_back(mapping.lookup(value));
  scf::ConditionOp::create(builder, loc,
                           mapping.lookup(condition.getCondition()), values);
  Block *body = builder.createBlock(&copy.getAfter(), {},
                                    condition.getValues().getTypes(),
                                    SmallVector<Location>(values.size(), loc));
  mapping.map(loop.getBody().getArguments(), body->getArguments());
  if (failed(lowerBlock(loop.getBody().front())))
    return failure();
  scf::YieldOp::create(builder, loc);
  return success();
}

LogicalResult ProgramLowering::lowerStart(StartLanesOp start) {
  FailureOr<func::FuncOp> entry = findEntry(start);
  if (failed(entry))
    return failure();
  LaneCode code(builder, start.getLoc(), machine, context, lanes);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(context.getDefiningOp()
                                  ? context.getDefiningOp()
                                  : context.getParentBlock()->getParentOp());
    code.makeNextInstance(*entry);
  }
  code.startLanes();
  return success();
}

LogicalResult ProgramLowering::lowerLaneOps(LaneOpsOp op) {
  auto block = machine.lookupSymbol<BlockOp>(op.getBlock().getLeafReference());
  LaneCode code(builder, op.getLoc(), machine, context, lanes);
  if (op.getPrologue())
    code.runPrologue(block);
  else
    code.runEpilogue(block);
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
    } else if (auto loop = dyn_cast<uprog::WhileOp>(op)) {
      if (failed(lowerWhile(loop)))
        return failure();
    } else if (auto start = dyn_cast<StartLanesOp>(op)) {
      if (failed(lowerStart(start)))
        return failure();
    } else if (auto leave = dyn_cast<LeaveFrameOp>(op)) {
      LaneCode(builder, loc, machine, context, lanes).leaveFrame();
    } else if (auto ref = dyn_cast<uprog::RefOp>(op)) {
      func::CallOp::create(builder, loc, ref.getCallee(), TypeRange(),
                           ValueRange{context, worker, workers});
    } else if (auto laneOps = dyn_cast<LaneOpsOp>(op)) {
      if (failed(lowerLaneOps(laneOps)))
        return failure();
    } else if (auto next = dyn_cast<NextBlockOp>(op)) {
      auto [number, any] =
          LaneCode(builder, loc, machine, context, lanes).nextBlock();
      mapping.map(next.getBlock(), toIndex(number));
      mapping.map(next.getAny(), any);
    } else if (auto take = dyn_cast<TakeLanesOp>(op)) {
      Value number = toI64(mapping.lookup(take.getBlock()));
      mapping.map(
          take.getStep(),
          LaneCode(builder, loc, machine, context, lanes).takeLanes(number));
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
  alone = program.getLevel() == uprog::Level::Block;
  if (program.getLevel() != uprog::Level::Device && !alone)
    return program.emitError("has level ")
           << uprog::stringifyLevel(program.getLevel())
           << ": workers run programs of device level together, or of block "
              "level each by itself";
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  builder.setInsertionPoint(program);
  auto function =
      func::FuncOp::create(builder, program.getLoc(), program.getSymName(),
                           builder.getFunctionType({pointer, i64, i64}, {}));
  // What is referred to is not the executor.
  if (SymbolTable::symbolKnownUseEmpty(program,
                                       program->getParentOfType<ModuleOp>())) {
    function->setAttr(kExecutorAttr, builder.getUnitAttr());
  } else {
    function.setPrivate();
    function->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  }
  Block *body = function.addEntryBlock();
  context = body->getArgument(0);
  worker = body->getArgument(1);
  workers = body->getArgument(2);
  builder.setInsertionPointToStart(body);
  if (llvm::any_of(program.getArgumentTypes(), llvm::IsaPred<LanesType>)) {
    auto machines = program->getParentOfType<ModuleOp>().getOps<MachineOp>();
    if (machines.empty())
      return program.emitError(
          "has lanes, but the module has no batch.machine");
    machine = *machines.begin();
    ContextBuilder cb(builder, program.getLoc(), context);
    Value cell = cb.loadCell(cb.loadField(ContextField::lanes), worker);
    lanes = LLVM::IntToPtrOp::create(builder, program.getLoc(), pointer, cell);
  }
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
