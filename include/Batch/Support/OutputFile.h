//===- OutputFile.h - Files that the compiler writes ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_SUPPORT_OUTPUTFILE_H
#define BATCH_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace mlir::batch {

/// Writes the file `path`; every file of the compiler is written by this.
///
/// A regular file, or one that does not exist, is written whole or not at all:
/// under a temporary name in its folder, which is renamed at the end. A
/// symbolic link stays, and its target is replaced. Devices, pipes and what a
/// link of /proc names are written in place. "-" is standard output. The
/// error's message is the reason alone.
llvm::Error writeOutputFile(llvm::StringRef path, llvm::StringRef bytes);

} // namespace mlir::batch

#endif // BATCH_SUPPORT_OUTPUTFILE_H
