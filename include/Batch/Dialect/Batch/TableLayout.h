//===- TableLayout.h - Memory layout of rows --------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_BATCH_TABLELAYOUT_H
#define BATCH_DIALECT_BATCH_TABLELAYOUT_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::batch {

/// Memory layout of the rows of a table (Cortex, section 5.1). An affine map
/// maps a slot (d0) and the indices of an element in its row (d1, ...) to the
/// dimensions in memory, outermost first. Its results are sums of *digits* of
/// the indices: `d`, `d floordiv a`, `d mod b` or `(d floordiv a) mod b`. Each
/// digit adds a multiple of itself to the address. The address of an element is
/// therefore the address of the slot plus an offset that depends only on the
/// indices. One address is enough to identify a row.
///
/// Without a map, rows are in row-major order. In any layout, the innermost
/// dimension is padded to a multiple of 64 bytes.
class TableLayout {
public:
  /// Digit that adds ((index[dim] / divisor) mod modulus) * stride elements to
  /// the address. `modulus` is 0 if the digit needs none, which is usually
  /// true of the most significant digit of an index.
  struct Digit {
    unsigned dim; ///< dimension of the row
    int64_t divisor, modulus, stride;
  };

  /// A map must have passed verify(). Without a map, a dynamic extent in `row`
  /// counts as 1.
  TableLayout(ArrayRef<int64_t> row, int64_t elementBytes, AffineMap map = {});

  /// Checks that no two elements have the same address. The outermost dimension
  /// must begin with the most significant digit of the slot. Vectors of
  /// consecutive elements must not be split.
  static LogicalResult verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<int64_t> row, int64_t elementBytes,
                              AffineMap map);

  /// Returns the digits of the indices in a row, beginning with the digits of
  /// the last dimension.
  ArrayRef<Digit> getDigits() const { return digits; }
  /// Returns the only digit of row dimension `dim`. Returns null if the
  /// dimension has several digits or none.
  const Digit *getOnlyDigit(unsigned dim) const;
  /// Returns the number of elements in a run of the last dimension of the row,
  /// padding included. The elements of a run are adjacent, and each run begins
  /// at a multiple of this number.
  int64_t getRun() const { return run; }
  bool isRowMajor() const { return rowMajor; }

  /// Slot `s` begins (s / block) * blockBytes + (s mod block) * slotBytes bytes
  /// after slot 0. `block` is a power of two, and 1 unless slots are split.
  int64_t getBlock() const { return block; }
  int64_t getSlotBytes() const { return slotBytes; }
  int64_t getBlockBytes() const { return blockBytes; }
  /// Sets the distance between blocks of a table whose blocks are interleaved
  /// with blocks of other tables.
  void setBlockBytes(int64_t bytes) { blockBytes = bytes; }
  /// Returns the number of bytes from the first to the last element of one row,
  /// rounded up to a multiple of 64.
  int64_t getRowBytes() const { return rowBytes; }

private:
  SmallVector<Digit, 4> digits;
  int64_t run = 1, block = 1, slotBytes = 0, blockBytes = 64, rowBytes = 64;
  bool rowMajor = true;
};

/// Returns the size in bytes that an element of this type has in memory, such
/// as 1 for i1 and 8 for index.
int64_t elementBytes(Type type);
/// Returns the size in bytes of a tensor of this type in row-major order (see
/// ABI.h). The last dimension is padded to a multiple of 64 bytes.
int64_t getRowBytes(RankedTensorType type);

/// Applies primitives that a user specifies, such as `split(1, 16)`,
/// `reorder(1, 0, 2)` and `fuse(0, 1)`, one after another to the dimensions of
/// a table. Dimension 0 is the slot. Returns the resulting map. Emits an error
/// and fails if a primitive does not apply.
FailureOr<AffineMap>
applyLayoutPrimitives(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> row, StringRef primitives,
                      MLIRContext *context);

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_TABLELAYOUT_H
