//===- GPUTarget.h - What making code for a GPU takes -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_GPUTARGET_H
#define BATCH_CONVERSION_GPUTARGET_H

#include "llvm/ADT/StringRef.h"

namespace mlir::batch {

/// The tool of a CUDA toolkit that is needed to make "bin" or "fatbin" code and
/// lies neither in the toolkit nor on the PATH; empty if all are there.
llvm::StringRef findMissingCUDATool(llvm::StringRef format);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_GPUTARGET_H
