//===- ObjectSeal.h - Length and checksum of an object ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The seal is the end of an object's file. The compiler appends it after
// linking; the runtime checks it before the loader maps the file. Loaders and
// linkers ignore bytes after the end of an ELF file.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_OBJECTSEAL_H
#define BATCH_RUNTIME_OBJECTSEAL_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace batchrt {

/// Computes XXH64 with seed 0 of bytes that are added piece by piece. Reads
/// words in the byte order of the host, which is little-endian on all targets.
class ObjectChecksum {
public:
  void add(const char *data, size_t size) {
    length += size;
    if (numPending > 0) {
      const size_t taken = std::min(size, sizeof(pending) - numPending);
      std::memcpy(pending + numPending, data, taken);
      numPending += taken;
      data += taken;
      size -= taken;
      if (numPending < sizeof(pending))
        return;
      addStripe(pending);
      numPending = 0;
    }
    for (; size >= sizeof(pending); size -= sizeof(pending)) {
      addStripe(data);
      data += sizeof(pending);
    }
    std::memcpy(pending, data, size);
    numPending = size;
  }

  uint64_t value() const {
    uint64_t hash = prime5;
    if (length >= sizeof(pending)) {
      hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) +
             rotate(lanes[3], 18);
      for (uint64_t lane : lanes)
        hash = (hash ^ mix(0, lane)) * prime1 + prime4;
    }
    hash += length;
    const char *rest = pending, *end = pending + numPending;
    for (; end - rest >= 8; rest += 8)
      hash = rotate(hash ^ mix(0, read<uint64_t>(rest)), 27) * prime1 + prime4;
    if (end - rest >= 4) {
      hash =
          rotate(hash ^ (read<uint32_t>(rest) * prime1), 23) * prime2 + prime3;
      rest += 4;
    }
    for (; rest != end; ++rest)
      hash = rotate(hash ^ (read<uint8_t>(rest) * prime5), 11) * prime1;
    hash = (hash ^ (hash >> 33)) * prime2;
    hash = (hash ^ (hash >> 29)) * prime3;
    return hash ^ (hash >> 32);
  }

private:
  static constexpr uint64_t prime1 = 0x9E3779B185EBCA87;
  static constexpr uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
  static constexpr uint64_t prime3 = 0x165667B19E3779F9;
  static constexpr uint64_t prime4 = 0x85EBCA77C2B2AE63;
  static constexpr uint64_t prime5 = 0x27D4EB2F165667C5;

  static uint64_t rotate(uint64_t word, int bits) {
    return word << bits | word >> (64 - bits);
  }
  static uint64_t mix(uint64_t lane, uint64_t word) {
    return rotate(lane + word * prime2, 31) * prime1;
  }
  template <class Word>
  static Word read(const char *data) {
    Word word;
    std::memcpy(&word, data, sizeof(word));
    return word;
  }
  void addStripe(const char *data) {
    for (int i = 0; i < 4; ++i)
      lanes[i] = mix(lanes[i], read<uint64_t>(data + 8 * i));
  }

  uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
  uint64_t length = 0;
  char pending[32];
  size_t numPending = 0;
};

/// The last bytes of an object's file.
struct ObjectSeal {
  static constexpr char expectedMagic[9] = "BATCHEND";

  uint64_t length;   ///< number of bytes before the seal
  uint64_t checksum; ///< checksum of these bytes
  char magic[8];

  bool hasMagic() const {
    return std::memcmp(magic, expectedMagic, sizeof(magic)) == 0;
  }
};

/// Returns the bytes to append to a linked object.
inline std::string sealOf(const char *data, size_t size) {
  ObjectChecksum checksum;
  checksum.add(data, size);
  ObjectSeal seal{size, checksum.value(), {}};
  std::memcpy(seal.magic, ObjectSeal::expectedMagic, sizeof(seal.magic));
  return {reinterpret_cast<const char *>(&seal), sizeof(seal)};
}

} // namespace batchrt

#endif // BATCH_RUNTIME_OBJECTSEAL_H
