//===- Kernels.h - Loops that batch-peak measures ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_BENCHMARKS_MACHINE_KERNELS_H
#define BATCH_BENCHMARKS_MACHINE_KERNELS_H

#include <cstddef>

/// Loops compiled for one instruction set.
struct PeakKernels {
  const char *isa;
  int flopsPerRound; ///< FLOPs of a round of multiplyAdd
  float (*multiplyAdd)(long rounds);
  /// Reads and adds `bytes` bytes of floats. `data` is aligned to 64 bytes.
  float (*sumOf)(const void *data, std::size_t bytes);
};

/// Loops for the instruction set of the build machine, and for two fixed
/// instruction sets.
extern const PeakKernels nativeKernels;
#ifdef __x86_64__
extern const PeakKernels avx2Kernels, avx512Kernels;
#endif

#endif // BATCH_BENCHMARKS_MACHINE_KERNELS_H
