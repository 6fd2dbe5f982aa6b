//===- Library.cpp - Functions that models may declare --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Library/Library.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace {
struct Source {
  const char *name;
  const char *text;
};
} // namespace

static constexpr Source kSources[] = {
#include "Sources.inc"
};

OwningOpRef<ModuleOp> mlir::batch::parseLibrary(MLIRContext *context) {
  OwningOpRef<ModuleOp> library = ModuleOp::create(UnknownLoc::get(context));
  ParserConfig config(context);
  for (const Source &source : kSources) {
    LogicalResult parsed =
        parseSourceString(source.text, library->getBody(), config, source.name);
    assert(succeeded(parsed) && "the library is not valid");
    (void)parsed;
  }
  return library;
}
