//===- Allocations.h - Counts and refuses allocations -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_UNITTESTS_ALLOCATIONS_H
#define BATCH_RUNTIME_UNITTESTS_ALLOCATIONS_H

#include <cstdint>

/// Calls of operator new so far, of the whole process.
int64_t countAllocations();

/// Gives buffers memory `good` more times, and none after that; always again if
/// `good` is negative.
void failBuffers(int64_t good);

#endif // BATCH_RUNTIME_UNITTESTS_ALLOCATIONS_H
