//===- BankConflictsTest.cpp - Lanes read different banks -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared memory has 32 banks of 4 bytes and delivers 128 bytes at a time. It
// handles 8 lanes at a time if each accesses 16 bytes, and 16 lanes if each
// accesses 8 bytes. Lanes that access different words of one bank wait for each
// other.
//
//===----------------------------------------------------------------------===//

#include "Fragments.h"
#include "ResidentParameters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "gtest/gtest.h"
#include <functional>
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::uprog;
using batch::Precision;

namespace {
constexpr int64_t kLanes = 32, kBanks = 32;

/// Returns the number of turns beyond the minimum that shared memory needs for
/// a warp. Each lane accesses `bytes` bytes at `address(lane)`.
int64_t countConflicts(int64_t bytes, std::function<int64_t(int64_t)> address) {
  int64_t lanesPerTurn = std::min(kLanes, kBanks * 4 / bytes), conflicts = 0;
  for (int64_t first = 0; first < kLanes; first += lanesPerTurn) {
    std::map<int64_t, std::set<int64_t>> wordsOf;
    for (int64_t lane = first; lane < first + lanesPerTurn; ++lane)
      for (int64_t at = 0; at < std::max<int64_t>(bytes, 4); at += 4) {
        int64_t word = (address(lane) + at) / 4;
        wordsOf[word % kBanks].insert(word);
      }
    size_t most = 0;
    for (const auto &[bank, words] : wordsOf)
      most = std::max(most, words.size());
    conflicts += most - 1;
  }
  return conflicts;
}

class BankConflictsTest : public ::testing::Test {
protected:
  BankConflictsTest() : b(UnknownLoc::get(&context), &context), m(b) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    b.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(b, "f", b.getFunctionType({}, {}));
    b.beginFunction(function);
  }

  int64_t number(Value value) {
    APInt constant;
    EXPECT_TRUE(matchPattern(value, m_ConstantInt(&constant)));
    return constant.getSExtValue();
  }

  FactorFormat format(Precision precision, bool isDouble = false) {
    return {isDouble ? Type(b.getF64Type()) : Type(b.getF32Type()), precision};
  }

  /// Returns the number of conflicts of a warp that reads rows or columns of a
  /// factor. Each row or column begins `stride` bytes after the previous one.
  /// On tensor cores, each lane reads a vector of a row or column; otherwise,
  /// all lanes read the same row or column.
  int64_t countLoads(const FactorFormat &format, int64_t stride) {
    return countConflicts(FactorFormat::kVectorBytes, [&](int64_t lane) {
      if (!format.usesTensorCores())
        return lane * FactorFormat::kVectorBytes;
      Fragments fragments(b, m, m.constant(lane));
      return number(fragments.getColumn()) * stride +
             number(fragments.getMember()) * FactorFormat::kVectorBytes;
    });
  }

  /// Returns the number of conflicts of a warp that copies pieces of `bytes`
  /// bytes to rows or columns. Each row or column has `pieces` pieces and
  /// begins `stride` bytes after the previous one. The result is that of the
  /// worst warp of a block.
  int64_t countStores(int64_t bytes, int64_t pieces, int64_t stride) {
    int64_t most = 0;
    for (int64_t first = 0; first < 256; first += kLanes)
      most = std::max(most, countConflicts(bytes, [&](int64_t lane) {
                        int64_t i = first + lane;
                        return i / pieces * stride + i % pieces * bytes;
                      }));
    return most;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  CodeBuilder b;
  WordMath m;
};
} // namespace

TEST_F(BankConflictsTest, Counts) {
  EXPECT_EQ(countConflicts(4, [](int64_t lane) { return 4 * lane; }), 0);
  EXPECT_EQ(countConflicts(4, [](int64_t lane) { return 8 * lane; }), 1);
  EXPECT_EQ(countConflicts(4, [](int64_t lane) { return 128 * lane; }), 31);
  EXPECT_EQ(countConflicts(4, [](int64_t) { return 64; }), 0);
  EXPECT_EQ(countConflicts(16, [](int64_t lane) { return 16 * lane; }), 0);
  // In each of four groups of eight lanes, 64 bytes of two columns are in the
  // same banks.
  EXPECT_EQ(
      countConflicts(
          16, [](int64_t lane) { return lane / 4 * 1024 + lane % 4 * 16; }),
      4);
}

// Loads of resident parameters and of rows have no conflicts. In f32 and f64,
// lanes read adjacent vectors of a column or row, regardless of the stride.
TEST_F(BankConflictsTest, ResidentParametersAndRowsHaveNone) {
  for (Precision precision : {Precision::F32, Precision::TF32, Precision::BF16})
    for (bool isDouble : {false, true}) {
      if (isDouble && precision != Precision::F32)
        continue;
      FactorFormat factors = format(precision, isDouble);
      for (int64_t depth = 1; depth <= 1100; ++depth) {
        ResidentMatrix matrix{PackedAttr(), 64, depth, factors};
        EXPECT_EQ(matrix.stride() % FactorFormat::kVectorBytes, 0);
        EXPECT_EQ(countLoads(factors, matrix.stride()), 0)
            << "resident parameters, " << factors.bytes() << " bytes, k "
            << depth;
        // Here, `depth` is the sum of the lengths of the segments of a row.
        EXPECT_EQ(countLoads(factors, factors.stride(depth)), 0)
            << "rows, " << factors.bytes() << " bytes, k " << depth;
      }
    }
}

// With the sizes of models, copies to shared memory have no conflicts either.
TEST_F(BankConflictsTest, CopiesHaveNone) {
  for (Precision precision :
       {Precision::F32, Precision::TF32, Precision::BF16}) {
    FactorFormat factors = format(precision);
    for (int64_t depth : {64, 128, 256, 512, 1024}) {
      ResidentMatrix matrix{PackedAttr(), 64, depth, factors};
      int64_t share = std::min(depth, factors.share());
      EXPECT_EQ(countStores(4 * factors.bytes(), share / 4, matrix.stride()), 0)
          << "resident parameters, " << factors.bytes() << " bytes, k "
          << depth;
      EXPECT_EQ(
          countStores(4 * factors.bytes(), depth / 4, factors.stride(depth)), 0)
          << "rows, " << factors.bytes() << " bytes, k " << depth;
    }
  }
}

// Lanes store every other word of the sums of tensor cores, so each store takes
// two turns. This costs little: a share has only four such stores, but loads
// for 256 elements along k.
TEST_F(BankConflictsTest, SumsOfTensorCoresHaveOne) {
  for (int64_t sum = 0; sum < 4; ++sum)
    EXPECT_EQ(countConflicts(4,
                             [&](int64_t lane) {
                               Fragments fragments(b, m, m.constant(lane));
                               return 4 * number(fragments.getElement(sum));
                             }),
              1);
}
