//===- KeptParameters.h - Parameters that blocks keep -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_KEPTPARAMETERS_H
#define BATCH_CODEGEN_GPU_KEPTPARAMETERS_H

#include "../Stages/CodeBuilder.h"
#include "../Stages/ModuleTables.h"
#include "../Stages/StagePlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::uprog {

/// How blocks share the tiles of columns of a stage: block `unit` of `units`
/// takes tiles first, first + across, ... Blocks beyond the number of tiles
/// start at tiles of others. The share depends on nothing else.
struct ColumnShare {
  ColumnShare(CodeBuilder &b, Value unit, Value units, int64_t numTiles);

  Value tiles, across, first;
};

/// A matrix of parameters that contractions of one or several stages read.
struct KeptMatrix {
  PackedAttr packed;      ///< as its first reader reads it
  int64_t columns, depth; ///< the extents that are read
  Type element;
  int64_t heat = 0;   ///< rows of a task that it is multiplied by
  int64_t tiles = 0;  ///< of columns
  int64_t share = 0;  ///< tiles that a block takes, as far as is known
  int64_t kept = 0;   ///< tiles, the first ones, that lie in shared memory
  int64_t offset = 0; ///< of the first tile, in bytes

  int64_t elementBytes() const { return batch::elementBytes(element); }
  /// Elements from one column to the next in shared memory: whole vectors.
  int64_t stride() const;
  int64_t tileBytes() const;
};

/// The parameters that every block keeps in its shared memory for a whole
/// launch: its share of the columns of operators that run at many steps, the
/// most used first, as far as there is room.
///
/// A block's share is certain only when a kernel is launched. Tiles of a share
/// beyond those that are kept are read from global memory.
class KeptParameters {
public:
  /// The function that fills the memory, f(packings, unit, units): all threads
  /// of a block call it first. Its attribute kKeptBytesAttr is the size of the
  /// memory, which a launch has to add; kLevelAttr is the level of the blocks
  /// among which `unit` is one of `units`.
  static constexpr StringLiteral kLoad = "load_parameters";

  /// `room`: bytes of shared memory; `units`: blocks that are expected to share
  /// a stage; `async`: copies can run in the background.
  KeptParameters(int64_t room, int64_t units, bool async)
      : room(room), units(units), async(async) {}

  /// Adds the parameters that an operator multiplies by.
  void add(const StagePlan &plan);
  /// Decides which of the added parameters are kept.
  void place();
  /// Reports the decision in remarks, for an operator and for all.
  void describe(const StagePlan &plan) const;
  void describe(Location loc) const;

  /// Makes all threads of a block wait until the memory is filled, if the stage
  /// reads it.
  void emitWait(CodeBuilder &b, const Stage &stage) const;
  /// The parameters of a contraction, or null if none of them are kept.
  const KeptMatrix *find(const Reduction &reduction) const;
  /// The address in shared memory of tile number `turn` of a block's share.
  static Value getTile(CodeBuilder &b, const KeptMatrix &matrix, Value turn);
  /// Makes the memory, and the function that fills it with `threads` threads,
  /// if anything is kept; blocks of `level` share out stages.
  void emitLoad(gpu::GPUModuleOp module, ModuleTables &tables, CodeBuilder &b,
                int64_t threads, Level level) const;

private:
  void emitLoad(const KeptMatrix &matrix, CodeBuilder &b, Value packing,
                Value unit, Value units, Value thread, int64_t threads) const;

  int64_t room, units;
  bool async;
  int64_t used = 0, wanted = 0;
  std::vector<KeptMatrix> matrices;
  DenseMap<const Reduction *, size_t> matrixOf;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_KEPTPARAMETERS_H
