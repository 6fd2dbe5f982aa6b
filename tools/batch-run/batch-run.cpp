//===- batch-run.cpp - Runs compiled models on data -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cstdio>
#include <exception>
#include <new>

/// Prints the versions as the other tools do. batch-run itself does not use
/// LLVM, but the batch-compile beside it does, if there is one.
static void printVersion() {
#ifdef BATCH_LLVM_VERSION
  std::puts("batch-run " BATCH_VERSION " (LLVM " BATCH_LLVM_VERSION ")");
#else
  std::puts("batch-run " BATCH_VERSION);
#endif
  std::printf("objects of ABI version %d\n", BATCH_ABI_VERSION);
}

int main(int argc, char **argv) {
  try {
    batchrun::Options options = batchrun::parseOptions(argc, argv);
    if (options.help) {
      std::fputs(batchrun::helpText, stdout);
      return 0;
    }
    if (options.version) {
      printVersion();
      return 0;
    }
    return batchrun::run(options);
  } catch (const std::bad_alloc &) {
    std::fputs(
        "batch-run: error: out of memory; a smaller --batch needs less\n",
        stderr);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "batch-run: error: %s\n", error.what());
  }
  return 1;
}
