//===- toy-opt.cpp - Another compiler's opt tool, with --autobatch --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/InitAll.h"
#include "Toy.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

int main(int argc, char **argv) {
  DialectRegistry registry;
  batch::registerAllDialects(registry);
  batch::registerAllPasses();
  registry.insert<toy::ToyDialect>();
  return asMainReturnCode(
      MlirOptMain(argc, argv, "An opt tool that embeds Batch\n", registry));
}
