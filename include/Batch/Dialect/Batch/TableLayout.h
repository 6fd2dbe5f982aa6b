//===- TableLayout.h - Places of elements of rows ---------------*- C++ -*-===//
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

/// The places of the elements of rows (Cortex, section 5.1). An affine map
/// takes a slot (d0) and the indices of an element in its row (d1, ...) to the
/// dimensions in memory, outermost first. Its results are sums of *digits* of
/// the indices: `d`, `d floordiv a`, `d mod b` or `(d floordiv a) mod b`. Each
/// digit adds a multiple of itself to the address, so an address is that of the
/// slot plus an offset that depends only on the element: one address stands for
/// a row.
///
/// Without a map rows are in row-major order. In any layout the innermost
/// dimension is padded to a multiple of 64 bytes.
class TableLayout {
public:
  /// ((index[dim] / divisor) mod modulus) * stride elements; `modulus` is 0 for
  /// the first digit of an index, which needs none.
  struct Digit {
    unsigned dim; ///< of the row
    int64_t divisor, modulus, stride;
  };

  /// The map must have passed verify(). An unknown first extent counts as one.
  TableLayout(ArrayRef<int64_t> row, int64_t elementBytes, AffineMap map = {});

  /// Checks that every element has a place of its own, that slots come first,
  /// and that vectors of consecutive elements stay in one piece.
  static LogicalResult verify(function_ref<InFlightDiagnostic()> emitError,
                              ArrayRef<int64_t> row, int64_t elementBytes,
                              AffineMap map);

  /// The digits of the indices in a row, those of the last dimension first.
  ArrayRef<Digit> getDigits() const { return digits; }
  /// The only digit of row dimension `dim`, or null if it is split.
  const Digit *getOnlyDigit(unsigned dim) const;
  /// The number of elements that lie together from each of its multiples on, in
  /// the last dimension of the row, padding included.
  int64_t getRun() const { return run; }
  bool isRowMajor() const { return rowMajor; }

  /// Slot `s` lies (s / block) * blockBytes + (s mod block) * slotBytes bytes
  /// after slot 0. `block` is a power of two, 1 unless slots are split.
  int64_t getBlock() const { return block; }
  int64_t getSlotBytes() const { return slotBytes; }
  int64_t getBlockBytes() const { return blockBytes; }
  /// For a table whose blocks lie between those of others.
  void setBlockBytes(int64_t bytes) { blockBytes = bytes; }
  /// Bytes from the first to the last element of one row.
  int64_t getRowBytes() const { return rowBytes; }

private:
  SmallVector<Digit, 4> digits;
  int64_t run = 1, block = 1, slotBytes = 0, blockBytes = 64, rowBytes = 64;
  bool rowMajor = true;
};

/// The bytes of an element in memory; an i1 takes one, an index eight.
int64_t elementBytes(Type type);
/// The bytes of a tensor of that type in row-major order (see ABI.h): the last
/// dimension is padded to a multiple of 64 bytes.
int64_t getRowBytes(RankedTensorType type);

/// The result of applying a user's primitives, `split(1, 16)`,
/// `reorder(1, 0, 2)` and `fuse(0, 1)`, one after another to the dimensions of
/// a table, of which 0 is the slot. Fails with an error if one does not fit.
FailureOr<AffineMap>
applyLayoutPrimitives(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> row, StringRef primitives,
                      MLIRContext *context);

} // namespace mlir::batch

#endif // BATCH_DIALECT_BATCH_TABLELAYOUT_H
