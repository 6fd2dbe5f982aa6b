//===- UProgToCPU.cpp - Lower programs to a pool of workers ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ProgramCode/ProgramCode.h"
#include "Batch/Conversion/UProgToCPU/Passes.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTUPROGTOCPUPASS
#include "Batch/Conversion/UProgToCPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

namespace {

/// Lowers one program. Workers are the units of the device, which run a program
/// of that level together; each runs one of block level by itself.
class ProgramLowering : ProgramCode {
public:
  ProgramLowering(ModuleOp module, int64_t rowSplit, int64_t rowBlock)
      : ProgramCode(module), symbols(module), rowSplit(rowSplit),
        rowBlock(rowBlock) {}

  LogicalResult lower(uprog::ProgramOp program);

private:
  LogicalResult lowerOp(Operation *op) override;
  LogicalResult lowerReduce(uprog::ReduceOp reduce) override;
  LogicalResult lowerCompact(uprog::CompactOp compact) override;
  LogicalResult lowerCase(Region &region, int64_t number) override;
  LaneCode laneCode() override {
    return LaneCode(b, b.getLoc(), machine, context, lanes);
  }
  LogicalResult lowerRun(uprog::RunOp run);
  Value loadStepField(Value step, Field field);

  SymbolTable symbols;
  int64_t rowSplit, rowBlock;
  func::FuncOp function; ///< of the program
  Value worker, workers;
  bool alone = false; ///< of block level
};

} // namespace

LogicalResult ProgramLowering::lowerRun(uprog::RunOp run) {
  auto kernel = symbols.lookup<func::FuncOp>(run.getCallee());
  auto code = kernel ? kernel->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr)
                     : uprog::CodeAttr();
  if (!code)
    return run.emitError("operator @")
           << run.getCallee()
           << " is no kernel function yet; run convert-operators-to-cpu first";
  uprog::WorkersAttr sharing = code.getWorkers();
  if (!sharing)
    return run.emitError("kernel function @")
           << run.getCallee()
           << " does not say 'workers' in 'uprog.code': how they share tasks";
  int64_t stages = code.getStages();
  int64_t split = rowSplit > 0 ? rowSplit : sharing.getRowSplit();
  int64_t block = rowBlock >= 0 ? rowBlock : sharing.getRowBlock();

  ContextBuilder cb(b, run.getLoc(), context);
  Value step = mapping.lookup(run.getStep());
  Value tasks = toI64(mapping.lookup(run.getTasks()));
  Value forms = cb.loadField(ContextField::forms);
  Value scratch = cb.loadPointer(step, kStepScratch);
  Value allScratch = cb.loadField(ContextField::workerScratch);
  Value scratchCell = cb.loadCell(allScratch, worker);
  Value own = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), scratchCell);
  Value zero = cb.constant(0), one = cb.constant(1);
  auto call = [&](Value begin, Value end, Value part, Value parts,
                  Value stageBegin, Value stageEnd) {
    func::CallOp::create(b, kernel,
                         ValueRange{step, forms, scratch, own, begin, end, part,
                                    parts, stageBegin, stageEnd});
  };

  auto callRows = [&](Value begin, Value end) {
    if (block == 0)
      return call(begin, end, zero, one, zero, cb.constant(stages));
    auto loop = scf::ForOp::create(b, begin, end, cb.constant(block));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value first = loop.getInductionVar();
    Value last = arith::AddIOp::create(b, first, cb.constant(block));
    last = arith::MinSIOp::create(b, last, end);
    call(first, last, zero, one, zero, cb.constant(stages));
  };
  if (alone) {
    callRows(zero, tasks);
    return success();
  }

  // The rows of a large batch, or the columns of a small one.
  Value enough = arith::MulIOp::create(b, workers, cb.constant(split));
  Value single =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, workers, one);
  Value large =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, tasks, enough);
  Value byRows = arith::OrIOp::create(b, single, large);
  auto choice = scf::IfOp::create(b, byRows, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(choice.thenBlock()->getTerminator());
  auto share = [&](Value position) -> Value {
    Value product = arith::MulIOp::create(b, tasks, position);
    return arith::DivSIOp::create(b, product, workers);
  };
  Value next = arith::AddIOp::create(b, worker, one);
  Value begin = share(worker);
  Value end = share(next);
  callRows(begin, end);
  b.setInsertionPoint(choice.elseBlock()->getTerminator());
  for (int64_t stage = 0; stage < stages; ++stage) {
    call(zero, tasks, worker, workers, cb.constant(stage),
         cb.constant(stage + 1));
    if (stage + 1 < stages)
      cb.call(RuntimeFunction::barrier, worker);
  }
  return success();
}

LogicalResult ProgramLowering::lowerReduce(uprog::ReduceOp reduce) {
  FailureOr<SmallVector<Value>> found = findLeast(reduce, constant(0), 1);
  if (failed(found))
    return failure();
  mapLeast(reduce, *found);
  return success();
}

/// A loop over the numbers that carries how many are listed.
LogicalResult ProgramLowering::lowerCompact(uprog::CompactOp compact) {
  ContextBuilder cb(b, b.getLoc(), context);
  Value list = mapping.lookup(compact.getList());
  Value upper = toI64(mapping.lookup(compact.getUpper()));
  auto loop = scf::ForOp::create(b, constant(0), upper, constant(1),
                                 ValueRange{constant(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), count = loop.getRegionIterArg(0);
    FailureOr<Value> holds = lowerPredicate(compact, number);
    if (failed(holds))
      return failure();
    auto listed = scf::IfOp::create(b, b.getI64Type(), *holds,
                                    /*withElseRegion=*/true);
    scf::YieldOp::create(b, listed.getResults());
    b.setInsertionPointToStart(listed.thenBlock());
    Value last = arith::TruncIOp::create(b, b.getI32Type(), number);
    LLVM::StoreOp::create(b, last, cb.address(list, count, b.getI32Type()));
    Value more = arith::AddIOp::create(b, count, constant(1));
    scf::YieldOp::create(b, more);
    b.setInsertionPointToStart(listed.elseBlock());
    scf::YieldOp::create(b, count);
  }
  mapping.map(compact.getCount(), toIndex(loop.getResult(0)));
  return success();
}

/// Makes a function that only other code of the object calls.
static void makeInternal(func::FuncOp function) {
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function.getContext(), LLVM::Linkage::Internal));
}

/// Each case of a machine's loop is a function of its own: LLVM takes time that
/// grows with the square of the code in a loop, and this one runs all blocks.
LogicalResult ProgramLowering::lowerCase(Region &region, int64_t number) {
  if (!machine)
    return lowerBlock(region.front());
  SmallVector<Value> operands{context, worker, workers, lanes};
  SetVector<Value> used;
  getUsedValuesDefinedAbove(region, used);
  // What is not mapped, such as the lanes, no code reads.
  used.remove_if([&](Value value) { return !mapping.contains(value); });
  for (Value value : used)
    operands.push_back(mapping.lookup(value));
  std::string name = llvm::formatv("{0}.{1}", function.getSymName(), number);
  auto call = func::CallOp::create(b, name, TypeRange(), operands);
  call.setNoInline(true);

  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(function);
  auto outlined = func::FuncOp::create(
      b, name, b.getFunctionType(call.getOperandTypes(), {}));
  makeInternal(outlined);
  auto enter = [&](ValueRange values) {
    context = values[0];
    worker = values[1];
    workers = values[2];
    lanes = values[3];
    mapping.map(used.getArrayRef(), values.drop_front(4));
  };
  Block *body = outlined.addEntryBlock();
  b.setInsertionPointToStart(body);
  enter(body->getArguments());
  LogicalResult result = lowerBlock(region.front());
  func::ReturnOp::create(b);
  enter(operands);
  return result;
}

/// A field of a step, as an index.
Value ProgramLowering::loadStepField(Value step, Field field) {
  ContextBuilder cb(b, b.getLoc(), context);
  return toIndex(cb.loadCell(mapping.lookup(step), field));
}

LogicalResult ProgramLowering::lowerOp(Operation *op) {
  ContextBuilder cb(b, b.getLoc(), context);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](uprog::RunOp run) { return lowerRun(run); })
      .Case([&](uprog::RefOp ref) {
        func::CallOp::create(b, ref.getCallee(), TypeRange(),
                             ValueRange{context, worker, workers});
        return success();
      })
      .Case([&](uprog::BarrierOp barrier) {
        // Workers are the units of the device; what is below runs on one.
        if (barrier.getLevel() == uprog::Level::Device)
          cb.call(RuntimeFunction::barrier, worker);
        return success();
      })
      .Case([&](uprog::PlanSizeOp size) {
        mapping.map(size.getResult(),
                    toIndex(cb.loadField(ContextField::numSteps)));
        return success();
      })
      .Case([&](uprog::PlanStepOp step) {
        Value index = toI64(mapping.lookup(step.getIndex()));
        Value offset = arith::MulIOp::create(b, index, cb.constant(kStepBytes));
        mapping.map(step.getResult(),
                    cb.address(cb.loadField(ContextField::steps), offset,
                               b.getI8Type()));
        return success();
      })
      .Case([&](uprog::StepKernelOp number) {
        mapping.map(number.getResult(),
                    loadStepField(number.getStep(), kStepKernel));
        return success();
      })
      .Case([&](uprog::StepTasksOp count) {
        mapping.map(count.getResult(),
                    loadStepField(count.getStep(), kStepCount));
        return success();
      })
      .Case([&](uprog::StepMeetsOp meets) {
        mapping.map(meets.getResult(),
                    loadStepField(meets.getStep(), kStepMeets));
        return success();
      })
      .Default([](Operation *other) {
        return other->emitError("has no lowering to CPU workers");
      });
}

LogicalResult ProgramLowering::lower(uprog::ProgramOp program) {
  alone = program.getLevel() == uprog::Level::Block;
  if (program.getLevel() != uprog::Level::Device && !alone)
    return program.emitError("has level ")
           << uprog::stringifyLevel(program.getLevel())
           << ": workers run programs of device level together, or of block "
              "level each by itself";
  b.setLoc(program.getLoc());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  b.setInsertionPoint(program);
  function = func::FuncOp::create(b, program.getSymName(),
                                  b.getFunctionType({pointer, i64, i64}, {}));
  // What is referred to is not the executor.
  if (SymbolTable::symbolKnownUseEmpty(program,
                                       program->getParentOfType<ModuleOp>())) {
    function->setAttr(kExecutorAttr, b.getUnitAttr());
  } else {
    makeInternal(function);
  }
  Block *body = function.addEntryBlock();
  context = body->getArgument(0);
  worker = body->getArgument(1);
  workers = body->getArgument(2);
  b.setInsertionPointToStart(body);
  if (hasLanes(program)) {
    if (failed(findMachine(program)))
      return failure();
    findLanes(worker);
  }
  if (failed(lowerBlock(program.getBody().front())))
    return failure();
  b.setLoc(program.getLoc());
  func::ReturnOp::create(b);
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
