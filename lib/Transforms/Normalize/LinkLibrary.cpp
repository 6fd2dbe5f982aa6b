//===- LinkLibrary.cpp - Define functions that a model declares -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Library/Library.h"
#include "Batch/Transforms/Normalize/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::batch {
#define GEN_PASS_DEF_LINKLIBRARYPASS
#include "Batch/Transforms/Normalize/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Defines the functions that a module declares and the library provides.
class Linker {
public:
  explicit Linker(ModuleOp module)
      : module(module), symbols(module),
        library(parseLibrary(module.getContext())) {}

  LogicalResult run();

private:
  func::FuncOp find(StringAttr name);
  LogicalResult define(func::FuncOp declaration);
  LogicalResult instantiate(ModuleOp group, func::FuncOp function,
                            func::FuncOp declaration);
  LogicalResult passOn(func::FuncOp hook, func::FuncOp definition);
  StringAttr resolve(ModuleOp group, StringAttr callee);
  void copyFunction(func::FuncOp function, Block::iterator place);

  ModuleOp module;
  SymbolTable symbols;
  OwningOpRef<ModuleOp> library;
  /// Groups of the library that already have their sizes and hooks.
  DenseSet<Operation *> instances;
  /// Copies by library function. If the module already has a function with the
  /// name of a helper, the copy of the helper gets another name.
  DenseMap<Operation *, func::FuncOp> copies;
  /// Library functions whose copies still call functions by their library
  /// names.
  SmallVector<func::FuncOp> unresolved;
};

class LinkLibraryPass
    : public batch::impl::LinkLibraryPassBase<LinkLibraryPass> {
  void runOnOperation() override {
    if (failed(Linker(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace

/// Returns the text of a type, without the quotes that a diagnostic would add.
static std::string spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

LogicalResult Linker::run() {
  auto declarations = llvm::to_vector(llvm::make_filter_range(
      module.getOps<func::FuncOp>(),
      [](func::FuncOp function) { return function.isDeclaration(); }));
  for (func::FuncOp declaration : declarations)
    if (failed(define(declaration)))
      return failure();
  while (!unresolved.empty()) {
    func::FuncOp function = unresolved.pop_back_val();
    copies.lookup(function).walk([&](func::CallOp call) {
      call.setCallee(resolve(function->getParentOfType<ModuleOp>(),
                             call.getCalleeAttr().getAttr()));
    });
  }
  return success();
}

/// Returns the library function that models may declare as `name`, or null.
func::FuncOp Linker::find(StringAttr name) {
  auto publicOne = [&](ModuleOp group) {
    auto function = group.lookupSymbol<func::FuncOp>(name);
    return function && function.isPublic() ? function : func::FuncOp();
  };
  if (func::FuncOp function = publicOne(*library))
    return function;
  for (auto group : library->getOps<ModuleOp>())
    if (func::FuncOp function = publicOne(group))
      return function;
  return {};
}

LogicalResult Linker::define(func::FuncOp declaration) {
  // find() returns null for declarations that are not library functions, and
  // for helpers, which are private.
  func::FuncOp function = find(declaration.getSymNameAttr());
  if (!function)
    return success();
  auto group = cast<ModuleOp>(function->getParentOp());
  if (group != *library && instances.insert(group).second &&
      failed(instantiate(group, function, declaration)))
    return failure();
  if (function.getFunctionType() != declaration.getFunctionType())
    return declaration.emitOpError("does not match the type of the library "
                                   "function; write 'func.func private @")
           << function.getSymName() << spell(function.getFunctionType()) << "'";
  Block::iterator place = declaration->getIterator();
  symbols.remove(declaration);
  copyFunction(function, place);
  declaration.erase();
  return success();
}

void Linker::copyFunction(func::FuncOp function, Block::iterator place) {
  func::FuncOp copy = function.clone();
  copy.setPrivate();
  symbols.insert(copy, place);
  copies[function] = copy;
  unresolved.push_back(function);
}

/// Returns the module's name for `callee`, which a function of `group` calls.
StringAttr Linker::resolve(ModuleOp group, StringAttr callee) {
  auto function = group.lookupSymbol<func::FuncOp>(callee);
  if (function.isDeclaration())
    function = library->lookupSymbol<func::FuncOp>(callee);
  if (!function) // defined by the model
    return callee;
  if (!copies.contains(function))
    copyFunction(function, module.getBody()->end());
  return copies.lookup(function).getSymNameAttr();
}

/// Returns the sizes, as NAME=NUMBER, with which the types of `function` become
/// the types of `declaration`. A mismatch is found later, when the types are
/// compared.
static SmallVector<std::string>
inferSizes(ModuleOp group, func::FuncOp function, func::FuncOp declaration) {
  auto sizes = group->getAttrOfType<DictionaryAttr>(kSizesAttr);
  llvm::MapVector<StringRef, int64_t> values;
  auto compare = [&](ArrayRef<Type> types, ArrayRef<Type> declared) {
    for (auto [type, other] : llvm::zip(types, declared)) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      auto wanted = dyn_cast<RankedTensorType>(other);
      if (!tensor || !wanted || tensor.getRank() != wanted.getRank())
        continue;
      for (auto [dim, extent] :
           llvm::zip_equal(tensor.getShape(), wanted.getShape()))
        for (NamedAttribute size : sizes)
          if (cast<IntegerAttr>(size.getValue()).getInt() == dim &&
              !ShapedType::isDynamic(extent))
            values.insert({size.getName(), extent});
    }
  };
  compare(function.getArgumentTypes(), declaration.getArgumentTypes());
  compare(function.getResultTypes(), declaration.getResultTypes());
  return llvm::map_to_vector(values, [](const auto &value) {
    return (value.first + "=" + Twine(value.second)).str();
  });
}

/// Assigns sizes and hooks to a group. `declaration`, which declares `function`
/// of the group, specifies the sizes. The module defines the hooks.
LogicalResult Linker::instantiate(ModuleOp group, func::FuncOp function,
                                  func::FuncOp declaration) {
  if (failed(specializeSizes(group, inferSizes(group, function, declaration),
                             /*isLast=*/true)))
    return declaration.emitOpError("has sizes that the library function does "
                                   "not support");
  for (auto hook : group.getOps<func::FuncOp>()) {
    if (!hook.isDeclaration() || library->lookupSymbol(hook.getSymName()))
      continue;
    auto definition = symbols.lookup<func::FuncOp>(hook.getSymName());
    if (!definition)
      return declaration.emitOpError("requires the model to define a function; "
                                     "write 'func.func private @")
             << hook.getSymName() << spell(hook.getFunctionType())
             << " { ... }', optionally with additional arguments";
    if (failed(passOn(hook, definition)))
      return failure();
  }
  return success();
}

/// If `definition` has more arguments than `hook`, adds the additional
/// arguments to `hook` and to all functions that call it, directly or
/// indirectly. All calls of these functions then pass the additional arguments.
LogicalResult Linker::passOn(func::FuncOp hook, func::FuncOp definition) {
  ArrayRef<Type> inputs = definition.getArgumentTypes();
  size_t own = hook.getNumArguments();
  if (inputs.take_front(own) != hook.getArgumentTypes() ||
      definition.getResultTypes() != hook.getResultTypes())
    return definition.emitOpError(
               "is called by the library, so its type must be ")
           << hook.getFunctionType()
           << ", optionally with additional arguments";
  ArrayRef<Type> extra = inputs.drop_front(own);
  llvm::SetVector<func::FuncOp> functions;
  SmallVector<func::CallOp> calls;
  functions.insert(hook);
  for (size_t i = 0; i < functions.size(); ++i) {
    auto uses = SymbolTable::getSymbolUses(functions[i], hook->getParentOp());
    for (SymbolTable::SymbolUse use : *uses) {
      auto call = cast<func::CallOp>(use.getUser());
      functions.insert(call->getParentOfType<func::FuncOp>());
      calls.push_back(call);
    }
  }
  for (func::FuncOp function : functions) {
    Builder builder(function);
    function.setType(
        builder.getFunctionType(llvm::to_vector(llvm::concat<const Type>(
                                    function.getArgumentTypes(), extra)),
                                function.getResultTypes()));
    if (!function.isDeclaration())
      for (Type type : extra)
        function.front().addArgument(type, function.getLoc());
  }
  for (func::CallOp call : calls)
    call.getOperandsMutable().append(
        call->getParentOfType<func::FuncOp>().getArguments().take_back(
            extra.size()));
  return success();
}
