//===- UProgToCPU.cpp - Lower programs to a pool of workers ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../UProgToSCF/ProgramPatterns.h"
#include "Batch/Conversion/UProgToCPU/Passes.h"
#include "Batch/Conversion/UProgToSCF/UProgToSCF.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "VectorInstances.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTUPROGTOCPUPASS
#include "Batch/Conversion/UProgToCPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

/// If the instances fill less than 1 / kFewShare of a vector, they run one by
/// one.
static constexpr int64_t kFewShare = 4;

namespace {

/// Program that is being lowered. The workers are the units of the device and
/// of its only cluster. Together they run a device-level or cluster-level
/// program. Each worker runs a block-level program by itself.
struct WorkerProgram {
  SymbolTable &symbols;
  const llvm::StringSet<> &ofClusters; ///< cluster-level programs
  /// Number of instances in a vector, for programs with code for vectors.
  const llvm::StringMap<int64_t> &sideBySide;
  int64_t rowSplit, stageRows; ///< options of the pass
  bool isBlockLevel;           ///< true for a block-level program
  InstanceProgramState instances;
  func::FuncOp function = {}; ///< takes (context, worker, workers, others)
  Value lanes = {};           ///< lanes of the worker, if the program has lanes

  Value getContext() { return function.getArgument(0); }
  Value getWorker() { return function.getArgument(1); }
  Value getWorkers() { return function.getArgument(2); }
};

class WorkerEmitter : OpEmitter {
public:
  WorkerEmitter(Operation *op, ConversionPatternRewriter &rewriter,
                WorkerProgram &program)
      : OpEmitter(op, rewriter), program(program) {}

  using Values = SmallVector<Value>;

  Values lower(uprog::ProgramOp op, uprog::ProgramOp::Adaptor);
  Values lower(uprog::RunOp run, uprog::RunOp::Adaptor operands);
  Values lower(uprog::CompactOp compact, uprog::CompactOp::Adaptor operands);

  Values lower(uprog::ReduceOp reduce, uprog::ReduceOp::Adaptor operands) {
    return toResults(
        makeLeastLoop(reduce, operands.getUpper(), constant(0), 1, rewriter));
  }
  Values lower(uprog::RefOp ref, uprog::RefOp::Adaptor operands) {
    callProgram(ref.getCallee(), ref.getInputs(), operands.getInputs());
    return {};
  }
  Values lower(uprog::BarrierOp barrier, uprog::BarrierOp::Adaptor) {
    // A block is one worker, so it needs no barrier.
    if (barrier.getLevel() != uprog::Level::Block)
      waitForAll(barrier);
    return {};
  }
  Values lower(uprog::UnitsOp, uprog::UnitsOp::Adaptor) {
    return {toIndex(program.isBlockLevel ? constant(1) : program.getWorkers())};
  }
  Values lower(uprog::PlanSizeOp, uprog::PlanSizeOp::Adaptor) {
    return {toIndex(builder().loadField(ContextField::numSteps))};
  }
  Values lower(uprog::PlanStepOp, uprog::PlanStepOp::Adaptor operands) {
    ContextBuilder cb = builder();
    Value index = toI64(operands.getIndex());
    Value offset = arith::MulIOp::create(b, index, cb.constant(kStepBytes));
    return {
        cb.address(cb.loadField(ContextField::steps), offset, b.getI8Type())};
  }
  Values lower(uprog::StepKernelOp, uprog::StepKernelOp::Adaptor operands) {
    return {toIndex(builder().loadCell(operands.getStep(), kStepKernel))};
  }
  Values lower(uprog::StepTasksOp, uprog::StepTasksOp::Adaptor operands) {
    return {toIndex(builder().loadCell(operands.getStep(), kStepCount))};
  }
  Values lower(uprog::StepBarrierOp, uprog::StepBarrierOp::Adaptor operands) {
    return {toIndex(builder().loadCell(operands.getStep(), kStepBarrier))};
  }

private:
  ContextBuilder builder() {
    return ContextBuilder(b, b.getLoc(), program.getContext());
  }
  /// Emits a barrier of all workers.
  void waitForAll(Operation *op) {
    if (program.instances.unit.state)
      InstanceCode(b, op, program.instances.unit).beginBarrier();
    builder().call(RuntimeFunction::barrier, program.getWorker());
  }
  void runProgram(uprog::RunOp run, uprog::RunOp::Adaptor operands);
  void runSideBySide(uprog::RunOp run, Value tasks, int64_t width);
  Value isTraced();
  void callProgram(StringRef name, ValueRange inputs, ValueRange converted,
                   Value task = {});

  WorkerProgram &program;
};

} // namespace

/// Returns true if the code of an operator takes the address of a
/// BatchIndexError as its eleventh argument.
static bool checksIndices(func::FuncOp kernel) {
  return kernel.getNumArguments() > 10;
}

static LogicalResult checkRun(uprog::RunOp run, SymbolTable &symbols) {
  if (run.getLevel() == uprog::Level::Cluster)
    return run.emitError("level(cluster) is not supported here, because all "
                         "workers form one cluster; use level(block)");
  // Without a step, the op runs a program, which is checked separately.
  if (!run.getStep())
    return success();
  auto kernel = symbols.lookup<func::FuncOp>(run.getCallee());
  auto code = kernel ? kernel->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr)
                     : uprog::CodeAttr();
  if (!code)
    return run.emitError("operator @")
           << run.getCallee()
           << " has no code for the CPU; run convert-operators-to-cpu first";
  if (!code.getWorkers())
    return run.emitError("'uprog.code' of operator @")
           << run.getCallee()
           << " has no 'workers', which specifies how workers share its tasks";
  return success();
}

/// Calls a program, given the operands before and after conversion.
void WorkerEmitter::callProgram(StringRef name, ValueRange inputs,
                                ValueRange converted, Value task) {
  SmallVector<Value> arguments = {program.getContext(), program.getWorker(),
                                  program.getWorkers()};
  if (task)
    arguments.push_back(task);
  for (auto [input, value] : llvm::zip_equal(inputs, converted))
    if (isCodeArgument(input.getType()))
      arguments.push_back(value);
  func::CallOp::create(b, name, TypeRange(), arguments);
}

/// Emits a test that is true if the tasks of the worker are traced.
Value WorkerEmitter::isTraced() {
  ContextBuilder cb = builder();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value unit = LLVM::IntToPtrOp::create(
      b, pointer,
      cb.loadCell(cb.loadField(ContextField::units), program.getWorker()));
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne,
                              cb.loadPointer(unit, kUnitTrace),
                              LLVM::ZeroOp::create(b, pointer));
}

/// Runs groups of instances in vectors. Each of n workers runs every nth group.
void WorkerEmitter::runSideBySide(uprog::RunOp run, Value tasks,
                                  int64_t width) {
  Value size = constant(width);
  Value first = arith::MulIOp::create(b, program.getWorker(), size);
  Value step = arith::MulIOp::create(b, program.getWorkers(), size);
  auto loop = scf::ForOp::create(b, first, tasks, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  func::CallOp::create(b, getVectorsName(run.getCallee()), TypeRange(),
                       ValueRange{program.getContext(), program.getWorker(),
                                  program.getWorkers(), loop.getInductionVar(),
                                  tasks});
}

/// Runs the tasks of a program. Each of n workers runs every nth task. If the
/// tasks are for clusters, all workers run all tasks together.
void WorkerEmitter::runProgram(uprog::RunOp run,
                               uprog::RunOp::Adaptor operands) {
  const bool isPerWorker = !program.ofClusters.contains(run.getCallee());
  OpBuilder::InsertionGuard outer(b);
  if (int64_t width = program.sideBySide.lookup(run.getCallee())) {
    Value tasks = toI64(operands.getTasks());
    Value few =
        compare(arith::CmpIPredicate::slt, tasks, constant(width / kFewShare));
    auto choice = scf::IfOp::create(b, arith::OrIOp::create(b, few, isTraced()),
                                    /*withElseRegion=*/true);
    b.setInsertionPoint(choice.elseBlock()->getTerminator());
    runSideBySide(run, tasks, width);
    b.setInsertionPoint(choice.thenBlock()->getTerminator());
  }
  Value first = isPerWorker ? program.getWorker() : constant(0);
  Value step = isPerWorker ? program.getWorkers() : constant(1);
  auto loop = scf::ForOp::create(b, first, toI64(operands.getTasks()), step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  callProgram(run.getCallee(), run.getInputs(), operands.getInputs(),
              toIndex(loop.getInductionVar()));
}

SmallVector<Value> WorkerEmitter::lower(uprog::RunOp run,
                                        uprog::RunOp::Adaptor operands) {
  if (!run.getStep()) {
    runProgram(run, operands);
    return {};
  }
  auto kernel = program.symbols.lookup<func::FuncOp>(run.getCallee());
  auto code = kernel->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr);
  uprog::WorkersAttr sharing = code.getWorkers();
  int64_t stages = code.getStages();
  int64_t split =
      program.rowSplit > 0 ? program.rowSplit : sharing.getRowSplit();
  int64_t block =
      program.stageRows >= 0 ? program.stageRows : sharing.getStageRows();

  ContextBuilder cb = builder();
  Value worker = program.getWorker(), workers = program.getWorkers();
  cb.endIfCancelled(worker);
  Value step = operands.getStep();
  Value tasks = toI64(operands.getTasks());
  Value packings = cb.loadField(ContextField::packings);
  Value scratch = cb.loadPointer(step, kStepScratch);
  Value allScratch = cb.loadField(ContextField::workerScratch);
  Value scratchCell = cb.loadCell(allScratch, worker);
  Value own = LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), scratchCell);
  Value zero = cb.constant(0), one = cb.constant(1);
  Value indexError;
  if (checksIndices(kernel))
    indexError = cb.loadField(ContextField::indexError);
  auto call = [&](Value begin, Value end, Value share, Value shares,
                  Value stageBegin, Value stageEnd) {
    SmallVector<Value> arguments = {step,       packings, scratch, own,
                                    begin,      end,      share,   shares,
                                    stageBegin, stageEnd};
    if (indexError)
      arguments.push_back(indexError);
    func::CallOp::create(b, kernel, arguments);
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
  auto trace = [&](Value count) {
    if (program.instances.unit.state)
      InstanceCode(b, run, program.instances.unit)
          .trace(cb.loadCell(step, kStepKernel), count);
  };
  if (program.isBlockLevel) {
    trace(tasks);
    callRows(zero, tasks);
    return {};
  }
  if (run.getLevel()) {
    auto first =
        scf::IfOp::create(b, compare(arith::CmpIPredicate::eq, worker, zero),
                          /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(first.thenBlock()->getTerminator());
    trace(tasks);
    callRows(zero, tasks);
    return {};
  }
  trace(tasks);

  // Divide the tasks of a large batch, or the work of each stage of a small
  // batch.
  Value enough = arith::MulIOp::create(b, workers, cb.constant(split));
  Value single = compare(arith::CmpIPredicate::eq, workers, one);
  Value large = compare(arith::CmpIPredicate::sge, tasks, enough);
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
  int64_t first = 0;
  for (int64_t stage : sharing.getBarriers()) {
    call(zero, tasks, worker, workers, cb.constant(first), cb.constant(stage));
    waitForAll(run);
    trace(zero);
    first = stage;
  }
  call(zero, tasks, worker, workers, cb.constant(first), cb.constant(stages));
  return {};
}

/// Emits a loop that lists the numbers for which the predicate holds, and
/// counts them.
SmallVector<Value> WorkerEmitter::lower(uprog::CompactOp compact,
                                        uprog::CompactOp::Adaptor operands) {
  ContextBuilder cb = builder();
  Value list = operands.getList(), upper = toI64(operands.getUpper());
  auto loop = scf::ForOp::create(b, constant(0), upper, constant(1),
                                 ValueRange{constant(0)});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), count = loop.getRegionIterArg(0);
    auto [holds, value] = inlinePredicate(compact, number);
    auto listed = scf::IfOp::create(b, b.getI64Type(), holds,
                                    /*withElseRegion=*/true);
    scf::YieldOp::create(b, listed.getResults());
    b.setInsertionPointToStart(listed.thenBlock());
    Value last = arith::TruncIOp::create(b, b.getI32Type(), value);
    LLVM::StoreOp::create(b, last, cb.address(list, count, b.getI32Type()));
    Value more = arith::AddIOp::create(b, count, constant(1));
    scf::YieldOp::create(b, more);
    b.setInsertionPointToStart(listed.elseBlock());
    scf::YieldOp::create(b, count);
  }
  return {toIndex(loop.getResult(0))};
}

/// Makes a function internal, because only other code of the object calls it.
static void makeInternal(func::FuncOp function) {
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(function.getContext(), LLVM::Linkage::Internal));
}

SmallVector<Value> WorkerEmitter::lower(uprog::ProgramOp op,
                                        uprog::ProgramOp::Adaptor) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  SmallVector<Type> types = {pointer, i64, i64};
  for (Type type :
       llvm::make_filter_range(op.getArgumentTypes(), isCodeArgument))
    types.push_back(isa<uprog::StepType, MemRefType>(type) ? pointer
                    : isa<uprog::RowType>(type)            ? i64
                                                           : type);
  auto function =
      func::FuncOp::create(b, op.getSymName(), b.getFunctionType(types, {}));
  program.function = function;
  // If other programs run this program, it is not the executor.
  if (isRunByPrograms(op))
    makeInternal(function);
  else
    function->setAttr(kExecutorAttr, b.getUnitAttr());
  b.setInsertionPointToStart(function.addEntryBlock());
  if (hasLanes(op))
    program.lanes = loadLanes(program.getContext(), program.getWorker());
  if (runsInstances(op)) {
    InstanceUnit unit =
        makeInstanceUnit(b, b.getLoc(), program.getContext(),
                         program.getWorker(), program.getWorkers());
    program.instances.unit =
        program.isBlockLevel ? makeSingleUnit(b, b.getLoc(), unit) : unit;
  }
  inlineBody(op, program.getContext(), program.lanes,
             function.getArguments().drop_front(3));
  func::ReturnOp::create(b);
  return {};
}

/// Outlines one case of a branch into a function.
static void outlineCase(WorkerProgram &program, Region &region,
                        int64_t number) {
  func::FuncOp function = program.function;
  SetVector<Value> used;
  used.insert_range(function.getArguments());
  used.insert(program.lanes);
  getUsedValuesDefinedAbove(region, used);
  ArrayRef<Value> operands = used.getArrayRef();
  ImplicitLocOpBuilder b(region.getLoc(), function);
  std::string name = llvm::formatv("{0}.{1}", function.getSymName(), number);
  Block *from = &region.front();
  auto yield = cast<scf::YieldOp>(from->getTerminator());
  auto outlined = func::FuncOp::create(
      b, name, b.getFunctionType(TypeRange(operands), yield.getOperandTypes()));
  makeInternal(outlined);
  Block *to = outlined.addEntryBlock();
  to->getOperations().splice(to->end(), from->getOperations(), from->begin(),
                             std::prev(from->end()));
  b.setInsertionPointToEnd(to);
  func::ReturnOp::create(b, yield.getOperands());
  for (auto [value, argument] : llvm::zip_equal(operands, to->getArguments()))
    replaceAllUsesInRegionWith(value, argument, outlined.getBody());
  b.setInsertionPointToStart(from);
  auto call = func::CallOp::create(b, outlined, operands);
  call.setNoInline(true);
  yield->setOperands(call.getResults());
}

/// Outlines each case of a machine's loop into a function. LLVM's compile time
/// grows with the square of a loop's code size, and this loop contains all
/// blocks.
static void outlineCases(WorkerProgram &program) {
  program.function.walk<WalkOrder::PreOrder>([&](scf::IndexSwitchOp branch) {
    for (auto [number, region] :
         llvm::zip_equal(branch.getCases(), branch.getCaseRegions()))
      outlineCase(program, region, number);
    return WalkResult::skip();
  });
}

namespace {
class ConvertUProgToCPUPass
    : public batch::impl::ConvertUProgToCPUPassBase<ConvertUProgToCPUPass> {
  using ConvertUProgToCPUPassBase::ConvertUProgToCPUPassBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<uprog::ProgramOp> programs(
        getOperation().getOps<uprog::ProgramOp>());
    for (uprog::ProgramOp program : programs)
      if (failed(check(program, symbols)))
        return signalPassFailure();
    InstanceTables tables(getOperation(), /*onDevice=*/false);
    tables.save(getOperation());
    llvm::StringMap<int64_t> sideBySide;
    for (uprog::ProgramOp program : programs)
      if (int64_t width = countSideBySide(program, vectorBits)) {
        sideBySide[program.getSymName()] = width;
        makeInternal(makeVectorInstances(program, width, tables));
      }
    llvm::StringSet<> ofClusters;
    for (uprog::ProgramOp program : programs)
      if (program.getLevel() == uprog::Level::Cluster)
        ofClusters.insert(program.getSymName());
    for (uprog::ProgramOp program : programs)
      if (failed(lower(program, symbols, ofClusters, sideBySide, tables)))
        return signalPassFailure();
    for (Operation &op :
         llvm::make_early_inc_range(getOperation().getBody()->getOperations()))
      if (isa<uprog::BufferOp, uprog::NodeRowsOp, uprog::NodeResultsOp>(op))
        op.erase();
  }

  LogicalResult check(uprog::ProgramOp program, SymbolTable &symbols) {
    if (failed(findMachine(program)))
      return failure();
    return checkProgram(program, "cannot be lowered to CPU workers",
                        [&](Operation *op) {
                          auto run = dyn_cast<uprog::RunOp>(op);
                          return run ? checkRun(run, symbols) : success();
                        });
  }

  LogicalResult lower(uprog::ProgramOp op, SymbolTable &symbols,
                      const llvm::StringSet<> &ofClusters,
                      const llvm::StringMap<int64_t> &sideBySide,
                      InstanceTables &tables) {
    WorkerProgram program{symbols,    ofClusters,
                          sideBySide, rowSplit,
                          stageRows,  op.getLevel() == uprog::Level::Block,
                          {tables}};
    MachineOp machine = *findMachine(op);
    const bool hasRounds = op.walk([](uprog::NextRoundOp) {
                               return WalkResult::interrupt();
                             }).wasInterrupted();
    auto makeLanes = [&](ImplicitLocOpBuilder &b, Value lanes) {
      return LaneCode(b, b.getLoc(), machine, program.getContext(), lanes);
    };
    if (failed(convertProgram(
            op, LLVM::LLVMPointerType::get(&getContext()), makeLanes,
            program.instances,
            [&](const TypeConverter &converter, RewritePatternSet &patterns) {
              addProgramPatterns<WorkerEmitter, uprog::ProgramOp, uprog::RunOp,
                                 uprog::ReduceOp, uprog::CompactOp,
                                 uprog::RefOp, uprog::BarrierOp,
                                 uprog::PlanSizeOp, uprog::PlanStepOp,
                                 uprog::StepKernelOp, uprog::StepTasksOp,
                                 uprog::StepBarrierOp, uprog::UnitsOp>(
                  converter, program, patterns);
            })))
      return failure();
    // Batches check for cancellation. Loops over scalars run no batches, so
    // loops check for it, too.
    if (program.isBlockLevel)
      program.function.walk(
          [&](scf::ForOp loop) { endLoopIfCancelled(loop, program.function); });
    if (program.isBlockLevel && hasRounds)
      guardDivisions(program.function, program.instances.unit);
    if (machine)
      outlineCases(program);
    return success();
  }
};
} // namespace
