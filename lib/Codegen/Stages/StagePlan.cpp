//===- StagePlan.cpp - The stages of an operator --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagePlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

int64_t RowSpace::leading() const {
  int64_t product = 1;
  for (int64_t extent :
       ArrayRef<int64_t>(shape).drop_back(shape.empty() ? 0 : 1))
    product *= extent;
  return product;
}

TableLayout uprog::makeLayout(ArrayRef<int64_t> row, Type element,
                              AffineMap map, int64_t blockBytes) {
  TableLayout layout(row, elementBytes(element), map);
  if (blockBytes)
    layout.setBlockBytes(blockBytes);
  return layout;
}

OperatorRows::OperatorRows(OperatorOp op) {
  int64_t next = 0;
  for (auto [i, type] : llvm::enumerate(op.getArgumentTypes())) {
    bool perTask = i != 0 && !op.getParameter(i) && !op.getOffsets(i);
    stepOperands.push_back(perTask ? next++ : -1);
    RowSpace &space = argumentSpaces.emplace_back();
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      argumentLayouts.push_back(TableLayout({}, 8));
      continue;
    }
    ArrayRef<int64_t> shape = tensor.getShape();
    OperandAttr read = op.getRead(i);
    argumentLayouts.push_back(makeLayout(
        perTask ? shape.drop_front() : shape, tensor.getElementType(),
        read.getLayout(), read.getBlockBytes()));
    if (!op.getParameter(i)) {
      space.domain = op.getRagged(i).value_or(RowSpace::kTasks);
      domains = std::max(domains, space.domain + 1);
      shape = shape.drop_front();
    }
    space.shape.assign(shape.begin(), shape.end());
  }
  for (auto [i, type] : llvm::enumerate(op.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    ResultAttr write = op.getWrite(i);
    resultLayouts.push_back(
        makeLayout(tensor.getShape().drop_front(), tensor.getElementType(),
                   write.getLayout(), write.getBlockBytes()));
  }
}

int64_t OperatorRows::getRaggedOperand(int64_t domain) const {
  for (auto [operand, space] : llvm::zip_equal(stepOperands, argumentSpaces))
    if (operand >= 0 && space.domain == domain)
      return operand;
  return -1;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

int64_t uprog::getNaturalLanes(int64_t vectorBits, Type element) {
  return vectorBits / (8 * std::max<int64_t>(elementBytes(element), 4));
}

int64_t uprog::getPanelWidth(int64_t columns, int64_t lanes) {
  return std::min<int64_t>(2 * lanes, llvm::alignTo(columns, lanes));
}

bool uprog::isZero(Value value) {
  if (value.getDefiningOp<tensor::EmptyOp>())
    return true;
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_PosZeroFloat());
  return matchPattern(value, m_PosZeroFloat());
}

Operation *uprog::getCombiner(linalg::LinalgOp op) {
  Block &block = op->getRegion(0).front();
  if (op->getNumResults() != 1)
    return nullptr;
  Operation *combiner = block.getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument accumulator = block.getArguments().back();
  if (!combiner || !accumulator.hasOneUse())
    return nullptr;
  if (auto fma = dyn_cast<math::FmaOp>(combiner))
    return fma.getC() == accumulator ? combiner : nullptr;
  if (combiner->getNumOperands() != 2 ||
      !llvm::is_contained(combiner->getOperands(), accumulator) ||
      !arith::getNeutralElement(combiner))
    return nullptr;
  return combiner;
}

/// Returns true if `compare` tests whether its first operand is strictly larger
/// than its second, or strictly smaller.
static bool isStrict(Operation *compare) {
  if (auto floats = dyn_cast<arith::CmpFOp>(compare))
    return floats.getPredicate() == arith::CmpFPredicate::OGT ||
           floats.getPredicate() == arith::CmpFPredicate::OLT;
  auto integers = dyn_cast<arith::CmpIOp>(compare);
  return integers && integers.getPredicate() != arith::CmpIPredicate::eq &&
         integers.getPredicate() != arith::CmpIPredicate::ne &&
         !arith::applyCmpPredicate(integers.getPredicate(), APInt(1, 0),
                                   APInt(1, 0));
}

std::optional<Selection> uprog::getSelection(linalg::LinalgOp op) {
  Block &block = op->getRegion(0).front();
  if (op->getNumResults() < 2 || op.getNumReductionLoops() != 1)
    return std::nullopt;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  Operation *compare = nullptr;
  std::optional<unsigned> best, position;
  auto results = block.getTerminator()->getOperands();
  ArrayRef<BlockArgument> sums = block.getArguments().take_back(results.size());
  for (auto [i, result] : llvm::enumerate(results)) {
    auto select = result.getDefiningOp<arith::SelectOp>();
    if (!select || select.getFalseValue() != sums[i] ||
        (compare && compare != select.getCondition().getDefiningOp()))
      return std::nullopt;
    compare = select.getCondition().getDefiningOp();
    if (!compare || !isStrict(compare))
      return std::nullopt;
    bool isBest = compare->getOperand(0) == select.getTrueValue() &&
                  compare->getOperand(1) == sums[i];
    if (isBest)
      best = i;
    auto index = select.getTrueValue();
    while (auto cast = index.getDefiningOp<arith::IndexCastOp>())
      index = cast.getIn();
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (loop && loop.getDim() == reduced[0])
      position = i;
    // Only the select and, for the best value, the comparison may use the
    // accumulator.
    if (std::distance(sums[i].use_begin(), sums[i].use_end()) != 1 + isBest)
      return std::nullopt;
  }
  if (!best || !position)
    return std::nullopt;
  return Selection{compare, *best, *position};
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// Returns the result of the later stage that inserts into `result`, or null if
/// there is none.
static OpResult findInsert(OpResult result) {
  for (OpOperand &use : result.getUses()) {
    auto insert = dyn_cast<InsertOp>(use.getOwner());
    if (!insert || &insert.getDestMutable() != &use)
      continue;
    auto stage = insert->getParentOfType<StageOp>();
    for (OpResult made : stage->getResults())
      if (stage.getYielded(made.getResultNumber()) == insert.getResult())
        return made;
  }
  return {};
}

StagePlan::StagePlan(OperatorOp op) : op(op), rows(op) {
  raggedScratch.assign(rows.domains, 0);
  for (StageOp stage : op.getBody().getOps<StageOp>())
    addStage(stage);
  // Results come before values in scratch memory.
  for (OpOperand &operand :
       op.getBody().front().getTerminator()->getOpOperands()) {
    auto result = cast<OpResult>(operand.get());
    for (Stage &stage : stages)
      if (stage.op.getOperation() == result.getOwner())
        stage.stores.push_back(
            {stage.op.getYielded(result.getResultNumber()),
             {Storage::Result, operand.getOperandNumber(), 0}});
  }
  for (Stage &stage : stages)
    for (auto [i, offset] : llvm::enumerate(stage.op.getScratch())) {
      OpResult result = stage.op->getResult(i);
      if (findInsert(result))
        stage.stores.push_back({stage.op.getYielded(i), getStorage(result)});
      if (offset < 0)
        continue;
      stage.stores.push_back(
          {stage.op.getYielded(i), {Storage::Scratch, 0, offset}});
      Value value = stage.op.getResult(i);
      int64_t &bytes = stage.space.domain >= 0
                           ? raggedScratch[stage.space.domain]
                           : taskScratch;
      bytes = std::max(bytes, offset + getLayout(value).getRowBytes());
    }
}

void StagePlan::addStage(StageOp stageOp) {
  Stage stage;
  stage.op = stageOp;
  stage.scalar = stageOp.getScalar();
  if (std::optional<uint64_t> dims = stageOp.getSharedDims())
    stage.sharedDims = *dims;
  RowsAttr stageRows = stageOp.getRows();
  stage.space.domain = stageRows.getKind() == RowsKind::Once ? RowSpace::kOnce
                       : stageRows.getKind() == RowsKind::Tasks
                           ? RowSpace::kTasks
                           : stageRows.getDomain();
  stage.space.shape.assign(stageOp.getShape().begin(),
                           stageOp.getShape().end());
  for (auto linalgOp : stageOp.getBody().getOps<linalg::LinalgOp>()) {
    Attribute how = linalgOp->getDiscardableAttr(kReductionAttr);
    if (!how)
      continue;
    Reduction reduction;
    reduction.op = linalgOp;
    reduction.space = stage.space;
    reduction.lanes = getNaturalLanes(op.getStaging().getVectorBits(),
                                      reduction.getElementType());
    llvm::TypeSwitch<Attribute>(how)
        .Case([&](PackedAttr attr) {
          reduction.kind = ReductionKind::Packed;
          reduction.packed = attr;
          reduction.left = attr.getLeft();
          reduction.vectors = attr.getVectors();
          reduction.groups = attr.getGroups();
          reduction.breaks = attr.getBreaks();
        })
        .Case([&](InPlaceAttr attr) {
          reduction.kind = ReductionKind::InPlace;
          reduction.inPlace = attr;
          reduction.left = attr.getLeft();
          reduction.groups = attr.getGroups();
          reduction.breaks = attr.getBreaks();
        })
        .Case([&](CopiedAttr attr) {
          reduction.kind = ReductionKind::Copied;
          reduction.copied = attr;
          reduction.left = attr.getLeft();
          reduction.vectors = attr.getVectors();
          reduction.groups = attr.getGroups();
          reduction.breaks = attr.getBreaks();
        })
        .Case([&](GatheredAttr attr) {
          reduction.kind = ReductionKind::Gathered;
          reduction.gathered = attr;
          reduction.left = attr.getLeft();
        })
        .Case([&](ReducedAttr attr) {
          reduction.kind = attr.getKind() == ReducedKind::Columns
                               ? ReductionKind::Columns
                           : attr.getKind() == ReducedKind::Lanes
                               ? ReductionKind::Lanes
                               : ReductionKind::Sequential;
          reduction.breaks = attr.getBreaks();
        });
    SmallVector<unsigned> dims;
    linalgOp.getReductionDims(dims);
    reduction.depth = 1;
    for (unsigned dim : dims)
      reduction.depth *= linalgOp.getStaticLoopRanges()[dim];
    stage.reductions.push_back(std::move(reduction));
  }
  stages.push_back(std::move(stage));
}

bool StagePlan::checksIndices() const {
  return op->walk([](cf::AssertOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

bool StagePlan::hasRows(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return rows.argumentSpaces[argument.getArgNumber()].hasRows();
  auto type = cast<RankedTensorType>(value.getType());
  return type.getRank() > 0 && type.isDynamicDim(0);
}

ArrayRef<int64_t> StagePlan::getRowShape(Value value) const {
  return cast<RankedTensorType>(value.getType())
      .getShape()
      .drop_front(hasRows(value));
}

int64_t StagePlan::getDomain(Value offsets) const {
  return *op.getOffsets(cast<BlockArgument>(offsets).getArgNumber());
}

RowSpace StagePlan::getSpace(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return rows.argumentSpaces[argument.getArgNumber()];
  Operation *def = value.getDefiningOp();
  for (const Stage &stage : stages)
    if (stage.op.getOperation() == def)
      // If the stage inserts, its shape is the shape of the inserted value. Use
      // the shape of the result instead.
      return {stage.space.domain, SmallVector<int64_t, 3>(getRowShape(value))};
  return {};
}

BlockArgument StagePlan::getRoot(unsigned index) const {
  auto result =
      cast<OpResult>(op.getBody().front().getTerminator()->getOperand(index));
  auto insert = cast<StageOp>(result.getOwner())
                    .getYielded(result.getResultNumber())
                    .getDefiningOp<InsertOp>();
  return insert ? insert.getRoot() : BlockArgument();
}

std::optional<unsigned> StagePlan::getCopiedResult(const Stage &stage) const {
  for (OpResult result : stage.op->getResults())
    if (isa<BlockArgument>(stage.op.getYielded(result.getResultNumber())) &&
        findInsert(result))
      return getStorage(result).index;
  return std::nullopt;
}

Storage StagePlan::getStorage(OpResult result) const {
  if (OpResult inserted = findInsert(result))
    return getStorage(inserted);
  // A value that is yielded as several results is read back from the first of
  // them.
  for (OpOperand &operand :
       op.getBody().front().getTerminator()->getOpOperands())
    if (operand.get() == result)
      return {Storage::Result, operand.getOperandNumber(), 0};
  auto stage = cast<StageOp>(result.getOwner());
  return {Storage::Scratch, 0, stage.getScratch()[result.getResultNumber()]};
}

TableLayout StagePlan::getLayout(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return rows.argumentLayouts[argument.getArgNumber()];
  Storage storage = getStorage(cast<OpResult>(value));
  if (storage.kind == Storage::Result)
    return rows.resultLayouts[storage.index];
  return makeLayout(getRowShape(value), getElementTypeOrSelf(value.getType()));
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Returns the size in bytes of the parameters that a contraction reads.
int64_t StagePlan::getWeightBytes(const Reduction &reduction) const {
  if (reduction.packed) {
    int64_t factors = reduction.depth * reduction.space.columns();
    for (int64_t dim : reduction.groups)
      factors *= reduction.space.shape[dim];
    return factors * elementBytes(reduction.getElementType());
  }
  if (reduction.gathered)
    return reduction.gathered.getPanels().getN() * reduction.depth *
           elementBytes(reduction.getElementType());
  if (!reduction.inPlace)
    return 0;
  int64_t bytes = 0;
  for (int64_t parameter : reduction.inPlace.getParameters())
    for (auto [i, type] : llvm::enumerate(op.getArgumentTypes()))
      if (op.getParameter(i) == parameter) {
        auto tensor = cast<RankedTensorType>(type);
        bytes += makeLayout(tensor.getShape(), tensor.getElementType())
                     .getRowBytes();
        break;
      }
  return bytes;
}

ContractionCost StagePlan::getContractionCost() const {
  ContractionCost cost;
  for (const Stage &stage : stages) {
    for (const Reduction &reduction : stage.reductions) {
      if (!reduction.isContraction())
        continue;
      cost.taskFlops +=
          2 * reduction.depth * stage.space.leading() * stage.space.columns();
      cost.weightBytes += getWeightBytes(reduction);
    }
  }
  return cost;
}
