//===- Obstacle.h - Why something is not legal ------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_OBSTACLE_H
#define BATCH_ANALYSIS_OBSTACLE_H

#include "mlir/IR/Location.h"
#include <string>

namespace mlir::batch {

/// What an analysis found in the way of a transformation.
struct Obstacle {
  Location loc;
  /// What an error says there, such as "has effects".
  std::string text;
};

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_OBSTACLE_H
