//===- CheckGPUTarget.cpp - Whether code for a GPU can be made ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/UProgToGPU/Passes.h"
#include "Batch/Target/GPU/GPUTarget.h"

#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "mlir/Target/LLVM/ROCDL/Utils.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CHECKGPUTARGETPASS
#include "Batch/Conversion/UProgToGPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;

/// The first with acquire loads, which blocks meet with.
static constexpr unsigned kOldestChip = 70;
/// The first with clusters.
static constexpr unsigned kOldestClusters = 90;
/// The first that copies to shared memory while threads do other things.
static constexpr unsigned kOldestCopies = 80;
/// The first with tensor cores for tf32 and bf16.
static constexpr unsigned kOldestTensorCores = 80;

/// Whether LLVM makes code for a chip.
static bool isKnownChip(StringRef chip, bool amd) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargetMCs();
  llvm::Triple triple(amd ? "amdgcn-amd-amdhsa" : "nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  return info && info->isCPUStringValid(chip);
}

batch::ChipFacts batch::getChipFacts(StringRef chip) {
  StringRef name = chip;
  if (name.starts_with("sm_"))
    name = name.rtrim("af");
  ChipFacts facts;
  facts.sharedMemory =
      llvm::StringSwitch<int64_t>(name)
          .Case("", 99 << 10)
          .Case("sm_70", 96 << 10)
          .Cases({"sm_72", "sm_75"}, 64 << 10)
          .Cases({"sm_80", "sm_87"}, 163 << 10)
          .Cases({"sm_86", "sm_89", "sm_120", "sm_121"}, 99 << 10)
          .Cases({"sm_90", "sm_100", "sm_101", "sm_103"}, 227 << 10)
          .Cases({"gfx90a", "gfx942"}, 64 << 10)
          .Default(48 << 10);
  facts.multiprocessors = llvm::StringSwitch<int64_t>(name)
                              .Case("sm_70", 80)
                              .Case("sm_75", 72)
                              .Case("sm_86", 84)
                              .Case("sm_89", 142)
                              .Case("sm_90", 132)
                              .Case("sm_100", 148)
                              .Case("gfx90a", 110)
                              .Case("gfx942", 304)
                              .Default(108);
  unsigned version = 0;
  bool nvidia = name.consume_front("sm_") && !name.consumeInteger(10, version);
  facts.hasClusters = nvidia && version >= kOldestClusters;
  facts.asyncCopies = chip.empty() || (nvidia && version >= kOldestCopies);
  return facts;
}

/// Looks where upstream's pass does.
StringRef batch::findMissingCUDATool(StringRef format) {
  SmallString<128> folder(NVVM::getCUDAToolkitPath());
  llvm::sys::path::append(folder, "bin");
  SmallVector<StringRef> tools{"ptxas"};
  if (format == "fatbin")
    tools.push_back("fatbinary");
  for (StringRef tool : tools)
    if (!llvm::sys::findProgramByName(tool, {folder.str()}) &&
        !llvm::sys::findProgramByName(tool))
      return tool;
  return "";
}

namespace {
struct CheckGPUTargetPass
    : batch::impl::CheckGPUTargetPassBase<CheckGPUTargetPass> {
  using CheckGPUTargetPassBase::CheckGPUTargetPassBase;

  void runOnOperation() override {
    if (failed(check()))
      signalPassFailure();
  }

  LogicalResult check();
  LogicalResult checkTools(bool amd);
};
} // namespace

LogicalResult CheckGPUTargetPass::check() {
  ModuleOp module = getOperation();
  if (!llvm::is_contained({"llvm", "isa", "bin", "fatbin"}, format))
    return module.emitError("unknown format '")
           << format << "'; formats are llvm, isa, bin and fatbin";
  if (chip.empty()) {
    if (format != "llvm")
      return module.emitError("format '")
             << format << "' needs a chip, such as chip=sm_90";
    return success();
  }
  StringRef number(chip);
  bool amd = number.starts_with("gfx"), nvidia = number.consume_front("sm_");
  if (!(amd || nvidia) || !isKnownChip(chip, amd))
    return module.emitError("unknown chip '")
           << chip << "'; chips are NVIDIA's from sm_" << kOldestChip
           << " on and AMD's, such as gfx90a and gfx942";
  unsigned version = 0;
  number.consumeInteger(10, version);
  if (nvidia && version < kOldestChip)
    return module.emitError("chip '")
           << chip << "' has no acquire loads, which blocks meet with; use sm_"
           << kOldestChip << " or later";
  if (executor == "cluster" && !batch::getChipFacts(chip).hasClusters)
    return module.emitError("chip '")
           << chip << "' has no clusters; use executor=device or sm_"
           << kOldestClusters << " or later";
  bool tensorCores = nvidia && version >= kOldestTensorCores;
  if (!tensorCores && (precision == "tf32" || precision == "bf16"))
    return module.emitError("chip '")
           << chip << "' gets products in f32 only; use precision=f32, or sm_"
           << kOldestTensorCores << " or later for " << precision;
  return checkTools(amd);
}

LogicalResult CheckGPUTargetPass::checkTools(bool amd) {
  if (format == "llvm" || format == "isa")
    return success();
  ModuleOp module = getOperation();
  if (amd) {
    // Upstream looks nowhere else.
    SmallString<128> linker(ROCDL::getROCMPath());
    llvm::sys::path::append(linker, "llvm", "bin", "ld.lld");
    if (!llvm::sys::fs::can_execute(linker))
      return module.emitError("format '")
             << format
             << "' needs the linker of ROCm, but there is no 'llvm/bin/ld.lld' "
                "where ROCM_PATH says; use format=isa";
    return success();
  }
  StringRef missing = batch::findMissingCUDATool(format);
  if (!missing.empty())
    return module.emitError("format '")
           << format << "' needs '" << missing
           << "' of a CUDA toolkit, but it is neither on the PATH nor where "
              "CUDA_HOME says; use format=isa";
  return success();
}
