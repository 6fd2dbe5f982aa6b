//===- Vocabulary.cpp - Numbers of words ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Error.h"
#include "batch-runtime/Forest.h"

using namespace batchrt;

Vocabulary Vocabulary::open(const std::string &path) {
  Vocabulary vocabulary;
  vocabulary.file = path;
  std::string text = readTextFile(path);
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    if (end == std::string::npos)
      end = text.size();
    // A word that occurs twice keeps its first number.
    vocabulary.numbers.emplace(text.substr(begin, end - begin),
                               vocabulary.lines++);
    begin = end + 1;
  }
  if (vocabulary.lines == 0)
    raise("the vocabulary '", path, "' is empty");
  return vocabulary;
}

std::optional<int64_t> Vocabulary::number(const std::string &word) {
  auto it = numbers.find(word);
  if (it != numbers.end())
    return it->second;
  if (file.empty())
    return numbers.emplace(word, lines++).first->second;
  it = numbers.find("<unk>");
  if (it == numbers.end())
    return std::nullopt;
  return it->second;
}
