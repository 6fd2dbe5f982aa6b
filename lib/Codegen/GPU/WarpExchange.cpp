//===- WarpExchange.cpp - Values of other lanes ---------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WarpExchange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::uprog;

Value uprog::exchange(CodeBuilder &b, Value value, Value distance) {
  Value width = arith::ConstantOp::create(b, b.getI32IntegerAttr(32));
  auto shuffle = [&](Value word) -> Value {
    return gpu::ShuffleOp::create(b, word, distance, width,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  Type type = value.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  if (type.isF32() || type == i32)
    return shuffle(value);
  if (type.isIndex()) {
    value = arith::IndexCastOp::create(b, i64, value);
    return arith::IndexCastOp::create(b, type, exchange(b, value, distance));
  }
  auto bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != bits) {
    value = arith::BitcastOp::create(b, bits, value);
    return arith::BitcastOp::create(b, type, exchange(b, value, distance));
  }
  if (bits.getWidth() < 32) {
    value = arith::ExtUIOp::create(b, i32, value);
    return arith::TruncIOp::create(b, type, shuffle(value));
  }
  Value shift = b.constant(32);
  Value low = shuffle(arith::TruncIOp::create(b, i32, value));
  Value high = arith::ShRUIOp::create(b, value, shift);
  high = shuffle(arith::TruncIOp::create(b, i32, high));
  high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, high), shift);
  low = arith::ExtUIOp::create(b, i64, low);
  return arith::OrIOp::create(b, low, high);
}
