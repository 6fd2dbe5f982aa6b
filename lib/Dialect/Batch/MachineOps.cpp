//===- MachineOps.cpp - Programs of blocks and variables ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FunctionSyntax.h"
#include "Batch/Dialect/Batch/Batch.h"

#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::batch;

//===----------------------------------------------------------------------===//
// MachineOp
//===----------------------------------------------------------------------===//

void MachineOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      TypeRange shared) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name),
                     TypeAttr::get(builder.getFunctionType(shared, {})));
  Block &body = state.addRegion()->emplaceBlock();
  body.addArguments(shared,
                    SmallVector<Location>(shared.size(), state.location));
}

ParseResult MachineOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<MachineOp>(parser, result);
}

void MachineOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }

LogicalResult MachineOp::verify() {
  if (!getResultTypes().empty())
    return emitOpError(
        "must not have results; variables store the results of the entry");
  for (unsigned i = 0, e = getNumArguments(); i < e; ++i)
    if (!getArgAttr(i, kSharedAttr))
      return emitOpError("argument #")
             << i
             << " must have 'batch.shared'; values that differ between "
                "instances belong in variables";
  return success();
}

LogicalResult MachineOp::verifyRegions() {
  for (Operation &op : getBody().getOps())
    if (!isa<VariableOp, BlockOp>(op))
      return op.emitOpError("must be in a batch.block");
  if (getOps<BlockOp>().empty())
    return emitOpError("requires at least one batch.block");
  llvm::SmallSet<int64_t, 8> arguments, results;
  for (VariableOp variable : getOps<VariableOp>()) {
    std::optional<int64_t> argument = variable.getArgumentNumber();
    if (argument && !arguments.insert(*argument).second)
      return variable.emitOpError("duplicates the variable of argument #")
             << *argument;
    std::optional<int64_t> result = variable.getResultNumber();
    if (result && !results.insert(*result).second)
      return variable.emitOpError("duplicates the variable of result #")
             << *result;
  }
  for (int64_t i = 0, e = results.size(); i < e; ++i)
    if (!results.contains(i))
      return emitOpError("has no variable for result #") << i;
  return success();
}

//===----------------------------------------------------------------------===//
// VariableOp
//===----------------------------------------------------------------------===//

bool VariableOp::isValidType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type);
      tensor && tensor.hasStaticShape() &&
      !llvm::is_contained(tensor.getShape(), 0))
    type = tensor.getElementType();
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() <= 64;
  return isa<IndexType, Float16Type, BFloat16Type, Float32Type, Float64Type>(
      type);
}

LogicalResult VariableOp::verify() {
  if (!isValidType(getType()))
    return emitOpError("must be an integer of at most 64 bits, an index, f16, "
                       "bf16, f32, f64 or a nonempty static tensor of them, "
                       "got ")
           << getType();
  for (std::optional<int64_t> number : {getArgumentNumber(), getResultNumber()})
    if (number && *number < 0)
      return emitOpError(
          "has a negative argument or result number; numbers start at 0");
  return success();
}

//===----------------------------------------------------------------------===//
// BlockOp
//===----------------------------------------------------------------------===//

LogicalResult BlockOp::verifyRegions() {
  if (!isa<JumpOp, BranchOp, PushJumpOp, ReturnOp>(
          getBody().front().getTerminator()))
    return emitOpError("must end in batch.jump, batch.branch, batch.push_jump "
                       "or batch.return");
  return success();
}

SmallVector<StringAttr> BlockOp::getTargets() {
  Operation *end = getBody().front().getTerminator();
  if (auto jump = dyn_cast<JumpOp>(end))
    return {jump.getTargetAttr().getAttr()};
  if (auto branch = dyn_cast<BranchOp>(end))
    return {branch.getTrueTargetAttr().getAttr(),
            branch.getFalseTargetAttr().getAttr()};
  if (auto call = dyn_cast<PushJumpOp>(end))
    return {call.getTargetAttr().getAttr(), call.getReturnToAttr().getAttr()};
  return {};
}

//===----------------------------------------------------------------------===//
// Ops that name variables
//===----------------------------------------------------------------------===//

/// Checks that `op` names a variable. If `value` is not null, the variable must
/// have the type of `value`. If `needsStack` is true, it must have a stack.
static LogicalResult verifyVariable(Operation *op, FlatSymbolRefAttr name,
                                    Value value, bool needsStack,
                                    SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError("refers to unknown batch.variable ") << name;
  if (value && value.getType() != variable.getType())
    return op->emitOpError("variable ")
           << name << " has type " << variable.getType()
           << ", but the value has type " << value.getType();
  if (needsStack && !variable.getStack())
    return op->emitOpError("variable ")
           << name << " has no stack; declare it with 'stack'";
  return success();
}

LogicalResult TopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, getVariableAttr(), getValue(),
                        /*needsStack=*/false, symbols);
}

LogicalResult SetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, getVariableAttr(), getValue(),
                        /*needsStack=*/false, symbols);
}

LogicalResult PushOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, getVariableAttr(), getValue(),
                        /*needsStack=*/true, symbols);
}

LogicalResult PopOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyVariable(*this, getVariableAttr(), /*value=*/{},
                        /*needsStack=*/true, symbols);
}

//===----------------------------------------------------------------------===//
// Terminators
//===----------------------------------------------------------------------===//

/// Checks that the blocks named by `end` exist.
static LogicalResult verifyTargets(Operation *end,
                                   SymbolTableCollection &symbols) {
  for (StringAttr target : cast<BlockOp>(end->getParentOp()).getTargets())
    if (!symbols.lookupNearestSymbolFrom<BlockOp>(end, target))
      return end->emitOpError("refers to unknown batch.block ")
             << FlatSymbolRefAttr::get(target);
  return success();
}

LogicalResult JumpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyTargets(*this, symbols);
}

LogicalResult BranchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyTargets(*this, symbols);
}

LogicalResult PushJumpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyTargets(*this, symbols);
}
