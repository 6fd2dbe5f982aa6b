//===- GPUTarget.h - What is known of GPUs ----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of vendors and chips are in lib/Target/GPU/GPUTarget.cpp. What
// differs between GPUs is a fact here, which passes look up by the chip's name.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_GPU_GPUTARGET_H
#define BATCH_TARGET_GPU_GPUTARGET_H

#include "Batch/Support/NamedOption.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

#include "Batch/Target/GPU/GPUTargetEnums.h.inc"

namespace mlir::batch {

template <>
struct OptionNames<Precision>
    : EnumNames<Precision, symbolizePrecision, getMaxEnumValForPrecision()> {};

/// Bytes of a block's shared memory that lists of numbers (uprog.compact) take,
/// which weights leave to them.
inline constexpr int64_t kListBytes = 16;
/// The same for what tells the threads of a block to leave a barrier of all
/// blocks.
inline constexpr int64_t kLeftBytes = 16;

/// Which dialect has the instructions of a GPU: NVVM or ROCDL.
enum class GPUVendor { NVIDIA, AMD };

/// What all chips of a vendor have.
struct VendorFacts {
  GPUVendor vendor;
  llvm::StringLiteral chipPrefix; ///< names of chips begin with it
  llvm::StringLiteral triple;     ///< LLVM's
  /// LLVM's names of the threads that an atomic operation is between: those of
  /// a block, those of all blocks.
  llvm::StringLiteral blockScope, deviceScope;
  /// Whether blocks can look at a clock while they wait for others.
  bool hasClock;
};

/// What a kernel may count on.
struct ChipFacts {
  const VendorFacts *vendor;
  int64_t sharedMemory;    ///< bytes that a block may have, by opt-in
  int64_t multiprocessors; ///< of the largest GPU with this chip
  bool acquireLoads;       ///< with which blocks meet
  bool asyncCopies;        ///< to shared memory, while threads do other things
  bool tensorCores;        ///< for tf32 and bf16
  bool clusters;           ///< of thread blocks
};

/// Those of a chip; of one that the table lacks what all of its kind have;
/// empty: what all of NVIDIA's from sm_80 on have.
ChipFacts getChipFacts(llvm::StringRef chip);

/// The vendor of a chip by its name; null if no name of a chip begins so.
const VendorFacts *findVendor(llvm::StringRef chip);

/// Whether LLVM makes code for a chip.
bool isKnownChip(llvm::StringRef chip);

/// The first of NVIDIA's chips that has something, for messages: "sm_80".
std::string getFirstChip(bool ChipFacts::*feature);

/// The tool of a CUDA toolkit that is needed to make "bin" or "fatbin" code and
/// lies neither in the toolkit nor on the PATH; empty if all are there.
llvm::StringRef findMissingCUDATool(llvm::StringRef format);

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::Precision)

#endif // BATCH_TARGET_GPU_GPUTARGET_H
