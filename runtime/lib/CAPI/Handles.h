//===- Handles.h - Handles of the C API -------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_CAPI_HANDLES_H
#define BATCH_RUNTIME_LIB_CAPI_HANDLES_H

#include "batch-runtime/CAPI.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Outputs.h"
#include "batch-runtime/Parameters.h"
#include "batch-runtime/RunExplanation.h"

#include <atomic>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace batchrt {

/// The error raised if the caller's arguments do not fit the model.
class Invalid : public Error {
public:
  using Error::Error;
};

template <class... Parts>
[[noreturn]] void raiseInvalid(const Parts &...parts) {
  throw Invalid(concat(parts...));
}

/// Stores the message of an error for this thread and returns the status.
BatchStatus setLastError(BatchStatus status, const char *message) noexcept;

/// Runs the body of a C API function and converts exceptions to a status.
template <class Body>
BatchStatus guarded(const Body &body) noexcept {
  try {
    body();
    return BATCH_STATUS_OK;
  } catch (const Cancelled &error) {
    return setLastError(BATCH_STATUS_CANCELLED, error.what());
  } catch (const Invalid &error) {
    return setLastError(BATCH_STATUS_INVALID, error.what());
  } catch (const std::bad_alloc &) {
    return setLastError(BATCH_STATUS_NO_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return setLastError(BATCH_STATUS_FAILED, error.what());
  }
}

/// Returns the innermost element type of nested lists, or the type itself.
inline const Type &innermost(const Type &type) {
  const Type *inner = &type;
  while (inner->kind == Type::List)
    inner = &inner->element();
  return *inner;
}

BatchElementType elementType(DType type);
/// Raises Invalid if no type has this number.
DType elementType(BatchElementType type);

/// A model, with its fields as the C API describes them.
class Model {
public:
  explicit Model(CompiledObject object);

  const Descriptor &descriptor() const { return object.descriptor(); }

  const CompiledObject object;
  std::vector<BatchField> parameters, arguments, outputs;
  /// For each output: the number of its result, or -1 if the output is ragged.
  std::vector<int> dense;
  std::vector<std::vector<BatchField>> variants; ///< indexed by variant

private:
  BatchField describeField(const Field &field);
  BatchField makeField(const std::string &name, std::string description,
                       DType type, const std::vector<int64_t> &shape);
  const char *keep(std::string text) {
    return texts.emplace_back(std::move(text)).c_str();
  }

  std::deque<std::string> texts;
  std::deque<std::vector<int64_t>> shapes;
};

} // namespace batchrt

struct BatchModel {
  std::shared_ptr<const batchrt::Model> state;
};

struct BatchParameters {
  std::shared_ptr<const batchrt::Model> model;
  std::shared_ptr<const batchrt::BoundParameters> state;
};

struct BatchCancellation {
  batchrt::Cancellation state;
};

struct BatchSession {
  BatchSession(const BatchModel &model, const BatchParameters &parameters,
               const batchrt::SessionOptions &options)
      : model(model.state), parameters(parameters.state),
        tensors(this->model->descriptor()), forest(this->model->descriptor()),
        session(this->model->object, *this->parameters, tensors, options),
        keepsPartial(options.lockstep.partialResults) {}

  const std::shared_ptr<const batchrt::Model> model;
  const std::shared_ptr<const batchrt::BoundParameters> parameters;
  batchrt::InputTensors tensors;
  batchrt::Forest forest;
  batchrt::Session session;
  /// True if instances may have failed in a successful run.
  const bool keepsPartial;
  bool hasResults = false;
  /// Locations of the rows of all outputs; null until a ragged output is
  /// requested. This is a member so that its memory is reused.
  std::unique_ptr<batchrt::OutputCollector> found;
  bool hasFound = false;   ///< true if `found` belongs to the last run
  std::string failure;     ///< last text returned by batchSessionFailure()
  std::string explanation; ///< last text returned by batchSessionExplain()
  std::atomic<bool> isBusy{false};
};

namespace batchrt {

/// Reserves a session for one call.
class Use {
public:
  explicit Use(BatchSession *session) : session(session) {
    if (!session)
      raiseInvalid("the session is null");
    if (session->isBusy.exchange(true, std::memory_order_acquire))
      raiseInvalid("the session is in use by another call, possibly one that "
                   "was running when this process was forked; use a separate "
                   "session for each thread");
  }
  ~Use() { session->isBusy.store(false, std::memory_order_release); }
  Use(const Use &) = delete;
  Use &operator=(const Use &) = delete;

private:
  BatchSession *session;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_CAPI_HANDLES_H
