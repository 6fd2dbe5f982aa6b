//===- barrier.cpp - What a barrier of a persistent kernel costs ----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// batch-barrier OBJECT STEPS RUNS BLOCKS...
//
// Runs plans of steps without tasks with an object's own kernel: with a meeting
// after each step, without one, and a single step. Differences per step are the
// time of a barrier and of a step's bookkeeping. Prints a JSON array with an
// object for each number of blocks, medians of the runs.
//
//===----------------------------------------------------------------------===//

#include "DeviceExecutor.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace batchrt;

namespace {
/// Runs empty steps on blocks of an object's device.
class EmptySteps {
public:
  EmptySteps(const CompiledObject &object, const BoundParameters &parameters,
             int64_t blocks)
      : plan(object.descriptor()), sources(object.descriptor().sources.size()),
        operands(mostOperands(object.descriptor())), results(operands.size()),
        executor(object, parameters, options(blocks)) {
    context.sources = sources.data();
  }

  /// Microseconds of `count` steps; checks that they meet as often as they say.
  double run(int64_t count, bool meet, bool countsBarriers) {
    std::vector<BatchStep> steps(
        count, {0, 0, operands.data(), results.data(), nullptr, meet});
    steps.back().meets = 0;
    context.steps = steps.data();
    context.numSteps = count;
    executor.run(context, plan);
    int64_t wanted = meet && countsBarriers ? count - 1 : 0;
    if (executor.barriers() != wanted)
      raise(count, " steps met ", executor.barriers(), " times, not ", wanted);
    return executor.kernelTime();
  }

private:
  static SessionOptions options(int64_t blocks) {
    SessionOptions result;
    result.blocks = blocks;
    result.emulator.blocks = blocks;
    return result;
  }
  static size_t mostOperands(const Descriptor &descriptor) {
    const KernelInfo &kernel = descriptor.kernels.front();
    return std::max(kernel.operands.size(), kernel.results.size()) + 1;
  }

  Plan plan;
  BatchContext context{};
  std::vector<BatchSource> sources;
  std::vector<BatchOperand> operands;
  std::vector<char *> results;
  DeviceExecutor executor;
};
} // namespace

static double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

static void measure(const CompiledObject &object,
                    const BoundParameters &parameters, int64_t blocks,
                    int64_t steps, int64_t runs, const char *before) {
  const LaunchInfo &launch = *object.descriptor().launch;
  bool counts = launch.executor == "device";
  EmptySteps empty(object, parameters, blocks);
  std::vector<double> barrier, step;
  for (int64_t i = -1; i < runs; ++i) {
    double one = empty.run(1, false, counts);
    double apart = empty.run(steps, false, counts);
    double together = empty.run(steps, true, counts);
    if (i < 0)
      continue; // a warm-up
    barrier.push_back((together - apart) * 1e3 / (steps - 1));
    step.push_back((apart - one) * 1e3 / (steps - 1));
  }
  std::printf("%s{\"executor\": \"%s\", \"blocks\": %lld, \"cluster_size\": "
              "%lld, \"block_size\": %lld, \"steps\": %lld, \"barrier_ns\": "
              "%.1f, \"step_ns\": %.1f}",
              before, launch.executor.c_str(), static_cast<long long>(blocks),
              static_cast<long long>(launch.clusterSize),
              static_cast<long long>(launch.blockSize),
              static_cast<long long>(steps), median(barrier), median(step));
}

static void runAll(const std::vector<std::string> &arguments) {
  std::vector<int64_t> numbers;
  for (size_t i = 1; i < arguments.size(); ++i)
    numbers.push_back(std::atoll(arguments[i].c_str()));
  if (numbers.size() < 3 || numbers[0] < 2 ||
      *std::min_element(numbers.begin(), numbers.end()) < 1)
    raise("usage: batch-barrier OBJECT STEPS RUNS BLOCKS..., all above 0 and "
          "at least two steps");
  CompiledObject object = CompiledObject::open(arguments[0]);
  if (!object.descriptor().launch)
    raise("'", arguments[0], "' is not for a GPU; compile with --device=cuda");
  BoundParameters parameters(object.descriptor(), {"random:0", 0, false});
  for (size_t i = 2; i < numbers.size(); ++i)
    measure(object, parameters, numbers[i], numbers[0], numbers[1],
            i == 2 ? "[" : ",\n ");
  std::puts("]");
}

int main(int argc, char **argv) {
  try {
    runAll({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "batch-barrier: error: %s\n", error.what());
  }
  return 1;
}
