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

/// The ops of a program of single instances before which its units have to wait
/// for each other, besides at the barriers that are there: where a unit may use
/// a row that another one has not read or written yet. A data flow over rows,
/// across back edges; only for what one unit does by itself it takes no
/// barrier.
llvm::SetVector<Operation *> findBarriers(uprog::ProgramOp program);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_UNITBARRIERS_H
