//===- ElementSourcesTest.cpp - Sources of an op's elements ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementSources.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::uprog;

namespace {
class ElementSourcesTest : public ::testing::Test {
protected:
  ElementSourcesTest() {
    context.loadDialect<arith::ArithDialect, batch::BatchDialect,
                        func::FuncDialect, linalg::LinalgDialect,
                        tensor::TensorDialect>();
  }

  /// Returns the sources of the last op of `body`, one per line, with the
  /// number of the operand.
  std::string getSources(StringRef arguments, StringRef body) {
    std::string text =
        ("func.func @f(%n: index, " + arguments + ") {\n" + body + "\nreturn }")
            .str();
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "does not parse";
    auto function = *module->getOps<func::FuncOp>().begin();
    Operation *op = function.getBody().front().getTerminator()->getPrevNode();
    std::string lines;
    llvm::raw_string_ostream out(lines);
    for (const ElementSource &source : getElementSources(op->getResult(0))) {
      out << source.operand->getOperandNumber() << ": " << source.map;
      for (const IndexCondition &condition : source.conditions)
        out << (&condition == source.conditions.begin() ? " if d" : " and d")
            << condition.dim << (condition.below ? " < " : " >= ")
            << condition.limit;
      out << (source.taskOfRow ? " of its task\n" : "\n");
    }
    return lines;
  }

  MLIRContext context;
};
} // namespace

TEST_F(ElementSourcesTest, FirstPieceOfConcatThatEndsBehindTheIndex) {
  EXPECT_EQ(
      getSources("%a: tensor<?x4xf32>, %b: tensor<?x2xf32>",
                 "%0 = tensor.concat dim(1) %a, %b, %a : (tensor<?x4xf32>, "
                 "tensor<?x2xf32>, tensor<?x4xf32>) -> tensor<?x10xf32>"),
      "0: (d0, d1) -> (d0, d1) if d1 < 4\n"
      "1: (d0, d1) -> (d0, d1 - 4) if d1 < 6\n"
      "2: (d0, d1) -> (d0, d1 - 6)\n");
}

TEST_F(ElementSourcesTest, SliceHasOffsetStrideAndDroppedDimensions) {
  EXPECT_EQ(getSources("%a: tensor<?x4x9xf32>",
                       "%0 = tensor.extract_slice %a[0, 2, 1] [%n, 1, 4] [1, "
                       "1, 2] : tensor<?x4x9xf32> to tensor<?x4xf32>"),
            "0: (d0, d1) -> (d0, 2, d1 * 2 + 1)\n");
}

TEST_F(ElementSourcesTest, InsertIsBoundedWhereItDoesNotReachTheEdge) {
  EXPECT_EQ(
      getSources("%a: tensor<?x4xf32>, %b: tensor<?x3x9xf32>",
                 "%0 = tensor.insert_slice %a into %b[0, 2, 1] [%n, 1, "
                 "4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x3x9xf32>"),
      "0: (d0, d1, d2) -> (d0, d2 - 1) if d1 >= 2 and d2 >= 1 and d2 < 5\n"
      "1: (d0, d1, d2) -> (d0, d1, d2)\n");
}

TEST_F(ElementSourcesTest, CollapsedIndexFallsIntoDigits) {
  EXPECT_EQ(getSources("%a: tensor<?x4x3x1x5xf32>",
                       "%0 = tensor.collapse_shape %a [[0], [1, 2, 3, 4]] : "
                       "tensor<?x4x3x1x5xf32> into tensor<?x60xf32>"),
            "0: (d0, d1) -> (d0, (d1 floordiv 5) floordiv 3, (d1 floordiv 5) "
            "mod 3, 0, d1 mod 5)\n");
}

TEST_F(ElementSourcesTest, ExpandedIndexIsTheSumOfItsDigits) {
  EXPECT_EQ(getSources("%a: tensor<?x60xf32>",
                       "%0 = tensor.expand_shape %a [[0], [1, 2, 3, 4]] "
                       "output_shape [%n, 4, 3, 1, 5] : tensor<?x60xf32> into "
                       "tensor<?x4x3x1x5xf32>"),
            "0: (d0, d1, d2, d3, d4) -> (d0, (d1 * 3 + d2) * 5 + d4)\n");
}

TEST_F(ElementSourcesTest, RaggedRowReadsItsTask) {
  EXPECT_EQ(getSources("%a: tensor<?x4xf32>, %o: tensor<?xindex>",
                       "%0 = batch.segment_broadcast %a by %o : "
                       "tensor<?x4xf32>, tensor<?xindex>"),
            "0: (d0, d1) -> (d0, d1) of its task\n");
}

TEST_F(ElementSourcesTest, LinalgOpReadsThroughTheInverseOfItsOutputMap) {
  EXPECT_EQ(getSources("%a: tensor<?x4xf32>, %b: tensor<?x4x5xf32>",
                       "%0 = linalg.generic {indexing_maps = ["
                       "affine_map<(i, r, j) -> (r, j)>,"
                       "affine_map<(i, r, j) -> (r, j, i)>],"
                       "iterator_types = [\"parallel\", \"parallel\", "
                       "\"parallel\"]} ins(%a : tensor<?x4xf32>) "
                       "outs(%b : tensor<?x4x5xf32>) {\n"
                       "^bb0(%x: f32, %y: f32): linalg.yield %x : f32\n"
                       "} -> tensor<?x4x5xf32>"),
            "0: (d0, d1, d2) -> (d0, d1)\n");
}

TEST_F(ElementSourcesTest, ElementwiseOpReadsTheSameElementOfEachOperand) {
  EXPECT_EQ(getSources("%a: tensor<?x4xf32>",
                       "%0 = arith.addf %a, %a : tensor<?x4xf32>"),
            "0: (d0, d1) -> (d0, d1)\n1: (d0, d1) -> (d0, d1)\n");
}

TEST_F(ElementSourcesTest, WhatHasNoStorageReadsNothing) {
  EXPECT_EQ(getSources("%a: f32", "%0 = tensor.splat %a[%n] : tensor<?x4xf32>"),
            "");
}
