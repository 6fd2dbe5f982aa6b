//===- DeviceBarrier.h - All blocks of a launch meet ------------*- C++ -*-===//
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

/// Adds to `module` the function f(control, blocks: i32, step: i32,
/// watchdog: i64) in which
/// all blocks of a launch meet. What a thread of any block wrote before is seen
/// by all threads after. Blocks look at the clock while they wait, where the
/// vendor's chips have one. BatchDeviceControl in ABI.h is the control block.
func::FuncOp addDeviceBarrier(gpu::GPUModuleOp module,
                              const batch::VendorFacts &vendor);

} // namespace mlir::uprog

#endif // BATCH_CONVERSION_UPROGTOGPU_DEVICEBARRIER_H
