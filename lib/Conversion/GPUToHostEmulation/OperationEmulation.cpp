//===- OperationEmulation.cpp - GPU code as calls to the emulator ---------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OperationEmulation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::batch;

namespace {

/// Converts the operations of one function.
class OperationEmulation {
public:
  OperationEmulation(Value thread, const DataLayout &layout,
                     LocationStrings &locations)
      : thread(thread), layout(layout), locations(locations) {}

  LogicalResult convert(Operation *op);

private:
  /// Checks that an operation has the same effect on the host as on a GPU.
  LogicalResult checkPlain(Operation *op);

  // Each function converts one kind of operation.
  template <class Op>
  LogicalResult convertId(Op op, EmulatorRegister name, int64_t otherwise);
  LogicalResult convertLoad(LLVM::LoadOp op);
  LogicalResult convertStore(LLVM::StoreOp op);
  LogicalResult convertMaskedLoad(LLVM::MaskedLoadOp op);
  LogicalResult convertMaskedStore(LLVM::MaskedStoreOp op);
  LogicalResult convertAtomicRMW(LLVM::AtomicRMWOp op);
  LogicalResult convertCompareExchange(LLVM::AtomicCmpXchgOp op);
  LogicalResult convertFence(LLVM::FenceOp op);
  LogicalResult convertShuffle(gpu::ShuffleOp op);
  LogicalResult convertMma(NVVM::MmaOp op);
  LogicalResult convertToTF32(NVVM::ConvertFloatToTF32Op op);
  LogicalResult convertToBF16(NVVM::ConvertF32x2ToBF16x2Op op);
  LogicalResult convertMapa(NVVM::MapaOp op);
  LogicalResult convertCopy(NVVM::CpAsyncOp op);
  /// Replaces an operation that has no results with a call.
  LogicalResult replaceByCall(Operation *op, EmulatorFunction function,
                              ArrayRef<int64_t> arguments = {});

  FailureOr<int64_t> getSpace(Operation *op, Value pointer);
  FailureOr<int64_t> getScope(Operation *op, std::optional<StringRef> name);
  struct AtomicAccess {
    int64_t bytes, scope, space;
  };
  FailureOr<AtomicAccess> getAtomicAccess(Operation *op, Value pointer,
                                          Type type,
                                          std::optional<StringRef> syncscope);
  /// Inserts, before `op`, a call that checks a whole access.
  LogicalResult check(Operation *op, EmulatorFunction function, Value pointer,
                      Type type, std::optional<uint64_t> alignment);
  LogicalResult checkMasked(Operation *op, EmulatorFunction function,
                            Value pointer, Value mask, VectorType type,
                            uint64_t alignment);
  EmulatorBuilder at(Operation *op) { return {op, thread, locations}; }

  Value thread;
  const DataLayout &layout;
  LocationStrings &locations;
};

} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

FailureOr<int64_t> OperationEmulation::getSpace(Operation *op, Value pointer) {
  int64_t space =
      cast<LLVM::LLVMPointerType>(pointer.getType()).getAddressSpace();
  if (space == BATCH_SPACE_GENERIC || space == BATCH_SPACE_GLOBAL ||
      space == BATCH_SPACE_SHARED || space == BATCH_SPACE_SHARED_CLUSTER)
    return space;
  return op->emitOpError("accesses address space ")
         << space << ", which the emulator does not support";
}

LogicalResult OperationEmulation::check(Operation *op,
                                        EmulatorFunction function,
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

LogicalResult OperationEmulation::checkMasked(Operation *op,
                                              EmulatorFunction function,
                                              Value pointer, Value mask,
                                              VectorType type,
                                              uint64_t alignment) {
  FailureOr<int64_t> space = getSpace(op, pointer);
  if (failed(space))
    return failure();
  int64_t elements = type.getNumElements();
  if (type.isScalable() || elements > 64)
    return op->emitOpError(
        "has more than 64 vector lanes, which the emulator does not support");
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

FailureOr<int64_t> OperationEmulation::getScope(Operation *op,
                                                std::optional<StringRef> name) {
  int64_t scope = llvm::StringSwitch<int64_t>(name.value_or(""))
                      .Case("block", BATCH_SCOPE_BLOCK)
                      .Case("cluster", BATCH_SCOPE_CLUSTER)
                      .Cases({"", "device"}, BATCH_SCOPE_DEVICE)
                      .Default(-1);
  if (scope < 0)
    return op->emitOpError("has unknown syncscope \"")
           << *name << "\"; expected \"block\", \"cluster\" or \"device\"";
  return scope;
}

FailureOr<OperationEmulation::AtomicAccess>
OperationEmulation::getAtomicAccess(Operation *op, Value pointer, Type type,
                                    std::optional<StringRef> syncscope) {
  FailureOr<int64_t> space = getSpace(op, pointer);
  FailureOr<int64_t> scope = getScope(op, syncscope);
  if (failed(space) || failed(scope))
    return failure();
  bool known = isa<LLVM::LLVMPointerType>(type) ||
               (type.isIntOrFloat() &&
                llvm::is_contained({32u, 64u}, type.getIntOrFloatBitWidth()));
  if (!known)
    return op->emitOpError("is an atomic access to ")
           << type << "; the emulator only supports 32-bit and 64-bit atomics";
  int64_t bytes = layout.getTypeSize(type).getFixedValue();
  return AtomicAccess{bytes, *scope, *space};
}

/// Returns true for memory on a stack, which only one thread accesses.
static bool isOwn(Value pointer) {
  return pointer.getDefiningOp<LLVM::AllocaOp>() != nullptr;
}

LogicalResult OperationEmulation::convertLoad(LLVM::LoadOp op) {
  if (isOwn(op.getAddr()))
    return success();
  // The emulator must see every load, but LLVM could merge invariant loads.
  op.setInvariant(false);
  Type type = op.getType();
  if (op.getOrdering() == LLVM::AtomicOrdering::not_atomic)
    return check(op, EmulatorFunction::read, op.getAddr(), type,
                 op.getAlignment());
  FailureOr<AtomicAccess> access =
      getAtomicAccess(op, op.getAddr(), type, op.getSyncscope());
  if (failed(access))
    return failure();
  EmulatorBuilder b = at(op);
  Value bits = b.call(EmulatorFunction::atomicLoad,
                      {op.getAddr(), b.constant(access->bytes),
                       b.constant(getOrder(op.getOrdering())),
                       b.constant(access->scope), b.constant(access->space)});
  op.replaceAllUsesWith(b.fromI64(bits, type));
  op.erase();
  return success();
}

LogicalResult OperationEmulation::convertStore(LLVM::StoreOp op) {
  if (isOwn(op.getAddr()))
    return success();
  Type type = op.getValue().getType();
  if (op.getOrdering() == LLVM::AtomicOrdering::not_atomic)
    return check(op, EmulatorFunction::write, op.getAddr(), type,
                 op.getAlignment());
  FailureOr<AtomicAccess> access =
      getAtomicAccess(op, op.getAddr(), type, op.getSyncscope());
  if (failed(access))
    return failure();
  EmulatorBuilder b = at(op);
  b.call(EmulatorFunction::atomicStore,
         {op.getAddr(), b.toI64(op.getValue()), b.constant(access->bytes),
          b.constant(getOrder(op.getOrdering())), b.constant(access->scope),
          b.constant(access->space)});
  op.erase();
  return success();
}

LogicalResult OperationEmulation::convertMaskedLoad(LLVM::MaskedLoadOp op) {
  return checkMasked(op, EmulatorFunction::readMasked, op.getData(),
                     op.getMask(), cast<VectorType>(op.getType()),
                     op.getAlignment());
}

LogicalResult OperationEmulation::convertMaskedStore(LLVM::MaskedStoreOp op) {
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

LogicalResult OperationEmulation::convertAtomicRMW(LLVM::AtomicRMWOp op) {
  // LLVM 22 drops the memory order of this instruction when it generates PTX.
  if (getOrder(op.getOrdering()) != BATCH_ORDER_RELAXED)
    return op.emitOpError("has an ordering stronger than monotonic, which is "
                          "lost in GPU code; use monotonic, with an llvm.fence "
                          "before and after");
  std::optional<int64_t> update = getUpdate(op.getBinOp());
  if (!update)
    return op.emitOpError(
        "is an atomic update that the emulator does not support");
  Type type = op.getVal().getType();
  FailureOr<AtomicAccess> access =
      getAtomicAccess(op, op.getPtr(), type, op.getSyncscope());
  if (failed(access))
    return failure();
  EmulatorBuilder b = at(op);
  Value old = b.call(EmulatorFunction::atomicUpdate,
                     {b.constant(*update), op.getPtr(), b.toI64(op.getVal()),
                      b.constant(access->bytes), b.constant(access->scope),
                      b.constant(access->space)});
  op.replaceAllUsesWith(b.fromI64(old, type));
  op.erase();
  return success();
}

LogicalResult
OperationEmulation::convertCompareExchange(LLVM::AtomicCmpXchgOp op) {
  Type type = op.getVal().getType();
  FailureOr<AtomicAccess> access =
      getAtomicAccess(op, op.getPtr(), type, op.getSyncscope());
  if (failed(access))
    return failure();
  Location loc = op.getLoc();
  EmulatorBuilder b = at(op);
  Value expected = b.toI64(op.getCmp());
  Value old = b.call(EmulatorFunction::compareExchange,
                     {op.getPtr(), expected, b.toI64(op.getVal()),
                      b.constant(access->bytes),
                      b.constant(getOrder(op.getSuccessOrdering())),
                      b.constant(getOrder(op.getFailureOrdering())),
                      b.constant(access->scope), b.constant(access->space)});
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

LogicalResult OperationEmulation::convertFence(LLVM::FenceOp op) {
  FailureOr<int64_t> scope = getScope(op, op.getSyncscope());
  if (failed(scope))
    return failure();
  return replaceByCall(op, EmulatorFunction::fence,
                       {getOrder(op.getOrdering()), *scope});
}

LogicalResult OperationEmulation::convertMapa(NVVM::MapaOp op) {
  EmulatorBuilder b = at(op);
  Value mapped =
      b.call(EmulatorFunction::mapShared, {op.getA(), b.toI64(op.getB())});
  op.replaceAllUsesWith(mapped);
  op.erase();
  return success();
}

LogicalResult OperationEmulation::convertCopy(NVVM::CpAsyncOp op) {
  if (op.getCpSize())
    return op.emitOpError("has a source size for zero fill, which the "
                          "emulator does not support; omit it");
  EmulatorBuilder b = at(op);
  b.call(EmulatorFunction::copyAsync,
         {op.getDst(), op.getSrc(), b.constant(op.getSize())});
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

LogicalResult OperationEmulation::replaceByCall(Operation *op,
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
LogicalResult OperationEmulation::convertId(Op op, EmulatorRegister name,
                                            int64_t otherwise) {
  EmulatorBuilder b = at(op);
  // Emulated grids have only the x dimension. In the other dimensions, numbers
  // are 0 and extents are 1.
  Value value = op.getDimension() == gpu::Dimension::x ? b.read(name)
                                                       : b.constant(otherwise);
  op.replaceAllUsesWith(b.fromI64(value, op.getType()));
  op.erase();
  return success();
}

LogicalResult OperationEmulation::convertShuffle(gpu::ShuffleOp op) {
  Type type = op.getValue().getType();
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() != 32)
    return op.emitOpError("shuffles ")
           << type << "; the emulator only shuffles 32-bit numbers";
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

LogicalResult OperationEmulation::convertMma(NVVM::MmaOp op) {
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
    return op.emitOpError("is not supported by the emulator; expected m16n8 on "
                          "tf32 or bf16, with layouts row and col and an f32 "
                          "accumulator");
  Location loc = op.getLoc();
  EmulatorBuilder b = at(op);
  auto pointerType = LLVM::LLVMPointerType::get(op.getContext());
  auto store = [&](ValueRange values, Type element, int64_t capacity) {
    Value array;
    {
      // Allocate once per call of the function, not per iteration of a loop.
      OpBuilder::InsertionGuard guard(b.builder);
      b.builder.setInsertionPointToStart(
          &op->getParentOfType<func::FuncOp>().front());
      array = LLVM::AllocaOp::create(b.builder, loc, pointerType, element,
                                     b.constant(capacity));
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

/// Rounds f32 to a type with fewer fraction bits: the last `dropped` bits
/// become zero. Ties round to the even neighbor with `toEven`, and away from
/// zero otherwise. NaN becomes the NaN that GPUs return.
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
  // A carry out of the fraction also corrects the exponent.
  Value rounded = arith::AddIOp::create(b, loc, bits, half);
  rounded = arith::AndIOp::create(b, loc, rounded, constant(-ulp));
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
  return arith::SelectOp::create(b, loc, isNaN, constant(nan), rounded);
}

LogicalResult OperationEmulation::convertToTF32(NVVM::ConvertFloatToTF32Op op) {
  if (op.getRnd() != NVVM::FPRoundingMode::RNA ||
      op.getSat() != NVVM::SaturationMode::NONE || op.getRelu())
    return op.emitOpError("is not supported by the emulator; expected rounding "
                          "to nearest, ties away from zero, without saturation "
                          "or relu");
  OpBuilder b(op);
  op.replaceAllUsesWith(
      roundBits(b, op.getLoc(), op.getSrc(), 13, /*toEven=*/false));
  op.erase();
  return success();
}

LogicalResult
OperationEmulation::convertToBF16(NVVM::ConvertF32x2ToBF16x2Op op) {
  if (op.getRnd() != NVVM::FPRoundingMode::RN ||
      op.getSat() != NVVM::SaturationMode::NONE || op.getRelu())
    return op.emitOpError("is not supported by the emulator; expected rounding "
                          "to nearest, ties to even, without saturation or "
                          "relu");
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

/// Checks that only loads and stores use the address of `op`. Only the
/// conversions of loads and stores recognize memory on a thread's stack.
static LogicalResult checkAlloca(LLVM::AllocaOp op) {
  auto isAccess = [&](Operation *user) {
    auto store = dyn_cast<LLVM::StoreOp>(user);
    return isa<LLVM::LoadOp>(user) || (store && store.getAddr() == op.getRes());
  };
  if (llvm::all_of(op->getUsers(), isAccess))
    return success();
  return op.emitOpError("allocates memory whose address is used by operations "
                        "other than loads and stores, which the emulator does "
                        "not support");
}

LogicalResult OperationEmulation::checkPlain(Operation *op) {
  Dialect *dialect = op->getDialect();
  bool known =
      isa_and_nonnull<arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, LLVM::LLVMDialect, math::MathDialect,
                      scf::SCFDialect, vector::VectorDialect>(dialect);
  // The contents of regions are checked separately.
  bool plain = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
               op->hasTrait<OpTrait::IsTerminator>() ||
               isMemoryEffectFree(op) ||
               isa<LLVM::AssumeOp, LLVM::LaunderInvariantGroupOp>(op);
  if (known && plain)
    return success();
  return op->emitOpError("is not supported in an emulated kernel");
}

LogicalResult OperationEmulation::convert(Operation *op) {
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
      .Case([&](LLVM::AllocaOp alloca) { return checkAlloca(alloca); })
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
      .Default([&](Operation *other) { return checkPlain(other); });
}

LogicalResult mlir::batch::emulateOperation(Operation *op, Value thread,
                                            const DataLayout &layout,
                                            LocationStrings &locations) {
  return OperationEmulation(thread, layout, locations).convert(op);
}
