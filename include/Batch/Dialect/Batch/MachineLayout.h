//===- MachineLayout.h - Rows of a machine's variables ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_MACHINELAYOUT_H
#define BATCH_DIALECT_BATCH_MACHINELAYOUT_H

#include "Batch/Dialect/Batch/Batch.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::batch {

/// Assigns indices to the variables and blocks of a machine, and sizes to its
/// variables, which are all tensors.
class MachineLayout {
public:
  explicit MachineLayout(MachineOp machine);

  struct Variable {
    int64_t number = 0;
    bool hasStack = false;
    /// Index of the entry's argument or result that the variable stores, if
    /// any.
    std::optional<uint64_t> argument, result;
    int64_t rowBytes = 0;  ///< distance in bytes from one row to the next
    int64_t copyBytes = 0; ///< bytes of a row that workers copy
    /// A row consists of lines, each followed by padding. A line is divided
    /// into pieces. One instruction moves one piece.
    int64_t lines = 1, lineBytes = 0, pieceBytes = 0;

    int64_t pieces() const { return lines * (lineBytes / pieceBytes); }
  };

  const Variable &getVariable(StringAttr name) const {
    return variables.find(name)->second;
  }
  int64_t getBlock(StringAttr name) const { return blocks.lookup(name); }
  const llvm::MapVector<StringAttr, Variable> &getVariables() const {
    return variables;
  }
  int64_t getNumBlocks() const { return blocks.size(); }
  /// Returns how many bytes the lane operations of a block move for one lane:
  /// the bytes to and from stacks, and the bytes to and from tops.
  std::pair<int64_t, int64_t> countBytes(BlockOp block) const;
  /// Returns true if the kernel of a block writes `result` into the row of the
  /// variable to which the result is assigned. The kernel also reads this row.
  bool isInPlace(OpResult result) const;

private:
  bool cachedTops;
  llvm::MapVector<StringAttr, Variable> variables;
  DenseMap<StringAttr, int64_t> blocks;
};

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_MACHINELAYOUT_H
