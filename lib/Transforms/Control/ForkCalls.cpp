//===- ForkCalls.cpp - Let independent calls wait concurrently ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InspectorWaits.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Transforms/Control/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::batch {
#define GEN_PASS_DEF_FORKCALLSPASS
#include "Batch/Transforms/Control/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Forks the ops of a block that may wait ("waiting ops") where they are
/// independent of each other and the fork may save a flush. Recognizes
/// series-parallel dependences. If the dependences are not series-parallel, the
/// waiting ops that depend on no other waiting op form one fork.
class BlockForker {
public:
  BlockForker(Block &block, const InspectorWaits &mayWait);
  void run();

private:
  using Ops = SmallVector<Operation *>;

  void place(Ops ops, Block &to);
  bool placeAsBranches(ArrayRef<Operation *> ops, Block &to);
  SmallVector<unsigned> findCuts(const llvm::BitVector &inside) const;
  bool placeInSequence(ArrayRef<Operation *> ops, Block &to);
  void fork(MutableArrayRef<Ops> branches, Block &to);
  void placeReads(MutableArrayRef<Ops> branches, Block &to);
  /// Returns the waiting ops among `ops`.
  llvm::BitVector getWaiting(ArrayRef<Operation *> ops) const;
  /// Returns the ops of `inside` on which `op` depends.
  llvm::BitVector getNeeded(Operation *op,
                            const llvm::BitVector &inside) const {
    llvm::BitVector needed = above.lookup(op);
    return needed &= inside;
  }
  bool isForked(unsigned number) const {
    return !isa<AwaitOp>(waiting[number]);
  }

  Block &block;
  const InspectorWaits &mayWait;
  Ops waiting; ///< in order; an op's number is its position here
  DenseMap<Operation *, unsigned> numbers;
  /// For each op of the block, the waiting ops on which it depends.
  DenseMap<Operation *, llvm::BitVector> above;
};

class ForkCallsPass : public batch::impl::ForkCallsPassBase<ForkCallsPass> {
  using ForkCallsPassBase::ForkCallsPassBase;
  void runOnOperation() override;
};

} // namespace

BlockForker::BlockForker(Block &block, const InspectorWaits &mayWait)
    : block(block), mayWait(mayWait) {
  for (Operation &op : block.without_terminator())
    if (mayWait(&op)) {
      numbers[&op] = waiting.size();
      waiting.push_back(&op);
    }
  DenseMap<Value, Operation *> reads;
  for (Operation &op : block.without_terminator()) {
    llvm::BitVector needed(waiting.size());
    auto addOp = [&](Operation *other) {
      if (!other || other->getBlock() != &block)
        return;
      needed |= above.lookup(other);
      if (auto known = numbers.find(other); known != numbers.end())
        needed.set(known->second);
    };
    auto add = [&](Value value) { addOp(value.getDefiningOp()); };
    llvm::for_each(op.getOperands(), add);
    visitUsedValuesDefinedAbove(op.getRegions(),
                                [&](OpOperand *use) { add(use->get()); });
    // Of two reads of a row, only the first can wait, so the second depends on
    // it.
    if (auto read = dyn_cast<AwaitOp>(op))
      addOp(std::exchange(reads[read.getRow()], read));
    above[&op] = std::move(needed);
  }
}

llvm::BitVector BlockForker::getWaiting(ArrayRef<Operation *> ops) const {
  llvm::BitVector inside(waiting.size());
  for (Operation *op : ops)
    if (auto known = numbers.find(op); known != numbers.end())
      inside.set(known->second);
  return inside;
}

/// Returns the position before the terminator, or the end if there is none.
static Block::iterator getEnd(Block &block) {
  bool hasEnd =
      !block.empty() && block.back().hasTrait<OpTrait::IsTerminator>();
  return hasEnd ? std::prev(block.end()) : block.end();
}

static void append(Operation *op, Block &to) {
  op->moveBefore(&to, getEnd(to));
}

/// If every branch begins with reads, moves these reads, and the ops that
/// depend only on them, before the fork. Then the fork begins after these
/// waits, and conditions that depend on these reads are known. Reads that
/// depend on other reads are not moved, because they would wait in sequence.
void BlockForker::placeReads(MutableArrayRef<Ops> branches, Block &to) {
  SmallVector<Ops> first, rest;
  for (const Ops &ops : branches) {
    Ops &before = first.emplace_back(), &behind = rest.emplace_back();
    llvm::BitVector inside = getWaiting(ops), reads(waiting.size());
    for (Operation *op : ops) {
      llvm::BitVector needed = getNeeded(op, inside);
      auto known = numbers.find(op);
      bool isFirst = known == numbers.end();
      if (isFirst)
        needed.reset(reads);
      else if (!isForked(known->second) && needed.none()) {
        reads.set(known->second);
        isFirst = true;
      }
      (isFirst && needed.none() ? before : behind).push_back(op);
    }
    if (reads.none())
      return;
  }
  for (const Ops &ops : first)
    for (Operation *op : ops)
      append(op, to);
  llvm::copy(rest, branches.begin());
}

/// Appends a batch.concurrent with a region for each of `branches`, which do
/// not depend on each other. If no branch gains from the fork, appends the ops
/// of all branches in program order.
void BlockForker::fork(MutableArrayRef<Ops> branches, Block &to) {
  placeReads(branches, to);
  if (llvm::none_of(branches, [&](const Ops &branch) {
        return mayWait.gainsByFork(branch);
      })) {
    Ops all;
    for (const Ops &branch : branches)
      llvm::append_range(all, branch);
    llvm::sort(
        all, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : all)
      append(op, to);
    return;
  }
  Location loc = branches.front().front()->getLoc();
  SmallVector<SmallVector<Value>> yielded;
  SmallVector<Value> values;
  SmallVector<DenseSet<Operation *>> members;
  auto isOutside = [](const DenseSet<Operation *> &branch, Operation *user) {
    while (user && !branch.contains(user))
      user = user->getParentOp();
    return !user;
  };
  for (const Ops &branch : branches) {
    const auto &inside = members.emplace_back(branch.begin(), branch.end());
    SmallVector<Value> &results = yielded.emplace_back();
    for (Operation *op : branch)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return isOutside(inside, user);
            }))
          results.push_back(result);
    llvm::append_range(values, results);
  }
  OpBuilder builder(block.getParentOp());
  builder.setInsertionPoint(&to, getEnd(to));
  auto op = ConcurrentOp::create(builder, loc, TypeRange(ValueRange(values)),
                                 branches.size());
  unsigned position = 0;
  for (auto [branch, inside, region, results] :
       llvm::zip_equal(branches, members, op.getBranches(), yielded)) {
    auto isUsedOutside = [&, &inside = inside](OpOperand &use) {
      return isOutside(inside, use.getOwner());
    };
    for (Value value : results)
      value.replaceUsesWithIf(op.getResult(position++), isUsedOutside);
    Block &body = region.emplaceBlock();
    builder.setInsertionPointToEnd(&body);
    YieldOp::create(builder, loc, results);
    place(branch, body);
  }
  remark::passed(loc, remark::RemarkOpts::name("Fork").category("batch"))
      << std::to_string(branches.size()) +
             " calls do not depend on each other and wait concurrently";
}

/// Appends `ops` as branches that do not depend on each other. Returns false if
/// the waiting ops form a single group of dependent ops, or if all of them are
/// reads.
bool BlockForker::placeAsBranches(ArrayRef<Operation *> ops, Block &to) {
  llvm::BitVector inside = getWaiting(ops);
  llvm::EquivalenceClasses<unsigned> groups;
  for (unsigned number : inside.set_bits()) {
    groups.insert(number);
    llvm::BitVector needed = getNeeded(waiting[number], inside);
    for (unsigned other : needed.set_bits())
      groups.unionSets(number, other);
  }
  if (groups.getNumClasses() < 2)
    return false;
  // A group that contains only reads is not worth a branch. The tasks that its
  // reads wait for run while the branches run.
  DenseMap<unsigned, unsigned> branchOf;
  SmallVector<Ops> branches;
  for (unsigned number : inside.set_bits())
    if (isForked(number) &&
        branchOf.try_emplace(groups.getLeaderValue(number), branches.size())
            .second)
      branches.emplace_back();
  Ops rest;
  for (Operation *op : ops) {
    llvm::BitVector needed = getNeeded(op, inside);
    if (auto known = numbers.find(op); known != numbers.end())
      needed.set(known->second);
    DenseSet<unsigned> leaders;
    for (unsigned number : needed.set_bits())
      leaders.insert(groups.getLeaderValue(number));
    auto branch = branchOf.find(*leaders.begin());
    if (leaders.size() == 1 && branch != branchOf.end())
      branches[branch->second].push_back(op);
    else
      rest.push_back(op);
  }
  if (branches.size() > 1)
    fork(branches, to);
  else if (branches.size() == 1)
    place(branches.front(), to);
  else
    return false;
  place(rest, to);
  return true;
}

/// Returns the waiting ops of `inside` that depend on all earlier ones, and
/// that all later ones depend on.
SmallVector<unsigned>
BlockForker::findCuts(const llvm::BitVector &inside) const {
  SmallVector<unsigned> cuts;
  llvm::BitVector all = inside; // ops that all later ops depend on
  unsigned before = inside.count();
  for (int number = inside.find_last(); number >= 0;
       number = inside.find_prev(number)) {
    llvm::BitVector needed = getNeeded(waiting[number], inside);
    --before;
    if (all.test(number) && needed.count() == before)
      cuts.push_back(number);
    all &= needed;
  }
  std::reverse(cuts.begin(), cuts.end());
  return cuts;
}

/// Appends `ops` in sections, each of which depends on the previous one.
/// Returns false if there is only one section.
bool BlockForker::placeInSequence(ArrayRef<Operation *> ops, Block &to) {
  llvm::BitVector inside = getWaiting(ops);
  SmallVector<unsigned> cuts = findCuts(inside);
  if (cuts.empty() || inside.count() < 2)
    return false;
  llvm::BitVector isCut(waiting.size());
  SmallVector<unsigned> sectionOf(waiting.size()); // section of each cut
  for (auto [i, number] : llvm::enumerate(cuts)) {
    isCut.set(number);
    sectionOf[number] = 2 * i + 1;
  }
  // Each cut is a section, and so are the ops before, between and after the
  // cuts.
  SmallVector<Ops> sections(2 * cuts.size() + 1);
  for (Operation *op : ops) {
    int last = getNeeded(op, isCut).find_last();
    auto known = numbers.find(op);
    if (known != numbers.end() && isCut.test(known->second))
      sections[sectionOf[known->second]].push_back(op);
    else
      sections[last < 0 ? 0 : sectionOf[last] + 1].push_back(op);
  }
  for (Ops &section : sections)
    place(std::move(section), to);
  return true;
}

/// Moves `ops` to the end of `to`, which already contains everything on which
/// they depend.
void BlockForker::place(Ops ops, Block &to) {
  for (;;) {
    llvm::BitVector inside = getWaiting(ops);
    Ops rest;
    for (Operation *op : ops)
      if (!numbers.contains(op) && getNeeded(op, inside).none())
        append(op, to);
      else
        rest.push_back(op);
    if (inside.none() || placeInSequence(rest, to) || placeAsBranches(rest, to))
      return;
    // Waiting ops that depend on no other waiting op come first.
    SmallVector<Ops> branches;
    ops.clear();
    for (Operation *op : rest) {
      auto known = numbers.find(op);
      if (known == numbers.end() || getNeeded(op, inside).any())
        ops.push_back(op);
      else if (isForked(known->second))
        branches.push_back({op});
      else
        append(op, to);
    }
    if (branches.size() > 1)
      fork(branches, to);
    else if (branches.size() == 1)
      append(branches.front().front(), to);
  }
}

void BlockForker::run() {
  unsigned forked = 0;
  for (unsigned number = 0; number < waiting.size(); ++number)
    forked += isForked(number);
  if (forked < 2)
    return;
  Ops ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  place(ops, block);
}

void ForkCallsPass::runOnOperation() {
  // If the module already has a uprog.program, its inspectors are final,
  // whether or not they fork.
  if (!getOperation().getOps<uprog::ProgramOp>().empty())
    return;
  InspectorWaits mayWait(getOperation());
  if (!mayWait.hasFunctions())
    return;
  SmallVector<Block *> blocks;
  getOperation().walk([&](Block *block) {
    Operation *op = block->getParentOp();
    if (isa<ModuleOp>(op) || !mayWait(op))
      return;
    blocks.push_back(block);
    auto map = dyn_cast<rec::MapOp>(op);
    if (map && mayWait.gainsByFork(op)) {
      map->setAttr(kConcurrentAttr, UnitAttr::get(&getContext()));
      remark::passed(map.getLoc(),
                     remark::RemarkOpts::name("Fork").category("batch"))
          << "rounds do not depend on each other and wait concurrently";
    }
  });
  for (Block *block : blocks)
    BlockForker(*block, mayWait).run();
}
