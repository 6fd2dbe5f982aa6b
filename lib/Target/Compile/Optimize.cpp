//===- Optimize.cpp - LLVM's passes by optimization level -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Optimize.h"

#include "Sanitize.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/ModuleInliner.h"
#include "llvm/Transforms/IPO/SCCP.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// What passes know about a module, and pipelines of them.
class Analyses {
public:
  explicit Analyses(llvm::TargetMachine &machine) : builder(&machine) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(callGraphs);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, callGraphs, modules);
  }

private:
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager callGraphs;

public:
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
};

} // namespace

void mlir::batch::optimizeModule(llvm::Module &module,
                                 llvm::TargetMachine &machine, unsigned level) {
  if (level == 0)
    return;
  Analyses analyses(machine);
  llvm::ModulePassManager passes;
  if (level == 1) {
    llvm::FunctionPassManager first;
    first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    first.addPass(llvm::EarlyCSEPass());
    first.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(first)));
    // Unbatched code calls kernels with constants: one row, the first of one.
    passes.addPass(llvm::IPSCCPPass());
    passes.addPass(llvm::GlobalDCEPass());
    passes.addPass(llvm::ModuleInlinerWrapperPass(
        llvm::getInlineParams(/*OptLevel=*/2, /*SizeOptLevel=*/0)));
  } else {
    passes = analyses.builder.buildPerModuleDefaultPipeline(
        level == 2 ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O3);
  }
  passes.run(module, analyses.modules);
}

/// Loops of kernels come vectorized and unrolled as their target wants them, so
/// that level 1 only cleans up: it leaves out what takes most of the time of
/// LLVM's own levels and finds next to nothing.
static llvm::FunctionPassManager cleanUp() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  // Loops over few vectors, and what lies between two of them in memory.
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  return passes;
}

/// Makes selects of bf16 select bits: for a CPU without bf16, LLVM would call a
/// library to convert what they select.
static void selectBits(llvm::Module &module) {
  SmallVector<llvm::SelectInst *> selects;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *select = dyn_cast<llvm::SelectInst>(&instruction);
          select && select->getType()->getScalarType()->isBFloatTy())
        selects.push_back(select);
  for (llvm::SelectInst *select : selects) {
    llvm::IRBuilder<> builder(select);
    llvm::Type *bits = select->getType()->getWithNewType(builder.getInt16Ty());
    llvm::Value *chosen = builder.CreateSelect(
        select->getCondition(),
        builder.CreateBitCast(select->getTrueValue(), bits),
        builder.CreateBitCast(select->getFalseValue(), bits));
    select->replaceAllUsesWith(
        builder.CreateBitCast(chosen, select->getType()));
    select->eraseFromParent();
  }
}

/// Makes signs of bf16 bits, for the same reason: LLVM's own passes make fabs
/// and fneg of code that works on bits.
static void changeSignBits(llvm::Module &module) {
  SmallVector<llvm::Instruction *> signs;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *call = dyn_cast<llvm::IntrinsicInst>(&instruction);
      bool isSign = call ? call->getIntrinsicID() == llvm::Intrinsic::fabs
                         : instruction.getOpcode() == llvm::Instruction::FNeg;
      if (isSign && instruction.getType()->getScalarType()->isBFloatTy())
        signs.push_back(&instruction);
    }
  for (llvm::Instruction *sign : signs) {
    llvm::IRBuilder<> builder(sign);
    llvm::Type *type = sign->getType();
    llvm::Type *bits = type->getWithNewType(builder.getInt16Ty());
    llvm::Value *value = builder.CreateBitCast(sign->getOperand(0), bits);
    llvm::Value *changed =
        isa<llvm::CallInst>(sign)
            ? builder.CreateAnd(value, llvm::ConstantInt::get(bits, 0x7FFF))
            : builder.CreateXor(value, llvm::ConstantInt::get(bits, 0x8000));
    sign->replaceAllUsesWith(builder.CreateBitCast(changed, type));
    sign->eraseFromParent();
  }
}

/// Makes bf16 of bits where it is used: what goes from block to block would be
/// widened to f32, and a library called to narrow it again.
static void passBits(llvm::Module &module) {
  SmallVector<llvm::Instruction *> values;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (isa<llvm::BitCastInst, llvm::LoadInst>(instruction) &&
          instruction.getType()->isBFloatTy())
        values.push_back(&instruction);
  for (llvm::Instruction *value : values) {
    llvm::IRBuilder<> builder(value);
    llvm::Value *bits = value->getOperand(0);
    if (auto *load = dyn_cast<llvm::LoadInst>(value))
      bits = builder.CreateAlignedLoad(builder.getInt16Ty(), bits,
                                       load->getAlign(), load->isVolatile());
    for (llvm::Use &use : llvm::make_early_inc_range(value->uses())) {
      auto *user = cast<llvm::Instruction>(use.getUser());
      auto *phi = dyn_cast<llvm::PHINode>(user);
      llvm::IRBuilder<> there(phi ? phi->getIncomingBlock(use)->getTerminator()
                                  : user);
      use.set(there.CreateBitCast(bits, value->getType()));
    }
    value->eraseFromParent();
  }
}

void mlir::batch::optimizeFunctions(llvm::Module &module,
                                    llvm::TargetMachine &machine,
                                    unsigned level, Sanitizer sanitizer) {
  Analyses analyses(machine);
  if (level == 1) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(cleanUp()));
    passes.run(module, analyses.modules);
  }
  selectBits(module);
  changeSignBits(module);
  passBits(module);
  insertChecks(module, sanitizer, analyses.modules);
}
