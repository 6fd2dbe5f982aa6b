//===- PlanBuffers.h - Copies that buffers need -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_PLANBUFFERS_H
#define BATCH_CONVERSION_BATCHTOUPROG_PLANBUFFERS_H

#include "Batch/Dialect/UProg/UProg.h"

namespace mlir::batch {

/// Makes every `uprog.row` of a program avoid the rows of its buffer that are
/// still needed when the new row is written. The buffer gets a copy for each of
/// these rows and one more. In a loop, small rows that nothing forwards
/// alternate between two copies. Each buffer must have only one `uprog.row`.
void planBuffers(uprog::ProgramOp program);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_PLANBUFFERS_H
