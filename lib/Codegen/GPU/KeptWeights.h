//===- KeptWeights.h - Weights that blocks keep -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_CODEGEN_GPU_KEPTWEIGHTS_H
#define BATCH_LIB_CODEGEN_GPU_KEPTWEIGHTS_H

#include "../Stages/CodeBuilder.h"
#include "../Stages/Forms.h"
#include "../Stages/StagePlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::uprog {

/// How the tiles of columns of a stage are shared out: block `unit` of `units`
/// takes tiles first, first + across, ... Blocks beyond the number of tiles
/// begin where others do. It depends on nothing else.
struct ColumnShare {
  ColumnShare(CodeBuilder &b, Value unit, Value units, int64_t numTiles);

  Value tiles, across, first;
};

/// A matrix of weights that contractions of one or several stages read.
struct KeptMatrix {
  PackedAttr weights;     ///< how a first one of them does
  int64_t columns, depth; ///< what is read of it
  Type element;
  int64_t heat = 0;   ///< rows of a task that it is multiplied with
  int64_t tiles = 0;  ///< of columns
  int64_t share = 0;  ///< tiles that a block takes, as far as is known
  int64_t kept = 0;   ///< the first ones of them lie in shared memory
  int64_t offset = 0; ///< in bytes, of the first one

  int64_t elementBytes() const { return batch::elementBytes(element); }
  /// Elements from a column to the next in shared memory: whole vectors.
  int64_t stride() const;
  int64_t tileBytes() const;
};

/// The weights that every block keeps in its shared memory for a whole launch:
/// its share of the columns of what runs at many steps, what is used most
/// first, as far as there is room.
///
/// What a block's share is, is certain only when a kernel is launched. Tiles of
/// a share beyond those that are kept are read from global memory.
class KeptWeights {
public:
  /// The function that fills the memory, f(forms, unit, units): all threads of
  /// a block call it first. Its attribute kKeptBytesAttr is the size of the
  /// memory, which a launch has to add.
  static constexpr StringLiteral kLoad = "load_weights";

  /// `room`: bytes of shared memory; `units`: blocks that are expected to share
  /// out a stage; `async`: there are copies that go on while threads do.
  KeptWeights(int64_t room, int64_t units, bool async)
      : room(room), units(units), async(async) {}

  /// Adds what an operator multiplies with.
  void add(const StagePlan &plan);
  /// Decides what is kept, of all that was added.
  void place();
  /// Says in remarks what was decided, of an operator and of all.
  void describe(const StagePlan &plan) const;
  void describe(Location loc) const;

  /// Makes all threads of a block wait until the memory is filled, if the stage
  /// reads it.
  void emitWait(CodeBuilder &b, const Stage &stage) const;
  /// The weights of a contraction, or null if none of them are kept.
  const KeptMatrix *find(const Reduction &reduction) const;
  /// Where in shared memory tile number `turn` of a block's share lies.
  static Value getTile(CodeBuilder &b, const KeptMatrix &matrix, Value turn);
  /// Makes the memory, and the function that fills it with `threads` threads,
  /// if anything is kept.
  void emitLoad(gpu::GPUModuleOp module, ModuleTables &tables, CodeBuilder &b,
                int64_t threads) const;

private:
  void emitLoad(const KeptMatrix &matrix, CodeBuilder &b, Value form,
                Value unit, Value units, Value thread, int64_t threads) const;

  int64_t room, units;
  bool async;
  int64_t used = 0, wanted = 0;
  std::vector<KeptMatrix> matrices;
  DenseMap<const Reduction *, size_t> matrixOf;
};

} // namespace mlir::uprog

#endif // BATCH_LIB_CODEGEN_GPU_KEPTWEIGHTS_H
