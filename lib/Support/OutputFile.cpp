//===- OutputFile.cpp - Files that the compiler writes --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Support/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <climits>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

using llvm::Error;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Returns the target of a symbolic link, or an empty string for other files
/// and for links in /proc, whose text is not always a path.
static std::string readLink(const std::string &name) {
  char target[PATH_MAX];
  ssize_t length = ::readlink(name.c_str(), target, sizeof(target));
  if (length <= 0)
    return "";
  llvm::SmallString<128> folder = path::parent_path(name);
  if (folder.empty())
    folder = ".";
  struct statfs system;
  if (::statfs(folder.c_str(), &system) == 0 &&
      system.f_type == PROC_SUPER_MAGIC)
    return "";
  StringRef text(target, length);
  if (path::is_absolute(text))
    return text.str();
  path::append(folder, text);
  return folder.str().str();
}

/// Writes all bytes. Returns the error of a failed write, which would otherwise
/// end the program when the stream is destroyed.
static std::error_code writeAll(int file, StringRef bytes) {
  llvm::raw_fd_ostream stream(file, /*shouldClose=*/false, /*unbuffered=*/true);
  stream << bytes;
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

static std::error_code writeInPlace(StringRef name, StringRef bytes) {
  int file;
  if (std::error_code error = fs::openFileForWrite(name, file))
    return error;
  std::error_code error = writeAll(file, bytes);
  if (::close(file) != 0 && !error)
    error = std::error_code(errno, std::generic_category());
  return error;
}

static std::error_code replace(StringRef name, StringRef bytes) {
  llvm::Expected<fs::TempFile> file =
      fs::TempFile::create(name + ".%%%%%%.partial");
  if (!file)
    return llvm::errorToErrorCode(file.takeError());
  if (std::error_code error = writeAll(file->FD, bytes)) {
    llvm::consumeError(file->discard());
    return error;
  }
  return llvm::errorToErrorCode(file->keep(name));
}

Error mlir::batch::writeOutputFile(StringRef path, StringRef bytes) {
  if (path == "-")
    return llvm::errorCodeToError(writeAll(STDOUT_FILENO, bytes));
  std::string name = path.str();
  constexpr int mostLinks = 40; // as many as Linux follows
  for (int i = 0; i < mostLinks; ++i) {
    std::string target = readLink(name);
    if (target.empty())
      break;
    name = target;
  }
  fs::file_status status;
  bool isReplaced = fs::status(name, status) || fs::is_regular_file(status);
  // If `name` is still a link, it is in /proc or 40 links led to it.
  if (fs::is_symlink_file(name))
    isReplaced = false;
  return llvm::errorCodeToError(isReplaced ? replace(name, bytes)
                                           : writeInPlace(name, bytes));
}
