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

/// Maximum number of instances that units run together.
inline constexpr int64_t kSetCapacity = 64;

/// Begins a program at the insertion point. The builder then inserts into the
/// body of the program.
uprog::ProgramOp beginProgram(OpBuilder &builder, Location loc, StringRef name,
                              uprog::Level level, TypeRange arguments);

/// Makes a kernel read the rows of different tasks at separate addresses.
void readByAddress(KernelOp kernel);

/// Creates a program for a set of instances, based on `program`, which runs one
/// instance. Inserts the new program next to `program`. The arguments of the
/// new program are the first instance and the number of instances. Each unit
/// computes the control flow of all instances for itself. A branch runs each
/// path for the instances that take it, and a loop runs for the instances that
/// have not left it. The tasks of these instances form a batch. Batches that
/// `program` already contains combine several rounds of a loop. They run for
/// one instance after another. The new program contains all barriers that it
/// requires.
uprog::ProgramOp makeSetProgram(uprog::ProgramOp program, const Twine &name);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_BATCHTOUPROG_INSTANCESETS_H
