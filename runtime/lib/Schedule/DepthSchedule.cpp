//===- DepthSchedule.cpp - Scheduling by depth ----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/DepthSchedule.h"
#include "batch-runtime/Schedule/TaskGraph.h"

#include <algorithm>
#include <cstddef>

using namespace batchrt;

/// Grows a vector to at least `size` elements. The vector never shrinks, so
/// later runs of the same size allocate nothing.
template <class T>
static T *growTo(std::vector<T> &vector, int64_t size) {
  if (vector.size() < static_cast<size_t>(size))
    vector.resize(size);
  return vector.data();
}

/// Adds an element, which the caller fills in place. push_back() would write
/// the element in words and immediately read it in vectors, which stalls the
/// CPU.
template <class T>
static T &addTo(std::vector<T> &vector) {
  vector.emplace_back();
  return vector.back();
}

static void addStep(std::vector<DepthStep> &steps, int64_t kernel,
                    int64_t depth, int64_t begin, int64_t count,
                    int64_t plan = 0) {
  DepthStep &step = addTo(steps);
  step.kernel = kernel;
  step.depth = depth;
  step.begin = begin;
  step.count = count;
  step.plan = plan;
}

size_t DepthSorter::bytes() const {
  return reserved(orders) + reserved(temporary) + reserved(stepBegins) +
         reserved(stepList) + reserved(histogram) + reserved(depthCounts);
}

size_t DepthScheduler::bytes() const {
  size_t sum = reserved(stepList) + reserved(begins) + reserved(stepBegins) +
               reserved(planBegins) + reserved(phases) + reserved(runOrder) +
               reserved(histogram) + reserved(temporary);
  for (const std::vector<Place> &places : placesOf)
    sum += reserved(places);
  return sum;
}

void DepthSorter::run(const TaskQueue *queues, int64_t numKernels) {
  int64_t tasks = 0;
  for (int64_t kernel = 0; kernel < numKernels; ++kernel)
    tasks += queues[kernel].count;
  int32_t *order = growTo(orders, tasks);
  growTo(stepBegins, numKernels + 1);
  stepList.clear();

  int64_t begin = 0;
  for (int64_t kernel = 0; kernel < numKernels; ++kernel) {
    stepBegins[kernel] = stepList.size();
    if (queues[kernel].count)
      sortKernel(queues[kernel], kernel, order + begin, begin);
    begin += queues[kernel].count;
  }
  stepBegins[numKernels] = stepList.size();
}

/// Sorts tasks whose depths are all below `shallow`. This is the usual case,
/// and it needs one pass fewer. Returns false if a depth is not below
/// `shallow`.
bool DepthSorter::sortShallow(const TaskQueue &queue, int64_t kernel,
                              int32_t *order, int64_t begin) {
  constexpr uint64_t shallow = 512;
  // The counts are zero between calls. Most calls have few depths, so there are
  // few counts to clear.
  if (depthCounts.empty())
    depthCounts.resize(shallow);
  int32_t *next = depthCounts.data();
  // Use local copies of fields. Otherwise, the stores would force the loops to
  // reload the fields.
  const int64_t *records = queue.records;
  const int64_t count = queue.count, recordCells = queue.recordCells;
  auto depthOf = [=](int64_t i) {
    return static_cast<uint64_t>(records[i * recordCells]) >> 32;
  };
  uint64_t bits = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t depth = depthOf(i);
    bits |= depth;
    ++next[depth & (shallow - 1)];
  }
  if (bits >= shallow) {
    std::fill(next, next + shallow, 0);
    return false;
  }
  int32_t sum = 0;
  for (uint64_t depth = 0; depth <= bits; ++depth) {
    int32_t tasks = next[depth];
    if (tasks)
      addStep(stepList, kernel, static_cast<int64_t>(depth), begin + sum,
              tasks);
    next[depth] = sum;
    sum += tasks;
  }
  if (stepList.back().count == count)
    for (int64_t i = 0; i < count; ++i)
      order[i] = static_cast<int32_t>(i);
  else
    for (int64_t i = 0; i < count; ++i)
      order[next[depthOf(i)]++] = static_cast<int32_t>(i);
  std::fill(next, next + bits + 1, 0);
  return true;
}

void DepthSorter::sortKernel(const TaskQueue &queue, int64_t kernel,
                             int32_t *order, int64_t begin) {
  if (sortShallow(queue, kernel, order, begin))
    return;
  int64_t least = queue.depth(0), most = least;
  for (int64_t i = 1; i < queue.count; ++i) {
    int64_t depth = queue.depth(i);
    least = std::min(least, depth);
    most = std::max(most, depth);
  }
  if (least == most) {
    for (int64_t i = 0; i < queue.count; ++i)
      order[i] = static_cast<int32_t>(i);
    stepList.push_back({kernel, least, begin, queue.count});
    return;
  }
  int64_t range = most - least + 1;
  if (range > 4 * queue.count + 1024)
    return sortSparse(queue, kernel, order, begin);

  int32_t *next = growTo(histogram, range);
  std::fill(next, next + range, 0);
  for (int64_t i = 0; i < queue.count; ++i)
    ++next[queue.depth(i) - least];
  int32_t sum = 0;
  for (int64_t depth = 0; depth < range; ++depth) {
    int32_t count = next[depth];
    if (count)
      stepList.push_back({kernel, least + depth, begin + sum, count});
    next[depth] = sum;
    sum += count;
  }
  for (int64_t i = 0; i < queue.count; ++i)
    order[next[queue.depth(i) - least]++] = static_cast<int32_t>(i);
}

/// Sorts a few tasks whose depths span a wide range. Uses a radix sort in two
/// passes of 12 bits.
void DepthSorter::sortSparse(const TaskQueue &queue, int64_t kernel,
                             int32_t *order, int64_t begin) {
  constexpr int64_t buckets = 1 << 12;
  int32_t *from = growTo(temporary, queue.count), *to = order;
  int32_t *next = growTo(histogram, buckets);
  for (int64_t i = 0; i < queue.count; ++i)
    order[i] = static_cast<int32_t>(i);
  std::swap(from, to);
  for (int shift : {0, 12}) {
    std::fill(next, next + buckets, 0);
    for (int64_t i = 0; i < queue.count; ++i)
      ++next[(queue.depth(i) >> shift) & (buckets - 1)];
    int32_t sum = 0;
    for (int64_t bucket = 0; bucket < buckets; ++bucket) {
      int32_t count = next[bucket];
      next[bucket] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < queue.count; ++i)
      to[next[(queue.depth(from[i]) >> shift) & (buckets - 1)]++] = from[i];
    std::swap(from, to);
  }
  // After two passes, the result is in `order` again.
  for (int64_t i = 0, first = 0; i < queue.count; ++i)
    if (i + 1 == queue.count ||
        queue.depth(order[i + 1]) != queue.depth(order[first])) {
      stepList.push_back(
          {kernel, queue.depth(order[first]), begin + first, i + 1 - first});
      first = i + 1;
    }
}

void DepthScheduler::run(const TaskQueue *queues, int64_t numKernels,
                         const DepthSorter *const *parts, int64_t numParts,
                         int64_t plans) {
  numPlans = plans;
  const int64_t planParts = numParts / numPlans;
  growTo(begins, numKernels + 1);
  growTo(stepBegins, numKernels * numPlans + 1);
  growTo(planBegins, numPlans + 1);
  growTo(placesOf, numParts);
  for (std::vector<Place> &places : placesOf)
    places.clear();
  stepList.clear();
  int64_t begin = 0;
  for (int64_t kernel = 0; kernel < numKernels; ++kernel) {
    begins[kernel] = begin;
    for (int64_t plan = 0; plan < numPlans; ++plan) {
      stepBegins[kernel * numPlans + plan] = stepList.size();
      begin = joinKernel(queues[kernel].constant, kernel, plan, begin, parts,
                         planParts);
    }
  }
  begins[numKernels] = begin;
  stepBegins[numKernels * numPlans] = stepList.size();

  phases.clear();
  for (int64_t kernel = 0; kernel < numKernels; ++kernel)
    phases.push_back(queues[kernel].phase);
  std::sort(phases.begin(), phases.end());
  phases.erase(std::unique(phases.begin(), phases.end()), phases.end());
  runOrder.clear();
  for (int64_t plan = 0; plan < numPlans; ++plan) {
    planBegins[plan] = runOrder.size();
    orderSteps(queues, numKernels, plan);
  }
  planBegins[numPlans] = runOrder.size();
}

/// Merges a kernel's steps from the parts of a plan, each of which orders them
/// by depth. Numbers the kernel's tasks, starting at `begin`, and returns the
/// number after the last one.
int64_t DepthScheduler::joinKernel(bool constant, int64_t kernel, int64_t plan,
                                   int64_t begin,
                                   const DepthSorter *const *parts,
                                   int64_t planParts) {
  const int64_t firstPart = plan * planParts, endPart = firstPart + planParts;
  if (planParts == 1) {
    const DepthSorter &part = *parts[firstPart];
    for (int64_t s = part.kernelSteps(kernel); s < part.kernelSteps(kernel + 1);
         ++s) {
      const DepthStep &step = part.steps()[s];
      Place &place = addTo(placesOf[firstPart]);
      place.step = static_cast<int64_t>(stepList.size());
      place.begin = begin;
      addStep(stepList, kernel, step.depth, begin, step.count, plan);
      begin += step.count;
    }
    return begin;
  }
  // Each merged step of a part has a place, so the number of places is the
  // index of the part's next step.
  auto next = [&](int64_t part) -> const DepthStep * {
    size_t step = placesOf[part].size();
    return static_cast<int64_t>(step) < parts[part]->kernelSteps(kernel + 1)
               ? &parts[part]->steps()[step]
               : nullptr;
  };
  for (;;) {
    int64_t depth = INT64_MAX;
    for (int64_t part = firstPart; part < endPart; ++part)
      if (const DepthStep *step = next(part))
        depth = std::min(depth, step->depth);
    if (depth == INT64_MAX)
      return begin;
    DepthStep whole{kernel, depth, begin, 0, plan};
    for (int64_t part = firstPart; part < endPart; ++part) {
      const DepthStep *step = next(part);
      if (!step || step->depth != depth)
        continue;
      int64_t place = constant ? begin : begin + whole.count;
      placesOf[part].push_back({static_cast<int64_t>(stepList.size()), place});
      whole.count = place - begin + step->count;
    }
    stepList.push_back(whole);
    begin += whole.count;
  }
}

void DepthScheduler::orderSteps(const TaskQueue *queues, int64_t numKernels,
                                int64_t plan) {
  for (int64_t phase : phases) {
    size_t first = runOrder.size();
    int64_t least = INT64_MAX, most = 0;
    for (int64_t kernel = 0; kernel < numKernels; ++kernel) {
      if (queues[kernel].phase != phase)
        continue;
      const int64_t *own = &stepBegins[kernel * numPlans + plan];
      for (int64_t s = own[0]; s < own[1]; ++s) {
        runOrder.push_back(static_cast<int32_t>(s));
        least = std::min(least, stepList[s].depth);
        most = std::max(most, stepList[s].depth);
      }
    }
    int64_t count = runOrder.size() - first;
    if (count < 2)
      continue;
    int64_t range = most - least + 1;
    auto begin = runOrder.begin() + first;
    if (range > 4 * count + 1024) {
      // Steps are numbered kernel by kernel, so equal depths are in the order
      // of kernels.
      std::sort(begin, runOrder.end(), [&](int32_t a, int32_t b) {
        if (stepList[a].depth != stepList[b].depth)
          return stepList[a].depth < stepList[b].depth;
        return a < b;
      });
      continue;
    }
    int32_t *next = growTo(histogram, range);
    int32_t *copy = growTo(temporary, count);
    std::copy(begin, runOrder.end(), copy);
    std::fill(next, next + range, 0);
    for (int64_t i = 0; i < count; ++i)
      ++next[stepList[copy[i]].depth - least];
    int32_t sum = 0;
    for (int64_t depth = 0; depth < range; ++depth) {
      int32_t steps = next[depth];
      next[depth] = sum;
      sum += steps;
    }
    for (int64_t i = 0; i < count; ++i)
      begin[next[stepList[copy[i]].depth - least]++] = copy[i];
  }
}

std::string batchrt::checkTasks(const TaskQueue *queues, int64_t numKernels) {
  int64_t tasks = 0;
  for (int64_t kernel = 0; kernel < numKernels; ++kernel)
    tasks += queues[kernel].count;
  std::vector<char> seen(tasks, 0);
  for (int64_t kernel = 0; kernel < numKernels; ++kernel) {
    const TaskQueue &queue = queues[kernel];
    if (queue.recordCells < 1)
      return "kernel " + std::to_string(kernel) + " has records without cells";
    for (int64_t i = 0; i < queue.count; ++i) {
      std::string name = "task " + std::to_string(queue.task(i));
      if (queue.depth(i) < 0 || queue.depth(i) >= (1 << 23))
        return name + " has depth " + std::to_string(queue.depth(i));
      if (queue.task(i) >= tasks)
        return name + " is recorded, but there are " + std::to_string(tasks) +
               " tasks";
      if (seen[queue.task(i)]++)
        return name + " is recorded twice";
    }
  }
  return "";
}

std::string batchrt::verifySchedule(const TaskQueue *queues, int64_t numKernels,
                                    const DepthSorter &sorter,
                                    const DepthScheduler &schedule,
                                    const std::vector<int64_t> &operandBegin,
                                    const std::vector<int64_t> &operands) {
  int64_t tasks = static_cast<int64_t>(operandBegin.size()) - 1;
  std::vector<int64_t> stepOf(tasks, -1);
  const std::vector<int32_t> &sequence = schedule.sequence();
  if (sequence.size() != schedule.steps().size())
    return "not every step runs exactly once";
  for (size_t i = 0; i < sequence.size(); ++i) {
    const DepthStep &step = schedule.steps()[sequence[i]];
    if (step.kernel < 0 || step.kernel >= numKernels)
      return "step " + std::to_string(i) + " has no kernel";
    const TaskQueue &queue = queues[step.kernel];
    for (int64_t j = step.begin; j < step.begin + step.count; ++j) {
      int64_t record = sorter.order()[j];
      if (record < 0 || record >= queue.count)
        return "step " + std::to_string(i) + " has a task of another kernel";
      uint32_t task = queue.task(record);
      if (task >= tasks || stepOf[task] != -1)
        return "task " + std::to_string(task) + " runs twice";
      stepOf[task] = static_cast<int64_t>(i);
    }
  }
  for (int64_t task = 0; task < tasks; ++task) {
    if (stepOf[task] == -1)
      return "task " + std::to_string(task) + " never runs";
    for (int64_t o = operandBegin[task]; o < operandBegin[task + 1]; ++o)
      if (stepOf[operands[o]] >= stepOf[task])
        return "task " + std::to_string(task) + " runs before its operand " +
               std::to_string(operands[o]);
  }
  return "";
}
