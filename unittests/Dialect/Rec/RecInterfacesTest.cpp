//===- RecInterfacesTest.cpp - Interfaces of all ops of rec ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using rec::ValueFlowEdge;

namespace {

class RecInterfacesTest : public ::testing::Test {
protected:
  RecInterfacesTest() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<func::FuncDialect, rec::RecDialect>();
  }

  /// Returns the edges of all ops in the function body `body`, one per line.
  std::string getEdges(StringRef body) {
    std::string source = R"(
      rec.adt @Words {
        rec.variant @end()
        rec.variant @word(word: index, rest: !rec.adt<@Words>)
      }
      func.func @f(%n: index, %w: !rec.adt<@Words>, %l: !rec.list<index>) {)" +
                         body.str() + "\n return }";
    auto module = parseSourceString<ModuleOp>(source, &context);
    EXPECT_TRUE(module);
    if (!module)
      return "";
    std::string text;
    llvm::raw_string_ostream os(text);
    SymbolTableCollection symbols;
    AsmState state(*module);
    module->walk<WalkOrder::PreOrder>([&](rec::ValueFlowOpInterface op) {
      SmallVector<ValueFlowEdge> edges;
      op.getValueFlow(symbols, edges);
      for (ValueFlowEdge edge : edges) {
        static constexpr const char *kinds[] = {"same",    "element", "gather",
                                                "read",    "build",   "decide",
                                                "compute", "count"};
        os << kinds[edge.kind] << ' ';
        edge.from.printAsOperand(os, state);
        if (edge.to)
          edge.to.printAsOperand(os << " -> ", state);
        if (edge.variant)
          os << " " << edge.variant.getFieldName(edge.field);
        os << '\n';
      }
    });
    return text;
  }

  MLIRContext context;
};

TEST_F(RecInterfacesTest, EveryOpSaysHowValuesFlow) {
  unsigned count = 0;
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("rec")) {
    EXPECT_TRUE(name.hasInterface<rec::ValueFlowOpInterface>() ||
                name.hasInterface<RegionBranchOpInterface>() ||
                name.hasTrait<OpTrait::IsTerminator>() ||
                name.hasInterface<SymbolOpInterface>())
        << name.getStringRef().str() << " does not say how values flow";
    ++count;
  }
  EXPECT_GE(count, 10u);
}

TEST_F(RecInterfacesTest, ControlSaysWhereItGoes) {
  for (StringRef name : {"rec.match", "rec.map", "rec.fold"})
    EXPECT_TRUE(
        OperationName(name, &context).hasInterface<RegionBranchOpInterface>());
  for (StringRef name : {"rec.map", "rec.fold"})
    EXPECT_TRUE(
        OperationName(name, &context).hasInterface<LoopLikeOpInterface>());
}

TEST_F(RecInterfacesTest, WhatFieldsAreBuiltOf) {
  EXPECT_EQ(getEdges("%0 = rec.construct @Words::@word(%n, %w)"
                     " : (index, !rec.adt<@Words>) -> !rec.adt<@Words>"),
            "build %arg0 -> %0 word\n"
            "build %arg1 -> %0 rest\n");
}

TEST_F(RecInterfacesTest, WhatAMatchReads) {
  EXPECT_EQ(getEdges(R"(
    rec.match %w : !rec.adt<@Words> {
    case @end() {
    }
    case @word(%word: index, %rest: !rec.adt<@Words>) {
    } })"),
            "decide %arg1\n"
            "read %arg1 -> %arg3 word\n"
            "read %arg1 -> %arg4 rest\n");
}

TEST_F(RecInterfacesTest, TheElementsOfAListShapedValue) {
  EXPECT_EQ(
      getEdges("%0 = rec.elements %w : !rec.adt<@Words> -> !rec.list<index>"),
      "decide %arg1\n"
      "decide %arg1 rest\n"
      "read %arg1 -> %0 word\n"
      "read %arg1 -> %0 rest\n");
}

TEST_F(RecInterfacesTest, WhatAMapGathers) {
  EXPECT_EQ(getEdges(R"(
    %0 = rec.map %x in %l : !rec.list<index> -> !rec.list<index> {
      rec.yield %x : index
    })"),
            "element %arg2 -> %arg3\n"
            "gather %arg3 -> %0\n");
}

/// getValueFlow() of a fold returns no edges for the values that the fold
/// passes from one position to the next, because RegionBranchOpInterface
/// specifies these edges.
TEST_F(RecInterfacesTest, WhatAFoldWalks) {
  EXPECT_EQ(getEdges(R"(
    %0 = rec.fold %x in %l init(%a = %n) : !rec.list<index> -> index {
      rec.yield %x : index
    })"),
            "element %arg2 -> %arg4\n");
}

TEST_F(RecInterfacesTest, WhatAnAppendGathers) {
  EXPECT_EQ(getEdges(R"(
    %0 = rec.empty : !rec.list<index>
    %1 = rec.append %l, %n : !rec.list<index>)"),
            "same %arg2 -> %1\n"
            "gather %arg0 -> %1\n");
}

TEST_F(RecInterfacesTest, ALengthDependsOnNoElement) {
  EXPECT_EQ(getEdges("%0 = rec.length %l : !rec.list<index>"),
            "count %arg2 -> %0\n");
}

} // namespace
