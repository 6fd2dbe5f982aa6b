//===- ValueClasses.cpp - Value classes of a program ----------------------===//
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

/// Returns the ADTs of the values that an input may contain: the ADTs of the
/// entry's arguments and of their fields.
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

/// Calls `visit` for each invocation in `program`, with its kernel.
static void forEachInvoke(const InstanceProgram &program,
                          SymbolTableCollection &symbols,
                          function_ref<void(InvokeOp, KernelOp)> visit) {
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](InvokeOp invoke) {
      visit(invoke, symbols.lookupNearestSymbolFrom<KernelOp>(
                        invoke, invoke.getKernelAttr()));
    });
}

ValueClasses::ValueClasses(const InstanceProgram &program,
                           const Sharedness &sharedness, const ValueFlow &flow)
    : program(program), sharedness(sharedness), flow(flow) {
  if (!program.getEntry())
    return;
  auto module = program.getEntry()->getParentOfType<ModuleOp>();
  SmallVector<KernelOp> kernels(module.getOps<KernelOp>());
  mergeNodes(kernels);
  addProducers(kernels);
  addParameterRows();
  addInputs(module);
}

/// Returns true for a node that is a parameter. A parameter is a member of a
/// class only where it can be the same operand as other values.
bool ValueClasses::isParameter(unsigned node) const {
  Value value = flow.getValue(node);
  return value && sharedness.getParameter(value);
}

/// Joins values that can be the same operand or result: along copies, and in
/// the operands and results of kernels. All invocations of a kernel share one
/// node per operand and result.
void ValueClasses::mergeNodes(ArrayRef<KernelOp> kernels) {
  unsigned nodes = flow.size();
  for (KernelOp kernel : kernels) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      operandNodes[{kernel, i}] = nodes++;
    for (unsigned i = 0; i < kernel.getNumResults(); ++i)
      resultNodes[{kernel, i}] = nodes++;
  }
  merged.grow(nodes);
  for (unsigned node = 0; node < flow.size(); ++node)
    for (unsigned target : flow.getCopies(node))
      if (!isParameter(node) && !isParameter(target))
        merged.join(node, target);
  forEachInvoke(program, symbols, [&](InvokeOp invoke, KernelOp kernel) {
    invoked.insert(kernel);
    for (auto [index, input] : llvm::enumerate(invoke.getInputs()))
      if (!kernel.isShared(index) && flow.contains(input) &&
          !isParameter(flow.getNode(input)))
        merged.join(operandNodes[{kernel, index}], flow.getNode(input));
    for (auto [index, output] : llvm::enumerate(invoke.getOutputs()))
      merged.join(resultNodes[{kernel, index}], flow.getNode(output));
  });
}

ValueClass &ValueClasses::ensureClass(unsigned node) {
  auto [it, inserted] =
      classOf.try_emplace(merged.findLeader(node), classes.size());
  if (inserted)
    classes.emplace_back();
  return classes[it->second];
}

/// Records the results of kernels that are invoked.
void ValueClasses::addProducers(ArrayRef<KernelOp> kernels) {
  for (KernelOp kernel : kernels) {
    if (!invoked.contains(kernel))
      continue;
    for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
      ValueClass &valueClass = ensureClass(resultNodes[{kernel, i}]);
      valueClass.producers.push_back({kernel, i});
      valueClass.row = cast<RankedTensorType>(kernel.getResultTypes()[i]);
    }
  }
}

void ValueClasses::addParameterRow(unsigned node, int64_t parameter,
                                   RankedTensorType type) {
  ValueClass &valueClass = ensureClass(node);
  auto &rows = valueClass.parameterRows;
  if (!llvm::is_contained(rows, std::make_pair(parameter, type)))
    rows.push_back({parameter, type});
  valueClass.row = type;
}

/// Creates a class for every node. Records rows of parameters, and whole
/// parameters that can be the same operand as other values.
void ValueClasses::addParameterRows() {
  for (unsigned node = 0; node < flow.size(); ++node) {
    ensureClass(node);
    Value value = flow.getValue(node);
    if (!value)
      continue;
    auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
    if (slice && isRowView(slice))
      if (auto parameter = sharedness.getParameter(slice.getSource()))
        addParameterRow(node, *parameter, slice.getResultType());
    // A parameter that is copied to another value is one row of the class of
    // that value.
    if (std::optional<int64_t> parameter = sharedness.getParameter(value))
      for (unsigned target : flow.getCopies(node))
        if (!isParameter(target))
          addParameterRow(target, *parameter,
                          cast<RankedTensorType>(value.getType()));
  }
  forEachInvoke(program, symbols, [&](InvokeOp invoke, KernelOp kernel) {
    for (auto [index, input] : llvm::enumerate(invoke.getInputs()))
      if (auto parameter = sharedness.getParameter(input);
          parameter && !kernel.isShared(index))
        addParameterRow(operandNodes[{kernel, index}], *parameter,
                        cast<RankedTensorType>(input.getType()));
  });
}

/// Records that a value of `type` is an input. The type is a tensor or a
/// (nested) list of tensors.
void ValueClasses::addInput(unsigned node, Type type) {
  while (auto list = dyn_cast<rec::ListType>(type))
    type = list.getElementType();
  auto row = cast<RankedTensorType>(type);
  if (rec::isRaggedTensor(row))
    row = RankedTensorType::get(row.getShape().drop_front(),
                                row.getElementType());
  ValueClass &valueClass = ensureClass(node);
  valueClass.hasInputs = true;
  valueClass.row = row;
}

/// Records input tensors, and the names of fields.
void ValueClasses::addInputs(ModuleOp module) {
  func::FuncOp entry = program.getEntry();
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
        ValueClass &valueClass = ensureClass(node);
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
