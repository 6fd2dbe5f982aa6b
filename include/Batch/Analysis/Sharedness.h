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

/// Relation of a value to the mini-batch.
struct Sharing {
  enum Kind {
    Unknown,   ///< not reached
    Parameter, ///< a parameter of the entry, passed through calls
    Shared,    ///< computed from parameters and constants alone; each call may
               ///< pass a different such value
    Instance,  ///< may differ between instances or calls
  };
  Kind kind = Unknown;
  /// The number of the parameter among the entry's parameters.
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
  /// Returns the number of the parameter that `value` is, if it is always the
  /// same one.
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
