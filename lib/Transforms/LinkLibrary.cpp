//===- LinkLibrary.cpp - Define what a model declares ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Library/Library.h"
#include "Batch/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::batch {
#define GEN_PASS_DEF_LINKLIBRARYPASS
#include "Batch/Transforms/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {
class LinkLibraryPass
    : public batch::impl::LinkLibraryPassBase<LinkLibraryPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto declarations = llvm::to_vector(llvm::make_filter_range(
        module.getOps<func::FuncOp>(),
        [](func::FuncOp function) { return function.isDeclaration(); }));
    if (declarations.empty())
      return;

    OwningOpRef<ModuleOp> library = parseLibrary(&getContext());
    SymbolTable known(*library), symbols(module);
    // By the function's name in the library; where the module has a function
    // with the name of a helper, the helper's copy gets another one.
    DenseMap<StringAttr, func::FuncOp> copies;
    SmallVector<func::FuncOp> worklist;
    auto copyFunction = [&](func::FuncOp function, Block::iterator place) {
      func::FuncOp copy = function.clone();
      copy.setPrivate();
      symbols.insert(copy, place);
      copies[function.getSymNameAttr()] = copy;
      worklist.push_back(copy);
    };
    for (func::FuncOp declaration : declarations) {
      auto function = known.lookup<func::FuncOp>(declaration.getSymNameAttr());
      // Not all that is declared is the library's, and helpers are its own.
      if (!function || function.isPrivate())
        continue;
      if (function.getFunctionType() != declaration.getFunctionType()) {
        // A diagnostic would put the type in quotes of its own.
        std::string type;
        llvm::raw_string_ostream(type) << function.getFunctionType();
        declaration.emitOpError("is declared with another type than the "
                                "library's function has; write 'func.func "
                                "private @")
            << function.getSymName() << type << "'";
        return signalPassFailure();
      }
      symbols.remove(declaration);
      copyFunction(function, declaration->getIterator());
      declaration.erase();
    }

    while (!worklist.empty()) {
      worklist.pop_back_val().walk([&](func::CallOp call) {
        StringAttr callee = call.getCalleeAttr().getAttr();
        if (!copies.contains(callee))
          copyFunction(known.lookup<func::FuncOp>(callee),
                       module.getBody()->end());
        call.setCalleeAttr(FlatSymbolRefAttr::get(copies.lookup(callee)));
      });
    }
  }
};
} // namespace
