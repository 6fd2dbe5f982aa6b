//===- Compile.h - From a module to a shared object -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_COMPILE_COMPILE_H
#define BATCH_TARGET_COMPILE_COMPILE_H

#include "Batch/Conversion/BatchToUProg/Options.h"
#include "Batch/Conversion/UProgToGPU/Options.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Support/NamedOption.h"
#include "Batch/Target/GPU/GPUTarget.h"
#include "Batch/Transforms/Control/Options.h"
#include "Batch/Transforms/Memory/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace mlir::batch {

/// Device that runs mini-batches.
enum class Device { CPU, CUDA, Emulator };

template <>
struct OptionNames<Device> {
  static NameList<Device> list() {
    return {{"cpu", Device::CPU},
            {"cuda", Device::CUDA},
            {"emulator", Device::Emulator}};
  }
};

/// Sanitizer that checks memory accesses while compiled code runs.
enum class Sanitizer { None, Address, Thread };

template <>
struct OptionNames<Sanitizer> {
  static NameList<Sanitizer> list() {
    return {{"", Sanitizer::None},
            {"address", Sanitizer::Address},
            {"thread", Sanitizer::Thread}};
  }
};

/// Options of `compileToSharedObject` and `compileToLLVMIR`.
struct CompileOptions {
  Strategy strategy = Strategy::Auto;
  int64_t instances = 64; ///< expected instances per mini-batch, for options
                          ///< that are `auto`
  InstanceLevel level = InstanceLevel::Auto; ///< level for strategy `replicate`
  LoopOrder order = LoopOrder::Auto;         ///< order for strategy `replicate`
  /// Batching policy. If not set, selects the policy of the module or, if the
  /// module has none, "depth".
  PolicyOption policy;
  /// File with the state machine of policy "fsm".
  std::string policyTable;
  std::vector<std::string> sizes;
  Device device = Device::CPU;
  /// Executor of a mini-batch, or of a share of a mini-batch, on a device other
  /// than the CPU.
  Executor executor = Executor::Auto;
  /// Number of blocks in a cluster, from 1 to 16. 0 selects the size that the
  /// module specifies, if any. Otherwise, it selects 16 if executor `auto`
  /// chooses clusters of 16 blocks, and 8 in all other cases.
  int64_t clusterSize = 0;
  /// Precision of the factors of products with parameters, on a device other
  /// than the CPU.
  Precision precision = Precision::F32;
  /// GPU chip, such as "sm_90". If empty, selects the oldest chip with the
  /// features that the executor needs.
  std::string chip;
  /// Bytes of a block's shared memory for parameters. -1 selects all memory
  /// that the chip has or, if no chip is given, the amount that is available on
  /// every chip.
  int64_t sharedMemory = -1;
  /// Target triple. If empty, selects the triple of the host.
  std::string triple;
  /// LLVM name of the target CPU. "native" selects the host CPU. If empty,
  /// selects the host CPU if host and target have the same architecture, else
  /// the baseline of the target architecture.
  std::string cpu;
  /// Tuning file written by `batch-run --tune`. If empty, cost models make all
  /// choices.
  std::string tuning;
  /// Level of LLVM optimizations. Level 0 runs no optimizations, and level 1
  /// runs those that kernels need. Levels 2 and 3 are the standard LLVM levels.
  /// They take about 2.5 times as long as level 1 and gain little.
  unsigned optLevel = 1;
  /// Sanitizer used to build the program that loads the object. Supported only
  /// on the CPU.
  Sanitizer sanitizer = Sanitizer::None;
  /// Callback that configures each pass manager before it runs, for
  /// instrumentation and printing. Compilation reads command-line options only
  /// in this callback.
  std::function<LogicalResult(PassManager &)> configure;
};

/// Compiles a module at any stage to a shared object at `path` with the C ABI
/// of batch-runtime/ABI.h. Emits errors at locations of `module`, writes `path`
/// with `writeOutputFile`, and lowers `module` in place.
LogicalResult compileToSharedObject(ModuleOp module, llvm::StringRef path,
                                    const CompileOptions &options);

/// Like compileToSharedObject(), but stops at LLVM IR and writes its text to
/// `output`.
LogicalResult compileToLLVMIR(ModuleOp module, llvm::raw_ostream &output,
                              const CompileOptions &options);

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::Device)
BATCH_NAMED_OPTION(mlir::batch::Sanitizer)

#endif // BATCH_TARGET_COMPILE_COMPILE_H
