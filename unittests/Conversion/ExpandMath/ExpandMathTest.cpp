//===- ExpandMathTest.cpp - Accuracy of exp, log, sin and others ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the expansions in memory and compares them with the host's functions
// in the next wider type: f32 over the whole range of floats, f64 at millions
// of points.
//
//===----------------------------------------------------------------------===//

#include "CompiledMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::batch;

namespace {

constexpr int kBlock = 4096;

/// The sizes of the vectors for which functions are compiled; 1 for scalars.
template <typename T>
constexpr int kWidths[] = {1, 16 / sizeof(T), 64 / sizeof(T)};

/// Returns the source of a function that applies `body` to numbers in place.
/// `body` computes %y from %x.
std::string inPlaceSource(StringRef name, StringRef element, int width,
                          const Twine &body) {
  std::string code = (R"(
      %p = llvm.getelementptr %data[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELEMENT
      %x = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> TYPE
      )" + body + R"(
      llvm.store %y, %p {alignment = 4 : i64} : TYPE, !llvm.ptr)")
                         .str();
  return loopSource(name, element, width, kBlock, "%data: !llvm.ptr", code);
}

const char *const kFunctions[] = {"cos",   "exp", "expm1", "log",
                                  "log1p", "sin", "tanh"};

class ExpandMathTest : public ::testing::Test {
protected:
  template <typename T>
  static std::string sources() {
    std::string source;
    for (int width : kWidths<T>) {
      for (StringRef name : kFunctions)
        source += inPlaceSource(name, Info<T>::name, width,
                                "%y = math." + name + " %x : TYPE");
      std::string one = width == 1 ? "1.0" : "dense<1.0>";
      source += inPlaceSource("sigmoid", Info<T>::name, width,
                              "%one = arith.constant " + one + R"( : TYPE
                           %n = arith.negf %x : TYPE
                           %e = math.exp %n : TYPE
                           %d = arith.addf %e, %one : TYPE
                           %y = arith.divf %one, %d : TYPE)");
    }
    return source;
  }

  static void SetUpTestSuite() {
    functions = std::make_unique<CompiledMath>();
    ASSERT_TRUE(
        succeeded(functions->expand(sources<float>() + sources<double>())));
    functions->getModule().walk([](Operation *op) {
      ASSERT_FALSE((isa<math::CosOp, math::ExpM1Op, math::ExpOp, math::Log1pOp,
                        math::LogOp, math::SinOp, math::TanhOp>(op)));
    });
    ASSERT_TRUE(succeeded(functions->compile()));
  }

  static void TearDownTestSuite() { functions.reset(); }

  template <typename T>
  using Function = void (*)(T *);
  template <typename T>
  static Function<T> lookup(StringRef name, int width = kWidths<T>[2]) {
    return reinterpret_cast<Function<T>>(
        functions->lookup(symbol(name, Info<T>::name, width)));
  }

  /// Returns the value of a function at one point.
  template <typename T>
  static T at(StringRef name, T x, int width) {
    std::vector<T> data(kBlock, x);
    lookup<T>(name, width)(data.data());
    return data[5];
  }

  /// The largest errors over the points of one measurement.
  struct Errors {
    double relative = 0;  ///< where the result is normal
    double subnormal = 0; ///< elsewhere, in steps of the smallest subnormal
    double absolute = 0;
  };

  /// Compares a function with its reference at blocks of points.
  template <typename T, typename Reference>
  class Measurement {
  public:
    Measurement(StringRef name, Reference reference)
        : name(name.str()), reference(reference), function(lookup<T>(name)) {}

    /// Measures at point(i) for each i in [0, count). `count` is rounded up to
    /// a multiple of kBlock.
    template <typename Point>
    void over(uint64_t count, Point point) {
      using Wide = typename Info<T>::Wide;
      constexpr T smallest = std::numeric_limits<T>::min();
      constexpr T largest = std::numeric_limits<T>::max();
      constexpr Wide step = std::numeric_limits<T>::denorm_min();
      std::vector<T> xs(kBlock), ys(kBlock);
      for (uint64_t base = 0; base < count; base += kBlock) {
        for (int i = 0; i < kBlock; ++i)
          xs[i] = point(base + i);
        ys = xs;
        function(ys.data());
        for (int i = 0; i < kBlock; ++i) {
          Wide y = ys[i], exact = reference(Wide(xs[i]));
          if (std::isnan(exact)) {
            ASSERT_TRUE(std::isnan(y)) << name << " " << xs[i];
            continue;
          }
          if (std::abs(exact) > largest) {
            // If the exact result exceeds the largest finite number, the
            // computed result may be that number or infinity.
            ASSERT_TRUE(std::isinf(y) || y >= largest) << name << " " << xs[i];
            continue;
          }
          Wide error = std::abs(y - exact);
          // A NaN must not count as a small error.
          ASSERT_FALSE(std::isnan(y)) << name << " " << xs[i];
          errors.absolute = std::max(errors.absolute, double(error));
          if (std::abs(exact) >= smallest)
            errors.relative =
                std::max(errors.relative, double(error / std::abs(exact)));
          else
            errors.subnormal = std::max(errors.subnormal, double(error / step));
        }
      }
    }

    /// Measures at numbers of all exponents and signs whose bit patterns differ
    /// by `stride`.
    void overBits(uint64_t stride) {
      uint64_t count = std::numeric_limits<typename Info<T>::Bits>::max();
      over(count / stride + 1,
           [&](uint64_t i) { return fromBits<T>(i * stride); });
    }
    /// Measures at `count` numbers from `low` to `high`, with no short period
    /// in their bits.
    void between(T low, T high, uint64_t count) {
      over(count, [&](uint64_t i) {
        uint64_t random = i * 0x9E3779B97F4A7C15;
        return T(low + (high - low) * (double(random >> 11) * 0x1p-53));
      });
    }
    /// Measures at numbers on both sides of `center`. Their distances from it
    /// fall from `scale` to almost `scale` * 2^-60.
    void around(T center, T scale) {
      over(2 * kBlock, [&](uint64_t i) {
        T distance = scale * std::exp2(-T(i % kBlock) * T(60) / kBlock);
        return i < kBlock ? center + distance : center - distance;
      });
    }

    Errors report() {
      printf("%s of %s: relative error %.3g, subnormal error %.3g steps, "
             "absolute error %.3g\n",
             name.c_str(), Info<T>::name, errors.relative, errors.subnormal,
             errors.absolute);
      return errors;
    }

  private:
    std::string name;
    Reference reference;
    Function<T> function;
    Errors errors;
  };

  /// Returns the errors over every 257th float.
  template <typename Reference>
  static Errors measureFloats(StringRef name, Reference reference) {
    Measurement<float, Reference> measurement(name, reference);
    measurement.overBits(257);
    return measurement.report();
  }

  /// Returns the errors over doubles of all exponents, from -bound to bound,
  /// from -1 to 1, and around some numbers.
  template <typename Reference>
  static Errors measureDoubles(StringRef name, double bound,
                               Reference reference) {
    Measurement<double, Reference> measurement(name, reference);
    measurement.overBits(0x00000F1234567891);
    measurement.between(-bound, bound, 1 << 20);
    measurement.between(-1.0, 1.0, 1 << 20);
    for (double center : {0.0, 1.0, -1.0, 0.5, std::sqrt(2.0), std::sqrt(0.5)})
      measurement.around(center, 0.4);
    return measurement.report();
  }

  static std::unique_ptr<CompiledMath> functions;
};

std::unique_ptr<CompiledMath> ExpandMathTest::functions;

// References compute in the type of their argument.
auto exactExp = [](auto x) { return std::exp(x); };
auto exactExpm1 = [](auto x) { return std::expm1(x); };
auto exactLog = [](auto x) { return std::log(x); };
auto exactLog1p = [](auto x) { return std::log1p(x); };
auto exactTanh = [](auto x) { return std::tanh(x); };
auto exactSin = [](auto x) { return std::sin(x); };
auto exactCos = [](auto x) { return std::cos(x); };
auto exactSigmoid = [](auto x) { return 1 / (1 + std::exp(-x)); };

TEST_F(ExpandMathTest, Floats) {
  auto expectSmall = [](Errors errors) {
    EXPECT_LE(errors.relative, 1e-6);
    EXPECT_LE(errors.subnormal, 1.0);
  };
  expectSmall(measureFloats("exp", exactExp));
  expectSmall(measureFloats("expm1", exactExpm1));
  expectSmall(measureFloats("log", exactLog));
  expectSmall(measureFloats("log1p", exactLog1p));
  expectSmall(measureFloats("tanh", exactTanh));
}

TEST_F(ExpandMathTest, Doubles) {
  auto expectSmall = [](Errors errors) {
    EXPECT_LE(errors.relative, 1e-15);
    EXPECT_LE(errors.subnormal, 1.0);
  };
  expectSmall(measureDoubles("exp", 750, exactExp));
  expectSmall(measureDoubles("expm1", 750, exactExpm1));
  expectSmall(measureDoubles("log", 1e6, exactLog));
  expectSmall(measureDoubles("log1p", 1e6, exactLog1p));
  expectSmall(measureDoubles("tanh", 25, exactTanh));
}

TEST_F(ExpandMathTest, Sigmoid) {
  Errors floats = measureFloats("sigmoid", exactSigmoid);
  EXPECT_LE(floats.relative, 1e-6);
  // Where the exact result is subnormal, exp(-x) may already be infinite. The
  // computed result is then 0.
  EXPECT_LE(floats.subnormal, double(1 << 23));
  Errors doubles = measureDoubles("sigmoid", 750, exactSigmoid);
  EXPECT_LE(doubles.relative, 1e-15);
}

TEST_F(ExpandMathTest, SineAndCosine) {
  auto measure = [](StringRef name, auto type, auto reference) {
    using T = decltype(type);
    Measurement<T, decltype(reference)> measurement(name, reference);
    for (T bound : {T(1), T(4), T(100), T(1e5), Info<T>::sineRange, T(1e30)})
      measurement.between(-bound, bound, 1 << 18);
    // Multiples of pi / 2 are the zeros and extremes of both functions.
    for (int i = -1000; i <= 1000; i += 25)
      measurement.around(T(i * 1.5707963267948966), T(0.1));
    return measurement.report();
  };
  EXPECT_LE(measure("sin", float(), exactSin).absolute, 1e-7);
  EXPECT_LE(measure("cos", float(), exactCos).absolute, 1e-7);
  EXPECT_LE(measure("sin", double(), exactSin).absolute, 2e-16);
  EXPECT_LE(measure("cos", double(), exactCos).absolute, 2e-16);
}

template <typename T, typename At>
void expectSpecialValues(At at) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  constexpr T largest = std::numeric_limits<T>::max();
  constexpr T step = std::numeric_limits<T>::denorm_min();
  for (StringRef name : kFunctions)
    EXPECT_TRUE(std::isnan(at(name, nan)));
  for (StringRef name : {"sin", "tanh", "expm1", "log1p"})
    for (T x : {T(0.0), T(-0.0), 2 * step, -2 * step})
      EXPECT_TRUE(sameBits(at(name, x), x)) << name.str() << " " << x;
  for (StringRef name : {"sin", "cos"}) {
    EXPECT_TRUE(std::isnan(at(name, infinity)));
    EXPECT_TRUE(std::isnan(at(name, -infinity)));
  }
  EXPECT_EQ(at("cos", T(0)), T(1));
  T over = sizeof(T) == 4 ? 89 : 710, under = sizeof(T) == 4 ? -104 : -746;
  for (T x : {-infinity, -largest, under})
    EXPECT_EQ(at("exp", x), T(0));
  for (T x : {infinity, largest, over}) {
    EXPECT_EQ(at("exp", x), infinity);
    EXPECT_EQ(at("expm1", x), infinity);
    EXPECT_EQ(at("expm1", -x), T(-1));
    EXPECT_EQ(at("tanh", x), T(1));
    EXPECT_EQ(at("tanh", -x), T(-1));
  }
  EXPECT_EQ(at("exp", T(0)), T(1));
  EXPECT_EQ(at("exp", T(-0.0)), T(1));
  for (T x : {T(-1), -step, -largest, -infinity})
    EXPECT_TRUE(std::isnan(at("log", x)));
  EXPECT_EQ(at("log", infinity), infinity);
  EXPECT_EQ(at("log", T(0)), -infinity);
  EXPECT_EQ(at("log", T(-0.0)), -infinity);
  EXPECT_EQ(at("log", T(1)), T(0));
  EXPECT_EQ(at("log1p", infinity), infinity);
  EXPECT_EQ(at("log1p", T(-1)), -infinity);
  for (T x : {T(-1.5), -largest, -infinity})
    EXPECT_TRUE(std::isnan(at("log1p", x)));
  EXPECT_EQ(at("sigmoid", infinity), T(1));
  EXPECT_EQ(at("sigmoid", -infinity), T(0));
  EXPECT_EQ(at("sigmoid", T(0)), T(0.5));
}

TEST_F(ExpandMathTest, SpecialValuesAreExact) {
  for (int width : kWidths<float>)
    expectSpecialValues<float>(
        [&](StringRef name, float x) { return at<float>(name, x, width); });
  for (int width : kWidths<double>)
    expectSpecialValues<double>(
        [&](StringRef name, double x) { return at<double>(name, x, width); });
}

TEST_F(ExpandMathTest, TanhNeverLeavesTheUnitInterval) {
  auto check = [](auto type, int end) {
    using T = decltype(type);
    std::vector<T> data(kBlock);
    for (int start = 0; start < end * kBlock; start += kBlock) {
      for (int i = 0; i < kBlock; ++i)
        data[i] = T(start + i) / kBlock;
      lookup<T>("tanh")(data.data());
      for (T y : data)
        ASSERT_LE(y, T(1));
    }
  };
  check(float(), 12);
  check(double(), 22);
}

TEST_F(ExpandMathTest, BitsDoNotDependOnTheWidth) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    std::vector<StringRef> names(std::begin(kFunctions), std::end(kFunctions));
    names.push_back("sigmoid");
    for (StringRef name : names) {
      std::vector<T> xs(kBlock);
      // Multiples of a large odd number reach every exponent and sign.
      for (uint32_t round = 0; round < 64; ++round) {
        for (uint32_t i = 0; i < kBlock; ++i)
          xs[i] = fromBits<T>((round * kBlock + i) * 0x9E3779B97F4A7C15 >>
                              (64 - 8 * sizeof(T)));
        std::vector<T> wide = xs, narrow = xs, scalar = xs;
        lookup<T>(name, kWidths<T>[2])(wide.data());
        lookup<T>(name, kWidths<T>[1])(narrow.data());
        lookup<T>(name, kWidths<T>[0])(scalar.data());
        for (int i = 0; i < kBlock; ++i) {
          if (std::isnan(wide[i]) && std::isnan(narrow[i]) &&
              std::isnan(scalar[i]))
            continue;
          ASSERT_TRUE(sameBits(wide[i], scalar[i])) << name.str() << xs[i];
          ASSERT_TRUE(sameBits(narrow[i], scalar[i])) << name.str() << xs[i];
        }
      }
    }
  });
}

} // namespace
