//===- Kernels.h - What batch-peak measures ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_BENCHMARKS_MACHINE_KERNELS_H
#define BATCH_BENCHMARKS_MACHINE_KERNELS_H

#include <cstddef>

/// Loops in one instruction set.
struct PeakKernels {
  const char *isa;
  int flopsPerRound; ///< of multiplyAdd
  float (*multiplyAdd)(long rounds);
  /// Sums of `bytes` bytes, which begin at a multiple of 64.
  float (*sumOf)(const void *data, std::size_t bytes);
};

/// Those of the machine that this is compiled on, and others that it may have.
extern const PeakKernels nativeKernels;
#ifdef __x86_64__
extern const PeakKernels avx2Kernels, avx512Kernels;
#endif

#endif // BATCH_BENCHMARKS_MACHINE_KERNELS_H
