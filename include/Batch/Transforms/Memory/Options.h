//===- Options.h - Options of memory passes ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TRANSFORMS_MEMORY_OPTIONS_H
#define BATCH_TRANSFORMS_MEMORY_OPTIONS_H

#include "Batch/Support/NamedOption.h"
#include "batch-runtime/Schedule/PolicyNames.h"

namespace mlir::batch {

/// Batching policy. nullopt keeps the policy of the module.
using PolicyOption = std::optional<batchrt::Policy>;

template <>
struct OptionNames<PolicyOption> {
  static NameList<PolicyOption> list() {
    return {
        {"", std::nullopt},
#define BATCH_POLICY(enumerator, name) {#name, batchrt::Policy::enumerator},
#include "batch-runtime/Schedule/Policies.def"
    };
  }
};

} // namespace mlir::batch

BATCH_NAMED_OPTION(mlir::batch::PolicyOption)

#endif // BATCH_TRANSFORMS_MEMORY_OPTIONS_H
