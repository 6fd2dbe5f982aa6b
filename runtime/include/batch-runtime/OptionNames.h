//===- OptionNames.h - Spelling of options in messages ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_OPTIONNAMES_H
#define BATCH_RUNTIME_OPTIONNAMES_H

#include <string>

namespace batchrt {

/// The spelling of options in messages: flags of tools, fields in the C API, or
/// arguments in Python.
enum class OptionNames { Tools, C, Python };

/// Returns the spelling of an option: "--max-steps=N", "maxSteps" or
/// "max_steps" for "max-steps" and "N".
std::string optionName(OptionNames names, const std::string &option,
                       const std::string &value = "");

/// Returns the spelling of an option of the compiler: "--device=cpu" or, in
/// Python, "device='cpu'". In Python, options that are not arguments are
/// elements of a list: "options=['--chip=sm_90']".
std::string compilerOption(OptionNames names, const std::string &option,
                           const std::string &value);

/// Returns a remedy: "use a smaller batch", with the flag of tools that sets
/// its size.
std::string smallerBatch(OptionNames names);

/// Returns a remedy: to use the CPU or the emulator instead of a GPU.
std::string otherDevices(OptionNames names);

} // namespace batchrt

#endif // BATCH_RUNTIME_OPTIONNAMES_H
