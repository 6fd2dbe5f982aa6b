//===- InstanceProgram.cpp - The functions for one instance ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/InstanceProgram.h"

#include "Batch/Analysis/Components.h"
#include "Batch/Dialect/Batch/Batch.h"

using namespace mlir;
using namespace mlir::batch;

InstanceProgram::InstanceProgram(ModuleOp module) {
  entry = dyn_cast_or_null<func::FuncOp>(lookupEntry(module).getOperation());
  for (auto function : module.getOps<func::FuncOp>())
    byName[function.getSymNameAttr()] = function;
  if (!entry)
    return;

  // Do not use the upstream CallGraph: it covers the whole module and does not
  // record the call ops, which users of this class need.
  DenseMap<Operation *, SmallVector<func::CallOp>> calls;
  DenseSet<Operation *> reached;
  SmallVector<func::FuncOp> worklist = {entry};
  reached.insert(entry);
  while (!worklist.empty()) {
    func::FuncOp function = worklist.pop_back_val();
    function.walk([&](func::CallOp call) {
      func::FuncOp callee = getCallee(call);
      if (!callee)
        return;
      calls[function].push_back(call);
      callers[callee].push_back(call);
      if (reached.insert(callee).second)
        worklist.push_back(callee);
    });
  }

  DenseMap<Operation *, unsigned> numbers;
  for (auto function : module.getOps<func::FuncOp>())
    if (reached.contains(function)) {
      numbers[function] = functions.size();
      functions.push_back(function);
    }
  SmallVector<SmallVector<unsigned>> callees(functions.size());
  for (func::FuncOp function : functions)
    for (func::CallOp call : calls[function])
      callees[numbers[function]].push_back(numbers[getCallee(call)]);
  for (ArrayRef<unsigned> component : findComponents(callees)) {
    auto &members = components.emplace_back();
    for (unsigned number : component) {
      members.push_back(functions[number]);
      componentOf[functions[number]] = components.size() - 1;
      if (component.size() > 1 || llvm::is_contained(callees[number], number))
        recursive.insert(functions[number]);
    }
  }
}

Strategy InstanceProgram::getStrategy() const {
  auto chosen = entry ? entry->getAttrOfType<StrategyAttr>(kStrategyAttr)
                      : StrategyAttr();
  return chosen ? chosen.getValue() : Strategy::Auto;
}

func::FuncOp InstanceProgram::getCallee(func::CallOp call) const {
  return byName.lookup(call.getCalleeAttr().getAttr());
}

bool InstanceProgram::isRecursive(func::FuncOp function) const {
  return recursive.contains(function);
}

bool InstanceProgram::isRecursiveCall(func::CallOp call) const {
  auto caller = call->getParentOfType<func::FuncOp>();
  func::FuncOp callee = getCallee(call);
  return callee && isRecursive(callee) &&
         getComponent(callee) == getComponent(caller);
}

ArrayRef<func::CallOp>
InstanceProgram::getCallers(func::FuncOp function) const {
  auto it = callers.find(function);
  return it == callers.end() ? ArrayRef<func::CallOp>() : it->second;
}
