//===- Handles.h - What the handles of the C API are ------------*- C++ -*-===//
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

/// What the caller gave does not fit the model.
class Invalid : public Error {
public:
  using Error::Error;
};

template <class... Parts>
[[noreturn]] void raiseInvalid(const Parts &...parts) {
  throw Invalid(concat(parts...));
}

/// Keeps the message of an error for this thread; returns the status.
BatchStatus noteError(BatchStatus status, const char *message) noexcept;

/// Runs the body of a function of the C API.
template <class Body>
BatchStatus guarded(const Body &body) noexcept {
  try {
    body();
    return BATCH_STATUS_OK;
  } catch (const Cancelled &error) {
    return noteError(BATCH_STATUS_CANCELLED, error.what());
  } catch (const Invalid &error) {
    return noteError(BATCH_STATUS_INVALID, error.what());
  } catch (const std::bad_alloc &) {
    return noteError(BATCH_STATUS_NO_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return noteError(BATCH_STATUS_FAILED, error.what());
  }
}

/// The type of a value in lists, as deep as they go.
inline const Type &innermost(const Type &type) {
  const Type *inner = &type;
  while (inner->kind == Type::List)
    inner = &inner->element();
  return *inner;
}

BatchElementType elementType(DType type);
/// Raises Invalid for a number that is no type.
DType elementType(BatchElementType type);

/// A model, with the fields that the C API shows of it.
class Model {
public:
  explicit Model(CompiledObject object);

  const Descriptor &descriptor() const { return object.descriptor(); }

  const CompiledObject object;
  std::vector<BatchField> parameters, arguments, outputs;
  /// By output: the result that it is; -1 if it is ragged.
  std::vector<int> dense;
  std::vector<std::vector<BatchField>> variants; ///< by number

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
  /// Whether instances of a run that ends well may have failed.
  const bool keepsPartial;
  bool hasResults = false;
  /// Where the rows of all outputs are, once a ragged one is asked for; kept
  /// for its memory.
  std::unique_ptr<batchrt::OutputCollector> found;
  bool hasFound = false;   ///< those of the last run
  std::string failure;     ///< the last text of batchSessionFailure()
  std::string explanation; ///< of batchSessionExplain()
  std::atomic<bool> isBusy{false};
};

namespace batchrt {

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

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_CAPI_HANDLES_H
