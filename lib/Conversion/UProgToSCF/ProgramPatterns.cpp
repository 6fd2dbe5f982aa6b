//===- ProgramPatterns.cpp - Common lowering of programs ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramPatterns.h"
#include "Batch/Conversion/UProgToSCF/UProgToSCF.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

SmallVector<Value> OpEmitter::toResults(SmallVector<Value> found) {
  for (Value &number : MutableArrayRef(found).drop_front(found.size() / 2))
    number = toIndex(number);
  return found;
}

Value OpEmitter::loadLanes(Value context, Value unit) {
  ContextBuilder cb(b, b.getLoc(), context);
  Value cell = cb.loadCell(cb.loadField(ContextField::lanes), unit);
  return LLVM::IntToPtrOp::create(b, context.getType(), cell);
}

bool batch::isCodeArgument(Type type) {
  return !isa<PlanType, LanesType>(type);
}

void OpEmitter::inlineBody(uprog::ProgramOp program, Value plan, Value lanes,
                           ValueRange others) {
  TypeConverter::SignatureConversion arguments(program.getNumArguments());
  for (auto [i, type] : llvm::enumerate(program.getArgumentTypes())) {
    if (isa<PlanType>(type))
      arguments.remapInput(i, plan);
    else if (isa<LanesType>(type))
      arguments.remapInput(i, lanes);
    else
      arguments.remapInput(i, others.front());
    others = others.drop_front(isCodeArgument(type));
  }
  Block *body =
      rewriter.applySignatureConversion(&program.getBody().front(), arguments);
  rewriter.eraseOp(body->getTerminator());
  rewriter.inlineBlockBefore(body, b.getInsertionBlock(),
                             b.getInsertionPoint());
}

std::pair<Value, Value> OpEmitter::inlinePredicate(uprog::CompactOp compact,
                                                   Value number) {
  Block &body = compact.getBody().front();
  auto condition = cast<uprog::ConditionOp>(body.getTerminator());
  Value holds = condition.getCondition();
  rewriter.inlineBlockBefore(&body, b.getInsertionBlock(),
                             b.getInsertionPoint(), toIndex(number));
  if (!condition.getValues().empty())
    number = toI64(condition.getValues().front());
  rewriter.eraseOp(condition);
  return {holds, number};
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

bool batch::hasLanes(uprog::ProgramOp program) {
  return llvm::any_of(program.getArgumentTypes(), llvm::IsaPred<LanesType>);
}

FailureOr<MachineOp> batch::findMachine(uprog::ProgramOp program) {
  if (!hasLanes(program))
    return MachineOp();
  auto machines = program->getParentOfType<ModuleOp>().getOps<MachineOp>();
  if (machines.empty())
    return program.emitError(
        "this program has lanes, but the module has no batch.machine");
  return *machines.begin();
}

/// Returns the entry from which a machine was created, or null. Lanes read its
/// arguments and write its results.
static func::FuncOp findEntry(Operation *op) {
  FunctionOpInterface entry = lookupEntry(op->getParentOfType<ModuleOp>());
  return dyn_cast_or_null<func::FuncOp>(entry.getOperation());
}

namespace {

class LaneEmitter : OpEmitter {
public:
  LaneEmitter(Operation *op, ConversionPatternRewriter &rewriter,
              MakeLaneCode &make)
      : OpEmitter(op, rewriter), make(make) {}

  using Values = SmallVector<Value>;

  Values lower(StartLanesOp op, StartLanesOp::Adaptor operands) {
    LaneCode code = make(b, operands.getLanes());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(op->getParentOfType<FunctionOpInterface>());
      code.makeNextInstance(findEntry(op));
    }
    code.startLanes();
    return {};
  }
  Values lower(BlockKeysOp, BlockKeysOp::Adaptor operands) {
    Value block = toI64(operands.getBlock());
    auto [preference, since] = make(b, operands.getLanes()).blockKeys(block);
    return {preference, since};
  }
  Values lower(NextBlockOp, NextBlockOp::Adaptor operands) {
    Value preferred = toI64(operands.getPreferred());
    Value oldest = toI64(operands.getOldest());
    auto [block, any] = make(b, operands.getLanes())
                            .nextBlock(preferred, oldest, operands.getSince());
    return {toIndex(block), any};
  }
  Values lower(LaneListOp, LaneListOp::Adaptor operands) {
    auto [count, list] = make(b, operands.getLanes()).laneList();
    return {toIndex(count), list};
  }
  Values lower(EnterBlockOp, EnterBlockOp::Adaptor operands) {
    Value lane = toI64(operands.getLane());
    Value block = toI64(operands.getBlock());
    return {make(b, operands.getLanes()).enterBlock(lane, block)};
  }
  Values lower(uprog::TakeLanesOp, uprog::TakeLanesOp::Adaptor operands) {
    Value block = toI64(operands.getBlock());
    Value count = toI64(operands.getCount());
    return {make(b, operands.getLanes()).takeLanes(block, count)};
  }
  Values lower(LaneOpsOp op, LaneOpsOp::Adaptor operands) {
    auto block = SymbolTable::lookupNearestSymbolFrom<BlockOp>(
        op->getParentOfType<ModuleOp>(), op.getBlock());
    LaneCode code = make(b, operands.getLanes());
    if (op.getPrologue())
      code.runPrologue(block);
    else
      code.runEpilogue(block);
    return {};
  }
  Values lower(LeaveFrameOp, LeaveFrameOp::Adaptor operands) {
    make(b, operands.getLanes()).leaveFrame();
    return {};
  }

private:
  MakeLaneCode &make;
};

} // namespace

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

bool batch::runsInstances(uprog::ProgramOp program) {
  return program
      .walk([](Operation *op) {
        return isa<uprog::InstancesOp, uprog::EnterInstanceOp, uprog::EachOp>(
                   op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

class InstanceEmitter : OpEmitter {
public:
  InstanceEmitter(Operation *op, ConversionPatternRewriter &rewriter,
                  InstanceProgramState &state)
      : OpEmitter(op, rewriter), state(state), tables(state.tables),
        code(b, op, state.getUnit(op)) {}

  using Values = SmallVector<Value>;

  Values lower(uprog::RowOp op, uprog::RowOp::Adaptor operands) {
    Value member = operands.getMember() ? toI64(operands.getMember()) : Value();
    return {code.row(op, operands.getAvoided(), member, tables)};
  }
  Values lower(uprog::ParameterRowOp op,
               uprog::ParameterRowOp::Adaptor operands) {
    return {code.parameterRow(op, toI64(operands.getIndex()), tables)};
  }
  Values lower(uprog::LoadOp op, uprog::LoadOp::Adaptor operands) {
    return {code.load(op, operands.getRow(), operands.getIndices(), tables)};
  }
  Values lower(uprog::CopyOp op, uprog::CopyOp::Adaptor operands) {
    code.copy(cast<RankedTensorType>(op.getType()), operands.getFrom(),
              operands.getTo());
    return {};
  }
  Values lower(uprog::SiteOp op, uprog::SiteOp::Adaptor operands) {
    return {code.site(op, operands.getInputs(), operands.getOutputs(), tables)};
  }
  Values lower(uprog::SliceOp op, uprog::SliceOp::Adaptor operands) {
    return {code.slice(op, operands.getWhole(), toI64(operands.getIndex()))};
  }
  Values lower(uprog::TasksOp op, uprog::TasksOp::Adaptor) {
    return {code.tasks(op, tables)};
  }
  Values lower(uprog::PutTaskOp op, uprog::PutTaskOp::Adaptor operands) {
    code.putTask(op, operands.getTasks(), toI64(operands.getIndex()),
                 operands.getInputs(), operands.getOutputs());
    return {};
  }
  Values lower(uprog::CellsOp op, uprog::CellsOp::Adaptor) {
    return {code.cells(op, tables)};
  }
  Values lower(uprog::GetOp op, uprog::GetOp::Adaptor operands) {
    return {code.get(operands.getCells(), toI64(operands.getMember()),
                     op.getValue().getType())};
  }
  Values lower(uprog::PutOp, uprog::PutOp::Adaptor operands) {
    code.put(operands.getCells(), toI64(operands.getMember()),
             operands.getValue());
    return {};
  }
  Values lower(uprog::MembersOp op, uprog::MembersOp::Adaptor) {
    return {code.allocate(op, op.getCapacity(), tables)};
  }
  Values lower(uprog::MemberOp, uprog::MemberOp::Adaptor operands) {
    return {
        toIndex(code.member(operands.getList(), toI64(operands.getIndex())))};
  }
  Values lower(uprog::EachOp op, uprog::EachOp::Adaptor operands) {
    auto [first, step] = code.beginEach();
    auto loop = scf::ForOp::create(b, first, toI64(operands.getUpper()), step);
    state.eachLoops.insert(loop);
    Block &body = op.getBody().front();
    rewriter.eraseOp(body.getTerminator());
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(loop.getBody()->getTerminator());
      Value number = toIndex(loop.getInductionVar());
      rewriter.inlineBlockBefore(&body, b.getInsertionBlock(),
                                 b.getInsertionPoint(), number);
    }
    code.endEach();
    return {};
  }
  Values lower(uprog::BatchOp op, uprog::BatchOp::Adaptor operands) {
    return {code.batch(op, operands.getTasks(), toI64(operands.getCount()),
                       operands.getOutputs(), tables)};
  }
  Values lower(uprog::InstancesOp, uprog::InstancesOp::Adaptor) {
    return {toIndex(code.instances())};
  }
  Values lower(uprog::EnterInstanceOp,
               uprog::EnterInstanceOp::Adaptor operands) {
    code.enterInstance(toI64(operands.getInstance()));
    return {};
  }
  Values lower(uprog::NextRoundOp op, uprog::NextRoundOp::Adaptor operands) {
    Value rounds = operands.getRounds() ? toI64(operands.getRounds()) : Value();
    Value count = operands.getCount() ? toI64(operands.getCount()) : Value();
    return {code.nextRound(op, count, rounds, tables)};
  }
  Values lower(uprog::ArgumentOp op, uprog::ArgumentOp::Adaptor operands) {
    return {code.argument(op.getNumber(), toI64(operands.getInstance()),
                          op.getType())};
  }
  Values lower(uprog::ResultOp op, uprog::ResultOp::Adaptor operands) {
    code.result(op.getNumber(), toI64(operands.getInstance()),
                operands.getValue(), op.getType());
    return {};
  }
  Values lower(uprog::NodeOp, uprog::NodeOp::Adaptor operands) {
    return {
        code.node(toI64(operands.getNumber()), toI64(operands.getInstance()))};
  }
  Values lower(uprog::NodeNumberOp, uprog::NodeNumberOp::Adaptor operands) {
    return {toIndex(
        code.nodeNumber(operands.getNode(), toI64(operands.getInstance())))};
  }
  Values lower(uprog::VariantOp op, uprog::VariantOp::Adaptor operands) {
    return {toIndex(code.variant(op, operands.getNode()))};
  }
  Values lower(uprog::FieldOp op, uprog::FieldOp::Adaptor operands) {
    return {code.field(op, operands.getNode())};
  }
  Values lower(uprog::NodeRowOp op, uprog::NodeRowOp::Adaptor operands) {
    return {code.nodeRow(op, operands.getNode(), tables)};
  }
  Values lower(uprog::RememberOp op, uprog::RememberOp::Adaptor operands) {
    code.remember(op, operands.getNode(), operands.getValues(), tables);
    return {};
  }
  Values lower(uprog::LookUpOp op, uprog::LookUpOp::Adaptor operands) {
    return code.lookUp(op, operands.getNode(), tables);
  }
  Values lower(uprog::ConstructOp op, uprog::ConstructOp::Adaptor operands) {
    return {
        code.construct(op, operands.getFields(), operands.getNode(), tables)};
  }
  Values lower(uprog::ListLengthOp, uprog::ListLengthOp::Adaptor operands) {
    return {toIndex(code.listLength(operands.getList()))};
  }
  Values lower(uprog::ListElementOp op,
               uprog::ListElementOp::Adaptor operands) {
    return {code.listElement(operands.getList(), toI64(operands.getIndex()),
                             op.getType())};
  }

private:
  InstanceProgramState &state;
  const InstanceTables &tables;
  InstanceCode code;
};

} // namespace

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

bool batch::isRunByPrograms(uprog::ProgramOp program) {
  return !SymbolTable::symbolKnownUseEmpty(
      program, program->getParentOfType<ModuleOp>());
}

/// Checks that a program run by the host has no arguments that only another
/// program can pass.
static LogicalResult checkArguments(uprog::ProgramOp program) {
  if (batch::isRunByPrograms(program))
    return success();
  for (auto [i, type] : llvm::enumerate(program.getArgumentTypes()))
    if (isCodeArgument(type))
      return program.emitError("argument #")
             << i << " of this program has type " << type
             << ", which the host cannot pass; run this program from another "
                "program";
  return success();
}

LogicalResult
batch::checkProgram(uprog::ProgramOp program, StringRef error,
                    function_ref<LogicalResult(Operation *)> checkOp) {
  auto check = [&](Operation *op) -> LogicalResult {
    if (isa<StartLanesOp>(op) && !findEntry(op))
      return op->emitOpError(
          "requires the entry from which its machine was created; keep that "
          "function and its 'batch.entry'");
    if (isa_and_nonnull<uprog::UProgDialect, arith::ArithDialect,
                        math::MathDialect>(op->getDialect()) ||
        isa<StartLanesOp, BlockKeysOp, NextBlockOp, LaneListOp, EnterBlockOp,
            LaneOpsOp, LeaveFrameOp>(op))
      return checkOp(op);
    return op->emitOpError(error);
  };
  WalkResult result = program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { return WalkResult(check(op)); });
  if (result.wasInterrupted())
    return failure();
  return checkArguments(program);
}

LogicalResult batch::convertProgram(
    uprog::ProgramOp program, Type pointer, MakeLaneCode makeLanes,
    InstanceProgramState &instances,
    function_ref<void(const TypeConverter &, RewritePatternSet &)>
        addPatterns) {
  TypeConverter converter;
  converter.addConversion([=](Type type) -> Type {
    if (isa<uprog::RowType, uprog::CellsType, rec::ListType, rec::AdtType>(
            type))
      return IntegerType::get(type.getContext(), 64);
    return isa<PlanType, uprog::StepType, uprog::TasksType, LanesType,
               MemRefType>(type)
               ? pointer
               : type;
  });
  RewritePatternSet patterns(program.getContext());
  populateUProgToSCFPatterns(converter, patterns);
  addProgramPatterns<LaneEmitter, StartLanesOp, BlockKeysOp, NextBlockOp,
                     LaneListOp, EnterBlockOp, uprog::TakeLanesOp, LaneOpsOp,
                     LeaveFrameOp>(converter, makeLanes, patterns);
  addProgramPatterns<
      InstanceEmitter, uprog::RowOp, uprog::ParameterRowOp, uprog::LoadOp,
      uprog::CopyOp, uprog::SiteOp, uprog::SliceOp, uprog::TasksOp,
      uprog::PutTaskOp, uprog::BatchOp, uprog::InstancesOp,
      uprog::EnterInstanceOp, uprog::NextRoundOp, uprog::ArgumentOp,
      uprog::ResultOp, uprog::ListLengthOp, uprog::ListElementOp, uprog::NodeOp,
      uprog::NodeNumberOp, uprog::VariantOp, uprog::FieldOp, uprog::NodeRowOp,
      uprog::RememberOp, uprog::LookUpOp, uprog::ConstructOp, uprog::CellsOp,
      uprog::GetOp, uprog::PutOp, uprog::MembersOp, uprog::MemberOp,
      uprog::EachOp>(converter, instances, patterns);
  addPatterns(converter, patterns);
  ConversionTarget target(*program.getContext());
  target.addLegalDialect<arith::ArithDialect, func::FuncDialect,
                         gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect,
                         NVVM::NVVMDialect, scf::SCFDialect>();
  target.addIllegalDialect<BatchDialect, uprog::UProgDialect>();
  return applyPartialConversion(program.getOperation(), target,
                                std::move(patterns));
}
