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

/// Gives sizes of `module` (`kSizesAttr`) new values, each as NAME=NUMBER, and
/// the dimensions that follow them; see batch-specialize-sizes. If it `isLast`,
/// sizes may become 1, which no other dimensions could be told from.
LogicalResult specializeSizes(ModuleOp module, ArrayRef<std::string> values,
                              bool isLast = false);

} // namespace mlir::batch

#endif // BATCH_TRANSFORMS_NORMALIZE_SIZES_H
