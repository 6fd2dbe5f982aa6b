//===- Results.h - Results in arrays of the caller --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_CAPI_RESULTS_H
#define BATCH_RUNTIME_LIB_CAPI_RESULTS_H

#include "Handles.h"

namespace batchrt {

/// The caller's array for the rows of an output.
struct Target {
  /// Raises Invalid unless the array has the type of `output` and the shape of
  /// `rows` rows.
  Target(const BatchField &output, const BatchArray &array, int64_t rows);

  /// Copies rows to the first rows of the array.
  void copy(const Session &session,
            const std::vector<RowSource> &sources) const {
    copyRows(session, sources, type, rowShape, data, strides.data());
  }

  DType type;
  std::vector<int64_t> rowShape;
  char *data;
  std::vector<int64_t> strides;
};

/// Copies a dense result of `instances` to the first rows of `target`. The rows
/// of instances that failed are set to zero.
void copyDense(const BatchSession &session, int result, const Target &target,
               const std::vector<int64_t> &instances);

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_CAPI_RESULTS_H
