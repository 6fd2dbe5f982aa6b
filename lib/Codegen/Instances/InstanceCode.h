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
}

namespace mlir::batch {

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
  /// Of a `uprog.site` or a `uprog.batch`.
  int64_t getScratch(Operation *site) const { return scratch.lookup(site); }
  /// The place of cells: of the step of one of these, of a `uprog.tasks`.
  int64_t getCells(Operation *op) const { return cells.lookup(op); }
  /// The bytes of all buffers, which come first.
  int64_t getBufferBytes() const { return bufferBytes; }
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
  void placeSites(ModuleOp module, bool onDevice);
  void numberIndices(ModuleOp module);
  void numberLoops(ModuleOp module);

  int64_t bytes = 0, bufferBytes = 0;
  int64_t mostTasks = 1; ///< of a step
  DenseMap<StringAttr, int64_t> buffers;
  DenseMap<Operation *, int64_t> scratch, cells, indexOf, loopOf;
  SmallVector<Attribute> indices, loops;
};

/// A unit that runs an instance, alone or together with others.
struct InstanceUnit {
  UnitThreads threads;
  Value context; ///< an !llvm.ptr to the BatchContext
  Value state;   ///< an !llvm.ptr to the BatchUnit
  Value own;     ///< an i64: where the unit's own memory begins
  Value memory;  ///< an i64: where buffers begin
  Value number;  ///< an i64: of the unit among those together
  Value count;   ///< an i64: how many these are
  bool together = true;
  /// Of each thread, an !llvm.ptr to i64s: the present instance; the rounds
  /// that it has taken; of a group, what the unit is at, as a BatchBlockControl
  /// says it, and the tasks that it has run together with others.
  Value instance, rounds, progress, shares;
};

/// Loads the state of unit `number` of `count` that run an instance together.
InstanceUnit makeInstanceUnit(OpBuilder &builder, Location loc, Value context,
                              Value number, Value count,
                              const UnitThreads &threads = {});
/// The same unit where it runs an instance by itself.
InstanceUnit makeAlone(OpBuilder &builder, Location loc,
                       const InstanceUnit &unit);

/// Emits that code at the insertion point of a builder. Rows and lists are
/// i64s, and so are numbers of instances. All threads of a unit run it
/// together.
class InstanceCode {
public:
  InstanceCode(OpBuilder &builder, Operation *op, const InstanceUnit &unit);

  Value row(uprog::RowOp op, ValueRange avoided, const InstanceTables &tables);
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
  void putTask(uprog::PutTaskOp op, Value tasks, Value index,
               ValueRange inputs);
  Value batch(uprog::BatchOp op, Value tasks, Value count, ValueRange outputs,
              const InstanceTables &tables);
  void enterInstance(Value instance);
  Value nextRound(uprog::NextRoundOp op, const InstanceTables &tables);
  Value argument(int64_t number, Value instance, Type type);
  void result(int64_t number, Value instance, Value value,
              std::optional<Type> type);
  Value listLength(Value list);
  Value listElement(Value list, Value index, Type type);
  Value instances();
  void countBarrier() { addTo(abi::kUnitBarriers, cb.constant(1), tells()); }
  /// The kernel, an i64, whose task the unit has begun last.
  Value lastKernel();
  /// Stores the numbers of tasks, which threads of a group keep to themselves.
  void storeCounts();
  /// The units clear their buffers, padding too.
  void clearBuffers(const InstanceTables &tables);

private:
  Value isZero(Value value);
  Value leads();
  Value tells();
  void when(Value condition, function_ref<void()> body);
  std::pair<Value, Value> shareOf(int64_t bytes);
  Value loadOwn(Value cell);
  void addTo(abi::Field counter, Value amount, Value condition);
  void beginTasks(int64_t kernel, Value count);
  Value shareCells(Operation *op, int64_t count, const InstanceTables &tables,
                   function_ref<void(Value)> store);
  Value takeTurn(uprog::RowOp op, Value copies);
  Value scratchOf(Operation *site, const InstanceTables &tables);
  Value checkIndex(Value index, Value extent, int64_t place);

  OpBuilder &builder;
  Operation *op;
  Location loc;
  const InstanceUnit &unit;
  ContextBuilder cb;
};

} // namespace mlir::batch

#endif // BATCH_CODEGEN_INSTANCES_INSTANCECODE_H
