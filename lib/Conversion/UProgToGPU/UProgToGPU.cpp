//===- UProgToGPU.cpp - Lower programs to one persistent kernel -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ProgramCode/ProgramCode.h"
#include "Batch/Conversion/UProgToGPU/Passes.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Batch/Target/GPU/GPUTarget.h"
#include "DeviceBarrier.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTUPROGTOGPUPASS
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;
using mlir::uprog::Level;

/// Plans, steps, rows and weights lie in global memory.
static constexpr unsigned kGlobalMemory = 1;
/// What the threads of a block have together.
static constexpr unsigned kSharedMemory = 3;
/// Threads that exchange values without memory.
static constexpr int64_t kWarp = 32;

namespace {

struct LaunchShape {
  Level group; ///< the blocks that run a plan together
  int64_t blockSize, clusterSize;
};

/// Lowers one program: every unit is a thread block.
class KernelBuilder : ProgramCode {
public:
  KernelBuilder(ModuleOp module, gpu::GPUModuleOp device,
                const LaunchShape &shape, func::FuncOp barrier,
                const VendorFacts &vendor)
      : ProgramCode(module), operators(module), functions(device),
        device(device), shape(shape), barrier(barrier), vendor(vendor) {}

  LogicalResult lower(uprog::ProgramOp program);

private:
  /// Arguments are the cells of the struct that a launch passes.
  gpu::GPUFuncOp beginKernel(uprog::ProgramOp program, int64_t cells,
                             ArrayRef<Field> fields);
  void endKernel(uprog::ProgramOp program, gpu::GPUFuncOp kernel,
                 Field blocksArgument);
  LogicalResult lowerPlans(uprog::ProgramOp program);
  LogicalResult lowerLanes(uprog::ProgramOp program);
  LogicalResult lowerOp(Operation *op) override;
  LogicalResult lowerReduce(uprog::ReduceOp reduce) override;
  LogicalResult lowerCompact(uprog::CompactOp compact) override;
  LaneCode laneCode() override;
  LogicalResult lowerRun(uprog::RunOp run);
  LogicalResult lowerBarrier(uprog::BarrierOp op);
  Value shuffle(Value value, int64_t offset, gpu::ShuffleMode mode);
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(b, predicate, left, right);
  }
  Value findCountCell();
  void loadWeights();
  void findGroup();
  void meet();

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
  /// Element `index` of an array of structs, each of so many cells.
  Value addressOf(Value array, Value index, int64_t structCells) {
    Value cell = arith::MulIOp::create(b, index, constant(structCells));
    return LLVM::GEPOp::create(b, ptrType(), b.getI64Type(), array,
                               ArrayRef<LLVM::GEPArg>{cell});
  }

  SymbolTable operators, functions;
  gpu::GPUModuleOp device;
  LaunchShape shape;
  func::FuncOp barrier;
  const VendorFacts &vendor;
  Value thread; ///< the number of this one in its block, in a program of lanes
  Value plans, numPlans, forms, control, blocks, watchdog;
  /// This block's number in its group, blocks of a group; this group's number,
  /// groups of the launch.
  Value unit, units, group, groups;
  Value steps, numSteps, stepNumber;
  int64_t sharedBytes = 0; ///< that a launch adds
};

} // namespace

void KernelBuilder::findGroup() {
  auto x = gpu::Dimension::x;
  Value block = toI64(gpu::BlockIdOp::create(b, x));
  switch (shape.group) {
  case Level::Device:
    unit = block;
    units = blocks;
    group = constant(0);
    groups = constant(1);
    return;
  case Level::Cluster:
    unit = toI64(gpu::ClusterBlockIdOp::create(b, x));
    units = toI64(gpu::ClusterDimBlocksOp::create(b, x));
    group = toI64(gpu::ClusterIdOp::create(b, x));
    groups = toI64(gpu::ClusterDimOp::create(b, x));
    return;
  case Level::Block:
    unit = constant(0);
    units = constant(1);
    group = block;
    groups = blocks;
  }
}

/// All blocks of a group meet.
void KernelBuilder::meet() {
  switch (shape.group) {
  case Level::Device: {
    Type i32 = b.getI32Type();
    Value count = arith::TruncIOp::create(b, i32, units);
    Value step = arith::IndexCastOp::create(b, i32, stepNumber);
    func::CallOp::create(b, barrier,
                         ValueRange{control, count, step, watchdog});
    return;
  }
  case Level::Cluster:
    NVVM::ClusterArriveOp::create(b, /*aligned=*/b.getUnitAttr());
    NVVM::ClusterWaitOp::create(b, /*aligned=*/b.getUnitAttr());
    return;
  case Level::Block:
    gpu::BarrierOp::create(b);
  }
}

LogicalResult KernelBuilder::lowerRun(uprog::RunOp run) {
  auto op = operators.lookup<uprog::OperatorOp>(run.getCallee());
  auto code = op ? op->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr)
                 : uprog::CodeAttr();
  if (!code)
    return run.emitError("operator @")
           << run.getCallee()
           << " has no functions for thread blocks yet; run "
              "convert-operators-to-gpu first";
  Value step = mapping.lookup(run.getStep());
  for (int64_t s = 0; s < code.getStages(); ++s) {
    if (s > 0)
      meet();
    std::string name = getStageName(run.getCallee(), s);
    auto function = functions.lookup<func::FuncOp>(name);
    if (!function)
      return run.emitError("gpu.module @")
             << device.getSymName() << " has no function @" << name;
    func::CallOp::create(b, function, ValueRange{step, forms, unit, units});
  }
  // Lanes go on with what other threads computed.
  if (machine)
    meet();
  return success();
}

/// What another thread of the warp has, 32 bits at once.
Value KernelBuilder::shuffle(Value value, int64_t offset,
                             gpu::ShuffleMode mode) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  if (value.getType() == i64) {
    auto part = [&](Value half) -> Value {
      Value bits = arith::TruncIOp::create(b, i32, half);
      return arith::ExtUIOp::create(b, i64, shuffle(bits, offset, mode));
    };
    Value high = arith::ShRUIOp::create(b, value, constant(32));
    Value low = part(value);
    high = arith::ShLIOp::create(b, part(high), constant(32));
    return arith::OrIOp::create(b, high, low);
  }
  return gpu::ShuffleOp::create(
             b, value, arith::ConstantIntOp::create(b, i32, offset),
             arith::ConstantIntOp::create(b, i32, kWarp), mode)
      .getShuffleResult();
}

/// The threads of every warp share out the numbers, then what they found.
LogicalResult KernelBuilder::lowerReduce(uprog::ReduceOp reduce) {
  Value self = toI64(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  Value first = arith::AndIOp::create(b, self, constant(kWarp - 1));
  FailureOr<SmallVector<Value>> found = findLeast(reduce, first, kWarp);
  if (failed(found))
    return failure();
  size_t count = reduce.getKeys().size();
  for (size_t i = 0; i < count; ++i) {
    Value &key = (*found)[i], &number = (*found)[count + i];
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
  mapLeast(reduce, *found);
  return success();
}

/// One i64 of shared memory by which a thread tells the others how long a list
/// is.
Value KernelBuilder::findCountCell() {
  constexpr StringLiteral name = "compact.count";
  if (!device.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(device.getBody());
    LLVM::GlobalOp::create(b, b.getI64Type(), /*isConstant=*/false,
                           LLVM::Linkage::Internal, name, Attribute(),
                           kListBytes, kSharedMemory);
  }
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kSharedMemory), name);
}

/// The first warp asks: each thread for one number, and it learns from the
/// others how many of those before it are on the list.
LogicalResult KernelBuilder::lowerCompact(uprog::CompactOp compact) {
  Type i1 = b.getI1Type(), i32 = b.getI32Type(), i64 = b.getI64Type();
  ContextBuilder cb(b, b.getLoc(), context);
  Value list = mapping.lookup(compact.getList());
  Value upper = toI64(mapping.lookup(compact.getUpper()));
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
    auto tells = scf::IfOp::create(
        b, compare(arith::CmpIPredicate::eq, self, constant(0)),
        /*withElseRegion=*/false);
    b.setInsertionPoint(tells.thenBlock()->getTerminator());
    LLVM::StoreOp::create(b, loop.getResult(0), cell);
    b.setInsertionPointToStart(loop.getBody());
    Value number = arith::AddIOp::create(b, loop.getInductionVar(), self);
    Value count = loop.getRegionIterArg(0);
    auto asked = scf::IfOp::create(
        b, i1, compare(arith::CmpIPredicate::slt, number, upper),
        /*withElseRegion=*/true);
    b.setInsertionPointToStart(asked.elseBlock());
    scf::YieldOp::create(b, ValueRange{arith::ConstantIntOp::create(b, i1, 0)});
    b.setInsertionPointToStart(asked.thenBlock());
    FailureOr<Value> answer = lowerPredicate(compact, number);
    if (failed(answer))
      return failure();
    scf::YieldOp::create(b, *answer);
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
    LLVM::StoreOp::create(b, arith::TruncIOp::create(b, i32, number),
                          cb.address(list, place, i32));
  }
  gpu::BarrierOp::create(b);
  mapping.map(compact.getCount(), toIndex(LLVM::LoadOp::create(b, i64, cell)));
  return success();
}

LaneCode KernelBuilder::laneCode() {
  LaneUnit block;
  block.threads = shape.blockSize;
  block.thread = thread;
  block.blockScope = vendor.blockScope;
  block.deviceScope = vendor.deviceScope;
  return LaneCode(b, b.getLoc(), machine, context, lanes, block);
}

LogicalResult KernelBuilder::lowerBarrier(uprog::BarrierOp op) {
  if (op.getLevel() == shape.group)
    meet();
  else if (op.getLevel() == Level::Block)
    gpu::BarrierOp::create(b);
  else
    return op.emitError("has no lowering to a persistent kernel");
  return success();
}

LogicalResult KernelBuilder::lowerOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](uprog::RunOp run) { return lowerRun(run); })
      .Case([&](uprog::BarrierOp op) { return lowerBarrier(op); })
      .Case([&](uprog::PlanSizeOp size) {
        mapping.map(size.getResult(), toIndex(numSteps));
        return success();
      })
      .Case([&](uprog::PlanStepOp step) {
        stepNumber = mapping.lookup(step.getIndex());
        mapping.map(step.getResult(),
                    addressOf(steps, toI64(stepNumber), kStepCells));
        return success();
      })
      .Case<uprog::StepKernelOp, uprog::StepTasksOp, uprog::StepMeetsOp>(
          [&](Operation *field) {
            Field at = isa<uprog::StepKernelOp>(field)  ? kStepKernel
                       : isa<uprog::StepTasksOp>(field) ? kStepCount
                                                        : kStepMeets;
            Value base = mapping.lookup(field->getOperand(0));
            mapping.map(field->getResult(0), toIndex(loadField(base, at)));
            return success();
          })
      .Default([](Operation *other) {
        return other->emitError("has no lowering to a persistent kernel");
      });
}

/// Fills the block's shared memory, if there is a function for it.
void KernelBuilder::loadWeights() {
  for (auto function : device.getOps<func::FuncOp>())
    if (auto bytes = function->getAttrOfType<IntegerAttr>(kKeptBytesAttr)) {
      sharedBytes = bytes.getInt();
      func::CallOp::create(b, function, ValueRange{forms, unit, units});
    }
}

/// Makes the function of the host that launches the kernel too.
void KernelBuilder::endKernel(uprog::ProgramOp program, gpu::GPUFuncOp kernel,
                              Field blocksArgument) {
  b.setLoc(program.getLoc());
  gpu::ReturnOp::create(b);
  b.setInsertionPoint(program);
  auto host =
      func::FuncOp::create(b, program.getSymName(),
                           b.getFunctionType(kernel.getArgumentTypes(), {}));
  bool clustered = shape.group == Level::Cluster;
  host->setAttr(
      kLaunchAttr,
      b.getDictionaryAttr(
          {b.getNamedAttr("kernel", b.getStringAttr(kernel.getName())),
           b.getNamedAttr("executor",
                          b.getStringAttr(stringifyLevel(shape.group))),
           b.getNamedAttr("block_size", b.getI64IntegerAttr(shape.blockSize)),
           b.getNamedAttr(
               "cluster_size",
               b.getI64IntegerAttr(clustered ? shape.clusterSize : 1)),
           b.getNamedAttr("shared_bytes", b.getI64IntegerAttr(sharedBytes))}));
  b.setInsertionPointToStart(host.addEntryBlock());
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value threads = arith::ConstantIndexOp::create(b, shape.blockSize);
  Value grid = toIndex(host.getArgument(blocksArgument.cell()));
  std::optional<gpu::KernelDim3> cluster;
  if (clustered) {
    Value size = arith::ConstantIndexOp::create(b, shape.clusterSize);
    cluster = gpu::KernelDim3{size, one, one};
  }
  Value shared;
  if (sharedBytes > 0)
    shared = arith::ConstantOp::create(b, b.getI32IntegerAttr(sharedBytes));
  gpu::LaunchFuncOp::create(b, kernel, gpu::KernelDim3{grid, one, one},
                            gpu::KernelDim3{threads, one, one}, shared,
                            host.getArguments(), Type(), ValueRange(), cluster);
  func::ReturnOp::create(b);
}

gpu::GPUFuncOp KernelBuilder::beginKernel(uprog::ProgramOp program,
                                          int64_t cells,
                                          ArrayRef<Field> fields) {
  SmallVector<Type> types(cells, b.getI64Type());
  for (Field field : fields)
    if (field.isPointer)
      types[field.cell()] = ptrType();
  b.setInsertionPointToEnd(device.getBody());
  // Dots are not for names of kernels.
  std::string name = program.getSymName().str();
  llvm::replace(name, '.', '_');
  auto kernel = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  kernel.setKnownBlockSize(
      SmallVector<int32_t>{static_cast<int32_t>(shape.blockSize), 1, 1});
  if (shape.group == Level::Cluster)
    kernel.setKnownClusterSize(
        SmallVector<int32_t>{static_cast<int32_t>(shape.clusterSize), 1, 1});
  b.setInsertionPointToStart(&kernel.getBody().front());
  return kernel;
}

/// Every group runs one plan after the other.
LogicalResult KernelBuilder::lowerPlans(uprog::ProgramOp program) {
  constexpr Field launch[] = {kPlansLaunchPlans,  kPlansLaunchNumPlans,
                              kPlansLaunchForms,  kPlansLaunchControl,
                              kPlansLaunchBlocks, kPlansLaunchWatchdog};
  gpu::GPUFuncOp kernel =
      beginKernel(program, countCells<BatchPlansLaunch>(), launch);
  auto argument = [&](Field field) -> Value {
    return kernel.getArgument(field.cell());
  };
  plans = argument(kPlansLaunchPlans);
  numPlans = argument(kPlansLaunchNumPlans);
  forms = argument(kPlansLaunchForms);
  control = argument(kPlansLaunchControl);
  blocks = argument(kPlansLaunchBlocks);
  watchdog = argument(kPlansLaunchWatchdog);
  findGroup();
  loadWeights();
  auto loop = scf::ForOp::create(b, group, numPlans, groups);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(loop.getBody()->getTerminator());
    Value plan = addressOf(plans, loop.getInductionVar(), kPlanCells);
    steps = loadField(plan, kPlanSteps);
    numSteps = loadField(plan, kPlanNumSteps);
    if (failed(lowerBlock(program.getBody().front())))
      return failure();
  }
  endKernel(program, kernel, kPlansLaunchBlocks);
  return success();
}

/// Every block runs the program on lanes of its own.
LogicalResult KernelBuilder::lowerLanes(uprog::ProgramOp program) {
  if (failed(findMachine(program)))
    return failure();
  if (machine.getFrames())
    return program.emitError(
        "runs calls on the stack of the host, which blocks of a GPU do not "
        "have; compile with --strategy=lockstep");
  constexpr Field launch[] = {kLanesLaunchContext, kLanesLaunchBlocks};
  gpu::GPUFuncOp kernel =
      beginKernel(program, countCells<BatchLanesLaunch>(), launch);
  context = kernel.getArgument(kLanesLaunchContext.cell());
  blocks = kernel.getArgument(kLanesLaunchBlocks.cell());
  findGroup();
  thread = toI64(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  forms = ContextBuilder(b, b.getLoc(), context).loadField(ContextField::forms);
  findLanes(group);
  loadWeights();
  if (failed(lowerBlock(program.getBody().front())))
    return failure();
  endKernel(program, kernel, kLanesLaunchBlocks);
  return success();
}

LogicalResult KernelBuilder::lower(uprog::ProgramOp program) {
  b.setLoc(program.getLoc());
  if (failed(hasLanes(program) ? lowerLanes(program) : lowerPlans(program)))
    return failure();
  program.erase();
  return success();
}

namespace {
class ConvertUProgToGPUPass
    : public batch::impl::ConvertUProgToGPUPassBase<ConvertUProgToGPUPass> {
  using ConvertUProgToGPUPassBase::ConvertUProgToGPUPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<uprog::ProgramOp> programs(module.getOps<uprog::ProgramOp>());
    if (programs.empty())
      return;
    auto device = SymbolTable(module).lookup<gpu::GPUModuleOp>(kDeviceModule);
    if (!device) {
      if (module.getOps<uprog::OperatorOp>().empty())
        programs[0].emitError("runs no operators, so there is nothing for a "
                              "device; compile it for the CPU");
      else
        programs[0].emitError("there is no gpu.module @")
            << kDeviceModule << "; run convert-operators-to-gpu first";
      return signalPassFailure();
    }
    const VendorFacts &vendor = *getChipFacts(chip).vendor;
    func::FuncOp barrier;
    for (uprog::ProgramOp program : programs) {
      Level group = program.getLevel();
      if (group == Level::Device && !barrier)
        barrier = uprog::addDeviceBarrier(device, vendor);
      LaunchShape shape{group, blockSize, clusterSize};
      if (failed(KernelBuilder(module, device, shape, barrier, vendor)
                     .lower(program)))
        return signalPassFailure();
    }
    // One block on a multiprocessor is enough, and may have all registers.
    if (vendor.vendor == GPUVendor::NVIDIA)
      for (auto kernel : device.getOps<gpu::GPUFuncOp>())
        kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        OpBuilder(kernel).getI32IntegerAttr(1));
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    UnitAttr::get(module.getContext()));
  }
};
} // namespace
