//===- VectorizeKernels.cpp - Adds the batch dimension to kernels ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "KernelBatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::batch {
#define GEN_PASS_DEF_VECTORIZEKERNELSPASS
#include "Batch/Conversion/BatchToUProg/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;
using uprog::OperandKind;

//===----------------------------------------------------------------------===//
// Ragged domains
//===----------------------------------------------------------------------===//

namespace {

/// Union-find over extents; the smaller number is the representative.
class ExtentClasses {
public:
  int64_t add() {
    parents.push_back(parents.size());
    return parents.size() - 1;
  }
  int64_t find(int64_t number) {
    while (parents[number] != number)
      number = parents[number] = parents[parents[number]];
    return number;
  }
  void unite(int64_t a, int64_t b) {
    a = find(a);
    b = find(b);
    parents[std::max(a, b)] = std::min(a, b);
  }

private:
  SmallVector<int64_t> parents;
};

bool isRaggedType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getNumDynamicDims() == 1;
}

} // namespace

void KernelBatcher::findDomains() {
  ExtentClasses classes;
  // Classes of ragged values and of their extents.
  DenseMap<Value, int64_t> classOf;
  Block &body = kernel.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    if (kernel.isRagged(argument.getArgNumber()))
      classOf[argument] = classes.add();
  }

  auto unite = [&](int64_t &known, int64_t other) {
    if (known < 0)
      known = other;
    else
      classes.unite(known, other);
  };
  for (Operation &op : body.without_terminator()) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      SmallVector<int64_t> loopClasses(linalgOp.getNumLoops(), -1);
      for (OpOperand &operand : op.getOpOperands()) {
        auto found = classOf.find(operand.get());
        if (found == classOf.end() || !isRaggedType(operand.get().getType()))
          continue;
        AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
        auto loop = dyn_cast<AffineDimExpr>(
            map.getResult(getExtentDim(operand.get().getType())));
        if (loop)
          unite(loopClasses[loop.getPosition()], found->second);
      }
      for (auto [result, init] :
           llvm::zip(op.getResults(), linalgOp.getDpsInits())) {
        auto found = classOf.find(init);
        if (found != classOf.end())
          classOf[result] = found->second;
      }
      continue;
    }
    int64_t known = -1;
    for (Value operand : op.getOperands()) {
      auto found = classOf.find(operand);
      if (found != classOf.end())
        unite(known, found->second);
    }
    if (known < 0)
      continue;
    for (Value result : op.getResults())
      if (isRaggedType(result.getType()) || isa<tensor::DimOp>(op))
        classOf[result] = known;
  }

  // Number the domains by their first argument.
  DenseMap<int64_t, int64_t> numbers;
  for (BlockArgument argument : body.getArguments()) {
    auto found = classOf.find(argument);
    if (found != classOf.end())
      numbers.try_emplace(classes.find(found->second), numbers.size());
  }
  domains.resize(numbers.size());
  for (auto &[value, number] : classOf)
    domainOf[value] = numbers.lookup(classes.find(number));
}

//===----------------------------------------------------------------------===//
// The operator
//===----------------------------------------------------------------------===//

FailureOr<uprog::OperatorOp> KernelBatcher::buildOperator(StringRef name) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  Block &body = kernel.getBody().front();

  SmallVector<Type> types = {builder.getIndexType()};
  SmallVector<Attribute> attributes = {builder.getDictionaryAttr({})};
  SmallVector<Location> locations = {loc};
  auto add = [&](Type type, Location at, OperandKind kind, int64_t number,
                 int64_t ragged) {
    auto operand =
        uprog::OperandAttr::get(context, kind, number, ragged, AffineMap(),
                                /*blockBytes=*/0);
    types.push_back(type);
    attributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(uprog::kOperandAttr, operand)));
    locations.push_back(at);
  };
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber();
    Type type = argument.getType();
    Location at = argument.getLoc();
    if (kernel.isShared(index)) {
      auto parameter =
          kernel.getArgAttrOfType<IntegerAttr>(index, kParameterAttr);
      if (!parameter)
        return kernel.emitOpError("shared argument #")
               << index << " needs `" << kParameterAttr
               << "`, the number of the entry's shared argument it is";
      add(type, at, OperandKind::Shared, parameter.getInt(), -1);
    } else if (domainOf.count(argument)) {
      add(getBatchedType(type, BatchedValue::Rows), at, OperandKind::Rows, -1,
          domainOf.lookup(argument));
    } else {
      OperandKind kind = isa<RankedTensorType>(type) ? OperandKind::Gather
                                                     : OperandKind::Scalar;
      add(getBatchedType(type, BatchedValue::PerTask), at, kind, -1, -1);
    }
  }
  auto offsetsType =
      RankedTensorType::get(ShapedType::kDynamic, builder.getIndexType());
  for (size_t domain = 0; domain < domains.size(); ++domain)
    add(offsetsType, loc, OperandKind::Offsets, domain, -1);
  SmallVector<Type> resultTypes;
  for (Type type : kernel.getResultTypes())
    resultTypes.push_back(getBatchedType(type, BatchedValue::PerTask));

  builder.setInsertionPointAfter(kernel);
  auto op = uprog::OperatorOp::create(
      builder, loc, name, FunctionType::get(context, types, resultTypes),
      FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      builder.getArrayAttr(attributes), ArrayAttr());
  Block *block = builder.createBlock(&op.getBody(), {}, types, locations);

  tasks = block->getArgument(0);
  for (auto [argument, batched] :
       llvm::zip(body.getArguments(), block->getArguments().drop_front())) {
    if (kernel.isShared(argument.getArgNumber())) {
      map(argument, BatchedValue::Once, batched);
    } else if (domainOf.count(argument)) {
      int64_t domain = domainOf.lookup(argument);
      map(argument, BatchedValue::Rows, batched, domain);
      if (!domains[domain].firstRows)
        domains[domain].firstRows = batched;
    } else {
      map(argument, BatchedValue::PerTask, batched);
    }
  }
  for (auto [domain, offsets] :
       llvm::zip(domains, block->getArguments().take_back(domains.size())))
    domain.offsets = offsets;
  return op;
}

LogicalResult KernelBatcher::batchYield(YieldOp yield) {
  SmallVector<Value> results;
  for (Value operand : yield.getOperands()) {
    Value result = getAs(yield, operand, BatchedValue::PerTask, -1);
    if (!result)
      return failure();
    results.push_back(result);
  }
  uprog::YieldOp::create(builder, yield.getLoc(), results);
  return success();
}

LogicalResult KernelBatcher::batchOp(Operation *op) {
  bool allOnce = llvm::all_of(op->getOperands(), [&](Value operand) {
    return lookup(operand).kind == BatchedValue::Once;
  });
  if (allOnce && op->getNumRegions() != 0) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    allOnce = llvm::all_of(captured, [&](Value value) {
      return lookup(value).kind == BatchedValue::Once;
    });
  }
  // Operators make no tensor of scalars that all tasks share, but fill rows.
  // Of an operation of another dialect only the batched form has a lowering.
  // They slice at places that code knows.
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  bool picks = slice && llvm::any_of(slice.getOffsets(), [&](Value offset) {
                 return isUnknown(offset);
               });
  if (!allOnce || picks ||
      isa<tensor::FromElementsOp, BatchableOpInterface>(op)) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      return batchLinalg(linalgOp);
    return batchTensorOp(op);
  }
  Operation *copy = builder.clone(*op, once);
  for (auto [result, copied] : llvm::zip(op->getResults(), copy->getResults()))
    map(result, BatchedValue::Once, copied);
  return success();
}

FailureOr<uprog::OperatorOp> KernelBatcher::run(StringRef name) {
  findDomains();
  FailureOr<uprog::OperatorOp> made = buildOperator(name);
  if (failed(made))
    return failure();
  uprog::OperatorOp op = *made;
  Block &body = kernel.getBody().front();
  for (Operation &inner : body.without_terminator()) {
    if (failed(batchOp(&inner))) {
      op.erase();
      return failure();
    }
  }
  if (failed(batchYield(cast<YieldOp>(body.getTerminator())))) {
    op.erase();
    return failure();
  }
  // Initial values, constants and extents that nothing reads any more.
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(op.getBody().front())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
  return op;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void KernelBatcher::map(Value value, Kind kind, Value batched, int64_t domain) {
  if (kind == BatchedValue::Once)
    once.map(value, batched);
  values[value] = BatchedValue{kind, batched, domain};
}

Value KernelBatcher::getRowCount(Kind kind, int64_t domain) {
  if (kind == BatchedValue::PerTask)
    return tasks;
  Domain &rows = domains[domain];
  if (!rows.rowCount)
    rows.rowCount = tensor::DimOp::create(builder, kernel.getLoc(),
                                          rows.firstRows, int64_t(0));
  return rows.rowCount;
}

int64_t KernelBatcher::getExtentDim(Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return std::distance(shape.begin(),
                       llvm::find_if(shape, ShapedType::isDynamic));
}

int64_t KernelBatcher::getBatchedDim(Type type, Kind kind, int64_t dim) {
  if (kind == BatchedValue::PerTask)
    return dim + 1;
  int64_t extent = getExtentDim(type);
  if (dim == extent)
    return 0;
  return dim < extent ? dim + 1 : dim;
}

RankedTensorType KernelBatcher::getBatchedType(Type type, Kind kind) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return RankedTensorType::get(ShapedType::kDynamic, type);
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  for (int64_t extent : tensor.getShape())
    if (kind != BatchedValue::Rows || !ShapedType::isDynamic(extent))
      shape.push_back(extent);
  return RankedTensorType::get(shape, tensor.getElementType());
}

Value KernelBatcher::buildEmpty(Location loc, Type type, Kind kind,
                                int64_t domain) {
  return tensor::EmptyOp::create(builder, loc, getBatchedType(type, kind),
                                 getRowCount(kind, domain));
}

Value KernelBatcher::repeatForRows(Location loc, Value once, Kind kind,
                                   int64_t domain) {
  Value empty = buildEmpty(loc, once.getType(), kind, domain);
  if (once.getDefiningOp<tensor::EmptyOp>())
    return empty;
  auto fill = [&](Value scalar) {
    return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
  };
  if (!isa<RankedTensorType>(once.getType()))
    return fill(once);
  if (auto filled = once.getDefiningOp<linalg::FillOp>())
    return fill(filled.getInputs()[0]);
  SplatElementsAttr splat;
  if (matchPattern(once, m_Constant(&splat)))
    return fill(arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>())));
  return linalg::BroadcastOp::create(builder, loc, once, empty,
                                     ArrayRef<int64_t>{0})
      ->getResult(0);
}

Value KernelBatcher::getAs(Operation *user, Value value, Kind kind,
                           int64_t domain) {
  BatchedValue form = lookup(value);
  if (form.kind == kind && form.domain == domain)
    return form.value;
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (form.kind == BatchedValue::Once && (!tensor || tensor.hasStaticShape())) {
    Value &result = repeated[{form.value, getRowCount(kind, domain)}];
    if (!result)
      result = repeatForRows(user->getLoc(), form.value, kind, domain);
    return result;
  }
  if (form.kind == BatchedValue::PerTask && kind == BatchedValue::Rows) {
    Value &result = repeated[{form.value, getRowCount(kind, domain)}];
    if (!result)
      result = SegmentBroadcastOp::create(builder, user->getLoc(), form.value,
                                          domains[domain].offsets);
    return result;
  }
  if (form.kind == BatchedValue::Extent)
    user->emitOpError("uses the extent of a ragged tensor as data: it differs "
                      "from task to task; pass it to the kernel as a scalar");
  else
    user->emitOpError("combines a ragged tensor with one that has no row for "
                      "each of its rows");
  return {};
}

FailureOr<BatchedValue> KernelBatcher::joinOperands(Operation *op,
                                                    ValueRange operands) {
  BatchedValue joined;
  joined.kind = BatchedValue::PerTask;
  for (Value operand : operands) {
    BatchedValue form = lookup(operand);
    if (form.kind == BatchedValue::Extent)
      return op->emitOpError(
          "uses the extent of a ragged tensor as data: it differs from task to "
          "task; pass it to the kernel as a scalar");
    if (form.kind != BatchedValue::Rows)
      continue;
    joined.kind = BatchedValue::Rows;
    joined.domain = form.domain;
  }
  return joined;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct VectorizeKernelsPass
    : batch::impl::VectorizeKernelsPassBase<VectorizeKernelsPass> {
  using VectorizeKernelsPassBase::VectorizeKernelsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    uprog::OperatorMap operators = uprog::mapOperators(module);
    for (auto kernel : llvm::make_early_inc_range(module.getOps<KernelOp>())) {
      if (operators.contains(kernel.getSymNameAttr()))
        continue;
      std::string name = getOperatorName(kernel.getSymName());
      if (Operation *existing = symbols.lookup(name)) {
        // A target may have made a function of the operator already.
        if (existing->hasAttr(uprog::kCodeAttr))
          continue;
        kernel.emitOpError("needs the name '@")
            << name << "' for its operator, which another symbol has";
        return signalPassFailure();
      }
      if (failed(KernelBatcher(kernel).run(name)))
        return signalPassFailure();
    }
  }
};

} // namespace
