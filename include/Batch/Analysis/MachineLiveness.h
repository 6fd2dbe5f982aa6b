//===- MachineLiveness.h - Liveness of a machine's variables ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_MACHINELIVENESS_H
#define BATCH_ANALYSIS_MACHINELIVENESS_H

#include "Batch/Dialect/Batch/Batch.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::batch {

/// Liveness of a machine's variables: a variable is live wherever the value at
/// its top may still be read. The analysis follows calls into the callee, and
/// follows returns to all return points of the function. A push counts as a
/// read, since a pop may restore the value.
class MachineLiveness {
public:
  explicit MachineLiveness(MachineOp machine);

  /// Returns true if the top of `variable` may be read after `op`, an op of a
  /// block.
  bool isLiveAfter(Operation *op, FlatSymbolRefAttr variable) const;

private:
  /// Sets of variables. Bit i is the variable with number i.
  struct BlockState {
    llvm::BitVector reads, writes, in, out;
  };
  void addSuccessors(ArrayRef<BlockOp> order);

  DenseMap<StringAttr, unsigned> numbers;
  DenseMap<StringAttr, BlockOp> blocks;
  DenseMap<Operation *, BlockState> states;
  DenseMap<Operation *, SmallVector<BlockOp>> successors;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_MACHINELIVENESS_H
