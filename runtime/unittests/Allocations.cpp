//===- Allocations.cpp - Counts and rejects allocations -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <malloc.h>
#include <new>

static std::atomic<int64_t> allocations{0}, buffersLeft{-1};

int64_t countAllocations() { return allocations; }

void failBuffers(int64_t good) { buffersLeft = good; }

// Buffers allocate memory with this function.
extern "C" int posix_memalign(void **memory, size_t alignment,
                              size_t bytes) noexcept {
  int64_t left = buffersLeft;
  while (left > 0 && !buffersLeft.compare_exchange_weak(left, left - 1))
    ;
  *memory = left == 0 ? nullptr : ::memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

// Not inlined, because the compiler would otherwise pair each operator with its
// counterpart in the library.
__attribute__((noinline)) void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
// std::stable_sort() calls this operator. Without this definition, the
// sanitizer would use its own operator.
__attribute__((noinline)) void *operator new(size_t bytes,
                                             const std::nothrow_t &) noexcept {
  ++allocations;
  return std::malloc(bytes ? bytes : 1);
}
__attribute__((noinline)) void operator delete(void *memory) noexcept {
  std::free(memory);
}
__attribute__((noinline)) void operator delete(void *memory, size_t) noexcept {
  std::free(memory);
}
