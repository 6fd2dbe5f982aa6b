//===- InspectorPatterns.cpp - Lowering of the inspector ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "Elements.h"
#include "ObjectLayout.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::batch;
using namespace mlir::batch::abi;

namespace {

template <typename Op>
struct InspectorPattern : OpConversionPattern<Op> {
  InspectorPattern(const TypeConverter &converter, MLIRContext *context,
                   const ObjectLayout &layout)
      : OpConversionPattern<Op>(converter, context), layout(layout) {}
  const ObjectLayout &layout;
};

struct ConvertRecord : InspectorPattern<RecordOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(RecordOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ConvertRow : InspectorPattern<RowOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(RowOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ConvertExtract : OpConversionPattern<ExtractOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ExtractOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ConvertAwait : InspectorPattern<AwaitOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(AwaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Converts only the types of the op. lowerConcurrent() lowers it later.
struct ConvertConcurrent : OpConversionPattern<ConcurrentOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(ConcurrentOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    auto copy = ConcurrentOp::create(rewriter, op.getLoc(), types,
                                     op.getBranches().size());
    for (auto [from, to] :
         llvm::zip_equal(op.getBranches(), copy.getBranches()))
      rewriter.inlineRegionBefore(from, to, to.end());
    rewriter.replaceOp(op, copy);
    return success();
  }
};

struct ConvertYield : OpConversionPattern<YieldOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(YieldOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<YieldOp>(op, adaptor.getOperands());
    return success();
  }
};

/// Converts only the types of the op. lowerKeepOps() lowers it later.
struct ConvertKeep : OpConversionPattern<KeepOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(KeepOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<KeepOp>(op, adaptor.getRows());
    return success();
  }
};

struct ConvertNumRows : InspectorPattern<NumRowsOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(NumRowsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ConvertDepth : InspectorPattern<DepthOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(DepthOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ConvertTraverse : InspectorPattern<TraverseOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(TraverseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

struct ConvertLookup : InspectorPattern<LookupOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(LookupOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

/// Returns `handle` without its depth and its ghost bit, as for a value that is
/// already computed.
static Value withoutDepth(OpBuilder &builder, Location loc, Value handle) {
  const int64_t depth = (kHandleDepthMask << kHandleDepthShift) | kHandleGhost;
  return arith::AndIOp::create(builder, loc, handle,
                               ContextBuilder(builder, loc).constant(~depth));
}

struct ConvertResolve : InspectorPattern<ResolveOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(ResolveOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // In the instance program, tensors have no depth.
    if (!isa<HandleType>(op.getType())) {
      rewriter.replaceOp(op, adaptor.getValue());
      return success();
    }
    rewriter.replaceOp(op,
                       withoutDepth(rewriter, op.getLoc(), adaptor.getValue()));
    return success();
  }
};

struct ConvertGhost : InspectorPattern<GhostOp> {
  using InspectorPattern::InspectorPattern;
  LogicalResult
  matchAndRewrite(GhostOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override;
};

} // namespace

/// Checks at run time that ragged operands of one domain have equal extents.
static void checkExtents(OpBuilder &builder, RecordOp op, KernelOp kernel,
                         ValueRange cells) {
  Location loc = op.getLoc();
  ContextBuilder cb(builder, loc);
  DenseMap<int64_t, std::pair<Value, Value>> lengths;
  unsigned position = 0;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (kernel.isShared(i))
      continue;
    Value original = op.getInputs()[position];
    Value cell = cells[position++];
    auto domain = kernel.getArgAttrOfType<IntegerAttr>(i, kRaggedAttr);
    if (!kernel.isRagged(i) || !domain)
      continue;
    auto [it, inserted] =
        lengths.try_emplace(domain.getInt(), original, Value());
    // Results of one rec.map have equal lengths.
    if (inserted ||
        (original.getDefiningOp() &&
         original.getDefiningOp() == it->second.first.getDefiningOp())) {
      if (inserted)
        it->second.second = cell;
      continue;
    }
    Value a = cb.listLength(it->second.second), b = cb.listLength(cell);
    Value differ =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, a, b);
    scf::IfOp::create(builder, loc, differ, [&](OpBuilder &then, Location loc) {
      ContextBuilder(then, loc, cb.getContext())
          .fail(BATCH_ERROR_RAGGED_MISMATCH, a, b);
      scf::YieldOp::create(then, loc);
    });
  }
}

LogicalResult
ConvertRecord::matchAndRewrite(RecordOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  int64_t number = layout.getKernel(op.getKernelAttr().getAttr());
  auto kernel =
      SymbolTable::lookupNearestSymbolFrom<KernelOp>(op, op.getKernelAttr());
  ContextBuilder cb(rewriter, loc);
  Value context = cb.getContext();
  SmallVector<Value> cells;
  for (Value input : adaptor.getInputs())
    cells.push_back(cb.toCell(input));
  checkExtents(rewriter, op, kernel, cells);

  // Appends the record and returns the handle of the first result.
  auto append = [&](OpBuilder &builder) -> Value {
    ContextBuilder cb(builder, loc, context);
    ContextField counter = kernel.getDeferred() ? ContextField::deferredTasks
                                                : ContextField::numTasks;
    Value task = cb.loadField(counter);
    cb.storeField(counter,
                  arith::AddIOp::create(builder, loc, task, cb.constant(1)));
    Value queue = cb.getQueue(number);
    Value bytes = cb.constant(layout.getRecordBytes(kernel));
    if (!op->hasAttr(kReservedAttr))
      cb.reserveRecords(queue, number, bytes);
    // The queue may have moved when it grew.
    Value end = cb.loadCell(queue, kQueueEnd, MemoryKind::Queue);
    Value next = arith::AddIOp::create(builder, loc, end, bytes);
    cb.storeCell(queue, kQueueEnd, next, MemoryKind::Queue);
    Value record = LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), end);
    Value depth = cb.toCell(adaptor.getDepth());
    Value shift = cb.constant(kHandleDepthShift);
    Value tag = arith::ShLIOp::create(builder, loc, depth, shift);
    cb.storeCell(record, cb.constant(0),
                 arith::OrIOp::create(builder, loc, tag, task));
    int64_t stored = 0;
    for (auto [place, cell] :
         llvm::zip_equal(layout.getRecordCells(kernel), cells))
      if (place > stored)
        cb.storeCell(record, cb.constant(stored = place), cell);
    Value above = arith::AddIOp::create(builder, loc, depth, cb.constant(1));
    return arith::OrIOp::create(
        builder, loc, arith::ShLIOp::create(builder, loc, above, shift), task);
  };

  Value handle;
  if (layout.isConstant(kernel)) {
    // A constant kernel has one task per run.
    Value constants = cb.loadField(ContextField::constants);
    Value known = cb.loadCell(constants, cb.constant(number));
    Value isNew = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::slt, known, cb.constant(0));
    auto choice = scf::IfOp::create(
        rewriter, loc, isNew,
        [&](OpBuilder &then, Location loc) {
          Value made = append(then);
          ContextBuilder cb(then, loc, context);
          cb.storeCell(cb.loadField(ContextField::constants),
                       cb.constant(number), made);
          scf::YieldOp::create(then, loc, made);
        },
        [&](OpBuilder &otherwise, Location loc) {
          scf::YieldOp::create(otherwise, loc, known);
        });
    handle = choice.getResult(0);
  } else {
    handle = append(rewriter);
  }
  SmallVector<Value> handles;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    int64_t position = kernel.getPosition(i);
    handles.push_back(
        position == 0
            ? handle
            : arith::OrIOp::create(rewriter, loc, handle,
                                   cb.constant(position << kHandleTagShift))
                  .getResult());
  }
  rewriter.replaceOp(op, handles);
  return success();
}

LogicalResult
ConvertRow::matchAndRewrite(RowOp op, OpAdaptor adaptor,
                            ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  int64_t number = layout.getSource(op.getSourceAttr().getAttr());
  ContextBuilder cb(rewriter, loc);
  Value index = cb.toCell(adaptor.getIndex());
  Value rows = cb.countRows(number);
  Value outside = arith::CmpIOp::create(rewriter, loc,
                                        arith::CmpIPredicate::uge, index, rows);
  scf::IfOp::create(rewriter, loc, outside, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, cb.getContext());
    inner.fail(BATCH_ERROR_ROW_OUT_OF_BOUNDS, index, inner.constant(number));
    scf::YieldOp::create(then, loc);
  });
  uint64_t tag = static_cast<uint64_t>(kHandleSourceTag + number)
                 << kHandleTagShift;
  rewriter.replaceOpWithNewOp<arith::OrIOp>(
      op, index, cb.constant(static_cast<int64_t>(tag)));
  return success();
}

LogicalResult
ConvertExtract::matchAndRewrite(ExtractOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  ContextBuilder cb(rewriter, loc);
  auto type = cast<RankedTensorType>(op.getRowType());
  auto mask = [&](Value cell, int64_t bits) -> Value {
    return arith::AndIOp::create(rewriter, loc, cell, cb.constant(bits));
  };
  Value tag = arith::ShRUIOp::create(rewriter, loc, adaptor.getRow(),
                                     cb.constant(kHandleTagShift));
  Value source =
      arith::MulIOp::create(rewriter, loc, mask(tag, kHandleSourceTag - 1),
                            cb.constant(kSourceCells));
  Value base =
      cb.loadCell(cb.loadField(ContextField::sources),
                  arith::AddIOp::create(rewriter, loc, source,
                                        cb.constant(kSourceBase.cell())));
  Value rowBytes = cb.constant(getRowBytes(type));
  Value offset = arith::MulIOp::create(
      rewriter, loc, mask(adaptor.getRow(), 0xffffffff), rowBytes);
  Value row = arith::AddIOp::create(rewriter, loc, base, offset);
  rewriter.replaceOp(
      op, loadElement(rewriter, op, type, row, adaptor.getIndices()));
  return success();
}

LogicalResult
ConvertAwait::matchAndRewrite(AwaitOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &rewriter) const {
  ContextBuilder cb(rewriter, op.getLoc());
  int64_t table = layout.getTable(op.getTableAttr().getAttr());
  Value row =
      cb.call(RuntimeFunction::await, {adaptor.getRow(), cb.constant(table)});
  auto type = cast<RankedTensorType>(op.getRowType());
  rewriter.replaceOp(
      op, loadElement(rewriter, op, type, row, adaptor.getIndices()));
  return success();
}

LogicalResult
ConvertNumRows::matchAndRewrite(NumRowsOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const {
  ContextBuilder cb(rewriter, op.getLoc());
  int64_t number = layout.getSource(op.getSourceAttr().getAttr());
  auto source =
      SymbolTable::lookupNearestSymbolFrom<SourceOp>(op, op.getSourceAttr());
  // A vector of unknown extent is one row. Count its elements.
  auto row = cast<RankedTensorType>(source.getRow());
  Value count =
      row.hasStaticShape()
          ? cb.countRows(number)
          : loadExtent(rewriter, op.getLoc(),
                       cb.loadCell(cb.loadField(ContextField::sources),
                                   cb.constant(number * kSourceCells +
                                               kSourceBase.cell())));
  rewriter.replaceOp(op, cb.fromCell(count, rewriter.getIndexType()));
  return success();
}

/// Returns the depth of a task that reads only the value of `handle`.
static Value readDepth(OpBuilder &builder, Location loc, Value context,
                       Value handle, bool hasWaits) {
  ContextBuilder cb(builder, loc, context);
  auto mask = [&](Value cell, int64_t bits) -> Value {
    return arith::AndIOp::create(builder, loc, cell, cb.constant(bits));
  };
  Value shifted = arith::ShRUIOp::create(builder, loc, handle,
                                         cb.constant(kHandleDepthShift));
  Value depth = mask(shifted, kHandleDepthMask);
  if (!hasWaits)
    return depth;
  // If a task has run, its result counts as an input, unless a ghost has raised
  // the depth in the handle.
  Value hasRun = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, mask(handle, 0xffffffff),
      cb.loadField(ContextField::flushedTasks));
  Value noGhost =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            mask(handle, kHandleGhost), cb.constant(0));
  return arith::SelectOp::create(
      builder, loc, arith::AndIOp::create(builder, loc, hasRun, noGhost),
      cb.constant(0), depth);
}

LogicalResult
ConvertGhost::matchAndRewrite(GhostOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &rewriter) const {
  Value handle = adaptor.getValue();
  // In the instance program, tensors have no depth.
  if (!isa<HandleType>(op.getType())) {
    rewriter.replaceOp(op, handle);
    return success();
  }
  Location loc = op.getLoc();
  ContextBuilder cb(rewriter, loc);
  auto join = [&](Value a, Value b) -> Value {
    return arith::OrIOp::create(rewriter, loc, a, b);
  };
  Value own =
      readDepth(rewriter, loc, cb.getContext(), handle, layout.hasWaits());
  Value above = arith::AddIOp::create(
      rewriter, loc, cb.toCell(adaptor.getDepth()), cb.constant(1));
  Value depth = arith::MaxSIOp::create(rewriter, loc, own, above);
  Value shifted = arith::ShLIOp::create(rewriter, loc, depth,
                                        cb.constant(kHandleDepthShift));
  Value raised = join(withoutDepth(rewriter, loc, handle), shifted);
  if (layout.hasWaits())
    raised = join(raised, cb.constant(kHandleGhost));
  rewriter.replaceOp(op, raised);
  return success();
}

LogicalResult
ConvertDepth::matchAndRewrite(DepthOp op, OpAdaptor adaptor,
                              ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  ContextBuilder cb(rewriter, loc);
  auto depthOf = [&](OpBuilder &builder, Location loc, Value handle) {
    return readDepth(builder, loc, cb.getContext(), handle, layout.hasWaits());
  };
  // In the instance program, depths are not used.
  Value depth = cb.constant(0);
  for (auto [original, cell] :
       llvm::zip_equal(op.getInputs(), adaptor.getInputs())) {
    Value other;
    if (isa<HandleType>(original.getType())) {
      other = depthOf(rewriter, loc, cell);
    } else if (auto list = dyn_cast<rec::ListType>(original.getType());
               list && isa<HandleType>(list.getElementType())) {
      Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
      Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
      Value length = arith::IndexCastOp::create(
          rewriter, loc, rewriter.getIndexType(), cb.listLength(cell));
      Value begin = cb.listBegin(cell);
      auto loop = scf::ForOp::create(
          rewriter, loc, zero, length, one, cb.constant(0),
          [&](OpBuilder &body, Location loc, Value index, ValueRange largest) {
            ContextBuilder inner(body, loc, cb.getContext());
            Value entry =
                arith::AddIOp::create(body, loc, begin, inner.toCell(index));
            Value depth = depthOf(body, loc, inner.loadEntry(entry));
            Value larger = arith::MaxSIOp::create(body, loc, largest[0], depth);
            scf::YieldOp::create(body, loc, larger);
          });
      other = loop.getResult(0);
    } else {
      continue;
    }
    depth = arith::MaxSIOp::create(rewriter, loc, depth, other);
  }
  rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(),
                                                  depth);
  return success();
}

LogicalResult
ConvertTraverse::matchAndRewrite(TraverseOp op, OpAdaptor,
                                 ConversionPatternRewriter &rewriter) const {
  Location loc = op.getLoc();
  ContextBuilder cb(rewriter, loc);
  auto traversal = op->getParentOfType<func::FuncOp>();
  Value begin = traversal.getArgument(1), end = traversal.getArgument(2);
  Value count = arith::SubIOp::create(rewriter, loc, end, begin);
  const Reservation &reservation = layout.getReservation(op);
  if (reservation.nodes != 0)
    cb.reserveNodes(arith::MulIOp::create(rewriter, loc, count,
                                          cb.constant(reservation.nodes)));
  for (auto [kernel, records] : reservation.records) {
    int64_t number = layout.getKernel(kernel.getSymNameAttr());
    Value bytes = cb.constant(records * layout.getRecordBytes(kernel));
    cb.reserveRecords(cb.getQueue(number), number,
                      arith::MulIOp::create(rewriter, loc, count, bytes));
  }
  auto loop = scf::ForOp::create(rewriter, loc, begin, end, cb.constant(1));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  ContextBuilder inner(rewriter, loc, cb.getContext());
  Value node = loop.getInductionVar();
  Value variant = inner.loadVariant(node);
  for (auto name : op.getFunctions().getAsRange<FlatSymbolRefAttr>()) {
    auto function =
        SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name);
    // The last argument of the function is the node. The variants of its ADT
    // have consecutive numbers.
    auto type = layout.getTraversedAdt(name.getAttr());
    auto [first, count] = layout.getVariantRange(type);
    Value relative =
        arith::SubIOp::create(rewriter, loc, variant, inner.constant(first));
    Value isNode =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult,
                              relative, inner.constant(count));
    int64_t memo = layout.getMemo(name.getAttr());
    SmallVector<Type> results;
    if (failed(getTypeConverter()->convertTypes(function.getResultTypes(),
                                                results)))
      return failure();
    scf::IfOp::create(
        rewriter, loc, isNode, [&](OpBuilder &then, Location loc) {
          ContextBuilder inner(then, loc, cb.getContext());
          auto call = func::CallOp::create(then, loc, name, results,
                                           ValueRange{cb.getContext(), node});
          Value memos = inner.loadField(ContextField::memo);
          for (auto [index, result] : llvm::enumerate(call.getResults()))
            inner.storeCell(inner.loadPointer(memos, memo + index), node,
                            inner.toCell(result));
          scf::YieldOp::create(then, loc);
        });
  }
  rewriter.eraseOp(op);
  return success();
}

LogicalResult
ConvertLookup::matchAndRewrite(LookupOp op, OpAdaptor adaptor,
                               ConversionPatternRewriter &rewriter) const {
  ContextBuilder cb(rewriter, op.getLoc());
  int64_t memo = layout.getMemo(op.getFunctionAttr().getAttr());
  if (memo < 0)
    return rewriter.notifyMatchFailure(op, "the function is not traversed");
  Value memos = cb.loadField(ContextField::memo);
  SmallVector<Value> results;
  for (auto [index, type] : llvm::enumerate(op.getResultTypes())) {
    Value cell =
        cb.loadCell(cb.loadPointer(memos, memo + index), adaptor.getNode());
    results.push_back(cb.fromCell(cell, getTypeConverter()->convertType(type)));
  }
  rewriter.replaceOp(op, results);
  return success();
}

LogicalResult mlir::batch::checkInspectorPatterns(func::FuncOp function,
                                                  const ObjectLayout &layout) {
  // Without a batch.keep, the rows that the function reads later would be
  // reused.
  const bool keepsRows =
      !layout.hasTransientTables() ||
      function.walk([](KeepOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  WalkResult waits = function.walk([&](AwaitOp op) {
    if (op.getTable() && keepsRows)
      return WalkResult::advance();
    if (!op.getTable())
      op.emitOpError("waits for a row without a table; run batch-assign-slots "
                     "before convert-batch-to-llvm");
    else
      op.emitOpError(
          "requires a batch.keep that lists the rows of transient tables "
          "that are needed after the wait; run batch-keep-rows before "
          "convert-batch-to-llvm");
    return WalkResult::interrupt();
  });
  if (waits.wasInterrupted())
    return failure();
  WalkResult result = function.walk([&](LookupOp op) {
    if (layout.getMemo(op.getFunctionAttr().getAttr()) >= 0)
      return WalkResult::advance();
    op.emitError("results of function ")
        << op.getFunctionAttr()
        << " are looked up here, but no batch.traverse runs it";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void mlir::batch::populateInspectorPatterns(const TypeConverter &converter,
                                            const ObjectLayout &layout,
                                            RewritePatternSet &patterns) {
  patterns.add<ConvertRecord, ConvertRow, ConvertNumRows, ConvertDepth,
               ConvertTraverse, ConvertLookup, ConvertResolve, ConvertGhost,
               ConvertAwait>(converter, patterns.getContext(), layout);
  patterns.add<ConvertExtract, ConvertConcurrent, ConvertKeep, ConvertYield>(
      converter, patterns.getContext());
}
