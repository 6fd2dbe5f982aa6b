//===- ControlStructure.cpp - Structure of control flow -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ControlStructure.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::batch;
using rec::ValueFlowEdge;

/// Returns the ADT of a value or of the elements of a list, or null for other
/// types.
static rec::AdtType getAdt(Type type) {
  while (auto list = dyn_cast<rec::ListType>(type))
    type = list.getElementType();
  return dyn_cast<rec::AdtType>(type);
}

/// Calls `visit` for `function` and its ops, except ops in the bodies of ops
/// that are not control flow, such as linalg ops.
static void walkControl(func::FuncOp function,
                        llvm::function_ref<void(Operation *)> visit) {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    visit(op);
    return isa<func::FuncOp, RegionBranchOpInterface>(op)
               ? WalkResult::advance()
               : WalkResult::skip();
  });
}

//===----------------------------------------------------------------------===//
// StructuralControl
//===----------------------------------------------------------------------===//

StringRef TensorControl::getDescription() const {
  switch (reason) {
  case Unstructured:
    return "is not one block of structured control flow";
  case Force:
    return "waits for a tensor";
  case Element:
    return "reads an element of a tensor that is not an input, field or "
           "parameter";
  case Decision:
    return "depends on a value that is computed from a tensor";
  }
  llvm_unreachable("unknown reason");
}

StructuralControl::StructuralControl(const InstanceProgram &program,
                                     const Sharedness &sharedness) {
  findReads(program, sharedness);
  findComputed(program);
  // Skip this step if no scalar is computed from tensors, as in most programs.
  if (!computed.empty())
    followComputed(program);
}

/// Adds to `computed` the scalars that ops compute from tensors, except
/// elements read from inputs.
void StructuralControl::findComputed(const InstanceProgram &program) {
  // Exclude extents, which depend on the data structure, not on computed
  // elements.
  ValueFlowWalker walker(program);
  for (func::FuncOp function : program.getFunctions())
    walker.walk(function, [&](Operation *op, const ValueFlowEdge &edge) {
      if (edge.kind == ValueFlowEdge::Compute && edge.from &&
          isa<TensorType>(edge.from.getType()) &&
          !carriesTensor(edge.to.getType()) &&
          !isa<tensor::DimOp, tensor::RankOp>(op) && !inputReads.contains(op))
        computed.insert(edge.to);
    });
}

bool InputTensors::contains(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  bool isAddressable = sharedness.getParameter(tensor)
                           ? static_cast<bool>(getReadRow(type))
                           : type.hasStaticShape() || rec::isRaggedTensor(type);
  if (!isAddressable)
    return false;
  if (!flow)
    flow.emplace(program);
  return flow->contains(tensor) && flow->holdsInputs(flow->getNode(tensor));
}

void StructuralControl::findReads(const InstanceProgram &program,
                                  const Sharedness &sharedness) {
  TensorCode code(program, sharedness);
  InputTensors inputs(program, sharedness);
  for (func::FuncOp function : program.getFunctions()) {
    auto note = [&](Operation *op, TensorControl::Reason reason) {
      if (!control)
        control = {op, reason};
    };
    if (!function.getBody().hasOneBlock())
      note(function, TensorControl::Unstructured);
    walkControl(function, [&](Operation *op) {
      auto extract = dyn_cast<tensor::ExtractOp>(op);
      if (isa<ForceOp>(op))
        return note(op, TensorControl::Force);
      if (!extract || code.contains(op))
        return;
      if (inputs.contains(extract.getTensor())) {
        inputReads.insert(op);
        return;
      }
      waits.push_back(extract);
      note(op, TensorControl::Element);
    });
  }
}

/// Adds to `computed` all values that depend on values in it, and finds the
/// first control flow that depends on any of these values.
void StructuralControl::followComputed(const InstanceProgram &program) {
  // A value, or a field identified by its variant and number.
  using Place = std::pair<void *, unsigned>;
  auto placeOf = [](Value value) {
    return Place(value.getAsOpaquePointer(), ~0u);
  };
  DenseMap<Place, SmallVector<Value, 2>> values;
  DenseMap<Place, SmallVector<Place, 1>> fields;
  SmallVector<std::pair<Operation *, Place>> decisions;
  auto add = [&](Place from, Value to) {
    if (!carriesTensor(to.getType()))
      values[from].push_back(to);
  };
  auto visit = [&](Operation *op, const ValueFlowEdge &edge) {
    if (!edge.from || carriesTensor(edge.from.getType()))
      return;
    Place from = placeOf(edge.from);
    Place field(edge.variant, edge.field);
    switch (edge.kind) {
    case ValueFlowEdge::Build:
      // The variant of a value does not depend on its fields.
      fields[from].push_back(field);
      return;
    case ValueFlowEdge::Read:
      add(field, edge.to);
      break;
    case ValueFlowEdge::Decide: {
      if (op->hasTrait<OpTrait::IsTerminator>())
        op = op->getParentOp();
      decisions.push_back({op, edge.variant ? field : from});
      // All values of a loop depend on its trip count.
      if (!isa<LoopLikeOpInterface>(op))
        return;
      for (Value result : op->getResults())
        add(from, result);
      for (Region &region : op->getRegions())
        for (BlockArgument argument : region.getArguments())
          add(from, argument);
      return;
    }
    case ValueFlowEdge::Count:
      return;
    default:
      break;
    }
    add(from, edge.to);
  };
  ValueFlowWalker walker(program);
  for (func::FuncOp function : program.getFunctions())
    walker.walk(function, visit);

  DenseSet<Place> reached;
  SmallVector<Place> worklist;
  auto reach = [&](Place place) {
    if (reached.insert(place).second)
      worklist.push_back(place);
  };
  for (Value value : computed)
    reach(placeOf(value));
  while (!worklist.empty()) {
    Place place = worklist.pop_back_val();
    for (Value value : values.lookup(place)) {
      computed.insert(value);
      reach(placeOf(value));
    }
    llvm::for_each(fields.lookup(place), reach);
  }
  if (control)
    return;
  auto decided = llvm::find_if(decisions, [&](const auto &decision) {
    return reached.contains(decision.second);
  });
  if (decided != decisions.end())
    control = {decided->first, TensorControl::Decision};
}

bool mlir::batch::mayWait(Operation *op, const InstanceProgram &program) {
  SmallVector<Operation *> worklist = {op};
  DenseSet<Operation *> seen = {op};
  while (!worklist.empty()) {
    WalkResult result = worklist.pop_back_val()->walk([&](Operation *inner) {
      if (auto call = dyn_cast<func::CallOp>(inner))
        if (func::FuncOp callee = program.getCallee(call);
            seen.insert(callee).second)
          worklist.push_back(callee);
      return isa<ForceOp>(inner) ? WalkResult::interrupt()
                                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// RecursionClasses
//===----------------------------------------------------------------------===//

/// Returns the value from which `item` is extracted. A field is extracted from
/// the matched value, an element from its list, and a list of elements from the
/// value of a list-shaped ADT. Returns null for other values.
static Value getContainer(Value item, SymbolTableCollection &symbols) {
  Operation *op = item.getDefiningOp();
  if (!op)
    op = cast<BlockArgument>(item).getOwner()->getParentOp();
  for (const ValueFlowEdge &edge : rec::getValueFlow(op, symbols))
    if (edge.to == item && (edge.kind == ValueFlowEdge::Element ||
                            edge.kind == ValueFlowEdge::Read))
      return edge.from;
  return Value();
}

static bool isFunctionArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Returns the function argument from which matches and list accesses extract
/// `value`, or `value` itself if it is an argument. Returns null for other
/// values, and if `value` contains no ADT values.
static BlockArgument getWhole(Value value, SymbolTableCollection &symbols) {
  if (!getAdt(value.getType()))
    return {};
  while (value && !isFunctionArgument(value))
    value = getContainer(value, symbols);
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
  // The loop over nodes runs one function per node type, so no two functions
  // may take the same type.
  DenseSet<Type> adts;
  result.onePassPerCall = llvm::all_of(component, [&](func::FuncOp function) {
    if (!isOnePass(function))
      return false;
    for (Type type : function.getArgumentTypes())
      if (isa<rec::AdtType>(type) && !adts.insert(type).second)
        return false;
    return true;
  });
  bool takesOthers = false;
  for (func::FuncOp function : component)
    for (BlockArgument argument : function.getArguments())
      takesOthers |= !isa<rec::AdtType>(argument.getType()) &&
                     !sharedness.getParameter(argument);
  result.onePass = result.onePassPerCall && !takesOthers;
  result.onePassPerCall &= !takesOthers || component.size() == 1;
  return result;
}

namespace {

/// Nodes visited by mutually recursive functions: all values of the ADTs that
/// any of these functions takes as an argument.
class VisitedNodes {
public:
  /// Finds the nodes visited by `function` and by the functions on a call cycle
  /// with it.
  VisitedNodes(const InstanceProgram &program, func::FuncOp function,
               SymbolTableCollection &symbols);

  /// Returns true if `field` contains no nodes, or if all of its nodes are
  /// passed to recursive calls. A match extracts `field`.
  bool coverField(BlockArgument field) const;

private:
  bool mayBeIn(Type type) const;
  bool areElementsOf(rec::AdtType type) const;
  bool isCalled(Value value, Block *block) const;
  bool isPassedToCall(Value value, Block *block) const;

  const InstanceProgram &program;
  func::FuncOp function;
  SymbolTableCollection &symbols;
  DenseSet<Type> types;
};

} // namespace

VisitedNodes::VisitedNodes(const InstanceProgram &program,
                           func::FuncOp function,
                           SymbolTableCollection &symbols)
    : program(program), function(function), symbols(symbols) {
  for (func::FuncOp other :
       program.getComponents()[program.getComponent(function)])
    types.insert(other.getArgumentTypes().begin(),
                 other.getArgumentTypes().end());
}

/// Returns true if a value of `type` may be a node or contain one at any depth.
bool VisitedNodes::mayBeIn(Type type) const {
  SetVector<rec::AdtType> held;
  auto add = [&](Type type) {
    if (rec::AdtType adt = getAdt(type))
      held.insert(adt);
  };
  add(type);
  for (size_t i = 0; i < held.size(); ++i) {
    if (types.contains(held[i]))
      return true;
    rec::AdtOp adt = rec::lookupAdt(function, held[i].getName(), symbols);
    for (rec::VariantOp variant : adt.getVariants())
      llvm::for_each(variant.getFieldTypes().getAsValueRange<TypeAttr>(), add);
  }
  return false;
}

/// Returns true if all nodes in a value of a list-shaped ADT are in its
/// elements.
bool VisitedNodes::areElementsOf(rec::AdtType type) const {
  rec::AdtOp adt = rec::lookupAdt(function, type.getName(), symbols);
  rec::VariantOp end = rec::getListShape(adt)->end;
  return !types.contains(type) &&
         llvm::none_of(end.getFieldTypes().getAsValueRange<TypeAttr>(),
                       [&](Type field) { return mayBeIn(field); });
}

/// Returns true if `value` is an argument of a recursive call in `block`.
bool VisitedNodes::isCalled(Value value, Block *block) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto call = dyn_cast<func::CallOp>(user);
    return call && call->getBlock() == block && program.isRecursiveCall(call);
  });
}

/// Returns true if `block` passes `value` to a recursive call or, if `value` is
/// a list, passes each element of the list to one.
bool VisitedNodes::isPassedToCall(Value value, Block *block) const {
  auto passesElements = [&](const ValueFlowEdge &edge) {
    auto element = dyn_cast_or_null<BlockArgument>(edge.to);
    return edge.kind == ValueFlowEdge::Element && edge.from == value &&
           element && isCalled(element, element.getOwner());
  };
  return isCalled(value, block) ||
         llvm::any_of(value.getUsers(), [&](Operation *user) {
           return user->getBlock() == block &&
                  llvm::any_of(rec::getValueFlow(user, symbols),
                               passesElements);
         });
}

bool VisitedNodes::coverField(BlockArgument field) const {
  if (!mayBeIn(field.getType()) || isPassedToCall(field, field.getOwner()))
    return true;
  return llvm::any_of(field.getUsers(), [&](Operation *user) {
    auto elements = dyn_cast<rec::ElementsOp>(user);
    return elements && areElementsOf(elements.getValue().getType()) &&
           isPassedToCall(elements.getList(), field.getOwner());
  });
}

/// Returns true if the recursion visits every node below the argument of
/// `function`. Each field that may contain a node must be passed to a recursive
/// call, regardless of the other fields. If a field has a list-shaped ADT, its
/// elements may be passed instead, provided that they contain all nodes of the
/// field.
bool RecursionClasses::coversAllNodes(func::FuncOp function) const {
  BlockArgument node;
  for (BlockArgument argument : function.getArguments())
    if (isa<rec::AdtType>(argument.getType()))
      node = argument;
  VisitedNodes visited(program, function, symbols);
  for (Operation *user : node.getUsers()) {
    auto match = dyn_cast<rec::MatchOp>(user);
    if (!match || match->getBlock() != &function.getBody().front())
      continue;
    return llvm::all_of(match.getRegions(), [&](Region &region) {
      return llvm::all_of(region.getArguments(), [&](BlockArgument field) {
        return visited.coverField(field);
      });
    });
  }
  return false;
}

/// Returns true if every call passes nodes of the entry's arguments to
/// `function`, and no call passes nodes that the program builds. A pass over
/// the input visits only the nodes of the entry's arguments.
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
      BlockArgument whole =
          getWhole(call.getOperand(argument.getArgNumber()), symbols);
      if (!whole)
        return false;
      add(whole);
    }
  }
  return true;
}

/// Returns true if `function` passes `argument` unchanged when it calls itself.
bool RecursionClasses::passesUnchanged(func::FuncOp function,
                                       BlockArgument argument) const {
  return llvm::all_of(program.getCallers(function), [&](func::CallOp call) {
    return call->getParentOfType<func::FuncOp>() != function ||
           call.getOperand(argument.getArgNumber()) == argument;
  });
}

/// Returns true if a loop over nodes can replace the recursion. If `function`
/// takes arguments other than a node and parameters, recursive calls must pass
/// them unchanged, and each call from outside needs its own loop.
bool RecursionClasses::isOnePass(func::FuncOp function) const {
  unsigned nodes = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (isa<rec::AdtType>(argument.getType()))
      ++nodes;
    else if (!sharedness.getParameter(argument) &&
             !passesUnchanged(function, argument))
      return false;
  }
  if (nodes != 1 || !coversAllNodes(function) || !takesInputs(function))
    return false;
  // A recursive call must pass a child of the node: a field of a match, or an
  // element of a list in such a field. The entry may also pass its own
  // argument.
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
    if (!getContainer(argument, symbols) &&
        (recursive || owner != program.getEntry()))
      return false;
    if (recursive && owner->getParentOfType<func::FuncOp>() !=
                         call->getParentOfType<func::FuncOp>())
      return false;
  }
  return true;
}
