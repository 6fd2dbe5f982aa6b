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

/// On arguments of operators: how they are read, an OperandAttr. On results:
/// where they are written, a ResultAttr.
inline constexpr StringLiteral kOperandAttr = "uprog.operand";
inline constexpr StringLiteral kResultAttr = "uprog.result";
/// On operators' functions, and on operators that have code for a device: their
/// CodeAttr.
inline constexpr StringLiteral kCodeAttr = "uprog.code";
/// On the function of a gpu.module with which blocks fill their shared memory:
/// the level of the blocks that share out what they keep, a string.
inline constexpr StringLiteral kLevelAttr = "uprog.level";
/// On a module with programs of level `cluster`: the blocks of a cluster, an
/// i64.
inline constexpr StringLiteral kClusterSizeAttr = "uprog.cluster_size";
/// The most blocks of a cluster, on any chip.
inline constexpr int64_t kMostClusterBlocks = 16;
/// On an operator that consists of stages: the StagingAttr of their target.
inline constexpr StringLiteral kStagingAttr = "uprog.staging";
/// On a reduction in a stage: how it runs, a PackedAttr, an InPlaceAttr, a
/// CopiedAttr, a GatheredAttr or a ReducedAttr.
inline constexpr StringLiteral kReductionAttr = "uprog.reduction";
/// On a module: the packings of the parameters that operators' code reads, a
/// list of PanelsAttr and PaddedAttr.
inline constexpr StringLiteral kPackingsAttr = "uprog.packings";
/// On a module: the messages of its checks. "{}" stands for the number checked.
inline constexpr StringLiteral kIndicesAttr = "uprog.indices";
/// On a module whose programs run single instances and have code: the `bytes`
/// of memory that units need for an instance, and the names of `loops`.
inline constexpr StringLiteral kInstancesAttr = "uprog.instances";

/// The rounds of a loop that next_round counts at once are at most these.
inline constexpr int64_t kMostCountedRounds = int64_t(1) << 62;
/// Unsigned, more rounds than any limit. A count of rounds stays here, so that
/// adding others does not overflow.
inline constexpr int64_t kTooManyRounds = std::numeric_limits<int64_t>::min();

/// What units do with a row that control names.
struct RowAccess {
  Value row;
  bool isWritten;
};

} // namespace mlir::uprog

#include "Batch/Dialect/UProg/UProgInterfaces.h.inc"

#define GET_OP_CLASSES
#include "Batch/Dialect/UProg/UProgOps.h.inc"

namespace mlir::uprog {

/// The inner dimensions of the stage that say which matrix a reduction reads,
/// of its kReductionAttr; none if there is one matrix.
llvm::ArrayRef<int64_t> getGroups(Attribute reduction);

/// Operators by the names of their kernels.
using OperatorMap = llvm::DenseMap<StringAttr, OperatorOp>;
OperatorMap mapOperators(ModuleOp module);

} // namespace mlir::uprog

#endif // BATCH_DIALECT_UPROG_UPROG_H
