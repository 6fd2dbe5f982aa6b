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

/// True if every barrier of programs can be where the next stage reads rows:
/// they run plans, whose steps all blocks of a group share out, and nothing
/// else. All call the same functions of `device`, which say where they read
/// rows.
bool canStagesWait(ArrayRef<ProgramOp> programs, gpu::GPUModuleOp device);

/// Makes the functions of a program's stages wait at their `uprog.await_rows`
/// where the first of more arguments says so: for the blocks of a group. The
/// others are those of `barrier`, that of all blocks.
void makeStagesWait(ProgramOp program, gpu::GPUModuleOp device,
                    func::FuncOp barrier);

void emitClusterBarrier(ImplicitLocOpBuilder &b);

} // namespace mlir::uprog

#endif // BATCH_CONVERSION_UPROGTOGPU_STAGEWAITS_H
