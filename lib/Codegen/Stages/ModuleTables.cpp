//===- ModuleTables.cpp - Packings of parameters --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModuleTables.h"

#include "StagePlan.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::uprog;

ModuleTables::ModuleTables(ModuleOp module, Operation *code,
                           unsigned addressSpace)
    : module(module), code(code), addressSpace(addressSpace) {
  if (auto known = module->getAttrOfType<ArrayAttr>(kPackingsAttr))
    llvm::append_range(packings, known);
  if (auto known = module->getAttrOfType<ArrayAttr>(kIndicesAttr))
    llvm::append_range(indices, known);
}

int64_t ModuleTables::getPacking(Attribute packing) {
  auto it = llvm::find(packings, packing);
  if (it == packings.end())
    it = packings.insert(it, packing);
  return it - packings.begin();
}

int64_t ModuleTables::getRows(int64_t parameter) {
  return getPacking(PaddedAttr::get(module.getContext(), parameter));
}

int64_t ModuleTables::getPanels(PanelsAttr panels) {
  return getPacking(panels);
}

int64_t ModuleTables::getIndex(StringRef text) {
  auto attr = StringAttr::get(module.getContext(), text);
  auto it = llvm::find(indices, attr);
  if (it == indices.end())
    it = indices.insert(it, attr);
  return it - indices.begin() + 1;
}

StringRef ModuleTables::getConstant(DenseElementsAttr value) {
  std::string &name = constants[value];
  if (!name.empty())
    return name;
  name = "batch.constant." + std::to_string(constants.size() - 1);
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  int64_t columns = type.getRank() ? type.getShape().back() : 1;
  int64_t padded = makeLayout(type.getShape(), element).getRun();
  OpBuilder b = OpBuilder::atBlockBegin(&code->getRegion(0).front());
  // Store each element as an integer of the same width, with the same bits.
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
  if (!packings.empty())
    module->setAttr(kPackingsAttr,
                    ArrayAttr::get(module.getContext(), packings));
  if (!indices.empty())
    module->setAttr(kIndicesAttr, ArrayAttr::get(module.getContext(), indices));
}
