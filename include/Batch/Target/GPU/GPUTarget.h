//===- GPUTarget.h - Facts about GPUs ---------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of vendors and chips are in lib/Target/GPU/GPUTarget.cpp. They
// contain all differences between GPUs. Passes look up entries by chip name.
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

/// Address space of a block's shared memory, for all vendors.
inline constexpr unsigned kSharedMemory = 3;
/// Bytes of a block's shared memory for lists of numbers (uprog.compact).
/// Parameters must not use these bytes.
inline constexpr int64_t kListBytes = 16;
/// Bytes of a block's shared memory for a flag. The flag makes the threads of
/// the block leave a barrier of all blocks. Parameters must not use these
/// bytes.
inline constexpr int64_t kLeftBytes = 16;
/// Two cluster sizes, in blocks: every chip with clusters supports the first,
/// and only some of these chips support the second.
inline constexpr int64_t kClusterBlocks = 8, kWideClusterBlocks = 16;

/// Vendor of a GPU, which determines its dialect: NVVM or ROCDL.
enum class GPUVendor { NVIDIA, AMD };

/// Facts about all chips of a vendor.
struct VendorFacts {
  GPUVendor vendor;
  llvm::StringLiteral chipPrefix; ///< prefix of the names of chips
  llvm::StringLiteral triple;     ///< LLVM target triple
  /// LLVM names of the scopes of atomic operations: the threads of one block,
  /// and the threads of all blocks.
  llvm::StringLiteral blockScope, deviceScope;
  /// True if blocks can read a clock while they wait for other blocks.
  bool hasClock;
  unsigned stackSpace; ///< address space of a thread's private memory
};

/// Facts about a chip.
struct ChipFacts {
  const VendorFacts *vendor;
  int64_t sharedMemory;    ///< maximum bytes that a block can opt in to
  int64_t multiprocessors; ///< number of multiprocessors of the largest GPU
                           ///< with this chip
  bool acquireLoads;       ///< has acquire loads, which barriers of all blocks
                           ///< require
  bool asyncCopies;        ///< can copy to shared memory asynchronously
  bool tensorCores;        ///< has tensor cores for tf32 and bf16
  bool clusters;           ///< has clusters of thread blocks
  bool wideClusters;       ///< has clusters of kWideClusterBlocks blocks
};

/// Returns the facts about a chip. For a chip that is not in the table, returns
/// defaults and the features that the chip's name implies. For an empty name,
/// returns the facts that hold for all NVIDIA chips from sm_80 on. If the
/// number of multiprocessors is unknown, sets it to 108.
ChipFacts getChipFacts(llvm::StringRef chip);

/// Returns the vendor of a chip, or null if the name of the chip does not begin
/// with the prefix of any vendor.
const VendorFacts *findVendor(llvm::StringRef chip);

/// Returns true if LLVM can generate code for a chip.
bool isKnownChip(llvm::StringRef chip);

/// Returns the name of the first NVIDIA chip that has a feature, for messages.
/// An example is "sm_80".
std::string getFirstChip(bool ChipFacts::*feature);

/// Returns the name of a CUDA tool that `format` ("bin" or "fatbin") requires
/// and that is neither in the toolkit nor on the PATH. Returns an empty string
/// if all tools are found.
llvm::StringRef findMissingCUDATool(llvm::StringRef format);

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::Precision)

#endif // BATCH_TARGET_GPU_GPUTARGET_H
