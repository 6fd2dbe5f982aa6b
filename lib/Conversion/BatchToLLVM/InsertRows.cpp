//===- InsertRows.cpp - Inserts in unbatched code -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may insert a slice into an operand. It writes into the operand's row
// if the program itself has created that row and nothing reads it afterwards.
// It also writes in place if a loop carries the row from one insert to the
// next. The initial value is then copied to a new row before the loop.
//
//===----------------------------------------------------------------------===//

#include "InsertRows.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "ObjectLayout.h"
#include "Patterns.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns true if `user` only reads its operands and is in the block of
/// `invoke`.
static bool isRead(Operation *user, InvokeOp invoke) {
  return isa<InvokeOp, tensor::ExtractOp>(user) &&
         user->getBlock() == invoke->getBlock();
}

/// Returns true if `invoke` uses `row` once, and all other users read `row`
/// before `invoke`.
static bool isUsedBefore(Value row, InvokeOp invoke) {
  return llvm::all_of(row.getUses(),
                      [&](OpOperand &use) {
                        return use.getOwner() == invoke ||
                               (isRead(use.getOwner(), invoke) &&
                                use.getOwner()->isBeforeInBlock(invoke));
                      }) &&
         llvm::count_if(row.getUses(), [&](OpOperand &use) {
           return use.getOwner() == invoke;
         }) == 1;
}

/// Returns the operand of the yield that passes `result` to the next iteration
/// of the loop around `invoke`. Returns null if there is none, or if other uses
/// do more than read `result`.
static OpOperand *findCarried(OpResult result, InvokeOp invoke) {
  OpOperand *carried = nullptr;
  for (OpOperand &use : result.getUses()) {
    if (isRead(use.getOwner(), invoke))
      continue;
    if (carried || !isa<scf::YieldOp>(use.getOwner()) ||
        use.getOwner()->getBlock() != invoke->getBlock())
      return nullptr;
    carried = &use;
  }
  return carried;
}

/// Returns the operand of a loop that is the initial value of `argument`, an
/// argument of the loop's body. Returns null unless the value in all other
/// iterations is `yielded`, an operand of the loop's terminator.
static OpOperand *findInitial(BlockArgument argument, OpOperand *yielded) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = yielded->getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    return argument == loop.getRegionIterArg(number)
               ? &loop.getInitsMutable()[number]
               : nullptr;
  auto loop = dyn_cast<scf::WhileOp>(parent);
  if (!loop || argument.getOwner() != loop.getAfterBody())
    return nullptr;
  // The condition region must only read and forward the argument.
  Value before = loop.getBeforeArguments()[number];
  bool isForwarded =
      loop.getConditionOp().getArgs()[argument.getArgNumber()] == before &&
      llvm::count(loop.getConditionOp().getArgs(), before) == 1 &&
      llvm::all_of(before.getUsers(), [&](Operation *user) {
        return user == loop.getConditionOp() ||
               (isa<InvokeOp, tensor::ExtractOp>(user) &&
                user->getBlock() == before.getParentBlock());
      });
  return isForwarded ? &loop.getInitsMutable()[number] : nullptr;
}

/// Copies `initial` to a new row that only the loop uses.
static void copyInitial(OpOperand &initial) {
  OpBuilder builder(initial.getOwner());
  Location loc = initial.getOwner()->getLoc();
  ContextBuilder cb(builder, loc);
  Type cell = builder.getI64Type();
  int64_t bytes = getRowBytes(cast<RankedTensorType>(initial.get().getType()));
  Value from =
      UnrealizedConversionCastOp::create(builder, loc, cell, initial.get())
          .getResult(0);
  Value to = allocateRows(builder, loc, cb.getContext(), cb.constant(bytes));
  cb.copyBytes(from, to, cb.constant(0), cb.constant(bytes));
  initial.set(UnrealizedConversionCastOp::create(builder, loc,
                                                 initial.get().getType(), to)
                  .getResult(0));
}

/// Returns true if `invoke` may write `result` into `row`, into which its
/// kernel inserts. Copies the initial value of a loop if necessary.
static bool placeInsert(InvokeOp invoke, OpResult result, Value row) {
  if (!isUsedBefore(row, invoke) || row.getParentBlock() != invoke->getBlock())
    return false;
  // The program has created the row if it belongs to a kernel's result.
  if (row.getDefiningOp<InvokeOp>())
    return true;
  auto argument = dyn_cast<BlockArgument>(row);
  OpOperand *carried = findCarried(result, invoke);
  if (!argument || !carried)
    return false;
  OpOperand *initial = findInitial(argument, carried);
  if (!initial)
    return false;
  copyInitial(*initial);
  return true;
}

void batch::placeInserts(func::FuncOp function) {
  SmallVector<InvokeOp> invokes;
  function.walk([&](InvokeOp invoke) { invokes.push_back(invoke); });
  auto module = function->getParentOfType<ModuleOp>();
  SymbolTable symbols(module);
  for (InvokeOp invoke : invokes) {
    auto kernel = symbols.lookup<KernelOp>(invoke.getKernel());
    SmallVector<int64_t> placed(invoke->getNumResults(), -1);
    for (OpResult result : invoke->getResults()) {
      auto number = kernel.getResultAttrOfType<IntegerAttr>(
          result.getResultNumber(), kInPlaceAttr);
      if (!number)
        continue;
      bool inPlace =
          placeInsert(invoke, result, invoke.getInputs()[number.getInt()]);
      if (inPlace)
        placed[result.getResultNumber()] = number.getInt();
      auto name = remark::RemarkOpts::name("Inserts").category("batch");
      if (inPlace)
        remark::passed(invoke.getLoc(), name)
            << ("unbatched code inserts into the row of argument #" +
                Twine(number.getInt()) + " of kernel @" + kernel.getSymName())
                   .str();
      else
        remark::missed(invoke.getLoc(), name)
            << ("unbatched code copies argument #" + Twine(number.getInt()) +
                " of kernel @" + kernel.getSymName() +
                ", because its row may have other readers or was not created "
                "by a kernel")
                   .str();
    }
    if (llvm::any_of(placed, [](int64_t operand) { return operand >= 0; }))
      invoke->setAttr(kInPlaceAttr,
                      DenseI64ArrayAttr::get(invoke.getContext(), placed));
  }
}
