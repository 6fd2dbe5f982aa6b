//===- FoldBiases.cpp - Sums of products begin with their biases ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Sharedness.h"
#include "Batch/Analysis/TensorCode.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Transforms/Import/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

namespace mlir::batch {
#define GEN_PASS_DEF_FOLDBIASESPASS
#include "Batch/Transforms/Import/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

static bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  DenseFPElementsAttr elements;
  return matchPattern(value, m_AnyZeroFloat()) ||
         (matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
          elements.getSplatValue<APFloat>().isZero());
}

/// Returns the two tensors that `op` adds element by element, or null values.
static std::pair<Value, Value> getAddends(Operation *op) {
  if (auto add = dyn_cast<arith::AddFOp>(op))
    if (isa<RankedTensorType>(add.getType()))
      return {add.getLhs(), add.getRhs()};
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  if (!loops || op->getNumResults() != 1 ||
      loops.getNumParallelLoops() != loops.getNumLoops() ||
      loops.getNumDpsInputs() != 2 ||
      !llvm::all_of(loops.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  Block *body = loops.getBlock();
  auto add = dyn_cast<arith::AddFOp>(body->front());
  if (!add || add->getNextNode() != body->getTerminator() ||
      body->getTerminator()->getOperand(0) != add.getResult())
    return {};
  Value a = body->getArgument(0), b = body->getArgument(1);
  if (!((add.getLhs() == a && add.getRhs() == b) ||
        (add.getLhs() == b && add.getRhs() == a)))
    return {};
  return {loops.getDpsInputs()[0], loops.getDpsInputs()[1]};
}

/// Returns true if `op` sums elements of its only input.
static bool isSum(linalg::LinalgOp op) {
  if (!op || op->getNumResults() != 1 || op.getNumDpsInputs() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  Block *body = op.getBlock();
  auto add = dyn_cast<arith::AddFOp>(body->front());
  return add && add->getNextNode() == body->getTerminator() &&
         body->getTerminator()->getOperand(0) == add.getResult() &&
         llvm::is_contained(add->getOperands(), body->getArgument(0)) &&
         llvm::is_contained(add->getOperands(), body->getArgument(1));
}

/// If `value` consists only of copies of a tensor's elements, as in a
/// broadcast, returns this tensor. Returns null otherwise.
static Value getRepeated(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  if (!op || op.getNumDpsInputs() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return {};
  Block *body = op.getBlock();
  if (!llvm::hasSingleElement(*body) ||
      body->getTerminator()->getOperand(0) != body->getArgument(0))
    return {};
  return op.getDpsInputs()[0];
}

namespace {

/// Determines which values an instance's control flow waits for. They depend on
/// results of calls or control flow, on loop-carried values, or on arguments
/// that are tensors of an instance. All other values are known without a wait.
class Waits {
public:
  explicit Waits(const Sharedness &sharedness) : sharedness(sharedness) {}

  bool waits(Value value) {
    auto [entry, isNew] = known.try_emplace(value, false);
    if (!isNew)
      return entry->second;
    const bool result = compute(value);
    return known[value] = result;
  }

private:
  bool compute(Value value) {
    if (!isa<RankedTensorType>(value.getType()) || sharedness.isShared(value))
      return false;
    Operation *op = value.getDefiningOp();
    // Fields of nodes and elements of lists count as known without a wait. This
    // holds even if the program built the node or list from values for which
    // control flow waits.
    if (!op)
      return !isa<rec::MatchOp, rec::MapOp>(
          cast<BlockArgument>(value).getOwner()->getParentOp());
    if (isa<CallOpInterface>(op) ||
        (op->getNumRegions() && !isa<linalg::LinalgOp>(op)))
      return true;
    return llvm::any_of(op->getOperands(),
                        [&](Value operand) { return waits(operand); });
  }

  const Sharedness &sharedness;
  DenseMap<Value, bool> known;
};

class FoldBiasesPass : public batch::impl::FoldBiasesPassBase<FoldBiasesPass> {
  void runOnOperation() override {
    InstanceProgram program(getOperation());
    if (!program.getEntry())
      return;
    Sharedness sharedness(program);
    for (func::FuncOp function : program.getFunctions()) {
      SmallVector<Operation *> sums;
      function.walk([&](Operation *op) {
        if (getAddends(op).first)
          sums.push_back(op);
      });
      Waits waits(sharedness);
      for (Operation *sum : sums) {
        auto [a, b] = getAddends(sum);
        if (canBegin(sum, a, b, sharedness, waits))
          fold(sum, a, b);
        else if (canBegin(sum, b, a, sharedness, waits))
          fold(sum, b, a);
      }
    }
  }

  /// Returns true if the op that computes `value` can start from `addend`,
  /// which `sum` adds to `value`.
  bool canBegin(Operation *sum, Value value, Value addend,
                const Sharedness &sharedness, Waits &waits) {
    auto op = value.getDefiningOp<linalg::LinalgOp>();
    if (!op || !value.hasOneUse() || op->getBlock() != sum->getBlock() ||
        addend.getType() != value.getType() ||
        sum->getResult(0).getType() != value.getType() ||
        sharedness.isShared(value) || !isZero(op.getDpsInitOperand(0)->get()))
      return false;
    if (getContraction(op)) {
      // The product waits in any case, and the addend adds no wait.
      if (waits.waits(value) && !waits.waits(addend))
        return true;
      Value bias = addend;
      while (Value repeated = getRepeated(bias))
        bias = repeated;
      return sharedness.isShared(bias);
    }
    auto other = addend.getDefiningOp<linalg::LinalgOp>();
    return isSum(op) && (!other || other.getNumReductionLoops() == 0);
  }

  void fold(Operation *sum, Value value, Value addend) {
    auto op = cast<linalg::LinalgOp>(value.getDefiningOp());
    op->moveBefore(sum); // after the definition of the addend
    op.getDpsInitOperand(0)->set(addend);
    sum->getResult(0).replaceAllUsesWith(value);
    sum->erase();
  }
};

} // namespace
