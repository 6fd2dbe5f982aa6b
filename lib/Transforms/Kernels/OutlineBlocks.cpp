//===- OutlineBlocks.cpp - A kernel for each block of a machine -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::batch {
#define GEN_PASS_DEF_OUTLINEBLOCKSPASS
#include "Batch/Transforms/Kernels/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// State of a variable's stack at some point of a block. The block has popped
/// `popped` of the initial rows, and pushed `values` above the remaining rows,
/// the last value at the top. A null value is a copy of the row below it.
struct StackState {
  int64_t popped = 0;
  SmallVector<Value> values;
  /// Rows whose initial values the block reads.
  llvm::SmallSetVector<int64_t, 2> reads;
  SmallVector<Operation *> changes; ///< in program order
};

/// Row of a variable at the start of the block.
using Row = std::pair<StringAttr, int64_t>;

/// Rewrites one block.
class BlockOutliner {
public:
  BlockOutliner(BlockOp block, SymbolTable &moduleSymbols)
      : block(block), machine(block->getParentOfType<MachineOp>()),
        body(block.getBody().front()), builder(block.getContext()),
        moduleSymbols(moduleSymbols) {}

  void run();

private:
  Value read(TopOp top);
  void trace();
  void findMade();
  void makePrologue();
  void makeKernel();
  void makeEpilogue();
  bool isCopied(Value value);
  Value getResult(Value value);

  BlockOp block;
  MachineOp machine;
  Block &body;
  OpBuilder builder;
  SymbolTable &moduleSymbols;
  llvm::MapVector<StringAttr, StackState> states;
  /// Maps a read to the value that it sees: a value of the block, or the first
  /// read of the same row.
  DenseMap<Value, Value> seen;
  llvm::MapVector<Row, Value> rows;
  DenseMap<Value, Row> rowOf;
  /// Values that the kernel computes for variables and the condition, shared
  /// values that it reads, and the ops that it consists of.
  llvm::SmallSetVector<Value, 8> made, shared;
  llvm::SetVector<Operation *> slice;
  llvm::SmallSetVector<Value, 8> inputs;
  SmallVector<Operation *> old;
  DenseMap<Value, Value> inputRows; ///< rows of kernel inputs, in the new code
  DenseMap<Value, Value> results;   ///< results of the kernel, by the values
                                    ///< that they replace
};

} // namespace

/// Returns the tensor type of a variable for values of type `type`. A scalar
/// becomes a tensor of rank 0.
static RankedTensorType getRowType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor;
  return RankedTensorType::get({}, type);
}

/// Returns the value that a read of a variable sees.
Value BlockOutliner::read(TopOp top) {
  StackState &state = states[top.getVariableAttr().getAttr()];
  for (Value value : llvm::reverse(state.values))
    if (value)
      return value;
  state.reads.insert(state.popped);
  Row row(top.getVariableAttr().getAttr(), state.popped);
  auto [it, isNew] = rows.try_emplace(row, top.getValue());
  rowOf[it->second] = row;
  return it->second;
}

/// Records the effects of the block's operations on variables.
void BlockOutliner::trace() {
  auto see = [&](Value value) {
    auto known = seen.find(value);
    return known == seen.end() ? value : known->second;
  };
  for (Operation &op : body.without_terminator()) {
    old.push_back(&op);
    if (auto top = dyn_cast<TopOp>(op)) {
      seen[top.getValue()] = read(top);
      continue;
    }
    auto name = op.getAttrOfType<FlatSymbolRefAttr>("variable");
    if (!name || !isa<SetOp, PushOp, PopOp>(op))
      continue;
    StackState &state = states[name.getAttr()];
    state.changes.push_back(&op);
    if (auto push = dyn_cast<PushOp>(op)) {
      state.values.push_back(push.getValue() ? see(push.getValue()) : Value());
      continue;
    }
    if (state.values.empty())
      ++state.popped;
    else
      state.values.pop_back();
    if (auto set = dyn_cast<SetOp>(op))
      state.values.push_back(see(set.getValue()));
  }
}

/// Returns true if `value` is a row of a variable that the block does not
/// change. Such a row can be copied instead of computed.
bool BlockOutliner::isCopied(Value value) {
  auto row = rowOf.find(value);
  return row != rowOf.end() && states[row->second.first].changes.empty();
}

/// Finds the values that the kernel has to compute.
void BlockOutliner::findMade() {
  auto need = [&](Value value) {
    auto known = seen.find(value);
    if (known != seen.end())
      value = known->second;
    if (!isCopied(value))
      made.insert(value);
  };
  for (auto &[name, state] : states)
    for (Operation *change : state.changes)
      for (Value value : change->getOperands())
        need(value);
  for (Value condition : body.getTerminator()->getOperands())
    need(condition);

  // Follow the operands and captures of the ops that compute `made`.
  SmallVector<Value> work(made.getArrayRef());
  DenseSet<Value> visited;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    auto known = seen.find(value);
    if (known != seen.end())
      value = known->second;
    if (!visited.insert(value).second)
      continue;
    if (rowOf.count(value)) {
      inputs.insert(value);
    } else if (isa<BlockArgument>(value)) {
      shared.insert(value);
    } else {
      Operation *op = value.getDefiningOp();
      slice.insert(op);
      llvm::append_range(work, op->getOperands());
      for (Region &region : op->getRegions())
        visitUsedValuesDefinedAbove(region, [&](OpOperand *operand) {
          work.push_back(operand->get());
        });
    }
  }
}

/// Exposes rows below the top: pops the rows above them. Popped rows that the
/// block also reads are stored in separate variables.
void BlockOutliner::makePrologue() {
  auto readTop = [&](StringAttr name) {
    Type type = machine.lookupSymbol<VariableOp>(name).getType();
    return TopOp::create(builder, block.getLoc(), type, name).getValue();
  };
  DenseMap<Value, StringAttr> places;
  for (auto &[name, state] : states) {
    int64_t deepest = -1;
    for (int64_t row : state.reads)
      deepest = std::max(deepest, row);
    for (int64_t row = 0; row <= deepest; ++row) {
      auto read = rows.find({name, row});
      if (read != rows.end()) {
        StringAttr place = name;
        if (row < deepest) {
          auto variable =
              cast<VariableOp>(machine.lookupSymbol<VariableOp>(name)->clone());
          variable.setSymName(
              (block.getSymName() + "." + name.getValue() + "." + Twine(row))
                  .str());
          variable.setStack(false);
          variable.removeArgumentNumberAttr();
          variable.removeResultNumberAttr();
          SymbolTable(machine).insert(variable,
                                      machine.getBody().front().begin());
          place = variable.getSymNameAttr();
          SetOp::create(builder, block.getLoc(), place, readTop(name));
        }
        places[read->second] = place;
      }
      if (row < deepest)
        PopOp::create(builder, block.getLoc(), name);
    }
  }
  for (Value input : inputs)
    inputRows[input] = readTop(places.lookup(input));
}

void BlockOutliner::makeKernel() {
  if (made.empty())
    return;
  Location loc = block.getLoc();
  SmallVector<Type> argumentTypes, resultTypes;
  SmallVector<Value> operands;
  for (Value input : inputs) {
    argumentTypes.push_back(getRowType(input.getType()));
    operands.push_back(inputRows.lookup(input));
  }
  for (Value argument : shared) {
    argumentTypes.push_back(argument.getType());
    operands.push_back(argument);
  }
  for (Value value : made)
    resultTypes.push_back(getRowType(value.getType()));

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(machine);
  SmallVector<Attribute> attributes(inputs.size(),
                                    builder.getDictionaryAttr({}));
  for (Value argument : shared)
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(kSharedAttr, builder.getUnitAttr()),
         builder.getNamedAttr(
             kParameterAttr,
             builder.getI64IntegerAttr(
                 cast<BlockArgument>(argument).getArgNumber()))}));
  auto kernel = KernelOp::create(
      builder, loc, block.getSymName(),
      builder.getFunctionType(argumentTypes, resultTypes), /*phase=*/0,
      builder.getArrayAttr(attributes), /*res_attrs=*/ArrayAttr(),
      /*deferred=*/false);
  Block *code =
      builder.createBlock(&kernel.getBody(), {}, argumentTypes,
                          SmallVector<Location>(argumentTypes.size(), loc));
  moduleSymbols.insert(kernel);
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip(code->getArguments(), inputs)) {
    Value value = argument;
    if (value.getType() != input.getType())
      value = tensor::ExtractOp::create(builder, loc, value, ValueRange());
    mapping.map(input, value);
  }
  for (auto [i, argument] : llvm::enumerate(shared))
    mapping.map(argument, code->getArgument(inputs.size() + i));
  for (auto &[top, value] : seen)
    if (value != top)
      if (Value known = mapping.lookupOrNull(value))
        mapping.map(top, known);
  for (Operation *op : old) {
    if (isa<TopOp>(op)) {
      // The read may see a value that the block itself has computed.
      Value value = seen.lookup(op->getResult(0));
      if (Value known = mapping.lookupOrNull(value))
        mapping.map(op->getResult(0), known);
    } else if (slice.contains(op)) {
      builder.clone(*op, mapping);
    }
  }
  SmallVector<Value> yielded;
  for (Value value : made) {
    Value copy = mapping.lookup(value);
    if (!isa<RankedTensorType>(copy.getType()))
      copy = tensor::FromElementsOp::create(builder, loc,
                                            getRowType(copy.getType()), copy);
    yielded.push_back(copy);
  }
  YieldOp::create(builder, loc, yielded);

  builder.setInsertionPoint(body.getTerminator());
  auto invoke = InvokeOp::create(
      builder, loc, resultTypes,
      FlatSymbolRefAttr::get(kernel.getSymNameAttr()), operands, Value());
  for (auto [value, result] : llvm::zip(made, invoke.getOutputs()))
    results[value] = result;
}

Value BlockOutliner::getResult(Value value) {
  auto known = seen.find(value);
  if (known != seen.end())
    value = known->second;
  if (Value result = results.lookup(value))
    return result;
  StringAttr name = rowOf.lookup(value).first;
  Value &copy = results[value];
  copy =
      TopOp::create(builder, block.getLoc(), getRowType(value.getType()), name);
  return copy;
}

void BlockOutliner::makeEpilogue() {
  Location loc = block.getLoc();
  for (auto &[name, state] : states) {
    bool asWritten =
        llvm::all_of(state.reads, [](int64_t row) { return row == 0; });
    for (Operation *change : state.changes) {
      if (!asWritten)
        break;
      if (auto set = dyn_cast<SetOp>(change))
        SetOp::create(builder, loc, name, getResult(set.getValue()));
      else if (auto push = dyn_cast<PushOp>(change))
        PushOp::create(builder, loc, name,
                       push.getValue() ? getResult(push.getValue()) : Value());
      else
        PopOp::create(builder, loc, name);
    }
    if (asWritten)
      continue;
    // The prologue has already popped some rows. The epilogue pops the
    // remaining ones.
    int64_t pops = state.popped - *llvm::max_element(state.reads.getArrayRef());
    ArrayRef<Value> values = state.values;
    for (; pops > (values.empty() ? 0 : 1); --pops)
      PopOp::create(builder, loc, name);
    if (pops == 1 && values.front()) {
      SetOp::create(builder, loc, name, getResult(values.front()));
      values = values.drop_front();
    } else if (pops == 1) {
      PopOp::create(builder, loc, name);
    }
    for (Value value : values)
      PushOp::create(builder, loc, name, value ? getResult(value) : Value());
  }
}

void BlockOutliner::run() {
  trace();
  findMade();
  builder.setInsertionPoint(body.getTerminator());
  makePrologue();
  makeKernel();
  makeEpilogue();
  if (auto branch = dyn_cast<batch::BranchOp>(body.getTerminator())) {
    Value condition = getResult(branch.getCondition());
    branch.getConditionMutable().assign(tensor::ExtractOp::create(
        builder, block.getLoc(), condition, ValueRange()));
  }
  for (Operation *op : llvm::reverse(old))
    op->erase();
}

namespace {
class OutlineBlocksPass
    : public batch::impl::OutlineBlocksPassBase<OutlineBlocksPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto machine : getOperation().getOps<MachineOp>()) {
      auto blocks = machine.getBody().getOps<BlockOp>();
      if (llvm::any_of(blocks, [](BlockOp block) {
            return !block.getBody().front().getOps<InvokeOp>().empty();
          }))
        continue; // already outlined
      SmallVector<VariableOp> variables(machine.getBody().getOps<VariableOp>());
      for (auto variable : variables)
        variable.setType(getRowType(variable.getType()));
      for (auto block : blocks)
        BlockOutliner(block, symbols).run();
    }
  }
};
} // namespace
