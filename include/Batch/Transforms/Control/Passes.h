//===- Passes.h - Control-flow strategies -----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_CONTROL_PASSES_H
#define BATCH_TRANSFORMS_CONTROL_PASSES_H

#include "Batch/Transforms/Control/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::batch {

#define GEN_PASS_DECL
#include "Batch/Transforms/Control/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Batch/Transforms/Control/Passes.h.inc"

} // namespace mlir::batch

#endif // BATCH_TRANSFORMS_CONTROL_PASSES_H
