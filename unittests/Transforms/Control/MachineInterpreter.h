//===- MachineInterpreter.h - Run programs and machines ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interpreters for tests. Values are attributes, and folders compute ops.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_UNITTESTS_TRANSFORMS_CONTROL_MACHINEINTERPRETER_H
#define BATCH_UNITTESTS_TRANSFORMS_CONTROL_MACHINEINTERPRETER_H

#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::batch::test {

using Values = SmallVector<Attribute>;

/// Calls `function` on the stack of the host. The function has structured
/// control flow or a control-flow graph. Fails with an error at an op that
/// cannot be run.
FailureOr<Values> callFunction(func::FuncOp function,
                               ArrayRef<Attribute> arguments);

/// The memory traffic of a lane until it ends.
struct Traffic {
  int64_t steps = 0;
  int64_t pushes = 0, pops = 0;
  /// Pushes of program counters.
  int64_t calls = 0;
  /// Bytes read from and written to stacks. With cached tops, each push and pop
  /// counts one row. Without them, each read and write of a top counts one row.
  int64_t stackBytes = 0;
  /// Bytes read from and written to tops of variables, with or without stacks.
  int64_t topBytes = 0;
};

/// Runs one lane. Fails with an error if the lane reads a value that was never
/// written. Also fails if the lane pops more than it has pushed, or leaves
/// values on a stack.
FailureOr<Values> runMachine(MachineOp machine, ArrayRef<Attribute> shared,
                             ArrayRef<Attribute> arguments, Traffic &traffic);

} // namespace mlir::batch::test

#endif // BATCH_UNITTESTS_TRANSFORMS_CONTROL_MACHINEINTERPRETER_H
