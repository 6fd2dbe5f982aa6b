//===- batch-opt.cpp - Runs passes and pipelines on a module --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#ifdef BATCH_INCLUDE_TESTS
#include "TestPasses.h"
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::batch::registerAllDialects(registry);
  mlir::batch::registerAllPasses();
#ifdef BATCH_INCLUDE_TESTS
  mlir::batch::test::registerTestPasses();
#endif
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Batch: batches dynamic deep-learning programs\n", registry));
}
