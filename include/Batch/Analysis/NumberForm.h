//===- NumberForm.h - Programs without tensors ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The *number form* of an entry computes with elements of tensors instead of
// tensors. Operations on tensors become operations on numbers, and loops and
// branches carry numbers, so compiled code can store the elements in registers.
// Only an entry whose tensors all have few elements has a number form.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_NUMBERFORM_H
#define BATCH_ANALYSIS_NUMBERFORM_H

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Analysis/Obstacle.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::batch {

/// Maximum number of elements of a tensor that is replaced with numbers.
inline constexpr int64_t kFewElements = 16;
/// Maximum number of operations of a number form. Larger code takes a long time
/// to compile, and its run time is no longer small compared with that of a
/// task.
inline constexpr int64_t kFewOperations = 4096;
/// Number of operations that an op of `math` counts as. Such an op becomes a
/// polynomial.
inline constexpr int64_t kFunctionSize = 16;

/// Creates the number form of the entry, outside of any module. If the entry
/// has no number form, returns null and stores the reason in `obstacle`.
OwningOpRef<func::FuncOp> makeNumberForm(const InstanceProgram &program,
                                         std::optional<Obstacle> &obstacle);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_NUMBERFORM_H
