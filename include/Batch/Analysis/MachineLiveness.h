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

/// The liveness of a machine's variables: a variable is live where the value at
/// its top may still be read. Follows calls into the callee and returns to all
/// return points of the function; a push counts as a read, since a pop may
/// bring the value back.
class MachineLiveness {
public:
  explicit MachineLiveness(MachineOp machine);

  /// True if the top of `variable` may be read after `op`, an op of a block.
  bool isLiveAfter(Operation *op, FlatSymbolRefAttr variable) const;

private:
  /// Bits are numbers of variables.
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
