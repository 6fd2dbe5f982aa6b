//===- Passes.h - Structured control flow as branches -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_SCFTOCF_PASSES_H
#define BATCH_CONVERSION_SCFTOCF_PASSES_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace mlir::batch {

#define GEN_PASS_DECL
#include "Batch/Conversion/SCFToCF/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Batch/Conversion/SCFToCF/Passes.h.inc"

/// Lowers all ops of `scf` in the regions of `root` to branches, with the MLIR
/// patterns. `listener`, if given, is notified of every change to the IR.
LogicalResult lowerSCFToCF(Operation *root,
                           RewriterBase::Listener *listener = nullptr);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_SCFTOCF_PASSES_H
