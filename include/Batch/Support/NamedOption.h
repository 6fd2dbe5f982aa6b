//===- NamedOption.h - Options that choose one of several names -*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options of passes, pipelines and tools that take a value of an enumeration.
// LLVM also has options with named values (cl::values), but their errors do not
// list the values.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_SUPPORT_NAMEDOPTION_H
#define BATCH_SUPPORT_NAMEDOPTION_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/ErrorHandling.h"
#include <optional>
#include <string>
#include <utility>

namespace mlir::batch {

template <class T>
using NameList = llvm::SmallVector<std::pair<llvm::StringRef, T>>;

/// Names of the values of a type, for options. A specialization defines
///
///   static NameList<T> list();
///
/// in which an empty name marks a value that no option can specify.
template <class T>
struct OptionNames;

/// Names of the values of an enumeration, from the functions that TableGen
/// generates for it.
template <class T, std::optional<T> (*symbolize)(uint32_t), unsigned last>
struct EnumNames {
  static NameList<T> list() {
    NameList<T> names;
    for (uint32_t number = 0; number <= last; ++number)
      if (std::optional<T> value = symbolize(number))
        names.push_back({stringifyEnum(*value), *value});
    return names;
  }
};

template <class T>
llvm::StringRef getOptionName(const T &value) {
  for (const auto &[name, other] : OptionNames<T>::list())
    if (other == value)
      return name;
  llvm_unreachable("has no name");
}

/// Returns a list of all names as text, such as "'auto', 'device' or 'block'".
template <class T>
std::string listOptionNames() {
  std::string list, last;
  for (const auto &[name, value] : OptionNames<T>::list()) {
    if (!last.empty())
      list += (list.empty() ? "" : ", ") + last;
    last = name.empty() ? "" : "'" + name.str() + "'";
  }
  return list + " or " + last;
}

/// Counterpart of llvm::cl::parser<T> for a type with OptionNames.
template <class T>
class NamedOptionParser : public llvm::cl::basic_parser<T> {
public:
  using llvm::cl::basic_parser<T>::basic_parser;

  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef name,
             T &value) {
    for (const auto &[known, meaning] : OptionNames<T>::list())
      if (!known.empty() && name == known) {
        value = meaning;
        return false;
      }
    return option.error("invalid value '" + name + "'; expected " +
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

/// Defines the parser for options of type `TYPE`, which must have OptionNames.
#define BATCH_NAMED_OPTION(TYPE)                                               \
  template <>                                                                  \
  class llvm::cl::parser<TYPE> : public mlir::batch::NamedOptionParser<TYPE> { \
  public:                                                                      \
    using NamedOptionParser::NamedOptionParser;                                \
  };

#endif // BATCH_SUPPORT_NAMEDOPTION_H
