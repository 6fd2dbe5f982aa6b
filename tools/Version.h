//===- Version.h - --version of the compiler's tools ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TOOLS_VERSION_H
#define BATCH_TOOLS_VERSION_H

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace mlir::batch {

/// Makes --version print the tool's name, the project's version (BATCH_VERSION,
/// defined by CMake), and the LLVM version. `more` contains whole lines, which
/// are printed last.
inline void setVersion(const std::string &tool, const std::string &more = "") {
  llvm::cl::SetVersionPrinter([=](llvm::raw_ostream &os) {
    os << tool << " " BATCH_VERSION " (LLVM " LLVM_VERSION_STRING ")\n" << more;
  });
}

} // namespace mlir::batch

#endif // BATCH_TOOLS_VERSION_H
