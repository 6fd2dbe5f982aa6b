//===- Passes.h - Operators as stages ---------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_PASSES_H
#define BATCH_CODEGEN_STAGES_PASSES_H

#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Support/NamedOption.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::batch {

template <>
struct OptionNames<uprog::StageTarget>
    : EnumNames<uprog::StageTarget, uprog::symbolizeStageTarget,
                uprog::getMaxEnumValForStageTarget()> {};

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::uprog::StageTarget)

namespace mlir::batch {

#define GEN_PASS_DECL
#include "Batch/Codegen/Stages/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Batch/Codegen/Stages/Passes.h.inc"

} // namespace mlir::batch

#endif // BATCH_CODEGEN_STAGES_PASSES_H
