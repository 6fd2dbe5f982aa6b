//===- EmulatorMemoryTest.cpp - Tests of the memory of the emulator -------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedKernels.h"
#include "Support.h"

using namespace batchrt;
using namespace batchrt::test;

namespace {

TEST_F(EmulatorTest, UnwrittenMemory) {
  int32_t memory[4];
  region(memory, "table", false);
  emulator.markWritten(memory, 4);
  settings.sharedBytes = 8;
  launch(1, 1, [&](Gpu gpu) { gpu.load(memory, "m.mlir:1"); });
  expectError(1, 1, [&](Gpu gpu) { gpu.load(memory + 2, "m.mlir:2"); },
              {"block 0, thread 0, at m.mlir:2: reads 'table' + 8, which was "
               "never written"});
  expectError(1, 1, [&](Gpu gpu) { gpu.loadShared(1, "m.mlir:3"); },
              {"at m.mlir:3: reads 'shared memory of block 0' + 4, which was "
               "never written"});
  EXPECT_MESSAGE("the host reads 'table' + 4, which was never written",
                 emulator.checkWritten(memory, 8));
  EXPECT_NO_THROW(emulator.checkWritten(memory, 4));
}

// Shared memory that one launch writes is unwritten in the next.
TEST_F(EmulatorTest, SharedMemoryOfNextLaunch) {
  settings.sharedBytes = 4;
  launch(1, 1, [&](Gpu gpu) { gpu.storeShared(0, 1, "w"); });
  expectError(1, 1, [&](Gpu gpu) { gpu.loadShared(0, "r"); },
              {"which was never written"});
}

TEST_F(EmulatorTest, OutOfBounds) {
  int32_t memory[4] = {}, other[4] = {};
  region(memory, "table");
  settings.sharedBytes = 8;
  expectError(1, 1, [&](Gpu gpu) { gpu.load(memory + 4, "m.mlir:4"); },
              {"at m.mlir:4: reads 4 bytes at ",
               "outside of global memory; 'table' ends 4 bytes before"});
  expectError(1, 1, [&](Gpu gpu) { gpu.store(other, 1, "m.mlir:5"); },
              {"at m.mlir:5: writes 4 bytes at ", "outside of global memory"});
  expectError(2, 1, [&](Gpu gpu) { gpu.storeShared(2, 1, "m.mlir:6"); },
              {"outside of the block's 8 bytes of shared memory: offset 8"});
  expectError(1, 1, [&](Gpu gpu) { gpu.load(gpu.shared(0), "m.mlir:7"); },
              {"outside of global memory; this is shared memory"});
  expectError(1, 1, [&](Gpu gpu) { gpu.load(memory, "m", BATCH_SPACE_SHARED); },
              {"outside of the block's 8 bytes of shared memory"});
}

TEST_F(EmulatorTest, MisalignedAndReadOnly) {
  int32_t memory[8] = {};
  region(memory, "params", true, RegionUse::ReadOnly);
  expectError(1, 1,
              [&](Gpu gpu) {
                gpu.call().read(
                    gpu.self,
                    memory + 1 + (reinterpret_cast<uintptr_t>(memory) / 4) % 2,
                    8, 8, BATCH_SPACE_GLOBAL, "v");
              },
              {"which is not a multiple of 8"});
  expectError(1, 1, [&](Gpu gpu) { gpu.store(memory, 1, "w"); },
              {"writes 'params' + 0, which is read-only"});
}

TEST_F(EmulatorTest, HalvesOfWords) {
  alignas(4) int16_t memory[64];
  emulator.addRegion(memory, sizeof memory, "halves");
  launch(1, 64, [&](Gpu gpu) {
    gpu.store(memory + gpu.thread(), int16_t(gpu.thread()), "w");
    gpu.barrier("b");
    gpu.load(memory + 63 - gpu.thread(), "r");
  });
  expectError(
      1, 64,
      [&](Gpu gpu) { gpu.store(memory + gpu.thread() % 63, int16_t(0), "w"); },
      {"race: writes 'halves' + 0"});
}

TEST_F(EmulatorTest, MaskedAccesses) {
  int32_t storage[5] = {}, *memory = storage + 1;
  region(memory, 4, "table");
  auto read = [&](Gpu gpu, int64_t mask) {
    gpu.call().readMasked(gpu.self, memory - 1, 4, mask, 16, BATCH_SPACE_GLOBAL,
                          "masked");
  };
  launch(1, 1, [&](Gpu gpu) { read(gpu, 0b11110); });
  expectError(1, 1, [&](Gpu gpu) { read(gpu, 0b111110); },
              {"'table' ends 4 bytes before"});
  expectError(1, 2,
              [&](Gpu gpu) {
                gpu.call().writeMasked(gpu.self, memory, 4, 0b1001, 4,
                                       BATCH_SPACE_GLOBAL, "masked");
              },
              {"race: writes 'table' + 0"});
}

TEST_F(EmulatorTest, Regions) {
  int32_t storage[9] = {}, *data = storage + 1;
  region(data, 8, "data");
  EXPECT_MESSAGE("region 'inside' overlaps 'data'",
                 emulator.addRegion(data + 2, 4, "inside"));
  EXPECT_MESSAGE("region 'before' overlaps 'data'",
                 emulator.addRegion(data - 1, 8, "before"));
  EXPECT_MESSAGE("region 'empty' is empty",
                 emulator.addRegion(data + 8, 0, "empty"));
  EXPECT_MESSAGE(
      "region 'odd' does not begin at a multiple of 4 bytes",
      emulator.addRegion(reinterpret_cast<char *>(data) + 1, 4, "odd"));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_MESSAGE("out of memory: cannot allocate shadow memory for the "
                 "1152921504606846976 bytes of 'large'",
                 emulator.addRegion(data + 8, size_t(1) << 60, "large"));
#endif
  EXPECT_MESSAGE("no region contains the 8 bytes at ",
                 emulator.markWritten(data + 7, 8));
  emulator.removeRegion(data);
  EXPECT_MESSAGE("no region begins at ", emulator.removeRegion(data));
  expectError(1, 1, [&](Gpu gpu) { gpu.load(data, "r"); },
              {"outside of global memory"});
}

} // namespace
