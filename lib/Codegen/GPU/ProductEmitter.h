//===- ProductEmitter.h - Products of a block's warps -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_PRODUCTEMITTER_H
#define BATCH_CODEGEN_GPU_PRODUCTEMITTER_H

#include "../Stages/Evaluator.h"
#include "ProductPlan.h"
#include "ResidentParameters.h"
#include "WordMath.h"
#include "WorkShare.h"

namespace mlir::uprog {

/// Offsets of sums and rows of products in a block's shared memory, in bytes
/// from the beginning of the memory. Sums and rows follow the resident
/// parameters.
struct ProductMemory {
  /// Maximum number of rows that this memory holds at once.
  static constexpr int64_t kMostRows = 64;

  int64_t sums = 0;
  int64_t rows = 0, rowBytes = 0;
};

/// Emits a stage's products with parameters, as a ProductPlan specifies.
///
/// Without tensor cores, a warp computes a tile of 4 rows by 8 columns of sums,
/// or a slice of 2 of these columns. A tile or slice may have one row instead
/// of 4. The lanes divide k among them: each lane adds its terms of all these
/// sums, with one fma per term. Lanes read adjacent vectors. Then the lanes
/// exchange partial sums until each lane has one sum. On tensor cores, the tile
/// has 16 rows, and a lane has four sums.
class ProductEmitter {
public:
  static constexpr int64_t kLanes = 32; ///< lanes of a warp

  using Columns = ColumnShare<WordMath>;
  using Rows = RowShare<WordMath>;
  using Tiles = TileShare<WordMath>;
  using Slices = SliceShare<WordMath>;

  ProductEmitter(const Stage &stage, const ProductPlan &plan,
                 const ProductMemory &memory,
                 const ResidentParameters &parameters, ModuleTables &tables,
                 CodeBuilder &b, Evaluator &evaluator, int64_t warps);

  /// Returns the number of tiles that a block's warps process between two
  /// barriers.
  static int64_t countTiles(const ProductPlan &plan, int64_t warps);
  int64_t countTiles() const { return countTiles(plan, warps); }
  /// Returns the number of quads of rows that the block's memory holds.
  static int64_t countQuads(const ProductPlan &plan,
                            const ProductMemory &memory);
  int64_t countQuads() const { return countQuads(plan, memory); }

  /// Sets the thread, the warp and the lane for the code that is emitted next.
  void begin(Value thread, Value warp, Value lane);
  /// Computes the addresses of the rows in `rows` that are copied first. The
  /// stage has `quads` quads of rows. The plan specifies the addresses, so this
  /// code may run before other steps have written the rows.
  void findRows(const ProductPlan::Round &round, const Rows &rows, Value quads);
  /// Copies the rows whose addresses findRows() has computed.
  void copyFoundRows();
  /// Copies the rows of a round to shared memory, except elements that
  /// copyFoundRows() has copied. Pads the rows with zeros.
  void copyRows(const ProductPlan::Round &round, const Rows &rows);
  /// Computes the shares of a round for the first `count` of `tiles`. The tiles
  /// begin at row number `firstRow` of `rows`, and at tile column number
  /// `firstTurn` of the block.
  void multiply(const ProductPlan::Round &round, const Rows &rows,
                Value firstRow, const Columns &columns, const Slices &slices,
                Value firstTurn, const Tiles &tiles, Value count);
  /// Returns the value of product `number` at element `element` of a tile: the
  /// total of the sums of all shares.
  Value addShares(size_t number, Value tile, Value element);

private:
  /// Locations and extents of the factors of one tile and one share of k.
  struct Operands {
    Value rows;        ///< address of the tile's first row, in shared memory
    Value lastRow;     ///< number of the last row that exists
    Value parameters;  ///< address of the tile's first column
    Value stride;      ///< bytes from one column to the next
    Value firstColumn; ///< first of the requested columns
    /// Number of the last column that exists, or null if all columns of the
    /// tile exist.
    Value lastColumn;
    int64_t rowCount = 0, columnCount = 0; ///< numbers of requested rows and
                                           ///< columns
    Value depth;
    int64_t commonDepth = 0;  ///< common divisor of all possible depths
    bool areResident = false; ///< shared memory holds the parameters as factors
    bool whole = false;       ///< parameters may be loaded in vectors
  };

  /// Factors of a row that are loaded in the same way.
  struct Piece {
    const Reduction *reader;
    int64_t begin, end; ///< range of k
    int64_t at;         ///< bytes from the beginning of a row
    int64_t width;      ///< elements that are loaded at once

    int64_t perRow() const { return (end - begin) / width; }
  };
  /// Pieces of the same extent, which threads load in one loop.
  struct PieceGroup {
    SmallVector<Piece, 2> pieces;
    int64_t copies; ///< number of spots that a thread copies at once

    int64_t perRow() const { return pieces.front().perRow(); }
  };
  /// Element or vector that a thread copies in each piece of a group.
  struct Spot {
    Value own; ///< the row's number in shared memory
    Value k;   ///< elements from the beginning of the piece
    Value inside;
    Indices out; ///< the position of the row's first element
  };

  /// Result of findRows(): for each of a thread's spots, the addresses of its
  /// rows of `arguments`. They are null if the block has no rows.
  struct FoundRows {
    const ProductPlan::Round *round;
    PieceGroup group;
    SetVector<BlockArgument> arguments;
    SmallVector<Value> pointers;
    Rows rows;
    Value mine; ///< flag that is set if the block has rows

    int64_t spots() const { return pointers.size() / arguments.size(); }
  };

  SmallVector<PieceGroup, 1> groupPieces(const ProductPlan::Round &round) const;
  /// Returns spot `number` of the `total` spots.
  Spot spotAt(const PieceGroup &group, const Rows &rows, Value number,
              Value total);
  void copySpots(const ProductPlan::Round &round, const PieceGroup &group,
                 ArrayRef<Spot> spots);
  Value addressOf(Value factor, int64_t bytes);
  Value rowAt(const ProductPlan::Round &round, Value own, Value offset);

  /// Returns the address of sum `element` of a tile in a share.
  Value sumAt(Value tile, Value share, Value element, int64_t bytes);
  /// Stores this lane's sums of share `number` of a round.
  void storeSums(const ProductPlan::Round &round, Value tile, Value number,
                 const Operands &operands, ValueRange sums);
  /// Returns this lane's sums of a share: one, or four on tensor cores.
  CodeBuilder::Values multiplyTile(const ProductPlan::Round &round,
                                   const Operands &operands);
  CodeBuilder::Values multiplyLanes(const ProductPlan::Round &round,
                                    const Operands &operands);
  CodeBuilder::Values multiplyFragments(const ProductPlan::Round &round,
                                        const Operands &operands);
  /// Loads the parameters of a vector of factors from global memory, starting
  /// at `k`. Beyond `depth`, factors are zeros.
  SmallVector<Value> loadParameters(const FactorFormat &format, Value column,
                                    Value k, const Operands &operands);
  Value getMemory(int64_t offset, Value bytes);
  /// Adds the partial sums of all lanes, for `columns` columns and one or four
  /// rows. Returns one of the sums in each lane. Sums are distributed over the
  /// lanes in column-major order, and each sum is in the same number of
  /// adjacent lanes.
  Value addUp(ArrayRef<Value> partials, size_t columns);

  const Stage &stage;
  const ProductPlan &plan;
  ProductMemory memory;
  const ResidentParameters &parameters;
  ModuleTables &tables;
  CodeBuilder &b;
  Evaluator &evaluator;
  int64_t warps;
  WordMath m;
  Value thread, warp, lane; ///< i32, like all numbers here

  std::optional<FoundRows> found;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_PRODUCTEMITTER_H
