//===- BlockMemory.h - Layout of a block's shared memory --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_BLOCKMEMORY_H
#define BATCH_CODEGEN_GPU_BLOCKMEMORY_H

#include "ProductEmitter.h"
#include "ResidentParameters.h"

namespace mlir::uprog {

/// Operators of a module that run in many steps. An operator is excluded if the
/// depths of all its tasks are constant, or if one block runs it by itself. The
/// choice of executors depends on the remaining operators, and only their
/// parameters can be resident.
class RepeatedOperators {
public:
  explicit RepeatedOperators(ModuleOp module);
  bool contains(OperatorOp op) const { return !findReason(op); }
  /// Returns the reason why an operator does not run in many steps, or
  /// std::nullopt if it does.
  std::optional<StringRef> findReason(OperatorOp op) const;

private:
  DenseSet<Attribute> once, onOneBlock;
};

/// Contents of a block's shared memory for the operators of a module: resident
/// parameters, sums of products, and rows that products multiply. Control flow
/// uses another `controlBytes` bytes.
class BlockMemory {
public:
  using Plans = ArrayRef<std::unique_ptr<StagePlan>>;

  struct Options {
    /// Number of blocks that run a stage together. It is 0 if blocks of several
    /// levels run stages; in that case, no parameters are resident.
    int64_t units;
    int64_t blockSize;    ///< threads of a block
    int64_t sharedMemory; ///< bytes that a block may use
    bool asyncCopies;     ///< the chip can copy to shared memory asynchronously
    batch::Precision precision;
  };

  /// `plans` are the stage plans of `operators`, in the same order.
  BlockMemory(ModuleOp module, ArrayRef<OperatorOp> operators, Plans plans,
              const Options &options);

  /// Returns the reason why the parameters of an operator are not resident.
  StringRef getReason(OperatorOp op) const;

  ResidentParameters parameters;
  ProductMemory products;
  int64_t controlBytes;

  /// Returns the size of this memory in bytes, without `controlBytes`.
  int64_t getBytes() const { return products.rows + products.rowBytes; }
  /// Fails if the contents do not fit in the shared memory of a block. Reports
  /// the error at the operator whose sums need the most memory.
  LogicalResult verify(ArrayRef<OperatorOp> operators, Plans plans) const;

private:
  int64_t getSumBytes(const StagePlan &plan) const;
  void place(Plans plans);

  RepeatedOperators repeated;
  Options options;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_BLOCKMEMORY_H
