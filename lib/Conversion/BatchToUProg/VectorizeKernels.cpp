//===- VectorizeKernels.cpp - Add the batch dimension to kernels ----------===//
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
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
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
        return kernel.emitOpError("argument #")
               << index << " is shared and requires attribute '"
               << kParameterAttr << "' with the number of its parameter";
      add(type, at, OperandKind::Shared, parameter.getInt(), -1);
    } else if (forms.lookup(argument).kind == BatchedForm::Rows) {
      add(getBatchedType(type, BatchedForm::Rows), at, OperandKind::Rows, -1,
          forms.lookup(argument).domain);
    } else {
      OperandKind kind = isa<RankedTensorType>(type) ? OperandKind::Gather
                                                     : OperandKind::Scalar;
      add(getBatchedType(type, BatchedForm::PerTask), at, kind, -1, -1);
    }
  }
  auto offsetsType =
      RankedTensorType::get(ShapedType::kDynamic, builder.getIndexType());
  domains.resize(forms.getNumDomains());
  for (size_t domain = 0; domain < domains.size(); ++domain)
    add(offsetsType, loc, OperandKind::Offsets, domain, -1);
  SmallVector<Type> resultTypes;
  for (Type type : kernel.getResultTypes())
    resultTypes.push_back(getBatchedType(type, BatchedForm::PerTask));

  builder.setInsertionPointAfter(kernel);
  auto op = uprog::OperatorOp::create(
      builder, loc, name, FunctionType::get(context, types, resultTypes),
      FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      builder.getArrayAttr(attributes), ArrayAttr());
  Block *block = builder.createBlock(&op.getBody(), {}, types, locations);

  tasks = block->getArgument(0);
  for (auto [argument, batched] :
       llvm::zip(body.getArguments(), block->getArguments().drop_front())) {
    map(argument, batched);
    BatchedForm form = forms.lookup(argument);
    if (form.kind == BatchedForm::Rows && !domains[form.domain].firstRows)
      domains[form.domain].firstRows = batched;
  }
  for (auto [domain, offsets] :
       llvm::zip(domains, block->getArguments().take_back(domains.size())))
    domain.offsets = offsets;
  return op;
}

LogicalResult KernelBatcher::batchOp(Operation *op) {
  if (!forms.isCopied(op)) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      batchLinalg(linalgOp);
      return success();
    }
    return batchTensorOp(op);
  }
  Operation *copy = builder.clone(*op, once);
  for (auto [result, copied] : llvm::zip(op->getResults(), copy->getResults()))
    map(result, copied);
  return success();
}

FailureOr<uprog::OperatorOp> KernelBatcher::run(StringRef name) {
  if (const std::optional<Obstacle> &obstacle = forms.getObstacle())
    return emitError(obstacle->loc) << obstacle->text;
  FailureOr<uprog::OperatorOp> made = buildOperator(name);
  if (failed(made))
    return failure();
  uprog::OperatorOp op = *made;
  placeInserts();
  Block &body = kernel.getBody().front();
  for (Operation &inner : body.without_terminator()) {
    if (failed(batchOp(&inner))) {
      op.erase();
      return failure();
    }
  }
  Operation *yield = body.getTerminator();
  SmallVector<Value> results;
  for (Value operand : yield->getOperands())
    results.push_back(getAs(yield, operand, {BatchedForm::PerTask}));
  uprog::YieldOp::create(builder, yield->getLoc(), results);
  // Erase initial values, constants and extents without users.
  for (Operation &inner :
       llvm::make_early_inc_range(llvm::reverse(op.getBody().front())))
    if (isOpTriviallyDead(&inner))
      inner.erase();
  return op;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void KernelBatcher::map(Value value, Value batched) {
  if (forms.lookup(value).kind == BatchedForm::Once)
    once.map(value, batched);
  values[value] = batched;
}

Value KernelBatcher::getRowCount(BatchedForm form) {
  if (form.kind == BatchedForm::PerTask)
    return tasks;
  Domain &rows = domains[form.domain];
  if (!rows.rowCount)
    rows.rowCount = tensor::DimOp::create(builder, kernel.getLoc(),
                                          rows.firstRows, int64_t(0));
  return rows.rowCount;
}

int64_t KernelBatcher::getBatchedDim(Type type, Kind kind, int64_t dim) {
  if (kind == BatchedForm::PerTask)
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
    if (kind != BatchedForm::Rows || !ShapedType::isDynamic(extent))
      shape.push_back(extent);
  return RankedTensorType::get(shape, tensor.getElementType());
}

Value KernelBatcher::buildEmpty(Location loc, Type type, BatchedForm form) {
  return tensor::EmptyOp::create(builder, loc, getBatchedType(type, form.kind),
                                 getRowCount(form));
}

Value KernelBatcher::repeatForRows(Location loc, Value once, BatchedForm form) {
  Value empty = buildEmpty(loc, once.getType(), form);
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

Value KernelBatcher::getAs(Operation *user, Value value, BatchedForm form) {
  BatchedValue known = lookup(value);
  if (known == form)
    return known.value;
  Value &result = repeated[{known.value, getRowCount(form)}];
  if (!result && known.kind == BatchedForm::Once)
    result = repeatForRows(user->getLoc(), known.value, form);
  else if (!result)
    result = SegmentBroadcastOp::create(builder, user->getLoc(), known.value,
                                        domains[form.domain].offsets);
  return result;
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
        // A target may already have created a function from the operator.
        if (existing->hasAttr(uprog::kCodeAttr))
          continue;
        kernel.emitOpError("requires symbol name '@")
            << name
            << "' for its operator, but another symbol uses it; rename that "
               "symbol";
        return signalPassFailure();
      }
      if (failed(decomposePrefixes(kernel)))
        return signalPassFailure();
      decomposeTensorOps(kernel);
      decomposeReductions(kernel);
      if (failed(KernelBatcher(kernel).run(name)))
        return signalPassFailure();
    }
  }
};

} // namespace
