//===- Options.cpp - The command line of batch-run ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>

using namespace batchrun;
using batchrt::Policy;
using batchrt::raise;

const char *const batchrun::helpText =
    R"(OVERVIEW: runs a compiled model on data, many inputs at once

USAGE: batch-run MODEL.mlir|MODEL.mlirbc|MODEL.so --inputs=... [--params=...]
                 [options]
       batch-run MODEL.mlir|MODEL.mlirbc --explain

batch-run first compiles MLIR, as text or bytecode, with the batch-compile in its
own directory.

DATA
  --inputs=FILE.jsonl       read instances from JSON lines: the bare value of a
                            single argument, or an object keyed by argument names.
                            ADT values are ["node", ["leaf", 3], ["leaf", 5]], or
                            with shared nodes {"nodes": [["leaf", 3],
                            ["node", {"ref": 0}, {"ref": 0}]], "root": 1}; tensors
                            are nested arrays, [[1, 2], [3, 4]]
  --inputs=FILE.txt         read parse trees: (3 (2 It) (4 (2 is) (3 good)))
  --inputs=random:SEED,N    generate N random instances: trees of 10 to 30 leaves,
                            indices below 1000
  --params=FILE.safetensors read parameters by name
  --params=FILE.json        read parameters from one object:
                            {"W": [[1, 2], [3, 4]], "b": [0, 0]}
  --params=random:SEED      draw parameters uniformly from +-sqrt(3 / fan-in)
  --input-tensors=FILE      read the tensors that the inputs refer to as
                            {"tensor": "NAME"} from a safetensors file
  --vocab=FILE              number words by their line in FILE, from 0 (default:
                            by first appearance)
  --limit=N                 use only the first N instances
  --report-nan              fail if a parameter contains a NaN

RUNNING
  --batch=N                 run mini-batches of N instances (default: all at once)
  --threads=N               use N workers (default: 1)
  --nodes-per-worker=N      give each inspecting worker at least N nodes
                            (default: 256)
  --share-tasks=N           share batches of at least N tasks among all workers;
                            run smaller ones on one worker (default: 0, the
                            number of each kernel)
  --reuse-rows=BYTES        reuse rows of at least BYTES per task after their last
                            read (default: 1024)
  --stack-size=BYTES        set the stack size for recursive calls, with an
                            optional suffix K, M or G (default: 256M); unused
                            stack takes no memory
  --max-steps=N             limit each instance to N steps (default: no limit).
                            Steps are rounds of loops and recursive calls; in
                            lockstep, blocks; with strategy replicate, rounds
  --partial-results         write zeros for instances that exceed a limit of
                            steps, stack or calls, and the results of the other
                            instances; the exit status is still 1
  --max-fibers=N            let at most N concurrent calls of an instance wait for
                            tensors; more calls begin as earlier calls of the
                            same fork end (default: 256 divided by the number
                            of instances in progress, minus 1)
  --fiber-stack=BYTES       set the stack size of a concurrent call (default:
                            256K)
  --unbatched               run only the unbatched code
  --blocks=N                launch at most N blocks on a GPU (default: as many
                            as can run at the same time; emulator: 4, or two
                            clusters)
  --watchdog=SECONDS        abort if a GPU kernel makes no progress for SECONDS
                            (0: never; default: 10, or 0 in the emulator, which
                            detects hangs itself)
  --policy=P                use policy P to pick the next batch (default: the
                            policy in the model, or else depth). Results are
                            bit-identical with every policy. P is one of
                            )"
#define BATCH_POLICY(enumerator, name) #name " "
#include "batch-runtime/Schedule/Policies.def"
    R"(
  --depths=inspector|flush  for policy depth, compute depths in the inspector
                            while it records tasks (default), or in the scheduler
                            at each flush (for comparison)
  --policy-table=FILE       follow the state machine in FILE (default of fsm: the
                            state machine in the model, or else one learned from
                            the first 32 instances)
  --learn-policy=FILE       learn a state machine from the first 32 instances, or
                            from their flushes if control flow waits; follow it
                            and write it to FILE
  --seed=N                  seed the order in which the emulator runs threads

CONTROL FLOW IN LOCKSTEP (models whose control flow depends on tensors)
  --block-choice=C          pick the block that runs next, among those that lanes
                            wait for (default: work on a CPU, most on a GPU).
                            Results are bit-identical with every choice.
                            work: the block with the lowest total cost so far, so
                            that more lanes wait for blocks of high cost.
                            program: the first block in program order.
                            most: the block that most lanes wait for, which takes
                            the fewest steps.
                            learned: the block that a state machine picks
                            (--policy-table, --learn-policy)
  --patience=N              run the block of a lane that has waited N steps,
                            regardless of --block-choice (default: 1024)
  --refill                  let lanes that finish an instance take the next one:
                            run all instances at once, on --batch=N lanes
  --stack-depth=N           allow at most N nested calls per lane (default: 64)
  --mask-from=SHARE         run a block on all lanes if at least this share of
                            them waits for it, and drop the results of the other
                            lanes (default: never; 0: always)

COMPILING (.mlir and .mlirbc only; passed on to batch-compile)
  --device=cpu|cuda|emulator --executor=auto|device|cluster|block --chip=NAME
  --cluster-size=BLOCKS     use GPU clusters of BLOCKS blocks, 1 to 16
  --sanitize=address|thread make compiled code check its memory accesses;
                            requires a batch-run built with the same sanitizer
  --shared-memory=BYTES     use at most BYTES of a GPU block's shared memory for
                            parameters (default: all)
  --precision=f32|tf32|bf16
  --strategy=S --level=auto|block|cluster|device
  --order=auto|rounds|layers|wavefront
  --instances=N --size=H=64 --tuning=FILE --target=TRIPLE --cpu=NAME
  --explain                 print the compiler's decisions and their reasons, pass
                            by pass, each with its line of the model; with
                            --inputs, run the model afterwards

CHECKING
  --check-unbatched[=TOL]   also run every instance unbatched, and compare results
                            bit for bit, or by |a-b| / max(|b|, rms) <= TOL; if an
                            instance differs, report the first one and exit with
                            status 1
  --expect=FILE[,RTOL,ATOL] compare with the entries "INSTANCE.OUTPUT" of a
                            safetensors file (default: 1e-4,1e-5)

RESULTS
  --outputs=FILE            write all outputs as safetensors, stacked over
                            instances; add NAME.offsets for ragged ones; to
                            FILE.jsonl, write one JSON object per instance
  --bench[=RUNS]            time each phase, and print the median and the minimum
                            of this many runs (default: 20)
  --counters                print the numbers of tasks, batches, barriers, ...,
                            and the bytes of memory
  --json                    print one JSON object instead of text
  --trace=FILE              write a Chrome trace of the steps or tasks
  --dot=FILE                write the task graph of the first mini-batch for
                            Graphviz, with a frame per flush if control flow
                            waits
  --tune=FILE               measure tile sizes and ways to share batches among
                            workers, with these inputs and threads, and write the
                            fastest choices to FILE, for --tuning=FILE
  --help, --version

EXAMPLES
  Show how the model is compiled, and what its control flow reads:
    batch-run treelstm_nary.mlir --explain
  Check that batching changes no result, on 64 random trees:
    batch-run treelstm_nary.mlir --params=random:1 --inputs=random:1,64 \
              --check-unbatched
  Time real trees on two threads, in mini-batches of 10:
    batch-run treelstm_nary.mlir --params=model.safetensors --inputs=trees.txt \
              --vocab=words.txt --batch=10 --threads=2 --bench
  Compile once, then copy and run elsewhere:
    batch-compile treelstm_nary.mlir --size=H=256 --cpu=x86-64-v3 -o model.so
    batch-run model.so --params=model.safetensors --inputs=trees.jsonl \
              --outputs=states.safetensors
)";

namespace {
int64_t parseCount(const std::string &option, const std::string &text,
                   int64_t least,
                   int64_t most = std::numeric_limits<int64_t>::max()) {
  char *end = nullptr;
  errno = 0;
  long long value = std::strtoll(text.c_str(), &end, 10);
  bool isInteger = end != text.c_str() && !*end;
  if (!isInteger || value < least)
    raise("invalid value '", text, "' for --", option,
          "; expected an integer of at least ", least);
  if (value > most || errno)
    raise("invalid value '", text, "' for --", option,
          "; expected an integer of at most ", most);
  return value;
}

double parseNumber(const std::string &option, const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end || !(value >= 0))
    raise("invalid value '", text, "' for --", option,
          "; expected a non-negative number such as 1e-5");
  return value;
}

size_t parseBytes(const std::string &option, std::string text) {
  int64_t factor = 1;
  char unit = text.empty() ? 0 : text.back();
  if (unit == 'K' || unit == 'k')
    factor = int64_t(1) << 10;
  else if (unit == 'M' || unit == 'm')
    factor = int64_t(1) << 20;
  else if (unit == 'G' || unit == 'g')
    factor = int64_t(1) << 30;
  if (factor != 1)
    text.pop_back();
  int64_t count = parseCount(option, text, 1), bytes = 0;
  if (__builtin_mul_overflow(count, factor, &bytes))
    raise("--", option, " is too large; expected at most 2^63 - 1 bytes");
  return bytes;
}

/// Returns the edit distance between two names, for hints.
size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min(
          {row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

Policy parsePolicy(const std::string &name) {
  if (std::optional<Policy> policy = batchrt::findPolicy(name))
    return *policy;
  raise("invalid value '", name, "' for --policy; expected ",
        batchrt::listPolicies());
}

BatchBlockChoice parseBlockChoice(const std::string &name) {
  const std::pair<const char *, BatchBlockChoice> choices[] = {
      {"work", BATCH_CHOICE_WORK},
      {"program", BATCH_CHOICE_PROGRAM},
      {"most", BATCH_CHOICE_MOST},
      {"learned", BATCH_CHOICE_LEARNED}};
  for (const auto &[known, choice] : choices)
    if (name == known)
      return choice;
  raise("invalid value '", name,
        "' for --block-choice; expected 'work', 'program', 'most' or "
        "'learned'");
}

using Setter = std::function<void(const std::string &)>;

struct Option {
  enum Value { None, Optional, Required };
  const char *name;
  Value value;
  Setter set;
  Control control = Control::Any; ///< control flow of the models to which the
                                  ///< option applies
};

void parseExpect(Options &options, const std::string &value) {
  std::vector<std::string> parts{""};
  for (char c : value) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (parts.size() != 1 && parts.size() != 3)
    raise("invalid value '", value,
          "' for --expect; expected FILE or FILE,RTOL,ATOL");
  options.expect = parts[0];
  if (parts.size() == 3) {
    options.expectRelative = parseNumber("expect", parts[1]);
    options.expectAbsolute = parseNumber("expect", parts[2]);
  }
}

Setter text(std::string &target) {
  return [&target](const std::string &value) { target = value; };
}

Setter flag(bool &target) {
  return [&target](const std::string &) { target = true; };
}

Setter count(const char *name, int64_t &target, int64_t least) {
  return [&target, name, least](const std::string &value) {
    target = parseCount(name, value, least);
  };
}

/// Returns the setter of an option that is passed on to batch-compile.
Setter forward(Options &options, const char *name) {
  return [&options, name](const std::string &value) {
    options.compile.push_back(std::string("--") + name + "=" + value);
  };
}

std::vector<Option> runOptions(Options &options) {
  return {
      {"params", Option::Required, text(options.parameters)},
      {"inputs", Option::Required, text(options.input.inputs)},
      {"input-tensors", Option::Required, text(options.input.inputTensors)},
      {"vocab", Option::Required, text(options.input.vocabulary)},
      {"limit", Option::Required, count("limit", options.input.limit, 1)},
      {"report-nan", Option::None, flag(options.reportNan)},
      {"batch", Option::Required, count("batch", options.input.batch, 1)},
      {"threads", Option::Required,
       [&options](const std::string &value) {
         options.session.threads = static_cast<int>(
             parseCount("threads", value, 1, std::numeric_limits<int>::max()));
       }},
      {"nodes-per-worker", Option::Required,
       count("nodes-per-worker", options.session.nodesPerWorker, 1),
       Control::Inspected},
      {"share-tasks", Option::Required,
       count("share-tasks", options.session.shareTasks, 0), Control::Inspected},
      {"depths", Option::Required,
       [&options](const std::string &value) {
         if (value != "inspector" && value != "flush")
           raise("invalid value '", value,
                 "' for --depths; expected 'inspector' or 'flush'");
         options.session.depthsOfRecords = value == "flush";
       },
       Control::Inspected},
      {"reuse-rows", Option::Required,
       count("reuse-rows", options.session.reusedRowBytes, 1),
       Control::Inspected},
      {"stack-size", Option::Required,
       [&options](const std::string &value) {
         options.session.stackSize = parseBytes("stack-size", value);
       }},
      {"max-steps", Option::Required,
       count("max-steps", options.session.lockstep.maxSteps, 1)},
      {"partial-results", Option::None,
       flag(options.session.lockstep.partialResults)},
      {"max-fibers", Option::Required,
       [&options](const std::string &value) {
         options.session.maxFibers = parseCount("max-fibers", value, 0);
       },
       Control::Waiting},
      {"fiber-stack", Option::Required,
       [&options](const std::string &value) {
         options.session.branchStackSize = parseBytes("fiber-stack", value);
       },
       Control::Waiting},
      {"unbatched", Option::None, flag(options.onlyUnbatched)},
  };
}

std::vector<Option> deviceOptions(Options &options) {
  return {
      {"device", Option::Required,
       [&options](const std::string &value) {
         if (value != "cpu" && value != "cuda" && value != "emulator")
           raise("invalid value '", value,
                 "' for --device; expected 'cpu', 'cuda' or 'emulator'");
         options.compile.push_back("--device=" + value);
       }},
      {"executor", Option::Required, forward(options, "executor")},
      {"precision", Option::Required, forward(options, "precision")},
      {"chip", Option::Required, forward(options, "chip")},
      {"shared-memory", Option::Required, forward(options, "shared-memory")},
      {"cluster-size", Option::Required, forward(options, "cluster-size")},
      {"blocks", Option::Required,
       [&options](const std::string &value) {
         options.session.blocks = parseCount("blocks", value, 1);
         options.session.emulator.blocks = options.session.blocks;
       }},
      {"watchdog", Option::Required,
       [&options](const std::string &value) {
         options.session.watchdog = parseNumber("watchdog", value);
       }},
      {"seed", Option::Required,
       [&options](const std::string &value) {
         options.session.emulator.seed = parseCount("seed", value, 0);
       }},
      {"strategy", Option::Required, forward(options, "strategy")},
      {"level", Option::Required, forward(options, "level")},
      {"order", Option::Required, forward(options, "order")},
      {"instances", Option::Required, forward(options, "instances")},
  };
}

std::vector<Option> lockstepOptions(Options &options) {
  return {
      {"block-choice", Option::Required,
       [&options](const std::string &value) {
         options.session.lockstep.choice = parseBlockChoice(value);
         options.blockChoice = true;
       },
       Control::Lockstep},
      {"patience", Option::Required,
       count("patience", options.session.lockstep.patience, 1),
       Control::Lockstep},
      {"refill", Option::None, flag(options.refill), Control::Lockstep},
      {"stack-depth", Option::Required,
       count("stack-depth", options.session.lockstep.stackDepth, 1),
       Control::Lockstep},
      {"mask-from", Option::Required,
       [&options](const std::string &value) {
         options.session.lockstep.maskFrom = parseNumber("mask-from", value);
       },
       Control::Lockstep},
  };
}

std::vector<Option> compileOptions(Options &options) {
  return {
      {"policy", Option::Required,
       [&options](const std::string &value) {
         options.policy = parsePolicy(value);
       }},
      {"policy-table", Option::Required, text(options.policyTable)},
      {"learn-policy", Option::Required, text(options.learnPolicy)},
      {"size", Option::Required, forward(options, "size")},
      {"tuning", Option::Required, forward(options, "tuning")},
      {"tune", Option::Required, text(options.tune), Control::Inspected},
      {"explain", Option::None,
       [&options](const std::string &) {
         options.explain = true;
         options.compile.push_back("--explain");
       }},
      {"target", Option::Required, forward(options, "target")},
      {"cpu", Option::Required, forward(options, "cpu")},
      {"sanitize", Option::Required, forward(options, "sanitize")},
  };
}

std::vector<Option> resultOptions(Options &options) {
  return {
      {"check-unbatched", Option::Optional,
       [&options](const std::string &value) {
         options.checkUnbatched = true;
         if (!value.empty())
           options.tolerance = parseNumber("check-unbatched", value);
       }},
      {"expect", Option::Required,
       [&options](const std::string &value) { parseExpect(options, value); }},
      {"outputs", Option::Required,
       [&options](const std::string &value) {
         if (std::filesystem::path(value).extension() == ".json")
           raise("invalid value '", value,
                 "' for --outputs; expected FILE.safetensors, or FILE.jsonl "
                 "for one JSON object per instance");
         options.outputs = value;
       }},
      {"bench", Option::Optional,
       [&options](const std::string &value) {
         options.benchRuns = value.empty() ? 20 : parseCount("bench", value, 1);
       }},
      {"counters", Option::None, flag(options.counters)},
      {"json", Option::None, flag(options.json)},
      {"trace", Option::Required, text(options.trace), Control::Traced},
      {"dot", Option::Required, text(options.dot), Control::Inspected},
      {"help", Option::None, flag(options.help)},
      {"version", Option::None, flag(options.version)},
  };
}

/// Returns all options. If two names are equally close to an unknown one, the
/// hint suggests the first.
std::vector<Option> makeTable(Options &options) {
  std::vector<Option> table;
  for (auto *group : {runOptions, deviceOptions, lockstepOptions,
                      compileOptions, resultOptions})
    for (Option &option : group(options))
      table.push_back(std::move(option));
  return table;
}

/// An argument --NAME, --NAME=VALUE or -NAME, split into pieces.
struct Argument {
  explicit Argument(const std::string &text) : text(text) {
    dashes = text.rfind("--", 0) == 0 ? 2 : 1;
    size_t equals = text.find('=');
    hasValue = equals != std::string::npos;
    name = text.substr(dashes, hasValue ? equals - dashes : equals);
    value = hasValue ? text.substr(equals + 1) : "";
  }
  std::string text, name, value;
  size_t dashes;
  bool hasValue;
};

const Option &findOption(const std::vector<Option> &table,
                         const Argument &argument) {
  const std::string &name = argument.name;
  if (argument.dashes == 2 && name == "task-order")
    raise("--task-order was removed because it made nothing faster; in each "
          "batch, tasks run in the order in which they were recorded");
  auto found = std::find_if(table.begin(), table.end(), [&](auto &option) {
    return argument.dashes == 2 && name == option.name;
  });
  if (found != table.end())
    return *found;
  auto nearest =
      std::min_element(table.begin(), table.end(), [&](auto &a, auto &b) {
        return distance(name, a.name) < distance(name, b.name);
      });
  raise("unknown option '", argument.text, "'",
        distance(name, nearest->name) <= 3
            ? std::string("; did you mean --") + nearest->name + "?"
            : "; see batch-run --help");
}

void setOption(Options &options, const std::vector<Option> &table,
               const Argument &argument) {
  const Option &option = findOption(table, argument);
  if (option.value == Option::None && argument.hasValue)
    raise("--", argument.name, " takes no value");
  if ((option.value == Option::Required || argument.hasValue) &&
      argument.value.empty())
    raise("--", argument.name, " requires a value: --", argument.name, "=...");
  option.set(argument.value);
  if (option.control != Control::Any)
    options.given.push_back({"--" + argument.name, option.control});
}

void checkTuning(const Options &options) {
  if (options.tune.empty())
    return;
  auto isTuning = [](const std::string &word) {
    return word.rfind("--tuning=", 0) == 0;
  };
  if (std::any_of(options.compile.begin(), options.compile.end(), isTuning))
    raise("--tune cannot be combined with --tuning, which reads the file that "
          "--tune writes");
  if (options.onlyUnbatched)
    raise("--tune cannot be combined with --unbatched, which runs no batches");
  if (options.explain)
    raise("--tune cannot be combined with --explain, because --tune compiles "
          "the model many times");
}

/// Checks or chooses the policy, because options that read or write a table
/// need a state machine.
void checkTables(Options &options) {
  if (!options.policyTable.empty() && !options.learnPolicy.empty())
    raise("--learn-policy cannot be combined with --policy-table, which reads "
          "a table instead of learning one");
  if ((options.policyTable + options.learnPolicy).empty())
    return;
  bool learned = options.session.lockstep.choice == BATCH_CHOICE_LEARNED;
  if (options.policy.value_or(Policy::StateMachine) != Policy::StateMachine ||
      (options.blockChoice && !learned))
    raise("--policy-table and --learn-policy require --policy=fsm or, in "
          "lockstep, --block-choice=learned");
  if (!learned)
    options.policy = Policy::StateMachine;
}

/// Checks that required options are given, and that no option contradicts
/// another.
void checkConflicts(Options &options) {
  if (options.model.empty())
    raise("no model is given; usage: batch-run MODEL.mlir --inputs=... "
          "(batch-run --help)");
  if (options.input.inputs.empty() && !options.explain)
    raise(
        "no inputs are given; add --inputs=FILE or --inputs=random:SEED,COUNT");
  if (options.explain && options.json)
    raise("--json cannot be combined with --explain, which prints text");
  checkTuning(options);
  if (options.onlyUnbatched && options.checkUnbatched)
    raise("--check-unbatched cannot be combined with --unbatched, which runs "
          "no batches to compare with");
  if (options.checkUnbatched && options.session.lockstep.partialResults)
    raise("--check-unbatched cannot be combined with --partial-results, "
          "because --check-unbatched compares the results of all instances");
  checkTables(options);
  if (options.onlyUnbatched && options.policy)
    raise("a policy cannot be combined with --unbatched, which runs no "
          "batches");
  if (options.onlyUnbatched && !(options.trace + options.dot).empty())
    raise("--trace and --dot cannot be combined with --unbatched, which runs "
          "no batches");
}
} // namespace

void batchrun::checkControl(const Options &options,
                            const batchrt::Descriptor &descriptor) {
  const bool lockstep = descriptor.lockstep.has_value();
  const bool replicates = descriptor.replicate.has_value();
  for (const auto &[name, control] : options.given)
    if (replicates && control != Control::Traced)
      raise(name, " does not apply to this model: strategy 'replicate' records "
                  "no tasks and has no lanes");
    else if (lockstep && control == Control::Inspected)
      raise(name, " applies only to models that run batches of tasks, but the "
                  "control flow of this model runs in lockstep");
    else if (!descriptor.waits && control == Control::Waiting)
      raise(name,
            " applies only to models whose control flow waits for tensors "
            "(strategy 'lazy')");
    else if (!lockstep && control == Control::Lockstep)
      raise(name, " applies only to models whose control flow runs in "
                  "lockstep, but this model runs batches of tasks");
}

Options batchrun::parseOptions(int argc, char **argv) {
  Options options;
  std::vector<Option> table = makeTable(options);
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "-h" || argument == "-help")
      argument = "--help";
    if (!argument.empty() && argument[0] == '-') {
      setOption(options, table, Argument(argument));
      continue;
    }
    if (!options.model.empty())
      raise("expected one model, got '", options.model, "' and '", argument,
            "'; options are written --name=value");
    options.model = argument;
  }
  if (options.policy && *options.policy != Policy::StateMachine)
    options.given.push_back({"--policy", Control::Inspected});
  if (options.help || options.version)
    return options;
  checkConflicts(options);
  if (options.refill) {
    options.session.lockstep.lanes = options.input.batch;
    options.input.batch = 0;
  }
  return options;
}
