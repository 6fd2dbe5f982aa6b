//===- PlanBuffers.cpp - Copies that buffers need -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanBuffers.h"

#include "Batch/Analysis/StructuredFlow.h"
#include "Batch/Dialect/Batch/TableLayout.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns the op that writes a new row, or `row` itself if there is none.
static Operation *getWriter(uprog::RowOp row) {
  for (Operation *user : row->getUsers()) {
    bool writes = false;
    if (auto site = dyn_cast<uprog::SiteOp>(user))
      writes = llvm::is_contained(site.getOutputs(), row.getRow());
    else if (auto batch = dyn_cast<uprog::BatchOp>(user))
      writes = llvm::is_contained(batch.getOutputs(), row.getRow());
    else if (auto copy = dyn_cast<uprog::CopyOp>(user))
      writes = copy.getTo() == row.getRow();
    if (writes)
      return user;
  }
  return row;
}

/// Returns true if `writer` or later code reads the row.
static bool isRead(Value row, Operation *writer) {
  return llvm::is_contained(writer->getOperands(), row) ||
         isLiveAfter(row, writer);
}

/// Maximum size in bytes of a tensor that gets a second copy only to save a
/// barrier.
static constexpr int64_t kMostTurnBytes = 1 << 16;

/// Makes the row of a temporary in a loop alternate between two copies.
static void takeTurns(uprog::RowOp row, uprog::BufferOp buffer) {
  int64_t bytes = getRowBytes(cast<RankedTensorType>(buffer.getType()));
  if (!row->getParentOfType<LoopLikeOpInterface>() || bytes > kMostTurnBytes)
    return;
  row.setInTurn(true);
  buffer.setCopies(2);
}

void batch::planBuffers(uprog::ProgramOp program) {
  StructuredFlow flow(program);
  // For each `uprog.row`, the other values that may refer to its row.
  DenseMap<Value, SmallVector<Value>> rows;
  auto collect = [&](Value value) {
    if (!isa<uprog::RowType>(value.getType()))
      return;
    for (Value origin : flow.getOrigins(value))
      if (origin != value && origin.getDefiningOp<uprog::RowOp>())
        rows[origin].push_back(value);
  };
  program.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), collect);
    for (Region &region : op->getRegions())
      llvm::for_each(region.getArguments(), collect);
  });
  SymbolTable symbols(program->getParentOfType<ModuleOp>());
  program.walk([&](uprog::RowOp row) {
    auto buffer = symbols.lookup<uprog::BufferOp>(row.getBuffer());
    ArrayRef<Value> values = rows[row.getRow()];
    if (values.empty())
      return takeTurns(row, buffer);
    Operation *writer = getWriter(row);
    for (Value value : values)
      if (isDefinedBefore(value, row) && isRead(value, writer))
        row.getAvoidedMutable().append(value);
    buffer.setCopies(row.getAvoided().size() + 1);
  });
}
