//===- FakeCuda.h - A CUDA driver for tests, without a GPU ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library whose "kernels" are host functions, which run on host memory when
// they are launched. It exports `fakeCuda`, which returns this struct to tests.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_UNITTESTS_FAKECUDA_H
#define BATCH_RUNTIME_UNITTESTS_FAKECUDA_H

#include "../lib/Device/CudaApi.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

struct FakeLaunch {
  unsigned blocks = 0, blockSize = 0, sharedBytes = 0;
  bool cooperative = false;
  unsigned clusterSize = 0; ///< 0: no cluster attribute
  void *stream = nullptr;
  std::vector<uint64_t> arguments;
};

struct FakeCuda {
  // Properties of the host.
  int version = 12040, devices = 1, major = 9, minor = 0, multiprocessors = 132;
  int sharedOptIn = 232448, cooperative = 1, clusters = 1;
  size_t memory = size_t(1) << 30, hostMemory = size_t(1) << 30;

  // Properties of the module.
  std::string kernelName = "main.execute", jitLog;
  int staticShared = 1024, blocksPerMultiprocessor = 2, maxCluster = 16;
  int kernelCluster = 1; ///< cluster size that the kernel was compiled for
  int numArguments = 5;
  std::function<void(const FakeLaunch &)> kernel;

  // Failures: the results of functions by name, and the number of times that
  // the stream of a launched kernel reports that it is busy (-1: always).
  std::map<std::string, int> results;
  int busy = 0;
  std::function<void()> whenAsked; ///< called by each query of a busy stream

  // The calls that the fake driver received, and what they created.
  std::vector<std::string> calls;
  std::vector<FakeLaunch> launches;
  std::vector<void *> workStreams; ///< streams of copies, launches, events and
                                   ///< waits
  std::map<int, int> functionAttributes;
  std::map<uint64_t, size_t> allocations; ///< sizes of the device's
                                          ///< allocations, indexed by address
  std::map<void *, size_t> hostAllocations;
  std::string image; ///< code that was loaded last
  int opened = -1;   ///< number of the GPU that was opened last
  int streams = 0, events = 0, modules = 0, contexts = 0;

  int count(const std::string &function) const {
    int number = 0;
    for (const std::string &call : calls)
      number += call == function;
    return number;
  }
};

#endif // BATCH_RUNTIME_UNITTESTS_FAKECUDA_H
