//===- Learn.cpp - batch-run --learn-policy -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Schedule/Learning.h"
#include "Options.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Tensors.h"

#include <cstdio>
#include <fstream>
#include <sstream>

using namespace batchrun;
using namespace batchrt;

static StateMachine readTable(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    raise("cannot read '", path, "'");
  StateMachine machine;
  if (std::string wrong = machine.parse(text.str(), path); !wrong.empty())
    raise(wrong);
  return machine;
}

StateMachine batchrun::makeStateMachine(const Options &options,
                                        Session &session) {
  if (!options.policyTable.empty())
    return readTable(options.policyTable);
  if (options.learnPolicy.empty() &&
      session.descriptor().policy == Policy::Machine)
    return session.descriptor().machine;
  InputOptions some = options.input;
  if (some.limit < 0 || some.limit > learntInstances)
    some.limit = learntInstances;
  std::vector<TaskGraph> graphs;
  int64_t instances = 0;
  for (int32_t size : learntBatches) {
    some.batch = size;
    Inputs inputs(session.descriptor(), some);
    instances = inputs.numInstances;
    for (auto &forest : inputs.batches) {
      session.load(*forest);
      session.inspect();
      graphs.push_back(session.taskGraph());
    }
  }
  std::vector<std::string> kernels;
  for (const KernelInfo &kernel : session.descriptor().kernels)
    kernels.push_back(kernel.name);
  Learned learned = learn(graphs, kernels);
  std::fprintf(
      stderr,
      "batch-run: note: learnt a policy from the first %lld instances: "
      "%lld batches, at least %lld are needed\n",
      static_cast<long long>(instances),
      static_cast<long long>(learned.batches),
      static_cast<long long>(learned.bound));
  if (!options.learnPolicy.empty()) {
    std::string text = learned.machine.print();
    writeFileAtomically(options.learnPolicy, [&](const auto &write) {
      write(text.data(), text.size());
    });
  }
  return learned.machine;
}
