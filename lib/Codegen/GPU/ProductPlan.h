//===- ProductPlan.h - How a block computes products ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_PRODUCTPLAN_H
#define BATCH_CODEGEN_GPU_PRODUCTPLAN_H

#include "../Stages/StagePlan.h"
#include "Batch/Target/GPU/GPUTarget.h"

namespace mlir::uprog {

/// Format in which a block's shared memory stores the factors of products, so
/// that a warp can multiply them. Rows, and columns of parameters, are stored
/// along k, in vectors of 16 bytes.
struct FactorFormat {
  static constexpr int64_t kVectorBytes = 16;
  static constexpr int64_t kTileColumns = 8;

  /// Creates the format of products with elements of type `element`, f32 or
  /// f64. Only f32 is rounded.
  FactorFormat(Type element, batch::Precision precision)
      : element(element), precision(precision) {}

  Type element;               ///< type of elements in global memory and of sums
  batch::Precision precision; ///< F32: not rounded, no tensor cores

  bool usesTensorCores() const { return precision != batch::Precision::F32; }
  /// Returns the size of a factor in bytes.
  int64_t bytes() const {
    return precision == batch::Precision::BF16 ? 2
                                               : batch::elementBytes(element);
  }
  int64_t vector() const { return kVectorBytes / bytes(); }
  /// Returns the number of positions along k that a lane multiplies at once, or
  /// a group of four lanes on tensor cores. Beyond the last k, factors are
  /// zeros.
  int64_t step() const { return usesTensorCores() ? 4 * vector() : vector(); }
  int64_t tileRows() const { return usesTensorCores() ? 16 : 4; }
  int64_t padded(int64_t depth) const;
  /// Returns the maximum extent of k in a share. Lanes exchange sums at the end
  /// of each share, except on tensor cores. There, shares are shorter: a step
  /// waits for the sums of the previous step, and tiles are larger and fewer.
  int64_t share() const { return usesTensorCores() ? 256 : 512; }
  /// Returns the distance in bytes from a row or column of `depth` factors to
  /// the next. With this distance, factors that are read at once by the lanes
  /// of a warp are in different banks.
  int64_t stride(int64_t depth) const;

  bool operator==(const FactorFormat &other) const {
    return element == other.element && precision == other.precision;
  }
  bool operator!=(const FactorFormat &other) const { return !(*this == other); }
};

/// Plan by which the warps of a block multiply rows by the parameters of a
/// stage:
///
///   for each round:
///     copy segments of the multiplied rows to shared memory
///     for each tile of sums and each share of k of a product:
///       one warp computes the sums
///   for each element: add up its shares, in order
///
/// One round is enough if the rows fit. Shares depend only on sizes, so a row
/// has the same bits in every mini-batch and on any number of blocks.
struct ProductPlan {
  /// Range of k in the rows that products multiply.
  struct Segment {
    const Reduction *reader; ///< the first product that reads the segment
    int64_t begin, end;      ///< range of k
    int64_t at;              ///< bytes from the beginning of a row
  };
  /// Range of k in which one warp multiplies a tile of a product.
  struct Share {
    const Reduction *product;
    int64_t begin, end;
    int64_t at; ///< bytes from the beginning of a row

    int64_t depth() const { return end - begin; }
  };
  struct Round {
    FactorFormat format;
    SmallVector<Segment, 2> segments;
    size_t first = 0, count = 0; ///< first share and number of shares
    int64_t stride = 0;          ///< bytes from one row to the next
  };

  /// Creates a plan in which each row has space for `rowBytes` bytes in a
  /// round. If `rowBytes` is 0, a row has space for all bytes that it needs.
  ProductPlan(const StagePlan &plan, const Stage &stage,
              batch::Precision precision, int64_t rowBytes = 0);

  SmallVector<const Reduction *> products;
  SmallVector<Share> shares; ///< all shares, grouped by product
  SmallVector<Round, 1> rounds;
  int64_t tileRows = 4;
  int64_t sumBytes = 0; ///< bytes of a tile's sums for one share

  /// Returns the maximum number of bytes that a round needs for a row.
  int64_t rowBytes() const;
  int64_t tileElements() const { return tileRows * FactorFormat::kTileColumns; }
};

/// Returns the format of a contraction of an operator.
FactorFormat getFormat(const StagePlan &plan, const Reduction &reduction,
                       batch::Precision precision);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_PRODUCTPLAN_H
