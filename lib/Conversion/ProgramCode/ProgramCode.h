//===- ProgramCode.h - What targets share of a program ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_PROGRAMCODE_PROGRAMCODE_H
#define BATCH_CONVERSION_PROGRAMCODE_PROGRAMCODE_H

#include "../../Codegen/Lanes/LaneCode.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::batch {

/// Lowers the control of a uprog.program, which all units agree on, to scf, and
/// what a program of lanes does between kernels. How units run kernels, meet
/// and find the steps of a plan is the target's.
class ProgramCode {
protected:
  explicit ProgramCode(ModuleOp module)
      : b(module.getLoc(), module.getContext()) {}
  virtual ~ProgramCode() = default;

  /// Lowers the operations of a block, but its terminator, at the insertion
  /// point. Fails with an error at the first one that the target has not.
  LogicalResult lowerBlock(Block &block);
  /// Lowers what the target does in its own way.
  virtual LogicalResult lowerOp(Operation *op) = 0;
  /// Lowers the least keys of numbers.
  virtual LogicalResult lowerReduce(uprog::ReduceOp reduce) = 0;
  /// A loop over every `step`th number from `first` on that finds the least
  /// keys, then the numbers that have them, both i64s.
  FailureOr<SmallVector<Value>> findLeast(uprog::ReduceOp reduce, Value first,
                                          int64_t step);
  void mapLeast(uprog::ReduceOp reduce, ArrayRef<Value> found);
  /// Lowers a list of numbers; the list is an !llvm.ptr to 32-bit ones.
  virtual LogicalResult lowerCompact(uprog::CompactOp compact) = 0;
  /// Lowers the region that says whether a number is listed.
  FailureOr<Value> lowerPredicate(uprog::CompactOp compact, Value number);
  /// Lowers one of the cases of a branch.
  virtual LogicalResult lowerCase(Region &region, int64_t number) {
    return lowerBlock(region.front());
  }
  /// For the insertion point.
  virtual LaneCode laneCode() = 0;

  /// Whether a program has lanes.
  static bool hasLanes(uprog::ProgramOp program);
  /// Sets the machine of a program that has lanes, and the lanes of a unit,
  /// given the context. Fails with an error where there is no machine.
  LogicalResult findMachine(uprog::ProgramOp program);
  void findLanes(Value unit);

  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
  }
  Value toI64(Value index) {
    return arith::IndexCastOp::create(b, b.getI64Type(), index);
  }
  Value toIndex(Value integer) {
    return arith::IndexCastOp::create(b, b.getIndexType(), integer);
  }

  ImplicitLocOpBuilder b;
  IRMapping mapping;
  Value context;     ///< an !llvm.ptr to a BatchContext
  MachineOp machine; ///< of a program that has lanes
  Value lanes;       ///< likewise, an !llvm.ptr to this unit's BatchLanes

private:
  LogicalResult lowerFor(uprog::ForOp loop);
  LogicalResult lowerBranch(uprog::BranchOp branch);
  LogicalResult lowerWhile(uprog::WhileOp loop);
  LogicalResult lowerStart(StartLanesOp start);
  void lowerNext(NextBlockOp next);
  void lowerKeys(BlockKeysOp keys);
  void lowerList(LaneListOp list);
  void lowerEnter(EnterBlockOp enter);
  void lowerTake(uprog::TakeLanesOp take);
  void lowerLaneOps(LaneOpsOp op);
};

} // namespace mlir::batch

#endif // BATCH_CONVERSION_PROGRAMCODE_PROGRAMCODE_H
