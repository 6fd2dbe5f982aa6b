//===- InstanceCode.h - Code of single instances ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code of programs that run single instances, except for control flow and
// kernels: the locations of tensors, the elements that control flow reads, and
// the results for the host. The state of a unit is a BatchUnit (ABI.h).
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_INSTANCES_INSTANCECODE_H
#define BATCH_CODEGEN_INSTANCES_INSTANCECODE_H

#include "../UnitThreads.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/ContextAccess.h"

namespace mlir {
class IRMapping;
} // namespace mlir

namespace mlir::batch {

/// Returns true if `program` runs sets of instances.
bool runsSets(uprog::ProgramOp program);

/// Module-wide tables for the code of instances: offsets of buffers and of
/// sites' scratch memory, and numbers by which messages refer to indices and
/// loops. Offsets are relative to the memory of the units that run an instance.
/// Copies of a program have the same offsets.
class InstanceTables {
public:
  /// Requires that operators have code. If `onDevice` is true, steps are stored
  /// in the memory of the units.
  InstanceTables(ModuleOp module, bool onDevice);
  /// Assigns the offsets and numbers of ops to their copies.
  void addCopies(const IRMapping &copies);

  int64_t getOffset(StringAttr buffer) const { return buffers.lookup(buffer); }
  /// Returns the scratch offset of a `uprog.site` or a `uprog.batch`, which is
  /// negative in programs for sets.
  int64_t getScratch(Operation *site) const { return scratch.lookup(site); }
  /// Returns the offset of the cells of a `uprog.tasks`, `uprog.cells` or
  /// `uprog.members`, or of the step of a `uprog.site` or a `uprog.batch`.
  int64_t getCells(Operation *op) const { return cellsOf.lookup(op); }
  /// Among the rows of a node, returns the offset of the row of a
  /// `uprog.node_rows`; getNodeBytes() returns the size of all rows in bytes.
  int64_t getNodeRow(StringAttr rows) const { return nodeRows.lookup(rows); }
  int64_t getNodeBytes() const { return nodeBytes; }
  /// Among the result cells of a node, returns the number of the first cell of
  /// a `uprog.node_results`; getNodeCells() returns the number of all result
  /// cells.
  int64_t getNodeCell(StringAttr results) const {
    return nodeResults.lookup(results);
  }
  int64_t getNodeCells() const { return nodeCells; }
  /// Among the values created for a node, returns the index of the value that
  /// `op` creates; getNodeValues() returns the number of these values.
  int64_t getNodeValue(uprog::ConstructOp op) const {
    return valueOf.lookup(op);
  }
  int64_t getNodeValues() const { return nodeValues; }
  /// Returns the offset at which all buffers of an instance begin;
  /// getBufferBytes() returns their size in bytes. The buffers of the other
  /// members of a set follow, and have the same size.
  int64_t getBufferBegin() const { return bufferBegin; }
  int64_t getBufferBytes() const { return bufferBytes; }
  int64_t getCapacity() const { return capacity; }
  /// Returns the size in bytes of the scratch memory of sites in programs for
  /// sets. This memory precedes the memory of all units.
  int64_t getSetBytes() const { return setBytes; }
  /// Returns the position of the first index that a `uprog.load` or
  /// `uprog.parameter_row` checks. The position is in the module's
  /// `uprog.indices`, counted from 1.
  int64_t getIndex(Operation *op) const { return indexOf.lookup(op); }
  /// Returns the number of the loop of `op`, counted from 1.
  int64_t getLoop(uprog::NextRoundOp op) const { return loopOf.lookup(op); }
  /// Writes `uprog.indices` if any index is checked, and `uprog.instances` if a
  /// program runs instances.
  void save(ModuleOp module) const;

private:
  int64_t take(int64_t size);
  void placeBuffers(ModuleOp module);
  void findCapacity(ModuleOp module);
  void placeSites(ModuleOp module, bool onDevice);
  void placeNodes(ModuleOp module);
  int64_t numberValues(Region &region, int64_t first);
  void numberIndices(ModuleOp module);
  void numberLoops(ModuleOp module);
  void findLoopsOfKernels(ModuleOp module);

  int64_t bytes = 0, bufferBegin = 0, bufferBytes = 0;
  int64_t capacity = 1; ///< maximum number of instances of a set
  int64_t setBytes = 0;
  int64_t mostTasks = 1; ///< maximum number of tasks of a step
  int64_t nodeBytes = 0, nodeCells = 0, nodeValues = 0;
  DenseMap<StringAttr, int64_t> buffers, nodeRows, nodeResults;
  DenseMap<Operation *, int64_t> scratch, cellsOf, indexOf, loopOf, valueOf;
  SmallVector<Attribute> indices, loops;
  SmallVector<NamedAttribute> kernelLoops; ///< by kernel, for messages
};

/// Unit that runs an instance, by itself or together with other units.
struct InstanceUnit {
  UnitThreads threads;
  Value context; ///< !llvm.ptr to the BatchContext
  Value state;   ///< !llvm.ptr to the BatchUnit
  Value own;     ///< i64: address of the unit's own memory
  Value memory;  ///< i64: base address of buffers
  Value worker;  ///< i64: number of the unit among all units
  Value number;  ///< i64: number of the unit among those that run together
  Value count;   ///< i64: number of units that run together
  /// Level of the units that run the instance together. `block` means that this
  /// unit runs the instance by itself.
  uprog::Level level = uprog::Level::Device;
  /// Pointers (!llvm.ptr) to i64s of each thread: the current instance, and the
  /// number of rounds that it has run. A unit with several threads also counts
  /// its progress (as in a BatchBlockControl) and cluster barriers. `shares`
  /// counts the tasks that it shares with other units. The low 32 bits of
  /// `steps` count steps that the unit runs by itself. The high 32 bits count
  /// shared steps.
  Value instance, rounds, progress, shares, steps, barriers;
};

/// Returns unit `number` of the `count` units that run an instance together.
/// Emits code that loads its state.
InstanceUnit makeInstanceUnit(OpBuilder &builder, Location loc, Value context,
                              Value number, Value count,
                              const UnitThreads &threads = {});
/// Returns the same unit for code in which the unit runs an instance by itself.
InstanceUnit makeSingleUnit(OpBuilder &builder, Location loc,
                            const InstanceUnit &unit);
/// Returns the same unit as block `rank` of a cluster of `size` blocks. The
/// blocks run an instance together, in the memory of the first block.
InstanceUnit makeClusterUnit(OpBuilder &builder, Location loc,
                             const InstanceUnit &unit, Value rank, Value size);

/// Emits the code of instances at the insertion point of a builder. Rows, lists
/// and numbers of instances are i64s. All threads of a unit run the code
/// together.
class InstanceCode {
public:
  InstanceCode(OpBuilder &builder, Operation *op, const InstanceUnit &unit);

  /// `member` is null or an i64.
  Value row(uprog::RowOp op, ValueRange avoided, Value member,
            const InstanceTables &tables);
  Value parameterRow(uprog::ParameterRowOp op, Value index,
                     const InstanceTables &tables);
  Value load(uprog::LoadOp op, Value row, ValueRange indices,
             const InstanceTables &tables);
  void copy(RankedTensorType type, Value from, Value to);
  Value site(uprog::SiteOp op, ValueRange inputs, ValueRange outputs,
             const InstanceTables &tables);
  Value slice(uprog::SliceOp op, Value whole, Value index);
  /// Returns the address of the cells that contain the tasks.
  Value tasks(uprog::TasksOp op, const InstanceTables &tables);
  void putTask(uprog::PutTaskOp op, Value tasks, Value index, ValueRange inputs,
               ValueRange outputs);
  Value batch(uprog::BatchOp op, Value tasks, Value count, ValueRange outputs,
              const InstanceTables &tables);
  void enterInstance(Value instance);
  /// `rounds` is null or an i64.
  Value nextRound(uprog::NextRoundOp op, Value count, Value rounds,
                  const InstanceTables &tables);
  /// Returns the address of the `count` cells that `op` needs in this unit.
  Value allocate(Operation *op, int64_t count, const InstanceTables &tables);
  /// Returns an i64 that locates cells: their address or, on a device, their
  /// offset from the beginning of the unit's own memory.
  Value cells(uprog::CellsOp op, const InstanceTables &tables);
  Value get(Value cells, Value member, Type type);
  void put(Value cells, Value member, Value value);
  Value member(Value list, Value index);
  /// Begins a loop whose iterations are divided among the unit's threads.
  /// Returns the number of this thread's first iteration and the distance to
  /// its next iteration.
  std::pair<Value, Value> beginEach();
  /// Emits code that waits until all threads have run their iterations.
  void endEach();
  Value argument(int64_t number, Value instance, Type type);
  void result(int64_t number, Value instance, Value value,
              std::optional<Type> type);
  /// In this and the following functions, nodes are i64s.
  Value node(Value number, Value instance);
  Value nodeNumber(Value node, Value instance);
  Value variant(uprog::VariantOp op, Value node);
  Value field(uprog::FieldOp op, Value node);
  Value nodeRow(uprog::NodeRowOp op, Value node, const InstanceTables &tables);
  void remember(uprog::RememberOp op, Value node, ValueRange values,
                const InstanceTables &tables);
  SmallVector<Value> lookUp(uprog::LookUpOp op, Value node,
                            const InstanceTables &tables);
  Value construct(uprog::ConstructOp op, ValueRange fields, Value node,
                  const InstanceTables &tables);
  Value listLength(Value list);
  Value listElement(Value list, Value index, Type type);
  Value instances();
  void beginBarrier();
  void countClusterBarrier();
  /// Records in the trace of the unit, if it has one, that the unit begins
  /// `tasks` tasks of `kernel`, both i64s. The unit has one thread. Kernel -1
  /// represents a barrier. If `tasks` is 0 and `kernel` is not -1, the unit
  /// continues the tasks that it ran before the barrier.
  void trace(Value kernel, Value tasks);
  /// Returns the kernel number, an i64, of the task that the unit began last.
  Value lastKernel();
  /// Stores the numbers of tasks, steps and cluster barriers. Each thread has
  /// counted them privately.
  void storeCounts();
  /// Emits code in which the units clear their buffers and the rows of nodes,
  /// including padding.
  void clearBuffers(const InstanceTables &tables);

private:
  Value isZero(Value value);
  Value fromCell(Value cell, Type type);
  Value isLeaderThread();
  Value isReportingThread();
  void when(Value condition, function_ref<void()> body);
  std::pair<Value, Value> shareOf(Value bytes);
  void clear(Value first, Value bytes);
  Value loadOwn(Value cell);
  void addTo(abi::Field counter, Value amount, Value condition);
  void beginTasks(int64_t kernel, Value count, Value step);
  void reportTasks(int64_t kernel, Value count, bool isShared);
  void countCopies(KernelOp kernel, Value count,
                   function_ref<bool(unsigned)> isInPlace);
  Value shareCells(Operation *op, int64_t count, const InstanceTables &tables,
                   function_ref<void(Value)> store);
  Value getMemory();
  Value addressOf(Value place);
  Value takeTurn(uprog::RowOp op, Value copies);
  Value firstNode(Value instance);
  Value resultCell(StringAttr results, Value node,
                   const InstanceTables &tables);
  Value scratchOf(Operation *site, const InstanceTables &tables);
  Value listRows(Value first, Type type, Value count, Value cells, int64_t at);
  Value checkIndex(Value index, Value extent, int64_t place);

  OpBuilder &builder;
  Operation *op;
  Location loc;
  const InstanceUnit unit;
  ContextBuilder cb;
};

} // namespace mlir::batch

#endif // BATCH_CODEGEN_INSTANCES_INSTANCECODE_H
