//===- GPUTarget.cpp - Facts about GPUs -----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Target/GPU/GPUTarget.h"

#include "mlir/Target/LLVM/NVVM/Utils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"

#include "Batch/Target/GPU/GPUTargetEnums.cpp.inc"

using namespace mlir;
using namespace mlir::batch;

static constexpr VendorFacts kVendors[] = {
    {GPUVendor::NVIDIA, "sm_", "nvptx64-nvidia-cuda", "block", "device",
     /*hasClock=*/true, /*stackSpace=*/0},
    {GPUVendor::AMD, "gfx", "amdgcn-amd-amdhsa", "workgroup", "agent",
     /*hasClock=*/false, /*stackSpace=*/5},
};
static constexpr const VendorFacts &kNVIDIA = kVendors[0];

namespace {
/// Properties of one chip. Unknown properties have the defaults below.
struct Chip {
  StringLiteral name;
  int64_t sharedKilobytes = 48;
  int64_t multiprocessors = 108;
};

/// Feature of the NVIDIA chips whose number is at least `first`.
struct Feature {
  bool ChipFacts::*has;
  unsigned first;
};
} // namespace

static constexpr Chip kChips[] = {
    {"sm_70", 96, 80},   {"sm_72", 64},       {"sm_75", 64, 72},
    {"sm_80", 163, 108}, {"sm_86", 99, 84},   {"sm_87", 163},
    {"sm_89", 99, 142},  {"sm_90", 227, 132}, {"sm_100", 227, 148},
    {"sm_101", 227},     {"sm_103", 227},     {"sm_120", 99},
    {"sm_121", 99},      {"gfx90a", 64, 110}, {"gfx942", 64, 304},
};

static constexpr Feature kFeatures[] = {
    {&ChipFacts::acquireLoads, 70},
    {&ChipFacts::asyncCopies, 80},
    {&ChipFacts::tensorCores, 80},
    {&ChipFacts::clusters, 90},
};

const VendorFacts *batch::findVendor(StringRef chip) {
  for (const VendorFacts &vendor : kVendors)
    if (chip.starts_with(vendor.chipPrefix))
      return &vendor;
  return nullptr;
}

ChipFacts batch::getChipFacts(StringRef chip) {
  ChipFacts facts = {};
  facts.vendor = &kNVIDIA;
  if (chip.empty()) {
    facts.sharedMemory = 99 << 10;
    facts.multiprocessors = 108;
    facts.acquireLoads = facts.asyncCopies = facts.tensorCores = true;
    return facts;
  }
  if (const VendorFacts *vendor = findVendor(chip))
    facts.vendor = vendor;
  StringRef number = chip;
  bool isNumbered = number.consume_front(kNVIDIA.chipPrefix);
  // sm_90a is sm_90 with instructions that no later chip has.
  StringRef name = isNumbered ? chip.rtrim("af") : chip;
  const Chip *known = llvm::find_if(
      kChips, [&](const Chip &chip) { return chip.name == name; });
  Chip any = known != std::end(kChips) ? *known : Chip{""};
  facts.sharedMemory = any.sharedKilobytes << 10;
  facts.multiprocessors = any.multiprocessors;
  unsigned version = 0;
  if (isNumbered && !number.consumeInteger(10, version))
    for (const Feature &feature : kFeatures)
      facts.*feature.has = version >= feature.first;
  // NVIDIA documents wide clusters only for these two chips. Other chips may
  // support them, too.
  facts.wideClusters = name == "sm_90" || name == "sm_100";
  // All AMD chips that LLVM supports have acquire loads.
  if (facts.vendor->vendor == GPUVendor::AMD)
    facts.acquireLoads = true;
  return facts;
}

bool batch::isKnownChip(StringRef chip) {
  const VendorFacts *vendor = findVendor(chip);
  if (!vendor)
    return false;
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargetMCs();
  llvm::Triple triple(vendor->triple);
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return false;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  return info && info->isCPUStringValid(chip);
}

std::string batch::getFirstChip(bool ChipFacts::*feature) {
  const Feature *found = llvm::find_if(
      kFeatures, [&](const Feature &each) { return each.has == feature; });
  return (kNVIDIA.chipPrefix + Twine(found->first)).str();
}

/// Searches the same directories as the MLIR pass that runs the CUDA tools.
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
