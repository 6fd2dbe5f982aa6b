//===- Forms.cpp - The forms of parameters that kernels read ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

#include "batch-runtime/DescriptorKeys.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::uprog;
namespace key = batchrt::key;

ModuleTables::ModuleTables(ModuleOp module, Operation *code,
                           unsigned addressSpace)
    : module(module), code(code), addressSpace(addressSpace) {
  if (auto known = module->getAttrOfType<ArrayAttr>(kForms))
    llvm::append_range(forms, known);
}

int64_t ModuleTables::getForm(DictionaryAttr form) {
  auto it = llvm::find(forms, form);
  if (it == forms.end())
    it = forms.insert(it, form);
  return it - forms.begin();
}

int64_t ModuleTables::getRows(int64_t parameter) {
  Builder b(module.getContext());
  return getForm(b.getDictionaryAttr(
      {b.getNamedAttr(key::parameter, b.getI64IntegerAttr(parameter)),
       b.getNamedAttr(key::form, b.getStringAttr(key::rows))}));
}

int64_t ModuleTables::getPanels(const PanelOperand &panels) {
  Builder b(module.getContext());
  SmallVector<NamedAttribute> form = {
      b.getNamedAttr(key::parameter,
                     b.getI64IntegerAttr(panels.parameters.front())),
      b.getNamedAttr(key::form, b.getStringAttr(key::panels)),
      b.getNamedAttr(key::n, b.getI64IntegerAttr(panels.n)),
      b.getNamedAttr(key::k, b.getI64IntegerAttr(panels.k)),
      b.getNamedAttr(key::transposed, b.getBoolAttr(panels.transposed)),
      b.getNamedAttr(key::width, b.getI64IntegerAttr(panels.width))};
  if (panels.parameters.size() > 1)
    form.push_back(b.getNamedAttr(
        key::stacked,
        b.getDenseI64ArrayAttr(ArrayRef(panels.parameters).drop_front())));
  return getForm(b.getDictionaryAttr(form));
}

StringRef ModuleTables::getConstant(DenseElementsAttr value) {
  std::string &name = constants[value];
  if (!name.empty())
    return name;
  name = "batch.constant." + std::to_string(constants.size() - 1);
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  int64_t columns = type.getRank() ? type.getShape().back() : 1;
  int64_t padded = StagePlan::makeLayout(type.getShape(), element).getRun();
  OpBuilder b = OpBuilder::atBlockBegin(&code->getRegion(0).front());
  // One integer of the element's width per element, bits as they are.
  unsigned bits = elementBytes(element) * 8;
  SmallVector<APInt> elements;
  auto push = [&](const APInt &element) {
    elements.push_back(element.zextOrTrunc(bits));
    if (elements.size() % padded == size_t(columns))
      elements.resize(llvm::alignTo(elements.size(), padded), APInt(bits, 0));
  };
  if (isa<FloatType>(element))
    for (APFloat one : value.getValues<APFloat>())
      push(one.bitcastToAPInt());
  else
    for (APInt one : value.getValues<APInt>())
      push(one);
  Type stored = b.getIntegerType(bits);
  auto data = DenseElementsAttr::get(
      RankedTensorType::get({int64_t(elements.size())}, stored), elements);
  LLVM::GlobalOp::create(b, module.getLoc(),
                         LLVM::LLVMArrayType::get(stored, elements.size()),
                         /*isConstant=*/true, LLVM::Linkage::Internal, name,
                         data, /*alignment=*/64, addressSpace);
  return name;
}

void ModuleTables::save() {
  module->setAttr(kForms, ArrayAttr::get(module.getContext(), forms));
}
