//===- ResidentParameters.h - Resident parameters ---------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_RESIDENTPARAMETERS_H
#define BATCH_CODEGEN_GPU_RESIDENTPARAMETERS_H

#include "../Stages/CodeBuilder.h"
#include "../Stages/ModuleTables.h"
#include "../Stages/StagePlan.h"
#include "ProductPlan.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::uprog {

/// Matrix of parameters that is read by contractions of one or several stages.
struct ResidentMatrix {
  PackedAttr packed;      ///< how the first reader reads the matrix
  int64_t columns, depth; ///< extents that are read
  FactorFormat format;
  int64_t rowsPerTask = 0;   ///< rows per task multiplied by the matrix
  int64_t tiles = 0;         ///< number of tiles of columns
  int64_t share = 0;         ///< expected number of tiles per block
  int64_t residentTiles = 0; ///< number of leading tiles in shared memory
  int64_t offset = 0;        ///< offset of the first tile, in bytes

  /// Returns the distance in bytes from one column of a tile to the next. In
  /// shared memory, a tile is stored share by share along k, and each share is
  /// stored column by column.
  int64_t stride() const {
    return format.stride(std::min(depth, format.share()));
  }
  int64_t shareBytes() const;
  int64_t tileBytes() const;
};

/// Parameters that stay in the shared memory of a block for a whole launch: the
/// block's share of the columns of operators that run in several steps.
/// Parameters by which the most rows per task are multiplied have priority.
///
/// A block's share is known only when a kernel is launched. The tiles of a
/// share that are not resident are read from global memory.
class ResidentParameters {
public:
  /// Number of ragged rows that a task is assumed to have.
  static constexpr int64_t kRaggedRows = 2;

  /// `units` is the number of blocks that are expected to run a stage together.
  /// If `async` is true, copies can be asynchronous.
  ResidentParameters(int64_t units, bool async, batch::Precision precision)
      : units(units), async(async), precision(precision) {}

  /// Adds the parameters by which an operator multiplies.
  void add(const StagePlan &plan);
  /// Decides which of the added parameters reside in `capacity` bytes of shared
  /// memory. Returns the size in bytes of the resident parameters.
  int64_t place(int64_t capacity);
  /// Emits remarks about the decision, for one operator or for all. `reason`
  /// explains why an operator that was not added has no resident parameters.
  void describe(const StagePlan &plan, StringRef reason) const;
  void describe(Location loc) const;

  /// Returns true if the stage copies its rows to shared memory asynchronously.
  /// Threads wait for copies in order, so a wait for rows is also a wait for
  /// resident parameters. If any parameters are resident, a stage that reads
  /// none of them copies its rows synchronously.
  bool copiesRows(const Stage &stage) const;
  /// Emits the start of a copy of 4, 8 or 16 aligned bytes from global to
  /// shared memory.
  static void emitCopy(CodeBuilder &b, Value from, Value to, int64_t bytes);
  /// Emits code that waits for the thread's asynchronous copies of rows, and of
  /// parameters that the stage reads.
  void emitWait(CodeBuilder &b, const Stage &stage) const;
  /// Returns the parameters of a contraction, or null if none of them are
  /// resident.
  const ResidentMatrix *find(const Reduction &reduction) const;
  /// Declares the dynamic shared memory of a block, which has `bytes` bytes.
  /// Resident parameters come first in this memory.
  static void addMemory(gpu::GPUModuleOp module, CodeBuilder &b, int64_t bytes);
  /// Returns the address of byte `offset` of the dynamic shared memory.
  static Value getMemory(CodeBuilder &b, int64_t offset);
  /// If any parameters are resident, creates the function f(packings, unit,
  /// units) that copies them to the dynamic shared memory. All `threads`
  /// threads of a block call it at the beginning of a launch. `unit` is one of
  /// `units` blocks at `level`. The function's attribute kLevelAttr is `level`.
  void emitLoad(gpu::GPUModuleOp module, ModuleTables &tables, CodeBuilder &b,
                int64_t threads, Level level) const;

private:
  bool hasAnyOf(const Stage &stage) const;
  void emitLoad(const ResidentMatrix &matrix, CodeBuilder &b, Value packing,
                Value unit, Value units, Value thread, int64_t threads) const;

  int64_t units;
  bool async;
  batch::Precision precision;
  int64_t capacity = 0, used = 0, wanted = 0;
  std::vector<ResidentMatrix> matrices;
  DenseMap<const Reduction *, size_t> matrixOf;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_RESIDENTPARAMETERS_H
