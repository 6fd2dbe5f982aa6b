//===- EmulatorLaunchTest.cpp - Tests of launches and time in the emulator ===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedKernels.h"
#include "Support.h"

#include <set>

using namespace batchrt;
using namespace batchrt::test;

namespace {

TEST_F(EmulatorTest, WatchdogOfTheKernel) {
  int32_t words[2] = {};
  region(words, "words");
  settings.maxSwitches = 100'000;
  launch(2, 4, [&](Gpu gpu) {
    int64_t begin = gpu.call().timer(gpu.self, "begin");
    while (gpu.atomicLoad(words, "spin") == 0)
      if (gpu.call().timer(gpu.self, "now") - begin > 2'000'000'000) {
        gpu.atomicAdd(words + 1, 1, "late");
        return;
      }
  });
  EXPECT_EQ(words[1], 8);
}

TEST_F(EmulatorTest, SwitchLimit) {
  int32_t words[1] = {};
  region(words, "words");
  settings.maxSwitches = 1000;
  expectError(1, 2,
              [&](Gpu gpu) {
                while (gpu.load(words, "plain spin") == 0)
                  ;
              },
              {"has not finished after 1000 switches between threads",
               "block 0", "running, last seen at plain spin"});
}

TEST_F(EmulatorTest, SeedDecides) {
  int32_t words[17] = {};
  region(words, "words");
  auto order = [&](uint64_t seed) {
    words[0] = 0;
    launch(
        2, 8,
        [&](Gpu gpu) {
          int32_t turn = gpu.atomicAdd(words, 1, "turn");
          gpu.store(words + 1 + turn, int32_t(8 * gpu.block() + gpu.thread()),
                    "w");
        },
        seed);
    return std::vector<int32_t>(words + 1, words + 17);
  };
  std::set<std::vector<int32_t>> orders;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::vector<int32_t> first = order(seed);
    EXPECT_EQ(first, order(seed));
    orders.insert(first);
  }
  EXPECT_EQ(orders.size(), 10u);
}

// Threads of a launch may read and write the data of an earlier launch.
TEST_F(EmulatorTest, LaunchesAreOrdered) {
  int32_t data[256];
  region(data, "data", false);
  launch(8, 32, [&](Gpu gpu) {
    gpu.store(data + 32 * gpu.block() + gpu.thread(), 1, "w");
  });
  launch(1, 256, [&](Gpu gpu) {
    int32_t *at = data + 255 - gpu.thread();
    gpu.store(at, gpu.load(at, "r") + 1, "w");
  });
  for (int32_t value : data)
    EXPECT_EQ(value, 2);
}

TEST_F(EmulatorTest, BadLaunches) {
  Kernel nothing = [](Gpu) {};
  EXPECT_MESSAGE("cannot launch kernel 'k': 2000 threads per block; expected 1 "
                 "to 1024",
                 launch(1, 2000, nothing));
  EXPECT_MESSAGE("cannot launch kernel 'k': 0 blocks; expected 1 to ",
                 launch(0, 1, nothing));
  EXPECT_MESSAGE("132 blocks of 256 threads; expected at most 32000 threads in "
                 "total",
                 launch(132, 256, nothing));
  settings.clusterBlocks = 2;
  EXPECT_MESSAGE("3 blocks in clusters of 2; the cluster size must divide the "
                 "number of blocks",
                 launch(3, 1, nothing));
  settings.sharedBytes = -1;
  EXPECT_MESSAGE("the bytes of shared memory and the access period must not be "
                 "negative",
                 launch(2, 1, nothing));
}

} // namespace
