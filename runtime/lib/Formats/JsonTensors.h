//===- JsonTensors.h - A JSON file of tensors -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_FORMATS_JSONTENSORS_H
#define BATCH_RUNTIME_LIB_FORMATS_JSONTENSORS_H

#include "batch-runtime/Descriptor.h"

#include <nlohmann/json.hpp>

namespace batchrt {

/// A JSON file with one object, which maps names to tensors. A tensor is a
/// number or nested arrays.
class JsonTensors {
public:
  /// Returns true if the file begins with an object. Safetensors files begin
  /// with a length of eight bytes, of which the last ones are 0.
  static bool isJson(const std::string &path);
  static JsonTensors open(const std::string &path);

  const std::string &path() const { return filePath; }
  std::vector<std::string> names() const;
  bool contains(const std::string &name) const { return object.contains(name); }
  /// Reads the tensor `name`, which must exist. Replaces negative extents of
  /// the type by the lengths of the arrays. Returns the elements in row-major
  /// order.
  std::vector<char> read(const Descriptor &descriptor, const std::string &name,
                         Type &type) const;

private:
  std::string filePath;
  nlohmann::json object;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_FORMATS_JSONTENSORS_H
