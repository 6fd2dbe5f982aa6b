//===- InsertedRows.cpp - Tensors that change in place --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InsertedRows.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns true if `operand` is the last use of its value: its op uses the
/// value only once, and nothing uses the value after the op.
static bool isLastUse(OpOperand &operand) {
  Operation *op = operand.getOwner();
  return llvm::count(op->getOperands(), operand.get()) == 1 &&
         !isLiveAfter(operand.get(), op);
}

/// Returns true if `operand` is an initial value of a loop.
static bool isInitial(OpOperand *operand) {
  return isa<LoopLikeOpInterface>(operand->getOwner());
}

bool InsertedRows::takes(OpOperand *operand,
                         const SetVector<Value> &owned) const {
  return owned.contains(operand->get()) && isLastUse(*operand);
}

/// Returns the values that may be equal to `value`, if a kernel created their
/// row and nothing else uses it. An initial value with other uses does not
/// exclude the values of its loop, because the loop can copy it.
SetVector<Value> InsertedRows::findOwned(Value value) const {
  SetVector<Value> owned;
  owned.insert(value);
  for (size_t i = 0; i < owned.size(); ++i)
    for (OpOperand *operand : flow.getIncoming(owned[i]))
      owned.insert(operand->get());
  auto isShared = [&](Value made) {
    ArrayRef<OpOperand *> incoming = flow.getIncoming(made);
    if (incoming.empty())
      return !made.getDefiningOp<InvokeOp>();
    return llvm::any_of(incoming, [&](OpOperand *operand) {
      return !isInitial(operand) && !takes(operand, owned);
    });
  };
  // Removing a value may make other values shared, so iterate to a fixed point.
  for (size_t before = 0; before != owned.size();) {
    before = owned.size();
    owned.remove_if(isShared);
  }
  return owned;
}

/// Returns true if `invoke` can insert into the row of `root`. A kernel must
/// have created each value that `root` may be equal to. Each use that forwards
/// such a value to `root` must be the last use of the value. A loop copies an
/// initial value that does not satisfy these conditions. Neither `invoke` nor
/// later code may read aliases of these values, such as the result of a loop
/// without rounds.
bool InsertedRows::place(InvokeOp invoke, OpOperand &root) {
  SetVector<Value> owned = findOwned(root.get());
  if (!takes(&root, owned))
    return false;
  SmallVector<OpOperand *> copies;
  SetVector<Value> reached;
  reached.insert(root.get());
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand *operand : flow.getIncoming(reached[i])) {
      if (takes(operand, owned))
        reached.insert(operand->get());
      else
        copies.push_back(operand);
    }
  for (Value alias : flow.getAliases(reached))
    if (alias != root.get() && isDefinedBefore(alias, invoke) &&
        (llvm::is_contained(invoke->getOperands(), alias) ||
         isLiveAfter(alias, invoke)))
      return false;
  changed.insert_range(reached);
  copied.insert_range(copies);
  return true;
}

InsertedRows::InsertedRows(func::FuncOp function) : flow(function) {
  SymbolTable symbols(function->getParentOfType<ModuleOp>());
  function.walk([&](InvokeOp invoke) {
    auto kernel = symbols.lookup<KernelOp>(invoke.getKernel());
    for (OpResult result : invoke->getResults()) {
      auto number = kernel.getResultAttrOfType<IntegerAttr>(
          result.getResultNumber(), kInPlaceAttr);
      if (!number)
        continue;
      OpOperand &root = invoke.getInputsMutable()[number.getInt()];
      auto name = remark::RemarkOpts::name("Inserts").category("batch");
      std::string argument = ("argument #" + Twine(number.getInt()) +
                              " of kernel @" + kernel.getSymName())
                                 .str();
      if (place(invoke, root)) {
        roots[result] = &root;
        remark::passed(invoke.getLoc(), name)
            << "inserts into the row of " + argument;
      } else {
        remark::missed(invoke.getLoc(), name)
            << "copies " + argument +
                   ", because its row may have other readers or was not "
                   "created by a kernel";
      }
    }
  });
}
