//===- OperationEmulation.h - GPU code as calls of the emulator -*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LIB_CONVERSION_GPUTOHOSTEMULATION_OPERATIONEMULATION_H
#define BATCH_LIB_CONVERSION_GPUTOHOSTEMULATION_OPERATIONEMULATION_H

#include "Batch/Target/ABI/EmulatorAccess.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace mlir::batch {

/// Makes what an operation of a kernel means on a GPU calls of the emulator;
/// plain code stays as it is. `thread` is the function's argument for the
/// thread, `layout` that of the gpu.module. Emits an error at `op` if the
/// emulator does not have it.
LogicalResult emulateOperation(Operation *op, Value thread,
                               const DataLayout &layout,
                               LocationStrings &locations);

} // namespace mlir::batch

#endif // BATCH_LIB_CONVERSION_GPUTOHOSTEMULATION_OPERATIONEMULATION_H
