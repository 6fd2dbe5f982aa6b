//===- XlaCalls.cpp - Calls of models by XLA ------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "XlaCalls.h"
#include "Interrupts.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <unordered_map>
#include <utility>

using namespace batch::xla;

namespace {
/// Limit on the values of parameters that a program remembers.
constexpr size_t maxBindings = 8;

/// An error that a call returns to XLA.
struct CallError {
  ErrorCode code;
  std::string text;
};

/// The programs that calls can use.
struct Registry {
  std::mutex mutex;
  std::unordered_multimap<int64_t, std::shared_ptr<Program>> programs;
};
} // namespace

/// Returns the registry, which is never destroyed, because threads of XLA may
/// use it until the process ends.
static Registry &registry() {
  static auto *result = new Registry;
  return *result;
}

static std::atomic<Reporter> reporter{nullptr};

void batch::xla::setReporter(Reporter to) { reporter = to; }

static thread_local bool hasRunModel = false;

bool batch::xla::hasRun() { return std::exchange(hasRunModel, false); }

//===----------------------------------------------------------------------===//
// Sessions
//===----------------------------------------------------------------------===//

namespace batch::xla {
class ProgramSession {
public:
  ProgramSession(const BatchModel *model, const BatchParameters *parameters,
                 const BatchSessionOptions &options) {
    if (batchSessionMake(model, parameters, &options, &session) !=
        BATCH_STATUS_OK)
      throw CallError{ErrorCode::Internal, batchLastError()};
  }
  ~ProgramSession() { batchSessionFree(session); }
  ProgramSession(const ProgramSession &) = delete;
  ProgramSession &operator=(const ProgramSession &) = delete;

  BatchSession *session = nullptr;
  python::InterruptCancellation cancellation;
  std::unique_ptr<ProgramSession> next; ///< in the list of idle sessions
};
} // namespace batch::xla

/// An idle session, or a new one. The destructor makes it idle.
class Program::BorrowedSession {
public:
  BorrowedSession(const Program &program, Binding &binding) : binding(binding) {
    {
      const std::lock_guard<std::mutex> lock(binding.mutex);
      if (binding.idle) {
        session = std::move(binding.idle);
        binding.idle = std::move(session->next);
        return;
      }
    }
    session = std::make_unique<ProgramSession>(
        program.model.get(), binding.parameters.get(), program.options);
  }
  ~BorrowedSession() {
    const std::lock_guard<std::mutex> lock(binding.mutex);
    session->next = std::move(binding.idle);
    binding.idle = std::move(session);
  }
  BorrowedSession(const BorrowedSession &) = delete;
  BorrowedSession &operator=(const BorrowedSession &) = delete;

  ProgramSession *operator->() const { return session.get(); }

private:
  Binding &binding;
  std::unique_ptr<ProgramSession> session;
};

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Returns the runtime's type for elements of XLA. The runtime reads and writes
/// unsigned integers as signed ones.
static BatchElementType typeOf(DataType type) {
  switch (type) {
  case DataType::Pred:
    return BATCH_TYPE_I1;
  case DataType::S8:
  case DataType::U8:
    return BATCH_TYPE_I8;
  case DataType::S16:
  case DataType::U16:
    return BATCH_TYPE_I16;
  case DataType::S32:
  case DataType::U32:
    return BATCH_TYPE_I32;
  case DataType::S64:
  case DataType::U64:
    return BATCH_TYPE_I64;
  case DataType::F16:
    return BATCH_TYPE_F16;
  case DataType::F32:
    return BATCH_TYPE_F32;
  case DataType::F64:
    return BATCH_TYPE_F64;
  case DataType::BF16:
    return BATCH_TYPE_BF16;
  }
  throw CallError{ErrorCode::InvalidArgument, "unsupported element type"};
}

static BatchArray arrayOf(const Buffers &buffers, int64_t number) {
  const Buffer &buffer = *buffers.buffers[number];
  return {buffer.data, typeOf(buffer.type), static_cast<int32_t>(buffer.rank),
          buffer.shape, nullptr};
}

size_t batch::xla::bytesOf(const BatchArray &array) {
  static constexpr size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 2, 4, 8};
  size_t result = sizes[array.type];
  for (int32_t d = 0; d < array.rank; ++d)
    result *= array.shape[d];
  return result;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

Program::Program(std::shared_ptr<BatchModel> from,
                 std::shared_ptr<BatchParameters> bound,
                 std::vector<Parameter> given, std::vector<int64_t> results,
                 const BatchSessionOptions &with)
    : model(std::move(from)), parameters(std::move(given)),
      outputs(std::move(results)), options(with),
      numArguments(batchModelCount(model.get(), BATCH_ARGUMENT)),
      numOperands(std::count_if(
          parameters.begin(), parameters.end(),
          [](const Parameter &parameter) { return !parameter.value; })) {
  if (!bound)
    return;
  bindings.push_back(std::make_shared<Binding>());
  bindings.front()->parameters = std::move(bound);
}

void Program::add(int64_t key, const std::shared_ptr<Program> &program) {
  Registry &all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  all.programs.emplace(key, program);
}

void Program::remove(int64_t key, const Program *program) {
  std::shared_ptr<Program> removed; // is freed without the lock
  Registry &all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  auto [first, end] = all.programs.equal_range(key);
  const auto found = std::find_if(first, end, [&](const auto &entry) {
    return entry.second.get() == program;
  });
  removed = std::move(found->second);
  all.programs.erase(found);
}

bool Program::Binding::fits(const std::vector<BatchArray> &given) const {
  for (size_t i = 0; i < operands.size(); ++i)
    if (std::memcmp(operands[i].data(), given[i].data, operands[i].size()) != 0)
      return false;
  return true;
}

/// Returns the binding of these operands, or null.
std::shared_ptr<Program::Binding>
Program::find(const std::vector<BatchArray> &operands) {
  std::shared_ptr<Binding> first;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    if (!bindings.empty())
      first = bindings.front();
  }
  if (!first || first->fits(operands))
    return first;
  std::vector<std::shared_ptr<Binding>> others;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    others.assign(bindings.begin(), bindings.end());
  }
  for (const std::shared_ptr<Binding> &binding : others) {
    if (binding == first || !binding->fits(operands))
      continue;
    const std::lock_guard<std::mutex> lock(mutex);
    const auto place = std::find(bindings.begin(), bindings.end(), binding);
    if (place != bindings.end())
      bindings.splice(bindings.begin(), bindings, place);
    return binding;
  }
  return nullptr;
}

/// Binds the parameters to these operands.
std::shared_ptr<Program::Binding>
Program::bind(const std::vector<BatchArray> &operands) {
  std::vector<const char *> names;
  std::vector<BatchArray> arrays;
  auto operand = operands.begin();
  for (const Parameter &parameter : parameters) {
    names.push_back(parameter.name.c_str());
    arrays.push_back(parameter.value ? parameter.value->view() : *operand++);
  }
  BatchParameters *bound = nullptr;
  if (batchParametersBind(model.get(), static_cast<int64_t>(names.size()),
                          names.data(), arrays.data(),
                          &bound) != BATCH_STATUS_OK)
    throw CallError{ErrorCode::InvalidArgument, batchLastError()};
  auto binding = std::make_shared<Binding>();
  binding->parameters.reset(bound, batchParametersFree);
  for (const BatchArray &array : operands) {
    const auto *data = static_cast<const char *>(array.data);
    binding->operands.emplace_back(data, data + bytesOf(array));
  }
  const std::lock_guard<std::mutex> lock(mutex);
  bindings.push_front(binding);
  if (bindings.size() > maxBindings)
    bindings.pop_back();
  return binding;
}

void Program::run(const CallFrame &frame, int64_t key, int64_t instances) {
  if (frame.arguments.size != 1 + numArguments + numOperands ||
      frame.results.size != static_cast<int64_t>(outputs.size()))
    throw CallError{ErrorCode::InvalidArgument,
                    "wrong number of arguments or results"};
  std::vector<BatchValues> values;
  values.reserve(numArguments);
  for (int64_t i = 0; i < numArguments; ++i)
    values.push_back({arrayOf(frame.arguments, 1 + i), nullptr});
  std::vector<BatchArray> operands;
  for (int64_t i = 0; i < numOperands; ++i)
    operands.push_back(arrayOf(frame.arguments, 1 + numArguments + i));
  std::shared_ptr<Binding> binding = find(operands);
  if (!binding)
    binding = bind(operands);
  const BorrowedSession session(*this, *binding);
  const BatchInputs inputs = {instances, values.data(), nullptr};
  const bool isInterruptible = python::catchInterrupts();
  for (;;) {
    const BatchStatus status = batchSessionRun(
        session->session, &inputs,
        isInterruptible ? session->cancellation.begin() : nullptr);
    if (status == BATCH_STATUS_OK)
      break;
    const Reporter report = reporter;
    const std::string message = batchLastError();
    const Report made =
        report ? report(key, status, message.c_str()) : Report{message};
    if (made.isRepeated)
      continue;
    throw CallError{status == BATCH_STATUS_INVALID ? ErrorCode::InvalidArgument
                    : status == BATCH_STATUS_CANCELLED ? ErrorCode::Cancelled
                    : status == BATCH_STATUS_NO_MEMORY
                        ? ErrorCode::ResourceExhausted
                        : ErrorCode::Internal,
                    made.text};
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BatchArray target = arrayOf(frame.results, static_cast<int64_t>(i));
    if (batchSessionRead(session->session, outputs[i], &target, nullptr) !=
        BATCH_STATUS_OK)
      throw CallError{ErrorCode::Internal, batchLastError()};
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static int64_t instancesOf(const Attributes &attributes) {
  if (attributes.size != 1 || attributes.kinds[0] != AttributeKind::Scalar ||
      static_cast<const Scalar *>(attributes.values[0])->type != DataType::S64)
    throw CallError{ErrorCode::InvalidArgument,
                    "expected the number of instances"};
  int64_t result;
  std::memcpy(&result, static_cast<const Scalar *>(attributes.values[0])->value,
              sizeof(result));
  return result;
}

static int64_t keyOf(const Buffers &arguments) {
  if (arguments.size < 1 || arguments.buffers[0]->type != DataType::U32 ||
      bytesOf(arrayOf(arguments, 0)) != sizeof(int64_t))
    throw CallError{ErrorCode::InvalidArgument, "expected a key"};
  int64_t result;
  std::memcpy(&result, arguments.buffers[0]->data, sizeof(result));
  return result;
}

/// Returns a program with a key.
static std::shared_ptr<Program> programOf(int64_t key) {
  Registry &all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.programs.find(key);
  if (found == all.programs.end())
    throw CallError{ErrorCode::InvalidArgument,
                    "a call of batch.vmap was compiled in another process; "
                    "compile the program again with jax.jit"};
  return found->second;
}

static Error *errorOf(const Api &api, ErrorCode code, const char *text) {
  ErrorArguments arguments = {sizeof(ErrorArguments), nullptr, text, code};
  return api.createError(&arguments);
}

Error *batch::xla::runModel(CallFrame *frame) noexcept {
  if (Extension *extension = frame->extensions;
      extension && extension->type == ExtensionType::Metadata) {
    Metadata &metadata =
        *reinterpret_cast<MetadataExtension *>(extension)->metadata;
    metadata.version = {sizeof(Version), nullptr, majorVersion, minorVersion};
    metadata.traits = 0;
    return nullptr;
  }
  try {
    if (frame->stage != Stage::Execute)
      throw CallError{ErrorCode::InvalidArgument, "expected the stage execute"};
    const int64_t key = keyOf(frame->arguments);
    programOf(key)->run(*frame, key, instancesOf(frame->attributes));
    hasRunModel = true;
    return nullptr;
  } catch (const CallError &error) {
    return errorOf(*frame->api, error.code, error.text.c_str());
  } catch (const std::bad_alloc &) {
    return errorOf(*frame->api, ErrorCode::ResourceExhausted, "out of memory");
  }
}
