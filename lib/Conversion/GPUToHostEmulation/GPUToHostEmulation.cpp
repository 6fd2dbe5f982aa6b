//===- GPUToHostEmulation.cpp - GPU kernels as functions of the host ------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/GPUToHostEmulation/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "OperationEmulation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTGPUTOHOSTEMULATIONPASS
#include "Batch/Conversion/GPUToHostEmulation/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Converts the functions of one gpu.module.
class KernelEmulation {
public:
  KernelEmulation(ModuleOp module, gpu::GPUModuleOp kernels,
                  LocationStrings &locations)
      : module(module), kernels(kernels), locations(locations), layout(kernels),
        hostSymbols(module) {}

  LogicalResult run();

private:
  LogicalResult placeShared();
  /// Moves a function into the module. Its new argument 0 is the thread.
  LogicalResult moveFunction(FunctionOpInterface function);
  /// Replaces the arguments of a kernel with loads from an array of their
  /// addresses, which is the new argument 1.
  LogicalResult unpackArguments(func::FuncOp function);
  LogicalResult convertFunction(func::FuncOp function);
  LogicalResult convertCall(func::CallOp op, Value thread);
  LogicalResult convertAddressOf(LLVM::AddressOfOp op, Value thread);
  /// Moves constants to the memory of the host. Reads of constants need no
  /// check.
  void moveConstants();
  LogicalResult readConstant(LLVM::AddressOfOp op, StringAttr name);

  ModuleOp module;
  gpu::GPUModuleOp kernels;
  LocationStrings &locations;
  DataLayout layout;
  SymbolTable hostSymbols;
  llvm::StringMap<int64_t> sharedOffsets;
  llvm::StringMap<StringAttr> constants; ///< new names of constants
  llvm::DenseSet<Operation *> constantReads;
  int64_t sharedBytes = 0;
  llvm::MapVector<StringAttr, func::FuncOp> functions;
  llvm::DenseSet<Operation *> entries;
};

struct ConvertGPUToHostEmulationPass
    : batch::impl::ConvertGPUToHostEmulationPassBase<
          ConvertGPUToHostEmulationPass> {
  void runOnOperation() override;
};

} // namespace

LogicalResult KernelEmulation::placeShared() {
  constexpr int64_t dynamicAlignment = 16;
  SmallVector<LLVM::GlobalOp> dynamic;
  for (auto global : kernels.getOps<LLVM::GlobalOp>()) {
    Type type = global.getGlobalType();
    if (global.getConstant())
      continue;
    if (global.getAddrSpace() != BATCH_SPACE_SHARED)
      return global.emitOpError("must be a constant or in shared memory "
                                "(address space 3)");
    if (global.getValueOrNull() || global.getInitializerBlock())
      return global.emitOpError("has an initial value, which shared memory "
                                "cannot have; store it in the kernel");
    auto array = dyn_cast<LLVM::LLVMArrayType>(type);
    if (array && array.getNumElements() == 0) {
      dynamic.push_back(global);
      continue;
    }
    int64_t alignment = std::max<int64_t>(global.getAlignment().value_or(1),
                                          layout.getTypeABIAlignment(type));
    sharedBytes = llvm::alignTo(sharedBytes, alignment);
    sharedOffsets[global.getSymName()] = sharedBytes;
    sharedBytes += layout.getTypeSize(type).getFixedValue();
  }
  // The memory that the launch adds follows the other variables.
  int64_t alignment = dynamic.empty() ? 1 : dynamicAlignment;
  for (LLVM::GlobalOp global : dynamic)
    alignment = std::max<int64_t>(alignment, global.getAlignment().value_or(1));
  sharedBytes = llvm::alignTo(sharedBytes, alignment);
  for (LLVM::GlobalOp global : dynamic)
    sharedOffsets[global.getSymName()] = sharedBytes;
  return success();
}

LogicalResult KernelEmulation::moveFunction(FunctionOpInterface function) {
  if (function.isExternal())
    return function.emitOpError("is only declared; the emulator needs a body");
  auto kernel = dyn_cast<gpu::GPUFuncOp>(function.getOperation());
  if (kernel && (kernel.getNumWorkgroupAttributions() ||
                 kernel.getNumPrivateAttributions()))
    return kernel.emitOpError("has memory attributions; use a global variable "
                              "in address space 3");
  OpBuilder builder(module.getContext());
  std::string name = getEmulatedName(function.getName());
  bool isKernel = kernel && kernel.isKernel();
  if (isKernel && hostSymbols.lookup(name))
    return function.emitOpError("cannot be emitted as @")
           << name << ", which already exists; rename this kernel";
  auto moved =
      func::FuncOp::create(builder, function.getLoc(), name,
                           cast<FunctionType>(function.getFunctionType()));
  moved.getBody().takeBody(function.getFunctionBody());
  hostSymbols.insert(moved);
  functions[StringAttr::get(module.getContext(), function.getName())] = moved;
  auto pointerType = LLVM::LLVMPointerType::get(module.getContext());
  if (failed(moved.insertArgument(0, pointerType, {}, moved.getLoc())))
    return failure();
  if (!isKernel) {
    moved.setPrivate();
    moved->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(moved.getContext(), LLVM::Linkage::Internal));
    return success();
  }
  entries.insert(moved);
  moved->setAttr(kEmulatedAttr, builder.getI64IntegerAttr(sharedBytes));
  return success();
}

LogicalResult KernelEmulation::unpackArguments(func::FuncOp function) {
  Location loc = function.getLoc();
  auto pointerType = LLVM::LLVMPointerType::get(module.getContext());
  if (failed(function.insertArgument(1, pointerType, {}, loc)))
    return failure();
  auto builder = OpBuilder::atBlockBegin(&function.front());
  Value array = function.getArgument(1);
  constexpr unsigned first = 2;
  for (unsigned i = first; i < function.getNumArguments(); ++i) {
    BlockArgument argument = function.getArgument(i);
    Type type = argument.getType();
    if (!isa<IntegerType, FloatType, IndexType, LLVM::LLVMPointerType>(type))
      return function.emitOpError("argument #")
             << i - first << " must be a number or an LLVM pointer";
    Value where = LLVM::GEPOp::create(
        builder, loc, pointerType, pointerType, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i - first)});
    Value address = LLVM::LoadOp::create(builder, loc, pointerType, where);
    bool isIndex = isa<IndexType>(type);
    Value value = LLVM::LoadOp::create(
        builder, loc, isIndex ? builder.getI64Type() : type, address);
    if (isIndex)
      value = arith::IndexCastOp::create(builder, loc, type, value);
    argument.replaceAllUsesWith(value);
  }
  BitVector old(function.getNumArguments(), true);
  old.reset(0, first);
  return function.eraseArguments(old);
}

LogicalResult KernelEmulation::run() {
  if (failed(placeShared()))
    return failure();
  moveConstants();
  for (Operation &op : llvm::make_early_inc_range(*kernels.getBody())) {
    if (isa<LLVM::GlobalOp>(op))
      continue;
    if (!isa<gpu::GPUFuncOp, func::FuncOp>(op))
      return op.emitOpError("is not supported in an emulated gpu.module; "
                            "expected gpu.func, func.func or llvm.mlir.global");
    if (failed(moveFunction(cast<FunctionOpInterface>(op))))
      return failure();
  }
  for (auto &[name, function] : functions)
    if (failed(convertFunction(function)))
      return failure();
  kernels.erase();
  return success();
}

LogicalResult KernelEmulation::convertFunction(func::FuncOp function) {
  Value thread = function.getArgument(0);
  // Do not visit ops that the conversion creates.
  SmallVector<Operation *> operations;
  function.getBody().walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : operations) {
    // Reads of constants need no check. Ops that name functions or variables of
    // the gpu.module are converted here, all other ops by emulateOperation().
    if (constantReads.contains(op))
      continue;
    auto call = dyn_cast<func::CallOp>(op);
    auto address = dyn_cast<LLVM::AddressOfOp>(op);
    if (failed(call      ? convertCall(call, thread)
               : address ? convertAddressOf(address, thread)
                         : emulateOperation(op, thread, layout, locations)))
      return failure();
  }
  if (entries.contains(function) && failed(unpackArguments(function)))
    return failure();

  // All memory is now host memory, so pointers need no address spaces.
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](LLVM::LLVMPointerType type) -> std::optional<Type> {
        return LLVM::LLVMPointerType::get(type.getContext());
      });
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  function.walk([](LLVM::AddrSpaceCastOp cast) {
    cast.getResult().replaceAllUsesWith(cast.getArg());
    cast.erase();
  });
  return success();
}

LogicalResult KernelEmulation::convertCall(func::CallOp op, Value thread) {
  func::FuncOp callee = functions.lookup(op.getCalleeAttr().getAttr());
  if (!callee)
    return op.emitOpError("must call a function of the same gpu.module");
  if (entries.contains(callee))
    return op.emitOpError("calls a kernel, which only a launch can run");
  op.setCallee(callee.getSymName());
  op->insertOperands(0, thread);
  return success();
}

LogicalResult KernelEmulation::convertAddressOf(LLVM::AddressOfOp op,
                                                Value thread) {
  if (StringAttr name = constants.lookup(op.getGlobalName()))
    return readConstant(op, name);
  auto offset = sharedOffsets.find(op.getGlobalName());
  if (offset == sharedOffsets.end())
    return op.emitOpError("must refer to a variable of the same gpu.module");
  op.replaceAllUsesWith(
      EmulatorBuilder(op, thread, locations).sharedAddress(offset->second));
  op.erase();
  return success();
}

void KernelEmulation::moveConstants() {
  for (auto global :
       llvm::make_early_inc_range(kernels.getOps<LLVM::GlobalOp>())) {
    if (!global.getConstant())
      continue;
    std::string name = global.getSymName().str();
    global->remove();
    global.setAddrSpace(0);
    global.setSymName(getEmulatedName(name));
    constants[name] = hostSymbols.insert(global);
  }
}

LogicalResult KernelEmulation::readConstant(LLVM::AddressOfOp op,
                                            StringAttr name) {
  op.setGlobalName(name);
  SmallVector<Value> addresses = {op};
  while (!addresses.empty()) {
    Value address = addresses.pop_back_val();
    for (Operation *user : address.getUsers()) {
      if (isa<LLVM::GEPOp, LLVM::AddrSpaceCastOp>(user))
        addresses.push_back(user->getResult(0));
      else if (!isa<LLVM::LoadOp>(user))
        return user->emitOpError("uses the address of a constant for "
                                 "something other than a load, which the "
                                 "emulator does not support");
      constantReads.insert(user);
    }
  }
  return success();
}

void ConvertGPUToHostEmulationPass::runOnOperation() {
  ModuleOp module = getOperation();
  LocationStrings locations(module);
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  for (gpu::LaunchFuncOp launch : launches) {
    if (launch.getAsyncToken()) {
      launch.emitOpError(
          "is asynchronous, which the emulator does not support");
      return signalPassFailure();
    }
    launch.erase();
  }
  for (auto kernels :
       llvm::make_early_inc_range(module.getOps<gpu::GPUModuleOp>()))
    if (failed(KernelEmulation(module, kernels, locations).run()))
      return signalPassFailure();
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
}
