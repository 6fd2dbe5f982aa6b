//===- XlaCalls.h - Calls of models by XLA ----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA calls a model through runModel(), without Python and without its global
// lock. The first operand of a call is the key of a Program.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_PYTHON_XLACALLS_H
#define BATCH_PYTHON_XLACALLS_H

#include "XlaApi.h"

#include "batch-runtime/CAPI.h"

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace batch::xla {
/// Runs a model. Operands: the key of a Program as two numbers of 32 bits, the
/// arguments, and the parameters that are operands. Attribute "instances": the
/// number of instances.
Error *runModel(CallFrame *frame) noexcept;

/// Returns the size of the elements of a dense array.
size_t bytesOf(const BatchArray &array);

/// A dense array with its own memory.
struct Array {
  BatchElementType type;
  std::vector<int64_t> shape;
  std::vector<char> elements;

  BatchArray view() {
    return {elements.data(), type, static_cast<int32_t>(shape.size()),
            shape.data(), nullptr};
  }
};

/// A model, the parameters that all calls share, and the sessions of its calls.
/// Programs are thread-safe.
class Program {
public:
  struct Parameter {
    std::string name;
    std::unique_ptr<Array> value; ///< null: an operand of the calls
  };

  /// bound: all parameters, or null.
  /// parameters: all parameters, if they are not bound.
  /// outputs: outputs of the model that are the results of calls.
  Program(std::shared_ptr<BatchModel> model,
          std::shared_ptr<BatchParameters> bound,
          std::vector<Parameter> parameters, std::vector<int64_t> outputs,
          const BatchSessionOptions &options);

  /// Adds a program to the programs that calls can use. Programs with equal
  /// keys must be equal.
  static void add(int64_t key, const std::shared_ptr<Program> &program);
  /// Removes a program. Its calls in progress continue.
  static void remove(int64_t key, const Program *program);

private:
  /// Parameters, and sessions that are not in use.
  struct Binding {
    std::vector<std::vector<char>> operands; ///< copies of the bound operands
    std::shared_ptr<BatchParameters> parameters;
    std::mutex mutex;
    std::unique_ptr<class ProgramSession> idle; ///< the first of a list

    bool fits(const std::vector<BatchArray> &given) const;
  };
  class BorrowedSession;

  void run(const CallFrame &frame, int64_t key, int64_t instances);
  std::shared_ptr<Binding> bind(const std::vector<BatchArray> &operands);
  std::shared_ptr<Binding> find(const std::vector<BatchArray> &operands);

  std::shared_ptr<BatchModel> model;
  std::vector<Parameter> parameters;
  std::vector<int64_t> outputs;
  BatchSessionOptions options;
  int64_t numArguments, numOperands; ///< operands: those that are parameters
  std::mutex mutex;
  std::list<std::shared_ptr<Binding>> bindings; ///< the last one used is first

  friend Error *runModel(CallFrame *frame) noexcept;
};

/// The text of a failed run for XLA, or the request to repeat a cancelled run.
struct Report {
  std::string text;
  bool isRepeated = false;
};

/// Called after a failed run, by the thread of the run.
using Reporter = Report (*)(int64_t key, BatchStatus status,
                            const char *message);
void setReporter(Reporter reporter);

/// Returns whether this thread has run a model since the last call of this
/// function.
bool hasRun();
} // namespace batch::xla

#endif // BATCH_PYTHON_XLACALLS_H
