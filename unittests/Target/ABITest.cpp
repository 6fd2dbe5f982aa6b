//===- ABITest.cpp - Code follows the structs of the ABI ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This test is compiled twice: with the headers of batch-runtime, and with
// copies of them that have one more field before each field. In both cases, the
// code from builders must use the offsets of the C structs.
//
//===----------------------------------------------------------------------===//

#include "Batch/Target/ABI/ContextAccess.h"
#include "Batch/Target/ABI/EmulatorAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

namespace {

class ABITest : public testing::Test {
protected:
  ABITest() : builder(&context) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        LLVM::LLVMDialect, scf::SCFDialect>();
    Location loc = builder.getUnknownLoc();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    Type pointer = LLVM::LLVMPointerType::get(&context);
    auto function = func::FuncOp::create(
        builder, loc, "f", builder.getFunctionType({pointer, pointer}, {}));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    argument = body->getArgument(0);
    base = body->getArgument(1);
  }

  /// Returns the value of a constant in the code.
  static int64_t evaluate(Value value) {
    APInt number;
    EXPECT_TRUE(matchPattern(value, m_ConstantInt(&number)));
    return number.getSExtValue();
  }

  /// Returns the distance in bytes from a pointer to an address that code
  /// computes from it.
  static int64_t distance(Value from, Value address) {
    if (address == from)
      return 0;
    auto gep = address.getDefiningOp<LLVM::GEPOp>();
    if (!gep) {
      ADD_FAILURE() << "is no address behind the pointer";
      return -1;
    }
    EXPECT_EQ(gep.getIndices().size(), 1);
    auto index = *gep.getIndices().begin();
    int64_t number = isa<IntegerAttr>(index) ? cast<IntegerAttr>(index).getInt()
                                             : evaluate(cast<Value>(index));
    int64_t bytes = isa<LLVM::LLVMPointerType>(gep.getElemType())
                        ? 8
                        : gep.getElemType().getIntOrFloatBitWidth() / 8;
    return distance(from, gep.getBase()) + number * bytes;
  }

  /// Returns the address from which a value is loaded.
  static Value addressOf(Value loaded) {
    return loaded.getDefiningOp<LLVM::LoadOp>().getAddr();
  }

  template <class Op>
  Op lastOp() {
    return cast<Op>(builder.getInsertionBlock()->back());
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  Value argument, base;
};

TEST_F(ABITest, loadsAndStoresFieldsOfTheContext) {
  ContextBuilder cb(builder, builder.getUnknownLoc());
  auto check = [&](ContextField field, int64_t offset, bool isPointer) {
    Value value = cb.loadField(field);
    EXPECT_EQ(distance(argument, addressOf(value)), offset);
    EXPECT_EQ(isa<LLVM::LLVMPointerType>(value.getType()), isPointer);
    cb.storeField(field, value);
    EXPECT_EQ(distance(argument, lastOp<LLVM::StoreOp>().getAddr()), offset);
  };
#define BATCH_CONTEXT_FIELD(type, name)                                        \
  check(ContextField::name, offsetof(BatchContext, name),                      \
        std::is_pointer_v<type>);
#include "batch-runtime/ContextFields.def"
}

/// Returns the number of arguments of a function.
template <class Result, class... Arguments>
constexpr size_t count(Result (*)(Arguments...)) {
  return sizeof...(Arguments);
}

TEST_F(ABITest, callsRuntimeFunctions) {
  ContextBuilder cb(builder, builder.getUnknownLoc());
  auto check = [&](RuntimeFunction function, int64_t offset, size_t arguments,
                   bool hasResult) {
    cb.call(function, SmallVector<Value>(arguments - 1, base));
    auto call = lastOp<LLVM::CallOp>();
    Value callee = addressOf(call.getOperand(0));
    Value table = callee.getDefiningOp<LLVM::GEPOp>().getBase();
    EXPECT_EQ(distance(table, callee), offset);
    EXPECT_EQ(distance(argument, addressOf(table)),
              int64_t(offsetof(BatchContext, runtime)));
    EXPECT_EQ(call.getNumOperands(), arguments + 1);
    EXPECT_EQ(call.getNumResults() != 0, hasResult);
  };
#define BATCH_RUNTIME_FUNCTION(result, name, parameters)                       \
  check(RuntimeFunction::name, offsetof(BatchRuntimeFunctions, name),          \
        count(decltype(BatchRuntimeFunctions::name)()),                        \
        !std::is_void_v<result>);
#include "batch-runtime/RuntimeFunctions.def"
}

TEST_F(ABITest, findsSourcesAndQueues) {
  ContextBuilder cb(builder, builder.getUnknownLoc());
  Value rows = addressOf(cb.countRows(/*source=*/3));
  Value sources = rows.getDefiningOp<LLVM::GEPOp>().getBase();
  EXPECT_EQ(distance(sources, rows),
            int64_t(3 * sizeof(BatchSource) + offsetof(BatchSource, rows)));
  Value queue = cb.getQueue(/*kernel=*/2);
  EXPECT_EQ(distance(queue.getDefiningOp<LLVM::GEPOp>().getBase(), queue),
            int64_t(2 * sizeof(BatchQueue)));
  cb.reserveRecords(base, /*kernel=*/2, cb.constant(64));
  std::vector<int64_t> found;
  for (auto load : builder.getInsertionBlock()->getOps<LLVM::LoadOp>())
    if (auto gep = load.getAddr().getDefiningOp<LLVM::GEPOp>();
        gep && gep.getBase() == base)
      found.push_back(distance(base, gep));
  EXPECT_EQ(found, (std::vector<int64_t>{offsetof(BatchQueue, end),
                                         offsetof(BatchQueue, limit)}));
}

TEST_F(ABITest, findsFieldsOfArraysOfStructs) {
  ContextBuilder cb(builder, builder.getUnknownLoc());
  auto offset = [&](Value loaded) { return distance(base, addressOf(loaded)); };
  EXPECT_EQ(offset(cb.loadPointer(base, kStepResults)),
            int64_t(offsetof(BatchStep, results)));
  EXPECT_EQ(offset(cb.loadCell(base, kLanesNow)),
            int64_t(offsetof(BatchLanes, now)));
  EXPECT_EQ(offset(cb.loadPointer(base, 5, kStepCells, kStepResults)),
            int64_t(5 * sizeof(BatchStep) + offsetof(BatchStep, results)));
  EXPECT_EQ(
      offset(cb.loadPointer(base, 3, kVariableCells, kVariableStack)),
      int64_t(3 * sizeof(BatchVariable) + offsetof(BatchVariable, stack)));
  cb.storeCell(base, kStepCount, cb.constant(1));
  EXPECT_EQ(distance(base, lastOp<LLVM::StoreOp>().getAddr()),
            int64_t(offsetof(BatchStep, count)));
}

TEST_F(ABITest, knowsTheFieldsThatCodeDoesNotName) {
  constexpr Field fields[] = {kOperandBase, kOperandRows, kOperandOffsets};
  std::vector<int64_t> cells;
  for (int64_t cell : listOtherCells<BatchOperand>(fields))
    cells.push_back(cell);
  EXPECT_EQ(cells.size() + std::size(fields),
            sizeof(BatchOperand) / kCellBytes);
  for (Field field : fields)
    EXPECT_FALSE(llvm::is_contained(cells, field.cell()));
}

TEST_F(ABITest, usesTheEmulator) {
  Operation *op = func::ReturnOp::create(builder, builder.getUnknownLoc());
  LocationStrings locations(*module);
  EmulatorBuilder emulator(op, base, locations);
  auto check = [&](EmulatorRegister name, int64_t offset) {
    EXPECT_EQ(distance(base, addressOf(emulator.read(name))), offset);
  };
#define BATCH_EMULATOR_REGISTER(name)                                          \
  check(EmulatorRegister::name, offsetof(BatchEmulatorThread, name));
#include "batch-runtime/EmulatorFunctions.def"
  EXPECT_EQ(distance(base, addressOf(emulator.sharedAddress(0))),
            int64_t(offsetof(BatchEmulatorThread, shared)));

  auto checkCall = [&](EmulatorFunction function, int64_t offset,
                       size_t arguments, bool hasResult) {
    // call() adds the first argument (the thread) and the last (the location).
    emulator.call(function, SmallVector<Value>(arguments - 2, base));
    auto call = cast<LLVM::CallOp>(op->getPrevNode());
    Value callee = addressOf(call.getOperand(0));
    Value table = callee;
    if (auto gep = callee.getDefiningOp<LLVM::GEPOp>())
      table = gep.getBase();
    EXPECT_EQ(distance(table, callee), offset);
    EXPECT_EQ(distance(base, addressOf(table)),
              int64_t(offsetof(BatchEmulatorThread, functions)));
    EXPECT_EQ(call.getNumOperands(), arguments + 1);
    EXPECT_EQ(call.getNumResults() != 0, hasResult);
  };
#define BATCH_EMULATOR_FUNCTION(result, name, parameters)                      \
  checkCall(EmulatorFunction::name, offsetof(BatchEmulatorFunctions, name),    \
            count(decltype(BatchEmulatorFunctions::name)()),                   \
            !std::is_void_v<result>);
#include "batch-runtime/EmulatorFunctions.def"
}

} // namespace
