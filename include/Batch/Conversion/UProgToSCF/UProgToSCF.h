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

/// Lowers the control that all units agree on to scf, wherever it stands:
/// uprog.for, uprog.branch and uprog.while with the terminators of their
/// regions. The values that a loop passes on get the types that `converter`
/// gives them, one for each.
///
/// How units run operators, meet and find the steps of a plan is the target's,
/// and so are uprog.reduce and uprog.compact, which the threads of a unit may
/// share out.
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
