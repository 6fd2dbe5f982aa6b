//===- Parameters.h - Binding parameters ------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_PARAMETERS_H
#define BATCH_RUNTIME_PARAMETERS_H

#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Memory.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace batchrt {

/// Returns element `index` of the random parameter `name`: uniform in [-bound,
/// bound), bound = sqrt(3 / fan-in). With mix(x) the finalizer of SplitMix64, G
/// = 0x9e3779b97f4a7c15 and h the 64-bit FNV-1a hash of the name,
///   u = mix(mix(seed * G + h) + (index + 1) * G) >> 40      (24 bits)
///   value = (u / 2^23 - 1) * bound                          (in double)
/// rounded to the parameter's type.
double randomParameter(uint64_t seed, const std::string &name, int64_t index,
                       double bound);

struct ParameterOptions {
  std::string parameters;   ///< safetensors or JSON file, or random:SEED
  int64_t largestIndex = 0; ///< largest index in the inputs; unknown extents of
                            ///< random parameters are 1 + largestIndex
  bool reportNan = false;   ///< a NaN in a parameter is an error
};

/// The elements of a parameter, row-major, without gaps.
struct ParameterValue {
  std::vector<int64_t> shape;
  const char *data = nullptr;
  std::vector<char> owned; ///< empty if `data` points to other memory
};

/// The parameters in the packings that kernels read. The file is not needed
/// after construction.
class BoundParameters {
public:
  BoundParameters(const Descriptor &descriptor,
                  const ParameterOptions &options);
  using Loader = std::function<ParameterValue(const ParameterInfo &)>;
  /// Binds all parameters. For each one, `load` returns elements of the
  /// parameter's type, and a shape without unknown extents.
  static BoundParameters make(const Descriptor &descriptor,
                              const Loader &load) {
    return BoundParameters(load, descriptor);
  }

  const char *packing(size_t index) const {
    return buffers[index].data() + prefix(index);
  }
  /// Returns the number of bytes of a packing that precede the address
  /// packing().
  size_t prefix(size_t packing) const { return layouts[packing].prefix; }
  int64_t rows(size_t packing) const { return layouts[packing].rows; }
  int64_t rowBytes(size_t packing) const { return layouts[packing].rowBytes; }
  size_t bytes(size_t packing) const { return layouts[packing].bytes; }
  /// Returns the size in bytes of all packings.
  size_t bytes() const;

private:
  BoundParameters(const Loader &load, const Descriptor &descriptor);

  struct Layout {
    int64_t rows = 0, rowBytes = 0;
    size_t bytes = 0, prefix = 0;
  };
  std::vector<Buffer> buffers;
  std::vector<Layout> layouts;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_PARAMETERS_H
