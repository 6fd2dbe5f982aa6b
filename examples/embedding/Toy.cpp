//===- Toy.cpp - A dialect whose op runs in kernels -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

#include "ToyDialect.cpp.inc"
#define GET_OP_CLASSES
#include "Toy.cpp.inc"

using namespace mlir;

void toy::ToyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Toy.cpp.inc"
      >();
}

/// Builds the batched form, which computes the rows of all tasks. Uses only ops
/// that every later pass supports.
LogicalResult toy::SwishOp::buildBatched(OpBuilder &builder,
                                         ValueRange operands,
                                         ArrayRef<bool> batched, Value tasks,
                                         SmallVectorImpl<Value> &results) {
  Location loc = getLoc();
  Value x = operands[0];
  auto type = cast<RankedTensorType>(x.getType());
  Value one = arith::ConstantOp::create(
      builder, loc, builder.getFloatAttr(type.getElementType(), 1.0));
  Value ones = tensor::SplatOp::create(builder, loc, one, type, tasks);
  Value negated = arith::NegFOp::create(builder, loc, x);
  Value exp = math::ExpOp::create(builder, loc, negated);
  Value sum = arith::AddFOp::create(builder, loc, ones, exp);
  results.push_back(arith::DivFOp::create(builder, loc, x, sum));
  return success();
}
