//===- ReleaseRows.cpp - Free the tensors of unbatched code ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unbatched code allocates rows for its tensors in a bump arena. Each call and
// each iteration of a loop is a scope. If only the rows of a scope's results
// can outlive the scope, the scope frees its other rows when it ends.
//
//===----------------------------------------------------------------------===//

#include "ReleaseRows.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "ObjectLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns true if `type` is a type of the rec dialect.
static bool isStructure(Type type) {
  return isa<rec::RecDialect>(type.getDialect());
}

bool batch::ownsItsRows(ModuleOp module, ArrayRef<func::FuncOp> functions) {
  // Rows in tables, nodes and lists may outlive a call.
  if (!module.getOps<TableOp>().empty())
    return false;
  return llvm::all_of(functions, [](func::FuncOp function) {
    if (llvm::any_of(function.getArgumentTypes(), isStructure))
      return false;
    return !function
                .walk([](Operation *op) {
                  bool structure =
                      isa<rec::RecDialect>(op->getDialect()) ||
                      llvm::any_of(op->getResultTypes(), isStructure);
                  return structure ? WalkResult::interrupt()
                                   : WalkResult::advance();
                })
                .wasInterrupted();
  });
}

/// Loads the top of the arena at the insertion point of `builder`.
static Value makeMark(OpBuilder &builder, Location loc) {
  return ContextBuilder(builder, loc).loadField(ContextField::arenaTop);
}

/// Emits code before the terminator `op` that frees the rows allocated after
/// `mark`, except the rows of the operands of `op`.
static void release(Operation *op, Value mark) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  SetVector<Value> tensors;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      tensors.insert(operand);

  auto allocate = [&]() -> Value {
    OpBuilder::InsertionGuard guard(builder);
    auto function = op->getParentOfType<func::FuncOp>();
    builder.setInsertionPointToStart(&function.getBody().front());
    ContextBuilder cb(builder, loc);
    return LLVM::AllocaOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        builder.getI64Type(), cb.constant(std::max<int64_t>(tensors.size(), 1)),
        /*alignment=*/8);
  };
  ContextBuilder cb(builder, loc);
  Value rows = allocate(), bytes = allocate();
  Type cell = builder.getI64Type();
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    auto row = UnrealizedConversionCastOp::create(builder, loc, cell, tensor);
    cb.storeCell(rows, cb.constant(index), row.getResult(0));
    cb.storeCell(
        bytes, cb.constant(index),
        cb.constant(getRowBytes(cast<RankedTensorType>(tensor.getType()))));
  }
  cb.call(RuntimeFunction::keepRows,
          {mark, rows, bytes, cb.constant(tensors.size())});
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    Value row = cb.loadCell(rows, cb.constant(index));
    auto kept =
        UnrealizedConversionCastOp::create(builder, loc, tensor.getType(), row);
    op->replaceUsesOfWith(tensor, kept.getResult(0));
  }
}

void batch::releaseRows(func::FuncOp function) {
  // A scope can keep the rows of its results only if their sizes are known.
  auto isKnown = [](Operation *terminator) {
    return llvm::all_of(terminator->getOperandTypes(), [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || tensor.hasStaticShape();
    });
  };
  SmallVector<Operation *> loops;
  function.walk([&](Operation *op) {
    if (!isa<scf::ForOp, scf::WhileOp>(op))
      return;
    bool makesRows = op->walk([](Operation *inner) {
                         return isa<InvokeOp, func::CallOp>(inner)
                                    ? WalkResult::interrupt()
                                    : WalkResult::advance();
                       }).wasInterrupted();
    if (makesRows)
      loops.push_back(op);
  });
  for (Operation *loop : loops) {
    Operation *yield = loop->getRegions().back().back().getTerminator();
    if (!isKnown(yield))
      continue;
    OpBuilder builder(loop);
    release(yield, makeMark(builder, loop->getLoc()));
  }

  SmallVector<func::ReturnOp> returns(function.getOps<func::ReturnOp>().begin(),
                                      function.getOps<func::ReturnOp>().end());
  if (function->hasAttr(kEntryAttr) || !llvm::all_of(returns, isKnown))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  Value mark = makeMark(builder, function.getLoc());
  for (func::ReturnOp op : returns)
    release(op, mark);
}
