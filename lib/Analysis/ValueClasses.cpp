//===- ValueClasses.cpp - Values that can meet in one operand -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ValueClasses.h"

#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/Rec/AdtLookup.h"

using namespace mlir;
using namespace mlir::batch;

/// The ADTs whose values inputs may hold: those of entry arguments, and of
/// their fields.
static SetVector<StringAttr> findInputAdts(func::FuncOp entry,
                                           SymbolTableCollection &symbols) {
  SetVector<StringAttr> adts;
  auto add = [&](Type type) {
    while (auto list = dyn_cast<rec::ListType>(type))
      type = list.getElementType();
    if (auto adt = dyn_cast<rec::AdtType>(type))
      adts.insert(adt.getName().getAttr());
  };
  llvm::for_each(entry.getArgumentTypes(), add);
  for (size_t i = 0; i < adts.size(); ++i) {
    auto adt = rec::lookupAdt(entry, FlatSymbolRefAttr::get(adts[i]), symbols);
    for (rec::VariantOp variant : adt.getVariants())
      for (unsigned field = 0; field < variant.getNumFields(); ++field)
        add(variant.getFieldType(field));
  }
  return adts;
}

ValueClasses::ValueClasses(const InstanceProgram &program,
                           const Sharedness &sharedness, const ValueFlow &flow)
    : flow(flow) {
  func::FuncOp entry = program.getEntry();
  if (!entry)
    return;
  auto module = entry->getParentOfType<ModuleOp>();
  SymbolTableCollection symbols;
  unsigned nodes = flow.size();

  // One node for each operand and result of a kernel, wherever it is invoked.
  SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
  for (KernelOp kernel : kernels) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      operandNodes[{kernel, i}] = nodes++;
    for (unsigned i = 0; i < kernel.getNumResults(); ++i)
      resultNodes[{kernel, i}] = nodes++;
  }
  merged.grow(nodes);
  // Parameters flow everywhere; they are members only where they meet others.
  auto isParameter = [&](unsigned node) {
    Value value = flow.getValue(node);
    return value && sharedness.getParameter(value);
  };
  for (unsigned node = 0; node < flow.size(); ++node)
    for (unsigned target : flow.getCopies(node))
      if (!isParameter(node) && !isParameter(target))
        merged.join(node, target);
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](InvokeOp invoke) {
      auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(
          invoke, invoke.getKernelAttr());
      invoked.insert(kernel);
      for (auto [index, input] : llvm::enumerate(invoke.getInputs()))
        if (!kernel.isShared(index) && flow.contains(input) &&
            !isParameter(flow.getNode(input)))
          merged.join(operandNodes[{kernel, index}], flow.getNode(input));
      for (auto [index, output] : llvm::enumerate(invoke.getOutputs()))
        merged.join(resultNodes[{kernel, index}], flow.getNode(output));
    });

  auto getClass = [&](unsigned node) -> ValueClass & {
    auto [it, inserted] =
        classOf.try_emplace(merged.findLeader(node), classes.size());
    if (inserted)
      classes.emplace_back();
    return classes[it->second];
  };
  auto addRow = [&](unsigned node, int64_t parameter, RankedTensorType type) {
    auto &rows = getClass(node).parameterRows;
    if (!llvm::is_contained(rows, std::make_pair(parameter, type)))
      rows.push_back({parameter, type});
    getClass(node).row = type;
  };
  for (KernelOp kernel : kernels) {
    if (!invoked.contains(kernel))
      continue;
    for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
      ValueClass &valueClass = getClass(resultNodes[{kernel, i}]);
      valueClass.producers.push_back({kernel, i});
      valueClass.row = cast<RankedTensorType>(kernel.getResultTypes()[i]);
    }
  }
  for (unsigned node = 0; node < flow.size(); ++node) {
    getClass(node);
    Value value = flow.getValue(node);
    if (!value)
      continue;
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    if (slice && isRowView(slice))
      if (auto parameter = sharedness.getParameter(slice.getSource()))
        addRow(node, *parameter, slice.getResultType());
    // A whole parameter that meets other values is a row of its own.
    if (std::optional<int64_t> parameter = sharedness.getParameter(value))
      for (unsigned target : flow.getCopies(node))
        if (!isParameter(target))
          addRow(target, *parameter, cast<RankedTensorType>(value.getType()));
  }
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](InvokeOp invoke) {
      auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(
          invoke, invoke.getKernelAttr());
      for (auto [index, input] : llvm::enumerate(invoke.getInputs()))
        if (auto parameter = sharedness.getParameter(input);
            parameter && !kernel.isShared(index))
          addRow(operandNodes[{kernel, index}], *parameter,
                 cast<RankedTensorType>(input.getType()));
    });

  auto addInput = [&](unsigned node, Type type) {
    while (auto list = dyn_cast<rec::ListType>(type))
      type = list.getElementType();
    auto row = cast<RankedTensorType>(type);
    if (rec::isRaggedTensor(row))
      row = RankedTensorType::get(row.getShape().drop_front(),
                                  row.getElementType());
    ValueClass &valueClass = getClass(node);
    valueClass.hasInputs = true;
    valueClass.row = row;
  };
  for (BlockArgument argument : entry.getArguments())
    if (carriesTensor(argument.getType()) && !sharedness.isShared(argument))
      addInput(flow.getNode(argument), argument.getType());
  SetVector<StringAttr> inputAdts = findInputAdts(entry, symbols);
  for (auto adt : module.getOps<rec::AdtOp>())
    for (rec::VariantOp variant : adt.getVariants())
      for (unsigned field = 0; field < variant.getNumFields(); ++field) {
        if (!flow.containsField(variant, field))
          continue;
        unsigned node = flow.getFieldNode(variant, field);
        if (inputAdts.contains(adt.getSymNameAttr()))
          addInput(node, variant.getFieldType(field));
        ValueClass &valueClass = getClass(node);
        if (valueClass.name.empty())
          valueClass.name = variant.getFieldName(field);
      }
}

unsigned ValueClasses::getClass(Value value) const {
  return classOf.lookup(merged.findLeader(flow.getNode(value)));
}

unsigned ValueClasses::getFieldClass(rec::VariantOp variant,
                                     unsigned field) const {
  return classOf.lookup(merged.findLeader(flow.getFieldNode(variant, field)));
}

unsigned ValueClasses::getOperandClass(KernelOp kernel,
                                       unsigned argument) const {
  return classOf.lookup(
      merged.findLeader(operandNodes.lookup({kernel, argument})));
}

unsigned ValueClasses::getResultClass(KernelOp kernel, unsigned result) const {
  return classOf.lookup(
      merged.findLeader(resultNodes.lookup({kernel, result})));
}
