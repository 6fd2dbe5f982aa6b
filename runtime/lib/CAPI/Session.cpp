//===- Session.cpp - Runs of the C API ------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Inputs.h"
#include "StridedCopy.h"

using namespace batchrt;

void batchSessionDefaults(BatchSessionOptions *options) {
  const SessionOptions defaults;
  *options = {};
  options->threads = defaults.threads;
  options->lanes = defaults.lockstep.lanes;
  options->maxSteps = defaults.lockstep.maxSteps;
  options->stackDepth = defaults.lockstep.stackDepth;
  options->partialResults = defaults.lockstep.partialResults;
}

BatchStatus batchSessionMake(const BatchModel *model,
                             const BatchParameters *parameters,
                             const BatchSessionOptions *options,
                             BatchSession **session) {
  return guarded([&] {
    if (!model || !parameters || !options || !session)
      raiseInvalid("a session needs a model, parameters, options, and a place");
    if (parameters->model != model->state)
      raiseInvalid("the parameters are those of another model");
    if (options->threads < 1 || options->lanes < 0 || options->maxSteps < 1 ||
        options->stackDepth < 1)
      raiseInvalid(
          "a session needs at least 1 thread, 1 step, a stack of depth "
          "1, and 0 lanes or more");
    SessionOptions wanted;
    wanted.threads = options->threads;
    wanted.lockstep.lanes = options->lanes;
    wanted.lockstep.maxSteps = options->maxSteps;
    wanted.lockstep.stackDepth = options->stackDepth;
    wanted.lockstep.partialResults = options->partialResults != 0;
    *session = new BatchSession(*model, *parameters, wanted);
  });
}

void batchSessionFree(BatchSession *session) { delete session; }

namespace {
/// Keeps other calls out.
class Use {
public:
  explicit Use(BatchSession *session) : session(session) {
    if (!session)
      raiseInvalid("the session is null");
    if (session->isBusy.exchange(true, std::memory_order_acquire))
      raiseInvalid("the session is in another call, maybe one that was running "
                   "when this process was forked; threads need sessions of "
                   "their own");
  }
  ~Use() { session->isBusy.store(false, std::memory_order_release); }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;

private:
  BatchSession *session;
};
} // namespace

/// Loads a mini-batch, and has `run` run it.
template <class Run>
static void runInputs(BatchSession *session, const BatchInputs *inputs,
                      const BatchCancellation *cancellation, const Run &run) {
  if (!inputs)
    raiseInvalid("the inputs are null");
  session->hasResults = false;
  session->collected.reset();
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
      raiseInvalid("the place of the text is null");
    runInputs(session, inputs, cancellation, [&](Session &run) {
      session->explanation = run.explain().json();
    });
    *text = session->explanation.c_str();
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Checks that there is such an output of a run.
static void checkOutput(const BatchSession &session, int64_t output) {
  if (!session.hasResults)
    raiseInvalid("there are no results: the session has not run, or its last "
                 "run failed");
  const size_t count = session.model->outputs.size();
  if (output < 0 || output >= static_cast<int64_t>(count))
    raiseInvalid("there is no output ", output, ": there are ", count,
                 ", from 0");
}

/// A ragged output of all instances.
static const Output &collect(BatchSession &session, int64_t output) {
  if (!session.collected) {
    auto collector =
        std::make_unique<OutputCollector>(session.model->descriptor());
    for (int64_t i = 0; i < session.forest.numInstances; ++i)
      collector->collect(session.session, i);
    session.collected = std::move(collector);
  }
  return session.collected->outputs()[output];
}

BatchStatus batchSessionRows(BatchSession *session, int64_t output,
                             int64_t *rows) {
  return guarded([&] {
    Use use(session);
    checkOutput(*session, output);
    if (!rows)
      raiseInvalid("the place of the number is null");
    *rows = session->model->dense[output] >= 0
                ? session->forest.numInstances
                : collect(*session, output).rows();
  });
}

namespace {
/// The caller's array for the rows of an output.
struct Target {
  Target(const BatchField &output, const BatchArray &array, int64_t rows)
      : rank(output.rank), shape(output.shape), type(elementType(array.type)),
        bytes(byteSize(type)), data(static_cast<char *>(array.data)) {
    std::vector<int64_t> wanted{rows};
    wanted.insert(wanted.end(), shape, shape + rank);
    std::vector<int64_t> given;
    if (array.rank > 0 && array.shape)
      given.assign(array.shape, array.shape + array.rank);
    if (array.type != output.type || given != wanted)
      raiseInvalid("output '", output.name, "' has elements of type ",
                   typeName(elementType(output.type)), " and shape ",
                   shapeName(wanted), ", but the array is of type ",
                   typeName(type), " and shape ", shapeName(given));
    if (!data && elementCount(wanted) > 0)
      raiseInvalid("the array for output '", output.name, "' is null");
    if (array.strides)
      strides.assign(array.strides, array.strides + array.rank);
    else
      strides = denseStrides(wanted, bytes);
  }

  void copyRow(int64_t row, const char *from,
               const int64_t *fromStrides) const {
    copyStrided(rank, shape, bytes, from, fromStrides, data + row * strides[0],
                strides.data() + 1);
  }

  size_t rank;
  const int64_t *shape;
  DType type;
  int64_t bytes;
  char *data;
  std::vector<int64_t> strides;
};
} // namespace

/// Copies a result of every instance, as it lies in memory.
static void copyDense(const BatchSession &session, int result,
                      const Target &target) {
  const Descriptor &info = session.model->descriptor();
  const Type &type = info.results[result].type;
  const int64_t *cells = session.session.context().results[result];
  const std::vector<int64_t> shape(target.shape, target.shape + target.rank);
  const std::vector<int64_t> dense = denseStrides(shape, target.bytes);
  const std::vector<char> zeros(std::max<int64_t>(elementCount(shape), 1) *
                                target.bytes);
  const bool isTensor = type.kind == Type::Tensor;
  const std::vector<int64_t> padded =
      isTensor ? paddedStrides(shape, type.dtype) : dense;
  const ElementLayout *layout =
      isTensor && type.table >= 0 ? &info.tables[type.table].elements : nullptr;
  const bool isLaidOut = layout && !layout->digits.empty();
  std::vector<char> unpadded(isLaidOut ? zeros.size() : 0);
  for (int64_t i = 0; i < session.forest.numInstances; ++i) {
    if (!session.session.failure(i).empty()) {
      target.copyRow(i, zeros.data(), dense.data());
    } else if (!isTensor) {
      target.copyRow(i, reinterpret_cast<const char *>(&cells[i]),
                     dense.data());
    } else if (isLaidOut) {
      layout->unpad(shape, type.dtype, session.session.tensor(type, cells[i]),
                    unpadded.data());
      target.copyRow(i, unpadded.data(), dense.data());
    } else {
      target.copyRow(i, session.session.tensor(type, cells[i]), padded.data());
    }
  }
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
      copyDense(*session, result, Target(field, *target, instances));
      for (int64_t i = 0; offsets && i <= instances; ++i)
        offsets[i] = i;
      return;
    }
    const Output &rows = collect(*session, output);
    const Target into(field, *target, rows.rows());
    const std::vector<int64_t> strides =
        denseStrides(rows.rowShape, into.bytes);
    const int64_t rowBytes = rows.rowElements() * into.bytes;
    for (int64_t r = 0; r < rows.rows(); ++r)
      into.copyRow(r, rows.data.data() + r * rowBytes, strides.data());
    if (offsets)
      std::copy(rows.offsets.begin(), rows.offsets.end(), offsets);
  });
}

const char *batchSessionFailure(BatchSession *session, int64_t instance) {
  const BatchStatus status = guarded([&] {
    Use use(session);
    if (!session->hasResults || instance < 0 ||
        instance >= session->forest.numInstances)
      raiseInvalid("there is no instance ", instance, " of a run");
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
