//===- Inputs.h - A mini-batch from arrays of the caller --------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_CAPI_INPUTS_H
#define BATCH_RUNTIME_LIB_CAPI_INPUTS_H

#include "batch-runtime/CAPI.h"
#include "batch-runtime/Forest.h"

namespace batchrt {

/// Replaces the contents of `forest` and `tensors` with the mini-batch that the
/// arrays describe. Raises Invalid if the arrays do not fit the model.
void readInputs(const Descriptor &descriptor, const BatchInputs &inputs,
                Forest &forest, InputTensors &tensors);

/// Writes the arguments of instances to `positions` of the forest. Each tensor
/// cell there must contain the address of a row. The tensor's elements are
/// copied into this row.
void writeArguments(const Descriptor &descriptor, const BatchInputs &inputs,
                    const std::vector<int64_t> &positions, Forest &forest,
                    InputTensors &tensors);

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_CAPI_INPUTS_H
