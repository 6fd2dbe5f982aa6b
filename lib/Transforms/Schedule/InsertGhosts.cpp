//===- InsertGhosts.cpp - Equalize depths after branches ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Transforms/Schedule/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::batch {
#define GEN_PASS_DEF_INSERTGHOSTSPASS
#include "Batch/Transforms/Schedule/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Number of tasks in the longest chain that computes a value, or none if this
/// number is not constant.
using Length = std::optional<int64_t>;
using Phases = DenseMap<StringAttr, int64_t>;

/// Lengths of the task chains that compute the values of a region. All tasks of
/// a chain are of one phase. Values from outside the region have length 0.
class ChainLengths {
public:
  ChainLengths(Region &region, int64_t phase, const Phases &phases);
  Length get(Value value) const;

private:
  Length getLongest(ValueRange values) const;
  Length getMade(Operation *op) const;

  Region &region;
  const int64_t phase;
  const Phases &phases;
  DenseMap<Value, Length> lengths; ///< lengths of results of ops in the region
};

class GhostInserter {
public:
  explicit GhostInserter(ModuleOp module) {
    for (auto kernel : module.getOps<KernelOp>())
      phases[kernel.getSymNameAttr()] = kernel.getPhase();
  }

  /// If the chains of `branches` have different lengths, makes depths read
  /// padded results instead of the results of `branches`.
  void run(Operation *branches);

private:
  std::optional<int64_t> getPhase(DepthOp depth) const;
  void pad(Operation *branches, DepthOp depth, int64_t phase);

  Phases phases;
  /// Padded results that must still be added to the current branches: for each
  /// result, phase and length, the values that the regions yield.
  using Key = std::tuple<unsigned, int64_t, int64_t>;
  llvm::MapVector<Key, SmallVector<Value>> padded;
  SmallVector<std::pair<OpOperand *, Key>> readers;
};

class InsertGhostsPass
    : public batch::impl::InsertGhostsPassBase<InsertGhostsPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns true for control flow that runs one of its regions and returns the
/// values that the region yields.
static bool isBranch(Operation *op) {
  return isa<rec::MatchOp, scf::IfOp, scf::IndexSwitchOp>(op);
}

static Value getYielded(Region &region, unsigned result) {
  return region.front().getTerminator()->getOperand(result);
}

//===----------------------------------------------------------------------===//
// ChainLengths
//===----------------------------------------------------------------------===//

ChainLengths::ChainLengths(Region &region, int64_t phase, const Phases &phases)
    : region(region), phase(phase), phases(phases) {
  // The walk visits a value after the values that it depends on.
  region.walk([&](Operation *op) {
    if (isBranch(op)) {
      for (OpResult result : op->getResults()) {
        SmallVector<Length> made;
        for (Region &branch : op->getRegions())
          made.push_back(get(getYielded(branch, result.getResultNumber())));
        lengths[result] = llvm::all_equal(made) ? made.front() : std::nullopt;
      }
      return;
    }
    Length length = getMade(op);
    for (Value result : op->getResults())
      lengths[result] = length;
  });
}

Length ChainLengths::getLongest(ValueRange values) const {
  int64_t longest = 0;
  for (Value value : values) {
    Length length = get(value);
    if (!length)
      return std::nullopt;
    longest = std::max(longest, *length);
  }
  return longest;
}

/// Returns the length of the results of `op`, which is not a branch.
Length ChainLengths::getMade(Operation *op) const {
  if (auto invoke = dyn_cast<InvokeOp>(op)) {
    auto depth = invoke.getDepth() ? invoke.getDepth().getDefiningOp<DepthOp>()
                                   : nullptr;
    if (!depth || phases.lookup(invoke.getKernelAttr().getAttr()) != phase)
      return std::nullopt;
    Length before = getLongest(depth.getInputs());
    return before ? Length(*before + 1) : std::nullopt;
  }
  if (auto ghost = dyn_cast<GhostOp>(op)) {
    Length before = get(ghost.getValue());
    return before ? Length(*before + 1) : std::nullopt;
  }
  // The op reads a row of a parameter or an element of a list.
  if (isa<tensor::ExtractSliceOp, rec::ElementOp>(op))
    return getLongest(op->getOperands());
  if (op->getNumRegions() == 0 &&
      llvm::all_of(op->getResultTypes(),
                   [](Type type) { return type.isIntOrIndexOrFloat(); }))
    return 0;
  return std::nullopt;
}

Length ChainLengths::get(Value value) const {
  if (!region.isAncestor(value.getParentRegion()))
    return 0;
  if (value.getDefiningOp())
    return lengths.lookup(value);
  // Fields exist before the match.
  return isa<rec::MatchOp>(value.getParentRegion()->getParentOp())
             ? Length(0)
             : std::nullopt;
}

//===----------------------------------------------------------------------===//
// GhostInserter
//===----------------------------------------------------------------------===//

/// Returns the phase of the tasks that have this depth. Returns nullopt unless
/// all readers of the depth are invocations in one phase.
std::optional<int64_t> GhostInserter::getPhase(DepthOp depth) const {
  std::optional<int64_t> phase;
  for (Operation *user : depth->getUsers()) {
    auto invoke = dyn_cast<InvokeOp>(user);
    if (!invoke)
      return std::nullopt;
    int64_t own = phases.lookup(invoke.getKernelAttr().getAttr());
    if (phase.value_or(own) != own)
      return std::nullopt;
    phase = own;
  }
  return phase;
}

/// Adds `count` ghosts to `value` at the end of a region, and returns the
/// padded value.
static Value addGhosts(Operation *terminator, Value value, int64_t count) {
  OpBuilder builder(terminator);
  Location loc = terminator->getLoc();
  for (; count > 0; --count) {
    Value depth = DepthOp::create(builder, loc, builder.getIndexType(), value);
    value = GhostOp::create(builder, loc, value.getType(), value, depth);
  }
  return value;
}

/// If the results of `branches` that `depth` reads have longer chains in one
/// region than in another, makes `depth` read a padded result. `phase` is the
/// phase of the tasks that have this depth.
void GhostInserter::pad(Operation *branches, DepthOp depth, int64_t phase) {
  SmallVector<OpOperand *> read;
  for (OpOperand &operand : depth->getOpOperands())
    if (operand.get().getDefiningOp() == branches)
      read.push_back(&operand);
  auto numberOf = [](OpOperand *operand) {
    return cast<OpResult>(operand->get()).getResultNumber();
  };
  // Find the maximum length of the results that the depth reads, in each region
  // and over all regions. Also find the operand with the overall maximum.
  SmallVector<int64_t> lengths;
  SmallVector<SmallVector<int64_t>> ofOperands;
  int64_t longest = -1;
  OpOperand *longestRead = nullptr;
  for (Region &region : branches->getRegions()) {
    ChainLengths chains(region, phase, phases);
    int64_t here = 0;
    for (OpOperand *operand : read) {
      Length length = chains.get(getYielded(region, numberOf(operand)));
      if (!length)
        return;
      here = std::max(here, *length);
      if (*length > longest) {
        longest = *length;
        longestRead = operand;
      }
    }
    lengths.push_back(here);
  }
  if (llvm::all_equal(lengths))
    return;
  auto type = dyn_cast<RankedTensorType>(longestRead->get().getType());
  if (!type || !type.hasStaticShape())
    return;
  Key key{numberOf(longestRead), phase, longest};
  readers.push_back({longestRead, key});
  auto [entry, isNew] = padded.try_emplace(key, SmallVector<Value>());
  if (!isNew)
    return;
  for (Region &region : branches->getRegions()) {
    Value value = getYielded(region, numberOf(longestRead));
    int64_t own = *ChainLengths(region, phase, phases).get(value);
    entry->second.push_back(
        addGhosts(region.front().getTerminator(), value, longest - own));
  }
}

/// Recreates `op` with results for the additional values that its regions
/// yield.
static Operation *addResults(Operation *op,
                             ArrayRef<SmallVector<Value>> yielded) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
  state.propertiesAttr = op->getPropertiesAsAttribute();
  state.addTypes(op->getResultTypes());
  for (ArrayRef<Value> values : yielded)
    state.addTypes(values.front().getType());
  for (auto [number, region] : llvm::enumerate(op->getRegions())) {
    Operation *terminator = region.front().getTerminator();
    for (ArrayRef<Value> values : yielded)
      terminator->insertOperands(terminator->getNumOperands(), values[number]);
    state.addRegion()->takeBody(region);
  }
  OpBuilder builder(op);
  Operation *made = builder.create(state);
  op->replaceAllUsesWith(made->getResults().take_front(op->getNumResults()));
  op->erase();
  return made;
}

void GhostInserter::run(Operation *branches) {
  padded.clear();
  readers.clear();
  llvm::SetVector<Operation *> depths;
  for (Value result : branches->getResults())
    for (Operation *user : result.getUsers())
      if (isa<DepthOp>(user))
        depths.insert(user);
  for (Operation *depth : depths)
    if (std::optional<int64_t> phase = getPhase(cast<DepthOp>(depth)))
      pad(branches, cast<DepthOp>(depth), *phase);
  if (padded.empty())
    return;
  SmallVector<SmallVector<Value>> yielded;
  for (auto &[key, values] : padded)
    yielded.push_back(values);
  unsigned first = branches->getNumResults();
  Operation *made = addResults(branches, yielded);
  for (auto [operand, key] : readers)
    operand->set(made->getResult(
        first + std::distance(padded.begin(), padded.find(key))));
  remark::passed(made->getLoc(),
                 remark::RemarkOpts::name("Ghosts").category("batch"))
      << "branches run different numbers of tasks, so later tasks are "
         "scheduled as if they followed the longest branch and run together";
}

void InsertGhostsPass::runOnOperation() {
  ModuleOp module = getOperation();
  // An inspector already has its depths.
  if (llvm::any_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
        return function->hasAttr(kInspectorAttr);
      }))
    return;
  InstanceProgram program(module);
  // Strategy `replicate` has no inspector that could read the ghosts.
  if (program.getStrategy() == Strategy::Replicate)
    return;
  SmallVector<Operation *> branches;
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](Operation *op) {
      if (isBranch(op))
        branches.push_back(op);
    });
  GhostInserter inserter(module);
  for (Operation *op : branches)
    inserter.run(op);
}
