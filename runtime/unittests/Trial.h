//===- Trial.h - Runs of an object written by hand --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_UNITTESTS_TRIAL_H
#define BATCH_RUNTIME_UNITTESTS_TRIAL_H

#include "Support.h"
#include "batch-runtime/Outputs.h"

#include <memory>
#include <string>
#include <vector>

namespace batchrt::test {

inline std::string fake(const char *kind) {
  return std::string(FAKE_FOLDER) + "/fake_" + kind + ".so";
}

/// An object that runs on inputs given as text.
struct Trial {
  TemporaryFolder folder;
  CompiledObject object;
  std::unique_ptr<Inputs> inputs;
  std::unique_ptr<BoundParameters> parameters;
  std::unique_ptr<Session> session;

  Trial(const char *kind, const std::string &text, int threads = 1,
        size_t stack = size_t(256) << 20, int64_t batch = 0,
        const std::string &given = "random:1", const std::string &tensors = "",
        int64_t nodesPerWorker = 1024, int64_t reusedRowBytes = 1024,
        int64_t blocks = 0)
      : object(CompiledObject::open(fake(kind))) {
    InputOptions options;
    options.inputs =
        text.rfind("random:", 0) == 0 ? text : folder.write("in", text);
    options.batch = batch;
    options.inputTensors = tensors;
    inputs = std::make_unique<Inputs>(object.descriptor(), options);
    parameters = std::make_unique<BoundParameters>(
        object.descriptor(), ParameterOptions{given, inputs->largestIndex});
    SessionOptions run{threads, stack, nodesPerWorker, reusedRowBytes};
    run.emulator.blocks = blocks;
    session =
        std::make_unique<Session>(object, *parameters, inputs->tensors, run);
  }

  std::vector<Output> batched(int repeat = 1) {
    OutputCollector collector(object.descriptor());
    for (auto &forest : inputs->batches) {
      session->load(*forest);
      for (int i = 0; i < repeat; ++i) {
        session->inspect();
        session->schedule();
        session->execute();
      }
      for (int64_t i = 0; i < forest->numInstances; ++i)
        collector.collect(*session, i);
    }
    return collector.outputs();
  }
  std::vector<Output> unbatched() {
    OutputCollector collector(object.descriptor());
    for (auto &forest : inputs->batches) {
      session->load(*forest);
      for (int64_t i = 0; i < forest->numInstances; ++i) {
        session->runUnbatched(i);
        collector.collect(*session, i);
      }
    }
    return collector.outputs();
  }
  std::string difference(int repeat = 1) {
    return compareOutputs(batched(repeat), unbatched(), std::nullopt)
        .first.value_or("");
  }
};

inline const Output &named(const std::vector<Output> &outputs,
                           const char *name) {
  for (const Output &output : outputs)
    if (output.name == name)
      return output;
  throw Error(std::string("no output ") + name);
}

inline float at(const Output &output, int64_t row, int64_t column) {
  return static_cast<float>(loadDouble(output.type, output.data.data(),
                                       row * output.rowElements() + column));
}

} // namespace batchrt::test

#endif // BATCH_RUNTIME_UNITTESTS_TRIAL_H
