//===- Sharedness.h - Values equal for all instances ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_SHAREDNESS_H
#define BATCH_ANALYSIS_SHAREDNESS_H

#include "Batch/Analysis/InstanceProgram.h"

namespace mlir::batch {

/// Sharing of a value among the instances of a mini-batch.
struct Sharing {
  enum Kind {
    Unknown,   ///< not reached by the analysis
    Parameter, ///< a parameter of the entry, passed through calls
    Shared,    ///< computed only from parameters and constants; different calls
               ///< may pass different values
    Instance,  ///< may differ between instances or calls
  };
  Kind kind = Unknown;
  /// Index of the parameter among the parameters of the entry.
  int64_t parameter = -1;

  bool isShared() const { return kind == Parameter || kind == Shared; }
  bool operator==(const Sharing &other) const {
    return kind == other.kind && parameter == other.parameter;
  }
};

/// Taint analysis from the entry's arguments through calls (ACRoBat, section
/// 5.1, but without contexts). A function argument that different calls bind to
/// different parameters is `Instance`.
class Sharedness {
public:
  explicit Sharedness(const InstanceProgram &program);

  Sharing getSharing(Value value) const { return states.lookup(value); }
  bool isShared(Value value) const { return getSharing(value).isShared(); }
  /// Returns the index of a parameter if `value` is always this parameter.
  std::optional<int64_t> getParameter(Value value) const;

private:
  bool join(Value value, Sharing state);
  void visit(Operation *op);

  const InstanceProgram &program;
  DenseMap<Value, Sharing> states;
  bool changed = false;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_SHAREDNESS_H
