//===- Tensors.h - Element types and safetensors files ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_TENSORS_H
#define BATCH_RUNTIME_TENSORS_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace batchrt {

enum class DType { I1, I8, I16, I32, I64, U8, F16, BF16, F32, F64 };

int64_t byteSize(DType type);
bool isFloat(DType type);
/// Returns the name in safetensors files: "F32".
const char *fileName(DType type);
/// Returns the name in MLIR and in descriptors: "f32".
const char *typeName(DType type);
/// Returns the type with this name in a descriptor; "index" is I64. Raises an
/// Error for unknown names.
DType parseTypeName(const std::string &name);

/// Read element `index` of an array as a double or as an integer. As doubles,
/// integers above 2^53 are rounded.
double loadDouble(DType type, const char *data, int64_t index);
int64_t loadInteger(DType type, const char *data, int64_t index);

/// Writes element `index` of an array. Floating-point values are rounded to the
/// nearest value, ties to even. Returns false and writes nothing if a finite
/// number would become infinite or an integer is out of range.
bool storeFloat(DType type, double value, char *data, int64_t index);
bool storeInteger(DType type, int64_t value, char *data, int64_t index);
/// Returns the smallest and largest values of an integer type.
std::pair<int64_t, int64_t> integerRange(DType type);

/// Returns true if convertElements() can convert `from` to `to`: the types are
/// equal, both are integer types, or a float becomes f32 or f64.
bool canConvert(DType from, DType to);
/// Copies `count` elements and converts them. The types must satisfy
/// canConvert(). Returns false if a finite number would become infinite or an
/// integer is out of range.
bool convertElements(DType from, const char *source, DType to, char *target,
                     int64_t count);

inline int64_t elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// The storage of a tensor according to ABI.h. The last dimension of the shape
/// is padded to a multiple of 64 bytes.
struct RowLayout {
  int64_t lines = 1;     ///< product of all dimensions except the last
  int64_t lineBytes = 0; ///< bytes of the last dimension without padding
  int64_t lineStride = 0;

  RowLayout() = default;
  RowLayout(const int64_t *dimsBegin, const int64_t *dimsEnd, DType type);
  RowLayout(const std::vector<int64_t> &shape, DType type)
      : RowLayout(shape.data(), shape.data() + shape.size(), type) {}

  int64_t rowBytes() const { return lines * lineStride; }
  int64_t denseBytes() const { return lines * lineBytes; }
  void pad(const char *dense, char *row) const {
    for (int64_t i = 0; i < lines; ++i)
      std::copy_n(dense + i * lineBytes, lineBytes, row + i * lineStride);
  }
  void unpad(const char *row, char *dense) const {
    for (int64_t i = 0; i < lines; ++i)
      std::copy_n(row + i * lineStride, lineBytes, dense + i * lineBytes);
  }
};

/// The layout of a row that need not be in row-major order. The offset of an
/// element is the sum over all digits of ((its index in dimension `dim` /
/// divisor) % modulus) * bytes; with modulus 0, no modulus is applied. Runs of
/// `run` elements of the last dimension are adjacent.
struct ElementLayout {
  struct Digit {
    int64_t dim, divisor, modulus, bytes;
  };
  std::vector<Digit> digits; ///< empty: row-major, as in RowLayout
  int64_t run = 1;

  /// Copies the elements of a row in row-major order, without padding.
  void unpad(const std::vector<int64_t> &shape, DType type, const char *row,
             char *dense) const;
};

/// One tensor of a file; `data` may be unaligned.
struct TensorView {
  DType type = DType::F32;
  std::vector<int64_t> shape;
  const char *data = nullptr;

  int64_t count() const { return elementCount(shape); }
};

/// A safetensors file, mapped into memory. open() checks the header: the types,
/// the shapes, and the byte ranges, which must cover the data exactly.
class TensorFile {
public:
  static TensorFile open(const std::string &path);

  const std::string &path() const { return filePath; }
  const TensorView *find(const std::string &name) const;
  const std::map<std::string, TensorView> &tensors() const { return entries; }

private:
  std::string filePath;
  std::shared_ptr<const void> mapping;
  std::map<std::string, TensorView> entries;
};

/// A tensor to write.
struct NamedTensor {
  std::string name;
  DType type;
  std::vector<int64_t> shape;
  const char *data;
};

void writeTensorFile(const std::string &path,
                     const std::vector<NamedTensor> &tensors);

/// Returns the full text of a file.
std::string readTextFile(const std::string &path);

} // namespace batchrt

#endif // BATCH_RUNTIME_TENSORS_H
