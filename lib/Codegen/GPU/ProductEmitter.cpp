//===- ProductEmitter.cpp - Products of a block's warps -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductEmitter.h"

#include "../Stages/ReductionLoops.h"
#include "../UnitThreads.h"
#include "Fragments.h"
#include "WarpExchange.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::uprog;

/// Number of vectors of row elements that a thread copies together, without and
/// with tensor cores. With tensor cores, a block has twice as many threads by
/// default, and each thread has half as many registers.
static constexpr int64_t kCopies = 8, kRoundedCopies = 6;
/// Maximum number of loads in flight for these vectors, if a vector needs
/// several loads.
static constexpr int64_t kLoads = 16;
/// Maximum number of bytes for sums. Limits the number of tiles that are
/// processed at once.
static constexpr int64_t kMostSumBytes = 16 * 1024;

int64_t ProductEmitter::countTiles(const ProductPlan &plan, int64_t warps) {
  int64_t bytes = plan.shares.size() * plan.sumBytes;
  int64_t most = std::max<int64_t>(kMostSumBytes / bytes, 1);
  int64_t elements = plan.tileElements();
  return llvm::bit_floor<uint64_t>(
      std::clamp<int64_t>(warps * kLanes / elements, 1, most));
}

ProductEmitter::ProductEmitter(const Stage &stage, const ProductPlan &plan,
                               const ProductMemory &memory,
                               const ResidentParameters &parameters,
                               ModuleTables &tables, CodeBuilder &b,
                               Evaluator &evaluator, int64_t warps)
    : stage(stage), plan(plan), memory(memory), parameters(parameters),
      tables(tables), b(b), evaluator(evaluator), warps(warps), m(b) {}

int64_t ProductEmitter::countQuads(const ProductPlan &plan,
                                   const ProductMemory &memory) {
  return std::clamp<int64_t>(memory.rowBytes / plan.rowBytes() / Rows::kQuad, 1,
                             ProductMemory::kMostRows / Rows::kQuad);
}

void ProductEmitter::begin(Value newThread, Value newWarp, Value newLane) {
  thread = newThread;
  warp = newWarp;
  lane = newLane;
}

Value ProductEmitter::getMemory(int64_t offset, Value bytes) {
  return m.offset(parameters.getMemory(b, offset), bytes);
}

/// Returns the first of `values` for number 0, the second for 1, and so on.
static Value pick(WordMath &m, Value number, ArrayRef<Value> values) {
  Value picked = values[0];
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] != values[i - 1])
      picked = m.choose(m.less(number, m.constant(i)), picked, values[i]);
  return picked;
}

static Value pick(WordMath &m, Value number, ArrayRef<int64_t> values) {
  int64_t distance = values.size() > 1 ? values[1] - values[0] : 0;
  bool even = true;
  for (size_t i = 1; i < values.size(); ++i)
    even &= values[i] - values[i - 1] == distance;
  if (even)
    return m.add(m.mul(number, distance), values[0]);
  Value picked = m.constant(values[0]);
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] != values[i - 1])
      picked = m.choose(m.less(number, m.constant(i)), picked,
                        m.constant(values[i]));
  return picked;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

using Items = ItemShare<WordMath>;

/// Returns the number of loads needed to compute an element of `value`, but at
/// most kLoads. A view reads each element from one of its operands.
static int64_t countLoads(Value value, DenseMap<Value, int64_t> &known) {
  Operation *op = value.getDefiningOp();
  if (!op || isa<StageOp>(op))
    return 1;
  if (auto it = known.find(value); it != known.end())
    return it->second;
  int64_t most = 0, all = 0;
  for (Value operand : op->getOperands()) {
    int64_t loads = isa<RankedTensorType>(operand.getType())
                        ? countLoads(operand, known)
                        : 0;
    most = std::max(most, loads);
    all = std::min(all + loads, kLoads);
  }
  return known[value] = isView(op) ? most : all;
}

SmallVector<ProductEmitter::PieceGroup, 1>
ProductEmitter::groupPieces(const ProductPlan::Round &round) const {
  int64_t lanes = evaluator.getLanes(), bytes = round.format.bytes();
  SmallVector<PieceGroup, 1> groups;
  auto add = [&](const Piece &piece) {
    for (PieceGroup &group : groups)
      if (group.perRow() == piece.perRow() &&
          group.pieces.front().width == piece.width)
        return group.pieces.push_back(piece);
    groups.push_back({{piece}, 1});
  };
  for (const ProductPlan::Segment &segment : round.segments) {
    const Reduction &reader = *segment.reader;
    for (auto [begin, end] : ReductionLoops(reader).pieces) {
      begin = std::max(begin, segment.begin);
      end = std::min(end, segment.end);
      if (begin >= end)
        continue;
      bool vector =
          reader.packed.getVectors() && begin % lanes == 0 && end % lanes == 0;
      add({&reader, begin, end, segment.at + (begin - segment.begin) * bytes,
           vector ? lanes : 1});
    }
  }
  for (PieceGroup &group : groups) {
    int64_t loads = 0, pieces = group.pieces.size();
    DenseMap<Value, int64_t> known;
    for (const Piece &piece : group.pieces) {
      linalg::LinalgOp op = piece.reader->op;
      loads +=
          countLoads(op.getDpsInputOperand(piece.reader->left)->get(), known);
    }
    group.copies =
        (round.format.usesTensorCores() ? kRoundedCopies : kCopies) / pieces;
    if (loads > pieces)
      group.copies = std::min(group.copies, kLoads / loads);
    group.copies = std::max<int64_t>(group.copies, 1);
  }
  return groups;
}

Value ProductEmitter::rowAt(const ProductPlan::Round &round, Value own,
                            Value offset) {
  return getMemory(memory.rows, m.add(m.mul(own, round.stride), offset));
}

ProductEmitter::Spot ProductEmitter::spotAt(const PieceGroup &group,
                                            const Rows &rows, Value number,
                                            Value total) {
  Spot spot;
  spot.inside = m.less(number, total);
  number = m.min(number, m.sub(total, 1));
  spot.own = m.div(number, group.perRow());
  spot.k = m.mul(m.rem(number, group.perRow()), group.pieces.front().width);
  Value row = m.widen(rows.rowAt(m, spot.own));
  spot.out = evaluator.positionOf(stage.space, row);
  return spot;
}

/// Returns the address of a factor in global memory if the factor is stored
/// there unchanged and may be copied asynchronously, and null otherwise. If the
/// factor is copied, cleanup passes remove its unused load.
Value ProductEmitter::addressOf(Value factor, int64_t bytes) {
  auto load = factor.getDefiningOp<LLVM::LoadOp>();
  if (!load || bytes > FactorFormat::kVectorBytes ||
      load.getAlignment().value_or(1) < uint64_t(bytes))
    return {};
  auto type = cast<LLVM::LLVMPointerType>(load.getAddr().getType());
  return type.getAddressSpace() == b.addressSpace ? load.getAddr() : Value();
}

void ProductEmitter::copySpots(const ProductPlan::Round &round,
                               const PieceGroup &group, ArrayRef<Spot> spots) {
  const FactorFormat &format = round.format;
  struct Copy {
    Value value;
    Value from; ///< null: not copied asynchronously
    Value at, inside;
    int64_t bytes;
  };
  SmallVector<Copy> copies;
  for (const Spot &spot : spots) {
    Indices out = spot.out;
    out.push_back(evaluator.index(0));
    for (const Piece &piece : group.pieces) {
      linalg::LinalgOp op = piece.reader->op;
      OpOperand *left = op.getDpsInputOperand(piece.reader->left);
      Indices dims = evaluator.loopIndices(op, out);
      ReductionLoops loops(*piece.reader);
      bool vector = piece.width > 1;
      dims[loops.dims.back()] = {m.widen(m.add(spot.k, piece.begin)), vector,
                                 vector ? 0 : -1, piece.begin, piece.end};
      Value value = evaluator.eval(
          left->get(),
          evaluator.operandIndices(op.getMatchingIndexingMap(left), dims));
      if (!value)
        return;
      if (vector)
        value = evaluator.broadcast(value);
      Value offset = m.add(m.mul(spot.k, format.bytes()), piece.at);
      value = roundFactors(b, format, value);
      Copy copy{value, Value(), rowAt(round, spot.own, offset), spot.inside,
                piece.width * format.bytes()};
      if (parameters.copiesRows(stage))
        copy.from = addressOf(value, copy.bytes);
      copies.push_back(copy);
    }
  }
  for (const Copy &copy : copies) {
    auto emit = [&] {
      if (copy.from)
        ResidentParameters::emitCopy(b, copy.from, copy.at, copy.bytes);
      else
        b.store(copy.value, copy.at, copy.bytes);
    };
    if (copy.inside)
      b.when(copy.inside, emit);
    else
      emit();
  }
}

/// Collects `value` if it is an argument, and otherwise the arguments that it
/// reads through views.
static void findArguments(Value value, SetVector<BlockArgument> &arguments) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    arguments.insert(argument);
  else if (isView(value.getDefiningOp()))
    for (Value operand : value.getDefiningOp()->getOperands())
      findArguments(operand, arguments);
}

void ProductEmitter::findRows(const ProductPlan::Round &round, const Rows &rows,
                              Value quads) {
  FoundRows own{&round, groupPieces(round).front(), {}, {}, rows, {}};
  for (const Piece &piece : own.group.pieces) {
    linalg::LinalgOp op = piece.reader->op;
    findArguments(op.getDpsInputOperand(piece.reader->left)->get(),
                  own.arguments);
  }
  StageOp op = stage.op;
  own.arguments.remove_if([&](BlockArgument argument) {
    return !llvm::is_contained(op.getReads(), argument);
  });
  if (own.arguments.empty())
    return;
  own.mine = m.less(rows.first, quads);
  int64_t threads = warps * kLanes, perRow = own.group.perRow();
  int64_t spots = std::min(llvm::divideCeil(Rows::kQuad * perRow, threads),
                           uint64_t(own.group.copies));
  SmallVector<Type> types(spots * own.arguments.size(), b.ptrType());
  Value null = LLVM::ZeroOp::create(b, b.ptrType());
  own.pointers = b.select(
      own.mine, types,
      [&] {
        CodeBuilder::Values pointers;
        Value total = m.mul(rows.count, perRow);
        for (int64_t i = 0; i < spots; ++i) {
          Spot spot =
              spotAt(own.group, rows, m.add(thread, i * threads), total);
          for (BlockArgument argument : own.arguments)
            pointers.push_back(
                evaluator.rowPointer(argument, spot.out.front().base));
        }
        return pointers;
      },
      [&] { return CodeBuilder::Values(types.size(), null); });
  found = std::move(own);
}

void ProductEmitter::copyFoundRows() {
  if (!found)
    return;
  // Hide the thread's number from optimizers, so that only the addresses that
  // were found stay in registers up to this point.
  Value first = m.narrow(batch::makeOpaque(b, b.getLoc(), m.widen(thread)));
  b.when(found->mine, [&] {
    Value total = m.mul(found->rows.count, found->group.perRow());
    ArrayRef<Value> pointers = found->pointers;
    SmallVector<Spot, 0> spots;
    for (int64_t i = 0; i < found->spots(); ++i) {
      Value number = m.add(first, i * warps * kLanes);
      spots.push_back(spotAt(found->group, found->rows, number, total));
      for (BlockArgument argument : found->arguments) {
        evaluator.rememberRow(argument, spots.back().out.front().base,
                              pointers.front());
        pointers = pointers.drop_front();
      }
    }
    copySpots(*found->round, found->group, spots);
  });
}

void ProductEmitter::copyRows(const ProductPlan::Round &round,
                              const Rows &rows) {
  const FactorFormat &format = round.format;
  int64_t threads = warps * kLanes;
  for (const ProductPlan::Segment &segment : round.segments) {
    int64_t depth = segment.end - segment.begin;
    int64_t rest = format.padded(depth) - depth;
    if (!rest)
      continue;
    Type type = getFactorType(b, format);
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
    b.loop(thread, m.mul(rows.count, rest), m.constant(threads), [&](Value i) {
      Value k = m.mul(m.add(m.rem(i, rest), depth), format.bytes());
      b.store(zero, rowAt(round, m.div(i, rest), m.add(k, segment.at)),
              format.bytes());
    });
  }

  // Use one loop for all pieces of the same extent, so that pieces do not wait
  // for each other.
  Value begin = thread;
  if (found) {
    Value next = m.add(thread, found->spots() * threads);
    begin = m.choose(m.equal(rows.first, found->rows.first), next, thread);
  }
  for (const PieceGroup &group : groupPieces(round)) {
    Value total = m.mul(rows.count, group.perRow());
    b.loop(begin, total, m.constant(group.copies * threads), [&](Value number) {
      SmallVector<Spot, 0> spots;
      for (int64_t i = 0; i < group.copies; ++i)
        spots.push_back(spotAt(group, rows, m.add(number, i * threads), total));
      spots.front().inside = {};
      copySpots(round, group, spots);
    });
    begin = thread;
  }
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void ProductEmitter::multiply(const ProductPlan::Round &round, const Rows &rows,
                              Value firstRow, const Columns &columns,
                              const Slices &slices, Value firstTurn,
                              const Tiles &tiles, Value count) {
  const FactorFormat &format = round.format;
  ArrayRef<ProductPlan::Share> shares =
      ArrayRef(plan.shares).slice(round.first, round.count);
  int64_t allColumns = stage.space.columns();
  int64_t elementBytes = batch::elementBytes(format.element);
  bool allResident = true, someResident = false, aligned = true;
  int64_t commonDepth = 0;
  SmallVector<int64_t> at, depth, residentTiles, residentAt, residentTile,
      residentStride;
  SmallVector<int64_t> globalStride;
  SmallVector<Value> globalAt, packings;
  for (const ProductPlan::Share &share : shares) {
    const Reduction &product = *share.product;
    at.push_back(share.at);
    depth.push_back(share.depth());
    commonDepth = std::gcd(commonDepth, share.depth());
    const ResidentMatrix *resident = parameters.find(product);
    allResident &= resident && resident->residentTiles == resident->tiles;
    someResident |= resident != nullptr;
    residentTiles.push_back(resident ? resident->residentTiles : 0);
    residentAt.push_back(resident
                             ? resident->offset + share.begin / format.share() *
                                                      resident->shareBytes()
                             : 0);
    residentTile.push_back(resident ? resident->tileBytes() : 0);
    residentStride.push_back(resident ? resident->stride() : 0);
    PackedAttr packed = product.packed;
    PanelsAttr panels = packed.getPanels(); // B[n][k]: lanes read along k
    int64_t vector = FactorFormat::kVectorBytes / elementBytes;
    aligned &= panels.getK() % vector == 0 &&
               packed.getKOffset() % vector == 0 &&
               share.depth() % format.vector() == 0;
    packings.push_back(evaluator.getPacking(tables.getPanels(panels)));
    globalStride.push_back(panels.getK() * elementBytes);
    globalAt.push_back(
        b.constant((packed.getFirstElement() + share.begin) * elementBytes));
  }

  auto multiplyItem = [&](const Items &items, Value item, int64_t rowCount,
                          int64_t columnCount) {
    Value tile = items.tileOf(m, item), number = items.shareOf(m, item);
    Value turn = m.add(firstTurn, tiles.columnOf(m, tile));
    auto pickOne = [&](ArrayRef<int64_t> values) {
      return pick(m, number, values);
    };
    auto work = [&] {
      Value row = m.add(firstRow, m.mul(tiles.rowOf(m, tile), plan.tileRows));
      Value column = m.add(columns.first, m.mul(turn, columns.across));
      column = m.mul(column, FactorFormat::kTileColumns);
      Operands operands;
      operands.rowCount = rowCount;
      operands.columnCount = columnCount;
      Value piece = pickOne(at);
      operands.rows =
          getMemory(memory.rows, m.add(m.mul(row, round.stride), piece));
      operands.lastRow = m.sub(m.sub(rows.count, 1), row);
      operands.firstColumn = m.mul(items.sliceOf(m, item), columnCount);
      if (allColumns % FactorFormat::kTileColumns)
        operands.lastColumn = m.sub(m.constant(allColumns - 1), column);
      operands.depth = pickOne(depth);
      operands.commonDepth = commonDepth;
      auto fromShared = [&] {
        operands.areResident = true;
        operands.parameters = getMemory(
            0, m.add(m.mul(turn, pickOne(residentTile)), pickOne(residentAt)));
        operands.stride = pickOne(residentStride);
        return multiplyTile(round, operands);
      };
      auto fromGlobal = [&] {
        operands.areResident = false;
        operands.whole = aligned;
        operands.stride = pickOne(globalStride);
        // Compute in 64 bits: parameters may have more than 2^32 bytes.
        Value place = b.mul(m.widen(column), m.widen(operands.stride));
        place = b.add(place, pick(m, number, globalAt));
        operands.parameters = b.offset(pick(m, number, packings), place);
        return multiplyTile(round, operands);
      };
      CodeBuilder::Values sums;
      if (allResident) {
        sums = fromShared();
      } else if (!someResident) {
        sums = fromGlobal();
      } else {
        SmallVector<Type> types(format.usesTensorCores() ? 4 : 1,
                                format.element);
        sums = b.select(m.less(turn, pickOne(residentTiles)), types, fromShared,
                        fromGlobal);
      }
      if (!evaluator.hasFailed())
        storeSums(round, tile, number, operands, sums);
    };
    if (countTiles() > 1)
      b.when(m.less(turn, columns.count), work);
    else
      work();
  };
  auto multiplyAll = [&](int64_t rowCount, bool takesSlices) {
    Items items(m, count, round.count, slices, takesSlices);
    int64_t width = FactorFormat::kTileColumns;
    if (takesSlices)
      width /= Slices::kSlices;
    b.loop(warp, items.count, m.constant(warps),
           [&](Value item) { multiplyItem(items, item, rowCount, width); });
  };
  if (format.usesTensorCores())
    return multiplyAll(plan.tileRows, false);
  // If there is a single row, use tiles of one row instead of four.
  auto multiplyRows = [&](bool takesSlices) {
    b.when(
        m.less(rows.count, m.constant(2)), [&] { multiplyAll(1, takesSlices); },
        [&] { multiplyAll(plan.tileRows, takesSlices); });
  };
  Value few =
      Items::takesSlices(m, rows.count, count, round.count, warps, slices);
  b.when(few, [&] { multiplyRows(true); }, [&] { multiplyRows(false); });
}

Value ProductEmitter::sumAt(Value tile, Value share, Value element,
                            int64_t bytes) {
  Value place =
      m.mul(m.add(m.mul(tile, plan.shares.size()), share), plan.sumBytes);
  return getMemory(memory.sums, m.add(place, m.mul(element, bytes)));
}

void ProductEmitter::storeSums(const ProductPlan::Round &round, Value tile,
                               Value number, const Operands &operands,
                               ValueRange sums) {
  int64_t bytes = batch::elementBytes(round.format.element);
  Value share = m.add(number, round.first);
  auto store = [&](Value sum, Value element) {
    b.store(sum, sumAt(tile, share, element, bytes), bytes);
  };
  if (sums.size() > 1) {
    for (auto [i, sum] : llvm::enumerate(sums))
      store(sum, Fragments(b, m, lane).getElement(i));
    return;
  }
  int64_t perColumn = kLanes / operands.columnCount;
  int64_t perSum = perColumn / operands.rowCount;
  Value column = m.add(operands.firstColumn, m.div(lane, perColumn));
  Value element = column;
  if (operands.rowCount > 1) {
    Value row = m.div(m.rem(lane, perColumn), perSum);
    element = m.add(m.mul(row, FactorFormat::kTileColumns), column);
  }
  if (perSum == 1)
    return store(sums[0], element);
  Value isLeader = m.less(m.rem(lane, perSum), m.constant(1));
  b.when(isLeader, [&] { store(sums[0], element); });
}

Value ProductEmitter::addShares(size_t number, Value tile, Value element) {
  Value sum;
  for (auto [s, share] : llvm::enumerate(plan.shares)) {
    if (share.product != plan.products[number])
      continue;
    Type type = share.product->getElementType();
    int64_t bytes = batch::elementBytes(type);
    Value own = b.load(type, sumAt(tile, m.constant(s), element, bytes), bytes);
    sum = sum ? arith::AddFOp::create(b, sum, own).getResult() : own;
  }
  return sum;
}

CodeBuilder::Values
ProductEmitter::multiplyTile(const ProductPlan::Round &round,
                             const Operands &operands) {
  return round.format.usesTensorCores() ? multiplyFragments(round, operands)
                                        : multiplyLanes(round, operands);
}

SmallVector<Value> ProductEmitter::loadParameters(const FactorFormat &format,
                                                  Value column, Value k,
                                                  const Operands &operands) {
  Type element = format.element;
  int64_t bytes = batch::elementBytes(element);
  int64_t width = operands.whole ? FactorFormat::kVectorBytes / bytes : 1;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
  SmallVector<Value> loadedFactors;
  for (int64_t i = 0; i < format.vector(); i += width) {
    Value at = m.add(k, i), inside = m.less(at, operands.depth);
    at = m.min(at, m.sub(operands.depth, width));
    Value from = m.offset(column, m.mul(at, bytes));
    Type type = element;
    if (width > 1)
      type = VectorType::get({width}, element);
    Value loaded = b.load(type, from, width * bytes);
    for (int64_t n = 0; n < width; ++n) {
      Value weight = loaded;
      if (width > 1)
        weight = vector::ExtractOp::create(b, loaded, ArrayRef<int64_t>{n});
      loadedFactors.push_back(m.choose(inside, weight, zero));
    }
  }
  return loadedFactors;
}

CodeBuilder::Values
ProductEmitter::multiplyLanes(const ProductPlan::Round &round,
                              const Operands &operands) {
  const FactorFormat &format = round.format;
  Type element = format.element;
  int64_t width = format.vector(), bytes = format.bytes();
  Type type = VectorType::get({width}, element);
  SmallVector<Value> rows, columns;
  for (int64_t r = 0; r < operands.rowCount; ++r) {
    Value row = m.constant(r);
    if (r > 0)
      row = m.min(row, operands.lastRow);
    rows.push_back(m.offset(operands.rows, m.mul(row, round.stride)));
  }
  for (int64_t c = 0; c < operands.columnCount; ++c) {
    Value column = m.add(operands.firstColumn, c);
    if (operands.lastColumn)
      column = m.min(column, operands.lastColumn);
    columns.push_back(
        m.offset(operands.parameters, m.mul(column, operands.stride)));
  }
  auto take = [&](Value vector, int64_t i) -> Value {
    return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{i});
  };
  // Element r * columnCount + c of `sums` is the sum of row r and column c.
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(element));
  CodeBuilder::Values sums(operands.rowCount * operands.columnCount, zero);
  auto add = [&](Value k, ValueRange partials) {
    CodeBuilder::Values next(partials);
    Value at = m.mul(k, bytes);
    SmallVector<SmallVector<Value>> factors;
    for (Value column : columns) {
      if (operands.areResident || operands.whole) {
        Value loaded =
            b.load(type, m.offset(column, at), FactorFormat::kVectorBytes);
        SmallVector<Value> &ofColumn = factors.emplace_back();
        for (int64_t i = 0; i < width; ++i)
          ofColumn.push_back(take(loaded, i));
      } else {
        factors.push_back(loadParameters(format, column, k, operands));
      }
    }
    for (auto [r, row] : llvm::enumerate(rows)) {
      Value loaded =
          b.load(type, m.offset(row, at), FactorFormat::kVectorBytes);
      for (int64_t i = 0; i < width; ++i) {
        Value factor = take(loaded, i);
        for (auto [c, ofColumn] : llvm::enumerate(factors)) {
          Value &sum = next[r * operands.columnCount + c];
          sum = math::FmaOp::create(b, factor, ofColumn[i], sum);
        }
      }
    }
    return next;
  };
  // Emit several steps per iteration, so that as many loads are in flight as
  // the registers can hold.
  Value first = m.mul(lane, width);
  int64_t step = kLanes * width, steps = 4;
  if (operands.columnCount == FactorFormat::kTileColumns)
    steps = bytes > 4 ? 1 : 2;
  while (operands.commonDepth % (steps * step) && steps > 1)
    steps /= 2;
  auto addSteps = [&](Value k, ValueRange partials) {
    CodeBuilder::Values next(partials);
    for (int64_t i = 0; i < steps; ++i)
      next = add(m.add(k, i * step), next);
    return next;
  };
  APInt depth;
  if (matchPattern(operands.depth, m_ConstantInt(&depth)) &&
      depth.getSExtValue() == steps * step)
    sums = addSteps(first, sums);
  else {
    sums =
        b.loop(first, operands.depth, m.constant(steps * step), sums, addSteps);
    if (bytes > 4 && operands.columnCount == FactorFormat::kTileColumns)
      unroll(sums[0].getDefiningOp(), operands.rowCount > 1 ? 1 : 2);
  }
  return {addUp(sums, operands.columnCount)};
}

CodeBuilder::Values
ProductEmitter::multiplyFragments(const ProductPlan::Round &round,
                                  const Operands &operands) {
  const FactorFormat &format = round.format;
  int64_t bytes = format.bytes();
  Fragments fragments(b, m, lane);
  Type type = VectorType::get({4}, b.getI32Type());
  Value own = m.mul(fragments.getMember(), format.vector());
  Value inVector = m.mul(own, bytes);
  SmallVector<Value> rows;
  for (int64_t r : {0, 1}) {
    Value row = m.min(fragments.getRow(r), operands.lastRow);
    row = m.add(m.mul(row, round.stride), inVector);
    rows.push_back(m.offset(operands.rows, row));
  }
  Value column = fragments.getColumn();
  if (operands.lastColumn)
    column = m.min(column, operands.lastColumn);
  column = m.offset(operands.parameters, m.mul(column, operands.stride));
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(format.element));
  CodeBuilder::Values sums(4, zero);
  sums = b.loop(m.constant(0), operands.depth, m.constant(format.step()), sums,
                [&](Value k, ValueRange partials) {
                  Value at = m.mul(k, bytes);
                  auto load = [&](Value from) {
                    return b.load(type, m.offset(from, at),
                                  FactorFormat::kVectorBytes);
                  };
                  Value left[] = {load(rows[0]), load(rows[1])}, right;
                  if (operands.areResident) {
                    right = load(m.offset(column, inVector));
                  } else {
                    SmallVector<Value> ofColumn =
                        loadParameters(format, column, m.add(k, own), operands);
                    right = fragments.pack(format, ofColumn);
                  }
                  return fragments.multiply(format, left, right, partials);
                });
  unroll(sums[0].getDefiningOp(), 2);
  return sums;
}

/// In each step, a lane sends half of its partial sums to the lane that keeps
/// these sums. It adds the sums that it receives to the other half. It sends
/// half of the columns as long as it has several columns. Lanes that have a
/// single sum exchange it, and all end with the same value. The order in which
/// partial sums of lanes are added therefore does not depend on the number of
/// rows.
Value ProductEmitter::addUp(ArrayRef<Value> partials, size_t columns) {
  SmallVector<Value> sums(partials);
  for (int64_t distance = kLanes / 2; distance > 0; distance /= 2) {
    Value with = m.constant(distance);
    if (sums.size() == 1) {
      Value other = exchange(b, sums[0], with);
      sums[0] = arith::AddFOp::create(b, sums[0], other);
      continue;
    }
    Value upper = arith::TruncIOp::create(b, b.getI1Type(),
                                          m.rem(m.div(lane, distance), 2));
    size_t run = columns > 1 ? columns / 2 : sums.size() / 2;
    SmallVector<Value> halves;
    for (size_t first = 0; first < sums.size(); first += 2 * run)
      for (size_t i = first; i < first + run; ++i) {
        Value keep = m.choose(upper, sums[i + run], sums[i]);
        Value send = m.choose(upper, sums[i], sums[i + run]);
        Value other = exchange(b, send, with);
        halves.push_back(arith::AddFOp::create(b, keep, other));
      }
    sums = halves;
    columns = std::max<size_t>(columns / 2, 1);
  }
  return sums[0];
}
