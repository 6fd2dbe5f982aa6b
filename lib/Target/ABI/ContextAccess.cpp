//===- ContextAccess.cpp - IR that reads and writes the context -----------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Target/ABI/ContextAccess.h"
#include "Batch/Dialect/Batch/TableLayout.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::batch;

static constexpr abi::Field contextFields[] = {
#define BATCH_CONTEXT_FIELD(type, name)                                        \
  abi::makeField<type>(offsetof(BatchContext, name)),
#include "batch-runtime/ContextFields.def"
};

static constexpr abi::Field getField(ContextField field) {
  return contextFields[static_cast<int32_t>(field)];
}

static constexpr abi::Callee runtimeFunctions[] = {
#define BATCH_RUNTIME_FUNCTION(result, name, parameters)                       \
  {abi::makeField<decltype(BatchRuntimeFunctions::name)>(                      \
       offsetof(BatchRuntimeFunctions, name)),                                 \
   abi::Signature<decltype(BatchRuntimeFunctions::name)>::letters},
#include "batch-runtime/RuntimeFunctions.def"
};

LogicalResult batch::addContextArgument(ModuleOp module,
                                        ArrayRef<func::FuncOp> functions) {
  auto pointerType = LLVM::LLVMPointerType::get(module.getContext());
  llvm::DenseSet<StringAttr> names;
  for (func::FuncOp function : functions) {
    if (function.isExternal())
      return function.emitOpError(
          "is only declared; functions of the program require a body");
    if (failed(function.insertArgument(0, pointerType, {}, function.getLoc())))
      return failure();
    names.insert(function.getSymNameAttr());
  }
  WalkResult result = module.walk([&](func::CallOp call) {
    if (!names.contains(call.getCalleeAttr().getAttr()))
      return WalkResult::advance();
    auto caller = call->getParentOfType<func::FuncOp>();
    if (!caller || !names.contains(caller.getSymNameAttr())) {
      call.emitOpError("calls a function that requires the context, but the "
                       "caller has no context");
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
      pointerType(context ? context.getType()
                          : LLVM::LLVMPointerType::get(builder.getContext())),
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

/// Returns the address of word `number` after `base`.
static Value wordAddress(OpBuilder &builder, Location loc, Value base,
                         int32_t number) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI64Type(),
                             base, ArrayRef<LLVM::GEPArg>{number});
}

/// Returns the TBAA tag of an access. Two accesses of different kinds never
/// overlap. Without the tags, LLVM would reload every base after every store.
static LLVM::TBAATagAttr getTag(MLIRContext *context, MemoryKind kind) {
  static constexpr StringLiteral names[] = {"batch bases", "batch counters",
                                            "batch queues", "batch cells",
                                            "batch variants"};
  auto root =
      LLVM::TBAARootAttr::get(context, StringAttr::get(context, "batch"));
  auto type =
      LLVM::TBAATypeDescriptorAttr::get(context, names[static_cast<int>(kind)],
                                        LLVM::TBAAMemberAttr::get(root, 0));
  return LLVM::TBAATagAttr::get(type, type, 0);
}

Value ContextBuilder::load(Type type, Value where, MemoryKind kind) {
  auto load = LLVM::LoadOp::create(builder, loc, type, where);
  load.setTBAATags(builder.getArrayAttr(getTag(builder.getContext(), kind)));
  return load;
}

void ContextBuilder::store(Value value, Value where, MemoryKind kind) {
  auto store = LLVM::StoreOp::create(builder, loc, value, where);
  store.setTBAATags(builder.getArrayAttr(getTag(builder.getContext(), kind)));
}

/// Returns the kind of a field. Pointers change only in runtime functions. The
/// same is true of numbers that compiled code never stores, but these are not
/// worth a separate kind.
static MemoryKind getKind(abi::Field field) {
  return field.isPointer ? MemoryKind::Base : MemoryKind::Counter;
}

Value ContextBuilder::loadField(ContextField name) {
  abi::Field field = getField(name);
  Value where = wordAddress(builder, loc, context, field.cell());
  return load(field.isPointer ? pointerType : cellType, where, getKind(field));
}

void ContextBuilder::storeField(ContextField name, Value value) {
  abi::Field field = getField(name);
  store(value, wordAddress(builder, loc, context, field.cell()),
        getKind(field));
}

Value ContextBuilder::call(RuntimeFunction function, ValueRange arguments) {
  const abi::Callee &facts = runtimeFunctions[static_cast<int32_t>(function)];
  StringRef signature = facts.signature;
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
  Value callee =
      load(pointerType, wordAddress(builder, loc, table, facts.address.cell()),
           MemoryKind::Base);
  SmallVector<Value> operands{callee, context};
  llvm::append_range(operands, arguments);
  auto call = LLVM::CallOp::create(builder, loc, type, operands);
  return call.getNumResults() ? call.getResult() : Value();
}

/// Marks the current insertion point as unreachable.
static void markUnreachable(OpBuilder &builder, Location loc) {
  Type bit = builder.getI1Type();
  LLVM::AssumeOp::create(builder, loc,
                         arith::ConstantIntOp::create(builder, loc, bit, 0));
}

void ContextBuilder::fail(int64_t errorCode, Value a, Value b) {
  call(RuntimeFunction::fail, {constant(errorCode), a, b});
  markUnreachable(builder, loc);
}

void ContextBuilder::endIfCancelled(Value worker) {
  Type word = builder.getI32Type();
  Value requested = LLVM::LoadOp::create(
      builder, loc, word, loadField(ContextField::cancelled), /*alignment=*/4,
      /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
  Value zero = arith::ConstantIntOp::create(builder, loc, word, 0);
  Value ends = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                     requested, zero);
  scf::IfOp::create(builder, loc, ends, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, context);
    if (worker) {
      inner.call(RuntimeFunction::leave, worker);
      markUnreachable(then, loc);
    } else {
      inner.fail(BATCH_ERROR_CANCELLED, inner.constant(0), inner.constant(0));
    }
    scf::YieldOp::create(then, loc);
  });
}

void ContextBuilder::countEnded() {
  LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::add,
                            loadField(ContextField::ended), constant(1),
                            LLVM::AtomicOrdering::monotonic);
}

Value ContextBuilder::address(Value base, Value index, Type elementType) {
  return LLVM::GEPOp::create(builder, loc, pointerType, elementType, base,
                             ArrayRef<LLVM::GEPArg>{toCell(index)});
}

Value ContextBuilder::loadCell(Value base, Value index, MemoryKind kind) {
  return load(cellType, address(base, index, cellType), kind);
}

void ContextBuilder::storeCell(Value base, Value index, Value cell,
                               MemoryKind kind) {
  store(cell, address(base, index, cellType), kind);
}

Value ContextBuilder::loadPointer(Value base, int64_t index) {
  return load(pointerType, wordAddress(builder, loc, base, index),
              MemoryKind::Base);
}

Value ContextBuilder::loadPointer(Value array, int64_t index,
                                  int64_t structCells, abi::Field field) {
  return loadPointer(array, index * structCells + field.cell());
}

Value ContextBuilder::loadPointer(Value base, abi::Field field) {
  assert(field.isPointer);
  return loadPointer(base, field.cell());
}

Value ContextBuilder::loadCell(Value base, abi::Field field, MemoryKind kind) {
  return loadCell(base, constant(field.cell()), kind);
}

void ContextBuilder::storeCell(Value base, abi::Field field, Value cell,
                               MemoryKind kind) {
  storeCell(base, constant(field.cell()), cell, kind);
}

void ContextBuilder::copyBytes(Value from, Value to, Value begin, Value end) {
  constexpr int64_t chunk = 64;
  Type piece = VectorType::get(chunk / 4, builder.getI32Type());
  scf::ForOp::create(
      builder, loc, begin, end, constant(chunk), ValueRange(),
      [&](OpBuilder &nested, Location, Value offset, ValueRange) {
        auto at = [&](Value row) -> Value {
          Value place = arith::AddIOp::create(nested, loc, row, offset);
          return LLVM::IntToPtrOp::create(nested, loc, pointerType, place);
        };
        Value value = LLVM::LoadOp::create(nested, loc, piece, at(from));
        LLVM::StoreOp::create(nested, loc, value, at(to));
        scf::YieldOp::create(nested, loc);
      });
}

Value ContextBuilder::loadElement(RankedTensorType type, Value row,
                                  ValueRange indices) {
  Type element = type.getElementType();
  int64_t bytes = elementBytes(element);
  // The stride is in bytes. Each row along the last dimension is padded.
  int64_t stride = bytes;
  Value address = row;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    Value offset =
        arith::MulIOp::create(builder, loc, indices[dim], constant(stride));
    address = arith::AddIOp::create(builder, loc, address, offset);
    if (dim == 0)
      break;
    stride *= type.getDimSize(dim);
    if (dim + 1 == type.getRank())
      stride = llvm::alignTo(stride, 64);
  }
  Value pointer = LLVM::IntToPtrOp::create(builder, loc, pointerType, address);
  Type stored =
      isa<FloatType>(element) ? element : builder.getIntegerType(bytes * 8);
  Value loaded = LLVM::LoadOp::create(builder, loc, stored, pointer);
  if (element.isIndex())
    return fromCell(loaded, element);
  if (stored != element)
    return arith::TruncIOp::create(builder, loc, element, loaded);
  return loaded;
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
  Value variant = load(byteType, where, MemoryKind::Variant);
  return arith::ExtUIOp::create(builder, loc, cellType, variant);
}

void ContextBuilder::growIf(Value isFull, RuntimeFunction function,
                            ValueRange arguments) {
  scf::IfOp::create(builder, loc, isFull, [&](OpBuilder &nested, Location loc) {
    ContextBuilder(nested, loc, context).call(function, arguments);
    scf::YieldOp::create(nested, loc);
  });
}

void ContextBuilder::reserveNodes(Value count) {
  Value end = arith::AddIOp::create(builder, loc,
                                    loadField(ContextField::numNodes), count);
  Value isFull =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, end,
                            loadField(ContextField::nodeCapacity));
  growIf(isFull, RuntimeFunction::growNodes, {count});
}

Value ContextBuilder::makeNode(int64_t variant, bool reserved) {
  if (!reserved)
    reserveNodes(constant(1));
  Value node = loadField(ContextField::numNodes);
  Value count = arith::AddIOp::create(builder, loc, node, constant(1));
  storeField(ContextField::numNodes, count);
  Type byteType = builder.getI8Type();
  Value number = arith::ConstantIntOp::create(builder, loc, byteType, variant);
  Value where = address(loadField(ContextField::variants), node, byteType);
  store(number, where, MemoryKind::Variant);
  return node;
}

Value ContextBuilder::countRows(int64_t source) {
  Value cell = constant(source * abi::kSourceCells + abi::kSourceRows.cell());
  return loadCell(loadField(ContextField::sources), cell, MemoryKind::Base);
}

Value ContextBuilder::getQueue(int64_t kernel) {
  return address(loadField(ContextField::queues),
                 constant(kernel * abi::kQueueBytes), builder.getI8Type());
}

void ContextBuilder::reserveRecords(Value queue, int64_t kernel, Value bytes) {
  Value end = loadCell(queue, abi::kQueueEnd, MemoryKind::Queue);
  Value limit = loadCell(queue, abi::kQueueLimit, MemoryKind::Queue);
  Value available = arith::SubIOp::create(builder, loc, limit, end);
  Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       available, bytes);
  growIf(isFull, RuntimeFunction::growQueue, {constant(kernel), bytes});
}

Value ContextBuilder::listLength(Value list) {
  return arith::ShRUIOp::create(builder, loc, list, constant(32));
}

Value ContextBuilder::listBegin(Value list) {
  return arith::AndIOp::create(builder, loc, list, constant(BATCH_LIST_FIRST));
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
  Value end = arith::AddIOp::create(builder, loc,
                                    loadField(ContextField::listSize), count);
  Value isFull =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, end,
                            loadField(ContextField::listCapacity));
  growIf(isFull, RuntimeFunction::growList, {count});
  // Load the size again, because the free entries may have moved.
  Value begin = loadField(ContextField::listSize);
  storeField(ContextField::listSize,
             arith::AddIOp::create(builder, loc, begin, count));
  return begin;
}
