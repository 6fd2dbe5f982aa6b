//===- WorkShare.h - Division of work among blocks and warps ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows and columns of a stage are divided among the blocks that run it. The
// products of a block's rows and columns are divided among its warps. `Math`
// emits the arithmetic (WordMath) or evaluates it on integers (NumberMath), so
// the work of a kernel can be counted without emitting its code.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WORKSHARE_H
#define BATCH_CODEGEN_GPU_WORKSHARE_H

#include <algorithm>
#include <cstdint>

namespace mlir::uprog {

/// Arithmetic as in WordMath, on integers instead of IR values.
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

/// Tiles of columns that block `unit` of `units` computes: first, first +
/// across, ... These tiles do not depend on the number of rows, so a block
/// reads the same parameters at every step. If there are more blocks than
/// tiles, blocks with the same columns divide the rows.
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
  Number share = Number(); ///< number of the block among the blocks that
                           ///< compute the same columns
  Number first = Number();
  Number count = Number();  ///< number of the block's tiles
  Number shares = Number(); ///< number of blocks with these columns
};

/// A block's share of a tile of columns, in a stage with few rows. Several
/// blocks compute the tile together. Each block computes every `shares`-th quad
/// of rows, in 1, 2 or all slices of the tile's columns.
template <class Math>
struct SliceShare {
  using Number = typename Math::Number;
  static constexpr int64_t kSlices = 4; ///< slices of a tile, a power of two

  /// Computes the share in a stage with `quads` quads of rows. If `divides` is
  /// false, tiles remain whole.
  SliceShare(Math &m, const ColumnShare<Math> &columns, Number quads,
             bool divides)
      : shift(m.constant(0)), own(shift), left(shift), first(shift),
        share(columns.share), shares(columns.shares) {
    if (!divides)
      return;
    // A stage without rows is divided like a stage with one quad of rows.
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

  /// Returns true if the block computes column `column` of a tile of `width`.
  auto hasColumn(Math &m, Number column, int64_t width) const {
    Number slice = m.div(column, m.constant(width / kSlices));
    slice = m.shiftLeft(slice, shift);
    return m.equal(m.shiftRight(slice, m.constant(bits(kSlices))), own);
  }

  static constexpr int64_t bits(int64_t power) {
    return power == 1 ? 0 : 1 + bits(power / 2);
  }

  Number shift; ///< a tile is divided among 2^shift blocks
  Number own;   ///< number of the block among these blocks
  Number left;  ///< a block has 2^left slices of the tile; `left` is 0 if the
                ///< constructor's `divides` is false
  Number first; ///< first of these slices
  Number share; ///< number of the block among the blocks that divide the rows
  Number shares;
};

/// Rows of a stage that a block computes: the rows of every `shares`-th quad,
/// as many as the block's memory holds. They are numbered from 0.
template <class Math>
struct RowShare {
  using Number = typename Math::Number;
  static constexpr int64_t kQuad = 4;

  /// Selects the rows of at most `most` quads, `first`, first + shares, ...,
  /// from a stage with `rows` rows. `count` is meaningless if the stage has no
  /// quad `first`.
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

  /// Converts row number `own` of this share to a row number of the stage.
  Number rowAt(Math &m, Number own) const {
    Number quad = m.constant(kQuad);
    Number at = m.add(first, m.mul(m.div(own, quad), shares));
    return m.add(m.mul(at, quad), m.rem(own, quad));
  }

  Number first, shares;
  Number count = Number(); ///< number of rows
};

/// Tiles of sums that the warps of a block process between two barriers. They
/// span up to 2^shift of the block's columns of tiles, and as many rows of
/// tiles as the maximum number of tiles allows.
template <class Math>
struct TileShare {
  using Number = typename Math::Number;

  /// `most` is the maximum number of tiles, a power of two. `columns` is the
  /// number of the block's columns of tiles.
  TileShare(Math &m, int64_t most, Number columns)
      : shift(m.constant(0)), rows(m.constant(most)) {
    for (int64_t n = 1; n < most; n *= 2) {
      auto more = m.less(m.constant(n), columns);
      shift = m.add(shift, m.choose(more, m.constant(1), m.constant(0)));
    }
    across = m.shiftLeft(m.constant(1), shift);
    rows = m.shiftRight(rows, shift);
  }

  /// Returns the row of one of these tiles; columnOf() returns its column.
  Number rowOf(Math &m, Number tile) const { return m.shiftRight(tile, shift); }
  Number columnOf(Math &m, Number tile) const {
    return m.sub(tile, m.shiftLeft(rowOf(m, tile), shift));
  }

  Number shift;
  Number across = Number(); ///< number of columns of tiles
  Number rows;              ///< maximum number of rows of tiles
};

/// Items that are divided among the warps of a block between two barriers. An
/// item is a share of k of a product, for a tile of sums or for a slice of a
/// tile. Each of n warps takes every n-th item.
template <class Math>
struct ItemShare {
  using Number = typename Math::Number;

  /// Returns true if the items of a block with `rows` rows are slices of
  /// `tiles`: the rows fit one quad, and either blocks divide the tiles, or
  /// whole tiles would leave some `warps` idle.
  static auto takesSlices(Math &m, Number rows, Number tiles, int64_t shares,
                          int64_t warps, const SliceShare<Math> &slices) {
    constexpr int64_t quad = RowShare<Math>::kQuad;
    auto idle = m.less(m.mul(tiles, m.constant(shares)), m.constant(warps));
    auto divided = m.less(m.constant(0), slices.shift);
    auto sliced = m.either(idle, divided);
    return m.both(m.less(rows, m.constant(quad + 1)), sliced);
  }

  /// Computes the items of `tiles` tiles and `shares` shares of k.
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
