//===- SCFToCFTest.cpp - Work of the lowering of scf ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/SCFToCF/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
/// Counts the ops that a lowering creates or moves.
struct Counter : RewriterBase::Listener {
  void notifyOperationInserted(Operation *, OpBuilder::InsertPoint) override {
    ++count;
  }
  int64_t count = 0;
};
} // namespace

/// Counts the ops created or moved for `number` consecutive loops that each
/// contain a branch.
static int64_t countMoves(int number) {
  std::string text = "func.func @f(%x: i64, %c: i1) -> i64 {\n"
                     "  %v0 = arith.addi %x, %x : i64\n";
  for (int i = 0; i < number; ++i) {
    const std::string here = std::to_string(i);
    text += "  %w" + here + " = scf.while (%h = %v" + here +
            ") : (i64) -> i64 {\n"
            "    scf.condition(%c) %h : i64\n"
            "  } do {\n"
            "  ^bb0(%h: i64):\n"
            "    %n = scf.if %c -> i64 {\n"
            "      scf.yield %h : i64\n"
            "    } else {\n"
            "      %m = arith.addi %h, %x : i64\n"
            "      scf.yield %m : i64\n"
            "    }\n"
            "    scf.yield %n : i64\n"
            "  }\n"
            "  %v" +
            std::to_string(i + 1) + " = arith.addi %w" + here + ", %x : i64\n";
  }
  text += "  return %v" + std::to_string(number) + " : i64\n}\n";
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, scf::SCFDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  Counter counter;
  EXPECT_TRUE(succeeded(batch::lowerSCFToCF(*module, &counter)));
  EXPECT_TRUE(succeeded(verify(*module)));
  bool hasControl = false;
  module->walk([&](Operation *op) {
    hasControl |= isa<scf::SCFDialect>(op->getDialect());
  });
  EXPECT_FALSE(hasControl);
  return counter.count;
}

// The number of created and moved ops grows linearly with the number of loops.
TEST(SCFToCF, WorkIsLinear) {
  const int64_t one = countMoves(10), more = countMoves(20);
  EXPECT_EQ(countMoves(40) - more, 2 * (more - one));
}
