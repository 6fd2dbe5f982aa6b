//===- VerifyPlanned.cpp - Inspectors and locations of rows ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Verify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::batch {
#define GEN_PASS_DEF_VERIFYPLANNEDPASS
#include "Batch/Transforms/Verify/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

/// Returns the inspector, its traversals, and all functions that they run.
static SetVector<Operation *> findInspectors(ModuleOp module,
                                             SymbolTable &symbols) {
  SetVector<Operation *> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kInspectorAttr) || function->hasAttr(kTraversalAttr))
      functions.insert(function);
  auto add = [&](FlatSymbolRefAttr name) {
    if (auto function = symbols.lookup<func::FuncOp>(name.getAttr()))
      functions.insert(function);
  };
  for (size_t i = 0; i < functions.size(); ++i)
    functions[i]->walk([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op))
        add(call.getCalleeAttr());
      else if (auto lookup = dyn_cast<LookupOp>(op))
        add(lookup.getFunctionAttr());
      else if (auto traverse = dyn_cast<TraverseOp>(op))
        llvm::for_each(traverse.getFunctions().getAsRange<FlatSymbolRefAttr>(),
                       add);
    });
  return functions;
}

/// Checks that the kernel of `record` specifies where its operands and results
/// are stored.
static LogicalResult verifyRecord(RecordOp record, SymbolTable &symbols) {
  auto kernel = symbols.lookup<KernelOp>(record.getKernelAttr().getAttr());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (!kernel.getArgAttr(i, kReadAttr))
      return record.emitError("argument #")
             << i << " of kernel " << record.getKernelAttr()
             << " has no 'batch.read'; run batch-assign-slots first";
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (!kernel.getResultAttr(i, kTableAttr))
      return record.emitError("result #")
             << i << " of kernel " << record.getKernelAttr()
             << " has no table; run batch-assign-slots first";
  return success();
}

/// Checks that `op`, an op of an inspector, uses handles instead of tensors.
/// For a record, checks its kernel instead.
static LogicalResult verifyInspector(Operation *op, SymbolTable &symbols) {
  if (auto record = dyn_cast<RecordOp>(op))
    return verifyRecord(record, symbols);
  auto isTensor = llvm::IsaPred<TensorType>;
  bool hasTensor = llvm::any_of(op->getResultTypes(), isTensor);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      hasTensor |= llvm::any_of(block.getArgumentTypes(), isTensor);
  if (!hasTensor && !isa<InvokeOp>(op))
    return success();
  return op->emitOpError("uses a tensor in an inspector, where handles "
                         "represent tensors; run batch-linearize first");
}

/// Checks that `name`, in attribute `key` of `op`, names a table or a source,
/// as the key requires.
static LogicalResult verifyName(Operation *op, StringRef key, Attribute name,
                                SymbolTable &symbols) {
  if (!name)
    return success();
  Operation *symbol = symbols.lookup(cast<FlatSymbolRefAttr>(name).getAttr());
  bool isTable = key == kTableAttr;
  if (isTable ? isa_and_nonnull<TableOp>(symbol)
              : isa_and_nonnull<SourceOp>(symbol))
    return success();
  return op->emitError("unknown ") << (isTable ? "table " : "source ") << name;
}

/// Checks the tables and sources in which arguments and results of an inspector
/// are stored.
static LogicalResult verifySignature(func::FuncOp function,
                                     SymbolTable &symbols) {
  for (StringRef key : {kTableAttr, kSourceAttr}) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(
              verifyName(function, key, function.getArgAttr(i, key), symbols)))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(verifyName(function, key, function.getResultAttr(i, key),
                            symbols)))
        return failure();
  }
  return success();
}

/// Checks the tables and sources in which fields of ADT values are stored.
static LogicalResult verifyFields(rec::VariantOp variant,
                                  SymbolTable &symbols) {
  for (StringRef key : {kTableAttr, kSourceAttr})
    if (auto names = variant->getAttrOfType<DictionaryAttr>(key))
      for (NamedAttribute field : names)
        if (failed(verifyName(variant, key, field.getValue(), symbols)))
          return failure();
  return success();
}

namespace {
class VerifyPlannedPass
    : public batch::impl::VerifyPlannedPassBase<VerifyPlannedPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto verify = [&](Operation *op) -> WalkResult {
      return verifyInspector(op, symbols);
    };
    for (Operation *op : findInspectors(getOperation(), symbols))
      if (failed(verifySignature(cast<func::FuncOp>(op), symbols)) ||
          op->walk<WalkOrder::PreOrder>(verify).wasInterrupted())
        return signalPassFailure();
    for (auto adt : getOperation().getOps<rec::AdtOp>())
      for (rec::VariantOp variant : adt.getVariants())
        if (failed(verifyFields(variant, symbols)))
          return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
