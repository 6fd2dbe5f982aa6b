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

/// Returns the strongly connected components of a graph. `successors[n]` lists
/// the successors of node n. Each component follows its successors. The nodes
/// of a component are in ascending order.
SmallVector<SmallVector<unsigned>>
findComponents(ArrayRef<SmallVector<unsigned>> successors);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_COMPONENTS_H
