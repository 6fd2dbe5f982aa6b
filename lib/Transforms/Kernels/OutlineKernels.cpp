//===- OutlineKernels.cpp - Outline straight-line tensor code -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ControlStructure.h"
#include "Batch/Analysis/LoopLayers.h"
#include "Batch/Analysis/Sharedness.h"
#include "Batch/Analysis/TensorCode.h"
#include "Batch/Analysis/ValueFlow.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Transforms/Kernels/Passes.h"
#include "RowViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include <map>

namespace mlir::batch {
#define GEN_PASS_DEF_OUTLINEKERNELSPASS
#include "Batch/Transforms/Kernels/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Role of a tensor op in its block.
enum class Role {
  Copied, ///< has low cost: copied into the kernels that use it
  Shared, ///< the same for all instances, not of low cost: computed once
  Input,  ///< does not depend on the recursion: hoisted
  Cell,   ///< everything else
  Output, ///< no recursive result depends on it: a later phase
};

/// Key of the ops of one block that become one kernel. They have the same role,
/// and no call or other control flow separates them.
using GroupKey = std::pair<Role, unsigned>;

class Outliner {
public:
  Outliner(ModuleOp module, bool hoist, bool coarsen)
      : module(module), symbols(module), program(module), sharedness(program),
        flow(program), hoist(hoist), coarsen(coarsen),
        replicates(program.getStrategy() == Strategy::Replicate) {}

  ~Outliner();

  LogicalResult run();

private:
  bool isTensorOp(Operation *op) const;
  void findRecursion();
  LogicalResult outlineBlock(Block *block);
  void classify(Block *block);
  unsigned levelOf(Operation *op, unsigned marked) const;
  void followControl(Operation *op);
  Role roleOf(Operation *op);
  void adjustRoles(Block *block);
  bool separateLayers(Block *block);
  void sinkGroups(Block *block);
  unsigned findLatest(ArrayRef<Operation *> ops) const;
  void separate(Block *block);
  void copyDynamic(Block *block);
  LogicalResult outlineGroup(Block *block, GroupKey key,
                             ArrayRef<Operation *> ops);
  SmallVector<Operation *> collectBody(ArrayRef<Operation *> ops) const;
  bool leavesKernel(Value value, Block *block,
                    const DenseSet<Operation *> &members) const;
  FailureOr<SmallVector<Value>>
  findOutputs(Block *block, ArrayRef<Operation *> ops,
              const DenseSet<Operation *> &members) const;
  KernelOp makeKernel(StringRef name, ArrayRef<Operation *> body,
                      ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                      Operation *first);
  std::string nameKernel(Block *block, Role role);
  KernelOp findEqual(KernelOp kernel);
  void eraseDead(Block *block);
  void eraseOp(Operation *op);
  /// Ops removed from the program, freed at the end.
  SmallVector<Operation *> dead;

  ModuleOp module;
  SymbolTable symbols;
  InstanceProgram program;
  Sharedness sharedness;
  ValueFlow flow;
  /// True for each node that affects a recursive result read by a tensor op, or
  /// a tensor read by control flow.
  SmallVector<bool> feedsRecursion;
  /// Values that depend on a result of control flow: a call, a match or a loop.
  DenseSet<Value> dependsOnControl;
  std::optional<TensorCode> code;
  const bool hoist, coarsen;
  /// True if units run control flow (strategy `replicate`). Loops then have
  /// orders, and ops that depend on a loop-carried number cannot be hoisted.
  const bool replicates;
  /// State of the current block.
  bool hasCell = false;
  DenseMap<Operation *, unsigned> levels;
  DenseMap<Operation *, GroupKey> groups;
  /// All kernels of the module, by hashKernel().
  DenseMap<size_t, SmallVector<KernelOp>> kernels;
};

} // namespace

/// Returns true if a loop of `op` is a reduction.
static bool isReduction(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumReductionLoops() > 0;
}

bool Outliner::isTensorOp(Operation *op) const { return code->contains(op); }

/// Returns true for the extent of a ragged tensor. A kernel that reads the
/// tensor can compute the extent itself.
static bool isExtent(Operation *op) {
  auto dim = dyn_cast<tensor::DimOp>(op);
  return dim && dim.getConstantIndex() == 0;
}

/// Hashes the type of a kernel and its ops, but not their operands. Equal
/// kernels have equal hashes.
static size_t hashKernel(KernelOp kernel) {
  llvm::hash_code hash = hash_value(kernel.getFunctionType());
  kernel.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  // Clear the highest bit, because the map reserves the two largest keys.
  return static_cast<size_t>(hash) >> 1;
}

LogicalResult Outliner::run() {
  if (!program.getEntry())
    return success();
  if (failed(flow.verify()))
    return failure();
  SymbolTableCollection tables;
  for (func::FuncOp function : program.getFunctions())
    normalizeExtents(function, tables);
  code.emplace(program, sharedness);
  findRecursion();
  for (auto kernel : module.getOps<KernelOp>())
    kernels[hashKernel(kernel)].push_back(kernel);
  for (Block *block : code->getBlocks())
    if (failed(outlineBlock(block)))
      return failure();
  // Low-cost ops are dead now if only kernels, which contain copies, use them.
  for (Block *block : llvm::reverse(code->getBlocks()))
    eraseDead(block);
  return success();
}

/// Finds the nodes that feed recursion. A recursive result counts if a tensor
/// op reads it, directly or through calls, matches and loops.
void Outliner::findRecursion() {
  SmallVector<ValueFlow::Node> readByTensorOps;
  SmallVector<ValueFlow::Node> recursive, readByControl;
  auto add = [&](SmallVector<ValueFlow::Node> &nodes, ValueRange values) {
    for (Value value : values)
      if (flow.contains(value))
        nodes.push_back(flow.getNode(value));
  };
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op);
          call && program.isRecursiveCall(call))
        add(recursive, call.getResults());
      if (auto loop = dyn_cast<LoopLikeOpInterface>(op);
          loop && !loop.getRegionIterArgs().empty())
        add(recursive, op->getRegion(0).getArguments());
      if (isTensorOp(op))
        add(readByTensorOps, op->getOperands());
      if (auto extract = dyn_cast<tensor::ExtractOp>(op);
          extract && !isTensorOp(op) && !isTensorOp(op->getParentOp()))
        add(readByControl, extract.getTensor());
    });
  SmallVector<bool> reachesTensorOp = flow.ancestors(readByTensorOps);
  llvm::erase_if(recursive,
                 [&](ValueFlow::Node node) { return !reachesTensorOp[node]; });
  // A value that control flow reads may decide whether the recursion continues.
  recursive.append(readByControl);
  feedsRecursion = flow.ancestors(recursive);
}

/// Returns the maximum number of control-flow ops on any chain of dependences
/// that leads to `op` within its block, but at least `marked`. Requires the
/// levels of the ops before `op`.
unsigned Outliner::levelOf(Operation *op, unsigned marked) const {
  unsigned level = marked;
  Block *block = op->getBlock();
  auto visit = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != block)
      return;
    bool control =
        !isTensorOp(def) &&
        llvm::any_of(def->getResultTypes(),
                     [](Type type) { return !type.isIntOrIndexOrFloat(); }) &&
        !isa<tensor::ExtractSliceOp, InvokeOp>(def);
    // A number that control flow extracts from a tensor counts as control flow.
    if (auto extract = dyn_cast<tensor::ExtractOp>(def);
        extract && !isTensorOp(def))
      control = extract.getTensor().getDefiningOp() &&
                extract.getTensor().getDefiningOp()->getBlock() == block;
    level = std::max(level, levels.lookup(def) + (control ? 1 : 0));
  };
  for (Value operand : op->getOperands())
    visit(operand);
  for (Region &region : op->getRegions())
    visitUsedValuesDefinedAbove(
        region, region, [&](OpOperand *operand) { visit(operand->get()); });
  return level;
}

/// Marks the results of `op` that depend on control flow.
void Outliner::followControl(Operation *op) {
  bool view = isa<tensor::ExtractSliceOp>(op);
  bool follows =
      replicates && (isa<tensor::ExtractOp>(op) ||
                     llvm::any_of(op->getOperands(), [&](Value operand) {
                       return dependsOnControl.contains(operand);
                     }));
  for (Value result : op->getResults())
    if (follows || (!view && carriesTensor(result.getType())))
      dependsOnControl.insert(result);
  // Fields of a match exist before it, so they do not depend on control flow.
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  if (!loop)
    return;
  auto isForwarded = [&](BlockArgument argument) {
    return isa<scf::WhileOp>(op) ||
           llvm::is_contained(loop.getRegionIterArgs(), argument);
  };
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (carriesTensor(argument.getType()) ||
          (replicates && isForwarded(argument)))
        dependsOnControl.insert(argument);
}

/// Returns the role of a tensor op. Marks its results if they depend on control
/// flow.
Role Outliner::roleOf(Operation *op) {
  bool shared = true, depends = false;
  auto isOwnArgument = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && !sharedness.isShared(value) &&
           isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
           carriesTensor(value.getType());
  };
  auto visit = [&](Value value) {
    shared &= sharedness.isShared(value);
    depends |= dependsOnControl.contains(value) || isOwnArgument(value);
  };
  for (Value operand : op->getOperands())
    visit(operand);
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  llvm::for_each(captured, visit);
  if (depends)
    for (Value result : op->getResults())
      dependsOnControl.insert(result);
  // A kernel has no scalar results, so each kernel computes the scalars that it
  // needs.
  if (code->isScalarCode(op))
    return Role::Copied;
  if (shared)
    return isReduction(op) ? Role::Shared : Role::Copied;
  bool feeds = llvm::any_of(op->getResults(), [&](Value result) {
    return flow.contains(result) && feedsRecursion[flow.getNode(result)];
  });
  if (!feeds)
    return Role::Output;
  return hoist && !depends ? Role::Input : Role::Cell;
}

void Outliner::classify(Block *block) {
  levels.clear();
  // A `rec.phase` counts as control flow on which all later ops depend.
  unsigned highest = 0, marked = 0;
  for (Operation &op : *block) {
    unsigned level = levelOf(&op, marked);
    levels[&op] = level;
    highest = std::max(highest, level);
    if (isa<rec::PhaseOp>(op))
      marked = highest + 1;
    if (!isTensorOp(&op)) {
      followControl(&op);
      if (isExtent(&op))
        groups[&op] = {Role::Copied, level};
      continue;
    }
    Role role = roleOf(&op);
    groups[&op] = {role, level};
  }
}

/// Adjusts roles by cost. A level of input or output ops without a reduction is
/// not worth a kernel: its input ops are copied if `block` has a cell, and its
/// output ops join the cell. If control flow reads a tensor that a copied op
/// computes, the cell or a kernel for all instances computes it instead.
void Outliner::adjustRoles(Block *block) {
  DenseSet<unsigned> inputLevels, outputLevels;
  hasCell = false;
  for (Operation &op : *block) {
    auto it = groups.find(&op);
    if (it == groups.end())
      continue;
    auto [role, level] = it->second;
    hasCell |= role == Role::Cell;
    if (isReduction(&op) && role == Role::Input)
      inputLevels.insert(level);
    if (isReduction(&op) && role == Role::Output)
      outputLevels.insert(level);
  }
  for (Operation &op : *block) {
    auto it = groups.find(&op);
    if (it == groups.end())
      continue;
    auto &[role, level] = it->second;
    if (role == Role::Input && hasCell && !inputLevels.contains(level))
      role = Role::Copied;
    if (role == Role::Output && !outputLevels.contains(level))
      role = Role::Cell;
  }
  for (Operation &op : llvm::reverse(*block)) {
    auto it = groups.find(&op);
    if (it == groups.end() || it->second.first != Role::Copied)
      continue;
    bool readByControl = llvm::any_of(op.getUsers(), [&](Operation *user) {
      Operation *ancestor = user;
      while (ancestor && !isTensorOp(ancestor))
        ancestor = ancestor->getParentOp() &&
                           isa<func::FuncOp>(ancestor->getParentOp())
                       ? nullptr
                       : ancestor->getParentOp();
      return !ancestor;
    });
    if (readByControl && isa<RankedTensorType>(op.getResult(0).getType()))
      it->second.first =
          sharedness.isShared(op.getResult(0)) ? Role::Shared : Role::Cell;
  }
}

/// If the order of a loop requires it, separates the layers and returns true.
bool Outliner::separateLayers(Block *block) {
  Operation *parent = block->getParentOp();
  auto order = parent->getAttrOfType<OrderAttr>(kOrderAttr);
  if (!replicates || !order || order.getValue() == Order::Rounds)
    return false;
  LoopLayers layers = findLayers(cast<LoopLikeOpInterface>(parent), *code);
  unsigned count = 0;
  for (auto [op, level] : levels)
    count = std::max(count, level + 1);
  for (Operation &op : block->without_terminator()) {
    auto group = groups.find(&op);
    if (group == groups.end() || layers.isFree(&op))
      continue;
    auto &[role, level] = group->second;
    unsigned layer = layers.getLayer(&op);
    // A layer of products runs together with the recurrence after it.
    if (order.getValue() == Order::Wavefront)
      layer /= 2;
    if (role == Role::Cell || role == Role::Output)
      level += layer * count;
  }
  return true;
}

/// Returns the last level on which `ops`, a group of cells, can run. All other
/// ops that read their results are on a later level, or in a kernel of the
/// returned level.
unsigned Outliner::findLatest(ArrayRef<Operation *> ops) const {
  unsigned latest = std::numeric_limits<unsigned>::max();
  Block *block = ops.front()->getBlock();
  SmallVector<Operation *> worklist(ops);
  llvm::SmallPtrSet<Operation *, 16> seen(ops.begin(), ops.end());
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val()->getUsers()) {
      user = block->findAncestorOpInBlock(*user);
      if (!seen.insert(user).second || user->hasTrait<OpTrait::IsTerminator>())
        continue;
      auto group = groups.find(user);
      if (group == groups.end())
        latest = std::min(latest, std::max(levels.lookup(user), 1u) - 1);
      else if (group->second.first == Role::Copied)
        worklist.push_back(user);
      else
        latest = std::min(latest, group->second.second);
    }
  return latest;
}

/// Moves a group of cells into a later kernel of cells if neither tensor ops
/// nor control flow read the group before that kernel.
void Outliner::sinkGroups(Block *block) {
  if (!block->getOps<rec::PhaseOp>().empty())
    return;
  std::map<unsigned, SmallVector<Operation *>> cells;
  for (Operation &op : *block)
    if (auto it = groups.find(&op);
        it != groups.end() && it->second.first == Role::Cell)
      cells[it->second.second].push_back(&op);
  for (auto it = cells.rbegin(); it != cells.rend(); ++it) {
    auto end = cells.upper_bound(std::max(findLatest(it->second), it->first));
    auto target = std::prev(end);
    if (target->first == it->first)
      continue;
    for (Operation *op : it->second)
      groups[op].second = target->first;
    llvm::append_range(target->second, it->second);
  }
}

/// Puts each op into a separate group.
void Outliner::separate(Block *block) {
  unsigned number = 0;
  for (Operation &op : *block)
    if (auto it = groups.find(&op); it != groups.end())
      it->second.second = number++;
}

/// Copies ops of dynamic shape into the kernels that read them. A tensor of
/// dynamic shape cannot be stored, so each kernel recomputes it.
void Outliner::copyDynamic(Block *block) {
  auto isDynamic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !tensor.hasStaticShape();
  };
  // Kernels that read the results of an op. nullopt represents a kernel of
  // another block.
  DenseMap<Operation *, SmallVector<std::optional<GroupKey>>> readers;
  for (Operation &op : llvm::reverse(*block)) {
    auto it = groups.find(&op);
    if (it == groups.end())
      continue;
    SmallVector<std::optional<GroupKey>> keys;
    auto add = [&](std::optional<GroupKey> key) {
      if (!llvm::is_contained(keys, key))
        keys.push_back(key);
    };
    for (Operation *user : op.getUsers()) {
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      auto group = groups.find(ancestor);
      if (group == groups.end()) {
        if (isTensorOp(user))
          add(std::nullopt);
      } else if (group->second.first == Role::Copied) {
        llvm::for_each(readers[ancestor], add);
      } else {
        add(group->second);
      }
    }
    if (llvm::any_of(op.getResultTypes(), isDynamic) &&
        llvm::any_of(keys, [&](auto key) { return key != it->second; }))
      it->second.first = Role::Copied;
    readers[&op] = std::move(keys);
  }
}

/// Sorts ops so that values come before their uses. If a value is defined after
/// a use, moves its definition before the use. An invocation thus stays at the
/// position of its first op, before control flow that waits there.
static void pullOperands(Block *block) {
  DenseSet<Operation *> entered, placed;
  for (Operation &root : *block) {
    SmallVector<Operation *> stack = {&root};
    auto visit = [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == block && !entered.contains(def))
        stack.push_back(def);
    };
    while (!stack.empty()) {
      Operation *op = stack.back();
      if (!entered.insert(op).second) {
        stack.pop_back();
        if (placed.insert(op).second && op != &root)
          op->moveBefore(&root);
        continue;
      }
      llvm::for_each(op->getOperands(), visit);
      visitUsedValuesDefinedAbove(op->getRegions(),
                                  [&](OpOperand *use) { visit(use->get()); });
    }
  }
}

LogicalResult Outliner::outlineBlock(Block *block) {
  classify(block);
  adjustRoles(block);
  if (!coarsen)
    separate(block);
  else if (!separateLayers(block))
    sinkGroups(block);
  copyDynamic(block);
  llvm::MapVector<GroupKey, SmallVector<Operation *>> order;
  for (Operation &op : *block) {
    auto it = groups.find(&op);
    if (it == groups.end() || it->second.first == Role::Copied)
      continue;
    // With `coarsen`, all shared code of a block becomes one kernel, even if
    // control flow separates the code.
    GroupKey key = it->second;
    if (key.first == Role::Shared && coarsen)
      key.second = 0;
    order[key].push_back(&op);
  }
  for (auto &[key, ops] : order)
    if (failed(outlineGroup(block, key, ops)))
      return failure();

  // Ops of low cost remain only in kernels.
  eraseDead(block);
  if (!order.empty())
    pullOperands(block);
  return success();
}

/// Erases unused ops that are in kernels. Looks them up in `groups`, because
/// isTensorOp() requires operands, which a copied op may have lost.
void Outliner::eraseDead(Block *block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (op.use_empty() && groups.contains(&op))
      eraseOp(&op);
}

/// Removes `op` from the program, and frees it at the end of the pass: analyses
/// identify values by address, and a new op must not reuse such an address.
void Outliner::eraseOp(Operation *op) {
  op->dropAllUses();
  op->dropAllReferences();
  op->remove();
  dead.push_back(op);
}

Outliner::~Outliner() {
  for (Operation *op : dead)
    op->destroy();
}

/// Returns the name of `block` in assembly, or else that of its parent op.
static std::string nameBlock(Block *block) {
  Operation *op = block->getParentOp();
  std::string name = op->getName().stripDialect().str();
  if (auto names = dyn_cast<OpAsmOpInterface>(op))
    names.getAsmBlockNames([&](Block *named, StringRef given) {
      if (named == block)
        name = given.str();
    });
  return name;
}

std::string Outliner::nameKernel(Block *block, Role role) {
  auto function = block->getParent()->getParentOfType<func::FuncOp>();
  if (role == Role::Output)
    return (function.getSymName() + "_output").str();
  SmallVector<std::string> words;
  if (role == Role::Input && hasCell)
    words.push_back("input");
  else if (role == Role::Shared)
    words.push_back("once");
  for (; block->getParentOp() != function;
       block = block->getParentOp()->getBlock())
    words.push_back(nameBlock(block));
  words.push_back(function.getSymName().str());
  std::reverse(words.begin(), words.end());
  return llvm::join(words, "_");
}

/// Returns a kernel with the same code as `kernel`, or null.
KernelOp Outliner::findEqual(KernelOp kernel) {
  auto sameArguments = [&](KernelOp other) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      if (NamedAttrList(kernel.getArgAttrDict(i)) !=
          NamedAttrList(other.getArgAttrDict(i)))
        return false;
    return true;
  };
  for (KernelOp other : kernels[hashKernel(kernel)])
    if (kernel.getFunctionType() == other.getFunctionType() &&
        sameArguments(other) &&
        OperationEquivalence::isRegionEquivalentTo(
            &other.getBody(), &kernel.getBody(),
            OperationEquivalence::IgnoreLocations))
      return other;
  return {};
}

/// Returns the ops of a kernel: `ops` and the low-cost ops that they need.
SmallVector<Operation *>
Outliner::collectBody(ArrayRef<Operation *> ops) const {
  DenseSet<Operation *> members(ops.begin(), ops.end());
  SmallVector<Operation *> body(ops);
  auto visit = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (!def)
      return;
    auto it = groups.find(def);
    bool copy = (it != groups.end() && it->second.first == Role::Copied) ||
                def->hasTrait<OpTrait::ConstantLike>() || isExtent(def);
    if (copy && members.insert(def).second)
      body.push_back(def);
  };
  for (size_t i = 0; i < body.size(); ++i) {
    for (Value operand : body[i]->getOperands())
      visit(operand);
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(body[i]->getRegions(), captured);
    llvm::for_each(captured, visit);
  }
  // Copies of low-cost ops of outer blocks come first. The remaining ops are in
  // block order.
  llvm::stable_sort(body, [](Operation *a, Operation *b) {
    if (a->getBlock() == b->getBlock())
      return a->isBeforeInBlock(b);
    return a->getBlock()->findAncestorOpInBlock(*b) != nullptr;
  });
  return body;
}

/// Returns the values of other ops that `body` reads, in the order of their
/// first use. This order does not depend on addresses.
static SetVector<Value> findInputs(ArrayRef<Operation *> body,
                                   const DenseSet<Operation *> &members) {
  SetVector<Value> inputs;
  for (Operation *op : body) {
    SetVector<Value> used(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), used);
    for (Value value : used)
      if (Operation *def = value.getDefiningOp();
          !def || !members.contains(def))
        inputs.insert(value);
  }
  return inputs;
}

/// Returns true if code outside the kernel reads `value`, directly or through a
/// low-cost op.
bool Outliner::leavesKernel(Value value, Block *block,
                            const DenseSet<Operation *> &members) const {
  SmallVector<Value> worklist = {value};
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      while (user->getBlock() != block)
        user = user->getParentOp();
      auto group = groups.find(user);
      if (group != groups.end() && group->second.first == Role::Copied)
        llvm::append_range(worklist, user->getResults());
      else if (!members.contains(user))
        return true;
    }
  return false;
}

/// Returns the results of `ops` that are used outside the kernel.
FailureOr<SmallVector<Value>>
Outliner::findOutputs(Block *block, ArrayRef<Operation *> ops,
                      const DenseSet<Operation *> &members) const {
  SmallVector<Value> outputs;
  for (Operation *op : ops)
    for (Value result : op->getResults()) {
      if (!leavesKernel(result, block, members))
        continue;
      if (!cast<RankedTensorType>(result.getType()).hasStaticShape())
        return op->emitError("a tensor of dynamic shape is used outside of its "
                             "kernel, but only static tensors can be stored as "
                             "rows of a table; reduce over the dynamic extent "
                             "in the same block, or give the tensor a static "
                             "shape");
      outputs.push_back(result);
    }
  return outputs;
}

/// Creates a kernel of the ops in `body` before the function of `first`, or
/// returns an equal kernel.
KernelOp Outliner::makeKernel(StringRef name, ArrayRef<Operation *> body,
                              ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                              Operation *first) {
  OpBuilder builder(module.getContext());
  auto function = first->getParentOfType<func::FuncOp>();
  builder.setInsertionPoint(function);
  SmallVector<Attribute> argAttrs;
  for (Value input : inputs) {
    NamedAttrList attrs;
    if (std::optional<int64_t> parameter = sharedness.getParameter(input)) {
      attrs.set(kSharedAttr, builder.getUnitAttr());
      attrs.set(kParameterAttr, builder.getI64IntegerAttr(*parameter));
    }
    argAttrs.push_back(attrs.getDictionary(module.getContext()));
  }
  auto type = builder.getFunctionType(ValueRange(inputs).getTypes(),
                                      ValueRange(outputs).getTypes());
  Location loc = first->getLoc();
  auto kernel = KernelOp::create(builder, loc, name, type, /*phase=*/0,
                                 builder.getArrayAttr(argAttrs),
                                 /*res_attrs=*/ArrayAttr(),
                                 /*deferred=*/false);
  Block *entry = builder.createBlock(&kernel.getBody());
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, entry->addArgument(input.getType(), input.getLoc()));
  for (Operation *op : body)
    builder.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(mapping.lookup(output));
  YieldOp::create(builder, loc, yielded);

  if (KernelOp equal = findEqual(kernel)) {
    // Locations of all code that the kernel represents.
    SetVector<Location> places;
    if (auto known = dyn_cast<FusedLoc>(equal.getLoc()))
      places.insert_range(known.getLocations());
    else
      places.insert(equal.getLoc());
    for (Operation &op : entry->without_terminator())
      if (!op.hasTrait<OpTrait::ConstantLike>() && !isa<tensor::EmptyOp>(op))
        places.insert(op.getLoc());
    equal->setLoc(FusedLoc::get(module.getContext(), places.getArrayRef()));
    kernel.erase();
    return equal;
  }
  symbols.insert(kernel, function->getIterator());
  kernels[hashKernel(kernel)].push_back(kernel);
  return kernel;
}

LogicalResult Outliner::outlineGroup(Block *block, GroupKey key,
                                     ArrayRef<Operation *> ops) {
  SmallVector<Operation *> body = collectBody(ops);
  DenseSet<Operation *> members(body.begin(), body.end());
  SetVector<Value> inputs = findInputs(body, members);
  FailureOr<SmallVector<Value>> outputs = findOutputs(block, ops, members);
  if (failed(outputs))
    return failure();
  if (outputs->empty())
    return success();
  KernelOp kernel = makeKernel(nameKernel(block, key.first), body,
                               inputs.getArrayRef(), *outputs, ops.front());

  OpBuilder builder(ops.front());
  auto invoke = InvokeOp::create(
      builder, ops.front()->getLoc(), ValueRange(*outputs).getTypes(),
      FlatSymbolRefAttr::get(kernel.getSymNameAttr()), inputs.getArrayRef(),
      /*depth=*/Value());
  for (auto [output, result] : llvm::zip_equal(*outputs, invoke.getResults())) {
    if (dependsOnControl.contains(output))
      dependsOnControl.insert(result);
    output.replaceAllUsesExcept(result,
                                llvm::SmallPtrSet<Operation *, 1>{invoke});
  }
  // The ops are dead now, but may be out of order until the block is sorted.
  const DenseSet<Operation *> own(ops.begin(), ops.end());
  for (Operation *op : llvm::reverse(body))
    if (own.contains(op)) {
      groups.erase(op);
      eraseOp(op);
    }
  return success();
}

namespace {
class OutlineKernelsPass
    : public batch::impl::OutlineKernelsPassBase<OutlineKernelsPass> {
  using OutlineKernelsPassBase::OutlineKernelsPassBase;

  void runOnOperation() override {
    {
      InstanceProgram program(getOperation());
      Sharedness sharedness(program);
      StructuralControl control(program, sharedness);
      for (func::FuncOp function : program.getFunctions()) {
        splitRowViews(function, sharedness, control);
        pickElements(function, sharedness, control);
      }
    }
    // Create the outliner here, because its analyses need the changed program.
    if (failed(Outliner(getOperation(), hoist, coarsen).run()))
      signalPassFailure();
  }
};
} // namespace
