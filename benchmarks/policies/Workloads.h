//===- Workloads.h - Task graphs of dynamic models --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Task graphs without tensors for the eight workloads of ED-Batch, a tagger
// with characters, and a LatticeLSTM with two kinds of characters. There is one
// task per cell, one task per output, and one task that sums the outputs of an
// instance. Structures are generated from a seed or read from files.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_BENCHMARKS_POLICIES_WORKLOADS_H
#define BATCH_BENCHMARKS_POLICIES_WORKLOADS_H

#include "batch-runtime/Schedule/TaskGraph.h"

#include <array>
#include <random>

namespace workloads {

/// Returns a random number below `bound`, the same one on every platform.
int32_t below(std::mt19937_64 &random, int32_t bound);

/// A binary tree in post-order: the children of each inner node, and -1 for
/// each leaf.
using Tree = std::vector<std::array<int32_t, 2>>;
/// A chain of characters with words. A word is given by its first and its last
/// character.
struct Lattice {
  int32_t characters = 0;
  std::vector<std::array<int32_t, 2>> words;
};

/// Structures read from real data. fillIn() fills the empty lists from a seed.
struct Structures {
  /// Lengths of sentences.
  std::vector<int32_t> lengths;
  /// Lengths of pairs of a source and a target.
  std::vector<std::array<int32_t, 2>> lengthPairs;
  std::vector<Tree> trees;
  std::vector<Lattice> lattices;
};

Tree randomTree(std::mt19937_64 &random, int32_t leaves);
Lattice randomLattice(std::mt19937_64 &random, int32_t characters);
/// Appends `count` random structures to each list that is empty.
void fillIn(Structures &structures, uint64_t seed, int32_t count);

struct Workload {
  const char *name;
  /// One of chains, trees, lattices, 2cells (lattices with two kinds of
  /// characters) and 2type. The expected results of policies depend on the
  /// kind.
  const char *kind;
  std::vector<std::string> types;
  /// Phases by type, as batch-assign-phases assigns them. A type that reads the
  /// results of a recursion over other types has a later phase.
  std::vector<int32_t> phases;
  /// Appends the tasks of instance `index`.
  void (*add)(batchrt::TaskGraph &graph, const Structures &structures,
              size_t index, std::mt19937_64 &random);
};
const std::vector<Workload> &all();

/// Makes the graph of a mini-batch of `batch` instances, beginning with
/// instance `first`. Structures repeat after the last one.
batchrt::TaskGraph make(const Workload &workload, const Structures &structures,
                        size_t first, size_t batch, uint64_t seed);

/// Makes a graph of tasks with random types and operands.
batchrt::TaskGraph randomGraph(std::mt19937_64 &random, int32_t tasks,
                               int32_t types, int32_t most);

} // namespace workloads

#endif // BATCH_BENCHMARKS_POLICIES_WORKLOADS_H
