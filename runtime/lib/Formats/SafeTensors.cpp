//===- SafeTensors.cpp - Reading and writing safetensors ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/OutputFile.h"
#include "batch-runtime/Tensors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace batchrt;
using nlohmann::json;

namespace {
/// An open file, closed at the end of its scope.
struct OpenFile {
  int fd;
  ~OpenFile() {
    if (fd >= 0)
      ::close(fd);
  }
};

/// Maps a file. Returns its bytes (null for an empty file) and its size.
std::pair<std::shared_ptr<const void>, int64_t>
mapFile(const std::string &path) {
  OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status;
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0)
    raise("cannot read '", path, "': ", std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    raise("cannot read '", path, "': it is not a regular file");
  size_t size = status.st_size;
  if (size == 0)
    return {nullptr, 0};
  void *data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED)
    raise("cannot read '", path, "': ", std::strerror(errno));
  return {std::shared_ptr<const void>(
              data,
              [size](const void *p) { ::munmap(const_cast<void *>(p), size); }),
          static_cast<int64_t>(size)};
}

/// Parses the header. Reports tensor names that occur twice, which the parser
/// itself accepts.
json parseHeader(const std::string &path, const char *begin, int64_t size) {
  std::set<std::string> names;
  std::string twice;
  auto callback = [&](int depth, json::parse_event_t event, json &parsed) {
    if (depth == 1 && event == json::parse_event_t::key &&
        !names.insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  // Report NUL characters: the parser treats them as the end of the text.
  if (const void *nul = std::memchr(begin, 0, size))
    raise("'", path,
          "' is not a safetensors file: its header is not JSON (byte ",
          static_cast<const char *>(nul) - begin, " is NUL)");
  json header;
  try {
    header = json::parse(begin, begin + size, callback);
  } catch (const json::exception &error) {
    raise("'", path, "' is not a safetensors file: its header is not JSON (",
          error.what(), ")");
  }
  if (!twice.empty())
    raise("'", path, "': the header names tensor '", twice, "' twice");
  if (!header.is_object())
    raise("'", path,
          "' is not a safetensors file: its header is not a JSON object");
  return header;
}

DType parseFileType(const std::string &path, const std::string &tensor,
                    const std::string &name) {
  std::string known;
  for (DType type :
       {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32,
        DType::I16, DType::I8, DType::U8, DType::I1}) {
    if (name == fileName(type))
      return type;
    known += concat(known.empty() ? "" : ", ", fileName(type));
  }
  raise("'", path, "': tensor '", tensor, "' has unsupported type ", name,
        "; store it as one of ", known);
}

bool isCount(const json &value) {
  return value.is_number_unsigned() &&
         value.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX);
}

/// Byte range of a tensor's data, relative to the end of the header.
struct Range {
  uint64_t begin, end;
  std::string name;
};

/// Reads the type and shape of a tensor. Returns its size in bytes.
uint64_t parseView(const std::string &path, const std::string &name,
                   const json &entry, TensorView &view) {
  if (!entry.is_object() || !entry.contains("dtype") ||
      !entry.contains("shape") || !entry.contains("data_offsets") ||
      !entry["dtype"].is_string() || !entry["shape"].is_array() ||
      !entry["data_offsets"].is_array() || entry["data_offsets"].size() != 2)
    raise("'", path, "': the entry of tensor '", name,
          "' requires dtype, shape and two data_offsets");
  view.type = parseFileType(path, name, entry["dtype"].get<std::string>());
  uint64_t bytes = byteSize(view.type);
  for (const json &extent : entry["shape"]) {
    if (!isCount(extent))
      raise("'", path, "': tensor '", name, "' has a malformed shape ",
            entry["shape"].dump());
    view.shape.push_back(extent.get<int64_t>());
    if (__builtin_mul_overflow(bytes, extent.get<uint64_t>(), &bytes))
      raise("'", path, "': tensor '", name, "' of shape ",
            shapeName(view.shape), " is too large");
  }
  return bytes;
}

Range parseRange(const std::string &path, const std::string &name,
                 const json &offsets, uint64_t dataSize) {
  if (!isCount(offsets[0]) || !isCount(offsets[1]))
    raise("'", path, "': tensor '", name, "' has malformed data_offsets ",
          offsets.dump());
  uint64_t begin = offsets[0].get<uint64_t>(), end = offsets[1].get<uint64_t>();
  if (begin > end || end > dataSize)
    raise("'", path, "': the data of tensor '", name, "' is at bytes ", begin,
          " to ", end, ", but the file has only ", dataSize,
          " bytes of data; it may be truncated");
  return {begin, end, name};
}

/// Checks that every byte of the data belongs to exactly one tensor.
void checkCovered(const std::string &path, std::vector<Range> &ranges,
                  uint64_t dataSize) {
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  uint64_t covered = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].begin < covered)
      raise("'", path, "': the data of tensors '", ranges[i - 1].name,
            "' and '", ranges[i].name, "' overlap");
    if (ranges[i].begin > covered)
      raise("'", path, "': bytes ", covered, " to ", ranges[i].begin,
            " of the data belong to no tensor");
    covered = ranges[i].end;
  }
  if (covered != dataSize)
    raise("'", path, "': the last ", dataSize - covered,
          " bytes of the data belong to no tensor");
}
} // namespace

TensorFile TensorFile::open(const std::string &path) {
  TensorFile file;
  file.filePath = path;
  auto [mapping, size] = mapFile(path);
  file.mapping = mapping;
  const char *bytes = static_cast<const char *>(mapping.get());
  if (size < 8)
    raise("'", path, "' is not a safetensors file: it has ", size,
          " bytes, but the header length alone takes 8 bytes");
  uint64_t length = 0;
  std::memcpy(&length, bytes, 8);
  if (length > static_cast<uint64_t>(size) - 8)
    raise("'", path,
          "' is truncated or not a safetensors file: it specifies a header of ",
          length, " bytes, but the file has ", size);
  json header = parseHeader(path, bytes + 8, static_cast<int64_t>(length));
  const char *data = bytes + 8 + length;
  uint64_t dataSize = static_cast<uint64_t>(size) - 8 - length;

  std::vector<Range> ranges;
  for (auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    TensorView view;
    uint64_t wanted = parseView(path, name, entry, view);
    Range range = parseRange(path, name, entry["data_offsets"], dataSize);
    if (range.end - range.begin != wanted)
      raise("'", path, "': tensor '", name, "' of shape ",
            shapeName(view.shape), " and type ", fileName(view.type), " needs ",
            wanted, " bytes, but has ", range.end - range.begin);
    view.data = data + range.begin;
    if (range.begin != range.end)
      ranges.push_back(range);
    file.entries.emplace(name, std::move(view));
  }
  checkCovered(path, ranges, dataSize);
  return file;
}

const TensorView *TensorFile::find(const std::string &name) const {
  auto it = entries.find(name);
  return it == entries.end() ? nullptr : &it->second;
}

void batchrt::writeTensorFile(const std::string &path,
                              const std::vector<NamedTensor> &tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  int64_t offset = 0;
  auto bytes = [](const NamedTensor &tensor) {
    return elementCount(tensor.shape) * byteSize(tensor.type);
  };
  for (const NamedTensor &tensor : tensors) {
    if (header.contains(tensor.name))
      raise("cannot write '", path, "': two tensors are named '", tensor.name,
            "'");
    header[tensor.name] = {{"dtype", fileName(tensor.type)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + bytes(tensor)}}};
    offset += bytes(tensor);
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  writeFile(path, [&](const auto &write) {
    uint64_t length = text.size();
    write(&length, 8);
    write(text.data(), text.size());
    for (const NamedTensor &tensor : tensors)
      write(tensor.data, bytes(tensor));
  });
}

std::string batchrt::readTextFile(const std::string &path) {
  OpenFile file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0)
    raise("cannot read '", path, "': ", std::strerror(errno));
  std::string text;
  char block[1 << 16];
  while (true) {
    ssize_t count = ::read(file.fd, block, sizeof(block));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      raise("cannot read '", path, "': ", std::strerror(errno));
    if (count == 0)
      return text;
    text.append(block, count);
  }
}
