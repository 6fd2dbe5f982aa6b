//===- StageWaits.h - Stages that wait for rows -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOGPU_STAGEWAITS_H
#define BATCH_CONVERSION_UPROGTOGPU_STAGEWAITS_H

#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::uprog {

/// Returns true if every barrier of the programs can move to the point where
/// the next stage reads rows. The programs must have the same level and run
/// only plans, whose steps are divided among all blocks of a group. The
/// functions of their stages in `device` must mark where they read rows.
bool canStagesWait(ArrayRef<ProgramOp> programs, gpu::GPUModuleOp device);

/// Makes the functions of a program's stages wait for the blocks of a group at
/// their `uprog.await_rows`. Adds an argument that specifies whether to wait.
/// For groups of all blocks, also adds the arguments of `barrier`, the barrier
/// of all blocks.
void makeStagesWait(ProgramOp program, gpu::GPUModuleOp device,
                    func::FuncOp barrier);

void emitClusterBarrier(ImplicitLocOpBuilder &b);

} // namespace mlir::uprog

#endif // BATCH_CONVERSION_UPROGTOGPU_STAGEWAITS_H
