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
/// On the cell of a list in a region of the pool that has room for more. The
/// entry before its first is (room << 32) | entries that are taken.
constexpr int64_t listGrows = int64_t(1) << 31;
/// The handle of a row of a source.
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

/// The ADT values, lists and arguments of one mini-batch as ABI.h has them:
/// children before parents, the nodes of an instance are consecutive.
struct Forest {
  explicit Forest(const Descriptor &descriptor);

  int64_t numInstances = 0;
  int64_t firstInstance = 0; ///< number of instance 0 in the whole input
  int64_t numNodes = 0;      ///< input nodes
  int64_t listSize = 0;      ///< input list entries
  // These may be longer than the input: the inspector adds nodes.
  std::vector<uint8_t> variants;
  std::vector<std::vector<int64_t>> cells;
  std::vector<int64_t> listPool;
  std::vector<std::vector<int64_t>> arguments;
  std::vector<int64_t> instanceNodes{0}; ///< node ranges of the instances
  std::vector<int64_t> lines;            ///< line of each instance in its file
  std::vector<TensorCell> tensors;

  /// The bytes of the input alone, and all reserved bytes.
  size_t inputBytes() const;
  size_t bytes() const;
};

/// Numbers of words: lines of a vocabulary file, or by first appearance.
class Vocabulary {
public:
  /// Numbers words in the order of their first appearance.
  Vocabulary() = default;
  /// Word i is line i; lines end at '\n' only.
  static Vocabulary open(const std::string &path);

  /// The number of a word; empty if a fixed vocabulary has neither it nor
  /// "<unk>".
  std::optional<int64_t> number(const std::string &word);
  const std::string &path() const { return file; }
  int64_t size() const { return static_cast<int64_t>(numbers.size()); }

private:
  std::unordered_map<std::string, int64_t> numbers;
  int64_t lines = 0;
  std::string file; ///< empty: numbered by first appearance
};

/// The rows that input values name with {"tensor": "NAME"}, one pool for each
/// source of that kind.
class InputTensors {
public:
  explicit InputTensors(const Descriptor &descriptor)
      : descriptor(descriptor), pools(descriptor.sources.size()) {}
  void open(const std::string &path) { file = TensorFile::open(path); }

  /// The first row and the number of rows of a tensor of the file, as rows of
  /// `type`: one, or, for `list`, as many as its leading dimension.
  std::pair<int64_t, int64_t> rows(const Type &type, const std::string &name,
                                   bool list);
  /// Appends rows of zeros, padding too, whose elements the caller sets. Their
  /// addresses change when more are added.
  char *addRows(const Type &type, int64_t count);
  char *addRow(const Type &type) { return addRows(type, 1); }
  /// Appends a row of given elements; returns its number.
  int64_t addRow(const Type &type, const char *dense);

  /// Drops all rows but the first `counts[s]` of each source s. Handles of the
  /// others, in forests too, become invalid.
  void truncate(const std::vector<int64_t> &counts);
  /// Drops all rows; their memory is kept for others.
  void clear() { truncate(std::vector<int64_t>(pools.size(), 0)); }
  /// The number of rows of each source.
  std::vector<int64_t> counts() const;

  const char *base(int source) const { return pools[source].data.data(); }
  int64_t count(int source) const { return pools[source].rows; }
  /// Bytes of all rows.
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

/// Reads instances one at a time, as a server receives them. Threads may share
/// a reader: a word or a label has one number for all.
class InputReader {
public:
  /// `words` looks words up, or numbers them as they appear.
  explicit InputReader(const Descriptor &descriptor, Vocabulary words = {});
  ~InputReader();

  /// Appends the instance that `text` writes, as a JSON value or as a bracketed
  /// tree. `name` and `line` are where it comes from. An error leaves the
  /// forest and the tensors as they were.
  void read(const std::string &text, const std::string &name, int64_t line,
            InputTensors &tensors, Forest &forest);

private:
  const Descriptor &descriptor;
  std::mutex lock;
  Vocabulary words, labels;
  std::unique_ptr<ValueBuilder> builder;
};

/// Where the instances come from.
struct InputOptions {
  std::string inputs;       ///< file, or random:SEED,COUNT
  std::string inputTensors; ///< safetensors file, or empty
  std::string vocabulary;   ///< file, or empty
  int64_t limit = -1;       ///< first instances only
  int64_t batch = 0;        ///< instances of a mini-batch, 0: all
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
