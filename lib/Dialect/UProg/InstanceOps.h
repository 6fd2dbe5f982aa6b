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

/// Checks the types of rows that are operands in a program, if the ops that
/// create the rows specify these types. Checks arguments and results against
/// the entry.
LogicalResult verifyInstances(ProgramOp program);

/// Checks that the rows of `op` can store tensors of `type`.
LogicalResult verifyRowType(Operation *op, RankedTensorType type);

/// Returns true if `datum` is the type that an argument, field or element of
/// type `type` has in a program: a row for a tensor, a list of rows for a
/// ragged tensor, and `type` itself otherwise.
bool isDatumOrList(Type datum, Type type);

} // namespace mlir::uprog

#endif // BATCH_LIB_DIALECT_UPROG_INSTANCEOPS_H
