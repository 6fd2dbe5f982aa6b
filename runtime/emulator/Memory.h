//===- Memory.h - Memory of an emulated GPU and its shadow ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_EMULATOR_MEMORY_H
#define BATCH_RUNTIME_EMULATOR_MEMORY_H

#include "Clock.h"
#include "batch-runtime/Emulator.h"

#include <array>
#include <cstdlib>
#include <map>

namespace batchrt::emulator {

/// A memory access of an operation.
struct Access {
  bool reads, writes, atomic;
  const char *where;
};

/// Error that an access reveals.
struct Finding {
  enum Kind { Nothing, Unwritten, ReadOnly, Race } kind = Nothing;
  uint64_t offset = 0; ///< offset of the word or byte in the region
  // For a race: the other access.
  Stamp other;
  bool otherWrites = false;
  const char *otherWhere = nullptr;
};

/// A range of memory. Records the last write and the reads of every word of
/// four bytes, or of every byte if the word is accessed bytewise.
class Region {
public:
  Region(uintptr_t base, size_t bytes, std::string name, RegionUse use);

  const std::string &getName() const { return name; }
  uintptr_t getBase() const { return base; }
  size_t size() const { return bytes; }
  bool contains(uintptr_t address, size_t length) const {
    return address - base < bytes && length <= bytes - (address - base);
  }

  /// Checks an access to the region and records it.
  Finding note(const ThreadClock &thread, uintptr_t address, size_t length,
               const Access &access);

  void markWritten(uintptr_t address, size_t length);
  /// Marks bytes whose contents must no longer be read.
  void markUnwritten(uintptr_t address, size_t length);
  /// Returns the offset of the first byte that was never written, or -1.
  int64_t findUnwritten(uintptr_t address, size_t length) const;
  /// Marks all bytes as neither read nor written.
  void reset();

private:
  struct Reader {
    Stamp stamp;
    const char *where;
  };
  struct Cell {
    Stamp write; ///< mark(): the word's bytes are in `splits`
    Stamp read;  ///< mark(): the readers are in `readers`
    union {
      const char *writeWhere;
      size_t split;
    };
    union {
      const char *readWhere;
      size_t list;
    };
  };
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };

  // Check an access to one cell. Return false if there is a finding.
  bool recordAccess(const ThreadClock &thread, Cell &cell, const Access &access,
                    Finding &finding);
  bool checkReaders(const ThreadClock &thread, const Cell &cell,
                    const Access &access, Finding &finding) const;
  void addReader(const ThreadClock &thread, Cell &cell, const Access &access);
  void forgetReaders(Cell &cell);
  std::array<Cell, 4> &split(Cell &cell);
  void setWritten(Cell &cell);
  template <class Function>
  void forEachCell(uintptr_t address, size_t length, Function function);

  uintptr_t base;
  size_t bytes;
  std::string name;
  bool readOnly;
  bool written = false; ///< true after the host has written the whole region
  /// Allocated by calloc(), so untouched pages use no memory.
  std::unique_ptr<Cell[], Free> cells;
  std::vector<std::array<Cell, 4>> splits;
  /// The readers of a cell that several blocks read, one entry per block.
  std::vector<std::vector<Reader>> readers;
  std::vector<size_t> freeReaders;
};

/// The regions of global memory.
class GlobalMemory {
public:
  void add(uintptr_t base, size_t bytes, std::string name, RegionUse use);
  void remove(uintptr_t base);
  /// Returns the last region that begins at or before an address, or null.
  Region *find(uintptr_t address);
  /// Returns the region that contains all of these bytes. Raises an Error if
  /// there is none.
  Region &get(const void *address, size_t bytes);

private:
  std::map<uintptr_t, std::unique_ptr<Region>> regions;
};

} // namespace batchrt::emulator

#endif // BATCH_RUNTIME_EMULATOR_MEMORY_H
