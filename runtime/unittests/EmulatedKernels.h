//===- EmulatedKernels.h - Common code of emulator tests --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Support for tests with handwritten kernels, most of which have a bug that the
// emulator must detect.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_UNITTESTS_EMULATEDKERNELS_H
#define BATCH_RUNTIME_UNITTESTS_EMULATEDKERNELS_H

#include "batch-runtime/Emulator.h"
#include "batch-runtime/Error.h"

#include "gtest/gtest.h"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace batchrt::test {

/// Abbreviations for the operations of kernels.
struct Gpu {
  BatchEmulatorThread *self;

  int64_t thread() const { return self->thread; }
  int64_t block() const { return self->block; }
  const BatchEmulatorFunctions &call() const { return *self->functions; }

  template <class T>
  T load(const T *at, const char *where, int64_t space = BATCH_SPACE_GLOBAL) {
    call().read(self, at, sizeof(T), sizeof(T), space, where);
    return *at;
  }
  template <class T>
  void store(T *at, T value, const char *where,
             int64_t space = BATCH_SPACE_GLOBAL) {
    call().write(self, at, sizeof(T), sizeof(T), space, where);
    *at = value;
  }
  int32_t *shared(int64_t index) {
    return reinterpret_cast<int32_t *>(self->shared) + index;
  }
  int32_t loadShared(int64_t index, const char *where) {
    return load(shared(index), where, BATCH_SPACE_SHARED);
  }
  void storeShared(int64_t index, int32_t value, const char *where) {
    store(shared(index), value, where, BATCH_SPACE_SHARED);
  }
  void barrier(const char *where) { call().barrier(self, where); }

  int32_t atomicLoad(const int32_t *at, const char *where,
                     int64_t order = BATCH_ORDER_ACQUIRE,
                     int64_t scope = BATCH_SCOPE_DEVICE) {
    return call().atomicLoad(self, at, 4, order, scope, BATCH_SPACE_GLOBAL,
                             where);
  }
  void atomicStore(int32_t *at, int32_t value, const char *where,
                   int64_t order = BATCH_ORDER_RELEASE,
                   int64_t scope = BATCH_SCOPE_DEVICE) {
    call().atomicStore(self, at, value, 4, order, scope, BATCH_SPACE_GLOBAL,
                       where);
  }
  int32_t atomicAdd(int32_t *at, int32_t value, const char *where) {
    return call().atomicUpdate(self, BATCH_ATOMIC_ADD, at, value, 4,
                               BATCH_SCOPE_DEVICE, BATCH_SPACE_GLOBAL, where);
  }
  void fence(int64_t order, int64_t scope = BATCH_SCOPE_DEVICE) {
    call().fence(self, order, scope, "fence");
  }
  uint32_t shuffle(int64_t mode, uint32_t value, int64_t offset,
                   const char *where) {
    return call().shuffle(self, mode, value, offset, 32, where);
  }
};

using Kernel = std::function<void(Gpu)>;

inline void runKernel(BatchEmulatorThread *thread, void *const *arguments) {
  (*static_cast<const Kernel *>(arguments[0]))(Gpu{thread});
}

class EmulatorTest : public testing::Test {
protected:
  /// Declares global memory of int32 elements, which are initialized if
  /// `written` is set.
  template <size_t size>
  void region(int32_t (&memory)[size], const char *name, bool written = true,
              RegionUse use = RegionUse::ReadWrite) {
    region(memory, size, name, written, use);
  }

  void region(int32_t *memory, size_t size, const char *name,
              bool written = true, RegionUse use = RegionUse::ReadWrite) {
    emulator.addRegion(memory, size * sizeof *memory, name, use);
    if (written)
      emulator.markWritten(memory, size * sizeof *memory);
  }

  void launch(int64_t blocks, int64_t threads, const Kernel &kernel,
              uint64_t seed = 0) {
    void *argument = const_cast<Kernel *>(&kernel);
    settings.kernel = "k";
    settings.entry = runKernel;
    settings.arguments = &argument;
    settings.blocks = blocks;
    settings.threads = threads;
    settings.seed = seed;
    emulator.launch(settings);
  }

  /// Checks that a kernel causes an error with each of five seeds, and that the
  /// messages contain `parts`.
  void expectError(int64_t blocks, int64_t threads, const Kernel &kernel,
                   const std::vector<std::string> &parts) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      if (control)
        std::memset(control, 0, 8);
      try {
        launch(blocks, threads, kernel, seed);
      } catch (const Error &error) {
        for (const std::string &part : parts)
          EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
              << error.what();
        continue;
      }
      ADD_FAILURE() << "no error with seed " << seed;
    }
  }

  Emulator emulator;
  EmulatedLaunch settings;
  int32_t *control = nullptr; ///< two words that are 0 before a launch
};

} // namespace batchrt::test

#endif // BATCH_RUNTIME_UNITTESTS_EMULATEDKERNELS_H
