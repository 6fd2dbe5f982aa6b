//===- Forest.h - The inputs of one mini-batch ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_FOREST_H
#define BATCH_RUNTIME_FOREST_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Memory.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace batchrt {

/// Cells of lists: (length << 32) | first entry in the list pool.
inline int64_t listCell(int64_t first, int64_t length) {
  return length << 32 | first;
}
inline int64_t listLength(int64_t cell) {
  return static_cast<int64_t>(static_cast<uint64_t>(cell) >> 32);
}
inline int64_t listFirst(int64_t cell) { return cell & BATCH_LIST_FIRST; }
/// Bit of a list's cell: set if the list is in a region of the pool with space
/// for more entries. The entry before the list's first one is (capacity << 32)
/// | number of used entries.
constexpr int64_t listGrows = int64_t(1) << 31;
/// Returns the handle of a row of a source.
inline int64_t sourceHandle(int source, int64_t row) {
  return static_cast<int64_t>(static_cast<uint64_t>(128 + source) << 56 |
                              static_cast<uint64_t>(row));
}

/// A cell that holds an input tensor: a handle in the inspector, an address in
/// unbatched code.
struct TensorCell {
  enum Place { Argument, Field, List };
  Place place;
  int64_t column;   ///< argument or payload cell number
  int64_t position; ///< instance, node or list entry
  int64_t handle;
};

/// The ADT values, lists and arguments of one mini-batch in the layout of
/// ABI.h. Children precede their parents, and the nodes of an instance are
/// consecutive.
struct Forest {
  explicit Forest(const Descriptor &descriptor);

  int64_t numInstances = 0;
  int64_t firstInstance = 0; ///< number of instance 0 in the whole input
  int64_t numNodes = 0;      ///< input nodes
  int64_t listSize = 0;      ///< input list entries
  // These arrays may be longer than the input: the inspector adds nodes.
  std::vector<uint8_t> variants;
  std::vector<std::vector<int64_t>> cells;
  std::vector<int64_t> listPool;
  std::vector<std::vector<int64_t>> arguments;
  std::vector<int64_t> instanceNodes{0}; ///< node ranges of the instances
  std::vector<int64_t> lines;            ///< line of each instance in its file
  std::vector<TensorCell> tensors;

  /// Return the size in bytes of the input, and of all reserved memory.
  size_t inputBytes() const;
  size_t bytes() const;
};

/// Map from words to numbers: line numbers of a vocabulary file, or numbers in
/// the order of first appearance.
class Vocabulary {
public:
  /// Numbers words in the order of their first appearance.
  Vocabulary() = default;
  /// Reads a file in which word i is line i; lines end at '\n' only.
  static Vocabulary open(const std::string &path);

  /// Returns the number of a word, or of "<unk>" if a fixed vocabulary does not
  /// contain the word. Returns std::nullopt if it contains neither.
  std::optional<int64_t> number(const std::string &word);
  const std::string &path() const { return file; }
  int64_t size() const { return static_cast<int64_t>(numbers.size()); }

private:
  std::unordered_map<std::string, int64_t> numbers;
  int64_t lines = 0;
  std::string file; ///< empty: numbered by first appearance
};

/// Rows of the tensors that input values refer to by {"tensor": "NAME"}. Each
/// source of input tensors has its own pool of rows.
class InputTensors {
public:
  explicit InputTensors(const Descriptor &descriptor)
      : descriptor(descriptor), pools(descriptor.sources.size()) {}
  void open(const std::string &path) { file = TensorFile::open(path); }

  /// Returns the first row and the number of rows of a tensor of the file. The
  /// rows have type `type`. If `list` is true, there is one row for each
  /// element of the tensor's leading dimension; otherwise, there is one row.
  std::pair<int64_t, int64_t> rows(const Type &type, const std::string &name,
                                   bool list);
  /// Appends rows of zeros, including padding, for the caller to fill in. The
  /// address changes when more rows are added.
  char *addRows(const Type &type, int64_t count);
  char *addRow(const Type &type) { return addRows(type, 1); }
  /// Appends a row with the given elements and returns its number.
  int64_t addRow(const Type &type, const char *dense);

  /// Drops all rows except the first `counts[s]` of each source s. Handles of
  /// dropped rows become invalid, including handles in forests.
  void truncate(const std::vector<int64_t> &counts);
  /// Drops all rows and keeps their memory for later rows.
  void clear() { truncate(std::vector<int64_t>(pools.size(), 0)); }
  /// Returns the number of rows of each source.
  std::vector<int64_t> counts() const;

  const char *base(int source) const { return pools[source].data.data(); }
  int64_t count(int source) const { return pools[source].rows; }
  /// Returns the size in bytes of all rows.
  size_t bytes() const;

private:
  struct Pool {
    Buffer data;
    int64_t rows = 0;
    size_t bytes = 0; ///< of all rows
    std::unordered_map<std::string, std::pair<int64_t, int64_t>> known;
  };
  Pool &pool(const Type &type);

  const Descriptor &descriptor;
  std::optional<TensorFile> file;
  std::vector<Pool> pools;
};

class ValueBuilder;

/// Reads instances one at a time, as a server receives them. Thread-safe; a
/// word or a label has the same number in all threads.
class InputReader {
public:
  /// `words` is a fixed vocabulary, or one that numbers words as they appear.
  explicit InputReader(const Descriptor &descriptor, Vocabulary words = {});
  ~InputReader();

  /// Appends the instance in `text`, a JSON value or a bracketed tree. `name`
  /// and `line` specify its origin. An error leaves the forest and the tensors
  /// unchanged.
  void read(const std::string &text, const std::string &name, int64_t line,
            InputTensors &tensors, Forest &forest);

private:
  const Descriptor &descriptor;
  std::mutex lock;
  Vocabulary words, labels;
  std::unique_ptr<ValueBuilder> builder;
};

/// Specifies the instances to read.
struct InputOptions {
  std::string inputs;       ///< file, or random:SEED,COUNT
  std::string inputTensors; ///< safetensors file, or empty
  std::string vocabulary;   ///< file, or empty
  int64_t limit = -1;       ///< maximum number of instances; -1: all
  int64_t batch = 0;        ///< instances of a mini-batch; 0: all
};

/// All inputs, as one forest per mini-batch.
struct Inputs {
  Inputs(const Descriptor &descriptor, const InputOptions &options);

  int64_t numInstances = 0;
  /// The largest value of type index in any input, at least 0.
  int64_t largestIndex = 0;
  std::vector<std::unique_ptr<Forest>> batches;
  InputTensors tensors;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_FOREST_H
