//===- VectorInstances.h - Instances in vectors -----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If the code of an instance computes only with numbers, it runs for several
// instances at once, each in its own vector lane. A loop runs until it has
// ended for all instances, and a path of a branch runs if any instance takes
// it. Instances that have left the loop, or that take another path, keep their
// values.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_CONVERSION_UPROGTOCPU_VECTORINSTANCES_H
#define BATCH_LIB_CONVERSION_UPROGTOCPU_VECTORINSTANCES_H

#include "../../Codegen/Instances/InstanceCode.h"

namespace mlir::batch {

/// Returns the number of instances that run together in vectors of `vectorBits`
/// bits. Returns 0 if vectors would be too short. Also returns 0 unless the
/// program has block level, contains a loop, and computes only with numbers.
int64_t countSideBySide(uprog::ProgramOp program, int64_t vectorBits);

/// Returns the name of the function that makeVectorInstances() creates from a
/// program.
inline std::string getVectorsName(StringRef program) {
  return (program + ".vectors").str();
}

/// Adds a function that takes (context, worker, workers, first, count) and runs
/// the `width` instances starting at `first`, out of `count`. If they run more
/// rounds than allowed, the function that has the program's name runs each of
/// them by itself instead. `program` must not be lowered yet.
func::FuncOp makeVectorInstances(uprog::ProgramOp program, int64_t width,
                                 const InstanceTables &tables);

/// Makes a counted loop check for cancellation, unless the loop is short.
/// `function` takes (context, worker, …).
void endLoopIfCancelled(scf::ForOp loop, func::FuncOp function);

/// Makes divisions divide by 1 once an instance of `unit` has run more rounds
/// than allowed. The loops of the instance then end early, so values that they
/// compute might be invalid divisors. `unit` must be a single unit.
void guardDivisions(func::FuncOp function, const InstanceUnit &unit);

} // namespace mlir::batch

#endif // BATCH_LIB_CONVERSION_UPROGTOCPU_VECTORINSTANCES_H
