//===- ContextAccess.cpp - IR that reads and writes the context -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Conversion/RecToLLVM/ContextAccess.h"
#include "batch-runtime/ABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include <type_traits>

using namespace mlir;
using namespace mlir::batch;

/// Whether a field of the context is a pointer.
static bool isPointer(ContextField field) {
  static constexpr bool table[] = {
#define BATCH_CONTEXT_FIELD(type, name) std::is_pointer_v<type>,
#include "batch-runtime/ContextFields.def"
  };
  return table[static_cast<int32_t>(field)];
}

/// The result and argument types of a runtime function, as in
/// RuntimeFunctions.def.
static StringRef getSignature(RuntimeFunction function) {
  static constexpr const char *table[] = {
#define BATCH_RUNTIME_FUNCTION(result, name, parameters, signature) signature,
#include "batch-runtime/RuntimeFunctions.def"
  };
  return table[static_cast<int32_t>(function)];
}

LogicalResult batch::addContextArgument(ModuleOp module,
                                        ArrayRef<func::FuncOp> functions) {
  auto pointerType = LLVM::LLVMPointerType::get(module.getContext());
  llvm::DenseSet<StringAttr> names;
  for (func::FuncOp function : functions) {
    if (function.isExternal())
      return function.emitOpError(
          "is only declared; a function of the program needs a body");
    if (failed(function.insertArgument(0, pointerType, {}, function.getLoc())))
      return failure();
    names.insert(function.getSymNameAttr());
  }
  WalkResult result = module.walk([&](func::CallOp call) {
    if (!names.contains(call.getCalleeAttr().getAttr()))
      return WalkResult::advance();
    auto caller = call->getParentOfType<func::FuncOp>();
    if (!caller || !names.contains(caller.getSymNameAttr())) {
      call.emitOpError("calls a function that needs the context from one that "
                       "has none");
      return WalkResult::interrupt();
    }
    call->insertOperands(0, caller.getArgument(0));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

Value batch::getContext(Operation *op) {
  return op->getParentOfType<FunctionOpInterface>().getArgument(0);
}

ContextBuilder::ContextBuilder(OpBuilder &builder, Location loc, Value context)
    : builder(builder), loc(loc), context(context),
      pointerType(LLVM::LLVMPointerType::get(builder.getContext())),
      cellType(builder.getI64Type()) {
  if (!context) {
    Operation *parent = builder.getInsertionBlock()->getParentOp();
    auto function = dyn_cast<FunctionOpInterface>(parent);
    if (!function)
      function = parent->getParentOfType<FunctionOpInterface>();
    this->context = function.getArgument(0);
  }
}

Value ContextBuilder::constant(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, cellType, value);
}

/// The address of the word with that number behind `base`.
static Value wordAddress(OpBuilder &builder, Location loc, Value base,
                         int32_t number) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI64Type(),
                             base, ArrayRef<LLVM::GEPArg>{number});
}

Value ContextBuilder::loadField(ContextField field) {
  Value where = wordAddress(builder, loc, context, static_cast<int32_t>(field));
  Type type = isPointer(field) ? pointerType : cellType;
  return LLVM::LoadOp::create(builder, loc, type, where);
}

void ContextBuilder::storeField(ContextField field, Value value) {
  Value where = wordAddress(builder, loc, context, static_cast<int32_t>(field));
  LLVM::StoreOp::create(builder, loc, value, where);
}

Value ContextBuilder::call(RuntimeFunction function, ValueRange arguments) {
  StringRef signature = getSignature(function);
  auto getType = [&](char letter) -> Type {
    switch (letter) {
    case 'p':
      return pointerType;
    case 'l':
      return cellType;
    default:
      return LLVM::LLVMVoidType::get(builder.getContext());
    }
  };
  SmallVector<Type> types =
      llvm::map_to_vector(signature.drop_front(), getType);
  auto type = LLVM::LLVMFunctionType::get(getType(signature.front()), types);
  Value table = loadField(ContextField::runtime);
  Value callee = LLVM::LoadOp::create(
      builder, loc, pointerType,
      wordAddress(builder, loc, table, static_cast<int32_t>(function)));
  SmallVector<Value> operands{callee, context};
  llvm::append_range(operands, arguments);
  auto call = LLVM::CallOp::create(builder, loc, type, operands);
  return call.getNumResults() ? call.getResult() : Value();
}

void ContextBuilder::fail(int64_t errorCode, Value a, Value b) {
  call(RuntimeFunction::fail, {constant(errorCode), a, b});
}

Value ContextBuilder::address(Value base, Value index, Type elementType) {
  return LLVM::GEPOp::create(builder, loc, pointerType, elementType, base,
                             ArrayRef<LLVM::GEPArg>{toCell(index)});
}

Value ContextBuilder::loadCell(Value base, Value index) {
  return LLVM::LoadOp::create(builder, loc, cellType,
                              address(base, index, cellType));
}

void ContextBuilder::storeCell(Value base, Value index, Value cell) {
  LLVM::StoreOp::create(builder, loc, cell, address(base, index, cellType));
}

Value ContextBuilder::loadPointer(Value base, int64_t index) {
  return LLVM::LoadOp::create(builder, loc, pointerType,
                              wordAddress(builder, loc, base, index));
}

Value ContextBuilder::toCell(Value value) {
  Type type = value.getType();
  if (type == cellType)
    return value;
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, loc, cellType, value);
  unsigned width = type.getIntOrFloatBitWidth();
  if (isa<FloatType>(type)) {
    value = arith::BitcastOp::create(builder, loc,
                                     builder.getIntegerType(width), value);
    return width == 64 ? value
                       : arith::ExtUIOp::create(builder, loc, cellType, value)
                             .getResult();
  }
  if (width == 1)
    return arith::ExtUIOp::create(builder, loc, cellType, value);
  return arith::ExtSIOp::create(builder, loc, cellType, value);
}

Value ContextBuilder::fromCell(Value cell, Type type) {
  if (type == cellType)
    return cell;
  if (isa<IndexType>(type))
    return arith::IndexCastOp::create(builder, loc, type, cell);
  unsigned width = type.getIntOrFloatBitWidth();
  Value bits = cell;
  if (width != 64)
    bits = arith::TruncIOp::create(builder, loc, builder.getIntegerType(width),
                                   cell);
  if (isa<FloatType>(type))
    return arith::BitcastOp::create(builder, loc, type, bits);
  return bits;
}

Value ContextBuilder::loadNodeCell(Value node, int64_t field) {
  Value column = loadPointer(loadField(ContextField::cells), field);
  return loadCell(column, node);
}

void ContextBuilder::storeNodeCell(Value node, int64_t field, Value cell) {
  Value column = loadPointer(loadField(ContextField::cells), field);
  storeCell(column, node, cell);
}

Value ContextBuilder::loadVariant(Value node) {
  Type byteType = builder.getI8Type();
  Value where = address(loadField(ContextField::variants), node, byteType);
  Value variant = LLVM::LoadOp::create(builder, loc, byteType, where);
  return arith::ExtUIOp::create(builder, loc, cellType, variant);
}

Value ContextBuilder::makeNode(int64_t variant) {
  Value node = loadField(ContextField::numNodes);
  Value capacity = loadField(ContextField::nodeCapacity);
  Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       node, capacity);
  scf::IfOp::create(builder, loc, isFull, [&](OpBuilder &nested, Location loc) {
    ContextBuilder(nested, loc, context).call(RuntimeFunction::growNodes, {});
    scf::YieldOp::create(nested, loc);
  });
  Value count = arith::AddIOp::create(builder, loc, node, constant(1));
  storeField(ContextField::numNodes, count);
  Type byteType = builder.getI8Type();
  Value number = arith::ConstantIntOp::create(builder, loc, byteType, variant);
  Value where = address(loadField(ContextField::variants), node, byteType);
  LLVM::StoreOp::create(builder, loc, number, where);
  return node;
}

Value ContextBuilder::listLength(Value list) {
  return arith::ShRUIOp::create(builder, loc, list, constant(32));
}

Value ContextBuilder::listBegin(Value list) {
  return arith::AndIOp::create(builder, loc, list, constant(0xffffffff));
}

Value ContextBuilder::makeList(Value length, Value begin) {
  Value high = arith::ShLIOp::create(builder, loc, length, constant(32));
  return arith::OrIOp::create(builder, loc, high, begin);
}

Value ContextBuilder::loadEntry(Value index) {
  return loadCell(loadField(ContextField::listPool), index);
}

void ContextBuilder::storeEntry(Value index, Value cell) {
  storeCell(loadField(ContextField::listPool), index, cell);
}

Value ContextBuilder::reserveEntries(Value count) {
  Value begin = loadField(ContextField::listSize);
  Value capacity = loadField(ContextField::listCapacity);
  Value end = arith::AddIOp::create(builder, loc, begin, count);
  Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                       end, capacity);
  scf::IfOp::create(builder, loc, isFull, [&](OpBuilder &nested, Location loc) {
    ContextBuilder(nested, loc, context)
        .call(RuntimeFunction::growList, {count});
    scf::YieldOp::create(nested, loc);
  });
  storeField(ContextField::listSize, end);
  return begin;
}
