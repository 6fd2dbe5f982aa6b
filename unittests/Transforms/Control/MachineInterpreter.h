//===- MachineInterpreter.h - Run programs and machines ---------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests. Values are attributes, and ops compute by their folders.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_UNITTESTS_TRANSFORMS_MACHINEINTERPRETER_H
#define BATCH_UNITTESTS_TRANSFORMS_MACHINEINTERPRETER_H

#include "Batch/Dialect/Batch/Batch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::batch::test {

using Values = SmallVector<Attribute>;

/// Calls `function`, of structured control or a control flow graph, with the
/// stack of the host. Fails with an error at an op that it cannot run.
FailureOr<Values> callFunction(func::FuncOp function,
                               ArrayRef<Attribute> arguments);

/// What a lane does until it is out.
struct Traffic {
  int64_t steps = 0;
  int64_t pushes = 0, pops = 0;
  /// Pushes of program counters.
  int64_t calls = 0;
  /// Read from and written to stacks. With cached tops that is a row for a push
  /// and for a pop; without, one for each read and write of a top too.
  int64_t stackBytes = 0;
  /// Read from and written to tops of variables, with stack or without.
  int64_t topBytes = 0;
};

/// Runs one lane. An error if the lane reads what was never written, pops what
/// it has not pushed, or leaves something on a stack.
FailureOr<Values> runMachine(MachineOp machine, ArrayRef<Attribute> shared,
                             ArrayRef<Attribute> arguments, Traffic &traffic);

} // namespace mlir::batch::test

#endif // BATCH_UNITTESTS_TRANSFORMS_MACHINEINTERPRETER_H
