//===- layout.cpp - Layouts of cells, and times of PQ trees ---------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// layout-benchmark [FILE.json]: prints tables, and stores them as JSON.
//
//===----------------------------------------------------------------------===//

#include "Cells.h"

#include "Batch/Layout/PQTree.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <random>

using namespace batchrt;

namespace {
/// Returns the milliseconds of one call.
template <class Body>
double timed(Body &&body) {
  auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

template <class Body>
double median(int runs, Body &&body) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i)
    times.push_back(timed(body));
  std::sort(times.begin(), times.end());
  return times[runs / 2];
}

struct Counts {
  size_t batches;
  int64_t kernels;
  int64_t bytes;
};

Counts countsOf(const cells::Cell &cell, const OperatorBatches &batches,
                const Layout &layout) {
  return {batches.size(), cells::gatherCopies(cell, batches, layout),
          cells::memoryBytes(cell, layout)};
}

std::string json(const Counts &counts) {
  return "{\"batches\": " + std::to_string(counts.batches) +
         ", \"gather_copies\": " + std::to_string(counts.kernels) +
         ", \"bytes\": " + std::to_string(counts.bytes) + "}";
}

/// Measures the cells of tables 2 and 5 of ED-Batch.
std::string measureCells() {
  std::printf("%-18s %23s %23s %23s %23s %12s %16s\n", "cell",
              "variables in order", "search of the paper", "ours",
              "shared reads too", "paper", "ms (paper)");
  std::string rows;
  for (const cells::Cell &cell : cells::all()) {
    Batching found, shared, grid;
    double ms = median(101, [&] { found = findBatching(cell.block); });
    BatchingOptions options;
    options.sharedReads = true;
    double sharedMs =
        median(101, [&] { shared = findBatching(cell.block, options); });
    options = BatchingOptions();
    options.subsets = false;
    grid = findBatching(cell.block, options);
    std::vector<int32_t> order(cell.block.variables.size());
    std::iota(order.begin(), order.end(), 0);
    Counts named =
        countsOf(cell, found.batches,
                 layoutInOrder(layoutProblem(cell.block, found.batches),
                               std::move(order)));
    Counts all = countsOf(cell, grid.batches, grid.layout);
    Counts ours = countsOf(cell, found.batches, found.layout);
    Counts sharing = countsOf(cell, shared.batches, shared.layout);
    auto print = [](const Counts &counts) {
      std::printf(" %7zu %4lld %8.2f kB", counts.batches,
                  static_cast<long long>(counts.kernels),
                  counts.bytes / 1024.0);
    };
    std::printf("%-18s", cell.name.c_str());
    print(named);
    print(all);
    print(ours);
    print(sharing);
    std::printf(" %4lld %4lld kB %8.3f (%.2f)  %lld states, %lld layouts\n",
                static_cast<long long>(cell.paperKernels),
                static_cast<long long>(cell.paperBytes / 1024), ms,
                cell.paperMs, static_cast<long long>(found.states),
                static_cast<long long>(found.layouts));
    if (!rows.empty())
      rows += ",\n";
    rows += "  {\"cell\": \"" + cell.name + "\", \"in_order\": " + json(named) +
            ", \"paper_search\": " + json(all) + ", \"ours\": " + json(ours) +
            ", \"shared_reads\": " + json(sharing) +
            ",\n   \"paper\": {\"gather_copies\": " +
            std::to_string(cell.paperKernels) +
            ", \"bytes\": " + std::to_string(cell.paperBytes) +
            ", \"ms\": " + std::to_string(cell.paperMs) +
            "}, \"ms\": " + std::to_string(ms) +
            ", \"shared_reads_ms\": " + std::to_string(sharedMs) +
            ", \"states\": " + std::to_string(found.states) +
            ", \"layouts\": " + std::to_string(found.layouts) + "}";
  }
  return rows;
}

/// Measures PQ trees for sets of ten elements that are adjacent in a hidden
/// order. The positions of the sets are random.
std::string measureTrees() {
  std::printf("\n%10s %10s %10s %10s %14s\n", "elements", "entries", "build ms",
              "reduce ms", "visits/entry");
  std::string rows;
  for (int32_t n = 1000; n <= 1000000; n *= 10) {
    std::mt19937 random(n);
    std::vector<int32_t> hidden(n);
    std::iota(hidden.begin(), hidden.end(), 0);
    std::shuffle(hidden.begin(), hidden.end(), random);
    std::vector<std::vector<int32_t>> sets;
    for (int32_t i = 0; i < n / 10; ++i) {
      int32_t begin = random() % (n - 9);
      sets.emplace_back(hidden.begin() + begin, hidden.begin() + begin + 10);
    }
    std::vector<double> builds, reductions;
    int64_t visited = 0;
    for (int run = 0; run < 5; ++run) {
      PQTree tree(0);
      builds.push_back(timed([&] { tree = PQTree(n); }));
      bool fits = true;
      reductions.push_back(timed([&] {
        for (const std::vector<int32_t> &set : sets)
          fits = tree.reduce(set) && fits;
      }));
      if (!fits || !tree.check().empty()) {
        std::fprintf(stderr, "error: a set of a hidden order does not fit\n");
        std::exit(1);
      }
      visited = tree.visited();
    }
    std::sort(builds.begin(), builds.end());
    std::sort(reductions.begin(), reductions.end());
    double visits = static_cast<double>(visited) / n;
    std::printf("%10d %10d %10.2f %10.2f %14.2f\n", n, n, builds[2],
                reductions[2], visits);
    if (!rows.empty())
      rows += ",\n";
    rows += "  {\"elements\": " + std::to_string(n) +
            ", \"sets\": " + std::to_string(n / 10) +
            ", \"entries\": " + std::to_string(n) +
            ", \"build_ms\": " + std::to_string(builds[2]) +
            ", \"reduce_ms\": " + std::to_string(reductions[2]) +
            ", \"visits_per_entry\": " + std::to_string(visits) + "}";
  }
  return rows;
}
/// Measures layouts of batches of ten operators with three operands each. Each
/// operand of a batch uses ten variables that are adjacent in a hidden order,
/// at a random position. In some batches of the last problem, two variables of
/// the first operand are exchanged.
std::string measureLayouts() {
  std::printf("\n%10s %10s %10s %10s\n", "variables", "batches", "copies",
              "ms");
  std::string rows;
  auto measure = [&](int32_t n, int spoilt) {
    std::mt19937 random(n);
    std::vector<int32_t> hidden(n), operators(10);
    std::iota(hidden.begin(), hidden.end(), 0);
    std::iota(operators.begin(), operators.end(), 0);
    std::shuffle(hidden.begin(), hidden.end(), random);
    LayoutProblem problem;
    problem.variables.assign(n, {8, 0});
    for (int32_t b = 0; b < n / 30; ++b) {
      problem.batches.emplace_back();
      auto &accesses = problem.batches.back().accesses;
      std::shuffle(operators.begin(), operators.end(), random);
      for (int a = 0; a < 3; ++a) {
        int32_t begin = random() % (n - 9);
        accesses.emplace_back();
        for (int32_t o : operators)
          accesses.back().push_back(hidden[begin + o]);
      }
      if (b < spoilt)
        std::swap(accesses[0][0], accesses[0][1]);
    }
    Layout layout;
    double ms = median(5, [&] { layout = findLayout(problem); });
    std::printf("%10d %10d %10zu %10.2f\n", n, n / 30, layout.copies.size(),
                ms);
    if (!rows.empty())
      rows += ",\n";
    rows += "  {\"variables\": " + std::to_string(n) +
            ", \"batches\": " + std::to_string(n / 30) +
            ", \"copies\": " + std::to_string(layout.copies.size()) +
            ", \"ms\": " + std::to_string(ms) + "}";
  };
  for (int32_t n = 100; n <= 100000; n *= 10)
    measure(n, 0);
  measure(1000, 5);
  return rows;
}
} // namespace

int main(int argc, char **argv) {
  std::string text = "{\n \"benchmark\": \"layout\",\n \"cells\": [\n";
  text += measureCells();
  text += "\n ],\n \"pq_tree\": [\n";
  text += measureTrees();
  text += "\n ],\n \"layouts\": [\n";
  text += measureLayouts();
  text += "\n ]\n}\n";
  if (argc < 2)
    return 0;
  std::FILE *file = std::fopen(argv[1], "w");
  if (!file || std::fputs(text.c_str(), file) < 0 || std::fclose(file) != 0) {
    std::fprintf(stderr, "error: cannot write %s\n", argv[1]);
    return 1;
  }
  return 0;
}
