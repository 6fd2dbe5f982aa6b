//===- peak.cpp - What this machine can do at best ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// batch-peak [THREADS...]: prints one JSON object with, per number of threads,
// the rate of fused multiply-adds that touch registers only (GFLOP/s, f32), of
// copies between arrays far larger than the caches (GB/s, read plus written),
// and of reads that start over after some MiB per thread (GB/s of all threads),
// by that number of MiB. Benchmarks relate their results to these numbers.
//
//===----------------------------------------------------------------------===//

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

// Accumulators are variables of their own: compilers keep arrays in memory.
#define FOR_12(DO)                                                             \
  DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define FOR_24(DO)                                                             \
  FOR_12(DO)                                                                   \
  DO(12)                                                                       \
  DO(13) DO(14) DO(15) DO(16) DO(17) DO(18) DO(19) DO(20) DO(21) DO(22) DO(23)

#if defined(__AVX512F__) || defined(__aarch64__)
#define FOR_ACCUMULATORS FOR_24
constexpr int accumulators = 24;
#else
#define FOR_ACCUMULATORS FOR_12
constexpr int accumulators = 12;
#endif

#if defined(__AVX512F__)
constexpr int vectorBytes = 64;
constexpr const char *isa = "AVX-512";
#elif defined(__AVX2__)
constexpr int vectorBytes = 32;
constexpr const char *isa = "AVX2";
#elif defined(__aarch64__)
constexpr int vectorBytes = 16;
constexpr const char *isa = "NEON";
#else
constexpr int vectorBytes = 16;
constexpr const char *isa = "generic";
#endif
constexpr int lanes = vectorBytes / sizeof(float);

typedef float Vector __attribute__((vector_size(vectorBytes)));

double seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// `rounds` times one multiply-add into each accumulator, 24 or 12 of them, so
/// that the latency is hidden. The build asks for contraction to FMA
/// (-ffp-contract=fast).
__attribute__((noinline)) float multiplyAdd(long rounds) {
  Vector a, b;
  for (int i = 0; i < lanes; ++i) {
    a[i] = 1.0f - 1e-6f * i; // sums stay finite and normal
    b[i] = 1e-9f * i;
  }
#define DECLARE(i) Vector sum##i = a + i##.0f; // all different, or they merge
#define ACCUMULATE(i) sum##i = sum##i * a + b;
#define TOTAL(i) total += sum##i;
  FOR_ACCUMULATORS(DECLARE)
  for (long round = 0; round < rounds; ++round) {
    FOR_ACCUMULATORS(ACCUMULATE)
    // Keeps the compiler from computing several rounds in one.
    asm volatile("" : "+r"(round));
  }
  Vector total = a - a;
  FOR_ACCUMULATORS(TOTAL)
  float result = 0;
  for (int i = 0; i < lanes; ++i)
    result += total[i];
  return result;
}

volatile float sink;

/// Runs `body(thread)` on all threads at once; returns the wall time.
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
  // Longer runs until one takes 50 ms, then the best of five.
  for (int run = 0; run < 5;) {
    double time = onThreads(threads, [&](int) { sink = multiplyAdd(rounds); });
    if (time < 0.05) {
      rounds *= 2;
      continue;
    }
    best = std::max(best, 2.0 * lanes * accumulators * rounds * threads / time);
    ++run;
  }
  return best / 1e9;
}

double copyRate(int threads) {
  // 128 MiB from, 128 MiB to, shared out among the threads.
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

/// Sums of `vectors` vectors, in several accumulators.
__attribute__((noinline)) float sumOf(const Vector *data, size_t vectors) {
  Vector sums[8] = {};
  for (size_t i = 0; i + 8 <= vectors; i += 8)
    for (int j = 0; j < 8; ++j)
      sums[j] += data[i + j];
  Vector total = sums[0];
  for (int j = 1; j < 8; ++j)
    total += sums[j];
  return total[0];
}

/// Each thread reads its own `bytes` again and again.
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
      auto *data = reinterpret_cast<const Vector *>((start + 63) / 64 * 64);
      float sum = 0;
      for (size_t round = 0; round < rounds; ++round) {
        sum += sumOf(data, bytes / sizeof(Vector));
        asm volatile("" : : "r"(data) : "memory"); // every round reads anew
      }
      sink = sum;
    });
    best = std::max(best, double(rounds) * bytes * threads / time);
  }
  return best / 1e9;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i) {
    int count = std::atoi(argv[i]);
    if (count < 1 || count > 1024) {
      std::fprintf(stderr, "usage: batch-peak [THREADS...]\n");
      return 1;
    }
    counts.push_back(count);
  }
  if (counts.empty())
    counts = {
        1, static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};
  std::printf("{\"isa\": \"%s\", \"threads\": {", isa);
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
