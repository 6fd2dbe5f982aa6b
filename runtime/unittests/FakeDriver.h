//===- FakeDriver.h - Tests on the fake CUDA driver -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_UNITTESTS_FAKEDRIVER_H
#define BATCH_RUNTIME_UNITTESTS_FAKEDRIVER_H

#include "FakeCuda.h"
#include "Support.h"
#include "batch-runtime/Device.h"

#include <dlfcn.h>

/// A host with the fake driver, reset for each test.
class FakeDriver {
public:
  FakeDriver() {
    use("fake_cuda.so");
    void *library = dlopen(path("fake_cuda.so").c_str(), RTLD_NOW);
    auto get = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fakeCuda"));
    cuda = get();
    *cuda = FakeCuda();
  }
  ~FakeDriver() {
    // A device that hangs does not free its memory, so free it here.
    for (auto &entry : cuda->allocations)
      free(reinterpret_cast<void *>(entry.first));
    for (auto &entry : cuda->hostAllocations)
      free(entry.first);
    *cuda = FakeCuda();
    unsetenv("BATCH_CUDA_DRIVER");
  }

  static std::string path(const std::string &name) {
    return std::string(FAKE_FOLDER) + "/" + name;
  }
  static void use(const std::string &name) {
    setenv("BATCH_CUDA_DRIVER", path(name).c_str(), /*overwrite=*/1);
  }

  FakeCuda *cuda;
};

#endif // BATCH_RUNTIME_UNITTESTS_FAKEDRIVER_H
