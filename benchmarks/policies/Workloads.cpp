//===- Workloads.cpp - Task graphs of dynamic models ----------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include <algorithm>

using namespace batchrt;
using namespace workloads;

int32_t workloads::below(std::mt19937_64 &random, int32_t bound) {
  return static_cast<int32_t>(random() % static_cast<uint64_t>(bound));
}

/// Splits a range of leaves at random positions until single leaves remain.
Tree workloads::randomTree(std::mt19937_64 &random, int32_t leaves) {
  struct Work {
    int32_t leaves;
    bool split;
  };
  Tree tree;
  std::vector<int32_t> done;
  std::vector<Work> work{{leaves, false}};
  while (!work.empty()) {
    Work now = work.back();
    work.pop_back();
    if (now.split) {
      int32_t right = done.back();
      done.pop_back();
      tree.push_back({done.back(), right});
      done.back() = static_cast<int32_t>(tree.size()) - 1;
    } else if (now.leaves == 1) {
      tree.push_back({-1, -1});
      done.push_back(static_cast<int32_t>(tree.size()) - 1);
    } else {
      int32_t left = 1 + below(random, now.leaves - 1);
      work.push_back({now.leaves, true});
      work.push_back({now.leaves - left, false});
      work.push_back({left, false});
    }
  }
  return tree;
}

/// Makes as many words as a lexicon would find in text: 0.4 words per
/// character. About 85 % of the words have two characters.
Lattice workloads::randomLattice(std::mt19937_64 &random, int32_t characters) {
  Lattice lattice{characters, {}};
  for (int32_t begin = 0; begin + 1 < characters; ++begin) {
    int32_t draw = below(random, 100);
    if (draw < 34)
      lattice.words.push_back({begin, begin + 1});
    int32_t length = draw % 10 < 8 ? 3 : 4;
    if (draw % 17 == 0 && begin + length <= characters)
      lattice.words.push_back({begin, begin + length - 1});
  }
  return lattice;
}

void workloads::fillIn(Structures &structures, uint64_t seed, int32_t count) {
  std::mt19937_64 random(seed);
  // Lengths resemble those of sentences, which are mostly short and sometimes
  // long. A length is `least` plus a geometrically distributed number, up to
  // `6 * mean`.
  auto length = [&](int32_t least, int32_t mean) {
    int32_t length = least;
    while (length < 6 * mean && below(random, mean - least + 1) != 0)
      ++length;
    return length;
  };
  bool lengths = structures.lengths.empty();
  bool lengthPairs = structures.lengthPairs.empty();
  bool trees = structures.trees.empty(), lattices = structures.lattices.empty();
  for (int32_t i = 0; i < count; ++i) {
    if (lengths)
      structures.lengths.push_back(length(5, 23));
    if (lengthPairs) {
      int32_t source = length(4, 24);
      structures.lengthPairs.push_back(
          {source, std::max(4, source + below(random, 12) - 3)});
    }
    if (trees)
      structures.trees.push_back(randomTree(random, length(4, 19)));
    if (lattices)
      structures.lattices.push_back(randomLattice(random, length(13, 40)));
  }
}

template <class T>
static const T &at(const std::vector<T> &list, size_t index) {
  return list[index % list.size()];
}

/// Adds a chain of cells. Each cell also reads its input, if it has one.
static std::vector<int32_t> addChain(TaskGraph &graph, int32_t type,
                                     int32_t length,
                                     const std::vector<int32_t> &inputs,
                                     bool backward, int32_t before = -1) {
  std::vector<int32_t> states(length);
  for (int32_t i = 0; i < length; ++i) {
    int32_t place = backward ? length - 1 - i : i;
    std::vector<int32_t> reads;
    if (before >= 0)
      reads.push_back(before);
    if (!inputs.empty() && inputs[place] >= 0)
      reads.push_back(inputs[place]);
    states[place] = before = graph.add(type, reads);
  }
  return states;
}

/// Adds two layers in each direction, a tag for every word, and the sum of the
/// tags.
static void addTagger(TaskGraph &graph, int32_t length,
                      const std::vector<int32_t> &words) {
  std::vector<int32_t> f = addChain(graph, 0, length, words, false);
  f = addChain(graph, 1, length, f, false);
  std::vector<int32_t> b = addChain(graph, 2, length, words, true);
  b = addChain(graph, 3, length, b, true);
  std::vector<int32_t> tags;
  for (int32_t i = 0; i < length; ++i)
    tags.push_back(graph.add(4, {f[i], b[i]}));
  graph.add(5, tags);
}

static void addBiLstm(TaskGraph &graph, const Structures &structures,
                      size_t index, std::mt19937_64 &) {
  addTagger(graph, at(structures.lengths, index), {});
}

/// Adds a tagger that runs in both directions. It reads about a third of the
/// words character by character.
static void addBiLstmChar(TaskGraph &graph, const Structures &structures,
                          size_t index, std::mt19937_64 &random) {
  int32_t length = at(structures.lengths, index);
  std::vector<int32_t> words(length, -1);
  for (int32_t i = 0; i < length; ++i) {
    if (below(random, 3) != 0)
      continue;
    int32_t letters = 3 + below(random, 10);
    std::vector<int32_t> f = addChain(graph, 6, letters, {}, false);
    f = addChain(graph, 7, letters, f, false);
    std::vector<int32_t> b = addChain(graph, 8, letters, {}, true);
    b = addChain(graph, 9, letters, b, true);
    words[i] = graph.add(10, {f.back(), b.front()});
  }
  addTagger(graph, length, words);
}

static void addTranslation(TaskGraph &graph, const Structures &structures,
                           size_t index, std::mt19937_64 &) {
  std::array<int32_t, 2> lengths = at(structures.lengthPairs, index);
  int32_t last = addChain(graph, 0, lengths[0], {}, false).back();
  std::vector<int32_t> outputs;
  for (int32_t state : addChain(graph, 1, lengths[1], {}, false, last))
    outputs.push_back(graph.add(2, {state}));
  graph.add(3, outputs);
}

/// Adds a cell for every node. If `outputs` is true, also adds an output for
/// every node, and their sum. If `leafType` is -1, leaves are rows of a table
/// and have no cells. Each inner node has one of `innerTypes` types, selected
/// at random.
static void addTree(TaskGraph &graph, const Tree &tree, int32_t leafType,
                    int32_t firstInner, int32_t innerTypes, bool outputs,
                    std::mt19937_64 &random) {
  std::vector<int32_t> states, all;
  for (const std::array<int32_t, 2> &node : tree) {
    std::vector<int32_t> reads;
    int32_t type = leafType;
    if (node[0] >= 0) {
      type = firstInner + (innerTypes > 1 ? below(random, innerTypes) : 0);
      for (int32_t child : node)
        if (states[child] >= 0)
          reads.push_back(states[child]);
    }
    states.push_back(type < 0 ? -1 : graph.add(type, reads));
    if (outputs) {
      reads.clear();
      if (states.back() >= 0)
        reads.push_back(states.back());
      all.push_back(graph.add(firstInner + innerTypes, reads));
    }
  }
  if (outputs)
    graph.add(firstInner + innerTypes + 1, all);
}

static void addTreeCell(TaskGraph &graph, const Structures &structures,
                        size_t index, std::mt19937_64 &random) {
  addTree(graph, at(structures.trees, index), 0, 1, 1, true, random);
}

static void addMvRnn(TaskGraph &graph, const Structures &structures,
                     size_t index, std::mt19937_64 &random) {
  addTree(graph, at(structures.trees, index), -1, 0, 1, true, random);
}

static void addTwoTypes(TaskGraph &graph, const Structures &structures,
                        size_t index, std::mt19937_64 &random) {
  addTree(graph, at(structures.trees, index), 0, 1, 2, true, random);
}

/// Adds cells of words and characters (Zhang and Yang). The cell of a word
/// reads the state at the word's first character. The cell of the word's last
/// character reads the word. Characters at which words end can have a separate
/// type, `joinedType`.
static void addCharacters(TaskGraph &graph, const Lattice &lattice,
                          int32_t joinedType) {
  std::vector<std::vector<int32_t>> ending(lattice.characters);
  for (const std::array<int32_t, 2> &word : lattice.words)
    ending[word[1]].push_back(word[0]);
  std::vector<int32_t> states, outputs;
  for (int32_t i = 0; i < lattice.characters; ++i) {
    std::vector<int32_t> reads;
    if (i > 0)
      reads.push_back(states.back());
    for (int32_t begin : ending[i])
      reads.push_back(graph.add(1, {states[begin]}));
    states.push_back(graph.add(ending[i].empty() ? 0 : joinedType, reads));
    outputs.push_back(graph.add(2, {states.back()}));
  }
  graph.add(3, outputs);
}

static void addLatticeLstm(TaskGraph &graph, const Structures &structures,
                           size_t index, std::mt19937_64 &) {
  addCharacters(graph, at(structures.lattices, index), 0);
}

/// Adds the tasks of test/models/lattice_lstm.mlir.
static void addTwoCells(TaskGraph &graph, const Structures &structures,
                        size_t index, std::mt19937_64 &) {
  addCharacters(graph, at(structures.lattices, index), 4);
}

/// Adds a lattice GRU with states between characters (Su et al., as in
/// ED-Batch). A state is the sum of the cells that end at its position: the
/// cell of a character, and the cells of words.
static void addLatticeGru(TaskGraph &graph, const Structures &structures,
                          size_t index, std::mt19937_64 &) {
  const Lattice &lattice = at(structures.lattices, index);
  std::vector<std::vector<int32_t>> ending(lattice.characters);
  for (const std::array<int32_t, 2> &word : lattice.words)
    ending[word[1]].push_back(word[0]);
  std::vector<int32_t> states{-1}, outputs;
  auto from = [&](int32_t boundary) {
    return states[boundary] < 0 ? std::vector<int32_t>()
                                : std::vector<int32_t>{states[boundary]};
  };
  for (int32_t i = 0; i < lattice.characters; ++i) {
    std::vector<int32_t> arcs{graph.add(0, from(i))};
    for (int32_t begin : ending[i])
      arcs.push_back(graph.add(1, from(begin)));
    states.push_back(graph.add(2, arcs));
    outputs.push_back(graph.add(3, {states.back()}));
  }
  graph.add(4, outputs);
}

const std::vector<Workload> &workloads::all() {
  static const std::vector<Workload> list = {
      {"BiLSTM-tagger",
       "chains",
       {"forward0", "forward1", "backward0", "backward1", "tag", "sum"},
       {0, 1, 0, 1, 2, 2},
       addBiLstm},
      {"BiLSTM-tagger-char",
       "chains",
       {"forward0", "forward1", "backward0", "backward1", "tag", "sum",
        "letters_forward0", "letters_forward1", "letters_backward0",
        "letters_backward1", "join"},
       {2, 3, 2, 3, 4, 4, 0, 1, 0, 1, 2},
       addBiLstmChar},
      {"LSTM-NMT",
       "chains",
       {"encoder", "decoder", "output", "sum"},
       {0, 1, 2, 2},
       addTranslation},
      {"TreeLSTM",
       "trees",
       {"leaf", "node", "output", "sum"},
       {0, 0, 1, 1},
       addTreeCell},
      {"TreeGRU",
       "trees",
       {"leaf", "node", "output", "sum"},
       {0, 0, 1, 1},
       addTreeCell},
      {"MV-RNN", "trees", {"node", "output", "sum"}, {0, 1, 1}, addMvRnn},
      {"TreeLSTM-2Type",
       "2type",
       {"leaf", "node0", "node1", "output", "sum"},
       {0, 0, 0, 1, 1},
       addTwoTypes},
      {"LatticeLSTM",
       "lattices",
       {"character", "word", "output", "sum"},
       {0, 0, 1, 1},
       addLatticeLstm},
      {"LatticeLSTM-2Cells",
       "2cells",
       {"character", "word", "output", "sum", "joined"},
       {0, 0, 1, 1, 0},
       addTwoCells},
      {"LatticeGRU",
       "lattices",
       {"character", "word", "state", "output", "sum"},
       {0, 0, 0, 1, 1},
       addLatticeGru},
  };
  return list;
}

TaskGraph workloads::make(const Workload &workload,
                          const Structures &structures, size_t first,
                          size_t batch, uint64_t seed) {
  TaskGraph graph;
  graph.numTypes = static_cast<int32_t>(workload.types.size());
  for (size_t i = 0; i < batch; ++i) {
    // Each instance has its own seed, so its tasks do not depend on the
    // mini-batch.
    std::mt19937_64 random(seed * 1000003 + first + i);
    workload.add(graph, structures, first + i, random);
  }
  return graph;
}

TaskGraph workloads::randomGraph(std::mt19937_64 &random, int32_t tasks,
                                 int32_t types, int32_t most) {
  TaskGraph graph;
  graph.numTypes = types;
  for (int32_t task = 0; task < tasks; ++task) {
    std::vector<int32_t> reads;
    if (task > 0)
      for (int32_t i = below(random, most + 1); i > 0; --i)
        reads.push_back(below(random, task));
    graph.add(below(random, types), reads);
  }
  return graph;
}
