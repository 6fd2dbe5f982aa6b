//===- PrefixExtents.h - Extents that a kernel computes ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_PREFIXEXTENTS_H
#define BATCH_CONVERSION_BATCHTOUPROG_PREFIXEXTENTS_H

#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::batch {

/// Dimensions of tensors that have the same extent.
struct Extent {
  /// The size in the kernel; null if nobody gives one.
  Value size;
  /// The largest one possible; negative if nobody says.
  int64_t bound = -1;
  /// What the size is of, in words.
  std::string what;
  /// Of an argument of the kernel: known before it runs.
  bool isRagged = false;
  /// The size, checked.
  Value checked;

  bool isPrefix() const { return size && bound >= 0 && !isRagged; }
};

/// The extents of the kernel's tensors that are not static.
class Extents {
public:
  explicit Extents(KernelOp kernel);

  /// True if an op has an extent that the kernel computes.
  bool hasPrefix() const;
  /// The extent of dimension `dim` of `value`; null if it is static, or of a
  /// ragged tensor.
  Extent *find(Value value, unsigned dim);
  /// The same for the loops of `op`.
  SmallVector<Extent *> findLoops(linalg::LinalgOp op);
  /// An op with two extents where one is needed; null if there is none.
  Operation *getConflict() const { return conflict; }
  /// `made` has the extents of `old`, of the same rank.
  void copy(Value old, Value made);
  /// The type of `value` with the largest extents possible.
  RankedTensorType getBounded(Value value);
  /// The type that `value` has in the program.
  RankedTensorType getOriginal(Value value);

private:
  using Place = std::pair<Value, unsigned>;
  void visit(Operation *op);
  void visitSlice(tensor::ExtractSliceOp slice);
  void visitInsert(tensor::InsertSliceOp insert);
  int64_t getNumber(Value value, unsigned dim);
  int64_t findRoot(int64_t number) const;
  void unite(Operation *op, Place a, Place b);
  void setSize(Operation *op, Place place, Value size);
  void setBound(Place place, int64_t bound, const Twine &what);

  std::vector<Extent> extents;
  std::vector<int64_t> parents;
  DenseMap<Place, int64_t> numbers;
  Operation *conflict = nullptr;
};

/// The dimensions of the whole that a slice has, in order.
template <typename SliceOp>
SmallVector<unsigned> getKeptDims(SliceOp slice) {
  SmallVector<unsigned> kept;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (unsigned dim = 0; dim < dropped.size(); ++dim)
    if (!dropped[dim])
      kept.push_back(dim);
  return kept;
}

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_PREFIXEXTENTS_H
