//===- ElementTypes.h - Element types ---------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_ELEMENTTYPES_H
#define BATCH_DIALECT_BATCH_ELEMENTTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::batch {

/// Returns true for the element types of rows and the types of an instance's
/// scalars: index, i1, i8, i16, i32, i64, f16, bf16, f32 and f64.
inline bool isElementType(Type type) {
  if (type.isSignlessInteger())
    return llvm::is_contained({1u, 8u, 16u, 32u, 64u},
                              type.getIntOrFloatBitWidth());
  return type.isIndex() || type.isF16() || type.isBF16() || type.isF32() ||
         type.isF64();
}

/// Returns true for f16 and bf16, and for vectors and tensors of them. Only
/// stored elements have these types: code computes in f32 and rounds results.
inline bool is16BitFloat(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF16() || element.isBF16();
}

/// Returns the type of a scalar, vector or tensor with f16 and bf16 replaced by
/// f32.
inline Type widen16BitFloat(Type type) {
  if (!is16BitFloat(type))
    return type;
  Type wide = Float32Type::get(type.getContext());
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(wide);
  return wide;
}

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_ELEMENTTYPES_H
