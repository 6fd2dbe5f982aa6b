//===- StepLiveness.h - Liveness across steps and calls ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_STEPLIVENESS_H
#define BATCH_ANALYSIS_STEPLIVENESS_H

#include "Batch/Analysis/InstanceProgram.h"
#include "mlir/Analysis/Liveness.h"

namespace mlir::batch {

/// Liveness of values across steps and across calls (program-counter
/// autobatching, section 3.2, optimizations 1 to 3).
///
/// Requires that functions are control-flow graphs in which each block is a
/// step. A call is the last op of its block before the terminator. The
/// terminator either returns the call's results (a tail call) or branches to
/// the call's *return point*. A return point has no other predecessor, and the
/// results of the call count as values of the return point.
class StepLiveness {
public:
  explicit StepLiveness(const InstanceProgram &program);

  /// Returns the call that ends `block`, or null.
  static func::CallOp getCall(Block &block);
  /// Returns the call that returns to `block`, or null.
  static func::CallOp getReturningCall(Block &block);
  static bool isTailCall(func::CallOp call);

  /// Returns true if `value`, a block argument or the result of an op, is used
  /// in a step other than the one that computes it.
  bool isLiveAcrossStep(Value value) const;
  bool isLiveIn(Value value, Block *block) const;
  /// Returns true if `value` is still needed when `call`, which is in the same
  /// function, returns.
  bool isLiveAcross(Value value, func::CallOp call) const;
  /// Returns true if `value` is live across a call that may run the same
  /// function again and thus recompute the value.
  bool isLiveAcrossRecursion(Value value) const {
    return acrossRecursion.contains(value);
  }

private:
  const Liveness &getLiveness(Block *block) const;

  DenseMap<Operation *, std::unique_ptr<Liveness>> functions;
  DenseSet<Value> acrossRecursion;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_STEPLIVENESS_H
