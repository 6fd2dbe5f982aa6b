//===- EmulatorTest.cpp - Tests of the GPU emulator -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels written by hand, most of them with a fault that has to be found.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Emulator.h"
#include "Support.h"
#include "batch-runtime/Device.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

using namespace batchrt;

namespace {

/// What a kernel does, in short.
struct Gpu {
  BatchEmulatorThread *self;

  int64_t thread() const { return self->thread; }
  int64_t block() const { return self->block; }
  const BatchEmulatorFunctions &call() const { return *self->functions; }

  template <class T>
  T load(const T *at, const char *where, int64_t space = BATCH_SPACE_GLOBAL) {
    call().read(self, at, sizeof(T), sizeof(T), space, where);
    return *at;
  }
  template <class T>
  void store(T *at, T value, const char *where,
             int64_t space = BATCH_SPACE_GLOBAL) {
    call().write(self, at, sizeof(T), sizeof(T), space, where);
    *at = value;
  }
  int32_t *shared(int64_t index) {
    return reinterpret_cast<int32_t *>(self->shared) + index;
  }
  int32_t loadShared(int64_t index, const char *where) {
    return load(shared(index), where, BATCH_SPACE_SHARED);
  }
  void storeShared(int64_t index, int32_t value, const char *where) {
    store(shared(index), value, where, BATCH_SPACE_SHARED);
  }
  void barrier(const char *where) { call().barrier(self, where); }

  int32_t atomicLoad(const int32_t *at, const char *where,
                     int64_t order = BATCH_ORDER_ACQUIRE,
                     int64_t scope = BATCH_SCOPE_DEVICE) {
    return call().atomicLoad(self, at, 4, order, scope, BATCH_SPACE_GLOBAL,
                             where);
  }
  void atomicStore(int32_t *at, int32_t value, const char *where,
                   int64_t order = BATCH_ORDER_RELEASE,
                   int64_t scope = BATCH_SCOPE_DEVICE) {
    call().atomicStore(self, at, value, 4, order, scope, BATCH_SPACE_GLOBAL,
                       where);
  }
  int32_t atomicAdd(int32_t *at, int32_t value, const char *where) {
    return call().atomicUpdate(self, BATCH_ATOMIC_ADD, at, value, 4,
                               BATCH_SCOPE_DEVICE, BATCH_SPACE_GLOBAL, where);
  }
  void fence(int64_t order, int64_t scope = BATCH_SCOPE_DEVICE) {
    call().fence(self, order, scope, "fence");
  }
  uint32_t shuffle(int64_t mode, uint32_t value, int64_t offset,
                   const char *where) {
    return call().shuffle(self, mode, value, offset, 32, where);
  }
};

using Kernel = std::function<void(Gpu)>;

void runKernel(BatchEmulatorThread *thread, void *const *arguments) {
  (*static_cast<const Kernel *>(arguments[0]))(Gpu{thread});
}

class EmulatorTest : public testing::Test {
protected:
  /// Global memory of int32, with values if there are any.
  template <size_t size>
  void region(int32_t (&memory)[size], const char *name, bool written = true,
              RegionUse use = RegionUse::ReadWrite) {
    emulator.addRegion(memory, sizeof memory, name, use);
    if (written)
      emulator.markWritten(memory, sizeof memory);
  }

  void launch(int64_t blocks, int64_t threads, const Kernel &kernel,
              uint64_t seed = 0) {
    void *argument = const_cast<Kernel *>(&kernel);
    settings.kernel = "k";
    settings.entry = runKernel;
    settings.arguments = &argument;
    settings.blocks = blocks;
    settings.threads = threads;
    settings.seed = seed;
    emulator.launch(settings);
  }

  /// The message of the error that a kernel makes with every seed.
  void expectError(int64_t blocks, int64_t threads, const Kernel &kernel,
                   const std::vector<std::string> &parts) {
    for (uint64_t seed = 0; seed < 5; ++seed) {
      if (control)
        std::memset(control, 0, 8);
      try {
        launch(blocks, threads, kernel, seed);
      } catch (const Error &error) {
        for (const std::string &part : parts)
          EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
              << error.what();
        continue;
      }
      ADD_FAILURE() << "no error with seed " << seed;
    }
  }

  Emulator emulator;
  EmulatedLaunch settings;
  int32_t *control = nullptr; ///< two words that are 0 before a launch
};

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

TEST_F(EmulatorTest, MissingBarrierIsRace) {
  int32_t in[64] = {}, out[1];
  region(in, "in");
  region(out, "out", false);
  settings.sharedBytes = 256;
  expectError(1, 64, [&](Gpu gpu) { reduce(gpu, in, out, true); },
              {"kernel 'k': block 0, thread ",
               "race: ", "'shared memory of block 0' + ", "sum",
               "a barrier of the block is missing"});
}

/// Threads copy their words to shared memory and read those of others.
void copyAndRead(Gpu gpu, const int32_t *in, bool waits, bool meets) {
  int64_t t = gpu.thread();
  gpu.call().copyAsync(gpu.self, gpu.shared(t), in + t, 4, "copy");
  gpu.call().commitCopies(gpu.self, "commit");
  gpu.call().copyAsync(gpu.self, gpu.shared(64 + t), in + t, 4, "second copy");
  gpu.call().commitCopies(gpu.self, "second commit");
  if (waits)
    gpu.call().waitCopies(gpu.self, 1, "wait");
  if (meets)
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
  // The second group was not waited for; nor were copies that no group has.
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
// Memory
//===----------------------------------------------------------------------===//

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
  EXPECT_THROW(emulator.checkWritten(memory, 8), Error);
  EXPECT_NO_THROW(emulator.checkWritten(memory, 4));
}

// The shared memory of one launch is not written in the next.
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
              {"which is no multiple of 8"});
  expectError(1, 1, [&](Gpu gpu) { gpu.store(memory, 1, "w"); },
              {"writes 'params' + 0, which is only for reading"});
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
  int32_t memory[4] = {};
  region(memory, "table");
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

//===----------------------------------------------------------------------===//
// Blocks that meet
//===----------------------------------------------------------------------===//

enum class Fault { None, Generation, Relaxed, NoAcquireFence, BlockFence };

/// The barrier of a device, as compiled kernels have it.
void meet(Gpu gpu, int32_t *words, Fault fault) {
  gpu.barrier("before");
  if (gpu.thread() == 0) {
    int32_t generation = gpu.atomicLoad(words + 1, "old", BATCH_ORDER_RELAXED);
    gpu.fence(BATCH_ORDER_RELEASE, fault == Fault::BlockFence
                                       ? BATCH_SCOPE_BLOCK
                                       : BATCH_SCOPE_DEVICE);
    int32_t before = gpu.atomicAdd(words, 1, "arrive");
    if (before % gpu.self->blocks == gpu.self->blocks - 1) {
      if (fault != Fault::NoAcquireFence)
        gpu.fence(BATCH_ORDER_ACQUIRE);
      gpu.atomicStore(words + 1, generation + 1, "go");
    } else {
      int32_t wanted = generation + (fault == Fault::Generation ? 2 : 1);
      while (gpu.atomicLoad(words + 1, "spin.mlir:9",
                            fault == Fault::Relaxed
                                ? BATCH_ORDER_RELAXED
                                : BATCH_ORDER_ACQUIRE) != wanted)
        ;
    }
  }
  gpu.barrier("after");
}

/// Every block writes what the next one reads.
void pass(Gpu gpu, int32_t *data, int32_t *words, Fault fault) {
  int64_t blocks = gpu.self->blocks, threads = gpu.self->threads;
  for (int32_t round = 0; round < 3; ++round) {
    gpu.store(data + gpu.block() * threads + gpu.thread(), round, "write");
    meet(gpu, words, fault);
    int64_t next = (gpu.block() + 1) % blocks;
    EXPECT_EQ(
        gpu.load(data + next * threads + threads - 1 - gpu.thread(), "read"),
        round);
    meet(gpu, words, fault);
  }
}

TEST_F(EmulatorTest, GridBarrier) {
  int32_t data[4 * 40], words[2] = {};
  region(data, "data", false);
  region(words, "words");
  for (uint64_t seed = 0; seed < 10; ++seed)
    launch(4, 40, [&](Gpu gpu) { pass(gpu, data, words, Fault::None); }, seed);
  EXPECT_EQ(words[0], 10 * 6 * 4);
}

TEST_F(EmulatorTest, WrongGenerationIsDeadlock) {
  int32_t data[3 * 40], words[2] = {};
  region(data, "data", false);
  region(words, "words");
  control = words;
  expectError(3, 40,
              [&](Gpu gpu) { pass(gpu, data, words, Fault::Generation); },
              {"deadlock:",
               "thread 0: spinning on an atomic load, spin.mlir:9; threads "
               "1-39: at the block barrier, after"});
}

TEST_F(EmulatorTest, GridBarrierWithoutOrderIsRace) {
  for (Fault fault :
       {Fault::Relaxed, Fault::NoAcquireFence, Fault::BlockFence}) {
    int32_t data[3 * 40], words[2] = {};
    region(data, "data", false);
    region(words, "words");
    control = words;
    expectError(3, 40, [&](Gpu gpu) { pass(gpu, data, words, fault); },
                {"race: ", "the blocks have to meet"});
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
// Time
//===----------------------------------------------------------------------===//

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
              {"has not ended after 1000 switches between threads", "block 0",
               "running, last seen at plain spin"});
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

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

class ClusterTest : public EmulatorTest {
protected:
  ClusterTest() {
    settings.clusterBlocks = 2;
    settings.sharedBytes = 4 * 40;
  }
  static void meetCluster(Gpu gpu) {
    gpu.call().clusterArrive(gpu.self, "arrive");
    gpu.call().clusterWait(gpu.self, "wait.mlir:3");
  }
  static int32_t readNeighbour(Gpu gpu, int64_t index, int64_t rank) {
    void *at = gpu.call().mapShared(gpu.self, gpu.shared(index), rank, "map");
    return gpu.load(static_cast<int32_t *>(at), "neighbour",
                    BATCH_SPACE_SHARED_CLUSTER);
  }
};

TEST_F(ClusterTest, ReadNeighbours) {
  for (uint64_t seed = 0; seed < 10; ++seed)
    launch(
        4, 40,
        [&](Gpu gpu) {
          for (int32_t round = 0; round < 6; ++round) {
            gpu.storeShared(gpu.thread(), int32_t(100 * gpu.block()) + round,
                            "w");
            meetCluster(gpu);
            EXPECT_EQ(readNeighbour(gpu, 39 - gpu.thread(),
                                    1 - gpu.self->clusterBlock),
                      100 * (gpu.block() ^ 1) + round);
            meetCluster(gpu);
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
                // Between the two nothing is ordered yet.
                gpu.storeShared(gpu.thread(), 1, "w2");
                gpu.call().clusterWait(gpu.self, "wait");
                readNeighbour(gpu, gpu.thread(), 1 - gpu.self->clusterBlock);
                meetCluster(gpu);
              },
              {"race: ", "w2", "the blocks have to meet"});
}

TEST_F(ClusterTest, WrongNeighbours) {
  expectError(4, 1, [](Gpu gpu) { readNeighbour(gpu, 0, 2); },
              {"at map: maps to block 2 of a cluster of 2"});
  expectError(4, 1, [](Gpu gpu) { readNeighbour(gpu, 40, 0); },
              {"at map: maps an address outside"});
  expectError(4, 1,
              [](Gpu gpu) {
                gpu.storeShared(0, 0, "w");
                meetCluster(gpu);
                // Not mapped: the stride is not for the kernel to know.
                int32_t *other = gpu.shared(0) + (gpu.block() % 2 ? -320 : 320);
                gpu.load(other, "direct", BATCH_SPACE_SHARED);
              },
              {"at direct: reads 4 bytes", "outside of the block's 160 bytes"});
  expectError(2, 1,
              [](Gpu gpu) {
                gpu.storeShared(0, 0, "w");
                meetCluster(gpu);
                if (gpu.block() == 0)
                  readNeighbour(gpu, 0, 1);
                // A barrier at the end is missing.
                if (gpu.block() == 1)
                  return;
                for (int i = 0; i < 1000; ++i)
                  readNeighbour(gpu, 0, 1);
              },
              {"which has ended; a cluster must meet before its blocks end"});
}

TEST_F(ClusterTest, DivergentBarrier) {
  expectError(2, 2,
              [](Gpu gpu) {
                if (gpu.thread() == 0) {
                  meetCluster(gpu);
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
              {"threads 0-2: waiting for the other lanes, shuffle.mlir:1; "
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
              {"shuffles over 16 lanes, not 32"});
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

/// Multiplies matrices of small integers: exact in all types.
void multiplyMatrices(Gpu gpu, int64_t elementBits, int64_t k) {
  auto left = [](int64_t i, int64_t j) {
    return float((3 * i + 5 * j) % 7 - 3);
  };
  auto right = [](int64_t i, int64_t j) { return float((2 * i + j) % 5 - 2); };
  auto bits = [&](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    // The hardware ignores what tf32 does not have.
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
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

// What one launch has written, another grid's threads may read and write.
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

/// An arena of 1024 bytes on the emulated device, and a thread that reads it.
class EmulatedArena {
public:
  EmulatedArena() : device(openEmulatedDevice({})), arena(*device, "the test") {
    BatchEmulatedKernel entry = [](BatchEmulatorThread *thread,
                                   void *const *arguments) {
      (**static_cast<const Kernel *const *>(arguments[0]))(Gpu{thread});
    };
    DeviceCode code;
    code.data = reinterpret_cast<const void *>(entry);
    code.kernel = "k";
    kernel = device->load(code);
  }

  /// Starts over and copies the first bytes in, to these parts if there are
  /// any.
  void copy(size_t bytes, const std::vector<DevicePart> &parts = {}) {
    arena.reset(1024, 1024);
    arena.allocate(1024);
    if (!parts.empty())
      arena.divide(parts);
    std::memset(arena.staging(), 1, 1024);
    arena.copyIn(0, bytes);
  }
  void read(size_t offset) {
    Kernel read = [&](Gpu gpu) {
      gpu.load(reinterpret_cast<int32_t *>(arena.address(offset)), "r");
    };
    LaunchShape shape;
    shape.blocks = shape.blockSize = 1;
    device->launch(kernel, shape, {reinterpret_cast<uint64_t>(&read)});
  }

private:
  std::unique_ptr<Device> device;
  DeviceArena arena;
  DeviceKernel kernel;
};

// What a run has left in an arena is not written for the next one.
TEST(EmulatedArena, StartsOver) {
  EmulatedArena arena;
  arena.copy(1024);
  EXPECT_NO_THROW(arena.read(512));
  arena.copy(512);
  EXPECT_THROW(arena.read(512), Error);
}

// Between the parts of an arena there is nothing, also where a copy went over
// it.
TEST(EmulatedArena, HasParts) {
  EmulatedArena arena;
  arena.copy(512, {{0, 100, "steps"}, {256, 512, "rows"}});
  EXPECT_NO_THROW(arena.read(96));
  EXPECT_NO_THROW(arena.read(256));
  EXPECT_NO_THROW(arena.read(508));
  try {
    arena.read(100);
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what())
                  .find("'steps' ends 4 bytes before the end of the access"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(arena.read(252), Error);
  EXPECT_THROW(arena.read(512), Error); // not copied
  EXPECT_THROW(arena.read(768), Error);
  // The next run has parts of its own.
  arena.copy(1024);
  EXPECT_NO_THROW(arena.read(252));
}

TEST_F(EmulatorTest, Regions) {
  int32_t data[8] = {};
  region(data, "data");
  EXPECT_THROW(emulator.addRegion(data + 2, 4, "inside"), Error);
  EXPECT_THROW(emulator.addRegion(data - 1, 8, "before"), Error);
  EXPECT_THROW(emulator.addRegion(data + 8, 0, "empty"), Error);
  EXPECT_THROW(emulator.markWritten(data + 7, 8), Error);
  emulator.removeRegion(data);
  EXPECT_THROW(emulator.removeRegion(data), Error);
  expectError(1, 1, [&](Gpu gpu) { gpu.load(data, "r"); },
              {"outside of global memory"});
}

TEST_F(EmulatorTest, BadLaunches) {
  Kernel nothing = [](Gpu) {};
  EXPECT_THROW(launch(1, 2000, nothing), Error);
  EXPECT_THROW(launch(0, 1, nothing), Error);
  EXPECT_THROW(launch(132, 256, nothing), Error);
  settings.clusterBlocks = 2;
  EXPECT_THROW(launch(3, 1, nothing), Error);
}

} // namespace
