//===- batch-compile.cpp - Compiles a model to a shared object ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../HideLibraryOptions.h"
#include "../StandardOutput.h"
#include "../Version.h"
#include "Batch/InitAll.h"
#include "Batch/Pipelines/Pipelines.h"
#include "Batch/Support/OutputFile.h"
#include "Batch/Target/Compile/Compile.h"
#include "BuildId.h"
#include "Explanation.h"
#include "ParentProcess.h"
#include "ResourceValues.h"
#include "batch-runtime/ABI.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

#include <optional>

using namespace mlir;
namespace cl = llvm::cl;

static const char overview[] = R"(Compiles a model to a shared object.

The model is an MLIR file, text or bytecode, at any stage of --autobatch, with
one function marked 'batch.entry'. The object contains the inspector, the
executor and the unbatched code. batch-run runs it, without LLVM.

  batch-compile model.mlir -o model.so
  batch-compile model.mlir -o small.so --size=H=64
  batch-compile model.mlir -o model.so --cpu=x86-64-v3
  batch-compile model.mlir -o model.so --target=aarch64-linux-gnu
  batch-compile model.mlir -o model.so --explain
)";

namespace {
struct Flags {
  cl::OptionCategory category{"batch-compile options"};
  cl::opt<std::string> input{cl::Positional,
                             cl::desc("<model.mlir|model.mlirbc>"),
                             cl::Required, cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Write the object to this file"),
                              cl::value_desc("file"), cl::init("a.so"),
                              cl::cat(category)};
  cl::opt<batch::Device> device{
      "device", cl::init(batch::Device::CPU), cl::cat(category),
      cl::desc("Choose where mini-batches run: 'cpu', 'cuda' (one persistent "
               "kernel) or 'emulator' (the same kernel, checked on the CPU)")};
  cl::opt<batch::Executor> executor{
      "executor", cl::init(batch::Executor::Auto), cl::cat(category),
      cl::desc("Choose the blocks that run a mini-batch, or a share of it, on "
               "a GPU: 'device' (all blocks together), 'cluster', 'block' or "
               "'auto' (the executor with the shortest estimated time)")};
  cl::opt<int64_t> clusterSize{
      "cluster-size", cl::init(0), cl::cat(category), cl::value_desc("blocks"),
      cl::desc("Use clusters of this many blocks, 1 to 16 (default: 8, or 16 "
               "if executor 'auto' chooses 16); some chips with clusters "
               "support at most 8")};
  cl::opt<batch::Precision> precision{
      "precision", cl::init(batch::Precision::F32), cl::cat(category),
      cl::desc("Round the factors of products with parameters on a GPU to "
               "this type: 'f32' (no rounding), 'tf32' or 'bf16' (products run "
               "on tensor cores)")};
  cl::opt<std::string> chip{
      "chip", cl::cat(category),
      cl::desc("Generate code for this GPU chip: sm_80, sm_90, ... (default: "
               "the oldest one that can run the model)")};
  cl::opt<int64_t> sharedMemory{
      "shared-memory", cl::init(-1), cl::cat(category), cl::value_desc("bytes"),
      cl::desc("Use at most this much shared memory of a GPU block for "
               "parameters (0: none; default: the maximum of the chip, or "
               "without --chip the minimum of all chips)")};
  cl::opt<batch::Strategy> strategy{
      "strategy", cl::init(batch::Strategy::Auto), cl::cat(category),
      cl::desc(
          "Choose where control flow runs: 'auto', 'linearize', 'lockstep', "
          "'mask', 'lazy', 'replicate' or 'none' (unbatched)")};
  cl::opt<int64_t> instances{
      "instances", cl::init(64), cl::cat(category),
      cl::desc("Expect mini-batches of this many instances, for options that "
               "are 'auto'; with 1, strategy 'auto' chooses 'replicate' "
               "wherever control flow depends on tensors, even on GPUs and "
               "over data structures")};
  cl::opt<batch::InstanceLevel> instanceLevel{
      "level", cl::init(batch::InstanceLevel::Auto), cl::cat(category),
      cl::desc("Choose the units that run an instance of strategy "
               "'replicate': 'block' (one worker, or one block of a GPU), "
               "'cluster' (the blocks of a cluster, from sm_90 on), 'device' "
               "(all units together) or 'auto' (the level with the shortest "
               "estimated time)")};
  cl::opt<batch::LoopOrder> order{
      "order", cl::init(batch::LoopOrder::Auto), cl::cat(category),
      cl::desc("Choose the order of tasks in loops of strategy 'replicate': "
               "'rounds' (round after round), 'layers' (layer after layer of a "
               "group of rounds), 'wavefront' (all layers together, each one "
               "round behind the previous one) or 'auto'")};
  cl::opt<batch::PolicyOption> policy{"policy", cl::cat(category),
                                      cl::desc(batch::getPolicyHelp())};
  cl::opt<std::string> policyTable{
      "policy-table", cl::cat(category), cl::value_desc("file"),
      cl::desc("Read the state machine of policy 'fsm' from this file, which "
               "batch-run --learn-policy=FILE writes")};
  cl::list<std::string> sizes{"size", cl::CommaSeparated, cl::cat(category),
                              cl::value_desc("NAME=NUMBER"),
                              cl::desc("Set a named size of the model")};
  cl::opt<std::string> tuning{
      "tuning", cl::cat(category), cl::value_desc("file"),
      cl::desc("Read choices for kernels, loops and units from this file, "
               "such as one written by batch-run --tune=FILE")};
  cl::opt<std::string> triple{
      "target", cl::cat(category),
      cl::desc("Compile for this target triple, Linux on x86_64 or aarch64 "
               "(default: the host's)")};
  cl::opt<std::string> cpu{
      "cpu", cl::cat(category),
      cl::desc("Compile for this CPU: 'native', 'x86-64-v3', 'neoverse-n1', "
               "... (default: the host's, or the oldest CPU if --target has "
               "another architecture)")};
  cl::opt<unsigned> level{
      "O", cl::Prefix, cl::init(1), cl::cat(category),
      cl::desc("Run LLVM passes: 0 (none), 1 (those that generated code needs, "
               "the default), 2 or 3 (all passes of that level, with longer "
               "compilation)")};
  cl::opt<batch::Sanitizer> sanitize{
      "sanitize", cl::init(batch::Sanitizer::None), cl::cat(category),
      cl::desc("Instrument the code with this sanitizer: 'address' or "
               "'thread'; requires a batch-run built with the same sanitizer "
               "(preset asan or tsan)")};
  cl::opt<bool> explain{
      "explain", cl::cat(category),
      cl::desc("Print each decision with its line of the model")};
  cl::opt<bool> explainJson{
      "explain-json", cl::cat(category),
      cl::desc("Print each decision as JSON and write no object")};
  cl::opt<std::string> writeParams{
      "write-params", cl::cat(category), cl::value_desc("file"),
      cl::desc("Write the values of dense_resource constants, which become "
               "parameters, to this file as safetensors, for batch-run "
               "--params=FILE")};
  cl::opt<bool> emitLLVM{"emit-llvm", cl::cat(category),
                         cl::desc("Write LLVM IR instead of an object")};
  cl::opt<int> parent{
      "parent",          cl::init(0),
      cl::cat(category), cl::value_desc("pid"),
      cl::ReallyHidden,  cl::desc("Exit when the process with this ID ends")};

  batch::CompileOptions getOptions() const {
    batch::CompileOptions options;
    options.strategy = strategy;
    options.instances = instances;
    options.level = instanceLevel;
    options.order = order;
    options.policy = policy.getValue();
    options.policyTable = policyTable;
    options.sizes.assign(sizes.begin(), sizes.end());
    options.device = device;
    options.executor = executor;
    options.clusterSize = clusterSize;
    options.precision = precision;
    options.chip = chip;
    options.sharedMemory = sharedMemory;
    options.tuning = tuning;
    options.triple = triple;
    options.cpu = cpu;
    options.optLevel = level;
    options.sanitizer = sanitize;
    options.configure = applyPassManagerCLOptions;
    return options;
  }
};
} // namespace

static int fail(const llvm::Twine &message) {
  llvm::errs() << "batch-compile: error: " << message << '\n';
  return 1;
}

/// Prints an error without a location as a tool error, because it is about an
/// option.
static LogicalResult printOptionError(Diagnostic &diagnostic) {
  if (!isa<UnknownLoc>(diagnostic.getLocation()) ||
      diagnostic.getSeverity() != DiagnosticSeverity::Error ||
      !diagnostic.getNotes().empty())
    return failure();
  fail(diagnostic.str());
  return success();
}

static int writeLLVMIR(ModuleOp module, const Flags &flags) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(batch::compileToLLVMIR(module, stream, flags.getOptions())))
    return 1;
  if (llvm::Error error = batch::writeOutputFile(flags.output, text))
    return fail("cannot write '" + flags.output +
                "': " + llvm::toString(std::move(error)));
  return 0;
}

int main(int argc, char **argv) {
  batch::checkStandardOutput("batch-compile");
  llvm::InitLLVM init(argc, argv);
  batch::hideLibraryOptions();
  batch::setVersion("batch-compile", "objects of ABI version " +
                                         std::to_string(BATCH_ABI_VERSION) +
                                         "\nbuild " + batch::getBuildId() +
                                         "\n");
  Flags flags;
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  cl::ParseCommandLineOptions(argc, argv, overview);
  const std::string &input = flags.input;
  if (flags.parent != 0)
    batch::exitWithProcess(flags.parent);

  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  batch::registerAllDialects(registry);
  MLIRContext context(registry);
  // Do not print the operation: an error names a line of the model, and the
  // operation may be the whole model.
  if (!cl::getRegisteredOptions()
           .lookup("mlir-print-op-on-diagnostic")
           ->getNumOccurrences())
    context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  ScopedDiagnosticHandler options(&context, printOptionError);
  if (input != "-" && !llvm::sys::fs::exists(input))
    return fail("no such file '" + input + "'");
  auto module = parseSourceFile<ModuleOp>(input, sources, &context);
  if (!module)
    return 1;

  if (!flags.writeParams.empty() &&
      failed(batch::writeResourceValues(*module, flags.writeParams)))
    return 1;
  std::optional<batch::Explanation> explanation;
  if (flags.explain || flags.explainJson)
    explanation.emplace(context, sources);
  int code = flags.explainJson
                 ? failed(batch::compileToLLVMIR(*module, llvm::nulls(),
                                                 flags.getOptions()))
             : flags.emitLLVM ? writeLLVMIR(*module, flags)
                              : failed(batch::compileToSharedObject(
                                    *module, flags.output, flags.getOptions()));
  // Explain a failed compilation, too: the decisions before an error help to
  // explain the error.
  if (flags.explainJson)
    explanation->printJson(llvm::outs());
  else if (explanation)
    explanation->print(llvm::outs(), input);
  return code;
}
