//===- Extension.cpp - The runtime as a Python module ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The handles of the C API as classes, arrays as whatever Python has that gives
// its memory (DLPack, the buffer protocol). What is convenient is written in
// Python, on top of this.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/StreamCAPI.h"

#include "Parts.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace nb = nanobind;
using batch::python::as, batch::python::partsOf;

namespace {
PyObject *cancelledError, *runError;

/// Raises the error of a call of the C API.
void check(BatchStatus status, const char *message) {
  switch (status) {
  case BATCH_STATUS_OK:
    return;
  case BATCH_STATUS_INVALID:
    throw nb::value_error(message);
  case BATCH_STATUS_NO_MEMORY:
    throw std::bad_alloc();
  case BATCH_STATUS_CANCELLED:
    PyErr_SetString(cancelledError, message);
    break;
  case BATCH_STATUS_FAILED:
    PyErr_SetString(runError, message);
    break;
  }
  throw nb::python_error();
}

/// The same right after the call. (As a default argument the message could be
/// asked for before it.)
void check(BatchStatus status) { check(status, batchLastError()); }

/// Releases what a function of the C API has made.
template <auto Release>
struct Free {
  template <class Handle>
  void operator()(Handle *handle) const {
    Release(handle);
  }
};

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

BatchElementType elementType(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(type.code);
  const int bits = type.lanes == 1 ? type.bits : 0;
  if (code == Code::Bool && bits == 8)
    return BATCH_TYPE_I1;
  if (code == Code::UInt && bits == 8)
    return BATCH_TYPE_U8;
  if (code == Code::Bfloat && bits == 16)
    return BATCH_TYPE_BF16;
  if (code == Code::Int)
    switch (bits) {
    case 8:
      return BATCH_TYPE_I8;
    case 16:
      return BATCH_TYPE_I16;
    case 32:
      return BATCH_TYPE_I32;
    case 64:
      return BATCH_TYPE_I64;
    }
  if (code == Code::Float)
    switch (bits) {
    case 16:
      return BATCH_TYPE_F16;
    case 32:
      return BATCH_TYPE_F32;
    case 64:
      return BATCH_TYPE_F64;
    }
  throw nb::type_error("elements are bool, int8 to int64, uint8, float16 to "
                       "float64 or bfloat16");
}

nb::dlpack::dtype dlpackType(BatchElementType type) {
  using Code = nb::dlpack::dtype_code;
  auto make = [](Code code, int bits) {
    return nb::dlpack::dtype{static_cast<uint8_t>(code),
                             static_cast<uint8_t>(bits), 1};
  };
  switch (type) {
  case BATCH_TYPE_I1:
    return make(Code::Bool, 8);
  case BATCH_TYPE_I8:
    return make(Code::Int, 8);
  case BATCH_TYPE_I16:
    return make(Code::Int, 16);
  case BATCH_TYPE_I32:
    return make(Code::Int, 32);
  case BATCH_TYPE_I64:
    return make(Code::Int, 64);
  case BATCH_TYPE_U8:
    return make(Code::UInt, 8);
  case BATCH_TYPE_F16:
    return make(Code::Float, 16);
  case BATCH_TYPE_BF16:
    return make(Code::Bfloat, 16);
  case BATCH_TYPE_F32:
    return make(Code::Float, 32);
  case BATCH_TYPE_F64:
    return make(Code::Float, 64);
  }
  throw nb::type_error("an unknown type of elements");
}

/// The name that NumPy and JAX have for a type.
const char *typeName(BatchElementType type) {
  static constexpr const char *names[] = {
      "bool",  "int8",    "int16",    "int32",   "int64",
      "uint8", "float16", "bfloat16", "float32", "float64"};
  return names[type];
}

using ReadArray = nb::ndarray<nb::ro, nb::device::cpu>;

/// Arrays that stay valid while the C API reads them.
class ArrayList {
public:
  /// Of a field of this type: NumPy has no bfloat16, but int16 with its bits.
  BatchArray add(nb::handle object, const char *what, BatchElementType wanted) {
    ReadArray array;
    if (!nb::try_cast(object, array, /*convert=*/false))
      throw nb::type_error((std::string(what) + " is no array in this "
                                                "machine's memory: it has "
                                                "neither __dlpack__ nor a "
                                                "buffer of numbers")
                               .c_str());
    const auto rank = static_cast<int32_t>(array.ndim());
    std::vector<int64_t> &numbers = extents.emplace_back(2 * rank);
    const auto bytes = static_cast<int64_t>(array.itemsize());
    for (int32_t d = 0; d < rank; ++d) {
      numbers[d] = static_cast<int64_t>(array.shape(d));
      numbers[rank + d] = array.stride(d) * bytes;
    }
    BatchElementType type = elementType(array.dtype());
    if (wanted == BATCH_TYPE_BF16 && type == BATCH_TYPE_I16)
      type = wanted;
    BatchArray result = {const_cast<void *>(array.data()), type, rank,
                         numbers.data(), numbers.data() + rank};
    kept.push_back(std::move(array));
    return result;
  }

private:
  std::deque<std::vector<int64_t>> extents;
  std::vector<ReadArray> kept;
};

using Numbers =
    nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Values of arguments and fields: pairs of an array and of lists of offsets.
class ValueList {
public:
  /// `count` values of a field, whose arrays of offsets the C API cannot
  /// measure.
  BatchValues add(nb::handle pair, const BatchField &field, int64_t count) {
    const std::string name = "'" + std::string(field.name) + "'";
    const char *what = name.c_str();
    nb::tuple values = partsOf(pair, 2, name + " as an array and offsets");
    BatchValues result = {arrays.add(values[0], what, field.type), nullptr};
    auto levels = as<nb::list>(values[1], name + " with a list of offsets");
    if (levels.size() == 0)
      return result;
    if (static_cast<int32_t>(levels.size()) != field.lists)
      throw nb::value_error((name +
                             " has another number of levels of lists than "
                             "there are offsets")
                                .c_str());
    std::vector<const int64_t *> &list = places.emplace_back();
    for (nb::handle level : levels) {
      offsets.push_back(as<Numbers>(level, name + " with int64 offsets"));
      const Numbers &numbers = offsets.back();
      if (count < 0 || static_cast<int64_t>(numbers.shape(0)) - 1 != count)
        throw nb::value_error(
            (name + " needs one offset more than there are lists").c_str());
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

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

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

struct Parameters {
  std::unique_ptr<BatchParameters, Free<batchParametersFree>> handle;
};

struct Model {
  std::unique_ptr<BatchModel, Free<batchModelFree>> handle;

  explicit Model(const std::string &path) {
    BatchModel *model = nullptr;
    BatchStatus status;
    {
      nb::gil_scoped_release release;
      status = batchModelOpen(path.c_str(), &model);
    }
    check(status);
    handle.reset(model);
  }

  std::vector<Field> fields(BatchFieldKind kind) const {
    std::vector<Field> result;
    for (int64_t i = 0, n = batchModelCount(handle.get(), kind); i < n; ++i) {
      BatchField field;
      check(batchModelField(handle.get(), kind, i, &field));
      result.emplace_back(field);
    }
    return result;
  }

  /// By number.
  std::vector<Variant> variants() const {
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

  /// Of a parameter; any if there is none of this name.
  BatchElementType typeOf(const std::string &name) const {
    const int64_t count = batchModelCount(handle.get(), BATCH_PARAMETER);
    for (int64_t i = 0; i < count; ++i) {
      BatchField field;
      check(batchModelField(handle.get(), BATCH_PARAMETER, i, &field));
      if (name == field.name)
        return field.type;
    }
    return BATCH_TYPE_F32;
  }

  Parameters bind(const nb::dict &given) const {
    ArrayList list;
    std::vector<std::string> names;
    std::vector<BatchArray> arrays;
    for (auto [name, array] : given) {
      names.push_back(nb::cast<std::string>(name));
      arrays.push_back(list.add(array,
                                ("parameter '" + names.back() + "'").c_str(),
                                typeOf(names.back())));
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
    result.handle.reset(parameters);
    return result;
  }

  Parameters read(const std::string &path) const {
    BatchParameters *parameters = nullptr;
    BatchStatus status;
    {
      nb::gil_scoped_release release;
      status = batchParametersRead(handle.get(), path.c_str(), &parameters);
    }
    check(status);
    Parameters result;
    result.handle.reset(parameters);
    return result;
  }
};

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

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

// Python notes a signal in a handler of its own, and looks at it when a call
// returns to the interpreter: a run has to end first. So while the main thread
// runs, a handler before Python's asks for that.

std::atomic<BatchCancellation *> interrupted{nullptr};
struct sigaction handlerOfPython;

void onInterrupt(int number, siginfo_t *info, void *context) {
  if (BatchCancellation *run = interrupted.load())
    batchCancellationRequest(run);
  if (handlerOfPython.sa_flags & SA_SIGINFO)
    handlerOfPython.sa_sigaction(number, info, context);
  else if (handlerOfPython.sa_handler != SIG_DFL &&
           handlerOfPython.sa_handler != SIG_IGN)
    handlerOfPython.sa_handler(number);
}

bool isMainThread() {
  nb::object threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

/// While it exists, an interrupt ends runs that have this cancellation.
class Interruptible {
public:
  explicit Interruptible(BatchCancellation *run) {
    struct sigaction before = {};
    if (!isMainThread() || ::sigaction(SIGINT, nullptr, &before) != 0)
      return;
    // A process that was forked during a run has this handler still.
    if (!(before.sa_flags & SA_SIGINFO) || before.sa_sigaction != onInterrupt)
      handlerOfPython = before;
    // Without a handler of Python's an interrupt ends the process, or nothing.
    if (!(handlerOfPython.sa_flags & SA_SIGINFO) &&
        (handlerOfPython.sa_handler == SIG_DFL ||
         handlerOfPython.sa_handler == SIG_IGN))
      return;
    struct sigaction own = {};
    own.sa_sigaction = onInterrupt;
    own.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&own.sa_mask);
    interrupted.store(run);
    isInstalled = ::sigaction(SIGINT, &own, nullptr) == 0;
    if (!isInstalled)
      interrupted.store(nullptr);
  }
  ~Interruptible() {
    if (!isInstalled)
      return; // another thread's run may be the one that is interrupted
    ::sigaction(SIGINT, &handlerOfPython, nullptr);
    interrupted.store(nullptr);
  }
  Interruptible(const Interruptible &) = delete;
  Interruptible &operator=(const Interruptible &) = delete;

private:
  bool isInstalled = false;
};

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

struct Session {
  std::unique_ptr<BatchSession, Free<batchSessionFree>> handle;
  std::vector<BatchField> outputs;
  nb::object model; ///< the names of `outputs` are its

  Session(nb::object owner, const Parameters &parameters, int threads,
          int64_t lanes, std::optional<int64_t> maxSteps, int64_t stackDepth,
          bool partialResults)
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
    BatchSession *session = nullptr;
    check(batchSessionMake(of.handle.get(), parameters.handle.get(), &options,
                           &session));
    handle.reset(session);
    for (int64_t o = 0, n = batchModelCount(of.handle.get(), BATCH_OUTPUT);
         o < n; ++o)
      check(batchModelField(of.handle.get(), BATCH_OUTPUT, o,
                            &outputs.emplace_back()));
  }

  /// `arguments`: a pair of an array and a list of offsets each. `nodes`: None,
  /// or instances, variants, and by variant a list of such pairs. `explained`:
  /// returns what it did, as JSON.
  std::optional<std::string> run(int64_t instances, const nb::list &arguments,
                                 nb::handle nodes, Cancellation *asked,
                                 bool explained) {
    ValueList values;
    const auto &of = nb::cast<const Model &>(model);
    const int64_t wanted = batchModelCount(of.handle.get(), BATCH_ARGUMENT);
    if (static_cast<int64_t>(arguments.size()) != wanted)
      throw nb::value_error("the number of arguments is wrong");
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
      nb::tuple parts = partsOf(nodes, 3, "nodes in three parts");
      begins = as<Numbers>(parts[0], "the first nodes of instances as int64");
      variants = as<decltype(variants)>(parts[1], "variants as int32");
      if (static_cast<int64_t>(begins.shape(0)) - 1 != instances)
        throw nb::value_error("the first nodes of instances are not as many "
                              "as there are instances, and one more");
      auto lists = as<nb::list>(parts[2], "a list for each variant");
      const int64_t numVariants = batchModelVariants(of.handle.get());
      if (static_cast<int64_t>(lists.size()) != numVariants)
        throw nb::value_error("nodes have a list of fields for each variant");
      std::vector<int64_t> counts(numVariants);
      for (size_t n = 0; n < variants.shape(0); ++n)
        if (const int32_t number = variants.data()[n];
            number >= 0 && number < numVariants)
          ++counts[number];
      for (int64_t v = 0; v < numVariants; ++v) {
        auto given = as<nb::list>(lists[v], "a list of a variant's fields");
        BatchVariant variant;
        check(batchModelVariant(of.handle.get(), v, &variant));
        if (static_cast<int64_t>(given.size()) != variant.numFields)
          throw nb::value_error("a variant has another number of fields");
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
        status = explained
                     ? batchSessionExplain(handle.get(), &inputs,
                                           cancellation.handle.get(), &text)
                     : batchSessionRun(handle.get(), &inputs,
                                       cancellation.handle.get());
      }
      const std::string message = batchLastError();
      // KeyboardInterrupt, as a rule.
      if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
      // A handler that raises nothing wants the call to go on.
      if (status == BATCH_STATUS_CANCELLED && !asked) {
        cancellation.reset();
        continue;
      }
      check(status, message.c_str());
      return text ? std::optional<std::string>(text) : std::nullopt;
    }
  }

  /// The rows of an output in new memory, and the first row of each instance.
  /// `bits`: as int16 what NumPy has no type for.
  nb::tuple read(int64_t number, bool bits) {
    if (number < 0 || number >= static_cast<int64_t>(outputs.size()))
      throw nb::index_error("there is no such output");
    const BatchField &field = outputs[number];
    int64_t rows = 0;
    check(batchSessionRows(handle.get(), number, &rows));
    BatchProgress progress;
    batchSessionProgress(handle.get(), &progress);
    std::vector<int64_t> shape{rows};
    shape.insert(shape.end(), field.shape, field.shape + field.rank);
    const nb::dlpack::dtype type = dlpackType(field.type);
    size_t bytes = type.bits / 8;
    for (int64_t extent : shape)
      bytes *= extent;
    auto memory = std::make_unique<std::vector<char>>(bytes);
    auto offsets =
        std::make_unique<std::vector<int64_t>>(progress.instances + 1);
    const BatchArray target = {memory->data(), field.type,
                               static_cast<int32_t>(shape.size()), shape.data(),
                               nullptr};
    BatchStatus status;
    {
      nb::gil_scoped_release release;
      status = batchSessionRead(handle.get(), number, &target, offsets->data());
    }
    check(status);
    const std::vector<size_t> extents(shape.begin(), shape.end());
    char *elements = memory->data();
    const bool isInt16 = bits && field.type == BATCH_TYPE_BF16;
    nb::ndarray<nb::array_api> array(
        elements, extents.size(), extents.data(), keep(std::move(memory)),
        nullptr, isInt16 ? dlpackType(BATCH_TYPE_I16) : type);
    const size_t count = offsets->size();
    int64_t *begins = offsets->data();
    nb::ndarray<nb::numpy, int64_t> places(begins, 1, &count,
                                           keep(std::move(offsets)));
    return nb::make_tuple(nb::cast(array, nb::rv_policy::reference),
                          nb::cast(places, nb::rv_policy::reference));
  }

  std::tuple<int64_t, int64_t, int64_t> progress() const {
    BatchProgress now;
    batchSessionProgress(handle.get(), &now);
    return {now.instances, now.ended, now.flushes};
  }

  std::optional<std::string> failure(int64_t instance) {
    const char *text = batchSessionFailure(handle.get(), instance);
    return text ? std::optional<std::string>(text) : std::nullopt;
  }

private:
  /// Hands memory over to Python.
  template <class T>
  static nb::capsule keep(std::unique_ptr<std::vector<T>> memory) {
    nb::capsule owner(memory.get(), [](void *pointer) noexcept {
      delete static_cast<std::vector<T> *>(pointer);
    });
    memory.release();
    return owner;
  }
};
/// Instances that come while others run.
class Stream {
public:
  Stream(nb::object owner, int64_t seats) : session(std::move(owner)) {
    BatchStream *made = nullptr;
    BatchStatus status;
    {
      nb::gil_scoped_release release;
      status = batchStreamOpen(of().handle.get(), seats, &made);
    }
    check(status);
    handle.reset(made);
    for (const BatchField &field : of().outputs)
      outputs.emplace_back(field, seats);
  }
  ~Stream() {
    nb::gil_scoped_release release;
    handle.reset();
  }

  int64_t room() const { return batchStreamRoom(open()); }
  int64_t ended() const { return batchStreamEnded(open()); }

  /// Arrays of the arguments of instances.
  void put(int64_t instances, const nb::list &arguments) {
    const auto &model = nb::cast<const Model &>(of().model);
    const int64_t wanted = batchModelCount(model.handle.get(), BATCH_ARGUMENT);
    if (static_cast<int64_t>(arguments.size()) != wanted)
      throw nb::value_error("the number of arguments is wrong");
    ArrayList arrays;
    std::vector<BatchValues> values;
    for (int64_t a = 0; a < wanted; ++a) {
      BatchField field;
      check(batchModelField(model.handle.get(), BATCH_ARGUMENT, a, &field));
      values.push_back(
          {arrays.add(arguments[a], field.name, field.type), nullptr});
    }
    const BatchInputs inputs = {instances, values.data(), nullptr};
    check(batchStreamPut(open(), &inputs));
  }

  /// The numbers of instances that have ended, of which the outputs are the
  /// first rows of arrays(). Waits for one, as long as there are any.
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

  /// Memory that take() writes: an array for each output, int16 for bfloat16.
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

  void close() {
    nb::gil_scoped_release release;
    handle.reset();
  }

private:
  /// An output of as many instances as there are seats.
  struct Rows {
    Rows(const BatchField &field, int64_t seats) : shape{seats} {
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
  std::deque<Rows> outputs; ///< which stay where they are
  std::unique_ptr<BatchStream, Free<batchStreamFree>> handle;
};
} // namespace

NB_MODULE(_runtime, module) {
  module.doc() = "The runtime of compiled models.";
  module.attr("abi_version") = batchAbiVersion();
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
                    std::optional<int64_t>, int64_t, bool>(),
           nb::arg("model"), nb::arg("parameters"), nb::kw_only(),
           nb::arg("threads") = 1, nb::arg("lanes") = 0,
           nb::arg("max_steps") = nb::none(), nb::arg("stack_depth") = 64,
           nb::arg("partial_results") = false)
      .def("run", &Session::run, nb::arg("instances"), nb::arg("arguments"),
           nb::arg("nodes").none(), nb::arg("cancellation").none() = nb::none(),
           nb::arg("explained") = false)
      .def("read", &Session::read, nb::arg("output"), nb::arg("bits") = false)
      .def("progress", &Session::progress)
      .def("failure", &Session::failure);
  nb::class_<Stream>(module, "Stream")
      .def(nb::init<nb::object, int64_t>(), nb::arg("session"),
           nb::arg("seats"))
      .def_prop_ro("room", &Stream::room)
      .def_prop_ro("ended", &Stream::ended)
      .def("put", &Stream::put, nb::arg("instances"), nb::arg("arguments"))
      .def("take", &Stream::take)
      .def(
          "arrays",
          [](nb::handle self) { return nb::cast<Stream &>(self).arrays(self); })
      .def("close", &Stream::close);
}
