//===- XlaCallsTest.cpp - Calls of models through XLA's call frame --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handler of the Python package, called from C++. jaxlib and Python are not
// instrumented, so ThreadSanitizer can only check calls like these.
//
//===----------------------------------------------------------------------===//

#include "XlaCalls.h"
#include "Interrupts.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <thread>

using namespace batch::xla;
using batch::python::InterruptCancellation;

/// An error is a string here.
static Error *createError(ErrorArguments *arguments) {
  return reinterpret_cast<Error *>(new std::string(arguments->message));
}

static const Api api = {sizeof(Api), nullptr, {}, nullptr, createError};

namespace {
/// A call of the model of FakeLanes.cpp with one parameter.
class Call {
public:
  Call(int64_t key, std::vector<int32_t> numbers,
       std::vector<float> parameter = {1, 2})
      : key(key), numbers(std::move(numbers)), parameter(std::move(parameter)),
        sums(count), rows(3 * count) {
    add(arguments, DataType::U32, &this->key, {2});
    add(arguments, DataType::S32, this->numbers.data(), {count});
    add(arguments, DataType::F32, this->parameter.data(), {2});
    add(results, DataType::S64, sums.data(), {count});
    add(results, DataType::F32, rows.data(), {count, 3});
  }
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  /// Returns the error, or "".
  std::string run(Stage stage = Stage::Execute, int64_t numArguments = 3) {
    Scalar instances = {DataType::S64, &count};
    Span name = {"instances", 9};
    Span *names[] = {&name};
    AttributeKind kinds[] = {AttributeKind::Scalar};
    void *values[] = {&instances};
    std::vector<Buffer *> given, taken;
    for (List *list : {&arguments, &results})
      for (Described &one : *list) {
        one.buffer.shape = one.shape.data();
        (list == &arguments ? given : taken).push_back(&one.buffer);
      }
    CallFrame frame = {
        sizeof(CallFrame),
        nullptr,
        &api,
        nullptr,
        stage,
        {sizeof(Buffers), nullptr, numArguments, nullptr, given.data()},
        {sizeof(Buffers), nullptr, 2, nullptr, taken.data()},
        {sizeof(Attributes), nullptr, 1, kinds, names, values}};
    auto *error = reinterpret_cast<std::string *>(runModel(&frame));
    if (!error)
      return "";
    std::string text = *error;
    delete error;
    return text;
  }

  bool isRight() const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t sum = int64_t(numbers[i]) * (numbers[i] + 1) / 2;
      if (sums[i] != sum || rows[3 * i] != float(sum) ||
          rows[3 * i + 1] != float(2 * sum))
        return false;
    }
    return true;
  }

private:
  struct Described {
    Buffer buffer;
    std::vector<int64_t> shape;
  };
  using List = std::vector<Described>;

  static void add(List &list, DataType type, void *data,
                  std::vector<int64_t> shape) {
    const auto rank = static_cast<int64_t>(shape.size());
    list.push_back({{sizeof(Buffer), nullptr, type, data, rank, nullptr},
                    std::move(shape)});
  }

  int64_t key;
  std::vector<int32_t> numbers;
  std::vector<float> parameter;
  int64_t count = static_cast<int64_t>(numbers.size());
  std::vector<int64_t> sums;
  std::vector<float> rows;
  List arguments, results;
};

/// A program, which calls can use as long as this object exists.
class XlaCalls : public testing::Test {
protected:
  void SetUp() override {
    BatchModel *opened = nullptr;
    ASSERT_EQ(batchModelOpen(FAKE_FOLDER "/fake_lanes_parameter.so", &opened),
              BATCH_STATUS_OK)
        << batchLastError();
    model.reset(opened, batchModelFree);
    batchSessionDefaults(&options);
    program = add();
  }
  void TearDown() override {
    if (program)
      Program::remove(key, program);
  }

  const Program *add() const {
    std::vector<Program::Parameter> parameters;
    parameters.push_back({"w", nullptr});
    const auto made =
        std::make_shared<Program>(model, nullptr, std::move(parameters),
                                  std::vector<int64_t>{0, 1}, options);
    Program::add(key, made);
    return made.get();
  }

  static constexpr int64_t key = int64_t(5) << 40;
  std::shared_ptr<BatchModel> model;
  BatchSessionOptions options;
  const Program *program = nullptr;
};
} // namespace

TEST_F(XlaCalls, Metadata) {
  Metadata metadata = {sizeof(Metadata), {}, 7};
  MetadataExtension extension = {
      {sizeof(MetadataExtension), ExtensionType::Metadata, nullptr}, &metadata};
  CallFrame frame = {};
  frame.extensions = &extension.base;
  EXPECT_EQ(runModel(&frame), nullptr);
  EXPECT_EQ(metadata.version.major, majorVersion);
  EXPECT_EQ(metadata.version.minor, minorVersion);
  EXPECT_EQ(metadata.traits, 0U);
}

TEST_F(XlaCalls, ResultsAreWrittenIntoBuffers) {
  for (const std::vector<int32_t> &numbers :
       {std::vector<int32_t>{3}, {1, 2, 3, 4, 5}, {}, {7, 0}}) {
    Call call(key, numbers);
    EXPECT_EQ(call.run(), "");
    EXPECT_TRUE(call.isRight());
  }
}

TEST_F(XlaCalls, EightThreadsCallOneProgram) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([this, t, &wrong] {
      for (int i = 0; i < 100; ++i) {
        // A program remembers fewer values of the parameter than there are.
        const int value = i / 10 * (t % 3);
        Call call(key, std::vector<int32_t>(1 + (i + t) % 5, i % 20),
                  {1.0F, float(value)});
        if (!call.run().empty() || !call.isRight())
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(XlaCalls, ProgramIsRemovedDuringCalls) {
  std::atomic<int> wrong{0}, calls{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([this, &wrong, &calls] {
      for (;;) {
        Call call(key, {1, 2, 3});
        if (!call.run().empty())
          return;
        ++calls;
        if (!call.isRight())
          ++wrong;
      }
    });
  while (calls < 100)
    std::this_thread::yield();
  Program::remove(key, program);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  program = nullptr;
}

TEST_F(XlaCalls, EqualProgramsHaveOneKey) {
  const Program *second = add();
  Program::remove(key, program);
  program = second;
  Call call(key, {1, 2, 3});
  EXPECT_EQ(call.run(), "");
  EXPECT_TRUE(call.isRight());
}

TEST_F(XlaCalls, Errors) {
  EXPECT_EQ(Call(key + 1, {1}).run(),
            "a call of batch.vmap was compiled in another process; compile the "
            "program again with jax.jit");
  EXPECT_EQ(Call(key, {1}).run(Stage::Initialize),
            "expected the stage execute");
  EXPECT_EQ(Call(key, {1}).run(Stage::Execute, 2),
            "wrong number of arguments or results");
  EXPECT_EQ(Call(key, {1}).run(Stage::Execute, 0), "expected a key");
  EXPECT_EQ(Call(key, {1, 1, -1}).run(),
            "argument 'n': index -1 is out of range; expected 0 to 2147483647");
}

TEST_F(XlaCalls, ReporterMakesTheText) {
  static int64_t reported;
  setReporter([](int64_t key, BatchStatus status, const char *message) {
    reported = key;
    return Report{std::to_string(status) + ": " + message};
  });
  EXPECT_EQ(
      Call(key, {-1}).run(),
      "1: argument 'n': index -1 is out of range; expected 0 to 2147483647");
  EXPECT_EQ(reported, key);
  setReporter(nullptr);
}

//===----------------------------------------------------------------------===//
// Interrupts
//===----------------------------------------------------------------------===//

static std::atomic<int> interrupts{0};

TEST_F(XlaCalls, InterruptEndsRuns) {
  using batch::python::catchInterrupts;
  std::signal(SIGINT, SIG_DFL);
  EXPECT_FALSE(catchInterrupts());
  std::signal(SIGINT, [](int) { ++interrupts; });
  EXPECT_TRUE(catchInterrupts());
  EXPECT_TRUE(catchInterrupts());
  BatchParameters *parameters = nullptr;
  BatchSession *session = nullptr;
  float values[] = {1, 2};
  const int64_t two = 2, one = 1;
  const char *names[] = {"w"};
  const BatchArray array = {values, BATCH_TYPE_F32, 1, &two, nullptr};
  ASSERT_EQ(batchParametersBind(model.get(), 1, names, &array, &parameters),
            BATCH_STATUS_OK);
  ASSERT_EQ(batchSessionMake(model.get(), parameters, &options, &session),
            BATCH_STATUS_OK);
  int32_t number = 3;
  const BatchValues argument = {{&number, BATCH_TYPE_I32, 1, &one, nullptr},
                                nullptr};
  const BatchInputs inputs = {1, &argument, nullptr};
  {
    InterruptCancellation first, second;
    for (InterruptCancellation *cancellation : {&first, &second}) {
      const BatchCancellation *of = cancellation->begin();
      std::raise(SIGINT);
      EXPECT_EQ(batchSessionRun(session, &inputs, of), BATCH_STATUS_CANCELLED);
      EXPECT_EQ(batchSessionRun(session, &inputs, cancellation->begin()),
                BATCH_STATUS_OK);
    }
  }
  EXPECT_EQ(interrupts, 2);
  batchSessionFree(session);
  batchParametersFree(parameters);
  std::signal(SIGINT, SIG_DFL);
}
