//===- AdtLookup.cpp - Lookup and numbering of ADT variants ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Rec/AdtLookup.h"

using namespace mlir;
using namespace mlir::rec;

AdtOp rec::lookupAdt(Operation *from, FlatSymbolRefAttr name,
                     SymbolTableCollection &symbolTables) {
  Operation *table = SymbolTable::getNearestSymbolTable(from);
  while (table) {
    if (auto adt = symbolTables.lookupSymbolIn<AdtOp>(table, name))
      return adt;
    Operation *parent = table->getParentOp();
    table = parent ? SymbolTable::getNearestSymbolTable(parent) : nullptr;
  }
  return {};
}

VariantOp rec::lookupVariant(Operation *from, SymbolRefAttr variant,
                             SymbolTableCollection &symbolTables) {
  if (variant.getNestedReferences().size() != 1)
    return {};
  AdtOp adt = lookupAdt(
      from, FlatSymbolRefAttr::get(variant.getRootReference()), symbolTables);
  return adt ? symbolTables.lookupSymbolIn<VariantOp>(
                   adt, variant.getLeafReference())
             : VariantOp();
}

VariantOp rec::lookupCase(MatchOp match, unsigned number,
                          SymbolTableCollection &symbolTables) {
  StringAttr adt = match.getValue().getType().getName().getAttr();
  return lookupVariant(match,
                       SymbolRefAttr::get(adt, {match.getCaseName(number)}),
                       symbolTables);
}

std::optional<ListShape> rec::getListShape(AdtOp adt) {
  SmallVector<VariantOp> variants(adt.getVariants());
  if (variants.size() != 2)
    return std::nullopt;
  auto countOwn = [&](VariantOp variant) {
    return llvm::count(variant.getFieldTypes().getAsValueRange<TypeAttr>(),
                       adt.getType());
  };
  if (countOwn(variants[0]) != 0)
    std::swap(variants[0], variants[1]);
  auto [end, link] = std::make_pair(variants[0], variants[1]);
  if (countOwn(end) != 0 || countOwn(link) != 1 || link.getNumFields() != 2)
    return std::nullopt;
  unsigned rest = link.getFieldType(0) == adt.getType() ? 0 : 1;
  return ListShape{link, 1 - rest, rest, end};
}

VariantNumbering::VariantNumbering(ModuleOp module) {
  for (AdtOp adt : module.getOps<AdtOp>())
    for (VariantOp variant : adt.getVariants()) {
      auto name = SymbolRefAttr::get(adt.getSymNameAttr(),
                                     FlatSymbolRefAttr::get(variant));
      numbers.try_emplace(name, size());
      variants.push_back(variant);
      maxFields = std::max<int64_t>(maxFields, variant.getNumFields());
    }
}

int64_t VariantNumbering::getNumber(SymbolRefAttr variant) const {
  auto it = numbers.find(variant);
  return it == numbers.end() ? -1 : it->second;
}

int64_t VariantNumbering::getNumber(AdtType adt,
                                    FlatSymbolRefAttr variant) const {
  return getNumber(SymbolRefAttr::get(adt.getName().getAttr(), variant));
}
