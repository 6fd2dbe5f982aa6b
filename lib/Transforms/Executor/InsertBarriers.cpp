//===- InsertBarriers.cpp - Barriers between units ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/StructuredFlow.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Transforms/Executor/Passes.h"

namespace mlir::batch {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "Batch/Transforms/Executor/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Memory that a row may be in: the symbol of a buffer or of rows of nodes, or
/// the site whose scratch memory it is. Nothing writes rows outside of these.
using Place = const void *;

/// What units may not have done yet when the first of them is here: they have
/// done it when they have met. A row or a place is mapped to whether it is
/// written.
struct Pending {
  /// By value, where that is still the row.
  DenseMap<Value, bool> rows;
  /// By place, for rows that no value names any more, and scratch memory.
  DenseMap<Place, bool> places;
  /// By `uprog.row` in turn: the row that it gave last, until it gives the next
  /// one; then the one before that.
  DenseMap<Operation *, bool> lastTurns, turnsBefore;
  /// Another program, which may read and write everything.
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
  /// Notes that a row in turn is given. The one before the last one may come
  /// again after it.
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
  static void addTo(DenseMap<Key, bool> &map, const DenseMap<Key, bool> &more) {
    for (auto [key, written] : more)
      map[key] |= written;
  }
};

/// What an op does with rows and scratch memory.
struct Accesses {
  SmallVector<std::pair<Value, bool>> rows; ///< and whether it is written
  Operation *scratch = nullptr;             ///< the site that has it
  bool others = false;
};

class BarrierInserter {
public:
  explicit BarrierInserter(uprog::ProgramOp program)
      : program(program), flow(program) {
    program.walk([&](uprog::RememberOp remember) {
      remembered[remember.getRecursionAttr()].push_back(remember);
    });
  }

  void run();

private:
  Accesses getAccesses(Operation *op) const;
  SmallVector<Place> getPlaces(Value row) const;
  bool mayBeSame(Value row, Value other) const;
  bool conflicts(const Pending &pending, const Accesses &accesses) const;
  void visit(Block &block, Pending &pending);
  void visitControl(RegionBranchOpInterface control, Pending &pending);
  void visitLoop(RegionBranchOpInterface loop, Pending &pending);
  Pending enter(RegionBranchOpInterface control, RegionBranchPoint from,
                RegionSuccessor to, const Pending &pending) const;

  uprog::ProgramOp program;
  StructuredFlow flow;
  /// By `uprog.node_results`: what notes results of nodes.
  DenseMap<Attribute, SmallVector<uprog::RememberOp>> remembered;
  SetVector<Operation *> barriers; ///< ops that need one before them
};

} // namespace

Accesses BarrierInserter::getAccesses(Operation *op) const {
  Accesses accesses;
  if (auto load = dyn_cast<uprog::LoadOp>(op)) {
    accesses.rows = {{load.getRow(), false}};
  } else if (auto copy = dyn_cast<uprog::CopyOp>(op)) {
    accesses.rows = {{copy.getFrom(), false}, {copy.getTo(), true}};
  } else if (auto result = dyn_cast<uprog::ResultOp>(op)) {
    if (result.getType())
      accesses.rows = {{result.getValue(), false}};
  } else if (auto run = dyn_cast<uprog::RunOp>(op)) {
    Operation *site = run.getStep() ? run.getStep().getDefiningOp() : nullptr;
    accesses.scratch = site;
    auto addRows = [&](ValueRange values, bool written) {
      for (Value value : values)
        if (isa<uprog::RowType>(value.getType()))
          accesses.rows.emplace_back(value, written);
    };
    if (auto one = dyn_cast_or_null<uprog::SiteOp>(site)) {
      addRows(one.getInputs(), false);
      addRows(one.getOutputs(), true);
    } else if (auto batch = dyn_cast_or_null<uprog::BatchOp>(site)) {
      for (Operation *user : batch.getTasks().getUsers())
        if (auto put = dyn_cast<uprog::PutTaskOp>(user))
          addRows(put.getInputs(), false);
      addRows(batch.getOutputs(), true);
    } else {
      accesses.scratch = nullptr;
      accesses.others = true;
    }
  } else if (isa<uprog::RefOp>(op)) {
    accesses.others = true;
  }
  return accesses;
}

/// A row that is looked up is in one of the places of those that are
/// remembered.
SmallVector<Place> BarrierInserter::getPlaces(Value row) const {
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

/// The place of the buffer of a `uprog.row`.
static Place getBuffer(Operation *row) {
  return cast<uprog::RowOp>(row).getBufferAttr().getAsOpaquePointer();
}

/// True if the first row, or one that it is a slice of, was made to be another
/// one than the second.
static bool avoids(Value row, Value other) {
  if (auto slice = row.getDefiningOp<uprog::SliceOp>())
    row = slice.getWhole();
  auto made = row.getDefiningOp<uprog::RowOp>();
  return made && llvm::is_contained(made.getAvoided(), other);
}

bool BarrierInserter::mayBeSame(Value row, Value other) const {
  if (row == other)
    return true;
  if (avoids(row, other) || avoids(other, row))
    return false;
  SmallVector<Place> places = getPlaces(row);
  return llvm::any_of(getPlaces(other), [&](Place place) {
    return llvm::is_contained(places, place);
  });
}

bool BarrierInserter::conflicts(const Pending &pending,
                                const Accesses &accesses) const {
  if (pending.others && (accesses.others || !accesses.rows.empty()))
    return true;
  if (accesses.others)
    return !pending.rows.empty() || !pending.places.empty() ||
           !pending.lastTurns.empty() || !pending.turnsBefore.empty();
  if (accesses.scratch && pending.places.contains(accesses.scratch))
    return true;
  for (auto [row, writes] : accesses.rows) {
    for (auto [other, written] : pending.rows)
      if ((writes || written) && mayBeSame(row, other))
        return true;
    SmallVector<Place> places = getPlaces(row);
    for (Place place : places) {
      auto known = pending.places.find(place);
      if (known != pending.places.end() && (writes || known->second))
        return true;
    }
    for (const auto &turns : {pending.lastTurns, pending.turnsBefore})
      for (auto [turn, written] : turns)
        if ((writes || written) && turn != row.getDefiningOp() &&
            llvm::is_contained(places, getBuffer(turn)))
          return true;
  }
  return false;
}

void BarrierInserter::visit(Block &block, Pending &pending) {
  for (Operation &op : block) {
    if (isa<uprog::BarrierOp>(op)) {
      pending = {};
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
    Accesses accesses = getAccesses(&op);
    if (conflicts(pending, accesses))
      barriers.insert(&op);
    if (barriers.contains(&op))
      pending = {};
    for (auto [row, writes] : accesses.rows)
      pending.rows[row] |= writes;
    if (accesses.scratch)
      pending.places[accesses.scratch] = true;
    pending.others |= accesses.others;
  }
}

/// What is pending after control has gone from one of its regions, or from
/// before it, to another or behind it. A value of a region is what it is handed
/// on as, or a row that no value names any more.
Pending BarrierInserter::enter(RegionBranchOpInterface control,
                               RegionBranchPoint from, RegionSuccessor to,
                               const Pending &pending) const {
  Pending entered;
  entered.places = pending.places;
  entered.lastTurns = pending.lastTurns;
  entered.turnsBefore = pending.turnsBefore;
  entered.others = pending.others;
  OperandRange operands = control.getSuccessorOperands(from, to);
  ValueRange inputs = to.getSuccessorInputs();
  for (auto [row, written] : pending.rows) {
    bool isOuter = !control->isAncestor(row.getParentBlock()->getParentOp());
    if (isOuter)
      entered.rows[row] |= written;
    bool isNamed = isOuter;
    for (auto [operand, input] : llvm::zip(operands, inputs)) {
      if (operand != row)
        continue;
      entered.rows[input] |= written;
      isNamed = true;
    }
    auto made = row.getDefiningOp<uprog::RowOp>();
    if (!isNamed && made && made.getInTurn())
      entered.lastTurns[made] |= written;
    else if (!isNamed)
      for (Place place : getPlaces(row))
        entered.places[place] |= written;
  }
  return entered;
}

void BarrierInserter::visitControl(RegionBranchOpInterface control,
                                   Pending &pending) {
  // By region; null: behind the control. Grows until nothing changes.
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

/// What is pending before a loop concerns its first round alone. If that needs
/// a barrier that other rounds do not, it comes before the loop.
void BarrierInserter::visitLoop(RegionBranchOpInterface loop,
                                Pending &pending) {
  if (barriers.contains(loop))
    pending = {};
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

void BarrierInserter::run() {
  Pending pending;
  // A unit runs one task of a program after the other.
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
  for (Operation *op : barriers) {
    OpBuilder builder(op);
    uprog::BarrierOp::create(builder, op->getLoc(), program.getLevel());
  }
}

namespace {
class InsertBarriersPass
    : public batch::impl::InsertBarriersPassBase<InsertBarriersPass> {
  void runOnOperation() override {
    // Plans and lanes have barriers already.
    if (getOperation().getOps<uprog::BufferOp>().empty() &&
        getOperation().getOps<uprog::NodeRowsOp>().empty())
      return;
    for (auto program : getOperation().getOps<uprog::ProgramOp>())
      BarrierInserter(program).run();
  }
};
} // namespace
