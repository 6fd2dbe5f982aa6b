//===- ContextAccess.h - IR that reads and writes the context ---*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builders for host code of compiled objects. This code accesses everything
// through a BatchContext, argument 0 (an !llvm.ptr) of its function. The fields
// and cells are documented in batch-runtime/ABI.h.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_TARGET_ABI_CONTEXTACCESS_H
#define BATCH_TARGET_ABI_CONTEXTACCESS_H

#include "Batch/Target/ABI/ABILayout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace mlir::batch {

/// Fields of BatchContext.
enum class ContextField : int32_t {
#define BATCH_CONTEXT_FIELD(type, name) name,
#include "batch-runtime/ContextFields.def"
};

/// Runtime functions.
enum class RuntimeFunction : int32_t {
#define BATCH_RUNTIME_FUNCTION(result, name, parameters) name,
#include "batch-runtime/RuntimeFunctions.def"
};

/// Kind of memory that host code accesses. Different kinds do not alias.
enum class MemoryKind {
  Base,    ///< pointers and sizes that only runtime functions change
  Counter, ///< numbers in the context
  Queue,   ///< ends of task queues
  Cell,    ///< cells of nodes, lists, records, arguments, results and memos
  Variant, ///< variants of nodes
};

/// Attribute of an op that adds a node or a task in the loop of a traversal.
/// The traversal has reserved space for the node or task before the loop.
inline constexpr llvm::StringLiteral kReservedAttr = "batch.reserved";

/// Prepends a context argument to `functions` and passes the context in all
/// calls to them in `module`. Emits an error and fails if one of the functions
/// has no body, or if a caller has no context.
LogicalResult addContextArgument(ModuleOp module,
                                 ArrayRef<func::FuncOp> functions);

/// Returns the context: argument 0 of the function around `op`.
Value getContext(Operation *op);

/// Builds host code at one insertion point.
class ContextBuilder {
public:
  /// Builds at the insertion point of `builder`. Unless `context` is given, the
  /// insertion point must be in a function that has a context. All memory that
  /// the context points to is in the address space of the context.
  ContextBuilder(OpBuilder &builder, Location loc, Value context = {});

  Value getContext() const { return context; }

  /// Builds an i64 constant.
  Value constant(int64_t value);

  /// Loads a field of the context: an !llvm.ptr or an i64.
  Value loadField(ContextField field);
  void storeField(ContextField field, Value value);

  /// Calls a runtime function with the context, followed by `arguments`.
  /// Returns the result, or null if the function has none.
  Value call(RuntimeFunction function, ValueRange arguments);
  /// Ends the run with error `errorCode`, a BatchError. `a` and `b`, both i64,
  /// are the details of the error.
  void fail(int64_t errorCode, Value a, Value b);

  /// Ends the run if it has been canceled. In the code of an executor, `worker`
  /// (an i64) is the worker that leaves the run; in the code of an inspector,
  /// `worker` is null.
  void endIfCancelled(Value worker = {});
  /// Counts an instance whose results are complete.
  void countEnded();

  /// Returns the address of element `index` (i64 or index) of an array of
  /// `elementType`.
  Value address(Value base, Value index, Type elementType);
  /// Loads the cell at base[index], an i64.
  Value loadCell(Value base, Value index, MemoryKind kind = MemoryKind::Cell);
  void storeCell(Value base, Value index, Value cell,
                 MemoryKind kind = MemoryKind::Cell);
  /// Loads the pointer at base[index].
  Value loadPointer(Value base, int64_t index);
  /// Loads the pointer in a field of element `index` of an array of structs,
  /// each of `structCells` cells.
  Value loadPointer(Value array, int64_t index, int64_t structCells,
                    abi::Field field);
  /// Functions that load a field of the struct at `base`: a pointer field as a
  /// pointer, or any field as a cell.
  Value loadPointer(Value base, abi::Field field);
  Value loadCell(Value base, abi::Field field,
                 MemoryKind kind = MemoryKind::Cell);
  void storeCell(Value base, abi::Field field, Value cell,
                 MemoryKind kind = MemoryKind::Cell);

  /// Copies the bytes from `begin` to `end`, both multiples of 64, from one row
  /// to another. All values are i64.
  void copyBytes(Value from, Value to, Value begin, Value end);
  /// Loads an element of a row of type `type`, which is stored as ABI.h
  /// specifies. The row and the indices are i64. The indices must be in range.
  Value loadElement(RankedTensorType type, Value row, ValueRange indices);

  /// Returns the cell that stores `value`, a scalar, an index or an i64.
  Value toCell(Value value);
  /// Returns the value of type `type` (a scalar, index or i64) that a cell
  /// stores.
  Value fromCell(Value cell, Type type);

  /// Loads payload cell `field` of a node of the forest.
  Value loadNodeCell(Value node, int64_t field);
  void storeNodeCell(Value node, int64_t field, Value cell);
  /// Loads the module-wide number of a node's variant, an i64.
  Value loadVariant(Value node);
  /// Reserves space for `count` new nodes.
  void reserveNodes(Value count);
  /// Allocates a new node of the forest and sets its variant. `reserved` states
  /// that the space is already reserved.
  Value makeNode(int64_t variant, bool reserved = false);
  /// Loads the number of rows of source number `source`, an i64.
  Value countRows(int64_t source);
  /// Returns the address of the queue of kernel number `kernel`.
  Value getQueue(int64_t kernel);
  /// Reserves space for `bytes` bytes of records in `queue`, the queue of
  /// `kernel`.
  void reserveRecords(Value queue, int64_t kernel, Value bytes);

  /// Functions that extract the length and the index of the first entry from a
  /// list cell. makeList() creates a list cell from both.
  Value listLength(Value list);
  Value listBegin(Value list);
  Value makeList(Value length, Value begin);
  /// Loads entry `index` of the list pool, which may move when any list grows.
  Value loadEntry(Value index);
  void storeEntry(Value index, Value cell);
  /// Allocates `count` new entries of the list pool and returns the index of
  /// the first one.
  Value reserveEntries(Value count);

private:
  Value load(Type type, Value where, MemoryKind kind);
  void store(Value value, Value where, MemoryKind kind);
  /// If `isFull` is true, calls `function`, which allocates space.
  void growIf(Value isFull, RuntimeFunction function, ValueRange arguments);

  OpBuilder &builder;
  Location loc;
  Value context;
  Type pointerType;
  Type cellType;
};

} // namespace mlir::batch

#endif // BATCH_TARGET_ABI_CONTEXTACCESS_H
