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

/// Writes `bytes` to the file `path`. The compiler writes all of its files with
/// this function.
///
/// A regular or new file is written atomically: to a temporary file in the same
/// directory, which is then renamed. A symbolic link remains, and its target is
/// replaced. Devices, pipes and the targets of links in /proc are written in
/// place. "-" is standard output. The message of the error contains only the
/// reason.
llvm::Error writeOutputFile(llvm::StringRef path, llvm::StringRef bytes);

} // namespace mlir::batch

#endif // BATCH_SUPPORT_OUTPUTFILE_H
