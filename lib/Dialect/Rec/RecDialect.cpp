//===- RecDialect.cpp - The rec dialect -----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Rec/Rec.h"

using namespace mlir;
using namespace mlir::rec;

#include "Batch/Dialect/Rec/RecDialect.cpp.inc"

void RecDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "Batch/Dialect/Rec/RecOps.cpp.inc"
      >();
}
