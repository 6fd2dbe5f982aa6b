//===- OperationEmulation.h - GPU code as calls to the emulator -*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_GPUTOHOSTEMULATION_OPERATIONEMULATION_H
#define BATCH_CONVERSION_GPUTOHOSTEMULATION_OPERATIONEMULATION_H

#include "Batch/Target/ABI/EmulatorAccess.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace mlir::batch {

/// Replaces an operation that needs a GPU with calls to the emulator, and
/// inserts a call before a plain memory access. Other code is left unchanged.
/// `thread` is the function argument for the thread, and `layout` is the data
/// layout of the gpu.module. Emits an error if the emulator does not support
/// `op`.
LogicalResult emulateOperation(Operation *op, Value thread,
                               const DataLayout &layout,
                               LocationStrings &locations);

} // namespace mlir::batch

#endif // BATCH_CONVERSION_GPUTOHOSTEMULATION_OPERATIONEMULATION_H
