//===- Compile.cpp - From a module to a shared object ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Target/Compile/Compile.h"

#include "Batch/Conversion/Passes.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Pipelines/Pipelines.h"
#include "Batch/Support/OptionError.h"
#include "Batch/Target/GPU/GPUTarget.h"
#include "GenerateCode.h"
#include "Link.h"
#include "Optimize.h"
#include "Sanitize.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Target machine, and the properties of the target that passes need.
struct Target {
  std::unique_ptr<llvm::TargetMachine> machine;
  std::string triple, cpu;
  bool otherArchitecture = false; ///< true if the host has another one
  int64_t vectorBits = 128;
  int64_t vectorRegisters = 16;
  /// LLVM names of the instruction-set features that the code may use.
  std::vector<std::string> features;
};

} // namespace

static FailureOr<Target> makeTarget(MLIRContext *context,
                                    const CompileOptions &options) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();

  Target target;
  llvm::Triple triple(options.triple.empty()
                          ? llvm::sys::getDefaultTargetTriple()
                          : llvm::Triple::normalize(options.triple));
  target.triple = triple.str();
  // Objects are 64-bit ELF, and every multiply-add needs a fused instruction.
  bool known = triple.getArch() == llvm::Triple::x86_64 ||
               triple.getArch() == llvm::Triple::aarch64;
  if (!known || !triple.isOSBinFormatELF())
    return emitOptionError(context)
           << "unknown target '" << target.triple
           << "'; use x86_64-linux-gnu or aarch64-linux-gnu";
  std::string message;
  const llvm::Target *llvmTarget =
      llvm::TargetRegistry::lookupTarget(triple, message);
  if (!llvmTarget)
    return emitOptionError(context)
           << "this build of LLVM does not support target '" << target.triple
           << "': " << message << "; add "
           << (triple.isX86() ? "X86" : "AArch64")
           << " to LLVM_TARGETS_TO_BUILD";
  llvm::Triple host(llvm::sys::getProcessTriple());
  target.otherArchitecture = triple.getArch() != host.getArch();
  target.cpu = !options.cpu.empty()       ? options.cpu
               : target.otherArchitecture ? "generic"
                                          : "native";
  std::string features;
  if (target.cpu == "native") {
    if (target.otherArchitecture)
      return emitOptionError(context)
             << "--cpu=native requires the architecture of this machine, "
             << host.getArchName() << ", but the target is '" << target.triple
             << "'; specify a CPU of the target, or omit --cpu";
    target.cpu = llvm::sys::getHostCPUName().str();
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      features += (features.empty() ? "" : ",") +
                  ((feature.second ? "+" : "-") + feature.first()).str();
  }
  // Fuse only operations that the code itself fuses: `vector.fma` becomes
  // llvm.fmuladd, which mode `Strict` would split in two. Separate mul and add
  // ops are never fused.
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::MCSubtargetInfo> check(
      llvmTarget->createMCSubtargetInfo(triple, target.cpu, features));
  if (!check || !check->isCPUStringValid(target.cpu))
    return emitOptionError(context)
           << "unknown CPU '" << target.cpu << "' for target '" << target.triple
           << "'; use a name that 'llc -mtriple=" << target.triple
           << " -mcpu=help' lists";
  target.machine.reset(llvmTarget->createTargetMachine(
      triple, target.cpu, features, targetOptions, llvm::Reloc::PIC_,
      std::nullopt,
      options.optLevel > 1 ? llvm::CodeGenOptLevel::Default
                           : llvm::CodeGenOptLevel::Less));
  if (!target.machine)
    return emitOptionError(context)
           << "cannot generate code for '" << target.triple << "'";

  const llvm::MCSubtargetInfo &info = *target.machine->getMCSubtargetInfo();
  if (triple.isX86()) {
    for (StringRef name : {"avx", "avx2", "fma", "f16c", "bmi2", "avx512f",
                           "avx512bw", "avx512dq", "avx512vl"})
      if (info.checkFeatures(("+" + name).str()))
        target.features.push_back(name.str());
    if (info.checkFeatures("+avx512f")) {
      target.vectorBits = 512;
      target.vectorRegisters = 32;
    } else if (info.checkFeatures("+avx2")) {
      target.vectorBits = 256;
    }
    if (!info.checkFeatures("+fma"))
      return emitOptionError(context)
             << "CPU '" << target.cpu
             << "' has no fused multiply-add, which is required for identical "
                "results on all paths; use --cpu=x86-64-v3 or later";
  } else {
    for (StringRef name :
         {"dotprod", "fullfp16", "bf16", "i8mm", "sve", "sve2"})
      if (info.checkFeatures(("+" + name).str()))
        target.features.push_back(name.str());
    target.vectorRegisters = 32;
  }
  return target;
}

/// Returns the GPU chip for which to compile a batched module. Unless an option
/// specifies it, this is the oldest chip that can run the module.
static std::string getChip(ModuleOp module, const CompileOptions &options) {
  if (!options.chip.empty())
    return options.chip;
  bool usesClusters = options.executor == Executor::Cluster;
  for (auto program : module.getOps<uprog::ProgramOp>())
    usesClusters |= program.getLevel() == uprog::Level::Cluster;
  return usesClusters ? "sm_90" : "sm_80";
}

/// Adds the passes that generate code from a batched module for a device other
/// than the CPU.
static LogicalResult addDevicePasses(OpPassManager &pm, ModuleOp module,
                                     const CompileOptions &options) {
  MLIRContext *context = module.getContext();
  if (options.device == Device::CPU) {
    if (options.precision != Precision::F32)
      return emitOptionError(context)
             << "precision '" << stringifyPrecision(options.precision)
             << "' requires --device=cuda or --device=emulator; the CPU "
                "computes in f32";
    return success();
  }
  if (options.sanitizer != Sanitizer::None)
    return emitOptionError(context)
           << "--sanitize=" << getOptionName(options.sanitizer)
           << " requires --device=cpu: GPU code cannot be instrumented, and "
              "the emulator finds races by itself";
  GPUPersistentOptions gpu;
  gpu.executor = options.executor;
  gpu.clusterSize = options.clusterSize;
  gpu.instances = options.instances;
  gpu.sharedMemory = options.sharedMemory;
  gpu.precision = options.precision;
  if (options.device == Device::Emulator) {
    buildGPUPersistentPipeline(pm, gpu);
    pm.addPass(createConvertGPUToHostEmulationPass());
    return success();
  }
  gpu.chip = getChip(module, options);
  // The code must also run on later chips, which may have less shared memory.
  if (options.chip.empty() && options.sharedMemory < 0)
    gpu.sharedMemory = getChipFacts("").sharedMemory;
  const VendorFacts *vendor = findVendor(gpu.chip);
  if (!vendor || vendor->vendor != GPUVendor::NVIDIA)
    return emitOptionError(context)
           << "'" << gpu.chip
           << "' is not an NVIDIA chip; use one such as sm_80 or sm_90";
  // Generate binary code and PTX if there is a toolkit. Without one, the driver
  // compiles PTX.
  gpu.format = findMissingCUDATool("fatbin").empty() ? CodeFormat::Fatbin
                                                     : CodeFormat::ISA;
  buildGPUPersistentPipeline(pm, gpu);
  return success();
}

/// Runs the passes, translates the module to LLVM IR and optimizes it.
static FailureOr<std::unique_ptr<llvm::Module>>
makeLLVMModule(ModuleOp module, llvm::LLVMContext &context,
               const CompileOptions &options, Target &target) {
  PassManager batching(module.getContext()), pm(module.getContext());
  if (options.configure &&
      (failed(options.configure(batching)) || failed(options.configure(pm))))
    return failure();
  AutobatchOptions autobatch;
  autobatch.strategy = options.strategy;
  autobatch.instances = options.instances;
  autobatch.level = options.level;
  autobatch.order = options.order;
  autobatch.tuning = options.tuning;
  autobatch.gpu = options.device != Device::CPU;
  if (options.device == Device::CUDA && getChipFacts(options.chip).clusters)
    autobatch.clusterSize =
        options.clusterSize ? options.clusterSize : kClusterBlocks;
  autobatch.policy = options.policy;
  autobatch.policyTable = options.policyTable;
  autobatch.sizes = ArrayRef<std::string>(options.sizes);
  buildAutobatchPipeline(batching, autobatch);
  if (failed(batching.run(module)) ||
      failed(addDevicePasses(pm, module, options)))
    return failure();
  CPUWorkersOptions workers;
  workers.vectorBits = target.vectorBits;
  workers.vectorRegisters = target.vectorRegisters;
  workers.tuning = options.tuning;
  workers.triple = target.triple;
  workers.cpu = target.cpu;
  workers.features = ArrayRef<std::string>(target.features);
  buildCPUWorkersPipeline(pm, workers);
  if (failed(pm.run(module)))
    return failure();

  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context, "batch");
  if (!llvmModule)
    return failure();
  llvmModule->setTargetTriple(target.machine->getTargetTriple());
  llvmModule->setDataLayout(target.machine->createDataLayout());
  const llvm::TargetLibraryInfoImpl library(target.machine->getTargetTriple());
  for (llvm::Function &function : *llvmModule) {
    if (function.isDeclaration())
      continue;
    // Rename functions of the model that have the names of C library functions.
    // LLVM would otherwise call them instead of the library functions.
    llvm::LibFunc known;
    if (library.getLibFunc(function.getName(), known))
      function.setName("batch." + function.getName());
    function.addFnAttr("target-cpu", target.cpu);
    function.addFnAttr("target-features",
                       target.machine->getTargetFeatureString());
    // Without this attribute, LLVM would use narrower vectors on CPUs that
    // prefer them.
    if (target.machine->getTargetTriple().isX86())
      function.addFnAttr("prefer-vector-width",
                         std::to_string(target.vectorBits));
    // Only the descriptor of the object is externally visible.
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    markChecked(function, options.sanitizer);
  }

  optimizeModule(*llvmModule, *target.machine, options.optLevel);
  return llvmModule;
}

LogicalResult mlir::batch::compileToLLVMIR(ModuleOp module,
                                           llvm::raw_ostream &output,
                                           const CompileOptions &options) {
  FailureOr<Target> target = makeTarget(module.getContext(), options);
  if (failed(target))
    return failure();
  llvm::LLVMContext context;
  auto llvmModule = makeLLVMModule(module, context, options, *target);
  if (failed(llvmModule))
    return failure();
  optimizeFunctions(**llvmModule, *target->machine, options.optLevel,
                    options.sanitizer);
  (*llvmModule)->print(output, nullptr);
  return success();
}

LogicalResult
mlir::batch::compileToSharedObject(ModuleOp module, llvm::StringRef path,
                                   const CompileOptions &options) {
  Location loc = module.getLoc();
  FailureOr<Target> target = makeTarget(loc.getContext(), options);
  if (failed(target))
    return failure();
  llvm::LLVMContext context;
  auto llvmModule = makeLLVMModule(module, context, options, *target);
  if (failed(llvmModule))
    return failure();

  FailureOr<std::vector<ObjectFile>> objects = generateCode(
      loc, **llvmModule, *target->machine, options.optLevel, options.sanitizer);
  if (failed(objects))
    return failure();
  return linkSharedObject(loc, *objects, path);
}
