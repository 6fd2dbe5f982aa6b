//===- PolicyNames.h - Names of batching policies ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_SCHEDULE_POLICYNAMES_H
#define BATCH_RUNTIME_SCHEDULE_POLICYNAMES_H

#include <optional>
#include <string>

namespace batchrt {

/// The rule that picks the next batch.
enum class Policy {
#define BATCH_POLICY(enumerator, name) enumerator,
#include "batch-runtime/Schedule/Policies.def"
};

inline const char *policyName(Policy policy) {
  switch (policy) {
#define BATCH_POLICY(enumerator, name)                                         \
  case Policy::enumerator:                                                     \
    return #name;
#include "batch-runtime/Schedule/Policies.def"
  }
  return "";
}

/// Returns the policy with this name.
inline std::optional<Policy> findPolicy(const std::string &name) {
#define BATCH_POLICY(enumerator, known)                                        \
  if (name == #known)                                                          \
    return Policy::enumerator;
#include "batch-runtime/Schedule/Policies.def"
  return std::nullopt;
}

/// Returns all names, for messages and help: "'depth', 'agenda', ... or
/// 'fsm'".
inline std::string listPolicies() {
  std::string list, last;
#define BATCH_POLICY(enumerator, name)                                         \
  if (!last.empty())                                                           \
    list += (list.empty() ? "" : ", ") + last;                                 \
  last = "'" #name "'";
#include "batch-runtime/Schedule/Policies.def"
  return list + " or " + last;
}

} // namespace batchrt

#endif // BATCH_RUNTIME_SCHEDULE_POLICYNAMES_H
