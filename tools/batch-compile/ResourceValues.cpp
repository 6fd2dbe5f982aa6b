//===- ResourceValues.cpp - Values of a module's resources ----------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResourceValues.h"

#include "Batch/Support/OutputFile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::batch;

/// Returns the name of an element type in a safetensors file, or an empty
/// string if the format does not have the type.
static StringRef getDType(Type type) {
  if (type.isF16())
    return "F16";
  if (type.isBF16())
    return "BF16";
  if (type.isF32())
    return "F32";
  if (type.isF64())
    return "F64";
  if (!type.isSignlessInteger())
    return "";
  switch (type.getIntOrFloatBitWidth()) {
  case 8:
    return "I8";
  case 16:
    return "I16";
  case 32:
    return "I32";
  case 64:
    return "I64";
  }
  return "";
}

LogicalResult mlir::batch::writeResourceValues(ModuleOp module,
                                               StringRef file) {
  llvm::json::Object header;
  std::string data;
  WalkResult walk = module.walk([&](arith::ConstantOp op) -> WalkResult {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    if (!resource)
      return WalkResult::advance();
    StringRef key = resource.getRawHandle().getKey();
    if (header.get(key))
      return WalkResult::advance();
    ShapedType type = resource.getType();
    StringRef dtype = getDType(type.getElementType());
    if (dtype.empty())
      return op.emitError("resource '")
             << key << "' has elements of type " << type.getElementType()
             << ", which parameter files do not support; use f16, bf16, f32, "
                "f64, i8, i16, i32 or i64";
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    size_t bytes = type.getNumElements() *
                   (type.getElementType().getIntOrFloatBitWidth() / 8);
    if (!blob || blob->getData().size() != bytes)
      return op.emitError("the module does not contain the ")
             << bytes << " bytes of resource '" << key
             << "'; write the module with its resources";
    ArrayRef<char> values = blob->getData();
    header[key] = llvm::json::Object{
        {"dtype", dtype},
        {"shape", llvm::json::Array(type.getShape())},
        {"data_offsets",
         llvm::json::Array{static_cast<int64_t>(data.size()),
                           static_cast<int64_t>(data.size() + bytes)}}};
    data.append(values.begin(), values.end());
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(header));
  // The data begins at a multiple of 8 bytes.
  text.resize(llvm::alignTo(text.size(), 8), ' ');
  char length[8];
  llvm::support::endian::write64le(length, text.size());
  std::string bytes(length, sizeof(length));
  bytes += text;
  bytes += data;
  if (llvm::Error error = writeOutputFile(file, bytes))
    return module.emitError("cannot write '")
           << file << "': " << llvm::toString(std::move(error));
  return success();
}
