//===- TestPasses.h - Passes for tests only ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TEST_LIB_TESTPASSES_H
#define BATCH_TEST_LIB_TESTPASSES_H

namespace mlir::batch::test {

/// Each of these functions registers the passes of one file.
void registerTestControlStructurePasses();
void registerTestSharednessPass();
void registerTestValueClassesPass();

/// Registers the passes of all files.
void registerTestPasses();

} // namespace mlir::batch::test

#endif // BATCH_TEST_LIB_TESTPASSES_H
