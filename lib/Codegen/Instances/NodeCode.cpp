//===- NodeCode.cpp - Code of data structures of an instance --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/TableLayout.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "InstanceCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Numbers the values that are created for a node, starting with `first`, and
/// returns the next number. The regions of a branch share numbers, because at
/// most one of them runs for a node.
int64_t InstanceTables::numberValues(Region &region, int64_t first) {
  for (Operation &op : region.getOps()) {
    if (isa<uprog::ConstructOp>(op)) {
      valueOf[&op] = first++;
      continue;
    }
    int64_t next = first;
    for (Region &inner : op.getRegions()) {
      int64_t end = numberValues(inner, first);
      next = std::max(next, end);
    }
    first = next;
  }
  return first;
}

void InstanceTables::placeNodes(ModuleOp module) {
  for (auto rows : module.getOps<uprog::NodeRowsOp>()) {
    nodeRows[rows.getSymNameAttr()] = nodeBytes;
    nodeBytes += getRowBytes(cast<RankedTensorType>(rows.getType()));
  }
  for (auto results : module.getOps<uprog::NodeResultsOp>()) {
    nodeResults[results.getSymNameAttr()] = nodeCells;
    nodeCells += results.getTypes().size();
  }
  // In a program for sets, each side of a branch becomes a separate branch. The
  // program creates the same values as the program for one instance, in the
  // same order.
  SmallVector<int64_t> numbers;
  for (auto program : module.getOps<uprog::ProgramOp>()) {
    if (runsSets(program))
      continue;
    nodeValues = std::max(nodeValues, numberValues(program.getBody(), 0));
    if (!numbers.empty())
      continue;
    program.walk<WalkOrder::PreOrder>(
        [&](uprog::ConstructOp op) { numbers.push_back(valueOf.lookup(op)); });
  }
  for (auto program : module.getOps<uprog::ProgramOp>()) {
    size_t next = 0;
    if (runsSets(program))
      program.walk<WalkOrder::PreOrder>(
          [&](uprog::ConstructOp op) { valueOf[op] = numbers[next++]; });
  }
}

//===----------------------------------------------------------------------===//
// Nodes of the input
//===----------------------------------------------------------------------===//

/// Returns the number of an instance's first node among all nodes of the
/// mini-batch.
Value InstanceCode::firstNode(Value instance) {
  return cb.loadCell(cb.loadField(ContextField::instanceNodes), instance,
                     MemoryKind::Base);
}

Value InstanceCode::node(Value number, Value instance) {
  return arith::AddIOp::create(builder, loc, firstNode(instance), number);
}

Value InstanceCode::nodeNumber(Value node, Value instance) {
  return arith::SubIOp::create(builder, loc, node, firstNode(instance));
}

Value InstanceCode::variant(uprog::VariantOp op, Value node) {
  auto module = op->getParentOfType<ModuleOp>();
  auto type = cast<rec::AdtType>(op.getNode().getType());
  auto adt = module.lookupSymbol<rec::AdtOp>(type.getName().getAttr());
  rec::VariantNumbering numbers(module);
  int64_t first = numbers.getNumber(
      type, FlatSymbolRefAttr::get(*adt.getVariants().begin()));
  return arith::SubIOp::create(builder, loc, cb.loadVariant(node),
                               cb.constant(first));
}

Value InstanceCode::field(uprog::FieldOp op, Value node) {
  return fromCell(cb.loadNodeCell(node, op.getNumber()), op.getType());
}

//===----------------------------------------------------------------------===//
// Rows and results of nodes
//===----------------------------------------------------------------------===//

Value InstanceCode::nodeRow(uprog::NodeRowOp op, Value node,
                            const InstanceTables &tables) {
  Value rows = cb.loadCell(unit.state, kUnitNodeRows);
  Value offset = arith::MulIOp::create(builder, loc, node,
                                       cb.constant(tables.getNodeBytes()));
  Value place = arith::AddIOp::create(builder, loc, rows, offset);
  return arith::AddIOp::create(
      builder, loc, place,
      cb.constant(tables.getNodeRow(op.getRowsAttr().getAttr())));
}

/// Returns the number of a node's first cell in `results`.
Value InstanceCode::resultCell(StringAttr results, Value node,
                               const InstanceTables &tables) {
  Value cell = arith::MulIOp::create(builder, loc, node,
                                     cb.constant(tables.getNodeCells()));
  return arith::AddIOp::create(builder, loc, cell,
                               cb.constant(tables.getNodeCell(results)));
}

void InstanceCode::remember(uprog::RememberOp op, Value node, ValueRange values,
                            const InstanceTables &tables) {
  Value cells = cb.loadPointer(unit.state, kUnitNodeResults);
  Value first = resultCell(op.getRecursionAttr().getAttr(), node, tables);
  // The first barrier ensures that all threads have read the old values, the
  // second that all threads read the new ones.
  if (unit.threads.isGroup())
    gpu::BarrierOp::create(builder, loc);
  when(isLeaderThread(), [&] {
    for (auto [number, value] : llvm::enumerate(values)) {
      Value cell =
          arith::AddIOp::create(builder, loc, first, cb.constant(number));
      cb.storeCell(cells, cell, cb.toCell(value));
    }
  });
  if (unit.threads.isGroup())
    gpu::BarrierOp::create(builder, loc);
}

SmallVector<Value> InstanceCode::lookUp(uprog::LookUpOp op, Value node,
                                        const InstanceTables &tables) {
  Value cells = cb.loadPointer(unit.state, kUnitNodeResults);
  Value first = resultCell(op.getRecursionAttr().getAttr(), node, tables);
  SmallVector<Value> values;
  for (auto [number, type] : llvm::enumerate(op.getResultTypes())) {
    Value cell =
        arith::AddIOp::create(builder, loc, first, cb.constant(number));
    values.push_back(fromCell(cb.loadCell(cells, cell), type));
  }
  return values;
}

Value InstanceCode::construct(uprog::ConstructOp op, ValueRange fields,
                              Value node, const InstanceTables &tables) {
  // New nodes follow the nodes of the input. Each node of the input has the
  // same number of new nodes.
  Value inputs = firstNode(instances());
  Value offset = arith::MulIOp::create(builder, loc, node,
                                       cb.constant(tables.getNodeValues()));
  Value made = arith::AddIOp::create(builder, loc, inputs, offset);
  made = arith::AddIOp::create(builder, loc, made,
                               cb.constant(tables.getNodeValue(op)));
  rec::VariantNumbering numbers(op->getParentOfType<ModuleOp>());
  int64_t variant = numbers.getNumber(op.getVariant());
  when(isReportingThread(), [&] {
    Type byte = builder.getI8Type();
    Value where = cb.address(cb.loadField(ContextField::variants), made, byte);
    LLVM::StoreOp::create(
        builder, loc, arith::ConstantIntOp::create(builder, loc, byte, variant),
        where);
    for (auto [number, field] : llvm::enumerate(fields))
      cb.storeNodeCell(made, number, cb.toCell(field));
  });
  return made;
}
