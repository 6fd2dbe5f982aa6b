//===- WordMath.h - 32-bit numbers in code ----------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_GPU_WORDMATH_H
#define BATCH_CODEGEN_GPU_WORDMATH_H

#include "../Stages/CodeBuilder.h"

namespace mlir::uprog {

/// Arithmetic on i32 values that are not negative, except where noted. A GPU
/// needs two to four instructions for a 64-bit operation, and many more for a
/// 64-bit quotient. A step with few rows waits for these instructions.
class WordMath {
public:
  using Number = Value;

  explicit WordMath(CodeBuilder &b) : b(b) {}

  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(x, y); }
  /// The result may be negative.
  Value sub(Value x, Value y) { return b.createOrFold<arith::SubIOp>(x, y); }
  Value mul(Value x, Value y) { return b.createOrFold<arith::MulIOp>(x, y); }
  Value div(Value x, Value y) { return b.createOrFold<arith::DivUIOp>(x, y); }
  Value rem(Value x, Value y) { return b.createOrFold<arith::RemUIOp>(x, y); }
  Value shiftLeft(Value x, Value y) {
    return b.createOrFold<arith::ShLIOp>(x, y);
  }
  Value shiftRight(Value x, Value y) {
    return b.createOrFold<arith::ShRUIOp>(x, y);
  }
  /// min(), less(), equal() and choose() also accept negative numbers.
  Value min(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(x, y); }
  Value less(Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, x, y);
  }
  Value equal(Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, x, y);
  }
  Value both(Value x, Value y) { return b.createOrFold<arith::AndIOp>(x, y); }
  Value either(Value x, Value y) { return b.createOrFold<arith::OrIOp>(x, y); }
  Value choose(Value condition, Value x, Value y) {
    return b.createOrFold<arith::SelectOp>(condition, x, y);
  }

  Value add(Value x, int64_t y) { return add(x, constant(y)); }
  Value sub(Value x, int64_t y) { return sub(x, constant(y)); }
  Value mul(Value x, int64_t y) { return mul(x, constant(y)); }
  Value div(Value x, int64_t y) { return div(x, constant(y)); }
  Value rem(Value x, int64_t y) { return rem(x, constant(y)); }

  /// Converts an i64, which code outside of this class uses, to an i32; widen()
  /// converts back.
  Value narrow(Value number) {
    return b.createOrFold<arith::TruncIOp>(b.getI32Type(), number);
  }
  Value widen(Value number) {
    return b.createOrFold<arith::ExtUIOp>(b.getI64Type(), number);
  }
  /// Returns `pointer` + `bytes`.
  Value offset(Value pointer, Value bytes) {
    return b.offset(pointer, widen(bytes));
  }

private:
  CodeBuilder &b;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_GPU_WORDMATH_H
