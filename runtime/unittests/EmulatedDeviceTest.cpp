//===- EmulatedDeviceTest.cpp - Tests of the emulated device --------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmulatedKernels.h"
#include "batch-runtime/DeviceArena.h"

#include <cstring>
#include <memory>

using namespace batchrt;
using namespace batchrt::test;

namespace {

/// An arena of 1024 bytes on the emulated device, and a thread that reads it.
class EmulatedArena {
public:
  EmulatedArena() : device(openEmulatedDevice({})), arena(*device, "the test") {
    BatchEmulatedKernel entry = [](BatchEmulatorThread *thread,
                                   void *const *arguments) {
      (**static_cast<const Kernel *const *>(arguments[0]))(Gpu{thread});
    };
    DeviceCode code;
    code.data = reinterpret_cast<const void *>(entry);
    code.kernel = "k";
    kernel = device->load(code);
  }

  /// Resets the arena and copies its first `bytes` bytes to the device. If
  /// `regions` is not empty, the regions divide the arena.
  void copy(size_t bytes, const std::vector<DeviceRegion> &regions = {}) {
    arena.reset(1024, 1024);
    arena.allocate(1024);
    if (!regions.empty())
      arena.divide(regions);
    std::memset(arena.staging(), 1, 1024);
    arena.copyIn(0, bytes);
  }
  void read(size_t offset) {
    Kernel read = [&](Gpu gpu) {
      gpu.load(reinterpret_cast<int32_t *>(arena.address(offset)), "r");
    };
    LaunchShape shape;
    shape.blocks = shape.blockSize = 1;
    device->launch(kernel, shape, {reinterpret_cast<uint64_t>(&read)});
  }

private:
  std::unique_ptr<Device> device;
  DeviceArena arena;
  DeviceKernel kernel;
};

// If a run leaves contents in an arena, they count as unwritten in the next
// run.
TEST(EmulatedArena, StartsOver) {
  EmulatedArena arena;
  arena.copy(1024);
  EXPECT_NO_THROW(arena.read(512));
  arena.copy(512);
  EXPECT_THROW(arena.read(512), Error);
}

// Gaps between the regions of an arena are not accessible, even if a copy
// covered them.
TEST(EmulatedArena, HasParts) {
  EmulatedArena arena;
  arena.copy(512, {{0, 100, "steps"}, {256, 512, "rows"}});
  EXPECT_NO_THROW(arena.read(96));
  EXPECT_NO_THROW(arena.read(256));
  EXPECT_NO_THROW(arena.read(508));
  try {
    arena.read(100);
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what())
                  .find("'steps' ends 4 bytes before the end of the access"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(arena.read(252), Error);
  EXPECT_THROW(arena.read(512), Error); // not copied
  EXPECT_THROW(arena.read(768), Error);
  // The next run has its own regions.
  arena.copy(1024);
  EXPECT_NO_THROW(arena.read(252));
}

} // namespace
