//===- InstanceColumns.h - Arguments and results on a device ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_INSTANCECOLUMNS_H
#define BATCH_RUNTIME_LIB_EXECUTORS_INSTANCECOLUMNS_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/DeviceArena.h"

namespace batchrt {

/// Converts offsets in an image to addresses: here() returns the address that
/// the host writes to, and there() the address that units see.
struct ImagePlaces {
  char *staging;
  uint64_t address;

  template <class T>
  T *here(size_t offset) const {
    return reinterpret_cast<T *>(staging + offset);
  }
  template <class T>
  T *there(size_t offset) const {
    return reinterpret_cast<T *>(address + offset);
  }
};

/// Memory of the arguments and results of all instances on a device: a cell for
/// each argument and result, plus a row for each tensor.
class InstanceColumns {
public:
  /// Creates no columns: on the host, the context points to arguments and
  /// results.
  InstanceColumns() = default;
  explicit InstanceColumns(const Descriptor &descriptor);

  // Add regions to the image, each with space for `capacity` instances.
  void placeArguments(RegionLayout &layout, int64_t capacity);
  void placeResultCells(RegionLayout &layout, int64_t capacity);
  void placeResultRows(RegionLayout &layout, int64_t capacity);

  /// Writes the arguments of `host`, and the addresses of results.
  void write(const BatchContext &host, int64_t instances,
             const ImagePlaces &places, BatchContext &context) const;
  /// Copies to `host` the results of the instances whose entry in `ends` is 0.
  void readResults(const BatchContext &host, int64_t instances,
                   const int64_t *ends, const char *staging) const;

private:
  /// Offsets of an argument or a result, for all instances.
  struct Column {
    size_t cells = 0, rows = 0, rowBytes = 0;
  };

  std::vector<Column> arguments, results;
  size_t argumentList = 0, resultList = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_INSTANCECOLUMNS_H
