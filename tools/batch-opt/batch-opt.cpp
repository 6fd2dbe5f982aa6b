//===- batch-opt.cpp - Runs passes and pipelines on a module --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../HideLibraryOptions.h"
#include "../StandardOutput.h"
#include "../Version.h"
#include "Batch/InitAll.h"
#include "Batch/Support/OutputFile.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#ifdef BATCH_INCLUDE_TESTS
#include "TestPasses.h"
#endif

static const char overview[] =
    R"(Batch optimizer driver

Runs passes and pipelines on a module, in the order given, and prints the result.
The names of most Batch passes begin with --batch-. The pipelines are:

  batch-opt --autobatch model.mlir                       over a mini-batch
  batch-opt --autobatch='strategy=lockstep' model.mlir   in lockstep
  batch-opt --autobatch --cpu-workers model.mlir         for a pool of workers
  batch-opt --autobatch --gpu-persistent model.mlir      in one GPU kernel

--mlir-print-ir-after-all prints the module after each pass. To compile a model to
an object, use batch-compile; to run it, use batch-run.
)";

static int fail(const llvm::Twine &message) {
  llvm::errs() << "batch-opt: error: " << message << '\n';
  return 1;
}

/// Runs the passes. Writes the module to a file only if all of them succeed.
static int writeFile(llvm::StringRef input, llvm::StringRef output,
                     mlir::DialectRegistry &registry,
                     const mlir::MlirOptMainConfig &config) {
  std::string text, message;
  std::unique_ptr<llvm::MemoryBuffer> source =
      mlir::openInputFile(input, &message);
  if (!source)
    return fail(message);
  llvm::raw_string_ostream stream(text);
  if (failed(mlir::MlirOptMain(stream, std::move(source), registry, config)))
    return 1;
  if (llvm::Error error = mlir::batch::writeOutputFile(output, text))
    return fail("cannot write '" + output +
                "': " + llvm::toString(std::move(error)));
  return 0;
}

int main(int argc, char **argv) {
  mlir::batch::checkStandardOutput("batch-opt");
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
  auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, overview, registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (output == "-" || config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(
        mlir::MlirOptMain(argc, argv, input, "-", registry));
  llvm::InitLLVM init(argc, argv);
  return writeFile(input, output, registry, config);
}
