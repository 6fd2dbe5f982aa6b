//===- EmulatorBlockTest.cpp - Tests of the threads of an emulated block --===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedKernels.h"

#include <cstring>
#include <numeric>

using namespace batchrt;
using namespace batchrt::test;

namespace {

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void reduce(Gpu gpu, const int32_t *in, int32_t *out, bool faulty) {
  int64_t t = gpu.thread(), threads = gpu.self->threads;
  gpu.storeShared(t, gpu.load(in + gpu.block() * threads + t, "in"), "init");
  gpu.barrier("b0");
  for (int64_t half = threads / 2; half > 0; half /= 2) {
    if (t < half)
      gpu.storeShared(
          t, gpu.loadShared(t, "left") + gpu.loadShared(t + half, "right"),
          "sum");
    if (!faulty || half != 4)
      gpu.barrier("b1");
  }
  if (t == 0)
    gpu.store(out + gpu.block(), gpu.loadShared(0, "result"), "out");
}

TEST_F(EmulatorTest, Reduction) {
  int32_t in[128], out[2];
  std::iota(std::begin(in), std::end(in), 0);
  region(in, "in", true, RegionUse::ReadOnly);
  region(out, "out", false);
  settings.sharedBytes = 256;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    settings.accessPeriod = seed % 4;
    launch(2, 64, [&](Gpu gpu) { reduce(gpu, in, out, false); }, seed);
    EXPECT_EQ(out[0], 63 * 64 / 2);
    EXPECT_EQ(out[0] + out[1], 127 * 128 / 2);
  }
  EXPECT_NO_THROW(emulator.checkWritten(out, sizeof out));
  EXPECT_EQ(emulator.counters().launches, 20);
  EXPECT_EQ(emulator.counters().blockBarriers, 20 * 2 * 7);
  EXPECT_GT(emulator.counters().switches, 20 * 2 * 64);
}

TEST_F(EmulatorTest, CountsAccesses) {
  int32_t in[192], out[2];
  std::iota(std::begin(in), std::end(in), 0);
  region(in, "in", true, RegionUse::ReadOnly);
  region(out, "out", false);
  settings.sharedBytes = 512;
  AccessCounts counts;
  // Writes to all words except the first one are counted. Thread 0 writes the
  // first word once at the beginning, and then writes six sums to it.
  counts.begin = 4;
  counts.end = 512;
  settings.counts = &counts;
  launch(2, 64, [&](Gpu gpu) { reduce(gpu, in, out, false); });
  // 32 + 16 + 8 + 4 + 2 + 1 sums.
  const std::vector<int64_t> warps = {4 * (31 + 63 - 6), 4 * 32};
  EXPECT_EQ(counts.writes, (std::vector<std::vector<int64_t>>{warps, warps}));
  EXPECT_EQ(counts.reads, (std::map<std::string, int64_t>{{"in", 4 * 128}}));
}

TEST_F(EmulatorTest, MissingBarrierIsRace) {
  int32_t in[64] = {}, out[1];
  region(in, "in");
  region(out, "out", false);
  settings.sharedBytes = 256;
  expectError(1, 64, [&](Gpu gpu) { reduce(gpu, in, out, true); },
              {"kernel 'k': block 0, thread ",
               "race: ", "'shared memory of block 0' + ", "sum",
               "add a barrier of the block"});
}

/// Threads copy their words to shared memory and read words of other threads.
void copyAndRead(Gpu gpu, const int32_t *in, bool waits, bool barrier) {
  int64_t t = gpu.thread();
  gpu.call().copyAsync(gpu.self, gpu.shared(t), in + t, 4, "copy");
  gpu.call().commitCopies(gpu.self, "commit");
  gpu.call().copyAsync(gpu.self, gpu.shared(64 + t), in + t, 4, "second copy");
  gpu.call().commitCopies(gpu.self, "second commit");
  if (waits)
    gpu.call().waitCopies(gpu.self, 1, "wait");
  if (barrier)
    gpu.barrier("barrier");
  EXPECT_EQ(gpu.loadShared(63 - t, "read"), 63 - t);
}

TEST_F(EmulatorTest, AsyncCopies) {
  int32_t in[64];
  std::iota(std::begin(in), std::end(in), 0);
  region(in, "in", true, RegionUse::ReadOnly);
  settings.sharedBytes = 512;
  launch(2, 64, [&](Gpu gpu) { copyAndRead(gpu, in, true, true); });
  expectError(1, 64, [&](Gpu gpu) { copyAndRead(gpu, in, false, true); },
              {"reads 'shared memory of block 0' + ", "never written"});
  expectError(1, 64, [&](Gpu gpu) { copyAndRead(gpu, in, true, false); },
              {"'shared memory of block 0' + "});
  // No thread waits for the second group, or for copies without a group.
  expectError(1, 64,
              [&](Gpu gpu) {
                copyAndRead(gpu, in, true, true);
                gpu.loadShared(64, "read");
              },
              {"'shared memory of block 0' + 256, which was never written"});
  expectError(1, 1,
              [&](Gpu gpu) {
                gpu.call().copyAsync(gpu.self, gpu.shared(0), in, 4, "copy");
                gpu.call().waitCopies(gpu.self, 0, "wait");
                gpu.loadShared(0, "read");
              },
              {"never written"});
  expectError(1, 1,
              [&](Gpu gpu) {
                gpu.call().copyAsync(gpu.self, gpu.shared(126), in, 16, "copy");
                gpu.call().commitCopies(gpu.self, "commit");
                gpu.call().waitCopies(gpu.self, 0, "wait");
              },
              {"writes 16 bytes"});
}

/// From the beginning of a copy until the wait, no thread may access its target
/// or write its source.
TEST_F(EmulatorTest, AsyncCopiesThatBeginTooEarly) {
  int32_t in[64] = {};
  region(in, "in");
  settings.sharedBytes = 256;
  // Other threads still read the target.
  auto readBeforeTheWait = [&](Gpu gpu) {
    int64_t t = gpu.thread();
    gpu.storeShared(t, 1, "old");
    gpu.barrier("barrier");
    gpu.call().copyAsync(gpu.self, gpu.shared(t), in + t, 4, "copy");
    gpu.call().commitCopies(gpu.self, "commit");
    gpu.barrier("second barrier");
    gpu.loadShared(63 - t, "read");
    gpu.barrier("third barrier");
    gpu.call().waitCopies(gpu.self, 0, "wait");
  };
  expectError(1, 64, readBeforeTheWait,
              {"reads 'shared memory of block 0' + ", "never written"});
  // The source is written before the wait.
  auto writeBeforeTheWait = [&](Gpu gpu) {
    int64_t t = gpu.thread();
    gpu.call().copyAsync(gpu.self, gpu.shared(t), in + t, 4, "copy");
    gpu.call().commitCopies(gpu.self, "commit");
    gpu.barrier("barrier");
    gpu.store(in + 63 - t, in[63 - t] + 1, "write");
    gpu.barrier("second barrier");
    gpu.call().waitCopies(gpu.self, 0, "wait");
  };
  expectError(1, 64, writeBeforeTheWait,
              {"copies 4 bytes that changed before"});
}

TEST_F(EmulatorTest, ReadThenWriteIsRace) {
  int32_t memory[1] = {};
  region(memory, "memory");
  expectError(1, 3,
              [&](Gpu gpu) {
                gpu.load(memory, "r");
                if (gpu.thread() == 0)
                  gpu.store(memory, 1, "w");
              },
              {"race: ", "'memory' + 0"});
}

TEST_F(EmulatorTest, ReadersOfEarlierEpochs) {
  int32_t memory[1] = {};
  region(memory, "memory");
  launch(1, 64, [&](Gpu gpu) {
    for (int32_t round = 0; round < 8; ++round) {
      EXPECT_EQ(gpu.load(memory, "r"), round);
      gpu.barrier("b0");
      if (gpu.thread() == round)
        gpu.store(memory, gpu.load(memory, "own") + 1, "w");
      gpu.barrier("b1");
    }
  });
}

TEST_F(EmulatorTest, DivergentBarrierIsDeadlock) {
  expectError(2, 64,
              [](Gpu gpu) {
                if (gpu.block() == 0 || gpu.thread() != 7)
                  gpu.barrier("model.mlir:12");
              },
              {"kernel 'k': deadlock:", "block 0: threads 0-63: ended",
               "block 1: threads 0-6: at the block barrier, model.mlir:12; "
               "thread 7: ended; threads 8-63: at the block barrier"});
}

TEST_F(EmulatorTest, ThreadsLeave) {
  int32_t memory[64] = {};
  region(memory, "memory");
  for (uint64_t seed = 0; seed < 5; ++seed)
    launch(
        2, 32,
        [&](Gpu gpu) {
          gpu.barrier("b");
          gpu.store(memory + 32 * gpu.block() + gpu.thread(), 1, "w");
          if (gpu.thread() % 2)
            gpu.call().exit(gpu.self, "exit");
          gpu.store(memory + 32 * gpu.block() + gpu.thread(), 2, "w");
        },
        seed);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(memory[i], i % 2 ? 1 : 2);
  expectError(1, 32,
              [](Gpu gpu) {
                if (gpu.thread() == 0)
                  gpu.call().exit(gpu.self, "exit");
                gpu.barrier("b");
              },
              {"deadlock:", "thread 0: ended; threads 1-31: at the block "
                            "barrier, b"});
}

TEST_F(EmulatorTest, LanesAtDifferentBarriers) {
  expectError(1, 2,
              [](Gpu gpu) { gpu.barrier(gpu.thread() ? "else" : "then"); },
              {"at else: thread 0 of the same warp is at another operation, "
               "then"});
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

TEST_F(EmulatorTest, Shuffles) {
  launch(1, 72, [](Gpu gpu) {
    int64_t lane = gpu.thread() % 32;
    uint32_t sum = lane;
    if (gpu.thread() < 64) {
      for (int64_t offset = 16; offset; offset /= 2)
        sum += gpu.shuffle(BATCH_SHUFFLE_XOR, sum, offset, "xor");
      EXPECT_EQ(sum, 31u * 32 / 2);
    }
    int64_t lanes = gpu.thread() < 64 ? 32 : 8;
    auto expect = [&](int64_t mode, int64_t offset, int64_t from) {
      bool valid = from >= 0 && from < lanes;
      EXPECT_EQ(gpu.call().shuffle(gpu.self, mode, lane, offset, 32, "any"),
                (valid ? from : lane) | int64_t(valid) << 32);
    };
    expect(BATCH_SHUFFLE_UP, 3, lane - 3);
    expect(BATCH_SHUFFLE_DOWN, 5, lane + 5);
    expect(BATCH_SHUFFLE_IDX, 6, 6);
  });
}

TEST_F(EmulatorTest, MissingLanes) {
  expectError(1, 32,
              [](Gpu gpu) {
                if (gpu.thread() != 3)
                  gpu.shuffle(BATCH_SHUFFLE_XOR, 0, 1, "shuffle.mlir:1");
              },
              {"kernel 'k': deadlock: ",
               "threads 0-2: waiting for the other lanes, shuffle.mlir:1; "
               "thread 3: ended"});
  expectError(1, 32,
              [](Gpu gpu) {
                gpu.shuffle(BATCH_SHUFFLE_XOR, 0, 1,
                            gpu.thread() < 16 ? "one" : "two");
              },
              {"is at another operation, one"});
  expectError(1, 32,
              [](Gpu gpu) {
                gpu.call().shuffle(gpu.self, BATCH_SHUFFLE_XOR, 0, 1, 16, "s");
              },
              {"shuffles over 16 lanes; expected 32"});
}

TEST_F(EmulatorTest, ShufflesOrderNothing) {
  settings.sharedBytes = 4;
  expectError(1, 32,
              [](Gpu gpu) {
                if (gpu.thread() == 0)
                  gpu.storeShared(0, 1, "w");
                gpu.shuffle(BATCH_SHUFFLE_XOR, 0, 1, "s");
                if (gpu.thread() == 1)
                  gpu.loadShared(0, "r");
              },
              {"race: "});
}

/// Multiplies matrices of small integers, which are exact in all types.
void multiplyMatrices(Gpu gpu, int64_t elementBits, int64_t k) {
  auto left = [](int64_t i, int64_t j) {
    return float((3 * i + 5 * j) % 7 - 3);
  };
  auto right = [](int64_t i, int64_t j) { return float((2 * i + j) % 5 - 2); };
  auto bits = [&](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    // The hardware ignores bits that tf32 does not have.
    return elementBits == 32 ? bits | 0x1000 : bits >> 16;
  };
  int64_t g = gpu.thread() % 32 / 4, t = gpu.thread() % 4;
  uint32_t a[4] = {}, b[2] = {};
  if (elementBits == 32) {
    for (int64_t r = 0; r < k / 2; ++r)
      a[r] = bits(left(g + 8 * (r % 2), t + 4 * (r / 2)));
    for (int64_t r = 0; r < k / 4; ++r)
      b[r] = bits(right(t + 4 * r, g));
  } else {
    for (int64_t i = 0; i < k / 2; ++i) {
      int64_t row = i % 4 < 2 ? g : g + 8;
      int64_t column = 2 * t + i % 2 + (i >= 4 ? 8 : 0);
      a[i / 2] |= bits(left(row, column)) << 16 * (i % 2);
    }
    for (int64_t i = 0; i < k / 4; ++i) {
      int64_t row = 2 * t + i % 2 + (i >= 2 ? 8 : 0);
      b[i / 2] |= bits(right(row, g)) << 16 * (i % 2);
    }
  }
  float c[4] = {1, 2, 3, 4}, d[4];
  gpu.call().multiply(gpu.self, elementBits, k, a, b, c, d, "mma");
  for (int64_t i = 0; i < 4; ++i) {
    int64_t row = i < 2 ? g : g + 8, column = 2 * t + i % 2;
    float expected = c[i];
    for (int64_t j = 0; j < k; ++j)
      expected += left(row, j) * right(j, column);
    EXPECT_EQ(d[i], expected);
  }
}

TEST_F(EmulatorTest, MatrixFragments) {
  for (int64_t k : {4, 8})
    launch(1, 64, [&](Gpu gpu) { multiplyMatrices(gpu, 32, k); });
  for (int64_t k : {8, 16})
    launch(1, 64, [&](Gpu gpu) { multiplyMatrices(gpu, 16, k); });
  expectError(1, 16, [&](Gpu gpu) { multiplyMatrices(gpu, 32, 4); },
              {"matrix multiplication requires a warp of 32 threads, got 16"});
}

} // namespace
