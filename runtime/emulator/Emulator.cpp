//===- Emulator.cpp - Runs GPU kernels on the host ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Emulator.h"
#include "Grid.h"

#include <algorithm>

using namespace batchrt;
using namespace batchrt::emulator;

struct Emulator::State {
  mutable GlobalMemory memory;
  EmulatorCounters counters;
  std::vector<std::unique_ptr<FiberStack>> stacks;
  Buffer shared;
  // Time continues from launch to launch, so every launch precedes the next.
  uint32_t time = 1;
  size_t blocks = 1; ///< maximum over all launches
};

Emulator::Emulator() : state(std::make_unique<State>()) {}
Emulator::~Emulator() = default;

void Emulator::addRegion(void *base, size_t bytes, std::string name,
                         RegionUse use) {
  state->memory.add(reinterpret_cast<uintptr_t>(base), bytes, std::move(name),
                    use);
}

void Emulator::removeRegion(void *base) {
  state->memory.remove(reinterpret_cast<uintptr_t>(base));
}

void Emulator::markWritten(const void *address, size_t bytes) {
  state->memory.get(address, bytes)
      .markWritten(reinterpret_cast<uintptr_t>(address), bytes);
}

void Emulator::checkWritten(const void *address, size_t bytes) const {
  const Region &region = state->memory.get(address, bytes);
  int64_t offset =
      region.findUnwritten(reinterpret_cast<uintptr_t>(address), bytes);
  if (offset >= 0)
    raise("the host reads '", region.getName(), "' + ", offset,
          ", which was never written");
}

const EmulatorCounters &Emulator::counters() const { return state->counters; }

void Emulator::launch(const EmulatedLaunch &launch) {
  auto check = [&](bool good, auto &&...text) {
    if (!good)
      raise("cannot launch kernel '", launch.kernel, "': ", text...);
  };
  check(launch.threads >= 1 && launch.threads <= 1024, launch.threads,
        " threads per block; expected 1 to 1024");
  check(launch.blocks >= 1 && launch.blocks <= ThreadId::maxBlocks,
        launch.blocks, " blocks; expected 1 to ", ThreadId::maxBlocks);
  // Each thread uses two of the 65530 mappings of a process: a stack and its
  // guard page.
  check(launch.blocks * launch.threads <= 32000, launch.blocks, " blocks of ",
        launch.threads, " threads; expected at most 32000 threads in total");
  check(launch.clusterBlocks >= 1 && launch.blocks % launch.clusterBlocks == 0,
        launch.blocks, " blocks in clusters of ", launch.clusterBlocks,
        "; the cluster size must divide the number of blocks");
  check(launch.sharedBytes >= 0 && launch.accessPeriod >= 0,
        "the bytes of shared memory and the access period must not be "
        "negative");
  if (launch.counts) {
    launch.counts->writes.resize(launch.blocks);
    for (std::vector<int64_t> &warps : launch.counts->writes)
      warps.resize((launch.threads + warpSize - 1) / warpSize);
  }
  check(state->time < UINT32_MAX / 2, "too many launches");

  while (state->stacks.size() <
         static_cast<size_t>(launch.blocks * launch.threads))
    state->stacks.push_back(std::make_unique<FiberStack>(0));
  state->blocks = std::max<size_t>(state->blocks, launch.blocks);
  // A gap follows each block's memory, so an access just beyond the end hits no
  // other memory.
  size_t stride = (launch.sharedBytes + 1024 + 127) / 128 * 128;
  char *shared = state->shared.reserve(launch.blocks * stride,
                                       "the emulator's shared memory");
  Grid grid(state->memory, state->counters, launch, state->stacks, shared,
            stride, state->blocks, state->time);
  struct Continue {
    Grid &grid;
    uint32_t &time;
    ~Continue() { time = grid.endTime(); }
  } next{grid, state->time};
  grid.run();
}
