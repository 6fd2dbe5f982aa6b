//===- SessionTest.cpp - Tests of whole runs of an object written by hand -===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Allocations.h"
#include "FakeDriver.h"
#include "Trial.h"

#include <array>
#include <cmath>
#include <thread>

using namespace batchrt;
using namespace batchrt::test;

TEST(Session, PostOrderRows) {
  Trial run("plain",
            R"(["node", ["leaf", 2], ["many", [["leaf", 1], ["leaf", 0]]]])");
  std::vector<Output> outputs = run.batched();
  const Output &h = named(outputs, "h");
  ASSERT_EQ(h.shape(), (std::vector<int64_t>{5, 20}));
  auto e = [](int row, int column) {
    return static_cast<float>(
        randomParameter(1, "E", row * 20 + column, std::sqrt(3.0 / 20)));
  };
  EXPECT_EQ(at(h, 0, 7), e(2, 7));
  EXPECT_EQ(at(h, 1, 7), e(1, 7));
  EXPECT_EQ(at(h, 2, 7), e(0, 7));
  EXPECT_EQ(at(h, 3, 19), e(1, 19) + e(0, 19));
  EXPECT_EQ(at(h, 4, 3), e(2, 3) + (e(1, 3) + e(0, 3)));
  EXPECT_EQ(named(outputs, "size").rows(), 3);
  EXPECT_EQ(named(outputs, "count").type, DType::I64);
  EXPECT_EQ(loadInteger(DType::I64, named(outputs, "count").data.data(), 0), 5);
  EXPECT_EQ(named(outputs, "root").shape(), (std::vector<int64_t>{1, 20}));
}

TEST(Session, BatchedEqualsUnbatched) {
  for (int threads : {1, 2, 5})
    for (int64_t batch : {0, 1, 7}) {
      Trial run("plain", "random:3,40", threads, size_t(16) << 20, batch);
      EXPECT_EQ(run.difference(2), "") << threads << " " << batch;
    }
}

static std::vector<int64_t> entries(const BatchContext &context, int64_t list) {
  const int64_t *first = context.listPool + listFirst(list);
  return {first, first + listLength(list)};
}

// If several lists grow in turn, they use entries in proportion to their
// elements. A list of 1000 elements moves at most ten times on average.
TEST(Session, ListsGrowInProportion) {
  Trial run("plain", "random:3,4");
  run.batched();
  auto &context = const_cast<BatchContext &>(run.session->context());
  constexpr int64_t count = 64, steps = 1000;
  const int64_t before = context.listSize;
  std::vector<int64_t> lists(count, listCell(0, 0));
  std::vector<std::vector<int64_t>> wanted(count);
  int64_t moves = 0;
  for (int64_t i = 0; i < steps; ++i)
    for (int64_t l = 0; l < count; ++l) {
      const int64_t old = lists[l];
      lists[l] = context.runtime->append(&context, old, steps * l + i);
      wanted[l].push_back(steps * l + i);
      moves += listFirst(lists[l]) != listFirst(old);
    }
  for (int64_t l = 0; l < count; ++l)
    EXPECT_EQ(entries(context, lists[l]), wanted[l]);
  EXPECT_LE(context.listSize - before, 4 * count * steps);
  EXPECT_LE(moves, count * 10);
}

// If several elements are appended to the same list, the first append extends
// it in place. The elements of existing lists do not change.
TEST(Session, ListsBranch) {
  Trial run("plain", R"(["many", [["leaf", 1], ["leaf", 0]]])");
  run.batched();
  auto &context = const_cast<BatchContext &>(run.session->context());
  auto append = [&](int64_t list, int64_t element) {
    return context.runtime->append(&context, list, element);
  };
  using List = std::vector<int64_t>;
  // A list that was not created by appends is copied.
  const int64_t given = listCell(context.listSize - 2, 2);
  const List old = entries(context, given);
  const int64_t base = append(given, 7);
  EXPECT_NE(listFirst(base), listFirst(given));
  const int64_t a = append(base, 1), b = append(base, 2);
  EXPECT_EQ(listFirst(a), listFirst(base));
  EXPECT_NE(listFirst(b), listFirst(base));
  const int64_t c = append(b, 3), d = append(b, 4), e = append(a, 5);
  EXPECT_EQ(listFirst(c), listFirst(b));
  EXPECT_NE(listFirst(d), listFirst(b));
  EXPECT_EQ(entries(context, given), old);
  EXPECT_EQ(entries(context, base), (List{old[0], old[1], 7}));
  EXPECT_EQ(entries(context, a), (List{old[0], old[1], 7, 1}));
  EXPECT_EQ(entries(context, b), (List{old[0], old[1], 7, 2}));
  EXPECT_EQ(entries(context, c), (List{old[0], old[1], 7, 2, 3}));
  EXPECT_EQ(entries(context, d), (List{old[0], old[1], 7, 2, 4}));
  EXPECT_EQ(entries(context, e), (List{old[0], old[1], 7, 1, 5}));
}

// Runs with more workers than cores gain nothing by them and use fewer.
// Separate phases use all workers.
TEST(Session, RunsUseFewerThreads) {
  const int threads = WorkerPool(1).cores() + 6;
  Trial trial("plain", "random:3,40", threads, size_t(16) << 20, 0, "random:1",
              "", /*nodesPerWorker=*/1);
  const std::vector<Output> wanted = trial.unbatched();
  Forest &forest = *trial.inputs->batches.front();
  int64_t workers = threads;
  for (int run = 0; run < 60; ++run) {
    trial.session->run(forest);
    workers = trial.session->counters().inspectors;
    if (run == 0) {
      EXPECT_EQ(workers, threads);
    }
    OutputCollector collector(trial.object.descriptor());
    for (int64_t i = 0; i < forest.numInstances; ++i)
      collector.collect(*trial.session, i);
    EXPECT_EQ(compareOutputs(collector.outputs(), wanted, std::nullopt).first,
              std::nullopt);
  }
  EXPECT_LE(workers, threads - 6);
  trial.batched();
  EXPECT_EQ(trial.session->counters().inspectors, threads);
}

// Timed runs compute the same results.
TEST(Session, TimedRunsComputeTheSame) {
  Trial run("plain", "random:3,40", 2);
  std::vector<Output> outputs = run.batched();
  Forest &forest = *run.inputs->batches.front();
  run.session->load(forest);
  run.session->inspect();
  run.session->schedule();
  RunCounters before = run.session->counters();
  run.session->executeTimed();
  EXPECT_EQ(run.session->counters().launches, before.launches);
  OutputCollector timed(run.object.descriptor());
  for (int64_t i = 0; i < forest.numInstances; ++i)
    timed.collect(*run.session, i);
  EXPECT_FALSE(compareOutputs(timed.outputs(), outputs, std::nullopt).first);
}

TEST(Session, DevicesDoNotRunStepByStep) {
  Trial trial("device", "random:3,4", 1, size_t(16) << 20, 0, "random:1", "",
              1024, 1024, 2);
  trial.batched();
  EXPECT_MESSAGE("tracing is not supported on devices, which run all steps in "
                 "one launch",
                 trial.session->executeTraced());
}

namespace {
/// A copy of an object with a changed descriptor.
struct ChangedObject {
  ChangedObject(const CompiledObject &from, const std::string &old,
                const std::string &with)
      : text(from.entry().descriptor), object(from.entry()) {
    text.replace(text.find(old), old.size(), with);
    object.descriptor = text.c_str();
  }

  std::string text;
  BatchObject object;
};
} // namespace

TEST(Session, ObjectsWithoutCode) {
  Trial trial("plain", "random:3,4");
  Forest &forest = *trial.inputs->batches[0];
  auto run = [&](const BatchObject &object) {
    CompiledObject adopted = CompiledObject::adopt(object);
    Session session(adopted, *trial.parameters, trial.inputs->tensors, {});
    session.run(forest);
  };
  ChangedObject first(trial.object, "\"inspect\": true", "\"inspect\": false");
  first.object.inspect = nullptr;
  EXPECT_MESSAGE("the object was compiled without an inspector",
                 run(first.object));
  ChangedObject second(trial.object, "\"execute\": true", "\"execute\": false");
  second.object.execute = nullptr;
  EXPECT_MESSAGE("the object was compiled without an executor",
                 run(second.object));
}

TEST(Session, LargeClustersAreErrors) {
  FakeDriver driver;
  driver.cuda->kernelName = "fake";
  driver.cuda->numArguments = 6;
  Trial trial("gpu", "random:3,4");
  ChangedObject large(trial.object, "\"clusterSize\": 1",
                      "\"clusterSize\": 32");
  CompiledObject adopted = CompiledObject::adopt(large.object);
  Session session(adopted, *trial.parameters, trial.inputs->tensors, {});
  EXPECT_MESSAGE("the object has clusters of 32 blocks, but Fake GPU supports "
                 "at most 16; recompile the model with a smaller "
                 "--cluster-size",
                 session.run(*trial.inputs->batches[0]));
}

TEST(Session, GpusRunInTheCallersStream) {
  FakeDriver driver;
  driver.cuda->kernelName = "fake";
  driver.cuda->numArguments = 6;
  Trial trial("gpu", "random:3,4");
  SessionOptions options;
  options.stream = 0x1230;
  Session session(trial.object, *trial.parameters, trial.inputs->tensors,
                  options);
  session.load(*trial.inputs->batches[0]);
  session.inspect();
  session.schedule();
  for (int i = 0; i < 2; ++i) {
    driver.cuda->calls.clear();
    driver.cuda->workStreams.clear();
    driver.cuda->busy = 3;
    session.execute();
    EXPECT_EQ(driver.cuda->count("cuMemcpyHtoDAsync_v2"), 1);
    EXPECT_EQ(driver.cuda->count("cuLaunchKernelEx"), 1);
    EXPECT_EQ(driver.cuda->count("cuMemcpyDtoHAsync_v2"), 1);
    EXPECT_EQ(session.counters().launches, 1);
    EXPECT_EQ(session.counters().copies, 2);
    // Two copies, the launch and two events use the stream. The session polls
    // the stream until it is not busy.
    EXPECT_EQ(driver.cuda->workStreams,
              std::vector<void *>(5, reinterpret_cast<void *>(0x1230)));
    EXPECT_EQ(driver.cuda->busy, 0);
  }
}

// Results that are not requested stay on the device. Requested results are
// copied once.
TEST(Session, ResultsAreCopiedWhenCollected) {
  for (const char *kind : {"device", "cluster"}) {
    Trial trial(kind, "random:3,4", 1, size_t(16) << 20, 0, "random:1", "",
                1024, 1024, 2);
    const std::vector<Output> expected = trial.batched();
    Session &session = *trial.session;
    Forest &forest = *trial.inputs->batches[0];
    auto run = [&](ResultCopies copies) {
      session.load(forest);
      session.inspect();
      session.schedule();
      session.execute(copies);
    };
    run(ResultCopies::WithRun);
    EXPECT_EQ(session.counters().copies, 2);
    run(ResultCopies::WhenCollected);
    EXPECT_EQ(session.counters().copies, 2); // the control words
    OutputCollector late(trial.object.descriptor());
    for (int64_t i = 0; i < forest.numInstances; ++i)
      late.collect(session, i);
    EXPECT_EQ(session.counters().copies, 3);
    EXPECT_FALSE(compareOutputs(late.outputs(), expected, std::nullopt).first);
    // Results of an earlier run do not overwrite the results of unbatched code.
    run(ResultCopies::WhenCollected);
    EXPECT_EQ(trial.difference(), "");
  }
}

// Two sessions share one module and one copy of the parameters on a device.
TEST(Session, SessionsShareWhatIsOnTheDevice) {
  FakeDriver driver;
  driver.cuda->kernelName = "fake";
  driver.cuda->numArguments = 6;
  Trial trial("gpu", "random:3,4");
  auto start = [&](const BoundParameters &parameters) {
    auto session = std::make_unique<Session>(
        trial.object, parameters, trial.inputs->tensors, SessionOptions());
    session->load(*trial.inputs->batches[0]);
    session->inspect();
    return session;
  };
  auto first = start(*trial.parameters);
  const size_t allocations = driver.cuda->allocations.size();
  const int copies = driver.cuda->count("cuMemcpyHtoDAsync_v2");
  EXPECT_EQ(driver.cuda->modules, 1);
  auto second = start(*trial.parameters);
  EXPECT_EQ(driver.cuda->modules, 1);
  EXPECT_EQ(driver.cuda->allocations.size(), allocations);
  EXPECT_EQ(driver.cuda->count("cuMemcpyHtoDAsync_v2"), copies);
  first.reset();
  EXPECT_EQ(driver.cuda->modules, 1);
  // A session with other parameters has its own copy of them.
  BoundParameters others(
      trial.object.descriptor(),
      ParameterOptions{"random:2", trial.inputs->largestIndex});
  auto third = start(others);
  EXPECT_EQ(driver.cuda->allocations.size(), 2 * allocations);
  second.reset();
  third.reset();
  EXPECT_EQ(driver.cuda->modules, 0);
  EXPECT_TRUE(driver.cuda->allocations.empty());
}

/// Runs the trial's inputs in four sessions at once, each in its own thread
/// with its own mini-batch size; 0 means all instances together.
static void runInThreads(Trial &trial, const char *inputsText,
                         std::array<int64_t, 4> sizes) {
  const std::vector<Output> expected = trial.unbatched();
  std::array<std::string, 4> differences;
  differences.fill("not run");
  std::vector<std::thread> threads;
  for (size_t t = 0; t < sizes.size(); ++t)
    threads.emplace_back([&, t] {
      InputOptions options;
      options.inputs = inputsText;
      options.batch = sizes[t];
      Inputs inputs(trial.object.descriptor(), options);
      Session session(trial.object, *trial.parameters, inputs.tensors, {});
      OutputCollector collector(trial.object.descriptor());
      for (auto &forest : inputs.batches) {
        session.run(*forest);
        for (int64_t i = 0; i < forest->numInstances; ++i)
          collector.collect(session, i);
      }
      differences[t] =
          compareOutputs(collector.outputs(), expected, std::nullopt)
              .first.value_or("");
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &difference : differences)
    EXPECT_EQ(difference, "");
}

// Sessions of several threads take turns on one emulated device.
TEST(Session, ThreadsShareADevice) {
  Trial trial("device", "random:3,40");
  runInThreads(trial, "random:3,40", {0, 0, 0, 0});
}

TEST(Session, GpusHaveAWatchdog) {
  using Limit = std::optional<double>;
  for (auto [limit, wanted] :
       {std::pair<Limit, uint64_t>({}, 10'000'000'000), {0, 0}, {1.5, 1.5e9}}) {
    FakeDriver driver;
    driver.cuda->kernelName = "fake";
    driver.cuda->numArguments = 6;
    Trial trial("gpu", "random:3,4");
    SessionOptions options;
    options.watchdog = limit;
    Session session(trial.object, *trial.parameters, trial.inputs->tensors,
                    options);
    session.load(*trial.inputs->batches[0]);
    session.inspect();
    session.schedule();
    driver.cuda->calls.clear();
    session.execute();
    EXPECT_EQ(driver.cuda->launches.back().arguments[5], wanted);
    EXPECT_EQ(driver.cuda->count("cuStreamSynchronize") > 0, wanted == 0);
  }
}

// The emulator checks that a watchdog would detect the progress of kernels.
TEST(Session, EmulatedKernelsSayHowFarTheyAre) {
  Trial trial("silent", "random:3,4", 1, size_t(16) << 20, 0, "random:1", "",
              1024, 1024, 2);
  EXPECT_MESSAGE(
      "the kernel does not record its progress, so the watchdog cannot detect "
      "a hang: block 0 has ended and is at step 0.0",
      trial.batched());
}

TEST(Session, LaterRunsAllocateNothing) {
  for (auto [threads, reused] : {std::pair(1, 1024), {3, 1024}, {3, 1}}) {
    Trial run("plain", "random:3,40", threads, size_t(16) << 20, 0, "random:1",
              "", 20, reused);
    EXPECT_EQ(run.difference(2), "");
    run.session->run(*run.inputs->batches[0]);
    size_t bytes = run.session->memory().total();
    int64_t before = countAllocations();
    for (int i = 0; i < 3; ++i) {
      run.session->inspect();
      run.session->schedule();
      run.session->execute();
    }
    EXPECT_EQ(countAllocations(), before);
    EXPECT_EQ(run.session->memory().total(), bytes);
  }
}

/// Writes a parameter file for a vocabulary of three words.
static std::string writeParameters(const TemporaryFolder &folder) {
  std::vector<float> values(3 * 20 + 20 + 400, 0.25f);
  const char *data = reinterpret_cast<char *>(values.data());
  std::string path = folder.file("p.safetensors");
  writeTensorFile(path, {{"E", DType::F32, {3, 20}, data},
                         {"W", DType::F32, {20, 20}, data},
                         {"b", DType::F32, {20}, data}});
  return path;
}

TEST(Session, ErrorOfTheFirstInstance) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += concat("[\"many\", [[\"leaf\", ", i % 20 == 13 ? 100 + i : 0,
                   "], [\"leaf\", 1]]]\n");
  TemporaryFolder folder;
  const std::string path = writeParameters(folder);
  for (int threads : {1, 2, 4}) {
    Trial run("plain", text, threads, size_t(1) << 20, 0, path, "", 1);
    // The session stays usable.
    for (int i = 0; i < 2; ++i)
      EXPECT_MESSAGE("instance 13: index 113 is out of range for parameter 'E' "
                     "with 3 rows (line 14: leaf.word)",
                     run.batched());
  }
}

TEST(Session, InputTensors) {
  Trial run("input", "random:3,40", 2);
  EXPECT_EQ(run.difference(2), "");
  EXPECT_EQ(run.difference(1), "");
}

TEST(Session, SharedNodesRunOnce) {
  std::string text = "{\"nodes\":[[\"leaf\",0]";
  for (int i = 0; i < 100; ++i)
    text += concat(",[\"node\",{\"ref\":", i, "},{\"ref\":", i, "}]");
  Trial run("plain", text + ",[\"leaf\",1]],\"root\":100}");
  EXPECT_EQ(run.difference(), "");
  std::vector<Output> outputs = run.batched();
  EXPECT_EQ(named(outputs, "h").rows(), 101);
  EXPECT_EQ(run.session->counters().tasks, 100 + 4);
}

TEST(Session, DeepChain) {
  std::string text;
  constexpr int depth = 30000;
  for (int i = 0; i < depth; ++i)
    text += "(1 (2 a) ";
  text += "(3 b)" + std::string(depth, ')');
  Trial run("plain", text, 2);
  EXPECT_EQ(run.difference(), "");
  EXPECT_EQ(run.session->counters().batches, 0 + depth + 4);
}

TEST(Session, StackOverflow) {
  std::string text;
  constexpr int depth = 100000;
  for (int i = 0; i < depth; ++i)
    text += "(1 (2 a) ";
  text += "(3 b)" + std::string(depth, ')') + "\n(1 a)";
  Trial run("plain", text, 1, size_t(1) << 20);
  EXPECT_EQ(named(run.batched(), "h").rows(), 2 * depth + 2);
  EXPECT_MESSAGE(
      "instance 0: the recursion is deeper than the stack of 1048576 "
      "bytes allows; give a larger one with --stack-size",
      run.unbatched());
  // The session stays usable.
  run.session->runUnbatched(1);
  EXPECT_EQ(named(run.batched(), "h").rows(), 2 * depth + 2);
}

TEST(Session, UnknownWord) {
  TemporaryFolder folder;
  Trial run("plain",
            "[\"leaf\", 1]\n[\"many\", [[\"leaf\", 0], [\"leaf\", 7]]]", 1,
            size_t(1) << 20, 0, writeParameters(folder));
  const char *message = "instance 1: index 7 is out of range for parameter "
                        "'E' with 3 rows (line 2: leaf.word)";
  EXPECT_MESSAGE(message, run.batched());
  EXPECT_MESSAGE(message, run.unbatched());
}

TEST(Session, ObjectErrors) {
  TemporaryFolder folder;
  EXPECT_MESSAGE("cannot read", CompiledObject::open(folder.file("none.so")));
  BatchObject object{1000, "{}", nullptr, nullptr, nullptr};
  EXPECT_MESSAGE("ABI version 1000", CompiledObject::adopt(object));
  object = {BATCH_ABI_VERSION,
            R"({"target": {"cpu": "z99", "features": ["avx9000"]}})", nullptr,
            nullptr, nullptr};
  EXPECT_MESSAGE("compiled for the CPU 'z99' and needs features that "
                 "this machine lacks: avx9000",
                 CompiledObject::adopt(object));
  object.descriptor = R"({"has": {"inspect": true}})";
  EXPECT_MESSAGE("an entry point that is missing",
                 CompiledObject::adopt(object));
}

TEST(Session, ThreadsShareObjectAndParameters) {
  Trial trial("plain", "random:3,40");
  runInThreads(trial, "random:3,40", {1, 2, 3, 4});
}

TEST(Session, InputTensorsThatComeLater) {
  TemporaryFolder folder;
  std::vector<float> values(40, 0.5f);
  const char *data = reinterpret_cast<char *>(values.data());
  std::string path = folder.file("x.safetensors");
  std::fill(values.begin() + 20, values.end(), -0.25f);
  writeTensorFile(path, {{"a", DType::F32, {20}, data},
                         {"b", DType::F32, {20}, data + 80}});
  std::string lines[] = {R"({"tree": ["leaf", 1], "x": {"tensor": "a"}})",
                         R"({"tree": ["leaf", 0], "x": {"tensor": "b"}})"};
  Trial run("input", lines[0] + "\n" + lines[1], 1, size_t(1) << 20, 0,
            "random:1", path);
  InputReader reader(run.object.descriptor());
  InputTensors tensors(run.object.descriptor());
  tensors.open(path);
  Session session(run.object, *run.parameters, tensors, {});
  OutputCollector collector(run.object.descriptor());
  for (const std::string &line : lines) {
    Forest forest(run.object.descriptor());
    reader.read(line, "request", 1, tensors, forest);
    session.run(forest);
    collector.collect(session, 0);
  }
  Difference difference =
      compareOutputs(collector.outputs(), run.batched(), std::nullopt);
  EXPECT_EQ(difference.first.value_or(""), "");
}
