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

/// The type of a factor in shared memory, of a round or kept parameters.
Type getFactorType(CodeBuilder &b, const FactorFormat &format);
/// An element, or a vector of four, as it is stored there.
Value roundFactors(CodeBuilder &b, const FactorFormat &format, Value elements);

/// Makes LLVM have the body of a loop so many times, so that the loads of that
/// many steps are in flight: an assembler would copy it until it has no
/// registers left. What was said of a loop before stays so.
void unroll(Operation *loop, int64_t times);

/// Products of a warp's tile of 16 rows by 8 columns on tensor cores. Lanes are
/// groups of four: all of a group take the same two rows and the same column, a
/// vector of 16 bytes of each per step, side by side along k. Which of these an
/// instruction takes first is the same for rows and columns, and so are the
/// bits of a row whatever rows it lies beside.
class Fragments {
public:
  Fragments(CodeBuilder &b, WordMath &m, Value lane);

  /// Row 0 or 1 of this lane, and its column.
  Value getRow(int64_t number);
  Value getColumn() { return group; }
  /// The number of this lane in its group.
  Value getMember() { return member; }
  /// The element of the tile whose sum is number `sum` of this lane's four.
  Value getElement(int64_t sum);

  /// Parameters of one vector of factors, as in shared memory.
  Value pack(const FactorFormat &format, ArrayRef<Value> elements);
  /// Adds the products of a step: vectors of four words of two rows and of a
  /// column.
  CodeBuilder::Values multiply(const FactorFormat &format, ArrayRef<Value> rows,
                               Value column, ValueRange sums);

private:
  CodeBuilder &b;
  WordMath &m;
  Value group, member;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_FRAGMENTS_H
