//===- LaneMemory.h - Memory of lanes and their variables -------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory of the units of a lockstep program, in one piece. On the host, each
// unit has one range of the memory. No other unit writes the cache lines of
// that range or their neighbors:
//
//   lists of lanes, costs, states | counter of instances, ends |
//   unit 0: steps, lanes, counts, tops, stacks | unit 1: ... | ...
//
// On a device, the memory is in the order in which it is copied, and includes
// arguments and results. Results that are tensors are not copied in:
//
//   |<---------------- in ----------------->|
//                    |<---------------- out ----------------->|
//   arguments, steps | ends, lanes, results | rows of results | tops, stacks
//
// Every array begins at a multiple of 64 bytes, after at least 64 unused bytes.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_EXECUTORS_LANEMEMORY_H
#define BATCH_RUNTIME_LIB_EXECUTORS_LANEMEMORY_H

#include "InstanceColumns.h"
#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/DeviceArena.h"

namespace batchrt {

class Lockstep;

/// Describes the memory, which the caller owns. It is written to `staging`, and
/// units see it at `address`. On the host, the two are the same.
class LaneMemory {
public:
  LaneMemory(const Lockstep &lockstep, bool onDevice);

  /// Lays out the memory for `units` units. On a device, uses fewer units if
  /// there are fewer lanes. Returns false if nothing has moved.
  bool layOut(int64_t numInstances, int64_t units);
  size_t bytes() const { return size; }
  int64_t units() const { return static_cast<int64_t>(unitList.size()); }
  /// Returns the largest number of lanes of a unit.
  int64_t mostLanes() const { return unitList.back().lanes; }

  /// Writes the contents that persist across runs.
  void write(char *staging, uint64_t address) const;
  /// Writes the initial contents for a run.
  void begin(char *staging, uint64_t address) const;
  /// Returns the lanes of each unit, for the context.
  BatchLanes **lanes(char *staging) const {
    return reinterpret_cast<BatchLanes **>(staging + lists);
  }
  /// Returns the lanes of a unit. Pointers to counts of blocks (runs, laneRuns)
  /// refer to `staging`; other pointers contain the addresses that the unit
  /// sees.
  BatchLanes counts(int64_t unit, char *staging) const;
  /// Returns the outcome of each instance.
  const int64_t *ends(const char *staging) const {
    return reinterpret_cast<const int64_t *>(staging + endsAt);
  }
  int64_t *ends(char *staging) const {
    return reinterpret_cast<int64_t *>(staging + endsAt);
  }

  // Functions for devices only.

  /// Bytes [0, inEnd) are copied to the device, and bytes [outBegin, outEnd)
  /// are copied back.
  size_t inEnd() const { return endOfIn; }
  size_t outBegin() const { return beginOfOut; }
  size_t outEnd() const { return endOfOut; }
  /// Returns the regions that kernels access.
  const std::vector<DeviceRegion> &deviceRegions() const { return parts; }
  /// Returns the offset of the context.
  size_t context() const { return contextAt; }
  /// Writes all data that is copied in. `host` contains the arguments;
  /// `packings` is the address of the list of packed parameters.
  void write(const BatchContext &host, uint64_t packings, char *staging,
             uint64_t address) const;
  /// Copies the results of successful instances to `host`.
  void readResults(const BatchContext &host, const char *staging) const;

private:
  /// Offsets of a variable in the lanes of a unit.
  struct Variable {
    size_t tops = 0, stack = 0, depths = 0;
  };
  /// Offsets of one unit's memory.
  struct Unit {
    int64_t lanes = 0;
    size_t head = 0, variables = 0, steps = 0, operands = 0, results = 0;
    size_t counters = 0; ///< waiting, since, runs, laneRuns
    size_t laneCells = 0, active = 0, returns = 0;
    size_t scratch = 0, rows = 0;
    std::vector<Variable> rowsOf; ///< indexed by variable
  };
  void place();
  void placeArguments(RegionLayout &layout);
  void placeResults(RegionLayout &layout);
  void placeSteps(RegionLayout &layout, Unit &unit);
  void placeHead(RegionLayout &layout, Unit &unit);
  void placeLanes(RegionLayout &layout, Unit &unit);
  void writeSteps(const Unit &unit, const ImagePlaces &places) const;
  void writeHead(const Unit &unit, const ImagePlaces &places) const;

  const Lockstep &lockstep;
  const Descriptor &descriptor;
  const LockstepInfo &info;
  const bool onDevice;
  // `operands` and `results` are sums over the kernels of all blocks. The
  // numbers of bytes are maxima over these kernels, for one lane.
  size_t operands = 0, results = 0, scratchBytes = 0, resultBytes = 0;
  size_t frameCells = 0; ///< number of blocks times number of frames
  int64_t numInstances = 0, numLanes = 0;
  int64_t capacity = -1; ///< maximum number of instances
  size_t stateCells = 0;
  std::vector<Unit> unitList;
  std::vector<DeviceRegion> parts;
  InstanceColumns columns; ///< used only on a device
  size_t contextAt = 0, lists = 0;
  size_t allLanes = 0, counter = 0, endsAt = 0;
  size_t costs = 0;  ///< offset of the costs of blocks
  size_t states = 0; ///< offset of the table of a learned policy
  size_t endOfIn = 0, beginOfOut = 0, endOfOut = 0, size = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_EXECUTORS_LANEMEMORY_H
