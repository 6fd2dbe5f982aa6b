//===- TestPasses.cpp - Passes for tests only -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

void mlir::batch::test::registerTestPasses() {
  registerTestControlStructurePasses();
  registerTestSharednessPass();
  registerTestValueClassesPass();
}
