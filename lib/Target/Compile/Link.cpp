//===- Link.cpp - Shared objects of object files --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::batch;

namespace {

/// A file that is removed unless it is kept.
class TemporaryFile {
public:
  TemporaryFile() = default;
  TemporaryFile(TemporaryFile &&other) { std::swap(path, other.path); }
  ~TemporaryFile() {
    if (!path.empty())
      (void)llvm::sys::fs::remove(path);
  }
  llvm::SmallString<128> path;
};

} // namespace

static LogicalResult writeTemporary(Location loc, const ObjectFile &object,
                                    TemporaryFile &file) {
  int descriptor;
  std::error_code error =
      llvm::sys::fs::createTemporaryFile("batch", "o", descriptor, file.path);
  if (!error) {
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream.write(object.data(), object.size());
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return emitError(loc) << "cannot make a temporary file: "
                          << error.message();
  return success();
}

namespace {

/// Hides LLVM's command-line options for a while: the linker sets all of them
/// back to their defaults, those of the program around this, too.
class HiddenOptions {
public:
  HiddenOptions() {
    for (llvm::cl::SubCommand *command : llvm::cl::getRegisteredSubcommands()) {
      hidden.push_back({command, *command});
      command->PositionalOpts.clear();
      command->SinkOpts.clear();
      command->OptionsMap.clear();
      command->ConsumeAfterOpt = nullptr;
    }
  }
  ~HiddenOptions() {
    for (auto &[command, options] : hidden)
      *command = options;
  }

private:
  std::vector<std::pair<llvm::cl::SubCommand *, llvm::cl::SubCommand>> hidden;
};

} // namespace

/// Runs the linker, which is one for the whole process.
static LogicalResult link(Location loc, ArrayRef<const char *> arguments) {
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  std::string messages;
  bool linked = false;
  if (usable) {
    HiddenOptions hidden;
    llvm::raw_string_ostream stream(messages);
    // With this, the linker's fatal errors come back as well.
    llvm::CrashRecoveryContext::Enable();
    lld::Result result =
        lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    llvm::CrashRecoveryContext::Disable();
    linked = result.retCode == 0;
    usable = result.canRunAgain;
  } else {
    messages = "an earlier error ended the linker";
  }
  if (linked)
    return success();
  StringRef first = StringRef(messages).split('\n').first;
  first.consume_front("ld.lld: error: ");
  return emitError(loc) << "cannot link the object: " << first;
}

LogicalResult mlir::batch::linkSharedObject(Location loc,
                                            ArrayRef<ObjectFile> objects,
                                            StringRef path) {
  std::vector<TemporaryFile> files(objects.size());
  TemporaryFile shared;
  for (auto [object, file] : llvm::zip(objects, files))
    if (failed(writeTemporary(loc, object, file)))
      return failure();
  // Beside the result, so that the last step is a rename.
  if (std::error_code error =
          llvm::sys::fs::createUniqueFile(path + ".%%%%%%", shared.path))
    return emitError(loc) << "cannot write '" << path
                          << "': " << error.message();
  // One thread: an object is small.
  SmallVector<const char *> arguments{"ld.lld", "-shared", "--threads=1", "-o",
                                      shared.path.c_str()};
  for (TemporaryFile &file : files)
    arguments.push_back(file.path.c_str());
  if (failed(link(loc, arguments)))
    return failure();
  if (std::error_code error = llvm::sys::fs::rename(shared.path, path))
    return emitError(loc) << "cannot write '" << path
                          << "': " << error.message();
  shared.path.clear();
  return success();
}
