//===- Call.cpp - Calls with checked arguments ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace batch::python;

namespace {
/// Session from a list of idle sessions, or a new one if the list is empty. The
/// destructor adds the session to the list.
class BorrowedSession {
public:
  BorrowedSession(nb::handle idle, nb::handle make)
      : idle(idle),
        session(nb::len(idle) ? idle.attr("pop")() : nb::object(make())) {}
  ~BorrowedSession() {
    // If there is no memory for the list, the session is dropped.
    if (PyList_Append(idle.ptr(), session.ptr()) != 0)
      PyErr_Clear();
  }
  BorrowedSession(const BorrowedSession &) = delete;
  BorrowedSession &operator=(const BorrowedSession &) = delete;

  Session &operator*() const { return nb::cast<Session &>(session); }

private:
  nb::handle idle;
  nb::object session;
};

/// Calls a model with dense arguments and results, without the Python code of
/// Function.run().
class Call {
public:
  /// idle: sessions that are not in use.
  /// make: function that returns a new session.
  /// reads: for each argument, its position in the given values.
  /// types: types of the results.
  /// put: function that converts NumPy arrays to JAX arrays of these types.
  Call(nb::list idle, nb::object make, int64_t instances,
       std::vector<size_t> reads, nb::list types, nb::object put)
      : idle(std::move(idle)), make(std::move(make)), types(std::move(types)),
        put(std::move(put)),
        toNumpy(nb::module_::import_("numpy").attr("from_dlpack")),
        instances(instances), reads(std::move(reads)) {}

  /// Runs the model. Returns the results with this sharding on these devices.
  nb::list run(const nb::sequence &given, nb::handle sharding,
               nb::handle devices) {
    const BorrowedSession session(idle, make);
    nb::list arguments;
    for (size_t number : reads)
      arguments.append(given[number]);
    (*session).run(instances, arguments, nb::none(), nullptr, false);
    nb::list results;
    for (size_t o = 0, count = types.size(); o < count; ++o) {
      nb::list shards;
      shards.append(toNumpy((*session).readDense(static_cast<int64_t>(o))));
      results.append(put(types[o], sharding, shards, devices, false));
    }
    return results;
  }

private:
  nb::list idle;
  nb::object make;
  nb::list types;
  nb::object put, toNumpy;
  int64_t instances;
  std::vector<size_t> reads;
};
} // namespace

void batch::python::defineCall(nb::module_ &module) {
  nb::class_<Call>(module, "Call")
      .def(nb::init<nb::list, nb::object, int64_t, std::vector<size_t>,
                    nb::list, nb::object>(),
           nb::arg("idle"), nb::arg("make"), nb::arg("instances"),
           nb::arg("reads"), nb::arg("types"), nb::arg("put"))
      .def("__call__", &Call::run, nb::arg("given"), nb::arg("sharding"),
           nb::arg("devices"));
}
