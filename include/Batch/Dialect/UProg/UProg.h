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

/// Attributes of the arguments and results of an operator. An OperandAttr
/// specifies how an argument is read. A ResultAttr specifies where a result is
/// written.
inline constexpr StringLiteral kOperandAttr = "uprog.operand";
inline constexpr StringLiteral kResultAttr = "uprog.result";
/// Attribute of the function of an operator, and of an operator that has code
/// for a device: the CodeAttr of this code.
inline constexpr StringLiteral kCodeAttr = "uprog.code";
/// Attribute of the function that loads the resident parameters of a
/// gpu.module. The value is a string: the level of the groups of blocks. The
/// blocks of each group divide the parameters among themselves.
inline constexpr StringLiteral kLevelAttr = "uprog.level";
/// Attribute of a module with cluster-level programs: the number of blocks in a
/// cluster, an i64.
inline constexpr StringLiteral kClusterSizeAttr = "uprog.cluster_size";
/// Maximum number of blocks in a cluster, on any chip.
inline constexpr int64_t kMostClusterBlocks = 16;
/// Attribute of an operator that consists of stages: a StagingAttr that
/// specifies the target of the stages.
inline constexpr StringLiteral kStagingAttr = "uprog.staging";
/// Attribute of a reduction in a stage: a PackedAttr, InPlaceAttr, CopiedAttr,
/// GatheredAttr or ReducedAttr that specifies how the reduction runs.
inline constexpr StringLiteral kReductionAttr = "uprog.reduction";
/// Attribute of a module: the packings of the parameters that the code of
/// operators reads, as a list of PanelsAttr and PaddedAttr.
inline constexpr StringLiteral kPackingsAttr = "uprog.packings";
/// Attribute of a module: the error messages of its checks. The runtime
/// replaces "{}" with the checked number.
inline constexpr StringLiteral kIndicesAttr = "uprog.indices";
/// Attribute of a module after code generation for programs that run instances.
/// The value is a dictionary with sizes, such as the `bytes` of memory that
/// units need for an instance, and with descriptions of loops.
inline constexpr StringLiteral kInstancesAttr = "uprog.instances";

/// Maximum number of rounds that a `uprog.next_round` counts at once.
inline constexpr int64_t kMostCountedRounds = int64_t(1) << 62;
/// Number of rounds that exceeds every limit, as an unsigned integer. Counts of
/// rounds saturate at this number, so later additions do not overflow.
inline constexpr int64_t kTooManyRounds = std::numeric_limits<int64_t>::min();

/// Access to a row by the units that run an op.
struct RowAccess {
  Value row;
  bool isWritten;
};

} // namespace mlir::uprog

#include "Batch/Dialect/UProg/UProgInterfaces.h.inc"

#define GET_OP_CLASSES
#include "Batch/Dialect/UProg/UProgOps.h.inc"

namespace mlir::uprog {

/// Returns the inner dimensions of the stage that select one of several
/// matrices for a reduction, or none if there is only one matrix.
/// `reduction` is the kReductionAttr of the reduction.
llvm::ArrayRef<int64_t> getGroups(Attribute reduction);

/// Operators, keyed by the names of their kernels.
using OperatorMap = llvm::DenseMap<StringAttr, OperatorOp>;
OperatorMap mapOperators(ModuleOp module);

} // namespace mlir::uprog

#endif // BATCH_DIALECT_UPROG_UPROG_H
