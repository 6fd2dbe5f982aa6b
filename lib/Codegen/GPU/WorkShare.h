//===- WorkShare.h - Which block and warp computes what ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the blocks that run a stage share out its rows and columns, and the warps
// of a block the products of those that it has. `Math` makes code (WordMath) or
// computes (NumberMath), so that what a kernel does can be counted without one.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WORKSHARE_H
#define BATCH_CODEGEN_GPU_WORKSHARE_H

#include <algorithm>
#include <cstdint>

namespace mlir::uprog {

/// Arithmetic like that of WordMath, on numbers.
struct NumberMath {
  using Number = int64_t;
  static int64_t constant(int64_t value) { return value; }
  static int64_t add(int64_t a, int64_t b) { return a + b; }
  static int64_t sub(int64_t a, int64_t b) { return a - b; }
  static int64_t mul(int64_t a, int64_t b) { return a * b; }
  static int64_t div(int64_t a, int64_t b) { return a / b; }
  static int64_t rem(int64_t a, int64_t b) { return a % b; }
  static int64_t shiftLeft(int64_t a, int64_t b) { return a << b; }
  static int64_t shiftRight(int64_t a, int64_t b) { return a >> b; }
  static int64_t min(int64_t a, int64_t b) { return std::min(a, b); }
  static bool less(int64_t a, int64_t b) { return a < b; }
  static int64_t choose(bool condition, int64_t a, int64_t b) {
    return condition ? a : b;
  }
};

/// The columns of a stage that block `unit` of `units` computes, in tiles:
/// first, first + across, ... They depend on nothing else: a block reads the
/// same parameters at every step. Blocks beyond the number of tiles have those
/// of others, and share the rows with them.
template <class Math>
struct ColumnShare {
  using Number = typename Math::Number;

  ColumnShare(Math &m, Number unit, Number units, int64_t numTiles)
      : tiles(m.constant(numTiles)), across(m.min(units, tiles)) {
    auto few = m.less(units, tiles);
    Number one = m.constant(1);
    share = m.div(unit, tiles);
    first = m.sub(unit, m.mul(share, tiles));
    Number rest = m.sub(m.sub(tiles, one), first);
    count = m.choose(few, m.add(m.div(rest, across), one), one);
    Number others = m.sub(m.sub(units, one), first);
    shares = m.choose(few, one, m.add(m.div(others, tiles), one));
  }

  Number tiles, across;
  Number share = Number(); ///< the block's number among those with its columns
  Number first = Number();
  Number count = Number();  ///< of its tiles
  Number shares = Number(); ///< of the blocks with its columns
};

/// Rows of a stage that a block computes, as many as its memory holds: those of
/// every so many quads. They have numbers of their own, from 0.
template <class Math>
struct RowShare {
  using Number = typename Math::Number;
  static constexpr int64_t kQuad = 4;

  /// The rows of quads `first`, first + shares, ..., of `most` at most, of a
  /// stage with `rows`, which has the first of them.
  RowShare(Math &m, Number first, Number shares, int64_t most, Number rows)
      : first(first), shares(shares) {
    Number one = m.constant(1), quad = m.constant(kQuad);
    Number quads = m.div(m.add(rows, m.constant(kQuad - 1)), quad);
    Number others = m.div(m.sub(m.sub(quads, first), one), shares);
    others = m.min(others, m.constant(most - 1));
    // The last quad may have fewer rows.
    Number last = m.mul(m.add(first, m.mul(others, shares)), quad);
    count = m.add(m.mul(others, quad), m.min(quad, m.sub(rows, last)));
  }

  /// The row that has number `own` here.
  Number rowAt(Math &m, Number own) const {
    Number quad = m.constant(kQuad);
    Number at = m.add(first, m.mul(m.div(own, quad), shares));
    return m.add(m.mul(at, quad), m.rem(own, quad));
  }

  Number first, shares;
  Number count = Number(); ///< of rows
};

/// The tiles of sums that the warps of a block work on between two barriers: of
/// 2^shift of its columns of tiles, and as many of its rows as that leaves. A
/// warp takes one share of k of a product of a tile, and every so many others.
template <class Math>
struct TileShare {
  using Number = typename Math::Number;

  /// `most` tiles, a power of two; `columns`: tiles of columns that are left.
  TileShare(Math &m, int64_t most, Number columns)
      : shift(m.constant(0)), rows(m.constant(most)) {
    for (int64_t n = 1; n < most; n *= 2) {
      auto more = m.less(m.constant(n), columns);
      shift = m.add(shift, m.choose(more, m.constant(1), m.constant(0)));
    }
    across = m.shiftLeft(m.constant(1), shift);
    rows = m.shiftRight(rows, shift);
  }

  /// The row and column of a tile among them.
  Number rowOf(Math &m, Number tile) const { return m.shiftRight(tile, shift); }
  Number columnOf(Math &m, Number tile) const {
    return m.sub(tile, m.shiftLeft(rowOf(m, tile), shift));
  }

  Number shift;
  Number across = Number(); ///< tiles of columns
  Number rows;              ///< tiles of rows, at most
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WORKSHARE_H
