//===- WarpEmitter.h - The code of a stage for warps ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WARPEMITTER_H
#define BATCH_CODEGEN_GPU_WARPEMITTER_H

#include "FragmentEmitter.h"
#include "KeptParameters.h"

namespace mlir::uprog {

/// Makes the functions of an operator's stages for thread blocks:
///
///   for each tile of this block, a warp or a team of warps:
///     contractions: lanes share k, then add their partial sums
///     everything else: a lane per element of the tile
///
/// A tile has as many elements as a warp has lanes; where contractions run on
/// tensor cores (FragmentEmitter), four times as many. The parameters of a
/// column tile are read by the same blocks at every step, from their shared
/// memory if they keep them. Where a block has at most half as many tiles as
/// warps, teams of warps have a tile each: the members share out the
/// contractions and exchange sums in shared memory. How sums are split depends
/// only on sizes, so that a row's bits do not depend on its batch.
class WarpEmitter {
public:
  static constexpr int64_t kLanes = 32; ///< of a warp
  /// A tile of contractions: fewer rows in use waste more of it, fewer columns
  /// use a loaded row less.
  static constexpr int64_t kPanelRows = 4;
  static constexpr int64_t kPanelColumns = 8;

  /// Those that share out stages.
  struct Blocks {
    int64_t count;
    int64_t warps; ///< of each
    batch::Precision precision;
  };

  WarpEmitter(const StagePlan &plan, const KeptParameters &parameters,
              ModuleTables &tables, CodeBuilder &b, const Blocks &blocks);

  /// The bytes of a block's shared memory in which teams exchange sums; 0: the
  /// stage has none.
  static int64_t getTeamBytes(const StagePlan &plan, const Stage &stage,
                              const Blocks &blocks);
  /// Makes the memory for that.
  static void addTeamMemory(CodeBuilder &b, int64_t bytes);

  /// Makes the function of stage `number`, f(step, packings, unit, units): the
  /// share of block `unit` of `units`.
  func::FuncOp emit(int64_t number, StringRef name);

  bool hasFailed() const { return evaluator.hasFailed(); }

private:
  /// Who works on a tile: this warp, or a team that it is a member of.
  struct Team {
    Value index;  ///< of the tile, among those at which warps work together
    Value works;  ///< false for warps that are left over
    Value member; ///< the number of this warp in it
    Value leads;  ///< true for its first member, which does what is not shared
    Value mask;   ///< the size - 1, which is that of a power of two
  };

  /// The tiles of this block's rows and columns.
  void emitTiles(Value unit, Value units, Value warp);
  /// `turn`: the number of tiles of columns that the block has had before.
  void emitTile(Value firstRow, Value rowCount, Value firstColumn, Value turn,
                const Team &team);
  /// The team of a warp, where `tiles` are left.
  Team getTeam(Value warp, Value tiles);
  /// True if this warp computes contraction `number` of the stage.
  Value isMine(int64_t number, const Team &team);
  /// For the first member of a team, this lane's sums of all contractions of
  /// the tile, from those of each member.
  CodeBuilder::Values exchangeSums(ArrayRef<Value> sums, const Team &team);
  /// Everything except contractions with parameters, at one of this lane's
  /// elements.
  void emitElement(const Indices &element);
  /// The sum of products of a contraction at this lane's element.
  Value emitContraction(const Reduction &reduction, ArrayRef<Indices> rows,
                        Value firstColumn, Value turn);
  /// This lane's partial sums of a contraction; the parameters of the tile's
  /// columns begin at `parameters`, `stride` elements apart.
  CodeBuilder::Values multiply(const Reduction &reduction,
                               MutableArrayRef<Indices> rows, Value firstColumn,
                               Value parameters, int64_t stride);
  /// All contractions of the stage on tensor cores, at this lane's elements.
  void emitFragments(ArrayRef<Indices> rows, ArrayRef<Indices> elements,
                     Value firstColumn, Value turn);
  /// A contraction's results at this lane's elements, from sums of products.
  void finishContraction(const Reduction &reduction, ArrayRef<Indices> elements,
                         ValueRange sums);
  /// The address in global memory of the parameters of a contraction's column.
  Value parametersAt(const Reduction &reduction, Value column);
  /// Sum number `lane` of kLanes sums, from the partial sums of all lanes.
  Value addUp(ArrayRef<Value> partials);

  const StagePlan &plan;
  const KeptParameters &parameters;
  ModuleTables &tables;
  CodeBuilder &b;
  Evaluator evaluator;
  FragmentEmitter fragments;
  Blocks blocks;

  // State of the current stage.
  const Stage *stage = nullptr;
  bool hasPanels = false, useFragments = false, hasTeams = false;
  int64_t tileRows = 1, tileColumns = 1;
  Value lane;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WARPEMITTER_H
