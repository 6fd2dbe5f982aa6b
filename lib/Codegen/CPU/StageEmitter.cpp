//===- StageEmitter.cpp - The loops of a stage ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"

#include "../Stages/ReductionLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

/// Maximum number of panels that are used together when there are few rows.
static constexpr int64_t kMaxPanels = 4;
/// Bytes of a core's second-level cache that are available for packed rows.
static constexpr int64_t kPackedBytes = int64_t(1) << 19;
/// Maximum number of tiles of rows that use a panel before the next panel is
/// used.
static constexpr int64_t kMaxTiles = 8;

StageEmitter::StageEmitter(const StagePlan &plan, ModuleTables &tables,
                           TileFunctions &tileFunctions,
                           const RegisterTiles &registers, CodeBuilder &b)
    : plan(plan), tables(tables), tileFunctions(tileFunctions),
      registers(registers), b(b), evaluator(b, plan, tables) {}

//===----------------------------------------------------------------------===//
// Worker scratch
//===----------------------------------------------------------------------===//

void StageEmitter::planGroups(const Stage &stage) {
  groupDims.clear();
  for (const Reduction &reduction : stage.reductions)
    llvm::append_range(groupDims, reduction.groups);
  llvm::sort(groupDims);
  groupDims.erase(llvm::unique(groupDims), groupDims.end());
  groups = 1;
  groupPosition.clear();
  for (int64_t dim : groupDims) {
    groups *= stage.space.shape[dim];
    groupPosition.push_back(evaluator.index(int64_t(0)));
  }
  groupRows = stage.space.leading() / groups;
}

void StageEmitter::planScratch(const Stage &stage) {
  packs.clear();
  packOf.clear();
  tileOffsets.clear();
  copyOffsets.clear();
  int64_t lanes = evaluator.getLanes(), n = stage.space.columns();
  panelWidth = getPanelWidth(n, lanes);
  int64_t panels = llvm::divideCeil(n, panelWidth);
  // Add one vector, so that rows do not map to the same cache sets.
  tileStride = std::min(panels, kMaxPanels) * panelWidth + lanes;
  hasPanels = false;
  packedRowBytes = 0;
  isOfTask = false;
  bool gathered = false;
  for (const Reduction &reduction : stage.reductions) {
    isOfTask |= reduction.isOfTask();
    gathered |= reduction.kind == ReductionKind::Gathered;
    hasPanels |= reduction.isContraction();
    if (!reduction.packed && !reduction.copied)
      continue;
    linalg::LinalgOp op = reduction.op;
    OpOperand *operand = op.getDpsInputOperand(reduction.left);
    AffineMap map = getOperandMap(op, stage.space, reduction.left);
    auto it = llvm::find_if(packs, [&](const Pack &pack) {
      return pack.operand->get() == operand->get() && pack.map == map;
    });
    if (it == packs.end()) {
      Pack pack{operand,
                map,
                reduction.depth,
                packedRowBytes,
                reduction.getElementType(),
                &reduction,
                llvm::any_of(groupDims, [&](int64_t dim) {
                  return map.isFunctionOfDim(dim + 1);
                })};
      packedRowBytes += (llvm::alignTo(reduction.depth, lanes) + lanes) *
                        elementBytes(pack.element);
      it = packs.insert(it, pack);
    }
    packOf[&reduction] = it - packs.begin();
  }
  int64_t maxRows = registers.maxRows;
  blockRowsMax = maxRows * kMaxTiles;
  if (packedRowBytes)
    blockRowsMax = std::clamp<int64_t>(kPackedBytes / packedRowBytes / maxRows,
                                       2, kMaxTiles) *
                   maxRows;
  // A tile must not contain rows of two tasks.
  if (isOfTask)
    blockRowsMax = groupRows;
  // A tile must not contain rows of two images.
  int64_t rowDim = stage.space.rank() - 2;
  if (gathered)
    blockRowsMax =
        llvm::is_contained(groupDims, rowDim) ? 1 : stage.space.shape[rowDim];
  packsOffset = 0;
  for (const Reduction &reduction : stage.reductions)
    for (Value result : reduction.op->getResults()) {
      tileOffsets[result] = packsOffset;
      packsOffset += llvm::alignTo(
          maxRows * tileStride *
              elementBytes(getElementTypeOrSelf(result.getType())),
          64);
    }
  for (const Reduction &reduction : stage.reductions)
    if (reduction.copied) {
      copyOffsets[&reduction] = packsOffset;
      // The last vectors of a transposed panel may contain rows beyond the last
      // row.
      packsOffset += llvm::alignTo((reduction.depth + lanes) * panelWidth *
                                       elementBytes(reduction.getElementType()),
                                   64);
    }
  packsOffset =
      planColumns(stage, copyOffsets.empty() ? std::min(panels, kMaxPanels) : 1,
                  packsOffset);
  workerScratch.fixed = std::max(workerScratch.fixed, packsOffset);
  int64_t taskRows = stage.space.domain >= 0 || !stage.space.hasRows()
                         ? blockRowsMax
                         : groupRows;
  workerScratch.perTask =
      std::max(workerScratch.perTask, packedRowBytes * taskRows);
  workerScratch.most =
      std::max(workerScratch.most, packsOffset + packedRowBytes * blockRowsMax);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

func::FuncOp StageEmitter::emit(int64_t number, StringRef name) {
  stage = &plan.getStages()[number];
  Type ptr = b.ptrType(), i64 = b.getI64Type();
  SmallVector<Type> types = {ptr, ptr, ptr, ptr, i64, i64, i64, i64};
  if (plan.checksIndices())
    types.push_back(ptr);
  auto function = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  makeInternal(function);
  OpBuilder::InsertionGuard guard(b);
  b.beginFunction(function);
  planGroups(*stage);
  planScratch(*stage);
  ValueRange a = function.getArguments();
  arguments = {a[0], a[1], a[2],
               a[3], a[4], a[5],
               a[6], a[7], plan.checksIndices() ? a[8] : Value()};
  evaluator.beginStage(number, arguments);
  for (const Reduction &reduction : stage->reductions)
    for (Value result : reduction.op->getResults())
      evaluator.setTile(
          result, b.offset(arguments.work, b.constant(tileOffsets[result])),
          tileStride);

  if (Value copies = evaluator.mustCopy(*stage))
    b.when(copies, [&] { emitRows(); });
  else
    emitRows();
  evaluator.endStage();
  func::ReturnOp::create(b);
  return function;
}

/// Returns this worker's share of `count` positions, as its beginning and end.
std::pair<Value, Value> StageEmitter::getShare(Value count) {
  Value next = b.add(arguments.share, b.constant(1));
  return {b.div(b.mul(arguments.share, count), arguments.shares),
          b.div(b.mul(next, count), arguments.shares)};
}

void StageEmitter::emitRows() {
  // Here, `first` and `last` count rows of the stage's space. Below, they are
  // converted to rows of `columns()` elements.
  Value first = b.constant(0), last = b.constant(1);
  if (stage->space.hasRows()) {
    first = arguments.rowBegin;
    last = arguments.rowEnd;
    if (stage->space.domain >= 0) {
      first = evaluator.getOffset(stage->space.domain, first);
      last = evaluator.getOffset(stage->space.domain, last);
    }
  }
  Value leading = b.constant(groupRows);
  ownGroups = {b.constant(0), b.constant(groups)};
  if (!stage->sharedDims)
    return emitBlocks(b.mul(first, leading), b.mul(last, leading));

  int64_t units = 1;
  for (int64_t extent :
       ArrayRef(stage->space.shape).take_front(*stage->sharedDims))
    units *= extent;
  first = b.mul(first, b.constant(units));
  auto [begin, end] = getShare(b.sub(b.mul(last, b.constant(units)), first));
  begin = b.add(first, begin);
  end = b.add(first, end);
  if (int64_t rank = stage->space.rank();
      rank > 0 && stage->sharedDims == rank) {
    // Here, `begin` and `end` are positions among the elements of all rows.
    Value zero = b.constant(0), one = b.constant(1);
    return forEachRun(begin, end, stage->space.columns(),
                      [&](Value row, Value from, Value to) {
                        emitTile(*stage, row, zero, one,
                                 {from, to, zero, one, false}, {});
                      });
  }
  if (!groupDims.empty())
    return forEachRun(begin, end, units, [&](Value task, Value from, Value to) {
      Value matrices = b.constant(groups / units);
      ownGroups = {b.mul(from, matrices), b.mul(to, matrices)};
      Value row = b.mul(task, leading);
      emitBlocks(row, b.add(row, leading));
    });
  Value rows = b.constant(stage->space.leading() / units);
  emitBlocks(b.mul(begin, rows), b.mul(end, rows));
}

void StageEmitter::forEachRun(
    Value begin, Value end, int64_t size,
    llvm::function_ref<void(Value, Value, Value)> body) {
  Value all = b.constant(size), zero = b.constant(0);
  Value last = b.div(b.add(end, b.constant(size - 1)), all);
  b.loop(b.div(begin, all), last, 1, [&](Value run) {
    Value first = b.mul(run, all);
    Value from = b.sub(begin, first), to = b.min(b.sub(end, first), all);
    body(run, arith::SelectOp::create(b, b.less(from, zero), zero, from), to);
  });
}

void StageEmitter::emitBlocks(Value first, Value last) {
  Value rows = b.sub(last, first);
  Value one = b.constant(1), most = b.constant(blockRowsMax);
  auto emitBlock = [&](Value blockRow, Value blockRows) {
    emitPacks(blockRow, blockRows, /*grouped=*/false);
    emitColumns(*stage, blockRow, blockRows);
  };
  // A tile must not contain rows of two tasks.
  if (stage->sharedDims && isOfTask)
    return forEachRun(
        first, last, blockRowsMax, [&](Value task, Value from, Value to) {
          emitBlock(b.add(b.mul(task, most), from), b.sub(to, from));
        });
  // Use blocks of equal size: in a short last block, each panel would serve few
  // rows.
  Value blocks = b.div(b.add(rows, b.sub(most, one)), most);
  b.loop(b.constant(0), blocks, 1, [&](Value block) {
    Value begin = b.div(b.mul(block, rows), blocks);
    Value end = b.div(b.mul(b.add(block, one), rows), blocks);
    emitBlock(b.add(first, begin), b.sub(end, begin));
  });
}

Indices StageEmitter::positionOf(Value row) {
  if (groupDims.empty())
    return evaluator.positionOf(stage->space, row);
  RowSpace space = stage->space;
  for (int64_t dim : llvm::reverse(groupDims))
    space.shape.erase(space.shape.begin() + dim);
  Indices position = evaluator.positionOf(space, row);
  bool rows = space.hasRows();
  for (auto [dim, index] : llvm::zip_equal(groupDims, groupPosition))
    position.insert(position.begin() + dim + rows, index);
  return position;
}

Value StageEmitter::groupOf(const Reduction &reduction) {
  Value number = b.constant(0);
  for (auto [dim, index] : llvm::zip_equal(groupDims, groupPosition))
    if (llvm::is_contained(reduction.groups, dim))
      number =
          b.add(b.mul(number, b.constant(stage->space.shape[dim])), index.base);
  return number;
}

void StageEmitter::emitPacks(Value firstRow, Value rows, bool grouped) {
  if (llvm::none_of(packs,
                    [&](const Pack &pack) { return pack.grouped == grouped; }))
    return;
  b.loop(b.constant(0), rows, 1, [&](Value row) {
    Indices position = positionOf(b.add(firstRow, row));
    evaluator.prepareRow(*stage, position);
    for (const Pack &pack : packs)
      if (pack.grouped == grouped)
        emitPack(pack, row, position);
  });
}

Value StageEmitter::packedRow(const Pack &pack, Value row) {
  return b.offset(arguments.work,
                  b.add(b.constant(packsOffset + pack.offset),
                        b.mul(row, b.constant(packedRowBytes))));
}

void StageEmitter::emitPack(const Pack &pack, Value row,
                            ArrayRef<Index> position) {
  int64_t lanes = evaluator.getLanes(), rank = stage->space.rank();
  ReductionLoops loops(*pack.reader);
  Indices dims(rank + 1 + loops.dims.size());
  bool rows = stage->space.hasRows();
  for (auto [i, index] : llvm::enumerate(position))
    dims[rows ? i : i + 1] = index;
  bool vector = pack.reader->vectors;
  int64_t bytes = elementBytes(pack.element);
  linalg::LinalgOp op = pack.reader->op;
  Indices at(op.getNumLoops());
  auto inner = [&](CodeBuilder::Values) {
    for (auto [begin, end] : loops.pieces)
      b.loop(b.constant(0), b.constant(end - begin), vector ? lanes : 1,
             [&, begin = begin, end = end](Value j) {
               Value k = b.add(b.constant(begin), j);
               at[loops.dims.back()] = {k, vector, vector ? begin % lanes : -1,
                                        begin, end};
               for (auto [i, dim] : llvm::enumerate(loops.dims))
                 dims[rank + 1 + i] = at[dim];
               Value value =
                   evaluator.eval(pack.operand->get(),
                                  evaluator.operandIndices(pack.map, dims));
               if (!value)
                 return;
               if (vector)
                 value = evaluator.broadcast(value);
               b.store(value,
                       b.offset(packedRow(pack, row),
                                b.mul(loops.flatten(b, at), b.constant(bytes))),
                       bytes);
             });
    return CodeBuilder::Values();
  };
  loops.nest(b, {}, at, inner);
}

void StageEmitter::emitColumns(const Stage &stage, Value blockRow,
                               Value blockRows) {
  int64_t panels = llvm::divideCeil(stage.space.columns(), panelWidth);
  Value all = b.constant(groups * panels), one = b.constant(1);
  Value perGroup = b.constant(panels);
  auto [first, last] = stage.sharedDims
                           ? std::pair(b.mul(ownGroups.first, perGroup),
                                       b.mul(ownGroups.second, perGroup))
                           : getShare(all);
  if (groupDims.empty()) {
    // After the last panel, prefetch the first one, for the next launch.
    emitPanelTiles(stage, blockRow, blockRows, first, last, b.constant(0),
                   first);
    return;
  }
  Value groupsEnd = b.div(b.add(last, b.constant(panels - 1)), perGroup);
  b.loop(b.div(first, perGroup), groupsEnd, one,
         [&, first = first, last = last](Value group) {
           Value rest = group;
           for (size_t i = groupDims.size(); i-- > 0;) {
             Value extent = b.constant(stage.space.shape[groupDims[i]]);
             groupPosition[i] =
                 evaluator.index(i == 0 ? rest : b.rem(rest, extent));
             rest = b.div(rest, extent);
           }
           emitPacks(blockRow, blockRows, /*grouped=*/true);
           Value before = b.mul(group, perGroup);
           Value next = b.add(before, perGroup);
           Value begin = arith::MaxSIOp::create(b, first, before);
           Value after =
               arith::SelectOp::create(b, b.less(next, last), next, first);
           emitPanelTiles(stage, blockRow, blockRows, b.sub(begin, before),
                          b.sub(b.min(next, last), before), before, after);
         });
  for (Index &index : groupPosition)
    index = evaluator.index(int64_t(0));
}

void StageEmitter::emitPanelTiles(const Stage &stage, Value blockRow,
                                  Value blockRows, Value first, Value last,
                                  Value before, Value after) {
  int64_t panels = llvm::divideCeil(stage.space.columns(), panelWidth);
  Value one = b.constant(1);
  Value maxRows = b.constant(registers.maxRows);
  Value tiles =
      b.div(b.add(blockRows, b.constant(registers.maxRows - 1)), maxRows);
  // Use several panels at once only if a single tile of few rows uses them.
  // With more tiles, a panel stays in the cache from tile to tile.
  Value step = b.constant(std::min(panels, kMaxPanels));
  if (!copyOffsets.empty()) {
    step = one;
  } else if (hasPanels) {
    Value limit2 = b.constant(registers.budget / 4 + 1);
    Value limit4 = b.constant(registers.budget / 8 + 1);
    step = arith::SelectOp::create(b, b.less(blockRows, limit2), b.constant(2),
                                   one);
    step = arith::SelectOp::create(b, b.less(blockRows, limit4), b.constant(4),
                                   step);
    step = b.min(step, b.constant(std::min(panels, kMaxPanels)));
  }
  if (!columnPacks.empty())
    step = b.constant(columnPanels);
  b.loop(first, last, step, [&](Value panel) {
    Value count = b.min(step, b.sub(last, panel));
    if (!columnPacks.empty())
      emitColumnPacks(blockRow, panel, count);
    Value next = b.add(panel, step);
    next = arith::SelectOp::create(b, b.less(next, last), b.add(before, next),
                                   after);
    for (const Reduction &reduction : stage.reductions)
      if (reduction.copied)
        emitCopy(reduction, blockRow, panel);
    b.loop(b.constant(0), tiles, 1, [&](Value tile) {
      Value begin = b.div(b.mul(tile, blockRows), tiles);
      Value end = b.div(b.mul(b.add(tile, one), blockRows), tiles);
      emitTile(stage, blockRow, begin, b.sub(end, begin),
               getColumns(panel, count), {next, tile, tiles});
    });
  });
}

StageEmitter::Columns StageEmitter::getColumns(Value panel, Value panels) {
  int64_t n = stage->space.columns();
  bool vector = stage->space.rank() > 0 && !stage->scalar;
  Value width = b.constant(panelWidth);
  Value end =
      b.constant(vector ? int64_t(llvm::alignTo(n, evaluator.getLanes())) : n);
  return {b.mul(panel, width), b.min(b.mul(b.add(panel, panels), width), end),
          panel, panels, vector};
}

void StageEmitter::emitTile(const Stage &stage, Value blockRow, Value tileRow,
                            Value rows, const Columns &columns,
                            const Ahead &ahead) {
  auto [firstColumn, lastColumn, panel, panels, vector] = columns;
  int64_t lanes = evaluator.getLanes();
  Value zero = b.constant(0);
  evaluator.setTilePosition(zero, firstColumn);
  Value firstRow = b.add(blockRow, tileRow);

  for (const Reduction &reduction : stage.reductions) {
    if (!reduction.isContraction()) {
      emitReduction(reduction, firstRow, rows, firstColumn, lastColumn);
      continue;
    }
    bool accumulate =
        emitStart(reduction, firstRow, rows, firstColumn, lastColumn);
    if (reduction.packed)
      emitPanels(reduction, tileRow, rows, panel, panels, firstColumn, ahead,
                 accumulate);
    else if (reduction.copied)
      emitCopied(reduction, tileRow, rows, firstColumn, accumulate);
    else if (reduction.gathered)
      emitGathered(reduction, firstRow, rows, panels, firstColumn, accumulate);
    else
      emitInPlace(reduction, firstRow, rows, panels, firstColumn, accumulate);
  }

  if (stage.stores.empty())
    return;
  b.loop(zero, rows, 1, [&](Value row) {
    Indices position = positionOf(b.add(firstRow, row));
    evaluator.setTilePosition(row, columns.first);
    evaluator.prepareRow(stage, position);
    auto element = [&](ArrayRef<Index> indices) {
      for (auto &[value, storage] : stage.stores)
        if (Value computed = evaluator.eval(value, indices))
          evaluator.store(computed, value, storage, indices);
    };
    if (stage.space.rank() == 0) {
      element(position);
      return;
    }
    b.loop(columns.first, columns.last, columns.vector ? lanes : 1,
           [&](Value column) {
             Indices indices = position;
             indices.push_back(
                 {column, columns.vector, columns.vector ? 0 : -1});
             element(indices);
           });
  });
}
