//===- RecTypes.cpp - Types of the rec dialect ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Rec/Rec.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rec;

#define GET_TYPEDEF_CLASSES
#include "Batch/Dialect/Rec/RecTypes.cpp.inc"

void RecDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Batch/Dialect/Rec/RecTypes.cpp.inc"
      >();
}

bool rec::isRaggedTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() > 0 && tensor.isDynamicDim(0) &&
         tensor.getNumDynamicDims() == 1;
}

Type rec::getSequenceElementType(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return list.getElementType();
  if (!isRaggedTensor(type))
    return {};
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape().drop_front(),
                               tensor.getElementType());
}

bool rec::gathers(Type sequence, Type element) {
  return getSequenceElementType(sequence) == element;
}

bool rec::fitsField(Type field, Type value) {
  while (auto list = dyn_cast<ListType>(field)) {
    value = getSequenceElementType(value);
    if (!value)
      return false;
    field = list.getElementType();
  }
  return field == value || (isa<RankedTensorType>(field) &&
                            isa<TensorStandInTypeInterface>(value));
}
