//===- Components.h - Strongly connected components -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_COMPONENTS_H
#define BATCH_ANALYSIS_COMPONENTS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::batch {

/// The strongly connected components of a graph, given as the successors of the
/// nodes 0, 1, …. The successors of a component come before it; the nodes of a
/// component ascend.
SmallVector<SmallVector<unsigned>>
findComponents(ArrayRef<SmallVector<unsigned>> successors);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_COMPONENTS_H
