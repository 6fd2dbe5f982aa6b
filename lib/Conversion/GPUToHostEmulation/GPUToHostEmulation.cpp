//===- GPUToHostEmulation.cpp - GPU kernels as functions of the host ------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/Passes.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "EmulatorAccess.h"
#include "batch-runtime/EmulatorABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::batch {
#define GEN_PASS_DEF_CONVERTGPUTOHOSTEMULATIONPASS
#include "Batch/Conversion/Passes.h.inc"
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
  /// Moves a function into the module; gives it the thread as argument 0.
  LogicalResult moveFunction(FunctionOpInterface function);
  /// Makes kernel arguments loads from the array of their addresses.
  LogicalResult unpackArguments(func::FuncOp function);
  LogicalResult convertFunction(func::FuncOp function);
  LogicalResult convert(Operation *op);
  /// What has no meaning of its own for the emulator.
  LogicalResult checkPlain(Operation *op);

  // One kind of operation each.
  template <class Op>
  LogicalResult convertId(Op op, EmulatorRegister name, int64_t otherwise);
  LogicalResult convertLoad(LLVM::LoadOp op);
  LogicalResult convertStore(LLVM::StoreOp op);
  LogicalResult convertMaskedLoad(LLVM::MaskedLoadOp op);
  LogicalResult convertMaskedStore(LLVM::MaskedStoreOp op);
  LogicalResult convertAtomicRMW(LLVM::AtomicRMWOp op);
  LogicalResult convertCompareExchange(LLVM::AtomicCmpXchgOp op);
  LogicalResult convertFence(LLVM::FenceOp op);
  LogicalResult convertAddressOf(LLVM::AddressOfOp op);
  LogicalResult convertCall(func::CallOp op);
  LogicalResult convertShuffle(gpu::ShuffleOp op);
  LogicalResult convertMma(NVVM::MmaOp op);
  LogicalResult convertToTF32(NVVM::ConvertFloatToTF32Op op);
  LogicalResult convertToBF16(NVVM::ConvertF32x2ToBF16x2Op op);
  LogicalResult convertMapa(NVVM::MapaOp op);
  LogicalResult convertCopy(NVVM::CpAsyncOp op);
  /// A call that takes the place of an operation without results.
  LogicalResult replaceByCall(Operation *op, EmulatorFunction function,
                              ArrayRef<int64_t> arguments = {});

  FailureOr<int64_t> getSpace(Operation *op, Value pointer);
  FailureOr<int64_t> getScope(Operation *op, std::optional<StringRef> name);
  LogicalResult checkAtomicType(Operation *op, Type type);
  /// The arguments of a check of a whole access.
  LogicalResult check(Operation *op, EmulatorFunction function, Value pointer,
                      Type type, std::optional<uint64_t> alignment);
  LogicalResult checkMasked(Operation *op, EmulatorFunction function,
                            Value pointer, Value mask, VectorType type,
                            uint64_t alignment);
  EmulatorBuilder at(Operation *op) { return {op, thread, locations}; }

  ModuleOp module;
  gpu::GPUModuleOp kernels;
  LocationStrings &locations;
  DataLayout layout;
  SymbolTable hostSymbols;
  llvm::StringMap<int64_t> sharedOffsets;
  int64_t sharedBytes = 0;
  llvm::MapVector<StringAttr, func::FuncOp> functions;
  llvm::DenseSet<Operation *> entries;
  Value thread; ///< of the function that is converted
};

struct ConvertGPUToHostEmulationPass
    : batch::impl::ConvertGPUToHostEmulationPassBase<
          ConvertGPUToHostEmulationPass> {
  void runOnOperation() override;
};

} // namespace

//===----------------------------------------------------------------------===//
// Modules and functions
//===----------------------------------------------------------------------===//

LogicalResult KernelEmulation::placeShared() {
  constexpr int64_t dynamicAlignment = 16;
  SmallVector<LLVM::GlobalOp> dynamic;
  for (auto global : kernels.getOps<LLVM::GlobalOp>()) {
    Type type = global.getGlobalType();
    if (global.getAddrSpace() != BATCH_SPACE_SHARED)
      return global.emitOpError("is not in shared memory (address space 3); "
                                "the emulator has no other global variables");
    if (global.getValueOrNull() || global.getInitializerBlock())
      return global.emitOpError("is shared memory with an initial value");
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
  // What the launch adds lies behind.
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
  std::string name = (function.getName() + ".emulate").str();
  bool isKernel = kernel && kernel.isKernel();
  if (isKernel && hostSymbols.lookup(name))
    return function.emitOpError("cannot become @")
           << name << ", which is there already";
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
             << i - first << " is neither a number nor an LLVM pointer";
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
  for (Operation &op : llvm::make_early_inc_range(*kernels.getBody())) {
    if (isa<LLVM::GlobalOp>(op))
      continue;
    if (!isa<gpu::GPUFuncOp, func::FuncOp>(op))
      return op.emitOpError("is not supported in an emulated gpu.module");
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
  thread = function.getArgument(0);
  // What is made along the way is not looked at.
  SmallVector<Operation *> operations;
  function.getBody().walk([&](Operation *op) { operations.push_back(op); });
  for (Operation *op : operations)
    if (failed(convert(op)))
      return failure();
  if (entries.contains(function) && failed(unpackArguments(function)))
    return failure();

  // All memory is the host's now.
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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FailureOr<int64_t> KernelEmulation::getSpace(Operation *op, Value pointer) {
  int64_t space =
      cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  if (space == BATCH_SPACE_GENERIC || space == BATCH_SPACE_GLOBAL ||
      space == BATCH_SPACE_SHARED || space == BATCH_SPACE_SHARED_CLUSTER)
    return space;
  return op->emitOpError("accesses address space ")
         << space << ", which the emulator does not have";
}

LogicalResult KernelEmulation::check(Operation *op, EmulatorFunction function,
                                     Value pointer, Type type,
                                     std::optional<uint64_t> alignment) {
  FailureOr<int64_t> space = getSpace(op, pointer);
  if (failed(space))
    return failure();
  EmulatorBuilder b = at(op);
  int64_t bytes = layout.getTypeSize(type).getFixedValue();
  int64_t aligned = alignment.value_or(layout.getTypeABIAlignment(type));
  b.call(function,
         {pointer, b.constant(bytes), b.constant(aligned), b.constant(*space)});
  return success();
}

LogicalResult KernelEmulation::checkMasked(Operation *op,
                                           EmulatorFunction function,
                                           Value pointer, Value mask,
                                           VectorType type,
                                           uint64_t alignment) {
  FailureOr<int64_t> space = getSpace(op, pointer);
  if (failed(space))
    return failure();
  int64_t elements = type.getNumElements();
  if (type.isScalable() || elements > 64)
    return op->emitOpError("has more than 64 lanes");
  EmulatorBuilder b = at(op);
  Value bits = LLVM::BitcastOp::create(
      b.builder, op->getLoc(), b.builder.getIntegerType(elements), mask);
  int64_t bytes = layout.getTypeSize(type.getElementType()).getFixedValue();
  b.call(function, {pointer, b.constant(bytes), b.toI64(bits),
                    b.constant(alignment), b.constant(*space)});
  return success();
}

static int64_t getOrder(LLVM::AtomicOrdering ordering) {
  switch (ordering) {
  case LLVM::AtomicOrdering::acquire:
    return BATCH_ORDER_ACQUIRE;
  case LLVM::AtomicOrdering::release:
    return BATCH_ORDER_RELEASE;
  case LLVM::AtomicOrdering::acq_rel:
  case LLVM::AtomicOrdering::seq_cst:
    return BATCH_ORDER_ACQUIRE | BATCH_ORDER_RELEASE;
  default:
    return BATCH_ORDER_RELAXED;
  }
}

FailureOr<int64_t> KernelEmulation::getScope(Operation *op,
                                             std::optional<StringRef> name) {
  int64_t scope = llvm::StringSwitch<int64_t>(name.value_or(""))
                      .Case("block", BATCH_SCOPE_BLOCK)
                      .Case("cluster", BATCH_SCOPE_CLUSTER)
                      .Cases({"", "device"}, BATCH_SCOPE_DEVICE)
                      .Default(-1);
  if (scope < 0)
    return op->emitOpError("has the unknown syncscope \"")
           << *name << "\"; use \"block\", \"cluster\" or \"device\"";
  return scope;
}

LogicalResult KernelEmulation::checkAtomicType(Operation *op, Type type) {
  if (isa<LLVM::LLVMPointerType>(type) ||
      (type.isIntOrFloat() &&
       llvm::is_contained({32u, 64u}, type.getIntOrFloatBitWidth())))
    return success();
  return op->emitOpError("is atomic on ")
         << type << "; the emulator has atomics on 32 and 64 bits";
}

LogicalResult KernelEmulation::convertLoad(LLVM::LoadOp op) {
  // The emulator must see a load before it happens.
  op.setInvariant(false);
  Type type = op.getType();
  if (op.getOrdering() == LLVM::AtomicOrdering::not_atomic)
    return check(op, EmulatorFunction::read, op.getAddr(), type,
                 op.getAlignment());
  FailureOr<int64_t> space = getSpace(op, op.getAddr());
  FailureOr<int64_t> scope = getScope(op, op.getSyncscope());
  if (failed(space) || failed(scope) || failed(checkAtomicType(op, type)))
    return failure();
  EmulatorBuilder b = at(op);
  Value bits = b.call(EmulatorFunction::atomicLoad,
                      {op.getAddr(),
                       b.constant(layout.getTypeSize(type).getFixedValue()),
                       b.constant(getOrder(op.getOrdering())),
                       b.constant(*scope), b.constant(*space)});
  op.replaceAllUsesWith(b.fromI64(bits, type));
  op.erase();
  return success();
}

LogicalResult KernelEmulation::convertStore(LLVM::StoreOp op) {
  Type type = op.getValue().getType();
  if (op.getOrdering() == LLVM::AtomicOrdering::not_atomic)
    return check(op, EmulatorFunction::write, op.getAddr(), type,
                 op.getAlignment());
  FailureOr<int64_t> space = getSpace(op, op.getAddr());
  FailureOr<int64_t> scope = getScope(op, op.getSyncscope());
  if (failed(space) || failed(scope) || failed(checkAtomicType(op, type)))
    return failure();
  EmulatorBuilder b = at(op);
  b.call(EmulatorFunction::atomicStore,
         {op.getAddr(), b.toI64(op.getValue()),
          b.constant(layout.getTypeSize(type).getFixedValue()),
          b.constant(getOrder(op.getOrdering())), b.constant(*scope),
          b.constant(*space)});
  op.erase();
  return success();
}

LogicalResult KernelEmulation::convertMaskedLoad(LLVM::MaskedLoadOp op) {
  return checkMasked(op, EmulatorFunction::readMasked, op.getData(),
                     op.getMask(), cast<VectorType>(op.getType()),
                     op.getAlignment());
}

LogicalResult KernelEmulation::convertMaskedStore(LLVM::MaskedStoreOp op) {
  return checkMasked(op, EmulatorFunction::writeMasked, op.getData(),
                     op.getMask(), cast<VectorType>(op.getValue().getType()),
                     op.getAlignment());
}

static std::optional<int64_t> getUpdate(LLVM::AtomicBinOp op) {
  switch (op) {
  case LLVM::AtomicBinOp::xchg:
    return BATCH_ATOMIC_EXCHANGE;
  case LLVM::AtomicBinOp::add:
    return BATCH_ATOMIC_ADD;
  case LLVM::AtomicBinOp::sub:
    return BATCH_ATOMIC_SUB;
  case LLVM::AtomicBinOp::_and:
    return BATCH_ATOMIC_AND;
  case LLVM::AtomicBinOp::_or:
    return BATCH_ATOMIC_OR;
  case LLVM::AtomicBinOp::_xor:
    return BATCH_ATOMIC_XOR;
  case LLVM::AtomicBinOp::max:
    return BATCH_ATOMIC_MAX;
  case LLVM::AtomicBinOp::min:
    return BATCH_ATOMIC_MIN;
  case LLVM::AtomicBinOp::umax:
    return BATCH_ATOMIC_UMAX;
  case LLVM::AtomicBinOp::umin:
    return BATCH_ATOMIC_UMIN;
  case LLVM::AtomicBinOp::fadd:
    return BATCH_ATOMIC_FADD;
  default:
    return std::nullopt;
  }
}

LogicalResult KernelEmulation::convertAtomicRMW(LLVM::AtomicRMWOp op) {
  // The order of this instruction does not reach PTX (LLVM 22).
  if (getOrder(op.getOrdering()) != BATCH_ORDER_RELAXED)
    return op.emitOpError("has a memory order, which GPU code loses; make it "
                          "monotonic, with llvm.fence before and after");
  std::optional<int64_t> update = getUpdate(op.getBinOp());
  if (!update)
    return op.emitOpError("is an update that the emulator does not have");
  Type type = op.getVal().getType();
  FailureOr<int64_t> space = getSpace(op, op.getPtr());
  FailureOr<int64_t> scope = getScope(op, op.getSyncscope());
  if (failed(space) || failed(scope) || failed(checkAtomicType(op, type)))
    return failure();
  EmulatorBuilder b = at(op);
  Value old = b.call(EmulatorFunction::atomicUpdate,
                     {b.constant(*update), op.getPtr(), b.toI64(op.getVal()),
                      b.constant(layout.getTypeSize(type).getFixedValue()),
                      b.constant(*scope), b.constant(*space)});
  op.replaceAllUsesWith(b.fromI64(old, type));
  op.erase();
  return success();
}

LogicalResult
KernelEmulation::convertCompareExchange(LLVM::AtomicCmpXchgOp op) {
  Type type = op.getVal().getType();
  FailureOr<int64_t> space = getSpace(op, op.getPtr());
  FailureOr<int64_t> scope = getScope(op, op.getSyncscope());
  if (failed(space) || failed(scope) || failed(checkAtomicType(op, type)))
    return failure();
  Location loc = op.getLoc();
  EmulatorBuilder b = at(op);
  Value expected = b.toI64(op.getCmp());
  Value old = b.call(EmulatorFunction::compareExchange,
                     {op.getPtr(), expected, b.toI64(op.getVal()),
                      b.constant(layout.getTypeSize(type).getFixedValue()),
                      b.constant(getOrder(op.getSuccessOrdering())),
                      b.constant(getOrder(op.getFailureOrdering())),
                      b.constant(*scope), b.constant(*space)});
  Value equal = arith::CmpIOp::create(b.builder, loc, arith::CmpIPredicate::eq,
                                      old, expected);
  Value result = LLVM::PoisonOp::create(b.builder, loc, op.getType());
  result = LLVM::InsertValueOp::create(
      b.builder, loc, result, b.fromI64(old, type), ArrayRef<int64_t>{0});
  result = LLVM::InsertValueOp::create(b.builder, loc, result, equal,
                                       ArrayRef<int64_t>{1});
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

LogicalResult KernelEmulation::convertFence(LLVM::FenceOp op) {
  FailureOr<int64_t> scope = getScope(op, op.getSyncscope());
  if (failed(scope))
    return failure();
  return replaceByCall(op, EmulatorFunction::fence,
                       {getOrder(op.getOrdering()), *scope});
}

LogicalResult KernelEmulation::convertAddressOf(LLVM::AddressOfOp op) {
  auto offset = sharedOffsets.find(op.getGlobalName());
  if (offset == sharedOffsets.end())
    return op.emitOpError("is of no global variable of the gpu.module");
  op.replaceAllUsesWith(at(op).sharedAddress(offset->second));
  op.erase();
  return success();
}

LogicalResult KernelEmulation::convertMapa(NVVM::MapaOp op) {
  EmulatorBuilder b = at(op);
  Value mapped =
      b.call(EmulatorFunction::mapShared, {op.getA(), b.toI64(op.getB())});
  op.replaceAllUsesWith(mapped);
  op.erase();
  return success();
}

LogicalResult KernelEmulation::convertCopy(NVVM::CpAsyncOp op) {
  if (op.getCpSize())
    return op.emitOpError("fills up with zeros, which the emulator does not");
  EmulatorBuilder b = at(op);
  b.call(EmulatorFunction::copyAsync,
         {op.getDst(), op.getSrc(), b.constant(op.getSize())});
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

LogicalResult KernelEmulation::replaceByCall(Operation *op,
                                             EmulatorFunction function,
                                             ArrayRef<int64_t> arguments) {
  EmulatorBuilder b = at(op);
  b.call(function, llvm::map_to_vector(arguments, [&](int64_t value) {
           return b.constant(value);
         }));
  op->erase();
  return success();
}

template <class Op>
LogicalResult KernelEmulation::convertId(Op op, EmulatorRegister name,
                                         int64_t otherwise) {
  EmulatorBuilder b = at(op);
  // The emulator has one dimension.
  Value value = op.getDimension() == gpu::Dimension::x ? b.read(name)
                                                       : b.constant(otherwise);
  op.replaceAllUsesWith(b.fromI64(value, op.getType()));
  op.erase();
  return success();
}

LogicalResult KernelEmulation::convertCall(func::CallOp op) {
  func::FuncOp callee = functions.lookup(op.getCalleeAttr().getAttr());
  if (!callee)
    return op.emitOpError("calls no function of the gpu.module");
  if (entries.contains(callee))
    return op.emitOpError("calls a kernel");
  op.setCallee(callee.getSymName());
  op->insertOperands(0, thread);
  return success();
}

LogicalResult KernelEmulation::convertShuffle(gpu::ShuffleOp op) {
  Type type = op.getValue().getType();
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() != 32)
    return op.emitOpError("shuffles ")
           << type << "; the emulator shuffles 32-bit numbers";
  auto getMode = [&]() -> int64_t {
    switch (op.getMode()) {
    case gpu::ShuffleMode::XOR:
      return BATCH_SHUFFLE_XOR;
    case gpu::ShuffleMode::UP:
      return BATCH_SHUFFLE_UP;
    case gpu::ShuffleMode::DOWN:
      return BATCH_SHUFFLE_DOWN;
    case gpu::ShuffleMode::IDX:
      return BATCH_SHUFFLE_IDX;
    }
    llvm_unreachable("all modes");
  };
  EmulatorBuilder b = at(op);
  Value result = b.call(EmulatorFunction::shuffle,
                        {b.constant(getMode()), b.toI64(op.getValue()),
                         b.toI64(op.getOffset()), b.toI64(op.getWidth())});
  Value valid =
      arith::ShRUIOp::create(b.builder, op.getLoc(), result, b.constant(32));
  op.getShuffleResult().replaceAllUsesWith(b.fromI64(result, type));
  op.getValid().replaceAllUsesWith(b.fromI64(valid, b.builder.getI1Type()));
  op.erase();
  return success();
}

LogicalResult KernelEmulation::convertMma(NVVM::MmaOp op) {
  auto shape = op.getShapeAttr();
  auto type = op.getMultiplicandAPtxType();
  bool tf32 = type == NVVM::MMATypes::tf32, bf16 = type == NVVM::MMATypes::bf16;
  int64_t k = shape.getK();
  auto structType = cast<LLVM::LLVMStructType>(op.getType());
  Type f32 = Float32Type::get(op.getContext());
  if (!(tf32 || bf16) || shape.getM() != 16 || shape.getN() != 8 ||
      op.getMultiplicandBPtxType() != type ||
      op.getLayoutA() != NVVM::MMALayout::row ||
      op.getLayoutB() != NVVM::MMALayout::col ||
      structType.getBody() != ArrayRef<Type>(SmallVector<Type>(4, f32)))
    return op.emitOpError("is not m16n8 on tf32 or bf16, row by column, with "
                          "a sum in f32, which is what the emulator has");
  Location loc = op.getLoc();
  EmulatorBuilder b = at(op);
  auto pointerType = LLVM::LLVMPointerType::get(op.getContext());
  auto store = [&](ValueRange values, Type element, int64_t room) {
    Value array;
    {
      // Once per call of the function, not per turn of a loop.
      OpBuilder::InsertionGuard guard(b.builder);
      b.builder.setInsertionPointToStart(
          &op->getParentOfType<func::FuncOp>().front());
      array = LLVM::AllocaOp::create(b.builder, loc, pointerType, element,
                                     b.constant(room));
    }
    for (auto [i, value] : llvm::enumerate(values))
      LLVM::StoreOp::create(b.builder, loc, value,
                            b.address(array, i, element));
    return array;
  };
  Type i32 = b.builder.getI32Type();
  Value sum = store({}, f32, 4);
  b.call(EmulatorFunction::multiply,
         {b.constant(tf32 ? 32 : 16), b.constant(k),
          store(op.getOperandA(), i32, 4), store(op.getOperandB(), i32, 2),
          store(op.getOperandC(), f32, 4), sum});
  Value result = LLVM::PoisonOp::create(b.builder, loc, op.getType());
  for (int64_t i = 0; i < 4; ++i)
    result = LLVM::InsertValueOp::create(
        b.builder, loc, result,
        LLVM::LoadOp::create(b.builder, loc, f32, b.address(sum, i, f32)), i);
  op.replaceAllUsesWith(result);
  op.erase();
  return success();
}

/// Rounds f32 to a type with fewer bits of fraction, the last `dropped` of
/// which become zero. `toEven`: halves go to the even neighbor, not away from
/// zero. NaN becomes the one that GPUs make of it.
static Value roundBits(OpBuilder &b, Location loc, Value value, int64_t dropped,
                       bool toEven) {
  Type i32 = b.getI32Type();
  auto constant = [&](int64_t bits) -> Value {
    return arith::ConstantIntOp::create(b, loc, i32, bits);
  };
  int64_t ulp = int64_t(1) << dropped, nan = 0x80000000 - ulp;
  Value bits = arith::BitcastOp::create(b, loc, i32, value);
  Value half = constant(ulp / 2);
  if (toEven) {
    Value odd = arith::ShRUIOp::create(b, loc, bits, constant(dropped));
    odd = arith::AndIOp::create(b, loc, odd, constant(1));
    half = arith::AddIOp::create(b, loc, constant(ulp / 2 - 1), odd);
  }
  // A carry out of the fraction makes the exponent right too.
  Value rounded = arith::AddIOp::create(b, loc, bits, half);
  rounded = arith::AndIOp::create(b, loc, rounded, constant(-ulp));
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, loc, isNaN, constant(nan), rounded);
}

LogicalResult KernelEmulation::convertToTF32(NVVM::ConvertFloatToTF32Op op) {
  if (op.getRnd() != NVVM::FPRoundingMode::RNA ||
      op.getSat() != NVVM::SaturationMode::NONE || op.getRelu())
    return op.emitOpError("is not rounding to the nearest, halves away from "
                          "zero, which is what the emulator has");
  OpBuilder b(op);
  op.replaceAllUsesWith(
      roundBits(b, op.getLoc(), op.getSrc(), 13, /*toEven=*/false));
  op.erase();
  return success();
}

LogicalResult KernelEmulation::convertToBF16(NVVM::ConvertF32x2ToBF16x2Op op) {
  if (op.getRnd() != NVVM::FPRoundingMode::RN ||
      op.getSat() != NVVM::SaturationMode::NONE || op.getRelu())
    return op.emitOpError("is not rounding to the nearest, halves to even, "
                          "which is what the emulator has");
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto round = [&](Value value) {
    return roundBits(b, loc, value, 16, /*toEven=*/true);
  };
  Value shift = arith::ConstantIntOp::create(b, loc, b.getI32Type(), 16);
  Value low = arith::ShRUIOp::create(b, loc, round(op.getSrcLo()), shift);
  Value pair = arith::OrIOp::create(b, loc, low, round(op.getSrcHi()));
  op.replaceAllUsesWith(
      LLVM::BitcastOp::create(b, loc, op.getType(), pair).getResult());
  op.erase();
  return success();
}

LogicalResult KernelEmulation::checkPlain(Operation *op) {
  Dialect *dialect = op->getDialect();
  bool known =
      isa_and_nonnull<arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                      scf::SCFDialect, vector::VectorDialect>(dialect);
  // The contents of regions are looked at by themselves.
  bool plain = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
               op->hasTrait<OpTrait::IsTerminator>() ||
               isMemoryEffectFree(op) || isa<LLVM::AssumeOp>(op);
  if (known && plain)
    return success();
  return op->emitOpError("is not supported in an emulated kernel");
}

LogicalResult KernelEmulation::convert(Operation *op) {
  using Register = EmulatorRegister;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](gpu::ThreadIdOp id) {
        return convertId(id, Register::thread, 0);
      })
      .Case([&](gpu::BlockDimOp id) {
        return convertId(id, Register::threads, 1);
      })
      .Case(
          [&](gpu::BlockIdOp id) { return convertId(id, Register::block, 0); })
      .Case(
          [&](gpu::GridDimOp id) { return convertId(id, Register::blocks, 1); })
      .Case([&](gpu::ClusterIdOp id) {
        return convertId(id, Register::cluster, 0);
      })
      .Case([&](gpu::ClusterDimOp id) {
        return convertId(id, Register::clusters, 1);
      })
      .Case([&](gpu::ClusterBlockIdOp id) {
        return convertId(id, Register::clusterBlock, 0);
      })
      .Case([&](gpu::ClusterDimBlocksOp id) {
        return convertId(id, Register::clusterBlocks, 1);
      })
      .Case([&](gpu::BarrierOp barrier) {
        return replaceByCall(barrier, EmulatorFunction::barrier);
      })
      .Case([&](gpu::ReturnOp result) {
        OpBuilder builder(result);
        func::ReturnOp::create(builder, result.getLoc(), result.getOperands());
        result.erase();
        return success();
      })
      .Case([&](gpu::ShuffleOp shuffle) { return convertShuffle(shuffle); })
      .Case([&](NVVM::ClusterArriveOp arrive) {
        return replaceByCall(arrive, EmulatorFunction::clusterArrive);
      })
      .Case([&](NVVM::ClusterWaitOp wait) {
        return replaceByCall(wait, EmulatorFunction::clusterWait);
      })
      .Case([&](NVVM::Exit exit) {
        return replaceByCall(exit, EmulatorFunction::exit);
      })
      .Case([&](NVVM::MapaOp mapa) { return convertMapa(mapa); })
      .Case([&](NVVM::MmaOp mma) { return convertMma(mma); })
      .Case([&](NVVM::CpAsyncOp copy) { return convertCopy(copy); })
      .Case([&](NVVM::CpAsyncCommitGroupOp commit) {
        return replaceByCall(commit, EmulatorFunction::commitCopies);
      })
      .Case([&](NVVM::CpAsyncWaitGroupOp wait) {
        return replaceByCall(wait, EmulatorFunction::waitCopies, {wait.getN()});
      })
      .Case([&](NVVM::ConvertFloatToTF32Op round) {
        return convertToTF32(round);
      })
      .Case([&](NVVM::ConvertF32x2ToBF16x2Op round) {
        return convertToBF16(round);
      })
      .Case([&](NVVM::GlobalTimerOp timer) {
        EmulatorBuilder b = at(timer);
        Value time = b.call(EmulatorFunction::timer, {});
        timer.replaceAllUsesWith(b.fromI64(time, timer.getType()));
        timer.erase();
        return success();
      })
      .Case([&](LLVM::LoadOp load) { return convertLoad(load); })
      .Case([&](LLVM::StoreOp store) { return convertStore(store); })
      .Case([&](LLVM::MaskedLoadOp load) { return convertMaskedLoad(load); })
      .Case(
          [&](LLVM::MaskedStoreOp store) { return convertMaskedStore(store); })
      .Case([&](LLVM::AtomicRMWOp update) { return convertAtomicRMW(update); })
      .Case([&](LLVM::AtomicCmpXchgOp exchange) {
        return convertCompareExchange(exchange);
      })
      .Case([&](LLVM::FenceOp fence) { return convertFence(fence); })
      .Case(
          [&](LLVM::AddressOfOp address) { return convertAddressOf(address); })
      .Case([&](func::CallOp call) { return convertCall(call); })
      .Default([&](Operation *other) { return checkPlain(other); });
}

void ConvertGPUToHostEmulationPass::runOnOperation() {
  ModuleOp module = getOperation();
  LocationStrings locations(module);
  SmallVector<gpu::LaunchFuncOp> launches;
  module.walk([&](gpu::LaunchFuncOp launch) { launches.push_back(launch); });
  for (gpu::LaunchFuncOp launch : launches) {
    if (launch.getAsyncToken()) {
      launch.emitOpError("is asynchronous; the emulator's launches are not");
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
