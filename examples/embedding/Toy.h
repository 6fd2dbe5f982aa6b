//===- Toy.h - A dialect whose op runs in kernels ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOY_H
#define TOY_H

#include "Batch/Dialect/Batch/BatchInterfaces.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ToyDialect.h.inc"
#define GET_OP_CLASSES
#include "Toy.h.inc"

#endif // TOY_H
