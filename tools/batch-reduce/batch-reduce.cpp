//===- batch-reduce.cpp - Test case reducer -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../HideLibraryOptions.h"
#include "../StandardOutput.h"
#include "../Version.h"
#include "Batch/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::batch::checkStandardOutput("batch-reduce");
  mlir::batch::hideLibraryOptions();
  mlir::batch::setVersion("batch-reduce");
  mlir::registerAllPasses();
  mlir::batch::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::batch::registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
