//===- TileFunctions.cpp - Register tiles of contractions -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::uprog;

/// Distance in bytes at which a panel is prefetched into the first-level cache.
static constexpr int64_t kPrefetchBytes = 1024;
/// Bytes of a cache line, which one prefetch reads.
static constexpr int64_t kLineBytes = 64;

RegisterTiles::RegisterTiles(int64_t registers) {
  // Reserve registers for two vectors of B, a broadcast of A, and some slack
  // for the scheduler.
  budget = std::max<int64_t>(registers - (registers >= 32 ? 8 : 4), 2);
  maxRows = budget / 2;
}

int64_t RegisterTiles::panelsFor(int64_t rows) const {
  for (int64_t panels : {4, 2})
    if (rows * panels * 2 <= budget)
      return panels;
  return 1;
}

std::string TileShape::getSuffix() const {
  std::string suffix;
  llvm::raw_string_ostream os(suffix);
  if (!element.isF32())
    os << '.' << element;
  if (lanes != fullLanes)
    os << ".l" << lanes;
  os << ".a" << leftStride << ".b" << rightStride << ".c" << outStride
     << (accumulate ? ".add" : "") << (streamed ? "" : ".near");
  return suffix;
}

func::FuncOp TileFunctions::getTile(const TileShape &shape, int64_t rows,
                                    int64_t panels) {
  Location loc = module.getLoc();
  CodeBuilder b(loc, module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type ptr = b.ptrType(), i64 = b.getI64Type();
  Type element = shape.element;
  int64_t bytes = elementBytes(element), lanes = shape.lanes;
  std::string name = "batch.tile." + std::to_string(rows) + "x" +
                     std::to_string(panels) + "x" +
                     std::to_string(shape.vectors) + shape.getSuffix();
  auto function = func::FuncOp::create(
      b, name, b.getFunctionType({ptr, ptr, ptr, i64, i64, ptr, i64}, {}));
  makeInternal(function);
  for (unsigned i : {0, 1, 2})
    function.setArgAttr(i, "llvm.noalias", b.getUnitAttr());
  b.beginFunction(function);
  Value a = function.getArgument(0), right = function.getArgument(1);
  Value out = function.getArgument(2), depth = function.getArgument(3);
  Value panelBytes = function.getArgument(4);
  Value ahead = function.getArgument(5), aheadStep = function.getArgument(6);

  int64_t vectors = panels * shape.vectors;
  Type vector = VectorType::get({lanes}, element);
  SmallVector<Value> panelPointers;
  for (int64_t p = 0; p < panels; ++p)
    panelPointers.push_back(b.offset(right, b.mul(panelBytes, b.constant(p))));
  auto outPointer = [&](int64_t row, int64_t v) {
    return b.offset(out,
                    b.constant((row * shape.outStride + v * lanes) * bytes));
  };
  SmallVector<Value> init;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vector));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < vectors; ++v)
      init.push_back(
          shape.accumulate ? b.load(vector, outPointer(row, v), bytes) : zero);
  auto sums =
      b.loop(b.constant(0), depth, 1, init, [&](Value k, ValueRange carried) {
        CodeBuilder::Values next(carried);
        Value rightOffset = b.mul(k, b.constant(shape.rightStride * bytes));
        auto loadColumns = [&](int64_t v) {
          Value pointer =
              b.offset(panelPointers[v / shape.vectors], rightOffset);
          int64_t place = v % shape.vectors * lanes * bytes;
          pointer = b.offset(pointer, b.constant(place));
          Value columns = b.load(vector, pointer, bytes);
          // Prefetch panels that come from the second-level cache or beyond:
          // the hardware prefetcher alone cannot sustain the required rate.
          if (shape.streamed && place % kLineBytes == 0)
            LLVM::Prefetch::create(
                b, b.offset(pointer, b.constant(kPrefetchBytes)), /*rw=*/0,
                /*hint=*/3, /*cache=*/1);
          return columns;
        };
        Value left = b.offset(a, b.mul(k, b.constant(bytes)));
        auto spreadRow = [&](int64_t row) -> Value {
          Value scalar =
              b.load(element,
                     b.offset(left, b.constant(row * shape.leftStride * bytes)),
                     bytes);
          return vector::BroadcastOp::create(b, vector, scalar);
        };
        auto multiply = [&](int64_t row, int64_t v, Value spread,
                            Value columns) {
          Value &sum = next[row * vectors + v];
          sum = vector::FMAOp::create(b, spread, columns, sum);
        };
        // Meanwhile, prefetch a share of the next panel into the second-level
        // cache. Tiles with few rows do not prefetch, because each is the only
        // tile of its panel.
        auto fetchAhead = [&] {
          if (shape.streamed && 2 * rows >= tiles.maxRows)
            LLVM::Prefetch::create(b, b.offset(ahead, b.mul(k, aheadStep)),
                                   /*rw=*/0, /*hint=*/2, /*cache=*/1);
        };
        // Rows or columns, whichever are fewer, stay in registers along with
        // the sums. The vectors of the other factor pass through one register.
        if (rows < vectors) {
          SmallVector<Value> spread;
          for (int64_t row = 0; row < rows; ++row)
            spread.push_back(spreadRow(row));
          fetchAhead();
          for (int64_t v = 0; v < vectors; ++v) {
            Value columns = loadColumns(v);
            for (int64_t row = 0; row < rows; ++row)
              multiply(row, v, spread[row], columns);
          }
          return next;
        }
        SmallVector<Value> columns;
        for (int64_t v = 0; v < vectors; ++v)
          columns.push_back(loadColumns(v));
        fetchAhead();
        for (int64_t row = 0; row < rows; ++row) {
          Value spread = spreadRow(row);
          for (int64_t v = 0; v < vectors; ++v)
            multiply(row, v, spread, columns[v]);
        }
        return next;
      });
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < vectors; ++v)
      b.store(sums[row * vectors + v], outPointer(row, v), bytes);
  func::ReturnOp::create(b);
  return function;
}

func::FuncOp TileFunctions::get(const TileShape &shape) {
  std::string name =
      "batch.tiles.v" + std::to_string(shape.vectors) + shape.getSuffix();
  func::FuncOp &known = dispatchers[name];
  if (known)
    return known;
  CodeBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  Type ptr = b.ptrType(), i64 = b.getI64Type();
  func::FuncOp function = func::FuncOp::create(
      b, name,
      b.getFunctionType({ptr, ptr, ptr, i64, i64, i64, i64, ptr, i64}, {}));
  makeInternal(function);
  b.beginFunction(function);
  ValueRange arguments = function.getArguments();
  Value right = arguments[1], out = arguments[2], depth = arguments[3];
  Value rows = arguments[4], panels = arguments[5], panelBytes = arguments[6];
  Value selector = arith::IndexCastOp::create(b, b.getIndexType(), rows);
  SmallVector<int64_t> cases;
  for (int64_t count = 1; count <= tiles.maxRows; ++count)
    cases.push_back(count);
  auto dispatch =
      scf::IndexSwitchOp::create(b, TypeRange(), selector, cases, cases.size());
  for (auto [i, count] : llvm::enumerate(cases)) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&dispatch.getCaseRegions()[i]);
    auto call = [&, count = count](int64_t width, Value first) {
      Value columns = b.mul(first, b.constant(shape.vectors * shape.lanes *
                                              elementBytes(shape.element)));
      func::CallOp::create(b, getTile(shape, count, width),
                           ValueRange{arguments[0],
                                      b.offset(right, b.mul(first, panelBytes)),
                                      b.offset(out, columns), depth, panelBytes,
                                      arguments[7], arguments[8]});
    };
    int64_t wide = tiles.panelsFor(count);
    Value done = b.constant(0);
    if (wide > 1) {
      done = b.mul(b.div(panels, b.constant(wide)), b.constant(wide));
      b.loop(b.constant(0), done, wide,
             [&](Value first) { call(wide, first); });
    }
    b.loop(done, panels, 1, [&](Value first) { call(1, first); });
    scf::YieldOp::create(b);
  }
  {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&dispatch.getDefaultRegion());
    scf::YieldOp::create(b);
  }
  func::ReturnOp::create(b);
  return known = function;
}
