//===- EmulatorAccess.cpp - IR that uses the GPU emulator -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Target/ABI/EmulatorAccess.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::batch;

#define BATCH_THREAD_FIELD(name)                                               \
  abi::makeField<decltype(BatchEmulatorThread::name)>(                         \
      offsetof(BatchEmulatorThread, name))

static constexpr abi::Field threadRegisters[] = {
#define BATCH_EMULATOR_REGISTER(name) BATCH_THREAD_FIELD(name),
#include "batch-runtime/EmulatorFunctions.def"
};

static constexpr abi::Callee emulatorFunctions[] = {
#define BATCH_EMULATOR_FUNCTION(result, name, parameters)                      \
  {abi::makeField<decltype(BatchEmulatorFunctions::name)>(                     \
       offsetof(BatchEmulatorFunctions, name)),                                \
   abi::Signature<decltype(BatchEmulatorFunctions::name)>::letters},
#include "batch-runtime/EmulatorFunctions.def"
};

LLVM::GlobalOp LocationStrings::get(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (auto place = op->getLoc()->findInstanceOf<FileLineColRange>())
    text = (llvm::sys::path::filename(place.getFilename().getValue()) + ":" +
            Twine(place.getStartLine()) + ":" + Twine(place.getStartColumn()))
               .str();
  LLVM::GlobalOp &global = globals[text];
  if (global)
    return global;
  OpBuilder builder(op->getContext());
  text.push_back('\0');
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
  global = LLVM::GlobalOp::create(builder, builder.getUnknownLoc(), type,
                                  /*isConstant=*/true, LLVM::Linkage::Internal,
                                  "where", builder.getStringAttr(text));
  symbols.insert(global, body->begin());
  return global;
}

EmulatorBuilder::EmulatorBuilder(Operation *op, Value thread,
                                 LocationStrings &locations)
    : builder(op), op(op), loc(op->getLoc()), thread(thread),
      locations(locations),
      pointerType(LLVM::LLVMPointerType::get(op->getContext())),
      cellType(builder.getI64Type()) {}

Value EmulatorBuilder::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, cellType,
                                  builder.getI64IntegerAttr(value));
}

Value EmulatorBuilder::address(Value base, int64_t index, Type elementType) {
  if (index == 0)
    return base;
  return LLVM::GEPOp::create(builder, loc, pointerType, elementType, base,
                             ArrayRef<LLVM::GEPArg>{int32_t(index)});
}

/// Loads a value that does not change while a thread runs.
static Value loadFixed(OpBuilder &builder, Location loc, Type type,
                       Value where) {
  auto load = LLVM::LoadOp::create(builder, loc, type, where);
  load.setInvariant(true);
  return load;
}

Value EmulatorBuilder::read(EmulatorRegister name) {
  int64_t cell = threadRegisters[static_cast<int32_t>(name)].cell();
  return loadFixed(builder, loc, cellType, address(thread, cell, cellType));
}

Value EmulatorBuilder::sharedAddress(int64_t offset) {
  Value shared =
      loadFixed(builder, loc, pointerType,
                address(thread, BATCH_THREAD_FIELD(shared).cell(), cellType));
  return address(shared, offset, builder.getI8Type());
}

Value EmulatorBuilder::call(EmulatorFunction function, ValueRange arguments) {
  auto getType = [&](char letter) -> Type {
    return letter == 'p'   ? pointerType
           : letter == 'l' ? cellType
                           : LLVM::LLVMVoidType::get(builder.getContext());
  };
  const abi::Callee &facts = emulatorFunctions[static_cast<int32_t>(function)];
  StringRef signature = facts.signature;
  SmallVector<Type> types =
      llvm::map_to_vector(signature.drop_front(), getType);
  auto type = LLVM::LLVMFunctionType::get(getType(signature.front()), types);
  Value table = loadFixed(
      builder, loc, pointerType,
      address(thread, BATCH_THREAD_FIELD(functions).cell(), cellType));
  Value callee = loadFixed(builder, loc, pointerType,
                           address(table, facts.address.cell(), cellType));
  SmallVector<Value> operands{callee, thread};
  llvm::append_range(operands, arguments);
  operands.push_back(
      LLVM::AddressOfOp::create(builder, loc, locations.get(op)));
  auto call = LLVM::CallOp::create(builder, loc, type, operands);
  return call.getNumResults() ? call.getResult() : Value();
}

Value EmulatorBuilder::toI64(Value value) {
  Type type = value.getType();
  if (type == cellType)
    return value;
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, loc, cellType, value);
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::PtrToIntOp::create(builder, loc, cellType, value);
  Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (isa<FloatType>(type))
    value = arith::BitcastOp::create(builder, loc, bits, value);
  if (bits == cellType)
    return value;
  return arith::ExtUIOp::create(builder, loc, cellType, value);
}

Value EmulatorBuilder::fromI64(Value bits, Type type) {
  if (type == cellType)
    return bits;
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, loc, type, bits);
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::IntToPtrOp::create(builder, loc, type, bits);
  Type narrow = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (narrow != cellType)
    bits = arith::TruncIOp::create(builder, loc, narrow, bits);
  if (isa<FloatType>(type))
    bits = arith::BitcastOp::create(builder, loc, type, bits);
  return bits;
}
