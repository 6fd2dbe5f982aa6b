//===- HideLibraryOptions.h - Help without library options ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TOOLS_HIDELIBRARYOPTIONS_H
#define BATCH_TOOLS_HIDELIBRARYOPTIONS_H

#include "llvm/Support/CommandLine.h"

namespace mlir::batch {

/// Hides the options that LLVM libraries register when they are loaded, except
/// generic options such as --help. Only --help-hidden lists hidden options.
/// Must be called before a tool registers its own options.
inline void hideLibraryOptions() {
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.second->Categories.front()->getName() != "Generic Options")
      entry.second->setHiddenFlag(llvm::cl::Hidden);
}

} // namespace mlir::batch

#endif // BATCH_TOOLS_HIDELIBRARYOPTIONS_H
