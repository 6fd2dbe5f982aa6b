//===- StandardOutput.h - Failed writes to standard output ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TOOLS_STANDARDOUTPUT_H
#define BATCH_TOOLS_STANDARDOUTPUT_H

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace mlir::batch {

/// Makes the tool print the reason and exit with status 1 if its standard
/// output cannot be written. Prints other fatal LLVM errors in the tool's own
/// format. Must be called first in main().
inline void checkStandardOutput(const char *tool) {
  static const char *name;
  name = tool;
  // Replace a closed descriptor with one that cannot be written. Otherwise, the
  // next file to be opened would get it, or LLVM would use it for /dev/null.
  if (::fcntl(STDOUT_FILENO, F_GETFD) < 0 && errno == EBADF) {
    int file = ::open("/dev/null", O_RDONLY);
    if (file >= 0 && file != STDOUT_FILENO) {
      ::dup2(file, STDOUT_FILENO);
      ::close(file);
    }
  }
  llvm::install_fatal_error_handler([](void *, const char *reason, bool) {
    llvm::errs() << name << ": error: " << reason << '\n';
    ::_exit(1);
  });
  // Create the stream first so that its destructor runs after the exit
  // handler.
  llvm::outs();
  std::atexit([] {
    llvm::raw_fd_ostream &output = llvm::outs();
    output.flush();
    if (!output.has_error())
      return;
    llvm::errs() << name << ": error: cannot write to standard output: "
                 << output.error().message() << '\n';
    output.clear_error();
    ::_exit(1);
  });
}

} // namespace mlir::batch

#endif // BATCH_TOOLS_STANDARDOUTPUT_H
