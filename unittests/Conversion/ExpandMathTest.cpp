//===- ExpandMathTest.cpp - Accuracy of exp, tanh and log -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the expansions in memory and compares them with the host's functions
// in double, over the whole range of floats.
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/ExpandMath.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;

namespace {

constexpr int kBlock = 4096;

/// `name_16`, `name_4` and `name_1` apply a function to 4096 floats in place,
/// 16, 4 or 1 at a time.
std::string loopSource(StringRef name, int width, StringRef body) {
  std::string type =
      width == 1 ? "f32" : "vector<" + std::to_string(width) + "xf32>";
  std::string source = R"(
    llvm.func @NAME_WIDTH(%data: !llvm.ptr) attributes {llvm.emit_c_interface} {
      %zero = llvm.mlir.constant(0 : i64) : i64
      %step = llvm.mlir.constant(WIDTH : i64) : i64
      %end = llvm.mlir.constant(4096 : i64) : i64
      llvm.br ^loop(%zero : i64)
    ^loop(%i: i64):
      %p = llvm.getelementptr %data[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> TYPE
      BODY
      llvm.store %y, %p {alignment = 4 : i64} : TYPE, !llvm.ptr
      %next = llvm.add %i, %step : i64
      %more = llvm.icmp "slt" %next, %end : i64
      llvm.cond_br %more, ^loop(%next : i64), ^done
    ^done:
      llvm.return
    })";
  auto replace = [&](StringRef from, StringRef to) {
    for (size_t at; (at = source.find(from)) != std::string::npos;)
      source.replace(at, from.size(), to);
  };
  replace("BODY", body);
  replace("NAME", name);
  replace("WIDTH", std::to_string(width));
  replace("TYPE", type);
  return source;
}

class ExpandMathTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    context = new MLIRContext(MLIRContext::Threading::DISABLED);
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    vector::VectorDialect, LLVM::LLVMDialect>();
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    context->appendDialectRegistry(registry);

    std::string source;
    for (int width : {1, 4, 16}) {
      source += loopSource("exp", width, "%y = math.exp %x : TYPE");
      source += loopSource("tanh", width, "%y = math.tanh %x : TYPE");
      source += loopSource("log", width, "%y = math.log %x : TYPE");
      std::string one = width == 1 ? "1.0" : "dense<1.0>";
      source += loopSource("sigmoid", width,
                           "%one = arith.constant " + one + R"( : TYPE
                           %n = arith.negf %x : TYPE
                           %e = math.exp %n : TYPE
                           %d = arith.addf %e, %one : TYPE
                           %y = arith.divf %one, %d : TYPE)");
    }
    module = parseSourceString<ModuleOp>(source, context).release();
    ASSERT_TRUE(module);

    RewritePatternSet patterns(context);
    batch::populateExpandMathPatterns(patterns);
    walkAndApplyPatterns(module, FrozenRewritePatternSet(std::move(patterns)));
    module.walk([](Operation *op) {
      ASSERT_FALSE((isa<math::ExpOp, math::TanhOp, math::LogOp>(op)));
    });

    PassManager pm(context);
    pm.addPass(createConvertMathToLLVMPass());
    pm.addPass(createArithToLLVMConversionPass());
    pm.addPass(createConvertVectorToLLVMPass());
    pm.addPass(createReconcileUnrealizedCastsPass());
    ASSERT_TRUE(succeeded(pm.run(module)));

    ExecutionEngineOptions options;
    options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
    auto made = ExecutionEngine::create(module, options);
    ASSERT_TRUE(static_cast<bool>(made));
    engine = made->release();
  }

  static void TearDownTestSuite() {
    delete engine;
    module.erase();
    delete context;
  }

  using Function = void (*)(float *);
  static Function lookup(StringRef name, int width) {
    auto found = engine->lookup((name + "_" + std::to_string(width)).str());
    EXPECT_TRUE(static_cast<bool>(found));
    return found ? reinterpret_cast<Function>(*found) : nullptr;
  }

  /// The value of a function at one point.
  static float at(StringRef name, float x, int width = 16) {
    std::vector<float> data(kBlock, x);
    lookup(name, width)(data.data());
    return data[5];
  }

  /// Largest relative error where the result is normal, largest absolute error
  /// (in steps of the smallest subnormal) where it is not, over floats that are
  /// `stride` apart.
  static void measure(StringRef name, double (*reference)(double),
                      double &relative, double &subnormal) {
    constexpr uint64_t stride = 257;
    constexpr double smallest = std::numeric_limits<float>::min();
    constexpr double step = std::numeric_limits<float>::denorm_min();
    constexpr double largest = std::numeric_limits<float>::max();
    Function function = lookup(name, 16);
    relative = subnormal = 0;
    std::vector<float> xs(kBlock), ys(kBlock);
    for (uint64_t base = 0; base <= UINT32_MAX; base += stride * kBlock) {
      for (int i = 0; i < kBlock; ++i) {
        auto bits = static_cast<uint32_t>(base + i * stride);
        std::memcpy(&xs[i], &bits, sizeof(bits));
      }
      ys = xs;
      function(ys.data());
      for (int i = 0; i < kBlock; ++i) {
        double y = ys[i], exact = reference(xs[i]);
        if (std::isnan(exact)) {
          ASSERT_TRUE(std::isnan(y)) << name.str() << " of NaN";
        } else if (std::abs(exact) > largest) {
          // The last half step before infinity may round either way.
          ASSERT_TRUE(std::isinf(y) || y >= largest)
              << name.str() << " " << xs[i];
        } else if (std::abs(exact) >= smallest) {
          relative = std::max(relative, std::abs(y - exact) / std::abs(exact));
        } else {
          subnormal = std::max(subnormal, std::abs(y - exact) / step);
        }
      }
    }
    RecordProperty(name.str() + "_relative", std::to_string(relative));
    printf("%s: relative error %.3g, subnormal error %.3g steps\n",
           name.str().c_str(), relative, subnormal);
  }

  static MLIRContext *context;
  static ModuleOp module;
  static ExecutionEngine *engine;
};

MLIRContext *ExpandMathTest::context = nullptr;
ModuleOp ExpandMathTest::module;
ExecutionEngine *ExpandMathTest::engine = nullptr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST_F(ExpandMathTest, ExpOverTheWholeRange) {
  double relative, subnormal;
  measure("exp", [](double x) { return std::exp(x); }, relative, subnormal);
  EXPECT_LE(relative, 1e-6);
  EXPECT_LE(subnormal, 1.0);
}

TEST_F(ExpandMathTest, TanhOverTheWholeRange) {
  double relative, subnormal;
  measure("tanh", [](double x) { return std::tanh(x); }, relative, subnormal);
  EXPECT_LE(relative, 1e-6);
  EXPECT_LE(subnormal, 1.0);
}

TEST_F(ExpandMathTest, LogOverTheWholeRange) {
  double relative, subnormal;
  measure("log", [](double x) { return std::log(x); }, relative, subnormal);
  EXPECT_LE(relative, 1e-6);
  EXPECT_LE(subnormal, 1.0);
}

TEST_F(ExpandMathTest, SigmoidOverTheWholeRange) {
  double relative, subnormal;
  measure(
      "sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, relative,
      subnormal);
  EXPECT_LE(relative, 1e-6);
  // exp(-x) is already infinite there, where the exact result is subnormal.
  EXPECT_LE(subnormal, double(1 << 23));
}

TEST_F(ExpandMathTest, SpecialValuesAreExact) {
  for (int width : {1, 4, 16}) {
    EXPECT_TRUE(std::isnan(at("exp", kNaN, width)));
    EXPECT_EQ(at("exp", kInfinity, width), kInfinity);
    EXPECT_EQ(at("exp", -kInfinity, width), 0.0f);
    EXPECT_EQ(at("exp", 0.0f, width), 1.0f);
    EXPECT_EQ(at("exp", -0.0f, width), 1.0f);
    EXPECT_EQ(at("exp", 89.0f, width), kInfinity);
    EXPECT_EQ(at("exp", 3.4e38f, width), kInfinity);
    EXPECT_EQ(at("exp", -104.0f, width), 0.0f);
    EXPECT_EQ(at("exp", -3.4e38f, width), 0.0f);
    EXPECT_TRUE(std::isnan(at("tanh", kNaN, width)));
    EXPECT_EQ(at("tanh", kInfinity, width), 1.0f);
    EXPECT_EQ(at("tanh", -kInfinity, width), -1.0f);
    EXPECT_EQ(at("tanh", 0.0f, width), 0.0f);
    EXPECT_FALSE(std::signbit(at("tanh", 0.0f, width)));
    EXPECT_EQ(at("tanh", -0.0f, width), 0.0f);
    EXPECT_TRUE(std::signbit(at("tanh", -0.0f, width)));
    EXPECT_EQ(at("tanh", 1e-45f, width), 1e-45f);
    EXPECT_TRUE(std::isnan(at("log", kNaN, width)));
    EXPECT_TRUE(std::isnan(at("log", -1.0f, width)));
    EXPECT_TRUE(std::isnan(at("log", -kInfinity, width)));
    EXPECT_EQ(at("log", kInfinity, width), kInfinity);
    EXPECT_EQ(at("log", 0.0f, width), -kInfinity);
    EXPECT_EQ(at("log", -0.0f, width), -kInfinity);
    EXPECT_EQ(at("log", 1.0f, width), 0.0f);
    EXPECT_EQ(at("sigmoid", kInfinity, width), 1.0f);
    EXPECT_EQ(at("sigmoid", -kInfinity, width), 0.0f);
    EXPECT_EQ(at("sigmoid", 0.0f, width), 0.5f);
  }
}

TEST_F(ExpandMathTest, TanhNeverLeavesTheUnitInterval) {
  std::vector<float> data(kBlock);
  for (int start = 0; start < 12 * kBlock; start += kBlock) {
    for (int i = 0; i < kBlock; ++i)
      data[i] = float(start + i) / kBlock;
    lookup("tanh", 16)(data.data());
    for (float y : data)
      ASSERT_LE(y, 1.0f);
  }
}

TEST_F(ExpandMathTest, BitsDoNotDependOnTheWidth) {
  for (StringRef name : {"exp", "tanh", "log", "sigmoid"}) {
    std::vector<float> xs(kBlock);
    // Odd multiples of a large odd number meet every exponent and sign.
    for (uint32_t round = 0; round < 64; ++round) {
      for (uint32_t i = 0; i < kBlock; ++i) {
        uint32_t bits = (round * kBlock + i) * 2654435761u;
        std::memcpy(&xs[i], &bits, sizeof(bits));
      }
      std::vector<float> wide = xs, narrow = xs, scalar = xs;
      lookup(name, 16)(wide.data());
      lookup(name, 4)(narrow.data());
      lookup(name, 1)(scalar.data());
      for (int i = 0; i < kBlock; ++i) {
        if (std::isnan(wide[i]) && std::isnan(narrow[i]) &&
            std::isnan(scalar[i]))
          continue;
        ASSERT_EQ(std::memcmp(&wide[i], &scalar[i], 4), 0) << xs[i];
        ASSERT_EQ(std::memcmp(&narrow[i], &scalar[i], 4), 0) << xs[i];
      }
    }
  }
}

} // namespace
