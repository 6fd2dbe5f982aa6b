//===- BlockMemory.h - What lies in a block's shared memory -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_BLOCKMEMORY_H
#define BATCH_CODEGEN_GPU_BLOCKMEMORY_H

#include "KeptParameters.h"
#include "ProductEmitter.h"

namespace mlir::uprog {

/// The operators of a module that run at many steps, by which executors are
/// chosen and whose parameters are worth keeping: those whose tasks do not all
/// have one known depth, and that no block runs by itself.
class RepeatedOperators {
public:
  explicit RepeatedOperators(ModuleOp module);
  bool contains(OperatorOp op) const { return !findReason(op); }
  /// Returns why an operator is not one of these, or none if it is.
  std::optional<StringRef> findReason(OperatorOp op) const;

private:
  DenseSet<Attribute> once, alone;
};

/// What blocks have in shared memory for the operators of a module, besides
/// what control takes: parameters that they keep, sums of products, and rows
/// that products multiply.
class BlockMemory {
public:
  using Plans = ArrayRef<std::unique_ptr<StagePlan>>;

  struct Options {
    /// Of blocks that share out a stage; 0: of several levels, so that nothing
    /// is kept.
    int64_t units;
    int64_t blockSize;    ///< threads of a block
    int64_t sharedMemory; ///< bytes that a block may have
    bool asyncCopies;     ///< to shared memory, in the background
    batch::Precision precision;
  };

  /// `operators` are those that `plans` are of, in the same order.
  BlockMemory(ModuleOp module, ArrayRef<OperatorOp> operators, Plans plans,
              const Options &options);

  /// Returns why blocks do not keep the parameters of an operator.
  StringRef getReason(OperatorOp op) const;

  KeptParameters parameters;
  ProductMemory products;
  int64_t controlBytes;

  /// All but what control takes.
  int64_t getBytes() const { return products.rows + products.rowBytes; }
  /// An error at the operator that needs most, if it is more than blocks have.
  LogicalResult verify(ArrayRef<OperatorOp> operators, Plans plans) const;

private:
  int64_t getSumBytes(const StagePlan &plan) const;
  void place(Plans plans);

  RepeatedOperators repeated;
  Options options;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_BLOCKMEMORY_H
