//===- Link.cpp - Shared objects of object files --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Link.h"

#include "Batch/Support/OutputFile.h"
#include "batch-runtime/ObjectSeal.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::batch;

// The linker neither reads from nor writes to a disk. A failed write would
// leave it in a state in which it cannot run again. Object files are in memory
// but have file descriptors, and the linker writes the shared object to a pipe.

static std::string nameOf(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

static std::error_code lastError() {
  return std::error_code(errno, std::generic_category());
}

namespace {

/// File in memory. The linker opens it by a name derived from its descriptor.
class MemoryFile {
public:
  explicit MemoryFile(ArrayRef<char> bytes)
      : descriptor(::memfd_create("batch.o", MFD_CLOEXEC)) {
    if (descriptor < 0) {
      error = lastError();
      return;
    }
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/false,
                                /*unbuffered=*/true);
    stream.write(bytes.data(), bytes.size());
    error = stream.error();
    stream.clear_error();
  }
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  std::string name() const { return nameOf(descriptor); }

  std::error_code error;

private:
  int descriptor;
};

/// Pipe with a thread that collects its bytes until the pipe is closed.
class CollectingPipe {
public:
  CollectingPipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      error = lastError();
      return;
    }
    reader = std::thread([this] {
      char block[1 << 16];
      while (true) {
        ssize_t count = ::read(ends[0], block, sizeof(block));
        if (count < 0 && errno == EINTR)
          continue;
        if (count <= 0)
          return;
        bytes.append(block, block + count);
      }
    });
  }
  CollectingPipe(const CollectingPipe &) = delete;
  ~CollectingPipe() { close(); }

  std::string name() const { return nameOf(ends[1]); }
  /// Closes the pipe, and returns the bytes that were written to it.
  std::string &close() {
    if (reader.joinable()) {
      ::close(ends[1]);
      reader.join();
      ::close(ends[0]);
    }
    return bytes;
  }

  std::error_code error;

private:
  int ends[2] = {-1, -1};
  std::string bytes;
  std::thread reader;
};

/// Hides the registered LLVM command-line options temporarily. Otherwise the
/// linker would reset them all, including those of the surrounding program.
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

/// Runs the linker. A process cannot run two linkers at the same time.
static LogicalResult link(Location loc, ArrayRef<const char *> arguments) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::string messages;
  HiddenOptions hidden;
  llvm::raw_string_ostream stream(messages);
  // With crash recovery, the linker also returns after fatal errors. Such
  // errors do not free the linker's context, but the next run replaces it.
  llvm::CrashRecoveryContext::Enable();
  lld::Result result =
      lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
  llvm::CrashRecoveryContext::Disable();
  if (result.retCode == 0)
    return success();
  StringRef first = StringRef(messages).split('\n').first;
  first.consume_front("ld.lld: error: ");
  return emitError(loc) << "cannot link the object: "
                        << (first.empty() ? "the linker crashed" : first);
}

LogicalResult mlir::batch::linkSharedObject(Location loc,
                                            ArrayRef<ObjectFile> objects,
                                            StringRef path) {
  std::vector<std::unique_ptr<MemoryFile>> files;
  for (const ObjectFile &object : objects)
    files.push_back(std::make_unique<MemoryFile>(object));
  CollectingPipe shared;
  std::error_code error = shared.error;
  for (const auto &file : files)
    if (!error)
      error = file->error;
  if (error)
    return emitError(loc) << "cannot link the object: " << error.message();
  // Use one thread, because an object is small.
  std::vector<std::string> words{"ld.lld", "-shared", "--threads=1", "-o",
                                 shared.name()};
  for (const auto &file : files)
    words.push_back(file->name());
  SmallVector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  if (failed(link(loc, arguments)))
    return failure();
  std::string &bytes = shared.close();
  // Append the length and checksum, which the runtime checks.
  bytes += batchrt::sealOf(bytes.data(), bytes.size());
  if (llvm::Error error = writeOutputFile(path, bytes))
    return emitError(loc) << "cannot write '" << path
                          << "': " << llvm::toString(std::move(error));
  return success();
}
