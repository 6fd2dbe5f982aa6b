//===- Handles.h - Classes of the handles of the C API ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_PYTHON_HANDLES_H
#define BATCH_PYTHON_HANDLES_H

#include "Arrays.h"

#include "batch-runtime/CAPI.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace batch::python {
/// Throws a Python exception if a C API call failed.
void check(BatchStatus status, const char *message);

/// Throws a Python exception if the preceding C API call failed.
/// batchLastError() is not a default argument, because it could then be
/// evaluated before the call.
inline void check(BatchStatus status) { check(status, batchLastError()); }

/// Releases an object that a C API function created.
template <auto Release>
struct Free {
  template <class Handle>
  void operator()(Handle *handle) const {
    Release(handle);
  }
};

struct Parameters {
  std::shared_ptr<BatchParameters> handle;
};

/// A BatchField for Python.
struct Field {
  std::string name, description;
  const char *dtype;
  std::vector<int64_t> shape;
  int lists;
  bool isIndex, isRagged;
  std::optional<std::string> dataType;

  explicit Field(const BatchField &field)
      : name(field.name), description(field.description),
        dtype(typeName(field.type)),
        shape(field.shape, field.shape + field.rank), lists(field.lists),
        isIndex(field.isIndex), isRagged(field.isRagged) {
    if (field.dataType)
      dataType = field.dataType;
  }
};

struct Variant {
  std::string name, dataType;
  std::vector<Field> fields;
};

struct Model {
  std::shared_ptr<BatchModel> handle;

  explicit Model(const std::string &path);

  std::vector<Field> fields(BatchFieldKind kind) const;
  std::vector<Variant> variants() const; ///< indexed by number
  Parameters bind(const nanobind::dict &given) const;
  Parameters read(const std::string &path) const;
};

/// Returns the element type of a parameter, or an arbitrary type if the name is
/// unknown.
BatchElementType typeOf(const BatchModel *model, const std::string &name);

struct Cancellation {
  Cancellation() {
    BatchCancellation *made = nullptr;
    check(batchCancellationMake(&made));
    handle.reset(made);
  }
  void request() { batchCancellationRequest(handle.get()); }
  void reset() { batchCancellationReset(handle.get()); }

  std::unique_ptr<BatchCancellation, Free<batchCancellationFree>> handle;
};

/// Scope in which an interrupt requests the cancellation `run`.
class Interruptible {
public:
  explicit Interruptible(BatchCancellation *run);
  ~Interruptible();
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;

private:
  const bool isActive;
};

struct Session {
  std::unique_ptr<BatchSession, Free<batchSessionFree>> handle;
  std::vector<BatchField> outputs;
  nanobind::object model; ///< owns the names of `outputs`

  Session(nanobind::object owner, const Parameters &parameters, int threads,
          int64_t lanes, std::optional<int64_t> maxSteps, int64_t stackDepth,
          bool partialResults, int deviceNumber);

  std::optional<std::string> run(int64_t instances,
                                 const nanobind::list &arguments,
                                 nanobind::handle nodes, Cancellation *asked,
                                 bool explained);
  /// Returns the rows of an output in new memory. Also returns the offsets of
  /// the instances in a ragged output, and None for a dense output. `bits`:
  /// return bfloat16 as int16, because NumPy does not support bfloat16.
  nanobind::tuple read(int64_t number, bool bits);
  /// Returns the rows of a dense output in new memory.
  nanobind::object readDense(int64_t number) {
    return readRows(number, false, nullptr);
  }
  std::tuple<int64_t, int64_t, int64_t> progress() const;
  std::optional<std::string> failure(int64_t instance);

private:
  nanobind::object readRows(int64_t number, bool bits, int64_t *offsets);
};

/// Adds the class Call to the module.
void defineCall(nanobind::module_ &module);
/// Adds the class Stream to the module.
void defineStream(nanobind::module_ &module);
/// Adds the functions that read nodes to the module.
void defineNodes(nanobind::module_ &module);
/// Adds the function that orders nodes to the module.
void defineNodeOrder(nanobind::module_ &module);
/// Adds the class XlaProgram and the handler of XLA's calls to the module.
void defineXla(nanobind::module_ &module);
} // namespace batch::python

#endif // BATCH_PYTHON_HANDLES_H
