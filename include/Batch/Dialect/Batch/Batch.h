//===- Batch.h - The batch dialect ------------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_BATCH_H
#define BATCH_DIALECT_BATCH_BATCH_H

#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Batch/Dialect/Batch/TableLayout.h"
#include "batch-runtime/Schedule/PolicyNames.h"

namespace mlir {
/// Parser of the policy in `#batch.policy`. Policies have the same names as in
/// the runtime.
template <>
struct FieldParser<batchrt::Policy, batchrt::Policy> {
  static FailureOr<batchrt::Policy> parse(AsmParser &parser);
};
AsmPrinter &operator<<(AsmPrinter &printer, batchrt::Policy policy);
} // namespace mlir

#include "Batch/Dialect/Batch/BatchDialect.h.inc"
#include "Batch/Dialect/Batch/BatchEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "Batch/Dialect/Batch/BatchTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "Batch/Dialect/Batch/BatchAttributes.h.inc"

#define GET_OP_CLASSES
#include "Batch/Dialect/Batch/BatchOps.h.inc"

namespace mlir::batch {

/// Marks the entry of a module: the function that takes one instance and
/// returns its results.
inline constexpr StringLiteral kEntryAttr = "batch.entry";
/// Attribute of an argument that is a parameter. On a function argument: the
/// name of the parameter in the parameter file, a string. On a kernel argument:
/// a unit attribute, which states that the argument is equal for all tasks.
inline constexpr StringLiteral kSharedAttr = "batch.shared";
/// Name of a per-instance argument or of a result of the entry.
inline constexpr StringLiteral kNameAttr = "batch.name";
/// Attribute of a tensor result of the entry: the name of another result, whose
/// value (an index or integer) is the number of valid rows. All other rows are
/// omitted.
inline constexpr StringLiteral kRowsAttr = "batch.rows";
/// Attribute of a module: a dictionary from size names to their values.
inline constexpr StringLiteral kSizesAttr = "batch.sizes";
/// Marks the functions that are created from the entry: the inspector of one
/// instance, the traversals that run before it, and the executor.
inline constexpr StringLiteral kInspectorAttr = "batch.inspector";
inline constexpr StringLiteral kTraversalAttr = "batch.traversal";
inline constexpr StringLiteral kExecutorAttr = "batch.executor";
/// Table or source that stores the rows of a tensor. On arguments and results
/// of functions and kernels: its name. On a `rec.variant`: a dictionary from
/// fields to such names. A value that may be a row of an input has both
/// attributes.
inline constexpr StringLiteral kTableAttr = "batch.in_table";
inline constexpr StringLiteral kSourceAttr = "batch.in_source";
/// Attribute of a kernel argument: a `#batch.read` that specifies how a step
/// reads it.
inline constexpr StringLiteral kReadAttr = "batch.read";
/// Attribute of a kernel result that equals an operand except for a replaced
/// slice: the index of the argument for that operand. The result may be
/// written into the row of the operand.
inline constexpr StringLiteral kInPlaceAttr = "batch.in_place";
/// Attribute of a kernel result: steps of the kernel contain the address of the
/// result's row for each task.
inline constexpr StringLiteral kRowListAttr = "batch.row_list";
/// Attribute of a kernel: the number of bytes that a task copies for inserts
/// whose results are not marked `batch.in_place`.
inline constexpr StringLiteral kCopiedBytesAttr = "batch.copied_bytes";
/// Attributes of a kernel argument. On an argument with `batch.shared`: the
/// index of the entry's parameter. On a ragged argument: the index of its
/// domain. All arguments of a domain have equal extents.
inline constexpr StringLiteral kParameterAttr = "batch.parameter";
inline constexpr StringLiteral kRaggedAttr = "batch.ragged";
/// Name of the gpu.module with an object's persistent kernel.
inline constexpr StringLiteral kDeviceModule = "device";
/// Attribute of the host function that launches the persistent kernel: {kernel,
/// executor, block_size, cluster_size, shared_bytes}.
inline constexpr StringLiteral kLaunchAttr = "batch.kernel_launch";
/// Attribute of the function that the emulator calls for a kernel: the size of
/// the kernel's static shared memory in bytes.
inline constexpr StringLiteral kEmulatedAttr = "batch.shared_bytes";
/// Attribute of a gpu.module: the number of bytes of dynamic shared memory that
/// a launch requests per block.
inline constexpr StringLiteral kAddedBytesAttr = "batch.added_bytes";
/// Attribute of a module: the PolicyAttr that its schedules follow.
inline constexpr StringLiteral kPolicyAttr = "batch.policy";
/// Attributes of the entry: its StrategyAttr, and a string with the location
/// and the reason if the strategy is `none` because no other strategy is legal.
inline constexpr StringLiteral kStrategyAttr = "batch.strategy";
inline constexpr StringLiteral kNotBatchedAttr = "batch.not_batched";
/// Attribute of a loop: the OrderAttr of its tasks.
inline constexpr StringLiteral kOrderAttr = "batch.order";
/// Attribute of a recursive function in the inspector or in the instance
/// program. The function runs only once for all calls with equal arguments.
inline constexpr StringLiteral kMemoizedAttr = "batch.memoized";
/// Attribute of a rec.map in the inspector: the rounds of the map wait
/// concurrently.
inline constexpr StringLiteral kConcurrentAttr = "batch.concurrent_rounds";

/// Returns the entry function of `module`, or null if there is none.
FunctionOpInterface lookupEntry(ModuleOp module);
/// Emits an error at the first function: the module has no entry.
InFlightDiagnostic emitMissingEntry(ModuleOp module);

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_BATCH_H
