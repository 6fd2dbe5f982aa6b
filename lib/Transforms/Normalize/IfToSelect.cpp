//===- IfToSelect.cpp - Compute both branches of small conditionals -------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ControlStructure.h"
#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Analysis/WorkEstimate.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Transforms/Normalize/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::batch {
#define GEN_PASS_DEF_IFTOSELECTPASS
#include "Batch/Transforms/Normalize/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Returns the reason why `op` should not run if its branch is not taken.
/// Returns an empty string if it may run.
static StringRef findObstacle(Operation *op) {
  if (isa<scf::IfOp>(op))
    return "contains a conditional that remains control flow";
  if (!isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
           tensor::TensorDialect>(op->getDialect()) &&
      !isa<BatchableOpInterface>(op))
    return "contains calls or other control flow";
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      linalgOp && linalgOp.getNumReductionLoops() > 0)
    return "contains a reduction or contraction";
  for (Type type : op->getResultTypes())
    if (auto shaped = dyn_cast<ShapedType>(type);
        shaped && !shaped.hasStaticShape())
      return "contains tensors of dynamic shape";
  // With a select, the op also runs if the branch is not taken, but its index
  // may then be out of range.
  bool indexed = isa<tensor::TensorDialect>(op->getDialect()) &&
                 !isa<tensor::SplatOp, tensor::FromElementsOp>(op) &&
                 llvm::any_of(op->getOperandTypes(), llvm::IsaPred<IndexType>);
  op->walk([&](Operation *inner) {
    indexed |= isa<tensor::ExtractOp, tensor::GatherOp>(inner);
  });
  if (indexed)
    return "reads a tensor at an index";
  if (!isMemoryEffectFree(op) || !isSpeculatable(op))
    return "contains code that must not run speculatively";
  return {};
}

/// Returns true if tensor code of the function computes `value`. Control flow
/// that depends on such a value splits that code. Results of calls, matches and
/// loops do not count, because they are already available.
static bool isComputed(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op))
    return !isRowView(slice);
  return op && !op->hasTrait<OpTrait::ConstantLike>() &&
         isa<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
             tensor::TensorDialect>(op->getDialect());
}

namespace {

class IfToSelectPass : public batch::impl::IfToSelectPassBase<IfToSelectPass> {
  using IfToSelectPassBase::IfToSelectPassBase;

  void runOnOperation() override {
    InstanceProgram program(getOperation());
    // After kernels have been outlined, conditionals remain unchanged.
    if (!program.getEntry() || !getOperation().getOps<KernelOp>().empty())
      return;
    Sharedness sharedness(program);
    StructuralControl structure(program, sharedness);
    for (func::FuncOp function : program.getFunctions()) {
      // Inner conditionals come first, because they become straight-line code
      // or remain an obstacle.
      SmallVector<scf::IfOp> branches;
      function.walk([&](scf::IfOp branch) { branches.push_back(branch); });
      for (scf::IfOp branch : branches)
        visit(branch, structure);
    }
  }

  void visit(scf::IfOp branch, const StructuralControl &structure) {
    // A conditional that chooses no tensors belongs to the inspector.
    if (llvm::none_of(branch.getResultTypes(), carriesTensor))
      return;
    std::string reason;
    int64_t count = 0, elements = 0;
    // A select avoids a wait or, in lockstep, a branch at which lanes diverge.
    const bool waits = !structure.isStructural(branch.getCondition());
    if (waits && maxElements == 0)
      reason = "its condition depends on a tensor";
    else if (!llvm::all_of(branch.getResultTypes(), [](Type type) {
               auto tensor = dyn_cast<RankedTensorType>(type);
               return tensor && tensor.hasStaticShape();
             }))
      reason = "its results are not all static tensors";
    bool computes = false;
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      for (Operation &op : block->without_terminator()) {
        if (reason.empty())
          if (StringRef obstacle = findObstacle(&op); !obstacle.empty())
            reason = ("a branch " + obstacle).str();
        count += countOperationsPerPoint(&op);
        elements += countOperations(&op);
      }
      computes |=
          llvm::any_of(block->getTerminator()->getOperands(), isComputed);
    }
    if (reason.empty() && waits && elements > maxElements)
      reason = "its condition depends on a tensor, and both branches together "
               "take " +
               std::to_string(elements) +
               " operations on elements, more than max-elements=" +
               std::to_string(maxElements);
    if (reason.empty() && !waits && !computes)
      reason = "it chooses between rows that are already computed";
    if (reason.empty() && !waits && count > maxOps)
      reason = "both branches together take " + std::to_string(count) +
               " ops, more than max-ops=" + std::to_string(maxOps);
    // Use one string, because the remark engine separates its arguments.
    if (!reason.empty()) {
      remark::missed(branch.getLoc(),
                     remark::RemarkOpts::name("IfToSelect").category("batch"))
          << "conditional remains control flow, with a sub-batch for each "
             "branch: " +
                 reason;
      return;
    }
    remark::passed(branch.getLoc(),
                   remark::RemarkOpts::name("IfToSelect").category("batch"))
        << "conditional converted to a select: both branches together take " +
               std::to_string(count) + " ops";
    replace(branch);
  }

  static void replace(scf::IfOp branch) {
    OpBuilder builder(branch);
    SmallVector<ValueRange> yielded;
    for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
      yielded.push_back(block->getTerminator()->getOperands());
      for (Operation &op :
           llvm::make_early_inc_range(block->without_terminator()))
        op.moveBefore(branch);
    }
    for (auto [result, onTrue, onFalse] :
         llvm::zip_equal(branch.getResults(), yielded[0], yielded[1])) {
      Value chosen = onTrue;
      if (onTrue != onFalse)
        chosen = arith::SelectOp::create(
            builder, branch.getLoc(), branch.getCondition(), onTrue, onFalse);
      result.replaceAllUsesWith(chosen);
    }
    branch.erase();
  }
};

} // namespace
