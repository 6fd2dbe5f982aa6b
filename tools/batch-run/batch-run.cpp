//===- batch-run.cpp - Runs compiled models on data -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <new>
#include <unistd.h>

/// Prints the versions in the same form as the other tools. batch-run itself
/// does not use LLVM, but the batch-compile next to it does, if it exists.
static void printVersion() {
#ifdef BATCH_LLVM_VERSION
  std::puts("batch-run " BATCH_VERSION " (LLVM " BATCH_LLVM_VERSION ")");
#else
  std::puts("batch-run " BATCH_VERSION);
#endif
  std::printf("objects of ABI version %d\n", BATCH_ABI_VERSION);
}

/// Replaces the descriptor of a closed standard output with one that cannot be
/// written. Otherwise, the next file that is opened would get it.
static void keepStandardOutput() {
  if (::fcntl(STDOUT_FILENO, F_GETFD) >= 0 || errno != EBADF)
    return;
  int file = ::open("/dev/null", O_RDONLY);
  if (file >= 0 && file != STDOUT_FILENO) {
    ::dup2(file, STDOUT_FILENO);
    ::close(file);
  }
}

static int run(int argc, char **argv) {
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
}

int main(int argc, char **argv) {
  keepStandardOutput();
  batchrun::installSignalHandlers();
  int code = 1;
  try {
    code = run(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs("batch-run: error: out of memory; use a smaller --batch\n",
               stderr);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "batch-run: error: %s\n", error.what());
  }
  errno = 0;
  if (std::fflush(stdout) == 0 && !std::ferror(stdout))
    return code;
  // The reason is unknown if an earlier flush failed.
  std::fprintf(stderr,
               "batch-run: error: cannot write to standard output%s%s\n",
               errno ? ": " : "", errno ? std::strerror(errno) : "");
  return 1;
}
