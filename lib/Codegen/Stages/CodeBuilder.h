//===- CodeBuilder.h - Builder of address-level code ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_CODEBUILDER_H
#define BATCH_CODEGEN_STAGES_CODEBUILDER_H

#include "Batch/Target/ABI/ABILayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <map>

namespace mlir::uprog {

/// ImplicitLocOpBuilder for code over i64 values and raw pointers. Each
/// constant is built once per function, so equal constants are the same SSA
/// value.
class CodeBuilder : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// Starts the body of `function`.
  void beginFunction(func::FuncOp function);

  Value constant(int64_t value);
  Value add(Value a, Value b) { return makeOrFold<arith::AddIOp>(a, b); }
  Value sub(Value a, Value b) { return makeOrFold<arith::SubIOp>(a, b); }
  Value mul(Value a, Value b) { return makeOrFold<arith::MulIOp>(a, b); }
  /// Requires non-negative values, as does rem().
  Value div(Value a, Value b) { return makeOrFold<arith::DivUIOp>(a, b); }
  Value rem(Value a, Value b) { return makeOrFold<arith::RemUIOp>(a, b); }
  Value min(Value a, Value b) { return makeOrFold<arith::MinSIOp>(a, b); }
  Value max(Value a, Value b) { return makeOrFold<arith::MaxSIOp>(a, b); }
  Value less(Value a, Value b);

  /// Address space of rows and of the structs that describe them.
  unsigned addressSpace = 0;
  Type ptrType() {
    return LLVM::LLVMPointerType::get(getContext(), addressSpace);
  }
  /// Returns `pointer` + `bytes`.
  Value offset(Value pointer, Value bytes);
  Value load(Type type, Value pointer, int64_t alignment);
  void store(Value value, Value pointer, int64_t alignment);
  /// Loads a field (a pointer or an i64) of the struct at `base`, or of struct
  /// `index` of an array. Each struct of the array has `structCells` cells.
  Value loadField(Value base, batch::abi::Field field);
  Value loadField(Value array, int64_t index, int64_t structCells,
                  batch::abi::Field field);
  /// Loads pointer `index` of an array of pointers.
  Value loadPointer(Value array, int64_t index);

  using Values = SmallVector<Value>;
  using LoopBody = llvm::function_ref<Values(Value, ValueRange)>;
  /// Builds `for (i = lower; i < upper; i += step)` with carried values.
  Values loop(Value lower, Value upper, int64_t step, ValueRange init,
              LoopBody body);
  Values loop(Value lower, Value upper, Value step, ValueRange init,
              LoopBody body);
  void loop(Value lower, Value upper, int64_t step,
            llvm::function_ref<void(Value)> body);
  void loop(Value lower, Value upper, Value step,
            llvm::function_ref<void(Value)> body);
  /// Returns the selected value, or null if a callback returns null.
  Value select(Value condition, llvm::function_ref<Value()> whenTrue,
               llvm::function_ref<Value()> whenFalse);
  /// Returns the selected values, one for each of `types`.
  Values select(Value condition, TypeRange types,
                llvm::function_ref<Values()> whenTrue,
                llvm::function_ref<Values()> whenFalse);
  void when(Value condition, llvm::function_ref<void()> whenTrue,
            llvm::function_ref<void()> whenFalse = {});

  /// Callback for the beginning and the end of each region of loops and
  /// conditions.
  std::function<void(bool enter)> onRegion;

private:
  Block *entry = nullptr;
  std::map<int64_t, Value> constants;
  template <typename OpTy>
  Value makeOrFold(Value a, Value b) {
    Value result = createOrFold<OpTy>(a, b);
    return result == a || result == b ? result : unique(result);
  }
  /// Returns the function's constant with the value of `folded`, or `folded`
  /// itself if it is not an i64 constant.
  Value unique(Value folded);
  void region(bool enter) {
    if (onRegion)
      onRegion(enter);
  }
};

/// Makes a function internal to its module.
void makeInternal(func::FuncOp function);

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_CODEBUILDER_H
