//===- Seal.cpp - Checking the seal of an object --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seal.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/ObjectSeal.h"

#include <algorithm>
#include <cerrno>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace batchrt;

namespace {
/// A regular file, opened for reading.
class OpenFile {
public:
  explicit OpenFile(const std::string &path)
      : path(path),
        fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status;
    if (fd < 0 || ::fstat(fd, &status) != 0)
      raiseUnreadable();
    if (!S_ISREG(status.st_mode))
      raise("cannot read '", path, "': it is not a regular file");
    size = status.st_size;
  }
  OpenFile(const OpenFile &) = delete;
  ~OpenFile() {
    if (fd >= 0)
      ::close(fd);
  }

  /// Reads up to `count` bytes at `offset` and returns the number of bytes
  /// read.
  size_t read(void *data, size_t count, uint64_t offset) const {
    ssize_t found;
    do
      found = ::pread(fd, data, count, static_cast<off_t>(offset));
    while (found < 0 && errno == EINTR);
    if (found < 0)
      raiseUnreadable();
    return static_cast<size_t>(found);
  }

  uint64_t size = 0;

private:
  [[noreturn]] void raiseUnreadable() const {
    raise("cannot read '", path, "': ", std::strerror(errno));
  }

  const std::string &path;
  int fd;
};
} // namespace

void batchrt::checkSeal(const std::string &path) {
  const OpenFile file(path);
  ObjectSeal seal;
  const bool sealed = file.size >= sizeof(seal) &&
                      file.read(&seal, sizeof(seal),
                                file.size - sizeof(seal)) == sizeof(seal) &&
                      seal.hasMagic();
  if (!sealed) {
    char magic[SELFMAG];
    const size_t found = file.read(magic, sizeof(magic), 0);
    if (found > 0 && std::memcmp(magic, ELFMAG, found) != 0)
      raise("'", path,
            "' is not a compiled object; make one with batch-compile "
            "MODEL.mlir -o FILE.so");
    raise("object '", path,
          "' is damaged: it has no checksum at its end; it was truncated, "
          "rewritten by another program such as strip, or written by an "
          "earlier version of batch-compile; recompile the model");
  }
  const uint64_t length = file.size - sizeof(seal);
  if (seal.length != length)
    raise("object '", path, "' is damaged: it has ", length,
          " bytes before its checksum instead of ", seal.length,
          "; recompile the model");
  ObjectChecksum checksum;
  std::vector<char> block(size_t(1) << 18);
  for (uint64_t offset = 0; offset < length;) {
    const size_t count =
        file.read(block.data(),
                  std::min<uint64_t>(block.size(), length - offset), offset);
    if (count == 0)
      break;
    checksum.add(block.data(), count);
    offset += count;
  }
  if (checksum.value() != seal.checksum)
    raise("object '", path,
          "' is damaged: its checksum does not match; recompile the model");
}
