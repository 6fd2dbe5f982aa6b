//===- VectorInstances.cpp - Instances in vectors -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorInstances.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

/// Maximum number of rounds of a loop that does not check for cancellation.
static constexpr uint64_t kFewRounds = 64;

/// Minimum number of elements for which vectors pay off.
static constexpr int64_t kLeastWidth = 4;

//===----------------------------------------------------------------------===//
// Code that runs in vectors
//===----------------------------------------------------------------------===//

void batch::endLoopIfCancelled(scf::ForOp loop, func::FuncOp function) {
  std::optional<APInt> count = loop.getStaticTripCount();
  if (count && count->ule(kFewRounds))
    return;
  ImplicitLocOpBuilder b(loop.getLoc(), loop.getContext());
  b.setInsertionPointToStart(loop.getBody());
  ContextBuilder(b, loop.getLoc(), function.getArgument(0))
      .endIfCancelled(function.getArgument(1));
}

static bool isNumber(Type type) {
  return type.isF32() || type.isF64() || isa<IntegerType, IndexType>(type);
}

/// Returns the elements of result `index` if the kernel only collects arguments
/// and constants in this result. Otherwise, returns std::nullopt.
static std::optional<SmallVector<Value>> findElements(KernelOp kernel,
                                                      unsigned index) {
  Block &body = kernel.getBody().front();
  auto made = body.getTerminator()
                  ->getOperand(index)
                  .getDefiningOp<tensor::FromElementsOp>();
  if (!made)
    return std::nullopt;
  for (Value element : made.getElements())
    if (!isa<BlockArgument>(element) &&
        !element.getDefiningOp<arith::ConstantOp>())
      return std::nullopt;
  return SmallVector<Value>(made.getElements());
}

static KernelOp lookupKernel(uprog::SiteOp site) {
  return site->getParentOfType<ModuleOp>().lookupSymbol<KernelOp>(
      site.getKernel());
}

/// Returns true if `op` can run for several instances in vectors: it computes
/// with numbers, and reads elements and rows only at constant indices.
static bool runsSideBySide(Operation *op) {
  auto areNumbers = [](TypeRange types) {
    return llvm::all_of(types, isNumber);
  };
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return op->getNumRegions() == 0 && areNumbers(op->getOperandTypes()) &&
           areNumbers(op->getResultTypes());
  if (isa<uprog::WhileOp, uprog::ForOp, uprog::BranchOp>(op))
    return areNumbers(op->getResultTypes()) &&
           llvm::all_of(op->getRegions(), [&](Region &region) {
             return areNumbers(region.getArgumentTypes());
           });
  if (auto load = dyn_cast<uprog::LoadOp>(op))
    return areNumbers(load->getResultTypes()) &&
           llvm::all_of(load.getIndices(), [](Value index) {
             return index.getDefiningOp<arith::ConstantOp>();
           });
  if (auto argument = dyn_cast<uprog::ArgumentOp>(op))
    return isa<uprog::RowType>(argument.getType()) ||
           isNumber(argument.getType());
  if (auto row = dyn_cast<uprog::ParameterRowOp>(op))
    return row.getIndex().getDefiningOp<arith::ConstantOp>();
  if (auto site = dyn_cast<uprog::SiteOp>(op)) {
    KernelOp kernel = lookupKernel(site);
    for (unsigned i = 0; i < site.getOutputs().size(); ++i)
      if (!site.getOutputs()[i].getDefiningOp<uprog::RowOp>() ||
          !findElements(kernel, i))
        return false;
    return site->getParentOp() == site->getParentOfType<uprog::ProgramOp>();
  }
  if (auto result = dyn_cast<uprog::ResultOp>(op))
    return isNumber(result.getValue().getType()) ||
           result.getValue().getDefiningOp<uprog::RowOp>();
  return isa<uprog::EnterInstanceOp, uprog::NextRoundOp, uprog::RowOp,
             uprog::RunOp, uprog::BarrierOp, uprog::ConditionOp,
             uprog::YieldOp>(op);
}

int64_t batch::countSideBySide(uprog::ProgramOp program, int64_t vectorBits) {
  if (program.getLevel() != uprog::Level::Block ||
      program.getArgumentTypes().size() != 1 ||
      !isa<IndexType>(program.getArgumentTypes().front()))
    return 0;
  unsigned bits = 8;
  bool loops = false;
  // Values that are the same for all instances. The bounds and steps of counted
  // loops must be among them.
  DenseSet<Value> same;
  auto areSame = [&](ValueRange values) {
    return llvm::all_of(values, [&](Value v) { return same.contains(v); });
  };
  auto note = [&](Operation *op) {
    if (auto loop = dyn_cast<uprog::ForOp>(op)) {
      same.insert(loop.getBody().front().getArgument(0));
      return areSame({loop.getLower(), loop.getUpper()}) &&
             (!loop.getStep() || same.contains(loop.getStep()));
    }
    auto load = dyn_cast<uprog::LoadOp>(op);
    auto round = dyn_cast<uprog::NextRoundOp>(op);
    if (round && round.getCount() && !areSame(round.getCount()))
      return false;
    if (isa<uprog::ParameterRowOp>(op) || round ||
        (load && same.contains(load.getRow())) ||
        (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         areSame(op->getOperands())))
      same.insert_range(op->getResults());
    return true;
  };
  WalkResult result = program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) -> WalkResult {
        loops |= isa<uprog::WhileOp, uprog::ForOp>(op);
        for (Type type : op->getResultTypes())
          if (type.isIntOrFloat())
            bits = std::max(bits, type.getIntOrFloatBitWidth());
        return runsSideBySide(op) && note(op) ? WalkResult::advance()
                                              : WalkResult::interrupt();
      });
  int64_t width = vectorBits / bits;
  return !loops || result.wasInterrupted() || width < kLeastWidth ? 0 : width;
}

//===----------------------------------------------------------------------===//
// The code
//===----------------------------------------------------------------------===//

namespace {

class VectorEmitter {
public:
  VectorEmitter(uprog::ProgramOp program, int64_t width,
                const InstanceTables &tables)
      : program(program), width(width), tables(tables),
        b(program.getLoc(), program) {}

  func::FuncOp emit();

private:
  Type vectorOf(Type type) { return VectorType::get({width}, type); }
  SmallVector<Type> vectorsOf(TypeRange types) {
    return llvm::map_to_vector(types, [&](Type t) { return vectorOf(t); });
  }
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, b.getI64Type(), value);
  }
  Value zeros(Type type) {
    return arith::ConstantOp::create(
        b, cast<TypedAttr>(b.getZeroAttr(vectorOf(type))));
  }
  bool isUniform(Value value) { return uniform.contains(value); }
  Value getVector(Value value);
  SmallVector<Value> getVectors(ValueRange values) {
    return llvm::map_to_vector(values, [&](Value v) { return getVector(v); });
  }
  void map(ValueRange values, ValueRange made) {
    for (auto [value, vector] : llvm::zip_equal(values, made))
      vectors[value] = vector;
  }
  void map(Value value, function_ref<Value(int64_t)> make);
  Value choose(Value mask, Value then, Value otherwise) {
    return arith::SelectOp::create(b, mask, then, otherwise);
  }
  /// Returns the conjunction of two masks. Where the first is false, the second
  /// may be poison.
  Value both(Value first, Value second) {
    return choose(first, second, zeros(b.getI1Type()));
  }
  Value isAny(Value mask) {
    return vector::ReductionOp::create(b, vector::CombiningKind::OR, mask);
  }

  void convert(Block &block);
  void convert(Operation *op);
  void compute(Operation *op);
  void convert(uprog::WhileOp loop);
  void convert(uprog::ForOp loop);
  void convert(uprog::BranchOp branch);
  void convert(uprog::NextRoundOp op);
  void collect(uprog::SiteOp site);
  void store(uprog::ResultOp result);
  void storeResults();

  uprog::ProgramOp program;
  const int64_t width;
  const InstanceTables &tables;
  ImplicitLocOpBuilder b;
  func::FuncOp function;
  InstanceUnit unit;
  SmallVector<Value> instances; ///< i64s; the last instance may be repeated
  IRMapping uniform;            ///< values that are the same for all instances
  DenseMap<Value, Value> vectors;
  DenseMap<Value, SmallVector<Value>> rows;     ///< rows of each instance
  DenseMap<Value, SmallVector<Value>> elements; ///< elements of rows of results
  SmallVector<uprog::ResultOp> results;
  Value active; ///< mask of the instances that run the code
  Value rounds; ///< address of the round count of the instances
};

} // namespace

Value VectorEmitter::getVector(Value value) {
  if (isUniform(value))
    return vector::BroadcastOp::create(b, vectorOf(value.getType()),
                                       uniform.lookup(value));
  return vectors.lookup(value);
}

/// Maps `value` to a vector with one number for each instance.
void VectorEmitter::map(Value value, function_ref<Value(int64_t)> make) {
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < width; ++i)
    numbers.push_back(make(i));
  vectors[value] = vector::FromElementsOp::create(
      b, cast<VectorType>(vectorOf(value.getType())), numbers);
}

/// Returns true for a division that traps for some operands.
static bool mayTrap(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
           arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return false;
  APInt divisor;
  return !matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) ||
         divisor.isZero() || divisor.isAllOnes();
}

/// Returns an i1 that is true if no instance of the unit has run more rounds
/// than allowed.
static Value isWithinRounds(ImplicitLocOpBuilder &b, const InstanceUnit &unit) {
  ContextBuilder cb(b, b.getLoc(), unit.context);
  Value taken = LLVM::LoadOp::create(b, b.getI64Type(), unit.rounds);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ule, taken,
                               cb.loadCell(unit.state, kUnitMaxRounds));
}

void batch::guardDivisions(func::FuncOp function, const InstanceUnit &unit) {
  function.walk([&](Operation *op) {
    if (!mayTrap(op))
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Value divisor = op->getOperand(1);
    Value one =
        arith::ConstantOp::create(b, b.getIntegerAttr(divisor.getType(), 1));
    op->setOperand(
        1, arith::SelectOp::create(b, isWithinRounds(b, unit), divisor, one));
  });
}

void VectorEmitter::compute(Operation *op) {
  if (llvm::all_of(op->getOperands(),
                   [&](Value operand) { return isUniform(operand); })) {
    b.clone(*op, uniform);
    return;
  }
  SmallVector<Value> operands = getVectors(op->getOperands());
  if (mayTrap(op)) {
    // Divide by 1 for inactive instances and after too many rounds, because the
    // divisor may be 0 then.
    auto type = cast<VectorType>(operands[1].getType());
    Value ones = arith::ConstantOp::create(
        b, DenseElementsAttr::get(type,
                                  b.getIntegerAttr(type.getElementType(), 1)));
    Value within = vector::BroadcastOp::create(b, active.getType(),
                                               isWithinRounds(b, unit));
    operands[1] = choose(both(active, within), operands[1], ones);
  }
  OperationState state(op->getLoc(), op->getName(), operands,
                       vectorsOf(op->getResultTypes()));
  state.propertiesAttr = op->getPropertiesAsAttribute();
  map(op->getResults(), b.create(state)->getResults());
}

void VectorEmitter::convert(uprog::WhileOp loop) {
  Block &before = loop.getBefore().front(), &after = loop.getBody().front();
  auto condition = cast<uprog::ConditionOp>(before.getTerminator());
  SmallVector<Value> read; // results with users
  for (Value result : loop.getResults())
    if (!result.use_empty())
      read.push_back(result);
  SmallVector<Value> carried = getVectors(loop.getInits());
  carried.push_back(active);
  for (Value result : read)
    carried.push_back(zeros(result.getType()));
  SmallVector<Type> types = vectorsOf(after.getArgumentTypes());
  types.push_back(active.getType());
  llvm::append_range(types, vectorsOf(TypeRange(ValueRange(read))));
  auto made = scf::WhileOp::create(b, types, carried);
  OpBuilder::InsertionGuard guard(b);
  Value outer = active;
  auto begin = [&](Region &region, Block &from, TypeRange of) {
    SmallVector<Location> locs(of.size(), loop.getLoc());
    Block *block = b.createBlock(&region, {}, of, locs);
    unsigned count = from.getNumArguments();
    map(from.getArguments(), block->getArguments().take_front(count));
    active = block->getArgument(count);
    convert(from);
    return block->getArguments().drop_front(count + 1);
  };
  {
    auto last = begin(made.getBefore(), before, TypeRange(ValueRange(carried)));
    SmallVector<Value> values = getVectors(condition.getValues());
    Value goes = both(active, getVector(condition.getCondition()));
    SmallVector<Value> kept;
    for (auto [result, old] : llvm::zip_equal(read, last))
      kept.push_back(choose(
          active, values[cast<OpResult>(result).getResultNumber()], old));
    values.push_back(goes);
    llvm::append_range(values, kept);
    scf::ConditionOp::create(b, isAny(goes), values);
  }
  auto last = begin(made.getAfter(), after, types);
  SmallVector<Value> next = getVectors(after.getTerminator()->getOperands());
  next.push_back(active);
  llvm::append_range(next, last);
  scf::YieldOp::create(b, next);
  active = outer;
  map(read, made.getResults().take_back(read.size()));
}

void VectorEmitter::convert(uprog::ForOp loop) {
  Block &body = loop.getBody().front();
  Value step = loop.getStep() ? uniform.lookup(loop.getStep())
                              : arith::ConstantIndexOp::create(b, 1);
  auto made = scf::ForOp::create(b, uniform.lookup(loop.getLower()),
                                 uniform.lookup(loop.getUpper()), step,
                                 getVectors(loop.getInits()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  uniform.map(body.getArgument(0), made.getInductionVar());
  map(body.getArguments().drop_front(), made.getRegionIterArgs());
  endLoopIfCancelled(made, function);
  convert(body);
  SmallVector<Value> next = getVectors(body.getTerminator()->getOperands());
  if (made.getBody()->mightHaveTerminator())
    made.getBody()->getTerminator()->erase();
  scf::YieldOp::create(b, next);
  map(loop.getResults(), made.getResults());
}

/// Converts a branch. Each path runs if at least one instance takes it.
void VectorEmitter::convert(uprog::BranchOp branch) {
  Value selector = getVector(branch.getSelector());
  Value outer = active, rest = active;
  SmallVector<Value> chosen;
  for (Type type : branch.getResultTypes())
    chosen.push_back(zeros(type));
  auto takeWay = [&](Region &region, Value mask) {
    auto made = scf::IfOp::create(b, TypeRange(ValueRange(chosen)), isAny(mask),
                                  /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    auto end = [&](Block *block, ValueRange values) {
      if (block->mightHaveTerminator())
        block->getTerminator()->erase();
      b.setInsertionPointToEnd(block);
      scf::YieldOp::create(b, values);
    };
    end(made.elseBlock(), chosen);
    if (made.thenBlock()->mightHaveTerminator())
      made.thenBlock()->getTerminator()->erase();
    b.setInsertionPointToEnd(made.thenBlock());
    active = mask;
    convert(region.front());
    active = outer;
    SmallVector<Value> values =
        getVectors(region.front().getTerminator()->getOperands());
    for (auto [value, old] : llvm::zip_equal(values, chosen))
      value = choose(mask, value, old);
    scf::YieldOp::create(b, values);
    chosen.assign(made.getResults().begin(), made.getResults().end());
  };
  for (auto [number, region] :
       llvm::zip_equal(branch.getCases(), branch.getCaseRegions())) {
    Value wanted = vector::BroadcastOp::create(
        b, selector.getType(), arith::ConstantIndexOp::create(b, number));
    Value is =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, selector, wanted);
    Value isNot =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, selector, wanted);
    takeWay(region, both(outer, is));
    rest = both(rest, isNot);
  }
  if (!branch.getDefaultRegion().empty())
    takeWay(branch.getDefaultRegion(), rest);
  map(branch.getResults(), chosen);
}

/// Counts the rounds of all instances in one counter, an upper bound on the
/// rounds of each instance.
void VectorEmitter::convert(uprog::NextRoundOp op) {
  ContextBuilder cb(b, op.getLoc(), unit.context);
  cb.endIfCancelled(function.getArgument(1));
  Value before = LLVM::LoadOp::create(b, b.getI64Type(), rounds);
  Value count = op.getCount()
                    ? arith::IndexCastOp::create(b, b.getI64Type(),
                                                 uniform.lookup(op.getCount()))
                    : constant(1);
  Value now = arith::AddIOp::create(b, before, count);
  // Limit the unsigned sum, so later sums do not overflow.
  now = arith::MinUIOp::create(b, now, constant(uprog::kTooManyRounds));
  LLVM::StoreOp::create(b, now, rounds);
  uniform.map(op.getResult(),
              arith::CmpIOp::create(b, arith::CmpIPredicate::ule, now,
                                    cb.loadCell(unit.state, kUnitMaxRounds))
                  .getResult());
}

/// Records the elements in the result rows of a task.
void VectorEmitter::collect(uprog::SiteOp site) {
  KernelOp kernel = lookupKernel(site);
  DenseMap<Value, Value> inputs;
  unsigned next = 0;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (!kernel.isShared(argument.getArgNumber()))
      inputs[argument] = site.getInputs()[next++];
  for (auto [i, row] : llvm::enumerate(site.getOutputs())) {
    const std::optional<SmallVector<Value>> made = findElements(kernel, i);
    for (Value element : *made) {
      if (Operation *op = element.getDefiningOp(); op && !isUniform(element))
        b.clone(*op, uniform);
      elements[row].push_back(inputs.lookup_or(element, element));
    }
  }
}

/// Returns the byte offset of an element in a row.
static int64_t findOffset(RankedTensorType type, int64_t position,
                          int64_t bytes) {
  if (type.getRank() == 0)
    return 0;
  int64_t extent = type.getShape().back();
  return position / extent * llvm::alignTo(extent * bytes, 64) +
         position % extent * bytes;
}

void VectorEmitter::store(uprog::ResultOp result) {
  ContextBuilder cb(b, result.getLoc(), unit.context);
  Value cells =
      cb.loadPointer(cb.loadField(ContextField::results), result.getNumber());
  auto type =
      result.getType() ? cast<RankedTensorType>(*result.getType()) : nullptr;
  SmallVector<Value> values =
      type ? getVectors(elements.lookup(result.getValue()))
           : SmallVector<Value>{getVector(result.getValue())};
  for (auto [i, instance] : llvm::enumerate(instances)) {
    Value row = type ? cb.loadCell(cells, instance) : Value();
    for (auto [e, numbers] : llvm::enumerate(values)) {
      Value number = vector::ExtractOp::create(b, numbers, int64_t(i));
      if (!type) {
        cb.storeCell(cells, instance, cb.toCell(number));
        continue;
      }
      if (isa<IndexType>(number.getType()))
        number = arith::IndexCastOp::create(b, b.getI64Type(), number);
      // An i1 is stored in a byte.
      if (number.getType().isInteger(1))
        number = arith::ExtUIOp::create(b, b.getI8Type(), number);
      int64_t bytes = number.getType().getIntOrFloatBitWidth() / 8;
      Value place =
          arith::AddIOp::create(b, row, constant(findOffset(type, e, bytes)));
      LLVM::StoreOp::create(
          b, number,
          LLVM::IntToPtrOp::create(b, unit.context.getType(), place));
    }
  }
}

/// Stores all results. If an instance may have run too many rounds, runs each
/// instance by itself instead.
void VectorEmitter::storeResults() {
  ContextBuilder cb(b, program.getLoc(), unit.context);
  Value first = function.getArgument(3), count = function.getArgument(4);
  Value within = isWithinRounds(b, unit);
  auto choice = scf::IfOp::create(b, within, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  for (uprog::ResultOp result : results)
    store(result);
  Value rest = arith::SubIOp::create(b, count, first);
  Value ended = arith::MinSIOp::create(b, rest, constant(width));
  LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::add,
                            cb.loadField(ContextField::ended), ended,
                            LLVM::AtomicOrdering::monotonic);
  b.setInsertionPointToStart(choice.elseBlock());
  Value end = arith::AddIOp::create(b, first, constant(width));
  end = arith::MinSIOp::create(b, end, count);
  auto loop = scf::ForOp::create(b, first, end, constant(1));
  b.setInsertionPointToStart(loop.getBody());
  Value instance =
      arith::IndexCastOp::create(b, b.getIndexType(), loop.getInductionVar());
  func::CallOp::create(b, program.getSymName(), TypeRange(),
                       ValueRange{function.getArgument(0),
                                  function.getArgument(1),
                                  function.getArgument(2), instance});
}

void VectorEmitter::convert(Operation *op) {
  InstanceCode code(b, op, unit);
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return compute(op);
  if (auto loop = dyn_cast<uprog::WhileOp>(op))
    return convert(loop);
  if (auto loop = dyn_cast<uprog::ForOp>(op))
    return convert(loop);
  if (auto branch = dyn_cast<uprog::BranchOp>(op))
    return convert(branch);
  if (auto round = dyn_cast<uprog::NextRoundOp>(op))
    return convert(round);
  if (auto site = dyn_cast<uprog::SiteOp>(op))
    return collect(site);
  if (auto result = dyn_cast<uprog::ResultOp>(op))
    return results.push_back(result);
  if (auto argument = dyn_cast<uprog::ArgumentOp>(op)) {
    auto take = [&](int64_t i) {
      return code.argument(argument.getNumber(), instances[i],
                           argument.getType());
    };
    if (isNumber(argument.getType()))
      return map(argument, take);
    for (int64_t i = 0; i < width; ++i)
      rows[argument].push_back(take(i));
    return;
  }
  if (auto row = dyn_cast<uprog::ParameterRowOp>(op)) {
    Value index = arith::IndexCastOp::create(b, b.getI64Type(),
                                             uniform.lookup(row.getIndex()));
    return uniform.map(row.getResult(), code.parameterRow(row, index, tables));
  }
  if (auto load = dyn_cast<uprog::LoadOp>(op)) {
    SmallVector<Value> indices;
    for (Value index : load.getIndices())
      indices.push_back(uniform.lookup(index));
    if (isUniform(load.getRow()))
      return uniform.map(
          load.getResult(),
          code.load(load, uniform.lookup(load.getRow()), indices, tables));
    SmallVector<Value> from = rows.lookup(load.getRow());
    map(load,
        [&](int64_t i) { return code.load(load, from[i], indices, tables); });
  }
}

void VectorEmitter::convert(Block &block) {
  for (Operation &op : block.without_terminator()) {
    b.setLoc(op.getLoc());
    convert(&op);
  }
}

func::FuncOp VectorEmitter::emit() {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  Type i64 = b.getI64Type();
  function = func::FuncOp::create(
      b, getVectorsName(program.getSymName()),
      b.getFunctionType({pointer, i64, i64, i64, i64}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  unit = makeSingleUnit(b, b.getLoc(),
                        makeInstanceUnit(b, b.getLoc(), function.getArgument(0),
                                         function.getArgument(1),
                                         function.getArgument(2)));
  rounds = unit.rounds;
  active = arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get({width}, b.getI1Type()), true));
  Value last = arith::SubIOp::create(b, function.getArgument(4), constant(1));
  for (int64_t i = 0; i < width; ++i) {
    Value number =
        arith::AddIOp::create(b, function.getArgument(3), constant(i));
    instances.push_back(arith::MinSIOp::create(b, number, last));
  }
  convert(program.getBody().front());
  storeResults();
  func::ReturnOp::create(b);
  return function;
}

func::FuncOp batch::makeVectorInstances(uprog::ProgramOp program, int64_t width,
                                        const InstanceTables &tables) {
  return VectorEmitter(program, width, tables).emit();
}
