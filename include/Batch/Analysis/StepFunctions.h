//===- StepFunctions.h - Functions as graphs of steps -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_STEPFUNCTIONS_H
#define BATCH_ANALYSIS_STEPFUNCTIONS_H

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Analysis/Obstacle.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::batch {

/// Returns the first obstacle in `program` that makes every strategy illegal,
/// if there is one. A program with such an obstacle cannot be split into steps.
std::optional<Obstacle> findProgramObstacle(const InstanceProgram &program);

/// Copies the functions of `program` into a separate module, as control-flow
/// graphs with few blocks. Each block is one step, as `StepLiveness` requires.
/// Terminators are `cf.br`, `cf.cond_br` and `func.return`. Tensor code is
/// copied unchanged: nothing is folded, so it computes the same bits as the
/// unbatched program. Without `tailCalls`, every call returns to its caller.
/// Requires that `findProgramObstacle` finds no obstacle.
OwningOpRef<ModuleOp> copyAsStepFunctions(const InstanceProgram &program,
                                          bool tailCalls);

/// Returns the blocks of `function` in program order: reverse post-order, in
/// which the first successor of a branch comes first.
SmallVector<Block *> getProgramOrder(func::FuncOp function);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STEPFUNCTIONS_H
