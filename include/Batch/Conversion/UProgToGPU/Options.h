//===- Options.h - Options of GPU code --------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOGPU_OPTIONS_H
#define BATCH_CONVERSION_UPROGTOGPU_OPTIONS_H

#include "Batch/Support/NamedOption.h"

namespace mlir::batch {

/// Blocks of a GPU that run a plan together; `Auto` leaves the choice to
/// batch-choose-executor.
enum class Executor { Auto, Device, Cluster, Block };

/// Format of a kernel: LLVM dialect, text (PTX or assembly), or a binary that a
/// toolkit creates from the text.
enum class CodeFormat { LLVM, ISA, Bin, Fatbin };

template <>
struct OptionNames<Executor> {
  static NameList<Executor> list() {
    return {{"auto", Executor::Auto},
            {"device", Executor::Device},
            {"cluster", Executor::Cluster},
            {"block", Executor::Block}};
  }
};

template <>
struct OptionNames<CodeFormat> {
  static NameList<CodeFormat> list() {
    return {{"llvm", CodeFormat::LLVM},
            {"isa", CodeFormat::ISA},
            {"bin", CodeFormat::Bin},
            {"fatbin", CodeFormat::Fatbin}};
  }
};

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::Executor)
BATCH_NAMED_OPTION(mlir::batch::CodeFormat)

#endif // BATCH_CONVERSION_UPROGTOGPU_OPTIONS_H
