//===- FoldZeros.cpp - Remove products with zero tensors ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../CallInlining.h"

#include "Batch/Analysis/Sharedness.h"
#include "Batch/Analysis/TensorCode.h"
#include "Batch/Transforms/Recursion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::batch {
#define GEN_PASS_DEF_FOLDZEROSPASS
#include "Batch/Transforms/Recursion/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Returns true if `op` sums its only input along some dimensions.
static bool isSum(linalg::ReduceOp op) {
  Block *body = op.getBody();
  return op.getInputs().size() == 1 &&
         llvm::hasSingleElement(body->without_terminator()) &&
         isa<arith::AddFOp>(body->front());
}

namespace {

/// Values whose elements are all zero, of either sign. visit() must be called
/// for the ops of a function in order.
class ZeroValues {
public:
  explicit ZeroValues(bool assumeFinite) : assumeFinite(assumeFinite) {}

  void insert(Value value) { zeros.insert(value); }
  bool contains(Value value) const { return zeros.contains(value); }
  bool containsAll(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) { return contains(value); });
  }
  bool containsAny(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return contains(value); });
  }

  void visit(Operation *op) {
    if (op->getNumResults() == 1 && makesZero(op))
      insert(op->getResult(0));
  }

private:
  bool makesZero(Operation *op) const;

  bool assumeFinite;
  DenseSet<Value> zeros;
};

class ZeroFolder {
public:
  ZeroFolder(ModuleOp module, bool assumeFinite)
      : module(module), assumeFinite(assumeFinite) {}

  void run();

private:
  void peelFirstCalls();
  unsigned countFolding(func::FuncOp function, ZeroValues zeros,
                        const Sharedness &sharedness) const;
  void fold(func::FuncOp function, const Sharedness &sharedness);
  void simplify(Operation *op, const ZeroValues &zeros,
                const Sharedness &sharedness);
  bool isComputedOnce(linalg::LinalgOp product, const ZeroValues &zeros,
                      const Sharedness &sharedness) const;

  ModuleOp module;
  bool assumeFinite;
  bool changed = false;
};

} // namespace

bool ZeroValues::makesZero(Operation *op) const {
  if (matchPattern(op, m_AnyZeroFloat()))
    return true;
  if (isa<linalg::FillOp, linalg::BroadcastOp, linalg::TransposeOp>(op))
    return contains(op->getOperand(0));
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
          tensor::ExtractSliceOp, tensor::SplatOp>(op))
    return contains(op->getOperand(0));
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return contains(insert.getSource()) && contains(insert.getDest());
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return contains(select.getTrueValue()) && contains(select.getFalseValue());
  if (isa<tensor::ConcatOp, arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
    return containsAll(op->getOperands());
  // Zero times infinity is not zero.
  if (isa<arith::MulFOp>(op))
    return assumeFinite ? containsAny(op->getOperands())
                        : containsAll(op->getOperands());
  if (auto reduce = dyn_cast<linalg::ReduceOp>(op))
    return isSum(reduce) && containsAll(op->getOperands());
  if (linalg::LinalgOp product = getContraction(op)) {
    SmallVector<Value> inputs = product.getDpsInputs();
    return containsAll(product.getDpsInits()) &&
           (assumeFinite ? containsAny(inputs) : containsAll(inputs));
  }
  return false;
}

/// Returns true if `product`, which has a zero factor, depends on the task only
/// through its initial value. It can then be computed once for all tasks and
/// added to the initial value. Adding a zero involves no rounding, so results
/// remain bit-identical.
bool ZeroFolder::isComputedOnce(linalg::LinalgOp product,
                                const ZeroValues &zeros,
                                const Sharedness &sharedness) const {
  auto type = cast<RankedTensorType>(product->getResult(0).getType());
  return type.hasStaticShape() &&
         !sharedness.isShared(product.getDpsInits().front()) &&
         llvm::all_of(product.getDpsInputs(), [&](Value input) {
           return zeros.contains(input) || sharedness.isShared(input);
         });
}

void ZeroFolder::simplify(Operation *op, const ZeroValues &zeros,
                          const Sharedness &sharedness) {
  auto replaceBy = [&](Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    changed = true;
  };
  auto report = [&](StringRef what) {
    remark::passed(op->getLoc(),
                   remark::RemarkOpts::name("FoldZeros").category("batch"))
        << what;
  };
  if (linalg::LinalgOp product = getContraction(op)) {
    if (!zeros.containsAny(product.getDpsInputs()))
      return;
    Value init = product.getDpsInits().front();
    if (assumeFinite) {
      report("removed a product with a zero operand");
      return replaceBy(init);
    }
    if (!isComputedOnce(product, zeros, sharedness))
      return;
    report("separated a product with a zero operand, so that it is computed "
           "once for all tasks");
    OpBuilder builder(op);
    auto type = cast<RankedTensorType>(init.getType());
    auto element = cast<FloatType>(type.getElementType());
    // Use -0, the neutral element of addition: its sum with a zero has the sign
    // of that zero.
    Value neutral = arith::ConstantOp::create(
        builder, op->getLoc(),
        DenseElementsAttr::get(type,
                               APFloat::getZero(element.getFloatSemantics(),
                                                /*Negative=*/true)));
    auto once = cast<linalg::LinalgOp>(builder.clone(*op));
    once.getDpsInitsMutable()[0].set(neutral);
    return replaceBy(
        arith::AddFOp::create(builder, op->getLoc(), init, once->getResult(0)));
  }
  if (!assumeFinite)
    return;
  if (auto reduce = dyn_cast<linalg::ReduceOp>(op)) {
    if (isSum(reduce) && zeros.contains(reduce.getInputs().front()))
      replaceBy(reduce.getInits().front());
    return;
  }
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op))
    return;
  Value left = op->getOperand(0), right = op->getOperand(1);
  if (isa<arith::MulFOp>(op)) {
    if (zeros.contains(left) || zeros.contains(right))
      replaceBy(zeros.contains(left) ? left : right);
  } else if (zeros.contains(right)) {
    replaceBy(left);
  } else if (isa<arith::AddFOp>(op) && zeros.contains(left)) {
    replaceBy(right);
  }
}

/// Returns the ops of `function` in order.
static SmallVector<Operation *> getOps(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function)
      ops.push_back(op);
  });
  return ops;
}

void ZeroFolder::fold(func::FuncOp function, const Sharedness &sharedness) {
  ZeroValues zeros(assumeFinite);
  SmallVector<Operation *> ops = getOps(function);
  changed = false;
  for (Operation *op : ops) {
    zeros.visit(op);
    simplify(op, zeros, sharedness);
  }
  if (!changed)
    return;
  IRRewriter rewriter(function.getContext());
  (void)runRegionDCE(rewriter, function->getRegions());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns the constant that all calls pass as `argument`, or null. A recursive
/// call may pass the argument itself.
static Attribute getConstant(BlockArgument argument,
                             ArrayRef<func::CallOp> callers) {
  Attribute constant;
  for (func::CallOp call : callers) {
    Value operand = call.getOperand(argument.getArgNumber());
    if (operand == argument)
      continue;
    Attribute attribute;
    if (!matchPattern(operand, m_Constant(&attribute)) ||
        (constant && constant != attribute))
      return {};
    constant = attribute;
  }
  return constant;
}

/// Returns true if `function` is private and has no uses except the calls in
/// `callers`.
static bool isOnlyCalledBy(func::FuncOp function,
                           ArrayRef<func::CallOp> callers) {
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function, function->getParentOp());
  return function.isPrivate() && uses &&
         llvm::range_size(*uses) == callers.size();
}

/// If an argument is the same constant in all calls, replaces it with this
/// constant.
static void propagateConstants(const InstanceProgram &program) {
  // Callers come first, because their operands may have become constants.
  for (ArrayRef<func::FuncOp> component :
       llvm::reverse(program.getComponents()))
    for (func::FuncOp function : component) {
      if (function.isExternal() || function == program.getEntry())
        continue;
      for (BlockArgument argument : function.getArguments()) {
        auto constant = dyn_cast_or_null<TypedAttr>(
            getConstant(argument, program.getCallers(function)));
        if (!constant || argument.use_empty() ||
            !isOnlyCalledBy(function, program.getCallers(function)))
          continue;
        OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
        argument.replaceAllUsesWith(
            arith::ConstantOp::create(builder, argument.getLoc(), constant));
      }
    }
}

/// Returns the number of products of `function` that fold if `zeros` are zero.
unsigned ZeroFolder::countFolding(func::FuncOp function, ZeroValues zeros,
                                  const Sharedness &sharedness) const {
  unsigned count = 0;
  for (Operation *op : getOps(function)) {
    zeros.visit(op);
    linalg::LinalgOp product = getContraction(op);
    if (product && zeros.containsAny(product.getDpsInputs()))
      count += assumeFinite || isComputedOnce(product, zeros, sharedness);
  }
  return count;
}

/// If a recursion starts with zeros, copies its first level into the caller,
/// provided that products with these zeros fold there.
void ZeroFolder::peelFirstCalls() {
  InstanceProgram program(module);
  Sharedness sharedness(program);
  SmallVector<func::CallOp> peeled;
  for (func::FuncOp function : program.getFunctions()) {
    if (!program.isRecursive(function) || !function.getBody().hasOneBlock())
      continue;
    ZeroValues none(assumeFinite);
    unsigned anyway = countFolding(function, none, sharedness);
    for (func::CallOp call : program.getCallers(function)) {
      if (program.isRecursiveCall(call))
        continue;
      ZeroValues zeros(assumeFinite);
      for (auto [operand, argument] :
           llvm::zip_equal(call.getOperands(), function.getArguments()))
        if (matchPattern(operand, m_AnyZeroFloat()))
          zeros.insert(argument);
      if (countFolding(function, zeros, sharedness) > anyway)
        peeled.push_back(call);
    }
  }
  for (func::CallOp call : peeled) {
    remark::passed(call.getLoc(),
                   remark::RemarkOpts::name("FoldZeros").category("batch"))
        << "recursion starts with zeros: its first level is peeled";
    inlineCall(call, program.getCallee(call));
  }
}

void ZeroFolder::run() {
  propagateConstants(InstanceProgram(module));
  peelFirstCalls();
  InstanceProgram program(module);
  Sharedness sharedness(program);
  for (func::FuncOp function : program.getFunctions())
    fold(function, sharedness);
}

namespace {
class FoldZerosPass : public batch::impl::FoldZerosPassBase<FoldZerosPass> {
  using FoldZerosPassBase::FoldZerosPassBase;
  void runOnOperation() override {
    ZeroFolder(getOperation(), assumeFinite).run();
  }
};
} // namespace
