//===- StepLiveness.h - What outlives a step of a machine -------*- C++ -*-===//
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

/// Which values live across steps, and which across calls (program-counter
/// autobatching, section 3.2, optimizations 1 to 3).
///
/// For functions that are control flow graphs in which each block is a step: a
/// call is the last op of its block but for the terminator, which returns the
/// call's results (a tail call) or goes to where the call comes back to. Such a
/// *return point* has no other predecessor, and the results of the call are
/// values of it.
class StepLiveness {
public:
  explicit StepLiveness(const InstanceProgram &program);

  /// The call that ends `block`, if one does.
  static func::CallOp getCall(Block &block);
  /// The call that comes back to `block`, if one does.
  static func::CallOp getReturningCall(Block &block);
  static bool isTailCall(func::CallOp call);

  /// True if `value`, an argument of a block or the result of an op in one, is
  /// used in another step than the one that makes it.
  bool isLiveAcrossStep(Value value) const;
  bool isLiveIn(Value value, Block *block) const;
  /// True if `value` is needed when `call`, of the same function, comes back.
  bool isLiveAcross(Value value, func::CallOp call) const;
  /// True if `value` is live across a call that may run the same function again
  /// and so make the value anew.
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
