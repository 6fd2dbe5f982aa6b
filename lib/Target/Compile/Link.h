//===- Link.h - Shared objects of object files ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_TARGET_COMPILE_LINK_H
#define BATCH_LIB_TARGET_COMPILE_LINK_H

#include "GenerateCode.h"

namespace mlir::batch {

/// Links object files of any target into the shared object `path`. Writes the
/// file atomically. The shared object needs no library, because the host
/// contains the C functions that the shared object calls.
LogicalResult linkSharedObject(Location loc, ArrayRef<ObjectFile> objects,
                               StringRef path);

} // namespace mlir::batch

#endif // BATCH_LIB_TARGET_COMPILE_LINK_H
