//===- UnitBarriers.cpp - Where units wait for each other -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/UnitBarriers.h"

#include "Batch/Analysis/StructuredFlow.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Memory that may contain a row: the symbol of a buffer or of rows of nodes,
/// or the site that owns the scratch memory. No other memory contains rows that
/// are written.
using Place = const void *;

/// Bits that specify how memory is used, and by which units. Uses by a single
/// unit never conflict with each other.
enum Use : unsigned {
  kReadByOne = 1,
  kWrittenByOne = 2,
  kReadByAll = 4,
  kWrittenByAll = 8
};

Use getUse(bool isWritten, bool byOne) {
  if (byOne)
    return isWritten ? kWrittenByOne : kReadByOne;
  return isWritten ? kWrittenByAll : kReadByAll;
}

/// Returns true if units have to wait for each other between uses of the same
/// memory.
bool conflict(unsigned before, Use now) {
  switch (now) {
  case kReadByOne:
    return before & kWrittenByAll;
  case kWrittenByOne:
    return before & (kReadByAll | kWrittenByAll);
  case kReadByAll:
    return before & (kWrittenByOne | kWrittenByAll);
  case kWrittenByAll:
    return before != 0;
  }
  llvm_unreachable("a use");
}

/// Uses that some units may not have completed when another unit reaches a
/// point in the program. A barrier completes them. The maps contain `Use` bits.
struct Pending {
  /// Uses of rows to which values still refer.
  DenseMap<Value, unsigned> rows;
  /// Uses of scratch memory, and of rows to which no value refers any more.
  DenseMap<Place, unsigned> places;
  /// Uses of the last row that a `uprog.row` with `in_turn` returned, and uses
  /// of the row before it.
  DenseMap<Operation *, unsigned> lastTurns, turnsBefore;
  /// True if uses by another program are pending. Such a program may read and
  /// write any memory.
  bool others = false;

  bool operator==(const Pending &other) const {
    return rows == other.rows && places == other.places &&
           lastTurns == other.lastTurns && turnsBefore == other.turnsBefore &&
           others == other.others;
  }
  void add(const Pending &other) {
    addTo(rows, other.rows);
    addTo(places, other.places);
    addTo(lastTurns, other.lastTurns);
    addTo(turnsBefore, other.turnsBefore);
    others |= other.others;
  }
  /// Records that a `uprog.row` with `in_turn` returns its next row, which may
  /// be the row that the op returned two turns before.
  void giveTurn(uprog::RowOp row) {
    auto before = turnsBefore.find(row);
    if (before != turnsBefore.end()) {
      places[row.getBufferAttr().getAsOpaquePointer()] |= before->second;
      turnsBefore.erase(before);
    }
    auto last = lastTurns.find(row);
    if (last == lastTurns.end())
      return;
    turnsBefore[row] = last->second;
    lastTurns.erase(last);
  }

private:
  template <class Key>
  static void addTo(DenseMap<Key, unsigned> &map,
                    const DenseMap<Key, unsigned> &more) {
    for (auto [key, uses] : more)
      map[key] |= uses;
  }
};

/// Uses of rows and scratch memory by an op.
struct Uses {
  SmallVector<std::pair<Value, Use>> rows;
  Operation *scratch = nullptr; ///< the site that owns the scratch memory
  Use ofScratch = kWrittenByAll;
  bool others = false;
};

class BarrierFinder {
public:
  explicit BarrierFinder(uprog::ProgramOp program)
      : program(program), flow(program) {
    program.walk([&](uprog::RememberOp remember) {
      remembered[remember.getRecursionAttr()].push_back(remember);
    });
  }

  SetVector<Operation *> run();

private:
  SmallVector<Place> getPlaces(Value row) const;
  bool mayBeSame(Value row, Value other) const;
  bool conflicts(const Pending &pending, const Uses &uses) const;
  void visit(Block &block, Pending &pending);
  void visitControl(RegionBranchOpInterface control, Pending &pending);
  void visitLoop(RegionBranchOpInterface loop, Pending &pending);
  Pending enter(RegionBranchOpInterface control, RegionBranchPoint from,
                RegionSuccessor to, const Pending &pending) const;

  uprog::ProgramOp program;
  StructuredFlow flow;
  /// Ops that record results of nodes, keyed by the symbol of their
  /// `uprog.node_results`.
  DenseMap<Attribute, SmallVector<uprog::RememberOp>> remembered;
  SetVector<Operation *> barriers; ///< ops that need a barrier before them
};

} // namespace

static Uses getUses(Operation *op) {
  Uses uses;
  auto task = dyn_cast<uprog::UTaskOpInterface>(op);
  if (!task)
    return uses;
  const bool byOne = task.getUnitLevel().has_value();
  if (auto accesses = task.getAccesses()) {
    for (auto [row, isWritten] : *accesses)
      uses.rows.emplace_back(row, getUse(isWritten, byOne));
  } else {
    uses.others = true;
  }
  uses.scratch = task.getScratch();
  uses.ofScratch = getUse(/*isWritten=*/true, byOne);
  return uses;
}

/// Returns the memory that may contain a row. A `uprog.look_up` returns one of
/// the recorded rows.
SmallVector<Place> BarrierFinder::getPlaces(Value row) const {
  SetVector<Place> places;
  SetVector<Value> rows;
  rows.insert(row);
  for (size_t i = 0; i < rows.size(); ++i)
    for (Value origin : flow.getOrigins(rows[i])) {
      if (auto made = origin.getDefiningOp<uprog::RowOp>()) {
        places.insert(made.getBufferAttr().getAsOpaquePointer());
      } else if (auto ofNode = origin.getDefiningOp<uprog::NodeRowOp>()) {
        places.insert(ofNode.getRowsAttr().getAsOpaquePointer());
      } else if (auto lookUp = origin.getDefiningOp<uprog::LookUpOp>()) {
        unsigned number = cast<OpResult>(origin).getResultNumber();
        for (uprog::RememberOp remember :
             remembered.lookup(lookUp.getRecursionAttr()))
          rows.insert(remember.getValues()[number]);
      }
    }
  return places.takeVector();
}

/// Returns the memory of the buffer of a `uprog.row`.
static Place getBuffer(Operation *row) {
  return cast<uprog::RowOp>(row).getBufferAttr().getAsOpaquePointer();
}

/// Returns true if `row` was created to avoid `other`. A slice counts as the
/// row that contains it.
static bool avoids(Value row, Value other) {
  if (auto slice = row.getDefiningOp<uprog::SliceOp>())
    row = slice.getWhole();
  auto made = row.getDefiningOp<uprog::RowOp>();
  return made && llvm::is_contained(made.getAvoided(), other);
}

bool BarrierFinder::mayBeSame(Value row, Value other) const {
  if (row == other)
    return true;
  if (avoids(row, other) || avoids(other, row))
    return false;
  SmallVector<Place> places = getPlaces(row);
  return llvm::any_of(getPlaces(other), [&](Place place) {
    return llvm::is_contained(places, place);
  });
}

bool BarrierFinder::conflicts(const Pending &pending, const Uses &uses) const {
  if (pending.others && (uses.others || !uses.rows.empty()))
    return true;
  if (uses.others)
    return !pending.rows.empty() || !pending.places.empty() ||
           !pending.lastTurns.empty() || !pending.turnsBefore.empty();
  if (uses.scratch &&
      conflict(pending.places.lookup(uses.scratch), uses.ofScratch))
    return true;
  for (auto [row, use] : uses.rows) {
    for (auto [other, before] : pending.rows)
      if (conflict(before, use) && mayBeSame(row, other))
        return true;
    SmallVector<Place> places = getPlaces(row);
    for (Place place : places)
      if (conflict(pending.places.lookup(place), use))
        return true;
    for (const auto &turns : {pending.lastTurns, pending.turnsBefore})
      for (auto [turn, before] : turns)
        if (conflict(before, use) && turn != row.getDefiningOp() &&
            llvm::is_contained(places, getBuffer(turn)))
          return true;
  }
  return false;
}

void BarrierFinder::visit(Block &block, Pending &pending) {
  for (Operation &op : block) {
    if (isa<uprog::BarrierOp>(op)) {
      pending = Pending();
      continue;
    }
    if (auto control = dyn_cast<RegionBranchOpInterface>(op)) {
      if (isa<LoopLikeOpInterface>(op))
        visitLoop(control, pending);
      else
        visitControl(control, pending);
      continue;
    }
    if (auto row = dyn_cast<uprog::RowOp>(op))
      pending.giveTurn(row);
    Uses uses = getUses(&op);
    if (conflicts(pending, uses))
      barriers.insert(&op);
    if (barriers.contains(&op))
      pending = Pending();
    for (auto [row, use] : uses.rows)
      pending.rows[row] |= use;
    if (uses.scratch)
      pending.places[uses.scratch] |= uses.ofScratch;
    pending.others |= uses.others;
  }
}

/// Returns the uses that are pending at `to` if control flow enters it from
/// `from`. `from` and `to` are regions of `control`, or the points before and
/// after `control`. Uses of a row become uses of the value that receives the
/// row. If no value receives the row, they become uses of the row's memory.
Pending BarrierFinder::enter(RegionBranchOpInterface control,
                             RegionBranchPoint from, RegionSuccessor to,
                             const Pending &pending) const {
  Pending entered;
  entered.places = pending.places;
  entered.lastTurns = pending.lastTurns;
  entered.turnsBefore = pending.turnsBefore;
  entered.others = pending.others;
  OperandRange operands = control.getSuccessorOperands(from, to);
  ValueRange inputs = to.getSuccessorInputs();
  for (auto [row, uses] : pending.rows) {
    bool isOuter = !control->isAncestor(row.getParentBlock()->getParentOp());
    if (isOuter)
      entered.rows[row] |= uses;
    bool isNamed = isOuter;
    for (auto [operand, input] : llvm::zip(operands, inputs)) {
      if (operand != row)
        continue;
      entered.rows[input] |= uses;
      isNamed = true;
    }
    auto made = row.getDefiningOp<uprog::RowOp>();
    if (!isNamed && made && made.getInTurn())
      entered.lastTurns[made] |= uses;
    else if (!isNamed)
      for (Place place : getPlaces(row))
        entered.places[place] |= uses;
  }
  return entered;
}

void BarrierFinder::visitControl(RegionBranchOpInterface control,
                                 Pending &pending) {
  // Pending uses before each region, where null represents the point after the
  // control flow. Iterate until the uses no longer change.
  DenseMap<Region *, Pending> before;
  SetVector<Region *> worklist;
  auto leave = [&](RegionBranchPoint point, const Pending &state) {
    SmallVector<RegionSuccessor> successors;
    control.getSuccessorRegions(point, successors);
    for (RegionSuccessor successor : successors) {
      Region *region = successor.getSuccessor();
      bool isNew = !before.contains(region);
      Pending &known = before[region];
      Pending old = known;
      known.add(enter(control, point, successor, state));
      if (region && (isNew || !(known == old)))
        worklist.insert(region);
    }
  };
  leave(RegionBranchPoint::parent(), pending);
  while (!worklist.empty()) {
    Region *region = worklist.pop_back_val();
    Pending state = before[region];
    visit(region->front(), state);
    leave(RegionBranchPoint(cast<RegionBranchTerminatorOpInterface>(
              region->front().getTerminator())),
          state);
  }
  pending = before[nullptr];
}

/// Visits a loop. Uses that are pending before the loop affect only its first
/// round. If only the first round needs a barrier, places it before the loop.
void BarrierFinder::visitLoop(RegionBranchOpInterface loop, Pending &pending) {
  if (barriers.contains(loop))
    pending = Pending();
  Pending none;
  visitControl(loop, none);
  SetVector<Operation *> ofAllRounds = barriers;
  visitControl(loop, pending);
  if (barriers.size() == ofAllRounds.size())
    return;
  barriers = std::move(ofAllRounds);
  barriers.insert(loop);
  pending = std::move(none);
}

SetVector<Operation *> BarrierFinder::run() {
  Pending pending;
  // If another program runs this program, the previous task of this program may
  // still be running.
  pending.others = llvm::any_of(
      program->getParentOfType<ModuleOp>().getOps<uprog::ProgramOp>(),
      [&](uprog::ProgramOp other) {
        return other
            .walk([&](uprog::RunOp run) {
              return run.getProgram() == program ? WalkResult::interrupt()
                                                 : WalkResult::advance();
            })
            .wasInterrupted();
      });
  visit(program.getBody().front(), pending);
  return std::move(barriers);
}

SetVector<Operation *> batch::findBarriers(uprog::ProgramOp program) {
  return BarrierFinder(program).run();
}
