//===- peak.cpp - Peak rates of this machine ------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// batch-peak [--isa=native|avx2|avx512] [THREADS...]: prints one JSON object.
// It contains three kinds of rates for each number of threads:
//
//  - fused multiply-adds in registers (GFLOP/s, f32);
//  - copies between arrays far larger than the caches (GB/s, read plus
//    written);
//  - repeated reads of N MiB per thread (GB/s of all threads), for each N.
//
// Benchmarks relate their results to these rates. --isa selects the instruction
// set of multiply-adds and reads. The default is `native`, the instruction set
// of the build machine.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

double seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

volatile float sink;

const PeakKernels *kernels = &nativeKernels;

/// Runs `body(thread)` on all threads at once. Returns the wall time.
template <class Body>
double onThreads(int threads, Body body) {
  std::vector<std::thread> others;
  double start = seconds();
  for (int t = 1; t < threads; ++t)
    others.emplace_back(body, t);
  body(0);
  for (std::thread &other : others)
    other.join();
  return seconds() - start;
}

double gflops(int threads) {
  long rounds = 1 << 14;
  double best = 0;
  // Double the number of rounds until a run takes at least 50 ms. Then return
  // the best of five runs.
  for (int run = 0; run < 5;) {
    double time =
        onThreads(threads, [&](int) { sink = kernels->multiplyAdd(rounds); });
    if (time < 0.05) {
      rounds *= 2;
      continue;
    }
    best = std::max(best, static_cast<double>(kernels->flopsPerRound) * rounds *
                              threads / time);
    ++run;
  }
  return best / 1e9;
}

double copyRate(int threads) {
  // Reads 128 MiB and writes 128 MiB, which are divided among the threads.
  const size_t bytes = size_t(128) << 20, share = bytes / threads / 64 * 64;
  std::unique_ptr<char[]> from(new char[bytes]), to(new char[bytes]);
  std::memset(from.get(), 1, bytes);
  std::memset(to.get(), 2, bytes);
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    double time = onThreads(threads, [&](int t) {
      std::memcpy(to.get() + t * share, from.get() + t * share, share);
    });
    best = std::max(best, 2.0 * share * threads / time);
  }
  sink = to[bytes / 2];
  return best / 1e9;
}

/// Returns the total rate of threads that each read their own `bytes` bytes
/// repeatedly.
double readRate(int threads, size_t bytes) {
  std::vector<std::unique_ptr<char[]>> memory;
  for (int t = 0; t < threads; ++t) {
    memory.emplace_back(new char[bytes + 64]);
    std::memset(memory.back().get(), 0, bytes + 64);
  }
  const size_t rounds = std::max<size_t>(1, (size_t(256) << 20) / bytes);
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    double time = onThreads(threads, [&](int t) {
      auto start = reinterpret_cast<uintptr_t>(memory[t].get());
      auto *data = reinterpret_cast<const char *>((start + 63) / 64 * 64);
      float sum = 0;
      for (size_t round = 0; round < rounds; ++round) {
        sum += kernels->sumOf(data, bytes);
        asm volatile("" : : "r"(data) : "memory"); // forces a read per round
      }
      sink = sum;
    });
    best = std::max(best, double(rounds) * bytes * threads / time);
  }
  return best / 1e9;
}

} // namespace

/// Returns the kernels of instruction set `name`, or null if it is unknown or
/// this machine lacks it.
static const PeakKernels *findKernels(const std::string &name) {
  if (name == "native")
    return &nativeKernels;
#ifdef __x86_64__
  if (name == "avx2" && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("fma"))
    return &avx2Kernels;
  if (name == "avx512" && __builtin_cpu_supports("avx512f"))
    return &avx512Kernels;
#endif
  return nullptr;
}

int main(int argc, char **argv) {
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--isa=", 6) == 0) {
      kernels = findKernels(argv[i] + 6);
      if (!kernels) {
        std::fprintf(stderr,
                     "batch-peak: this machine has no instruction set '%s'; "
                     "use --isa=native, --isa=avx2 or --isa=avx512\n",
                     argv[i] + 6);
        return 1;
      }
      continue;
    }
    int count = std::atoi(argv[i]);
    if (count < 1 || count > 1024) {
      std::fprintf(stderr, "usage: batch-peak [--isa=NAME] [THREADS...]\n");
      return 1;
    }
    counts.push_back(count);
  }
  if (counts.empty())
    counts = {
        1, static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};
  std::printf("{\"isa\": \"%s\", \"threads\": {", kernels->isa);
  for (size_t i = 0; i < counts.size(); ++i) {
    std::printf("%s\"%d\": {\"fma_gflops\": %.2f, \"copy_gbytes\": %.2f, "
                "\"read_gbytes\": {",
                i ? ", " : "", counts[i], gflops(counts[i]),
                copyRate(counts[i]));
    for (double mebibytes : {0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0})
      std::printf(
          "%s\"%g\": %.1f", mebibytes > 0.25 ? ", " : "", mebibytes,
          readRate(counts[i], static_cast<size_t>(mebibytes * (1 << 20))));
    std::printf("}}");
  }
  std::printf("}}\n");
  return 0;
}
