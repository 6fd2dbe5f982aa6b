//===- OptionNames.cpp - Spelling of options in messages ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/OptionNames.h"

#include <cctype>

using namespace batchrt;

std::string batchrt::optionName(OptionNames names, const std::string &option,
                                const std::string &value) {
  if (names == OptionNames::Tools)
    return "--" + option + (value.empty() ? "" : "=" + value);
  std::string name;
  for (size_t i = 0; i < option.size(); ++i)
    if (option[i] != '-')
      name += option[i];
    else if (names == OptionNames::Python)
      name += '_';
    else
      name += static_cast<char>(std::toupper(option[++i]));
  return name;
}

std::string batchrt::compilerOption(OptionNames names,
                                    const std::string &option,
                                    const std::string &value) {
  const std::string flag = "--" + option + "=" + value;
  if (names != OptionNames::Python)
    return flag;
  if (option == "device" || option == "strategy")
    return option + "='" + value + "'";
  return "options=['" + flag + "']";
}

std::string batchrt::smallerBatch(OptionNames names) {
  return names == OptionNames::Tools ? "use a smaller batch (--batch)"
                                     : "use a smaller batch";
}

std::string batchrt::otherDevices(OptionNames names) {
  return "use " + compilerOption(names, "device", "cpu") + " or " +
         compilerOption(names, "device", "emulator");
}
