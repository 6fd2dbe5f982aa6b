//===- TaskNumbers.h - Numbers of tasks -------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Workers record the tasks of a mini-batch in parts. A task's number has 32
// bits, and the highest bits are the number of its part.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_TASKNUMBERS_H
#define BATCH_RUNTIME_TASKNUMBERS_H

#include <cstdint>

namespace batchrt {

/// Returns the number of bits that specify a task within its part, if there are
/// `parts` parts.
inline int taskBits(int64_t parts) {
  int bits = 32;
  while (int64_t(1) << (32 - bits) < parts)
    --bits;
  return bits;
}

/// Return the number of a part's first task, and the end of the part's numbers.
inline int64_t firstTaskOf(int64_t part, int64_t parts) {
  return part << taskBits(parts);
}
inline int64_t endTaskOf(int64_t part, int64_t parts) {
  return firstTaskOf(part + 1, parts);
}

inline int64_t partOf(int64_t task, int64_t parts) {
  return task >> taskBits(parts);
}

/// Returns the number of a handle's task, or -1 for a row of a source.
inline int64_t taskOf(int64_t handle) {
  return handle < 0 ? -1 : static_cast<int64_t>(static_cast<uint32_t>(handle));
}

} // namespace batchrt

#endif // BATCH_RUNTIME_TASKNUMBERS_H
