//===- OperatorsToCPU.cpp - Lower operators to CPU functions --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Codegen/CPU/Passes.h"
#include "Batch/Target/ABI/SymbolNames.h"

#include "Batch/Analysis/Tuning.h"
#include "Batch/Support/OptionError.h"
#include "Sharing.h"
#include "StageEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTOPERATORSTOCPUPASS
#include "Batch/Codegen/CPU/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::uprog;

/// Creates the function of `op` next to `op` and then erases `op`.
static LogicalResult convertOperator(OperatorOp op, ModuleTables &tables,
                                     TileFunctions &tileFunctions,
                                     RegisterTiles registers,
                                     const batch::KernelTuning &tuning) {
  if (tuning.tileRows > 0)
    registers.maxRows = std::min(registers.maxRows, tuning.tileRows);
  StagingAttr staging = op.getStaging();
  if (!staging || staging.getTarget() != StageTarget::CPU)
    return op.emitError("this operator has no stages for a CPU; run "
                        "uprog-stage-operators=target=cpu first");
  StagePlan plan(op);
  CodeBuilder b(op.getLoc(), op.getContext());
  b.setInsertionPoint(op);
  StageEmitter emitter(plan, tables, tileFunctions, registers, b);
  std::string name = op.getSymName().str();
  SmallVector<func::FuncOp> stages;
  int64_t count = plan.getStages().size();
  SmallVector<int64_t> barriers;
  for (int64_t s = 0; s < count; ++s) {
    if (plan.getStages()[s].op.getBarrier())
      barriers.push_back(s);
    stages.push_back(emitter.emit(s, batch::getStageName(name, s)));
    if (emitter.hasFailed())
      return failure();
  }
  b.onRegion = nullptr;

  Type ptr = b.ptrType(), i64 = b.getI64Type();
  SmallVector<Type> types = {ptr, ptr, ptr, ptr, i64, i64, i64, i64, i64, i64};
  if (plan.checksIndices())
    types.push_back(ptr);
  auto function = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  {
    OpBuilder::InsertionGuard guard(b);
    b.beginFunction(function);
    ValueRange arguments = function.getArguments();
    for (auto [s, stage] : llvm::enumerate(stages)) {
      Value number = b.constant(s);
      Value notBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::sle,
                                              arguments[8], number);
      Value runs =
          arith::AndIOp::create(b, notBefore, b.less(number, arguments[9]));
      b.when(runs, [&, stage = stage] {
        SmallVector<Value> operands(arguments.take_front(8));
        llvm::append_range(operands, arguments.drop_front(10));
        func::CallOp::create(b, stage, operands);
      });
    }
    func::ReturnOp::create(b);
  }
  Sharing sharing = chooseSharing(plan, registers);
  if (tuning.rowSplit > 0)
    sharing.rowSplit = tuning.rowSplit;
  if (tuning.stageRows >= 0)
    sharing.stageRows = tuning.stageRows;
  if (tuning.shareTasks > 0)
    sharing.shareTasks = tuning.shareTasks;
  remark::analysis(op.getLoc(),
                   remark::RemarkOpts::name("Sharing").category("batch"))
      << ("operator @" + Twine(name) + ": " + Twine(sharing.weightBytes) +
          " bytes of parameters, " + Twine(sharing.taskFlops) + " FLOP and " +
          Twine(sharing.taskBytes) + " bytes per task; launches of " +
          Twine(sharing.rowSplit) +
          " or more tasks per worker are divided by rows" +
          (sharing.stageRows
               ? ", in groups of " + std::to_string(sharing.stageRows)
               : std::string()) +
          "; smaller launches are divided stage by stage with " +
          Twine(barriers.size()) +
          (barriers.size() == 1 ? " barrier" : " barriers") +
          "; launches of fewer than " + Twine(sharing.shareTasks) +
          " tasks run on one worker")
             .str();
  // If the operator also has code for another target, the scratch must suffice
  // for both targets.
  int64_t taskScratch = plan.getTaskScratch();
  SmallVector<int64_t> raggedScratch(plan.getRaggedScratch());
  if (auto known = op->getAttrOfType<CodeAttr>(kCodeAttr)) {
    taskScratch = std::max(taskScratch, known.getTaskScratch());
    for (auto [bytes, other] :
         llvm::zip_equal(raggedScratch, known.getRaggedScratch()))
      bytes = std::max(bytes, other);
  }
  const StageEmitter::WorkerScratch &work = emitter.getWorkerScratch();
  auto workers = WorkersAttr::get(b.getContext(), barriers, work.fixed,
                                  work.perTask, work.most, sharing.rowSplit,
                                  sharing.stageRows, sharing.shareTasks);
  function->setAttr(kCodeAttr, CodeAttr::get(b.getContext(), count, taskScratch,
                                             raggedScratch, workers));
  op.erase();
  return success();
}

namespace {
struct ConvertOperatorsToCPUPass
    : batch::impl::ConvertOperatorsToCPUPassBase<ConvertOperatorsToCPUPass> {
  using ConvertOperatorsToCPUPassBase::ConvertOperatorsToCPUPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (vectorRegisters < 8) {
      batch::emitOptionError(&getContext(),
                             "vector-registers must be at least 8");
      return signalPassFailure();
    }
    batch::Tuning measured;
    if (failed(measured.load(tuning, &getContext())) ||
        failed(measured.checkKernels(module)))
      return signalPassFailure();
    RegisterTiles registers(vectorRegisters);
    ModuleTables tables(module, module);
    TileFunctions tileFunctions(module, registers);
    SmallVector<OperatorOp> operators(module.getOps<OperatorOp>());
    for (OperatorOp op : operators)
      if (failed(
              convertOperator(op, tables, tileFunctions, registers,
                              measured.getKernel(op.getKernel().value_or("")))))
        return signalPassFailure();
    tables.save();
  }
};
} // namespace
