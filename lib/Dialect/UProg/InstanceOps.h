//===- InstanceOps.h - Checks of programs of instances ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_DIALECT_UPROG_INSTANCEOPS_H
#define BATCH_LIB_DIALECT_UPROG_INSTANCEOPS_H

#include "Batch/Dialect/UProg/UProg.h"

namespace mlir::uprog {

/// Checks what ops of a program say of rows against what the rows are, as far
/// as the ops that made these say it, and arguments and results against the
/// entry.
LogicalResult verifyInstances(ProgramOp program);

/// Checks that rows can hold tensors of `type`, which `op` has memory for.
LogicalResult verifyRowType(Operation *op, RankedTensorType type);

/// True if `datum` is what an argument, field or element of `type` is in a
/// program: a row for a tensor, a list of rows for a ragged one.
bool isDatumOrList(Type datum, Type type);

} // namespace mlir::uprog

#endif // BATCH_LIB_DIALECT_UPROG_INSTANCEOPS_H
