//===- StageWaits.cpp - Stages that wait for rows -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageWaits.h"

#include "../UProgToSCF/ProgramPatterns.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "CheckPrograms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::uprog;

/// Returns the functions of the stages that a program runs.
static SmallVector<func::FuncOp> findStages(ProgramOp program,
                                            gpu::GPUModuleOp device) {
  SmallVector<func::FuncOp> stages;
  program.walk([&](RunOp run) {
    for (int64_t s = 0, e = getCode(run).getStages(); s < e; ++s)
      stages.push_back(device.lookupSymbol<func::FuncOp>(
          batch::getStageName(run.getCallee(), s)));
  });
  return stages;
}

static bool canStagesWait(ProgramOp program, gpu::GPUModuleOp device) {
  if (batch::runsInstances(program) || *batch::findMachine(program))
    return false;
  WalkResult others = program.walk([&](Operation *op) {
    if (auto run = dyn_cast<RunOp>(op))
      if (!run.getStep() || run.getLevel())
        return WalkResult::interrupt();
    if (auto barrier = dyn_cast<BarrierOp>(op))
      if (barrier.getLevel() != program.getLevel())
        return WalkResult::interrupt();
    return isa<ReduceOp, CompactOp, RefOp>(op) ? WalkResult::interrupt()
                                               : WalkResult::advance();
  });
  if (others.wasInterrupted())
    return false;
  return llvm::all_of(findStages(program, device), [](func::FuncOp stage) {
    return stage.walk([](AwaitRowsOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  });
}

bool uprog::canStagesWait(ArrayRef<ProgramOp> programs,
                          gpu::GPUModuleOp device) {
  ProgramOp first = programs.front();
  return llvm::all_of(programs, [&](ProgramOp program) {
    return program.getLevel() == first.getLevel() &&
           ::canStagesWait(program, device);
  });
}

void uprog::emitClusterBarrier(ImplicitLocOpBuilder &b) {
  NVVM::ClusterArriveOp::create(b, /*aligned=*/b.getUnitAttr());
  NVVM::ClusterWaitOp::create(b, /*aligned=*/b.getUnitAttr());
}

static void makeWait(func::FuncOp stage, Level group, func::FuncOp barrier) {
  AwaitRowsOp await;
  stage.walk([&](AwaitRowsOp op) { await = op; });
  if (!await) // a wait was already added for another program
    return;
  ImplicitLocOpBuilder b(await.getLoc(), await);
  SmallVector<Type> types = {b.getI1Type()};
  if (group == Level::Device)
    llvm::append_range(types, barrier.getArgumentTypes());
  SmallVector<Value> arguments;
  for (Type type : types) {
    unsigned number = stage.getNumArguments();
    (void)stage.insertArgument(number, type, {}, await.getLoc());
    arguments.push_back(stage.getArgument(number));
  }
  auto waits = scf::IfOp::create(b, arguments[0], /*withElseRegion=*/false);
  b.setInsertionPoint(waits.thenBlock()->getTerminator());
  if (group == Level::Device)
    func::CallOp::create(b, barrier, ArrayRef(arguments).drop_front());
  else if (group == Level::Cluster)
    emitClusterBarrier(b);
  else
    gpu::BarrierOp::create(b);
  await.erase();
}

void uprog::makeStagesWait(ProgramOp program, gpu::GPUModuleOp device,
                           func::FuncOp barrier) {
  for (func::FuncOp stage : findStages(program, device))
    makeWait(stage, program.getLevel(), barrier);
}
