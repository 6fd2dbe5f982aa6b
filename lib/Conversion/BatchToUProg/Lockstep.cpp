//===- Lockstep.cpp - The executor of a machine ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/MachineLayout.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

namespace mlir::batch {
#define GEN_PASS_DEF_LOCKSTEPPASS
#include "Batch/Conversion/BatchToUProg/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Builds the executor of one machine. If the machine has frames, also builds
/// the program that every call runs.
class LockstepBuilder {
public:
  LockstepBuilder(MachineOp machine, func::FuncOp entry)
      : machine(machine), entry(entry), symbols(entry->getParentOp()),
        operators(uprog::mapOperators(entry->getParentOfType<ModuleOp>())),
        builder(machine.getContext()) {}

  LogicalResult build();

private:
  void beginProgram(StringRef name);
  LogicalResult makeLoop();
  NextBlockOp chooseBlock(Location loc);
  Value takeLanes(Location loc, Value block);
  LogicalResult makeCase(BlockOp block, Value step);
  LogicalResult runKernel(InvokeOp invoke, Value step);
  void reportInserts(InvokeOp invoke, KernelOp kernel);
  void makeLaneOps(BlockOp block, bool prologue);

  MachineOp machine;
  func::FuncOp entry;
  SymbolTable symbols;
  uprog::OperatorMap operators;
  OpBuilder builder;
  uprog::ProgramOp program;
  Value lanes;
  StringAttr frame; ///< program that a call runs, if the machine has frames
};

} // namespace

void LockstepBuilder::makeLaneOps(BlockOp block, bool prologue) {
  auto name = SymbolRefAttr::get(
      machine.getSymNameAttr(), FlatSymbolRefAttr::get(block.getSymNameAttr()));
  LaneOpsOp::create(builder, block.getLoc(), lanes, name, prologue);
}

/// For each insert, emits a remark about whether it writes into the row of a
/// variable.
void LockstepBuilder::reportInserts(InvokeOp invoke, KernelOp kernel) {
  MachineLayout layout(machine);
  for (OpResult result : invoke->getResults()) {
    auto number = kernel.getResultAttrOfType<IntegerAttr>(
        result.getResultNumber(), kInPlaceAttr);
    if (!number)
      continue;
    auto name = remark::RemarkOpts::name("Inserts").category("batch");
    std::string block = ("block @" + kernel.getSymName()).str();
    if (layout.isInPlace(result))
      remark::passed(invoke.getLoc(), name)
          << block + " inserts into the row of its variable";
    else
      remark::missed(invoke.getLoc(), name)
          << block +
                 " copies the destination of an insert, because the variable "
                 "of the destination does not store the result, has a stack or "
                 "has other readers";
  }
}

/// Creates the run of a block's kernel. The kernel gathers the rows of
/// variables by lane.
LogicalResult LockstepBuilder::runKernel(InvokeOp invoke, Value step) {
  Location loc = invoke.getLoc();
  auto kernel = symbols.lookup<KernelOp>(invoke.getKernel());
  uprog::OperatorOp op = operators.lookup(invoke.getKernelAttr().getAttr());
  if (!kernel || !op)
    return invoke.emitError("kernel @")
           << invoke.getKernel()
           << " has no operator; run batch-vectorize-kernels first";
  reportInserts(invoke, kernel);
  for (auto [i, operand] : llvm::enumerate(invoke.getInputs())) {
    auto top = operand.getDefiningOp<TopOp>();
    if (!top)
      continue;
    auto read = ReadAttr::get(builder.getContext(), ReadKind::Gather,
                              top.getVariableAttr(), /*segments=*/false);
    kernel.setArgAttr(i, kReadAttr, read);
  }
  Value tasks =
      uprog::StepTasksOp::create(builder, loc, builder.getIndexType(), step);
  uprog::RunOp::create(builder, loc, op.getSymName(), step, tasks,
                       /*inputs=*/ValueRange(),
                       /*level=*/uprog::LevelAttr());
  return success();
}

LogicalResult LockstepBuilder::makeCase(BlockOp block, Value step) {
  auto invokes = block.getBody().front().getOps<InvokeOp>();
  if (!invokes.empty()) {
    InvokeOp invoke = *invokes.begin();
    // Without cached tops, the prologue copies the top rows of stacks for the
    // kernel.
    if (!machine.getCachedTops() ||
        llvm::any_of(block.getBody().front(), [&](Operation &op) {
          return isa<PopOp, PushOp, SetOp>(op) && op.isBeforeInBlock(invoke);
        }))
      makeLaneOps(block, /*prologue=*/true);
    if (failed(runKernel(invoke, step)))
      return failure();
  }
  makeLaneOps(block, /*prologue=*/false);
  if (frame && isa<PushJumpOp>(block.getBody().front().getTerminator())) {
    uprog::RefOp::create(builder, block.getLoc(), FlatSymbolRefAttr::get(frame),
                         program.getArguments());
    LeaveFrameOp::create(builder, block.getLoc(), lanes, machine.getSymName());
  }
  return success();
}

/// Creates the op that selects the next block. Its operands are the preferred
/// block and the block that lanes have waited for longest.
NextBlockOp LockstepBuilder::chooseBlock(Location loc) {
  Type index = builder.getIndexType(), i64 = builder.getI64Type();
  auto blocks = machine.getBody().getOps<BlockOp>();
  Value count = arith::ConstantIndexOp::create(
      builder, loc, std::distance(blocks.begin(), blocks.end()));
  auto least = uprog::ReduceOp::create(builder, loc, TypeRange{i64, i64},
                                       TypeRange{index, index}, count);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&least.getBody(), {}, {index}, {loc});
    auto keys = BlockKeysOp::create(builder, loc, i64, i64, lanes,
                                    body->getArgument(0));
    uprog::YieldOp::create(builder, loc, keys->getResults());
  }
  return NextBlockOp::create(builder, loc, lanes, least.getNumbers()[0],
                             least.getNumbers()[1], least.getKeys()[1]);
}

/// Creates a step for the lanes that wait for a block.
Value LockstepBuilder::takeLanes(Location loc, Value block) {
  Type index = builder.getIndexType();
  auto listType = MemRefType::get({ShapedType::kDynamic}, builder.getI32Type());
  auto laneList = LaneListOp::create(builder, loc, index, listType, lanes);
  auto listed = uprog::CompactOp::create(
      builder, loc, index, laneList.getCount(), laneList.getList());
  {
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&listed.getBody(), {}, {index}, {loc});
    Value runs =
        EnterBlockOp::create(builder, loc, lanes, body->getArgument(0), block);
    uprog::ConditionOp::create(builder, loc, runs, ValueRange());
  }
  return uprog::TakeLanesOp::create(builder, loc,
                                    uprog::StepType::get(builder.getContext()),
                                    lanes, block, listed.getCount());
}

/// Creates the loop that runs blocks until no lane waits.
LogicalResult LockstepBuilder::makeLoop() {
  Location loc = machine.getLoc();
  Type index = builder.getIndexType();
  auto loop = uprog::WhileOp::create(builder, loc, /*resultTypes=*/index,
                                     /*operands=*/ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loop.getBefore());
  NextBlockOp next = chooseBlock(loc);
  uprog::ConditionOp::create(builder, loc, next.getAny(), next.getBlock());
  Block *step = builder.createBlock(&loop.getBody(), {}, {index}, {loc});
  Value number = step->getArgument(0);
  Value taken = takeLanes(loc, number);
  SmallVector<BlockOp> blocks(machine.getBody().getOps<BlockOp>());
  auto cases = llvm::to_vector(llvm::seq<int64_t>(0, blocks.size()));
  auto branch = uprog::BranchOp::create(builder, loc, TypeRange(), number,
                                        cases, blocks.size());
  uprog::YieldOp::create(builder, loc);
  for (auto [block, region] :
       llvm::zip_equal(blocks, branch.getCaseRegions())) {
    builder.createBlock(&region);
    if (failed(makeCase(block, taken)))
      return failure();
    uprog::YieldOp::create(builder, loc);
  }
  return success();
}

/// Begins a program that takes the lanes as its argument.
void LockstepBuilder::beginProgram(StringRef name) {
  Location loc = machine.getLoc();
  Type type = LanesType::get(builder.getContext());
  builder.setInsertionPointAfter(machine);
  program = uprog::ProgramOp::create(
      builder, loc, name, builder.getFunctionType(type, {}),
      uprog::Level::Block, /*arg_attrs=*/ArrayAttr(),
      /*res_attrs=*/ArrayAttr());
  lanes =
      builder.createBlock(&program.getBody(), {}, type, loc)->getArgument(0);
}

LogicalResult LockstepBuilder::build() {
  Location loc = machine.getLoc();
  if (machine.getFrames()) {
    // Each function call runs this program.
    beginProgram((entry.getSymName() + ".frame").str());
    frame = program.getSymNameAttr();
    if (failed(makeLoop()))
      return failure();
    uprog::YieldOp::create(builder, loc);
  }
  beginProgram(getExecutorName(entry.getSymName()));
  program->setAttr(kExecutorAttr, builder.getUnitAttr());
  StartLanesOp::create(builder, loc, lanes, machine.getSymName());
  if (frame)
    uprog::RefOp::create(builder, loc, FlatSymbolRefAttr::get(frame),
                         program.getArguments());
  else if (failed(makeLoop()))
    return failure();
  uprog::YieldOp::create(builder, loc);
  return success();
}

namespace {
class LockstepPass : public batch::impl::LockstepPassBase<LockstepPass> {
  void runOnOperation() override {
    auto entry = dyn_cast_or_null<func::FuncOp>(
        lookupEntry(getOperation()).getOperation());
    if (entry &&
        getOperation().lookupSymbol(getExecutorName(entry.getSymName())))
      return; // already created
    for (auto machine : llvm::to_vector(getOperation().getOps<MachineOp>())) {
      if (!entry) {
        machine.emitOpError("requires an entry; mark the function for one "
                            "instance with 'attributes {batch.entry}'");
        return signalPassFailure();
      }
      if (failed(LockstepBuilder(machine, entry).build()))
        return signalPassFailure();
    }
  }
};
} // namespace
