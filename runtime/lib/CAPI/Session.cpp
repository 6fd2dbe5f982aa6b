//===- Session.cpp - Runs of the C API ------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Inputs.h"
#include "Results.h"

#include <algorithm>
#include <numeric>

using namespace batchrt;

void batchSessionDefaults(BatchSessionOptions *options) {
  const SessionOptions defaults;
  *options = {};
  options->threads = defaults.threads;
  options->lanes = defaults.lockstep.lanes;
  options->maxSteps = defaults.lockstep.maxSteps;
  options->stackDepth = defaults.lockstep.stackDepth;
  options->partialResults = defaults.lockstep.partialResults;
  options->deviceNumber = defaults.deviceNumber;
}

static std::atomic<OptionNames> optionNames{OptionNames::C};

void batchSetOptionNames(BatchOptionNames names) {
  optionNames =
      names == BATCH_OPTION_NAMES_PYTHON ? OptionNames::Python : OptionNames::C;
}

BatchStatus batchSessionMake(const BatchModel *model,
                             const BatchParameters *parameters,
                             const BatchSessionOptions *options,
                             BatchSession **session) {
  return guarded([&] {
    if (!model || !parameters || !options || !session)
      raiseInvalid("the model, the parameters, the options or the output "
                   "pointer for the session is null");
    if (parameters->model != model->state)
      raiseInvalid("the parameters belong to another model");
    if (options->threads < 1 || options->lanes < 0 || options->maxSteps < 1 ||
        options->stackDepth < 1)
      raiseInvalid("invalid session options; expected at least 1 thread, 1 "
                   "step and a stack depth of 1, and a non-negative number of "
                   "lanes");
    SessionOptions wanted;
    wanted.threads = options->threads;
    wanted.lockstep.lanes = options->lanes;
    wanted.lockstep.maxSteps = options->maxSteps;
    wanted.lockstep.stackDepth = options->stackDepth;
    wanted.lockstep.partialResults = options->partialResults != 0;
    wanted.lockstep.names = optionNames;
    wanted.deviceNumber = options->deviceNumber;
    *session = new BatchSession(*model, *parameters, wanted);
  });
}

void batchSessionFree(BatchSession *session) { delete session; }

/// Loads a mini-batch, and calls `run` to run it.
template <class Run>
static void runInputs(BatchSession *session, const BatchInputs *inputs,
                      const BatchCancellation *cancellation, const Run &run) {
  if (!inputs)
    raiseInvalid("the inputs are null");
  session->hasResults = false;
  session->hasFound = false;
  try {
    readInputs(session->model->descriptor(), *inputs, session->forest,
               session->tensors);
  } catch (const Error &error) {
    throw Invalid(error.what());
  }
  session->session.setCancellation(cancellation ? &cancellation->state
                                                : nullptr);
  struct Unset {
    Session &session;
    ~Unset() { session.setCancellation(nullptr); }
  } unset{session->session};
  session->session.load(session->forest);
  run(session->session);
  session->session.collect();
  session->hasResults = true;
}

BatchStatus batchSessionRun(BatchSession *session, const BatchInputs *inputs,
                            const BatchCancellation *cancellation) {
  return guarded([&] {
    Use use(session);
    runInputs(session, inputs, cancellation, [](Session &run) { run.run(); });
  });
}

BatchStatus batchSessionExplain(BatchSession *session,
                                const BatchInputs *inputs,
                                const BatchCancellation *cancellation,
                                const char **text) {
  return guarded([&] {
    Use use(session);
    if (!text)
      raiseInvalid("the output pointer for the text is null");
    runInputs(session, inputs, cancellation, [&](Session &run) {
      session->explanation = run.explain().json();
    });
    *text = session->explanation.c_str();
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Checks that the last run has results and that `output` exists.
static void checkOutput(const BatchSession &session, int64_t output) {
  if (!session.hasResults)
    raiseInvalid("the session has no results: it has not run, or its last run "
                 "failed");
  const size_t count = session.model->outputs.size();
  if (output < 0 || output >= static_cast<int64_t>(count))
    raiseInvalid("output ", output, " is out of range; the model has ", count,
                 count == 1 ? " output" : " outputs");
}

/// Returns the locations of the rows of all outputs. Finds them only once after
/// each run.
static const OutputCollector &find(BatchSession &session) {
  if (!session.found)
    session.found =
        std::make_unique<OutputCollector>(session.model->descriptor());
  if (!session.hasFound) {
    session.found->clear();
    for (int64_t i = 0; i < session.forest.numInstances; ++i)
      session.found->find(session.session, i);
    session.hasFound = true;
  }
  return *session.found;
}

BatchStatus batchSessionRows(BatchSession *session, int64_t output,
                             int64_t *rows) {
  return guarded([&] {
    Use use(session);
    checkOutput(*session, output);
    if (!rows)
      raiseInvalid("the output pointer for the number of rows is null");
    *rows = session->model->dense[output] >= 0
                ? session->forest.numInstances
                : find(*session).outputs()[output].rows();
  });
}

BatchStatus batchSessionRead(BatchSession *session, int64_t output,
                             const BatchArray *target, int64_t *offsets) {
  return guarded([&] {
    Use use(session);
    checkOutput(*session, output);
    if (!target)
      raiseInvalid("the array is null");
    const BatchField &field = session->model->outputs[output];
    const int64_t instances = session->forest.numInstances;
    if (const int result = session->model->dense[output]; result >= 0) {
      std::vector<int64_t> all(instances);
      std::iota(all.begin(), all.end(), 0);
      copyDense(*session, result, Target(field, *target, instances), all);
      for (int64_t i = 0; offsets && i <= instances; ++i)
        offsets[i] = i;
      return;
    }
    const OutputCollector &found = find(*session);
    const std::vector<int64_t> &begins = found.outputs()[output].offsets;
    Target(field, *target, begins.back())
        .copy(session->session, found.found(output));
    if (offsets)
      std::copy(begins.begin(), begins.end(), offsets);
  });
}

const char *batchSessionFailure(BatchSession *session, int64_t instance) {
  const BatchStatus status = guarded([&] {
    Use use(session);
    if (!session->hasResults || instance < 0 ||
        instance >= session->forest.numInstances)
      raiseInvalid("instance ", instance,
                   " is out of range, or the session has no results");
    session->failure = session->session.failure(instance);
  });
  if (status != BATCH_STATUS_OK)
    return batchLastError();
  return session->failure.empty() ? nullptr : session->failure.c_str();
}

void batchSessionProgress(const BatchSession *session,
                          BatchProgress *progress) {
  const RunProgress now = session->session.progress();
  *progress = {now.instances, now.ended, now.flushes};
}
