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

/// The first thing in `program` that no strategy runs, if there is one: such
/// control has no form as steps either.
std::optional<Obstacle> findProgramObstacle(const InstanceProgram &program);

/// Copies the functions of `program` into a module of their own, as control
/// flow graphs of as few blocks as may be, in which each block is one step: the
/// form that `StepLiveness` reads. Terminators are `cf.br`, `cf.cond_br` and
/// `func.return`. Tensor code is copied as it is: nothing is folded, so that it
/// has the same bits as in the unbatched program. Without `tailCalls` every
/// call comes back. There must be no such obstacle.
OwningOpRef<ModuleOp> copyAsStepFunctions(const InstanceProgram &program,
                                          bool tailCalls);

/// The blocks of `function` in program order: reverse post-order, in which what
/// a branch names first comes first.
SmallVector<Block *> getProgramOrder(func::FuncOp function);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STEPFUNCTIONS_H
