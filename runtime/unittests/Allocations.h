//===- Allocations.h - Counts and rejects allocations -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_UNITTESTS_ALLOCATIONS_H
#define BATCH_RUNTIME_UNITTESTS_ALLOCATIONS_H

#include <cstdint>

/// Returns the number of calls to operator new in this process so far.
int64_t countAllocations();

/// Makes the next `good` buffer allocations succeed and later ones fail. If
/// `good` is negative, all succeed again.
void failBuffers(int64_t good);

#endif // BATCH_RUNTIME_UNITTESTS_ALLOCATIONS_H
