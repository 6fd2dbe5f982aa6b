//===- WarpEmitter.cpp - The code of a stage for warps --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpEmitter.h"

#include "../Stages/ReductionLoops.h"
#include "../UnitThreads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

WarpEmitter::WarpEmitter(const StagePlan &plan,
                         const KeptParameters &parameters, ModuleTables &tables,
                         CodeBuilder &b, const Blocks &blocks)
    : plan(plan), parameters(parameters), tables(tables), b(b),
      evaluator(b, plan, tables), fragments(blocks.precision, b, evaluator),
      blocks(blocks) {}

/// Where teams of warps exchange sums.
static constexpr StringLiteral kTeamMemory = "team_sums";
/// A stage whose teams need more has none.
static constexpr int64_t kMostTeamBytes = 16 * 1024;

static int64_t countContractions(const Stage &stage) {
  return llvm::count_if(stage.reductions, [](const Reduction &reduction) {
    return bool(reduction.packed);
  });
}

/// Tensor cores only replace f32.
static bool usesFragments(const StagePlan &plan, batch::Precision precision) {
  return precision != batch::Precision::F32 &&
         plan.getLanes() == FragmentEmitter::kVector;
}

int64_t WarpEmitter::getTeamBytes(const StagePlan &plan, const Stage &stage,
                                  const Blocks &blocks) {
  int64_t count = countContractions(stage);
  if (count < 2 || usesFragments(plan, blocks.precision))
    return 0;
  // With so many tiles for a single row, all warps have one of their own.
  int64_t tiles = llvm::divideCeil(stage.space.columns(), kPanelColumns);
  if (tiles / blocks.count >= blocks.warps)
    return 0;
  int64_t widest = 0;
  for (const Reduction &reduction : stage.reductions)
    if (reduction.packed)
      widest = std::max(widest, elementBytes(reduction.getElementType()));
  int64_t bytes = blocks.warps / 2 * count * kLanes * widest;
  return bytes <= kMostTeamBytes ? bytes : 0;
}

void WarpEmitter::addTeamMemory(CodeBuilder &b, int64_t bytes) {
  LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), bytes),
                         /*isConstant=*/false, LLVM::Linkage::Internal,
                         kTeamMemory, Attribute(), /*alignment=*/16,
                         batch::kSharedMemory);
}

func::FuncOp WarpEmitter::emit(int64_t number, StringRef name) {
  stage = &plan.getStages()[number];
  hasPanels = countContractions(*stage) > 0;
  useFragments = hasPanels && usesFragments(plan, blocks.precision);
  hasTeams = getTeamBytes(plan, *stage, blocks) > 0;
  int64_t columns = stage->space.columns();
  tileColumns = useFragments ? FragmentEmitter::kColumns
                : hasPanels
                    ? kPanelColumns
                    : std::min<int64_t>(kLanes, llvm::PowerOf2Ceil(columns));
  tileRows = useFragments ? FragmentEmitter::kRows : kLanes / tileColumns;
  static_assert(kPanelRows * kPanelColumns == kLanes &&
                kPanelColumns == FragmentEmitter::kColumns);

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
  Value thread = gpu::ThreadIdOp::create(b, gpu::Dimension::x);
  thread = arith::IndexCastOp::create(b, i64, thread);
  for (Value *number : {&unit, &units})
    *number = batch::makeOpaque(b, b.getLoc(), *number);
  lane = b.rem(thread, b.constant(kLanes));
  Value warp = b.div(thread, b.constant(kLanes));
  evaluator.beginStage(number, arguments);
  parameters.emitWait(b, *stage);
  if (useFragments)
    fragments.beginStage(lane);

  if (Value copies = evaluator.mustCopy(*stage))
    b.when(copies, [&] { emitTiles(unit, units, warp); });
  else
    emitTiles(unit, units, warp);
  evaluator.endStage();
  func::ReturnOp::create(b);
  return function;
}

/// The quotient of numbers below 2^32 that are not negative. GPUs divide 64
/// bits by calls.
static Value divide(CodeBuilder &b, Value a, Value c) {
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  auto narrow = [&](Value value) {
    return b.createOrFold<arith::TruncIOp>(i32, value);
  };
  return b.createOrFold<arith::ExtUIOp>(
      i64, b.createOrFold<arith::DivUIOp>(narrow(a), narrow(c)));
}
static Value divideUp(CodeBuilder &b, Value a, Value c) {
  return divide(b, b.add(a, b.sub(c, b.constant(1))), c);
}

void WarpEmitter::emitTiles(Value unit, Value units, Value warp) {
  int64_t columns = stage->space.columns();
  Value rowCount = b.constant(stage->space.leading());
  if (stage->space.hasRows()) {
    Value rows = evaluator.getCount();
    if (stage->space.domain >= 0)
      rows = evaluator.getOffset(stage->space.domain, rows);
    rowCount = b.mul(rows, rowCount);
  }
  Value rowTiles =
      b.div(b.add(rowCount, b.constant(tileRows - 1)), b.constant(tileRows));
  ColumnShare own(b, unit, units, llvm::divideCeil(columns, tileColumns));
  // Blocks beyond the number of column tiles share the rows of a tile.
  Value share = b.div(unit, own.across);
  Value shares =
      b.div(b.add(b.sub(units, own.first), b.sub(own.across, b.constant(1))),
            own.across);
  // The block's tiles, one tile of columns after the other. All warps are at
  // the same ones, `warps` at a time.
  Value zero = b.constant(0), one = b.constant(1);
  Value rows = divideUp(b, b.max(b.sub(rowTiles, share), zero), shares);
  Value turns = divideUp(b, b.sub(own.tiles, own.first), own.across);
  Value tiles = b.mul(rows, turns);
  b.loop(zero, tiles, blocks.warps, [&](Value first) {
    Team team = getTeam(warp, b.sub(tiles, first));
    Value tile = b.min(b.add(first, team.index), b.sub(tiles, one));
    Value turn = divide(b, tile, rows);
    Value row = b.add(b.mul(b.sub(tile, b.mul(turn, rows)), shares), share);
    Value column = b.add(own.first, b.mul(turn, own.across));
    emitTile(b.mul(row, b.constant(tileRows)), rowCount,
             b.mul(column, b.constant(tileColumns)), turn, team);
  });
}

WarpEmitter::Team WarpEmitter::getTeam(Value warp, Value tiles) {
  Value shift = b.constant(0);
  int64_t most = llvm::Log2_64_Ceil(countContractions(*stage));
  for (int64_t s = 1; hasTeams && s <= most && blocks.warps >> s; ++s)
    shift = arith::SelectOp::create(
        b, b.less(b.constant(blocks.warps >> s), tiles), shift, b.constant(s));
  Team team;
  team.index = b.createOrFold<arith::ShRUIOp>(warp, shift);
  team.mask =
      b.sub(b.createOrFold<arith::ShLIOp>(b.constant(1), shift), b.constant(1));
  team.member = b.createOrFold<arith::AndIOp>(warp, team.mask);
  team.works = b.less(team.index, tiles);
  team.leads =
      arith::AndIOp::create(b, team.works,
                            arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                  team.member, b.constant(0)));
  return team;
}

Value WarpEmitter::isMine(int64_t number, const Team &team) {
  Value owner = b.createOrFold<arith::AndIOp>(b.constant(number), team.mask);
  return arith::AndIOp::create(
      b, team.works,
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, owner, team.member));
}

CodeBuilder::Values WarpEmitter::exchangeSums(ArrayRef<Value> sums,
                                              const Team &team) {
  Value alone = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, team.mask,
                                      b.constant(0));
  Value memory = LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), batch::kSharedMemory),
      kTeamMemory);
  int64_t bytes = getTeamBytes(plan, *stage, blocks) / (blocks.warps / 2);
  int64_t lineBytes = bytes / sums.size();
  memory = b.offset(memory, b.mul(team.index, b.constant(bytes)));
  memory = b.offset(memory, b.mul(lane, b.constant(lineBytes / kLanes)));
  auto at = [&](int64_t c) {
    return b.offset(memory, b.constant(c * lineBytes));
  };
  SmallVector<Type> types(ValueRange(sums).getTypes());
  return b.select(
      alone, types, [&] { return CodeBuilder::Values(sums); },
      [&] {
        for (auto [c, sum] : llvm::enumerate(sums))
          b.when(isMine(c, team), [&, c = c, sum = sum] {
            b.store(sum, at(c), elementBytes(sum.getType()));
          });
        gpu::BarrierOp::create(b);
        CodeBuilder::Values all = b.select(
            team.leads, types,
            [&] {
              CodeBuilder::Values all;
              for (auto [c, type] : llvm::enumerate(types))
                all.push_back(b.load(type, at(c), elementBytes(type)));
              return all;
            },
            [&] { return CodeBuilder::Values(sums); });
        gpu::BarrierOp::create(b);
        return all;
      });
}

void WarpEmitter::emitTile(Value firstRow, Value rowCount, Value firstColumn,
                           Value turn, const Team &team) {
  // Lanes beyond the edge compute the last row or column again, and store
  // nothing.
  auto clamp = [&](Value value, Value end) {
    return b.min(value, b.sub(end, b.constant(1)));
  };
  Value columnCount = b.constant(stage->space.columns());
  // The rows and columns of this lane's elements.
  SmallVector<Value> ownRows{b.div(lane, b.constant(tileColumns))};
  SmallVector<Value> ownColumns{b.rem(lane, b.constant(tileColumns))};
  if (useFragments) {
    ownRows = fragments.getRows();
    ownColumns = fragments.getColumns();
  }
  SmallVector<Value> validity;
  SmallVector<Indices> elements;
  for (Value ownRow : ownRows)
    for (Value ownColumn : ownColumns) {
      Value row = b.add(firstRow, ownRow);
      Value column = b.add(firstColumn, ownColumn);
      Value inside = arith::AndIOp::create(b, b.less(row, rowCount),
                                           b.less(column, columnCount));
      validity.push_back(arith::AndIOp::create(b, team.leads, inside));
      elements.push_back(
          evaluator.positionOf(stage->space, clamp(row, rowCount)));
      if (stage->space.rank() > 0)
        elements.back().push_back({clamp(column, columnCount)});
    }

  if (useFragments) {
    SmallVector<Indices> rows;
    for (Value ownRow : ownRows) {
      rows.push_back(evaluator.positionOf(
          stage->space, clamp(b.add(firstRow, ownRow), rowCount)));
      evaluator.prepareRow(*stage, rows.back());
    }
    emitFragments(rows, elements, firstColumn, turn);
  } else if (hasPanels) {
    SmallVector<Indices> rows;
    for (int64_t i = 0; i < tileRows; ++i) {
      rows.push_back(evaluator.positionOf(
          stage->space, clamp(b.add(firstRow, b.constant(i)), rowCount)));
      evaluator.prepareRow(*stage, rows.back());
    }
    SmallVector<Value> sums;
    for (const Reduction &reduction : stage->reductions) {
      if (!reduction.packed)
        continue;
      sums.push_back(b.select(
          isMine(sums.size(), team),
          [&] { return emitContraction(reduction, rows, firstColumn, turn); },
          [&]() -> Value {
            return arith::ConstantOp::create(
                b, b.getFloatAttr(reduction.getElementType(), 0));
          }));
    }
    if (hasTeams)
      sums = exchangeSums(sums, team);
    const Value *sum = sums.begin();
    for (const Reduction &reduction : stage->reductions)
      if (reduction.packed)
        finishContraction(reduction, elements, *sum++);
  }
  for (auto [valid, element] : llvm::zip_equal(validity, elements))
    b.when(valid, [&, &element = element] { emitElement(element); });
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
  for (auto &[value, storage] : stage->stores)
    if (Value computed = evaluator.eval(value, element))
      evaluator.store(computed, value, storage, element);
}

Value WarpEmitter::parametersAt(const Reduction &reduction, Value column) {
  PackedAttr packed = reduction.packed;
  PanelsAttr panels = packed.getPanels(); // B[n][k]: lanes read along k
  Value n = b.add(column, b.constant(packed.getNOffset()));
  Value offset = b.add(b.mul(n, b.constant(panels.getK())),
                       b.constant(packed.getKOffset()));
  int64_t bytes = elementBytes(reduction.getElementType());
  return b.offset(evaluator.getPacking(tables.getPanels(panels)),
                  b.mul(offset, b.constant(bytes)));
}

/// Which tiles of parameters lie in shared memory depends on the block's turn,
/// which is the same for all lanes.
void WarpEmitter::emitFragments(ArrayRef<Indices> rows,
                                ArrayRef<Indices> elements, Value firstColumn,
                                Value turn) {
  int64_t columns = stage->space.columns();
  Value loaded = fragments.getLoadedColumn();
  if (columns % tileColumns)
    loaded = b.min(loaded, b.sub(b.constant(columns - 1), firstColumn));
  SmallVector<const Reduction *> contractions;
  std::optional<int64_t> kept; // tiles of all that have some
  for (const Reduction &reduction : stage->reductions) {
    if (!reduction.packed)
      continue;
    contractions.push_back(&reduction);
    const KeptMatrix *matrix = parameters.find(reduction);
    if (matrix && matrix->kept < matrix->tiles)
      kept = std::min(kept.value_or(matrix->kept), matrix->kept);
  }
  auto emitProducts = [&](bool early) {
    SmallVector<FragmentEmitter::Product> products;
    for (const Reduction *reduction : contractions) {
      const KeptMatrix *matrix = parameters.find(*reduction);
      Value at;
      if (matrix && (early || matrix->kept == matrix->tiles))
        at = b.offset(KeptParameters::getTile(b, *matrix, turn),
                      b.mul(loaded, b.constant(matrix->stride() * 4)));
      else
        at = parametersAt(*reduction, b.add(firstColumn, loaded));
      products.push_back({reduction, at});
    }
    CodeBuilder::Values all;
    for (const CodeBuilder::Values &sums : fragments.emit(products, rows))
      llvm::append_range(all, sums);
    return all;
  };
  SmallVector<Type> types(contractions.size() * elements.size(),
                          b.getF32Type());
  CodeBuilder::Values sums = kept ? b.select(
                                        b.less(turn, b.constant(*kept)), types,
                                        [&] { return emitProducts(true); },
                                        [&] { return emitProducts(false); })
                                  : emitProducts(true);
  for (auto [i, reduction] : llvm::enumerate(contractions))
    finishContraction(
        *reduction, elements,
        ValueRange(sums).slice(i * elements.size(), elements.size()));
}

Value WarpEmitter::emitContraction(const Reduction &reduction,
                                   ArrayRef<Indices> rows, Value firstColumn,
                                   Value turn) {
  linalg::LinalgOp op = reduction.op;
  SmallVector<Indices> dims; // of each row, any column
  for (const Indices &row : rows) {
    Indices out(row);
    out.push_back({firstColumn});
    dims.push_back(evaluator.loopIndices(op, out));
  }
  auto fromGlobal = [&] {
    return multiply(reduction, dims, firstColumn,
                    parametersAt(reduction, firstColumn),
                    reduction.packed.getPanels().getK());
  };
  const KeptMatrix *kept = parameters.find(reduction);
  auto fromShared = [&] {
    Value tile = KeptParameters::getTile(b, *kept, turn);
    return multiply(reduction, dims, firstColumn, tile, kept->stride());
  };
  SmallVector<Type> types(kLanes, reduction.getElementType());
  CodeBuilder::Values partials;
  if (!kept)
    partials = fromGlobal();
  else if (kept->kept == kept->tiles)
    partials = fromShared();
  else
    partials = b.select(b.less(turn, b.constant(kept->kept)), types, fromShared,
                        fromGlobal);
  return addUp(partials);
}

CodeBuilder::Values WarpEmitter::multiply(const Reduction &reduction,
                                          MutableArrayRef<Indices> rows,
                                          Value firstColumn, Value parameters,
                                          int64_t stride) {
  linalg::LinalgOp op = reduction.op;
  OpOperand *left = op.getDpsInputOperand(reduction.left);
  Type element = reduction.getElementType();
  int64_t lanes = evaluator.getLanes(), bytes = elementBytes(element);
  ReductionLoops loops(reduction);
  // Bytes from there to a column: constants, unless a tile crosses the edge.
  SmallVector<Value> columns;
  Value last = b.sub(b.constant(stage->space.columns() - 1), firstColumn);
  for (int64_t c = 0; c < tileColumns; ++c) {
    Value column = b.constant(c);
    if (stage->space.columns() % tileColumns)
      column = b.min(column, last);
    columns.push_back(b.mul(column, b.constant(stride * bytes)));
  }

  // Sum r * tileColumns + c is that of row r and column c.
  Value zero = arith::ConstantOp::create(b, b.getFloatAttr(element, 0));
  CodeBuilder::Values sums(kLanes, zero);
  for (auto [begin, end] : loops.pieces) {
    bool vector = readsVectors(reduction, begin, end, lanes);
    int64_t width = vector ? lanes : 1;
    Type type = vector ? evaluator.vectorOf(element) : element;
    auto take = [&](Value value, int64_t i) -> Value {
      if (!isa<VectorType>(value.getType()))
        return value;
      return vector::ExtractOp::create(b, value, ArrayRef<int64_t>{i});
    };
    Value first = b.add(b.constant(begin), b.mul(lane, b.constant(width)));
    sums = b.loop(
        first, b.constant(end), kLanes * width, sums,
        [&, begin = begin, end = end](Value k, ValueRange partials) {
          CodeBuilder::Values next(partials);
          Value at = b.offset(parameters, b.mul(k, b.constant(bytes)));
          SmallVector<Value> factors;
          for (Value column : columns)
            factors.push_back(
                b.load(type, b.offset(at, column), bytes * width));
          for (auto [r, row] : llvm::enumerate(rows)) {
            row[loops.dims.back()] = {k, vector, vector ? 0 : -1, begin, end};
            Value value = evaluator.eval(
                left->get(),
                evaluator.operandIndices(op.getMatchingIndexingMap(left), row));
            if (!value)
              return CodeBuilder::Values(partials);
            for (auto [c, factor] : llvm::enumerate(factors)) {
              Value &sum = next[r * tileColumns + c];
              for (int64_t i = 0; i < width; ++i)
                sum = math::FmaOp::create(b, take(value, i), take(factor, i),
                                          sum);
            }
          }
          return next;
        });
  }
  return sums;
}

void WarpEmitter::finishContraction(const Reduction &reduction,
                                    ArrayRef<Indices> elements,
                                    ValueRange sums) {
  linalg::LinalgOp op = reduction.op;
  Value start = op.getDpsInits()[0];
  for (auto [element, sum] : llvm::zip_equal(elements, sums)) {
    if (!isZero(start))
      if (Value value = evaluator.eval(start, element))
        sum = arith::AddFOp::create(b, value, sum);
    evaluator.remember(op->getResult(0), element, sum);
  }
}

/// The value of the lane whose number differs in the bits of `distance`. Warps
/// exchange 32 bits at once.
static Value exchange(CodeBuilder &b, Value value, Value distance,
                      Value width) {
  auto shuffle = [&](Value word) -> Value {
    return gpu::ShuffleOp::create(b, word, distance, width,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  Type type = value.getType();
  if (type.getIntOrFloatBitWidth() == 32)
    return shuffle(value);
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  Value bits = arith::BitcastOp::create(b, i64, value), shift = b.constant(32);
  Value low = shuffle(arith::TruncIOp::create(b, i32, bits));
  Value high = shuffle(
      arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, bits, shift)));
  high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, high), shift);
  low = arith::ExtUIOp::create(b, i64, low);
  return arith::BitcastOp::create(b, type, arith::OrIOp::create(b, low, high));
}

/// Each step halves the partial sums that a lane holds: it sends one half to
/// the lane that keeps it, and adds what it receives to the other half.
Value WarpEmitter::addUp(ArrayRef<Value> partials) {
  SmallVector<Value> sums(partials);
  Type i32 = b.getI32Type();
  for (int32_t half = kLanes / 2; half > 0; half /= 2) {
    Value bit = b.rem(b.div(lane, b.constant(half)), b.constant(2));
    Value upper = arith::TruncIOp::create(b, b.getI1Type(), bit);
    auto constant = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(b, b.getIntegerAttr(i32, value));
    };
    Value distance = constant(half), width = constant(kLanes);
    for (int32_t i = 0; i < half; ++i) {
      Value keep = arith::SelectOp::create(b, upper, sums[i + half], sums[i]);
      Value send = arith::SelectOp::create(b, upper, sums[i], sums[i + half]);
      Value other = exchange(b, send, distance, width);
      sums[i] = arith::AddFOp::create(b, keep, other);
    }
    sums.resize(half);
  }
  return sums[0];
}
