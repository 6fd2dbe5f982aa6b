//===- RecToLLVM.h - Lower rec to scf, arith and llvm -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_RECTOLLVM_RECTOLLVM_H
#define BATCH_CONVERSION_RECTOLLVM_RECTOLLVM_H

#include "mlir/Pass/Pass.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::rec {
class VariantNumbering;
} // namespace mlir::rec

namespace mlir::batch {

/// Adds conversions of ADT values, lists and ranked tensors to cells (i64, see
/// batch-runtime/ABI.h). Scalars and indices keep their types, even as elements
/// and fields. They are converted where a cell is loaded or stored.
void populateRecToLLVMTypeConversions(TypeConverter &converter);

/// Adds patterns that lower `rec` ops in functions to scf, arith and llvm. The
/// functions have the context as argument 0 (see addContextArgument).
/// Declarations (`rec.adt`) remain; the caller erases them when they are no
/// longer needed. `numbering` must outlive the patterns.
void populateRecToLLVMConversionPatterns(const TypeConverter &converter,
                                         const rec::VariantNumbering &numbering,
                                         RewritePatternSet &patterns);

/// Emits an error at the first op in `op` that these patterns do not lower: an
/// op that walks a value of a list-shaped ADT.
LogicalResult checkRecToLLVM(Operation *op);

/// Adds patterns that convert the types of functions, calls, returns, selects
/// and the control flow of scf. Makes these ops legal only if their types are
/// converted.
void populateFunctionConversionsAndLegality(const TypeConverter &converter,
                                            RewritePatternSet &patterns,
                                            ConversionTarget &target);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_RECTOLLVM_RECTOLLVM_H
