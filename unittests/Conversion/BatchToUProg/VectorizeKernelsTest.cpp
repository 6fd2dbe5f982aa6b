//===- VectorizeKernelsTest.cpp - Other dialects' ops in kernels ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `tensor.bitcast` represents an op of another dialect. An external model of
// BatchableOpInterface allows the op in kernels.
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/BatchToUProg/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

RankedTensorType addRows(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape = {ShapedType::kDynamic};
  llvm::append_range(shape, tensor.getShape());
  return RankedTensorType::get(shape, tensor.getElementType());
}

struct Batchable
    : batch::BatchableOpInterface::ExternalModel<Batchable, tensor::BitcastOp> {
  LogicalResult buildBatched(Operation *op, OpBuilder &builder,
                             ValueRange operands, ArrayRef<bool> batched,
                             Value tasks,
                             SmallVectorImpl<Value> &results) const {
    EXPECT_TRUE(batched.front());
    EXPECT_TRUE(tasks.getType().isIndex());
    results.push_back(tensor::BitcastOp::create(
        builder, op->getLoc(), addRows(op->getResult(0).getType()),
        operands.front()));
    return success();
  }
};

struct NoResult
    : batch::BatchableOpInterface::ExternalModel<NoResult, tensor::BitcastOp> {
  LogicalResult buildBatched(Operation *, OpBuilder &, ValueRange,
                             ArrayRef<bool>, Value,
                             SmallVectorImpl<Value> &) const {
    return success();
  }
};

struct WrongType
    : batch::BatchableOpInterface::ExternalModel<WrongType, tensor::BitcastOp> {
  LogicalResult buildBatched(Operation *, OpBuilder &, ValueRange operands,
                             ArrayRef<bool>, Value,
                             SmallVectorImpl<Value> &results) const {
    results.push_back(operands.front());
    return success();
  }
};

struct NoLowering
    : batch::BatchableOpInterface::ExternalModel<NoLowering,
                                                 tensor::BitcastOp> {
  LogicalResult buildBatched(Operation *op, OpBuilder &builder,
                             ValueRange operands, ArrayRef<bool>, Value,
                             SmallVectorImpl<Value> &results) const {
    Type type = addRows(op->getResult(0).getType());
    results.push_back(UnrealizedConversionCastOp::create(builder, op->getLoc(),
                                                         type, operands)
                          .getResult(0));
    return success();
  }
};

constexpr StringLiteral kPerTask = R"(
  batch.kernel @k(%x: tensor<4xf32>) -> tensor<4xi32> {
    %y = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>
    batch.yield %y : tensor<4xi32>
  })";

constexpr StringLiteral kShared = R"(
  batch.kernel @k(%x: tensor<4xf32> {batch.parameter = 0, batch.shared})
      -> tensor<4xi32> {
    %y = tensor.bitcast %x : tensor<4xf32> to tensor<4xi32>
    batch.yield %y : tensor<4xi32>
  })";

constexpr StringLiteral kRagged = R"(
  batch.kernel @k(%x: tensor<?x4xf32>) -> tensor<4xi32> {
    %y = tensor.bitcast %x : tensor<?x4xf32> to tensor<?x4xi32>
    %z = arith.constant dense<0> : tensor<4xi32>
    %s = linalg.reduce { arith.addi } ins(%y : tensor<?x4xi32>)
                                      outs(%z : tensor<4xi32>) dimensions = [0]
    batch.yield %s : tensor<4xi32>
  })";

class VectorizeKernelsTest : public ::testing::Test {
protected:
  /// Runs the pass on `source`. Only the dialects of the input are loaded.
  template <typename Model>
  bool run(StringRef source) {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, batch::BatchDialect,
                    linalg::LinalgDialect, tensor::TensorDialect>();
    registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
      tensor::BitcastOp::attachInterface<Model>(*context);
    });
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
      error += diagnostic.str();
      return success();
    });
    module = parseSourceString<ModuleOp>(source, context.get());
    if (!module)
      return false;
    PassManager pm(context.get());
    pm.addPass(batch::createVectorizeKernelsPass());
    return succeeded(pm.run(*module));
  }

  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  std::string error;
};

TEST_F(VectorizeKernelsTest, AnOperationWithTheInterfaceTakesPart) {
  ASSERT_TRUE(run<Batchable>(kPerTask)) << error;
  auto op = module->lookupSymbol<uprog::OperatorOp>("k.rows");
  ASSERT_TRUE(op);
  auto bitcasts = op.getBody().getOps<tensor::BitcastOp>();
  ASSERT_FALSE(bitcasts.empty());
  EXPECT_EQ((*bitcasts.begin()).getType(), op.getResultTypes().front());
}

TEST_F(VectorizeKernelsTest, OfSharedOperandsItIsBatchedToo) {
  ASSERT_TRUE(run<Batchable>(kShared)) << error;
  auto op = module->lookupSymbol<uprog::OperatorOp>("k.rows");
  ASSERT_TRUE(op);
  auto bitcasts = op.getBody().getOps<tensor::BitcastOp>();
  ASSERT_FALSE(bitcasts.empty());
  EXPECT_EQ((*bitcasts.begin()).getType(), op.getResultTypes().front());
}

TEST_F(VectorizeKernelsTest, TheInterfaceDoesNotKnowRaggedRows) {
  EXPECT_FALSE(run<Batchable>(kRagged));
  EXPECT_NE(error.find("cannot be batched over a ragged tensor, because its "
                       "BatchableOpInterface only supports one row per task"),
            std::string::npos)
      << error;
}

TEST_F(VectorizeKernelsTest, EveryResultHasABatchedForm) {
  EXPECT_FALSE(run<NoResult>(kPerTask));
  EXPECT_NE(error.find("has 1 results, but its batched form has 0"),
            std::string::npos)
      << error;
}

TEST_F(VectorizeKernelsTest, TheBatchedFormHasALowering) {
  EXPECT_FALSE(run<NoLowering>(kPerTask));
  EXPECT_NE(error.find("has a batched form that contains "
                       "'builtin.unrealized_conversion_cast'"
                       ", which cannot be lowered; use only ops of linalg, "
                       "tensor, arith and math"),
            std::string::npos)
      << error;
}

TEST_F(VectorizeKernelsTest, TheBatchedFormHasTheRightType) {
  EXPECT_FALSE(run<WrongType>(kPerTask));
  EXPECT_NE(error.find("has a batched form of type 'tensor<?x4xf32>' instead "
                       "of 'tensor<?x4xi32>'"),
            std::string::npos)
      << error;
}

} // namespace
