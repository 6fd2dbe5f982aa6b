//===- LayoutPQ.cpp - Batches of operators inside kernels -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Layout/Batching.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Batch/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <numeric>

namespace mlir::batch {
#define GEN_PASS_DEF_LAYOUTPQPASS
#include "Batch/Transforms/Kernels/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Returns `type` if it is a vector of static length, or null.
static RankedTensorType getVector(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 1 && tensor.hasStaticShape()
             ? tensor
             : RankedTensorType();
}

/// Returns `op` if it is the product of a parameter and a vector, or null.
static linalg::MatvecOp getProduct(Operation *op) {
  auto product = dyn_cast<linalg::MatvecOp>(op);
  if (!product || !product->getNumResults())
    return {};
  auto matrix = dyn_cast<BlockArgument>(product.getInputs()[0]);
  if (!matrix ||
      !op->getParentOfType<KernelOp>().isShared(matrix.getArgNumber()))
    return {};
  bool isStatic = cast<RankedTensorType>(matrix.getType()).hasStaticShape() &&
                  getVector(product.getInputs()[1].getType());
  return isStatic ? product : linalg::MatvecOp();
}

static BlockArgument getMatrix(linalg::MatvecOp product) {
  return cast<BlockArgument>(product.getInputs()[0]);
}

static bool isElementwise(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumRegions() != 0 ||
      op->getNumResults() != 1 || !getVector(op->getResult(0).getType()))
    return false;
  auto shape = getVector(op->getResult(0).getType()).getShape();
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    return getVector(type) && getVector(type).getShape() == shape;
  });
}

static int64_t getBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape()
             ? tensor.getNumElements() * elementBytes(tensor.getElementType())
             : 0;
}

/// Returns the operands of `op` and the values that its regions capture.
static SmallVector<Value> getReads(Operation *op) {
  SmallVector<Value> reads(op->getOperands());
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::append_range(reads, captured);
  return reads;
}

namespace {

/// Assigns numbers to keys, starting at 0.
class Numbering {
public:
  using Key = std::vector<const void *>;
  int32_t get(Key key) {
    int32_t next = static_cast<int32_t>(numbers.size());
    return numbers.try_emplace(std::move(key), next).first->second;
  }

private:
  std::map<Key, int32_t> numbers;
};

/// Classifies the operators of a kernel: equal operators have the same kind.
class Kinds {
public:
  virtual ~Kinds() = default;
  /// Returns the kind of `op`. Must be called for all operators in order.
  virtual int32_t get(Operation *op) = 0;

protected:
  static const void *number(int64_t value) {
    return reinterpret_cast<const void *>(value + 1);
  }
  /// Returns a kind that only `op` has.
  int32_t unique(Operation *op) { return kinds.get({op}); }

  Numbering kinds;
};

/// Operators are equal if identical code computes their results from the same
/// parameters. Only products, and elementwise ops that depend on products, can
/// be equal.
class SameParameters : public Kinds {
public:
  explicit SameParameters(KernelOp kernel);
  int32_t get(Operation *op) override;

private:
  int32_t classify(Value value);

  KernelOp kernel;
  Numbering classes;
  DenseMap<Value, int32_t> classOf;
  /// Number of values of each class, and the classes that have several values
  /// and are computed from products.
  DenseMap<int32_t, int64_t> members;
  DenseSet<int32_t> ofProducts;
};

/// Operators are equal if they perform the same operation on equal shapes,
/// after equally long chains of products. Two equal products must share one of
/// their two operands.
class SameShapes : public Kinds {
public:
  SameShapes(KernelOp kernel, const DenseSet<int64_t> &single)
      : kernel(kernel), single(single) {}
  int32_t get(Operation *op) override;

private:
  bool isStackable(linalg::MatvecOp product);

  KernelOp kernel;
  /// Parameters that only one product of the whole program reads.
  const DenseSet<int64_t> &single;
  DenseMap<Value, int64_t> depths;
};

} // namespace

SameParameters::SameParameters(KernelOp kernel) : kernel(kernel) {
  for (Operation &op : kernel.getBody().front())
    for (Value result : op.getResults())
      ++members[classify(result)];
}

int32_t SameParameters::classify(Value value) {
  auto known = classOf.find(value);
  if (known != classOf.end())
    return known->second;
  Numbering::Key key;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    bool isShared = kernel.isShared(argument.getArgNumber());
    key.push_back(isShared || !getVector(value.getType())
                      ? value.getAsOpaquePointer()
                      : value.getType().getAsOpaquePointer());
    return classOf[value] = classes.get(std::move(key));
  }
  Operation *op = value.getDefiningOp();
  bool isAlike = getProduct(op) || isElementwise(op) ||
                 op->hasTrait<OpTrait::ConstantLike>() ||
                 (isa<tensor::ConcatOp, tensor::ExtractSliceOp>(op) &&
                  getVector(value.getType()));
  if (!isAlike)
    return classOf[value] = classes.get({value.getAsOpaquePointer()});
  key = {op->getName().getAsOpaquePointer(),
         op->getAttrDictionary().getAsOpaquePointer(),
         value.getType().getAsOpaquePointer()};
  for (Value operand : op->getOperands())
    key.push_back(number(classify(operand)));
  return classOf[value] = classes.get(std::move(key));
}

int32_t SameParameters::get(Operation *op) {
  bool product = bool(getProduct(op));
  if (!product && !isElementwise(op))
    return unique(op);
  int32_t number = classify(op->getResult(0));
  bool follows = llvm::any_of(op->getOperands(), [&](Value operand) {
    return ofProducts.contains(classify(operand));
  });
  if (members[number] < 2 || (!product && !follows))
    return unique(op);
  ofProducts.insert(number);
  return kinds.get({Kinds::number(number)});
}

/// Returns true if the matrix of `product` may be stacked with other matrices
/// without additional memory. In this case, no other op reads the matrix or a
/// slice of it.
bool SameShapes::isStackable(linalg::MatvecOp product) {
  BlockArgument matrix = getMatrix(product);
  auto parameter = kernel.getArgAttrOfType<IntegerAttr>(matrix.getArgNumber(),
                                                        kParameterAttr);
  return parameter && single.contains(parameter.getInt());
}

int32_t SameShapes::get(Operation *op) {
  constexpr int64_t kRowBytes = 64;
  linalg::MatvecOp product = getProduct(op);
  int64_t depth = 0;
  for (Value read : getReads(op))
    depth = std::max(depth, depths.lookup(read));
  for (Value result : op->getResults())
    depths[result] = depth + (product ? 1 : 0);
  // A piece of a stacked vector may be read as a row, so it must have the
  // alignment of a row.
  if (!product && !isElementwise(op))
    return unique(op);
  Type type = op->getResult(0).getType();
  if (getBytes(type) % kRowBytes != 0)
    return unique(op);
  Numbering::Key key = {op->getName().getAsOpaquePointer(),
                        op->getAttrDictionary().getAsOpaquePointer(),
                        type.getAsOpaquePointer(), number(depth)};
  if (!product) {
    for (Type operand : op->getOperandTypes())
      key.push_back(operand.getAsOpaquePointer());
    return kinds.get(std::move(key));
  }
  Value vector = product.getInputs()[1];
  key.push_back(vector.getType().getAsOpaquePointer());
  if (!getMatrix(product).hasOneUse())
    key.push_back(getMatrix(product).getAsOpaquePointer());
  else if (isStackable(product))
    key.push_back(vector.getAsOpaquePointer());
  else
    return unique(op);
  return kinds.get(std::move(key));
}

//===----------------------------------------------------------------------===//
// Static blocks
//===----------------------------------------------------------------------===//

namespace {
struct KernelBlock {
  KernelBlock(KernelOp kernel, Kinds &kinds);

  batchrt::StaticBlock block;
  SmallVector<Operation *> ops; ///< by operator number
};
} // namespace

KernelBlock::KernelBlock(KernelOp kernel, Kinds &kinds) {
  // Callers decide where arguments are stored, so each argument has its own
  // space.
  enum Space : int32_t { Results, Parameters, Constants, Arguments };
  DenseMap<Value, int32_t> variables;
  DenseMap<Attribute, int32_t> constants;
  auto addVariable = [&](Value value, int32_t space) {
    block.variables.push_back({getBytes(value.getType()), space});
    return static_cast<int32_t>(block.variables.size()) - 1;
  };
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    int32_t number = argument.getArgNumber();
    variables[argument] =
        addVariable(argument, kernel.isShared(number) ? int32_t(Parameters)
                                                      : Arguments + number);
  }
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    Attribute constant;
    if (matchPattern(&op, m_Constant(&constant))) {
      auto [known, isNew] = constants.try_emplace(constant);
      if (isNew)
        known->second = addVariable(op.getResult(0), Constants);
      variables[op.getResult(0)] = known->second;
      continue;
    }
    batchrt::Operator described{kinds.get(&op), {}, {}};
    for (Value read : getReads(&op))
      described.operands.push_back(variables.lookup(read));
    for (Value result : op.getResults()) {
      variables[result] = addVariable(result, Results);
      described.results.push_back(variables[result]);
    }
    block.operators.push_back(std::move(described));
    ops.push_back(&op);
  }
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {

/// Rewrites the code of a kernel, batch by batch.
class KernelRewriter {
public:
  explicit KernelRewriter(KernelOp kernel)
      : kernel(kernel), yield(kernel.getBody().front().getTerminator()),
        b(yield) {}

  void emitSingle(Operation *op);
  void emitBatch(ArrayRef<Operation *> ops);
  /// Must be called after all operators have been emitted.
  void finish();

private:
  /// Vectors of equal length that are adjacent in one dimension or stored as
  /// the rows of a matrix.
  struct Stack {
    Value tensor;
    int64_t count;
    bool isMatrix;
  };
  struct Place {
    size_t stack;
    int64_t position;
  };

  Value get(Value value);
  Value getStacked(ArrayRef<Value> values, bool asMatrix);
  Value getRange(const Stack &stack, int64_t first, int64_t count,
                 bool asMatrix);
  Value getRepeated(Value value, int64_t count, bool asMatrix);
  Value toMatrix(Value vector, int64_t rows);
  Value toVector(Value matrix);
  /// Returns the stack of exactly these values, or null.
  const Stack *findStack(ArrayRef<Value> values) const;
  Stack emitProducts(ArrayRef<Operation *> ops);
  Stack emitElements(ArrayRef<Operation *> ops);

  KernelOp kernel;
  Operation *yield;
  OpBuilder b;
  Location loc = kernel.getLoc();
  IRMapping single;
  SmallVector<Stack> stacks;
  DenseMap<Value, Place> places;
  SmallVector<Operation *> replaced;
};

SmallVector<Value> getOperands(ArrayRef<Operation *> ops, unsigned number) {
  return llvm::map_to_vector(
      ops, [&](Operation *op) { return op->getOperand(number); });
}

} // namespace

Value KernelRewriter::toMatrix(Value vector, int64_t rows) {
  auto type = cast<RankedTensorType>(vector.getType());
  return tensor::ExpandShapeOp::create(
      b, loc,
      RankedTensorType::get({rows, type.getDimSize(0) / rows},
                            type.getElementType()),
      vector, ArrayRef<ReassociationIndices>{{0, 1}});
}

Value KernelRewriter::toVector(Value matrix) {
  return tensor::CollapseShapeOp::create(
      b, loc, matrix, ArrayRef<ReassociationIndices>{{0, 1}});
}

Value KernelRewriter::getRange(const Stack &stack, int64_t first, int64_t count,
                               bool asMatrix) {
  auto type = cast<RankedTensorType>(stack.tensor.getType());
  Value range = stack.tensor;
  auto index = [&](int64_t value) -> OpFoldResult {
    return b.getIndexAttr(value);
  };
  if (count != stack.count && stack.isMatrix) {
    range = tensor::ExtractSliceOp::create(
        b, loc, range, {index(first), index(0)},
        {index(count), index(type.getDimSize(1))}, {index(1), index(1)});
  } else if (count != stack.count) {
    int64_t length = type.getDimSize(0) / stack.count;
    range =
        tensor::ExtractSliceOp::create(b, loc, range, {index(first * length)},
                                       {index(count * length)}, {index(1)});
  }
  if (asMatrix != stack.isMatrix)
    return asMatrix ? toMatrix(range, count) : toVector(range);
  return range;
}

/// Returns the value that replaces `value`: its copy, a vector extracted from a
/// stack, or `value` itself.
Value KernelRewriter::get(Value value) {
  if (Value known = single.lookupOrNull(value))
    return known;
  auto place = places.find(value);
  if (place == places.end())
    return value;
  Value made = getRange(stacks[place->second.stack], place->second.position, 1,
                        /*asMatrix=*/false);
  single.map(value, made);
  return made;
}

Value KernelRewriter::getRepeated(Value value, int64_t count, bool asMatrix) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t length = type.getDimSize(0);
  SmallVector<int64_t> shape = {count, length};
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat))) {
    auto all = RankedTensorType::get(
        asMatrix ? ArrayRef(shape) : ArrayRef<int64_t>{count * length},
        type.getElementType());
    return arith::ConstantOp::create(b, loc, splat.resizeSplat(all));
  }
  Value empty = tensor::EmptyOp::create(b, loc, shape, type.getElementType());
  Value matrix = linalg::BroadcastOp::create(b, loc, get(value), empty,
                                             ArrayRef<int64_t>{0})
                     ->getResult(0);
  return asMatrix ? matrix : toVector(matrix);
}

const KernelRewriter::Stack *
KernelRewriter::findStack(ArrayRef<Value> values) const {
  auto first = places.find(values.front());
  if (first == places.end() ||
      stacks[first->second.stack].count != int64_t(values.size()))
    return nullptr;
  for (auto [i, value] : llvm::enumerate(values)) {
    auto place = places.find(value);
    if (place == places.end() || place->second.stack != first->second.stack ||
        place->second.position != int64_t(i))
      return nullptr;
  }
  return &stacks[first->second.stack];
}

/// Returns `values` as one tensor. Vectors that are adjacent in one stack are
/// extracted together. If the layout has made all of them adjacent, they need
/// no concatenation.
Value KernelRewriter::getStacked(ArrayRef<Value> values, bool asMatrix) {
  auto isEqual = [&](Value value) {
    Attribute a, b;
    return value == values.front() ||
           (matchPattern(value, m_Constant(&a)) &&
            matchPattern(values.front(), m_Constant(&b)) && a == b);
  };
  if (llvm::all_of(values, isEqual))
    return getRepeated(values.front(), values.size(), asMatrix);
  SmallVector<Value> pieces;
  for (size_t i = 0; i < values.size();) {
    auto place = places.find(values[i]);
    if (place == places.end()) {
      Value piece = get(values[i++]);
      pieces.push_back(asMatrix ? toMatrix(piece, 1) : piece);
      continue;
    }
    auto [stack, first] = place->second;
    int64_t count = 1;
    for (++i; i < values.size(); ++i, ++count) {
      auto next = places.find(values[i]);
      if (next == places.end() || next->second.stack != stack ||
          next->second.position != first + count)
        break;
    }
    pieces.push_back(getRange(stacks[stack], first, count, asMatrix));
  }
  if (pieces.size() == 1)
    return pieces.front();
  return tensor::ConcatOp::create(b, loc, 0, pieces);
}

/// Emits equal products as one. Vectors that are multiplied by one matrix
/// become the rows of a matrix. Matrices that are multiplied by one vector
/// become one matrix.
KernelRewriter::Stack KernelRewriter::emitProducts(ArrayRef<Operation *> ops) {
  int64_t count = ops.size();
  SmallVector<Value> matrices = getOperands(ops, 0);
  bool isMatrix = llvm::all_equal(matrices);
  Value init = getStacked(getOperands(ops, 2), isMatrix);
  if (!isMatrix) {
    Value matrix = tensor::ConcatOp::create(b, loc, 0, matrices);
    Value made = linalg::MatvecOp::create(
                     b, loc, init.getType(),
                     ValueRange{matrix, get(ops[0]->getOperand(1))}, init)
                     .getResult(0);
    return {made, count, isMatrix};
  }
  AffineExpr row, n, k;
  bindDims(b.getContext(), row, n, k);
  auto maps = AffineMap::inferFromExprList({ArrayRef<AffineExpr>{row, k},
                                            ArrayRef<AffineExpr>{n, k},
                                            ArrayRef<AffineExpr>{row, n}},
                                           b.getContext());
  Value rows = getStacked(getOperands(ops, 1), isMatrix);
  Value made = linalg::ContractOp::create(b, loc, init.getType(),
                                          ValueRange{rows, matrices.front()},
                                          init, b.getAffineMapArrayAttr(maps))
                   .getResult(0);
  return {made, count, isMatrix};
}

KernelRewriter::Stack KernelRewriter::emitElements(ArrayRef<Operation *> ops) {
  // Use the shape (vector or matrix) of the first operand that is a whole
  // stack.
  bool isMatrix = false;
  for (unsigned i : llvm::reverse(llvm::seq(ops[0]->getNumOperands())))
    if (const Stack *stack = findStack(getOperands(ops, i)))
      isMatrix = stack->isMatrix;
  SmallVector<Value> operands;
  for (unsigned i : llvm::seq(ops[0]->getNumOperands()))
    operands.push_back(getStacked(getOperands(ops, i), isMatrix));
  auto type = cast<RankedTensorType>(ops[0]->getResult(0).getType());
  auto shape = cast<RankedTensorType>(operands[0].getType()).getShape();
  OperationState state(loc, ops[0]->getName(), operands,
                       RankedTensorType::get(shape, type.getElementType()),
                       ops[0]->getAttrs());
  return {b.create(state)->getResult(0), int64_t(ops.size()), isMatrix};
}

void KernelRewriter::emitBatch(ArrayRef<Operation *> ops) {
  llvm::append_range(replaced, ops);
  loc = ops.front()->getLoc();
  stacks.push_back(getProduct(ops.front()) ? emitProducts(ops)
                                           : emitElements(ops));
  for (auto [i, op] : llvm::enumerate(ops))
    places[op->getResult(0)] = {stacks.size() - 1, int64_t(i)};
}

void KernelRewriter::emitSingle(Operation *op) {
  loc = op->getLoc();
  for (Value read : getReads(op))
    single.map(read, get(read));
  b.clone(*op, single);
  replaced.push_back(op);
}

void KernelRewriter::finish() {
  for (OpOperand &operand : yield->getOpOperands()) {
    loc = operand.get().getLoc();
    operand.set(get(operand.get()));
  }
  // Erase readers before the ops that they read.
  llvm::sort(replaced,
             [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *op : replaced)
    op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct LayoutPQPass : batch::impl::LayoutPQPassBase<LayoutPQPass> {
  using LayoutPQPassBase::LayoutPQPassBase;

  void runOnOperation() override;

private:
  void layOut(KernelOp kernel, const DenseSet<int64_t> &single);
  void report(KernelOp kernel, const KernelBlock &code,
              const batchrt::Batching &batching);
};

/// Returns the parameters that have exactly one use in all kernels together: as
/// the matrix of a product.
DenseSet<int64_t> findSingleUses(ModuleOp module) {
  DenseMap<int64_t, int64_t> uses;
  for (auto kernel : module.getOps<KernelOp>())
    for (BlockArgument argument : kernel.getBody().getArguments())
      if (auto parameter = kernel.getArgAttrOfType<IntegerAttr>(
              argument.getArgNumber(), kParameterAttr))
        for (OpOperand &use : argument.getUses()) {
          bool isMatrix =
              getProduct(use.getOwner()) && use.getOperandNumber() == 0;
          uses[parameter.getInt()] += isMatrix ? 1 : 2;
        }
  DenseSet<int64_t> single;
  for (auto [parameter, count] : uses)
    if (count == 1)
      single.insert(parameter);
  return single;
}

} // namespace

void LayoutPQPass::report(KernelOp kernel, const KernelBlock &code,
                          const batchrt::Batching &batching) {
  batchrt::LayoutProblem problem = batchrt::layoutProblem(
      code.block, batching.batches, /*sharedReads=*/true);
  std::vector<int32_t> order(code.block.variables.size());
  std::iota(order.begin(), order.end(), 0);
  batchrt::Layout before = batchrt::layoutInOrder(problem, std::move(order));
  const batchrt::Layout &after = batching.layout;
  remark::passed(kernel.getLoc(),
                 remark::RemarkOpts::name("Layout").category("batch"))
      << llvm::formatv(
             "@{0}: {1} operators in {2} batches; gather copies per task: {3} "
             "({4} bytes) in the original layout, {5} ({6} bytes) in the new "
             "layout",
             kernel.getSymName(), code.ops.size(), batching.batches.size(),
             before.copies.size(), before.bytesCopied(), after.copies.size(),
             after.bytesCopied())
             .str();
  for (const batchrt::AccessCopy &copy : after.copies) {
    ArrayRef<int32_t> batch = batching.batches[copy.batch];
    Operation *op = code.ops[batch.front()];
    const char *reason = "they conflict with the layout of other accesses";
    if (copy.reason == batchrt::AccessCopy::Reason::repeated)
      reason = "one of them occurs twice";
    else if (copy.reason == batchrt::AccessCopy::Reason::spaces)
      reason = "callers determine where arguments are stored";
    bool isResult = copy.access >= int32_t(op->getNumOperands());
    remark::missed(op->getLoc(),
                   remark::RemarkOpts::name("Layout").category("batch"))
        << llvm::formatv("{0} of {1} x {2} are copied, {3} bytes per task: {4}",
                         isResult ? "results" : "operands", batch.size(),
                         op->getName().getStringRef(), copy.bytes, reason)
               .str();
  }
}

void LayoutPQPass::layOut(KernelOp kernel, const DenseSet<int64_t> &single) {
  std::unique_ptr<Kinds> kinds;
  if (equal == EqualOperators::Parameters)
    kinds = std::make_unique<SameParameters>(kernel);
  else
    kinds = std::make_unique<SameShapes>(kernel, single);
  KernelBlock code(kernel, *kinds);
  batchrt::BatchingOptions options;
  // If all operators of a batch read the same value, generated code reads it in
  // place.
  options.sharedReads = true;
  options.maxStates = 500;
  options.maxPaths = 500;
  batchrt::Batching batching = batchrt::findBatching(code.block, options);
  if (llvm::all_of(batching.batches,
                   [](const auto &batch) { return batch.size() == 1; }))
    return;
  report(kernel, code, batching);
  KernelRewriter rewriter(kernel);
  for (auto [batch, order] :
       llvm::zip(batching.batches, batching.layout.operators)) {
    SmallVector<Operation *> ops;
    for (int32_t position : order)
      ops.push_back(code.ops[batch[position]]);
    if (ops.size() == 1)
      rewriter.emitSingle(ops.front());
    else
      rewriter.emitBatch(ops);
  }
  rewriter.finish();
}

void LayoutPQPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (equal == EqualOperators::None)
    return;
  SymbolTable symbols(module);
  DenseSet<int64_t> single = findSingleUses(module);
  for (auto kernel : module.getOps<KernelOp>())
    // A kernel that already has an operator must not change.
    if (!symbols.lookup(getOperatorName(kernel.getSymName())))
      layOut(kernel, single);
}
