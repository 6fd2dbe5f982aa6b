//===- VectorizeLinalg.cpp - Batch structured operations ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::batch;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// Loops and operands
//===----------------------------------------------------------------------===//

KernelBatcher::Loops KernelBatcher::getLoops(linalg::LinalgOp op) {
  Loops loops = {forms.getLoops(op), {}, {}};

  // The first loop runs over the rows.
  MLIRContext *context = op.getContext();
  int64_t next = 1;
  loops.iterators.push_back(IteratorType::parallel);
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (static_cast<int64_t>(loop) == loops.extentLoop) {
      loops.replacements.push_back(getAffineDimExpr(0, context));
      continue;
    }
    loops.replacements.push_back(getAffineDimExpr(next++, context));
    loops.iterators.push_back(iterator);
  }
  return loops;
}

AffineMap KernelBatcher::getMap(linalg::LinalgOp op, OpOperand &operand,
                                const Loops &loops, Kind form) {
  MLIRContext *context = op.getContext();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(expr.replaceDims(loops.replacements));
  if (form == BatchedForm::Rows)
    results.erase(results.begin() + getExtentDim(operand.get().getType()));
  if (form != BatchedForm::Once)
    results.insert(results.begin(), getAffineDimExpr(0, context));
  return AffineMap::get(loops.iterators.size(), 0, results, context);
}

std::pair<Value, AffineMap> KernelBatcher::getInput(linalg::LinalgOp op,
                                                    OpOperand &operand,
                                                    const Loops &loops) {
  BatchedValue known = lookup(operand.get());
  Value value = known.kind == BatchedForm::Once
                    ? known.value
                    : getAs(op, operand.get(), loops.form);
  return {value, getMap(op, operand, loops, known.kind)};
}

Value KernelBatcher::getInit(linalg::LinalgOp op, OpOperand &operand,
                             const Loops &loops) {
  if (lookup(operand.get()).kind == BatchedForm::Once &&
      !op.payloadUsesValueFromOperand(&operand))
    return buildEmpty(op.getLoc(), operand.get().getType(), loops.form);
  return getAs(op, operand.get(), loops.form);
}

KernelBatcher::Captured KernelBatcher::getCaptured(linalg::LinalgOp op) {
  Captured captured;
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used) {
    bool isOnce = lookup(value).kind == BatchedForm::Once;
    if (!isOnce && isa<RankedTensorType>(value.getType()))
      continue;
    (isOnce ? captured.once : captured.perTask).push_back(value);
  }
  return captured;
}

//===----------------------------------------------------------------------===//
// Contractions and copies
//===----------------------------------------------------------------------===//

/// Builds a contraction as a named operation with the given loops and maps. All
/// operands have the same element type. Returns null if there is no such
/// operation. A matrix that is stored as [out, in] is read transposed in place.
static Operation *buildNamedContraction(OpBuilder &builder, Location loc,
                                        ValueRange inputs, Value init,
                                        ArrayRef<AffineMap> maps,
                                        ArrayRef<IteratorType> iterators) {
  MLIRContext *context = builder.getContext();
  auto map = [&](ArrayRef<unsigned> loops) {
    SmallVector<AffineExpr> exprs;
    for (unsigned loop : loops)
      exprs.push_back(getAffineDimExpr(loop, context));
    return AffineMap::get(iterators.size(), 0, exprs, context);
  };
  if (iterators.back() != IteratorType::reduction ||
      !llvm::all_of(iterators.drop_back(), [](IteratorType iterator) {
        return iterator == IteratorType::parallel;
      }))
    return nullptr;
  Type type = init.getType();
  Value left = inputs[0], right = inputs[1];
  AffineMap leftMap = maps[0], rightMap = maps[1], out = maps[2];
  if (iterators.size() == 2 && out == map({0})) {
    if (rightMap == map({0, 1}) && leftMap == map({1})) {
      std::swap(left, right);
      std::swap(leftMap, rightMap);
    }
    if (leftMap == map({0, 1}) && rightMap == map({1}))
      return linalg::MatvecOp::create(builder, loc, type,
                                      ValueRange{left, right}, init);
    return nullptr;
  }
  if (iterators.size() == 3 && out == map({0, 1})) {
    if (rightMap == map({0, 2})) {
      std::swap(left, right);
      std::swap(leftMap, rightMap);
    }
    if (leftMap != map({0, 2}) ||
        (rightMap != map({1, 2}) && rightMap != map({2, 1})))
      return nullptr;
    auto matmul = linalg::MatmulOp::create(builder, loc, type,
                                           ValueRange{left, right}, init);
    if (rightMap == map({1, 2}))
      matmul.setIndexingMapsAttr(
          builder.getAffineMapArrayAttr({leftMap, rightMap, out}));
    return matmul;
  }
  if (iterators.size() == 4 && leftMap == map({0, 1, 3}) &&
      rightMap == map({0, 3, 2}) && out == map({0, 1, 2}))
    return linalg::BatchMatmulOp::create(builder, loc, type,
                                         ValueRange{left, right}, init);
  return nullptr;
}

/// Returns true if `op` multiplies and adds operands of one element type.
static bool isPlainContraction(linalg::LinalgOp op) {
  if (!linalg::isaContractionOpInterface(op) || op->getNumOperands() != 3)
    return false;
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor &&
           tensor.getElementType() == getElementTypeOrSelf(op->getOperand(2));
  });
}

/// Returns the index of the input that `op` copies, or std::nullopt if `op`
/// does anything else.
static std::optional<unsigned> getCopiedInput(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || op.getBlock()->getOperations().size() != 1 ||
      op.getNumReductionLoops() != 0)
    return std::nullopt;
  auto argument =
      dyn_cast<BlockArgument>(op.getBlock()->getTerminator()->getOperand(0));
  if (!argument || argument.getOwner() != op.getBlock() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return std::nullopt;
  return argument.getArgNumber();
}

linalg::GenericOp KernelBatcher::buildGeneric(
    linalg::LinalgOp op, const Loops &loops, ValueRange inputs,
    ValueRange inits, ArrayRef<AffineMap> maps,
    ArrayRef<IteratorType> iterators, const Captured &captured,
    function_ref<void(OpBuilder &, IRMapping &)> buildBody) {
  SmallVector<Value> allInputs(inputs);
  SmallVector<AffineMap> allMaps(maps);
  // A per-task scalar becomes an additional input, with one value per row.
  for (auto [number, scalar] : llvm::enumerate(captured.perTask)) {
    allInputs.push_back(getAs(op, scalar, loops.form));
    allMaps.insert(allMaps.begin() + inputs.size() + number,
                   AffineMap::get(iterators.size(), 0,
                                  getAffineDimExpr(0, op.getContext()),
                                  op.getContext()));
  }
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), TypeRange(inits), allInputs, inits, allMaps,
      iterators, [&](OpBuilder &nested, Location, ValueRange arguments) {
        IRMapping mapping;
        for (Value value : captured.once)
          mapping.map(value, lookup(value).value);
        for (auto [number, scalar] : llvm::enumerate(captured.perTask))
          mapping.map(scalar, arguments[inputs.size() + number]);
        int64_t numInputs = op.getNumDpsInputs();
        for (OpOperand &operand : op->getOpOperands()) {
          int64_t number = operand.getOperandNumber();
          if (number >= op.getBlock()->getNumArguments())
            continue;
          int64_t position =
              number < numInputs ? number : number + captured.perTask.size();
          mapping.map(op.getMatchingBlockArgument(&operand),
                      arguments[position]);
        }
        buildBody(nested, mapping);
      });
  for (auto index : generic.getBody()->getOps<linalg::IndexOp>()) {
    AffineExpr loop = loops.replacements[index.getDim()];
    index.setDim(cast<AffineDimExpr>(loop).getPosition());
  }
  bindReads(op, loops, generic);
  return generic;
}

void KernelBatcher::batchLinalg(linalg::LinalgOp op) {
  Loops loops = getLoops(op);
  if (loops.extentLoop >= 0 &&
      op.getIteratorTypesArray()[loops.extentLoop] == IteratorType::reduction)
    return batchSegmentReduction(op, loops);

  Captured captured = getCaptured(op);
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto [input, map] = getInput(op, *operand, loops);
    inputs.push_back(input);
    maps.push_back(map);
  }
  for (OpOperand &operand : op.getDpsInitsMutable()) {
    inits.push_back(getInit(op, operand, loops));
    maps.push_back(getMap(op, operand, loops, loops.form.kind));
  }

  // An op that broadcasts to ragged rows is now a copy, because getInput() has
  // repeated its input for each row.
  if (std::optional<unsigned> copied = getCopiedInput(op))
    if (maps[*copied] == maps.back() &&
        inputs[*copied].getType() == inits[0].getType())
      return map(op->getResult(0), inputs[*copied]);

  Operation *batched = nullptr;
  if (isPlainContraction(op) && captured.perTask.empty())
    batched = buildNamedContraction(builder, op.getLoc(), inputs, inits[0],
                                    maps, loops.iterators);
  else if (isa<linalg::FillOp>(op) &&
           !isa<RankedTensorType>(inputs[0].getType()))
    batched = linalg::FillOp::create(builder, op.getLoc(), inputs, inits);
  if (!batched)
    batched =
        buildGeneric(op, loops, inputs, inits, maps, loops.iterators, captured,
                     [&](OpBuilder &nested, IRMapping &mapping) {
                       for (Operation &inner : *op.getBlock())
                         nested.clone(inner, mapping);
                     });
  for (auto [result, value] :
       llvm::zip(op->getResults(), batched->getResults()))
    map(result, value);
}

//===----------------------------------------------------------------------===//
// Reductions over a ragged extent
//===----------------------------------------------------------------------===//

void KernelBatcher::batchSegmentReduction(linalg::LinalgOp op,
                                          const Loops &loops) {
  std::optional<Combiner> combiner = matchCombiner(op);
  Captured captured = getCaptured(op);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto [input, map] = getInput(op, *operand, loops);
    inputs.push_back(input);
    maps.push_back(map);
  }
  OpOperand &initOperand = op.getDpsInitsMutable()[0];
  Value init = getAs(op, initOperand.get(), {BatchedForm::PerTask});
  AffineMap rowMap = getMap(op, initOperand, loops, BatchedForm::PerTask);

  // If the rows to combine are an unchanged operand, use the operand itself.
  Value rows;
  if (auto argument = dyn_cast_if_present<BlockArgument>(combiner->row))
    if (argument.getOwner() == op.getBlock()) {
      unsigned number = op.getMatchingOpOperand(argument)->getOperandNumber();
      if (maps[number] == rowMap)
        rows = inputs[number];
    }
  if (!rows) {
    auto initType = cast<RankedTensorType>(initOperand.get().getType());
    Value empty = tensor::EmptyOp::create(
        builder, op.getLoc(), getBatchedType(initType, BatchedForm::PerTask),
        getRowCount(loops.form));
    maps.push_back(rowMap);
    rows =
        buildGeneric(
            op, loops, inputs, empty, maps, loops.iterators, captured,
            [&](OpBuilder &nested, IRMapping &mapping) {
              for (Operation &inner : op.getBlock()->without_terminator())
                if (&inner != combiner->op)
                  nested.clone(inner, mapping);
              Value row;
              if (combiner->row) {
                row = mapping.lookupOrDefault(combiner->row);
              } else {
                auto fma = cast<math::FmaOp>(combiner->op);
                row = arith::MulFOp::create(
                    nested, fma.getLoc(), mapping.lookupOrDefault(fma.getA()),
                    mapping.lookupOrDefault(fma.getB()));
              }
              linalg::YieldOp::create(nested, op.getLoc(), row);
            })
            .getResult(0);
  }
  Value result =
      SegmentReduceOp::create(builder, op.getLoc(), combiner->kind, rows,
                              domains[loops.form.domain].offsets, init);
  map(op->getResult(0), result);
}
