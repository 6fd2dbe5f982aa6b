//===- Allocations.cpp - Counts what a test allocates ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int64_t> allocations{0};

int64_t countAllocations() { return allocations; }

// Not inlined: the compiler would pair the halves with the library's.
__attribute__((noinline)) void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
// std::stable_sort's, which the sanitizer would have of its own.
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
