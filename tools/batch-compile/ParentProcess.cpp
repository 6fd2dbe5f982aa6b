//===- ParentProcess.cpp - The process that needs the result --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParentProcess.h"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

void mlir::batch::exitWithProcess(int process) {
  auto exit = [] {
    // The LLVM handler of this signal removes files that are being written.
    ::kill(::getpid(), SIGTERM);
    ::usleep(100000);
    ::_exit(1); // the signal may be ignored
  };
  int descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (descriptor < 0) {
    if (errno == ESRCH)
      exit();
    // Before Linux 5.3, only the end of the parent process can be detected.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::kill(process, 0) != 0)
      exit();
    return;
  }
  std::thread([=] {
    pollfd ended{descriptor, POLLIN, 0};
    while (::poll(&ended, 1, -1) < 0 && errno == EINTR)
      ;
    exit();
  }).detach();
}
