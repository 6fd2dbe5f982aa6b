//===- Reservation.cpp - Space that traversals reserve --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reservation.h"

#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Kind of object that an op adds: a node (null) or a record of a kernel.
using Kind = KernelOp;

class Counter {
public:
  explicit Counter(const DenseSet<Operation *> &constants)
      : constants(constants) {}

  /// Adds to `most`, for each kind, the maximum number of objects that one run
  /// of `block` adds. Returns false if a call may add other objects.
  bool count(Block &block, bool inLoop, llvm::MapVector<Kind, int64_t> &most);

  llvm::MapVector<Kind, SmallVector<Operation *>> adders;
  DenseSet<Kind> unknown;

private:
  std::optional<Kind> getKind(Operation *op) {
    if (isa<rec::ConstructOp>(op))
      return Kind();
    if (auto record = dyn_cast<RecordOp>(op)) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
          op, record.getKernelAttr());
      if (!constants.contains(kernel))
        return kernel;
    }
    return std::nullopt;
  }

  const DenseSet<Operation *> &constants;
};

} // namespace

bool Counter::count(Block &block, bool inLoop,
                    llvm::MapVector<Kind, int64_t> &most) {
  for (Operation &op : block) {
    if (isa<CallOpInterface>(op))
      return false;
    if (std::optional<Kind> kind = getKind(&op)) {
      adders[*kind].push_back(&op);
      ++most[*kind];
      if (inLoop)
        unknown.insert(*kind);
    }
    bool loops = inLoop || isa<LoopLikeOpInterface>(op);
    // Only one of the regions runs.
    llvm::MapVector<Kind, int64_t> largest;
    for (Region &region : op.getRegions())
      for (Block &nested : region) {
        llvm::MapVector<Kind, int64_t> inner;
        if (!count(nested, loops, inner))
          return false;
        for (auto [kind, number] : inner)
          largest[kind] = std::max(largest[kind], number);
      }
    for (auto [kind, number] : largest)
      most[kind] += number;
  }
  return true;
}

Reservation batch::reserve(TraverseOp traverse,
                           const DenseSet<Operation *> &constants) {
  Counter counter(constants);
  llvm::MapVector<Kind, int64_t> sum;
  for (auto name : traverse.getFunctions().getAsRange<FlatSymbolRefAttr>()) {
    auto function =
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(traverse, name);
    llvm::MapVector<Kind, int64_t> most;
    for (Block &block : function.getBody())
      if (!counter.count(block, /*inLoop=*/false, most))
        return {};
    // All functions may visit the same node, so add up their maximums.
    for (auto [kind, number] : most)
      sum[kind] += number;
  }
  Reservation reservation;
  for (auto [kind, number] : sum) {
    if (counter.unknown.contains(kind))
      continue;
    if (kind)
      reservation.records[kind] = number;
    else
      reservation.nodes = number;
    llvm::append_range(reservation.ops, counter.adders[kind]);
  }
  return reservation;
}
