//===- Learn.cpp - batch-run --learn-policy -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/OutputFile.h"
#include "batch-runtime/Schedule/BlockPolicy.h"
#include "batch-runtime/Schedule/Learning.h"

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
  StateMachine stateMachine;
  if (std::string wrong = stateMachine.parse(text.str(), path); !wrong.empty())
    raise(wrong);
  return stateMachine;
}

namespace {
/// The tasks of a run: a graph for each plan.
struct TaskGraphs : RunWatcher {
  void begin() override { list.clear(); }
  void look(const RunView &run, const Plan &plan) override {
    list.push_back(plan.taskGraph(run.contexts));
  }
  void end(const RunView &) override {}

  std::vector<TaskGraph> list;
};
} // namespace

StateMachine batchrun::makeStateMachine(const Options &options,
                                        const CompiledObject &object,
                                        const BoundParameters &parameters) {
  const Descriptor &descriptor = object.descriptor();
  if (!options.policyTable.empty())
    return readTable(options.policyTable);
  if (options.learnPolicy.empty() && descriptor.policy == Policy::StateMachine)
    return descriptor.stateMachine;
  InputOptions some = options.input;
  if (some.limit < 0 || some.limit > learnedInstances)
    some.limit = learnedInstances;
  std::vector<TaskGraph> graphs;
  int64_t instances = 0;
  for (int32_t size : learnedBatches) {
    some.batch = size;
    Inputs inputs(descriptor, some);
    instances = inputs.numInstances;
    Session session(object, parameters, inputs.tensors, options.session);
    TaskGraphs plans;
    session.watch(&plans);
    for (auto &forest : inputs.batches) {
      session.load(*forest);
      if (descriptor.waits) {
        session.run();
      } else {
        session.inspect();
        session.schedule();
      }
      graphs.insert(graphs.end(), plans.list.begin(), plans.list.end());
    }
  }
  std::vector<std::string> kernels;
  for (const KernelInfo &kernel : descriptor.kernels)
    kernels.push_back(kernel.name);
  Learned learned = learn(graphs, kernels);
  std::fprintf(stderr,
               "batch-run: note: learned a policy from the first %lld "
               "instances: %lld batches (lower bound: %lld)\n",
               static_cast<long long>(instances),
               static_cast<long long>(learned.batches),
               static_cast<long long>(learned.bound));
  if (!options.learnPolicy.empty())
    writeFile(options.learnPolicy, learned.stateMachine.print());
  return learned.stateMachine;
}

/// Returns the paths of the first instances, each of which runs by itself.
static LanePaths recordPaths(const Options &options,
                             const CompiledObject &object,
                             const BoundParameters &parameters) {
  const Descriptor &descriptor = object.descriptor();
  if (descriptor.launch)
    raise("cannot learn a block policy on a device; learn it with --device=cpu "
          "--learn-policy=FILE, and pass the table with "
          "--policy-table=FILE");
  InputOptions some = options.input;
  some.batch = 1;
  if (some.limit < 0 || some.limit > learnedInstances)
    some.limit = learnedInstances;
  Inputs inputs(descriptor, some);
  SessionOptions single = options.session;
  single.threads = 1;
  LockstepOptions &lanes = single.lockstep;
  lanes.lanes = 1;
  lanes.recordPath = true;
  // For longer or endless instances, the beginning of the path is enough.
  constexpr int64_t longestPath = 1 << 16;
  lanes.maxSteps = std::min(lanes.maxSteps, longestPath);
  lanes.partialResults = true;
  Session session(object, parameters, inputs.tensors, single);
  LanePaths program;
  for (const BlockInfo &block : descriptor.lockstep->blocks)
    program.blocks.push_back(block.name);
  program.costs = session.blockCosts();
  for (auto &forest : inputs.batches) {
    session.run(*forest);
    program.paths.push_back(session.blockPath());
  }
  return program;
}

StateMachine batchrun::makeBlockPolicy(const Options &options,
                                       const CompiledObject &object,
                                       const BoundParameters &parameters) {
  if (!options.policyTable.empty())
    return readTable(options.policyTable);
  LearnedBlocks learned =
      learnBlocks(recordPaths(options, object, parameters),
                  {learnedBatches.begin(), learnedBatches.end()});
  std::fprintf(stderr,
               "batch-run: note: learned a block policy from the first %d "
               "instances: its cost is %.3f times that of the default\n",
               learnedInstances,
               static_cast<double>(learned.cost) / learned.costWithout);
  if (!options.learnPolicy.empty())
    writeFile(options.learnPolicy, learned.stateMachine.print());
  return learned.stateMachine;
}
