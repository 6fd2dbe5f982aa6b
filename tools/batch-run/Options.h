//===- Options.h - The command line of batch-run ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUN_OPTIONS_H
#define BATCH_RUN_OPTIONS_H

#include "batch-runtime/Forest.h"
#include "batch-runtime/Session.h"

#include <optional>
#include <string>
#include <vector>

namespace batchrun {

/// Models to which an option applies: all models, models with tasks, models
/// that can be traced, models that wait for tensors, or lockstep models.
enum class Control { Any, Inspected, Traced, Waiting, Lockstep };

struct Options {
  std::string model;
  std::string parameters;
  batchrt::InputOptions input;
  batchrt::SessionOptions session;
  std::vector<std::string> compile; ///< passed on to batch-compile

  bool help = false, version = false;
  bool explain = false; ///< explain how the model is compiled
  bool reportNan = false;
  bool checkUnbatched = false;
  std::optional<double> tolerance; ///< tolerance of the check; none: results
                                   ///< must be bit-identical
  bool onlyUnbatched = false;
  int64_t benchRuns = 0; ///< 0: no benchmark
  bool refill = false;
  bool counters = false, json = false;
  std::string trace, dot, outputs, tune;
  std::optional<batchrt::Policy> policy; ///< none: the object's policy
  bool blockChoice = false;              ///< true if --block-choice is given
  std::string policyTable;               ///< file to read, or empty
  std::string learnPolicy;               ///< file to write, or empty
  std::string expect;
  double expectRelative = 1e-4, expectAbsolute = 1e-5;
  /// The given options that apply only to models with one kind of control flow.
  std::vector<std::pair<std::string, Control>> given;
};

/// Parses the arguments. Raises a batchrt::Error with a hint if one is unknown.
Options parseOptions(int argc, char **argv);
extern const char *const helpText;

/// Raises an Error if a given option does not apply to the model.
void checkControl(const Options &options,
                  const batchrt::Descriptor &descriptor);

/// Returns true if a file is the source of a model: its name ends in .mlir or
/// .mlirbc, or it begins like MLIR bytecode.
bool isSource(const std::string &model);

/// An in-memory file. Its path is in /proc and is valid for this process and
/// its child processes. The file disappears when the last of them ends for any
/// reason.
class MemoryFile {
public:
  explicit MemoryFile(const char *name);
  MemoryFile(MemoryFile &&other) : descriptor(other.descriptor) {
    other.descriptor = -1;
  }
  ~MemoryFile();
  std::string path() const;

private:
  int descriptor;
};

/// A model compiled with the batch-compile next to this program. An object that
/// was opened with path() must be closed before the CompilerOutput is
/// destroyed, because later files may have the same path.
class CompilerOutput {
public:
  CompilerOutput(const std::string &model,
                 const std::vector<std::string> &options);
  std::string path() const { return object.path(); }

private:
  MemoryFile object;
};

/// Makes SIGINT, SIGTERM and SIGHUP first end a running batch-compile and
/// remove partial files, and then end this program.
void installSignalHandlers();

/// Returns the state machine of --policy=fsm: the one in --policy-table, the
/// object's, or one learned from the first instances.
batchrt::StateMachine
makeStateMachine(const Options &options, const batchrt::CompiledObject &object,
                 const batchrt::BoundParameters &parameters);

/// Returns the state machine of --block-choice=learned: the one in
/// --policy-table, or one learned from the first instances.
batchrt::StateMachine
makeBlockPolicy(const Options &options, const batchrt::CompiledObject &object,
                const batchrt::BoundParameters &parameters);

/// Measures the choices that --tuning supports for the model's kernels and
/// writes the best ones to the --tune file. Returns the exit code.
int tune(const Options &options);

/// Runs the model as the options specify. Returns the exit code.
int run(const Options &options);

} // namespace batchrun

#endif // BATCH_RUN_OPTIONS_H
