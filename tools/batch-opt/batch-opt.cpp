//===- batch-opt.cpp - Runs passes and pipelines on a module --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../HideLibraryOptions.h"
#include "../Version.h"
#include "Batch/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#ifdef BATCH_INCLUDE_TESTS
#include "TestPasses.h"
#endif

static const char overview[] =
    R"(Batch: batches dynamic deep-learning programs

Runs passes and pipelines on a module, in the order in which they are given, and
prints it. The passes of Batch are --batch-*, and its pipelines:

  batch-opt --autobatch model.mlir                       over a mini-batch
  batch-opt --autobatch='strategy=lockstep' model.mlir   control in lock step
  batch-opt --autobatch --cpu-workers model.mlir         for a pool of workers
  batch-opt --autobatch --gpu-persistent model.mlir      in one GPU kernel

--mlir-print-ir-after-all shows each step; batch-compile makes an object of a
model, and batch-run runs it.
)";

int main(int argc, char **argv) {
  mlir::batch::hideLibraryOptions();
  mlir::batch::setVersion("batch-opt");
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::batch::registerAllDialects(registry);
  mlir::batch::registerAllPasses();
#ifdef BATCH_INCLUDE_TESTS
  mlir::batch::test::registerTestPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, overview, registry));
}
