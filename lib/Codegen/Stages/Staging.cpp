//===- Staging.cpp - Splitting an operator into stages --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Staging.h"
#include "ElementSources.h"

#include "Batch/Analysis/BatchedForms.h"
#include "Batch/Dialect/Batch/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::uprog;

Staging::Staging(OperatorOp op, StageTarget target, int64_t vectorBits)
    : op(op), target(target), vectorBits(vectorBits), lanes(chooseLanes()) {}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult Staging::checkArguments() {
  for (auto [i, type] : llvm::enumerate(op.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    if (!batch::isElementType(tensor.getElementType()))
      return op.emitError("operand ")
             << i << " has elements of type " << tensor.getElementType()
             << ", which operators do not support";
    ArrayRef<int64_t> shape = tensor.getShape();
    if (!op.getParameter(i) &&
        (shape.empty() || !ShapedType::isDynamic(shape.front()) ||
         ShapedType::isDynamicShape(shape.drop_front())))
      return op.emitError("operand ")
             << i
             << " must be a tensor with a dynamic first dimension and static "
                "other dimensions";
  }
  return success();
}

LogicalResult Staging::checkLayouts() {
  auto check = [&](const TableLayout &layout, const char *what,
                   unsigned number) -> LogicalResult {
    // The digits of the last dimension come first.
    bool split = !layout.getDigits().empty() &&
                 !layout.getOnlyDigit(layout.getDigits().front().dim);
    if (!split || layout.getRun() % lanes == 0)
      return success();
    return op.emitError() << what << ' ' << number << " is stored in pieces of "
                          << layout.getRun()
                          << " elements; split the last dimension of its table "
                             "by a multiple of "
                          << lanes << ", the number of elements in a vector";
  };
  for (auto [i, layout] : llvm::enumerate(rows->argumentLayouts)) {
    if (failed(check(layout, "operand", i)))
      return failure();
  }
  for (auto [i, layout] : llvm::enumerate(rows->resultLayouts))
    if (failed(check(layout, "result", i)))
      return failure();
  return success();
}

TableLayout Staging::getLayout(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return rows->argumentLayouts[argument.getArgNumber()];
  // If several results yield the same value, it is read back from the first.
  OperatorOp operatorOp = op;
  Operation *yield = operatorOp.getBody().front().getTerminator();
  for (OpOperand &operand : yield->getOpOperands())
    if (operand.get() == value)
      return rows->resultLayouts[operand.getOperandNumber()];
  return makeLayout(getSpace(value).shape,
                    getElementTypeOrSelf(value.getType()));
}

StagedNode *Staging::getNode(Value value) const {
  Operation *def = value.getDefiningOp();
  return def ? nodeOf.lookup(def) : nullptr;
}

LogicalResult Staging::computeSpaces() {
  Block &body = op.getBody().front();
  for (BlockArgument argument : body.getArguments())
    spaces[argument] = rows->argumentSpaces[argument.getArgNumber()];
  for (Operation &inner : body.without_terminator())
    if (failed(computeSpace(&inner)))
      return failure();
  return success();
}

LogicalResult Staging::computeSpace(Operation *inner) {
  Operation *unknown =
      isa<InsertOp>(inner) ? nullptr : batch::findUnknownCode(inner);
  if (unknown)
    return unknown->emitOpError("is not supported in an operator yet; use ops "
                                "of linalg, tensor, arith and math");
  // Scalars have no space, because they are computed where they are needed.
  if (llvm::none_of(inner->getResultTypes(),
                    [](Type type) { return isa<RankedTensorType>(type); }))
    return success();

  for (OpResult result : inner->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return inner->emitOpError("has both tensor and non-tensor results");
    if (!batch::isElementType(type.getElementType()))
      return inner->emitOpError("produces elements of type ")
             << type.getElementType() << ", which operators do not support";
    ArrayRef<int64_t> shape = type.getShape();
    RowSpace &space = spaces[result];
    if (!ShapedType::isDynamicShape(shape)) {
      space.shape.assign(shape.begin(), shape.end());
      continue;
    }
    if (!ShapedType::isDynamic(shape.front()) ||
        ShapedType::isDynamicShape(shape.drop_front()))
      return inner->emitOpError("has a dynamic dimension other than the first");
    space.shape.assign(shape.begin() + 1, shape.end());
    // An empty tensor of dynamic shape has no values; its reader determines
    // its size.
    std::optional<int64_t> domain = findDomain(result);
    if (!domain && !isa<tensor::EmptyOp>(inner))
      return inner->emitOpError("must have one row per task or the rows of a "
                                "ragged operand");
    space.domain = domain.value_or(RowSpace::kOnce);
  }
  return success();
}

std::optional<int64_t> Staging::findDomain(OpResult result) {
  Operation *inner = result.getOwner();
  if (isa<batch::SegmentReduceOp>(inner))
    return RowSpace::kTasks;
  if (auto broadcast = dyn_cast<batch::SegmentBroadcastOp>(inner)) {
    auto offsets = dyn_cast<BlockArgument>(broadcast.getOffsets());
    return offsets ? op.getOffsets(offsets.getArgNumber()) : std::nullopt;
  }
  if (isa<tensor::EmptyOp, tensor::SplatOp>(inner)) {
    Value size = inner->getOperands().back();
    if (size == op.getBody().front().getArgument(0))
      return RowSpace::kTasks;
    auto dim = size.getDefiningOp<tensor::DimOp>();
    if (dim && dim.getConstantIndex() == 0 && spaces.count(dim.getSource()))
      return spaces[dim.getSource()].domain;
    return std::nullopt;
  }
  // Return the domain of an operand with the same rows as the result.
  auto linalgOp = dyn_cast<linalg::LinalgOp>(inner);
  for (OpOperand &operand : inner->getOpOperands()) {
    auto it = spaces.find(operand.get());
    if (it == spaces.end() || !it->second.hasRows())
      continue;
    if (!linalgOp)
      return it->second.domain;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    AffineMap out = linalgOp.getIndexingMapMatchingResult(result);
    if (map.getNumResults() && map.getResult(0) == out.getResult(0))
      return it->second.domain;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Ops that are fused into their readers
//===----------------------------------------------------------------------===//

static bool isFree(Operation *op) {
  if (isView(op) ||
      isa<tensor::EmptyOp, tensor::SplatOp, arith::ConstantOp>(op))
    return true;
  // A copy stays in memory, since its source may change later.
  if (isa<linalg::CopyOp>(op))
    return false;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() == 0 &&
         linalgOp->getRegion(0).front().getOperations().size() == 1;
}

/// Returns the cost of computing `op` in each of its readers, or -1 if readers
/// must not compute it.
static int64_t elementCost(Operation *op) {
  auto cost = [](Operation *inner) -> int64_t {
    if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
            arith::RemSIOp, arith::RemUIOp>(inner))
      return -1;
    return isa<arith::ArithDialect>(inner->getDialect()) ? 1 : -1;
  };
  if (isFree(op))
    return 0;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return OpTrait::hasElementwiseMappableTraits(op) ? cost(op) : -1;
  if (linalgOp.getNumReductionLoops() != 0 || isa<linalg::CopyOp>(op))
    return -1;
  // Checking one number per task is not worth a separate stage.
  bool isNumber =
      linalgOp.getNumLoops() == 1 &&
      cast<RankedTensorType>(op->getResult(0).getType()).isDynamicDim(0);
  int64_t sum = 0;
  for (Operation &inner : linalgOp->getRegion(0).front().without_terminator()) {
    if (isa<linalg::IndexOp>(inner) || (isNumber && isa<cf::AssertOp>(inner)))
      continue;
    int64_t one = cost(&inner);
    if (one < 0)
      return -1;
    sum += one;
  }
  return sum;
}

bool Staging::isVirtual(Operation *inner) {
  auto it = virtualOps.find(inner);
  if (it != virtualOps.end())
    return it->second;
  constexpr int64_t kLowCost = 6;
  int64_t cost = elementCost(inner);
  for (Value operand : inner->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (cost < 0 || !def || !isa<RankedTensorType>(operand.getType()))
      continue;
    // Operands come earlier in the block, so their cost is known.
    int64_t theirs = cheapness.lookup(def);
    cost = theirs < 0 ? -1 : cost + theirs;
  }
  if (cost > kLowCost || inner->getNumResults() != 1)
    cost = -1;
  cheapness[inner] = cost;
  return virtualOps[inner] = isFree(inner) || cost >= 0;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

int64_t Staging::chooseLanes() {
  int64_t least = vectorBits / 32;
  auto visit = [&](Type type, bool reduced) {
    // A tensor without inner dimensions has a scalar per task.
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && batch::isElementType(tensor.getElementType()) &&
        (reduced || !llvm::all_of(tensor.getShape(), ShapedType::isDynamic)))
      least =
          std::min(least, getNaturalLanes(vectorBits, tensor.getElementType()));
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

LogicalResult Staging::addNode(Operation *inner) {
  auto node = std::make_unique<StagedNode>();
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
        return inner->emitOpError("has results whose indexing maps are not the "
                                  "same permutation of the parallel loops");
    }
    for (Operation &element :
         linalgOp->getRegion(0).front().without_terminator())
      if (!isa<linalg::IndexOp, tensor::ExtractOp, cf::AssertOp>(element) &&
          (!OpTrait::hasElementwiseMappableTraits(&element) &&
           !element.hasTrait<OpTrait::ConstantLike>()))
        return element.emitOpError("is not supported in an operator yet");
    if (linalgOp.getNumReductionLoops() != 0) {
      node->lanes = getNaturalLanes(vectorBits,
                                    getElementTypeOrSelf(inner->getResult(0)));
      if (failed(classifyReduction(*node, linalgOp)))
        return failure();
    } else {
      // A copy stores a view, so its vectors may span several operands.
      node->anywhere = target == StageTarget::CPU && isa<linalg::CopyOp>(inner);
      node->scalar = !readOperands(
          *node,
          vector ? std::optional<unsigned>(node->space.rank()) : std::nullopt,
          node->reads);
    }
  } else if (auto reduce = dyn_cast<batch::SegmentReduceOp>(inner)) {
    bool safe = resolve(*node, reduce.getRows(), identity(node->space, vector),
                        true, node->reads);
    safe &= resolve(*node, reduce.getInit(), identity(node->space, vector),
                    false, node->reads);
    node->scalar = !safe;
  } else if (auto insert = dyn_cast<InsertOp>(inner)) {
    if (failed(readInsert(*node, insert)))
      return failure();
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

/// Returns true if the columns of the inserted value are consecutive columns of
/// a row. They are then written as vectors.
static bool insertsColumns(InsertOp insert, const TableLayout &layout) {
  unsigned last = insert.getSizes().size() - 1;
  const TableLayout::Digit *digit = layout.getOnlyDigit(last);
  return !insert.getDroppedDims()[last] && insert.getStrides()[last] == 1 &&
         digit && digit->stride == 1;
}

/// Returns the insert that writes into the same row after the insert that
/// creates `value`.
static InsertOp getNextInsert(Value value) {
  for (OpOperand &use : value.getUses())
    if (auto insert = dyn_cast<InsertOp>(use.getOwner()))
      if (&insert.getDestMutable() == &use)
        return insert;
  return {};
}

LogicalResult Staging::readInsert(StagedNode &node, InsertOp insert) {
  Value dest = insert.getDest();
  auto argument = dyn_cast<BlockArgument>(dest);
  if (argument ? !isRowOperand(argument) : !dest.getDefiningOp<InsertOp>())
    return insert.emitOpError("inserts into a value that is neither an operand "
                              "with one row per task nor the result of another "
                              "insert");
  node.space = getSpace(insert.getSource());
  bool vector = node.space.rank() > 0;
  SymbolicIndices own = identity(node.space, vector);
  bool safe = resolve(node, insert.getSource(), own, false, node.reads);
  for (Value position : insert.getPositions())
    safe &= resolve(node, position, {own.front()}, false, node.reads);
  Value result = insert.getResult();
  while (InsertOp next = getNextInsert(result))
    result = next.getResult();
  OperandRange results = op.getBody().front().getTerminator()->getOperands();
  const auto place = llvm::find(results, result);
  if (place == results.end())
    return insert.emitOpError("inserts into rows that the operator does not "
                              "return; yield the result of the last insert");
  node.scalar =
      !safe ||
      (vector &&
       !insertsColumns(insert, rows->resultLayouts[place - results.begin()]));
  if (!argument)
    return success();
  auto root = std::make_unique<StagedNode>();
  root->space = getSpace(dest);
  root->lanes = lanes;
  bool columns = root->space.rank() > 0;
  root->scalar =
      !resolve(*root, dest, identity(root->space, columns), false, root->reads);
  roots[dest] = std::move(root);
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

bool Staging::isAligned(const Read &read, const StagedNode &reader) {
  StagedNode *node = getNode(read.base);
  if (!node || read.nonLocalRow || node->space != reader.space ||
      node->scalar != reader.scalar || isa<InsertOp>(node->op))
    return false;
  bool rows = reader.space.hasRows();
  for (auto [i, index] : llvm::enumerate(read.indices)) {
    auto dim = dyn_cast<AffineDimExpr>(index.expr);
    if (!dim || dim.getPosition() != (rows ? i : i + 1))
      return false;
  }
  return true;
}

SmallVector<StagedNode *> Staging::listNodes() {
  SmallVector<StagedNode *> all;
  for (auto &node : nodes)
    all.push_back(node.get());
  for (auto &copy : copies)
    all.push_back(copy.get());
  for (auto &[operand, root] : roots)
    all.push_back(root.get());
  return all;
}

LogicalResult Staging::assignLevels() {
  SmallVector<StagedNode *> all = listNodes();
  /// Order of two nodes: `from` runs before `to` or, if the edge is aligned, in
  /// the same stage.
  struct Edge {
    StagedNode *from, *to;
    bool aligned;
    int64_t bound() const { return from->level + (aligned ? 0 : 1); }
  };
  std::vector<Edge> edges;
  for (StagedNode *node : all) {
    for (const Read &read : node->reads)
      if (StagedNode *producer = getNode(read.base))
        edges.push_back({producer, node, isAligned(read, *node)});
    // An insert runs after the node that writes its destination, and after all
    // other nodes that read this destination.
    auto insert = dyn_cast_or_null<InsertOp>(node->op);
    if (!insert)
      continue;
    if (StagedNode *earlier = getNode(insert.getDest()))
      edges.push_back({earlier, node, false});
    for (StagedNode *reader : all)
      if (reader != node && llvm::any_of(reader->reads, [&](const Read &read) {
            return read.base == insert.getDest();
          }))
        edges.push_back({reader, node, false});
  }
  // An insert may precede nodes in the list that must run before it, so iterate
  // until no level changes.
  size_t rounds = 0;
  for (bool changed = true; changed;) {
    if (rounds++ > all.size())
      return op.emitError(
          "this operator reads rows after inserts that change them");
    changed = false;
    for (const Edge &edge : edges)
      if (edge.to->level < edge.bound()) {
        edge.to->level = edge.bound();
        changed = true;
      }
  }
  // Each node runs as late as its readers allow, so fewer values outlive their
  // stage.
  DenseMap<StagedNode *, SmallVector<Edge>> readers;
  for (const Edge &edge : edges)
    readers[edge.from].push_back(edge);
  for (StagedNode *node : llvm::reverse(all)) {
    std::optional<int64_t> latest;
    for (const Edge &edge : readers[node]) {
      int64_t bound = edge.to->level - (edge.aligned ? 0 : 1);
      latest = latest ? std::min(*latest, bound) : bound;
    }
    if (latest)
      node->level = std::max(node->level, *latest);
  }
  return success();
}

/// Records the values that stages write into rows of results.
void Staging::storeResults() {
  Operation *yield = op.getBody().front().getTerminator();
  for (OpOperand &operand : yield->getOpOperands()) {
    Value value = operand.get();
    StagedNode *node = getNode(value);
    if (!node)
      node = copyOfResult[operand.getOperandNumber()];
    auto &stores = stages[node->stage].stores;
    std::pair<Value, int64_t> store(value, -1);
    if (!llvm::is_contained(stores, store))
      stores.push_back(store);
    // Only values of nodes are read back. Readers of a view read its operands.
    if (getNode(value))
      stored.insert(value);
  }
  for (auto &node : nodes)
    if (isa<InsertOp>(node->op) && stored.insert(node->op->getResult(0)).second)
      stages[node->stage].stores.push_back({node->op->getResult(0), -1});
  for (auto &[operand, root] : roots)
    stages[root->stage].stores.push_back({operand, -1});
}

void Staging::makeStages() {
  SmallVector<StagedNode *> all = listNodes();
  llvm::stable_sort(
      all, [](StagedNode *a, StagedNode *b) { return a->level < b->level; });
  auto isRoot = [&](StagedNode *node) {
    return llvm::any_of(
        roots, [&](auto &entry) { return entry.second.get() == node; });
  };
  SmallVector<int64_t> levels;
  for (StagedNode *node : all) {
    // A copy of an operand is a separate stage, because it is skipped if no
    // copy is needed.
    bool isSeparate = isRoot(node);
    for (auto [i, stage] : llvm::enumerate(stages))
      if (!isSeparate && levels[i] == node->level &&
          stage.space == node->space && stage.scalar == node->scalar)
        node->stage = i;
    if (node->stage < 0) {
      node->stage = stages.size();
      stages.emplace_back();
      stages.back().space = node->space;
      stages.back().scalar = node->scalar;
      levels.push_back(isSeparate ? -1 : node->level);
    }
    if (node->op)
      stages[node->stage].nodes.push_back(node);
  }
  storeResults();
  int64_t taskScratch = 0;
  SmallVector<int64_t> raggedScratch(rows->domains, 0);
  for (StagedNode *node : all)
    for (const Read &read : node->reads) {
      StagedNode *producer = getNode(read.base);
      if (!producer || producer->stage == node->stage ||
          !stored.insert(read.base).second)
        continue;
      const RowSpace &space = producer->space;
      int64_t &bytes =
          space.domain >= 0 ? raggedScratch[space.domain] : taskScratch;
      stages[producer->stage].stores.push_back({read.base, bytes});
      bytes +=
          makeLayout(space.shape, getElementTypeOrSelf(read.base.getType()))
              .getRowBytes();
    }
}

SmallVector<BlockArgument> Staging::getRowReads(const Stage &stage) {
  SmallVector<BlockArgument> arguments;
  if (!stage.space.hasRows())
    return arguments;
  for (const StagedNode *node : stage.nodes) {
    if (isa<batch::SegmentReduceOp>(node->op))
      continue;
    for (const Read &read : node->reads) {
      auto argument = dyn_cast<BlockArgument>(read.base);
      if (!read.nonLocalRow && argument &&
          rows->stepOperands[argument.getArgNumber()] >= 0 &&
          getSpace(argument).domain == stage.space.domain &&
          !llvm::is_contained(arguments, argument))
        arguments.push_back(argument);
    }
  }
  return arguments;
}

/// Emits an error for a view that does not cover all rows or is not at a fixed
/// position in them.
LogicalResult Staging::checkView(Operation *inner) {
  bool hasRows = getSpace(inner->getResult(0)).hasRows();
  if (auto concat = dyn_cast<tensor::ConcatOp>(inner);
      concat && hasRows && concat.getDim() == 0)
    return inner->emitOpError(
        "concatenates along the rows of tasks; concatenate within a row");
  auto slice = dyn_cast<OffsetSizeAndStrideOpInterface>(inner);
  if (!slice)
    return success();
  auto isStatic = [&](ArrayRef<int64_t> values) {
    return llvm::none_of(values.drop_front(hasRows), ShapedType::isDynamic);
  };
  if (!isStatic(slice.getStaticOffsets()) ||
      !isStatic(slice.getStaticSizes()) ||
      !isStatic(slice.getStaticStrides()) ||
      (hasRows && slice.getStaticOffsets()[0] != 0) ||
      (isa<tensor::InsertSliceOp>(inner) &&
       llvm::any_of(slice.getStaticStrides(),
                    [](int64_t stride) { return stride != 1; })))
    return inner->emitOpError("has offsets, sizes or strides that are not "
                              "static, or does not cover all rows");
  return success();
}

void Staging::addCopies() {
  Operation *yield = op.getBody().front().getTerminator();
  copyOfResult.resize(yield->getNumOperands());
  for (OpOperand &operand : yield->getOpOperands()) {
    Value value = operand.get();
    if (getNode(value))
      continue;
    auto copy = std::make_unique<StagedNode>();
    copy->space = getSpace(value);
    copy->lanes = lanes;
    bool vector = copy->space.rank() > 0;
    copy->scalar = !resolve(*copy, value, identity(copy->space, vector), false,
                            copy->reads);
    copyOfResult[operand.getOperandNumber()] = copy.get();
    copies.push_back(std::move(copy));
  }
}

LogicalResult Staging::run() {
  if (failed(checkArguments()))
    return failure();
  rows.emplace(op);
  if (failed(computeSpaces()) || failed(checkLayouts()))
    return failure();
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (inner.getNumResults() == 0 ||
        !isa<RankedTensorType>(inner.getResult(0).getType()))
      continue;
    if (failed(checkView(&inner)))
      return failure();
    if (!isVirtual(&inner) && failed(addNode(&inner)))
      return failure();
  }
  addCopies();
  if (failed(assignLevels()))
    return failure();
  makeStages();
  if (target == StageTarget::CPU)
    shareStages();
  return success();
}
