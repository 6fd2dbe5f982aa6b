//===- Sanitize.cpp - Checks of compiled code at run time -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sanitize.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"

using namespace mlir;
using namespace mlir::batch;

void mlir::batch::markChecked(llvm::Function &function, Sanitizer sanitizer) {
  if (sanitizer == Sanitizer::Address)
    function.addFnAttr(llvm::Attribute::SanitizeAddress);
  if (sanitizer == Sanitizer::Thread)
    function.addFnAttr(llvm::Attribute::SanitizeThread);
  // Without `nounwind`, the passes would add exception handlers, although no
  // code throws exceptions.
  if (sanitizer != Sanitizer::None)
    function.setDoesNotThrow();
}

namespace {

/// Checks the accesses that the ThreadSanitizer pass of LLVM omits: accesses to
/// vectors of more than 16 bytes, and to selected lanes of a vector.
class WideAccesses {
public:
  explicit WideAccesses(llvm::Module &module)
      : module(module), layout(module.getDataLayout()) {
    llvm::LLVMContext &context = module.getContext();
    llvm::Type *size = llvm::Type::getInt64Ty(context);
    auto declare = [&](StringRef name) {
      return module.getOrInsertFunction(name, llvm::Type::getVoidTy(context),
                                        llvm::PointerType::get(context, 0),
                                        size);
    };
    read = declare("__tsan_read_range");
    write = declare("__tsan_write_range");
  }

  void insertChecks() {
    for (llvm::Function &function : module)
      if (function.hasFnAttribute(llvm::Attribute::SanitizeThread))
        for (llvm::Instruction &instruction :
             llvm::make_early_inc_range(llvm::instructions(function)))
          check(instruction);
  }

private:
  void check(llvm::Instruction &instruction);
  void checkLanes(llvm::IntrinsicInst &access, bool writes);
  void checkWhole(llvm::Instruction &access, llvm::Value *address,
                  llvm::Type *type, bool writes);
  void callLibrary(llvm::MemIntrinsic &fill);

  llvm::Module &module;
  const llvm::DataLayout &layout;
  llvm::FunctionCallee read, write;
};

} // namespace

/// Checks an access of a size that the LLVM pass does not check.
void WideAccesses::checkWhole(llvm::Instruction &access, llvm::Value *address,
                              llvm::Type *type, bool writes) {
  uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  if (llvm::is_contained({1, 2, 4, 8, 16}, bytes))
    return;
  llvm::IRBuilder<> builder(&access);
  builder.CreateCall(writes ? write : read, {address, builder.getInt64(bytes)});
}

/// Checks the vector lanes that the mask selects. The lanes are adjacent in
/// memory, or each lane has its own address.
void WideAccesses::checkLanes(llvm::IntrinsicInst &access, bool writes) {
  llvm::Value *address = access.getArgOperand(writes ? 1 : 0);
  llvm::Value *mask = access.getArgOperand(writes ? 2 : 1);
  auto *type = cast<llvm::FixedVectorType>(
      writes ? access.getArgOperand(0)->getType() : access.getType());
  llvm::Type *element = type->getElementType();
  llvm::IRBuilder<> builder(&access);
  llvm::Value *size = builder.getInt64(layout.getTypeStoreSize(element));
  for (unsigned lane = 0; lane < type->getNumElements(); ++lane) {
    llvm::Value *own = address->getType()->isVectorTy()
                           ? builder.CreateExtractElement(address, lane)
                           : builder.CreateConstGEP1_64(element, address, lane);
    llvm::Value *bytes = builder.CreateSelect(
        builder.CreateExtractElement(mask, lane), size, builder.getInt64(0));
    builder.CreateCall(writes ? write : read, {own, bytes});
  }
}

/// Replaces a copy or fill with a call of the C library, whose functions the
/// sanitizer intercepts. Older sanitizers lack the functions that the LLVM pass
/// would call.
void WideAccesses::callLibrary(llvm::MemIntrinsic &fill) {
  llvm::IRBuilder<> builder(&fill);
  llvm::Type *pointer = builder.getPtrTy(), *size = builder.getInt64Ty();
  llvm::Value *bytes = builder.CreateZExtOrTrunc(fill.getLength(), size);
  if (auto *copy = dyn_cast<llvm::MemTransferInst>(&fill)) {
    auto function = module.getOrInsertFunction(
        isa<llvm::MemMoveInst>(copy) ? "memmove" : "memcpy", pointer, pointer,
        pointer, size);
    builder.CreateCall(function, {copy->getDest(), copy->getSource(), bytes});
  } else {
    llvm::Type *value = builder.getInt32Ty();
    auto function =
        module.getOrInsertFunction("memset", pointer, pointer, value, size);
    builder.CreateCall(
        function,
        {fill.getDest(),
         builder.CreateZExt(cast<llvm::MemSetInst>(fill).getValue(), value),
         bytes});
  }
  fill.eraseFromParent();
}

void WideAccesses::check(llvm::Instruction &instruction) {
  if (auto *load = dyn_cast<llvm::LoadInst>(&instruction))
    return checkWhole(*load, load->getPointerOperand(), load->getType(),
                      /*writes=*/false);
  if (auto *store = dyn_cast<llvm::StoreInst>(&instruction))
    return checkWhole(*store, store->getPointerOperand(),
                      store->getValueOperand()->getType(), /*writes=*/true);
  if (auto *fill = dyn_cast<llvm::MemIntrinsic>(&instruction))
    return callLibrary(*fill);
  auto *intrinsic = dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!intrinsic)
    return;
  switch (intrinsic->getIntrinsicID()) {
  case llvm::Intrinsic::masked_load:
  case llvm::Intrinsic::masked_gather:
    return checkLanes(*intrinsic, /*writes=*/false);
  case llvm::Intrinsic::masked_store:
  case llvm::Intrinsic::masked_scatter:
    return checkLanes(*intrinsic, /*writes=*/true);
  default:
    return;
  }
}

void mlir::batch::insertChecks(llvm::Module &module, Sanitizer sanitizer,
                               llvm::ModuleAnalysisManager &analyses) {
  llvm::ModulePassManager passes;
  switch (sanitizer) {
  case Sanitizer::None:
    return;
  case Sanitizer::Address:
    passes.addPass(llvm::AddressSanitizerPass({}));
    break;
  case Sanitizer::Thread:
    WideAccesses(module).insertChecks();
    passes.addPass(llvm::ModuleThreadSanitizerPass());
    passes.addPass(
        llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
    break;
  }
  analyses.invalidate(module, llvm::PreservedAnalyses::none());
  passes.run(module, analyses);
}
