//===- Barriers.cpp - Barriers and warp operations of emulated threads ----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Grid.h"

#include <cmath>
#include <cstring>

using namespace batchrt;
using namespace batchrt::emulator;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// Checks that all lanes of a warp perform the same operation.
void Grid::checkConverged(Thread *lanes, int64_t size) {
  for (int64_t i = 1; i < size; ++i)
    if (lanes[i].where != lanes[0].where &&
        std::strcmp(lanes[i].where, lanes[0].where) != 0)
      fail(lanes[i], lanes[i].where,
           concat("thread ", lanes[0].thread,
                  " of the same warp is at another operation, ",
                  lanes[0].where));
}

void Grid::barrier(Thread &thread, const char *where) {
  progress();
  Block &block = *thread.inBlock;
  thread.where = where;
  // A thread that has exited never arrives, so the other threads wait forever.
  if (++block.waiting < block.numThreads)
    return wait(thread, ThreadState::AtBarrier, where);
  block.waiting = 0;
  ++counters.blockBarriers;
  for (int64_t first = 0; first < block.numThreads; first += warpSize)
    checkConverged(block.threads + first, block.warps[first / warpSize].size);
  // All threads now have the clocks that any of them acquired.
  SharedClock last;
  for (int64_t t = 0; t < block.numThreads; ++t)
    for (const SharedClock &clock : block.threads[t].clock.learned())
      if (clock != last)
        block.clock.known.join(*(last = clock));
  block.clock.known.setBlockTime(block.number, block.clock.time++);
  for (int64_t t = 0; t < block.numThreads; ++t) {
    block.threads[t].clock.passBarrier();
    if (&block.threads[t] != &thread)
      makeReady(block.threads[t]);
  }
  yield(thread);
}

// The first thread of a block that arrives at the cluster barrier splits the
// block's time. Earlier accesses precede the barrier, and accesses of threads
// that have arrived follow it.

void Grid::clusterArrive(Thread &thread, const char *where) {
  thread.where = where;
  if (thread.arrival != Arrival::None)
    fail(thread, where,
         "arrives at the cluster barrier a second time without waiting");
  progress();
  Block &block = *thread.inBlock;
  Cluster &cluster = *block.cluster;
  thread.arrival = Arrival::Arrived;
  if (!block.arrived) {
    block.arrived = true;
    block.arrivalTime = block.clock.time++;
    cluster.sum.join(block.clock.known);
    cluster.sum.setBlockTime(block.number, block.arrivalTime);
  }
  for (const SharedClock &clock : thread.clock.learned())
    cluster.sum.join(*clock);
  if (thread.clock.time() > block.arrivalTime) {
    cluster.sum.add(thread.clock.thread(), thread.clock.time());
    thread.clock.advance(++block.clock.time);
  } else {
    thread.clock.advance(block.arrivalTime + 1);
  }
  // Threads that have exited count as arrived.
  if (++cluster.arrived == cluster.live)
    endClusterPhase(cluster);
}

void Grid::endClusterPhase(Cluster &cluster) {
  ++counters.clusterBarriers;
  cluster.arrived = 0;
  auto clock = std::make_shared<Clock>(cluster.sum);
  for (Block *block : cluster.blocks) {
    block->arrived = false;
    for (int64_t t = 0; t < block->numThreads; ++t) {
      Thread &thread = block->threads[t];
      if (thread.arrival != Arrival::Arrived)
        continue;
      thread.arrival = Arrival::Complete;
      thread.clusterClock = clock;
      if (thread.state == ThreadState::AtClusterBarrier)
        makeReady(thread);
    }
  }
}

void Grid::clusterWait(Thread &thread, const char *where) {
  thread.where = where;
  if (thread.arrival == Arrival::None)
    fail(thread, where, "waits at the cluster barrier without having arrived");
  if (thread.arrival == Arrival::Arrived)
    wait(thread, ThreadState::AtClusterBarrier, where);
  else
    yield(thread);
  thread.clock.acquire(thread.clusterClock);
  thread.clusterClock.reset();
  thread.arrival = Arrival::None;
}

//===----------------------------------------------------------------------===//
// Warp operations
//===----------------------------------------------------------------------===//

// Warp operations make the lanes wait for each other but do not order memory
// accesses. PTX guarantees memory ordering only for bar.warp.sync.

template <class Operation>
void Grid::runWarp(Thread &thread, const char *where, Operation operation) {
  progress();
  thread.where = where;
  int64_t first = thread.thread / warpSize * warpSize;
  Warp &warp = thread.inBlock->warps[thread.thread / warpSize];
  if (++warp.waiting < warp.size)
    return wait(thread, ThreadState::AtWarpOperation, where);
  warp.waiting = 0;
  Thread *lanes = thread.inBlock->threads + first;
  checkConverged(lanes, warp.size);
  operation(lanes, warp.size);
  for (int64_t i = 0; i < warp.size; ++i)
    if (&lanes[i] != &thread)
      makeReady(lanes[i]);
  yield(thread);
}

int64_t Grid::shuffle(Thread &thread, int64_t mode, int64_t value,
                      int64_t offset, int64_t width, const char *where) {
  if (width != warpSize)
    fail(thread, where,
         concat("shuffles over ", width, " lanes; expected ", warpSize));
  thread.lane[0] = static_cast<uint32_t>(value);
  thread.lane[1] = offset;
  thread.lane[2] = mode;
  runWarp(thread, where, [&](Thread *lanes, int64_t size) {
    ++counters.shuffles;
    int64_t results[warpSize];
    for (int64_t i = 0; i < size; ++i) {
      int64_t offset = lanes[i].lane[1], from = offset;
      switch (lanes[i].lane[2]) {
      case BATCH_SHUFFLE_XOR:
        from = i ^ offset;
        break;
      case BATCH_SHUFFLE_UP:
        from = i - offset;
        break;
      case BATCH_SHUFFLE_DOWN:
        from = i + offset;
        break;
      default:
        break;
      }
      bool valid = from >= 0 && from < size;
      results[i] = lanes[valid ? from : i].lane[0] | int64_t(valid) << 32;
    }
    for (int64_t i = 0; i < size; ++i)
      lanes[i].lane[0] = results[i];
  });
  return thread.lane[0];
}

/// Returns element `index` of a fragment's register as the hardware reads it:
/// as bf16, or as tf32 without the last 13 bits.
static float element(uint32_t bits, int64_t elementBits, int64_t index) {
  bits = elementBits == 32 ? bits & 0xffffe000u
         : index == 0      ? bits << 16
                           : bits & 0xffff0000u;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The layout of the fragments of mma.m16n8kK (PTX ISA, "Matrix Fragments for
// mma.m16n8k8" and following). With E elements in a 32-bit register, group
// g = lane / 4 and t = lane % 4:
//   a  register r, element e: row g + 8*(r%2), column E*t + e + 4*E*(r/2)
//   b  register r, element e: row E*t + e + 4*E*r, column g
//   c, d  element i: row g + 8*(i/2), column 2*t + i%2
void Grid::multiply(Thread &thread, int64_t elementBits, int64_t k,
                    const uint32_t *a, const uint32_t *b, const float *c,
                    float *d, const char *where) {
  thread.fragments[0] = a;
  thread.fragments[1] = b;
  thread.addend = c;
  thread.product = d;
  runWarp(thread, where, [&](Thread *lanes, int64_t size) {
    if (size != warpSize)
      fail(thread, where,
           concat("matrix multiplication requires a warp of ", warpSize,
                  " threads, got ", size));
    int64_t perRegister = 32 / elementBits;
    int64_t columns = 4 * perRegister; // columns of `a` in a warp's register
    float left[16][16], right[16][8];
    for (int64_t lane = 0; lane < warpSize; ++lane) {
      int64_t g = lane / 4, t = lane % 4;
      for (int64_t r = 0; r < k / columns; ++r)
        for (int64_t e = 0; e < perRegister; ++e) {
          int64_t at = perRegister * t + e + columns * r;
          const Thread &from = lanes[lane];
          left[g][at] = element(from.fragments[0][2 * r], elementBits, e);
          left[g + 8][at] =
              element(from.fragments[0][2 * r + 1], elementBits, e);
          right[at][g] = element(from.fragments[1][r], elementBits, e);
        }
    }
    for (int64_t lane = 0; lane < warpSize; ++lane)
      for (int64_t i = 0; i < 4; ++i) {
        int64_t row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
        float sum = lanes[lane].addend[i];
        for (int64_t j = 0; j < k; ++j)
          sum = std::fma(left[row][j], right[j][column], sum);
        lanes[lane].product[i] = sum;
      }
  });
}
