//===- CallInlining.h - Copying a callee into its caller --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_CALLINLINING_H
#define BATCH_TRANSFORMS_CALLINLINING_H

#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::batch {

/// Replaces `call` with a copy of the single block of `callee`. Returns a
/// mapping from each op of `callee` to its copy. If the call is marked as a
/// backedge, marks the copy of each op in the block. The upstream inlineCall
/// does neither, and changes the locations of errors.
inline IRMapping inlineCall(func::CallOp call, func::FuncOp callee) {
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    if (Attribute mark = call->getAttr(rec::kBackedgeAttr))
      copy->setAttr(rec::kBackedgeAttr, mark);
  }
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
  return mapping;
}

} // namespace mlir::batch

#endif // BATCH_TRANSFORMS_CALLINLINING_H
