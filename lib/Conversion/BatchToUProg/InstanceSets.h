//===- InstanceSets.h - Programs for sets of instances ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_BATCHTOUPROG_INSTANCESETS_H
#define BATCH_CONVERSION_BATCHTOUPROG_INSTANCESETS_H

#include "Batch/Dialect/UProg/UProg.h"

namespace mlir::batch {

/// The most instances that units run together.
inline constexpr int64_t kSetRoom = 64;

/// Begins a program at the insertion point; the builder goes on in its body.
uprog::ProgramOp beginProgram(OpBuilder &builder, Location loc, StringRef name,
                              uprog::Level level, TypeRange arguments);

/// Has a kernel read the row of each task at an address of its own.
void readByAddress(KernelOp kernel);

/// Makes a program for a set of instances of that for one, beside it. Its
/// arguments are the first instance and how many there are. Each unit computes
/// the control of all of them for itself. A branch runs each way for those that
/// take it, a loop for those that are still in it, and a task becomes a batch
/// of theirs; none computes what is not its own. What already is a batch, of
/// rounds of a loop, runs for one of them after the other. Barriers are in it.
uprog::ProgramOp makeSetProgram(uprog::ProgramOp together, const Twine &name);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_INSTANCESETS_H
