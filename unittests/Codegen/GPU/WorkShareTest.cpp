//===- WorkShareTest.cpp - Work of blocks and warps -----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkShare.h"

#include "gtest/gtest.h"
#include <set>
#include <vector>

using namespace mlir::uprog;

namespace {
constexpr int64_t kMostBlocks = 140, kMostTiles = 70;

using Columns = ColumnShare<NumberMath>;
using Rows = RowShare<NumberMath>;
using Tiles = TileShare<NumberMath>;
using Slices = SliceShare<NumberMath>;
using Items = ItemShare<NumberMath>;

/// Returns the numbers of the tiles that a block computes.
std::vector<int64_t> getTiles(int64_t unit, int64_t units, int64_t numTiles) {
  NumberMath m;
  Columns columns(m, unit, units, numTiles);
  std::vector<int64_t> tiles;
  for (int64_t turn = 0; turn < columns.count; ++turn)
    tiles.push_back(columns.first + turn * columns.across);
  return tiles;
}

/// Returns how often the blocks of a stage compute each combination of a tile,
/// a row and a slice. Blocks take `mostQuads` quads of rows at a time.
std::vector<int> countElements(int64_t units, int64_t numTiles, int64_t numRows,
                               int64_t mostQuads, bool divides) {
  NumberMath m;
  constexpr int64_t kSlices = Slices::kSlices;
  std::vector<int> counts(numTiles * numRows * kSlices);
  int64_t quads = (numRows + Rows::kQuad - 1) / Rows::kQuad;
  for (int64_t unit = 0; unit < units; ++unit) {
    Columns columns(m, unit, units, numTiles);
    Slices slices(m, columns, quads, divides);
    int64_t step = slices.shares * mostQuads;
    for (int64_t first = slices.share; first < quads; first += step) {
      Rows rows(m, first, slices.shares, mostQuads, numRows);
      EXPECT_GT(rows.count, 0);
      EXPECT_LE(rows.count, mostQuads * Rows::kQuad);
      for (int64_t own = 0; own < rows.count; ++own) {
        int64_t row = rows.rowAt(m, own);
        EXPECT_TRUE(0 <= row && row < numRows);
        if (row < 0 || row >= numRows)
          continue;
        for (int64_t tile : getTiles(unit, units, numTiles))
          for (int64_t slice = 0; slice < kSlices; ++slice)
            if (slices.hasColumn(m, slice, kSlices))
              ++counts[(tile * numRows + row) * kSlices + slice];
      }
    }
  }
  return counts;
}
} // namespace

TEST(WorkShareTest, BlocksComputeEachElementOnce) {
  for (int64_t units = 1; units <= kMostBlocks; ++units)
    for (int64_t tiles = 1; tiles <= kMostTiles; ++tiles)
      for (int64_t rows : {0, 1, 3, 4, 5, 8, 30, 61})
        for (int64_t quads : {1, 3}) {
          // Divide tiles in every other case, if possible.
          bool divides = (units + tiles) % 2;
          std::vector<int> counts =
              countElements(units, tiles, rows, quads, divides);
          ASSERT_EQ(counts, std::vector<int>(counts.size(), 1))
              << units << " blocks, " << tiles << " tiles of columns, " << rows
              << " rows, " << quads << " quads at a time";
        }
}

TEST(WorkShareTest, MemoryHoldsSixteenQuads) {
  for (int64_t units : {1, 2, 7, 132})
    for (int64_t rows : {64, 65, 127, 128, 129, 1000}) {
      std::vector<int> counts = countElements(units, 5, rows, 16, true);
      ASSERT_EQ(counts, std::vector<int>(counts.size(), 1))
          << units << " blocks, " << rows << " rows";
    }
}

// The number of a block determines its tiles. No block has more tiles than an
// even division of the tiles requires.
TEST(WorkShareTest, ColumnsDependOnTheBlock) {
  NumberMath m;
  for (int64_t units = 1; units <= kMostBlocks; ++units)
    for (int64_t numTiles = 1; numTiles <= kMostTiles; ++numTiles) {
      int64_t across = std::min(units, numTiles);
      std::vector<std::set<int64_t>> sharesOf(numTiles);
      for (int64_t unit = 0; unit < units; ++unit) {
        std::vector<int64_t> wanted;
        for (int64_t tile = unit % numTiles; tile < numTiles; tile += across)
          wanted.push_back(tile);
        ASSERT_EQ(getTiles(unit, units, numTiles), wanted)
            << "block " << unit << " of " << units << ", " << numTiles
            << " tiles";
        ASSERT_LE(int64_t(wanted.size()), (numTiles + across - 1) / across);
        for (int64_t tile : wanted)
          sharesOf[tile].insert(Columns(m, unit, units, numTiles).share);
      }
      // Blocks with the same columns have different shares.
      for (int64_t unit = 0; unit < units; ++unit) {
        Columns columns(m, unit, units, numTiles);
        ASSERT_EQ(int64_t(sharesOf[columns.first].size()), columns.shares);
        ASSERT_EQ(*sharesOf[columns.first].rbegin(), columns.shares - 1);
      }
    }
}

// The warps of a block process every tile once, and no more tiles of columns
// than needed.
TEST(WorkShareTest, TilesCoverRowsAndColumns) {
  NumberMath m;
  for (int64_t most : {1, 2, 4, 8, 32})
    for (int64_t columns = 1; columns <= 40; ++columns) {
      Tiles tiles(m, most, columns);
      EXPECT_EQ(tiles.across * tiles.rows, most);
      EXPECT_TRUE(tiles.across >= columns || tiles.rows == 1);
      EXPECT_TRUE(tiles.across == 1 || tiles.across / 2 < columns);
      std::set<std::pair<int64_t, int64_t>> places;
      for (int64_t tile = 0; tile < most; ++tile) {
        std::pair<int64_t, int64_t> place(tiles.rowOf(m, tile),
                                          tiles.columnOf(m, tile));
        EXPECT_TRUE(place.first < tiles.rows && place.second < tiles.across);
        places.insert(place);
      }
      EXPECT_EQ(int64_t(places.size()), most);
    }
}

// For all tiles and all shares of k, the items of a block cover each slice of
// the block once. This holds for items that are slices and for items that are
// tiles.
TEST(WorkShareTest, ItemsCoverWhatABlockComputes) {
  NumberMath m;
  constexpr int64_t kTiles = 32;
  for (int64_t units : {1, 31, 32, 33, 64, 96, 128, 132, 160, 300})
    for (int64_t quads : {1, 2, 3, 5})
      for (int64_t unit = 0; unit < units; ++unit)
        for (bool takesSlices : {false, true}) {
          Columns columns(m, unit, units, kTiles);
          Slices slices(m, columns, quads, true);
          Items items(m, /*tiles=*/3, /*shares=*/5, slices, takesSlices);
          std::set<std::vector<int64_t>> places;
          for (int64_t item = 0; item < items.count; ++item) {
            int64_t slice = items.sliceOf(m, item);
            EXPECT_LT(items.tileOf(m, item), 3);
            EXPECT_LT(slice, Slices::kSlices);
            EXPECT_TRUE(!takesSlices ||
                        slices.hasColumn(m, slice, Slices::kSlices));
            places.insert(
                {items.tileOf(m, item), items.shareOf(m, item), slice});
          }
          int64_t own = takesSlices ? Slices::kSlices >> slices.shift : 1;
          ASSERT_EQ(int64_t(places.size()), 3 * 5 * own);
          ASSERT_EQ(items.count, 3 * 5 * own);
        }
}

// Checks the percentage of warps that have an item, for 32 tiles of columns,
// five products, and 132 blocks of 8 warps.
TEST(WorkShareTest, FewRowsOccupyManyWarps) {
  NumberMath m;
  auto countWarps = [&](int64_t numRows) {
    constexpr int64_t kUnits = 132, kWarps = 8, kShares = 5;
    int64_t quads = (numRows + Rows::kQuad - 1) / Rows::kQuad, busy = 0;
    for (int64_t unit = 0; unit < kUnits; ++unit) {
      Columns columns(m, unit, kUnits, 32);
      Slices slices(m, columns, quads, true);
      if (slices.share >= quads)
        continue;
      Rows rows(m, slices.share, slices.shares, 16, numRows);
      int64_t tiles = (rows.count + 3) / 4;
      bool few =
          Items::takesSlices(m, rows.count, tiles, kShares, kWarps, slices);
      Items items(m, tiles, kShares, slices, few);
      busy += std::min(items.count, kWarps);
    }
    return 100 * busy / (kUnits * kWarps);
  };
  for (int64_t rows : {1, 2, 4, 5, 8})
    EXPECT_GE(countWarps(rows), 60) << rows;
  EXPECT_GE(countWarps(12), 70);
  for (int64_t rows : {16, 32, 64})
    EXPECT_GE(countWarps(rows), 90) << rows;
}

// For each quad, each slice of a tile belongs to exactly one of the blocks that
// divide the tile.
TEST(WorkShareTest, BlocksOfAQuadHaveAllSlices) {
  NumberMath m;
  for (int64_t tiles : {1, 5, 32})
    for (int64_t units = 1; units <= 300; ++units)
      for (int64_t quads : {1, 2, 3, 5}) {
        // The number of blocks that have each slice, by tile and quad.
        std::vector<int> counts(tiles * quads * Slices::kSlices);
        for (int64_t unit = 0; unit < units; ++unit) {
          Columns columns(m, unit, units, tiles);
          Slices slices(m, columns, quads, true);
          EXPECT_GT(slices.shares, 0);
          for (int64_t quad = slices.share; quad < quads; quad += slices.shares)
            for (int64_t tile : getTiles(unit, units, tiles))
              for (int64_t slice = 0; slice < Slices::kSlices; ++slice)
                counts[(tile * quads + quad) * Slices::kSlices + slice] +=
                    slices.hasColumn(m, slice, Slices::kSlices);
        }
        ASSERT_EQ(counts, std::vector<int>(counts.size(), 1))
            << units << " blocks, " << tiles << " tiles, " << quads << " quads";
      }
}
