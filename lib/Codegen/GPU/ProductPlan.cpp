//===- ProductPlan.cpp - How a block computes products --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductPlan.h"

#include "../Stages/ElementSources.h"
#include "../Stages/ReductionLoops.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

int64_t FactorFormat::padded(int64_t depth) const {
  return llvm::alignTo(depth, step());
}

int64_t FactorFormat::stride(int64_t depth) const {
  int64_t own = padded(depth) * bytes();
  // On tensor cores, eight lanes at a time read 16 bytes each: 64 bytes of each
  // of two rows. Otherwise, lanes read one row.
  return usesTensorCores() ? llvm::alignTo(own + 64, 128) - 64 : own;
}

FactorFormat uprog::getFormat(const StagePlan &plan, const Reduction &reduction,
                              batch::Precision precision) {
  // Factors of operators with f64 are not rounded.
  bool rounds = plan.getLanes() == FactorFormat::kVectorBytes / 4;
  return {reduction.getElementType(),
          rounds ? precision : batch::Precision::F32};
}

namespace {
/// Source of the factors of a share's rows: the elements of `value` at the
/// indices that `map` specifies. The dimensions of `map` are a row of the
/// stage, the inner dimensions of the stage, and k, counted from the beginning
/// of the share.
struct RowSource {
  Value value;
  AffineMap map;
  int64_t depth;

  bool operator==(const RowSource &other) const {
    return value == other.value && map == other.map && depth == other.depth;
  }
};
} // namespace

/// Returns true if `condition` holds for all k of a share, and false if it
/// holds for none. Returns std::nullopt otherwise, for example if it depends on
/// the row.
static std::optional<bool> holds(const IndexCondition &condition, AffineMap map,
                                 int64_t depth) {
  AffineExpr index = map.getResult(condition.dim);
  unsigned last = map.getNumDims() - 1;
  for (unsigned dim = 0; dim < last; ++dim)
    if (index.isFunctionOfDim(dim))
      return std::nullopt;
  auto at = [&](int64_t k) {
    AffineExpr value =
        index.replace(getAffineDimExpr(last, map.getContext()),
                      getAffineConstantExpr(k, map.getContext()));
    return cast<AffineConstantExpr>(value).getValue() < condition.limit;
  };
  // Check only the first and the last k: the index into a concatenated operand
  // is the index into the result minus a constant.
  if (!index.isPureAffine() || at(0) != at(depth - 1))
    return std::nullopt;
  return at(0) == condition.below;
}

/// Returns the source of the rows that a product multiplies at k in [begin,
/// end). Looks through concatenations and other views: two products may read
/// the same rows at different indices of their operands.
static RowSource findSource(const Reduction &product, int64_t begin,
                            int64_t end) {
  linalg::LinalgOp op = product.op;
  OpOperand *left = op.getDpsInputOperand(product.left);
  AffineMap map = getOperandMap(op, product.space, product.left);
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned i = 0; i < map.getNumDims(); ++i)
    dims.push_back(getAffineDimExpr(i, context));
  dims.back() = dims.back() + begin;
  RowSource found{left->get(),
                  map.compose(AffineMap::get(dims.size(), 0, dims, context)),
                  end - begin};
  while (auto result = dyn_cast<OpResult>(found.value)) {
    if (!isView(result.getOwner()))
      break;
    const ElementSource *chosen = nullptr;
    SmallVector<ElementSource> sources = getElementSources(result);
    for (const ElementSource &source : sources) {
      std::optional<bool> all = true;
      for (const IndexCondition &condition : source.conditions) {
        std::optional<bool> one = holds(condition, found.map, found.depth);
        if (!one)
          return found;
        all = *all && *one;
      }
      if (*all) {
        chosen = &source;
        break;
      }
    }
    if (!chosen || chosen->taskOfRow)
      break;
    found.map = simplifyAffineMap(chosen->map.compose(found.map));
    found.value = chosen->operand->get();
  }
  return found;
}

/// Returns the sources of a share's factors. If no piece of a concatenation
/// needs padding, each piece is one source. Otherwise, the whole share is one
/// source.
static SmallVector<RowSource> findSources(const ProductPlan::Share &share,
                                          const FactorFormat &format) {
  SmallVector<RowSource> sources;
  for (auto [begin, end] : ReductionLoops(*share.product).pieces) {
    begin = std::max(begin, share.begin);
    end = std::min(end, share.end);
    if (begin >= end)
      continue;
    if ((end - begin) % format.step())
      return {findSource(*share.product, share.begin, share.end)};
    sources.push_back(findSource(*share.product, begin, end));
  }
  return sources;
}

/// Returns true if two contractions multiply the same rows, element by element.
static bool readSameRows(const Reduction &a, const Reduction &b) {
  linalg::LinalgOp first = a.op, second = b.op;
  return first.getDpsInputOperand(a.left)->get() ==
             second.getDpsInputOperand(b.left)->get() &&
         getOperandMap(first, a.space, a.left) ==
             getOperandMap(second, b.space, b.left);
}

namespace {
/// Places the shares of a plan in rounds, in order.
class RoundMaker {
public:
  RoundMaker(ProductPlan &plan, int64_t rowBytes)
      : plan(plan), rowBytes(rowBytes) {}

  void add(ProductPlan::Share share, const FactorFormat &format) {
    if (plan.rounds.empty() || plan.rounds.back().format != format ||
        !place(share)) {
      ProductPlan::Round round{format};
      round.first = plan.shares.size();
      plan.rounds.push_back(round);
      used = 0;
      placed.clear();
      place(share);
    }
    plan.shares.push_back(share);
    ++plan.rounds.back().count;
  }

private:
  /// Finds the share's rows in the last round, or adds them to it. Returns
  /// false if they do not fit.
  bool place(ProductPlan::Share &share) {
    ProductPlan::Round &round = plan.rounds.back();
    const FactorFormat &format = round.format;
    SmallVector<RowSource> sources = findSources(share, format);
    if (std::optional<int64_t> at = find(sources)) {
      share.at = *at;
      return true;
    }
    ProductPlan::Segment next{share.product, share.begin, share.end, used};
    bool extends = false;
    if (!round.segments.empty()) {
      const ProductPlan::Segment &last = round.segments.back();
      extends =
          last.end == share.begin && readSameRows(*last.reader, *share.product);
      if (extends)
        next = {last.reader, last.begin, share.end, last.at};
    }
    int64_t end =
        next.at + format.padded(next.end - next.begin) * format.bytes();
    int64_t stride = format.stride(end / format.bytes());
    if (!round.segments.empty() && rowBytes && stride > rowBytes)
      return false;
    used = end;
    round.stride = stride;
    if (extends)
      round.segments.back() = next;
    else
      round.segments.push_back(next);
    share.at = next.at + (share.begin - next.begin) * format.bytes();
    int64_t at = share.at;
    for (const RowSource &source : sources) {
      placed.emplace_back(source, at);
      at += source.depth * format.bytes();
    }
    return true;
  }

  /// Returns the offset at which the last round stores `sources` one after
  /// another, or std::nullopt if it does not.
  std::optional<int64_t> find(ArrayRef<RowSource> sources) const {
    int64_t bytes = plan.rounds.back().format.bytes();
    for (const auto &[first, begin] : placed) {
      int64_t at = begin;
      auto isNext = [&](const RowSource &source) {
        bool known = llvm::is_contained(placed, std::make_pair(source, at));
        at += source.depth * bytes;
        return known;
      };
      if (llvm::all_of(sources, isNext))
        return begin;
    }
    return std::nullopt;
  }

  ProductPlan &plan;
  int64_t rowBytes;
  // State of the last round:
  int64_t used = 0;                                  ///< used bytes of a row
  SmallVector<std::pair<RowSource, int64_t>> placed; ///< sources with their
                                                     ///< offsets
};
} // namespace

ProductPlan::ProductPlan(const StagePlan &plan, const Stage &stage,
                         batch::Precision precision, int64_t rowBytes) {
  RoundMaker maker(*this, rowBytes);
  int64_t bytes = 0;
  for (const Reduction &reduction : stage.reductions) {
    if (!reduction.packed)
      continue;
    products.push_back(&reduction);
    FactorFormat format = getFormat(plan, reduction, precision);
    tileRows = format.tileRows();
    bytes = std::max(bytes, batch::elementBytes(format.element));
    for (int64_t k = 0, next; k < reduction.depth; k = next) {
      next = std::min(k + format.share(), reduction.depth);
      maker.add({&reduction, k, next, 0}, format);
    }
  }
  sumBytes = tileElements() * bytes;
}

int64_t ProductPlan::rowBytes() const {
  int64_t most = 0;
  for (const Round &round : rounds)
    most = std::max(most, round.stride);
  return most;
}
