//===- FrameRows.cpp - Lower the rows that functions keep -----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "Patterns.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::batch;

Value batch::enterFrame(OpBuilder &builder, Location loc, Value context,
                        Value frame, int64_t place, int64_t rows) {
  ContextBuilder cb(builder, loc, context);
  Value inner = cb.address(frame, cb.constant(place), builder.getI64Type());
  Value outer = cb.loadField(ContextField::frames);
  cb.storeCell(
      inner, abi::kFrameOuter,
      LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), outer));
  cb.storeCell(inner, abi::kFrameCount, cb.constant(rows));
  for (int64_t row = 0; row < rows; ++row)
    cb.storeCell(inner, cb.constant(abi::kFrameCells + row), cb.constant(-1));
  cb.storeField(ContextField::frames, inner);
  return outer;
}

void batch::leaveFrame(OpBuilder &builder, Location loc, Value context,
                       Value outer) {
  ContextBuilder(builder, loc, context).storeField(ContextField::frames, outer);
}

void batch::lowerKeepOps(FunctionOpInterface function) {
  SmallVector<KeepOp> keeps;
  function->walk([&](KeepOp keep) { keeps.push_back(keep); });
  if (keeps.empty())
    return;
  size_t most = 0;
  for (KeepOp keep : keeps)
    most = std::max<size_t>(most, keep.getRows().size());
  Location loc = function->getLoc();
  Block &entry = function.getFunctionBody().front();
  Value context = entry.getArgument(0);
  OpBuilder builder = OpBuilder::atBlockBegin(&entry);
  Value frame = LLVM::AllocaOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getI64Type(),
      ContextBuilder(builder, loc, context)
          .constant(abi::kFrameCells + static_cast<int64_t>(most)),
      8);
  Value outer = enterFrame(builder, loc, context, frame, 0, 0);
  for (KeepOp keep : keeps) {
    builder.setInsertionPoint(keep);
    ContextBuilder cb(builder, keep.getLoc(), context);
    for (auto [place, row] : llvm::enumerate(keep.getRows()))
      cb.storeCell(frame, cb.constant(abi::kFrameCells + place), row);
    cb.storeCell(frame, abi::kFrameCount,
                 cb.constant(static_cast<int64_t>(keep.getRows().size())));
    keep.erase();
  }
  for (Block &block : function.getFunctionBody()) {
    builder.setInsertionPoint(block.getTerminator());
    leaveFrame(builder, loc, context, outer);
  }
}
