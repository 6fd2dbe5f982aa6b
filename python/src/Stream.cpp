//===- Stream.cpp - Streams of instances ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include "batch-runtime/StreamCAPI.h"

#include <nanobind/stl/vector.h>

#include <deque>

namespace nb = nanobind;
using namespace batch::python;

namespace {
/// Run that receives new instances while others run.
class Stream {
public:
  Stream(nb::object owner, int64_t capacity) : session(std::move(owner)) {
    BatchStream *made = nullptr;
    BatchStatus status;
    {
      nb::gil_scoped_release release;
      status = batchStreamOpen(of().handle.get(), capacity, &made);
    }
    check(status);
    handle.reset(made);
    for (const BatchField &field : of().outputs)
      outputs.emplace_back(field, capacity);
  }
  ~Stream() { close(); }

  int64_t available() const { return batchStreamAvailable(open()); }
  int64_t ended() const { return batchStreamEnded(open()); }

  /// Adds instances. `arguments` has one array for each argument.
  void put(int64_t instances, const nb::list &arguments) {
    const auto &model = nb::cast<const Model &>(of().model);
    const int64_t wanted = batchModelCount(model.handle.get(), BATCH_ARGUMENT);
    if (static_cast<int64_t>(arguments.size()) != wanted)
      throw nb::value_error(
          ("expected " + std::to_string(wanted) +
           (wanted == 1 ? " argument, got " : " arguments, got ") +
           std::to_string(arguments.size()))
              .c_str());
    ArrayList arrays;
    std::vector<BatchValues> values;
    for (int64_t a = 0; a < wanted; ++a) {
      BatchField field;
      check(batchModelField(model.handle.get(), BATCH_ARGUMENT, a, &field));
      const std::string name = "'" + std::string(field.name) + "'";
      values.push_back(
          {arrays.add(arguments[a], name.c_str(), field.type), nullptr});
    }
    const BatchInputs inputs = {instances, values.data(), nullptr};
    check(batchStreamPut(open(), &inputs));
  }

  /// Returns the numbers of finished instances, and writes their outputs to the
  /// first rows of arrays(). If instances are running, waits until one finishes
  /// or another thread calls wake().
  std::vector<int64_t> take() {
    std::vector<BatchArray> arrays;
    for (Rows &rows : outputs)
      arrays.push_back(rows.array);
    std::vector<int64_t> numbers(arrays.empty() ? 1 : outputs[0].shape[0]);
    int64_t count = 0;
    Cancellation cancellation;
    for (;;) {
      BatchStatus status;
      {
        Interruptible guard(cancellation.handle.get());
        nb::gil_scoped_release release;
        status = batchStreamTake(open(), static_cast<int64_t>(numbers.size()),
                                 arrays.data(), numbers.data(), &count,
                                 cancellation.handle.get());
      }
      const std::string message = batchLastError();
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      if (status == BATCH_STATUS_CANCELLED) {
        cancellation.reset();
        continue;
      }
      check(status, message.c_str());
      numbers.resize(count);
      return numbers;
    }
  }

  /// Returns the arrays to which take() writes, one for each output. Arrays for
  /// bfloat16 have type int16.
  nb::list arrays(nb::handle self) {
    nb::list result;
    for (Rows &rows : outputs) {
      const std::vector<size_t> extents(rows.shape.begin(), rows.shape.end());
      const BatchElementType type =
          rows.array.type == BATCH_TYPE_BF16 ? BATCH_TYPE_I16 : rows.array.type;
      nb::ndarray<nb::array_api> array(rows.memory.data(), extents.size(),
                                       extents.data(), self, nullptr,
                                       dlpackType(type));
      result.append(nb::cast(array, nb::rv_policy::reference));
    }
    return result;
  }

  /// Any thread may call this.
  void wake() { batchStreamWake(handle.get()); }

  void close() {
    // Other threads must not access a stream that is being released.
    auto ended = std::move(handle);
    nb::gil_scoped_release release;
    ended.reset();
  }

private:
  /// Rows of an output, one for each position.
  struct Rows {
    Rows(const BatchField &field, int64_t capacity) : shape{capacity} {
      shape.insert(shape.end(), field.shape, field.shape + field.rank);
      size_t bytes = dlpackType(field.type).bits / 8;
      for (int64_t extent : shape)
        bytes *= extent;
      memory.resize(bytes);
      array = {memory.data(), field.type, static_cast<int32_t>(shape.size()),
               shape.data(), nullptr};
    }
    std::vector<int64_t> shape;
    std::vector<char> memory;
    BatchArray array;
  };

  Session &of() const { return nb::cast<Session &>(session); }
  BatchStream *open() const {
    if (!handle)
      throw nb::value_error("the stream is closed");
    return handle.get();
  }

  nb::object session;
  std::deque<Rows> outputs; ///< a deque, because addresses must stay valid
  std::unique_ptr<BatchStream, Free<batchStreamFree>> handle;
};
} // namespace

void batch::python::defineStream(nb::module_ &module) {
  nb::class_<Stream>(module, "Stream", nb::is_weak_referenceable())
      .def(nb::init<nb::object, int64_t>(), nb::arg("session"),
           nb::arg("capacity"))
      .def_prop_ro("available", &Stream::available)
      .def_prop_ro("ended", &Stream::ended)
      .def("put", &Stream::put, nb::arg("instances"), nb::arg("arguments"))
      .def("take", &Stream::take)
      .def("wake", &Stream::wake)
      .def(
          "arrays",
          [](nb::handle self) { return nb::cast<Stream &>(self).arrays(self); })
      .def("close", &Stream::close);
}
