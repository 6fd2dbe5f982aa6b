//===- toy-opt.cpp - Another compiler's opt tool, with --autobatch --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/InitAll.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include "ToyDialect.h.inc"
#define GET_OP_CLASSES
#include "Toy.h.inc"

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

/// The batched form, over rows: linalg that every later pass knows.
LogicalResult toy::SwishOp::buildBatched(OpBuilder &builder,
                                         ValueRange operands,
                                         ArrayRef<bool> batched, Value tasks,
                                         SmallVectorImpl<Value> &results) {
  Location loc = getLoc();
  auto type = cast<RankedTensorType>(operands[0].getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, operands[0]),
      type.getElementType());
  SmallVector<AffineMap> maps(2,
                              builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, empty.getType(), operands[0], empty, maps, iterators,
      [](OpBuilder &b, Location loc, ValueRange args) {
        Value x = args[0];
        Value one =
            arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), 1.0));
        Value exp = math::ExpOp::create(
            b, loc, arith::NegFOp::create(b, loc, x).getResult());
        Value y = arith::DivFOp::create(
            b, loc, x, arith::AddFOp::create(b, loc, one, exp).getResult());
        linalg::YieldOp::create(b, loc, y);
      });
  results.push_back(generic.getResult(0));
  return success();
}

int main(int argc, char **argv) {
  DialectRegistry registry;
  batch::registerAllDialects(registry);
  batch::registerAllPasses();
  registry.insert<toy::ToyDialect>();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "An opt tool that embeds Batch\n", registry));
}
