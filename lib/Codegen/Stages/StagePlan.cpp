//===- StagePlan.cpp - How an operator falls into stages --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StagePlan.h"

#include "Batch/Dialect/Batch/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

TableLayout StagePlan::makeLayout(ArrayRef<int64_t> row, Type element,
                                  DictionaryAttr attributes) {
  auto map = attributes ? attributes.getAs<AffineMapAttr>(OperatorOp::kLayout)
                        : AffineMapAttr();
  TableLayout layout(row, elementBytes(element),
                     map ? map.getValue() : AffineMap());
  if (attributes)
    if (auto bytes = attributes.getAs<IntegerAttr>(OperatorOp::kBlockBytes))
      layout.setBlockBytes(bytes.getInt());
  return layout;
}

LogicalResult StagePlan::computeLayouts() {
  auto check = [&](const TableLayout &layout, const char *what,
                   unsigned number) -> LogicalResult {
    // The digits of the last dimension come first.
    bool split = !layout.getDigits().empty() &&
                 !layout.getOnlyDigit(layout.getDigits().front().dim);
    if (!split || layout.getRun() % lanes == 0)
      return success();
    return op.emitError() << what << ' ' << number << " lies in pieces of "
                          << layout.getRun()
                          << " elements; split the last dimension of its table "
                             "by a multiple of the "
                          << lanes << " of a vector";
  };
  for (auto [i, type] : llvm::enumerate(op.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      argumentLayouts.push_back(TableLayout({}, 8));
      continue;
    }
    bool perTask = getStepOperand(i) >= 0;
    argumentLayouts.push_back(
        makeLayout(perTask ? tensor.getShape().drop_front() : tensor.getShape(),
                   tensor.getElementType(), op.getArgAttrDict(i)));
    const TableLayout &layout = argumentLayouts.back();
    if (failed(check(layout, "operand", i)))
      return failure();
  }
  for (auto [i, type] : llvm::enumerate(op.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    ArrayRef<int64_t> shape = tensor.getShape();
    resultLayouts.push_back(makeLayout(
        ShapedType::isDynamic(shape.front()) ? shape.drop_front() : shape,
        tensor.getElementType(), op.getResultAttrDict(i)));
    if (failed(check(resultLayouts.back(), "result", i)))
      return failure();
  }
  return success();
}

TableLayout StagePlan::getLayout(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argumentLayouts[argument.getArgNumber()];
  // A result is read back where it is written first.
  OperatorOp operatorOp = op;
  Operation *yield = operatorOp.getBody().front().getTerminator();
  for (OpOperand &operand : yield->getOpOperands())
    if (operand.get() == value)
      return resultLayouts[operand.getOperandNumber()];
  return TableLayout(getSpace(value).shape,
                     elementBytes(getElementTypeOrSelf(value.getType())));
}

Node *StagePlan::getNode(Value value) const {
  Operation *def = value.getDefiningOp();
  return def ? nodeOf.lookup(def) : nullptr;
}

const Storage *StagePlan::getStorage(Value value) const {
  auto it = storages.find(value);
  return it == storages.end() ? nullptr : &it->second.first;
}

int64_t StagePlan::getStoringStage(Value value) const {
  auto it = storages.find(value);
  return it == storages.end() ? -1 : it->second.second;
}

int64_t StagePlan::getRaggedOperand(int64_t domain) const {
  OperatorOp operatorOp = op;
  for (unsigned i = 0, e = stepOperands.size(); i < e; ++i)
    if (stepOperands[i] >= 0 && operatorOp.getRagged(i) == domain)
      return stepOperands[i];
  return -1;
}

LogicalResult StagePlan::computeSpaces() {
  Block &body = op.getBody().front();
  int64_t next = 0, domains = 0;
  for (BlockArgument argument : body.getArguments()) {
    unsigned i = argument.getArgNumber();
    bool perTask = i != 0 && !op.getParameter(i) && !op.getOffsets(i);
    stepOperands.push_back(perTask ? next++ : -1);
    RowSpace space;
    if (auto type = dyn_cast<RankedTensorType>(argument.getType())) {
      ArrayRef<int64_t> shape = type.getShape();
      if (!batch::isElementType(type.getElementType()))
        return op.emitError("operand ")
               << i << " has elements of type " << type.getElementType()
               << ", which operators do not read";
      if (op.getParameter(i)) {
        space.shape.assign(shape.begin(), shape.end());
      } else {
        space.domain = op.getRagged(i).value_or(RowSpace::kTasks);
        domains = std::max(domains, space.domain + 1);
        if (shape.empty() || !ShapedType::isDynamic(shape.front()) ||
            ShapedType::isDynamicShape(shape.drop_front()))
          return op.emitError("operand ")
                 << i << " is not a tensor of rows of static shape";
        space.shape.assign(shape.begin() + 1, shape.end());
      }
    }
    spaces[argument] = space;
  }
  raggedScratch.assign(domains, 0);
  for (Operation &inner : body.without_terminator())
    if (failed(computeSpace(&inner)))
      return failure();
  return success();
}

LogicalResult StagePlan::computeSpace(Operation *inner) {
  // Scalars are computed where they are needed.
  if (llvm::none_of(inner->getResultTypes(),
                    [](Type type) { return isa<RankedTensorType>(type); })) {
    if (inner->getNumRegions() == 0)
      return success();
    return inner->emitOpError("is not supported in an operator yet");
  }
  if (!isa<linalg::LinalgOp, tensor::EmptyOp, tensor::SplatOp, tensor::ConcatOp,
           tensor::ExtractSliceOp, tensor::InsertSliceOp,
           tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
           arith::ConstantOp, batch::SegmentReduceOp,
           batch::SegmentBroadcastOp>(inner) &&
      !OpTrait::hasElementwiseMappableTraits(inner))
    return inner->emitOpError("is not supported in an operator yet");

  auto domainOfSize = [&](Value size) -> std::optional<int64_t> {
    if (size == op.getBody().front().getArgument(0))
      return RowSpace::kTasks;
    if (auto dim = size.getDefiningOp<tensor::DimOp>())
      if (dim.getConstantIndex() == 0 && spaces.count(dim.getSource()))
        return spaces[dim.getSource()].domain;
    return std::nullopt;
  };
  for (OpResult result : inner->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return inner->emitOpError("mixes tensor and other results");
    if (!batch::isElementType(type.getElementType()))
      return inner->emitOpError("makes elements of type ")
             << type.getElementType()
             << ", which operators do not compute with";
    RowSpace space;
    ArrayRef<int64_t> shape = type.getShape();
    if (!ShapedType::isDynamicShape(shape)) {
      space.shape.assign(shape.begin(), shape.end());
      spaces[result] = space;
      continue;
    }
    if (!ShapedType::isDynamic(shape.front()) ||
        ShapedType::isDynamicShape(shape.drop_front()))
      return inner->emitOpError(
          "has a dynamic dimension that is not the leading one");
    space.shape.assign(shape.begin() + 1, shape.end());
    std::optional<int64_t> domain;
    if (isa<batch::SegmentReduceOp>(inner)) {
      domain = RowSpace::kTasks;
    } else if (auto broadcast = dyn_cast<batch::SegmentBroadcastOp>(inner)) {
      auto offsets = dyn_cast<BlockArgument>(broadcast.getOffsets());
      if (offsets)
        domain = op.getOffsets(offsets.getArgNumber());
    } else if (isa<tensor::EmptyOp, tensor::SplatOp>(inner)) {
      domain = domainOfSize(inner->getOperands().back());
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(inner)) {
      AffineMap out = linalgOp.getIndexingMapMatchingResult(result);
      for (OpOperand &operand : inner->getOpOperands()) {
        auto it = spaces.find(operand.get());
        if (it == spaces.end() || !it->second.hasRows())
          continue;
        AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
        if (map.getNumResults() && map.getResult(0) == out.getResult(0)) {
          domain = it->second.domain;
          break;
        }
      }
    } else {
      for (Value operand : inner->getOperands())
        if (auto it = spaces.find(operand);
            it != spaces.end() && it->second.hasRows()) {
          domain = it->second.domain;
          break;
        }
    }
    if (!domain) {
      // An empty tensor of unknown size is only a shape: its reader knows.
      if (!isa<tensor::EmptyOp>(inner))
        return inner->emitOpError(
            "has rows of which it is not known whether "
            "they belong to tasks or to a ragged operand");
      domain = RowSpace::kOnce;
    }
    space.domain = *domain;
    spaces[result] = space;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What vanishes into its readers
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  if (isa<tensor::EmptyOp, tensor::SplatOp, tensor::ConcatOp,
          tensor::ExtractSliceOp, tensor::InsertSliceOp,
          tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
          arith::ConstantOp, batch::SegmentBroadcastOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() == 0 &&
         linalgOp->getRegion(0).front().getOperations().size() == 1;
}

/// Cost of the code of an elementwise op, or -1 if it is not cheap enough to
/// be computed again by every reader.
static int64_t elementCost(Operation *op) {
  auto cost = [](Operation *inner) -> int64_t {
    if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
            arith::RemSIOp, arith::RemUIOp>(inner))
      return -1;
    return isa<arith::ArithDialect>(inner->getDialect()) ? 1 : -1;
  };
  if (isView(op))
    return 0;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return OpTrait::hasElementwiseMappableTraits(op) ? cost(op) : -1;
  if (linalgOp.getNumReductionLoops() != 0)
    return -1;
  int64_t sum = 0;
  for (Operation &inner : linalgOp->getRegion(0).front().without_terminator()) {
    if (isa<linalg::IndexOp>(inner))
      continue;
    int64_t one = cost(&inner);
    if (one < 0)
      return -1;
    sum += one;
  }
  return sum;
}

bool StagePlan::isVirtual(Operation *inner) {
  auto it = virtualOps.find(inner);
  if (it != virtualOps.end())
    return it->second;
  constexpr int64_t kCheap = 6;
  int64_t cost = elementCost(inner);
  for (Value operand : inner->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (cost < 0 || !def || !isa<RankedTensorType>(operand.getType()))
      continue;
    // Operands come earlier in the block: theirs is known.
    int64_t theirs = cheapness.lookup(def);
    cost = theirs < 0 ? -1 : cost + theirs;
  }
  if (cost > kCheap || inner->getNumResults() != 1)
    cost = -1;
  cheapness[inner] = cost;
  return virtualOps[inner] = isView(inner) || cost >= 0;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

int64_t StagePlan::getNaturalLanes(Type element) const {
  return vectorBits / (8 * std::max<int64_t>(elementBytes(element), 4));
}

int64_t StagePlan::chooseLanes() {
  int64_t least = vectorBits / 32;
  auto visit = [&](Type type, bool reduced) {
    // A tensor without inner dimensions has a scalar per task.
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && batch::isElementType(tensor.getElementType()) &&
        (reduced || !llvm::all_of(tensor.getShape(), ShapedType::isDynamic)))
      least = std::min(least, getNaturalLanes(tensor.getElementType()));
  };
  for (Type type : op.getBody().getArgumentTypes())
    visit(type, /*reduced=*/false);
  for (Operation &inner : op.getBody().front()) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(inner);
    for (Type type : inner.getResultTypes())
      visit(type, linalgOp && linalgOp.getNumReductionLoops() != 0);
  }
  return least;
}

LogicalResult StagePlan::addNode(Operation *inner) {
  auto node = std::make_unique<Node>();
  node->op = inner;
  node->space = getSpace(inner->getResult(0));
  node->lanes = lanes;
  bool vector = node->space.rank() > 0;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(inner)) {
    for (OpResult result : inner->getResults()) {
      AffineMap out = linalgOp.getIndexingMapMatchingResult(result);
      auto isReduced = [&](AffineExpr expr) {
        return linalgOp.getIteratorTypesArray()[cast<AffineDimExpr>(expr)
                                                    .getPosition()] !=
               utils::IteratorType::parallel;
      };
      if (!out.isProjectedPermutation() ||
          out.getNumResults() != linalgOp.getNumParallelLoops() ||
          llvm::any_of(out.getResults(), isReduced) ||
          getSpace(result) != node->space ||
          out != linalgOp.getIndexingMapMatchingResult(inner->getResult(0)))
        return inner->emitOpError("has results whose indexing maps are not one "
                                  "permutation of the parallel loops");
    }
    for (Operation &element :
         linalgOp->getRegion(0).front().without_terminator())
      if (!isa<linalg::IndexOp>(element) &&
          (!OpTrait::hasElementwiseMappableTraits(&element) &&
           !element.hasTrait<OpTrait::ConstantLike>()))
        return element.emitOpError("is not supported in an operator yet");
    if (linalgOp.getNumReductionLoops() != 0) {
      node->lanes =
          getNaturalLanes(getElementTypeOrSelf(inner->getResult(0).getType()));
      if (failed(classifyReduction(*node, linalgOp)))
        return failure();
    } else {
      node->scalar = !readOperands(
          *node,
          vector ? std::optional<unsigned>(node->space.rank()) : std::nullopt,
          node->reads);
    }
  } else if (auto reduce = dyn_cast<batch::SegmentReduceOp>(inner)) {
    node->kind = NodeKind::SegmentReduce;
    bool safe = resolve(*node, reduce.getRows(), identity(node->space, vector),
                        true, node->reads);
    safe &= resolve(*node, reduce.getInit(), identity(node->space, vector),
                    false, node->reads);
    node->scalar = !safe;
  } else {
    bool safe = true;
    for (Value operand : inner->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        safe &= resolve(*node, operand, identity(node->space, vector), false,
                        node->reads);
    node->scalar = !safe;
  }
  nodeOf[inner] = node.get();
  nodes.push_back(std::move(node));
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

bool StagePlan::isAligned(const Read &read, const Node &reader) {
  Node *node = getNode(read.base);
  if (!node || read.foreignRow || node->space != reader.space ||
      node->scalar != reader.scalar)
    return false;
  bool rows = reader.space.hasRows();
  for (auto [i, index] : llvm::enumerate(read.indices)) {
    auto dim = dyn_cast<AffineDimExpr>(index.expr);
    if (!dim || dim.getPosition() != (rows ? i : i + 1))
      return false;
  }
  return true;
}

void StagePlan::assignLevels() {
  SmallVector<Node *> all;
  for (auto &node : nodes)
    all.push_back(node.get());
  for (auto &copy : copies)
    all.push_back(copy.get());
  DenseMap<Node *, SmallVector<std::pair<Node *, bool>>> readers;
  for (Node *node : all)
    for (const Read &read : node->reads)
      if (Node *producer = getNode(read.base)) {
        bool aligned = isAligned(read, *node);
        readers[producer].push_back({node, aligned});
        node->level =
            std::max(node->level, producer->level + (aligned ? 0 : 1));
      }
  // As late as the readers allow: fewer values outlive their stage.
  for (Node *node : llvm::reverse(all)) {
    std::optional<int64_t> latest;
    for (auto [reader, aligned] : readers[node]) {
      int64_t bound = reader->level - (aligned ? 0 : 1);
      latest = latest ? std::min(*latest, bound) : bound;
    }
    if (latest)
      node->level = std::max(node->level, *latest);
  }
}

void StagePlan::makeStages() {
  SmallVector<Node *> all;
  for (auto &node : nodes)
    all.push_back(node.get());
  for (auto &copy : copies)
    all.push_back(copy.get());
  llvm::stable_sort(all, [](Node *a, Node *b) { return a->level < b->level; });
  SmallVector<int64_t> levels;
  for (Node *node : all) {
    for (auto [i, stage] : llvm::enumerate(stages))
      if (levels[i] == node->level && stage.space == node->space &&
          stage.scalar == node->scalar)
        node->stage = i;
    if (node->stage < 0) {
      node->stage = stages.size();
      stages.emplace_back();
      stages.back().space = node->space;
      stages.back().scalar = node->scalar;
      levels.push_back(node->level);
    }
    if (node->op)
      stages[node->stage].nodes.push_back(node);
  }

  Operation *yield = op.getBody().front().getTerminator();
  for (OpOperand &operand : yield->getOpOperands()) {
    Value value = operand.get();
    Storage storage{Storage::Result, operand.getOperandNumber(), 0};
    Node *node = getNode(value);
    if (!node)
      node = copyOfResult[operand.getOperandNumber()];
    stages[node->stage].stores.push_back({value, storage});
    // Only a node's value is read back: a view is followed to its operands.
    if (getNode(value) && !storages.count(value))
      storages[value] = {storage, node->stage};
  }
  for (Node *node : all)
    for (const Read &read : node->reads) {
      Node *producer = getNode(read.base);
      if (!producer || producer->stage == node->stage ||
          storages.count(read.base))
        continue;
      auto type = cast<RankedTensorType>(read.base.getType());
      const RowSpace &space = producer->space;
      int64_t &bytes =
          space.domain >= 0 ? raggedScratch[space.domain] : taskScratch;
      Storage storage{Storage::Scratch, 0, bytes};
      bytes += makeLayout(space.shape, type.getElementType()).getRowBytes();
      storages[read.base] = {storage, producer->stage};
      stages[producer->stage].stores.push_back({read.base, storage});
    }
}

LogicalResult StagePlan::build() {
  if (failed(computeSpaces()) || failed(computeLayouts()))
    return failure();
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (inner.getNumResults() == 0 ||
        !isa<RankedTensorType>(inner.getResult(0).getType()))
      continue;
    if (auto slice = dyn_cast<tensor::ConcatOp>(inner);
        slice && getSpace(inner.getResult(0)).hasRows() && slice.getDim() == 0)
      return inner.emitOpError("concatenates rows of different tasks");
    auto isStatic = [](ArrayRef<int64_t> values, size_t first) {
      return llvm::none_of(values.drop_front(first), ShapedType::isDynamic);
    };
    if (auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(inner)) {
      bool rows = getSpace(inner.getResult(0)).hasRows();
      if (!isStatic(slice.getStaticOffsets(), rows) ||
          !isStatic(slice.getStaticSizes(), rows) ||
          !isStatic(slice.getStaticStrides(), rows) ||
          (rows && slice.getStaticOffsets()[0] != 0) ||
          (isa<tensor::InsertSliceOp>(inner) &&
           llvm::any_of(slice.getStaticStrides(),
                        [](int64_t stride) { return stride != 1; })))
        return inner.emitOpError("has offsets, sizes or strides that are not "
                                 "static, or does not take all rows");
    }
    if (isVirtual(&inner))
      continue;
    if (failed(addNode(&inner)))
      return failure();
  }
  Operation *yield = op.getBody().front().getTerminator();
  copyOfResult.resize(yield->getNumOperands());
  for (OpOperand &operand : yield->getOpOperands()) {
    Value value = operand.get();
    if (getNode(value))
      continue;
    auto copy = std::make_unique<Node>();
    copy->space = getSpace(value);
    copy->lanes = lanes;
    bool vector = copy->space.rank() > 0;
    copy->scalar = !resolve(*copy, value, identity(copy->space, vector), false,
                            copy->reads);
    copyOfResult[operand.getOperandNumber()] = copy.get();
    copies.push_back(std::move(copy));
  }
  assignLevels();
  makeStages();
  return success();
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Bytes of the parameters that a contraction reads.
int64_t StagePlan::getWeightBytes(const Node &node) const {
  if (node.kind == NodeKind::Panels)
    return node.depth * node.space.columns() * node.elementBytes();
  int64_t bytes = 0;
  for (const Read &read : node.reads) {
    auto argument = dyn_cast<BlockArgument>(read.base);
    if (!argument || !getOperator().getParameter(argument.getArgNumber()))
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    if (type.hasStaticShape())
      bytes += makeLayout(type.getShape(), type.getElementType()).getRowBytes();
  }
  return bytes;
}

ContractionCost StagePlan::getContractionCost() const {
  ContractionCost cost;
  for (const Stage &stage : stages) {
    int64_t flops = 0;
    for (const Node *node : stage.nodes) {
      if (!node->isContraction())
        continue;
      flops += 2 * node->depth * node->space.leading() * node->space.columns();
      cost.weightBytes += getWeightBytes(*node);
    }
    cost.taskFlops += flops;
    cost.stageFlops = std::max(cost.stageFlops, flops);
  }
  return cost;
}
