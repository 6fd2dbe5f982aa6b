//===- Sizes.h - Named sizes of a module ------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_NORMALIZE_SIZES_H
#define BATCH_TRANSFORMS_NORMALIZE_SIZES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::batch {

/// Sets sizes of `module` (`kSizesAttr`), and the dimensions that depend on
/// them, to new values, each given as NAME=NUMBER; see batch-specialize-sizes.
/// If `isLast` is true, sizes may become 1. Dimensions that depend on such a
/// size can then no longer be distinguished from other dimensions.
LogicalResult specializeSizes(ModuleOp module, ArrayRef<std::string> values,
                              bool isLast = false);

} // namespace mlir::batch

#endif // BATCH_TRANSFORMS_NORMALIZE_SIZES_H
