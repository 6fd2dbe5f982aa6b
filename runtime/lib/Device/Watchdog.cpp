//===- Watchdog.cpp - Kernels that do not end -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block that waits too long at a barrier says so in the control words, and
// all blocks leave the kernel. If a kernel does not even do that, the host
// gives up. Both messages name the blocks that are behind: each block counts
// the barriers that it has arrived at.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Watchdog.h"
#include "batch-runtime/ABI.h"
#include "batch-runtime/Device.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>

using namespace batchrt;

static constexpr size_t arrivalsOffset =
    offsetof(BatchDeviceControl, blockArrivals);

size_t batchrt::controlBytes(int64_t blocks) {
  return arrivalsOffset + blocks * sizeof(uint32_t);
}

static std::vector<uint32_t> arrivalsOf(const char *control, int64_t blocks) {
  std::vector<uint32_t> arrivals(blocks);
  std::memcpy(arrivals.data(), control + arrivalsOffset, blocks * 4);
  for (uint32_t &count : arrivals)
    count &= INT32_MAX; // the other bit says that the block has left
  return arrivals;
}

/// "block 3" or "blocks 3, 7-9" for the blocks with fewer arrivals than
/// `wanted`; empty if there are none.
static std::string listBehind(const std::vector<uint32_t> &arrivals,
                              uint32_t wanted) {
  constexpr int most = 12; // ranges
  std::string text;
  size_t behind = 0, listed = 0;
  int ranges = 0;
  for (size_t b = 0; b < arrivals.size();) {
    size_t end = b;
    while (end < arrivals.size() && arrivals[end] < wanted)
      ++end;
    behind += end - b;
    if (end > b && ranges++ < most) {
      listed += end - b;
      text += (text.empty() ? "" : ", ") + std::to_string(b);
      if (end - b > 1)
        text += "-" + std::to_string(end - 1);
    }
    b = end + 1;
  }
  if (behind == 0)
    return "";
  if (behind > listed)
    text += concat(" and ", behind - listed, " more");
  return (behind == 1 ? "block " : "blocks ") + text;
}

/// Where the blocks of a kernel are that has come to a standstill.
static std::string describeArrivals(const std::vector<uint32_t> &arrivals) {
  if (arrivals.empty())
    return "";
  uint32_t barriers = *std::max_element(arrivals.begin(), arrivals.end());
  std::string behind = listBehind(arrivals, barriers);
  if (behind.empty())
    return concat(": all ", arrivals.size(), " blocks have arrived at ",
                  barriers, " barriers");
  return concat(": ", behind, " of ", arrivals.size(),
                " did not arrive where the others wait, after ", barriers - 1,
                " barriers");
}

static const char *const remedy =
    "; --device=emulator finds the cause, or give a longer --watchdog";

void batchrt::checkControl(const char *control, const Watchdog &watchdog) {
  BatchDeviceControl record;
  std::memcpy(&record, control, arrivalsOffset);
  if (record.timedOut == 0)
    return;
  std::vector<uint32_t> arrivals = arrivalsOf(control, watchdog.blocks);
  std::string step =
      watchdog.describeStep ? watchdog.describeStep(record.step) : "";
  if (!step.empty())
    step = " (" + step + ")";
  // The block that gave up has arrived itself, and counted that.
  uint32_t wanted = record.block < arrivals.size() ? arrivals[record.block] : 0;
  std::string behind = listBehind(arrivals, wanted);
  if (behind.empty())
    behind = concat("all ", arrivals.size(), " blocks arrived, but too late");
  else
    behind += concat(" of ", arrivals.size(), " did not arrive");
  raise("block ", record.block, " waited more than ", watchdog.seconds,
        " s at barrier ", record.barrier, ", in step ", record.step, step, ": ",
        behind, remedy);
}

void Device::wait(const Watchdog &watchdog, DeviceStream stream) {
  if (watchdog.seconds <= 0)
    return synchronize(stream);
  using Clock = std::chrono::steady_clock;
  auto secondsSince = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  constexpr double spinning = 0.002;
  const double limit = watchdog.seconds + watchdog.margin;
  const Clock::time_point begin = Clock::now();
  Clock::time_point progress = begin;
  std::vector<uint32_t> arrivals(watchdog.blocks, 0);
  while (!isDone(stream)) {
    if (secondsSince(begin) < spinning)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (secondsSince(progress) < limit)
      continue;

    // A run may take long, but not without arrivals at barriers.
    bool known = false;
    if (watchdog.control) {
      std::vector<char> words(controlBytes(watchdog.blocks));
      known = peek(words.data(), watchdog.control, words.size());
      std::vector<uint32_t> now = arrivalsOf(words.data(), watchdog.blocks);
      if (known && now != arrivals) {
        arrivals = now;
        progress = Clock::now();
        continue;
      }
    }
    if (isDone(stream))
      return;
    abandon();
    raise("the kernel on ", facts.name, " did not end, and made no progress ",
          "for ", limit, " s", known ? describeArrivals(arrivals) : "", remedy);
  }
}
