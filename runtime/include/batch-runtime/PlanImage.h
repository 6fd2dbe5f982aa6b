//===- PlanImage.h - Plans with device addresses ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A persistent kernel reads the same structs as the CPU executor, BatchStep and
// BatchOperand, but with addresses of device memory. The image is all device
// memory of a run except parameters. One copy transfers the input, and one copy
// returns the results:
//
//   plans, steps, operands, results | copied-in regions | control words |
//   copied-out regions | device-only regions
//   |<------------------- in -------------------------->|
//                                   |<------- out ------------->|
//
// A gap follows each region, so a device that checks accesses detects accesses
// beyond the end of a region.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_PLANIMAGE_H
#define BATCH_RUNTIME_PLANIMAGE_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Device.h"

#include <vector>

namespace batchrt {

/// Host memory that plans point to. Regions do not overlap.
struct ImageRegion {
  enum Kind {
    CopiedIn,   ///< index arrays, rows of inputs
    DeviceOnly, ///< scratch memory, tables that no output reads
    CopiedOut,  ///< tables that outputs read
    Resident    ///< already on the device: parameters
  };

  const void *host = nullptr;
  size_t bytes = 0;
  Kind kind = CopiedIn;
  const char *what = "memory"; ///< for messages
  uint64_t device = 0;         ///< address of Resident regions
};

struct ImageInput {
  const std::vector<KernelInfo> *kernels = nullptr;
  std::vector<BatchPlan> plans; ///< finished plans
  std::vector<ImageRegion> regions;
  int64_t blocks = 1; ///< blocks of the launch, for the control words
};

/// Offsets in the image, all multiples of 256.
struct ImageLayout {
  size_t plans = 0, steps = 0, operands = 0, results = 0, control = 0;
  std::vector<size_t> regions; ///< for each region of ImageInput; 0 for
                               ///< Resident ones
  size_t inEnd = 0;            ///< [0, inEnd) is copied in
  size_t outEnd = 0;           ///< [control, outEnd) is copied out
  size_t bytes = 0;
  std::vector<DeviceRegion> deviceRegions; ///< all regions except Resident and
                                           ///< empty ones
};

/// Lays out the image. `layout` may be an old one, whose memory is reused.
void layOutImage(const ImageInput &input, ImageLayout &layout);

/// Writes to `staging` all data that is copied in, for an image at the address
/// `device`. `staging` has layout.inEnd bytes and is aligned to 8. Raises an
/// Error if a plan points to memory outside all regions.
void writeImage(const ImageInput &input, const ImageLayout &layout,
                char *staging, uint64_t device);

/// Copies the copied-out regions from staging to host memory.
void readImage(const ImageInput &input, const ImageLayout &layout,
               const char *staging);

} // namespace batchrt

#endif // BATCH_RUNTIME_PLANIMAGE_H
