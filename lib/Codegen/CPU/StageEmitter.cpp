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

/// The most panels that are used together when there are few rows.
static constexpr int64_t kMaxPanels = 4;
/// How much of a core's second-level cache packed rows may fill.
static constexpr int64_t kPackedBytes = int64_t(1) << 19;
/// The most tiles of rows that use a panel before the next panel is used.
static constexpr int64_t kMaxTiles = 8;

StageEmitter::StageEmitter(const StagePlan &plan, ModuleTables &tables,
                           TileFunctions &tileFunctions,
                           const RegisterTiles &registers, CodeBuilder &b)
    : plan(plan), tables(tables), tileFunctions(tileFunctions),
      registers(registers), b(b), evaluator(b, plan, tables) {}

//===----------------------------------------------------------------------===//
// Worker scratch
//===----------------------------------------------------------------------===//

AffineMap StageEmitter::packMap(const Reduction &reduction) {
  linalg::LinalgOp op = reduction.op;
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> dims(op.getNumLoops());
  AffineMap out = op.getIndexingMapMatchingResult(op->getResult(0));
  for (auto [i, expr] : llvm::enumerate(out.getResults()))
    dims[cast<AffineDimExpr>(expr).getPosition()] =
        getAffineDimExpr(reduction.space.hasRows() ? i : i + 1, context);
  unsigned k = reduction.space.rank() + 1;
  for (AffineExpr &dim : dims)
    if (!dim)
      dim = getAffineDimExpr(k, context);
  AffineMap map =
      op.getMatchingIndexingMap(op.getDpsInputOperand(reduction.left));
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(expr.replaceDims(dims));
  return AffineMap::get(k + 1, 0, results, context);
}

void StageEmitter::planScratch(const Stage &stage) {
  packs.clear();
  packOf.clear();
  tileOffsets.clear();
  int64_t lanes = evaluator.getLanes(), n = stage.space.columns();
  panelWidth = getPanelWidth(n, lanes);
  int64_t panels = llvm::divideCeil(n, panelWidth);
  // One more vector, so that rows do not fall into the same cache sets.
  tileStride = std::min(panels, kMaxPanels) * panelWidth + lanes;
  hasPanels = false;
  packedRowBytes = 0;
  bool inPlace = false;
  for (const Reduction &reduction : stage.reductions) {
    inPlace |= reduction.kind == ReductionKind::InPlace;
    hasPanels |= inPlace;
    if (reduction.kind != ReductionKind::Packed)
      continue;
    hasPanels = true;
    linalg::LinalgOp op = reduction.op;
    OpOperand *operand = op.getDpsInputOperand(reduction.left);
    AffineMap map = packMap(reduction);
    auto it = llvm::find_if(packs, [&](const Pack &pack) {
      return pack.operand->get() == operand->get() && pack.map == map;
    });
    if (it == packs.end()) {
      Pack pack{operand,
                map,
                reduction.depth,
                packedRowBytes,
                reduction.getElementType(),
                &reduction};
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
  // A tile must not have rows of two tasks.
  if (inPlace)
    blockRowsMax = stage.space.leading();
  packsOffset = 0;
  for (const Reduction &reduction : stage.reductions)
    for (Value result : reduction.op->getResults()) {
      tileOffsets[result] = packsOffset;
      packsOffset += llvm::alignTo(
          maxRows * tileStride *
              elementBytes(getElementTypeOrSelf(result.getType())),
          64);
    }
  workerScratch.fixed = std::max(workerScratch.fixed, packsOffset);
  int64_t taskRows = stage.space.domain >= 0 || !stage.space.hasRows()
                         ? blockRowsMax
                         : stage.space.leading();
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
  planScratch(*stage);
  Type ptr = b.ptrType(), i64 = b.getI64Type();
  SmallVector<Type> types = {ptr, ptr, ptr, ptr, i64, i64, i64, i64};
  if (plan.checksIndices())
    types.push_back(ptr);
  auto function = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  makeInternal(function);
  OpBuilder::InsertionGuard guard(b);
  b.beginFunction(function);
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

void StageEmitter::emitRows() {
  Value leading = b.constant(stage->space.leading());
  Value first = b.constant(0), last = leading;
  if (stage->space.hasRows()) {
    first = arguments.rowBegin;
    last = arguments.rowEnd;
    if (stage->space.domain >= 0) {
      first = evaluator.getOffset(stage->space.domain, first);
      last = evaluator.getOffset(stage->space.domain, last);
    }
    first = b.mul(first, leading);
    last = b.mul(last, leading);
  }
  // Groups of equal size: in a short last one, each panel would serve few rows.
  Value rows = b.sub(last, first);
  Value blocks = b.div(b.add(rows, b.constant(blockRowsMax - 1)),
                       b.constant(blockRowsMax));
  b.loop(b.constant(0), blocks, 1, [&](Value block) {
    Value begin = b.div(b.mul(block, rows), blocks);
    Value end = b.div(b.mul(b.add(block, b.constant(1)), rows), blocks);
    Value blockRow = b.add(first, begin);
    Value blockRows = b.sub(end, begin);
    emitPacks(blockRow, blockRows);
    emitColumns(*stage, blockRow, blockRows);
  });
}

void StageEmitter::emitPacks(Value firstRow, Value rows) {
  if (packs.empty())
    return;
  b.loop(b.constant(0), rows, 1, [&](Value row) {
    Indices position = evaluator.positionOf(stage->space, b.add(firstRow, row));
    evaluator.prepareRow(*stage, position);
    for (const Pack &pack : packs)
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
  Indices dims(rank + 2);
  bool rows = stage->space.hasRows();
  for (auto [i, index] : llvm::enumerate(position))
    dims[rows ? i : i + 1] = index;
  bool vector = pack.reader->packed.getVectors();
  int64_t bytes = elementBytes(pack.element);
  for (auto [begin, end] : ReductionLoops(*pack.reader).pieces)
    b.loop(
        b.constant(0), b.constant(end - begin), vector ? lanes : 1,
        [&, begin = begin, end = end](Value j) {
          Value k = b.add(b.constant(begin), j);
          dims[rank + 1] = {k, vector, vector ? begin % lanes : -1, begin, end};
          Value value = evaluator.eval(
              pack.operand->get(), evaluator.operandIndices(pack.map, dims));
          if (!value)
            return;
          if (vector)
            value = evaluator.broadcast(value);
          b.store(value,
                  b.offset(packedRow(pack, row), b.mul(k, b.constant(bytes))),
                  bytes);
        });
}

void StageEmitter::emitColumns(const Stage &stage, Value blockRow,
                               Value blockRows) {
  int64_t panels = llvm::divideCeil(stage.space.columns(), panelWidth);
  Value all = b.constant(panels), one = b.constant(1);
  Value first = b.div(b.mul(arguments.share, all), arguments.shares);
  Value last = b.div(b.mul(b.add(arguments.share, one), all), arguments.shares);
  Value maxRows = b.constant(registers.maxRows);
  Value tiles =
      b.div(b.add(blockRows, b.constant(registers.maxRows - 1)), maxRows);
  // Use several panels at once only if a single tile of few rows uses them:
  // with more tiles a panel stays in the cache from tile to tile.
  Value step = b.constant(std::min(panels, kMaxPanels));
  if (hasPanels) {
    Value limit2 = b.constant(registers.budget / 4 + 1);
    Value limit4 = b.constant(registers.budget / 8 + 1);
    step = arith::SelectOp::create(b, b.less(blockRows, limit2), b.constant(2),
                                   one);
    step = arith::SelectOp::create(b, b.less(blockRows, limit4), b.constant(4),
                                   step);
    step = b.min(step, b.constant(std::min(panels, kMaxPanels)));
  }
  b.loop(first, last, step, [&](Value panel) {
    Value count = b.min(step, b.sub(last, panel));
    // After the last panel comes the first one, for the next launch.
    Value next = b.add(panel, step);
    next = arith::SelectOp::create(b, b.less(next, last), next, first);
    b.loop(b.constant(0), tiles, 1, [&](Value tile) {
      Value begin = b.div(b.mul(tile, blockRows), tiles);
      Value end = b.div(b.mul(b.add(tile, one), blockRows), tiles);
      emitTile(stage, blockRow, begin, b.sub(end, begin), panel, count,
               {next, tile, tiles});
    });
  });
}

void StageEmitter::emitTile(const Stage &stage, Value blockRow, Value tileRow,
                            Value rows, Value panel, Value panels,
                            const Ahead &ahead) {
  int64_t lanes = evaluator.getLanes(), n = stage.space.columns();
  bool vector = stage.space.rank() > 0 && !stage.scalar;
  Value width = b.constant(panelWidth);
  Value firstColumn = b.mul(panel, width);
  Value lastColumn =
      b.min(b.mul(b.add(panel, panels), width),
            b.constant(vector ? int64_t(llvm::alignTo(n, lanes)) : n));
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
    else
      emitInPlace(reduction, firstRow, rows, panels, firstColumn, accumulate);
  }

  if (stage.stores.empty())
    return;
  b.loop(zero, rows, 1, [&](Value row) {
    Indices position = evaluator.positionOf(stage.space, b.add(firstRow, row));
    evaluator.setTilePosition(row, firstColumn);
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
    b.loop(firstColumn, lastColumn, vector ? lanes : 1, [&](Value column) {
      Indices indices = position;
      indices.push_back({column, vector, vector ? 0 : -1});
      element(indices);
    });
  });
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

bool StageEmitter::emitStart(const Reduction &reduction, Value firstRow,
                             Value rows, Value firstColumn, Value lastColumn) {
  linalg::LinalgOp op = reduction.op;
  Value start = op.getDpsInits()[0];
  if (isZero(start))
    return false;
  b.loop(b.constant(0), rows, 1, [&](Value row) {
    Indices position =
        evaluator.positionOf(reduction.space, b.add(firstRow, row));
    evaluator.setTilePosition(row, firstColumn);
    b.loop(firstColumn, lastColumn, evaluator.getLanes(), [&](Value column) {
      Indices indices = position;
      indices.push_back({column, true, 0});
      if (Value value = evaluator.eval(start, indices))
        evaluator.storeTile(value, reduction.op->getResult(0), row, column,
                            true);
    });
  });
  return true;
}

/// Runs the register tiles once per piece of the reduction, at the addresses
/// where the piece begins in both operands.
void StageEmitter::emitInPlace(const Reduction &reduction, Value firstRow,
                               Value rows, Value panels, Value firstColumn,
                               bool accumulate) {
  linalg::LinalgOp op = reduction.op;
  Indices out = evaluator.positionOf(reduction.space, firstRow);
  evaluator.prepareRow(*stage, out);
  out.push_back({firstColumn});
  Indices dims = evaluator.loopIndices(op, out);
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  auto addressOf = [&](unsigned input) {
    OpOperand *operand = op.getDpsInputOperand(input);
    return evaluator.address(
        operand->get(),
        evaluator.operandIndices(op.getMatchingIndexingMap(operand), dims));
  };
  evaluator.setTilePosition(b.constant(0), firstColumn);
  Value tile =
      evaluator.tilePointer(op->getResult(0), b.constant(0), firstColumn);
  InPlaceAttr inPlace = reduction.inPlace;
  Type element = reduction.getElementType();
  int64_t bytes = elementBytes(element);
  for (auto [begin, end] : ReductionLoops(reduction).pieces) {
    dims[reductions.front()] = {b.constant(begin), false, -1, begin, end};
    func::FuncOp tiles = tileFunctions.get(
        {element, evaluator.getLanes(), reduction.lanes,
         inPlace.getLeftStride(), inPlace.getRightStride(),
         panelWidth / evaluator.getLanes(), tileStride, accumulate,
         /*streamed=*/false});
    func::CallOp::create(
        b, tiles,
        ValueRange{addressOf(reduction.left), addressOf(1 - reduction.left),
                   tile, b.constant(end - begin), rows, panels,
                   b.constant(panelWidth * bytes), tile, b.constant(0)});
    accumulate = true;
  }
}

void StageEmitter::emitPanels(const Reduction &reduction, Value tileRow,
                              Value rows, Value panel, Value panels,
                              Value firstColumn, const Ahead &ahead,
                              bool accumulate) {
  Value result = reduction.op->getResult(0), zero = b.constant(0);
  const Pack &pack = packs[packOf[&reduction]];
  PackedAttr packed = reduction.packed;
  PanelsAttr right = packed.getPanels();
  Type element = reduction.getElementType();
  int64_t bytes = elementBytes(element), lanes = evaluator.getLanes();
  func::FuncOp tiles = tileFunctions.get(
      {element, lanes, reduction.lanes, packedRowBytes / bytes,
       right.getWidth(), panelWidth / lanes, tileStride, accumulate,
       /*streamed=*/true});
  Value left = packedRow(pack, tileRow);
  int64_t stepBytes = right.getWidth() * bytes;
  int64_t panelBytes = right.getK() * stepBytes;
  Value packing =
      b.offset(evaluator.getPacking(tables.getPanels(right)),
               b.constant(packed.getNOffset() / right.getWidth() * panelBytes +
                          packed.getKOffset() * stepBytes));
  Value rightPointer = b.offset(packing, b.mul(panel, b.constant(panelBytes)));
  Value aheadBytes = b.div(
      b.mul(ahead.tile, b.constant(reduction.depth * stepBytes)), ahead.tiles);
  Value aheadPointer = b.offset(
      packing, b.add(b.mul(ahead.panel, b.constant(panelBytes)), aheadBytes));
  Value alone = b.less(ahead.tiles, b.constant(2));
  aheadPointer = arith::SelectOp::create(b, alone, rightPointer, aheadPointer);
  Value aheadStep = arith::SelectOp::create(
      b, alone, b.constant(0), b.div(b.constant(stepBytes), ahead.tiles));
  evaluator.setTilePosition(zero, firstColumn);
  func::CallOp::create(
      b, tiles,
      ValueRange{left, rightPointer,
                 evaluator.tilePointer(result, zero, firstColumn),
                 b.constant(reduction.depth), rows, panels,
                 b.constant(panelBytes), aheadPointer, aheadStep});
}
