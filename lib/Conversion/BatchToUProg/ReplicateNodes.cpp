//===- ReplicateNodes.cpp - Data structures on all units ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReplicateNodes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns the function argument on which the recursion descends.
static BlockArgument getNode(func::FuncOp function) {
  return *llvm::find_if(function.getArguments(), [](BlockArgument argument) {
    return isa<rec::AdtType>(argument.getType());
  });
}

/// Returns the number of variants of an ADT.
static int64_t countVariants(Operation *from, Type type) {
  auto adt = SymbolTable::lookupNearestSymbolFrom<rec::AdtOp>(
      from, cast<rec::AdtType>(type).getName());
  return llvm::range_size(adt.getVariants());
}

Value NodeConverter::makeConstant(Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(rest.builder, loc, value);
}

LogicalResult NodeConverter::convert(Operation *op) {
  if (auto match = dyn_cast<rec::MatchOp>(op))
    return convert(match);
  if (auto construct = dyn_cast<rec::ConstructOp>(op))
    return convert(construct);
  return convert(cast<func::CallOp>(op));
}

//===----------------------------------------------------------------------===//
// Matches and new values
//===----------------------------------------------------------------------===//

/// Converts a match to a branch on the variant. The last case is the default.
LogicalResult NodeConverter::convert(rec::MatchOp match) {
  OpBuilder &builder = rest.builder;
  Location loc = match.getLoc();
  Value matched = rest.mapping.lookup(match.getValue());
  auto adt = SymbolTable::lookupNearestSymbolFrom<rec::AdtOp>(
      match, match.getValue().getType().getName());
  SmallVector<int64_t> cases;
  for (auto [number, variant] : llvm::enumerate(adt.getVariants()))
    if (number + 1 < match.getNumRegions())
      cases.push_back(number);
  Value selector =
      uprog::VariantOp::create(builder, loc, builder.getIndexType(), matched);
  SmallVector<Type> types =
      llvm::map_to_vector(match.getResultTypes(),
                          [&](Type type) { return rest.convertType(type); });
  auto branch = uprog::BranchOp::create(builder, loc, types, selector, cases,
                                        cases.size());
  for (auto [number, variant] : llvm::enumerate(adt.getVariants())) {
    Region &from = *match.getCase(variant.getSymNameAttr());
    Region &to = number < cases.size() ? branch.getCaseRegions()[number]
                                       : branch.getDefaultRegion();
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&to);
    for (BlockArgument field : from.getArguments())
      rest.mapping.map(
          field, uprog::FieldOp::create(
                     builder, field.getLoc(), rest.convertType(field.getType()),
                     builder.getI64IntegerAttr(field.getArgNumber()), matched,
                     FlatSymbolRefAttr::get(variant))
                     .getResult());
    if (failed(rest.convertBlock(from.front())))
      return failure();
  }
  rest.mapping.map(match.getResults(), branch.getResults());
  return success();
}

LogicalResult NodeConverter::convert(rec::ConstructOp construct) {
  SmallVector<Value> fields =
      llvm::map_to_vector(construct->getOpOperands(), [&](OpOperand &operand) {
        return saveValue(operand);
      });
  rest.mapping.map(construct.getResult(),
                   uprog::ConstructOp::create(rest.builder, construct.getLoc(),
                                              construct.getResult().getType(),
                                              construct.getVariantAttr(),
                                              fields, node)
                       .getResult());
  return success();
}

/// Returns true if only kernels and reads of elements use a value. Other nodes
/// and the host then do not need the value.
static bool isTemporary(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<InvokeOp, tensor::ExtractOp>(user);
  });
}

static bool isInLoop(Value value) {
  return bool(value.getDefiningOp()->getParentOfType<LoopLikeOpInterface>());
}

Value NodeConverter::makeRow(OpResult result, const Twine &name) {
  if (!node || isTemporary(result) || isInLoop(result))
    return {};
  return makeRow(result.getLoc(), name, result.getType());
}

/// Creates a `uprog.node_rows` for tensors of nodes. Returns the row of the
/// current node.
Value NodeConverter::makeRow(Location loc, const Twine &name, Type type) {
  OpBuilder atModule(loc.getContext());
  auto rows = uprog::NodeRowsOp::create(
      atModule, loc, atModule.getStringAttr(name), TypeAttr::get(type));
  StringAttr unique = rest.symbols.insert(rows, Block::iterator(entry));
  return uprog::NodeRowOp::create(rest.builder, loc,
                                  uprog::RowType::get(loc.getContext()),
                                  FlatSymbolRefAttr::get(unique), node);
}

/// Returns true if a tensor is in a buffer that may be overwritten after the
/// round that computes the node. Such a tensor is computed in a loop, or is an
/// argument of the recursion.
bool NodeConverter::isInBuffer(Value tensor) const {
  return llvm::any_of(flow->getOrigins(tensor), [&](Value origin) {
    if (auto argument = dyn_cast<BlockArgument>(origin))
      return isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
             !sharedness.getParameter(argument);
    return origin.getDefiningOp<InvokeOp>() && isInLoop(origin);
  });
}

/// Returns the value of an operand that is used after the round of the current
/// node, by other nodes or the host. Copies a tensor if its buffer may be
/// overwritten.
Value NodeConverter::saveValue(OpOperand &operand) {
  Value value = rest.getValue(operand);
  Location loc = operand.getOwner()->getLoc();
  Type type = operand.get().getType();
  if (!isa<RankedTensorType>(type) || !isInBuffer(operand.get()))
    return value;
  Value row = makeRow(loc, entry.getSymName() + ".saved", type);
  uprog::CopyOp::create(rest.builder, loc, value, row, TypeAttr::get(type));
  return row;
}

//===----------------------------------------------------------------------===//
// Recursion
//===----------------------------------------------------------------------===//

LogicalResult NodeConverter::convert(func::CallOp call) {
  if (!program.isRecursiveCall(call) && failed(convertRecursion(call)))
    return failure();
  lookUp(call);
  return success();
}

/// Maps the results of a call to the stored results of its node.
void NodeConverter::lookUp(func::CallOp call) {
  func::FuncOp callee = program.getCallee(call);
  Value of =
      rest.mapping.lookup(call.getOperand(getNode(callee).getArgNumber()));
  uprog::NodeResultsOp table = results.lookup(callee);
  auto known = uprog::LookUpOp::create(
      rest.builder, call.getLoc(),
      llvm::to_vector(table.getTypes().getAsValueRange<TypeAttr>()),
      FlatSymbolRefAttr::get(table.getSymNameAttr()), of);
  rest.mapping.map(call.getResults(), known.getValues());
}

/// Returns true if an instance may have nodes of a type that `function` does
/// not take.
bool NodeConverter::readsOtherNodes(func::FuncOp function) {
  SymbolTableCollection symbols;
  SetVector<Type> adts;
  auto add = [&](Type type) {
    while (auto list = dyn_cast<rec::ListType>(type))
      type = list.getElementType();
    if (isa<rec::AdtType>(type))
      adts.insert(type);
  };
  llvm::for_each(entry.getArgumentTypes(), add);
  for (size_t i = 0; i < adts.size(); ++i) {
    rec::AdtOp adt =
        rec::lookupAdt(entry, cast<rec::AdtType>(adts[i]).getName(), symbols);
    for (rec::VariantOp variant : adt.getVariants())
      llvm::for_each(variant.getFieldTypes().getAsValueRange<TypeAttr>(), add);
  }
  adts.remove(getNode(function).getType());
  return !adts.empty();
}

/// Emits the code of a function at a node.
LogicalResult NodeConverter::convertNode(func::FuncOp function,
                                         func::CallOp call, Value number) {
  OpBuilder &builder = rest.builder;
  Location loc = function.getLoc();
  BlockArgument argument = getNode(function);
  node =
      uprog::NodeOp::create(builder, loc, argument.getType(), number, instance);
  OpBuilder::InsertionGuard guard(builder);
  if (readsOtherNodes(function)) {
    Value variant =
        uprog::VariantOp::create(builder, loc, builder.getIndexType(), node);
    Value isOne = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::ult, variant,
        makeConstant(loc, countVariants(function, argument.getType())));
    Value selector = arith::IndexCastUIOp::create(
        builder, loc, builder.getIndexType(), isOne);
    auto branch = uprog::BranchOp::create(builder, loc, TypeRange(), selector,
                                          ArrayRef<int64_t>{1}, 1);
    Block *block = builder.createBlock(&branch.getCaseRegions().front());
    uprog::YieldOp::create(builder, loc);
    builder.setInsertionPointToStart(block);
  }
  rest.mapping.map(argument, node);
  // Only the callee of `call` may take values other than nodes and parameters.
  if (function == program.getCallee(call))
    for (BlockArgument other : function.getArguments())
      if (other != argument && !sharedness.getParameter(other))
        rest.mapping.map(
            other, rest.getValue(call->getOpOperand(other.getArgNumber())));
  Block &body = function.getBody().front();
  flow.emplace(function);
  if (failed(rest.convertBlock(body)))
    return failure();
  SmallVector<Value> values;
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    values.push_back(saveValue(operand));
  uprog::RememberOp::create(
      builder, loc,
      FlatSymbolRefAttr::get(results.lookup(function).getSymNameAttr()), node,
      values);
  node = {};
  return success();
}

/// Replaces a call of a recursive function by a loop over all nodes up to the
/// argument of the call. No two functions of the recursion take nodes of the
/// same type.
LogicalResult NodeConverter::convertRecursion(func::CallOp call) {
  OpBuilder &builder = rest.builder;
  Location loc = call.getLoc();
  func::FuncOp callee = program.getCallee(call);
  ArrayRef<func::FuncOp> functions =
      program.getComponents()[program.getComponent(callee)];
  for (func::FuncOp function : functions) {
    OpBuilder atModule(builder.getContext());
    SmallVector<Type> types =
        llvm::map_to_vector(function.getResultTypes(),
                            [&](Type type) { return rest.convertType(type); });
    auto known = uprog::NodeResultsOp::create(
        atModule, loc,
        atModule.getStringAttr(function.getSymName() + ".results"),
        atModule.getTypeArrayAttr(types));
    rest.symbols.insert(known, Block::iterator(entry));
    results[function] = known;
  }
  Value root =
      rest.mapping.lookup(call.getOperand(getNode(callee).getArgNumber()));
  Value last = uprog::NodeNumberOp::create(builder, loc, builder.getIndexType(),
                                           root, instance);
  Value end = arith::AddIOp::create(builder, loc, last, makeConstant(loc, 1));
  auto loop = uprog::ForOp::create(builder, loc, makeConstant(loc, 0), end);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&loop.getBody().front());
  for (func::FuncOp function : functions)
    if (failed(convertNode(function, call, loop.getBody().getArgument(0))))
      return failure();
  return success();
}
