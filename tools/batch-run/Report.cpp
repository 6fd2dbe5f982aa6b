//===- Report.cpp - Reports of batch-run ----------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Report.h"
#include "batch-runtime/Error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace batchrun;
using batchrt::Output;

double batchrun::median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

namespace {
double least(const std::vector<double> &values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

/// Returns the times of the phases, in the order in which they are printed.
std::vector<std::pair<const char *, std::vector<double>>>
parts(const Report &report) {
  std::vector<std::pair<const char *, std::vector<double>>> result{
      {"inspect", {}}, {"schedule", {}}, {"copy", {}},
      {"execute", {}}, {"total", {}},    {"kernels", report.kernels}};
  for (const PartTimes &times : report.times) {
    result[0].second.push_back(times.inspect);
    result[1].second.push_back(times.schedule);
    result[2].second.push_back(times.copy);
    result[3].second.push_back(times.execute);
    result[4].second.push_back(times.total());
  }
  return result;
}

/// Returns the memory use in bytes, by purpose.
std::vector<std::pair<const char *, size_t>> memory(const Report &report) {
  const batchrt::MemoryUse &use = report.memory;
  return {{"inputs", report.inputBytes},
          {"parameters", report.parameterBytes},
          {"results", use.results},
          {"records", use.records},
          {"schedule", use.schedule},
          {"scratch", use.scratch},
          {"total", report.inputBytes + report.parameterBytes + use.total()},
          {"live_results", static_cast<size_t>(report.liveResults)},
          {"device", use.device}};
}

std::vector<double> collectTimes(const Report &report) {
  std::vector<double> result;
  for (const PartTimes &times : report.times)
    if (times.collect > 0)
      result.push_back(times.collect);
  return result;
}
} // namespace

void batchrun::printText(const Options &options, const Report &report,
                         const std::vector<Output> &outputs) {
  const batchrt::RunCounters &counters = report.counters;
  if (options.onlyUnbatched)
    std::printf("%lld instances, unbatched\n",
                static_cast<long long>(report.instances));
  else
    std::printf("%lld instances in %lld mini-batch(es): %lld tasks in %lld "
                "batches\n",
                static_cast<long long>(report.instances),
                static_cast<long long>(report.miniBatches),
                static_cast<long long>(counters.tasks),
                static_cast<long long>(counters.batches));
  for (const Output &output : outputs)
    std::printf("  %s %s %s%s\n", output.name.c_str(),
                batchrt::typeName(output.type),
                batchrt::shapeName(output.shape()).c_str(),
                output.ragged ? " ragged" : "");
  if (options.checkUnbatched)
    std::printf("unbatched: %s, largest relative error %g\n",
                report.difference ? "DIFFERS" : "the same",
                report.largestError);
  if (report.expectEntries >= 0)
    std::printf("expected: %lld entries, %s, largest relative error %g\n",
                static_cast<long long>(report.expectEntries),
                report.unexpected ? "DIFFERENT" : "all within tolerance",
                report.expectError);
  if (options.counters) {
    auto line = [](const char *name, int64_t value) {
      std::printf("%-14s %lld\n", name, static_cast<long long>(value));
    };
    line("instances", report.instances);
    line("nodes", counters.nodes);
    line("inspectors", counters.inspectors);
    line("plans", counters.plans);
    line("flushes", counters.flushes);
    line("waits", counters.waits);
    line("fibers_most", counters.fibersMost);
    line("tasks", counters.tasks);
    line("batches", counters.batches);
    line("shared_batches", counters.shared);
    line("launches", counters.launches);
    line("barriers", counters.barriers);
    line("copies", counters.copies);
    line("slots", counters.slots);
    line("copied_bytes", counters.copiedBytes);
    line("gathered_rows", report.gatheredRows);
    line("gathered_runs", report.gatheredRuns);
    line("unknown_states", counters.unknownStates);
    for (auto &[name, tasks] : report.kernelTasks)
      std::printf("  %s: %lld tasks in %lld batches\n", name.c_str(),
                  static_cast<long long>(tasks),
                  static_cast<long long>(report.kernelBatches.at(name)));
    if (!report.blocks.empty()) {
      line("lanes", report.lanes);
      line("stack_bytes", report.stackBytes);
      line("top_bytes", report.topBytes);
      line("longest_wait", report.longestWait);
    }
    for (const Report::Block &block : report.blocks)
      std::printf("  block %s: %lld runs, %lld lanes, %.1f %% of all\n",
                  block.name.c_str(), static_cast<long long>(block.runs),
                  static_cast<long long>(block.laneRuns),
                  block.laneCapacity
                      ? 100.0 * static_cast<double>(block.laneRuns) /
                            static_cast<double>(block.laneCapacity)
                      : 0.0);
    std::printf("bytes\n");
    for (auto &[name, bytes] : memory(report))
      std::printf("  %-12s %zu\n", name, bytes);
  }
  if (options.benchRuns) {
    std::printf("%-10s %12s %12s   (microseconds, %lld runs)\n", "part",
                "median", "min", static_cast<long long>(options.benchRuns));
    if (!options.onlyUnbatched)
      for (auto &[name, values] : parts(report))
        std::printf("%-10s %12.2f %12.2f\n", name, median(values),
                    least(values));
    if (!report.unbatched.empty())
      std::printf("%-10s %12.2f %12.2f\n", "unbatched",
                  median(report.unbatched), least(report.unbatched));
  }
}

void batchrun::printJson(const Options &options, const Report &report,
                         const std::vector<Output> &outputs) {
  using json = nlohmann::ordered_json;
  // JSON has no infinity: print a number that scripts can compare instead.
  auto finite = [](double value) {
    return std::isfinite(value) ? value : 1e308;
  };
  const batchrt::RunCounters &counters = report.counters;
  json object = {{"model", options.model},
                 {"instances", report.instances},
                 {"mini_batches", report.miniBatches},
                 {"nodes", counters.nodes},
                 {"inspectors", counters.inspectors},
                 {"plans", counters.plans},
                 {"flushes", counters.flushes},
                 {"waits", counters.waits},
                 {"fibers_most", counters.fibersMost},
                 {"tasks", counters.tasks},
                 {"batches", counters.batches},
                 {"shared_batches", counters.shared},
                 {"launches", counters.launches},
                 {"barriers", counters.barriers},
                 {"copies", counters.copies},
                 {"slots", counters.slots},
                 {"copied_bytes", counters.copiedBytes},
                 {"gathered_rows", report.gatheredRows},
                 {"gathered_runs", report.gatheredRuns},
                 {"unknown_states", counters.unknownStates},
                 {"threads", options.session.threads}};
  if (options.checkUnbatched) {
    object["max_relative_error"] = finite(report.largestError);
    object["unbatched_equal"] = !report.difference;
  } else {
    object["max_relative_error"] = nullptr;
  }
  if (report.difference)
    object["difference"] = *report.difference;
  if (report.expectEntries >= 0) {
    object["expected_entries"] = report.expectEntries;
    object["expected_equal"] = !report.unexpected;
    object["expected_max_relative_error"] = finite(report.expectError);
  }
  json medians = json::object(), minima = json::object();
  for (auto &[name, values] : parts(report)) {
    medians[name] = median(values);
    minima[name] = least(values);
  }
  object["time_us"] = medians;
  object["time_us_min"] = minima;
  object["runs"] = report.times.size();
  std::vector<double> collect = collectTimes(report);
  if (!collect.empty())
    object["collect_us"] = median(collect);
  if (!report.unbatched.empty()) {
    object["unbatched_us"] = median(report.unbatched);
    object["unbatched_us_min"] = least(report.unbatched);
  }
  json kernels = json::array();
  for (auto &[name, tasks] : report.kernelTasks)
    kernels.push_back({{"name", name},
                       {"tasks", tasks},
                       {"batches", report.kernelBatches.at(name)}});
  object["kernels"] = kernels;
  if (!report.blocks.empty()) {
    object["lanes"] = report.lanes;
    object["stack_bytes"] = report.stackBytes;
    object["top_bytes"] = report.topBytes;
    object["longest_wait"] = report.longestWait;
    json blocks = json::array();
    for (const Report::Block &block : report.blocks)
      blocks.push_back({{"name", block.name},
                        {"runs", block.runs},
                        {"lane_runs", block.laneRuns},
                        {"lane_capacity", block.laneCapacity}});
    object["blocks"] = blocks;
  }
  json shapes = json::object();
  for (const Output &output : outputs)
    shapes[output.name] = {{"dtype", batchrt::fileName(output.type)},
                           {"shape", output.shape()}};
  object["outputs"] = shapes;
  json bytes = json::object();
  for (auto &[name, count] : memory(report))
    bytes[name] = count;
  object["memory_bytes"] = bytes;
  std::printf("%s\n", object.dump(2).c_str());
}
