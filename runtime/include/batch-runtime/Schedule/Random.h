//===- Random.h - Random numbers --------------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_RANDOM_H
#define BATCH_RUNTIME_SCHEDULE_RANDOM_H

#include <cstddef>
#include <cstdint>

namespace batchrt {

/// 2^64 divided by the golden ratio. Its multiples are far apart.
inline constexpr uint64_t goldenRatio = 0x9e3779b97f4a7c15;

/// Mixes the bits so that each bit of the result depends on all bits of `x`
/// (the last step of splitmix64).
inline uint64_t mixBits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Generates the same random numbers on every platform (splitmix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() { return mixBits(state += goldenRatio); }
  size_t below(size_t bound) { return next() % bound; }
  /// Returns a number in [0, 1).
  double share() {
    return static_cast<double>(next() >> 11) / (uint64_t(1) << 53);
  }

private:
  uint64_t state;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_RANDOM_H
