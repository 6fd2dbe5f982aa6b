//===- SExpressions.cpp - Bracketed parse trees ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SExpressions.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

namespace {
/// The number of fields of each kind that a variant has.
struct Shape {
  int64_t indices = 0, children = 0, lists = 0, others = 0;

  Shape(const Variant &variant) {
    for (const Field &field : variant.fields) {
      const Type &type = field.type;
      if (type.kind == Type::Index)
        ++indices;
      else if (type.kind == Type::Adt && type.adt == variant.adt)
        ++children;
      else if (type.kind == Type::List && type.element().kind == Type::Adt &&
               type.element().adt == variant.adt)
        ++lists;
      else
        ++others;
    }
  }
};
} // namespace

TreeReader::TreeReader(const Descriptor &descriptor, const std::string &path,
                       int64_t firstLine, const std::string &text,
                       Vocabulary &labels)
    : path(path), text(text), labels(labels), lineNumber(firstLine) {
  if (descriptor.arguments.size() != 1 ||
      descriptor.arguments[0].type.kind != Type::Adt)
    raise("'", path,
          "' contains bracketed trees, which require a model with exactly one "
          "argument, an ADT value; give the model's arguments as JSON lines");
  adt = &descriptor.adts[descriptor.arguments[0].type.adt];
}

std::string TreeReader::where() const {
  return concat(path, ":", lineNumber, ":", tokenColumn, ": ");
}

void TreeReader::error(const std::string &message) const {
  raise(where(), message);
}

TreeReader::Token TreeReader::token() {
  while (position < text.size()) {
    char c = text[position];
    if (c == '\n') {
      ++lineNumber;
      lineStart = position + 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      break;
    }
    ++position;
  }
  tokenColumn = static_cast<int64_t>(position - lineStart) + 1;
  if (position == text.size())
    return {0, position, 0};
  size_t begin = position++;
  if (text[begin] == '(' || text[begin] == ')')
    return {text[begin], begin, 1};
  while (position < text.size() && !std::strchr(" \t\r\n()", text[position]) &&
         text[position] != 0)
    ++position;
  return {'w', begin, position - begin};
}

bool TreeReader::next(ValueBuilder &builder, Vocabulary &words, int64_t &root,
                      int64_t &line) {
  std::vector<Bracket> brackets;
  std::vector<int64_t> children;
  while (true) {
    Token now = token();
    if (now.kind == 0) {
      if (brackets.empty())
        return false;
      error(concat("the bracket opened at line ", brackets.back().line,
                   ", column ", brackets.back().column, " is not closed"));
    }
    if (now.kind == '(') {
      if (!brackets.empty() && brackets.back().wordLength)
        error("unexpected bracket after a word; a bracket contains a label and "
              "either a word or brackets");
      if (brackets.empty())
        line = lineNumber;
      else if (children.size() == brackets.back().begin)
        // Register the outer label now: labels are numbered in the order of the
        // text, but inner brackets are closed first.
        registerLabel(brackets.back());
      Bracket bracket;
      bracket.begin = children.size();
      bracket.line = lineNumber;
      bracket.column = tokenColumn;
      // A bracket may have no label: ((A x) (B y)).
      size_t at = position;
      while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
        ++at;
      if (at < text.size() && text[at] != '(' && text[at] != ')') {
        Token label = token();
        if (label.kind == 'w') {
          bracket.label = label.begin;
          bracket.labelLength = label.length;
        } else {
          position = label.begin;
        }
      }
      brackets.push_back(bracket);
      continue;
    }
    if (brackets.empty())
      error(now.kind == ')' ? "unexpected ')' without '('"
                            : "expected '(' at the beginning of a tree");
    Bracket &bracket = brackets.back();
    if (now.kind == 'w') {
      if (bracket.wordLength)
        error("unexpected second word; a bracket contains a label and one "
              "word, so put each word in its own bracket");
      if (children.size() > bracket.begin)
        error("unexpected word after a bracket; a bracket contains a label and "
              "either a word or brackets");
      bracket.word = now.begin;
      bracket.wordLength = now.length;
      continue;
    }
    Bracket closed = bracket;
    brackets.pop_back();
    int64_t node = close(closed, builder, words, children);
    if (brackets.empty()) {
      root = node;
      return true;
    }
    children.push_back(node);
  }
}

static bool isNumber(const std::string &label) {
  return std::all_of(label.begin(), label.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

void TreeReader::registerLabel(const Bracket &bracket) {
  std::string label = text.substr(bracket.label, bracket.labelLength);
  if (!isNumber(label))
    labels.number(label);
}

int64_t TreeReader::labelNumber(const Bracket &bracket) {
  std::string label = text.substr(bracket.label, bracket.labelLength);
  if (label.empty())
    error("the bracket has no label, but its variant requires one");
  if (isNumber(label)) {
    if (label.size() > 10 || std::stoll(label) > INT32_MAX)
      error("the label " + label + " is too large");
    return std::stoll(label);
  }
  return *labels.number(label);
}

const Variant &TreeReader::chooseVariant(bool leaf, int64_t count,
                                         bool &labelled) const {
  // Find the best fit. Fixed fields are better than a list. For an inner node,
  // a variant without a label is better; for a leaf, one with a label.
  const Variant *best = nullptr;
  int bestRank = 100;
  for (const Variant &variant : adt->variants) {
    Shape shape(variant);
    int rank = 100;
    if (shape.others)
      continue;
    if (leaf && !shape.children && !shape.lists)
      rank = shape.indices == 2 ? 0 : shape.indices == 1 ? 1 : 100;
    if (!leaf && shape.indices <= 1 && shape.children == count && !shape.lists)
      rank = static_cast<int>(shape.indices);
    if (!leaf && shape.indices <= 1 && !shape.children && shape.lists == 1)
      rank = 2 + static_cast<int>(shape.indices);
    if (rank < bestRank) {
      best = &variant;
      bestRank = rank;
    }
  }
  labelled = !leaf || bestRank == 0;
  if (best)
    return *best;
  std::string names;
  for (const Variant &variant : adt->variants)
    names += (names.empty() ? "" : ", ") + variant.name;
  error(leaf ? concat("no variant of ADT ", adt->name,
                      " matches a word; expected one field of type index; the "
                      "variants are ",
                      names)
             : concat("no variant of ADT ", adt->name,
                      " matches a bracket that contains ", count,
                      count == 1 ? " bracket" : " brackets", "; expected ",
                      count, count == 1 ? " field" : " fields", " of type ",
                      adt->name, ", or a list of ", adt->name,
                      "; the variants are ", names));
}

int64_t TreeReader::wordNumber(const Bracket &bracket,
                               Vocabulary &words) const {
  std::string word = text.substr(bracket.word, bracket.wordLength);
  std::optional<int64_t> number = words.number(word);
  if (!number)
    error("the word '" + word + "' is not in the vocabulary '" + words.path() +
          "'; add the word or '<unk>'");
  return *number;
}

int64_t TreeReader::close(const Bracket &bracket, ValueBuilder &builder,
                          Vocabulary &words, std::vector<int64_t> &children) {
  int64_t count = static_cast<int64_t>(children.size() - bracket.begin);
  bool leaf = bracket.wordLength != 0;
  if (!leaf && count == 0)
    error("the bracket contains neither a word nor brackets; write a leaf as "
          "(LABEL WORD)");
  bool labelled;
  const Variant &variant = chooseVariant(leaf, count, labelled);
  std::vector<int64_t> cells;
  size_t child = bracket.begin;
  for (const Field &field : variant.fields) {
    if (field.type.kind == Type::Adt) {
      cells.push_back(children[child++]);
    } else if (field.type.kind == Type::List) {
      cells.push_back(builder.addList(children.data() + child, count));
    } else {
      bool isWord = leaf && !(labelled && cells.empty());
      int64_t index =
          isWord ? wordNumber(bracket, words) : labelNumber(bracket);
      builder.largestIndex = std::max(builder.largestIndex, index);
      cells.push_back(index);
    }
  }
  children.resize(bracket.begin);
  try {
    return builder.addNode(variant, cells.data());
  } catch (const Error &tooMany) {
    error(tooMany.what());
  }
}
