//===- CheckGPUTarget.cpp - Check the target of GPU code ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/UProgToGPU/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Support/OptionError.h"
#include "Batch/Target/GPU/GPUTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CHECKGPUTARGETPASS
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using batch::ChipFacts;
using batch::CodeFormat;

namespace {
struct CheckGPUTargetPass
    : batch::impl::CheckGPUTargetPassBase<CheckGPUTargetPass> {
  using CheckGPUTargetPassBase::CheckGPUTargetPassBase;

  void runOnOperation() override {
    if (failed(check()))
      signalPassFailure();
  }

  LogicalResult check();
  LogicalResult checkOperators();
  LogicalResult checkTools(batch::GPUVendor vendor);
};
} // namespace

LogicalResult CheckGPUTargetPass::check() {
  ModuleOp module = getOperation();
  WalkResult result = module.walk([](batch::AwaitOp await) {
    await.emitError("waiting for a tensor is not supported on GPUs; use "
                    "'strategy=lockstep' where it is legal");
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  if (chip.empty()) {
    if (format != CodeFormat::LLVM)
      return batch::emitOptionError(&getContext(), "format '")
             << batch::getOptionName(format.getValue())
             << "' requires a chip, such as chip=sm_90";
    return success();
  }
  auto firstWith = [](bool ChipFacts::*feature) {
    return batch::getFirstChip(feature);
  };
  if (!batch::isKnownChip(chip))
    return batch::emitOptionError(&getContext(), "unknown chip '")
           << chip << "'; expected an NVIDIA chip, "
           << firstWith(&ChipFacts::acquireLoads)
           << " or later, or an AMD chip, such as gfx90a or gfx942";
  ChipFacts facts = batch::getChipFacts(chip);
  if (!facts.acquireLoads)
    return batch::emitOptionError(&getContext(), "chip '")
           << chip << "' has no acquire loads, which barriers need; use "
           << firstWith(&ChipFacts::acquireLoads) << " or later";
  if (executor == batch::Executor::Cluster && !facts.clusters)
    return batch::emitOptionError(&getContext(), "chip '")
           << chip << "' has no clusters; use executor=device, or chip "
           << firstWith(&ChipFacts::clusters) << " or later";
  for (auto program : module.getOps<uprog::ProgramOp>())
    if (program.getLevel() == uprog::Level::Cluster && !facts.clusters)
      return program.emitError("this is a cluster-level program, but chip '")
             << chip
             << "' has no clusters; use level=device or level=block, or chip "
             << firstWith(&ChipFacts::clusters) << " or later";
  if (!facts.tensorCores && precision != batch::Precision::F32)
    return batch::emitOptionError(&getContext(), "chip '")
           << chip << "' computes products in f32 only; use precision=f32, or "
           << firstWith(&ChipFacts::tensorCores) << " or later for "
           << stringifyPrecision(precision);
  if (failed(checkOperators()))
    return failure();
  return checkTools(facts.vendor->vendor);
}

LogicalResult CheckGPUTargetPass::checkOperators() {
  for (auto op : getOperation().getOps<uprog::OperatorOp>()) {
    WalkResult walk = op.walk([](arith::RemFOp remainder) {
      remainder.emitOpError(
          "is not supported on GPUs, which have no exact remainder; compile "
          "it for the CPU, or use arith.divf, math.trunc and math.fma, whose "
          "result differs if the quotient is large");
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return failure();
  }
  return success();
}

LogicalResult CheckGPUTargetPass::checkTools(batch::GPUVendor vendor) {
  if (format == CodeFormat::LLVM || format == CodeFormat::ISA)
    return success();
  StringRef name = batch::getOptionName(format.getValue());
  if (vendor == batch::GPUVendor::AMD) {
    // Upstream code searches only this path for the linker.
    SmallString<128> linker(ROCDL::getROCMPath());
    llvm::sys::path::append(linker, "llvm", "bin", "ld.lld");
    if (!llvm::sys::fs::can_execute(linker))
      return batch::emitOptionError(&getContext(), "format '")
             << name
             << "' requires the ROCm linker, but 'llvm/bin/ld.lld' was not "
                "found in ROCM_PATH; use format=isa";
    return success();
  }
  StringRef missing = batch::findMissingCUDATool(name);
  if (!missing.empty())
    return batch::emitOptionError(&getContext(), "format '")
           << name << "' requires '" << missing
           << "' from a CUDA toolkit, which was not found in PATH or "
              "CUDA_HOME; use format=isa";
  return success();
}
