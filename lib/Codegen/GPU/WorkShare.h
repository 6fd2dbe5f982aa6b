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
  static bool equal(int64_t a, int64_t b) { return a == b; }
  static bool both(bool a, bool b) { return a && b; }
  static bool either(bool a, bool b) { return a || b; }
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

/// Where a stage has few rows, how blocks with the same tile of columns share
/// it out: each has the rows of every so many quads, in 1, 2 or all of the
/// tile's slices of columns.
template <class Math>
struct SliceShare {
  using Number = typename Math::Number;
  static constexpr int64_t kSlices = 4; ///< of a tile, a power of two

  /// Of a stage with `quads` of rows. Not `divides`: tiles remain whole.
  SliceShare(Math &m, const ColumnShare<Math> &columns, Number quads,
             bool divides)
      : shift(m.constant(0)), own(shift), left(shift), first(shift),
        share(columns.share), shares(columns.shares) {
    if (!divides)
      return;
    // Without rows there are blocks that share them all the same.
    Number one = m.constant(1);
    quads = m.choose(m.less(quads, one), one, quads);
    for (int64_t n = 1, next = 2; next <= kSlices; ++n, next *= 2) {
      auto few =
          m.less(m.sub(m.mul(quads, m.constant(next)), one), columns.shares);
      shift = m.choose(few, m.constant(n), shift);
    }
    left = m.sub(m.constant(bits(kSlices)), shift);
    share = m.shiftRight(columns.share, shift);
    shares = m.shiftRight(columns.shares, shift);
    own = m.sub(columns.share, m.shiftLeft(share, shift));
    first = m.shiftLeft(own, left);
  }

  /// True if the block computes a column of a tile of `width`.
  auto hasColumn(Math &m, Number column, int64_t width) const {
    Number slice = m.div(column, m.constant(width / kSlices));
    slice = m.shiftLeft(slice, shift);
    return m.equal(m.shiftRight(slice, m.constant(bits(kSlices))), own);
  }

  static constexpr int64_t bits(int64_t power) {
    return power == 1 ? 0 : 1 + bits(power / 2);
  }

  Number shift; ///< a tile is divided among 2^shift blocks
  Number own;   ///< the block's number among these
  Number left;  ///< a block has 2^left slices of it; 0 if tiles remain whole
  Number first; ///< of these slices
  Number share; ///< the block's number among those that share out the rows
  Number shares;
};

/// Rows of a stage that a block computes, as many as its memory holds: those of
/// every so many quads. They have numbers of their own, from 0.
template <class Math>
struct RowShare {
  using Number = typename Math::Number;
  static constexpr int64_t kQuad = 4;

  /// The rows of quads `first`, first + shares, ..., of `most` at most, of a
  /// stage with `rows`. If it does not have the first of them, `count` means
  /// nothing.
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
/// 2^shift of its columns of tiles, and as many of its rows as that leaves.
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

/// What the warps of a block share out between two barriers: items, each a
/// share of k of a product, of a tile of sums or of a slice of one. A warp
/// takes one, and every so many others.
template <class Math>
struct ItemShare {
  using Number = typename Math::Number;

  /// True if a block with `rows` takes slices of `tiles`: those that are its
  /// own, or all of them so that more of its `warps` have an item.
  static auto takesSlices(Math &m, Number rows, Number tiles, int64_t shares,
                          int64_t warps, const SliceShare<Math> &slices) {
    constexpr int64_t quad = RowShare<Math>::kQuad;
    auto idle = m.less(m.mul(tiles, m.constant(shares)), m.constant(warps));
    auto divided = m.less(m.constant(0), slices.shift);
    auto sliced = m.either(idle, divided);
    return m.both(m.less(rows, m.constant(quad + 1)), sliced);
  }

  /// Of `tiles` tiles and `shares` shares of k.
  ItemShare(Math &m, Number tiles, int64_t shares,
            const SliceShare<Math> &slices, bool takesSlices)
      : shares(m.constant(shares)), left(m.constant(0)), first(m.constant(0)) {
    if (takesSlices) {
      left = slices.left;
      first = slices.first;
    }
    count = m.shiftLeft(m.mul(tiles, this->shares), left);
  }

  Number sliceOf(Math &m, Number item) const {
    return m.add(first, m.sub(item, m.shiftLeft(wholeOf(m, item), left)));
  }
  Number tileOf(Math &m, Number item) const {
    return m.div(wholeOf(m, item), shares);
  }
  Number shareOf(Math &m, Number item) const {
    return m.rem(wholeOf(m, item), shares);
  }

  Number shares, left, first;
  Number count = Number();

private:
  Number wholeOf(Math &m, Number item) const {
    return m.shiftRight(item, left);
  }
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WORKSHARE_H
