//===- InstanceStream.cpp - Instances that arrive while others run --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/InstanceStream.h"

#include <chrono>
#include <utility>

using namespace batchrt;

/// Time between two checks for cancellation. A signal handler may request
/// cancellation but cannot wake the waiting thread.
static constexpr std::chrono::milliseconds untilNextLook(20);

InstanceStream::InstanceStream(int64_t capacity)
    : submitted(capacity), done(capacity) {
  static_assert(sizeof(waiting) == sizeof(int64_t) &&
                    std::atomic<int64_t>::is_always_lock_free,
                "compiled code reads the number itself");
  for (int64_t position = capacity - 1; position >= 0; --position)
    idle.push_back(position);
}

int64_t InstanceStream::acquire() {
  std::lock_guard<std::mutex> guard(lock);
  if (idle.empty())
    return -1;
  const int64_t position = idle.back();
  idle.pop_back();
  return position;
}

void InstanceStream::submit(int64_t position) {
  {
    std::lock_guard<std::mutex> guard(lock);
    submitted.push(position);
    waiting.store(submitted.size(), std::memory_order_relaxed);
  }
  forLanes.notify_one();
}

int64_t InstanceStream::take(const Cancellation *cancellation) {
  std::unique_lock<std::mutex> guard(lock);
  while (done.size() == 0) {
    if (isClosed)
      return kClosed;
    if (cancellation && cancellation->isRequested())
      throw Cancelled();
    if (std::exchange(isWoken, false))
      return kWoken;
    forCaller.wait_for(guard, untilNextLook);
  }
  return done.pop();
}

int64_t InstanceStream::ended() {
  std::lock_guard<std::mutex> guard(lock);
  return done.size();
}

void InstanceStream::release(int64_t position) {
  std::lock_guard<std::mutex> guard(lock);
  idle.push_back(position);
}

int64_t InstanceStream::exchange(int64_t ended) {
  int64_t next = -1;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (ended >= 0)
      done.push(ended);
    if (submitted.size() > 0) {
      next = submitted.pop();
      waiting.store(submitted.size(), std::memory_order_relaxed);
    }
  }
  if (ended >= 0)
    forCaller.notify_one();
  return next;
}

bool InstanceStream::waitForMore() {
  std::unique_lock<std::mutex> guard(lock);
  forLanes.wait(guard, [&] { return isClosed || submitted.size() > 0; });
  return !isClosed;
}

void InstanceStream::wake() {
  {
    std::lock_guard<std::mutex> guard(lock);
    isWoken = true;
  }
  forCaller.notify_one();
}

void InstanceStream::close() {
  {
    std::lock_guard<std::mutex> guard(lock);
    isClosed = true;
  }
  forLanes.notify_all();
  forCaller.notify_all();
}
