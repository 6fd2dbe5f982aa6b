//===- UnitBarriers.h - Where units wait for each other ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_UNITBARRIERS_H
#define BATCH_ANALYSIS_UNITBARRIERS_H

#include "Batch/Dialect/UProg/UProg.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::batch {

/// Finds missing barriers in a program for single instances. Returns the ops
/// that need an additional barrier before them. At such an op, a unit may
/// access a row that another unit has not finished reading or writing. The
/// data-flow analysis follows rows across back edges. Conflicting accesses need
/// a barrier unless a single unit makes all of them.
llvm::SetVector<Operation *> findBarriers(uprog::ProgramOp program);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_UNITBARRIERS_H
