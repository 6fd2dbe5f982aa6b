//===- TableLayout.cpp - Memory layout of rows ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/TableLayout.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::batch;

static constexpr int64_t kAlignment = 64;
/// Extent of the first digit of a slot. The extent is unbounded, because a
/// table can have any number of slots.
static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

namespace {
/// One digit of an index in a memory dimension.
struct Term {
  unsigned dim; ///< dimension of the map; 0 is the slot
  int64_t divisor, modulus, factor;
  int64_t extent = 0;
};
using Dimension = SmallVector<Term>; ///< largest factor first
} // namespace

/// Decomposes an expression into digits. Returns false if it is not a sum of
/// digits.
static bool getTerms(AffineExpr expr, int64_t factor, Dimension &terms) {
  // A zero remains if a dimension was split off completely.
  if (expr == 0)
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && binary.getKind() == AffineExprKind::Add)
    return getTerms(binary.getLHS(), factor, terms) &&
           getTerms(binary.getRHS(), factor, terms);
  auto takeConstant = [&](AffineExprKind kind, int64_t &value) {
    auto op = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!op || op.getKind() != kind)
      return;
    if (auto constant = dyn_cast<AffineConstantExpr>(op.getRHS())) {
      value *= constant.getValue();
      expr = op.getLHS();
    }
  };
  Term term{0, 1, 1, factor};
  takeConstant(AffineExprKind::Mul, term.factor);
  takeConstant(AffineExprKind::Mod, term.modulus);
  takeConstant(AffineExprKind::FloorDiv, term.divisor);
  auto dim = dyn_cast<AffineDimExpr>(expr);
  if (!dim || term.factor <= 0)
    return false;
  term.dim = dim.getPosition();
  terms.push_back(term);
  return true;
}

/// Returns the dimensions of a map, with all extents, or nullopt if the map
/// contains anything except digits.
static std::optional<SmallVector<Dimension>> parse(ArrayRef<int64_t> row,
                                                   AffineMap map) {
  SmallVector<Dimension> dimensions;
  for (AffineExpr expr : map.getResults()) {
    Dimension terms;
    if (!getTerms(expr, 1, terms))
      return std::nullopt;
    llvm::stable_sort(terms, [](const Term &a, const Term &b) {
      return a.factor > b.factor;
    });
    for (Term &term : terms) {
      // `d mod 1` folds away, so 1 means that there is no modulus.
      if (term.modulus > 1)
        term.extent = term.modulus;
      else if (term.dim == 0)
        term.extent = kUnbounded;
      else
        term.extent = llvm::divideCeil(row[term.dim - 1], term.divisor);
    }
    if (!terms.empty())
      dimensions.push_back(std::move(terms));
  }
  return dimensions;
}

int64_t mlir::batch::elementBytes(Type type) {
  if (type.isIndex())
    return 8;
  // An i0 has no bits but still takes one byte.
  return llvm::divideCeil(std::max(type.getIntOrFloatBitWidth(), 1u), 8);
}

LogicalResult TableLayout::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<int64_t> row, int64_t elementBytes,
                                  AffineMap map) {
  if (row.empty())
    return emitError() << "has a layout, but its rows are single elements; "
                          "remove the layout";
  if (map.getNumDims() != row.size() + 1 || map.getNumSymbols() != 0)
    return emitError()
           << "requires a layout with " << row.size() + 1
           << " dimensions (the slot and the dimensions of a row) and no "
              "symbols, got "
           << AffineMapAttr::get(map);
  auto dimensions = parse(row, map);
  if (!dimensions)
    return emitError() << "has an unsupported layout; dimensions must be sums "
                          "of positive multiples of 'd', 'd floordiv a', "
                          "'d mod b' or '(d floordiv a) mod b'";
  // Digits of an index must follow each other without gaps.
  SmallVector<SmallVector<const Term *>> digits(row.size() + 1);
  for (const Dimension &terms : *dimensions) {
    int64_t factor = 1;
    for (const Term &term : llvm::reverse(terms)) {
      if (term.factor != factor)
        return emitError() << "has a layout with a fused dimension in which "
                              "elements overlap or leave gaps";
      // Anything after an unbounded digit is invalid.
      factor = term.extent == kUnbounded ? -1 : factor * term.extent;
      digits[term.dim].push_back(&term);
    }
  }
  for (auto [dim, terms] : llvm::enumerate(digits)) {
    llvm::sort(terms, [](const Term *a, const Term *b) {
      return a->divisor < b->divisor;
    });
    int64_t next = 1;
    for (const Term *term : terms) {
      if (term->divisor != next || next < 0)
        next = -2;
      else if (term->modulus > 1)
        next *= term->modulus;
      else
        next = -1;
    }
    // A digit with a modulus may be the last one if it reaches the last
    // element.
    if (next != -1 && (dim == 0 || next < row[dim - 1]))
      return emitError() << "has a layout that does not use every digit of d"
                         << dim << " exactly once";
  }
  const Term &first = dimensions->front().front();
  if (first.extent != kUnbounded)
    return emitError() << "has a layout in which the slot dimension is not "
                          "first; the number of slots is known only at run "
                          "time, so split the slot dimension and reorder only "
                          "the inner one";
  if (digits[0].size() > 2 ||
      !llvm::isPowerOf2_64(static_cast<uint64_t>(first.divisor)))
    return emitError() << "has a layout that splits slots more than once, or "
                          "by a number that is not a power of two";
  const Term &last = dimensions->back().back();
  bool isUnsplit = dimensions->back().size() == 1 && last.modulus == 1;
  if (last.dim != row.size() || last.divisor != 1 ||
      (!isUnsplit && last.extent * elementBytes % kAlignment != 0))
    return emitError() << "has a layout that vectors cannot read; the "
                          "innermost dimension must hold a multiple of "
                       << kAlignment
                       << " bytes of consecutive elements of a row";
  return success();
}

TableLayout::TableLayout(ArrayRef<int64_t> row, int64_t elementBytes,
                         AffineMap map) {
  SmallVector<Dimension> dimensions;
  if (map) {
    dimensions = *parse(row, map);
  } else {
    dimensions.push_back({{0, 1, 1, 1, kUnbounded}});
    for (auto [dim, extent] : llvm::enumerate(row))
      dimensions.push_back({{unsigned(dim + 1), 1, 1, 1,
                             ShapedType::isDynamic(extent) ? 1 : extent}});
    if (row.empty())
      dimensions.push_back({});
  }
  int64_t padding = kAlignment / std::gcd(kAlignment, elementBytes);
  int64_t stride = 1, span = 1;
  for (const Dimension &terms : llvm::reverse(dimensions)) {
    int64_t extent = 1;
    for (const Term &term : terms) {
      int64_t distance = term.factor * stride;
      if (term.dim == 0) {
        (term.extent == kUnbounded ? blockBytes : slotBytes) =
            distance * elementBytes;
        if (term.extent != kUnbounded)
          block = term.extent;
      } else {
        digits.push_back({term.dim - 1, term.divisor,
                          term.modulus > 1 ? term.modulus : 0, distance});
        span += (term.extent - 1) * distance;
      }
      if (term.extent != kUnbounded)
        extent += (term.extent - 1) * term.factor;
    }
    if (&terms == &dimensions.back()) {
      run = terms.empty() ? 1 : terms.back().extent;
      if (terms.size() <= 1)
        run = llvm::alignTo(run, padding);
      extent = llvm::alignTo(extent, padding);
    }
    stride *= extent;
  }
  rowBytes = llvm::alignTo(span * elementBytes, kAlignment);
  llvm::stable_sort(digits, [](const Digit &a, const Digit &b) {
    return a.dim != b.dim ? a.dim > b.dim : a.divisor > b.divisor;
  });
  if (map) {
    TableLayout plain(row, elementBytes);
    rowMajor =
        llvm::equal(digits, plain.digits, [](const Digit &a, const Digit &b) {
          return a.dim == b.dim && a.divisor == b.divisor &&
                 a.modulus == b.modulus && a.stride == b.stride;
        });
  }
}

const TableLayout::Digit *TableLayout::getOnlyDigit(unsigned dim) const {
  const Digit *only = nullptr;
  for (const Digit &digit : digits) {
    if (digit.dim != dim)
      continue;
    if (only)
      return nullptr;
    only = &digit;
  }
  return only;
}

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

namespace {
/// Memory dimensions to which primitives are applied. Every term has an extent.
/// A term with `modulus` 1 extends to the end of its index.
class Primitives {
public:
  Primitives(function_ref<InFlightDiagnostic()> emitError,
             ArrayRef<int64_t> row)
      : emitError(emitError) {
    dimensions.push_back({{0, 1, 1, 1, kUnbounded}});
    for (auto [dim, extent] : llvm::enumerate(row))
      dimensions.push_back({{unsigned(dim + 1), 1, 1, 1, extent}});
    rank = dimensions.size();
  }

  LogicalResult apply(StringRef text);
  FailureOr<AffineMap> getMap(MLIRContext *context) const;

private:
  LogicalResult split(int64_t dim, int64_t factor);
  LogicalResult reorder(ArrayRef<int64_t> order);
  LogicalResult fuse(int64_t first, int64_t second);
  LogicalResult checkDimension(StringRef name, int64_t dim) {
    if (dim >= 0 && dim < static_cast<int64_t>(dimensions.size()))
      return success();
    return emitError() << "dimension " << dim << " of '" << name
                       << "' is out of range; expected 0 (the slot) to "
                       << dimensions.size() - 1;
  }

  function_ref<InFlightDiagnostic()> emitError;
  SmallVector<Dimension> dimensions;
  unsigned rank;
};
} // namespace

LogicalResult Primitives::split(int64_t dim, int64_t factor) {
  if (failed(checkDimension("split", dim)))
    return failure();
  auto misfit = [&]() {
    return emitError() << "'split(" << dim << ", " << factor
                       << ")' conflicts with earlier primitives that split or "
                          "fused this dimension";
  };
  Dimension outer = dimensions[dim], inner;
  int64_t rest = factor;
  while (rest > 1) {
    if (outer.empty())
      return misfit();
    Term term = outer.pop_back_val();
    bool ends = term.modulus == 1;
    if (term.extent <= rest && rest % term.extent == 0 && !outer.empty()) {
      inner.insert(inner.begin(), term);
      rest /= term.extent;
      continue;
    }
    if (!ends && term.extent % rest != 0)
      return misfit();
    Term low = term, high = term;
    low.modulus = low.extent = rest;
    high.divisor *= rest;
    if (term.extent != kUnbounded)
      high.extent = llvm::divideCeil(term.extent, rest);
    if (!ends)
      high.modulus = high.extent;
    inner.insert(inner.begin(), low);
    if (ends || high.extent > 1)
      outer.push_back(high);
    rest = 1;
  }
  dimensions[dim] = std::move(outer);
  dimensions.insert(dimensions.begin() + dim + 1, std::move(inner));
  return success();
}

LogicalResult Primitives::reorder(ArrayRef<int64_t> order) {
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, dimensions.size())))
    return emitError() << "'reorder' must name each of the "
                       << dimensions.size() << " dimensions once";
  SmallVector<Dimension> old = std::move(dimensions);
  dimensions.clear();
  for (int64_t dim : order)
    dimensions.push_back(old[dim]);
  return success();
}

LogicalResult Primitives::fuse(int64_t first, int64_t second) {
  if (failed(checkDimension("fuse", first)) ||
      failed(checkDimension("fuse", second)))
    return failure();
  if (second != first + 1)
    return emitError() << "'fuse(" << first << ", " << second
                       << ")' must name a dimension and the next one";
  llvm::append_range(dimensions[first], dimensions[second]);
  dimensions.erase(dimensions.begin() + second);
  return success();
}

LogicalResult Primitives::apply(StringRef text) {
  while (!(text = text.trim()).empty()) {
    StringRef name = text.take_until([](char c) { return c == '('; }).trim();
    size_t open = text.find('('), close = text.find(')');
    SmallVector<StringRef> words;
    SmallVector<int64_t> numbers;
    if (open != StringRef::npos && close != StringRef::npos && open < close)
      text.slice(open + 1, close).split(words, ',');
    for (StringRef word : words) {
      int64_t number;
      if (!word.trim().getAsInteger(10, number))
        numbers.push_back(number);
    }
    if (words.empty() || numbers.size() != words.size())
      return emitError()
             << "cannot parse '" << text
             << "'; expected split(DIM, FACTOR), reorder(DIM, "
                "...) or fuse(DIM, NEXT), or next_to(@TABLE) by itself";
    text = text.drop_front(close + 1);
    bool two = numbers.size() == 2;
    LogicalResult done = success();
    if (name == "split" && two && numbers[1] > 0)
      done = split(numbers[0], numbers[1]);
    else if (name == "reorder")
      done = reorder(numbers);
    else if (name == "fuse" && two)
      done = fuse(numbers[0], numbers[1]);
    else
      return emitError()
             << "invalid primitive '" << name << "(" << numbers
             << ")'; expected split(DIM, FACTOR) with FACTOR at least 1, "
                "reorder(DIM, ...) or fuse(DIM, NEXT), or "
                "next_to(@TABLE) by itself";
    if (failed(done))
      return failure();
  }
  return success();
}

FailureOr<AffineMap> Primitives::getMap(MLIRContext *context) const {
  SmallVector<AffineExpr> results;
  for (const Dimension &terms : dimensions) {
    AffineExpr sum = getAffineConstantExpr(0, context);
    int64_t factor = 1;
    for (const Term &term : llvm::reverse(terms)) {
      AffineExpr digit =
          getAffineDimExpr(term.dim, context).floorDiv(term.divisor);
      if (term.modulus > 1)
        digit = digit % term.modulus;
      if (factor < 0)
        return emitError() << "slots must come first in a fused dimension, "
                              "because their number is only known at run time";
      sum = digit * factor + sum;
      factor = term.extent == kUnbounded ? -1 : factor * term.extent;
    }
    results.push_back(sum);
  }
  return AffineMap::get(rank, 0, results, context);
}

int64_t mlir::batch::getRowBytes(RankedTensorType type) {
  return TableLayout(type.getShape(), elementBytes(type.getElementType()))
      .getRowBytes();
}

FailureOr<AffineMap>
mlir::batch::applyLayoutPrimitives(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> row, StringRef primitives,
                                   MLIRContext *context) {
  Primitives dimensions(emitError, row);
  if (failed(dimensions.apply(primitives)))
    return failure();
  return dimensions.getMap(context);
}
