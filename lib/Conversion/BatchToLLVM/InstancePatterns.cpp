//===- InstancePatterns.cpp - Lowering of instance code -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

/// Calls the operator's code with one task: a step on the stack.
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

/// The address of a row of a parameter.
class ConvertRowView : public OpConversionPattern<tensor::ExtractSliceOp> {
public:
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::ExtractSliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// True if the extent is that of a parameter, in its source, or of a list.
static bool isKnownExtent(tensor::DimOp op) {
  if (auto number = op->getAttrOfType<IntegerAttr>(kViewSourceAttr))
    return number.getInt() != 0;
  return op.getConstantIndex() == 0 &&
         rec::isRaggedTensor(op.getSource().getType());
}

/// The extent of a ragged tensor, which is a list of rows, or of a parameter.
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

/// An element of a tensor, which is stored as a row.
class ConvertExtract : public OpConversionPattern<tensor::ExtractOp> {
public:
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::ExtractOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Replaces an op by its operand.
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

/// Stack memory for `cells` cells, taken once per call of the function even if
/// `op` is in a loop.
static Value allocateCells(OpBuilder &builder, Operation *op, int64_t cells) {
  OpBuilder::InsertionGuard guard(builder);
  auto function = op->getParentOfType<FunctionOpInterface>();
  builder.setInsertionPointToStart(&function.getFunctionBody().front());
  Value count = LLVM::ConstantOp::create(
      builder, op->getLoc(), builder.getI64Type(),
      builder.getI64IntegerAttr(std::max<int64_t>(cells, 1)));
  return LLVM::AllocaOp::create(
      builder, op->getLoc(), LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getI64Type(), count, /*alignment=*/8);
}

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

/// The function that runs the kernel; null if there is none.
static func::FuncOp lookupOperatorCode(InvokeOp op) {
  auto name = StringAttr::get(op.getContext(), getOperatorName(op.getKernel()));
  auto function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name);
  return function && function->hasAttr(uprog::kCodeAttr) ? function
                                                         : func::FuncOp();
}

namespace {

/// Builds a step of one task on the stack, and calls the operator's code.
class TaskBuilder {
public:
  TaskBuilder(InvokeOp op, KernelOp kernel, func::FuncOp function,
              ConversionPatternRewriter &rewriter);

  /// Stores the operands that are not shared.
  void storeOperands(ValueRange inputs);
  /// Takes memory for the results that are not in rows of `inputs`; returns
  /// their rows.
  SmallVector<Value> allocateResults(const ObjectLayout &layout,
                                     ValueRange inputs);
  void call(int64_t kernelNumber);

private:
  void storeField(int64_t position, Field field, Value cell);
  void storeOperand(int64_t position, unsigned index, Value input);
  void storeSegment(int64_t position, Value slot, unsigned index, Value list);
  Value toCell(Value pointer) {
    return LLVM::PtrToIntOp::create(rewriter, loc, rewriter.getI64Type(),
                                    pointer);
  }

  InvokeOp op;
  KernelOp kernel;
  func::FuncOp function;
  uprog::CodeAttr code;
  ConversionPatternRewriter &rewriter;
  Location loc;
  ContextBuilder cb;
  Value context, operands, values, offsets, zeroIndex, results, step, zero, one;
  Value scratchBytes;
  bool needsScratch;
  /// Ragged domains whose scratch memory is already counted.
  DenseSet<int64_t> domains;
};

} // namespace

TaskBuilder::TaskBuilder(InvokeOp op, KernelOp kernel, func::FuncOp function,
                         ConversionPatternRewriter &rewriter)
    : op(op), kernel(kernel), function(function),
      code(function->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr)),
      rewriter(rewriter), loc(op.getLoc()), cb(rewriter, loc),
      context(cb.getContext()) {
  unsigned perTask = 0;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    perTask += !kernel.isShared(i);
  operands = allocateCells(rewriter, op, perTask * kOperandCells);
  values = allocateCells(rewriter, op, perTask);
  offsets = allocateCells(rewriter, op, perTask);
  zeroIndex = allocateCells(rewriter, op, 1);
  results = allocateCells(rewriter, op, kernel.getNumResults());
  step = allocateCells(rewriter, op, kStepCells);
  zero = cb.constant(0);
  one = cb.constant(1);
  cb.storeCell(zeroIndex, zero, zero);
  scratchBytes = cb.constant(code.getTaskScratch());
  needsScratch = code.getTaskScratch() > 0;
}

void TaskBuilder::storeOperands(ValueRange inputs) {
  int64_t position = 0;
  for (auto [index, input] : llvm::enumerate(inputs))
    if (!kernel.isShared(index))
      storeOperand(position++, index, input);
}

void TaskBuilder::storeField(int64_t position, Field field, Value cell) {
  cb.storeCell(operands, cb.constant(position * kOperandCells + field.cell()),
               cell);
}

/// Stores operand `index` of the invocation, the `position`th that is not
/// shared.
void TaskBuilder::storeOperand(int64_t position, unsigned index, Value input) {
  constexpr Field fields[] = {kOperandBase, kOperandRows, kOperandOffsets};
  for (int64_t cell : listOtherCells<BatchOperand>(fields))
    storeField(position, {cell * kCellBytes, /*isPointer=*/false}, zero);
  Value slot = cb.constant(position);
  Value ownValue = cb.address(values, slot, rewriter.getI64Type());
  if (kernel.isRagged(index))
    return storeSegment(position, slot, index, input);

  auto read = kernel.getArgAttrOfType<ReadAttr>(index, kReadAttr);
  bool isScalar = input.getType().isIntOrIndexOrFloat() &&
                  !isa<RankedTensorType>(op.getInputs()[index].getType());
  bool gathers = !isScalar && (!read || read.getKind() == ReadKind::Gather);
  if (!gathers)
    cb.storeCell(values, slot, isScalar ? cb.toCell(input) : input);
  storeField(position, kOperandBase, gathers ? input : zero);
  storeField(position, kOperandRows, toCell(gathers ? zeroIndex : ownValue));
  storeField(position, kOperandOffsets, zero);
}

/// Stores a ragged operand, a list, as one segment: its rows, by address.
void TaskBuilder::storeSegment(int64_t position, Value slot, unsigned index,
                               Value list) {
  Value length = cb.listLength(list);
  Value begin = cb.address(cb.loadField(ContextField::listPool),
                           cb.listBegin(list), rewriter.getI64Type());
  Value shifted = arith::ShLIOp::create(rewriter, loc, length, cb.constant(32));
  cb.storeCell(offsets, slot, shifted);
  storeField(position, kOperandBase, zero);
  storeField(position, kOperandRows, toCell(begin));
  storeField(position, kOperandOffsets,
             toCell(cb.address(offsets, slot, rewriter.getI64Type())));
  auto domain = kernel.getArgAttrOfType<IntegerAttr>(index, kRaggedAttr);
  int64_t number = domain ? domain.getInt() : 0;
  ArrayRef<int64_t> raggedBytes = code.getRaggedScratch();
  if (!domains.insert(number).second ||
      number >= static_cast<int64_t>(raggedBytes.size()))
    return;
  int64_t bytes = raggedBytes[number];
  needsScratch |= bytes > 0;
  Value more = arith::MulIOp::create(rewriter, loc, length, cb.constant(bytes));
  scratchBytes = arith::AddIOp::create(rewriter, loc, scratchBytes, more);
}

SmallVector<Value> TaskBuilder::allocateResults(const ObjectLayout &layout,
                                                ValueRange inputs) {
  SmallVector<Value> rows;
  auto inPlace = op->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr);
  for (unsigned index = 0; index < op.getNumResults(); ++index) {
    if (inPlace && inPlace[index] >= 0) {
      rows.push_back(inputs[inPlace[index]]);
      cb.storeCell(results, cb.constant(index), zero);
      continue;
    }
    int64_t bytes = layout.getResultBytes(kernel, index);
    rows.push_back(allocateRows(rewriter, loc, context, cb.constant(bytes)));
    cb.storeCell(results, cb.constant(index), rows.back());
  }
  return rows;
}

void TaskBuilder::call(int64_t kernelNumber) {
  Value scratch = zero;
  if (needsScratch)
    scratch = allocateRows(rewriter, loc, context, scratchBytes);

  // Operators' code gets scratch memory as an argument and has no barriers.
  constexpr Field stepFields[] = {kStepKernel,  kStepCount,   kStepOperands,
                                  kStepResults, kStepScratch, kStepBarrier};
  for (int64_t cell : listOtherCells<BatchStep>(stepFields))
    cb.storeCell(step, cb.constant(cell), zero);
  cb.storeCell(step, kStepKernel, cb.constant(kernelNumber));
  cb.storeCell(step, kStepCount, one);
  cb.storeCell(step, kStepOperands, toCell(operands));
  cb.storeCell(step, kStepResults, toCell(results));
  Type pointer = LLVM::LLVMPointerType::get(rewriter.getContext());
  Value scratchPointer =
      LLVM::IntToPtrOp::create(rewriter, loc, pointer, scratch);
  Value workerScratch =
      cb.loadPointer(cb.loadField(ContextField::workerScratch), 0);
  Value stages = cb.constant(code.getStages());
  SmallVector<Value> arguments = {
      step,           cb.loadField(ContextField::packings),
      scratchPointer, workerScratch,
      zero,           one,
      zero,           one,
      zero,           stages};
  if (function.getNumArguments() > arguments.size())
    arguments.push_back(cb.loadField(ContextField::indexError));
  func::CallOp::create(rewriter, loc, function, arguments);
}

LogicalResult
ConvertInvoke::matchAndRewrite(InvokeOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &rewriter) const {
  auto kernel =
      SymbolTable::lookupNearestSymbolFrom<KernelOp>(op, op.getKernelAttr());
  func::FuncOp function = lookupOperatorCode(op);
  if (!function)
    return rewriter.notifyMatchFailure(op, "the kernel's operator has no code");
  TaskBuilder task(op, kernel, function, rewriter);
  task.storeOperands(adaptor.getInputs());
  SmallVector<Value> rows = task.allocateResults(layout, adaptor.getInputs());
  task.call(layout.getKernel(kernel.getSymNameAttr()));
  rewriter.replaceOp(op, rows);
  return success();
}

/// The address of row `index`, a cell, of source number `source`. An index out
/// of range ends the run with an error.
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

LogicalResult
ConvertExtract::matchAndRewrite(tensor::ExtractOp op, OpAdaptor adaptor,
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
  patterns.add<ConvertRowView, ConvertExtent, ConvertExtract>(
      converter, patterns.getContext());
  // A tensor is the cell of its row. Without a schedule there is nothing to
  // flush.
  patterns.add<UseOperand<UnrealizedConversionCastOp>, UseOperand<ForceOp>>(
      converter, patterns.getContext());
}
