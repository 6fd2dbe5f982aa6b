//===- FragmentEmitter.h - Products on tensor cores -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_FRAGMENTEMITTER_H
#define BATCH_CODEGEN_GPU_FRAGMENTEMITTER_H

#include "../Stages/Evaluator.h"
#include "Batch/Target/GPU/GPUTarget.h"

namespace mlir::uprog {

/// Makes the products with parameters for a warp's tile of 16 rows by 8
/// columns, on tensor cores:
///
///   for each 16 of k, in ascending order
///     lanes load four of k each, of two rows and one column, and round them
///     the warp multiplies and adds up in f32
///
/// The order in which instructions take the 16 is the same for all rows, so
/// the bits of a row depend only on the row.
class FragmentEmitter {
public:
  static constexpr int64_t kRows = 16, kColumns = 8;
  /// The number of f32 that a lane loads at once.
  static constexpr int64_t kVector = 4;

  FragmentEmitter(batch::Precision precision, CodeBuilder &b,
                  Evaluator &evaluator)
      : precision(precision), b(b), evaluator(evaluator) {}

  /// Starts the code of a stage, for lane `lane` of a warp.
  void beginStage(Value lane);

  /// The rows and columns of the tile whose sums this lane gets: sum i is that
  /// of row i / 2 and column i % 2.
  SmallVector<Value> getRows();
  SmallVector<Value> getColumns();
  /// The column of the tile that this lane loads.
  Value getLoadedColumn() { return group; }

  /// A contraction, and the address of the loaded column's parameters.
  struct Product {
    const Reduction *reduction;
    Value parameters;
  };
  /// This lane's sums of each contraction. `rows` are the positions of
  /// getRows() in the stage.
  std::vector<CodeBuilder::Values> emit(ArrayRef<Product> products,
                                        ArrayRef<Indices> rows);

private:
  using Four = std::array<Value, 4>; ///< elements in a row along k
  using Registers = SmallVector<Value, 4>;

  /// The sums of contractions that read the same rows, one after another.
  CodeBuilder::Values emitTogether(ArrayRef<Product> products,
                                   ArrayRef<Indices> rows);
  /// Rounds elements and packs them into registers of 32 bits.
  Registers pack(const Four &elements);
  Value toTF32(Value element);
  Value toBF16(Value low, Value high);
  /// Adds the products of 16 of k to `sums`.
  CodeBuilder::Values multiply(ArrayRef<Registers> rows,
                               const Registers &column, ValueRange sums);

  batch::Precision precision;
  CodeBuilder &b;
  Evaluator &evaluator;
  Value group, member; ///< lanes are groups of four
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_FRAGMENTEMITTER_H
