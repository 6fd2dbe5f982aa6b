//===- EntryAttrs.h - Attributes of the entry -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_ENTRYATTRS_H
#define BATCH_DIALECT_BATCH_ENTRYATTRS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::batch {

/// Attribute of an entry with strategy `replicate`. Each worker runs whole
/// instances and computes with scalars instead of tensors.
inline constexpr StringLiteral kPerUnitAttr = "batch.per_unit";

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_ENTRYATTRS_H
