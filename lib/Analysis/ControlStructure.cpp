//===- ControlStructure.cpp - What decides control, and recursion ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ControlStructure.h"

#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::batch;

/// The ADT of a value or of the elements of a list; null for other types.
static rec::AdtType getAdt(Type type) {
  while (auto list = dyn_cast<rec::ListType>(type))
    type = list.getElementType();
  return dyn_cast<rec::AdtType>(type);
}

/// True for functions, and for ops that are control. The regions of all other
/// ops only compute.
static bool isControl(Operation *op) {
  return isa<func::FuncDialect, rec::RecDialect, scf::SCFDialect>(
      op->getDialect());
}

/// Calls `visit` for the ops of `function`, regions that only compute left out.
static void walkControl(func::FuncOp function,
                        llvm::function_ref<WalkResult(Operation *)> visit) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (visit(op).wasInterrupted())
      return WalkResult::interrupt();
    return isControl(op) ? WalkResult::advance() : WalkResult::skip();
  });
}

//===----------------------------------------------------------------------===//
// StructuralControl
//===----------------------------------------------------------------------===//

StringRef TensorControl::getDescription() const {
  switch (reason) {
  case Unstructured:
    return "is not one block of structured control";
  case Force:
    return "waits for a tensor";
  case Element:
    return "reads an element of a tensor";
  case While:
    return "is a loop whose end is found by running it";
  case Decision:
    return "is decided by a value that was computed from a tensor";
  }
  llvm_unreachable("unknown reason");
}

StructuralControl::StructuralControl(const InstanceProgram &program)
    : program(program) {
  findReads();
  // Sets only grow, so this ends; a program without reads takes one sweep.
  do {
    changed = false;
    for (func::FuncOp function : program.getFunctions())
      walkControl(function, [&](Operation *op) {
        visit(op);
        return WalkResult::advance();
      });
  } while (changed);
  if (!control && !computed.empty())
    findDecisions();
}

void StructuralControl::findReads() {
  for (func::FuncOp function : program.getFunctions()) {
    if (!function.getBody().hasOneBlock()) {
      control = {function, TensorControl::Unstructured};
      return;
    }
    walkControl(function, [&](Operation *op) {
      if (isa<ForceOp>(op))
        control = {op, TensorControl::Force};
      else if (isa<tensor::ExtractOp>(op))
        control = {op, TensorControl::Element};
      else if (isa<scf::WhileOp>(op))
        control = {op, TensorControl::While};
      return control ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (control)
      return;
  }
}

void StructuralControl::findDecisions() {
  for (func::FuncOp function : program.getFunctions()) {
    walkControl(function, [&](Operation *op) {
      bool decided = false;
      if (auto branch = dyn_cast<scf::IfOp>(op))
        decided = isComputed(branch.getCondition());
      else if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
        decided = isComputed(branch.getArg());
      else if (auto match = dyn_cast<rec::MatchOp>(op))
        decided = isComputed(match.getValue());
      else if (auto elements = dyn_cast<rec::ElementsOp>(op))
        // A walk from link to link, which matches each.
        decided = isComputed(elements.getValue()) ||
                  isComputedField(elements, &rec::ListShape::rest);
      else if (auto loop = dyn_cast<scf::ForOp>(op))
        decided = isComputed(
            {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
      if (decided)
        control = {op, TensorControl::Decision};
      return decided ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (control)
      return;
  }
}

void StructuralControl::mark(ValueRange values) {
  for (Value value : values)
    if (!carriesTensor(value.getType()))
      changed |= computed.insert(value).second;
}

bool StructuralControl::isComputedField(rec::ElementsOp elements,
                                        unsigned rec::ListShape::*field) {
  rec::AdtOp adt = rec::lookupAdt(
      elements, elements.getValue().getType().getName(), symbols);
  auto shape = rec::getListShape(adt);
  return computedFields.contains({shape->link, (*shape).*field});
}

bool StructuralControl::isComputed(ValueRange values) const {
  return llvm::any_of(values,
                      [&](Value value) { return computed.contains(value); });
}

void StructuralControl::visit(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    func::FuncOp callee = program.getCallee(call);
    if (!callee || callee.isExternal())
      return;
    for (auto [operand, argument] :
         llvm::zip_equal(call.getOperands(), callee.getArguments()))
      if (isComputed(operand))
        mark(argument);
    for (auto ret : callee.getOps<func::ReturnOp>())
      for (auto [operand, result] :
           llvm::zip_equal(ret.getOperands(), call.getResults()))
        if (isComputed(operand))
          mark(result);
    return;
  }
  if (auto construct = dyn_cast<rec::ConstructOp>(op)) {
    // The tag is known, whatever the fields are.
    rec::VariantOp variant =
        rec::lookupVariant(op, construct.getVariantAttr(), symbols);
    for (auto [index, field] : llvm::enumerate(construct.getFields()))
      if (isComputed(field))
        changed |= computedFields.insert({variant, index}).second;
    return;
  }
  if (auto match = dyn_cast<rec::MatchOp>(op)) {
    for (auto [number, region] : llvm::enumerate(match.getRegions())) {
      rec::VariantOp variant = rec::lookupCase(match, number, symbols);
      for (BlockArgument argument : region.getArguments())
        if (isComputed(match.getValue()) ||
            computedFields.contains({variant, argument.getArgNumber()}))
          mark(argument);
    }
    return;
  }
  if (auto elements = dyn_cast<rec::ElementsOp>(op)) {
    if (isComputed(elements.getValue()) ||
        isComputedField(elements, &rec::ListShape::element) ||
        isComputedField(elements, &rec::ListShape::rest))
      mark(elements.getResult());
    return;
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return visitTerminator(op);
  if (isControl(op)) {
    // Which loop argument an operand becomes hardly matters here.
    if (!isa<func::FuncOp, scf::IfOp, scf::IndexSwitchOp, rec::LengthOp>(op) &&
        isComputed(op->getOperands())) {
      mark(op->getResults());
      for (Region &region : op->getRegions())
        mark(region.getArguments());
    }
    return;
  }
  bool readsTensor =
      !isa<DepthOp, SettleOp, tensor::DimOp, tensor::RankOp>(op) &&
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>);
  if (readsTensor || isComputed(op->getOperands()))
    mark(op->getResults());
}

void StructuralControl::visitTerminator(Operation *op) {
  Operation *parent = op->getParentOp();
  if (isa<func::FuncOp>(parent))
    return;
  if (isa<LoopLikeOpInterface>(parent) && !isa<rec::MapOp>(parent)) {
    if (!isComputed(op->getOperands()))
      return;
    mark(parent->getResults());
    for (Region &region : parent->getRegions())
      mark(region.getArguments());
    return;
  }
  for (auto [operand, result] :
       llvm::zip(op->getOperands(), parent->getResults()))
    if (isComputed(operand))
      mark(result);
}

//===----------------------------------------------------------------------===//
// RecursionClasses
//===----------------------------------------------------------------------===//

/// The element of `loop` that stands for list operand `position`; null for the
/// initial values of a fold.
static BlockArgument getElement(Operation *loop, unsigned position) {
  if (auto map = dyn_cast<rec::MapOp>(loop))
    return map.getElements()[position];
  auto fold = cast<rec::FoldOp>(loop);
  return position < fold.getLists().size() ? fold.getElements()[position]
                                           : BlockArgument();
}

/// The list of `loop` whose element is `argument`; null for accumulators.
static Value getList(Operation *loop, BlockArgument argument) {
  if (auto map = dyn_cast<rec::MapOp>(loop))
    return map.getLists()[argument.getArgNumber()];
  auto fold = cast<rec::FoldOp>(loop);
  for (auto [list, element] :
       llvm::zip_equal(fold.getLists(), fold.getElements()))
    if (element == argument)
      return list;
  return Value();
}

/// What a value is a part of: an argument of a case of the value that is
/// matched, one of a loop body of the list that is walked, a list of elements
/// of the value whose elements they are. Null for other values.
static Value getContainer(Value part) {
  if (auto elements = part.getDefiningOp<rec::ElementsOp>())
    return elements.getValue();
  auto argument = dyn_cast<BlockArgument>(part);
  if (!argument)
    return Value();
  Operation *owner = argument.getOwner()->getParentOp();
  if (auto match = dyn_cast<rec::MatchOp>(owner))
    return match.getValue();
  if (isa<rec::MapOp, rec::FoldOp>(owner))
    return getList(owner, argument);
  return Value();
}

static bool isFunctionArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// The ADT argument of the function around `value` that `value` is or is a part
/// of: a field of a match, an element of a list. Null if there is none.
static BlockArgument getWhole(Value value) {
  if (!getAdt(value.getType()))
    return {};
  while (value && !isFunctionArgument(value))
    value = getContainer(value);
  return cast_or_null<BlockArgument>(value);
}

RecursionClasses::RecursionClasses(const InstanceProgram &program,
                                   const Sharedness &sharedness)
    : program(program), sharedness(sharedness) {
  for (ArrayRef<func::FuncOp> component : program.getComponents())
    if (program.isRecursive(component.front()))
      classes.push_back(classify(component));
}

RecursionClass
RecursionClasses::classify(ArrayRef<func::FuncOp> component) const {
  RecursionClass result;
  result.functions.assign(component.begin(), component.end());
  // The loop runs one function per node type.
  DenseSet<Type> adts;
  result.onePass = llvm::all_of(component, [&](func::FuncOp function) {
    if (!isOnePass(function))
      return false;
    for (Type type : function.getArgumentTypes())
      if (isa<rec::AdtType>(type) && !adts.insert(type).second)
        return false;
    return true;
  });
  return result;
}

/// True if every node that a call in `function` reaches is visited: each field
/// that may hold one is handed to a recursive call, whatever the other fields.
/// Of a list-shaped ADT the elements may be handed on instead, if they are all
/// that there is to visit.
bool RecursionClasses::coversAllNodes(func::FuncOp function) const {
  BlockArgument node;
  for (BlockArgument argument : function.getArguments())
    if (isa<rec::AdtType>(argument.getType()))
      node = argument;
  // A pass visits all nodes that there is a function of the component for.
  DenseSet<Type> visited;
  for (func::FuncOp other :
       program.getComponents()[program.getComponent(function)])
    visited.insert(other.getArgumentTypes().begin(),
                   other.getArgumentTypes().end());
  SymbolTableCollection symbols;
  auto lookup = [&](rec::AdtType type) {
    return rec::lookupAdt(function, type.getName(), symbols);
  };
  auto holdsNodes = [&](Type type) {
    SetVector<rec::AdtType> held;
    auto add = [&](Type type) {
      if (rec::AdtType adt = getAdt(type))
        held.insert(adt);
    };
    add(type);
    for (size_t i = 0; i < held.size(); ++i) {
      if (visited.contains(held[i]))
        return true;
      for (rec::VariantOp variant : lookup(held[i]).getVariants())
        llvm::for_each(variant.getFieldTypes().getAsValueRange<TypeAttr>(),
                       add);
    }
    return false;
  };
  auto holdsElementsOnly = [&](rec::AdtType type) {
    rec::VariantOp end = rec::getListShape(lookup(type))->end;
    return !visited.contains(type) &&
           llvm::none_of(end.getFieldTypes().getAsValueRange<TypeAttr>(),
                         holdsNodes);
  };
  auto isCalled = [&](Value value, Block *block) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto call = dyn_cast<func::CallOp>(user);
      return call && call->getBlock() == block && program.isRecursiveCall(call);
    });
  };
  // A list is handed on if its elements are.
  auto isHandedOn = [&](Value value, Block *block) {
    if (isCalled(value, block))
      return true;
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      Operation *loop = use.getOwner();
      if (!isa<rec::ListType>(value.getType()) ||
          !isa<rec::MapOp, rec::FoldOp>(loop) || loop->getBlock() != block)
        return false;
      BlockArgument element = getElement(loop, use.getOperandNumber());
      return element && isCalled(element, element.getOwner());
    });
  };
  for (Operation *user : node.getUsers()) {
    auto match = dyn_cast<rec::MatchOp>(user);
    if (!match || match->getBlock() != &function.getBody().front())
      continue;
    for (Region &region : match.getRegions())
      for (BlockArgument field : region.getArguments()) {
        if (!holdsNodes(field.getType()))
          continue;
        bool covered = isHandedOn(field, &region.front());
        for (Operation *part : field.getUsers())
          if (auto elements = dyn_cast<rec::ElementsOp>(part))
            covered |= holdsElementsOnly(elements.getValue().getType()) &&
                       isHandedOn(elements.getList(), &region.front());
        if (!covered)
          return false;
      }
    return true;
  }
  return false;
}

/// True if all calls hand `function` parts of the entry's arguments: the nodes
/// that a pass over the input visits. Values that the program builds are none.
bool RecursionClasses::takesInputs(func::FuncOp function) const {
  SmallVector<BlockArgument> worklist;
  DenseSet<Value> seen;
  auto add = [&](BlockArgument argument) {
    if (getAdt(argument.getType()) && seen.insert(argument).second)
      worklist.push_back(argument);
  };
  llvm::for_each(function.getArguments(), add);
  for (size_t i = 0; i < worklist.size(); ++i) {
    BlockArgument argument = worklist[i];
    auto owner = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (owner == program.getEntry())
      continue;
    for (func::CallOp call : program.getCallers(owner)) {
      BlockArgument whole = getWhole(call.getOperand(argument.getArgNumber()));
      if (!whole)
        return false;
      add(whole);
    }
  }
  return true;
}

bool RecursionClasses::isOnePass(func::FuncOp function) const {
  unsigned nodes = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (isa<rec::AdtType>(argument.getType()))
      ++nodes;
    else if (!sharedness.getParameter(argument))
      return false;
  }
  if (nodes != 1 || !coversAllNodes(function) || !takesInputs(function))
    return false;
  // A recursive call goes to a part of the node: a field of a match, or an
  // element of a list of one.
  for (func::CallOp call : program.getCallers(function)) {
    Value node;
    for (Value operand : call.getOperands())
      if (isa<rec::AdtType>(operand.getType()))
        node = operand;
    auto argument = dyn_cast<BlockArgument>(node);
    if (!argument)
      return false;
    Operation *owner = argument.getOwner()->getParentOp();
    bool recursive = program.isRecursiveCall(call);
    if (!isa<rec::MatchOp, rec::MapOp, rec::FoldOp>(owner) &&
        (recursive || owner != program.getEntry()))
      return false;
    if (recursive && owner->getParentOfType<func::FuncOp>() !=
                         call->getParentOfType<func::FuncOp>())
      return false;
  }
  return true;
}
