//===- Patterns.h - Lowering of batch ops on the host -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOLLVM_PATTERNS_H
#define BATCH_CONVERSION_BATCHTOLLVM_PATTERNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::batch {

class ObjectLayout;

/// Adds the patterns that lower the ops of the inspector, such as batch.record,
/// row, depth, traverse and await.
void populateInspectorPatterns(const TypeConverter &converter,
                               const ObjectLayout &layout,
                               RewritePatternSet &patterns);

/// Emits an error at the first op of `function` that the inspector patterns do
/// not lower.
LogicalResult checkInspectorPatterns(func::FuncOp function,
                                     const ObjectLayout &layout);

/// Lowers the batch.concurrent ops of `function`, and the loops of `function`
/// with kConcurrentAttr. All other ops must already be lowered. Each
/// batch.concurrent and each such loop becomes a call to the runtime. The call
/// passes a function that runs a region or a round. With `keepsRows`, the
/// runtime can find the rows of results while some branches wait.
void lowerConcurrent(func::FuncOp function, bool keepsRows);

/// Lowers the batch.keep ops of `function`. All other ops must already be
/// lowered. Each call of `function` has a BatchFrame (ABI.h) that contains the
/// rows that the batch.keep ops list.
void lowerKeepOps(FunctionOpInterface function);

/// Links the BatchFrame in `frame` as the innermost frame. `frame` is on the
/// stack. The BatchFrame begins at cell `place` and has `rows` rows that are
/// not set yet. Returns the address of the outer frame.
Value enterFrame(OpBuilder &builder, Location loc, Value context, Value frame,
                 int64_t place, int64_t rows);
/// Unlinks the innermost frame, given the next outer frame.
void leaveFrame(OpBuilder &builder, Location loc, Value context, Value outer);

/// Adds the patterns that lower the instance program, such as batch.invoke, row
/// views and row counts of parameters. The attribute `kViewSourceAttr` of a
/// view or count specifies its source. The value 0 means that the extent of a
/// parameter is not a row count.
void populateInstancePatterns(const TypeConverter &converter,
                              const ObjectLayout &layout,
                              RewritePatternSet &patterns);
inline constexpr llvm::StringLiteral kViewSourceAttr = "batch.view_source";

/// Allocates `bytes`, a multiple of 64, in the bump arena. Returns the address
/// as a cell.
Value allocateRows(OpBuilder &builder, Location loc, Value context,
                   Value bytes);

/// Emits an error at the first op of `function` that the instance patterns do
/// not lower.
LogicalResult checkInstancePatterns(func::FuncOp function);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOLLVM_PATTERNS_H
