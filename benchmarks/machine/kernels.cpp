//===- kernels.cpp - Loops that batch-peak measures -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The build compiles this file once for each instruction set. BATCH_KERNELS is
// the name of the variable with the loops.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

namespace {

// Accumulators are separate variables, because compilers may keep an array in
// memory.
#define FOR_12(DO)                                                             \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define FOR_24(DO)                                                             \
  FOR_12(DO)                                                                   \
  DO(12)                                                                       \
  DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23)

#if defined(__AVX512F__) || defined(__aarch64__)
#define FOR_ACCUMULATORS FOR_24
constexpr int accumulators = 24;
#else
#define FOR_ACCUMULATORS FOR_12
constexpr int accumulators = 12;
#endif

#if defined(__AVX512F__)
constexpr int vectorBytes = 64;
constexpr const char *isa = "AVX-512";
#elif defined(__AVX2__)
constexpr int vectorBytes = 32;
constexpr const char *isa = "AVX2";
#elif defined(__aarch64__)
constexpr int vectorBytes = 16;
constexpr const char *isa = "NEON";
#else
constexpr int vectorBytes = 16;
constexpr const char *isa = "generic";
#endif
constexpr int lanes = vectorBytes / sizeof(float);

typedef float Vector __attribute__((vector_size(vectorBytes)));

/// Runs `rounds` rounds with one multiply-add into each accumulator. There are
/// enough accumulators, 24 or 12, to hide the latency. The build enables
/// contraction to FMA (-ffp-contract=fast).
__attribute__((noinline)) float multiplyAdd(long rounds) {
  Vector a, b;
  for (int i = 0; i < lanes; ++i) {
    a[i] = 1.0f - 1e-6f * i; // keeps sums finite and normal
    b[i] = 1e-9f * i;
  }
#define DECLARE(i) Vector sum##i = a + i##.0f; // equal sums would be merged
#define ACCUMULATE(i) sum##i = sum##i * a + b;
#define TOTAL(i) total += sum##i;
  FOR_ACCUMULATORS(DECLARE)
  for (long round = 0; round < rounds; ++round) {
    FOR_ACCUMULATORS(ACCUMULATE)
    // Prevents the compiler from merging several rounds into one.
    asm volatile("" : "+r"(round));
  }
  Vector total = a - a;
  FOR_ACCUMULATORS(TOTAL)
  float result = 0;
  for (int i = 0; i < lanes; ++i)
    result += total[i];
  return result;
}

/// Adds the floats with several accumulators. Returns one vector lane of the
/// sum, because callers measure the reads and do not use the sum.
__attribute__((noinline)) float sumOf(const void *from, std::size_t bytes) {
  const auto *data = static_cast<const Vector *>(from);
  const std::size_t vectors = bytes / sizeof(Vector);
  Vector sums[8] = {};
  for (std::size_t i = 0; i + 8 <= vectors; i += 8)
    for (int j = 0; j < 8; ++j)
      sums[j] += data[i + j];
  Vector total = sums[0];
  for (int j = 1; j < 8; ++j)
    total += sums[j];
  return total[0];
}

} // namespace

const PeakKernels BATCH_KERNELS = {isa, 2 * lanes *accumulators, multiplyAdd,
                                   sumOf};
