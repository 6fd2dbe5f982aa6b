//===- DeviceExecutor.h - Runs plans on a device ----------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_RUN_DEVICEEXECUTOR_H
#define BATCH_RUNTIME_LIB_RUN_DEVICEEXECUTOR_H

#include "LaneImage.h"
#include "Lockstep.h"
#include "batch-runtime/DeviceArena.h"
#include "batch-runtime/PlanImage.h"
#include "batch-runtime/Session.h"

#include <optional>

namespace batchrt {

/// Runs all plans of a mini-batch, or its lockstep program, by one launch of an
/// object's persistent kernel. Parameters are on the device from the beginning;
/// a run copies once in and once out.
class DeviceExecutor {
public:
  DeviceExecutor(const CompiledObject &object,
                 const BoundParameters &parameters,
                 const SessionOptions &options);
  ~DeviceExecutor();

  /// Groups of blocks of a launch, each of which runs plans of its own.
  int64_t groups() const;
  /// Result tables that outputs read are in host memory afterwards.
  void run(const BatchContext &context, const Plan &plan);
  /// Results are where the context says afterwards.
  void run(const BatchContext &context, Lockstep &lockstep);

  /// Of the last run.
  int64_t launches() const { return lastLaunches; }
  int64_t barriers() const { return lastBarriers; }
  int64_t copies() const { return lastCopies; }
  /// Bytes reserved on the device.
  size_t bytes() const { return allocatedBytes + arena.capacity(); }
  /// Microseconds from the launch to its end.
  double kernelTime() const { return lastTime; }

private:
  void bindForms(const BoundParameters &parameters);
  void findOutputTables();
  void chooseShape();
  std::string describeStep(int64_t step) const;
  /// Launches the kernel and copies [begin, end) of the arena back.
  void launch(const LaunchShape &shape, const std::vector<uint64_t> &arguments,
              const Watchdog &watchdog, size_t begin, size_t end);

  const CompiledObject object;
  const Descriptor &descriptor;
  SessionOptions options;
  std::unique_ptr<Device> device;
  DeviceKernel kernel = 0;
  LaunchShape shape;
  DeviceArena arena;
  ImageInput input;
  ImageLayout layout;
  std::optional<LaneImage> lanes; ///< of lockstep programs
  std::vector<ImageRegion> formRegions;
  std::vector<uint64_t> allocations;
  size_t allocatedBytes = 0; ///< of these
  uint64_t formsAddress = 0;
  std::vector<bool> outputTables;
  DeviceEvent begin, end; ///< of the kernel
  int64_t lastLaunches = 0, lastBarriers = 0, lastCopies = 0;
  double lastTime = 0;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_RUN_DEVICEEXECUTOR_H
