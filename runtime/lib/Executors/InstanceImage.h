//===- InstanceImage.h - Single instances on a device -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device memory for the units of a program that runs single instances. It is
// one piece, laid out in the order in which it is copied. Results that are
// tensors, and rows of nodes, are not copied in:
//
//   |<--------------------- in ---------------------->|
//                      |<------------- out ------------------------->|
//   context, arguments | control, units, ends, results | rows of them | buffers
//                      | nodes
//
// Every array begins at a multiple of 128 bytes, after at least 64 unused
// bytes.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_INSTANCEIMAGE_H
#define BATCH_RUNTIME_LIB_EXECUTORS_INSTANCEIMAGE_H

#include "../Inspector/MiniBatch.h"
#include "InstanceColumns.h"
#include "batch-runtime/PlanImage.h"

namespace batchrt {

/// Describes the memory, which the caller owns.
class InstanceImage {
public:
  explicit InstanceImage(const Descriptor &descriptor)
      : descriptor(descriptor), columns(descriptor) {}

  /// Lays out the memory of `units` units for a mini-batch.
  void layOut(const MiniBatch &batch, int64_t units);
  size_t bytes() const { return size; }
  /// [0, inEnd) is copied in, [outBegin, outEnd) is copied out.
  size_t inEnd() const { return endOfIn; }
  size_t outBegin() const { return controlAt; }
  size_t outEnd() const { return endOfOut; }
  const std::vector<DeviceRegion> &regions() const { return parts; }
  size_t context() const { return contextAt; }
  size_t control() const { return controlAt; }

  /// Writes all data that is copied in. `parameters` are on the device, and
  /// `packings` is the device address of the list of packed parameters.
  void write(const MiniBatch &batch, const std::vector<ImageRegion> &parameters,
             uint64_t packings, char *staging, uint64_t address) const;

  // Functions for use after the run.
  BatchUnit unit(int64_t number, const char *staging) const;
  /// Returns the outcome of each instance.
  const int64_t *ends(const char *staging) const {
    return reinterpret_cast<const int64_t *>(staging + endsAt);
  }
  /// Copies the results of successful instances, including their nodes, to the
  /// mini-batch. Tensors of nodes stay in `staging`.
  void readResults(const MiniBatch &batch,
                   const std::vector<ImageRegion> &parameters, char *staging,
                   uint64_t address) const;

private:
  void writeTensors(const MiniBatch &batch, const ImagePlaces &places) const;
  void writeNodes(const MiniBatch &batch, const ImagePlaces &places,
                  BatchContext &context) const;
  void readNodes(const MiniBatch &batch,
                 const std::vector<ImageRegion> &parameters, char *staging,
                 uint64_t address) const;
  void writeSources(const MiniBatch &batch,
                    const std::vector<ImageRegion> &parameters,
                    BatchSource *sources) const;
  void writeUnits(const MiniBatch &batch, const ImagePlaces &places) const;

  const Descriptor &descriptor;
  InstanceColumns columns;
  std::vector<DeviceRegion> parts;
  int64_t units = 0, numInstances = 0;
  int64_t nodes = 0;    ///< nodes of the input
  int64_t allNodes = 0; ///< including those that the run creates
  size_t contextAt = 0, unitList = 0, lists = 0, rowsOfCells = 0, sourcesAt = 0;
  size_t instanceNodesAt = 0, columnList = 0, variantsAt = 0, cellsAt = 0;
  size_t nodeRowsAt = 0;
  size_t controlAt = 0, unitsAt = 0, endsAt = 0;
  size_t common = 0;
  std::vector<size_t> own, nodeResults; ///< indexed by unit
  size_t endOfIn = 0, endOfOut = 0, size = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_INSTANCEIMAGE_H
