//===- Extension.cpp - The runtime as a Python module ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each handle of the C API is a Python class. An array is any Python object
// that supports DLPack or the buffer protocol. Convenience functions are Python
// code on top of this module.
//
//===----------------------------------------------------------------------===//

#include "Handles.h"
#include "Parts.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <deque>

namespace nb = nanobind;
using namespace batch::python;

static PyObject *cancelledError, *runError;

/// Sets an exception whose message may contain bytes from the user's files that
/// are not UTF-8.
static void setError(PyObject *type, const char *message) {
  auto text = nb::steal(PyUnicode_DecodeUTF8(
      message, static_cast<Py_ssize_t>(std::strlen(message)),
      "backslashreplace"));
  if (text.is_valid())
    PyErr_SetObject(type, text.ptr());
}

void batch::python::check(BatchStatus status, const char *message) {
  switch (status) {
  case BATCH_STATUS_OK:
    return;
  case BATCH_STATUS_INVALID:
    setError(PyExc_ValueError, message);
    break;
  case BATCH_STATUS_NO_MEMORY:
    throw std::bad_alloc();
  case BATCH_STATUS_CANCELLED:
    setError(cancelledError, message);
    break;
  case BATCH_STATUS_FAILED:
    setError(runError, message);
    break;
  }
  throw nb::python_error();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
using Numbers =
    nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Values of arguments and fields. Each is an array, or a pair of an array and
/// a list with the offsets of each level of lists.
class ValueList {
public:
  /// Adds `count` values of a field. Checks the lengths of offsets, because the
  /// C API receives only pointers to the offsets.
  BatchValues add(nb::handle given, const BatchField &field, int64_t count) {
    const std::string name = "'" + std::string(field.name) + "'";
    const char *what = name.c_str();
    if (!PyTuple_Check(given.ptr()))
      return {arrays.add(given, what, field.type), nullptr};
    nb::tuple values = partsOf(given, 2, "an array and offsets for " + name);
    BatchValues result = {arrays.add(values[0], what, field.type), nullptr};
    auto levels = as<nb::list>(values[1], "a list of offsets for " + name);
    if (levels.size() == 0)
      return result;
    if (static_cast<int32_t>(levels.size()) != field.lists)
      throw nb::value_error((name + ": expected offsets for " +
                             std::to_string(field.lists) +
                             (field.lists == 1 ? " level" : " levels") +
                             " of lists, got " + std::to_string(levels.size()))
                                .c_str());
    std::vector<const int64_t *> &list = places.emplace_back();
    for (nb::handle level : levels) {
      offsets.push_back(as<Numbers>(level, "int64 offsets for " + name));
      const Numbers &numbers = offsets.back();
      if (count < 0 || static_cast<int64_t>(numbers.shape(0)) - 1 != count)
        throw nb::value_error((name + ": expected " +
                               std::to_string(count + 1) + " offsets for " +
                               std::to_string(count) + " lists, got " +
                               std::to_string(numbers.shape(0)))
                                  .c_str());
      list.push_back(numbers.data());
      count = numbers.data()[count];
    }
    result.offsets = list.data();
    return result;
  }

private:
  ArrayList arrays;
  std::deque<std::vector<const int64_t *>> places;
  std::vector<Numbers> offsets;
};
} // namespace

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

Model::Model(const std::string &path) {
  BatchModel *model = nullptr;
  BatchStatus status;
  {
    nb::gil_scoped_release release;
    status = batchModelOpen(path.c_str(), &model);
  }
  check(status);
  handle.reset(model, batchModelFree);
}

std::vector<Field> Model::fields(BatchFieldKind kind) const {
  std::vector<Field> result;
  for (int64_t i = 0, n = batchModelCount(handle.get(), kind); i < n; ++i) {
    BatchField field;
    check(batchModelField(handle.get(), kind, i, &field));
    result.emplace_back(field);
  }
  return result;
}

std::vector<Variant> Model::variants() const {
  std::vector<Variant> result(batchModelVariants(handle.get()));
  for (size_t v = 0; v < result.size(); ++v) {
    BatchVariant variant;
    const auto number = static_cast<int64_t>(v);
    check(batchModelVariant(handle.get(), number, &variant));
    result[v].name = variant.name;
    result[v].dataType = variant.dataType;
    for (int64_t f = 0; f < variant.numFields; ++f) {
      BatchField field;
      check(batchModelVariantField(handle.get(), number, f, &field));
      result[v].fields.emplace_back(field);
    }
  }
  return result;
}

BatchElementType batch::python::typeOf(const BatchModel *model,
                                       const std::string &name) {
  const int64_t count = batchModelCount(model, BATCH_PARAMETER);
  for (int64_t i = 0; i < count; ++i) {
    BatchField field;
    check(batchModelField(model, BATCH_PARAMETER, i, &field));
    if (name == field.name)
      return field.type;
  }
  return BATCH_TYPE_F32;
}

Parameters Model::bind(const nb::dict &given) const {
  ArrayList list;
  std::vector<std::string> names;
  std::vector<BatchArray> arrays;
  for (auto [name, array] : given) {
    names.push_back(nb::cast<std::string>(name));
    arrays.push_back(list.add(array,
                              ("parameter '" + names.back() + "'").c_str(),
                              typeOf(handle.get(), names.back())));
  }
  std::vector<const char *> texts;
  for (const std::string &name : names)
    texts.push_back(name.c_str());
  BatchParameters *parameters = nullptr;
  BatchStatus status;
  {
    nb::gil_scoped_release release;
    status =
        batchParametersBind(handle.get(), static_cast<int64_t>(texts.size()),
                            texts.data(), arrays.data(), &parameters);
  }
  check(status);
  Parameters result;
  result.handle.reset(parameters, batchParametersFree);
  return result;
}

Parameters Model::read(const std::string &path) const {
  BatchParameters *parameters = nullptr;
  BatchStatus status;
  {
    nb::gil_scoped_release release;
    status = batchParametersRead(handle.get(), path.c_str(), &parameters);
  }
  check(status);
  Parameters result;
  result.handle.reset(parameters, batchParametersFree);
  return result;
}

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

Session::Session(nb::object owner, const Parameters &parameters, int threads,
                 int64_t lanes, std::optional<int64_t> maxSteps,
                 int64_t stackDepth, bool partialResults, int deviceNumber)
    : model(std::move(owner)) {
  const auto &of = nb::cast<const Model &>(model);
  BatchSessionOptions options;
  batchSessionDefaults(&options);
  options.threads = threads;
  options.lanes = lanes;
  if (maxSteps)
    options.maxSteps = *maxSteps;
  options.stackDepth = stackDepth;
  options.partialResults = partialResults;
  options.deviceNumber = deviceNumber;
  BatchSession *session = nullptr;
  check(batchSessionMake(of.handle.get(), parameters.handle.get(), &options,
                         &session));
  handle.reset(session);
  for (int64_t o = 0, n = batchModelCount(of.handle.get(), BATCH_OUTPUT); o < n;
       ++o)
    check(batchModelField(of.handle.get(), BATCH_OUTPUT, o,
                          &outputs.emplace_back()));
}

/// Runs a mini-batch.
///
/// arguments: an array for each argument, or a pair of an array and a list with
///   the offsets of each level of lists.
/// nodes: None, or a tuple: the offsets of the instances' nodes, the variant of
///   each node, and for each variant a list with an array or pair per field.
/// explained: return a report of the run, as JSON.
std::optional<std::string> Session::run(int64_t instances,
                                        const nb::list &arguments,
                                        nb::handle nodes, Cancellation *asked,
                                        bool explained) {
  ValueList values;
  const auto &of = nb::cast<const Model &>(model);
  const int64_t wanted = batchModelCount(of.handle.get(), BATCH_ARGUMENT);
  if (static_cast<int64_t>(arguments.size()) != wanted)
    throw nb::value_error(
        ("expected " + std::to_string(wanted) +
         (wanted == 1 ? " argument, got " : " arguments, got ") +
         std::to_string(arguments.size()))
            .c_str());
  std::vector<BatchValues> list;
  for (int64_t a = 0; a < wanted; ++a) {
    BatchField field;
    check(batchModelField(of.handle.get(), BATCH_ARGUMENT, a, &field));
    list.push_back(values.add(arguments[a], field, instances));
  }
  BatchInputs inputs = {instances, list.data(), nullptr};
  BatchNodes all = {};
  std::vector<std::vector<BatchValues>> fields;
  std::vector<const BatchValues *> fieldLists;
  Numbers begins;
  nb::ndarray<const int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>
      variants;
  if (!nodes.is_none()) {
    nb::tuple parts =
        partsOf(nodes, 3, "nodes as a tuple of offsets, variants and fields");
    begins = as<Numbers>(parts[0], "int64 offsets of the nodes of instances");
    variants = as<decltype(variants)>(parts[1], "int32 variants of nodes");
    if (static_cast<int64_t>(begins.shape(0)) - 1 != instances)
      throw nb::value_error(("expected " + std::to_string(instances + 1) +
                             " offsets for the nodes of " +
                             std::to_string(instances) + " instances, got " +
                             std::to_string(begins.shape(0)))
                                .c_str());
    auto lists = as<nb::list>(parts[2], "a list of lists of fields");
    const int64_t numVariants = batchModelVariants(of.handle.get());
    if (static_cast<int64_t>(lists.size()) != numVariants)
      throw nb::value_error(("expected a list of fields for each of " +
                             std::to_string(numVariants) + " variants, got " +
                             std::to_string(lists.size()))
                                .c_str());
    std::vector<int64_t> counts(numVariants);
    for (size_t n = 0; n < variants.shape(0); ++n)
      if (const int32_t number = variants.data()[n];
          number >= 0 && number < numVariants)
        ++counts[number];
    for (int64_t v = 0; v < numVariants; ++v) {
      auto given = as<nb::list>(lists[v], "a list of the fields of a variant");
      BatchVariant variant;
      check(batchModelVariant(of.handle.get(), v, &variant));
      if (static_cast<int64_t>(given.size()) != variant.numFields)
        throw nb::value_error(("variant '" + std::string(variant.name) +
                               "': expected " +
                               std::to_string(variant.numFields) +
                               " fields, got " + std::to_string(given.size()))
                                  .c_str());
      std::vector<BatchValues> &own = fields.emplace_back();
      for (int64_t f = 0; f < variant.numFields; ++f) {
        BatchField field;
        check(batchModelVariantField(of.handle.get(), v, f, &field));
        own.push_back(values.add(given[f], field, counts[v]));
      }
    }
    for (const std::vector<BatchValues> &own : fields)
      fieldLists.push_back(own.data());
    all = {static_cast<int64_t>(variants.shape(0)), begins.data(),
           variants.data(), fieldLists.data()};
    inputs.nodes = &all;
  }
  Cancellation own;
  Cancellation &cancellation = asked ? *asked : own;
  for (;;) {
    BatchStatus status;
    const char *text = nullptr;
    {
      Interruptible guard(cancellation.handle.get());
      nb::gil_scoped_release release;
      status = explained ? batchSessionExplain(handle.get(), &inputs,
                                               cancellation.handle.get(), &text)
                         : batchSessionRun(handle.get(), &inputs,
                                           cancellation.handle.get());
    }
    const std::string message = batchLastError();
    // The exception is usually a KeyboardInterrupt.
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
    // If the handler of the signal raises no exception, the run starts again.
    if (status == BATCH_STATUS_CANCELLED && !asked) {
      cancellation.reset();
      continue;
    }
    check(status, message.c_str());
    return text ? std::optional<std::string>(text) : std::nullopt;
  }
}

/// Transfers the ownership of memory to Python.
static nb::capsule keep(Memory memory) {
  nb::capsule owner(memory.get(), [](void *pointer) noexcept {
    FreeMemory()(static_cast<char *>(pointer));
  });
  memory.release();
  return owner;
}

nb::object Session::readRows(int64_t number, bool bits, int64_t *offsets) {
  const BatchField &field = outputs[number];
  int64_t rows = 0;
  check(batchSessionRows(handle.get(), number, &rows));
  std::vector<int64_t> shape{rows};
  shape.insert(shape.end(), field.shape, field.shape + field.rank);
  const nb::dlpack::dtype type = dlpackType(field.type);
  size_t bytes = type.bits / 8;
  for (int64_t extent : shape)
    bytes *= extent;
  Memory memory = makeMemory(bytes);
  const BatchArray target = {memory.get(), field.type,
                             static_cast<int32_t>(shape.size()), shape.data(),
                             nullptr};
  BatchStatus status;
  {
    // For a small output, releasing the GIL takes longer than the copy.
    std::optional<nb::gil_scoped_release> release;
    if (bytes > (1 << 16))
      release.emplace();
    status = batchSessionRead(handle.get(), number, &target, offsets);
  }
  check(status);
  const std::vector<size_t> extents(shape.begin(), shape.end());
  char *elements = memory.get();
  const bool isInt16 = bits && field.type == BATCH_TYPE_BF16;
  nb::ndarray<nb::array_api> array(elements, extents.size(), extents.data(),
                                   keep(std::move(memory)), nullptr,
                                   isInt16 ? dlpackType(BATCH_TYPE_I16) : type);
  return nb::cast(array, nb::rv_policy::reference);
}

nb::tuple Session::read(int64_t number, bool bits) {
  if (number < 0 || number >= static_cast<int64_t>(outputs.size()))
    throw nb::index_error(("output " + std::to_string(number) +
                           " is out of range; the model has " +
                           std::to_string(outputs.size()) + " outputs")
                              .c_str());
  if (!outputs[number].isRagged)
    return nb::make_tuple(readRows(number, bits, nullptr), nb::none());
  BatchProgress progress;
  batchSessionProgress(handle.get(), &progress);
  const size_t count = progress.instances + 1;
  Memory memory = makeMemory(count * sizeof(int64_t));
  auto *offsets = reinterpret_cast<int64_t *>(memory.get());
  nb::object rows = readRows(number, bits, offsets);
  const nb::ndarray<nb::numpy, int64_t> places(offsets, 1, &count,
                                               keep(std::move(memory)));
  return nb::make_tuple(std::move(rows),
                        nb::cast(places, nb::rv_policy::reference));
}

std::tuple<int64_t, int64_t, int64_t> Session::progress() const {
  BatchProgress now;
  batchSessionProgress(handle.get(), &now);
  return {now.instances, now.ended, now.flushes};
}

std::optional<std::string> Session::failure(int64_t instance) {
  const char *text = batchSessionFailure(handle.get(), instance);
  return text ? std::optional<std::string>(text) : std::nullopt;
}

NB_MODULE(_native, module) {
  module.doc() = "Runtime of compiled models.";
  module.attr("abi_version") = batchAbiVersion();
  module.attr("version") = BATCH_VERSION;
  batchSetOptionNames(BATCH_OPTION_NAMES_PYTHON);
  cancelledError =
      nb::exception<std::runtime_error>(module, "Cancelled").release().ptr();
  runError = nb::exception<std::logic_error>(module, "Error").release().ptr();

  nb::class_<Field>(module, "Field")
      .def_ro("name", &Field::name)
      .def_ro("description", &Field::description)
      .def_ro("dtype", &Field::dtype)
      .def_ro("shape", &Field::shape)
      .def_ro("lists", &Field::lists)
      .def_ro("is_index", &Field::isIndex)
      .def_ro("is_ragged", &Field::isRagged)
      .def_ro("data_type", &Field::dataType);
  // Called if other threads, or JAX, may own objects when the process ends.
  module.def("expect_leaks", [] { nb::set_leak_warnings(false); });
  nb::class_<Variant>(module, "Variant")
      .def_ro("name", &Variant::name)
      .def_ro("data_type", &Variant::dataType)
      .def_ro("fields", &Variant::fields);
  nb::class_<Parameters>(module, "Parameters");
  nb::class_<Model>(module, "Model")
      .def(nb::init<const std::string &>())
      .def_prop_ro("descriptor",
                   [](const Model &model) {
                     return batchModelDescriptor(model.handle.get());
                   })
      .def_prop_ro(
          "parameters",
          [](const Model &model) { return model.fields(BATCH_PARAMETER); })
      .def_prop_ro(
          "arguments",
          [](const Model &model) { return model.fields(BATCH_ARGUMENT); })
      .def_prop_ro(
          "outputs",
          [](const Model &model) { return model.fields(BATCH_OUTPUT); })
      .def_prop_ro("variants", &Model::variants)
      .def("bind", &Model::bind)
      .def("read", &Model::read);
  nb::class_<Cancellation>(module, "Cancellation")
      .def(nb::init<>())
      .def("request", &Cancellation::request)
      .def("reset", &Cancellation::reset);
  nb::class_<Session>(module, "Session")
      .def(nb::init<nb::object, const Parameters &, int, int64_t,
                    std::optional<int64_t>, int64_t, bool, int>(),
           nb::arg("model"), nb::arg("parameters"), nb::kw_only(),
           nb::arg("threads") = 1, nb::arg("lanes") = 0,
           nb::arg("max_steps") = nb::none(), nb::arg("stack_depth") = 64,
           nb::arg("partial_results") = false, nb::arg("device_number") = 0)
      .def("run", &Session::run, nb::arg("instances"), nb::arg("arguments"),
           nb::arg("nodes").none(), nb::arg("cancellation").none() = nb::none(),
           nb::arg("explained") = false)
      .def("read", &Session::read, nb::arg("output"), nb::arg("bits") = false)
      .def("progress", &Session::progress)
      .def("failure", &Session::failure);
  defineCall(module);
  defineStream(module);
  defineNodes(module);
  defineNodeOrder(module);
  defineXla(module);
}
