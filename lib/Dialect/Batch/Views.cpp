//===- Views.cpp - Rows of parameters that are never copied ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Batch/Views.h"

#include "llvm/Support/Path.h"

using namespace mlir;

bool mlir::batch::isRowView(tensor::ExtractSliceOp slice) {
  RankedTensorType source = slice.getSourceType();
  if (source.getRank() < 2 || !slice.hasUnitStride())
    return false;
  for (int64_t dim = 0; dim < source.getRank(); ++dim) {
    if (dim == 0) {
      if (slice.getStaticSizes()[0] != 1)
        return false;
      continue;
    }
    if (source.isDynamicDim(dim) || slice.getStaticOffsets()[dim] != 0 ||
        slice.getStaticSizes()[dim] != source.getDimSize(dim))
      return false;
  }
  return true;
}

OpFoldResult mlir::batch::getRowIndex(tensor::ExtractSliceOp slice) {
  return slice.getMixedOffsets()[0];
}

/// Returns the type of the rows of `type`. Returns null if the rows are not
/// static, or if `type` is a vector, which is a single row.
static RankedTensorType getRows(RankedTensorType type) {
  if (type.getRank() < 2 ||
      llvm::any_of(type.getShape().drop_front(), ShapedType::isDynamic))
    return {};
  return RankedTensorType::get(type.getShape().drop_front(),
                               type.getElementType());
}

RankedTensorType mlir::batch::getCountedRow(tensor::DimOp dim) {
  if (dim.getConstantIndex() != 0)
    return {};
  auto type = cast<RankedTensorType>(dim.getSource().getType());
  return type.getRank() == 1 ? type : getRows(type);
}

RankedTensorType mlir::batch::getReadRow(RankedTensorType tensor) {
  return tensor.hasStaticShape() || tensor.getRank() == 1 ? tensor
                                                          : getRows(tensor);
}

std::string mlir::batch::describePlace(Location loc) {
  auto place = loc->findInstanceOf<FileLineColLoc>();
  if (!place)
    return "";
  return (" at " + llvm::sys::path::filename(place.getFilename()) + ":" +
          Twine(place.getLine()) + ":" + Twine(place.getColumn()))
      .str();
}

std::string mlir::batch::describeDimension(int64_t dim, StringRef parameter,
                                           Type type, Location loc,
                                           StringRef verb) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "dimension " << dim << " of ";
  if (parameter.empty())
    out << "a tensor";
  else
    out << "parameter '" << parameter << '\'';
  out << " of type " << type;
  if (std::string place = describePlace(loc); !place.empty())
    out << ", " << verb << place;
  return text;
}

std::string mlir::batch::describeIndexError(const Twine &what) {
  return ("index {} is out of range for " + what).str();
}

StringRef mlir::batch::getParameterName(ModuleOp module, int64_t parameter) {
  FunctionOpInterface entry = batch::lookupEntry(module);
  for (unsigned i = 0, seen = 0; entry && i < entry.getNumArguments(); ++i)
    if (auto name = entry.getArgAttrOfType<StringAttr>(i, batch::kSharedAttr))
      if (seen++ == parameter)
        return name.getValue();
  return {};
}

batch::SourceOp mlir::batch::getOrCreateSource(ModuleOp module,
                                               SymbolTable &symbols,
                                               RankedTensorType row,
                                               int64_t parameter) {
  Operation *last = nullptr;
  for (auto source : module.getOps<SourceOp>()) {
    std::optional<uint64_t> number = source.getParameter();
    if (source.getRow() == row &&
        (number ? static_cast<int64_t>(*number) : -1) == parameter)
      return source;
    last = source;
  }
  OpBuilder builder(module.getContext());
  IntegerAttr number;
  if (parameter >= 0)
    number = builder.getI64IntegerAttr(parameter);
  StringRef name = getParameterName(module, parameter);
  auto source = SourceOp::create(builder, module.getLoc(),
                                 name.empty() ? "input" : name, row, number);
  symbols.insert(source, last ? std::next(last->getIterator())
                              : module.getBody()->begin());
  return source;
}
