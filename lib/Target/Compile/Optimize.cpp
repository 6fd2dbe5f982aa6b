//===- Optimize.cpp - LLVM passes by optimization level -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Optimize.h"

#include "Sanitize.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
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
#include "llvm/Transforms/Utils/CodeExtractor.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Analyses of a module, and a builder of pipelines that use them.
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

/// Maximum number of control-flow loops in a function that is optimized as a
/// whole. The time of LLVM loop unrolling and strength reduction grows faster
/// than linearly with this number. The reason is that these passes repeatedly
/// discard and expand scalar evolutions of all loops.
static constexpr int kMostLoops = 32;

/// Returns true if a function has too many outermost loops that call functions,
/// as control-flow loops do.
static bool hasManyLoops(llvm::Function &function) {
  if (function.isDeclaration())
    return false;
  auto callsFunctions = [](const llvm::Loop *loop) {
    return llvm::any_of(loop->blocks(), [](llvm::BasicBlock *block) {
      return llvm::any_of(*block, [](llvm::Instruction &op) {
        return isa<llvm::CallBase>(op) && !isa<llvm::IntrinsicInst>(op);
      });
    });
  };
  llvm::LoopInfo loops{llvm::DominatorTree(function)};
  return llvm::count_if(loops, callsFunctions) > kMostLoops;
}

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
    // Unroll the loops of kernels before inlining, while functions are small.
    if (llvm::any_of(module, hasManyLoops))
      first.addPass(
          llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(first)));
    // Propagate the constants with which unbatched code calls kernels: one row,
    // share 0 of 1.
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

namespace {
/// Outlines each outermost loop of a function that has many control-flow loops.
class ExtractLoopsPass : public llvm::PassInfoMixin<ExtractLoopsPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &module,
                              llvm::ModuleAnalysisManager &) {
    bool changed = false;
    for (llvm::Function &function : llvm::make_early_inc_range(module))
      if (hasManyLoops(function)) {
        extractLoops(function);
        changed = true;
      }
    return changed ? llvm::PreservedAnalyses::none()
                   : llvm::PreservedAnalyses::all();
  }

private:
  static void extractLoops(llvm::Function &function) {
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    SmallVector<std::vector<llvm::BasicBlock *>> regions;
    for (llvm::Loop *loop : loops)
      regions.push_back(loop->getBlocksVector());
    llvm::CodeExtractorAnalysisCache cache(function);
    for (const std::vector<llvm::BasicBlock *> &region : regions)
      llvm::CodeExtractor(region, &dominators).extractCodeRegion(cache);
  }
};
} // namespace

/// Returns the passes of level 1. Loops of kernels are already vectorized and
/// unrolled for their target, so level 1 only cleans up. It omits passes that
/// take most of the time at the standard LLVM levels but find next to nothing.
static llvm::ModulePassManager cleanUp() {
  llvm::FunctionPassManager first, passes;
  first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  first.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  first.addPass(llvm::SimplifyCFGPass());
  first.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(
      llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  // Unroll loops over a few vectors, and remove the memory through which one of
  // these loops passes values to another.
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(first)));
  all.addPass(ExtractLoopsPass());
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  return all;
}

namespace {
/// Rewrites loads, stores, selects and phis of bf16 to work on bits. Arithmetic
/// is already in f32. On a CPU without bf16, LLVM would otherwise widen these
/// values to f32 and call a library to narrow them again.
class BitsOfNumbers {
public:
  explicit BitsOfNumbers(llvm::Function &function)
      : function(function), builder(function.getContext()) {}

  void run() {
    SmallVector<llvm::Instruction *> all;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      all.push_back(&instruction);
    for (llvm::Instruction *instruction : all)
      if (auto *store = dyn_cast<llvm::StoreInst>(instruction))
        storeBits(*store);
      else if (llvm::Value *bits = makeBits(*instruction))
        replace(*instruction, bits);
    for (llvm::Argument &argument : function.args())
      pass(argument, &*function.getEntryBlock().getFirstInsertionPt());
    all.clear();
    for (llvm::Instruction &instruction : llvm::instructions(function))
      all.push_back(&instruction);
    for (llvm::Instruction *instruction : all)
      pass(*instruction, instruction->getNextNode());
    removeCasts();
  }

private:
  static bool isNumber(llvm::Value &value) {
    return value.getType()->getScalarType()->isBFloatTy();
  }
  llvm::Type *getBitsType(llvm::Value &value) {
    return value.getType()->getWithNewType(builder.getInt16Ty());
  }
  llvm::Value *toBits(llvm::Value *value) {
    return builder.CreateBitCast(value, getBitsType(*value));
  }

  void storeBits(llvm::StoreInst &store) {
    if (!isNumber(*store.getValueOperand()))
      return;
    builder.SetInsertPoint(&store);
    store.setOperand(0, toBits(store.getValueOperand()));
  }

  /// Returns the bits of an instruction's result, or null if the instruction
  /// cannot be rebuilt to compute bits.
  llvm::Value *makeBits(llvm::Instruction &old) {
    if (!isNumber(old))
      return nullptr;
    builder.SetInsertPoint(&old);
    llvm::Type *type = getBitsType(old);
    if (auto *load = dyn_cast<llvm::LoadInst>(&old);
        load && !load->isAtomic()) {
      auto *bits =
          builder.CreateAlignedLoad(type, load->getPointerOperand(),
                                    load->getAlign(), load->isVolatile());
      bits->copyMetadata(*load);
      return bits;
    }
    if (auto *phi = dyn_cast<llvm::PHINode>(&old))
      return mergeBits(*phi);
    if (auto *select = dyn_cast<llvm::SelectInst>(&old))
      return builder.CreateSelect(select->getCondition(),
                                  toBits(select->getTrueValue()),
                                  toBits(select->getFalseValue()));
    // LLVM passes create the sign ops below from code that works on bits.
    llvm::Value *sign = llvm::ConstantInt::get(type, 0x8000);
    llvm::Value *others = llvm::ConstantInt::get(type, 0x7FFF);
    if (old.getOpcode() == llvm::Instruction::FNeg)
      return builder.CreateXor(toBits(old.getOperand(0)), sign);
    auto *call = dyn_cast<llvm::IntrinsicInst>(&old);
    if (call && call->getIntrinsicID() == llvm::Intrinsic::fabs)
      return builder.CreateAnd(toBits(call->getArgOperand(0)), others);
    if (call && call->getIntrinsicID() == llvm::Intrinsic::copysign)
      return builder.CreateOr(
          builder.CreateAnd(toBits(call->getArgOperand(0)), others),
          builder.CreateAnd(toBits(call->getArgOperand(1)), sign));
    return nullptr;
  }

  llvm::Value *mergeBits(llvm::PHINode &phi) {
    llvm::PHINode *bits =
        builder.CreatePHI(getBitsType(phi), phi.getNumIncomingValues());
    // A block may occur several times in a phi, with the same value each time.
    llvm::DenseMap<llvm::BasicBlock *, llvm::Value *> casts;
    for (auto [block, value] :
         llvm::zip_equal(phi.blocks(), phi.incoming_values())) {
      builder.SetInsertPoint(block->getTerminator());
      llvm::Value *&cast = casts[block];
      if (!cast)
        cast = toBits(value);
      bits->addIncoming(cast, block);
    }
    builder.SetInsertPoint(phi.getParent(),
                           phi.getParent()->getFirstInsertionPt());
    return bits;
  }

  void replace(llvm::Instruction &old, llvm::Value *bits) {
    old.replaceAllUsesWith(builder.CreateBitCast(bits, old.getType()));
    old.eraseFromParent();
  }

  /// At `place`, converts a number to its bits. All users then read the bits,
  /// so no number crosses blocks.
  void pass(llvm::Value &number, llvm::Instruction *place) {
    if (!isNumber(number) || number.use_empty())
      return;
    SmallVector<llvm::Use *> uses;
    for (llvm::Use &use : number.uses())
      uses.push_back(&use);
    builder.SetInsertPoint(place);
    auto *made = dyn_cast<llvm::BitCastInst>(&number);
    llvm::Value *bits = made && made->getSrcTy() == getBitsType(number)
                            ? made->getOperand(0)
                            : toBits(&number);
    for (llvm::Use *use : uses) {
      builder.SetInsertPoint(cast<llvm::Instruction>(use->getUser()));
      use->set(builder.CreateBitCast(bits, number.getType()));
    }
  }

  /// Removes pairs of casts from bits to numbers and back.
  void removeCasts() {
    for (llvm::Instruction &instruction :
         llvm::make_early_inc_range(llvm::instructions(function))) {
      auto *cast = dyn_cast<llvm::BitCastInst>(&instruction);
      auto *first =
          cast ? dyn_cast<llvm::BitCastInst>(cast->getOperand(0)) : nullptr;
      if (first && isNumber(*first) && first->getSrcTy() == cast->getDestTy())
        cast->replaceAllUsesWith(first->getOperand(0));
    }
    SmallVector<llvm::WeakTrackingVH> dead;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (isa<llvm::BitCastInst>(instruction))
        dead.push_back(&instruction);
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(dead);
  }

  llvm::Function &function;
  llvm::IRBuilder<> builder;
};
} // namespace

void mlir::batch::optimizeFunctions(llvm::Module &module,
                                    llvm::TargetMachine &machine,
                                    unsigned level, Sanitizer sanitizer) {
  Analyses analyses(machine);
  if (level == 1) {
    llvm::ModulePassManager passes = cleanUp();
    passes.run(module, analyses.modules);
  }
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      BitsOfNumbers(function).run();
  insertChecks(module, sanitizer, analyses.modules);
}
