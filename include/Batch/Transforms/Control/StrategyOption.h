//===- StrategyOption.h - Options that name a strategy ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_CONTROL_STRATEGYOPTION_H
#define BATCH_TRANSFORMS_CONTROL_STRATEGYOPTION_H

#include "Batch/Dialect/Batch/Batch.h"
#include "llvm/Support/CommandLine.h"

/// Parses the names that `#batch.strategy` knows, in options of passes,
/// pipelines and tools.
template <>
class llvm::cl::parser<mlir::batch::Strategy>
    : public llvm::cl::basic_parser<mlir::batch::Strategy> {
public:
  using Strategy = mlir::batch::Strategy;

  explicit parser(Option &option) : basic_parser(option) {}

  bool parse(Option &option, StringRef, StringRef name, Strategy &value) {
    if (std::optional<Strategy> known = mlir::batch::symbolizeStrategy(name)) {
      value = *known;
      return false;
    }
    std::string names;
    for (unsigned i = 0; i <= mlir::batch::getMaxEnumValForStrategy(); ++i)
      names += (i ? ", '" : "'") +
               stringifyStrategy(*mlir::batch::symbolizeStrategy(i)).str() +
               "'";
    return option.error("there is no strategy '" + name + "'; strategies are " +
                        names);
  }

  static void print(raw_ostream &os, Strategy value) {
    os << stringifyStrategy(value);
  }
  void printOptionDiff(const Option &option, Strategy value,
                       const OptionValue<Strategy> &, size_t width) const {
    outs() << "  --" << option.ArgStr << "=" << stringifyStrategy(value)
           << "\n";
    (void)width;
  }
  StringRef getValueName() const override { return "strategy"; }
};

#endif // BATCH_TRANSFORMS_CONTROL_STRATEGYOPTION_H
