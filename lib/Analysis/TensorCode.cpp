//===- TensorCode.cpp - Code that belongs in kernels ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/TensorCode.h"

#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/Dialect/Batch/Views.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::batch;

linalg::LinalgOp mlir::batch::getContraction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || op->getNumResults() != 1 ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())) ||
      !linalg::isaContractionOpInterface(linalgOp))
    return {};
  return linalgOp;
}

/// Returns true if `slice` is a matrix at a constant position of a tensor, and
/// only products read it. Kernels then read the matrix in panels.
static bool isFixedFactor(tensor::ExtractSliceOp slice) {
  return isa<Attribute>(getRowIndex(slice)) &&
         slice.getSourceType().hasStaticShape() &&
         slice.getType().getRank() == 2 && !slice->use_empty() &&
         llvm::all_of(slice->getUsers(), [&](Operation *user) {
           return user->getBlock() == slice->getBlock() && getContraction(user);
         });
}

TensorCode::TensorCode(const InstanceProgram &program,
                       const Sharedness &sharedness)
    : sharedness(sharedness) {
  for (func::FuncOp function : program.getFunctions())
    collectBlocks(function.getBody());
  findScalarCode();
}

bool TensorCode::contains(Operation *op) const {
  if (scalarCode.contains(op))
    return true;
  if (op->getNumResults() == 0 ||
      !llvm::all_of(op->getResultTypes(),
                    [](Type type) { return isa<RankedTensorType>(type); }))
    return false;
  // If control flow computes the index of a parameter's row, it also extracts
  // the row.
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    if (isRowView(slice) && sharedness.getParameter(slice.getSource()) &&
        !isFixedFactor(slice)) {
      auto index = dyn_cast<Value>(getRowIndex(slice));
      if (!index || !scalarCode.contains(index.getDefiningOp()))
        return false;
    }
  return isa<linalg::LinalgDialect, tensor::TensorDialect, arith::ArithDialect,
             math::MathDialect>(op->getDialect()) ||
         isa<BatchableOpInterface>(op);
}

void TensorCode::collectBlocks(Region &region) {
  SmallVector<Region *> worklist = {&region};
  for (size_t i = 0; i < worklist.size(); ++i)
    for (Block &block : *worklist[i]) {
      blocks.push_back(&block);
      for (Operation &op : block)
        if (!contains(&op))
          for (Region &nested : op.getRegions())
            worklist.push_back(&nested);
    }
}

/// Finds values that only tensor ops read: elements of tensors, and scalars
/// computed from such elements. They are kernel code, since control flow does
/// not need them.
void TensorCode::findScalarCode() {
  for (Block *block : blocks) {
    for (Operation &op : *block) {
      if (op.getNumResults() == 0 || op.getNumRegions() != 0 ||
          llvm::any_of(op.getResultTypes(),
                       [](Type type) { return isa<ShapedType>(type); }))
        continue;
      bool reads = isa<tensor::ExtractOp>(op);
      if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect()))
        reads |= llvm::any_of(op.getOperands(), [&](Value operand) {
          return scalarCode.contains(operand.getDefiningOp());
        });
      if (reads)
        scalarCode.insert(&op);
    }
    for (Operation &op : llvm::reverse(*block))
      if (llvm::any_of(op.getUsers(), [&](Operation *user) {
            Operation *ancestor = block->findAncestorOpInBlock(*user);
            return !ancestor || !contains(ancestor);
          }))
        scalarCode.erase(&op);
  }
}
