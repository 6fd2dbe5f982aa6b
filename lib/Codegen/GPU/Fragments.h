//===- Fragments.h - Factors of products, and tensor cores ------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_FRAGMENTS_H
#define BATCH_CODEGEN_GPU_FRAGMENTS_H

#include "../Stages/CodeBuilder.h"
#include "ProductPlan.h"
#include "WordMath.h"

namespace mlir::uprog {

/// Returns the type that factors have in shared memory: in the rows of a round
/// and in resident parameters.
Type getFactorType(CodeBuilder &b, const FactorFormat &format);
/// Converts an element, or a vector of elements, to the type that factors have
/// in shared memory.
Value roundFactors(CodeBuilder &b, const FactorFormat &format, Value elements);

/// Makes LLVM unroll a loop `times` times, which keeps the loads of `times`
/// iterations in flight. Otherwise, the assembler would unroll the loop until
/// no registers are left. Does not replace an existing annotation.
void unroll(Operation *loop, int64_t times);

/// Products of a warp's tile of 16 rows by 8 columns on tensor cores. Lanes are
/// in groups of four. All lanes of a group load from the same two rows and the
/// same column. In each iteration, each lane loads 16 bytes of each of its rows
/// and of its column; the vectors of a group are adjacent along k. An
/// instruction uses the elements of rows and columns in the same order. The
/// bits of a row's results do not depend on adjacent rows.
class Fragments {
public:
  Fragments(CodeBuilder &b, WordMath &m, Value lane);

  /// Returns the row that this lane loads as row `number` (0 or 1); getColumn()
  /// returns the column that it loads.
  Value getRow(int64_t number);
  Value getColumn() { return group; }
  /// Returns the number of this lane within its group.
  Value getMember() { return member; }
  /// Returns the number of the tile element that corresponds to sum number
  /// `sum` (0 to 3) of this lane.
  Value getElement(int64_t sum);

  /// Converts parameters to one vector of factors, as in shared memory.
  Value pack(const FactorFormat &format, ArrayRef<Value> elements);
  /// Adds the products of an iteration to `sums`. The two vectors of rows and
  /// the vector of a column have four words each.
  CodeBuilder::Values multiply(const FactorFormat &format, ArrayRef<Value> rows,
                               Value column, ValueRange sums);

private:
  CodeBuilder &b;
  WordMath &m;
  Value group, member;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_FRAGMENTS_H
