//===- Memory.h - Buffers, arenas, stacks -----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_MEMORY_H
#define BATCH_RUNTIME_MEMORY_H

#include "batch-runtime/ABI.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace batchrt {

/// Memory aligned to 64 bytes that never shrinks. Large buffers request huge
/// pages and are aligned to the size of such a page.
class Buffer {
public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept { *this = std::move(other); }
  Buffer &operator=(Buffer &&other) noexcept;
  ~Buffer() { release(); }

  /// Reserves `bytes` bytes; the contents are lost if the buffer grows. `what`
  /// names the purpose in the out-of-memory message.
  char *reserve(size_t bytes, const char *what);
  /// Like reserve(), for memory that may stay mostly unwritten. Reserves only
  /// address space; a page uses memory once it is written.
  char *reserveAddresses(size_t bytes, const char *what);
  /// Like reserve(), but keeps the first `used` bytes.
  char *grow(size_t bytes, size_t used, const char *what);
  void release();

  char *data() const { return memory; }
  template <class T>
  T *as() const {
    return reinterpret_cast<T *>(memory);
  }
  size_t capacity() const { return size; }

private:
  char *memory = nullptr;
  size_t size = 0;
  size_t mapped = 0; ///< bytes mapped by mmap; 0: posix_memalign was used
};

/// The bump arena of the unbatched code. A reset keeps the chunks for reuse.
class BumpArena {
public:
  /// Frees all allocations and continues in the first chunk.
  void reset(BatchContext &context);
  /// Returns `bytes` bytes at the start of the next chunk that is large enough.
  /// The rest of that chunk is used for later requests.
  char *grow(BatchContext &context, size_t bytes);
  /// Frees all memory allocated since the arena's top was `mark`, except
  /// `count` rows. Moves rows that were allocated after the mark, and updates
  /// their addresses in `rows`.
  void keep(BatchContext &context, char *mark, int64_t *rows,
            const int64_t *bytes, size_t count);
  size_t capacity() const;

private:
  bool holds(size_t chunk, const char *address) const {
    return address >= chunks[chunk].data() &&
           address <= chunks[chunk].data() + chunks[chunk].capacity();
  }

  std::vector<Buffer> chunks;
  size_t current = 0;
  /// Copies of the rows that are being moved, because a row may overlap the
  /// destination of another one.
  Buffer moving;
};

/// The stack of a fiber: reserved address space with a guard page below. Only
/// touched pages use memory.
class FiberStack {
public:
  explicit FiberStack(size_t bytes);
  ~FiberStack();
  FiberStack(const FiberStack &) = delete;
  FiberStack &operator=(const FiberStack &) = delete;

  char *bottom() const { return base + guard; }
  char *top() const { return base + guard + bytes; }
  size_t size() const { return bytes; }
  /// Returns true if the stack was created for `size` bytes.
  bool isFor(size_t size) const { return size == wanted; }
  /// Returns the lowest address that compiled code may reach. The space below
  /// it is for runtime functions that compiled code calls.
  int64_t limit() const {
    return reinterpret_cast<int64_t>(bottom() + reserved);
  }
  static constexpr size_t reserved = 64 << 10;

private:
  const size_t wanted;
  char *base = nullptr;
  size_t guard = 0, bytes = 0;
};

/// A stack that is borrowed for the lifetime of this object: a spare one, or a
/// new one. Sessions that are not running hold no stacks.
class BorrowedStack {
public:
  explicit BorrowedStack(size_t bytes);
  ~BorrowedStack();
  BorrowedStack(const BorrowedStack &) = delete;
  BorrowedStack &operator=(const BorrowedStack &) = delete;

  FiberStack &operator*() const { return *stack; }
  /// Frees the stacks that are not borrowed.
  static void freeOthers();

private:
  std::unique_ptr<FiberStack> stack;
};

struct FiberEntry;

/// Code that runs on its own stack. At any point, it can be suspended until
/// resume(), or abandoned.
class Fiber {
public:
  explicit Fiber(FiberStack &stack) : stack(stack) {}

  /// Runs `body(argument)` on the stack. Returns true if the body returned, and
  /// false after leave() or suspend(). The body must not throw.
  bool run(void (*body)(void *), void *argument);
  /// Resumes a suspended body. Returns the same values as run().
  bool resume();
  /// Suspends the running body until resume().
  void suspend();
  /// Abandons the running body and its frames. No destructors run.
  [[noreturn]] void leave();

private:
  friend struct FiberEntry;
  FiberStack &stack;
  void *caller = nullptr, *inside = nullptr;
  // For sanitizers: the caller's stack.
  const void *callerBottom = nullptr;
  size_t callerSize = 0;
  struct EndTracking {
    void operator()(void *stack) const;
  };
  void *callerTracking = nullptr;
  std::unique_ptr<void, EndTracking> insideTracking;
};

/// Hash table that maps calls (function and argument cells) to their results.
/// Uses open addressing over a pool of cells. Clearing takes constant time.
class MemoTable {
public:
  void clear();
  bool find(int64_t function, const int64_t *key, int64_t keySize,
            int64_t *results, int64_t resultCount) const;
  /// Records that a call begins. Returns false if the call has begun before.
  /// find() does not find the call until store() adds its results.
  bool begin(int64_t function, const int64_t *key, int64_t keySize,
             int64_t resultCount);
  /// Allows all unfinished calls to begin again, because some of them will not
  /// finish.
  void forgetBegun() { ++attempt; }
  void store(int64_t function, const int64_t *key, int64_t keySize,
             const int64_t *results, int64_t resultCount);
  int64_t size() const { return used; }
  size_t bytes() const {
    return entries.capacity() * sizeof(Entry) +
           pool.capacity() * sizeof(int64_t);
  }

private:
  struct Entry {
    uint64_t hash;
    uint64_t epoch; ///< entries of other epochs count as empty
    int64_t function, keySize, cells;
    bool hasResults;
    uint64_t attempt; ///< the attempt in which the call began
  };
  Entry &add(int64_t function, const int64_t *key, int64_t keySize,
             int64_t resultCount);
  size_t locate(uint64_t hash, int64_t function, const int64_t *key,
                int64_t keySize) const;
  void rehash();

  std::vector<Entry> entries;
  std::vector<int64_t> pool;
  uint64_t epoch = 1, attempt = 1;
  int64_t used = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_MEMORY_H
