//===- Xla.cpp - Models as functions that XLA calls -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "XlaCalls.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <cstring>

namespace nb = nanobind;
using namespace batch::python;
using namespace batch::xla;

namespace {
/// A Program that calls can use as long as this object exists.
class XlaProgram {
public:
  /// key: a number that identifies the content of the program.
  /// bound: all parameters, or None.
  /// parameters: (name, array) for each parameter, if they are not bound. The
  ///   array is None for an operand of the calls.
  /// outputs: outputs of the model that are the results of calls.
  XlaProgram(int64_t key, const Model &model, const Parameters *bound,
             const nb::list &parameters, std::vector<int64_t> outputs,
             int threads, int64_t lanes, std::optional<int64_t> maxSteps,
             int64_t stackDepth, bool partialResults)
      : key(key) {
    BatchSessionOptions options;
    batchSessionDefaults(&options);
    options.threads = threads;
    options.lanes = lanes;
    if (maxSteps)
      options.maxSteps = *maxSteps;
    options.stackDepth = stackDepth;
    options.partialResults = partialResults;
    std::vector<Program::Parameter> list;
    for (nb::handle parameter : parameters)
      list.push_back(read(model, parameter));
    const auto made =
        std::make_shared<Program>(model.handle, bound ? bound->handle : nullptr,
                                  std::move(list), std::move(outputs), options);
    program = made.get();
    Program::add(key, made);
  }
  ~XlaProgram() { Program::remove(key, program); }
  XlaProgram(const XlaProgram &) = delete;
  XlaProgram &operator=(const XlaProgram &) = delete;

  const int64_t key;

private:
  const Program *program; ///< exists until it is removed

  static Program::Parameter read(const Model &model, nb::handle given);
};
} // namespace

Program::Parameter XlaProgram::read(const Model &model, nb::handle given) {
  auto [name, array] = nb::cast<std::pair<std::string, nb::object>>(given);
  if (array.is_none())
    return {name, nullptr};
  ArrayList list;
  const BatchArray view = list.add(array, ("parameter '" + name + "'").c_str(),
                                   typeOf(model.handle.get(), name));
  auto value = std::make_unique<Array>();
  value->type = view.type;
  value->shape.assign(view.shape, view.shape + view.rank);
  value->elements.resize(bytesOf(view));
  std::memcpy(value->elements.data(), view.data, value->elements.size());
  return {name, std::move(value)};
}

/// The Python function that makes the text of a failed run.
static nb::handle reporter;
/// The exception that a signal handler raised in a call by XLA, or null.
static PyObject *interruption = nullptr;

/// Handles the interrupt that ended a run. The default handler of Python raises
/// an exception when the call returns to the interpreter. Another handler may
/// ignore the interrupt, so it decides whether the run is repeated. Only the
/// main thread can call it now. Calls no Python code except this handler.
static Report reportInterrupt(const char *message) {
  const nb::module_ signal = nb::module_::import_("_signal");
  if (signal.attr("getsignal")(SIGINT).is(signal.attr("default_int_handler")))
    return {message};
  if (PyErr_CheckSignals() == 0)
    return {"", true};
  nb::python_error error;
  Py_XDECREF(interruption);
  interruption = error.value().inc_ref().ptr();
  return {message};
}

static Report report(int64_t key, BatchStatus status, const char *message) {
  if (!nb::is_alive() || !Py_IsInitialized())
    return {message};
  const nb::gil_scoped_acquire acquire;
  try {
    if (status == BATCH_STATUS_CANCELLED)
      return reportInterrupt(message);
    return {nb::cast<std::string>(
        reporter(key, static_cast<int>(status),
                 nb::steal(PyUnicode_DecodeUTF8(
                     message, static_cast<Py_ssize_t>(std::strlen(message)),
                     "backslashreplace"))))};
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("batch.vmap");
    return {message};
  }
}

void batch::python::defineXla(nb::module_ &module) {
  nb::class_<XlaProgram>(module, "XlaProgram", nb::is_weak_referenceable())
      .def(nb::init<int64_t, const Model &, const Parameters *,
                    const nb::list &, std::vector<int64_t>, int, int64_t,
                    std::optional<int64_t>, int64_t, bool>(),
           nb::arg("key"), nb::arg("model"), nb::arg("bound").none(),
           nb::arg("parameters"), nb::arg("outputs"), nb::kw_only(),
           nb::arg("threads"), nb::arg("lanes"), nb::arg("max_steps").none(),
           nb::arg("stack_depth"), nb::arg("partial_results"))
      .def_ro("key", &XlaProgram::key);
  // reporter: function of the key of a program, the status of a failed run and
  //   its message. Returns the text for XLA.
  module.def("xla_handler", [](const nb::object &to) {
    reporter = to.inc_ref();
    setReporter(report);
    return nb::capsule(reinterpret_cast<void *>(&runModel));
  });
  module.def("has_run", &hasRun);
  // Raises the exception that a signal handler raised in a call by XLA.
  module.def("raise_interruption", [] {
    if (!interruption)
      return;
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(interruption)),
                    interruption);
    Py_CLEAR(interruption);
    throw nb::python_error();
  });
}
