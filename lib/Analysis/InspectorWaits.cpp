//===- InspectorWaits.cpp - Ops that may wait in inspectors ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InspectorWaits.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;

InspectorWaits::InspectorWaits(ModuleOp module) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto function : module.getOps<func::FuncOp>())
      if (!functions.contains(function.getSymNameAttr()) && (*this)(function))
        changed = functions.insert(function.getSymNameAttr()).second;
  }
  changed = true;
  while (changed) {
    changed = false;
    for (auto function : module.getOps<func::FuncOp>())
      changed |= addAwaited(function);
  }
}

bool InspectorWaits::operator()(Operation *op) const {
  return op
      ->walk([&](Operation *inner) {
        auto call = dyn_cast<func::CallOp>(inner);
        bool waits = call ? functions.contains(call.getCalleeAttr().getAttr())
                          : isa<AwaitOp>(inner);
        return waits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Visits the rows that `op` waits for, ignoring ops in its regions. Returns
/// false if `visit` returns false or if `op` may wait for other rows.
static bool visitAwaited(Operation *op, const DenseSet<StringAttr> &functions,
                         const DenseMap<StringAttr, llvm::BitVector> &awaited,
                         function_ref<bool(Value)> visit) {
  if (auto await = dyn_cast<AwaitOp>(op))
    return visit(await.getRow());
  auto call = dyn_cast<func::CallOp>(op);
  if (!call || !functions.contains(call.getCalleeAttr().getAttr()))
    return true;
  auto known = awaited.find(call.getCalleeAttr().getAttr());
  return known != awaited.end() &&
         llvm::all_of(known->second.set_bits(), [&](unsigned argument) {
           return visit(call.getOperand(argument));
         });
}

/// Adds an entry to `awaited` with the arguments whose rows `function` waits
/// for, unless `function` may also wait for other rows. Returns true if it adds
/// an entry.
bool InspectorWaits::addAwaited(func::FuncOp function) {
  StringAttr name = function.getSymNameAttr();
  if (!functions.contains(name) || awaited.contains(name))
    return false;
  llvm::BitVector arguments(function.getNumArguments());
  auto visit = [&](Value row) {
    auto argument = dyn_cast<BlockArgument>(row);
    if (!argument || argument.getOwner() != &function.getBody().front())
      return false;
    arguments.set(argument.getArgNumber());
    return true;
  };
  WalkResult all = function.walk([&](Operation *inner) {
    return visitAwaited(inner, functions, awaited, visit)
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return !all.wasInterrupted() &&
         awaited.try_emplace(name, std::move(arguments)).second;
}

bool InspectorWaits::waitsForOwnRows(ArrayRef<Operation *> ops) const {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  auto isFromOutside = [&](Value row) {
    Operation *op = row.getDefiningOp();
    if (!op) {
      op = row.getParentBlock()->getParentOp();
      // If `ops` contains a map, treat the elements over which it iterates as
      // values from outside `ops`.
      if (isa<rec::MapOp>(op) && inside.contains(op))
        return true;
    }
    while (op && !inside.contains(op))
      op = op->getParentOp();
    return !op;
  };
  return llvm::any_of(ops, [&](Operation *op) {
    return op
        ->walk([&](Operation *inner) {
          return visitAwaited(inner, functions, awaited, isFromOutside)
                     ? WalkResult::advance()
                     : WalkResult::interrupt();
        })
        .wasInterrupted();
  });
}

/// Determines whether `op` waits first or records a task first. Considers all
/// paths through the regions of `op`.
InspectorWaits::First
InspectorWaits::findFirst(Operation *op, DenseSet<Operation *> &calls) const {
  if (isa<AwaitOp>(op))
    return First::Wait;
  if (isa<RecordOp>(op))
    return First::Record;
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee || callee.isExternal() || !calls.insert(callee).second)
      return First::Record; // unknown callee
    First first = findFirst(callee.getBody(), calls);
    calls.erase(callee);
    return first;
  }
  // One region of a branch runs; a loop may run none of its regions.
  bool always = isa<scf::IfOp, scf::IndexSwitchOp, rec::MatchOp>(op),
       any = false;
  for (Region &region : op->getRegions()) {
    First first = region.empty() ? First::Nothing : findFirst(region, calls);
    if (first == First::Record)
      return first;
    always &= first == First::Wait;
    any |= first != First::Nothing;
  }
  return !any ? First::Nothing : always ? First::Wait : First::MaybeWait;
}

InspectorWaits::First
InspectorWaits::findFirst(Region &region, DenseSet<Operation *> &calls) const {
  if (!region.hasOneBlock())
    return First::Record; // unknown control flow
  First first = First::Nothing;
  for (Operation &op : region.front()) {
    First next = findFirst(&op, calls);
    if (next == First::Wait || next == First::Record)
      return next;
    if (next == First::MaybeWait)
      first = next;
  }
  return first;
}

bool InspectorWaits::gainsByFork(ArrayRef<Operation *> ops) const {
  if (waitsForOwnRows(ops))
    return true;
  DenseSet<Operation *> calls;
  for (Operation *op : ops) {
    First first = findFirst(op, calls);
    if (first == First::Wait)
      return false;
    if (first == First::Record)
      return true;
  }
  return false;
}
