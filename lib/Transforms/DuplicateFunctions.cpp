//===- DuplicateFunctions.cpp - A function for each set of weights --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::batch {
#define GEN_PASS_DEF_DUPLICATEFUNCTIONSPASS
#include "Batch/Transforms/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Which of the entry's arguments each argument of a function is, -1 for what
/// is none of them or makes no difference. Such a tuple is a context.
using Context = SmallVector<int64_t>;

/// Weights: parameters that a product reads whole. A row of a table can be told
/// task by task, and so can a bias.
bool isWeight(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  return type && type.getRank() >= 2 && type.hasStaticShape();
}

class DuplicateFunctionsPass
    : public batch::impl::DuplicateFunctionsPassBase<DuplicateFunctionsPass> {
public:
  using DuplicateFunctionsPassBase::DuplicateFunctionsPassBase;
  void runOnOperation() override;

private:
  Context getEntryContext(func::FuncOp entry) const;
  /// The context of what `call` calls, in one of the function it is in.
  Context getCalleeContext(func::CallOp call, const Context &own) const;
  void collect(const InstanceProgram &program);

  /// All contexts of each function, the first found first, and the functions
  /// for them.
  llvm::MapVector<func::FuncOp, SmallVector<Context>> contexts;
  DenseMap<func::FuncOp, SmallVector<func::FuncOp>> copies;
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
                                                 const Context &own) const {
  auto function = call->getParentOfType<func::FuncOp>();
  Context context;
  for (Value operand : call.getOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    bool known = argument && argument.getOwner() == &function.getBody().front();
    context.push_back(known ? own[argument.getArgNumber()] : -1);
  }
  return context;
}

/// Follows the calls from the entry. A function that is called in more contexts
/// than `max-copies` is one for all of them.
void DuplicateFunctionsPass::collect(const InstanceProgram &program) {
  func::FuncOp entry = program.getEntry();
  SmallVector<std::pair<func::FuncOp, Context>> work = {
      {entry, getEntryContext(entry)}};
  contexts[entry].push_back(work.front().second);
  for (size_t next = 0; next < work.size(); ++next) {
    auto [function, context] = work[next];
    function.walk(
        [&, function = function, context = context](func::CallOp call) {
          func::FuncOp callee = program.getCallee(call);
          if (!callee)
            return;
          Context inner = getCalleeContext(call, context);
          SmallVector<Context> &known = contexts[callee];
          if (llvm::is_contained(known, inner))
            return;
          // One context more would be one for all.
          if (known.size() == maxCopies)
            inner.assign(inner.size(), -1);
          if (known.size() > maxCopies || llvm::is_contained(known, inner))
            return;
          known.push_back(inner);
          work.push_back({callee, inner});
        });
  }
}

void DuplicateFunctionsPass::runOnOperation() {
  contexts.clear();
  copies.clear();
  InstanceProgram program(getOperation());
  if (!program.getEntry())
    return;
  collect(program);
  SymbolTable symbols(getOperation());
  for (auto &[function, known] : contexts) {
    if (known.size() > maxCopies) {
      remark::missed(function.getLoc(),
                     remark::RemarkOpts::name("Duplicate").category("batch"))
          << ("@" + function.getSymName() +
              " is called with more sets of weights than max-copies=" +
              Twine(maxCopies) +
              ": it is not duplicated, and weights are read task by task")
                 .str();
      known.truncate(1);
    }
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
          << ("@" + function.getSymName() + " is called with " +
              Twine(known.size()) + " sets of weights: a function for each")
                 .str();
  }
  for (auto &[function, known] : contexts)
    for (auto [context, copy] : llvm::zip_equal(known, copies[function]))
      copy.walk([&, &context = context](func::CallOp call) {
        auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
        auto found = contexts.find(callee);
        if (found == contexts.end() || found->second.size() < 2)
          return;
        Context inner = getCalleeContext(call, context);
        auto at = llvm::find(found->second, inner);
        call.setCallee(copies[callee][at - found->second.begin()].getSymName());
      });
}

} // namespace
