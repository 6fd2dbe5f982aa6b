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

/// Extent that several dimensions of tensors have in common.
struct Extent {
  /// Size in the kernel, or null if no op specifies it.
  Value size;
  /// Largest possible size, or a negative number if it is unknown.
  int64_t bound = -1;
  /// Text that describes the dimension with this size.
  std::string what;
  /// True for an argument of the kernel, whose extent is known before the
  /// kernel runs.
  bool isRagged = false;
  /// Size after the check.
  Value checked;

  bool isPrefix() const { return size && bound >= 0 && !isRagged; }
};

/// Dynamic extents of the kernel's tensors.
class Extents {
public:
  explicit Extents(KernelOp kernel);

  /// Returns true if the kernel computes the extent of one of its tensors.
  bool hasPrefix() const;
  /// Returns the extent of dimension `dim` of `value` if the kernel computes it
  /// and its largest size is known. Returns null for any other extent.
  Extent *find(Value value, unsigned dim);
  /// Returns the extents of the loops of `op`. Null has the same meaning as in
  /// find().
  SmallVector<Extent *> findLoops(linalg::LinalgOp op);
  /// Returns an op that requires different extents to be equal, or null if
  /// there is none.
  Operation *getConflict() const { return conflict; }
  /// Assigns the extents of `old` to `made`, which has the same rank.
  void copy(Value old, Value made);
  /// Returns the type of `value` with the largest possible extents.
  RankedTensorType getBounded(Value value);
  /// Returns the type that `value` has before its computed extents are bounded.
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

/// Returns, in order, the dimensions of a tensor that remain in its slice.
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
