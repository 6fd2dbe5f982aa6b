//===- batch-lsp-server.cpp - Language server -----------------------------===//
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
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::batch::checkStandardOutput("batch-lsp-server");
  mlir::batch::hideLibraryOptions();
  mlir::batch::setVersion("batch-lsp-server");
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::batch::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
