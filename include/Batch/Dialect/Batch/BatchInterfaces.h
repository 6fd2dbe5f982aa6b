//===- BatchInterfaces.h - Interfaces of the batch dialect ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_BATCHINTERFACES_H
#define BATCH_DIALECT_BATCH_BATCHINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "Batch/Dialect/Batch/BatchInterfaces.h.inc"

#endif // BATCH_DIALECT_BATCH_BATCHINTERFACES_H
