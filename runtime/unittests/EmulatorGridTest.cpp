//===- EmulatorGridTest.cpp - Tests of barriers of emulated blocks --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedKernels.h"

#include <cstring>

using namespace batchrt;
using namespace batchrt::test;

namespace {

//===----------------------------------------------------------------------===//
// Grids and atomics
//===----------------------------------------------------------------------===//

enum class Fault { None, TooMany, Relaxed, BlockFence };

/// Waits at a barrier of the device in the same way as compiled kernels. The
/// first word counts arrivals, and each block has one more word.
void arriveAndWait(Gpu gpu, int32_t *words, Fault fault) {
  int32_t *own = words + 1 + gpu.block(), before = 0;
  if (gpu.thread() == 0)
    before = gpu.atomicLoad(own, "own", BATCH_ORDER_RELAXED);
  gpu.barrier("before");
  if (gpu.thread() == 0) {
    gpu.fence(BATCH_ORDER_RELEASE, fault == Fault::BlockFence
                                       ? BATCH_SCOPE_BLOCK
                                       : BATCH_SCOPE_DEVICE);
    gpu.atomicAdd(words, 1, "arrive");
    gpu.atomicStore(own, before + 1, "count");
    int32_t wanted =
        (before + (fault == Fault::TooMany ? 2 : 1)) * int(gpu.self->blocks);
    while (gpu.atomicLoad(words, "spin.mlir:9",
                          fault == Fault::Relaxed
                              ? BATCH_ORDER_RELAXED
                              : BATCH_ORDER_ACQUIRE) < wanted)
      ;
  }
  gpu.barrier("after");
}

/// Writes data in each block, and reads the data of the next block.
void pass(Gpu gpu, int32_t *data, int32_t *words, Fault fault) {
  int64_t blocks = gpu.self->blocks, threads = gpu.self->threads;
  for (int32_t round = 0; round < 3; ++round) {
    gpu.store(data + gpu.block() * threads + gpu.thread(), round, "write");
    arriveAndWait(gpu, words, fault);
    int64_t next = (gpu.block() + 1) % blocks;
    EXPECT_EQ(
        gpu.load(data + next * threads + threads - 1 - gpu.thread(), "read"),
        round);
    arriveAndWait(gpu, words, fault);
  }
}

TEST_F(EmulatorTest, GridBarrier) {
  int32_t data[4 * 40], words[1 + 4] = {};
  region(data, "data", false);
  region(words, "words");
  for (uint64_t seed = 0; seed < 10; ++seed)
    launch(4, 40, [&](Gpu gpu) { pass(gpu, data, words, Fault::None); }, seed);
  EXPECT_EQ(words[0], 10 * 6 * 4);
}

TEST_F(EmulatorTest, TooManyArrivalsIsDeadlock) {
  int32_t data[3 * 40], words[1 + 3] = {};
  region(data, "data", false);
  region(words, "words");
  control = words;
  expectError(3, 40, [&](Gpu gpu) { pass(gpu, data, words, Fault::TooMany); },
              {"deadlock:",
               "thread 0: spinning on an atomic load, spin.mlir:9; threads "
               "1-39: at the block barrier, after"});
}

TEST_F(EmulatorTest, GridBarrierWithoutOrderIsRace) {
  for (Fault fault : {Fault::Relaxed, Fault::BlockFence}) {
    int32_t data[3 * 40], words[1 + 3] = {};
    region(data, "data", false);
    region(words, "words");
    control = words;
    expectError(3, 40, [&](Gpu gpu) { pass(gpu, data, words, fault); },
                {"race: ", "add a barrier of all blocks"});
    emulator.removeRegion(data);
    emulator.removeRegion(words);
  }
}

TEST_F(EmulatorTest, PlainAccessToAtomicIsRace) {
  int32_t words[1] = {};
  region(words, "words");
  expectError(2, 1,
              [&](Gpu gpu) {
                if (gpu.block())
                  gpu.atomicAdd(words, 1, "add");
                else
                  gpu.load(words, "plain");
              },
              {"race: "});
}

TEST_F(EmulatorTest, Lock) {
  int32_t words[2] = {};
  region(words, "words");
  auto kernel = [&](Gpu gpu, int64_t order) {
    while (gpu.call().compareExchange(gpu.self, words, 0, 1, 4, order, order,
                                      BATCH_SCOPE_DEVICE, BATCH_SPACE_GLOBAL,
                                      "lock") != 0)
      ;
    gpu.store(words + 1, gpu.load(words + 1, "get") + 1, "put");
    gpu.atomicStore(words, 0, "unlock");
  };
  for (uint64_t seed = 0; seed < 10; ++seed)
    launch(3, 8, [&](Gpu gpu) { kernel(gpu, BATCH_ORDER_ACQUIRE); }, seed);
  EXPECT_EQ(words[1], 10 * 3 * 8);
  control = words;
  expectError(3, 8, [&](Gpu gpu) { kernel(gpu, BATCH_ORDER_RELAXED); },
              {"race: ", "'words' + 4"});
}

TEST_F(EmulatorTest, UpdatesOfAllKinds) {
  int32_t words[1] = {};
  int64_t wide[1] = {-1};
  float number[1] = {1.5f};
  region(words, "words");
  emulator.addRegion(wide, sizeof wide, "wide");
  emulator.markWritten(wide, sizeof wide);
  emulator.addRegion(number, sizeof number, "number");
  emulator.markWritten(number, sizeof number);
  launch(1, 1, [&](Gpu gpu) {
    auto update = [&](int64_t kind, void *at, int64_t value, int64_t bytes) {
      return gpu.call().atomicUpdate(gpu.self, kind, at, value, bytes,
                                     BATCH_SCOPE_DEVICE, BATCH_SPACE_GLOBAL,
                                     "u");
    };
    auto step = [&](int64_t kind, int32_t value, int32_t expected) {
      update(kind, words, value, 4);
      EXPECT_EQ(words[0], expected) << kind;
    };
    step(BATCH_ATOMIC_EXCHANGE, 12, 12);
    step(BATCH_ATOMIC_ADD, 3, 15);
    step(BATCH_ATOMIC_SUB, 1, 14);
    step(BATCH_ATOMIC_AND, 7, 6);
    step(BATCH_ATOMIC_OR, 9, 15);
    step(BATCH_ATOMIC_XOR, 5, 10);
    step(BATCH_ATOMIC_MAX, -1, 10);
    step(BATCH_ATOMIC_MIN, -1, -1);
    step(BATCH_ATOMIC_UMIN, 4, 4);
    step(BATCH_ATOMIC_UMAX, -2, -2);
    EXPECT_EQ(update(BATCH_ATOMIC_ADD, wide, int64_t(1) << 40, 8), -1);
    EXPECT_EQ(wide[0], (int64_t(1) << 40) - 1);
    float half = 0.5f;
    int32_t bits;
    std::memcpy(&bits, &half, 4);
    update(BATCH_ATOMIC_FADD, number, bits, 4);
    EXPECT_EQ(number[0], 2.0f);
  });
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

class ClusterTest : public EmulatorTest {
protected:
  ClusterTest() {
    settings.clusterBlocks = 2;
    settings.sharedBytes = 4 * 40;
  }
  static void clusterWait(Gpu gpu) {
    gpu.call().clusterArrive(gpu.self, "arrive");
    gpu.call().clusterWait(gpu.self, "wait.mlir:3");
  }
  static int32_t readNeighbor(Gpu gpu, int64_t index, int64_t rank) {
    void *at = gpu.call().mapShared(gpu.self, gpu.shared(index), rank, "map");
    return gpu.load(static_cast<int32_t *>(at), "neighbor",
                    BATCH_SPACE_SHARED_CLUSTER);
  }
};

TEST_F(ClusterTest, ReadNeighbors) {
  for (uint64_t seed = 0; seed < 10; ++seed)
    launch(
        4, 40,
        [&](Gpu gpu) {
          for (int32_t round = 0; round < 6; ++round) {
            gpu.storeShared(gpu.thread(), int32_t(100 * gpu.block()) + round,
                            "w");
            clusterWait(gpu);
            EXPECT_EQ(readNeighbor(gpu, 39 - gpu.thread(),
                                   1 - gpu.self->clusterBlock),
                      100 * (gpu.block() ^ 1) + round);
            clusterWait(gpu);
          }
        },
        seed);
  EXPECT_EQ(emulator.counters().clusterBarriers, 10 * 2 * 12);
}

TEST_F(ClusterTest, NoBarrierIsRace) {
  expectError(2, 40,
              [](Gpu gpu) {
                gpu.storeShared(gpu.thread(), 0, "w");
                gpu.call().clusterArrive(gpu.self, "arrive");
                // The barrier does not order accesses between arrive and wait.
                gpu.storeShared(gpu.thread(), 1, "w2");
                gpu.call().clusterWait(gpu.self, "wait");
                readNeighbor(gpu, gpu.thread(), 1 - gpu.self->clusterBlock);
                clusterWait(gpu);
              },
              {"race: ", "w2", "add a barrier of all blocks"});
}

TEST_F(ClusterTest, WrongNeighbors) {
  expectError(4, 1, [](Gpu gpu) { readNeighbor(gpu, 0, 2); },
              {"at map: maps to block 2 of the cluster; expected 0 to 1"});
  expectError(4, 1, [](Gpu gpu) { readNeighbor(gpu, 40, 0); },
              {"at map: maps an address outside"});
  expectError(4, 1,
              [](Gpu gpu) {
                gpu.storeShared(0, 0, "w");
                clusterWait(gpu);
                // Kernels must map addresses of other blocks, not compute them.
                int32_t *other = gpu.shared(0) + (gpu.block() % 2 ? -320 : 320);
                gpu.load(other, "direct", BATCH_SPACE_SHARED);
              },
              {"at direct: reads 4 bytes", "outside of the block's 160 bytes"});
  expectError(
      4, 1,
      [](Gpu gpu) {
        gpu.storeShared(0, 0, "w");
        clusterWait(gpu);
        int32_t *other = gpu.shared(0) + (gpu.block() < 2 ? 640 : -640);
        gpu.load(other, "direct", BATCH_SPACE_SHARED_CLUSTER);
      },
      {" in the shared memory of block ", "which is in another cluster"});
  expectError(2, 1,
              [](Gpu gpu) {
                gpu.storeShared(0, 0, "w");
                clusterWait(gpu);
                if (gpu.block() == 0)
                  readNeighbor(gpu, 0, 1);
                // A barrier is missing at the end.
                if (gpu.block() == 1)
                  return;
                for (int i = 0; i < 1000; ++i)
                  readNeighbor(gpu, 0, 1);
              },
              {"which has exited; add a cluster barrier before the block"});
}

TEST_F(ClusterTest, DivergentBarrier) {
  expectError(2, 2,
              [](Gpu gpu) {
                if (gpu.thread() == 0) {
                  clusterWait(gpu);
                } else if (gpu.block() == 1) {
                  gpu.barrier("b");
                }
              },
              {"block 0: thread 0: at the cluster barrier, wait.mlir:3; thread "
               "1: ended",
               "block 1: thread 0: at the cluster barrier, wait.mlir:3; thread "
               "1: at the block barrier, b"});
  expectError(2, 1, [](Gpu gpu) { gpu.call().clusterWait(gpu.self, "w"); },
              {"without having arrived"});
  expectError(2, 1,
              [](Gpu gpu) {
                gpu.call().clusterArrive(gpu.self, "a");
                gpu.call().clusterArrive(gpu.self, "b");
              },
              {"a second time without waiting"});
}

} // namespace
