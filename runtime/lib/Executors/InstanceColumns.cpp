//===- InstanceColumns.cpp - Arguments and results on a device ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceColumns.h"

#include <cstring>

using namespace batchrt;

/// Returns the size in bytes of a row of a tensor, or 0 if the type is not a
/// tensor.
static size_t rowBytesOf(const Type &type) {
  return type.kind == Type::Tensor
             ? RowLayout(type.shape, type.dtype).rowBytes()
             : 0;
}

InstanceColumns::InstanceColumns(const Descriptor &descriptor) {
  for (const Field &argument : descriptor.arguments)
    arguments.push_back({0, 0, rowBytesOf(argument.type)});
  for (const Field &result : descriptor.results)
    results.push_back({0, 0, rowBytesOf(result.type)});
}

void InstanceColumns::placeArguments(RegionLayout &layout, int64_t capacity) {
  argumentList = layout.add(arguments.size() * 8, "addresses of arguments");
  resultList = layout.add(results.size() * 8, "addresses of results");
  for (Column &argument : arguments) {
    argument.cells = layout.add(capacity * 8, "arguments");
    argument.rows =
        layout.add(capacity * argument.rowBytes, "rows of arguments");
  }
}

void InstanceColumns::placeResultCells(RegionLayout &layout, int64_t capacity) {
  for (Column &result : results)
    result.cells = layout.add(capacity * 8, "results");
}

void InstanceColumns::placeResultRows(RegionLayout &layout, int64_t capacity) {
  for (Column &result : results)
    result.rows = layout.add(capacity * result.rowBytes, "rows of results");
}

void InstanceColumns::write(const BatchContext &host, int64_t instances,
                            const ImagePlaces &places,
                            BatchContext &context) const {
  context.arguments = places.there<int64_t *>(argumentList);
  context.results = places.there<int64_t *>(resultList);
  for (size_t a = 0; a < arguments.size(); ++a) {
    const Column &argument = arguments[a];
    places.here<int64_t *>(argumentList)[a] =
        places.there<int64_t>(argument.cells);
    int64_t *cells = places.here<int64_t>(argument.cells);
    for (int64_t i = 0; i < instances; ++i) {
      cells[i] = host.arguments[a][i];
      if (argument.rowBytes == 0)
        continue;
      size_t row = argument.rows + i * argument.rowBytes;
      std::memcpy(places.staging + row,
                  reinterpret_cast<const char *>(cells[i]), argument.rowBytes);
      cells[i] = static_cast<int64_t>(places.address + row);
    }
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const Column &result = results[r];
    places.here<int64_t *>(resultList)[r] = places.there<int64_t>(result.cells);
    int64_t *cells = places.here<int64_t>(result.cells);
    for (int64_t i = 0; i < instances; ++i)
      cells[i] = result.rowBytes
                     ? static_cast<int64_t>(places.address + result.rows +
                                            i * result.rowBytes)
                     : 0;
  }
}

void InstanceColumns::readResults(const BatchContext &host, int64_t instances,
                                  const int64_t *ends,
                                  const char *staging) const {
  for (size_t r = 0; r < results.size(); ++r) {
    const Column &result = results[r];
    for (int64_t i = 0; i < instances; ++i) {
      if (ends[i] != 0)
        continue;
      int64_t &cell = host.results[r][i];
      if (result.rowBytes)
        std::memcpy(reinterpret_cast<char *>(cell),
                    staging + result.rows + i * result.rowBytes,
                    result.rowBytes);
      else
        std::memcpy(&cell, staging + result.cells + i * 8, 8);
    }
  }
}
