//===- AdtLookup.h - Lookup and numbering of ADT variants -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_DIALECT_REC_ADTLOOKUP_H
#define BATCH_DIALECT_REC_ADTLOOKUP_H

#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace mlir::rec {

/// Returns the declaration of ADT `name` from the nearest symbol table around
/// `from` that contains this name. Returns null if there is none.
AdtOp lookupAdt(Operation *from, FlatSymbolRefAttr name,
                SymbolTableCollection &symbolTables);

/// Returns the declaration of `variant`, such as @Adt::@variant. Looks up the
/// ADT as lookupAdt() does. Returns null if there is no such variant.
VariantOp lookupVariant(Operation *from, SymbolRefAttr variant,
                        SymbolTableCollection &symbolTables);

/// Returns the variant of case `number` of a match.
VariantOp lookupCase(MatchOp match, unsigned number,
                     SymbolTableCollection &symbolTables);

/// Shape of a list-shaped ADT, as `rec.elements` defines it.
struct ListShape {
  VariantOp link;         ///< has an element and the rest of the list
  unsigned element, rest; ///< fields of `link`
  VariantOp end;          ///< ends a list; its fields are not elements

  Type getElementType() { return link.getFieldType(element); }
};

/// Returns the shape of a list-shaped ADT, or nullopt for other ADTs.
std::optional<ListShape> getListShape(AdtOp adt);

/// Numbers the variants of all ADTs in a module, in module order from 0, and
/// looks them up by name in constant time. The numbering is a snapshot, which
/// later changes to the module do not affect.
class VariantNumbering {
public:
  explicit VariantNumbering(ModuleOp module);

  /// Returns the number of variants of the module.
  int64_t size() const { return variants.size(); }
  /// Returns variant number `number`.
  VariantOp getVariant(int64_t number) const { return variants[number]; }
  /// Returns the number of @Adt::@variant, or -1 if there is no such variant.
  int64_t getNumber(SymbolRefAttr variant) const;
  /// Returns the number of the variant `variant` of `adt`, or -1 if there is
  /// none.
  int64_t getNumber(AdtType adt, FlatSymbolRefAttr variant) const;
  /// Returns the number of fields of the variant that has the most fields.
  int64_t getMaxFields() const { return maxFields; }

private:
  SmallVector<VariantOp> variants;
  DenseMap<Attribute, int64_t> numbers;
  int64_t maxFields = 0;
};

/// Returns true if a function takes values of ADTs or lists.
bool takesNode(FunctionOpInterface function);

} // namespace mlir::rec

#endif // BATCH_DIALECT_REC_ADTLOOKUP_H
