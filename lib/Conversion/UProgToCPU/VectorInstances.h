//===- VectorInstances.h - Instances side by side in vectors ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of an instance that computes with numbers alone runs for several
// instances at once, each in an element of vectors. A loop goes on as long as
// one of them does, a way of a branch runs if one of them takes it; those that
// do not, keep what they have.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_CONVERSION_UPROGTOCPU_VECTORINSTANCES_H
#define BATCH_LIB_CONVERSION_UPROGTOCPU_VECTORINSTANCES_H

#include "../../Codegen/Instances/InstanceCode.h"

namespace mlir::batch {

/// The number of instances that vectors of so many bits run side by side; 0 if
/// the program, of block level, has other than loops over numbers.
int64_t countSideBySide(uprog::ProgramOp program, int64_t vectorBits);

/// The name of the function that makeVectorInstances() makes of a program.
inline std::string getVectorsName(StringRef program) {
  return (program + ".vectors").str();
}

/// Adds a function over (context, worker, workers, first, count) that runs the
/// `width` instances from `first` on of all `count`. It calls the function
/// named as the program, for single instances, if they take more rounds than
/// they may. `program` has not been lowered yet.
func::FuncOp makeVectorInstances(uprog::ProgramOp program, int64_t width,
                                 const InstanceTables &tables);

/// Makes a loop of known length, unless that is short, look whether the run is
/// to end. `function` is over (context, worker, …).
void endLoopIfCancelled(scf::ForOp loop, func::FuncOp function);

/// Once an instance of `unit`, which runs alone, has taken more rounds than it
/// may, its loops end early: makes divisions by what they have left divide
/// by 1.
void guardDivisions(func::FuncOp function, const InstanceUnit &unit);

} // namespace mlir::batch

#endif // BATCH_LIB_CONVERSION_UPROGTOCPU_VECTORINSTANCES_H
