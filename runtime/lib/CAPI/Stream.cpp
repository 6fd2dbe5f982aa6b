//===- Stream.cpp - Streams of the C API ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inputs.h"
#include "Results.h"
#include "batch-runtime/StreamCAPI.h"

#include <exception>
#include <optional>
#include <thread>
#include <unistd.h>

using namespace batchrt;

struct BatchStream {
  BatchStream(BatchSession *owner, int64_t capacity);
  ~BatchStream();
  BatchStream(const BatchStream &) = delete;
  BatchStream &operator=(const BatchStream &) = delete;

  bool isOfThisProcess() const { return process == ::getpid(); }
  void checkProcess() const {
    if (!isOfThisProcess())
      raiseInvalid("the stream belongs to another process; open a new session "
                   "and a new stream in this process");
  }
  void put(const BatchInputs &inputs);
  int64_t take(int64_t most, const BatchArray *outputs, int64_t *numbers,
               const Cancellation *asked);
  void wake() { stream.wake(); }
  int64_t available() const { return capacity - inside; }
  int64_t ended() {
    return stream.ended() + static_cast<int64_t>(!failure.empty());
  }

private:
  void fillPositions();
  /// Requests the end of the run and waits until it has ended.
  void stop();
  /// Raises an error with the reason why the run ended. A run never ends by
  /// itself.
  [[noreturn]] void raiseEnd();
  void checkBadIndex();

  std::optional<Use> use;
  BatchSession &session;
  const pid_t process = ::getpid();
  const int64_t capacity;
  InstanceStream stream;
  std::vector<int64_t> numbers; ///< indexed by position
  int64_t inside = 0;           ///< number of instances in the stream
  int64_t count = 0;            ///< number of instances that have entered the
                                ///< stream
  /// Failure that ended the last take() after it had taken other instances. The
  /// next take() raises it.
  std::string failure;
  std::string end; ///< reason why the run ended
  Cancellation cancellation;
  std::exception_ptr error; ///< error of the run
  std::thread runner;
};

BatchStream::BatchStream(BatchSession *owner, int64_t capacity)
    : use(std::in_place, owner), session(*owner), capacity(capacity),
      stream(capacity), numbers(capacity) {
  const Model &model = *session.model;
  for (const Field &argument : model.descriptor().arguments)
    if (argument.type.kind == Type::List || argument.type.kind == Type::Adt)
      raiseInvalid("argument '", argument.name,
                   "' is neither a tensor nor a number; streams support no "
                   "other arguments");
  for (size_t o = 0; o < model.outputs.size(); ++o)
    if (model.dense[o] < 0)
      raiseInvalid("the number of rows of output '", model.outputs[o].name,
                   "' differs between instances; streams do not support such "
                   "outputs");
  session.hasResults = false;
  session.hasFound = false;
  fillPositions();
  session.session.openStream(session.forest, stream);
  session.session.setCancellation(&cancellation);
  runner = std::thread([this] {
    try {
      session.session.runStream();
    } catch (...) {
      error = std::current_exception();
    }
  });
}

/// Fills each position with an instance whose values are all zero.
void BatchStream::fillPositions() {
  const Model &model = *session.model;
  const std::vector<int64_t> noStrides(64, 0);
  const int64_t zero = 0;
  std::vector<std::vector<int64_t>> shapes(model.arguments.size());
  std::vector<BatchValues> values(model.arguments.size());
  for (size_t a = 0; a < values.size(); ++a) {
    const BatchField &field = model.arguments[a];
    shapes[a].assign(field.shape, field.shape + field.rank);
    shapes[a].insert(shapes[a].begin(), capacity);
    values[a].elements = {const_cast<int64_t *>(&zero), field.type,
                          field.rank + 1, shapes[a].data(), noStrides.data()};
    values[a].offsets = nullptr;
  }
  const BatchInputs inputs = {capacity, values.data(), nullptr};
  readInputs(model.descriptor(), inputs, session.forest, session.tensors);
}

void BatchStream::stop() {
  cancellation.request();
  stream.close();
  if (runner.joinable())
    runner.join();
}

BatchStream::~BatchStream() {
  stop();
  session.session.setCancellation(nullptr);
}

void BatchStream::raiseEnd() {
  if (end.empty()) {
    stop();
    end = "the run has finished";
    try {
      if (error)
        std::rethrow_exception(error);
    } catch (const std::exception &why) {
      end = why.what();
    }
  }
  raise(end);
}

void BatchStream::checkBadIndex() {
  if (!session.session.hasBadIndex())
    return;
  stop();
  end = session.session.describeBadIndex();
  raiseEnd();
}

void BatchStream::put(const BatchInputs &inputs) {
  if (!end.empty())
    raiseEnd();
  const int64_t more = inputs.instances;
  if (more < 0)
    raiseInvalid("the number of instances ", more,
                 " is out of range; expected 0 to 2147483647");
  if (more > available())
    raiseInvalid("the stream has space for ", available(), " instances, but ",
                 more,
                 " were given; take results first, or put fewer instances");
  if (more == 0)
    return;
  if (inputs.nodes || (!inputs.arguments && !session.model->arguments.empty()))
    raiseInvalid("instances of a stream require arguments and must not have "
                 "nodes");
  std::vector<int64_t> taken;
  for (int64_t i = 0; i < more; ++i)
    taken.push_back(stream.acquire());
  try {
    writeArguments(session.model->descriptor(), inputs, taken, session.forest,
                   session.tensors);
  } catch (...) {
    for (int64_t position : taken)
      stream.release(position);
    try {
      throw;
    } catch (const Error &why) {
      throw Invalid(why.what());
    }
  }
  for (int64_t position : taken) {
    numbers[position] = count++;
    stream.submit(position);
  }
  inside += more;
}

int64_t BatchStream::take(int64_t most, const BatchArray *outputs,
                          int64_t *which, const Cancellation *asked) {
  if (!end.empty())
    raiseEnd();
  const Model &model = *session.model;
  std::vector<Target> targets;
  for (size_t o = 0; o < model.outputs.size(); ++o)
    targets.emplace_back(model.outputs[o], outputs[o], most);
  std::vector<int64_t> taken;
  while (failure.empty() && inside > 0 &&
         static_cast<int64_t>(taken.size()) < most &&
         (taken.empty() || stream.ended() > 0)) {
    const int64_t position = stream.take(asked);
    if (position == InstanceStream::kWoken)
      break;
    if (position == InstanceStream::kClosed)
      raiseEnd();
    checkBadIndex();
    --inside;
    failure = session.session.takeFailure(position);
    if (failure.empty()) {
      taken.push_back(position);
      continue;
    }
    failure = concat("instance ", numbers[position], ": ", failure);
    stream.release(position);
  }
  if (taken.empty() && !failure.empty())
    raise(std::exchange(failure, {}));
  struct Release {
    InstanceStream &stream;
    const std::vector<int64_t> &positions;
    ~Release() {
      for (int64_t position : positions)
        stream.release(position);
    }
  } release{stream, taken};
  for (size_t o = 0; o < targets.size(); ++o)
    copyDense(session, model.dense[o], targets[o], taken);
  for (int64_t position : taken)
    *which++ = numbers[position];
  return static_cast<int64_t>(taken.size());
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

BatchStatus batchStreamOpen(BatchSession *session, int64_t capacity,
                            BatchStream **stream) {
  return guarded([&] {
    if (!session || !stream || capacity < 1 || capacity > INT32_MAX)
      raiseInvalid("a stream requires a session, a capacity of 1 to ",
                   INT32_MAX, " and an output pointer");
    *stream = new BatchStream(session, capacity);
  });
}

void batchStreamFree(BatchStream *stream) {
  // In a forked process, no thread runs the stream. The stream is leaked, and
  // its state is left unchanged.
  static std::atomic<BatchStream *> lost;
  if (stream && !stream->isOfThisProcess())
    lost = stream;
  else
    delete stream;
}

int64_t batchStreamAvailable(const BatchStream *stream) {
  return stream->available();
}

int64_t batchStreamEnded(BatchStream *stream) {
  return stream->isOfThisProcess() ? stream->ended() : 0;
}

void batchStreamWake(BatchStream *stream) {
  if (stream && stream->isOfThisProcess())
    stream->wake();
}

BatchStatus batchStreamPut(BatchStream *stream, const BatchInputs *inputs) {
  return guarded([&] {
    if (!stream || !inputs)
      raiseInvalid("the stream or the inputs are null");
    stream->checkProcess();
    stream->put(*inputs);
  });
}

BatchStatus batchStreamTake(BatchStream *stream, int64_t most,
                            const BatchArray *outputs, int64_t *numbers,
                            int64_t *count,
                            const BatchCancellation *cancellation) {
  return guarded([&] {
    if (!stream || !outputs || !numbers || !count || most < 1)
      raiseInvalid("results require a stream, output pointers and space for at "
                   "least one result");
    stream->checkProcess();
    *count = stream->take(most, outputs, numbers,
                          cancellation ? &cancellation->state : nullptr);
  });
}
