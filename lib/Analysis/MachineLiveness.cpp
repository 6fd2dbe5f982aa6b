//===- MachineLiveness.cpp - Liveness of a machine's variables ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/MachineLiveness.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

enum class Access { None, Read, Write };

} // namespace

/// Returns the first access of `op` to the top of a variable, and sets
/// `variable`. A pop is a write: the top that it removes is not read again.
static Access getAccess(Operation *op, FlatSymbolRefAttr &variable) {
  return llvm::TypeSwitch<Operation *, Access>(op)
      .Case<TopOp, PushOp>([&](auto read) {
        variable = read.getVariableAttr();
        return Access::Read;
      })
      .Case<SetOp, PopOp>([&](auto write) {
        variable = write.getVariableAttr();
        return Access::Write;
      })
      .Default(Access::None);
}

MachineLiveness::MachineLiveness(MachineOp machine) {
  for (auto variable : machine.getOps<VariableOp>())
    numbers.try_emplace(variable.getSymNameAttr(), numbers.size());
  auto order = llvm::to_vector(machine.getOps<BlockOp>());
  for (BlockOp block : order)
    blocks[block.getSymNameAttr()] = block;
  addSuccessors(order);

  for (BlockOp block : order) {
    BlockState &state = states[block];
    for (llvm::BitVector *bits :
         {&state.reads, &state.writes, &state.in, &state.out})
      bits->resize(numbers.size());
    FlatSymbolRefAttr variable;
    for (Operation &op : llvm::reverse(block.getBody().front())) {
      Access access = getAccess(&op, variable);
      if (access == Access::None)
        continue;
      unsigned number = numbers.lookup(variable.getAttr());
      state.reads[number] = access == Access::Read;
      state.writes[number] = access == Access::Write;
    }
    // Results are read outside the machine.
    if (isa<ReturnOp>(block.getBody().front().getTerminator()))
      for (auto result : machine.getOps<VariableOp>())
        if (result.getResultNumber())
          state.out.set(numbers.lookup(result.getSymNameAttr()));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (BlockOp block : llvm::reverse(order)) {
      BlockState &state = states[block];
      for (BlockOp successor : successors[block])
        state.out |= states[successor].in;
      llvm::BitVector in = state.out;
      in.reset(state.writes);
      in |= state.reads;
      changed |= in != state.in;
      state.in = std::move(in);
    }
  }
}

/// Finds the blocks that lanes may enter after each block. A function consists
/// of the blocks that its first block reaches without entering callees.
void MachineLiveness::addSuccessors(ArrayRef<BlockOp> order) {
  llvm::MapVector<BlockOp, SmallVector<BlockOp>> returnPoints;
  for (BlockOp block : order) {
    for (StringAttr target : block.getTargets())
      successors[block].push_back(blocks.lookup(target));
    if (isa<PushJumpOp>(block.getBody().front().getTerminator())) {
      ArrayRef<BlockOp> targets = successors[block];
      returnPoints[targets.front()].push_back(targets.back());
    }
  }
  for (auto &[start, points] : returnPoints) {
    llvm::SetVector<BlockOp> function;
    function.insert(start);
    for (size_t i = 0; i < function.size(); ++i) {
      BlockOp block = function[i];
      Operation *end = block.getBody().front().getTerminator();
      if (isa<ReturnOp>(end)) {
        llvm::append_range(successors[block], points);
        continue;
      }
      auto targets = block.getTargets();
      for (StringAttr target :
           ArrayRef(targets).drop_front(isa<PushJumpOp>(end) ? 1 : 0))
        function.insert(blocks.lookup(target));
    }
  }
}

bool MachineLiveness::isLiveAfter(Operation *op,
                                  FlatSymbolRefAttr variable) const {
  FlatSymbolRefAttr accessed;
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode()) {
    Access access = getAccess(next, accessed);
    if (access != Access::None && accessed == variable)
      return access == Access::Read;
  }
  return states.find(op->getParentOp())
      ->second.out.test(numbers.lookup(variable.getAttr()));
}
