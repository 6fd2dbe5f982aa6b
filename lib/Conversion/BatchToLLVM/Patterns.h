//===- Patterns.h - Lowering of batch ops on the host -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOLLVM_PATTERNS_H
#define BATCH_CONVERSION_BATCHTOLLVM_PATTERNS_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::batch {

class ObjectLayout;

/// Lowers record, row, depth, traverse and recall: the inspector.
void populateInspectorPatterns(const TypeConverter &converter,
                               const ObjectLayout &layout,
                               RewritePatternSet &patterns);

/// Lowers invoke and row views of parameters: the instance program. A view's
/// source is in its attribute `kViewSourceAttr`.
void populateInstancePatterns(const TypeConverter &converter,
                              const ObjectLayout &layout,
                              RewritePatternSet &patterns);
inline constexpr llvm::StringLiteral kViewSourceAttr = "batch.view_source";

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_PATTERNS_H
