//===- UProgDialect.cpp - The uprog dialect -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::uprog;

#include "Batch/Dialect/UProg/UProgDialect.cpp.inc"
#include "Batch/Dialect/UProg/UProgEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Batch/Dialect/UProg/UProgTypes.cpp.inc"

void UProgDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Batch/Dialect/UProg/UProgTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Batch/Dialect/UProg/UProgOps.cpp.inc"
      >();
}
