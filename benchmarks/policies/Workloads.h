//===- Workloads.h - Task graphs of dynamic models --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Task graphs of the eight workloads of ED-Batch (and of the tagger with
// characters and a LatticeLSTM with two kinds of characters), without their
// tensors: one task per cell, one per output, one that sums the outputs of an
// instance. Structures are made from a seed, or read from files.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_BENCHMARKS_POLICIES_WORKLOADS_H
#define BATCH_BENCHMARKS_POLICIES_WORKLOADS_H

#include "batch-runtime/Schedule/TaskGraph.h"

#include <array>
#include <random>

namespace workloads {

/// A number below `bound`, the same on every platform.
int32_t below(std::mt19937_64 &random, int32_t bound);

/// A binary tree in post-order: children of an inner node, -1 for a leaf.
using Tree = std::vector<std::array<int32_t, 2>>;
/// Words, each of which begins and ends at a character, over a chain of them.
struct Lattice {
  int32_t characters = 0;
  std::vector<std::array<int32_t, 2>> words;
};

/// Real structures; an empty list is filled in from a seed.
struct Structures {
  std::vector<int32_t> lengths;                    ///< of sentences
  std::vector<std::array<int32_t, 2>> lengthPairs; ///< source, target
  std::vector<Tree> trees;
  std::vector<Lattice> lattices;
};

Tree randomTree(std::mt19937_64 &random, int32_t leaves);
Lattice randomLattice(std::mt19937_64 &random, int32_t characters);
/// Random structures where there are none, `count` of each kind.
void fillIn(Structures &structures, uint64_t seed, int32_t count);

struct Workload {
  const char *name;
  /// chains, trees, lattices, 2cells (lattices with two kinds of characters) or
  /// 2type: what is expected of policies differs.
  const char *kind;
  std::vector<std::string> types;
  /// By type, as batch-assign-phases has it: a type that reads what a recursion
  /// of other types makes is of a later phase than they are.
  std::vector<int32_t> phases;
  /// Appends the tasks of instance `index`.
  void (*add)(batchrt::TaskGraph &graph, const Structures &structures,
              size_t index, std::mt19937_64 &random);
};
const std::vector<Workload> &all();

/// The graph of a mini-batch: instances first, first+1, ..., as many as
/// `batch`, from the begin again after the last.
batchrt::TaskGraph make(const Workload &workload, const Structures &structures,
                        size_t first, size_t batch, uint64_t seed);

/// A graph of tasks with random types and operands.
batchrt::TaskGraph randomGraph(std::mt19937_64 &random, int32_t tasks,
                               int32_t types, int32_t most);

} // namespace workloads

#endif // BATCH_BENCHMARKS_POLICIES_WORKLOADS_H
