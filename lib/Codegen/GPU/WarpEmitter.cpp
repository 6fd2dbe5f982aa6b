//===- WarpEmitter.cpp - The code of a stage for warps --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpEmitter.h"

#include "../UnitThreads.h"
#include "Fragments.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

WarpEmitter::WarpEmitter(const StagePlan &plan,
                         const ResidentParameters &parameters,
                         const ProductMemory &memory, ModuleTables &tables,
                         CodeBuilder &b, const Blocks &blocks)
    : plan(plan), parameters(parameters), memory(memory), tables(tables), b(b),
      evaluator(b, plan, tables), blocks(blocks), m(b) {}

/// Maximum number of 32-bit words that a thread loads together in a loop of
/// known extent, which would otherwise be unrolled completely. A thread has 255
/// registers.
static constexpr int64_t kMostWords = 64;
/// Maximum number of operations of a loop that is assumed to be unrolled
/// completely. Later passes decide whether to unroll other loops.
static constexpr int64_t kMostUnrolled = 1024;

namespace {
/// Size of a region.
struct Size {
  int64_t operations = 0;
  int64_t words = 0; ///< words loaded from global memory without a wait
};
} // namespace

/// Limits the unrolling of a region's loops, so that a thread has registers for
/// the values that the loops load.
static Size limitLoads(Region &region, unsigned globalMemory) {
  Size size;
  for (Operation &op : region.getOps()) {
    Size own{1, 0};
    auto load = dyn_cast<LLVM::LoadOp>(op);
    if (load && load.getAddr().getType().getAddressSpace() == globalMemory)
      own.words =
          llvm::divideCeil(DataLayout().getTypeSizeInBits(load.getType()), 32);
    for (Region &nested : op.getRegions()) {
      Size inside = limitLoads(nested, globalMemory);
      own.operations += inside.operations;
      own.words += inside.words;
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    std::optional<APInt> trips =
        loop ? loop.getStaticTripCount() : std::nullopt;
    if (own.words && trips && trips->ule(kMostUnrolled / own.operations)) {
      int64_t times = std::max<int64_t>(kMostWords / own.words, 1);
      if (trips->ugt(times))
        unroll(loop, times);
      times = trips->getLimitedValue(times);
      own = {own.operations * times, own.words * times};
    }
    size.operations += own.operations;
    size.words += own.words;
  }
  return size;
}

func::FuncOp WarpEmitter::emit(int64_t number, StringRef name) {
  stage = &plan.getStages()[number];
  Type ptr = b.ptrType(), i64 = b.getI64Type();
  SmallVector<Type> types = {ptr, ptr, i64, i64};
  if (plan.checksIndices())
    types.push_back(ptr);
  auto function = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  makeInternal(function);
  OpBuilder::InsertionGuard guard(b);
  b.beginFunction(function);
  Value step = function.getArgument(0), unit = function.getArgument(2);
  Value units = function.getArgument(3);
  StageArguments arguments;
  arguments.step = step;
  arguments.packings = function.getArgument(1);
  if (plan.checksIndices())
    arguments.indexError = function.getArgument(4);
  arguments.scratch = b.loadField(step, batch::abi::kStepScratch);
  thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  thread = arith::IndexCastOp::create(b, i64, thread);
  for (Value *number : {&unit, &units})
    *number = m.narrow(batch::makeOpaque(b, b.getLoc(), *number));
  thread = m.narrow(thread);
  lane = m.rem(thread, kLanes);
  warp = m.div(thread, kLanes);
  evaluator.beginStage(number, arguments);
  bool multiplies = llvm::any_of(
      stage->reductions, [](const Reduction &r) { return bool(r.packed); });
  int64_t columns = stage->space.columns();
  LaneReductions lanes(plan, *stage);
  tileColumns =
      multiplies ? FactorFormat::kTileColumns : lanes.getTileColumns();
  Columns own(m, unit, units, llvm::divideCeil(columns, tileColumns));
  rowCount = m.narrow(countRows());
  Value copies = evaluator.mustCopy(*stage);
  auto emitAll = [&] {
    if (multiplies)
      return emitProducts(own, /*waits=*/!copies);
    if (!copies)
      AwaitRowsOp::create(b);
    emitTiles(own, lanes);
  };
  if (copies) {
    AwaitRowsOp::create(b);
    b.when(copies, emitAll);
  } else {
    emitAll();
  }
  evaluator.endStage();
  func::ReturnOp::create(b);
  limitLoads(function.getBody(), b.addressSpace);
  return function;
}

Value WarpEmitter::countRows() {
  Value count = b.constant(stage->space.leading());
  if (!stage->space.hasRows())
    return count;
  Value rows = evaluator.getCount();
  if (stage->space.domain >= 0)
    rows = evaluator.getOffset(stage->space.domain, rows);
  return b.mul(rows, count);
}

WarpEmitter::Place WarpEmitter::placeAt(Value row, Value column) {
  int64_t columnCount = stage->space.columns();
  Place place;
  place.valid = arith::AndIOp::create(b, m.less(row, rowCount),
                                      m.less(column, m.constant(columnCount)));
  row = m.min(row, m.sub(rowCount, 1));
  place.indices = evaluator.positionOf(stage->space, m.widen(row));
  column = m.min(column, m.constant(columnCount - 1));
  if (stage->space.rank() > 0)
    place.indices.push_back({m.widen(column)});
  return place;
}

void WarpEmitter::emitTiles(const Columns &own, const LaneReductions &lanes) {
  int64_t elementLanes = lanes.getLanes(), tileRows = lanes.getTileRows();
  Value tiles = m.div(m.add(rowCount, tileRows - 1), tileRows);
  // If n blocks have these columns, each of them computes every n-th tile of
  // rows. The tiles of a block are divided among its warps, one column of tiles
  // after the other.
  Value rest = m.sub(m.add(tiles, m.sub(own.shares, 1)), own.share);
  Value perColumn = m.div(rest, own.shares);
  Value count = m.mul(perColumn, own.count);
  b.loop(warp, count, m.constant(blocks.warps), [&](Value number) {
    Value turn = m.div(number, perColumn);
    Value tile = m.sub(number, m.mul(turn, perColumn));
    tile = m.add(own.share, m.mul(tile, own.shares));
    Value column = m.add(own.first, m.mul(turn, own.across));
    Value element = m.div(lane, elementLanes);
    Place place =
        placeAt(m.add(m.mul(tile, tileRows), m.div(element, tileColumns)),
                m.add(m.mul(column, tileColumns), m.rem(element, tileColumns)));
    if (elementLanes == 1) {
      b.when(place.valid, [&] { emitElement(place.indices); });
      return;
    }
    Value member = m.rem(lane, elementLanes);
    place.valid = m.both(place.valid, m.equal(member, m.constant(0)));
    emitSharedElement(place, lanes, member);
  });
}

void WarpEmitter::emitProducts(const Columns &columns, bool waits) {
  ProductPlan productPlan(plan, *stage, blocks.precision,
                          memory.rowBytes / Rows::kQuad);
  ProductEmitter products(*stage, productPlan, memory, parameters, tables, b,
                          evaluator, blocks.warps);
  products.begin(thread, warp, lane);
  Value zero = m.constant(0);
  Value quads = m.div(m.add(rowCount, Rows::kQuad - 1), Rows::kQuad);
  Slices slices(m, columns, quads, productPlan.tileRows == Rows::kQuad);
  auto rowsFrom = [&](Value first) {
    return Rows(m, first, slices.shares, products.countQuads(), rowCount);
  };
  const ProductPlan::Round &round = productPlan.rounds.front();
  bool atOnce = productPlan.rounds.size() == 1;
  if (waits) {
    if (blocks.stagesWait && atOnce && stage->space.hasRows() &&
        stage->space.domain < 0)
      products.findRows(round, rowsFrom(slices.share), quads);
    AwaitRowsOp::create(b);
  }
  products.copyFoundRows();
  Tiles tiles(m, products.countTiles(), columns.count);
  Value step = m.mul(slices.shares, products.countQuads());
  b.loop(slices.share, quads, step, [&](Value first) {
    Rows rows = rowsFrom(first);
    if (atOnce) {
      products.copyRows(round, rows);
      parameters.emitWait(b, *stage);
      gpu::BarrierOp::create(b);
    }
    Value rowsAtOnce = m.mul(tiles.rows, productPlan.tileRows);
    b.loop(zero, columns.count, tiles.across, [&](Value turn) {
      b.loop(zero, rows.count, rowsAtOnce, [&](Value row) {
        emitPass(products, productPlan, rows, row, columns, slices, turn,
                 tiles);
      });
    });
  });
}

/// Hoists a lane's loads for its element, and pure ops, out of `region` if
/// their operands are defined outside of it. Inserts them before `before`. The
/// loads then do not wait for products. This is legal: rows that a stage reads
/// were written before the stage.
static void hoistLoads(Region &region, Operation *before,
                       unsigned globalMemory) {
  for (Operation &op :
       llvm::make_early_inc_range(region.front().without_terminator())) {
    auto load = dyn_cast<LLVM::LoadOp>(op);
    bool global =
        load && load.getAddr().getType().getAddressSpace() == globalMemory;
    if (!global && !isPure(&op))
      continue;
    bool known = llvm::all_of(op.getOperands(), [&](Value operand) {
      Operation *from = operand.getDefiningOp();
      return !from || from->getParentRegion() != &region;
    });
    if (known && op.getNumRegions() == 0)
      op.moveBefore(before);
  }
}

void WarpEmitter::emitPass(ProductEmitter &products,
                           const ProductPlan &productPlan, const Rows &rows,
                           Value firstRow, const Columns &columns,
                           const Slices &slices, Value firstTurn,
                           const Tiles &tiles) {
  int64_t tileRows = productPlan.tileRows;
  int64_t tileElements = productPlan.tileElements();
  Value left = m.add(m.sub(rows.count, firstRow), tileRows - 1);
  Value count = m.mul(m.min(tiles.rows, m.div(left, tileRows)), tiles.across);

  // Computes the position of element `number` of the tiles.
  auto placeOf = [&](Value number, Value &tile, Value &element) {
    constexpr int64_t width = FactorFormat::kTileColumns;
    tile = m.div(number, tileElements);
    element = m.rem(number, tileElements);
    Value exists = m.less(tile, count);
    tile = m.min(tile, m.sub(count, 1));
    Value own = m.add(firstRow, m.mul(tiles.rowOf(m, tile), tileRows));
    own = m.add(own, m.div(element, width));
    Value turn = m.add(firstTurn, tiles.columnOf(m, tile));
    exists = m.both(exists, m.less(own, rows.count));
    exists = m.both(exists, m.less(turn, columns.count));
    exists = m.both(exists, slices.hasColumn(m, m.rem(element, width), width));
    Value column = m.add(columns.first, m.mul(turn, columns.across));
    column = m.add(m.mul(column, width), m.rem(element, width));
    own = m.min(own, m.sub(rows.count, 1));
    Place place = placeAt(rows.rowAt(m, own), column);
    place.valid = m.both(exists, place.valid);
    return place;
  };
  auto emitElements = [&](const Place &place, Value tile, Value element) {
    b.when(place.valid, [&] {
      for (auto [p, product] : llvm::enumerate(productPlan.products))
        finishProduct(*product, place.indices,
                      products.addShares(p, tile, element));
      emitElement(place.indices);
    });
  };

  // Compute all elements at once if the block has enough threads.
  bool fitsOnce = products.countTiles() * tileElements <= blocks.warps * kLanes;
  Value tile, element;
  Place place;
  Operation *early = nullptr;
  if (fitsOnce) {
    place = placeOf(thread, tile, element);
    evaluator.prepareRow(*stage, place.indices);
    early = arith::ConstantOp::create(b, b.getBoolAttr(false));
  }
  bool several = productPlan.rounds.size() > 1;
  for (const ProductPlan::Round &round : productPlan.rounds) {
    if (several) {
      if (&round != &productPlan.rounds.front())
        gpu::BarrierOp::create(b);
      // Recompute the numbers of the thread, the warp and the lane in each
      // round. Values derived from them then do not occupy registers across
      // rounds.
      auto anew = [&](Value number) {
        number = batch::makeOpaque(b, b.getLoc(), m.widen(number));
        return m.narrow(number);
      };
      products.begin(anew(thread), anew(warp), anew(lane));
      products.copyRows(round, rows);
      parameters.emitWait(b, *stage);
      gpu::BarrierOp::create(b);
    }
    products.multiply(round, rows, firstRow, columns, slices, firstTurn, tiles,
                      count);
  }
  gpu::BarrierOp::create(b);
  if (fitsOnce) {
    emitElements(place, tile, element);
    auto elements = cast<scf::IfOp>(*std::prev(b.getInsertionPoint()));
    hoistLoads(elements.getThenRegion(), early, b.addressSpace);
    early->erase();
  } else {
    Value all = m.mul(count, tileElements);
    b.loop(thread, all, m.constant(blocks.warps * kLanes), [&](Value number) {
      Place place = placeOf(number, tile, element);
      emitElements(place, tile, element);
    });
  }
  // Wait before the next tiles reuse the memory of sums.
  Value nextRow = m.add(firstRow, m.mul(tiles.rows, tileRows));
  Value nextTurn = m.add(firstTurn, tiles.across);
  Value more = arith::OrIOp::create(b, m.less(nextRow, rows.count),
                                    m.less(nextTurn, columns.count));
  if (!several)
    b.when(more, [&] { gpu::BarrierOp::create(b); });
}

void WarpEmitter::finishProduct(const Reduction &reduction,
                                const Indices &element, Value sum) {
  linalg::LinalgOp op = reduction.op;
  Value start = op.getDpsInits()[0];
  if (!isZero(start))
    if (Value value = evaluator.eval(start, element))
      sum = arith::AddFOp::create(b, value, sum);
  evaluator.remember(op->getResult(0), element, sum);
}

void WarpEmitter::emitElement(const Indices &element) {
  evaluator.prepareRow(*stage, element);
  for (const Reduction &reduction : stage->reductions) {
    if (reduction.packed)
      continue;
    auto sums = evaluator.reduce(reduction, element, /*vector=*/false);
    for (auto [result, sum] : llvm::zip(reduction.op->getResults(), sums))
      evaluator.remember(result, element, sum);
  }
  emitStores(element);
}

void WarpEmitter::emitSharedElement(const Place &place,
                                    const LaneReductions &lanes, Value member) {
  const Indices &element = place.indices;
  evaluator.prepareRow(*stage, element);
  for (const Reduction &reduction : stage->reductions) {
    auto results = lanes.reduce(b, evaluator, reduction, element, member);
    for (auto [result, value] : llvm::zip(reduction.op->getResults(), results))
      evaluator.remember(result, element, value);
  }
  b.when(place.valid, [&] { emitStores(element); });
}

void WarpEmitter::emitStores(const Indices &element) {
  for (auto &[value, storage] : stage->stores)
    if (Value computed = evaluator.eval(value, element))
      evaluator.store(computed, value, storage, element);
}
