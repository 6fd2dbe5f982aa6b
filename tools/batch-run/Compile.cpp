//===- Compile.cpp - Calling batch-compile --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/OutputFile.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace batchrun;
using namespace batchrt;

extern char **environ;

/// Returns the path of batch-compile next to this program.
static std::string findCompiler() {
  char self[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", self, sizeof(self) - 1);
  std::string path(self, length < 0 ? 0 : length);
  path = path.substr(0, path.rfind('/') + 1) + "batch-compile";
  if (::access(path.c_str(), X_OK) != 0)
    raise("cannot find '", path,
          "'; install batch-compile there, or pass a compiled .so");
  return path;
}

bool batchrun::isSource(const std::string &model) {
  for (std::string end : {".mlir", ".mlirbc"})
    if (model.size() > end.size() &&
        model.compare(model.size() - end.size(), end.size(), end) == 0)
      return true;
  char first[4] = {};
  return std::ifstream(model, std::ios::binary).read(first, sizeof(first)) &&
         std::memcmp(first, "ML\xefR", sizeof(first)) == 0;
}

/// Process ID of the running batch-compile, or 0.
static volatile pid_t compilerProcess = 0;

static void endOnSignal(int signal) {
  if (pid_t process = compilerProcess)
    ::kill(process, SIGTERM);
  removePartialFiles();
  // End by the signal itself, so that the shell can see it.
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

void batchrun::installSignalHandlers() {
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    // A signal that is ignored, as under nohup and in background jobs, stays
    // ignored.
    if (std::signal(signal, endOnSignal) == SIG_IGN)
      std::signal(signal, SIG_IGN);
}

MemoryFile::MemoryFile(const char *name)
    // No MFD_CLOEXEC, because batch-compile opens the file.
    : descriptor(::memfd_create(name, 0)) {
  if (descriptor < 0)
    raise("cannot create an in-memory file: ", std::strerror(errno));
}

MemoryFile::~MemoryFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

std::string MemoryFile::path() const {
  return concat("/proc/self/fd/", descriptor);
}

CompilerOutput::CompilerOutput(const std::string &model,
                               const std::vector<std::string> &options)
    : object("model.so") {
  if (::access(model.c_str(), R_OK) != 0)
    raise("cannot read '", model, "': ", std::strerror(errno));
  std::string compiler = findCompiler();
  std::vector<std::string> words{compiler, model, "-o", object.path(),
                                 concat("--parent=", ::getpid())};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  // No signal may arrive before compilerProcess is set.
  sigset_t ending, before;
  sigemptyset(&ending);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&ending, signal);
  ::pthread_sigmask(SIG_BLOCK, &ending, &before);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &before);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  int problem = ::posix_spawn(&child, compiler.c_str(), nullptr, &attributes,
                              arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  if (problem == 0)
    compilerProcess = child;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (problem != 0)
    raise("cannot start '", compiler, "': ", std::strerror(problem));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  compilerProcess = 0;
  if (WIFSIGNALED(status))
    raise("batch-compile was terminated by signal ", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    raise("batch-compile could not compile '", model, "'");
}
