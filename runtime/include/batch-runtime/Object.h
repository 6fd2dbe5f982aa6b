//===- Object.h - A compiled object -----------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_OBJECT_H
#define BATCH_RUNTIME_OBJECT_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"

#include <memory>
#include <string>

namespace batchrt {

/// An open shared object that batch-compile created. Its ABI version,
/// descriptor and CPU features have been checked.
class CompiledObject {
public:
  static CompiledObject open(const std::string &path);
  /// Wraps an object that is linked into this program.
  static CompiledObject adopt(const BatchObject &object);

  const Descriptor &descriptor() const { return *parsed; }
  const BatchObject &entry() const { return *object; }

private:
  CompiledObject() = default;
  void check(const std::string &path);

  std::shared_ptr<void> library;
  const BatchObject *object = nullptr;
  std::shared_ptr<const Descriptor> parsed;
};

/// Returns the `features` (LLVM names) that this host lacks.
std::vector<std::string>
missingCpuFeatures(const std::vector<std::string> &features);

} // namespace batchrt

#endif // BATCH_RUNTIME_OBJECT_H
