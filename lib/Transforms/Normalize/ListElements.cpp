//===- ListElements.cpp - Walk list-shaped ADTs by their elements ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Transforms/Normalize/Passes.h"

namespace mlir::batch {
#define GEN_PASS_DEF_LISTELEMENTSPASS
#include "Batch/Transforms/Normalize/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Replaces each ADT operand of `loop`, a map or fold, with the list of its
/// elements.
template <typename LoopOp>
static void walkElements(LoopOp loop) {
  OpBuilder builder(loop);
  for (auto [list, element] :
       llvm::zip_equal(loop.getListsMutable(), loop.getElements()))
    if (isa<rec::AdtType>(list.get().getType()))
      list.set(rec::ElementsOp::create(builder, loop.getLoc(),
                                       rec::ListType::get(element.getType()),
                                       list.get()));
}

namespace {
class ListElementsPass
    : public batch::impl::ListElementsPassBase<ListElementsPass> {
  void runOnOperation() override {
    getOperation().walk([](rec::MapOp map) { walkElements(map); });
    getOperation().walk([](rec::FoldOp fold) { walkElements(fold); });
  }
};
} // namespace
