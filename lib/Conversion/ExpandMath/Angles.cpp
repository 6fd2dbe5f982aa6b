//===- Angles.cpp - Angles modulo pi / 2 ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers below a bound are reduced using pi / 2 as a sum of terms (Cody and
// Waite). Larger numbers are multiplied by the bits of 2 / pi that affect the
// result (Payne and Hanek). The table of 2 / pi has enough bits for the largest
// number. A vector takes the second path only if it has a large element, and
// only for its large elements. The bits of a result therefore do not depend on
// its neighbors.
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::expansion;

//===----------------------------------------------------------------------===//
// Large numbers
//===----------------------------------------------------------------------===//

/// Bits of 2 / pi after the binary point.
static constexpr uint64_t kTwoOverPi[] = {
    0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041,
    0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0, 0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41,
    0x3991D639835339F4, 0x9C845F8BBDF9283B, 0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB};

/// Returns word `index` of 2 / (pi * 2^(width / 2)), in words of `width` bits.
/// The first half word is zero.
static int64_t getWord(int64_t index, int64_t width) {
  uint64_t word = 0;
  int64_t first = index * width - width / 2;
  for (int64_t place = first; place < first + width; place += 16) {
    uint64_t digit =
        place < 0 ? 0 : kTwoOverPi[place / 64] >> (48 - place % 64) & 0xFFFF;
    word = word << 16 | digit;
  }
  return llvm::SignExtend64(word, width);
}

/// Returns three words of the number that getWord() splits. The first word
/// begins at bit `place`. `choices` is a power of two that is greater than the
/// index of the word with this bit.
static SmallVector<Value> selectWords(Code &code, Value place,
                                      int64_t choices) {
  int64_t width = code.format.width;
  SmallVector<Value> words;
  for (int64_t i = 0; i < choices + 3; ++i)
    words.push_back(code.integer(getWord(i, width)));
  // Select by each bit of the first word's index.
  for (int64_t step = choices / 2; step > 0; step /= 2) {
    Value isAhead = code.isNonZero(code.lowBits(place, step * width));
    for (int64_t i = 0; i < step + 3; ++i)
      words[i] = code.select(isAhead, words[i + step], words[i]);
    words.truncate(step + 3);
  }
  OpBuilder &b = code.getBuilder();
  Location loc = code.getLoc();
  Value left = code.lowBits(place, width - 1);
  Value right = code.subInt(code.integer(width - 1), left);
  for (int64_t i = 0; i < 3; ++i) {
    Value high = arith::ShLIOp::create(b, loc, words[i], left);
    // Shift right in two steps, because a shift by the full width is undefined.
    Value low =
        arith::ShRUIOp::create(b, loc, code.shiftRight(words[i + 1], 1), right);
    words[i] = arith::OrIOp::create(b, loc, high, low);
  }
  words.pop_back();
  return words;
}

namespace {
/// Fixed-point number of two words.
struct Words {
  Value high;
  Value low;
};

/// Angle as integers.
struct LargeAngle {
  Value n;
  Value rest;   ///< bits of a floating-point number
  Value excess; ///< bits of a floating-point number
};
} // namespace

static Words addLow(Code &code, Words sum, Value low) {
  auto added = arith::AddUIExtendedOp::create(code.getBuilder(), code.getLoc(),
                                              sum.low, low);
  Value carry =
      arith::ExtUIOp::create(code.getBuilder(), code.getLoc(),
                             code.getIntegerType(), added.getOverflow());
  return {code.addInt(sum.high, carry), added.getSum()};
}

static Words multiply(Code &code, Value a, Value b) {
  auto product =
      arith::MulUIExtendedOp::create(code.getBuilder(), code.getLoc(), a, b);
  return {product.getHigh(), product.getLow()};
}

/// Returns all ones if the highest bit of `a` is set, and 0 otherwise.
static Value spreadSign(Code &code, Value a) {
  return code.subInt(code.integer(0),
                     code.shiftRight(a, code.format.width - 1));
}

static Value flip(Code &code, Value a, Value bits) {
  return arith::XOrIOp::create(code.getBuilder(), code.getLoc(), a, bits);
}

/// Shifts `a` left so that its highest set bit comes first, and stores the
/// distance in `zeros`. The high word must not be 0.
static Words normalize(Code &code, Words a, Value &zeros) {
  OpBuilder &b = code.getBuilder();
  Location loc = code.getLoc();
  zeros = math::CountLeadingZerosOp::create(b, loc, a.high);
  // Shift right in two steps, because a shift by the full width is undefined.
  Value others = code.subInt(code.integer(code.format.width - 1), zeros);
  Value moved =
      arith::ShRUIOp::create(b, loc, code.shiftRight(a.low, 1), others);
  Value high = arith::ShLIOp::create(b, loc, a.high, zeros);
  return {arith::OrIOp::create(b, loc, high, moved),
          arith::ShLIOp::create(b, loc, a.low, zeros)};
}

/// Returns a mantissa from 2^mantissaBits to twice that: the rounded upper bits
/// of a word whose highest bit is set.
static Value roundToMantissa(Code &code, Value word) {
  int64_t left = code.format.width - code.format.mantissaBits - 1;
  return code.addInt(code.shiftRight(word, left),
                     code.lowBits(code.shiftRight(word, left - 1), 1));
}

/// Returns the bits of m * 2^exponent, where m is the number from 1/2 to 1 that
/// has this mantissa.
static Value makeBits(Code &code, Value mantissa, Value exponent) {
  const Format &format = code.format;
  return code.addInt(mantissa,
                     code.shiftLeft(code.addInt(exponent, format.bias - 2),
                                    format.mantissaBits));
}

/// Returns |x| * 2 / pi modulo 4 for a number x of at least 2^10 in f32 or 2^22
/// in f64. The binary point follows the first two bits.
static Words multiplyByTwoOverPi(Code &code, Value magnitude) {
  const Format &format = code.format;
  int64_t hidden = int64_t(1) << format.mantissaBits;
  Value mantissa = code.addInt(code.lowBits(magnitude, hidden - 1), hidden);
  // |x| is mantissa * 2^e. Bits of 2 / pi before `place` yield multiples of 4.
  Value exponent = code.shiftRight(magnitude, format.mantissaBits);
  Value place = code.addInt(exponent, format.width / 2 - format.mantissaBits -
                                          format.bias - 2);
  SmallVector<Value> words =
      selectWords(code, place, format.width == 32 ? 4 : 16);
  Words product = multiply(code, mantissa, words[1]);
  product = addLow(code, product, multiply(code, mantissa, words[2]).high);
  Value first = arith::MulIOp::create(code.getBuilder(), code.getLoc(),
                                      mantissa, words[0]);
  return {code.addInt(product.high, first), product.low};
}

/// Multiplies by pi / 4, a fixed-point number without integer bits.
static Words multiplyByQuarterPi(Code &code, Words a) {
  constexpr uint64_t bits[] = {0xC90FDAA22168C234, 0xC4C6628B80DC1CD1};
  bool isShort = code.format.width == 32;
  Value high = code.integer(isShort ? int32_t(bits[0] >> 32) : bits[0]);
  Value low = code.integer(isShort ? int32_t(bits[0]) : bits[1]);
  Words product = multiply(code, a.high, high);
  product = addLow(code, product, multiply(code, a.high, low).high);
  return addLow(code, product, multiply(code, a.low, high).high);
}

/// Reduces a single number, whose bits are x. Computes only with integers, so a
/// function with this code uses no vector registers.
static LargeAngle reduceLarge(Code &code, Value x) {
  const Format &format = code.format;
  int64_t width = format.width;
  Value magnitude = code.lowBits(x, llvm::maxIntN(width));
  Words turn = multiplyByTwoOverPi(code, magnitude);
  // Nearest integer, and magnitude of the rest with an error in its last bit.
  // No number is so close to a multiple of pi / 2 that the first word of its
  // rest is 0.
  Value n = code.shiftRight(code.addInt(turn.high, int64_t(1) << (width - 3)),
                            width - 2);
  Value high = code.subInt(turn.high, code.shiftLeft(n, width - 2));
  Value signs = spreadSign(code, high);
  Value zeros, more;
  Words rest = normalize(
      code, {flip(code, high, signs), flip(code, turn.low, signs)}, zeros);
  rest = normalize(code, multiplyByQuarterPi(code, rest), more);
  Value exponent = code.subInt(code.integer(3), code.addInt(zeros, more));
  Value mantissa = roundToMantissa(code, rest.high);
  Value sign = code.lowBits(flip(code, signs, x), llvm::minIntN(width));
  Value restBits = flip(code, makeBits(code, mantissa, exponent), sign);
  // The rest of infinity is NaN.
  int64_t infinity = int64_t(2 * format.bias + 1) << format.mantissaBits;
  Value isInfinite = arith::CmpIOp::create(code.getBuilder(), code.getLoc(),
                                           arith::CmpIPredicate::eq, magnitude,
                                           code.integer(infinity));
  Value none = code.integer(infinity | int64_t(1) << (format.mantissaBits - 1));
  restBits = code.select(isInfinite, none, restBits);

  // Rounding error (the mantissa minus all bits) as one word, which is not 0.
  int64_t left = width - format.mantissaBits - 1;
  Value error = code.subInt(rest.high, code.shiftLeft(mantissa, left));
  Value errorSigns = spreadSign(code, error);
  Value low = code.shiftRight(flip(code, rest.low, errorSigns), left);
  Value word = arith::OrIOp::create(
      code.getBuilder(), code.getLoc(),
      code.shiftLeft(flip(code, error, errorSigns), width - left),
      arith::OrIOp::create(code.getBuilder(), code.getLoc(), low,
                           code.integer(1)));
  Words excess = normalize(code, {word, code.integer(0)}, zeros);
  exponent = code.subInt(code.addInt(exponent, left - width), zeros);
  Value excessSign =
      code.lowBits(flip(code, errorSigns, code.integer(llvm::minIntN(width))),
                   llvm::minIntN(width));
  Value excessBits =
      makeBits(code, roundToMantissa(code, excess.high), exponent);
  excessBits = flip(code, excessBits, flip(code, excessSign, sign));

  n = code.select(code.isNegative(x), code.subInt(code.integer(0), n), n);
  return {n, restBits, excessBits};
}

//===----------------------------------------------------------------------===//
// One function for large numbers
//===----------------------------------------------------------------------===//

static std::string getLargeAngleName(Type integer) {
  return ("batch.large_angle_" + Twine(integer.getIntOrFloatBitWidth())).str();
}

static FunctionType getLargeAngleType(Type integer) {
  return FunctionType::get(integer.getContext(), integer,
                           {integer, integer, integer});
}

/// Returns the attributes of the function for large numbers. Its callers are
/// inlined, but the function is not. On x86-64, callers also keep constants in
/// vector registers, which the function does not use.
static ArrayAttr getLargeAngleAttributes(MLIRContext *context) {
  return Builder(context).getStrArrayAttr(
      {"cold", "no_caller_saved_registers", "noimplicitfloat", "noinline"});
}

void expansion::addLargeAngle(SymbolTable &symbols, Type element,
                              Location loc) {
  Operation *module = symbols.getOp();
  OpBuilder builder = OpBuilder::atBlockEnd(&module->getRegion(0).front());
  Code code(builder, loc, element);
  std::string name = getLargeAngleName(code.getIntegerType());
  if (symbols.lookup(name))
    return;
  auto function = func::FuncOp::create(
      builder, loc, name, getLargeAngleType(code.getIntegerType()));
  function.setPrivate();
  function->setAttr("passthrough",
                    getLargeAngleAttributes(builder.getContext()));
  symbols.insert(function);
  builder.setInsertionPointToStart(function.addEntryBlock());
  LargeAngle angle = reduceLarge(code, function.getArgument(0));
  func::ReturnOp::create(builder, loc,
                         ValueRange{angle.n, angle.rest, angle.excess});
}

/// Returns the function that addLargeAngle() has created, or null.
static func::FuncOp findLargeAngle(Operation *from, Type integer) {
  MLIRContext *context = from->getContext();
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      from, StringAttr::get(context, getLargeAngleName(integer)));
  bool isIt =
      function && function.getFunctionType() == getLargeAngleType(integer) &&
      function->getAttr("passthrough") == getLargeAngleAttributes(context);
  return isIt ? function : func::FuncOp();
}

//===----------------------------------------------------------------------===//
// Both paths
//===----------------------------------------------------------------------===//

/// Returns the fields of an angle. Omits `excess` if it is null, because the
/// caller then does not need it.
static SmallVector<Value> getValues(const Angle &angle) {
  SmallVector<Value> values = {angle.shifted, angle.rest};
  if (angle.excess)
    values.push_back(angle.excess);
  return values;
}
static Angle toAngle(ValueRange values) {
  return {values[0], values[1], values.size() > 2 ? values[2] : Value()};
}

/// Returns true if any element is true.
static Value isAny(OpBuilder &b, Location loc, Value mask) {
  auto vector = cast<VectorType>(mask.getType());
  if (vector.getRank() == 1)
    return vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, mask);
  if (vector.getRank() == 0)
    return vector::ExtractOp::create(b, loc, mask, ArrayRef<int64_t>());
  Value any;
  for (int64_t i = 0; i < vector.getDimSize(0); ++i) {
    Value row = vector::ExtractOp::create(b, loc, mask, i);
    any = any ? arith::OrIOp::create(b, loc, any, row).getResult() : row;
  }
  return isAny(b, loc, any);
}

/// Returns true where |x| is at least `bound`. Returns false for NaN, for which
/// the first path returns NaN.
static Value isLarge(Code &code, Value x, double bound) {
  return code.compare(arith::CmpFPredicate::OGE, code.abs(x), code.real(bound));
}

namespace {
/// Second path, for large numbers.
struct FarPath {
  double bound;          ///< least magnitude that takes the second path
  func::FuncOp function; ///< function that addLargeAngle() has created, or null
};
} // namespace

/// Returns the first `count` values of the angle of the large number x.
static SmallVector<Value> buildLargeNumber(OpBuilder &b, Location loc, Value x,
                                           const FarPath &path, size_t count) {
  Code code(b, loc, x.getType());
  LargeAngle angle;
  if (path.function) {
    auto call = func::CallOp::create(b, loc, path.function, code.bits(x));
    angle = {call.getResult(0), call.getResult(1), call.getResult(2)};
  } else {
    angle = reduceLarge(code, code.bits(x));
  }
  SmallVector<Value> values = {code.fromBits(angle.n),
                               code.fromBits(angle.rest),
                               code.fromBits(angle.excess)};
  values.truncate(count);
  return values;
}

/// Returns `values`, with the values of x replaced if x is large. x is a
/// number, or the element at `index` of a vector. In the second case, `values`
/// are vectors.
static SmallVector<Value> replaceNumber(OpBuilder &b, Location loc, Value x,
                                        const FarPath &path, ValueRange values,
                                        ArrayRef<OpFoldResult> index) {
  Code code(b, loc, x.getType());
  auto choice = scf::IfOp::create(
      b, loc, isLarge(code, x, path.bound),
      [&](OpBuilder &b, Location loc) {
        SmallVector<Value> all =
            buildLargeNumber(b, loc, x, path, values.size());
        for (auto [value, old] : llvm::zip_equal(all, values))
          if (isa<VectorType>(old.getType()))
            value = vector::InsertOp::create(b, loc, value, old, index);
        scf::YieldOp::create(b, loc, all);
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, values);
      });
  return choice.getResults();
}

/// Replaces values like replaceNumber(), for each element of x.
static SmallVector<Value> replaceLarge(OpBuilder &b, Location loc, Value x,
                                       const FarPath &path, ValueRange values) {
  auto vector = dyn_cast<VectorType>(x.getType());
  if (!vector)
    return replaceNumber(b, loc, x, path, values, {});
  SmallVector<Value> all = values;
  if (vector.getRank() > 1) {
    for (int64_t i = 0; i < vector.getDimSize(0); ++i) {
      Value row = vector::ExtractOp::create(b, loc, x, i);
      SmallVector<Value> rows;
      for (Value value : all)
        rows.push_back(vector::ExtractOp::create(b, loc, value, i));
      rows = replaceLarge(b, loc, row, path, rows);
      for (auto [value, replaced] : llvm::zip_equal(all, rows))
        value = vector::InsertOp::create(b, loc, replaced, value, i);
    }
    return all;
  }
  auto replaceAt = [&](OpBuilder &b, ValueRange values,
                       ArrayRef<OpFoldResult> index) {
    Value element = vector::ExtractOp::create(b, loc, x, index);
    return replaceNumber(b, loc, element, path, values, index);
  };
  if (vector.getRank() == 0)
    return replaceAt(b, values, {});
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = arith::ConstantIndexOp::create(b, loc, vector.getDimSize(0));
  auto loop = scf::ForOp::create(
      b, loc, zero, end, one, values,
      [&](OpBuilder &b, Location loc, Value i, ValueRange values) {
        scf::YieldOp::create(b, loc, replaceAt(b, values, OpFoldResult(i)));
      });
  return loop.getResults();
}

/// Returns `near`, the result of the first path, with the values of large
/// elements replaced.
static Angle withLargeNumbers(Code &code, Value x, double bound, Angle near) {
  SmallVector<Value> values = getValues(near);
  OpBuilder &b = code.getBuilder();
  // Find the function here, because builders of regions cannot reach it.
  Type integer = getElementTypeOrSelf(code.getIntegerType());
  FarPath path = {
      bound, findLargeAngle(b.getInsertionBlock()->getParentOp(), integer)};
  if (!isa<VectorType>(x.getType()))
    return toAngle(replaceLarge(b, code.getLoc(), x, path, values));
  auto choice = scf::IfOp::create(
      b, code.getLoc(), isAny(b, code.getLoc(), isLarge(code, x, bound)),
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, replaceLarge(b, loc, x, path, values));
      },
      [&](OpBuilder &b, Location loc) {
        scf::YieldOp::create(b, loc, values);
      });
  return toAngle(choice.getResults());
}

/// Computes the first path of both reductions, without the third term.
static Angle reduceNear(Code &code, Value x, const double (&halfPi)[3],
                        Value &n, Value &first) {
  const Format &format = code.format;
  Value shift = code.real(format.shift());
  Value shifted = code.fma(x, code.real(format.inverseHalfPi), shift);
  n = code.sub(shifted, shift);
  first = code.fma(n, code.real(-halfPi[0]), x);
  Value rest = code.fma(n, code.real(-halfPi[1]), first);
  return {shifted, rest, Value()};
}

Angle expansion::reduceAngle(Code &code, Value x) {
  const Format &format = code.format;
  Value n, first;
  Angle angle = reduceNear(code, x, format.halfPi, n, first);
  angle.rest = code.fma(n, code.real(-format.halfPi[2]), angle.rest);
  return withLargeNumbers(code, x, format.sineHighest, angle);
}

Angle expansion::reduceAngleToPair(Code &code, Value x,
                                   const PairTerms &terms) {
  Value n, first;
  Angle angle = reduceNear(code, x, terms.halfPi, n, first);
  // Subtracting the first term is exact. Subtracting the second term rounds,
  // and its error is a floating-point number. If n is 0, the error is 0.
  Value error =
      code.fma(n, code.real(terms.halfPi[1]), code.sub(angle.rest, first));
  angle.excess = code.fma(n, code.real(terms.halfPi[2]), error);
  return withLargeNumbers(code, x, terms.highest, angle);
}
