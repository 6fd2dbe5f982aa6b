//===- InputReader.cpp - Reading instances one at a time ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Forest/ValueBuilder.h"
#include "JsonLines.h"
#include "SExpressions.h"
#include "batch-runtime/Error.h"

using namespace batchrt;

namespace {
/// The size of a forest, which is restored if an instance fails.
class Mark {
public:
  explicit Mark(const Forest &forest)
      : nodes(forest.numNodes), entries(forest.listSize),
        tensors(forest.tensors.size()) {}

  void restore(Forest &forest) const {
    forest.numNodes = nodes;
    forest.listSize = entries;
    forest.variants.resize(nodes);
    for (std::vector<int64_t> &column : forest.cells)
      column.resize(nodes);
    forest.listPool.resize(entries);
    forest.tensors.resize(tensors);
    for (std::vector<int64_t> &column : forest.arguments)
      column.resize(forest.numInstances);
  }

private:
  int64_t nodes, entries;
  size_t tensors;
};
} // namespace

InputReader::InputReader(const Descriptor &descriptor, Vocabulary words)
    : descriptor(descriptor), words(std::move(words)),
      builder(std::make_unique<ValueBuilder>(descriptor)) {}

InputReader::~InputReader() = default;

/// Reads the only tree of a text.
static int64_t readTree(TreeReader &reader, ValueBuilder &builder,
                        Vocabulary &words, int64_t &line) {
  int64_t root = 0, second = 0;
  reader.next(builder, words, root, line);
  if (reader.next(builder, words, second, line))
    raise(reader.where(),
          "expected one tree per instance, but a second one ends here");
  return root;
}

void InputReader::read(const std::string &text, const std::string &name,
                       int64_t line, InputTensors &tensors, Forest &forest) {
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos)
    raise(name, ":", line, ": expected a value");
  std::lock_guard<std::mutex> guard(lock);
  Mark mark(forest);
  std::vector<int64_t> rows = tensors.counts();
  try {
    if (text[first] != '(') {
      parseJsonInstance(descriptor, text.data(), text.data() + text.size(),
                        concat(name, ":", line, ":"), line, *builder, tensors,
                        words, forest);
      return;
    }
    TreeReader reader(descriptor, name, line, text, labels);
    int64_t root = readTree(reader, *builder, words, line);
    builder->place(forest, 0, descriptor.arguments[0].type, root);
    builder->finishInstance(forest, line);
  } catch (...) {
    builder->reset();
    mark.restore(forest);
    tensors.truncate(rows);
    throw;
  }
}
