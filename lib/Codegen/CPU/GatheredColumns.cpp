//===- GatheredColumns.cpp - Products whose columns are packed ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Stages/ReductionLoops.h"
#include "StageEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

/// Bytes of a core's second-level cache that are available for packed columns.
static constexpr int64_t kColumnBytes = int64_t(1) << 19;

int64_t StageEmitter::planColumns(const Stage &stage, int64_t panels,
                                  int64_t offset) {
  columnPacks.clear();
  int64_t panelBytes = 0;
  for (const Reduction &reduction : stage.reductions)
    if (reduction.gathered)
      panelBytes += reduction.depth * panelWidth *
                    elementBytes(reduction.getElementType());
  if (!panelBytes)
    return offset;
  columnPanels = std::clamp<int64_t>(kColumnBytes / panelBytes, 1, panels);
  for (const Reduction &reduction : stage.reductions) {
    if (!reduction.gathered)
      continue;
    unsigned rank = stage.space.rank();
    AffineMap map =
        getOperandMap(reduction.op, stage.space, 1 - reduction.left);
    columnPacks[&reduction] = {splitColumns(map, rank,
                                            reduction.gathered.getRun(),
                                            /*line=*/map.getNumDims()),
                               offset};
    offset += llvm::alignTo(columnPanels * panelWidth * reduction.depth *
                                elementBytes(reduction.getElementType()),
                            64);
  }
  return offset;
}

void StageEmitter::emitColumnPacks(Value blockRow, Value panel, Value panels) {
  int64_t n = stage->space.columns();
  Indices position = positionOf(blockRow);
  evaluator.prepareRow(*stage, position);
  for (const Reduction &reduction : stage->reductions) {
    if (!reduction.gathered)
      continue;
    Value run = b.constant(reduction.gathered.getRun());
    b.loop(panel, b.add(panel, panels), 1, [&](Value own) {
      Value first = b.mul(own, b.constant(panelWidth));
      Value last = b.min(b.add(first, b.constant(panelWidth)), b.constant(n));
      Value end = b.div(b.add(last, b.sub(run, b.constant(1))), run);
      b.loop(b.div(first, run), end, 1, [&](Value line) {
        emitColumnPack(reduction, position, line, first, last,
                       b.sub(own, panel));
      });
    });
  }
}

void StageEmitter::emitColumnPack(const Reduction &reduction,
                                  ArrayRef<Index> position, Value line,
                                  Value first, Value last, Value panel) {
  const ColumnPack &pack = columnPacks[&reduction];
  linalg::LinalgOp op = reduction.op;
  OpOperand *operand = op.getDpsInputOperand(1 - reduction.left);
  int64_t lanes = evaluator.getLanes(), rank = stage->space.rank();
  int64_t bytes = elementBytes(reduction.getElementType());
  int64_t run = reduction.gathered.getRun();
  bool vector = reduction.gathered.getVectors();
  ReductionLoops loops(reduction);

  Value lineBegin = b.mul(line, b.constant(run));
  Value lineEnd = b.add(lineBegin, b.constant(run));
  Value begin = arith::MaxSIOp::create(b, first, lineBegin),
        end = b.min(last, lineEnd);
  Value panelPointer = b.offset(
      arguments.work,
      b.add(b.constant(pack.offset),
            b.mul(panel, b.constant(reduction.depth * panelWidth * bytes))));
  Indices at(op.getNumLoops()), dims(rank + loops.dims.size() + 2);
  bool rows = stage->space.hasRows();
  for (auto [i, index] : llvm::enumerate(position))
    dims[rows ? i : i + 1] = index;
  dims.back() = {line};
  b.loop(begin, end, vector ? lanes : 1, [&](Value column) {
    dims[rank] = {b.sub(column, lineBegin), vector};
    Value pointer =
        b.offset(panelPointer, b.mul(b.sub(column, first), b.constant(bytes)));
    Value mask = vector ? evaluator.lanesBelow(column, end) : Value();
    loops.nest(b, {}, at, [&](CodeBuilder::Values) {
      b.loop(b.constant(0), b.constant(loops.extents.back()), 1, [&](Value k) {
        at[loops.dims.back()] = {k};
        for (auto [i, dim] : llvm::enumerate(loops.dims))
          dims[rank + 1 + i] = at[dim];
        Value value = evaluator.eval(operand->get(),
                                     evaluator.operandIndices(pack.map, dims));
        if (!value)
          return;
        Value place = b.offset(pointer, b.mul(loops.flatten(b, at),
                                              b.constant(panelWidth * bytes)));
        if (!vector)
          b.store(value, place, bytes);
        else
          LLVM::MaskedStoreOp::create(b, evaluator.broadcast(value), place,
                                      mask, b.getI32IntegerAttr(bytes));
      });
      return CodeBuilder::Values();
    });
  });
}

/// Returns the address at which row `row` of the left operand begins in the
/// parameter.
Value StageEmitter::gatheredRow(const Reduction &reduction, Value row) {
  linalg::LinalgOp op = reduction.op;
  Indices dims = positionOf(row);
  if (!stage->space.hasRows())
    dims.insert(dims.begin(), Index{b.constant(0)});
  AffineMap map = getOperandMap(op, stage->space, reduction.left);
  dims.resize(map.getNumDims(), Index{b.constant(0)});
  Value left = op.getDpsInputOperand(reduction.left)->get();
  Indices indices = evaluator.operandIndices(map, dims);
  Value offset = b.constant(0);
  for (auto [index, extent] : llvm::zip_equal(
           indices, cast<RankedTensorType>(left.getType()).getShape()))
    offset = b.add(b.mul(offset, b.constant(extent)), index.base);
  Value parameter =
      evaluator.getPacking(tables.getPanels(reduction.gathered.getPanels()));
  return b.offset(
      parameter,
      b.mul(offset, b.constant(elementBytes(reduction.getElementType()))));
}

void StageEmitter::emitGathered(const Reduction &reduction, Value firstRow,
                                Value rows, Value panels, Value firstColumn,
                                bool accumulate) {
  Type element = reduction.getElementType();
  int64_t bytes = elementBytes(element), lanes = evaluator.getLanes();
  func::FuncOp tiles = tileFunctions.get(
      {element, lanes, reduction.lanes, reduction.gathered.getLeftStride(),
       panelWidth, panelWidth / lanes, tileStride, accumulate,
       /*streamed=*/false});
  Value zero = b.constant(0);
  Value columns =
      b.offset(arguments.work, b.constant(columnPacks[&reduction].offset));
  evaluator.setTilePosition(zero, firstColumn);
  Value tile =
      evaluator.tilePointer(reduction.op->getResult(0), zero, firstColumn);
  func::CallOp::create(
      b, tiles,
      ValueRange{gatheredRow(reduction, firstRow), columns, tile,
                 b.constant(reduction.depth), rows, panels,
                 b.constant(reduction.depth * panelWidth * bytes), tile, zero});
}
