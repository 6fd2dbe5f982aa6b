//===- StageOperators.cpp - Split operators into stages -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Codegen/Stages/Passes.h"
#include "Batch/Support/OptionError.h"

#include "Staging.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::batch {
#define GEN_PASS_DEF_STAGEOPERATORSPASS
#include "Batch/Codegen/Stages/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::uprog;

/// Number of bits that a thread of a GPU loads at once.
static constexpr int64_t kGPUVectorBits = 128;

namespace mlir::uprog {

/// Writes a copy of an operator. The body of the copy consists of the
/// operator's stages. Each stage contains its nodes and copies of the views
/// between them, so a view is in the stage that reads it.
class StageWriter {
public:
  StageWriter(Staging &staging, OpBuilder &builder)
      : staging(staging), builder(builder),
        source(staging.op.getBody().front()) {}

  OperatorOp write();

private:
  using Stage = Staging::Stage;
  void writeStage(int64_t number);
  /// Returns the ops of the nodes, results and views of a stage, in order.
  SmallVector<Operation *> findOps(int64_t number);
  /// Returns true if stage `number` reads `operand` from the location where an
  /// earlier stage stored it.
  bool readsStored(OpOperand &operand, int64_t number) const;
  /// Returns true if stage `number` needs only the shape of `operand`, and has
  /// no code for it.
  bool readsShape(OpOperand &operand, int64_t number) const;
  /// Returns true if `op` counts tasks or the rows of a ragged domain.
  bool countsRows(Operation *op) const;
  Value makeSize(int64_t domain);

  Staging &staging;
  OpBuilder &builder;
  Block &source;
  IRMapping arguments;        ///< arguments, and values that stages store
  SmallVector<Value> yielded; ///< values that the operator yields
  /// Maps each destination operand of inserts to the result of the stage that
  /// copies the operand.
  DenseMap<Value, Value> copies;
};

} // namespace mlir::uprog

/// Visits, in order, each use of an outside value by `op` or its regions.
static void forEachUse(Operation *op,
                       llvm::function_ref<void(OpOperand &)> visit) {
  for (OpOperand &operand : op->getOpOperands())
    visit(operand);
  for (Region &region : op->getRegions())
    visitUsedValuesDefinedAbove(region, region,
                                [&](OpOperand *use) { visit(*use); });
}

bool StageWriter::readsStored(OpOperand &operand, int64_t number) const {
  StagedNode *node = staging.getNode(operand.get());
  return node && node->stage < number && staging.stored.contains(operand.get());
}

bool StageWriter::readsShape(OpOperand &operand, int64_t number) const {
  StagedNode *node = staging.getNode(operand.get());
  auto linalgOp = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  return node && node->stage != number && linalgOp &&
         linalgOp.isDpsInit(&operand) &&
         !linalgOp.payloadUsesValueFromOperand(&operand);
}

bool StageWriter::countsRows(Operation *op) const {
  auto dim = dyn_cast<tensor::DimOp>(op);
  return dim && dim.getConstantIndex() == 0 &&
         staging.getSpace(dim.getSource()).hasRows();
}

SmallVector<Operation *> StageWriter::findOps(int64_t number) {
  const Stage &stage = staging.stages[number];
  DenseSet<Operation *> found;
  SmallVector<Operation *> worklist;
  auto add = [&](Operation *op) {
    if (op && op->getBlock() == &source && found.insert(op).second)
      worklist.push_back(op);
  };
  for (const StagedNode *node : stage.nodes)
    add(node->op);
  for (auto [value, offset] : stage.stores)
    add(value.getDefiningOp());
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    if (countsRows(op))
      continue;
    // Values that no earlier stage stores are recomputed.
    forEachUse(op, [&](OpOperand &operand) {
      if (!readsStored(operand, number) && !readsShape(operand, number))
        add(operand.get().getDefiningOp());
    });
  }
  SmallVector<Operation *> ops;
  for (Operation &op : source)
    if (found.contains(&op))
      ops.push_back(&op);
  return ops;
}

Value StageWriter::makeSize(int64_t domain) {
  Location loc = staging.op.getLoc();
  for (BlockArgument argument : source.getArguments())
    if (domain >= 0 && isa<RankedTensorType>(argument.getType()) &&
        staging.getSpace(argument).domain == domain)
      return builder.createOrFold<tensor::DimOp>(loc,
                                                 arguments.lookup(argument), 0);
  return arguments.lookup(source.getArgument(0));
}

void StageWriter::writeStage(int64_t number) {
  Stage &stage = staging.stages[number];
  MLIRContext *context = builder.getContext();
  Location loc = stage.nodes.empty() ? staging.op.getLoc()
                                     : stage.nodes.front()->op->getLoc();
  int64_t domain = stage.space.domain;
  RowsKind kind = domain == RowSpace::kOnce    ? RowsKind::Once
                  : domain == RowSpace::kTasks ? RowsKind::Tasks
                                               : RowsKind::Ragged;
  SmallVector<Type> types;
  SmallVector<int64_t> scratch;
  for (auto [value, offset] : stage.stores) {
    types.push_back(value.getType());
    scratch.push_back(offset);
  }
  SmallVector<Value> reads;
  for (BlockArgument argument : staging.getRowReads(stage))
    reads.push_back(arguments.lookup(argument));
  auto stageOp = StageOp::create(
      builder, loc, types,
      RowsAttr::get(context, kind, kind == RowsKind::Ragged ? domain : -1),
      stage.space.shape,
      stage.sharedDims ? builder.getI64IntegerAttr(*stage.sharedDims) : nullptr,
      stage.barrier, stage.scalar, reads, scratch);

  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&stageOp.getBody());
  IRMapping mapping(arguments);
  for (Operation *op : findOps(number)) {
    if (countsRows(op)) {
      Value source = cast<tensor::DimOp>(op).getSource();
      mapping.map(op->getResult(0), makeSize(staging.getSpace(source).domain));
      continue;
    }
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (mapping.contains(value) || !readsShape(operand, number))
        continue;
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<Value> sizes;
      if (!type.hasStaticShape())
        sizes.push_back(makeSize(staging.getSpace(value).domain));
      mapping.map(value,
                  tensor::EmptyOp::create(builder, op->getLoc(), type, sizes));
    }
    Operation *copy = builder.clone(*op, mapping);
    StagedNode *node = staging.nodeOf.lookup(op);
    if (auto insert = dyn_cast<InsertOp>(copy))
      if (Value rows = copies.lookup(cast<InsertOp>(op).getDest()))
        insert.getDestMutable().assign(rows);
    if (node && node->stage == number && node->reduction)
      copy->setDiscardableAttr(kReductionAttr, node->reduction);
  }
  SmallVector<Value> values;
  for (auto [value, offset] : stage.stores)
    values.push_back(mapping.lookup(value));
  YieldOp::create(builder, loc, values);

  Operation *yield = source.getTerminator();
  for (auto [i, store] : llvm::enumerate(stage.stores)) {
    Value value = store.first, result = stageOp.getResult(i);
    if (staging.stored.contains(value))
      arguments.map(value, result);
    auto root = staging.roots.find(value);
    if (root != staging.roots.end() && root->second->stage == number)
      copies[value] = result;
    for (OpOperand &operand : yield->getOpOperands())
      if (operand.get() == value)
        yielded[operand.getOperandNumber()] = result;
  }
}

OperatorOp StageWriter::write() {
  OperatorOp op = staging.op;
  auto staged = cast<OperatorOp>(builder.cloneWithoutRegions(*op));
  staged->setAttr(kStagingAttr,
                  StagingAttr::get(builder.getContext(), staging.target,
                                   staging.vectorBits, staging.lanes));
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locations;
  for (BlockArgument argument : source.getArguments())
    locations.push_back(argument.getLoc());
  Block *body = builder.createBlock(&staged.getBody(), {},
                                    source.getArgumentTypes(), locations);
  arguments.map(source.getArguments(), body->getArguments());
  yielded.resize(op.getNumResults());
  for (size_t i = 0, e = staging.stages.size(); i < e; ++i)
    writeStage(i);
  YieldOp::create(builder, source.getTerminator()->getLoc(), yielded);
  return staged;
}

OperatorOp Staging::write(OpBuilder &builder) {
  return StageWriter(*this, builder).write();
}

namespace {
struct StageOperatorsPass
    : batch::impl::StageOperatorsPassBase<StageOperatorsPass> {
  using StageOperatorsPassBase::StageOperatorsPassBase;

  void runOnOperation() override {
    if (vectorBits < 128 || (vectorBits & (vectorBits - 1))) {
      batch::emitOptionError(
          &getContext(), "vector-bits must be a power of two and at least 128");
      return signalPassFailure();
    }
    if (failed(target == StageTarget::CPU ? stageForCPU() : stageForGPU()))
      signalPassFailure();
  }

  LogicalResult stageForCPU() {
    OpBuilder builder(&getContext());
    for (OperatorOp op :
         llvm::make_early_inc_range(getOperation().getOps<OperatorOp>())) {
      if (op.getStaging())
        continue;
      Staging staging(op, target, vectorBits);
      if (failed(staging.run()))
        return failure();
      builder.setInsertionPoint(op);
      staging.write(builder);
      op.erase();
    }
    return success();
  }

  /// Aligns integers to their size. Without a data layout, LLVM aligns an i64
  /// to only four bytes and loads it in halves. For a width without an entry,
  /// MLIR uses the entry of the next larger integer.
  static void alignIntegers(gpu::GPUModuleOp device) {
    Builder b(device.getContext());
    SmallVector<DataLayoutEntryInterface> entries;
    for (int64_t bits : {8, 16, 32, 64}) {
      auto alignment = DenseElementsAttr::get(
          VectorType::get(2, b.getI64Type()), ArrayRef<int64_t>{bits, bits});
      entries.push_back(
          DataLayoutEntryAttr::get(b.getIntegerType(bits), alignment));
    }
    device->setAttr(DLTIDialect::kDataLayoutAttrName,
                    DataLayoutSpecAttr::get(b.getContext(), entries));
  }

  /// Writes staged copies of the operators to a device module. The operators
  /// stay unchanged, because the unbatched code needs them.
  LogicalResult stageForGPU() {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    if (module.getOps<OperatorOp>().empty() ||
        symbols.lookup(batch::kDeviceModule))
      return success();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto device = gpu::GPUModuleOp::create(builder, module.getLoc(),
                                           batch::kDeviceModule);
    symbols.insert(device);
    alignIntegers(device);
    builder.setInsertionPointToEnd(device.getBody());
    for (OperatorOp op : module.getOps<OperatorOp>()) {
      Staging staging(op, target, kGPUVectorBits);
      if (failed(staging.run()))
        return failure();
      staging.write(builder);
    }
    return success();
  }
};
} // namespace
