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

/// The device that runs mini-batches.
enum class Device { CPU, CUDA, Emulator };

template <>
struct OptionNames<Device> {
  static NameList<Device> list() {
    return {{"cpu", Device::CPU},
            {"cuda", Device::CUDA},
            {"emulator", Device::Emulator}};
  }
};

/// The sanitizer that checks accesses to memory while compiled code runs.
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
  int64_t instances = 64; ///< of a mini-batch, for options that are `auto`
  InstanceLevel level = InstanceLevel::Auto; ///< of strategy `replicate`
  LoopOrder order = LoopOrder::Auto;         ///< of strategy `replicate`
  /// None: the module's own policy, or "depth" if it has none.
  PolicyOption policy;
  /// The file with the state machine of policy "fsm".
  std::string policyTable;
  std::vector<std::string> sizes;
  Device device = Device::CPU;
  /// The executor of a mini-batch or a share of it, on a device other than the
  /// CPU.
  Executor executor = Executor::Auto;
  /// The number of blocks in a cluster, 1 to 16, where clusters run something.
  /// 0: 8, or 16 where executor `auto` selects 16.
  int64_t clusterSize = 0;
  /// The precision of the factors of products with parameters, on a device
  /// other than the CPU.
  Precision precision = Precision::F32;
  /// Chip of a GPU, such as "sm_90"; empty: the oldest chip with the features
  /// that the executor needs.
  std::string chip;
  /// Bytes of a block's shared memory for parameters. -1: all that the chip
  /// has, or, if no chip is given, as much as all chips have.
  int64_t sharedMemory = -1;
  /// Target triple; empty: the host's.
  std::string triple;
  /// Target CPU by LLVM's name. "native": the host's. Empty: the host's if the
  /// target has the host's architecture, else the baseline of the target's
  /// architecture.
  std::string cpu;
  /// File of choices, as `batch-run --tune` writes it; empty: none.
  std::string tuning;
  /// LLVM's optimizations. 0: none. 1: those that kernels need. 2 and 3: all of
  /// LLVM's own levels, which take about 2.5 times as long for little gain.
  unsigned optLevel = 1;
  /// Only for the CPU. The object runs in a program with this sanitizer.
  Sanitizer sanitizer = Sanitizer::None;
  /// Callback that configures each pass manager before it runs, for
  /// instrumentation and printing. Command-line options are read here or not at
  /// all.
  std::function<LogicalResult(PassManager &)> configure;
};

/// Compiles a module at any stage to a shared object at `path` with the C ABI
/// of batch-runtime/ABI.h. Emits errors at `module`'s locations, writes `path`
/// with `writeOutputFile`, and lowers `module` in place.
LogicalResult compileToSharedObject(ModuleOp module, llvm::StringRef path,
                                    const CompileOptions &options);

/// Does the same, but stops at LLVM IR text, for readers and tests.
LogicalResult compileToLLVMIR(ModuleOp module, llvm::raw_ostream &output,
                              const CompileOptions &options);

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::Device)
BATCH_NAMED_OPTION(mlir::batch::Sanitizer)

#endif // BATCH_TARGET_COMPILE_COMPILE_H
