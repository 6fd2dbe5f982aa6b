//===- Compile.cpp - Calling batch-compile --------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "batch-runtime/Error.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace batchrun;
using batchrt::raise;

extern char **environ;

/// The path of batch-compile beside this program.
static std::string findCompiler() {
  char self[PATH_MAX];
  ssize_t length = ::readlink("/proc/self/exe", self, sizeof(self) - 1);
  std::string path(self, length < 0 ? 0 : length);
  path = path.substr(0, path.rfind('/') + 1) + "batch-compile";
  if (::access(path.c_str(), X_OK) != 0)
    raise("a model's source is compiled by batch-compile, which is not at '",
          path, "'; compile the model elsewhere and give the .so");
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

/// One folder at a time is enough; a signal must not leave it behind.
static char doomedObject[PATH_MAX], doomedFolder[PATH_MAX];
static void removeOnSignal(int signal) {
  ::unlink(doomedObject);
  ::rmdir(doomedFolder);
  ::_exit(128 + signal);
}

TemporaryObject::TemporaryObject(const std::string &model,
                                 const std::vector<std::string> &options) {
  if (::access(model.c_str(), R_OK) != 0)
    raise("cannot read '", model, "': ", std::strerror(errno));
  std::string compiler = findCompiler();
  const char *root = std::getenv("TMPDIR");
  folder = std::string(root && *root ? root : "/tmp") + "/batch-run-XXXXXX";
  if (!::mkdtemp(folder.data()))
    raise("cannot make a folder for the compiled model ('", folder,
          "'): ", std::strerror(errno), "; set TMPDIR");
  object = folder + "/model.so";
  if (object.size() < PATH_MAX) {
    object.copy(doomedObject, PATH_MAX - 1);
    folder.copy(doomedFolder, PATH_MAX - 1);
    std::signal(SIGINT, removeOnSignal);
    std::signal(SIGTERM, removeOnSignal);
  }

  std::vector<std::string> words{compiler, model, "-o", object};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int problem = ::posix_spawn(&child, compiler.c_str(), nullptr, nullptr,
                              arguments.data(), environ);
  int status = 0;
  if (problem == 0)
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
      ;
  if (problem != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    ::unlink(object.c_str());
    ::rmdir(folder.c_str());
    if (problem != 0)
      raise("cannot start '", compiler, "': ", std::strerror(problem));
    if (WIFSIGNALED(status))
      raise("batch-compile ended by signal ", WTERMSIG(status));
    raise("batch-compile could not compile '", model, "'");
  }
}

TemporaryObject::~TemporaryObject() {
  ::unlink(object.c_str());
  ::rmdir(folder.c_str());
}
