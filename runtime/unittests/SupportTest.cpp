//===- SupportTest.cpp - Tests of workers, fibers, memo tables, arenas ----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"
#include "batch-runtime/Memory.h"
#include "batch-runtime/Object.h"
#include "batch-runtime/Workers.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>

using namespace batchrt;

namespace {
struct BarrierJob {
  WorkerPool *pool;
  std::vector<int64_t> values;
  int rounds;
  std::atomic<int> errors{0};

  static void run(void *argument, int worker) {
    auto &job = *static_cast<BarrierJob *>(argument);
    for (int round = 1; round <= job.rounds; ++round) {
      job.values[worker] = round;
      job.pool->barrier(worker);
      for (int64_t value : job.values)
        if (value != round)
          ++job.errors;
      job.pool->barrier(worker);
    }
  }
};

struct EmptySteps {
  WorkerPool *pool;
  int rounds;
  static void run(void *argument, int worker) {
    auto &job = *static_cast<EmptySteps *>(argument);
    for (int i = 0; i < job.rounds; ++i)
      job.pool->barrier(worker);
  }
};
} // namespace

TEST(Workers, WaitAtBarriers) {
  for (int count : {1, 2, 3, 8}) {
    WorkerPool pool(count);
    for (int run = 0; run < 3; ++run) {
      BarrierJob job{&pool, std::vector<int64_t>(count), 200};
      pool.run(BarrierJob::run, &job);
      EXPECT_EQ(job.errors, 0);
    }
    EXPECT_EQ(pool.barriers(), 3 * 2 * 200);
  }
}

// A single worker passes barriers without waiting, and they are not counted.
TEST(Workers, OneWorker) {
  WorkerPool pool(3);
  for (int run = 0; run < 3; ++run) {
    BarrierJob single{&pool, std::vector<int64_t>(1), 5};
    pool.run(BarrierJob::run, &single, /*shared=*/false);
    EXPECT_EQ(single.values, std::vector<int64_t>{5});
    EXPECT_EQ(pool.barriers(), run * 2 * 5);
    BarrierJob all{&pool, std::vector<int64_t>(3), 5};
    pool.run(BarrierJob::run, &all);
    EXPECT_EQ(all.errors, 0);
    EXPECT_EQ(pool.barriers(), (run + 1) * 2 * 5);
  }
  EmptySteps job{&pool, 3};
  EXPECT_GE(pool.runTimed(EmptySteps::run, &job, /*shared=*/false), 0);
}

TEST(Workers, SleepAndWake) {
  WorkerPool pool(2);
  for (int run = 0; run < 3; ++run) {
    // This is longer than the time for which workers spin before they sleep.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    BarrierJob job{&pool, std::vector<int64_t>(2), 3};
    pool.run(BarrierJob::run, &job);
    EXPECT_EQ(job.errors, 0);
  }
}

TEST(Workers, BarrierTime) {
  WorkerPool pool(2);
  EmptySteps job{&pool, 20000};
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    auto begin = std::chrono::steady_clock::now();
    pool.run(EmptySteps::run, &job);
    std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count() / job.rounds);
  }
  // The time is reported, not asserted, because another process may occupy the
  // second core.
  RecordProperty("barrier_ns", static_cast<int>(best));
  std::printf("barrier of 2 workers: %.0f ns\n", best);
}

namespace {
struct FiberTest {
  Fiber *fiber;
  int depth = 0;
  bool leave = false;

  __attribute__((noinline)) int recurse(int left) {
    volatile char frame[100];
    std::memset(const_cast<char *>(frame), left, sizeof(frame));
    depth = std::max(depth, left);
    if (left == 0 && leave)
      fiber->leave();
    return left == 0 ? 0 : 1 + recurse(left - 1) + frame[0] * 0;
  }
  static void run(void *argument) {
    auto &test = *static_cast<FiberTest *>(argument);
    test.recurse(10000);
  }
};
} // namespace

TEST(Fiber, RunsAndLeaves) {
  FiberStack stack(size_t(16) << 20);
  Fiber fiber(stack);
  FiberTest test{&fiber};
  for (int i = 0; i < 3; ++i) {
    test.leave = i == 1;
    EXPECT_EQ(fiber.run(FiberTest::run, &test), !test.leave);
    EXPECT_EQ(test.depth, 10000);
  }
  EXPECT_GT(stack.limit(), reinterpret_cast<int64_t>(stack.bottom()));
}

TEST(Fiber, TakeTurns) {
  struct Turns {
    FiberStack stack{0};
    Fiber fiber{stack};
    int turns = 0;

    static void run(void *argument) {
      auto &self = *static_cast<Turns *>(argument);
      for (int i = 0; i < 3; ++i) {
        ++self.turns;
        self.fiber.suspend();
      }
    }
  };
  Turns a, b;
  EXPECT_FALSE(a.fiber.run(Turns::run, &a));
  EXPECT_FALSE(b.fiber.run(Turns::run, &b));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(b.fiber.resume());
    EXPECT_FALSE(a.fiber.resume());
    EXPECT_EQ(a.turns, i + 2);
    EXPECT_EQ(b.turns, i + 2);
  }
  EXPECT_TRUE(a.fiber.resume());
  // The first run of b is abandoned, and its stack is reused.
  EXPECT_FALSE(b.fiber.run(Turns::run, &b));
  EXPECT_EQ(b.turns, 4);
}

TEST(Fiber, ImpossibleStack) {
  EXPECT_MESSAGE("cannot reserve a stack of ", FiberStack stack(SIZE_MAX / 4));
  EXPECT_MESSAGE("a stack of 18446744073709551615 bytes is too large "
                 "(--stack-size)",
                 FiberStack stack(SIZE_MAX));
}

// A session reuses stacks that other sessions do not need. The number of
// reserved stacks is therefore the largest number in use at the same time.
TEST(Fiber, BorrowedStacks) {
  BorrowedStack::freeOthers();
  const FiberStack *first, *second;
  {
    const BorrowedStack one(1 << 20), two(1 << 20);
    first = &*one;
    second = &*two;
    EXPECT_NE(first, second);
  }
  {
    const BorrowedStack again(1 << 20), other(2 << 20), last(1 << 20);
    EXPECT_TRUE(&*again == first || &*again == second);
    // A spare stack of a different size is freed.
    EXPECT_NE((*other).size(), (*again).size());
    EXPECT_GE((*other).size(), size_t(2) << 20);
    EXPECT_NE(&*last, &*again);
  }
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 1000; ++i) {
        const BorrowedStack stack(1 << 20);
        char *mine = (*stack).top() - 1;
        *mine = static_cast<char>(t);
        std::this_thread::yield();
        wrong += *mine != static_cast<char>(t);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Memo, AgreesWithMap) {
  MemoTable memo;
  std::mt19937 random(1);
  for (int round = 0; round < 3; ++round) {
    std::map<std::vector<int64_t>, int64_t> reference;
    memo.clear();
    for (int i = 0; i < 20000; ++i) {
      std::vector<int64_t> key(random() % 3);
      for (int64_t &cell : key)
        cell = random() % 50;
      int64_t function = random() % 2, result[2] = {-1, -1};
      std::vector<int64_t> whole = key;
      whole.push_back(function);
      auto known = reference.find(whole);
      ASSERT_EQ(memo.find(function, key.data(), key.size(), result, 2),
                known != reference.end());
      if (known != reference.end()) {
        EXPECT_EQ(result[0], known->second);
        EXPECT_EQ(result[1], i - i);
        continue;
      }
      int64_t store[2] = {i, 0};
      memo.store(function, key.data(), key.size(), store, 2);
      reference[whole] = i;
    }
    EXPECT_EQ(memo.size(), static_cast<int64_t>(reference.size()));
  }
}

// Reserves many more addresses than there is memory, and writes to few of them.
TEST(Buffer, Addresses) {
#ifdef __SANITIZE_THREAD__ // ThreadSanitizer has fewer addresses
  constexpr size_t bytes = size_t(1) << 36;
#else
  constexpr size_t bytes = size_t(1) << 40;
#endif
  Buffer buffer;
  char *memory = buffer.reserveAddresses(bytes, "a test");
  memory[0] = memory[bytes - 1] = 1;
  EXPECT_EQ(buffer.reserveAddresses(bytes / 2, "a test"), memory);
  EXPECT_EQ(buffer.capacity(), bytes);
  Buffer other = std::move(buffer);
  EXPECT_EQ(other.data(), memory);
  EXPECT_EQ(buffer.capacity(), 0u);
  other.release();
  EXPECT_EQ(other.capacity(), 0u);
  for (int round = 0; round < 1000; ++round)
    Buffer().reserveAddresses(bytes, "a test"); // freed at once
  EXPECT_MESSAGE(
      "out of memory: cannot allocate 9223372036854775808 bytes for result "
      "tables; use a smaller batch (--batch) or fewer workers (--threads)",
      other.reserveAddresses(size_t(1) << 63, "result tables"));
}

// The test runs in a separate process, because the environment variable is read
// only once.
TEST(BufferDeathTest, EndsAtGuardPages) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto touch = [](size_t bytes, size_t at) {
    ::setenv("BATCH_GUARD_PAGES", "1", 1);
    Buffer buffer;
    buffer.reserve(2 * bytes, "a test");
    volatile char *memory = buffer.reserve(bytes, "a test");
    buffer.grow(bytes, bytes, "a test");
    memory[at] = 1;
    std::exit(buffer.capacity() == (bytes + 63) / 64 * 64 &&
                      reinterpret_cast<uintptr_t>(memory) % 64 == 0
                  ? 0
                  : 2);
  };
  for (size_t bytes : {1, 64, 1000, 4096, 1 << 20}) {
    const size_t end = (bytes + 63) / 64 * 64;
    EXPECT_EXIT(touch(bytes, end - 1), testing::ExitedWithCode(0), "");
    EXPECT_DEATH(touch(bytes, end), "");
  }
}

TEST(Arena, ReusesChunks) {
  BumpArena arena;
  BatchContext context{};
  size_t capacity = 0;
  for (int run = 0; run < 3; ++run) {
    arena.reset(context);
    for (int i = 0; i < 1000; ++i) {
      int64_t bytes = 64 * (1 + i % 300);
      if (context.arenaLimit - context.arenaTop < bytes) {
        char *block = arena.grow(context, bytes);
        ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
        std::memset(block, 1, bytes);
        continue;
      }
      std::memset(context.arenaTop, 1, bytes);
      context.arenaTop += bytes;
    }
    if (run == 0)
      capacity = arena.capacity();
    EXPECT_EQ(arena.capacity(), capacity);
  }
  char *large = arena.grow(context, size_t(200) << 20);
  large[(size_t(200) << 20) - 1] = 1;
  EXPECT_EQ(context.arenaTop, large + (size_t(200) << 20));
}

TEST(Arena, KeepsRows) {
  BumpArena arena;
  BatchContext context{};
  arena.reset(context);
  auto take = [&](int64_t bytes, char value) {
    char *row = context.arenaTop;
    if (context.arenaLimit - row < bytes)
      row = arena.grow(context, bytes);
    else
      context.arenaTop += bytes;
    std::memset(row, value, bytes);
    return reinterpret_cast<int64_t>(row);
  };
  auto holds = [](int64_t row, int64_t bytes, char value) {
    const char *begin = reinterpret_cast<const char *>(row);
    return std::all_of(begin, begin + bytes,
                       [&](char c) { return c == value; });
  };
  int64_t old = take(128, 1);
  char *mark = context.arenaTop;
  size_t capacity = 0;
  // A loop with two carried rows and one row from before the loop. Each round
  // allocates up to 3 MB, so chunks may end anywhere.
  int64_t rows[] = {take(64, 2), old, take(1 << 20, 3)};
  const int64_t bytes[] = {64, 128, 1 << 20};
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < 30; ++i)
      take(64 * (1 + (round * 31 + i * 7) % 1600), 9);
    // The first row is new in each round, the last row in every third round.
    rows[0] = take(64, static_cast<char>(round));
    if (round % 3 == 0)
      rows[2] = take(1 << 20, 3);
    arena.keep(context, mark, rows, bytes, 3);
    ASSERT_TRUE(holds(rows[0], 64, static_cast<char>(round)));
    ASSERT_EQ(rows[1], old);
    ASSERT_TRUE(holds(old, 128, 1));
    ASSERT_TRUE(holds(rows[2], 1 << 20, 3));
    if (round == 20)
      capacity = arena.capacity();
  }
  EXPECT_EQ(arena.capacity(), capacity);
  // Nothing has been allocated. The row is an argument, which is returned
  // unchanged.
  BumpArena fresh;
  fresh.reset(context);
  char argument[64];
  int64_t row = reinterpret_cast<int64_t>(argument);
  fresh.keep(context, context.arenaTop, &row, bytes, 1);
  EXPECT_EQ(context.arenaTop, nullptr);
  EXPECT_EQ(row, reinterpret_cast<int64_t>(argument));
}

TEST(HostCpu, Features) {
  EXPECT_TRUE(missingCpuFeatures({}).empty());
  EXPECT_TRUE(missingCpuFeatures({"-avx9000", "prefer-256-bit"}).empty());
  EXPECT_EQ(missingCpuFeatures({"avx9000", "+amx-nothing"}),
            (std::vector<std::string>{"avx9000", "amx-nothing"}));
#ifdef __x86_64__
  EXPECT_TRUE(missingCpuFeatures({"sse2", "sse3", "ssse3"}).empty());
#endif
}
