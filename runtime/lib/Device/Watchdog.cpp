//===- Watchdog.cpp - Kernels that do not end -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each block writes its progress to the control words when it begins a step and
// when it reaches a barrier of all blocks. A block that waits too long at such
// a barrier reports this, and all blocks exit the kernel. Other waits in a
// kernel cannot check a clock, because threads of a block and blocks of a
// cluster wait in hardware. In these cases, the host gives up if no word
// changes for too long.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Watchdog.h"
#include "batch-runtime/Error.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>

using namespace batchrt;

static constexpr size_t blocksOffset = offsetof(BatchDeviceControl, ofBlocks);
/// Bit of `arrivals` that is set when the block has exited.
static constexpr uint32_t hasLeft = uint32_t(1) << 31;

size_t batchrt::controlBytes(int64_t blocks) {
  return blocksOffset + blocks * sizeof(BatchBlockControl);
}

std::vector<BatchBlockControl> batchrt::readBlocks(const char *control,
                                                   int64_t blocks) {
  std::vector<BatchBlockControl> words(blocks);
  std::memcpy(words.data(), control + blocksOffset,
              blocks * sizeof(BatchBlockControl));
  return words;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static std::string remedy(OptionNames names) {
  const std::string text =
      "; find the cause with " + compilerOption(names, "device", "emulator");
  // Only tools have an option for the watchdog.
  return names == OptionNames::Tools ? text + ", or use a longer --watchdog"
                                     : text;
}

std::string batchrt::describeStep(const std::vector<BatchPlan> &plans,
                                  const std::vector<KernelInfo> &kernels,
                                  int64_t progress) {
  const size_t plan = highOf(progress) - 1;
  const int64_t step = lowOf(progress);
  std::string text = concat("step ", step);
  if (plan >= plans.size() || step >= plans[plan].numSteps)
    return text;
  const BatchStep &at = plans[plan].steps[step];
  return concat(text, " (kernel '", kernels[at.kernel].name, "', ", at.count,
                " tasks)");
}

std::string batchrt::describeLanes(const LockstepInfo &info, int64_t progress) {
  const size_t block = lowOf(progress);
  std::string text = concat("step ", highOf(progress));
  if (block >= info.blocks.size())
    return text;
  return concat(text, " (lanes run ", info.blocks[block].name, ")");
}

namespace {
/// The progress of a kernel's blocks at one moment.
class Sight {
public:
  Sight(const char *control, const Watchdog &watchdog)
      : watchdog(watchdog), blocks(readBlocks(control, watchdog.blocks)) {
    for (BatchBlockControl &block : blocks)
      block.arrivals &= ~hasLeft;
  }

  size_t size() const { return blocks.size(); }
  uint32_t arrivals(size_t block) const {
    return block < blocks.size() ? blocks[block].arrivals : 0;
  }
  uint32_t mostArrivals() const {
    uint32_t most = 0;
    for (const BatchBlockControl &block : blocks)
      most = std::max(most, block.arrivals);
    return most;
  }
  /// Returns true if some block has begun and some block has not finished.
  bool isUnderWay() const;
  bool operator!=(const Sight &other) const;

  using Predicate = std::function<bool(const BatchBlockControl &)>;
  /// Returns "block 3" or "blocks 3, 7-9" for the blocks for which `holds` is
  /// true, or an empty string if there are none.
  std::string list(const Predicate &holds) const;
  /// Returns "block 3 is in step 2 (…); blocks 5-6 are in step 4 (…)" for the
  /// blocks for which `holds` is true.
  std::string listPlaces(const Predicate &holds) const;

private:
  const Watchdog &watchdog;
  std::vector<BatchBlockControl> blocks;
};
} // namespace

static bool hasBegun(const BatchBlockControl &block) {
  return block.arrivals != 0 || block.progress != 0;
}

static bool isBusy(const BatchBlockControl &block) { return !block.ended; }

bool Sight::isUnderWay() const {
  return std::any_of(blocks.begin(), blocks.end(), hasBegun) &&
         std::any_of(blocks.begin(), blocks.end(), isBusy);
}

bool Sight::operator!=(const Sight &other) const {
  return !std::equal(blocks.begin(), blocks.end(), other.blocks.begin(),
                     [](auto &a, auto &b) {
                       return a.arrivals == b.arrivals && a.ended == b.ended &&
                              a.progress == b.progress;
                     });
}

std::string Sight::list(const Predicate &holds) const {
  constexpr int most = 12; // maximum number of listed ranges
  std::string text;
  size_t found = 0, listed = 0;
  int ranges = 0;
  for (size_t b = 0; b < blocks.size();) {
    size_t end = b;
    while (end < blocks.size() && holds(blocks[end]))
      ++end;
    found += end - b;
    if (end > b && ranges++ < most) {
      listed += end - b;
      text += (text.empty() ? "" : ", ") + std::to_string(b);
      if (end - b > 1)
        text += "-" + std::to_string(end - 1);
    }
    b = end + 1;
  }
  if (found == 0)
    return "";
  if (found > listed)
    text += concat(" and ", found - listed, " more");
  return (found == 1 ? "block " : "blocks ") + text;
}

std::string Sight::listPlaces(const Predicate &holds) const {
  constexpr size_t most = 4; // maximum number of listed places
  std::vector<int64_t> places;
  size_t others = 0;
  for (const BatchBlockControl &block : blocks)
    if (holds(block) &&
        std::find(places.begin(), places.end(), block.progress) == places.end())
      places.size() < most ? places.push_back(block.progress) : void(++others);
  std::string text;
  for (int64_t place : places) {
    std::string at = list([&](const BatchBlockControl &block) {
      return holds(block) && block.progress == place;
    });
    bool one = at.compare(0, 6, "block ") == 0;
    text += concat(text.empty() ? "" : "; ", at, one ? " is " : " are ");
    if (place == 0)
      text += "before the first step";
    else
      text += "in " + (watchdog.describe ? watchdog.describe(place)
                                         : concat("step ", lowOf(place)));
  }
  return others ? concat(text, "; ", others, " more elsewhere") : text;
}

static std::string countBarriers(uint32_t count) {
  return concat(count, count == 1 ? " barrier" : " barriers");
}

/// Describes the progress of the blocks of a stalled kernel.
static std::string describeStandstill(const Sight &sight) {
  const uint32_t barriers = sight.mostArrivals();
  std::string behind = sight.list([&](const BatchBlockControl &block) {
    return isBusy(block) && block.arrivals < barriers;
  });
  std::string text;
  Sight::Predicate matters = isBusy;
  if (!behind.empty()) {
    text = concat(behind, " of ", sight.size(),
                  " did not arrive where the others wait, after ",
                  countBarriers(barriers - 1), ": ");
    matters = [&](const BatchBlockControl &block) {
      return isBusy(block) && block.arrivals < barriers;
    };
  } else if (barriers > 0) {
    text =
        concat(sight.size() == 1 ? "the only block has"
                                 : concat("all ", sight.size(), " blocks have"),
               " arrived at ", countBarriers(barriers), ": ");
  }
  return concat(": ", text, sight.listPlaces(matters));
}

/// Returns a text such as "executor block: ", or an empty string.
static std::string describeExecutor(const Watchdog &watchdog) {
  return watchdog.executor.empty()
             ? ""
             : concat("executor ", watchdog.executor, ": ");
}

//===----------------------------------------------------------------------===//
// Control words after a kernel
//===----------------------------------------------------------------------===//

void batchrt::checkControl(const char *control, const Watchdog &watchdog) {
  BatchDeviceControl record;
  std::memcpy(&record, control, blocksOffset);
  if (record.timedOut == 0)
    return;
  Sight sight(control, watchdog);
  // Blocks that run all steps together have one plan, number 1.
  std::string step = watchdog.describe
                         ? watchdog.describe(makeProgress(1, record.step))
                         : concat("step ", record.step);
  // This count includes the arrival at the barrier where the block gave up.
  const uint32_t wanted = sight.arrivals(record.block);
  auto isBehind = [&](const BatchBlockControl &block) {
    return (block.arrivals & ~hasLeft) < wanted;
  };
  std::string behind = sight.list(isBehind);
  if (behind.empty())
    behind = concat("all ", sight.size(), " blocks arrived, but too late");
  else
    behind += concat(" of ", sight.size(),
                     " did not arrive: ", sight.listPlaces(isBehind));
  raise(describeExecutor(watchdog), "block ", record.block,
        " waited more than ", watchdog.seconds, " s at barrier ",
        record.barrier, ", in ", step, ": ", behind, remedy(watchdog.names));
}

int64_t batchrt::lastProgress(const std::vector<BatchPlan> &plans,
                              int64_t groups, int64_t group) {
  int64_t last = 0;
  for (size_t plan = group; plan < plans.size(); plan += groups)
    if (plans[plan].numSteps > 0)
      last = makeProgress(plan + 1, plans[plan].numSteps - 1);
  return last;
}

/// Returns "2.5" for progress with the halves 2 and 5, or "2" if the low half
/// is anyLow.
static std::string write(int64_t progress) {
  std::string high = std::to_string(highOf(progress));
  return lowOf(progress) == anyLow ? high : concat(high, ".", lowOf(progress));
}

void batchrt::checkEnded(
    const char *control, int64_t blocks,
    const std::function<int64_t(int64_t block)> &progress) {
  std::vector<BatchBlockControl> words = readBlocks(control, blocks);
  for (int64_t b = 0; b < blocks; ++b) {
    int64_t found = words[b].progress, wanted = progress(b);
    bool fits = highOf(found) == highOf(wanted) &&
                (lowOf(wanted) == anyLow || lowOf(found) == lowOf(wanted));
    if (!words[b].ended || !fits)
      raise("the kernel does not record its progress, so the watchdog cannot "
            "detect a hang: block ",
            b, " has ", words[b].ended ? "" : "not ", "ended and is at step ",
            write(found), "; expected the end of step ", write(wanted),
            "; this is a compiler bug");
  }
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

namespace {
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
} // namespace

void Device::wait(const Watchdog &watchdog, DeviceStream stream) {
  if (watchdog.seconds <= 0)
    return synchronize(stream);
  constexpr double spinning = 0.002;
  const double limit = watchdog.seconds + watchdog.margin;
  const Clock::time_point begin = Clock::now();
  Clock::time_point progress = begin, looked = begin;
  std::vector<char> words(watchdog.control ? controlBytes(watchdog.blocks) : 0);
  std::optional<Sight> last;
  while (!isDone(stream)) {
    if (secondsSince(begin) < spinning)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (secondsSince(looked) < limit / 4)
      continue;

    // A run may wait for other work in its stream or on the GPU for any length
    // of time. It may also take any length of time while its control words
    // change.
    looked = Clock::now();
    bool waits = watchdog.begin && !hasHappened(*watchdog.begin);
    if (!waits && watchdog.control &&
        peek(words.data(), watchdog.control, words.size())) {
      Sight now(words.data(), watchdog);
      waits = !now.isUnderWay() || !last || now != *last;
      last.emplace(now);
    }
    if (waits)
      progress = looked;
    if (secondsSince(progress) < limit || isDone(stream))
      continue;
    abandon();
    raise(describeExecutor(watchdog), "the kernel on ", facts.name,
          " has not finished and has made no progress for ", limit, " s",
          last ? describeStandstill(*last) : "", remedy(watchdog.names));
  }
}
