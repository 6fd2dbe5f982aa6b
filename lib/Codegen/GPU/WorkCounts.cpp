//===- WorkCounts.cpp - Counts of a stage's work --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkCounts.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::uprog;

static constexpr int64_t kLanes = WarpEmitter::kLanes;
/// Bytes that shared memory transfers at once for a warp.
static constexpr int64_t kWavefrontBytes = 128;

//===----------------------------------------------------------------------===//
// An item
//===----------------------------------------------------------------------===//

ItemWork::ItemWork(const FactorFormat &format, int64_t rows, int64_t columns,
                   int64_t depth) {
  sums = rows * columns;
  if (format.usesTensorCores()) {
    // Each step along k loads a vector from each of two rows and from a column,
    // and multiplies twice.
    int64_t steps = llvm::divideCeil(depth, format.step());
    loads = 3 * steps;
    multiplications = 2 * steps;
    instructions = loads + multiplications + sums / kLanes;
    return;
  }
  int64_t steps = llvm::divideCeil(depth, kLanes * format.vector());
  loads = steps * (rows + columns);
  multiplications = steps * rows * columns * format.vector();
  instructions = loads + multiplications + 1;
  // At each distance, a lane sends half of its sums, or its only sum.
  int64_t words = batch::elementBytes(format.element) / 4;
  int64_t left = sums;
  for (int64_t distance = kLanes / 2; distance > 0; distance /= 2) {
    int64_t sent = std::max<int64_t>(left / 2, 1);
    shuffles += sent * words;
    instructions += sent * (words + (left > 1 ? 2 * words : 0) + 1);
    left = sent;
  }
}

//===----------------------------------------------------------------------===//
// The code of a stage
//===----------------------------------------------------------------------===//

/// Returns the length of the chain of dependent instructions that implement an
/// op. The lengths for expansions of `math` are approximate.
static int64_t getLatency(Operation *op) {
  if (isa<math::FmaOp>(op))
    return 1;
  if (isa<arith::DivFOp>(op))
    return 10;
  if (isa<math::TanhOp>(op))
    return 30;
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) ? 20 : 1;
}

namespace {
/// Finds two chains in a function. One is the longest chain of dependent loads
/// from global memory after `uprog.await_rows`. The other is the longest chain
/// of dependent instructions that ends in a store after the last barrier.
/// Visits operations in order.
class ChainFinder {
public:
  explicit ChainFinder(Operation *last) : lastBarrier(last) {}

  void visit(Region &region) {
    for (Operation &op : region.getOps())
      visit(op);
  }

  int64_t mostLoads = 0, mostInstructions = 0;

private:
  struct Length {
    int64_t loads = 0, instructions = 0;
    void add(const Length &other) {
      loads = std::max(loads, other.loads);
      instructions = std::max(instructions, other.instructions);
    }
  };

  void visit(Operation &op) {
    Length length;
    for (Value operand : op.getOperands())
      length.add(lengths.lookup(operand));
    // A loop's results depend on the values that it carries and that its body
    // yields.
    for (Region &region : op.getRegions()) {
      for (Value argument : region.getArguments())
        lengths[argument] = length;
      visit(region);
      if (!region.empty())
        for (Value yielded : region.front().getTerminator()->getOperands())
          length.add(lengths.lookup(yielded));
    }
    waits |= isa<AwaitRowsOp>(op);
    after |= &op == lastBarrier;
    if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
      bool shared = load.getAddr().getType().getAddressSpace() ==
                    unsigned(batch::kSharedMemory);
      length.loads += waits && !shared;
      length.instructions = 0;
    } else if (isa<NVVM::CpAsyncOp>(op)) {
      length.loads += waits;
    } else if (after && op.getNumRegions() == 0) {
      length.instructions += getLatency(&op);
    }
    mostLoads = std::max(mostLoads, length.loads);
    if (isa<LLVM::StoreOp>(op))
      mostInstructions = std::max(mostInstructions, length.instructions);
    for (Value result : op.getResults())
      lengths[result] = length;
  }

  Operation *lastBarrier;
  bool waits = false, after = lastBarrier == nullptr;
  DenseMap<Value, Length> lengths;
};
} // namespace

StageCode::StageCode(func::FuncOp function) {
  // Find the last barrier. Skip barriers in `scf.if`: they only protect sums
  // from the next tiles.
  Operation *last = nullptr;
  function.walk([&](gpu::BarrierOp barrier) {
    if (!isa<scf::IfOp>(barrier->getParentOp()))
      last = barrier;
  });
  ChainFinder finder(last);
  finder.visit(function.getBody());
  dependentLoads = finder.mostLoads;
  chain = finder.mostInstructions;
}

//===----------------------------------------------------------------------===//
// A stage
//===----------------------------------------------------------------------===//

/// Counts the work of each block, in the same loops as WarpEmitter.
struct StageWork::Counter {
  using Columns = ColumnShare<NumberMath>;
  using Slices = SliceShare<NumberMath>;
  using Rows = RowShare<NumberMath>;
  using Tiles = TileShare<NumberMath>;
  using Items = ItemShare<NumberMath>;

  /// Counts of a block.
  struct Block {
    int64_t passes = 0, barriers = 0, rowBytes = 0, weightBytes = 0;
    int64_t wavefronts = 0, instructions = 0;
  };
  /// Counts of a warp.
  struct Warp {
    int64_t items = 0, sums = 0;
    int64_t multiplications = 0, loads = 0, shuffles = 0, instructions = 0;
  };

  Counter(StageWork &work, const StagePlan &plan, const Stage &stage,
          const ResidentParameters &parameters, const ProductMemory &memory,
          const Launch &launch, int64_t rows)
      : work(work), stage(stage), parameters(parameters), launch(launch),
        products(plan, stage, launch.blocks.precision,
                 memory.rowBytes / Rows::kQuad),
        elements(plan, stage), rowCount(rows) {
    if (!products.products.empty()) {
      mostTiles = ProductEmitter::countTiles(products, launch.blocks.warps);
      mostQuads = ProductEmitter::countQuads(products, memory);
    }
  }

  void count(int64_t unit) {
    block = Block();
    warps.assign(launch.blocks.warps, Warp());
    if (products.products.empty())
      countTiles(unit);
    else
      countProducts(unit);
    for (const Warp &warp : warps) {
      work.items.push_back(warp.items);
      work.sums.push_back(warp.sums);
      block.instructions += warp.instructions;
      raise(work.multiplications, warp.multiplications);
      raise(work.loads, warp.loads);
      raise(work.shuffles, warp.shuffles);
      raise(work.instructions, warp.instructions);
    }
    raise(work.passes, block.passes);
    raise(work.barriers, block.barriers);
    raise(work.mostRowBytes, block.rowBytes);
    raise(work.mostWeightBytes, block.weightBytes);
    raise(work.wavefronts, block.wavefronts);
    raise(work.blockInstructions, block.instructions);
    work.rowBytes += block.rowBytes;
    work.weightBytes += block.weightBytes;
  }

private:
  static void raise(int64_t &most, int64_t value) {
    most = std::max(most, value);
  }

  void countTiles(int64_t unit) {
    int64_t columns = stage.space.columns();
    int64_t tileColumns = elements.getTileColumns();
    int64_t tileRows = elements.getTileRows();
    Columns own(m, unit, launch.units, llvm::divideCeil(columns, tileColumns));
    int64_t tiles = llvm::divideCeil(rowCount, tileRows);
    int64_t perColumn = (tiles + own.shares - 1 - own.share) / own.shares;
    int64_t count = perColumn * own.count;
    for (int64_t number = 0; number < count; ++number)
      ++warps[number % launch.blocks.warps].items;
  }

  void copyRows(const ProductPlan::Round &round, const Rows &rows) {
    for (const ProductPlan::Segment &segment : round.segments)
      block.rowBytes += rows.count * (segment.end - segment.begin) *
                        batch::elementBytes(round.format.element);
    block.wavefronts +=
        llvm::divideCeil(rows.count * round.stride, kWavefrontBytes);
  }

  void countProducts(int64_t unit) {
    int64_t tileColumns = FactorFormat::kTileColumns;
    Columns columns(m, unit, launch.units,
                    llvm::divideCeil(stage.space.columns(), tileColumns));
    Tiles tiles(m, mostTiles, columns.count);
    int64_t quads = llvm::divideCeil(rowCount, Rows::kQuad);
    Slices slices(m, columns, quads, products.tileRows == Rows::kQuad);
    bool several = products.rounds.size() > 1;
    int64_t rowsAtOnce = tiles.rows * products.tileRows;
    for (int64_t first = slices.share; first < quads;
         first += slices.shares * mostQuads) {
      Rows rows(m, first, slices.shares, mostQuads, rowCount);
      if (!several) {
        copyRows(products.rounds.front(), rows);
        ++block.barriers;
      }
      for (int64_t turn = 0; turn < columns.count; turn += tiles.across)
        for (int64_t row = 0; row < rows.count; row += rowsAtOnce) {
          countPass(columns, slices, tiles, rows, turn, row);
          bool more = row + rowsAtOnce < rows.count ||
                      turn + tiles.across < columns.count;
          block.barriers += !several && more;
        }
    }
  }

  void countPass(const Columns &columns, const Slices &slices,
                 const Tiles &tiles, const Rows &rows, int64_t firstTurn,
                 int64_t firstRow) {
    ++block.passes;
    int64_t left = llvm::divideCeil(rows.count - firstRow, products.tileRows);
    int64_t count = std::min(tiles.rows, left) * tiles.across;
    bool several = products.rounds.size() > 1;
    for (const ProductPlan::Round &round : products.rounds) {
      if (several) {
        block.barriers += 1 + (&round != &products.rounds.front());
        copyRows(round, rows);
      }
      countRound(round, columns, slices, tiles, rows, firstTurn, count);
    }
    ++block.barriers;
  }

  void countRound(const ProductPlan::Round &round, const Columns &columns,
                  const Slices &slices, const Tiles &tiles, const Rows &rows,
                  int64_t firstTurn, int64_t count) {
    bool divides = !round.format.usesTensorCores();
    int64_t numWarps = launch.blocks.warps;
    bool few = divides && Items::takesSlices(m, rows.count, count, round.count,
                                             numWarps, slices);
    int64_t height = divides && rows.count < 2 ? 1 : products.tileRows;
    int64_t width = FactorFormat::kTileColumns / (few ? Slices::kSlices : 1);
    Items items(m, count, round.count, slices, few);
    for (int64_t item = 0; item < items.count; ++item) {
      int64_t turn = firstTurn + tiles.columnOf(m, items.tileOf(m, item));
      if (turn >= columns.count)
        continue;
      const ProductPlan::Share &share =
          products.shares[round.first + items.shareOf(m, item)];
      ItemWork own(round.format, height, width, share.depth());
      Warp &warp = warps[item % numWarps];
      ++warp.items;
      warp.sums += own.sums;
      warp.multiplications += own.multiplications;
      warp.loads += own.loads;
      warp.shuffles += own.shuffles;
      warp.instructions += own.instructions;
      // Columns that are not resident are read from global memory.
      const ResidentMatrix *resident = parameters.find(*share.product);
      int64_t bytes =
          width * share.depth() * batch::elementBytes(round.format.element);
      bool global = !resident || turn >= resident->residentTiles;
      if (global)
        block.weightBytes += bytes;
      // A warp needs four accesses for a load of 16 bytes per lane, and one for
      // a shuffle.
      int64_t rowsOnly =
          divides ? own.loads * height / (height + width) : own.loads * 2 / 3;
      block.wavefronts += 4 * (global ? rowsOnly : own.loads) + own.shuffles +
                          llvm::divideCeil(own.sums, kLanes);
    }
  }

  NumberMath m;
  StageWork &work;
  const Stage &stage;
  const ResidentParameters &parameters;
  const Launch &launch;
  ProductPlan products;
  LaneReductions elements;
  int64_t rowCount, mostTiles = 0, mostQuads = 0;
  Block block;
  SmallVector<Warp> warps;
};

StageWork::StageWork(const StagePlan &plan, const Stage &stage,
                     const ResidentParameters &parameters,
                     const ProductMemory &memory, const Launch &launch,
                     int64_t rows) {
  Counter counter(*this, plan, stage, parameters, memory, launch, rows);
  for (int64_t unit = 0; unit < launch.units; ++unit)
    counter.count(unit);
}

/// Cycles of a load from the L2 cache, and of a load from shared memory or a
/// shuffle. The values are rounded from published measurements of NVIDIA Hopper
/// and earlier generations.
static constexpr double kL2Latency = 270, kSharedLatency = 30;
/// Cycles between an instruction and one that needs its result, according to
/// the same measurements.
static constexpr double kDependentIssue = 4;
/// Bytes per cycle that the load units of a multiprocessor read from the L2
/// cache.
static constexpr double kL2Bytes = 64;
/// Instructions per cycle of a single warp, and of the four schedulers of a
/// multiprocessor. These values are guesses: loops sometimes wait for loads
/// from shared memory.
static constexpr double kWarpRate = 0.6, kBlockRate = 2.4;

int64_t StageWork::estimateCycles(const StageCode &code) const {
  double cycles = code.dependentLoads * kL2Latency;
  cycles += (mostRowBytes + mostWeightBytes) / kL2Bytes;
  if (weightBytes)
    cycles += passes * kL2Latency;
  // Once the rows are available, the stage waits for whichever takes longest:
  // the instructions of a warp, the instructions of a block, or the block's
  // accesses to shared memory.
  cycles += std::max({instructions / kWarpRate, blockInstructions / kBlockRate,
                      double(wavefronts)});
  // Each item waits for a load and, if lanes exchange sums, for five exchanges.
  if (shuffles || loads)
    cycles += getMostItems() * (shuffles ? 6 : 1) * kSharedLatency;
  cycles += barriers * kBlockBarrier;
  // Elements: load sums from shared memory, compute, store.
  int64_t rounds = passes ? passes : getMostItems();
  cycles += rounds * (kSharedLatency + code.chain * kDependentIssue);
  return std::llround(cycles + kL2Latency);
}

int64_t StageWork::countBusyWarps() const {
  return items.size() - llvm::count(items, 0);
}

int64_t StageWork::getMostItems() const { return *llvm::max_element(items); }
