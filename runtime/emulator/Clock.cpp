//===- Clock.cpp - Clocks of emulated threads -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clock.h"

#include <algorithm>

using namespace batchrt::emulator;

bool Clock::coversThread(Stamp stamp) const {
  ThreadId id = stamp.id();
  auto found = std::lower_bound(
      threads.begin(), threads.end(), id,
      [](const auto &entry, ThreadId id) { return entry.first < id; });
  return found != threads.end() && found->first == id &&
         stamp.time() <= found->second;
}

void Clock::add(ThreadId id, uint32_t time) {
  if (time <= blocks[id.block()])
    return;
  auto found = std::lower_bound(
      threads.begin(), threads.end(), id,
      [](const auto &entry, ThreadId id) { return entry.first < id; });
  if (found != threads.end() && found->first == id)
    found->second = std::max(found->second, time);
  else
    threads.insert(found, {id, time});
}

void Clock::join(const Clock &other) {
  for (size_t i = 0; i < blocks.size(); ++i)
    blocks[i] = std::max(blocks[i], other.blocks[i]);
  if (other.threads.empty() && threads.empty())
    return;
  std::vector<std::pair<ThreadId, uint32_t>> merged;
  merged.reserve(threads.size() + other.threads.size());
  auto a = threads.begin(), aEnd = threads.end();
  auto b = other.threads.begin(), bEnd = other.threads.end();
  while (a != aEnd || b != bEnd) {
    bool takeA = b == bEnd || (a != aEnd && !(b->first < a->first));
    bool takeB = a == aEnd || (b != bEnd && !(a->first < b->first));
    auto entry = takeA ? *a : *b;
    if (takeA && takeB)
      entry.second = std::max(a->second, b->second);
    a += takeA;
    b += takeB;
    if (entry.second > blocks[entry.first.block()])
      merged.push_back(entry);
  }
  threads = std::move(merged);
}

bool ThreadClock::coversAcquired(Stamp stamp) const {
  return std::any_of(
      acquired.begin(), acquired.end(),
      [&](const SharedClock &clock) { return clock->covers(stamp); });
}

void ThreadClock::acquire(const SharedClock &clock) {
  if (std::find(acquired.begin(), acquired.end(), clock) != acquired.end())
    return;
  if (acquired.size() < 4) {
    acquired.push_back(clock);
    return;
  }
  auto sum = std::make_shared<Clock>(*clock);
  for (const SharedClock &other : acquired)
    sum->join(*other);
  acquired.assign(1, std::move(sum));
}

SharedClock ThreadClock::release() {
  auto clock = std::make_shared<Clock>(block->known);
  for (const SharedClock &other : acquired)
    clock->join(*other);
  clock->add(id, now);
  // Later accesses of the thread have a later time, so `clock` excludes them.
  now = ++block->time;
  return clock;
}
