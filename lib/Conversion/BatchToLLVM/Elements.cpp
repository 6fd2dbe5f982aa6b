//===- Elements.cpp - Elements that control flow reads --------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/Batch/ElementTypes.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/ContextAccess.h"
#include "ObjectLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns the name of the parameter from which `op` reads an element. The name
/// is empty if no parameter is known.
static StringRef getReadParameter(Operation *op) {
  auto module = op->getParentOfType<ModuleOp>();
  if (auto read = dyn_cast<batch::ExtractOp>(op)) {
    auto row = read.getRow().getDefiningOp<RowOp>();
    auto source =
        row ? module.lookupSymbol<SourceOp>(row.getSource()) : SourceOp();
    if (source && source.getParameter())
      return getParameterName(module, *source.getParameter());
    return {};
  }
  if (isa<AwaitOp>(op))
    return {};
  auto argument =
      dyn_cast<BlockArgument>(cast<tensor::ExtractOp>(op).getTensor());
  if (!argument || argument.getOwner()->getParentOp() != lookupEntry(module))
    return {};
  auto name = lookupEntry(module).getArgAttrOfType<StringAttr>(
      argument.getArgNumber(), kSharedAttr);
  return name ? name.getValue() : StringRef();
}

void mlir::batch::numberIndices(ModuleOp module) {
  SmallVector<Attribute> places;
  if (auto known = module->getAttrOfType<ArrayAttr>(uprog::kIndicesAttr))
    llvm::append_range(places, known);
  Builder builder(module.getContext());
  // An instance program and its inspector contain the same reads, so reads with
  // equal locations and types share their numbers.
  DenseMap<std::pair<Location, Type>, int64_t> numbers;
  auto number = [&](Operation *op, Type type) {
    auto [it, isNew] = numbers.try_emplace({op->getLoc(), type}, places.size());
    if (isNew)
      for (int64_t dim = 0; dim < cast<RankedTensorType>(type).getRank(); ++dim)
        places.push_back(builder.getStringAttr(describeIndexError(
            describeDimension(dim, getReadParameter(op), type, op->getLoc()))));
    op->setAttr(kIndexPlaceAttr, builder.getI64IntegerAttr(it->second + 1));
  };
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](Operation *op) {
      if (auto read = dyn_cast<batch::ExtractOp>(op))
        number(op, read.getRowType());
      else if (auto await = dyn_cast<AwaitOp>(op))
        number(op, await.getRowType());
      else if (auto extract = dyn_cast<tensor::ExtractOp>(op))
        if (RankedTensorType row = getReadRow(extract.getTensor().getType()))
          number(op, row);
    });
  if (!places.empty())
    module->setAttr(uprog::kIndicesAttr, builder.getArrayAttr(places));
}

/// Ends the run unless `index`, a cell, is less than `extent`.
static void checkIndex(ContextBuilder &cb, OpBuilder &builder, Location loc,
                       Value index, Value extent, int64_t place) {
  Value outside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge,
                                        index, extent);
  scf::IfOp::create(builder, loc, outside, [&](OpBuilder &then, Location loc) {
    ContextBuilder inner(then, loc, cb.getContext());
    inner.fail(BATCH_ERROR_INDEX_OUT_OF_BOUNDS, index, inner.constant(place));
    scf::YieldOp::create(then, loc);
  });
}

Value mlir::batch::loadExtent(OpBuilder &builder, Location loc, Value row) {
  ContextBuilder cb(builder, loc);
  Value address =
      arith::AddIOp::create(builder, loc, row, cb.constant(abi::kExtentOffset));
  Value pointer = LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), address);
  return LLVM::LoadOp::create(builder, loc, builder.getI64Type(), pointer);
}

Value mlir::batch::loadElement(OpBuilder &builder, Operation *op,
                               RankedTensorType type, Value row,
                               ValueRange indices) {
  Location loc = op->getLoc();
  ContextBuilder cb(builder, loc);
  auto place = op->getAttrOfType<IntegerAttr>(kIndexPlaceAttr);
  auto getExtent = [&](int64_t dim) -> Value {
    return type.isDynamicDim(dim) ? loadExtent(builder, loc, row)
                                  : cb.constant(type.getDimSize(dim));
  };
  SmallVector<Value> cells;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    cells.push_back(cb.toCell(index));
    std::optional<int64_t> known = getConstantIntValue(index);
    if (!known || *known < 0 || *known >= type.getDimSize(dim))
      checkIndex(cb, builder, loc, cells.back(), getExtent(dim),
                 place ? place.getInt() + dim : 0);
  }
  return cb.loadElement(type, row, cells);
}
