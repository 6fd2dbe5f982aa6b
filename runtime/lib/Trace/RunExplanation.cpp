//===- RunExplanation.cpp - Explanation of a run --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/RunExplanation.h"
#include "batch-runtime/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace batchrt;

/// Returns a text such as "model.mlir:7, 9-12", in which consecutive lines are
/// a range.
static std::string
describePlaces(const std::map<std::string, std::vector<int64_t>> &lines) {
  std::string text;
  for (const auto &[file, numbers] : lines) {
    text += concat(text.empty() ? "" : ", ", file, ":");
    for (size_t i = 0; i < numbers.size();) {
      size_t end = i + 1;
      while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
        ++end;
      text += concat(i == 0 ? "" : ", ", numbers[i]);
      if (end > i + 1)
        text += concat("-", numbers[end - 1]);
      i = end;
    }
  }
  return text;
}

static std::string percent(double part, double whole) {
  return concat(whole > 0 ? std::lround(100 * part / whole) : 0, " %");
}

/// Returns a number with its noun, as in "1 batch" and "2 batches".
static std::string count(int64_t number, const char *one, const char *more) {
  return concat(number, " ", number == 1 ? one : more);
}

/// Returns a number with one digit after the decimal point.
static std::string decimal(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", number);
  return text;
}

RunExplanation::RunExplanation(const Descriptor &descriptor, int64_t instances,
                               int64_t workers,
                               const std::vector<StepTime> &steps,
                               const RunCounters &counters,
                               const std::vector<TaskPicture::Task> &tasks)
    : descriptor(descriptor), instances(instances), workers(workers),
      counters(counters) {
  collect(steps);
  collectTasks(tasks);
  findHints();
}

const char *RunExplanation::strategy() const {
  if (descriptor.lockstep)
    return descriptor.lockstep->frames ? "mask" : "lockstep";
  if (descriptor.replicate)
    return "replicate";
  return descriptor.waits ? "lazy" : "linearize";
}

const char *RunExplanation::unit() const {
  return descriptor.lockstep    ? "lanes"
         : descriptor.replicate ? "instances"
                                : "tasks";
}

void RunExplanation::collect(const std::vector<StepTime> &steps) {
  std::map<int64_t, Block> blocks;
  Block *last = nullptr;
  for (const StepTime &step : steps) {
    // All workers run a shared step, but only the first worker's is counted.
    if (step.isShared && step.worker > 0)
      continue;
    const double time = step.end - step.begin;
    allTime += time;
    if (step.kernel < 0) {
      waitTime += time;
      continue;
    }
    if (step.count == 0 && last && descriptor.replicate) {
      // The step continues a kernel after a barrier within it.
      last->time += time;
      batchList.back().end = step.end;
      continue;
    }
    Block &block = blocks[step.kernel];
    if (block.batches == 0) {
      const int64_t kernel =
          descriptor.lockstep ? descriptor.lockstep->blocks[step.kernel].kernel
                              : step.kernel;
      block.number = step.kernel;
      block.name = descriptor.lockstep
                       ? descriptor.lockstep->blocks[step.kernel].name
                       : descriptor.kernels[kernel].name;
      if (kernel >= 0)
        block.places = describePlaces(descriptor.kernels[kernel].lines);
      block.fitsCapacity = true;
    }
    ++block.batches;
    block.tasks += step.count;
    block.capacity += step.capacity;
    block.fitsCapacity &= step.count <= step.capacity;
    block.time += time;
    ++block.sizes[step.count];
    batchList.push_back(step);
    last = &block;
  }
  for (auto &[number, block] : blocks)
    blockList.push_back(std::move(block));
}

/// Collects constant tasks, and up to 4,000 others by groups, in the order of
/// instances. Tasks connected by reads are in one group, which is kept or
/// dropped as a whole. The tasks of a group belong to one instance, or to
/// several that share nodes.
void RunExplanation::collectTasks(const std::vector<TaskPicture::Task> &tasks) {
  constexpr int64_t most = 4000;
  const auto size = static_cast<int64_t>(tasks.size());
  auto isConstant = [&](int64_t t) {
    return descriptor.kernels[tasks[t].kernel].constant;
  };
  // The first task, in the order of instances, represents its group.
  std::vector<int64_t> leader(size);
  for (int64_t t = 0; t < size; ++t)
    leader[t] = t;
  auto find = [&](int64_t t) {
    while (leader[t] != t)
      t = leader[t] = leader[leader[t]];
    return t;
  };
  for (int64_t t = 0; t < size; ++t)
    for (int64_t read : tasks[t].reads)
      if (!isConstant(t) && !isConstant(read)) {
        int64_t a = find(t), b = find(read);
        if (tasks[b].recorded < tasks[a].recorded)
          std::swap(a, b);
        leader[b] = a;
      }
  std::map<int64_t, int64_t> sizes; // keyed by `recorded` of each group's
                                    // leader
  for (int64_t t = 0; t < size; ++t)
    if (!isConstant(t))
      ++sizes[tasks[find(t)].recorded];
  std::map<int64_t, int64_t> numbers;
  int64_t kept = 0;
  for (const auto &[recorded, count] : sizes) {
    kept += count;
    if (kept > most)
      break;
    numbers.emplace(recorded, static_cast<int64_t>(numbers.size()));
  }
  for (int64_t t = 0; t < size; ++t) {
    const auto number =
        isConstant(t) ? numbers.end() : numbers.find(tasks[find(t)].recorded);
    if (isConstant(t) || number != numbers.end())
      taskList.push_back({isConstant(t) ? -1 : number->second, t, tasks[t]});
  }
  std::stable_sort(
      taskList.begin(), taskList.end(),
      [](const Task &a, const Task &b) { return a.task.batch < b.task.batch; });
  std::vector<int64_t> places(size, -1);
  for (size_t i = 0; i < taskList.size(); ++i)
    places[taskList[i].number] = static_cast<int64_t>(i);
  for (Task &task : taskList)
    for (int64_t &read : task.task.reads)
      read = places[read];
}

std::string RunExplanation::describe(const Block &block) const {
  const int64_t least = block.sizes.begin()->first;
  const int64_t most = block.sizes.rbegin()->first;
  std::string text = concat("  ", block.name);
  if (!block.places.empty())
    text += concat(", ", block.places);
  text += concat(": ", count(block.batches, "batch", "batches"), " of ", least);
  if (most > least)
    text += concat(" to ", most);
  const std::string units = unit();
  text += " " + (most == 1 ? units.substr(0, units.size() - 1) : units);
  if (block.batches > 1)
    text += concat(", ", block.tasks, " in total, ",
                   decimal(double(block.tasks) / double(block.batches)),
                   " on average");
  return text + concat("; ", percent(block.time, allTime), " of the time\n");
}

/// Describes how control flow ran, depending on the strategy.
std::string RunExplanation::describeDepths() const {
  const auto batches = static_cast<int64_t>(batchList.size());
  if (descriptor.lockstep)
    return concat("  ", count(batches, "step", "steps"),
                  "; each runs one block, for the lanes that wait for it\n");
  if (descriptor.replicate) {
    const bool anyShared =
        std::any_of(batchList.begin(), batchList.end(),
                    [](const StepTime &step) { return step.isShared; });
    const bool anyByOneWorker =
        std::any_of(batchList.begin(), batchList.end(),
                    [](const StepTime &step) { return !step.isShared; });
    std::string text;
    if (anyShared && descriptor.replicate->capacity > 1 && instances > 1)
      text += concat("  all workers ran instances together, up to ",
                     std::min(instances, descriptor.replicate->capacity),
                     " at once\n");
    else if (anyShared)
      text += "  all workers ran each instance together, one after another\n";
    if (anyByOneWorker)
      text += "  each worker ran its own instances, one after another\n";
    return text;
  }
  std::set<std::pair<int64_t, int64_t>> depths;
  for (const StepTime &step : batchList)
    depths.insert({step.flush, step.depth});
  const auto levels = static_cast<int64_t>(depths.size());
  if (!descriptor.waits)
    return concat("  ", count(counters.tasks, "task", "tasks"), " in ",
                  count(batches, "batch", "batches"), " at ",
                  count(levels, "depth", "depths"),
                  "; all were recorded before any ran\n");
  return concat("  ", count(counters.tasks, "task", "tasks"), " in ",
                count(batches, "batch", "batches"), " over ",
                count(counters.flushes, "flush", "flushes"),
                "; instances waited ", count(counters.waits, "time", "times"),
                " in total\n");
}

/// Describes the utilization that masked execution would have. It would run
/// each batch on all tasks for which the batch has capacity.
std::string RunExplanation::describeUtilization() const {
  int64_t tasks = 0, capacity = 0;
  for (const Block &block : blockList)
    if (block.fitsCapacity) {
      tasks += block.tasks;
      capacity += block.capacity;
    }
  if (capacity <= tasks)
    return "";
  return concat("  utilization with masks: ", percent(tasks, capacity),
                ": if each of these batches ran on all ", unit(), ", ", tasks,
                " of ", capacity, " results would be useful\n");
}

void RunExplanation::findHints() {
  const bool isSingle =
      std::all_of(batchList.begin(), batchList.end(),
                  [](const StepTime &step) { return step.count <= 1; });
  if (instances == 1 && isSingle) {
    hintList.push_back("a mini-batch of one instance has nothing to batch");
    return;
  }
  if (batchList.empty()) {
    hintList.push_back("no batches ran: control flow computes all tensors, one "
                       "instance at a time");
    return;
  }
  if (descriptor.lockstep && batchList.front().capacity == 1 && workers == 1)
    hintList.push_back("with one lane, instances run one after another");
  const auto slowest = std::max_element(
      blockList.begin(), blockList.end(),
      [](const Block &a, const Block &b) { return a.time < b.time; });
  const Block &block = *slowest;
  // With fewer batches, the times are only noise.
  constexpr int64_t enough = 8;
  if (block.batches < enough)
    return;
  const auto single = block.sizes.find(1);
  const bool canBatch = block.capacity > block.batches;
  if (canBatch && single != block.sizes.end() &&
      2 * single->second > block.batches)
    hintList.push_back(concat(
        block.name, " takes the most time, but ", single->second, " of its ",
        block.batches, " batches contain only one of the ", unit(),
        "; the others have finished or are elsewhere in the program"));
  else if (block.fitsCapacity && 4 * block.tasks < block.capacity)
    hintList.push_back(concat(
        block.name, " takes the most time, but fewer than a quarter of the ",
        unit(), " take part in its batches"));
  const double perBatch = block.time / double(block.batches);
  if (perBatch < 2)
    hintList.push_back(concat("a batch of ", block.name, " takes about ",
                              decimal(perBatch),
                              " us; the overhead per batch is about as large"));
  if (descriptor.lockstep && block.fitsCapacity &&
      2 * block.tasks < block.capacity &&
      batchList.front().capacity * workers >= instances)
    hintList.push_back("every instance has its own lane; with fewer lanes, a "
                       "lane whose instance has finished takes the next one");
}

std::string RunExplanation::text() const {
  std::string text =
      concat("how it ran: ", count(instances, "instance", "instances"));
  if (descriptor.lockstep && !batchList.empty()) {
    std::map<int64_t, int64_t> lanes;
    for (const StepTime &step : batchList)
      lanes[step.worker] = step.capacity;
    int64_t sum = 0;
    for (const auto &[worker, own] : lanes)
      sum += own;
    text += concat(" on ", count(sum, "lane", "lanes"), " of ",
                   count(workers, "worker", "workers"));
  } else {
    text += concat(" on ", count(workers, "worker", "workers"));
  }
  text += concat(", strategy '", strategy(), "'\n", describeDepths());
  for (const Block &block : blockList)
    text += describe(block);
  if (waitTime > 0)
    text +=
        concat("  at barriers: ", percent(waitTime, allTime), " of the time\n");
  text += describeUtilization();
  for (const std::string &hint : hintList)
    text += concat("  hint: ", hint, "\n");
  return text;
}

std::string RunExplanation::json() const {
  using nlohmann::ordered_json;
  ordered_json blocks = ordered_json::array();
  for (const Block &block : blockList) {
    ordered_json sizes = ordered_json::array();
    for (const auto &[size, number] : block.sizes)
      sizes.push_back({size, number});
    blocks.push_back(
        {{"number", block.number},
         {"name", block.name},
         {"places", block.places},
         {"batches", block.batches},
         {"tasks", block.tasks},
         {"capacity", block.fitsCapacity ? ordered_json(block.capacity)
                                         : ordered_json(nullptr)},
         {"sizes", sizes},
         {"time_us", block.time}});
  }
  ordered_json batches = ordered_json::object();
  auto column = [&](const char *name, auto get) {
    ordered_json values = ordered_json::array();
    for (const StepTime &step : batchList)
      values.push_back(get(step));
    batches[name] = std::move(values);
  };
  column("block", [](const StepTime &step) { return step.kernel; });
  column("tasks", [](const StepTime &step) { return step.count; });
  column("capacity", [](const StepTime &step) { return step.capacity; });
  column("depth", [](const StepTime &step) { return step.depth; });
  column("flush", [](const StepTime &step) { return step.flush; });
  column("worker", [](const StepTime &step) { return step.worker; });
  column("begin_us", [](const StepTime &step) { return step.begin; });
  column("time_us", [](const StepTime &step) { return step.end - step.begin; });
  ordered_json tasks = ordered_json::object();
  auto taskColumn = [&](const char *name, auto get) {
    ordered_json values = ordered_json::array();
    for (const Task &task : taskList)
      values.push_back(get(task));
    tasks[name] = std::move(values);
  };
  taskColumn("group", [](const Task &task) { return task.group; });
  taskColumn("block", [](const Task &task) { return task.task.kernel; });
  taskColumn("batch", [](const Task &task) { return task.task.batch; });
  taskColumn("depth", [](const Task &task) { return task.task.depth; });
  taskColumn("flush", [](const Task &task) { return task.task.flush; });
  taskColumn("waits", [](const Task &task) { return task.task.isRead; });
  taskColumn("reads", [](const Task &task) { return task.task.reads; });
  return ordered_json{{"strategy", strategy()},
                      {"instances", instances},
                      {"workers", workers},
                      {"unit", unit()},
                      {"flushes", counters.flushes},
                      {"waits", counters.waits},
                      {"time_us", allTime},
                      {"barriers_us", waitTime},
                      {"blocks", blocks},
                      {"batches", batches},
                      {"tasks", tasks},
                      {"hints", hintList},
                      {"text", text()}}
      .dump();
}
