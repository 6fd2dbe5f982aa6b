//===- ElementTypes.h - Types of elements -----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_ELEMENTTYPES_H
#define BATCH_DIALECT_BATCH_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::batch {

/// True for the types of an element of a row and of a scalar of an instance:
/// index, i1, i8, i16, i32, i64, f16, bf16, f32 and f64.
inline bool isElementType(Type type) {
  if (type.isSignlessInteger())
    return llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                              type.getIntOrFloatBitWidth());
  return type.isIndex() || type.isF16() || type.isBF16() || type.isF32() ||
         type.isF64();
}

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_ELEMENTTYPES_H
