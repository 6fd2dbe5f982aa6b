//===- RecursionToStackTest.cpp - Machines and programs agree -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineInterpreter.h"
#include "RandomPrograms.h"

#include "Batch/Transforms/Control/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::test;

namespace {

/// Mask of all optimizations. Bits 0 to 4 are the optimizations of section 3.2
/// of the paper on program-counter autobatching, in order. Bit 5 is tail calls.
constexpr unsigned kAll = 63;
constexpr unsigned kTailCalls = 32;

class RecursionToStackTest : public ::testing::Test {
protected:
  RecursionToStackTest() {
    context
        .loadDialect<BatchDialect, arith::ArithDialect, cf::ControlFlowDialect,
                     func::FuncDialect, scf::SCFDialect>();
  }

  /// Compiles `program` to a machine. Returns null after a failure.
  OwningOpRef<ModuleOp> compile(StringRef program, unsigned optimizations) {
    auto module = parseSourceString<ModuleOp>(program, &context);
    if (!module)
      return {};
    RecursionToStackPassOptions options;
    options.liveSaves = optimizations & 1;
    options.temporaries = optimizations & 2;
    options.neededStacks = optimizations & 4;
    options.cachedTops = optimizations & 8;
    options.tailCalls = optimizations & kTailCalls;
    PassManager passes(&context);
    passes.addPass(createRecursionToStackPass(options));
    if (optimizations & 16)
      passes.addPass(createCancelPopsPass());
    if (failed(passes.run(*module)))
      return {};
    return module;
  }

  /// Runs the machine on integers and returns its results. Stores the memory
  /// traffic in `traffic`.
  std::vector<int64_t> run(StringRef program, unsigned optimizations,
                           ArrayRef<int64_t> arguments) {
    auto module = compile(program, optimizations);
    if (!module)
      return {};
    auto machine = *module->getOps<MachineOp>().begin();
    traffic = {};
    return unpack(runMachine(machine, {}, pack(arguments), traffic));
  }

  /// Interprets the program directly, without converting it to a machine, and
  /// returns its results.
  std::vector<int64_t> interpret(StringRef program,
                                 ArrayRef<int64_t> arguments) {
    auto module = parseSourceString<ModuleOp>(program, &context);
    if (!module)
      return {};
    auto entry = cast<func::FuncOp>(lookupEntry(*module).getOperation());
    return unpack(callFunction(entry, pack(arguments)));
  }

  /// Runs the program with every combination of optimizations, and compares the
  /// results with `expected`.
  void expect(StringRef program, ArrayRef<int64_t> arguments,
              const std::vector<int64_t> &expected) {
    EXPECT_EQ(interpret(program, arguments), expected);
    for (unsigned optimizations = 0; optimizations <= kAll; ++optimizations)
      EXPECT_EQ(run(program, optimizations, arguments), expected)
          << "optimizations " << optimizations;
  }

private:
  Values pack(ArrayRef<int64_t> integers) {
    Values values;
    for (int64_t integer : integers)
      values.push_back(Builder(&context).getI64IntegerAttr(integer));
    return values;
  }

  static std::vector<int64_t> unpack(const FailureOr<Values> &values) {
    std::vector<int64_t> integers;
    if (succeeded(values))
      for (Attribute value : *values)
        integers.push_back(cast<IntegerAttr>(value).getInt());
    return integers;
  }

protected:
  MLIRContext context;
  Traffic traffic;
};

constexpr StringLiteral kFib = R"mlir(
func.func @fib(%n: i64) -> i64 {
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %leaf = arith.cmpi slt, %n, %two : i64
  %r = scf.if %leaf -> i64 {
    scf.yield %n : i64
  } else {
    %n1 = arith.subi %n, %one : i64
    %n2 = arith.subi %n, %two : i64
    %a = func.call @fib(%n1) : (i64) -> i64
    %b = func.call @fib(%n2) : (i64) -> i64
    %s = arith.addi %a, %b : i64
    scf.yield %s : i64
  }
  return %r : i64
}
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %r = func.call @fib(%n) : (i64) -> i64
  return %r : i64
})mlir";

// Two calls. The result of the first one is live during the second one.
TEST_F(RecursionToStackTest, Fib) { expect(kFib, {9}, {34}); }

// Mutual recursion, with calls in arguments of tail calls.
TEST_F(RecursionToStackTest, Ackermann) {
  expect(R"mlir(
func.func @ack(%m: i64, %n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %base = arith.cmpi eq, %m, %zero : i64
  cf.cond_br %base, ^done, ^more
^done:
  %next = arith.addi %n, %one : i64
  return %next : i64
^more:
  %r = func.call @down(%n, %m) : (i64, i64) -> i64
  return %r : i64
}
func.func @down(%n: i64, %m: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %less = arith.subi %m, %one : i64
  %last = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %last, ^simple, ^nested
^simple:
  %r = func.call @ack(%less, %one) : (i64, i64) -> i64
  return %r : i64
^nested:
  %fewer = arith.subi %n, %one : i64
  %inner = func.call @ack(%m, %fewer) : (i64, i64) -> i64
  %s = func.call @ack(%less, %inner) : (i64, i64) -> i64
  return %s : i64
}
func.func @main(%m: i64, %n: i64) -> i64 attributes {batch.entry} {
  %r = func.call @ack(%m, %n) : (i64, i64) -> i64
  return %r : i64
})mlir",
         {2, 3}, {9});
}

// f(b, a): all arguments are read before any is written.
TEST_F(RecursionToStackTest, SwappedArguments) {
  expect(R"mlir(
func.func @f(%n: i64, %a: i64, %b: i64) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %done = arith.cmpi eq, %n, %zero : i64
  %r:2 = scf.if %done -> (i64, i64) {
    scf.yield %a, %b : i64, i64
  } else {
    %m = arith.subi %n, %one : i64
    %s:2 = func.call @f(%m, %b, %a) : (i64, i64, i64) -> (i64, i64)
    %x = arith.addi %s#0, %a : i64
    scf.yield %x, %s#1 : i64, i64
  }
  return %r#0, %r#1 : i64, i64
}
func.func @main(%a: i64, %b: i64) -> (i64, i64) attributes {batch.entry} {
  %three = arith.constant 3 : i64
  %r:2 = func.call @f(%three, %a, %b) : (i64, i64, i64) -> (i64, i64)
  return %r#0, %r#1 : i64, i64
})mlir",
         {10, 1}, {1 + 10 + 1 + 10, 10});
}

// The entry calls itself. It returns its results in the declared order.
TEST_F(RecursionToStackTest, RecursiveEntry) {
  expect(R"mlir(
func.func @main(%n: i64, %x: i64) -> (i64, i64) attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %done = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %done, ^stop, ^go
^stop:
  return %x, %n : i64, i64
^go:
  %m = arith.subi %n, %one : i64
  %y = arith.muli %x, %n : i64
  %r:2 = func.call @main(%m, %y) : (i64, i64) -> (i64, i64)
  return %r#1, %r#0 : i64, i64
})mlir",
         {5, 1}, {0, 120});
}

// A tail call with swapped and unchanged arguments.
TEST_F(RecursionToStackTest, TailCalls) {
  StringRef program = R"mlir(
func.func @gcd(%a: i64, %b: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %done = arith.cmpi eq, %b, %zero : i64
  %r = scf.if %done -> i64 {
    scf.yield %a : i64
  } else {
    %c = arith.remsi %a, %b : i64
    %g = func.call @gcd(%b, %c) : (i64, i64) -> i64
    scf.yield %g : i64
  }
  return %r : i64
}
func.func @main(%a: i64, %b: i64) -> i64 attributes {batch.entry} {
  %r = func.call @gcd(%a, %b) : (i64, i64) -> i64
  return %r : i64
})mlir";
  expect(program, {1071, 462}, {21});
  run(program, kAll, {1071, 462});
  EXPECT_EQ(traffic.calls, 0);
  run(program, kAll & ~kTailCalls, {1071, 462});
  EXPECT_EQ(traffic.calls, 4);
}

// A loop with calls. The loop's values are live across the calls.
TEST_F(RecursionToStackTest, RecursionInLoop) {
  StringRef program = R"mlir(
func.func @count(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %sum:2 = scf.while (%i = %zero, %s = %one) : (i64, i64) -> (i64, i64) {
    %more = arith.cmpi slt, %i, %n : i64
    scf.condition(%more) %i, %s : i64, i64
  } do {
  ^bb0(%i: i64, %s: i64):
    %c = func.call @count(%i) : (i64) -> i64
    %t = arith.addi %s, %c : i64
    %j = arith.addi %i, %one : i64
    scf.yield %j, %t : i64, i64
  }
  return %sum#1 : i64
}
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %r = func.call @count(%n) : (i64) -> i64
  return %r : i64
})mlir";
  expect(program, {6}, {64});
}

// Block arguments that are swapped, and one that is set by both edges of a
// branch.
TEST_F(RecursionToStackTest, BranchArguments) {
  expect(R"mlir(
func.func @main(%n: i64, %a: i64, %b: i64) -> (i64, i64)
    attributes {batch.entry} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  cf.br ^loop(%n, %a, %b : i64, i64, i64)
^loop(%i: i64, %x: i64, %y: i64):
  %j = arith.subi %i, %one : i64
  %more = arith.cmpi sge, %j, %zero : i64
  cf.cond_br %more, ^loop(%j, %y, %x : i64, i64, i64), ^out(%y, %x : i64, i64)
^out(%p: i64, %q: i64):
  %big = arith.cmpi slt, %p, %q : i64
  cf.cond_br %big, ^end(%p, %q : i64, i64), ^end(%q, %y : i64, i64)
^end(%u: i64, %v: i64):
  %w = arith.subi %v, %x : i64
  return %u, %w : i64, i64
})mlir",
         {3, 5, 7}, {5, 7 - 7});
}

TEST_F(RecursionToStackTest, Switch) {
  StringRef program = R"mlir(
func.func @f(%n: index, %x: i64) -> i64 {
  %one = arith.constant 1 : i64
  %one_index = arith.constant 1 : index
  %r = scf.index_switch %n -> i64
  case 0 {
    scf.yield %x : i64
  }
  case 2 {
    %m = arith.subi %n, %one_index : index
    %y = func.call @f(%m, %one) : (index, i64) -> i64
    %z = arith.addi %x, %y : i64
    scf.yield %z : i64
  }
  default {
    %m = arith.subi %n, %one_index : index
    %d = arith.addi %x, %x : i64
    %y = func.call @f(%m, %d) : (index, i64) -> i64
    scf.yield %y : i64
  }
  return %r : i64
}
func.func @main(%n: i64, %x: i64) -> i64 attributes {batch.entry} {
  %m = arith.index_cast %n : i64 to index
  %r = func.call @f(%m, %x) : (index, i64) -> i64
  return %r : i64
})mlir";
  expect(program, {0, 3}, {3});
  expect(program, {4, 3}, {3 * 4 + 2});
}

// Each optimization of section 3.2 reduces stack traffic by itself. Each one
// except `temporaries` also reduces it in addition to the others. In this case,
// `temporaries` reduces the traffic of tops.
TEST_F(RecursionToStackTest, Traffic) {
  StringRef program = R"mlir(
func.func @f(%n: i64, %a: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %leaf = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %leaf, ^done, ^more
^done:
  return %a : i64
^more:
  %m = arith.subi %n, %one : i64
  %p = arith.muli %a, %a : i64
  %b = arith.addi %a, %one : i64
  %q = func.call @f(%m, %b) : (i64, i64) -> i64
  %r = func.call @f(%m, %q) : (i64, i64) -> i64
  %s = arith.addi %p, %r : i64
  return %s : i64
}
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %two = arith.constant 2 : i64
  %x = func.call @f(%two, %n) : (i64, i64) -> i64
  %y = func.call @f(%two, %x) : (i64, i64) -> i64
  %s = arith.subi %y, %x : i64
  return %s : i64
})mlir";
  auto expected = interpret(program, {2});
  ASSERT_EQ(expected.size(), 1u);
  auto bytes = [&](unsigned optimizations) {
    EXPECT_EQ(run(program, optimizations, {2}), expected);
    EXPECT_EQ(traffic.pushes, traffic.pops);
    return traffic.stackBytes;
  };
  int64_t none = bytes(0), all = bytes(kAll);
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_LT(bytes(1 << i), none) << "optimization " << i + 1;
    // A value that is live only within a step is not live across calls, so it
    // never causes stack traffic.
    if (i != 1) {
      EXPECT_GT(bytes(kAll & ~(1u << i)), all) << "without " << i + 1;
    }
  }
  bytes(kAll);
  int64_t tops = traffic.topBytes;
  EXPECT_EQ(bytes(kAll & ~2u), all);
  EXPECT_GT(traffic.topBytes, tops);
}

// Without recursion there are no stacks.
TEST_F(RecursionToStackTest, NoStacks) {
  StringRef program = R"mlir(
func.func @square(%x: i64) -> i64 {
  %y = arith.muli %x, %x : i64
  return %y : i64
}
func.func @main(%n: i64) -> i64 attributes {batch.entry} {
  %a = func.call @square(%n) : (i64) -> i64
  %b = func.call @square(%a) : (i64) -> i64
  %c = arith.addi %a, %b : i64
  return %c : i64
})mlir";
  expect(program, {3}, {90});
  run(program, kAll, {3});
  EXPECT_EQ(traffic.stackBytes, 0);
  EXPECT_EQ(traffic.calls, 2);
}

TEST_F(RecursionToStackTest, RandomPrograms) {
  unsigned count = std::getenv("BATCH_LONG_TESTS") ? 2000 : 40;
  for (unsigned seed = 0; seed < count; ++seed) {
    std::string program = makeRandomProgram(seed);
    auto expected = interpret(program, {seed + 3, 5});
    ASSERT_EQ(expected.size(), 2u) << program;
    // Enable tail calls only for every other program, to halve the time.
    unsigned tailCalls = seed % 2 == 0 ? 0 : kTailCalls;
    for (unsigned optimizations = 0; optimizations < 32; ++optimizations)
      ASSERT_EQ(run(program, optimizations | tailCalls, {seed + 3, 5}),
                expected)
          << "seed " << seed << ", optimizations " << optimizations << "\n"
          << program;
  }
}

} // namespace
