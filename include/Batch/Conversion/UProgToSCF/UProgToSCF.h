//===- UProgToSCF.h - Lower control flow of programs to scf -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOSCF_UPROGTOSCF_H
#define BATCH_CONVERSION_UPROGTOSCF_UPROGTOSCF_H

#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::batch {

/// Adds patterns that lower uprog.for, uprog.branch and uprog.while, with the
/// terminators of their regions, to scf. The ops need not be in a program.
/// `converter` must convert the type of each forwarded value to exactly one
/// type.
///
/// Targets lower the other ops: those that run operators, wait at barriers or
/// read plans, and also uprog.reduce and uprog.compact. The work of these two
/// ops may be divided among the threads of a unit.
void populateUProgToSCFPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns);

/// Moves the region of a uprog.reduce into a loop before the op. Patterns of
/// targets call this function. The loop runs over every `step`th number from
/// `first` (an i64) to `upper` (an index). Returns the smallest keys, followed
/// by the numbers that have these keys, all as i64.
SmallVector<Value> makeLeastLoop(uprog::ReduceOp reduce, Value upper,
                                 Value first, int64_t step,
                                 ConversionPatternRewriter &rewriter);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_UPROGTOSCF_UPROGTOSCF_H
