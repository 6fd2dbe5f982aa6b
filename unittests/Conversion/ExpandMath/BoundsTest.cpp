//===- BoundsTest.cpp - Bounds of all functions in units of the last place ===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles every expanded function, for scalars and for vectors, and compares
// it with the host's function. Errors are measured against the next wider type,
// and special values are compared in the same type. The bounds are those in the
// description of batch-expand-math.
//
//===----------------------------------------------------------------------===//

#include "CompiledMath.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::batch;

namespace {

constexpr int kBlock = 1024;
constexpr int kWidth = 8;

uint64_t mix(uint64_t i) {
  i = (i + 1) * 0x9E3779B97F4A7C15;
  i = (i ^ (i >> 31)) * 0xD6E8FEB86659FD93;
  return i ^ (i >> 32);
}
/// Returns a number in [0, 1).
double unit(uint64_t i) { return double(mix(i) >> 11) * 0x1p-53; }

/// A function of one number in three types.
struct Unary {
  const char *name;
  double bounds[2]; ///< bounds in f32 and f64
  double range;     ///< range that contains most points
  float (*narrow)(float);
  double (*middle)(double);
  long double (*wide)(long double);

  template <typename T>
  T operator()(T x) const {
    if constexpr (std::is_same_v<T, float>)
      return narrow(x);
    else if constexpr (std::is_same_v<T, double>)
      return middle(x);
    else
      return wide(x);
  }
};

#define UNARY(name, narrow, wide, range, call)                                 \
  {name,                                                                       \
   {narrow, wide},                                                             \
   range,                                                                      \
   [](float x) -> float { return call; },                                      \
   [](double x) -> double { return call; },                                    \
   [](long double x) -> long double { return call; }}

const Unary kUnary[] = {
    UNARY("acos", 1.5, 1.5, 1, std::acos(x)),
    UNARY("acosh", 3.5, 3.5, 100, std::acosh(x)),
    UNARY("asin", 2.5, 2.5, 1, std::asin(x)),
    UNARY("asinh", 3.5, 3.5, 100, std::asinh(x)),
    UNARY("atan", 2.5, 2.5, 10, std::atan(x)),
    UNARY("atanh", 3.5, 3.5, 1, std::atanh(x)),
    UNARY("cbrt", 0.6, 0.6, 1000, std::cbrt(x)),
    UNARY("cos", 2, 2, 1e5, std::cos(x)),
    UNARY("cosh", 2, 2, 712, std::cosh(x)),
    UNARY("erf", 1.5, 1.5, 6, std::erf(x)),
    UNARY("erfc", 5, 5, 28, std::erfc(x)),
    UNARY("exp", 1.5, 1.5, 746, std::exp(x)),
    UNARY("exp2", 1.5, 1.5, 1080, std::exp2(x)),
    UNARY("expm1", 2.5, 2.5, 746, std::expm1(x)),
    UNARY("log", 2.5, 2.5, 100, std::log(x)),
    UNARY("log10", 0.6, 0.6, 100, std::log10(x)),
    UNARY("log1p", 2.5, 2.5, 100, std::log1p(x)),
    UNARY("log2", 0.6, 0.6, 100, std::log2(x)),
    UNARY("round", 0, 0, 1e6, std::round(x)),
    UNARY("rsqrt", 1.5, 1.5, 100, 1 / std::sqrt(x)),
    UNARY("sin", 2, 2, 1e5, std::sin(x)),
    UNARY("sinh", 3.5, 3.5, 712, std::sinh(x)),
    UNARY("tan", 2, 2, 1e5, std::tan(x)),
    UNARY("tanh", 3.5, 3.5, 20, std::tanh(x)),
};

bool isAngleFunction(StringRef name) {
  return name == "cos" || name == "sin" || name == "tan";
}

//===----------------------------------------------------------------------===//
// Compiled functions
//===----------------------------------------------------------------------===//

/// Returns the source of a function that reads blocks of x, y and n (i64) and
/// writes a block of results. `body` computes %r from %x, %y and %n. OF_i8 and
/// similar names are TYPE with a different element type; LONGS is OF_i64.
std::string blockSource(StringRef name, StringRef element, int width,
                        const Twine &body) {
  std::string code = (R"(
      %px = llvm.getelementptr %xs[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELEMENT
      %x = llvm.load %px {alignment = 4 : i64} : !llvm.ptr -> TYPE
      %py = llvm.getelementptr %ys[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELEMENT
      %y = llvm.load %py {alignment = 4 : i64} : !llvm.ptr -> TYPE
      %pn = llvm.getelementptr %ns[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
      %n = llvm.load %pn {alignment = 4 : i64} : !llvm.ptr -> LONGS
      )" + body + R"(
      %pr = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, ELEMENT
      llvm.store %r, %pr {alignment = 4 : i64} : TYPE, !llvm.ptr)")
                         .str();
  replaceAll(code, "LONGS", "OF_i64");
  for (StringRef type : {"i64", "i32", "i8", "i1"})
    replaceAll(code, ("OF_" + type).str(), vectorOf(type, width));
  return loopSource(
      name, element, width, kBlock,
      "%xs: !llvm.ptr, %ys: !llvm.ptr, %ns: !llvm.ptr, %out: !llvm.ptr", code);
}

std::string allSources(StringRef element) {
  std::string source;
  for (int width : {1, kWidth}) {
    auto add = [&](StringRef name, const Twine &body) {
      source += blockSource(name, element, width, body);
    };
    for (const Unary &function : kUnary)
      add(function.name, Twine("%r = math.") + function.name + " %x : TYPE");
    add("atan2", "%r = math.atan2 %x, %y : TYPE");
    add("powf", "%r = math.powf %x, %y : TYPE");
    add("sincos", "%s, %c = math.sincos %x : TYPE\n"
                  "%r = arith.subf %s, %c : TYPE");
    add("difference", "%s = math.sin %x : TYPE\n %c = math.cos %x : TYPE\n"
                      "%r = arith.subf %s, %c : TYPE");
    add("clampf", "%z = arith.addf %y, %y : TYPE\n"
                  "%r = math.clampf %x to [%y, %z] : TYPE");
    add("fpowi64", "%r = math.fpowi %x, %n : TYPE, LONGS");
    for (StringRef type : {"i8", "i32"})
      add(("fpow" + type).str(), "%m = arith.trunci %n : LONGS to OF_" + type +
                                     "\n%r = math.fpowi %x, %m : TYPE, OF_" +
                                     type);
    for (StringRef exponent : {"0", "1", "2"}) {
      std::string value = exponent.str() + ".0";
      if (width > 1)
        value = "dense<" + value + ">";
      add(("power" + exponent).str(),
          "%c = arith.constant " + value +
              " : TYPE\n%r = math.powf %x, %c : TYPE");
    }
    // Encode the results of the four predicates as binary digits.
    add("classes",
        R"(%a = math.isnan %x : TYPE
           %b = math.isinf %x : TYPE
           %c = math.isfinite %x : TYPE
           %d = math.isnormal %x : TYPE
           %a0 = arith.uitofp %a : OF_i1 to TYPE
           %b0 = arith.uitofp %b : OF_i1 to TYPE
           %c0 = arith.uitofp %c : OF_i1 to TYPE
           %d0 = arith.uitofp %d : OF_i1 to TYPE
           %b2 = arith.addf %b0, %b0 : TYPE
           %c2 = arith.addf %c0, %c0 : TYPE
           %c4 = arith.addf %c2, %c2 : TYPE
           %d2 = arith.addf %d0, %d0 : TYPE
           %d4 = arith.addf %d2, %d2 : TYPE
           %d8 = arith.addf %d4, %d4 : TYPE
           %ab = arith.addf %a0, %b2 : TYPE
           %cd = arith.addf %c4, %d8 : TYPE
           %r = arith.addf %ab, %cd : TYPE)");
  }
  return source;
}

const char *const kIntegers = R"(
  llvm.func @ipowi8(%b: i8, %n: i8) -> i8
      attributes {llvm.emit_c_interface} {
    %r = math.ipowi %b, %n : i8
    llvm.return %r : i8
  }
  llvm.func @ipowi64(%b: i64, %n: i64) -> i64
      attributes {llvm.emit_c_interface} {
    %r = math.ipowi %b, %n : i64
    llvm.return %r : i64
  })";

class BoundsTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    functions = std::make_unique<CompiledMath>();
    ASSERT_TRUE(succeeded(
        functions->expand(allSources("f32") + allSources("f64") + kIntegers)));
    ASSERT_TRUE(succeeded(functions->compile()));
  }

  static void TearDownTestSuite() { functions.reset(); }

  template <typename T>
  using Function = void (*)(const T *, const T *, const int64_t *, T *);

  /// A block of arguments.
  template <typename T>
  struct Block {
    std::vector<T> xs = std::vector<T>(kBlock);
    std::vector<T> ys = std::vector<T>(kBlock);
    std::vector<int64_t> ns = std::vector<int64_t>(kBlock);
  };

  /// Returns the values of a function and checks that they are the same for
  /// scalars and vectors.
  template <typename T>
  static std::vector<T> apply(const std::string &name, const Block<T> &block) {
    std::vector<T> single(kBlock), vectors(kBlock);
    auto run = [&](int width, std::vector<T> &out) {
      auto function = reinterpret_cast<Function<T>>(
          functions->lookup(symbol(name, Info<T>::name, width)));
      function(block.xs.data(), block.ys.data(), block.ns.data(), out.data());
    };
    run(1, single);
    run(kWidth, vectors);
    for (int i = 0; i < kBlock; ++i)
      EXPECT_TRUE(sameNumber(single[i], vectors[i]))
          << name << " " << block.xs[i] << " " << block.ys[i];
    return single;
  }

  /// Returns |y - exact| in units of the last place of `exact`, subnormal or
  /// not.
  template <typename T>
  static double unitsOff(T y, typename Info<T>::Wide exact) {
    using Limits = std::numeric_limits<T>;
    using Wide = typename Info<T>::Wide;
    if (std::isnan(exact))
      return std::isnan(y) ? 0 : INFINITY;
    if (std::abs(exact) > Limits::max()) // y may round either way
      return std::abs(y) >= Limits::max() && std::signbit(y) == (exact < 0)
                 ? 0
                 : INFINITY;
    int exponent = exact == 0 ? Limits::min_exponent - 1 : std::ilogb(exact);
    exponent = std::max(exponent, Limits::min_exponent - 1);
    double off = std::abs(Wide(y) - exact) /
                 std::ldexp(Wide(1), exponent - Limits::digits + 1);
    return std::isnan(off) ? INFINITY : off;
  }

  /// Checks the error of a function at `count` points, and prints the largest
  /// error. fill(block, i, n) sets element i to point n.
  template <typename T, typename Reference, typename Fill>
  static void measure(const std::string &name, double bound, uint64_t count,
                      Reference reference, Fill fill) {
    using Wide = typename Info<T>::Wide;
    double worst = 0;
    Block<T> block;
    for (uint64_t base = 0; base < count; base += kBlock) {
      for (int i = 0; i < kBlock; ++i)
        fill(block, i, base + i);
      std::vector<T> found = apply(name, block);
      for (int i = 0; i < kBlock; ++i) {
        double off =
            unitsOff<T>(found[i], reference(Wide(block.xs[i]),
                                            Wide(block.ys[i]), block.ns[i]));
        ASSERT_LE(off, bound)
            << name << " of " << Info<T>::name << " at " << block.xs[i] << ", "
            << block.ys[i] << ", " << block.ns[i] << ": " << found[i];
        worst = std::max(worst, off);
      }
    }
    printf("%s of %s: %.3f units\n", name.c_str(), Info<T>::name, worst);
  }

  /// Returns point `n`. The points are numbers of all exponents and signs, and
  /// closely spaced numbers around zero and in the range of interest. Some
  /// points are close to 1, where the approximation of erf changes from one
  /// polynomial to another.
  template <typename T>
  static T point(uint64_t n, double range) {
    T sign = n & 8 ? T(-1) : T(1);
    switch (n % 8) {
    case 0:
    case 1:
      return fromBits<T>(typename Info<T>::Bits(mix(n)));
    case 2:
      return sign * T(unit(n));
    case 3:
      return sign * T(4 * unit(n));
    case 4:
      return T(1) + sign * T(std::exp2(-60 * unit(n)));
    case 5:
      return sign * T(std::exp2(-60 * unit(n)));
    default:
      return sign * T(range * unit(n));
    }
  }

  static std::unique_ptr<CompiledMath> functions;
};

std::unique_ptr<CompiledMath> BoundsTest::functions;

template <typename T>
constexpr int kFormat = std::is_same_v<T, double>;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

TEST_F(BoundsTest, OfOneNumber) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    for (const Unary &function : kUnary) {
      bool isOfAngle = isAngleFunction(function.name);
      double range = function.range;
      if (std::is_same_v<T, float> && range > 700 && range < 1100)
        range /= 8;
      measure<T>(
          function.name, function.bounds[kFormat<T>], 1 << 20,
          [&](auto x, auto, int64_t) { return function(x); },
          [&](Block<T> &block, int i, uint64_t n) {
            T x = point<T>(n, range);
            // Some angles are near multiples of pi / 2.
            if (isOfAngle && n % 8 < 2 && n % 3 == 0)
              x = T(std::floor(range * unit(n)) * 1.5707963267948966L);
            block.xs[i] = x;
          });
    }
  });
}

TEST_F(BoundsTest, OfTwoNumbers) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    constexpr double powf[] = {1, 1}, atan2[] = {2.5, 2.5};
    measure<T>(
        "powf", powf[kFormat<T>], 1 << 20,
        [](auto x, auto y, int64_t) { return std::pow(x, y); },
        [](Block<T> &block, int i, uint64_t n) {
          T x = point<T>(n, 100);
          block.xs[i] = n % 16 == 0 ? x : std::abs(x);
          // Choose y so that most results are finite and not 1.
          T target = T(unit(~n) * (kFormat<T> ? 2100 : 280)) - 1;
          T y = (target - (kFormat<T> ? 1078 : 150)) / std::log2(std::abs(x));
          block.ys[i] = n % 16 == 0 ? std::trunc(T(20 * unit(~n)) - 10) : y;
        });
    measure<T>(
        "atan2", atan2[kFormat<T>], 1 << 20,
        [](auto x, auto y, int64_t) { return std::atan2(x, y); },
        [](Block<T> &block, int i, uint64_t n) {
          block.xs[i] = point<T>(n, 100);
          block.ys[i] = point<T>(n % 3 ? ~n : n + 4, 100);
        });
  });
}

TEST_F(BoundsTest, OfIntegerPowers) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    constexpr double bounds[] = {1, 1};
    auto measurePower = [&](const std::string &name, auto exponent) {
      using N = decltype(exponent);
      measure<T>(
          name, bounds[kFormat<T>], 1 << 19,
          [](auto x, auto, int64_t n) -> typename Info<T>::Wide {
            // The parity of n determines the sign, even if no floating-point
            // number near n is odd.
            long double y = N(n);
            long double power = std::pow((long double)std::abs(x), y);
            return std::signbit(x) && (n & 1) ? -power : power;
          },
          [](Block<T> &block, int i, uint64_t n) {
            block.xs[i] = point<T>(n, 3);
            int bits = 1 + mix(~n) % (8 * sizeof(N));
            block.ns[i] = int64_t(mix(n + 7)) >> (64 - bits);
            if (n % 4 == 1)
              block.xs[i] =
                  T(1) + T(std::exp2(-unit(n) * (kFormat<T> ? 52 : 23)));
          });
    };
    measurePower("fpowi8", int8_t());
    measurePower("fpowi32", int32_t());
    measurePower("fpowi64", int64_t());
  });
}

//===----------------------------------------------------------------------===//
// Exact cases
//===----------------------------------------------------------------------===//

template <typename T>
std::vector<T> getSpecialValues() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {Limits::quiet_NaN()};
  T edge = std::ldexp(T(1), Limits::digits);
  for (T x : {T(0),
              Limits::denorm_min(),
              Limits::min(),
              T(0.5),
              T(1),
              T(1.5),
              T(2),
              T(2.5),
              T(3),
              T(8),
              T(100),
              T(1000),
              edge - 1,
              edge,
              2 * edge,
              Limits::max(),
              Limits::infinity(),
              std::nextafter(T(0.5), T(0)),
              std::nextafter(T(1), T(0)),
              std::nextafter(T(1), T(2))})
    values.insert(values.end(), {x, -x});
  return values;
}

/// Returns true if a value must match exactly: zeros, infinities, NaN, and
/// small whole numbers.
template <typename T>
bool isExact(T value) {
  return !std::isfinite(value) ||
         (value == std::trunc(value) && std::abs(value) < 0x1p20);
}

TEST_F(BoundsTest, SpecialValuesAreThoseOfC) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    using Wide = typename Info<T>::Wide;
    std::vector<T> values = getSpecialValues<T>();
    auto compare = [&](const std::string &name, auto reference, auto narrow) {
      Block<T> block;
      for (T y : values) {
        for (size_t i = 0; i < kBlock; ++i) {
          block.xs[i] = values[i % values.size()];
          block.ys[i] = y;
        }
        std::vector<T> found = apply(name, block);
        for (size_t i = 0; i < values.size(); ++i) {
          // Do not compare numbers that are integers only because of the host's
          // rounding.
          T wanted = narrow(values[i], y);
          Wide wide = reference(Wide(values[i]), Wide(y));
          if (isExact(wanted) && (!std::isfinite(wanted) || wanted == wide)) {
            EXPECT_TRUE(sameNumber(found[i], wanted))
                << name << " of " << Info<T>::name << " at " << values[i]
                << ", " << y << ": " << found[i] << ", not " << wanted;
          }
        }
      }
    };
    for (const Unary &function : kUnary)
      if (!isAngleFunction(function.name))
        compare(
            function.name, [&](Wide x, Wide) { return function(x); },
            [&](T x, T) { return function(x); });
    compare(
        "powf", [](Wide x, Wide y) { return std::pow(x, y); },
        [](T x, T y) { return std::pow(x, y); });
    compare(
        "atan2", [](Wide x, Wide y) { return std::atan2(x, y); },
        [](T x, T y) { return std::atan2(x, y); });
  });
}

TEST_F(BoundsTest, SpecialAngles) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    Block<T> block;
    block.xs = {T(0),
                T(-0.0),
                std::numeric_limits<T>::denorm_min(),
                -std::numeric_limits<T>::infinity(),
                std::numeric_limits<T>::infinity(),
                std::numeric_limits<T>::quiet_NaN()};
    block.xs.resize(kBlock);
    for (const char *name : {"sin", "tan", "cos"}) {
      std::vector<T> found = apply(name, block);
      for (int i = 0; i < 3; ++i) {
        T wanted = StringRef(name) == "cos" ? T(1) : block.xs[i];
        EXPECT_TRUE(sameNumber(found[i], wanted)) << name << block.xs[i];
      }
      for (int i = 3; i < 6; ++i)
        EXPECT_TRUE(std::isnan(found[i])) << name << block.xs[i];
    }
    // The results of sincos have the same difference as those of sin and cos.
    for (int i = 0; i < kBlock; ++i)
      block.xs[i] = point<T>(i, 100);
    std::vector<T> both = apply("sincos", block);
    std::vector<T> each = apply("difference", block);
    for (int i = 0; i < kBlock; ++i)
      EXPECT_TRUE(sameNumber(both[i], each[i])) << block.xs[i];
  });
}

/// Tests multiples of hard numbers. The distance from a hard number to the
/// nearest multiple of pi / 2 is the smallest for its exponent, or for all
/// exponents.
TEST_F(BoundsTest, AnglesNextToMultiplesOfHalfPi) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    std::vector<T> hard;
    if constexpr (kFormat<T>)
      hard = {6381956970095103 * 0x1p797, 5319372648326541 * 0x1p-51,
              5312145103497345 * 0x1p-32};
    else
      hard = {16367173 * 0x1p72f, 13176795 * 0x1p-22f, 11 * 0x1p1f};
    for (const Unary &function : kUnary)
      if (isAngleFunction(function.name))
        measure<T>(
            function.name, function.bounds[kFormat<T>], 3 * kBlock,
            [&](auto x, auto, int64_t) { return function(x); },
            [&](Block<T> &block, int i, uint64_t n) {
              T x = hard[i % hard.size()] * T(1 + n / kBlock);
              block.xs[i] = n & 1 ? -x : x;
            });
  });
}

/// Large elements of a vector do not change the results for their neighbors.
TEST_F(BoundsTest, AnglesDoNotDependOnNeighbors) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    Block<T> block, near;
    for (int i = 0; i < kBlock; ++i) {
      near.xs[i] = point<T>(8 * i + 3, 1);
      block.xs[i] =
          i % 5 == 0 ? fromBits<T>(typename Info<T>::Bits(mix(i))) : near.xs[i];
    }
    for (const char *name : {"sin", "cos", "tan", "sincos"}) {
      std::vector<T> mixed = apply(name, block), same = apply(name, near);
      for (int i = 0; i < kBlock; ++i) {
        bool isNear = i % 5 != 0;
        EXPECT_TRUE(!isNear || sameNumber(mixed[i], same[i]))
            << name << near.xs[i];
      }
    }
  });
}

/// log10 of powers of ten is exact, and so is log2 of powers of two.
TEST_F(BoundsTest, LogarithmsOfPowersAreExact) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    Block<T> tens, twos;
    int count = kFormat<T> ? 23 : 11, lowest = kFormat<T> ? -1074 : -149;
    for (int i = 0; i < kBlock; ++i) {
      tens.xs[i] = std::pow(T(10), T(i % count));
      twos.xs[i] = std::ldexp(T(1), lowest + i % -lowest);
    }
    std::vector<T> log10 = apply("log10", tens), log2 = apply("log2", twos);
    for (int i = 0; i < kBlock; ++i) {
      EXPECT_EQ(log10[i], i % count);
      EXPECT_EQ(log2[i], lowest + i % -lowest);
    }
  });
}

TEST_F(BoundsTest, SmallPowersAreProducts) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    Block<T> block;
    for (int i = 0; i < kBlock; ++i)
      block.xs[i] = point<T>(i, 100);
    auto expect = [&](const std::string &name, auto reference) {
      std::vector<T> found = apply(name, block);
      for (int i = 0; i < kBlock; ++i)
        EXPECT_TRUE(sameNumber(found[i], T(reference(block.xs[i]))))
            << name << " " << block.xs[i];
    };
    expect("power0", [](T) { return 1; });
    expect("power1", [](T x) { return x; });
    expect("power2", [](T x) { return x * x; });
    // Exponents that are not constants give the same bits as constants.
    for (int n : {0, 1, 2}) {
      block.ys.assign(kBlock, T(n));
      block.ns.assign(kBlock, n);
      std::vector<T> constant = apply("power" + std::to_string(n), block);
      std::vector<T> real = apply("powf", block);
      std::vector<T> integer = apply("fpowi32", block);
      for (int i = 0; i < kBlock; ++i) {
        EXPECT_TRUE(sameNumber(real[i], constant[i]))
            << block.xs[i] << " " << n;
        EXPECT_TRUE(sameNumber(integer[i], constant[i]))
            << block.xs[i] << " " << n;
      }
    }
  });
}

TEST_F(BoundsTest, ClassesAndClamps) {
  forAllTypes([](auto type) {
    using T = decltype(type);
    std::vector<T> values = getSpecialValues<T>();
    Block<T> block;
    for (int i = 0; i < kBlock; ++i) {
      block.xs[i] = values[i % values.size()];
      block.ys[i] = T(i % 7) / 2;
    }
    std::vector<T> classes = apply("classes", block);
    std::vector<T> clamped = apply("clampf", block);
    for (int i = 0; i < kBlock; ++i) {
      T x = block.xs[i];
      EXPECT_EQ(classes[i], std::isnan(x) + 2 * std::isinf(x) +
                                4 * std::isfinite(x) + 8 * std::isnormal(x))
          << x;
      T low = block.ys[i], high = 2 * low;
      EXPECT_EQ(std::isnan(clamped[i]), std::isnan(x));
      if (!std::isnan(x)) {
        EXPECT_EQ(clamped[i], std::max(std::min(x, high), low)) << x;
      }
    }
  });
}

TEST_F(BoundsTest, PowersOfIntegersWrap) {
  auto power = [](int64_t base, int64_t exponent) -> int64_t {
    if (exponent < 0)
      return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    uint64_t result = 1, square = base;
    for (; exponent; exponent >>= 1, square *= square)
      if (exponent & 1)
        result *= square;
    return result;
  };
  auto *narrow =
      reinterpret_cast<int8_t (*)(int8_t, int8_t)>(functions->lookup("ipowi8"));
  for (int base = -128; base < 128; ++base)
    for (int exponent = -128; exponent < 128; ++exponent)
      EXPECT_EQ(narrow(base, exponent), int8_t(power(base, exponent)))
          << base << "^" << exponent;
  auto *wide = reinterpret_cast<int64_t (*)(int64_t, int64_t)>(
      functions->lookup("ipowi64"));
  for (uint64_t i = 0; i < 4096; ++i) {
    int64_t base = int64_t(mix(i)) >> (i % 64);
    int64_t exponent = int64_t(mix(~i)) >> (mix(i) % 64);
    EXPECT_EQ(wide(base, exponent), power(base, exponent))
        << base << "^" << exponent;
  }
}

} // namespace
