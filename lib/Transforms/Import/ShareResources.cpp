//===- ShareResources.cpp - Convert resources to parameters ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Import/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::batch {
#define GEN_PASS_DEF_SHARERESOURCESPASS
#include "Batch/Transforms/Import/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

class ResourceSharer {
public:
  ResourceSharer(ModuleOp module, func::FuncOp entry)
      : symbols(module), entry(entry),
        functions(llvm::to_vector(module.getOps<func::FuncOp>())) {}

  LogicalResult run();

private:
  LogicalResult addArguments(func::FuncOp function);
  void pass(func::FuncOp function);

  func::FuncOp getCallee(func::CallOp call) const {
    return symbols.lookup<func::FuncOp>(call.getCallee());
  }

  SymbolTable symbols;
  func::FuncOp entry;
  /// All functions of the module, because other functions may call the
  /// functions that the entry calls.
  SmallVector<func::FuncOp> functions;
  /// Arguments for the resources that each function needs, by key and type.
  using Resource = std::pair<StringRef, Type>;
  DenseMap<Operation *, llvm::MapVector<Resource, Value>> resources;
};

} // namespace

static DenseResourceElementsAttr getResource(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  return constant ? dyn_cast<DenseResourceElementsAttr>(constant.getValue())
                  : DenseResourceElementsAttr();
}

/// Finds the resources that each function and its callees need, and converts
/// them to arguments.
LogicalResult ResourceSharer::run() {
  // Functions that call each other need the same resources, so iterate.
  for (bool changed = true; changed;) {
    changed = false;
    for (func::FuncOp function : functions) {
      auto &own = resources[function];
      size_t before = own.size();
      function.walk([&](Operation *op) {
        if (DenseResourceElementsAttr resource = getResource(op))
          own.insert({{resource.getRawHandle().getKey(), resource.getType()},
                      Value()});
        if (auto call = dyn_cast<func::CallOp>(op))
          if (func::FuncOp callee = getCallee(call)) {
            auto needed = resources.lookup(callee);
            for (auto &[key, value] : needed)
              own.insert({key, Value()});
          }
      });
      changed |= own.size() != before;
    }
  }
  for (func::FuncOp function : functions)
    if (failed(addArguments(function)))
      return failure();
  for (func::FuncOp function : functions)
    pass(function);
  return success();
}

/// Adds an argument to `function` for each resource that it needs. The new
/// arguments of the entry are parameters.
LogicalResult ResourceSharer::addArguments(func::FuncOp function) {
  if (function.isExternal())
    return success();
  Builder builder(function.getContext());
  for (auto &[resource, argument] : resources[function]) {
    auto [key, type] = resource;
    DictionaryAttr attributes;
    StringRef name = key;
    auto hasOtherType = [&, type = type](const auto &other) {
      return other.first.first == name && other.first.second != type;
    };
    if (llvm::any_of(resources[function], hasOtherType))
      return function.emitError("resource '")
             << name
             << "' is used with two types; use a constant of one type and "
                "reshape it";
    if (function == entry) {
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto name = function.getArgAttrOfType<StringAttr>(i, kSharedAttr);
            name && name == key)
          return function.emitError("parameter '")
                 << key
                 << "' has the same name as the resource of a constant; rename "
                    "one of them";
      attributes = builder.getDictionaryAttr(
          builder.getNamedAttr(kSharedAttr, builder.getStringAttr(key)));
    }
    unsigned number = function.getNumArguments();
    if (failed(function.insertArgument(number, type, attributes,
                                       function.getLoc())))
      return failure();
    argument = function.getArgument(number);
  }
  return success();
}

/// Replaces the constants of `function` with arguments, and passes the
/// arguments that its callees need.
void ResourceSharer::pass(func::FuncOp function) {
  auto &own = resources[function];
  function.walk([&](Operation *op) {
    if (DenseResourceElementsAttr resource = getResource(op)) {
      op->getResult(0).replaceAllUsesWith(
          own[{resource.getRawHandle().getKey(), resource.getType()}]);
      op->erase();
      return;
    }
    auto call = dyn_cast<func::CallOp>(op);
    func::FuncOp callee = call ? getCallee(call) : func::FuncOp();
    if (!callee)
      return;
    SmallVector<Value> operands(call.getOperands());
    for (auto &[resource, argument] : resources[callee])
      operands.push_back(own[resource]);
    call->setOperands(operands);
  });
}

namespace {
class ShareResourcesPass
    : public batch::impl::ShareResourcesPassBase<ShareResourcesPass> {
  void runOnOperation() override {
    auto entry = dyn_cast_if_present<func::FuncOp>(
        lookupEntry(getOperation()).getOperation());
    bool any = getOperation()
                   ->walk([](Operation *op) {
                     return getResource(op) ? WalkResult::interrupt()
                                            : WalkResult::advance();
                   })
                   .wasInterrupted();
    if (any && entry && failed(ResourceSharer(getOperation(), entry).run()))
      signalPassFailure();
  }
};
} // namespace
