//===- Obstacle.h - Obstacle to a transformation ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_OBSTACLE_H
#define BATCH_ANALYSIS_OBSTACLE_H

#include "mlir/IR/Operation.h"
#include <string>

namespace mlir::batch {

/// Obstacle to a transformation: a location and a reason.
struct Obstacle {
  Location loc;
  /// Text of an error at `loc`, such as "'cf.assert' has effects".
  std::string text;
};

/// Returns the quoted name of an op, for the text of an error: "'cf.assert'".
inline std::string describeOp(Operation *op) {
  return ("'" + op->getName().getStringRef() + "'").str();
}

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_OBSTACLE_H
