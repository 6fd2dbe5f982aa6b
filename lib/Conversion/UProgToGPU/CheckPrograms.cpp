//===- CheckPrograms.cpp - Check programs of persistent kernels -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckPrograms.h"

#include "../UProgToSCF/ProgramPatterns.h"
#include "Batch/Target/ABI/SymbolNames.h"

using namespace mlir;
using namespace mlir::uprog;

ProgramOp uprog::findCallee(RefOp ref) {
  return SymbolTable::lookupNearestSymbolFrom<ProgramOp>(
      ref->getParentOfType<ModuleOp>(), ref.getCalleeAttr());
}

CodeAttr uprog::getCode(RunOp run) {
  auto op = SymbolTable::lookupNearestSymbolFrom<OperatorOp>(
      run->getParentOfType<ModuleOp>(), run.getCalleeAttr());
  return op ? op->getAttrOfType<CodeAttr>(kCodeAttr) : CodeAttr();
}

static LogicalResult checkRun(RunOp run, gpu::GPUModuleOp device) {
  // Without a step, the op runs a program, which is checked separately.
  if (!run.getStep())
    return success();
  if (run.getLevel() && *run.getLevel() != Level::Block)
    return run.emitError("level(")
           << stringifyLevel(*run.getLevel())
           << ") is not supported in a persistent kernel, because a block is "
              "the only unit that can run all tasks of a step by itself; use "
              "level(block)";
  CodeAttr code = getCode(run);
  if (!code)
    return run.emitError("operator @")
           << run.getCallee()
           << " has no functions for thread blocks yet; run "
              "convert-operators-to-gpu first";
  for (int64_t s = 0; s < code.getStages(); ++s) {
    std::string name = batch::getStageName(run.getCallee(), s);
    if (!device.lookupSymbol<func::FuncOp>(name))
      return run.emitError("gpu.module @")
             << device.getSymName() << " has no function @" << name;
  }
  return success();
}

/// Returns true if the code of a program can replace a reference to it: the
/// program contains no references, and has the same level as the program with
/// the reference.
static bool canCopy(RefOp ref) {
  ProgramOp callee = findCallee(ref);
  return callee.getLevel() == ref->getParentOfType<ProgramOp>().getLevel() &&
         !callee.walk([](RefOp) { return WalkResult::interrupt(); })
              .wasInterrupted();
}

LogicalResult uprog::checkKernelProgram(ProgramOp program,
                                        gpu::GPUModuleOp device) {
  FailureOr<batch::MachineOp> machine = batch::findMachine(program);
  if (failed(machine))
    return failure();
  if (*machine && machine->getFrames())
    return program.emitError(
        "this program calls functions on the host stack, which GPU blocks do "
        "not have; compile with --strategy=lockstep");
  // A program below level `device` finds the memory of its instance in the task
  // for which it runs.
  if (batch::runsInstances(program) && !batch::isRunByPrograms(program) &&
      program.getLevel() != Level::Device)
    return program.emitError("this ")
           << stringifyLevel(program.getLevel())
           << "-level program runs single instances; run it with uprog.run "
              "from a device-level program";
  constexpr StringLiteral error = "cannot be lowered to a persistent kernel";
  return batch::checkProgram(
      program, error, [&](Operation *op) -> LogicalResult {
        if (auto run = dyn_cast<RunOp>(op))
          return checkRun(run, device);
        auto barrier = dyn_cast<BarrierOp>(op);
        bool supported = !barrier || barrier.getLevel() == program.getLevel() ||
                         barrier.getLevel() == Level::Block;
        auto ref = dyn_cast<RefOp>(op);
        return supported && (!ref || canCopy(ref)) ? success()
                                                   : op->emitOpError(error);
      });
}

LogicalResult uprog::checkFillLevels(gpu::GPUModuleOp device,
                                     bool usesClusters) {
  for (auto function : device.getOps<func::FuncOp>()) {
    auto level = function->getAttrOfType<StringAttr>(kLevelAttr);
    if (level && symbolizeLevel(level) == Level::Cluster && !usesClusters)
      return function.emitError(
          "this function divides parameters among the blocks of a cluster, but "
          "the module has no cluster-level program");
  }
  return success();
}
