//===- StreamTest.cpp - Tests of streams of instances ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/InstanceStream.h"
#include "batch-runtime/StreamCAPI.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace batchrt;

namespace {
/// A session of the handwritten program with lanes.
struct Lanes {
  explicit Lanes(int64_t lanes, int32_t threads = 1, int64_t stackDepth = 64,
                 const char *kind = "lanes") {
    const std::string path = std::string(FAKE_FOLDER) + "/fake_" + kind + ".so";
    EXPECT_EQ(batchModelOpen(path.c_str(), &model), BATCH_STATUS_OK);
    EXPECT_EQ(batchParametersBind(model, 0, nullptr, nullptr, &parameters),
              BATCH_STATUS_OK);
    BatchSessionOptions options;
    batchSessionDefaults(&options);
    options.lanes = lanes;
    options.threads = threads;
    options.stackDepth = stackDepth;
    EXPECT_EQ(batchSessionMake(model, parameters, &options, &session),
              BATCH_STATUS_OK);
  }
  ~Lanes() {
    batchStreamFree(stream);
    batchSessionFree(session);
    batchParametersFree(parameters);
    batchModelFree(model);
  }

  BatchStatus open(int64_t newCapacity) {
    capacity = newCapacity;
    return batchStreamOpen(session, capacity, &stream);
  }
  BatchStatus put(std::vector<int64_t> numbers) {
    const int64_t count = static_cast<int64_t>(numbers.size());
    BatchValues values = {};
    values.elements = {numbers.data(), BATCH_TYPE_I64, 1, &count, nullptr};
    const BatchInputs inputs = {count, &values, nullptr};
    return batchStreamPut(stream, &inputs);
  }
  /// Takes results and checks them. The result of instance number i must be the
  /// result for the argument `given[i]`.
  BatchStatus take(const std::vector<int64_t> &given, std::set<int64_t> &taken,
                   int64_t most = 100,
                   const BatchCancellation *cancellation = nullptr) {
    std::vector<int64_t> sums(most), numbers(most);
    std::vector<float> rows(3 * most);
    const int64_t shapes[] = {most, 3};
    const BatchArray arrays[] = {
        {sums.data(), BATCH_TYPE_I64, 1, shapes, nullptr},
        {rows.data(), BATCH_TYPE_F32, 2, shapes, nullptr}};
    const BatchStatus status = batchStreamTake(
        stream, most, arrays, numbers.data(), &count, cancellation);
    for (int64_t i = 0; status == BATCH_STATUS_OK && i < count; ++i) {
      const int64_t n = given.at(numbers[i]), sum = n * (n + 1) / 2;
      EXPECT_EQ(sums[i], sum);
      EXPECT_EQ(rows[3 * i], static_cast<float>(sum));
      EXPECT_EQ(rows[3 * i + 1], static_cast<float>(2 * sum));
      EXPECT_TRUE(taken.insert(numbers[i]).second) << numbers[i];
    }
    return status;
  }

  BatchModel *model = nullptr;
  BatchParameters *parameters = nullptr;
  BatchSession *session = nullptr;
  BatchStream *stream = nullptr;
  int64_t capacity = 0, count = 0;
};
} // namespace

// Instances arrive one by one or several at once, with different numbers of
// lanes and workers. Each instance has its own results.
TEST(Stream, EveryInstanceRunsOnce) {
  for (int64_t lanes : {1, 3, 8})
    for (int32_t threads : {1, 2, 4})
      for (int64_t capacity : {1, 2, 5, 16}) {
        SCOPED_TRACE(std::to_string(lanes) + " lanes, " +
                     std::to_string(threads) + " threads, " +
                     std::to_string(capacity) + " positions");
        Lanes trial(lanes, threads);
        ASSERT_EQ(trial.open(capacity), BATCH_STATUS_OK);
        std::vector<int64_t> given;
        std::set<int64_t> taken;
        while (given.size() < 200) {
          std::vector<int64_t> some;
          const int64_t available = batchStreamAvailable(trial.stream);
          for (int64_t i = 0;
               i < available && i <= static_cast<int64_t>(given.size()) % 3;
               ++i)
            some.push_back(static_cast<int64_t>(given.size() + i) * 7 % 11);
          given.insert(given.end(), some.begin(), some.end());
          ASSERT_EQ(trial.put(some), BATCH_STATUS_OK);
          if (batchStreamAvailable(trial.stream) == 0) {
            ASSERT_EQ(trial.take(given, taken, 1 + capacity / 2),
                      BATCH_STATUS_OK);
            ASSERT_GE(trial.count, 1);
          }
        }
        while (taken.size() < given.size())
          ASSERT_EQ(trial.take(given, taken), BATCH_STATUS_OK);
        ASSERT_EQ(trial.take(given, taken), BATCH_STATUS_OK);
        EXPECT_EQ(trial.count, 0);
        EXPECT_EQ(batchStreamAvailable(trial.stream), capacity);
      }
}

// While a session has a stream, it opens no second stream and runs no
// mini-batches. Afterwards, it can do both.
TEST(Stream, TheSessionGoesOn) {
  Lanes trial(2, 2);
  const int64_t n = 4, count = 1;
  BatchValues values = {};
  values.elements = {const_cast<int64_t *>(&n), BATCH_TYPE_I64, 1, &count,
                     nullptr};
  const BatchInputs inputs = {1, &values, nullptr};
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(trial.open(4), BATCH_STATUS_OK);
    BatchStream *second = nullptr;
    EXPECT_EQ(batchStreamOpen(trial.session, 1, &second), BATCH_STATUS_INVALID);
    EXPECT_EQ(batchSessionRun(trial.session, &inputs, nullptr),
              BATCH_STATUS_INVALID);
    std::set<int64_t> taken;
    ASSERT_EQ(trial.put({1, 2, 3}), BATCH_STATUS_OK);
    if (round > 0) {
      ASSERT_EQ(trial.take({1, 2, 3}, taken), BATCH_STATUS_OK);
    }
    batchStreamFree(trial.stream); // instances are still in the stream
    trial.stream = nullptr;
    ASSERT_EQ(batchSessionRun(trial.session, &inputs, nullptr),
              BATCH_STATUS_OK);
    int64_t sum = 0;
    const BatchArray target = {&sum, BATCH_TYPE_I64, 1, &count, nullptr};
    ASSERT_EQ(batchSessionRead(trial.session, 0, &target, nullptr),
              BATCH_STATUS_OK);
    EXPECT_EQ(sum, 10);
  }
}

// An instance that fails causes one error. The other instances have their
// results, and the position of the failed instance is reused.
TEST(Stream, InstancesFailSeparately) {
  Lanes trial(2, 1, /*stackDepth=*/5);
  ASSERT_EQ(trial.open(4), BATCH_STATUS_OK);
  std::vector<int64_t> given;
  std::set<int64_t> taken;
  int failures = 0;
  for (int round = 0; round < 10; ++round) {
    given.insert(given.end(), {3, 9, 5, 2});
    ASSERT_EQ(trial.put({3, 9, 5, 2}), BATCH_STATUS_OK);
    for (int calls = 0; batchStreamAvailable(trial.stream) < 4; ++calls) {
      ASSERT_LT(calls, 8);
      if (trial.take(given, taken) == BATCH_STATUS_OK)
        continue;
      ++failures;
      EXPECT_EQ(std::string(batchLastError())
                    .find("instance " + std::to_string(4 * round + 1) +
                          ": the recursion is deeper than 5 calls"),
                0u)
          << batchLastError();
    }
  }
  EXPECT_EQ(failures, 10);
  EXPECT_EQ(taken.size(), 30u);
}

static void expectInvalid(BatchStatus status, const char *message) {
  EXPECT_EQ(status, BATCH_STATUS_INVALID);
  EXPECT_STREQ(batchLastError(), message);
}

TEST(Stream, WhatDoesNotFit) {
  Lanes trial(2);
  BatchStream *stream = nullptr;
  const char *const nothing = "a stream requires a session, a capacity of 1 to "
                              "2147483647 and an output pointer";
  expectInvalid(batchStreamOpen(trial.session, 0, &stream), nothing);
  expectInvalid(batchStreamOpen(nullptr, 1, &stream), nothing);
  ASSERT_EQ(trial.open(2), BATCH_STATUS_OK);
  expectInvalid(batchStreamPut(trial.stream, nullptr),
                "the stream or the inputs are null");
  expectInvalid(trial.put({1, 2, 3}), "the stream has space for 2 instances, "
                                      "but 3 were given; take results first, "
                                      "or put fewer instances");
  const BatchInputs negative = {-1, nullptr, nullptr};
  expectInvalid(batchStreamPut(trial.stream, &negative),
                "the number of instances -1 is out of range; expected 0 to "
                "2147483647");
  const BatchInputs none = {1, nullptr, nullptr};
  expectInvalid(batchStreamPut(trial.stream, &none),
                "instances of a stream require arguments and must not have "
                "nodes");
  expectInvalid(trial.put({1, -2}), "argument 'n': index -2 is out of range; "
                                    "expected 0 to 2147483647");
  EXPECT_EQ(batchStreamAvailable(trial.stream), 2);
  const float wrong = 1;
  const int64_t one = 1;
  BatchValues values = {};
  values.elements = {const_cast<float *>(&wrong), BATCH_TYPE_F32, 1, &one,
                     nullptr};
  const BatchInputs inputs = {1, &values, nullptr};
  EXPECT_EQ(batchStreamPut(trial.stream, &inputs), BATCH_STATUS_INVALID);
  std::set<int64_t> taken;
  ASSERT_EQ(trial.put({1, 2}), BATCH_STATUS_OK);
  expectInvalid(trial.take({1, 2}, taken, 0),
                "results require a stream, output pointers and space for at "
                "least one result");
  while (taken.size() < 2)
    ASSERT_EQ(trial.take({1, 2}, taken), BATCH_STATUS_OK);
  // Lanes on a device do not run streams.
  Lanes plans(2, 1, 64, "lanes_device");
  EXPECT_EQ(plans.open(2), BATCH_STATUS_FAILED);
  EXPECT_STREQ(batchLastError(),
               "streams of instances are only supported in lockstep on the "
               "host; compile the model with --strategy=lockstep and "
               "--device=cpu");
}

// Another thread can end a wait for an instance that never finishes. The stream
// remains usable and accepts more instances.
TEST(Stream, Woken) {
  InstanceStream stream(2);
  EXPECT_EQ(stream.acquire(), 0);
  stream.submit(0);
  std::thread other([&] { stream.wake(); });
  EXPECT_EQ(stream.take(nullptr), InstanceStream::kWoken);
  other.join();
  EXPECT_EQ(stream.acquire(), 1);
  stream.submit(1);
  // A wait first returns the available results. The next wait ends at once.
  stream.wake();
  EXPECT_EQ(stream.exchange(-1), 0);
  EXPECT_EQ(stream.exchange(0), 1);
  EXPECT_EQ(stream.take(nullptr), 0);
  EXPECT_EQ(stream.take(nullptr), InstanceStream::kWoken);
  EXPECT_EQ(stream.exchange(1), -1);
  EXPECT_EQ(stream.take(nullptr), 1);

  Lanes trial(2);
  ASSERT_EQ(trial.open(2), BATCH_STATUS_OK);
  std::set<int64_t> taken;
  batchStreamWake(trial.stream);
  ASSERT_EQ(trial.put({5}), BATCH_STATUS_OK);
  while (taken.empty())
    ASSERT_EQ(trial.take({5}, taken), BATCH_STATUS_OK);
  batchStreamWake(nullptr);
}

// A cancellation ends the wait, not the stream. A forked process cannot use the
// stream.
TEST(Stream, CancelledAndForked) {
  InstanceStream stream(1);
  Cancellation cancellation;
  std::thread other([&] { cancellation.request(); });
  EXPECT_THROW(stream.take(&cancellation), Cancelled);
  other.join();
  stream.submit(stream.acquire());
  EXPECT_TRUE(stream.waitForMore());
  EXPECT_EQ(*stream.ready(), 1);
  EXPECT_EQ(stream.exchange(-1), 0);
  EXPECT_EQ(*stream.ready(), 0);
  EXPECT_EQ(stream.exchange(0), -1);
  EXPECT_EQ(stream.take(nullptr), 0);
  stream.close();
  EXPECT_FALSE(stream.waitForMore());
  EXPECT_EQ(stream.take(nullptr), InstanceStream::kClosed);

#ifndef __SANITIZE_THREAD__
  Lanes trial(2);
  ASSERT_EQ(trial.open(2), BATCH_STATUS_OK);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool isRefused = trial.put({1}) == BATCH_STATUS_INVALID &&
                           std::string(batchLastError()) ==
                               "the stream belongs to another "
                               "process; open a new session and a new "
                               "stream in this process";
    batchStreamFree(trial.stream);
    ::_exit(isRefused ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  std::set<int64_t> taken;
  ASSERT_EQ(trial.put({5}), BATCH_STATUS_OK);
  EXPECT_EQ(trial.take({5}, taken), BATCH_STATUS_OK);
  EXPECT_EQ(taken.size(), 1u);
#endif
}
