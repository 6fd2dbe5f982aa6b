//===- DeviceBarrier.h - A barrier of all blocks of a launch ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_UPROGTOGPU_DEVICEBARRIER_H
#define BATCH_CONVERSION_UPROGTOGPU_DEVICEBARRIER_H

#include "Batch/Target/GPU/GPUTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::uprog {

/// Adds to `module` a barrier of all blocks of a launch: the function
/// f(control, blocks: i32, step: i32, watchdog: i64). After the barrier, all
/// threads see everything that a thread of any block wrote before it. If the
/// vendor's chips have a clock, blocks read it while they wait. `control`
/// points to the BatchDeviceControl of ABI.h.
func::FuncOp addDeviceBarrier(gpu::GPUModuleOp module,
                              const batch::VendorFacts &vendor);

} // namespace mlir::uprog

#endif // BATCH_CONVERSION_UPROGTOGPU_DEVICEBARRIER_H
