//===- NumberForm.h - Programs without tensors ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The *number form* of an entry computes with the elements of its tensors
// instead of tensors: every operation on tensors becomes operations on numbers,
// loops and branches carry numbers. It exists where all tensors of an instance
// have few elements. Then the code of an instance keeps them in registers.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_NUMBERFORM_H
#define BATCH_ANALYSIS_NUMBERFORM_H

#include "Batch/Analysis/InstanceProgram.h"
#include "Batch/Analysis/Obstacle.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::batch {

/// The most elements of a tensor that become numbers.
inline constexpr int64_t kFewElements = 16;
/// The most operations of a number form. Code of more is slow to compile, and
/// no longer small beside the cost of a task.
inline constexpr int64_t kFewOperations = 4096;
/// As how many of them an op of `math` counts, which becomes a polynomial.
inline constexpr int64_t kFunctionSize = 16;

/// Makes the number form of the entry, in no module. If there is none, it is
/// null, and `obstacle` says why.
OwningOpRef<func::FuncOp> makeNumberForm(const InstanceProgram &program,
                                         std::optional<Obstacle> &obstacle);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_NUMBERFORM_H
