//===- LaneReductions.cpp - Reductions that lanes divide ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaneReductions.h"

#include "../Stages/ReductionLoops.h"
#include "WarpExchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

/// Minimum number of values that each lane reduces. The loads of a lane are in
/// flight together, whereas each exchange between lanes waits for the previous
/// exchange. With fewer lanes per element, a warp also computes more elements.
static constexpr int64_t kLeast = 8;

/// Returns the loop that is divided among lanes: the longest loop. If several
/// loops have this length, returns the last of them, because values are
/// adjacent along the last loop.
static size_t findLoop(const ReductionLoops &loops) {
  size_t longest = 0;
  for (size_t i = 1; i < loops.dims.size(); ++i)
    if (loops.extents[i] >= loops.extents[longest])
      longest = i;
  return longest;
}

int64_t LaneReductions::countLanes(const Reduction &reduction) {
  if (!PartialResults(reduction.op).isKnown())
    return 1;
  ReductionLoops loops(reduction);
  uint64_t most = loops.extents[findLoop(loops)] / kLeast;
  return std::clamp<int64_t>(llvm::bit_floor(most), 1, kWarp);
}

/// Returns true if the stage inserts into rows that it reads. In such a stage,
/// a single lane must compute each element. The reason is that lanes do not
/// wait for each other before one of them stores the element.
static bool writesWhatItReads(const StagePlan &plan, const Stage &stage) {
  return llvm::any_of(stage.stores, [&](auto &stored) {
    auto &[value, storage] = stored;
    return storage.kind == Storage::Result && plan.getRoot(storage.index) &&
           llvm::is_contained(stage.op.getReads(),
                              Value(plan.getRoot(storage.index)));
  });
}

LaneReductions::LaneReductions(const StagePlan &plan, const Stage &stage)
    : lanes(chooseLanes(plan, stage)),
      tileColumns(std::min<int64_t>(
          kWarp / lanes, llvm::PowerOf2Ceil(stage.space.columns()))) {}

int64_t LaneReductions::chooseLanes(const StagePlan &plan,
                                    const Stage &stage) const {
  // If there are many elements, lanes divide reductions only if each reduction
  // is over adjacent values. Otherwise, each lane computes its own elements,
  // and neighboring lanes read adjacent values.
  bool few = stage.space.leading() * stage.space.columns() < kWarp;
  int64_t most = 1;
  for (const Reduction &reduction : stage.reductions) {
    if (reduction.packed || (!few && reduction.kind != ReductionKind::Lanes))
      return 1;
    most = std::max(most, countLanes(reduction));
  }
  return writesWhatItReads(plan, stage) ? 1 : most;
}

CodeBuilder::Values LaneReductions::reduce(CodeBuilder &b, Evaluator &evaluator,
                                           const Reduction &reduction,
                                           const Indices &element,
                                           Value member) const {
  int64_t count = std::min(lanes, countLanes(reduction));
  if (count == 1)
    return evaluator.reduce(reduction, element, /*vector=*/false);
  linalg::LinalgOp op = reduction.op;
  Block &body = op->getRegion(0).front();
  PartialResults how(op);
  ReductionLoops loops(reduction);
  size_t shared = findLoop(loops), last = loops.dims.size() - 1;
  size_t inputs = op.getNumDpsInputs();
  Indices dims = evaluator.loopIndices(op, element);
  // If an element has more than `count` lanes, some of its lanes do the same
  // work.
  WordMath m(b);
  Value own = count < lanes ? m.rem(member, count) : member;
  Value first = m.widen(own);

  auto one = [&](ValueRange partial) {
    SmallVector<Value> arguments = evaluator.evalInputs(op, dims);
    llvm::copy(partial, arguments.begin() + inputs);
    SmallVector<Value> next = evaluator.evalBody(body, arguments, dims, true);
    return CodeBuilder::Values(next.size() == how.results ? ValueRange(next)
                                                          : partial);
  };
  auto nest = [&](auto &self, CodeBuilder::Values partial, size_t depth) {
    if (depth > last)
      return one(partial);
    SmallVector<std::pair<int64_t, int64_t>> pieces = {
        {0, loops.extents[depth]}};
    if (depth == last)
      pieces = loops.pieces;
    for (auto [begin, end] : pieces) {
      auto at = [&, begin = begin, end = end](Value k, ValueRange values) {
        dims[loops.dims[depth]] = {k, false, -1, begin, end};
        return self(self, CodeBuilder::Values(values), depth + 1);
      };
      if (depth != shared) {
        partial = b.loop(b.constant(begin), b.constant(end), 1, partial, at);
        continue;
      }
      // All lanes run the same number of iterations of this loop, so it can be
      // unrolled. The remaining values follow.
      int64_t rest = (end - begin) % count;
      partial = b.loop(b.constant(begin), b.constant(end - rest), count,
                       partial, [&](Value k, ValueRange values) {
                         return at(b.add(k, first), values);
                       });
      if (rest)
        partial = b.select(
            m.less(own, m.constant(rest)), TypeRange(ValueRange(partial)),
            [&, end = end] {
              return at(b.add(first, b.constant(end - rest)), partial);
            },
            [&] { return partial; });
    }
    return partial;
  };
  CodeBuilder::Values results = how.ofNone(b, evaluator, element);
  if (results.empty())
    return {};
  results = nest(nest, results, 0);
  if (evaluator.hasFailed())
    return {};
  for (int64_t distance = count / 2; distance > 0; distance /= 2) {
    CodeBuilder::Values others;
    for (Value own : results)
      others.push_back(exchange(b, own, m.constant(distance)));
    results = how.combine(b, results, others);
  }
  return how.addStart(b, evaluator, element, results);
}
