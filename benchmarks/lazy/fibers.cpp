//===- fibers.cpp - Times of switches between instances -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// batch-fibers [FIBERS...]: prints one JSON object. For each number of fibers,
// it contains the nanoseconds of a resume and a suspend when all fibers take
// turns: the fastest of 201 runs of about a millisecond.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Memory.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

struct Waiter {
  batchrt::FiberStack stack{64 << 10};
  batchrt::Fiber fiber{stack};

  /// Suspends the fiber, and suspends it again after each resume.
  static void wait(void *argument) {
    for (;;)
      static_cast<Waiter *>(argument)->fiber.suspend();
  }
};

/// Returns the nanoseconds that a resume and a suspend take together.
double measure(int fibers) {
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < fibers; ++i) {
    waiters.push_back(std::make_unique<Waiter>());
    waiters.back()->fiber.run(Waiter::wait, waiters.back().get());
  }
  const int rounds = 1 + 20000 / fibers;
  double best = 0;
  for (int run = 0; run < 201; ++run) {
    auto start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds; ++round)
      for (auto &waiter : waiters)
        waiter->fiber.resume();
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    double each = time.count() / rounds / fibers;
    best = run == 0 ? each : std::min(best, each);
  }
  return best;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i) {
    int count = std::atoi(argv[i]);
    if (count < 1 || count > 10000) {
      std::fprintf(stderr, "usage: batch-fibers [FIBERS...], 1 to 10000\n");
      return 1;
    }
    counts.push_back(count);
  }
  if (counts.empty())
    counts = {64};
  for (size_t i = 0; i < counts.size(); ++i)
    std::printf("%s\"%d\": %.1f", i ? ", " : "{", counts[i],
                measure(counts[i]));
  std::printf("}\n");
  return 0;
}
