//===- Inputs.cpp - Reading all inputs ------------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Forest/ValueBuilder.h"
#include "JsonLines.h"
#include "RandomInputs.h"
#include "SExpressions.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

using namespace batchrt;

namespace {
/// Adds instances one by one to mini-batches of the requested size.
class Filler {
public:
  Filler(Inputs &inputs, const Descriptor &descriptor,
         const InputOptions &options)
      : inputs(inputs), descriptor(descriptor), options(options) {}

  bool full() const {
    return options.limit >= 0 && inputs.numInstances >= options.limit;
  }
  /// Returns the forest that takes the next instance.
  Forest &forest() {
    bool wanted = inputs.batches.empty() ||
                  (options.batch > 0 &&
                   inputs.batches.back()->numInstances == options.batch);
    if (wanted) {
      inputs.batches.push_back(std::make_unique<Forest>(descriptor));
      inputs.batches.back()->firstInstance = inputs.numInstances;
    }
    return *inputs.batches.back();
  }
  void added() { ++inputs.numInstances; }

private:
  Inputs &inputs;
  const Descriptor &descriptor;
  const InputOptions &options;
};

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
} // namespace

static void readTrees(const Descriptor &descriptor, const std::string &path,
                      const std::string &text, Vocabulary &words,
                      ValueBuilder &builder, Filler &filler) {
  Vocabulary labels;
  TreeReader reader(descriptor, path, 1, text, labels);
  int64_t root = 0, line = 0;
  while (!filler.full() && reader.next(builder, words, root, line)) {
    Forest &forest = filler.forest();
    builder.place(forest, 0, descriptor.arguments[0].type, root);
    builder.finishInstance(forest, line);
    filler.added();
  }
}

static void readLines(const Descriptor &descriptor, const std::string &path,
                      const std::string &text, Vocabulary &words,
                      ValueBuilder &builder, InputTensors &tensors,
                      Filler &filler) {
  int64_t line = 1;
  for (size_t begin = 0; begin < text.size() && !filler.full(); ++line) {
    size_t end = std::min(text.find('\n', begin), text.size());
    bool blank = std::all_of(text.begin() + begin, text.begin() + end, isBlank);
    if (!blank) {
      parseJsonInstance(descriptor, text.data() + begin, text.data() + end,
                        concat(path, ":", line, ":"), line, builder, tensors,
                        words, filler.forest());
      filler.added();
    }
    begin = end + 1;
  }
}

/// Creates random inputs from the text "SEED,COUNT".
static void makeRandom(const Descriptor &descriptor, const std::string &text,
                       ValueBuilder &builder, InputTensors &tensors,
                       Filler &filler) {
  char *end = nullptr;
  errno = 0;
  uint64_t seed = std::strtoull(text.c_str(), &end, 10);
  bool good = end != text.c_str() && *end == ',' && errno == 0;
  const char *second = good ? end + 1 : end;
  long long count = good ? std::strtoll(second, &end, 10) : 0;
  if (!good || end == second || *end || count <= 0 || errno)
    raise("invalid random inputs 'random:", text,
          "'; expected random:SEED,COUNT, such as random:1,64");
  RandomInputs random(descriptor, seed);
  for (long long i = 0; i < count && !filler.full(); ++i) {
    Forest &forest = filler.forest();
    for (size_t a = 0; a < descriptor.arguments.size(); ++a) {
      const Type &type = descriptor.arguments[a].type;
      builder.place(forest, static_cast<int>(a), type,
                    random.value(type, builder, tensors));
    }
    builder.finishInstance(forest, i + 1);
    filler.added();
  }
}

Inputs::Inputs(const Descriptor &descriptor, const InputOptions &options)
    : tensors(descriptor) {
  if (!options.inputTensors.empty())
    tensors.open(options.inputTensors);
  Vocabulary words;
  if (!options.vocabulary.empty())
    words = Vocabulary::open(options.vocabulary);
  ValueBuilder builder(descriptor);
  Filler filler(*this, descriptor, options);
  if (options.inputs.rfind("random:", 0) == 0) {
    makeRandom(descriptor, options.inputs.substr(7), builder, tensors, filler);
  } else {
    std::string text = readTextFile(options.inputs);
    size_t first = 0;
    while (first < text.size() && isBlank(text[first]))
      ++first;
    if (first < text.size() && text[first] == '(')
      readTrees(descriptor, options.inputs, text, words, builder, filler);
    else
      readLines(descriptor, options.inputs, text, words, builder, tensors,
                filler);
  }
  if (numInstances == 0)
    raise("'", options.inputs, "' contains no instances; give at least one");
  largestIndex = builder.largestIndex;
}
