//===- SExpressions.h - Bracketed parse trees -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_FORMATS_SEXPRESSIONS_H
#define BATCH_RUNTIME_LIB_FORMATS_SEXPRESSIONS_H

#include "../Forest/ValueBuilder.h"

namespace batchrt {

/// Reads trees such as `(3 (2 It) (4 (2 's) (3 good)))` one after another.
///
/// A bracket that contains a word becomes the variant of the ADT with one or
/// two index fields. If there are two, the first one stores the label. A
/// bracket that contains k brackets becomes the variant with k fields of the
/// ADT, or else the variant with one list of the ADT. A variant with an
/// additional index field stores the label there. A numeric label is stored as
/// its value. Other labels are numbered in the order of first appearance,
/// separately from words.
class TreeReader {
public:
  /// Raises an error unless the only argument of the model is an ADT value.
  /// `text` begins at line `firstLine` of `path`.
  TreeReader(const Descriptor &descriptor, const std::string &path,
             int64_t firstLine, const std::string &text, Vocabulary &labels);

  /// Parses the next tree. Returns false at the end of the text.
  bool next(ValueBuilder &builder, Vocabulary &words, int64_t &root,
            int64_t &line);
  /// Returns "FILE:LINE:COLUMN: " of the current token.
  std::string where() const;

private:
  struct Bracket {
    size_t begin = 0; ///< position of its first child on the stack
    size_t label = 0; ///< offset in the text
    size_t labelLength = 0;
    size_t word = 0, wordLength = 0;
    int64_t line = 0, column = 0;
  };
  struct Token {
    char kind; ///< '(', ')', 'w' for a word, or 0 at the end
    size_t begin, length;
  };
  Token token();
  /// Returns the variant that matches a bracket with a word (`leaf`) or with
  /// `count` nested brackets. Sets `labelled` if the first index field of the
  /// variant stores the label.
  const Variant &chooseVariant(bool leaf, int64_t count, bool &labelled) const;
  int64_t wordNumber(const Bracket &bracket, Vocabulary &words) const;
  int64_t close(const Bracket &bracket, ValueBuilder &builder,
                Vocabulary &words, std::vector<int64_t> &children);
  void registerLabel(const Bracket &bracket);
  int64_t labelNumber(const Bracket &bracket);
  [[noreturn]] void error(const std::string &message) const;

  const std::string path;
  const std::string &text;
  const AdtInfo *adt;
  Vocabulary &labels;
  size_t position = 0, lineStart = 0;
  int64_t lineNumber, tokenColumn = 1;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_FORMATS_SEXPRESSIONS_H
