//===- UProgToGPU.cpp - Lower programs to one persistent kernel -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../UProgToSCF/ProgramPatterns.h"
#include "Batch/Conversion/UProgToGPU/Passes.h"
#include "Batch/Conversion/UProgToSCF/UProgToSCF.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Batch/Target/GPU/GPUTarget.h"
#include "CheckPrograms.h"
#include "DeviceBarrier.h"
#include "StageWaits.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTUPROGTOGPUPASS
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using mlir::uprog::Level;

/// Address space of plans, steps, rows and parameters: global memory.
static constexpr unsigned kGlobalMemory = 1;
/// Number of threads in a warp, which exchange values without memory.
static constexpr int64_t kWarp = 32;

namespace {
struct LaunchShape {
  Level group; ///< level of the blocks that run a plan together
  int64_t blockSize;
  int64_t clusterSize; ///< 0 if nothing runs on clusters
};

/// Position of a block among the blocks that run something together.
struct BlockGroup {
  Value unit, units;   ///< number in the group, and blocks per group
  Value number, count; ///< number of the group, and groups per launch
};

/// Kernel of the program that is being lowered, and values that its code reads.
struct Kernel {
  gpu::GPUModuleOp device;
  LaunchShape shape;
  const VendorFacts &vendor;
  func::FuncOp barrier;           ///< of all blocks, if they form one group
  MachineOp machine;              ///< for a program that has lanes
  InstanceProgramState instances; ///< for a program that runs single instances
  /// Number of the step at each `uprog.run` and barrier in a plan.
  DenseMap<Operation *, Value> stepNumbers{};
  /// Loops that run tasks of another program, with the level of that program.
  DenseMap<Operation *, Level> taskLoops{};
  /// Returns the level of the blocks that together run an op's task, if any.
  std::optional<Level> findTaskLevel(Operation *op) const {
    while ((op = op->getParentOp()))
      if (auto loop = taskLoops.find(op); loop != taskLoops.end())
        return loop->second;
    return std::nullopt;
  }
  /// Returns the level of the blocks that run an op together.
  Level findLevel(Operation *op) const {
    return findTaskLevel(op).value_or(shape.group);
  }

  /// True if stages wait for the rows that they read. Otherwise, barriers
  /// remain where the program has them. `pending`, an i1 on the stack,
  /// specifies whether the next stage waits.
  bool stagesWait = false;
  Value pending;

  Value context; ///< for a program with lanes or single instances
  Value block, thread;
  Value packings, control, blocks, watchdog;
  Value isFirst;         ///< true for the first thread of the block
  Value ownControl;      ///< BatchBlockControl of the block
  Value progress;        ///< field of `ownControl` that each step changes
  Value planProgress;    ///< bits of this plan in `progress`
  Value steps, numSteps; ///< steps of the plan and their number
  /// Groups by level. There are clusters only if something runs on them.
  std::map<Level, BlockGroup> groups{};

  /// Returns the block's position in the group that runs the host's program.
  const BlockGroup &getGroup() const { return groups.at(shape.group); }
};

/// Emits a kernel in which every unit is a thread block.
class KernelEmitter : OpEmitter {
public:
  KernelEmitter(Operation *op, ConversionPatternRewriter &rewriter,
                Kernel &kernel)
      : OpEmitter(op, rewriter), kernel(kernel) {}

  using Values = SmallVector<Value>;

  Values lower(uprog::ProgramOp program, uprog::ProgramOp::Adaptor);
  Values lower(uprog::RunOp run, uprog::RunOp::Adaptor operands);
  Values lower(uprog::ReduceOp reduce, uprog::ReduceOp::Adaptor operands);
  Values lower(uprog::CompactOp compact, uprog::CompactOp::Adaptor operands);

  Values lower(uprog::BarrierOp barrier, uprog::BarrierOp::Adaptor) {
    if (kernel.stagesWait)
      setPending(true);
    else if (barrier.getLevel() == kernel.findLevel(barrier))
      emitBarrier(barrier);
    else
      gpu::BarrierOp::create(b);
    return {};
  }
  Values lower(uprog::RefOp ref, uprog::RefOp::Adaptor) {
    copyBody(uprog::findCallee(ref), ref.getInputs());
    return {};
  }
  Values lower(uprog::UnitsOp units, uprog::UnitsOp::Adaptor) {
    return {toIndex(kernel.groups.at(kernel.findLevel(units)).units)};
  }
  Values lower(uprog::PlanSizeOp, uprog::PlanSizeOp::Adaptor) {
    return {toIndex(kernel.numSteps)};
  }
  Values lower(uprog::PlanStepOp, uprog::PlanStepOp::Adaptor operands) {
    Value number = toI64(operands.getIndex());
    tell(arith::OrIOp::create(b, kernel.planProgress, number), kernel.progress);
    return {addressOf(kernel.steps, number, kStepCells)};
  }
  Values lower(uprog::StepKernelOp, uprog::StepKernelOp::Adaptor operands) {
    return {toIndex(loadField(operands.getStep(), kStepKernel))};
  }
  Values lower(uprog::StepTasksOp, uprog::StepTasksOp::Adaptor operands) {
    return {toIndex(loadField(operands.getStep(), kStepCount))};
  }
  Values lower(uprog::StepBarrierOp, uprog::StepBarrierOp::Adaptor operands) {
    return {toIndex(loadField(operands.getStep(), kStepBarrier))};
  }

private:
  /// Begins a kernel. Its arguments are the cells of the struct of a launch.
  gpu::GPUFuncOp beginKernel(uprog::ProgramOp program, int64_t cells,
                             ArrayRef<Field> fields);
  void endKernel(uprog::ProgramOp program, gpu::GPUFuncOp function,
                 Field blocksArgument, int64_t sharedBytes);
  void lowerPlans(uprog::ProgramOp program);
  void lowerLanes(uprog::ProgramOp program);
  void lowerInstances(uprog::ProgramOp program);
  Value shuffle(Value value, int64_t offset, gpu::ShuffleMode mode);
  Value findCountCell();
  int64_t loadParameters();
  void findGroups();
  void findProgress();
  void tell(Value value, Value where);
  void reportEnd();
  void emitBarrier(Operation *op);
  void setPending(bool value) {
    LLVM::StoreOp::create(b,
                          arith::ConstantIntOp::create(b, b.getI1Type(), value),
                          kernel.pending);
  }
  SmallVector<Value> getWaitArguments(Operation *run);
  SmallVector<Value> getBarrierArguments(Operation *op);
  void runProgram(uprog::RunOp run, Value tasks);
  void copyBody(uprog::ProgramOp program, ValueRange arguments);

  Type ptrType() {
    return LLVM::LLVMPointerType::get(b.getContext(), kGlobalMemory);
  }
  Value loadField(Value base, Field field) {
    Value at = LLVM::GEPOp::create(
        b, ptrType(), b.getI64Type(), base,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(field.cell())});
    return LLVM::LoadOp::create(b, field.isPointer ? ptrType() : b.getI64Type(),
                                at, kCellBytes);
  }
  Value bytesAt(Value base, LLVM::GEPArg offset) {
    return LLVM::GEPOp::create(b, ptrType(), b.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{offset});
  }
  /// Returns the address of struct `index` in an array of structs.
  Value addressOf(Value array, Value index, int64_t structCells) {
    Value cell = arith::MulIOp::create(b, index, constant(structCells));
    return LLVM::GEPOp::create(b, ptrType(), b.getI64Type(), array,
                               ArrayRef<LLVM::GEPArg>{cell});
  }

  Kernel &kernel;
};

} // namespace

void KernelEmitter::findGroups() {
  auto x = gpu::Dimension::x;
  Value block = kernel.block = toI64(gpu::BlockIdOp::create(b, x));
  Value zero = constant(0), one = constant(1);
  kernel.groups[Level::Block] = {zero, one, block, kernel.blocks};
  kernel.groups[Level::Device] = {block, kernel.blocks, zero, one};
  if (kernel.shape.clusterSize > 0)
    kernel.groups[Level::Cluster] = {
        toI64(gpu::ClusterBlockIdOp::create(b, x)),
        toI64(gpu::ClusterDimBlocksOp::create(b, x)),
        toI64(gpu::ClusterIdOp::create(b, x)),
        toI64(gpu::ClusterDimOp::create(b, x))};
}

/// Finds the thread's number, and the address of the block's progress.
void KernelEmitter::findProgress() {
  kernel.thread = toI64(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  kernel.isFirst =
      compare(arith::CmpIPredicate::eq, kernel.thread, constant(0));
  Value distance =
      arith::MulIOp::create(b, kernel.block, constant(kBlockControlBytes));
  kernel.ownControl =
      bytesAt(bytesAt(kernel.control, kControlOfBlocks), distance);
  kernel.progress = bytesAt(kernel.ownControl, kBlockControlProgress.offset);
}

/// Reports that the block has run its share of a plan: if the plan has steps,
/// stores the last step as the block's progress.
void KernelEmitter::reportEnd() {
  auto choice = scf::IfOp::create(
      b, compare(arith::CmpIPredicate::sgt, kernel.numSteps, constant(0)),
      /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(choice.thenBlock()->getTerminator());
  Value last = arith::SubIOp::create(b, kernel.numSteps, constant(1));
  tell(arith::OrIOp::create(b, kernel.planProgress, last), kernel.progress);
}

/// Makes the first thread store a word for the host, without waiting for it.
void KernelEmitter::tell(Value value, Value where) {
  auto choice = scf::IfOp::create(b, kernel.isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(choice.thenBlock()->getTerminator());
  LLVM::StoreOp::create(
      b, value, where, value.getType().getIntOrFloatBitWidth() / 8,
      /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariantGroup=*/false,
      LLVM::AtomicOrdering::monotonic, kernel.vendor.deviceScope);
}

/// Returns the threads that run the code of a block.
static UnitThreads getThreads(const Kernel &kernel) {
  UnitThreads block;
  block.threads = kernel.shape.blockSize;
  block.thread = kernel.thread;
  block.progress = kernel.progress;
  block.blockScope = kernel.vendor.blockScope;
  block.deviceScope = kernel.vendor.deviceScope;
  block.stackSpace = kernel.vendor.stackSpace;
  return block;
}

/// Returns the step number of the nearest uprog.plan_step before an op of a
/// plan's program, or null if there is none.
static Value findStepNumber(Operation *op) {
  for (; !isa<uprog::ProgramOp>(op); op = op->getParentOp())
    for (Operation &at :
         llvm::make_range(op->getReverseIterator(), op->getBlock()->rend()))
      if (auto step = dyn_cast<uprog::PlanStepOp>(at))
        return step.getIndex();
  return {};
}

/// Returns the additional arguments for the function of a stage that waits: a
/// flag and, if needed, the arguments of a barrier of all blocks.
SmallVector<Value> KernelEmitter::getWaitArguments(Operation *run) {
  SmallVector<Value> arguments = {
      LLVM::LoadOp::create(b, b.getI1Type(), kernel.pending)};
  if (kernel.shape.group == Level::Device)
    llvm::append_range(arguments, getBarrierArguments(run));
  return arguments;
}

SmallVector<Value> KernelEmitter::getBarrierArguments(Operation *op) {
  Type i32 = b.getI32Type();
  Value count = arith::TruncIOp::create(b, i32, kernel.blocks);
  Value number = kernel.stepNumbers.lookup(op);
  if (number)
    number = rewriter.getRemappedValue(number);
  Value step = number ? arith::IndexCastOp::create(b, i32, number).getResult()
                      : arith::ConstantIntOp::create(b, i32, 0).getResult();
  if (kernel.instances.unit.state)
    step = arith::TruncIOp::create(
        b, i32, InstanceCode(b, op, kernel.instances.unit).lastKernel());
  return {kernel.control, count, step, kernel.watchdog};
}

/// Emits a barrier of all blocks that run an op of the program together.
void KernelEmitter::emitBarrier(Operation *op) {
  switch (kernel.findLevel(op)) {
  case Level::Device:
    func::CallOp::create(b, kernel.barrier, getBarrierArguments(op));
    return;
  case Level::Cluster:
    if (kernel.instances.unit.state)
      InstanceCode(b, op, kernel.instances.getUnit(op)).countClusterBarrier();
    uprog::emitClusterBarrier(b);
    return;
  case Level::Block:
    gpu::BarrierOp::create(b);
  }
}

/// Copies the code of a program to the location where it runs.
void KernelEmitter::copyBody(uprog::ProgramOp program, ValueRange arguments) {
  Block &body = program.getBody().front();
  IRMapping copies;
  copies.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator())
    b.clone(op, copies);
  kernel.instances.tables.addCopies(copies);
}

/// Runs the tasks of a program. If the current group contains n groups of the
/// program's level, each of them runs every nth task.
void KernelEmitter::runProgram(uprog::RunOp run, Value tasks) {
  const Level level = run.getProgram().getLevel();
  const bool inCluster = kernel.findLevel(run) == Level::Cluster;
  const BlockGroup &group =
      kernel.groups.at(inCluster ? Level::Cluster : level);
  auto loop =
      scf::ForOp::create(b, inCluster ? group.unit : group.number, toI64(tasks),
                         inCluster ? group.units : group.count);
  kernel.taskLoops[loop] = level;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop.getBody()->getTerminator());
  SmallVector<Value> arguments = {toIndex(loop.getInductionVar())};
  llvm::append_range(arguments, run.getInputs());
  copyBody(run.getProgram(), arguments);
}

SmallVector<Value> KernelEmitter::lower(uprog::RunOp run,
                                        uprog::RunOp::Adaptor operands) {
  if (!run.getStep()) {
    runProgram(run, operands.getTasks());
    return {};
  }
  OpBuilder::InsertionGuard guard(b);
  const BlockGroup *group = &kernel.groups.at(kernel.findLevel(run));
  if (run.getLevel()) {
    auto first = scf::IfOp::create(
        b, compare(arith::CmpIPredicate::eq, group->unit, constant(0)),
        /*withElseRegion=*/false);
    b.setInsertionPoint(first.thenBlock()->getTerminator());
    group = &kernel.groups.at(Level::Block);
  }
  for (int64_t s = 0, e = uprog::getCode(run).getStages(); s < e; ++s) {
    if (s > 0 && kernel.stagesWait)
      setPending(true);
    else if (s > 0 && run.getLevel())
      gpu::BarrierOp::create(b);
    else if (s > 0)
      emitBarrier(run);
    std::string name = getStageName(run.getCallee(), s);
    SmallVector<Value> arguments = {operands.getStep(), kernel.packings,
                                    group->unit, group->units};
    SmallVector<Value> waits;
    if (kernel.stagesWait)
      waits = getWaitArguments(run);
    // A stage that checks indices takes the address of a BatchIndexError.
    auto stage = kernel.device.lookupSymbol<func::FuncOp>(name);
    if (stage.getNumArguments() > arguments.size() + waits.size())
      arguments.push_back(LLVM::GEPOp::create(
          b, kernel.control.getType(), b.getI8Type(), kernel.control,
          ArrayRef<LLVM::GEPArg>{int32_t(kControlIndexError)}));
    llvm::append_range(arguments, waits);
    func::CallOp::create(b, name, TypeRange(), arguments);
    if (kernel.stagesWait)
      setPending(false);
  }
  // Wait, because lanes read values that other threads compute.
  if (kernel.machine)
    emitBarrier(run);
  return {};
}

/// Reads the value of another thread of the warp, 32 bits at a time.
Value KernelEmitter::shuffle(Value value, int64_t offset,
                             gpu::ShuffleMode mode) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  if (value.getType() == i64) {
    auto shuffleHalf = [&](Value half) -> Value {
      Value bits = arith::TruncIOp::create(b, i32, half);
      return arith::ExtUIOp::create(b, i64, shuffle(bits, offset, mode));
    };
    Value high = arith::ShRUIOp::create(b, value, constant(32));
    Value low = shuffleHalf(value);
    high = arith::ShLIOp::create(b, shuffleHalf(high), constant(32));
    return arith::OrIOp::create(b, high, low);
  }
  return gpu::ShuffleOp::create(
             b, value, arith::ConstantIntOp::create(b, i32, offset),
             arith::ConstantIntOp::create(b, i32, kWarp), mode)
      .getShuffleResult();
}

/// Emits a reduction, which divides the numbers among the threads of a warp.
SmallVector<Value> KernelEmitter::lower(uprog::ReduceOp reduce,
                                        uprog::ReduceOp::Adaptor operands) {
  Value self = toI64(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value first = arith::AndIOp::create(b, self, constant(kWarp - 1));
  Values found =
      makeLeastLoop(reduce, operands.getUpper(), first, kWarp, rewriter);
  size_t count = reduce.getKeys().size();
  for (size_t i = 0; i < count; ++i) {
    Value &key = found[i], &number = found[count + i];
    for (int64_t distance = 1; distance < kWarp; distance *= 2) {
      Value otherKey = shuffle(key, distance, gpu::ShuffleMode::XOR);
      Value otherNumber = shuffle(number, distance, gpu::ShuffleMode::XOR);
      Value less = compare(arith::CmpIPredicate::slt, otherKey, key);
      Value same = compare(arith::CmpIPredicate::eq, otherKey, key);
      Value before = compare(arith::CmpIPredicate::slt, otherNumber, number);
      before = arith::AndIOp::create(b, same, before);
      Value better = arith::OrIOp::create(b, less, before);
      key = arith::SelectOp::create(b, better, otherKey, key);
      number = arith::SelectOp::create(b, better, otherNumber, number);
    }
  }
  return toResults(found);
}

/// Returns the address of the i64 through which threads share a length.
Value KernelEmitter::findCountCell() {
  constexpr StringLiteral name = "compact.count";
  if (!kernel.device.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(kernel.device.getBody());
    LLVM::GlobalOp::create(b, b.getI64Type(), /*isConstant=*/false,
                           LLVM::Linkage::Internal, name, Attribute(),
                           kListBytes, kSharedMemory);
  }
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kSharedMemory), name);
}

/// Emits a loop in which the first warp tests one number per thread. A prefix
/// sum gives each thread the count of listed numbers before its own.
SmallVector<Value> KernelEmitter::lower(uprog::CompactOp compact,
                                        uprog::CompactOp::Adaptor operands) {
  Type i1 = b.getI1Type(), i32 = b.getI32Type(), i64 = b.getI64Type();
  ContextBuilder cb(b, b.getLoc(), kernel.context);
  Value list = operands.getList(), upper = toI64(operands.getUpper());
  Value self = toI64(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value cell = findCountCell();
  gpu::BarrierOp::create(b);
  auto first = scf::IfOp::create(
      b, compare(arith::CmpIPredicate::slt, self, constant(kWarp)),
      /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(first.thenBlock()->getTerminator());
    auto loop = scf::ForOp::create(b, constant(0), upper, constant(kWarp),
                                   ValueRange{constant(0)});
    auto ifFirst = scf::IfOp::create(
        b, compare(arith::CmpIPredicate::eq, self, constant(0)),
        /*withElseRegion=*/false);
    b.setInsertionPoint(ifFirst.thenBlock()->getTerminator());
    LLVM::StoreOp::create(b, loop.getResult(0), cell);
    b.setInsertionPointToStart(loop.getBody());
    Value number = arith::AddIOp::create(b, loop.getInductionVar(), self);
    Value count = loop.getRegionIterArg(0);
    auto asked =
        scf::IfOp::create(b, TypeRange{i1, i64},
                          compare(arith::CmpIPredicate::slt, number, upper),
                          /*withElseRegion=*/true);
    b.setInsertionPointToStart(asked.elseBlock());
    scf::YieldOp::create(
        b, ValueRange{arith::ConstantIntOp::create(b, i1, 0), number});
    b.setInsertionPointToStart(asked.thenBlock());
    auto [decision, value] = inlinePredicate(compact, number);
    scf::YieldOp::create(b, ValueRange{decision, value});
    b.setInsertionPointToEnd(loop.getBody());
    Value holds = asked.getResult(0);
    Value one = arith::ExtUIOp::create(b, i32, holds), sum = one;
    Value none = arith::ConstantIntOp::create(b, i32, 0);
    for (int64_t distance = 1; distance < kWarp; distance *= 2) {
      Value before = shuffle(sum, distance, gpu::ShuffleMode::UP);
      Value isThere =
          compare(arith::CmpIPredicate::sge, self, constant(distance));
      before = arith::SelectOp::create(b, isThere, before, none);
      sum = arith::AddIOp::create(b, sum, before);
    }
    auto listed = scf::IfOp::create(b, holds, /*withElseRegion=*/false);
    Value all = arith::ExtUIOp::create(
        b, i64, shuffle(sum, kWarp - 1, gpu::ShuffleMode::IDX));
    scf::YieldOp::create(b, ValueRange{arith::AddIOp::create(b, count, all)});
    b.setInsertionPoint(listed.thenBlock()->getTerminator());
    Value before =
        arith::ExtUIOp::create(b, i64, arith::SubIOp::create(b, sum, one));
    Value place = arith::AddIOp::create(b, count, before);
    LLVM::StoreOp::create(b,
                          arith::TruncIOp::create(b, i32, asked.getResult(1)),
                          cb.address(list, place, i32));
  }
  gpu::BarrierOp::create(b);
  return {toIndex(LLVM::LoadOp::create(b, i64, cell))};
}

/// Calls the function that loads parameters into the block's shared memory, if
/// it exists. Returns the bytes of shared memory that a launch adds.
int64_t KernelEmitter::loadParameters() {
  if (auto function =
          kernel.device.lookupSymbol<func::FuncOp>(kLoadParameters)) {
    auto level = function->getAttrOfType<StringAttr>(uprog::kLevelAttr);
    const BlockGroup &group = kernel.groups.at(
        level ? *uprog::symbolizeLevel(level) : kernel.shape.group);
    func::CallOp::create(b, function,
                         ValueRange{kernel.packings, group.unit, group.units});
  }
  auto bytes = kernel.device->getAttrOfType<IntegerAttr>(kAddedBytesAttr);
  return bytes ? bytes.getInt() : 0;
}

/// Ends the kernel, and creates the host function that launches it.
void KernelEmitter::endKernel(uprog::ProgramOp program, gpu::GPUFuncOp function,
                              Field blocksArgument, int64_t sharedBytes) {
  const LaunchShape &shape = kernel.shape;
  // Wait, because no thread may hang after the first has reported the end.
  gpu::BarrierOp::create(b);
  Value ended = bytesAt(kernel.ownControl, kBlockControlEnded);
  tell(arith::ConstantIntOp::create(b, b.getI32Type(), 1), ended);
  gpu::ReturnOp::create(b);
  b.setInsertionPoint(program);
  auto host =
      func::FuncOp::create(b, program.getSymName(),
                           b.getFunctionType(function.getArgumentTypes(), {}));
  NamedAttrList launch;
  launch.set("kernel", b.getStringAttr(function.getName()));
  launch.set("executor", b.getStringAttr(stringifyLevel(shape.group)));
  launch.set("block_size", b.getI64IntegerAttr(shape.blockSize));
  launch.set("cluster_size",
             b.getI64IntegerAttr(std::max<int64_t>(shape.clusterSize, 1)));
  launch.set("shared_bytes", b.getI64IntegerAttr(sharedBytes));
  host->setAttr(kLaunchAttr, launch.getDictionary(b.getContext()));
  b.setInsertionPointToStart(host.addEntryBlock());
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value threads = arith::ConstantIndexOp::create(b, shape.blockSize);
  Value grid = toIndex(host.getArgument(blocksArgument.cell()));
  std::optional<gpu::KernelDim3> cluster;
  if (shape.clusterSize > 0)
    cluster = gpu::KernelDim3{
        arith::ConstantIndexOp::create(b, shape.clusterSize), one, one};
  Value shared;
  if (sharedBytes > 0)
    shared = arith::ConstantOp::create(b, b.getI32IntegerAttr(sharedBytes));
  gpu::LaunchFuncOp::create(b, function, gpu::KernelDim3{grid, one, one},
                            gpu::KernelDim3{threads, one, one}, shared,
                            host.getArguments(), Type(), ValueRange(), cluster);
  func::ReturnOp::create(b);
}

gpu::GPUFuncOp KernelEmitter::beginKernel(uprog::ProgramOp program,
                                          int64_t cells,
                                          ArrayRef<Field> fields) {
  const LaunchShape &shape = kernel.shape;
  SmallVector<Type> types(cells, b.getI64Type());
  for (Field field : fields)
    if (field.isPointer)
      types[field.cell()] = ptrType();
  b.setInsertionPointToEnd(kernel.device.getBody());
  // Kernel names cannot contain dots.
  std::string name = program.getSymName().str();
  llvm::replace(name, '.', '_');
  auto function = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  function.setKnownBlockSize(
      SmallVector<int32_t>{static_cast<int32_t>(shape.blockSize), 1, 1});
  if (shape.clusterSize > 0)
    function.setKnownClusterSize(
        SmallVector<int32_t>{static_cast<int32_t>(shape.clusterSize), 1, 1});
  b.setInsertionPointToStart(&function.getBody().front());
  return function;
}

/// Lowers a program for plans: every group runs one plan after another.
void KernelEmitter::lowerPlans(uprog::ProgramOp program) {
  constexpr Field launch[] = {kPlansLaunchPlans,    kPlansLaunchNumPlans,
                              kPlansLaunchPackings, kPlansLaunchControl,
                              kPlansLaunchBlocks,   kPlansLaunchWatchdog};
  gpu::GPUFuncOp function =
      beginKernel(program, countCells<BatchPlansLaunch>(), launch);
  auto argument = [&](Field field) -> Value {
    return function.getArgument(field.cell());
  };
  Value plans = argument(kPlansLaunchPlans);
  Value numPlans = argument(kPlansLaunchNumPlans);
  kernel.packings = argument(kPlansLaunchPackings);
  kernel.control = argument(kPlansLaunchControl);
  kernel.blocks = argument(kPlansLaunchBlocks);
  kernel.watchdog = argument(kPlansLaunchWatchdog);
  findGroups();
  findProgress();
  if (kernel.stagesWait) {
    kernel.pending = LLVM::AllocaOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), kernel.vendor.stackSpace),
        b.getI1Type(), arith::ConstantIntOp::create(b, b.getI32Type(), 1));
    setPending(false);
  }
  int64_t sharedBytes = loadParameters();
  const BlockGroup &group = kernel.getGroup();
  auto loop = scf::ForOp::create(b, group.number, numPlans, group.count);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value number =
        arith::AddIOp::create(b, loop.getInductionVar(), constant(1));
    kernel.planProgress =
        arith::ShLIOp::create(b, number, constant(kProgressShift));
    Value plan = addressOf(plans, loop.getInductionVar(), kPlanCells);
    kernel.steps = loadField(plan, kPlanSteps);
    kernel.numSteps = loadField(plan, kPlanNumSteps);
    // This block might not reach the last step if other blocks run tasks.
    WalkResult tasks = program.walk([](uprog::RunOp run) {
      return run.getStep() ? WalkResult::advance() : WalkResult::interrupt();
    });
    inlineBody(program, plan, /*lanes=*/Value());
    if (tasks.wasInterrupted())
      reportEnd();
  }
  endKernel(program, function, kPlansLaunchBlocks, sharedBytes);
}

/// Lowers a program for lanes: every block runs it on its own lanes.
void KernelEmitter::lowerLanes(uprog::ProgramOp program) {
  constexpr Field launch[] = {kLanesLaunchContext, kLanesLaunchControl,
                              kLanesLaunchBlocks};
  gpu::GPUFuncOp function =
      beginKernel(program, countCells<BatchLanesLaunch>(), launch);
  kernel.context = function.getArgument(kLanesLaunchContext.cell());
  kernel.control = function.getArgument(kLanesLaunchControl.cell());
  kernel.blocks = function.getArgument(kLanesLaunchBlocks.cell());
  findGroups();
  findProgress();
  ContextBuilder cb(b, b.getLoc(), kernel.context);
  kernel.packings = cb.loadField(ContextField::packings);
  Value lanes = loadLanes(kernel.context, kernel.getGroup().number);
  int64_t sharedBytes = loadParameters();
  inlineBody(program, /*plan=*/Value(), lanes);
  endKernel(program, function, kLanesLaunchBlocks, sharedBytes);
}

/// Lowers a program for single instances: all blocks run it together.
void KernelEmitter::lowerInstances(uprog::ProgramOp program) {
  constexpr Field launch[] = {kInstancesLaunchContext, kInstancesLaunchControl,
                              kInstancesLaunchBlocks, kInstancesLaunchWatchdog};
  gpu::GPUFuncOp function =
      beginKernel(program, countCells<BatchInstancesLaunch>(), launch);
  auto argument = [&](Field field) -> Value {
    return function.getArgument(field.cell());
  };
  kernel.context = argument(kInstancesLaunchContext);
  kernel.control = argument(kInstancesLaunchControl);
  kernel.blocks = argument(kInstancesLaunchBlocks);
  kernel.watchdog = argument(kInstancesLaunchWatchdog);
  findGroups();
  findProgress();
  kernel.packings = ContextBuilder(b, b.getLoc(), kernel.context)
                        .loadField(ContextField::packings);
  InstanceProgramState &instances = kernel.instances;
  const BlockGroup &group = kernel.getGroup();
  InstanceUnit unit =
      makeInstanceUnit(b, b.getLoc(), kernel.context, group.unit, group.units,
                       getThreads(kernel));
  InstanceUnit own = makeSingleUnit(b, b.getLoc(), unit), ofCluster;
  if (kernel.shape.clusterSize > 0) {
    const BlockGroup &cluster = kernel.groups.at(Level::Cluster);
    ofCluster =
        makeClusterUnit(b, b.getLoc(), unit, cluster.unit, cluster.units);
  }
  int64_t sharedBytes = loadParameters();
  for (const InstanceUnit &buffers : {unit, own})
    InstanceCode(b, program, buffers).clearBuffers(instances.tables);
  emitBarrier(program);
  instances.unit = unit;
  instances.getUnitOfTask = [own, ofCluster, &kernel = kernel](Operation *op) {
    std::optional<Level> level = kernel.findTaskLevel(op);
    return !level ? nullptr : *level == Level::Block ? &own : &ofCluster;
  };
  inlineBody(program, /*plan=*/Value(), /*lanes=*/Value());
  InstanceCode(b, program, unit).storeCounts();
  endKernel(program, function, kInstancesLaunchBlocks, sharedBytes);
}

SmallVector<Value> KernelEmitter::lower(uprog::ProgramOp program,
                                        uprog::ProgramOp::Adaptor) {
  if (runsInstances(program))
    lowerInstances(program);
  else if (kernel.machine)
    lowerLanes(program);
  else
    lowerPlans(program);
  return {};
}

namespace {
class ConvertUProgToGPUPass
    : public batch::impl::ConvertUProgToGPUPassBase<ConvertUProgToGPUPass> {
  using ConvertUProgToGPUPassBase::ConvertUProgToGPUPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<uprog::ProgramOp> programs(module.getOps<uprog::ProgramOp>());
    auto device = SymbolTable(module).lookup<gpu::GPUModuleOp>(kDeviceModule);
    if (programs.empty() && device)
      device.erase(); // instances run on the host, one at a time
    if (programs.empty())
      return;
    if (!device) {
      if (module.getOps<uprog::OperatorOp>().empty())
        programs[0].emitError("this program runs no operators, so a device has "
                              "nothing to do; compile it for the CPU");
      else
        programs[0].emitError("missing gpu.module @")
            << kDeviceModule << "; run convert-operators-to-gpu first";
      return signalPassFailure();
    }
    for (uprog::ProgramOp program : programs)
      if (failed(uprog::checkKernelProgram(program, device)))
        return signalPassFailure();
    const VendorFacts &vendor = *getChipFacts(chip).vendor;
    InstanceTables tables(module, /*onDevice=*/true);
    tables.save(module);
    func::FuncOp barrier;
    const bool usesClusters = llvm::any_of(programs, [](uprog::ProgramOp op) {
      return op.getLevel() == Level::Cluster;
    });
    auto clusterSize =
        module->getAttrOfType<IntegerAttr>(uprog::kClusterSizeAttr);
    if (usesClusters && !clusterSize) {
      module.emitError("cluster-level programs require attribute ")
          << uprog::kClusterSizeAttr << "; run batch-choose-executor first";
      return signalPassFailure();
    }
    if (failed(uprog::checkFillLevels(device, usesClusters)))
      return signalPassFailure();
    auto others = llvm::partition(programs, [](uprog::ProgramOp program) {
      return !isRunByPrograms(program);
    });
    SmallVector<uprog::ProgramOp> run(others, programs.end());
    programs.erase(others, programs.end());
    bool stagesWait = uprog::canStagesWait(programs, device);
    for (uprog::ProgramOp program : programs) {
      Level group = program.getLevel();
      if (group == Level::Device && !barrier)
        barrier = uprog::addDeviceBarrier(device, vendor);
      LaunchShape shape{group, blockSize,
                        usesClusters ? clusterSize.getInt() : 0};
      Kernel kernel{device,  shape, vendor, barrier, *findMachine(program),
                    {tables}};
      kernel.stagesWait = stagesWait;
      if (failed(lower(program, kernel)))
        return signalPassFailure();
    }
    module->removeAttr(uprog::kClusterSizeAttr); // launches specify the size
    for (uprog::ProgramOp program : run)
      program.erase();
    device.walk([](uprog::AwaitRowsOp op) { op.erase(); });
    for (Operation &op :
         llvm::make_early_inc_range(module.getBody()->getOperations()))
      if (isa<uprog::BufferOp, uprog::NodeRowsOp, uprog::NodeResultsOp>(op))
        op.erase();
    // One block per multiprocessor is enough and may use all registers.
    if (vendor.vendor == GPUVendor::NVIDIA)
      for (auto kernel : device.getOps<gpu::GPUFuncOp>())
        kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        OpBuilder(kernel).getI32IntegerAttr(1));
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(module.getContext()));
  }

  LogicalResult lower(uprog::ProgramOp program, Kernel &kernel);
};
} // namespace

LogicalResult ConvertUProgToGPUPass::lower(uprog::ProgramOp program,
                                           Kernel &kernel) {
  program.walk([&](Operation *op) {
    if (isa<uprog::RunOp, uprog::BarrierOp>(op))
      kernel.stepNumbers[op] = findStepNumber(op);
  });
  if (kernel.stagesWait)
    uprog::makeStagesWait(program, kernel.device, kernel.barrier);
  auto makeLanes = [&](ImplicitLocOpBuilder &b, Value lanes) {
    return LaneCode(b, b.getLoc(), kernel.machine, kernel.context, lanes,
                    getThreads(kernel));
  };
  return convertProgram(
      program, LLVM::LLVMPointerType::get(&getContext(), kGlobalMemory),
      makeLanes, kernel.instances,
      [&](const TypeConverter &converter, RewritePatternSet &patterns) {
        addProgramPatterns<KernelEmitter, uprog::ProgramOp, uprog::RunOp,
                           uprog::ReduceOp, uprog::CompactOp, uprog::RefOp,
                           uprog::BarrierOp, uprog::UnitsOp, uprog::PlanSizeOp,
                           uprog::PlanStepOp, uprog::StepKernelOp,
                           uprog::StepTasksOp, uprog::StepBarrierOp>(
            converter, kernel, patterns);
      });
}
