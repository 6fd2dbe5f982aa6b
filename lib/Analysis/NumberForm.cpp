//===- NumberForm.cpp - Programs without tensors --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/NumberForm.h"

#include "Batch/Analysis/Sharedness.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns true for a tensor that is small enough to become scalars.
static bool hasFewElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         tensor.getNumElements() <= kFewElements;
}

/// Returns the position of the element at `index` in row-major order.
static int64_t toPosition(ArrayRef<int64_t> shape, ArrayRef<int64_t> index) {
  int64_t position = 0;
  for (auto [extent, i] : llvm::zip_equal(shape, index))
    position = position * extent + i;
  return position;
}

/// Calls `body` for each index into `shape`, in row-major order.
static void forEachIndex(ArrayRef<int64_t> shape,
                         function_ref<void(ArrayRef<int64_t>)> body) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  SmallVector<int64_t> index(shape.size());
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    for (size_t d = shape.size(); d-- > 0; rest /= shape[d])
      index[d] = rest % shape[d];
    body(index);
  }
}

namespace {

/// Rebuilds a function so that it computes with the elements of tensors. The
/// first op that cannot be rebuilt becomes the obstacle. The results of such
/// ops get no elements.
class NumberBuilder {
public:
  NumberBuilder(const InstanceProgram &program)
      : entry(program.getEntry()), sharedness(program),
        builder(entry.getContext()) {}

  OwningOpRef<func::FuncOp> build();
  std::optional<Obstacle> obstacle;

private:
  using Elements = SmallVector<Value>;

  void fail(Operation *op, const Twine &text) {
    if (!obstacle)
      obstacle = Obstacle{op->getLoc(), text.str()};
  }
  void mapArguments(func::FuncOp made);
  Elements take(Value tensor, Location loc);
  const Elements &get(Value value);
  Elements getAll(ValueRange values);
  void set(Value value, Elements elements) {
    numbers[value] = std::move(elements);
  }
  void bind(ValueRange values, ValueRange made);
  SmallVector<Type> toTypes(TypeRange types);

  void convert(Block &block);
  void convert(Operation *op);
  void convert(scf::WhileOp loop);
  void convert(scf::ForOp loop);
  void convert(scf::IfOp branch);
  void convert(scf::IndexSwitchOp branch);
  void convert(linalg::LinalgOp op);
  void convert(tensor::ExtractOp op);
  void convertElementwise(Operation *op);
  bool convertReshape(Operation *op);
  void fillRegion(Region &from, Region &to);
  void count(Operation *op);
  Value clone(Operation *op, IRMapping &mapping);
  Value addProduct(Operation *inner, linalg::LinalgOp op, IRMapping &mapping);
  std::optional<int64_t> findPlace(tensor::ExtractOp op, ValueRange indices);

  func::FuncOp entry;
  Sharedness sharedness;
  OpBuilder builder;
  DenseMap<Value, Elements> numbers;
  int64_t operations = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<Type> NumberBuilder::toTypes(TypeRange types) {
  SmallVector<Type> made;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      made.append(tensor.getNumElements(), tensor.getElementType());
    else
      made.push_back(type);
  return made;
}

void NumberBuilder::bind(ValueRange values, ValueRange made) {
  size_t next = 0;
  for (Value value : values) {
    size_t count = toTypes(value.getType()).size();
    set(value, Elements(made.slice(next, count)));
    next += count;
  }
}

const NumberBuilder::Elements &NumberBuilder::get(Value value) {
  return numbers[value];
}

NumberBuilder::Elements NumberBuilder::getAll(ValueRange values) {
  Elements all;
  for (Value value : values)
    llvm::append_range(all, get(value));
  return all;
}

/// Extracts all elements of a tensor, and returns them.
NumberBuilder::Elements NumberBuilder::take(Value tensor, Location loc) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Elements elements;
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<Value> indices;
    for (int64_t i : index)
      indices.push_back(arith::ConstantIndexOp::create(builder, loc, i));
    elements.push_back(
        tensor::ExtractOp::create(builder, loc, tensor, indices));
  });
  return elements;
}

void NumberBuilder::mapArguments(func::FuncOp made) {
  for (auto [argument, copy] :
       llvm::zip_equal(entry.getArguments(), made.getArguments())) {
    Type type = argument.getType();
    if (hasFewElements(type))
      set(argument, take(copy, argument.getLoc()));
    else if (isa<IntegerType, IndexType, FloatType>(type))
      set(argument, {copy});
    else if (!argument.use_empty() && !obstacle)
      obstacle = Obstacle{argument.getUses().begin()->getOwner()->getLoc(),
                          "this op reads argument #" +
                              std::to_string(argument.getArgNumber()) +
                              ", which is neither a number nor a tensor of at "
                              "most " +
                              std::to_string(kFewElements) + " elements"};
  }
}

//===----------------------------------------------------------------------===//
// Operations on elements
//===----------------------------------------------------------------------===//

/// Counts a new op on scalars: as `kFunctionSize` ops if it is of the math
/// dialect, else as one. Fails if the count exceeds `kFewOperations`.
void NumberBuilder::count(Operation *op) {
  operations += isa<math::MathDialect>(op->getDialect()) ? kFunctionSize : 1;
  if (operations > kFewOperations)
    fail(op, "the code up to here takes more than " + Twine(kFewOperations) +
                 " operations on elements");
}

/// Clones an op on scalars. Returns the result of the clone, or the value to
/// which the clone folds.
Value NumberBuilder::clone(Operation *op, IRMapping &mapping) {
  Operation *copy = builder.clone(*op, mapping);
  SmallVector<Value> folded;
  if (succeeded(builder.tryFold(copy, folded)) && !folded.empty()) {
    copy->erase();
    mapping.map(op->getResults(), folded);
    return folded.front();
  }
  count(op);
  return copy->getNumResults() ? copy->getResult(0) : Value();
}

/// Converts an op of `arith` or `math`, element by element.
void NumberBuilder::convertElementwise(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type) {
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, get(operand).front());
    clone(op, mapping);
    bind(op->getResults(), llvm::map_to_vector(op->getResults(), [&](Value v) {
           return mapping.lookup(v);
         }));
    return;
  }
  SmallVector<Elements, 2> results(op->getNumResults());
  auto types = llvm::map_to_vector(op->getResultTypes(), [](Type type) {
    return getElementTypeOrSelf(type);
  });
  for (int64_t i = 0; i < type.getNumElements() && !obstacle; ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      const Elements &all = get(operand);
      operands.push_back(
          isa<RankedTensorType>(operand.getType()) ? all[i] : all.front());
    }
    OperationState state(op->getLoc(), op->getName(), operands, types);
    state.propertiesAttr = op->getPropertiesAsAttribute();
    for (auto [elements, made] :
         llvm::zip_equal(results, builder.create(state)->getResults()))
      elements.push_back(made);
    count(op);
  }
  for (auto [result, elements] : llvm::zip_equal(op->getResults(), results))
    set(result, std::move(elements));
}

/// Returns the position of the element that `op` reads. Returns nullopt if an
/// index is not constant, or if the tensor has no elements.
std::optional<int64_t> NumberBuilder::findPlace(tensor::ExtractOp op,
                                                ValueRange indices) {
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  SmallVector<int64_t> index;
  for (auto [value, extent] : llvm::zip_equal(indices, type.getShape())) {
    std::optional<int64_t> known = getConstantIntValue(value);
    if (!known || extent == 0)
      return std::nullopt;
    // Clamp the index. If it is out of range, a select discards the element.
    index.push_back(std::clamp<int64_t>(*known, 0, extent - 1));
  }
  return toPosition(type.getShape(), index);
}

void NumberBuilder::convert(tensor::ExtractOp op) {
  Elements indices = getAll(op.getIndices());
  std::optional<int64_t> place = findPlace(op, indices);
  if (!place)
    return fail(op,
                "this op reads an element at a position that is not constant");
  set(op, {get(op.getTensor())[*place]});
}

/// Emits one fma that adds a product to the sum of a reduction, as kernels do.
/// Returns null if `inner` does not add a product to the sum of a reduction.
Value NumberBuilder::addProduct(Operation *inner, linalg::LinalgOp op,
                                IRMapping &mapping) {
  auto add = dyn_cast<arith::AddFOp>(inner);
  if (!add || op.getNumReductionLoops() == 0)
    return {};
  auto isSum = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == op.getBlock() &&
           argument.getArgNumber() >= op.getNumDpsInputs();
  };
  Value sum = isSum(add.getLhs()) ? add.getLhs() : add.getRhs();
  Value term = sum == add.getLhs() ? add.getRhs() : add.getLhs();
  auto product = term.getDefiningOp<arith::MulFOp>();
  if (!isSum(sum) || !product || product->getBlock() != op.getBlock())
    return {};
  count(inner);
  return math::FmaOp::create(
      builder, add.getLoc(), mapping.lookupOrDefault(product.getLhs()),
      mapping.lookupOrDefault(product.getRhs()), mapping.lookup(sum));
}

/// Converts a structured operation point by point, in row-major order of the
/// loops.
void NumberBuilder::convert(linalg::LinalgOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  const bool reduces = op.getNumReductionLoops() > 0;
  for (Type type : op->getResultTypes())
    if (Type element = getElementTypeOrSelf(type);
        reduces && (element.isF16() || element.isBF16()))
      return fail(op, "f16 and bf16 reductions are not supported here, because "
                      "kernels compute their sums in f32");
  SmallVector<Elements> results;
  for (OpOperand &init : op.getDpsInitsMutable())
    results.push_back(get(init.get()));
  Block *body = op.getBlock();
  forEachIndex(ranges, [&](ArrayRef<int64_t> point) {
    if (obstacle)
      return;
    auto placeOf = [&](OpOperand &operand) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto type = cast<RankedTensorType>(operand.get().getType());
      return toPosition(type.getShape(), map.compose(point));
    };
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      Value argument = op.getMatchingBlockArgument(&operand);
      if (!isa<RankedTensorType>(operand.get().getType()))
        mapping.map(argument, get(operand.get()).front());
      else if (op.isDpsInit(&operand))
        mapping.map(argument, results[operand.getOperandNumber() -
                                      op.getNumDpsInputs()][placeOf(operand)]);
      else
        mapping.map(argument, get(operand.get())[placeOf(operand)]);
    }
    // Map the outer scalars that the body reads or yields.
    for (Operation &inner : *body)
      for (Value operand : inner.getOperands())
        if (auto known = numbers.find(operand);
            known != numbers.end() && !isa<RankedTensorType>(operand.getType()))
          mapping.map(operand, known->second.front());
    for (Operation &inner : body->without_terminator()) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
        mapping.map(index, arith::ConstantIndexOp::create(
                               builder, index.getLoc(), point[index.getDim()])
                               .getResult());
      } else if (auto read = dyn_cast<tensor::ExtractOp>(inner)) {
        auto indices = llvm::map_to_vector(read.getIndices(), [&](Value index) {
          return mapping.lookupOrDefault(index);
        });
        std::optional<int64_t> place = findPlace(read, indices);
        if (!place || !numbers.contains(read.getTensor()))
          return fail(op, "this op reads an element at a position that is not "
                          "constant");
        mapping.map(read.getResult(), get(read.getTensor())[*place]);
      } else if (inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner)) {
        return fail(op, "the body of this op has control flow or side effects");
      } else if (Value sum = addProduct(&inner, op, mapping)) {
        mapping.map(inner.getResult(0), sum);
      } else {
        clone(&inner, mapping);
      }
    }
    for (auto [i, init] : llvm::enumerate(op.getDpsInitsMutable()))
      results[i][placeOf(init)] =
          mapping.lookupOrDefault(body->getTerminator()->getOperand(i));
  });
  for (auto [result, elements] : llvm::zip_equal(op->getResults(), results))
    set(result, std::move(elements));
}

//===----------------------------------------------------------------------===//
// Operations that move elements
//===----------------------------------------------------------------------===//

/// Returns the positions that the elements of a static slice have in the whole
/// tensor. Returns nullopt if the slice is not static or is out of range.
static std::optional<SmallVector<int64_t>>
findSlice(OffsetSizeAndStrideOpInterface slice, RankedTensorType whole) {
  auto isStatic = [](ArrayRef<int64_t> values) {
    return llvm::none_of(values, ShapedType::isDynamic);
  };
  ArrayRef<int64_t> offsets = slice.getStaticOffsets();
  ArrayRef<int64_t> strides = slice.getStaticStrides();
  if (!isStatic(offsets) || !isStatic(slice.getStaticSizes()) ||
      !isStatic(strides))
    return std::nullopt;
  SmallVector<int64_t> places;
  bool isInside = true;
  forEachIndex(slice.getStaticSizes(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> at;
    for (auto [offset, stride, i, extent] :
         llvm::zip_equal(offsets, strides, index, whole.getShape())) {
      at.push_back(offset + stride * i);
      isInside &= at.back() < extent;
    }
    places.push_back(toPosition(whole.getShape(), at));
  });
  return isInside ? std::optional(places) : std::nullopt;
}

/// Converts an op that only moves elements. Returns false for other ops.
bool NumberBuilder::convertReshape(Operation *op) {
  Value result = op->getNumResults() == 1 ? op->getResult(0) : Value();
  auto refuse = [&] {
    fail(op, "this op accesses a position that is not constant or is out of "
             "range");
    return true;
  };
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op)) {
    set(result, get(op->getOperand(0)));
  } else if (isa<tensor::FromElementsOp>(op)) {
    set(result, getAll(op->getOperands()));
  } else if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    set(result, Elements(splat.getType().getNumElements(),
                         get(splat.getInput()).front()));
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    auto places = findSlice(slice, slice.getSourceType());
    if (!places)
      return refuse();
    Elements source = get(slice.getSource());
    set(result, llvm::map_to_vector(
                    *places, [&](int64_t place) { return source[place]; }));
  } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    auto places = findSlice(insert, insert.getDestType());
    if (!places)
      return refuse();
    Elements elements = get(insert.getDest());
    for (auto [place, element] :
         llvm::zip_equal(*places, get(insert.getSource())))
      elements[place] = element;
    set(result, std::move(elements));
  } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    SmallVector<int64_t> index;
    auto type = insert.getDest().getType();
    for (auto [value, extent] :
         llvm::zip_equal(getAll(insert.getIndices()), type.getShape())) {
      std::optional<int64_t> known = getConstantIntValue(value);
      if (!known || *known < 0 || *known >= extent)
        return refuse();
      index.push_back(*known);
    }
    Elements elements = get(insert.getDest());
    elements[toPosition(type.getShape(), index)] =
        get(insert.getScalar()).front();
    set(result, std::move(elements));
  } else {
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Converts the block of a region, including its arguments and terminator.
void NumberBuilder::fillRegion(Region &from, Region &to) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> types = toTypes(from.getArgumentTypes());
  SmallVector<Location> locs(types.size(), from.getLoc());
  if (to.empty())
    builder.createBlock(&to, {}, types, locs);
  Block &block = to.front();
  bind(from.getArguments(), block.getArguments());
  if (block.mightHaveTerminator())
    block.getTerminator()->erase();
  builder.setInsertionPointToEnd(&block);
  convert(from.front());
  Operation *end = from.front().getTerminator();
  OperationState state(end->getLoc(), end->getName(),
                       getAll(end->getOperands()), TypeRange());
  builder.create(state);
}

void NumberBuilder::convert(scf::WhileOp loop) {
  auto made = scf::WhileOp::create(builder, loop.getLoc(),
                                   toTypes(loop.getResultTypes()),
                                   getAll(loop.getInits()));
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  fillRegion(loop.getBefore(), made.getBefore());
  fillRegion(loop.getAfter(), made.getAfter());
  bind(loop.getResults(), made.getResults());
}

void NumberBuilder::convert(scf::ForOp loop) {
  auto made = scf::ForOp::create(
      builder, loop.getLoc(), get(loop.getLowerBound()).front(),
      get(loop.getUpperBound()).front(), get(loop.getStep()).front(),
      getAll(loop.getInitArgs()));
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  fillRegion(loop.getRegion(), made.getRegion());
  bind(loop.getResults(), made.getResults());
}

void NumberBuilder::convert(scf::IfOp branch) {
  auto made = scf::IfOp::create(
      builder, branch.getLoc(), toTypes(branch.getResultTypes()),
      get(branch.getCondition()).front(), !branch.getElseRegion().empty());
  made->setDiscardableAttrs(branch->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), made->getRegions()))
    if (!from.empty())
      fillRegion(from, to);
  bind(branch.getResults(), made.getResults());
}

void NumberBuilder::convert(scf::IndexSwitchOp branch) {
  auto made = scf::IndexSwitchOp::create(
      builder, branch.getLoc(), toTypes(branch.getResultTypes()),
      get(branch.getArg()).front(), branch.getCases(),
      branch.getCases().size());
  for (auto [from, to] :
       llvm::zip_equal(branch->getRegions(), made->getRegions()))
    fillRegion(from, to);
  bind(branch.getResults(), made.getResults());
}

void NumberBuilder::convert(Operation *op) {
  auto hasForm = [](Type type) {
    return hasFewElements(type) || isa<IntegerType, IndexType, FloatType>(type);
  };
  for (Type type : op->getResultTypes())
    if (!hasForm(type))
      return fail(op, "this op produces a value that is neither a number nor a "
                      "tensor of at most " +
                          Twine(kFewElements) + " elements");
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    Elements elements;
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (dense)
      for (Attribute value : dense.getValues<Attribute>())
        elements.push_back(arith::ConstantOp::create(builder, op->getLoc(),
                                                     cast<TypedAttr>(value)));
    else if (isa<RankedTensorType>(constant.getType()))
      return fail(op, "this constant has no dense elements; write it as "
                      "dense<...>");
    else
      elements.push_back(builder.clone(*op)->getResult(0));
    return set(constant, std::move(elements));
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    Type element = empty.getType().getElementType();
    Value zero = arith::ConstantOp::create(builder, op->getLoc(),
                                           builder.getZeroAttr(element));
    return set(empty, Elements(empty.getType().getNumElements(), zero));
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return convert(loop);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return convert(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return convert(branch);
  if (auto branch = dyn_cast<scf::IndexSwitchOp>(op))
    return convert(branch);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return convert(extract);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return convert(linalgOp);
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
      op->getNumRegions() == 0)
    return convertElementwise(op);
  if (!convertReshape(op))
    fail(op,
         "'" + op->getName().getStringRef() + "' is not supported on numbers");
}

void NumberBuilder::convert(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (obstacle)
      return;
    convert(&op);
  }
}

OwningOpRef<func::FuncOp> NumberBuilder::build() {
  if (!entry.getBody().hasOneBlock()) {
    fail(entry, "this function has several blocks");
    return {};
  }
  OwningOpRef<func::FuncOp> made(entry.cloneWithoutRegions());
  builder.setInsertionPointToStart(made->addEntryBlock());
  mapArguments(*made);
  convert(entry.getBody().front());
  auto end = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  SmallVector<Value> results;
  for (Value value : end.getOperands()) {
    if (obstacle)
      return {};
    auto type = dyn_cast<RankedTensorType>(value.getType());
    results.push_back(type ? Value(tensor::FromElementsOp::create(
                                 builder, end.getLoc(), type, get(value)))
                           : get(value).front());
  }
  func::ReturnOp::create(builder, end.getLoc(), results);
  return obstacle ? OwningOpRef<func::FuncOp>() : std::move(made);
}

OwningOpRef<func::FuncOp>
batch::makeNumberForm(const InstanceProgram &program,
                      std::optional<Obstacle> &obstacle) {
  NumberBuilder builder(program);
  OwningOpRef<func::FuncOp> made = builder.build();
  obstacle = builder.obstacle;
  return made;
}
