//===- MergeHandles.cpp - Merge equal handles -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A handle specifies a task, and a position among the task's results in one
// table. The op that reads the handle determines the table. Therefore, results
// of one task at the same position of different tables (h and c of an LSTM)
// have equal handles. This pass merges them into one value, in records, in
// regions, and in results of functions, and removes the copies.
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::batch {
#define GEN_PASS_DEF_MERGEHANDLESPASS
#include "Batch/Transforms/Kernels/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

class HandleMerger {
public:
  explicit HandleMerger(ModuleOp module) : module(module), symbols(module) {}

  void run();

private:
  void mergeRecord(RecordOp record);
  bool mergeRegionResults(Operation *op);
  bool mergeFunctionResults(func::FuncOp function);
  bool mergeIn(func::FuncOp function);

  ModuleOp module;
  SymbolTable symbols;
};

} // namespace

static bool holdsHandles(Type type) {
  while (auto list = dyn_cast<rec::ListType>(type))
    type = list.getElementType();
  return isa<HandleType>(type);
}

/// Returns, for each value that contains handles, the index of the first equal
/// value. For each other value, returns the index of the value itself.
static SmallVector<unsigned> findCopies(ValueRange values) {
  SmallVector<unsigned> first;
  DenseMap<Value, unsigned> numbers;
  for (auto [i, value] : llvm::enumerate(values))
    first.push_back(holdsHandles(value.getType())
                        ? numbers.try_emplace(value, i).first->second
                        : i);
  return first;
}

/// Returns the copies that occur in both `a` and `b`, in the format of
/// findCopies().
static SmallVector<unsigned> intersect(ArrayRef<unsigned> a,
                                       ArrayRef<unsigned> b) {
  SmallVector<unsigned> first;
  DenseMap<std::pair<unsigned, unsigned>, unsigned> numbers;
  for (unsigned i = 0; i < a.size(); ++i)
    first.push_back(numbers.try_emplace({a[i], b[i]}, i).first->second);
  return first;
}

/// Replaces the uses of results that are copies of other results. Returns the
/// set of copies, which the caller erases.
static llvm::BitVector replaceCopies(ValueRange results,
                                     ArrayRef<unsigned> first) {
  llvm::BitVector copies(first.size());
  for (unsigned i = 0; i < first.size(); ++i) {
    if (first[i] == i)
      continue;
    results[i].replaceAllUsesWith(results[first[i]]);
    copies.set(i);
  }
  return copies;
}

/// Recreates `op` without the results in `erased`, which have no uses.
static Operation *eraseResults(Operation *op, const llvm::BitVector &erased) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (OpResult result : op->getResults())
    if (!erased.test(result.getResultNumber()))
      state.addTypes(result.getType());
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  OpBuilder builder(op);
  Operation *made = builder.create(state);
  unsigned next = 0;
  for (OpResult result : op->getResults())
    if (!erased.test(result.getResultNumber()))
      result.replaceAllUsesWith(made->getResult(next++));
  op->erase();
  return made;
}

/// Merges results of a task that differ only in their table.
void HandleMerger::mergeRecord(RecordOp record) {
  auto kernel = symbols.lookup<KernelOp>(record.getKernelAttr().getAttr());
  DenseMap<Attribute, int64_t> counts; // number of results by table
  DenseMap<int64_t, Value> first;      // first result by position
  for (OpResult result : record.getResults()) {
    Attribute table =
        kernel.getResultAttr(result.getResultNumber(), kTableAttr);
    const int64_t position = table ? counts[table]++ : 0;
    if (auto [known, isNew] = first.try_emplace(position, result); !isNew)
      result.replaceAllUsesWith(known->second);
  }
}

/// Returns true if the values yielded by the regions of `op` are used only as
/// results of `op`. Such an op runs one of its regions, or runs its only region
/// for every element of a list.
static bool yieldsResults(Operation *op) {
  if (!isa<RegionBranchOpInterface>(op))
    return false;
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    if (!loop.getRegionIterArgs().empty())
      return false;
  return llvm::all_of(op->getRegions(), [&](Region &region) {
    return region.hasOneBlock() &&
           region.front().getTerminator()->getNumOperands() ==
               op->getNumResults();
  });
}

/// Merges results for which all regions yield equal values.
bool HandleMerger::mergeRegionResults(Operation *op) {
  if (op->getNumResults() < 2 || !yieldsResults(op))
    return false;
  SmallVector<Operation *> terminators;
  SmallVector<unsigned> first;
  for (Region &region : op->getRegions()) {
    Operation *terminator = region.front().getTerminator();
    SmallVector<unsigned> here = findCopies(terminator->getOperands());
    first = terminators.empty() ? here : intersect(first, here);
    terminators.push_back(terminator);
  }
  llvm::BitVector copies = replaceCopies(op->getResults(), first);
  if (copies.none())
    return false;
  for (Operation *terminator : terminators)
    terminator->eraseOperands(copies);
  eraseResults(op, copies);
  return true;
}

/// Merges results of the function that are the same value, and the
/// corresponding results of all calls.
bool HandleMerger::mergeFunctionResults(func::FuncOp function) {
  if (!function.isPrivate() || !function.getBody().hasOneBlock())
    return false;
  Operation *ret = function.getBody().front().getTerminator();
  SmallVector<unsigned> first = findCopies(ret->getOperands());
  llvm::BitVector copies(first.size());
  for (unsigned i = 0; i < first.size(); ++i)
    if (first[i] != i)
      copies.set(i);
  if (copies.none())
    return false;
  ret->eraseOperands(copies);
  (void)function.eraseResults(copies);
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(function, module);
  for (SymbolTable::SymbolUse use : *uses)
    if (isa<func::CallOp, LookupOp>(use.getUser())) {
      replaceCopies(use.getUser()->getResults(), first);
      eraseResults(use.getUser(), copies);
    }
  return true;
}

bool HandleMerger::mergeIn(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) { ops.push_back(op); });
  // Inner ops come first: merges in the regions of an op may allow merges of
  // its results.
  bool changed = false;
  for (Operation *op : ops) {
    if (auto depth = dyn_cast<DepthOp>(op)) {
      llvm::SetVector<Value> inputs(op->operand_begin(), op->operand_end());
      if (inputs.size() < op->getNumOperands())
        op->setOperands(inputs.getArrayRef());
      continue;
    }
    changed |= mergeRegionResults(op);
  }
  return mergeFunctionResults(function) || changed;
}

void HandleMerger::run() {
  SmallVector<func::FuncOp> functions;
  module.walk([&](RecordOp record) { mergeRecord(record); });
  for (auto function : module.getOps<func::FuncOp>())
    functions.push_back(function);
  // A merge in a callee may allow more merges in its callers.
  bool changed = true;
  while (changed) {
    changed = false;
    for (func::FuncOp function : functions)
      changed |= mergeIn(function);
  }
}

namespace {
class MergeHandlesPass
    : public batch::impl::MergeHandlesPassBase<MergeHandlesPass> {
  using MergeHandlesPassBase::MergeHandlesPassBase;
  void runOnOperation() override { HandleMerger(getOperation()).run(); }
};
} // namespace
