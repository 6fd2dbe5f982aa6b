//===- GPUTarget.h - What making code for a GPU takes -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_GPU_GPUTARGET_H
#define BATCH_TARGET_GPU_GPUTARGET_H

#include "llvm/ADT/StringSwitch.h"
#include <cstdint>
#include <optional>

namespace mlir::batch {

/// What the factors of products with weights are rounded to; their sums are
/// f32. All but F32 run on tensor cores.
enum class Precision { F32, TF32, BF16 };

inline std::optional<Precision> symbolizePrecision(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Precision>>(name)
      .Case("f32", Precision::F32)
      .Case("tf32", Precision::TF32)
      .Case("bf16", Precision::BF16)
      .Default(std::nullopt);
}

/// Bytes of a block's shared memory that lists of numbers (uprog.compact) take,
/// which weights leave to them.
inline constexpr int64_t kListBytes = 16;

/// What a kernel may count on.
struct ChipFacts {
  int64_t sharedMemory;     ///< bytes that a block may have, by opt-in
  int64_t multiprocessors;  ///< of the largest GPU with this chip
  bool hasClusters = false; ///< of thread blocks
  bool asyncCopies = false; ///< to shared memory, while threads do other things
};

/// Those of a chip; empty: what all chips from sm_80 on have.
ChipFacts getChipFacts(llvm::StringRef chip);

/// The tool of a CUDA toolkit that is needed to make "bin" or "fatbin" code and
/// lies neither in the toolkit nor on the PATH; empty if all are there.
llvm::StringRef findMissingCUDATool(llvm::StringRef format);

} // namespace mlir::batch

#endif // BATCH_TARGET_GPU_GPUTARGET_H
