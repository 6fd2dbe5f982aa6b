//===- OutputFile.cpp - Files that the runtime writes ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/OutputFile.h"
#include "batch-runtime/Error.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace batchrt;

namespace {
/// The name of a temporary file. Signal handlers use it while the file exists.
struct PartialFile {
  std::atomic<bool> taken{false}, exists{false};
  char name[PATH_MAX];
};
/// Threads rarely write files at the same time, so few entries are enough. If a
/// signal ends the program, a temporary file without an entry remains.
PartialFile partialFiles[8];

class OutputFile {
public:
  explicit OutputFile(const std::string &path) : path(path) { open(); }
  OutputFile(const OutputFile &) = delete;
  ~OutputFile() {
    if (fd >= 0)
      ::close(fd);
    if (!temporary.empty())
      ::unlink(temporary.c_str());
    forget();
  }

  void write(const void *data, size_t size);
  void finish();

private:
  void open();
  void create(const std::string &name);
  void forget();
  void flush();
  [[noreturn]] void fail() {
    raise("cannot write '", path, "': ", std::strerror(errno));
  }

  const std::string &path;
  std::string target;    ///< file that the temporary file replaces
  std::string temporary; ///< empty: written in place
  PartialFile *partial = nullptr;
  std::string buffer;
  int fd = -1;
};
} // namespace

void batchrt::removePartialFiles() {
  for (PartialFile &file : partialFiles)
    if (file.exists)
      ::unlink(file.name);
}

/// Returns the target of a symbolic link, or an empty string for other files
/// and for links in /proc, whose text is not always a path.
static std::string readLink(const std::string &name) {
  char text[PATH_MAX];
  ssize_t length = ::readlink(name.c_str(), text, sizeof(text));
  if (length <= 0)
    return "";
  size_t slash = name.rfind('/');
  std::string folder =
      slash == std::string::npos ? "./" : name.substr(0, slash + 1);
  struct statfs system;
  if (::statfs(folder.c_str(), &system) == 0 &&
      system.f_type == PROC_SUPER_MAGIC)
    return "";
  std::string target(text, length);
  return target[0] == '/' ? target : folder + target;
}

void OutputFile::open() {
  target = path;
  constexpr int mostLinks = 40; // as many links as Linux follows
  for (int i = 0; i < mostLinks; ++i) {
    std::string next = readLink(target);
    if (next.empty())
      break;
    target = next;
  }
  struct stat state;
  bool exists = ::stat(target.c_str(), &state) == 0;
  bool isRegular = exists && S_ISREG(state.st_mode);
  // If the target is still a link, it is in /proc or 40 links led to it.
  bool isLink = ::lstat(target.c_str(), &state) == 0 && S_ISLNK(state.st_mode);
  if ((exists && !isRegular) || isLink) {
    fd = ::open(target.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
      fail();
    return;
  }
  create(target + ".XXXXXX.partial");
}

/// Creates the temporary file and registers its name for signal handlers.
void OutputFile::create(const std::string &name) {
  for (PartialFile &place : partialFiles)
    if (name.size() < sizeof(place.name) && !place.taken.exchange(true)) {
      partial = &place;
      break;
    }
  temporary = name;
  constexpr int suffix = 8; // length of ".partial"
  fd = ::mkostemps(temporary.data(), suffix, O_CLOEXEC);
  if (fd < 0) {
    temporary.clear();
    fail();
  }
  if (partial) {
    temporary.copy(partial->name, temporary.size());
    partial->name[temporary.size()] = 0;
    partial->exists = true;
  }
}

void OutputFile::forget() {
  if (!partial)
    return;
  partial->exists = false;
  partial->taken = false;
  partial = nullptr;
}

void OutputFile::flush() {
  for (size_t done = 0; done < buffer.size();) {
    ssize_t wrote = ::write(fd, buffer.data() + done, buffer.size() - done);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      fail();
    done += wrote;
  }
  buffer.clear();
}

void OutputFile::write(const void *data, size_t size) {
  buffer.append(static_cast<const char *>(data), size);
  if (buffer.size() > (1 << 20))
    flush();
}

void OutputFile::finish() {
  flush();
  if (!temporary.empty()) {
    // mkostemps creates private files; set the usual permissions.
    mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(fd, 0666 & ~mask);
  }
  int file = fd;
  fd = -1;
  if (::close(file) != 0)
    fail();
  if (temporary.empty())
    return;
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    fail();
  temporary.clear();
}

void batchrt::writeFile(
    const std::string &path,
    const std::function<void(const std::function<void(const void *, size_t)> &)>
        &produce) {
  OutputFile file(path);
  produce([&](const void *data, size_t size) { file.write(data, size); });
  file.finish();
}

void batchrt::writeFile(const std::string &path, const std::string &text) {
  writeFile(path, [&](const auto &write) { write(text.data(), text.size()); });
}
