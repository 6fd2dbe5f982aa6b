//===- InstancePatterns.cpp - Lowering of instance code -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../Codegen/Instances/TaskStep.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/Rec/Rec.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Elements.h"
#include "ObjectLayout.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

namespace {

/// Lowers an invocation to a call of the operator's code with one task. The
/// step of the task is on the stack.
class ConvertInvoke : public OpConversionPattern<InvokeOp> {
public:
  ConvertInvoke(const TypeConverter &converter, MLIRContext *context,
                const ObjectLayout &layout)
      : OpConversionPattern(converter, context), layout(layout) {}
  LogicalResult
  matchAndRewrite(InvokeOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;

private:
  const ObjectLayout &layout;
};

/// Lowers a row view to the address of a row of a parameter.
class ConvertRowView : public OpConversionPattern<tensor::ExtractSliceOp> {
public:
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::ExtractSliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Returns true if `op` reads the extent of a list, or the extent of a
/// parameter that has a source.
static bool isKnownExtent(tensor::DimOp op) {
  if (auto number = op->getAttrOfType<IntegerAttr>(kViewSourceAttr))
    return number.getInt() != 0;
  return op.getConstantIndex() == 0 &&
         rec::isRaggedTensor(op.getSource().getType());
}

/// Lowers the extent of a ragged tensor, which is a list of rows, or the extent
/// of a parameter.
class ConvertExtent : public OpConversionPattern<tensor::DimOp> {
public:
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::DimOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ContextBuilder cb(rewriter, op.getLoc());
    if (!isKnownExtent(op))
      return rewriter.notifyMatchFailure(op, "the extent is not known");
    auto number = op->getAttrOfType<IntegerAttr>(kViewSourceAttr);
    bool isVector =
        cast<RankedTensorType>(op.getSource().getType()).getRank() == 1;
    Value extent;
    if (number && isVector)
      extent = loadExtent(rewriter, op.getLoc(), adaptor.getSource());
    else if (number)
      extent = cb.countRows(number.getInt());
    else
      extent = cb.listLength(adaptor.getSource());
    rewriter.replaceOp(op, cb.fromCell(extent, rewriter.getIndexType()));
    return success();
  }
};

/// Lowers the read of an element of a tensor, which is stored as a row.
class ConvertTensorExtract : public OpConversionPattern<tensor::ExtractOp> {
public:
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::ExtractOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Replaces an op with its operand.
template <class Op>
class UseOperand : public OpConversionPattern<Op> {
public:
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getOperands());
    return success();
  }
};

} // namespace

Value batch::allocateRows(OpBuilder &builder, Location loc, Value context,
                          Value bytes) {
  ContextBuilder cb(builder, loc, context);
  Value top =
      cb.toCell(LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                         cb.loadField(ContextField::arenaTop)));
  Value limit =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                               cb.loadField(ContextField::arenaLimit));
  Value next = arith::AddIOp::create(builder, loc, top, bytes);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule,
                                     next, limit);
  auto choice = scf::IfOp::create(
      builder, loc, fits,
      [&](OpBuilder &then, Location loc) {
        ContextBuilder inner(then, loc, context);
        inner.storeField(ContextField::arenaTop,
                         LLVM::IntToPtrOp::create(
                             then, loc,
                             LLVM::LLVMPointerType::get(then.getContext()),
                             next));
        scf::YieldOp::create(then, loc, top);
      },
      [&](OpBuilder &otherwise, Location loc) {
        ContextBuilder inner(otherwise, loc, context);
        Value block = inner.call(RuntimeFunction::growArena, bytes);
        Value cell = LLVM::PtrToIntOp::create(otherwise, loc,
                                              otherwise.getI64Type(), block);
        scf::YieldOp::create(otherwise, loc, cell);
      });
  return choice.getResult(0);
}

/// Returns the function that runs the kernel, or null if there is none.
static func::FuncOp lookupOperatorCode(InvokeOp op) {
  auto name = StringAttr::get(op.getContext(), getOperatorName(op.getKernel()));
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name);
  return function && function->hasAttr(uprog::kCodeAttr) ? function
                                                         : func::FuncOp();
}

/// Runs the operator's code for the only task of a step.
static void callOperator(OpBuilder &builder, Location loc,
                         func::FuncOp function, Value step, Value scratch) {
  ContextBuilder cb(builder, loc);
  Value zero = cb.constant(0), one = cb.constant(1);
  Value scratchPointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
      scratch ? scratch : zero);
  Value workerScratch =
      cb.loadPointer(cb.loadField(ContextField::workerScratch), 0);
  auto code = function->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr);
  Value stages = cb.constant(code.getStages());
  SmallVector<Value> arguments = {
      step,           cb.loadField(ContextField::packings),
      scratchPointer, workerScratch,
      zero,           one,
      zero,           one,
      zero,           stages};
  if (function.getNumArguments() > arguments.size())
    arguments.push_back(cb.loadField(ContextField::indexError));
  func::CallOp::create(builder, loc, function, arguments);
}

LogicalResult
ConvertInvoke::matchAndRewrite(InvokeOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &rewriter) const {
  auto kernel =
      SymbolTable::lookupNearestSymbolFrom<KernelOp>(op, op.getKernelAttr());
  func::FuncOp function = lookupOperatorCode(op);
  if (!function)
    return rewriter.notifyMatchFailure(op, "the kernel's operator has no code");
  Location loc = op.getLoc();
  ContextBuilder cb(rewriter, loc);
  TaskStep task(rewriter, op, cb.getContext(), kernel,
                function->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr));
  for (auto [index, input] : llvm::enumerate(adaptor.getInputs()))
    if (!kernel.isShared(index))
      task.storeOperand(input);
  auto allocate = [&](Value bytes) {
    return allocateRows(rewriter, loc, cb.getContext(), bytes);
  };
  SmallVector<Value> rows;
  auto inPlace = op->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr);
  for (unsigned index = 0; index < op.getNumResults(); ++index) {
    bool isOperand = inPlace && inPlace[index] >= 0;
    rows.push_back(isOperand ? adaptor.getInputs()[inPlace[index]]
                             : allocate(cb.constant(
                                   layout.getResultBytes(kernel, index))));
    task.storeResult(index, isOperand ? Value() : rows.back());
  }
  Value bytes = task.getScratchBytes();
  Value scratch = bytes ? allocate(bytes) : Value();
  Value step = task.finish(layout.getKernel(kernel.getSymNameAttr()), scratch);
  callOperator(rewriter, loc, function, step, scratch);
  rewriter.replaceOp(op, rows);
  return success();
}

/// Returns the address of row `index` of source number `source`. `index` is a
/// cell. An index out of range ends the run with an error.
static Value findRow(OpBuilder &builder, Location loc, int64_t source,
                     Value index, RankedTensorType row) {
  ContextBuilder cb(builder, loc);
  Value sources = cb.loadField(ContextField::sources);
  int64_t first = source * kSourceCells;
  Value rows = cb.countRows(source);
  Value outside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                        index, rows);
  scf::IfOp::create(builder, loc, outside, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, cb.getContext());
    inner.fail(BATCH_ERROR_ROW_OUT_OF_BOUNDS, index, inner.constant(source));
    scf::YieldOp::create(then, loc);
  });
  Value base = cb.loadCell(sources, cb.constant(first + kSourceBase.cell()));
  Value offset =
      arith::MulIOp::create(builder, loc, index, cb.constant(getRowBytes(row)));
  return arith::AddIOp::create(builder, loc, base, offset);
}

LogicalResult
ConvertRowView::matchAndRewrite(tensor::ExtractSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const {
  auto number = op->getAttrOfType<IntegerAttr>(kViewSourceAttr);
  if (!number)
    return rewriter.notifyMatchFailure(op, "not a row of a parameter");
  Location loc = op.getLoc();
  ContextBuilder cb(rewriter, loc);
  Value index = op.isDynamicOffset(0) ? cb.toCell(adaptor.getOffsets()[0])
                                      : cb.constant(op.getStaticOffset(0));
  rewriter.replaceOp(
      op, findRow(rewriter, loc, number.getInt(), index, op.getResultType()));
  return success();
}

LogicalResult ConvertTensorExtract::matchAndRewrite(
    tensor::ExtractOp op, OpAdaptor adaptor,
    ConversionPatternRewriter &rewriter) const {
  auto type = cast<RankedTensorType>(op.getTensor().getType());
  auto number = op->getAttrOfType<IntegerAttr>(kViewSourceAttr);
  if (!number && getReadRow(type) != type)
    return rewriter.notifyMatchFailure(op, "the tensor has dynamic shape");
  Value row = adaptor.getTensor();
  ValueRange indices = adaptor.getIndices();
  if (number) {
    type = getReadRow(type);
    Value index = ContextBuilder(rewriter, op.getLoc()).toCell(indices.front());
    row = findRow(rewriter, op.getLoc(), number.getInt(), index, type);
    indices = indices.drop_front();
  }
  rewriter.replaceOp(op, loadElement(rewriter, op, type, row, indices));
  return success();
}

LogicalResult mlir::batch::checkInstancePatterns(func::FuncOp function) {
  WalkResult result = function.walk([](InvokeOp op) -> WalkResult {
    if (lookupOperatorCode(op))
      return WalkResult::advance();
    return op.emitError("the operator of kernel ")
           << op.getKernelAttr()
           << " has no code; run convert-operators-to-cpu first";
  });
  return failure(result.wasInterrupted());
}

void mlir::batch::populateInstancePatterns(const TypeConverter &converter,
                                           const ObjectLayout &layout,
                                           RewritePatternSet &patterns) {
  patterns.add<ConvertInvoke>(converter, patterns.getContext(), layout);
  patterns.add<ConvertRowView, ConvertExtent, ConvertTensorExtract>(
      converter, patterns.getContext());
  // A tensor is represented by the cell of its row. Without a schedule, there
  // is nothing to flush, so a batch.force only forwards its operand.
  patterns.add<UseOperand<UnrealizedConversionCastOp>, UseOperand<ForceOp>>(
      converter, patterns.getContext());
}
