//===- DuplicateFunctions.cpp - One function per set of parameters --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Normalize/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::batch {
#define GEN_PASS_DEF_DUPLICATEFUNCTIONSPASS
#include "Batch/Transforms/Normalize/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// For each argument of a function, the index of the entry's argument that is
/// passed for it. The index is -1 if no argument of the entry is passed, or if
/// that argument is not a parameter for which functions are copied.
using Context = SmallVector<int64_t>;

/// Returns true for a tensor of two or more dimensions, because a product may
/// read it as a whole. Also returns true for a tensor of dynamic shape, which
/// no result table can store. Returns false for a bias, which may differ from
/// task to task.
bool isWeight(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  return type && (type.getRank() >= 2 || !type.hasStaticShape());
}

class DuplicateFunctionsPass
    : public batch::impl::DuplicateFunctionsPassBase<DuplicateFunctionsPass> {
public:
  using DuplicateFunctionsPassBase::DuplicateFunctionsPassBase;
  void runOnOperation() override;

private:
  Context getEntryContext(func::FuncOp entry) const;
  /// Returns the context in which `call` calls `callee` if the function around
  /// `call` is called in context `own`.
  Context getCalleeContext(func::CallOp call, func::FuncOp callee,
                           const Context &own) const;
  bool collect(const InstanceProgram &program);

  /// All contexts of each function, in the order in which they are found, and
  /// the version of the function for each context.
  llvm::MapVector<func::FuncOp, SmallVector<Context>> contexts;
  DenseMap<func::FuncOp, SmallVector<func::FuncOp>> copies;
  /// Functions that are not duplicated.
  llvm::SetVector<func::FuncOp> undivided;
};

Context DuplicateFunctionsPass::getEntryContext(func::FuncOp entry) const {
  Context context;
  for (BlockArgument argument : entry.getArguments()) {
    int64_t number = argument.getArgNumber();
    bool weight = entry.getArgAttr(number, kSharedAttr) && isWeight(argument);
    context.push_back(weight ? number : -1);
  }
  return context;
}

Context DuplicateFunctionsPass::getCalleeContext(func::CallOp call,
                                                 func::FuncOp callee,
                                                 const Context &own) const {
  Context context(call.getNumOperands(), -1);
  if (undivided.contains(callee))
    return context;
  auto function = call->getParentOfType<func::FuncOp>();
  for (auto [number, operand] : llvm::enumerate(call.getOperands())) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (argument && argument.getOwner() == &function.getBody().front())
      context[number] = own[argument.getArgNumber()];
  }
  return context;
}

/// Collects the contexts of the entry and of all functions reachable from it.
/// Returns false if a function is called in more than `max-copies` contexts;
/// from then on, that function is not duplicated.
bool DuplicateFunctionsPass::collect(const InstanceProgram &program) {
  contexts.clear();
  func::FuncOp entry = program.getEntry();
  SmallVector<std::pair<func::FuncOp, Context>> work = {
      {entry, getEntryContext(entry)}};
  contexts[entry].push_back(work.front().second);
  for (size_t next = 0; next < work.size(); ++next) {
    auto [function, context] = work[next];
    WalkResult result =
        function.walk([&, context = context](func::CallOp call) -> WalkResult {
          func::FuncOp callee = program.getCallee(call);
          if (!callee || callee == entry)
            return WalkResult::advance();
          Context inner = getCalleeContext(call, callee, context);
          SmallVector<Context> &known = contexts[callee];
          if (llvm::is_contained(known, inner))
            return WalkResult::advance();
          if (known.size() == maxCopies) {
            undivided.insert(callee);
            return WalkResult::interrupt();
          }
          known.push_back(inner);
          work.push_back({callee, inner});
          return WalkResult::advance();
        });
    if (result.wasInterrupted())
      return false;
  }
  return true;
}

void DuplicateFunctionsPass::runOnOperation() {
  copies.clear();
  undivided.clear();
  InstanceProgram program(getOperation());
  if (!program.getEntry())
    return;
  // Collect again whenever collect() finds a function with too many contexts.
  // From then on, calls of this function pass no known parameters, which
  // changes the contexts of its callees.
  while (!collect(program))
    ;
  for (func::FuncOp function : undivided)
    remark::missed(function.getLoc(),
                   remark::RemarkOpts::name("Duplicate").category("batch"))
        << ("@" + function.getSymName() +
            " is not duplicated, because it is called with more sets of "
            "parameters than max-copies=" +
            Twine(maxCopies) + "; it reads parameters task by task")
               .str();
  SymbolTable symbols(getOperation());
  for (auto &[function, known] : contexts) {
    copies[function].push_back(function);
    Block::iterator behind = std::next(Block::iterator(function));
    for (size_t i = 1; i < known.size(); ++i) {
      auto copy = cast<func::FuncOp>(function->clone());
      symbols.insert(copy, behind);
      copies[function].push_back(copy);
    }
    if (known.size() > 1)
      remark::passed(function.getLoc(),
                     remark::RemarkOpts::name("Duplicate").category("batch"))
          << ("@" + function.getSymName() +
              " is duplicated: one copy for each of " + Twine(known.size()) +
              " sets of parameters")
                 .str();
  }
  for (auto &[function, known] : contexts)
    for (auto [context, copy] : llvm::zip_equal(known, copies[function]))
      copy.walk([&, &context = context](func::CallOp call) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        auto found = contexts.find(callee);
        if (found == contexts.end() || callee == program.getEntry())
          return;
        Context inner = getCalleeContext(call, callee, context);
        auto at = llvm::find(found->second, inner);
        call.setCallee(copies[callee][at - found->second.begin()].getSymName());
      });
}

} // namespace
