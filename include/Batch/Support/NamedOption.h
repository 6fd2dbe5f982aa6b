//===- NamedOption.h - Options that choose one of several names -*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options of passes, pipelines and tools whose values are an enumeration. LLVM
// has such options too (cl::values), but an error there does not say which
// names there are.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_SUPPORT_NAMEDOPTION_H
#define BATCH_SUPPORT_NAMEDOPTION_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include <string>
#include <utility>

namespace mlir::batch {

/// The names of the values of a type, for options. A specialization has
///
///   static constexpr std::pair<llvm::StringLiteral, T> values[] = {...};
///
/// where an empty name is a value that nobody gives.
template <class T>
struct OptionNames;

template <class T>
llvm::StringRef getOptionName(const T &value) {
  const auto *found = llvm::find_if(OptionNames<T>::values, [&](auto &entry) {
    return entry.second == value;
  });
  return found->first;
}

/// All names: "'auto', 'device' or 'block'".
template <class T>
std::string listOptionNames() {
  std::string list, last;
  for (const auto &[name, value] : OptionNames<T>::values) {
    if (!last.empty())
      list += (list.empty() ? "" : ", ") + last;
    last = name.empty() ? "" : "'" + name.str() + "'";
  }
  return list + " or " + last;
}

/// What llvm::cl::parser<T> is for such a type.
template <class T>
class NamedOptionParser : public llvm::cl::basic_parser<T> {
public:
  using llvm::cl::basic_parser<T>::basic_parser;

  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef name,
             T &value) {
    for (const auto &[known, meaning] : OptionNames<T>::values)
      if (name == known) {
        value = meaning;
        return false;
      }
    return option.error("there is no '" + name + "'; use " +
                        listOptionNames<T>());
  }
  static void print(llvm::raw_ostream &os, const T &value) {
    os << getOptionName(value);
  }
  void printOptionDiff(const llvm::cl::Option &option, const T &value,
                       const llvm::cl::OptionValue<T> &, size_t width) const {
    this->printOptionName(option, width);
    llvm::outs() << "= " << getOptionName(value) << '\n';
  }
  llvm::StringRef getValueName() const override { return "name"; }
};

} // namespace mlir::batch

/// Makes `TYPE`, whose OptionNames are known, a type of options.
#define BATCH_NAMED_OPTION(TYPE)                                               \
  template <>                                                                  \
  class llvm::cl::parser<TYPE> : public mlir::batch::NamedOptionParser<TYPE> { \
  public:                                                                      \
    using NamedOptionParser::NamedOptionParser;                                \
  };

#endif // BATCH_SUPPORT_NAMEDOPTION_H
