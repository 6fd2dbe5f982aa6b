//===- BatchedForms.cpp - Batched forms of a kernel's values --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/BatchedForms.h"

#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/Dialect/Batch/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Support/DebugStringHelper.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;

BatchedForms::BatchedForms(KernelOp kernel) : kernel(kernel) {
  findDomains();
  Block &body = kernel.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (!forms.contains(argument) && !kernel.isShared(argument.getArgNumber()))
      forms[argument] = {BatchedForm::PerTask};
  for (Operation &op : body) {
    if (isa<YieldOp>(op)) {
      for (Value operand : op.getOperands())
        if (!checkCanBe(&op, operand, {BatchedForm::PerTask}))
          return;
      return;
    }
    visit(&op);
    if (obstacle)
      return;
  }
}

bool BatchedForms::fail(Operation *op, const Twine &text) {
  obstacle = {op->getLoc(),
              ("'" + op->getName().getStringRef() + "' op " + text).str()};
  return false;
}

/// Returns true if code generators support `op`, regardless of the ops in its
/// regions.
static bool isOperatorCode(Operation *op) {
  // Operators compute a scalar wherever they use it, so any op that returns
  // only scalars is supported, except if it has regions.
  if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return op->getNumRegions() == 0;
  return isa<linalg::LinalgOp, tensor::EmptyOp, tensor::SplatOp,
             tensor::ConcatOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
             tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp,
             arith::ConstantOp, SegmentReduceOp, SegmentBroadcastOp>(op) ||
         OpTrait::hasElementwiseMappableTraits(op);
}

Operation *mlir::batch::findUnknownCode(Operation *op) {
  if (!isOperatorCode(op))
    return op;
  Operation *unknown = nullptr;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    bool known =
        isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
            tensor::TensorDialect>(inner->getDialect()) ||
        isa<SegmentReduceOp, SegmentBroadcastOp, cf::AssertOp>(inner);
    if (!known)
      unknown = inner;
    return known ? WalkResult::advance() : WalkResult::interrupt();
  });
  return unknown;
}

void BatchedForms::set(Operation *op, BatchedForm form) {
  for (Value result : op->getResults())
    forms[result] = form;
}

//===----------------------------------------------------------------------===//
// Ragged domains
//===----------------------------------------------------------------------===//

int64_t mlir::batch::getExtentDim(Type type) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return std::distance(shape.begin(),
                       llvm::find_if(shape, ShapedType::isDynamic));
}

namespace {

/// Union-find over extents. The smallest number in a class is its
/// representative.
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

/// Finds the ragged arguments that have equal extents, and numbers their
/// domains.
void BatchedForms::findDomains() {
  ExtentClasses classes;
  // Class of each ragged value and of each ragged extent.
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

  // Number the domains in the order of their first arguments.
  DenseMap<int64_t, int64_t> numbers;
  for (BlockArgument argument : body.getArguments()) {
    auto found = classOf.find(argument);
    if (found != classOf.end())
      numbers.try_emplace(classes.find(found->second), numbers.size());
  }
  numDomains = numbers.size();
  for (auto &[value, number] : classOf)
    if (isa<BlockArgument>(value))
      forms[value] = {BatchedForm::Rows, numbers.lookup(classes.find(number))};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns true if `op` uses only parameters, constants, and values computed
/// only from these.
bool BatchedForms::isSameForAll(Operation *op) const {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  return llvm::all_of(used, [&](Value value) {
    return lookup(value).kind == BatchedForm::Once;
  });
}

bool BatchedForms::picks(Operation *op) const {
  auto isPosition = [&](Value position) { return isUnknown(position); };
  // Even a constant position may be out of range if an extent is dynamic.
  auto isSource = [&](Value tensor) {
    BatchedForm form = lookup(tensor);
    return form.kind == BatchedForm::Rows ||
           (form.kind == BatchedForm::Once &&
            !cast<RankedTensorType>(tensor.getType()).hasStaticShape());
  };
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return llvm::any_of(extract.getIndices(), isPosition) ||
           isSource(extract.getTensor());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return llvm::any_of(slice.getOffsets(), isPosition) ||
           (isSource(slice.getSource()) && slice.getType().hasStaticShape());
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
    return llvm::any_of(slice.getOffsets(), isPosition);
  if (isa<tensor::InsertOp>(op))
    return true;
  return op->walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Returns true if `op` extracts an element that depends on a reduction.
static bool readsReduction(Operation *op) {
  auto extract = dyn_cast<tensor::ExtractOp>(op);
  llvm::SetVector<Value> values;
  if (extract)
    values.insert(extract.getTensor());
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *producer = values[i].getDefiningOp();
    if (!producer)
      continue;
    auto linalgOp = dyn_cast<linalg::LinalgOp>(producer);
    if (linalgOp && linalgOp.getNumReductionLoops() != 0)
      return true;
    values.insert(producer->operand_begin(), producer->operand_end());
  }
  return false;
}

void BatchedForms::visit(Operation *op) {
  for (Type type : op->getResultTypes())
    if (Type element = getElementTypeOrSelf(type);
        isa<RankedTensorType>(type) && !isElementType(element)) {
      fail(op, "produces elements of unsupported type " + debugString(element) +
                   "; kernels support index, i1, i8, i16, i32, i64, f16, bf16, "
                   "f32 and f64");
      return;
    }
  // Copy ops that compute the same value for all tasks, with exceptions:
  // - `tensor.from_elements`: operators fill rows, so they cannot create one
  //   tensor of scalars for all tasks.
  // - Ops with BatchableOpInterface: they have a lowering only in batched form.
  // - Reads at computed positions: they need a check.
  // - Reads of a reduction's result: copied code has no memory for the result.
  if (!picks(op) && !readsReduction(op) &&
      !isa<tensor::FromElementsOp, BatchableOpInterface>(op) &&
      isSameForAll(op)) {
    Operation *unknown = findUnknownCode(op);
    // Do not report dead ops, which are removed later.
    if (unknown && !isOpTriviallyDead(op)) {
      fail(unknown, "is not supported in an operator yet; use ops of linalg, "
                    "tensor, arith and math");
      return;
    }
    copied.insert(op);
    return set(op, {BatchedForm::Once});
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return visitLinalg(linalgOp);
  if (OpTrait::hasElementwiseMappableTraits(op))
    return visitElementwise(op);
  TypeSwitch<Operation *>(op)
      .Case([&](tensor::DimOp dim) { visitDim(dim); })
      .Case([&](tensor::EmptyOp empty) { visitEmpty(empty); })
      .Case([&](tensor::SplatOp splat) { visitSplat(splat); })
      .Case([&](tensor::ExtractOp extract) { visitExtract(extract); })
      .Case([&](tensor::FromElementsOp made) { visitFromElements(made); })
      .Case([&](tensor::ConcatOp concat) { visitConcat(concat); })
      .Case([&](tensor::ExtractSliceOp slice) { visitExtractSlice(slice); })
      .Case([&](tensor::InsertSliceOp slice) { visitInsertSlice(slice); })
      .Case([&](tensor::InsertOp insert) { visitInsert(insert); })
      .Case([&](tensor::CollapseShapeOp reshape) {
        visitReshape(op, reshape.getSrc(), reshape.getSrcType(),
                     reshape.getReassociationIndices());
      })
      .Case([&](tensor::ExpandShapeOp reshape) {
        visitReshape(op, reshape.getSrc(), reshape.getResultType(),
                     reshape.getReassociationIndices());
      })
      .Case([&](linalg::SoftmaxOp softmax) { visitSoftmax(softmax); })
      .Default([&](Operation *other) { visitOtherDialect(other); });
}

bool BatchedForms::isUnknown(Value position) const {
  return lookup(position).kind == BatchedForm::PerTask ||
         (isa<KernelOp>(position.getParentRegion()->getParentOp()) &&
          !matchPattern(position, m_Constant()));
}

bool BatchedForms::checkCanBe(Operation *user, Value value, BatchedForm form) {
  BatchedForm known = lookup(value);
  if (known == form)
    return true;
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (known.kind == BatchedForm::Once && (!tensor || tensor.hasStaticShape()))
    return true;
  if (known.kind == BatchedForm::PerTask && form.kind == BatchedForm::Rows)
    return true;
  if (known.kind == BatchedForm::Extent)
    return fail(user,
                "uses the extent of a ragged tensor as data; pass the extent "
                "to the kernel as a scalar");
  return fail(user, "combines a ragged tensor with a tensor that does not have "
                    "one row per ragged row");
}

BatchedForm BatchedForms::join(ValueRange operands) const {
  BatchedForm joined = {BatchedForm::PerTask};
  for (Value operand : operands)
    if (BatchedForm form = lookup(operand); form.kind == BatchedForm::Rows)
      joined = form;
  return joined;
}

bool BatchedForms::checkJoin(Operation *op, ValueRange operands) {
  for (Value operand : operands)
    if (lookup(operand).kind == BatchedForm::Extent)
      return checkCanBe(op, operand, {BatchedForm::PerTask});
  return true;
}

//===----------------------------------------------------------------------===//
// Elementwise operations on tensors and scalars
//===----------------------------------------------------------------------===//

void BatchedForms::visitElementwise(Operation *op) {
  if (!checkJoin(op, op->getOperands()))
    return;
  BatchedForm form = join(op->getOperands());
  for (Value operand : op->getOperands())
    if (!checkCanBe(op, operand, form))
      return;
  set(op, form);
}

//===----------------------------------------------------------------------===//
// Tensor creation
//===----------------------------------------------------------------------===//

void BatchedForms::visitDim(tensor::DimOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getSource().getType());
  std::optional<int64_t> index = op.getConstantIndex();
  if (!type || !index || *index < 0 || *index >= type.getRank()) {
    fail(op, "cannot be batched; its dimension index must be constant and in "
             "range");
    return;
  }
  if (type.isDynamicDim(*index))
    set(op, {BatchedForm::Extent, lookup(op.getSource()).domain});
}

void BatchedForms::visitEmpty(tensor::EmptyOp op) {
  BatchedForm extent;
  if (op.getDynamicSizes().size() == 1)
    extent = lookup(op.getDynamicSizes()[0]);
  if (extent.kind == BatchedForm::Extent)
    return set(op, {BatchedForm::Rows, extent.domain});
  fail(op, "has an extent that differs from task to task but is not the extent "
           "of a ragged tensor");
}

void BatchedForms::visitSplat(tensor::SplatOp op) {
  BatchedForm form = {BatchedForm::PerTask};
  if (!op.getDynamicSizes().empty()) {
    BatchedForm extent = lookup(op.getDynamicSizes()[0]);
    if (op.getDynamicSizes().size() != 1 ||
        extent.kind != BatchedForm::Extent) {
      fail(op, "has an extent that differs from task to task but is not the "
               "extent of a ragged tensor");
      return;
    }
    form = {BatchedForm::Rows, extent.domain};
  }
  if (checkCanBe(op, op.getInput(), form))
    set(op, form);
}

/// Returns true if `tensor` can be read at any position. All of its extents
/// must be known, except the first extent of a parameter or of a ragged tensor.
bool BatchedForms::isIndexable(Value tensor) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  BatchedForm form = lookup(tensor);
  if (type.hasStaticShape())
    return form.kind == BatchedForm::PerTask || form.kind == BatchedForm::Once;
  return (form.kind == BatchedForm::Rows ||
          (form.kind == BatchedForm::Once && isa<BlockArgument>(tensor))) &&
         !ShapedType::isDynamicShape(type.getShape().drop_front());
}

void BatchedForms::visitExtract(tensor::ExtractOp op) {
  if (!isIndexable(op.getTensor())) {
    fail(op, "cannot be batched: only the first extent of a parameter or of a "
             "ragged tensor may be dynamic; make all other extents of the "
             "source static");
    return;
  }
  if (op.getIndices().empty())
    return set(op, {BatchedForm::PerTask});
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(op.getIndices());
  SmallVector<OpFoldResult> ones(indices.size(),
                                 Builder(op.getContext()).getIndexAttr(1));
  visitPick(op, op.getTensor(), indices, ones, ones);
}

/// Checks a read of an element or slice. Its result is a separate value for
/// each task.
void BatchedForms::visitPick(Operation *op, Value source,
                             ArrayRef<OpFoldResult> offsets,
                             ArrayRef<OpFoldResult> sizes,
                             ArrayRef<OpFoldResult> strides) {
  auto type = cast<RankedTensorType>(source.getType());
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(offsets, sizes, strides)) {
    std::optional<int64_t> count = getConstantIntValue(size);
    std::optional<int64_t> step = getConstantIntValue(stride);
    bool fits =
        count && step && *count > 0 && *step > 0 &&
        (type.isDynamicDim(dim) || (*count - 1) * *step < type.getDimSize(dim));
    if (!isIndexable(source) || !fits) {
      fail(op,
           "takes a slice at a position that differs from task to task; make "
           "its sizes and strides constant, and make its source a parameter, a "
           "ragged tensor or a tensor of static shape into which it fits");
      return;
    }
    auto position = dyn_cast<Value>(offset);
    if (position && !checkCanBe(op, position, {BatchedForm::PerTask}))
      return;
  }
  set(op, {BatchedForm::PerTask});
}

void BatchedForms::visitFromElements(tensor::FromElementsOp op) {
  for (Value element : op.getElements())
    if (!checkCanBe(op, element, {BatchedForm::PerTask}))
      return;
  set(op, {BatchedForm::PerTask});
}

//===----------------------------------------------------------------------===//
// Slices and reshapes
//===----------------------------------------------------------------------===//

void BatchedForms::visitConcat(tensor::ConcatOp op) {
  if (!checkJoin(op, op.getInputs()))
    return;
  BatchedForm form = join(op.getInputs());
  auto dim = static_cast<int64_t>(op.getDim());
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (form.kind == BatchedForm::Rows &&
        (type.hasStaticShape() || getExtentDim(type) == dim)) {
      fail(op, "concatenates along a ragged extent; pass the concatenated "
               "tensor to the kernel");
      return;
    }
    if (!checkCanBe(op, input, form))
      return;
  }
  set(op, form);
}

bool BatchedForms::checkSlice(OffsetSizeAndStrideOpInterface op, Type whole,
                              BatchedForm form) {
  int64_t extentDim = form.kind == BatchedForm::Rows ? getExtentDim(whole) : -1;
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    bool known;
    if (static_cast<int64_t>(dim) == extentDim) {
      auto extent = dyn_cast<Value>(size);
      BatchedForm taken = {BatchedForm::Extent, form.domain};
      known = extent && lookup(extent) == taken && isZeroInteger(offset) &&
              isOneInteger(stride);
    } else {
      known = llvm::all_of(ArrayRef<OpFoldResult>{offset, size, stride},
                           [&](OpFoldResult number) {
                             auto value = dyn_cast<Value>(number);
                             return !value ||
                                    lookup(value).kind == BatchedForm::Once;
                           });
    }
    if (!known)
      return fail(op, "takes a slice that differs from task to task; offsets, "
                      "sizes and strides must be constant or shared, and the "
                      "slice must cover the whole ragged dimension");
  }
  return true;
}

void BatchedForms::visitExtractSlice(tensor::ExtractSliceOp op) {
  BatchedForm form = lookup(op.getSource());
  if (picks(op))
    return visitPick(op, op.getSource(), op.getMixedOffsets(),
                     op.getMixedSizes(), op.getMixedStrides());
  if (checkSlice(op, op.getSourceType(), form))
    set(op, form);
}

/// Checks an insert at computed positions. Its result is a separate tensor for
/// each task.
void BatchedForms::visitPut(Operation *op, Value source, Value dest,
                            ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> sizes,
                            ArrayRef<OpFoldResult> strides) {
  auto type = cast<RankedTensorType>(dest.getType());
  auto isStatic = [](Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return !tensor || tensor.hasStaticShape();
  };
  bool fits = isStatic(source) && isStatic(dest);
  for (auto [dim, offset, size, stride] :
       llvm::enumerate(offsets, sizes, strides)) {
    std::optional<int64_t> first = getConstantIntValue(offset);
    std::optional<int64_t> count = getConstantIntValue(size);
    std::optional<int64_t> step = getConstantIntValue(stride);
    fits &= count && step && *count > 0 && *step > 0 &&
            first.value_or(0) >= 0 &&
            first.value_or(0) + (*count - 1) * *step < type.getDimSize(dim);
    auto position = dyn_cast<Value>(offset);
    if (position && !checkCanBe(op, position, {BatchedForm::PerTask}))
      return;
  }
  if (!fits) {
    fail(op, "inserts at a position that differs from task to task; use "
             "constant sizes and strides, static shapes, and a value that fits "
             "into the destination");
    return;
  }
  if (checkCanBe(op, source, {BatchedForm::PerTask}) &&
      checkCanBe(op, dest, {BatchedForm::PerTask}))
    set(op, {BatchedForm::PerTask});
}

void BatchedForms::visitInsert(tensor::InsertOp op) {
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(op.getIndices());
  SmallVector<OpFoldResult> ones(indices.size(),
                                 Builder(op.getContext()).getIndexAttr(1));
  visitPut(op, op.getScalar(), op.getDest(), indices, ones, ones);
}

void BatchedForms::visitInsertSlice(tensor::InsertSliceOp op) {
  if (picks(op))
    return visitPut(op, op.getSource(), op.getDest(), op.getMixedOffsets(),
                    op.getMixedSizes(), op.getMixedStrides());
  SmallVector<Value> tensors = {op.getSource(), op.getDest()};
  if (!checkJoin(op, tensors))
    return;
  BatchedForm form = join(tensors);
  if (checkCanBe(op, op.getSource(), form) &&
      checkCanBe(op, op.getDest(), form) &&
      checkSlice(op, op.getDestType(), form))
    set(op, form);
}

/// Checks a reshape. `groups` lists dimensions of `detailed`, the type with
/// more dimensions.
void BatchedForms::visitReshape(Operation *op, Value source, Type detailed,
                                ArrayRef<ReassociationIndices> groups) {
  BatchedForm form = lookup(source);
  if (!form.isBatched()) {
    fail(op, "cannot be batched, because its shape differs from task to task");
    return;
  }
  // A ragged extent can be merged with dimensions of extent one.
  auto type = cast<RankedTensorType>(detailed);
  if (form.kind == BatchedForm::Rows)
    for (const ReassociationIndices &group : groups)
      if (llvm::is_contained(group, getExtentDim(type)) &&
          llvm::any_of(group, [&](int64_t dim) {
            return !type.isDynamicDim(dim) && type.getDimSize(dim) != 1;
          })) {
        fail(op, "combines a ragged extent with other dimensions; reshape only "
                 "the other dimensions");
        return;
      }
  set(op, form);
}

void BatchedForms::visitSoftmax(linalg::SoftmaxOp op) {
  if (lookup(op.getInput()).kind == BatchedForm::PerTask)
    return set(op, {BatchedForm::PerTask});
  fail(op, "cannot be batched over a ragged tensor; decompose it into a "
           "maximum, an exponential, a sum and a division");
}

void BatchedForms::visitOtherDialect(Operation *op) {
  if (!isa<BatchableOpInterface>(op)) {
    fail(op, "cannot be batched; write it as linalg.generic, or implement "
             "BatchableOpInterface for it");
    return;
  }
  bool batched = op->getNumOperands() == 0;
  for (Value operand : op->getOperands()) {
    BatchedForm form = lookup(operand);
    batched |= form.isBatched();
    if (form.kind != BatchedForm::Rows && form.kind != BatchedForm::Extent)
      continue;
    fail(op, "cannot be batched over a ragged tensor, because its "
             "BatchableOpInterface only supports one row per task");
    return;
  }
  // Even an op that only reads parameters is computed for every task.
  if (batched || checkCanBe(op, op->getOperand(0), {BatchedForm::PerTask}))
    set(op, {BatchedForm::PerTask});
}

//===----------------------------------------------------------------------===//
// Structured operations
//===----------------------------------------------------------------------===//

BatchedLoops BatchedForms::getLoops(linalg::LinalgOp op) const {
  BatchedLoops loops;
  for (OpOperand &operand : op->getOpOperands()) {
    BatchedForm form = lookup(operand.get());
    if (form.kind != BatchedForm::Rows)
      continue;
    loops.form = form;
    loops.extentLoop =
        cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(
                                getExtentDim(operand.get().getType())))
            .getPosition();
  }
  return loops;
}

/// Checks that at most one loop is ragged. This loop must read the rows of
/// operands in order, and the body must not use its index.
bool BatchedForms::checkLoops(linalg::LinalgOp op) {
  BatchedLoops loops;
  for (OpOperand &operand : op->getOpOperands()) {
    BatchedForm form = lookup(operand.get());
    if (form.kind != BatchedForm::Rows)
      continue;
    auto loop =
        dyn_cast<AffineDimExpr>(op.getMatchingIndexingMap(&operand).getResult(
            getExtentDim(operand.get().getType())));
    if (!loop)
      return fail(op, "reads a ragged tensor at a computed position; its rows "
                      "can only be read in order");
    int64_t position = loop.getPosition();
    if (loops.extentLoop >= 0 &&
        (loops.extentLoop != position || !(loops.form == form)))
      return fail(op, "iterates over two ragged extents; only one of its loops "
                      "may be ragged");
    loops = {form, position};
  }
  if (loops.extentLoop < 0)
    return true;
  WalkResult walk = op->walk([&](linalg::IndexOp index) {
    return static_cast<int64_t>(index.getDim()) == loops.extentLoop
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return fail(op, "uses the position within a ragged extent; pass the "
                    "positions to the kernel as a ragged tensor");
  return true;
}

bool BatchedForms::checkCaptured(linalg::LinalgOp op,
                                 const BatchedLoops &loops) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op->getRegions(), used);
  for (Value value : used) {
    BatchedForm form = lookup(value);
    bool known =
        form.kind == BatchedForm::Once || form.kind == BatchedForm::PerTask;
    // In a loop over ragged rows, the positions of the task's rows in another
    // ragged tensor are unknown.
    if (isa<RankedTensorType>(value.getType()))
      known = isIndexable(value) && (form.kind != BatchedForm::Rows ||
                                     loops.form.kind != BatchedForm::Rows);
    if (!known)
      return fail(op, "captures a value that its body cannot read (a ragged "
                      "extent, a tensor of unknown extents, or a ragged tensor "
                      "in a loop over rows); make the value an operand");
  }
  return true;
}

bool BatchedForms::checkInput(linalg::LinalgOp op, OpOperand &operand,
                              const BatchedLoops &loops) {
  BatchedForm form = lookup(operand.get());
  if (loops.form.kind == BatchedForm::Rows && form.kind != BatchedForm::Rows &&
      op.getMatchingIndexingMap(&operand).isFunctionOfDim(loops.extentLoop))
    return fail(op, "operand " + Twine(operand.getOperandNumber()) +
                        " is indexed by a ragged extent but is not ragged");
  return form.kind == BatchedForm::Once ||
         checkCanBe(op, operand.get(), loops.form);
}

bool BatchedForms::checkInit(linalg::LinalgOp op, OpOperand &operand,
                             const BatchedLoops &loops) {
  BatchedForm form = lookup(operand.get());
  if (loops.form.kind == BatchedForm::Rows && form.kind != BatchedForm::Rows)
    return fail(op, "operand " + Twine(operand.getOperandNumber()) +
                        " lacks a dimension for the ragged extent of the "
                        "inputs");
  return (form.kind == BatchedForm::Once &&
          !op.payloadUsesValueFromOperand(&operand)) ||
         checkCanBe(op, operand.get(), loops.form);
}

void BatchedForms::visitLinalg(linalg::LinalgOp op) {
  if (!checkLoops(op))
    return;
  BatchedLoops loops = getLoops(op);
  if (loops.extentLoop >= 0 && op.getIteratorTypesArray()[loops.extentLoop] ==
                                   utils::IteratorType::reduction)
    return visitSegmentReduction(op, loops);
  if (!checkCaptured(op, loops))
    return;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (!checkInput(op, *operand, loops))
      return;
  for (OpOperand &operand : op.getDpsInitsMutable())
    if (!checkInit(op, operand, loops))
      return;
  set(op, loops.form);
}

void BatchedForms::visitSegmentReduction(linalg::LinalgOp op,
                                         const BatchedLoops &loops) {
  if (!matchCombiner(op)) {
    fail(op,
         "reduces a ragged extent with an unsupported combiner; expected a "
         "sum, product, maximum or minimum of floats or signed integers, or "
         "arith.andi or arith.ori of i1; split other combiners into several "
         "reductions: for example, compute an argmax as a maximum and the "
         "minimum of its positions");
    return;
  }
  if (!checkCaptured(op, loops))
    return;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (!checkInput(op, *operand, loops))
      return;
  if (checkCanBe(op, op.getDpsInits()[0], {BatchedForm::PerTask}))
    set(op, {BatchedForm::PerTask});
}

static std::optional<SegmentKind> getSegmentKind(Operation *op) {
  // A signed true (-1) is less than a signed false (0), so "or" is a minimum.
  if (op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1)) {
    if (isa<arith::OrIOp, arith::MaxUIOp>(op))
      return SegmentKind::Min;
    if (isa<arith::AndIOp, arith::MinUIOp>(op))
      return SegmentKind::Max;
  }
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return SegmentKind::Add;
  if (isa<arith::MulFOp, arith::MulIOp>(op))
    return SegmentKind::Mul;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(op))
    return SegmentKind::Max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(op))
    return SegmentKind::Min;
  return std::nullopt;
}

std::optional<Combiner> mlir::batch::matchCombiner(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return std::nullopt;
  BlockArgument sum = op.getMatchingBlockArgument(&op.getDpsInitsMutable()[0]);
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || !sum.hasOneUse() || *sum.user_begin() != combiner)
    return std::nullopt;
  if (auto fma = dyn_cast<math::FmaOp>(combiner)) {
    if (fma.getC() != sum)
      return std::nullopt;
    return Combiner{SegmentKind::Add, combiner, Value()};
  }
  std::optional<SegmentKind> kind = getSegmentKind(combiner);
  if (!kind)
    return std::nullopt;
  bool first = combiner->getOperand(0) == sum;
  return Combiner{*kind, combiner, combiner->getOperand(first ? 1 : 0)};
}
