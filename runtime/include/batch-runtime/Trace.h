//===- Trace.h - Pictures of a run ------------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_TRACE_H
#define BATCH_RUNTIME_TRACE_H

#include "batch-runtime/Session.h"

#include <string>
#include <vector>

namespace batchrt {

/// Writes the steps of consecutive mini-batches as a Chrome trace
/// (chrome://tracing, ui.perfetto.dev).
void writeTrace(const std::string &path, const Descriptor &descriptor,
                const std::vector<std::vector<StepTime>> &batches);

} // namespace batchrt

#endif // BATCH_RUNTIME_TRACE_H
