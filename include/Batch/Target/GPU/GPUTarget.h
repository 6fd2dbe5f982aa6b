//===- GPUTarget.h - Facts about GPUs ---------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of vendors and chips are in lib/Target/GPU/GPUTarget.cpp. Every
// difference between GPUs is a fact here, which passes look up by chip name.
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

/// The address space of a block's shared memory, of all vendors.
inline constexpr unsigned kSharedMemory = 3;
/// Bytes of a block's shared memory for lists of numbers (uprog.compact), which
/// parameters must leave free.
inline constexpr int64_t kListBytes = 16;
/// The same for what tells the threads of a block to leave a barrier of all
/// blocks.
inline constexpr int64_t kLeftBytes = 16;
/// Blocks of a cluster that every chip with clusters has, and those that some
/// have.
inline constexpr int64_t kClusterBlocks = 8, kWideClusterBlocks = 16;

/// The vendor of a GPU, which decides its dialect: NVVM or ROCDL.
enum class GPUVendor { NVIDIA, AMD };

/// Facts about all chips of a vendor.
struct VendorFacts {
  GPUVendor vendor;
  llvm::StringLiteral chipPrefix; ///< names of chips begin with it
  llvm::StringLiteral triple;     ///< LLVM's
  /// LLVM's names of the scopes of atomic operations: the threads of a block,
  /// and those of all blocks.
  llvm::StringLiteral blockScope, deviceScope;
  /// True if blocks can read a clock while they wait for others.
  bool hasClock;
  unsigned stackSpace; ///< the address space of a thread's own memory
};

/// Facts about a chip.
struct ChipFacts {
  const VendorFacts *vendor;
  int64_t sharedMemory;    ///< bytes that a block may have, by opt-in
  int64_t multiprocessors; ///< of the largest GPU with this chip
  bool acquireLoads;       ///< which barriers of blocks need
  bool asyncCopies;        ///< to shared memory, in the background
  bool tensorCores;        ///< for tf32 and bf16
  bool clusters;           ///< of thread blocks
  bool wideClusters;       ///< of twice as many
};

/// The facts about a chip; for one that the table lacks, what all of its kind
/// have; for an empty name, what all of NVIDIA's chips from sm_80 on have.
ChipFacts getChipFacts(llvm::StringRef chip);

/// The vendor of a chip by its name; null if no vendor's names begin like it.
const VendorFacts *findVendor(llvm::StringRef chip);

/// True if LLVM can generate code for a chip.
bool isKnownChip(llvm::StringRef chip);

/// The first of NVIDIA's chips with a feature, for messages: "sm_80".
std::string getFirstChip(bool ChipFacts::*feature);

/// The tool of a CUDA toolkit that is needed for "bin" or "fatbin" code and is
/// neither in the toolkit nor on the PATH; empty if all are there.
llvm::StringRef findMissingCUDATool(llvm::StringRef format);

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::Precision)

#endif // BATCH_TARGET_GPU_GPUTARGET_H
