//===- UProg.h - The uprog dialect ------------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_UPROG_UPROG_H
#define BATCH_DIALECT_UPROG_UPROG_H

#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SmallBitVector.h"

#include "Batch/Dialect/UProg/UProgDialect.h.inc"
#include "Batch/Dialect/UProg/UProgEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Batch/Dialect/UProg/UProgTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Batch/Dialect/UProg/UProgAttributes.h.inc"

namespace mlir::uprog {

/// On an argument of an operator: an OperandAttr that specifies how it is read.
/// On a result: a ResultAttr that specifies where it is written.
inline constexpr StringLiteral kOperandAttr = "uprog.operand";
inline constexpr StringLiteral kResultAttr = "uprog.result";
/// On the function of an operator, and on an operator that has code for a
/// device: its CodeAttr.
inline constexpr StringLiteral kCodeAttr = "uprog.code";
/// On the function of a gpu.module that fills the shared memory of blocks: a
/// string, the level of the blocks that divide the kept parameters among them.
inline constexpr StringLiteral kLevelAttr = "uprog.level";
/// On a module with programs of level `cluster`: the number of blocks in a
/// cluster, an i64.
inline constexpr StringLiteral kClusterSizeAttr = "uprog.cluster_size";
/// The maximum number of blocks in a cluster, on any chip.
inline constexpr int64_t kMostClusterBlocks = 16;
/// On an operator that consists of stages: the StagingAttr of their target.
inline constexpr StringLiteral kStagingAttr = "uprog.staging";
/// On a reduction in a stage: a PackedAttr, InPlaceAttr, CopiedAttr,
/// GatheredAttr or ReducedAttr that specifies how it runs.
inline constexpr StringLiteral kReductionAttr = "uprog.reduction";
/// On a module: the packings of the parameters that the code of operators
/// reads, a list of PanelsAttr and PaddedAttr.
inline constexpr StringLiteral kPackingsAttr = "uprog.packings";
/// On a module: the error messages of its checks. "{}" is replaced by the
/// checked number.
inline constexpr StringLiteral kIndicesAttr = "uprog.indices";
/// On a module whose programs run single instances and have code: a dictionary
/// with the `bytes` of memory that units need for an instance, and the names of
/// the `loops`.
inline constexpr StringLiteral kInstancesAttr = "uprog.instances";

/// The maximum number of rounds of a loop that next_round counts at once.
inline constexpr int64_t kMostCountedRounds = int64_t(1) << 62;
/// A number of rounds above every limit, as an unsigned integer. Counts of
/// rounds saturate at this number, so that later additions do not overflow.
inline constexpr int64_t kTooManyRounds = std::numeric_limits<int64_t>::min();

/// Access of units to a row that control names.
struct RowAccess {
  Value row;
  bool isWritten;
};

} // namespace mlir::uprog

#include "Batch/Dialect/UProg/UProgInterfaces.h.inc"

#define GET_OP_CLASSES
#include "Batch/Dialect/UProg/UProgOps.h.inc"

namespace mlir::uprog {

/// Returns the inner dimensions of the stage that select the matrix that a
/// reduction with this kReductionAttr reads; none if there is one matrix.
llvm::ArrayRef<int64_t> getGroups(Attribute reduction);

/// Operators, keyed by the names of their kernels.
using OperatorMap = llvm::DenseMap<StringAttr, OperatorOp>;
OperatorMap mapOperators(ModuleOp module);

} // namespace mlir::uprog

#endif // BATCH_DIALECT_UPROG_UPROG_H
