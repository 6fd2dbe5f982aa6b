//===- UProgToSCF.h - Lower the control of programs to scf ------*- C++ -*-===//
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

/// Lowers the control of programs to scf, wherever it is: uprog.for,
/// uprog.branch and uprog.while with the terminators of their regions. The
/// values that they hand on get the types to which `converter` maps theirs, one
/// for each.
///
/// Each target lowers how units run operators, wait at barriers and find the
/// steps of a plan, and also uprog.reduce and uprog.compact, whose work the
/// threads of a unit may share.
void populateUProgToSCFPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns);

/// For a target's pattern of uprog.reduce: moves its region into a loop before
/// it, over every `step`th number from `first` to `upper` (an i64 and an
/// index). Returns the least keys, then the numbers that have them, all i64s.
SmallVector<Value> makeLeastLoop(uprog::ReduceOp reduce, Value upper,
                                 Value first, int64_t step,
                                 ConversionPatternRewriter &rewriter);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_UPROGTOSCF_UPROGTOSCF_H
