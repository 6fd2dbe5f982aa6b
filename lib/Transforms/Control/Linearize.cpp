//===- Linearize.cpp - Create the inspector of a program ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Strategies.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

namespace mlir::batch {
#define GEN_PASS_DEF_LINEARIZEPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

class Linearizer {
public:
  explicit Linearizer(ModuleOp module)
      : module(module), symbols(module), program(module), sharedness(program) {}

  LogicalResult run();

private:
  LogicalResult makeInspector(func::FuncOp function);
  LogicalResult convertOp(Operation *op, OpBuilder &builder);
  LogicalResult convertExtent(tensor::DimOp dim, OpBuilder &builder);
  void convertRowView(tensor::ExtractSliceOp slice, OpBuilder &builder);
  LogicalResult convertRead(tensor::ExtractOp extract, OpBuilder &builder);
  LogicalResult convertWait(tensor::ExtractOp extract, ForceOp force,
                            OpBuilder &builder);
  LogicalResult convertInvoke(InvokeOp invoke, OpBuilder &builder);
  LogicalResult convertCall(func::CallOp call, OpBuilder &builder);
  bool isSharedCode(Operation *op) const;
  LogicalResult append(Operation *op, Value value, OpBuilder &builder,
                       SmallVectorImpl<Value> &values);
  Value getRow(OpBuilder &builder, Location loc, Value tensor);
  Type convertType(Type type);
  StringAttr inspectorName(func::FuncOp function) {
    return StringAttr::get(module.getContext(),
                           getInspectorName(function.getSymName()));
  }

  ModuleOp module;
  SymbolTable symbols;
  InstanceProgram program;
  Sharedness sharedness;
  DenseSet<Operation *> traversed;
  /// Maps instance values to their counterparts in the current inspector.
  IRMapping mapping;
};

} // namespace

Type Linearizer::convertType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    Type handle = HandleType::get(type.getContext());
    if (tensor.getRank() > 0 && tensor.isDynamicDim(0))
      return rec::ListType::get(handle);
    return handle;
  }
  if (auto list = dyn_cast<rec::ListType>(type))
    return rec::ListType::get(convertType(list.getElementType()));
  return type;
}

/// Returns a handle for a parameter that is used as an instance value.
Value Linearizer::getRow(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SourceOp source = getOrCreateSource(module, symbols, type,
                                      *sharedness.getParameter(tensor));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return RowOp::create(builder, loc, FlatSymbolRefAttr::get(source), zero);
}

LogicalResult Linearizer::makeInspector(func::FuncOp function) {
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  SmallVector<Type> inputs, results;
  SmallVector<BlockArgument> kept;
  for (BlockArgument argument : function.getArguments())
    if (!sharedness.getParameter(argument)) {
      inputs.push_back(convertType(argument.getType()));
      kept.push_back(argument);
    }
  for (Type type : function.getResultTypes())
    results.push_back(convertType(type));
  auto inspector = func::FuncOp::create(
      builder, function.getLoc(), inspectorName(function).getValue(),
      builder.getFunctionType(inputs, results));
  inspector.setPrivate();
  if (function == program.getEntry()) {
    inspector.setPublic();
    inspector->setAttr(kInspectorAttr, builder.getUnitAttr());
    unsigned position = 0;
    for (BlockArgument argument : kept) {
      if (Attribute name =
              function.getArgAttr(argument.getArgNumber(), kNameAttr))
        inspector.setArgAttr(position, kNameAttr, name);
      ++position;
    }
    for (unsigned i = 0; i < results.size(); ++i)
      if (Attribute name = function.getResultAttr(i, kNameAttr))
        inspector.setResultAttr(i, kNameAttr, name);
  } else if (program.isRecursive(function) && !traversed.contains(function) &&
             (rec::takesNode(function) || !mayWait(function, program))) {
    // Do not memoize other functions: their calls differ in tensors for which
    // control flow has waited.
    inspector->setAttr(kMemoizedAttr, builder.getUnitAttr());
  }
  symbols.insert(inspector);

  mapping.clear();
  Block *body = inspector.addEntryBlock();
  for (auto [argument, value] : llvm::zip_equal(kept, body->getArguments()))
    mapping.map(argument, value);
  // Walk blocks with a worklist: clone each op without its regions, convert
  // it, then visit its regions.
  SmallVector<std::pair<Block *, Block *>> worklist = {
      {&function.getBody().front(), body}};
  while (!worklist.empty()) {
    auto [from, to] = worklist.pop_back_val();
    builder.setInsertionPointToEnd(to);
    for (Operation &op : *from) {
      if (failed(convertOp(&op, builder)))
        return failure();
      if (!isa<rec::RecDialect, scf::SCFDialect>(op.getDialect()))
        continue;
      Operation *copy = nullptr;
      if (op.getNumRegions() > 0 && !to->empty())
        copy = &to->back();
      for (unsigned i = 0; i < op.getNumRegions(); ++i)
        for (Block &block : op.getRegion(i)) {
          Block *target = new Block();
          copy->getRegion(i).push_back(target);
          for (BlockArgument argument : block.getArguments())
            mapping.map(argument,
                        target->addArgument(convertType(argument.getType()),
                                            argument.getLoc()));
          worklist.push_back({&block, target});
        }
    }
  }
  return success();
}

/// Converts a read of an extent. The extents of ragged tensors belong to the
/// data structure. Extents of parameters are known once the parameters are
/// bound.
LogicalResult Linearizer::convertExtent(tensor::DimOp dim, OpBuilder &builder) {
  Location loc = dim.getLoc();
  Value source = mapping.lookupOrNull(dim.getSource()), extent;
  std::optional<int64_t> number = dim.getConstantIndex();
  auto type = cast<RankedTensorType>(dim.getSource().getType());
  RankedTensorType row = getCountedRow(dim);
  if (number && *number < type.getRank() && !type.isDynamicDim(*number)) {
    extent =
        arith::ConstantIndexOp::create(builder, loc, type.getDimSize(*number));
  } else if (auto parameter = sharedness.getParameter(dim.getSource());
             parameter && row) {
    SourceOp rows = getOrCreateSource(module, symbols, row, *parameter);
    extent = NumRowsOp::create(builder, loc, FlatSymbolRefAttr::get(rows));
  } else if (number == 0 && source && isa<rec::ListType>(source.getType())) {
    extent =
        rec::LengthOp::create(builder, loc, builder.getIndexType(), source);
  } else {
    return dim.emitOpError(
        "reads an extent that control flow cannot read; expected the first "
        "extent of a ragged tensor, or of a parameter whose other extents are "
        "static");
  }
  mapping.map(dim.getResult(), extent);
  return success();
}

/// Appends the counterpart of `value`, an operand of `op`. The inspector does
/// not pass parameters, so a parameter that is used as an instance value
/// becomes a row of a source.
LogicalResult Linearizer::append(Operation *op, Value value, OpBuilder &builder,
                                 SmallVectorImpl<Value> &values) {
  Value known = mapping.lookupOrNull(value);
  if (!known && isa<RankedTensorType>(value.getType()) &&
      sharedness.getParameter(value))
    known = getRow(builder, op->getLoc(), value);
  if (!known)
    return op->emitOpError("uses a tensor that no kernel computes; run "
                           "batch-outline-kernels before batch-linearize");
  values.push_back(known);
  return success();
}

void Linearizer::convertRowView(tensor::ExtractSliceOp slice,
                                OpBuilder &builder) {
  Location loc = slice.getLoc();
  SourceOp source =
      getOrCreateSource(module, symbols, slice.getResultType(),
                        *sharedness.getParameter(slice.getSource()));
  OpFoldResult offset = getRowIndex(slice);
  Value index = dyn_cast<Value>(offset);
  index = index ? mapping.lookup(index)
                : arith::ConstantIndexOp::create(
                      builder, loc,
                      cast<IntegerAttr>(cast<Attribute>(offset)).getInt())
                      .getResult();
  mapping.map(slice.getResult(),
              RowOp::create(builder, loc, FlatSymbolRefAttr::get(source), index)
                  .getResult());
}

/// Converts a control-flow read of a tensor that exists before the run.
LogicalResult Linearizer::convertRead(tensor::ExtractOp extract,
                                      OpBuilder &builder) {
  Location loc = extract.getLoc();
  Value tensor = extract.getTensor();
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<Value> operands, indices;
  for (Value index : extract.getIndices())
    indices.push_back(mapping.lookup(index));
  std::optional<int64_t> parameter = sharedness.getParameter(tensor);
  RankedTensorType row = parameter ? getReadRow(type) : type;
  if (parameter && row && row != type) {
    SourceOp source = getOrCreateSource(module, symbols, row, *parameter);
    operands.push_back(RowOp::create(
        builder, loc, FlatSymbolRefAttr::get(source), indices.front()));
    indices.erase(indices.begin());
  } else if (failed(append(extract, tensor, builder, operands))) {
    return failure();
  }
  if (!row || !isa<HandleType>(operands.front().getType()))
    return extract.emitOpError("reads an element that control flow cannot "
                               "read; run batch-outline-kernels before "
                               "batch-linearize");
  auto read =
      batch::ExtractOp::create(builder, loc, operands.front(), indices, row);
  mapping.map(extract.getResult(), read.getResult());
  return success();
}

/// Converts a control-flow read of a tensor that a kernel computes.
LogicalResult Linearizer::convertWait(tensor::ExtractOp extract, ForceOp force,
                                      OpBuilder &builder) {
  SmallVector<Value> operands, indices;
  if (!force.getNumber())
    return force.emitOpError(
        "has no number; run batch-insert-forces before batch-linearize");
  if (failed(append(extract, extract.getTensor(), builder, operands)))
    return failure();
  for (Value index : extract.getIndices())
    indices.push_back(mapping.lookup(index));
  auto read =
      AwaitOp::create(builder, extract.getLoc(), operands.front(), indices,
                      TypeAttr::get(extract.getTensor().getType()),
                      force.getNumberAttr(), /*table=*/FlatSymbolRefAttr());
  mapping.map(extract.getResult(), read.getResult());
  return success();
}

LogicalResult Linearizer::convertInvoke(InvokeOp invoke, OpBuilder &builder) {
  auto kernel = symbols.lookup<KernelOp>(invoke.getKernel());
  SmallVector<Value> inputs;
  for (auto [index, input] : llvm::enumerate(invoke.getInputs()))
    if (!kernel.isShared(index) &&
        failed(append(invoke, input, builder, inputs)))
      return failure();
  SmallVector<Type> types(invoke.getNumResults(),
                          HandleType::get(builder.getContext()));
  if (!invoke.getDepth())
    return invoke.emitOpError("has no depth; run batch-tag-depths before "
                              "batch-linearize");
  auto record =
      RecordOp::create(builder, invoke.getLoc(), types, invoke.getKernelAttr(),
                       inputs, mapping.lookup(invoke.getDepth()));
  mapping.map(invoke.getResults(), record.getResults());
  return success();
}

LogicalResult Linearizer::convertCall(func::CallOp call, OpBuilder &builder) {
  func::FuncOp callee = program.getCallee(call);
  SmallVector<Value> operands;
  for (auto [operand, argument] :
       llvm::zip_equal(call.getOperands(), callee.getArguments()))
    if (!sharedness.getParameter(argument) &&
        failed(append(call, operand, builder, operands)))
      return failure();
  SmallVector<Type> types;
  for (Type type : call.getResultTypes())
    types.push_back(convertType(type));
  StringAttr name = inspectorName(callee);
  Operation *copy;
  if (traversed.contains(callee))
    copy = LookupOp::create(builder, call.getLoc(), types,
                            FlatSymbolRefAttr::get(name), operands.front());
  else
    copy = func::CallOp::create(builder, call.getLoc(), name, types, operands);
  mapping.map(call.getResults(), copy->getResults());
  return success();
}

/// Returns true for code that computes the same tensors for all instances and
/// that the inspector does not need. Returns false for tasks that run once,
/// because their tensors have handles.
bool Linearizer::isSharedCode(Operation *op) const {
  return op->getNumResults() > 0 &&
         !isa<rec::RecDialect, BatchDialect>(op->getDialect()) &&
         llvm::all_of(op->getResults(), [&](Value result) {
           return sharedness.isShared(result) &&
                  isa<RankedTensorType>(result.getType());
         });
}

LogicalResult Linearizer::convertOp(Operation *op, OpBuilder &builder) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      slice && isRowView(slice) && sharedness.getParameter(slice.getSource())) {
    convertRowView(slice, builder);
    return success();
  }
  if (auto invoke = dyn_cast<InvokeOp>(op))
    return convertInvoke(invoke, builder);
  if (auto call = dyn_cast<func::CallOp>(op))
    return convertCall(call, builder);
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return convertExtent(dim, builder);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    auto force = extract.getTensor().getDefiningOp<ForceOp>();
    return force ? convertWait(extract, force, builder)
                 : convertRead(extract, builder);
  }
  if (auto force = dyn_cast<ForceOp>(op)) {
    SmallVector<Value> handles;
    if (failed(append(op, force.getTensor(), builder, handles)))
      return failure();
    mapping.map(force.getResult(), handles.front());
    return success();
  }
  if (auto rank = dyn_cast<tensor::RankOp>(op))
    if (auto type = dyn_cast<RankedTensorType>(rank.getTensor().getType())) {
      mapping.map(rank.getResult(), arith::ConstantIndexOp::create(
                                        builder, op->getLoc(), type.getRank())
                                        .getResult());
      return success();
    }
  if (rec::walksAdt(op))
    return op->emitOpError("walks a value of a list-shaped ADT; run "
                           "batch-list-elements before batch-linearize");
  if (isSharedCode(op))
    return success();

  // For all other ops, only the types change.
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands())
    if (failed(append(op, operand, builder, state.operands)))
      return failure();
  for (Type type : op->getResultTypes())
    state.addTypes(convertType(type));
  bool isControl = op->getNumRegions() != 0 ||
                   isa<rec::RecDialect, scf::SCFDialect>(op->getDialect()) ||
                   isa<GhostOp, ResolveOp>(op);
  if (!isControl && llvm::any_of(op->getResultTypes(), [](Type type) {
        return isa<RankedTensorType>(type);
      }))
    return op->emitOpError("computes a tensor outside of kernels; run "
                           "batch-outline-kernels before batch-linearize");
  state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *copy = builder.create(state);
  mapping.map(op->getResults(), copy->getResults());
  return success();
}

LogicalResult Linearizer::run() {
  func::FuncOp entry = program.getEntry();
  if (!entry || symbols.lookup(inspectorName(entry)))
    return success();
  auto given = entry->getAttrOfType<StrategyAttr>(kStrategyAttr);
  const Strategy strategy = given ? given.getValue() : Strategy::Linearize;
  if (strategy != Strategy::Linearize && strategy != Strategy::Lazy)
    return success();
  // A machine already runs control flow in lockstep.
  if (!module.getOps<MachineOp>().empty())
    return success();
  Strategies strategies(program);
  if (const std::optional<Obstacle> &obstacle =
          strategies.getObstacle(strategy)) {
    if (strategy == Strategy::Lazy || !strategies.isLegal(Strategy::None))
      return strategies.emitError(*obstacle);
    return strategies.emitError(
        {obstacle->loc, obstacle->text + ", so the program is not structural "
                                         "and strategy 'linearize' cannot "
                                         "batch it"});
  }

  SmallVector<SmallVector<Attribute>> traversals;
  RecursionClasses recursion(program, sharedness);
  for (const RecursionClass &component : recursion.getClasses()) {
    // A recursion that waits cannot become one loop, because other instances
    // continue during the wait.
    const bool traverse =
        component.onePass &&
        llvm::none_of(component.functions, [&](func::FuncOp function) {
          return mayWait(function, program);
        });
    if (traverse) {
      auto &names = traversals.emplace_back();
      for (func::FuncOp function : component.functions) {
        traversed.insert(function);
        names.push_back(FlatSymbolRefAttr::get(inspectorName(function)));
      }
    }
    func::FuncOp first = component.functions.front();
    remark::passed(first.getLoc(),
                   remark::RemarkOpts::name("Linearize").category("batch"))
        << (traverse ? "recursion is bottom-up, so the inspector runs one loop "
                       "over the nodes, children first"
            : component.onePass
                ? "recursion waits for tensors, so the inspector recurses"
                : "recursion is not bottom-up over all nodes, so the inspector "
                  "recurses and memoizes its calls");
  }
  for (func::FuncOp function : program.getFunctions())
    if (failed(makeInspector(function)))
      return failure();
  if (traversals.empty())
    return success();

  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(symbols.lookup(inspectorName(entry)));
  auto prepare = func::FuncOp::create(builder, entry.getLoc(),
                                      (entry.getSymName() + ".traverse").str(),
                                      builder.getFunctionType({}, {}));
  prepare->setAttr(kTraversalAttr, builder.getUnitAttr());
  symbols.insert(prepare);
  builder.setInsertionPointToStart(prepare.addEntryBlock());
  for (ArrayRef<Attribute> names : traversals)
    TraverseOp::create(builder, entry.getLoc(), builder.getArrayAttr(names));
  func::ReturnOp::create(builder, entry.getLoc());
  return success();
}

namespace {
class LinearizePass : public batch::impl::LinearizePassBase<LinearizePass> {
  void runOnOperation() override {
    if (failed(Linearizer(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
