//===- OperatorsToGPU.cpp - Operators to functions of a gpu.module --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/Passes.h"
#include "Batch/Conversion/RecToLLVM/ABILayout.h"

#include "WarpEmitter.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTOPERATORSTOGPUPASS
#include "Batch/Conversion/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::uprog;

/// Rows and weights in global memory; see the NVVM dialect.
static constexpr unsigned kGlobalMemory = 1;
/// A lane loads 16 bytes at once.
static constexpr int64_t kVectorLanes = 4;

static LogicalResult convertOperator(OperatorOp op, gpu::GPUModuleOp module,
                                     ModuleTables &tables, int64_t warps) {
  StagePlan plan(op, kVectorLanes);
  if (failed(plan.build()))
    return failure();
  CodeBuilder b(op.getLoc(), op.getContext());
  b.addressSpace = kGlobalMemory;
  b.setInsertionPointToEnd(module.getBody());
  WarpEmitter emitter(plan, tables, b, warps);
  int64_t count = plan.getStages().size();
  for (int64_t s = 0; s < count; ++s) {
    emitter.emit(s, (op.getSymName() + ".stage" + Twine(s)).str());
    if (emitter.hasFailed())
      return failure();
  }
  SmallVector<Attribute> ragged;
  for (int64_t bytes : plan.getRaggedScratch())
    ragged.push_back(b.getI64IntegerAttr(bytes));
  op->setAttr(batch::kKernelInfoAttr,
              b.getDictionaryAttr(
                  {b.getNamedAttr("stages", b.getI64IntegerAttr(count)),
                   b.getNamedAttr("task_scratch",
                                  b.getI64IntegerAttr(plan.getTaskScratch())),
                   b.getNamedAttr("ragged_scratch", b.getArrayAttr(ragged))}));
  return success();
}

namespace {
struct ConvertOperatorsToGPUPass
    : batch::impl::ConvertOperatorsToGPUPassBase<ConvertOperatorsToGPUPass> {
  using ConvertOperatorsToGPUPassBase::ConvertOperatorsToGPUPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<OperatorOp> operators(module.getOps<OperatorOp>());
    if (operators.empty())
      return;
    if (blockSize < WarpEmitter::kLanes || blockSize > 1024 ||
        blockSize % WarpEmitter::kLanes) {
      module.emitError("block-size must be a multiple of 32 up to 1024");
      return signalPassFailure();
    }
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    auto device =
        gpu::GPUModuleOp::create(b, module.getLoc(), batch::kDeviceModule);
    SymbolTable(module).insert(device);
    ModuleTables tables(module, device, kGlobalMemory);
    for (OperatorOp op : operators)
      if (failed(convertOperator(op, device, tables,
                                 blockSize / WarpEmitter::kLanes)))
        return signalPassFailure();
    tables.save();
  }
};
} // namespace
