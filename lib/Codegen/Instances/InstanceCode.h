//===- InstanceCode.h - Code of single instances ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of a program that runs single instances, besides control and
// kernels: where tensors lie, what control reads of them, and what the host
// gets. The state of a unit is a BatchUnit (ABI.h).
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

/// True for a program that runs sets of instances.
bool runsSets(uprog::ProgramOp program);

/// What the code of instances needs to know of the whole module: where buffers,
/// and the scratch memory of sites, lie in the memory of the units that run an
/// instance, and the numbers of what messages name. Programs that are copies of
/// each other have the same places.
class InstanceTables {
public:
  /// Operators have their code. On a device, steps lie in the units' memory.
  InstanceTables(ModuleOp module, bool onDevice);
  /// Gives copies of ops the places and numbers of these.
  void addCopies(const IRMapping &copies);

  int64_t getOffset(StringAttr buffer) const { return buffers.lookup(buffer); }
  /// Of a `uprog.site` or a `uprog.batch`; negative in sets.
  int64_t getScratch(Operation *site) const { return scratch.lookup(site); }
  /// The place of cells: of the step of one of these, of a `uprog.tasks`.
  int64_t getCells(Operation *op) const { return cellsOf.lookup(op); }
  /// Of the rows of a node: where that of a `uprog.node_rows` is, and the bytes
  /// of all.
  int64_t getNodeRow(StringAttr rows) const { return nodeRows.lookup(rows); }
  int64_t getNodeBytes() const { return nodeBytes; }
  /// Of what a node results in: the first cell of a `uprog.node_results`, and
  /// the number of all cells.
  int64_t getNodeCell(StringAttr results) const {
    return nodeResults.lookup(results);
  }
  int64_t getNodeCells() const { return nodeCells; }
  /// Which one of the values that are made of a node this is, and how many.
  int64_t getNodeValue(uprog::ConstructOp op) const {
    return valueOf.lookup(op);
  }
  int64_t getNodeValues() const { return nodeValues; }
  /// Where all buffers of an instance begin, and how many bytes they have. As
  /// many follow for each other member of instances that run together.
  int64_t getBufferBegin() const { return bufferBegin; }
  int64_t getBufferBytes() const { return bufferBytes; }
  int64_t getRoom() const { return room; }
  /// The bytes of scratch memory of sites of sets, in front of the memory of
  /// all units.
  int64_t getSetBytes() const { return setBytes; }
  /// Of the first index that a `uprog.load` or `uprog.parameter_row` checks,
  /// from 1, in the module's `uprog.indices`.
  int64_t getIndex(Operation *op) const { return indexOf.lookup(op); }
  /// From 1.
  int64_t getLoop(uprog::NextRoundOp op) const { return loopOf.lookup(op); }
  /// Writes `uprog.instances` and `uprog.indices`, if there are instances.
  void save(ModuleOp module) const;

private:
  int64_t take(int64_t size);
  void placeBuffers(ModuleOp module);
  void findRoom(ModuleOp module);
  void placeSites(ModuleOp module, bool onDevice);
  void placeNodes(ModuleOp module);
  int64_t numberValues(Region &region, int64_t first);
  void numberIndices(ModuleOp module);
  void numberLoops(ModuleOp module);
  void findLoopsOfKernels(ModuleOp module);

  int64_t bytes = 0, bufferBegin = 0, bufferBytes = 0;
  int64_t room = 1; ///< for instances that run together
  int64_t setBytes = 0;
  int64_t mostTasks = 1; ///< of a step
  int64_t nodeBytes = 0, nodeCells = 0, nodeValues = 0;
  DenseMap<StringAttr, int64_t> buffers, nodeRows, nodeResults;
  DenseMap<Operation *, int64_t> scratch, cellsOf, indexOf, loopOf, valueOf;
  SmallVector<Attribute> indices, loops;
  SmallVector<NamedAttribute> kernelLoops; ///< by kernel, for messages
};

/// A unit that runs an instance, alone or together with others.
struct InstanceUnit {
  UnitThreads threads;
  Value context; ///< an !llvm.ptr to the BatchContext
  Value state;   ///< an !llvm.ptr to the BatchUnit
  Value own;     ///< an i64: where the unit's own memory begins
  Value memory;  ///< an i64: where buffers begin
  Value worker;  ///< an i64: of the unit among all
  Value number;  ///< an i64: of the unit among those together
  Value count;   ///< an i64: how many these are
  /// Which units run the instance together; `block`: this one does by itself.
  uprog::Level level = uprog::Level::Device;
  /// Of each thread, an !llvm.ptr to i64s: the present instance; the rounds
  /// that it has taken; of a group, what the unit is at, as a BatchBlockControl
  /// says it, the tasks that it has run its share of, the steps that it has run
  /// by itself and, from bit 32 on, its share of, and the barriers of clusters.
  Value instance, rounds, progress, shares, steps, barriers;
};

/// Loads the state of unit `number` of `count` that run an instance together.
InstanceUnit makeInstanceUnit(OpBuilder &builder, Location loc, Value context,
                              Value number, Value count,
                              const UnitThreads &threads = {});
/// The same unit where it runs an instance by itself.
InstanceUnit makeAlone(OpBuilder &builder, Location loc,
                       const InstanceUnit &unit);
/// The same unit where it is number `rank` of the `size` blocks of a cluster
/// that run an instance together, in the memory of the first one.
InstanceUnit makeOfCluster(OpBuilder &builder, Location loc,
                           const InstanceUnit &unit, Value rank, Value size);

/// Emits that code at the insertion point of a builder. Rows and lists are
/// i64s, and so are numbers of instances. All threads of a unit run it
/// together.
class InstanceCode {
public:
  InstanceCode(OpBuilder &builder, Operation *op, const InstanceUnit &unit);

  /// `member`: null, or an i64.
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
  /// The address of the room.
  Value tasks(uprog::TasksOp op, const InstanceTables &tables);
  void putTask(uprog::PutTaskOp op, Value tasks, Value index, ValueRange inputs,
               ValueRange outputs);
  Value batch(uprog::BatchOp op, Value tasks, Value count, ValueRange outputs,
              const InstanceTables &tables);
  void enterInstance(Value instance);
  /// `rounds`: null, or an i64.
  Value nextRound(uprog::NextRoundOp op, Value count, Value rounds,
                  const InstanceTables &tables);
  /// The address of room for cells of the unit that `op` needs.
  Value room(Operation *op, int64_t cells, const InstanceTables &tables);
  /// Where cells are, an i64: their address; on a device, how far behind the
  /// beginning of the unit's own memory.
  Value cells(uprog::CellsOp op, const InstanceTables &tables);
  Value get(Value cells, Value member, Type type);
  void put(Value cells, Value member, Value value);
  Value member(Value list, Value index);
  /// Of the numbers that threads of the unit share out, the first one that this
  /// thread has, and the distance of its numbers.
  std::pair<Value, Value> beginEach();
  /// All threads have done what they share out so.
  void endEach();
  Value argument(int64_t number, Value instance, Type type);
  void result(int64_t number, Value instance, Value value,
              std::optional<Type> type);
  /// Nodes are i64s.
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
  /// The unit, of one thread, traces what it begins with, if it is traced: so
  /// many tasks of a kernel, i64s. Kernel -1 is a barrier; 0 tasks are those of
  /// before it.
  void trace(Value kernel, Value tasks);
  /// The kernel, an i64, whose task the unit has begun last.
  Value lastKernel();
  /// Stores the numbers of tasks and of barriers of clusters, which threads of
  /// a group keep to themselves.
  void storeCounts();
  /// The units clear their buffers and the rows of nodes, padding too.
  void clearBuffers(const InstanceTables &tables);

private:
  Value isZero(Value value);
  Value fromCell(Value cell, Type type);
  Value leads();
  Value tells();
  void when(Value condition, function_ref<void()> body);
  std::pair<Value, Value> shareOf(Value bytes);
  void clear(Value first, Value bytes);
  Value loadOwn(Value cell);
  void addTo(abi::Field counter, Value amount, Value condition);
  void beginTasks(int64_t kernel, Value count, Value step);
  void tellTasks(int64_t kernel, Value count, bool isShared);
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
  Value listRows(Value first, Type type, Value count, Value room, int64_t at);
  Value checkIndex(Value index, Value extent, int64_t place);

  OpBuilder &builder;
  Operation *op;
  Location loc;
  const InstanceUnit unit;
  ContextBuilder cb;
};

} // namespace mlir::batch

#endif // BATCH_CODEGEN_INSTANCES_INSTANCECODE_H
