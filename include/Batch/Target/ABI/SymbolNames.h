//===- SymbolNames.h - Names of symbols that passes agree on ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of symbols that one pass creates and another looks up. Names that only
// one pass uses are not defined here.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_ABI_SYMBOLNAMES_H
#define BATCH_TARGET_ABI_SYMBOLNAMES_H

#include "batch-runtime/EmulatorABI.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir::batch {

/// Returns the name of a kernel's operator. The function with the operator's
/// code has the same name.
inline std::string getOperatorName(llvm::StringRef kernel) {
  return (kernel + ".rows").str();
}

/// Returns the name of the function for one stage of an operator.
inline std::string getStageName(llvm::StringRef operatorName, int64_t stage) {
  return (operatorName + ".stage" + llvm::Twine(stage)).str();
}

/// Name of the function that loads the resident parameters into the shared
/// memory of the blocks of a GPU kernel.
inline constexpr llvm::StringLiteral kLoadParameters = "load_parameters";

/// Returns the name of the function that records the tasks of an instance
/// function.
inline std::string getInspectorName(llvm::StringRef function) {
  return (function + ".inspect").str();
}

/// Returns the name of the program that runs mini-batches of an entry.
inline std::string getExecutorName(llvm::StringRef entry) {
  return (entry + ".execute").str();
}

/// Returns the name of the program that runs one instance of an entry.
inline std::string getInstanceProgramName(llvm::StringRef entry) {
  return (entry + ".instance").str();
}

/// Returns the name of the function that assigns the next instance to a lane of
/// a machine.
inline std::string getNextInstanceName(llvm::StringRef machine) {
  return (machine + ".next_instance").str();
}

/// Returns the name of the host function that runs one thread of a GPU kernel.
inline std::string getEmulatedName(llvm::StringRef kernel) {
  return (kernel + BATCH_EMULATED_SUFFIX).str();
}

} // namespace mlir::batch

#endif // BATCH_TARGET_ABI_SYMBOLNAMES_H
