//===- LaneImage.h - A lockstep program's memory on a device ----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the blocks of a launch read and write, with addresses of device memory:
//
//   context, arguments, steps | counter of instances, ends, counts, results
//   that are numbers | results that are tensors | lanes and their variables
//   |<------------------ in ---------------------------->|
//                             |<-------------- out ------------->|
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_LANEIMAGE_H
#define BATCH_RUNTIME_LIB_EXECUTORS_LANEIMAGE_H

#include "Lockstep.h"

namespace batchrt {

class LaneImage {
public:
  LaneImage(const Descriptor &descriptor, const Lockstep &lockstep)
      : descriptor(descriptor), info(*descriptor.lockstep), lockstep(lockstep),
        options(lockstep.getOptions()) {}

  /// Says where everything lies, for at most `blocks` blocks.
  void layOut(int64_t numInstances, int64_t blocks);

  /// [0, inEnd) is copied in, [outBegin, outEnd) is copied out.
  size_t inEnd() const { return endOfIn; }
  size_t outBegin() const { return beginOfOut; }
  size_t outEnd() const { return endOfOut; }
  size_t bytes() const { return size; }
  /// All that kernels access.
  const std::vector<DevicePart> &deviceParts() const { return parts; }
  /// Where the context lies; blocks of the launch.
  size_t context() const { return contextAt; }
  int64_t blocks() const { return static_cast<int64_t>(units.size()); }

  /// Writes what is copied in to `staging`, for an image at `device`. `host`
  /// has the arguments; `forms` is the address of those of parameters.
  void write(const BatchContext &host, uint64_t forms, char *staging,
             uint64_t device) const;
  /// Hands over the results of instances that ended well.
  void readResults(const BatchContext &host, const char *staging) const;
  /// How instances ended.
  const int64_t *ends(const char *staging) const;
  /// What blocks counted; other pointers are null.
  std::vector<BatchLanes> counts(char *staging) const;

private:
  /// Offsets of what one block has.
  struct Unit {
    int64_t lanes = 0;
    size_t head = 0, variables = 0, steps = 0, operands = 0, results = 0;
    size_t counters = 0; ///< waiting, since, runs, laneRuns
    size_t laneCells = 0, active = 0, returns = 0, scratch = 0, rows = 0;
    std::vector<size_t> tops, stacks, depths;
  };
  void writeUnit(const Unit &unit, char *staging, uint64_t device) const;

  const Descriptor &descriptor;
  const LockstepInfo &info;
  const Lockstep &lockstep;
  const LockstepOptions &options;
  int64_t numInstances = 0;
  std::vector<Unit> units;
  std::vector<DevicePart> parts;
  std::vector<size_t> argumentCells, argumentRows, resultCells, resultRows;
  size_t contextAt = 0, lists = 0, argumentList = 0, resultList = 0;
  size_t allLanes = 0, counter = 0, endsAt = 0;
  size_t costs = 0;  ///< of blocks
  size_t states = 0; ///< the table of a learned choice
  size_t endOfIn = 0, beginOfOut = 0, endOfOut = 0, size = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_LANEIMAGE_H
