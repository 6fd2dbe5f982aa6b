//===- LoopLayers.h - Layers of a loop --------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_ANALYSIS_LOOPLAYERS_H
#define BATCH_ANALYSIS_LOOPLAYERS_H

#include "Batch/Analysis/TensorCode.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::batch {

/// Properties that LoopLayers queries for the ops in the body of a loop.
struct LoopTasks {
  /// Returns true for a task: an op that can be in an even layer (0, 2, …)
  /// unless it belongs to a recurrence. A task is in the highest layer of its
  /// operands, or in layer 0 if none of them has a layer. If `multiplies`
  /// returns true for the task, an odd layer is rounded up to the next even
  /// one.
  function_ref<bool(Operation *)> isTask;
  /// Returns true for a task that justifies a layer in which all rounds run
  /// together.
  function_ref<bool(Operation *)> multiplies;
  /// Returns true if other layers can read this result of an op.
  function_ref<bool(Value)> isStored;
};

/// Layers of a loop with a known number of rounds. Each layer can run for many
/// rounds before the next layer does (loop distribution: Allen and Kennedy,
/// "Automatic Translation of Fortran Programs to Vector Form", 1987). A
/// recurrence is in one layer. Layers 0, 2, … consist of tasks outside of
/// recurrences, and many rounds of such a layer can run together. Layers 1, 3,
/// … run round after round.
class LoopLayers {
public:
  LoopLayers(LoopLikeOpInterface loop, const LoopTasks &tasks);

  /// Merges all layers except layer 0 into one layer.
  void mergeRounds();
  /// Replaces the layers with the layers of a wavefront. In a wavefront, a
  /// recurrence is in a later layer than the other recurrences and ops whose
  /// results it reads. The same holds for an op outside of recurrences. All
  /// layers except layer 0 run round by round.
  void separateReaders();

  /// Returns true for an op that any layer can recompute. In the loop, the op
  /// depends only on the number of the round. Its results are numbers or views.
  bool isFree(Operation *op) const { return free.contains(op); }
  /// Returns the layer of an op in the body. The op must not be free.
  unsigned getLayer(Operation *op) const { return layers[numbers.at(op)]; }
  /// Returns the layer that passes iteration argument `index` to the next
  /// round.
  unsigned getArgumentLayer(unsigned index) const {
    return layers[numbers.size() + index];
  }
  /// Returns the index of the last layer plus one.
  unsigned getNumLayers() const { return numLayers; }
  /// Returns the sum, over all products in layers 2, 4, …, of the bytes of
  /// parameters that the product reads. Products must not be outlined yet.
  int64_t countParameterBytes(const Sharedness &sharedness) const;

private:
  bool dependsOnlyOnRound(Operation *op);
  void addEdges(Value value, unsigned node, bool mayCross);
  void assignLayers(const LoopTasks &tasks);

  LoopLikeOpInterface loop;
  Block &body;
  DenseSet<Operation *> free;
  /// Nodes are the ops that are not free, in order, followed by the iteration
  /// arguments.
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<Operation *> ops;
  SmallVector<SmallVector<unsigned>> successors;
  /// Recurrences, and nodes outside of recurrences, in an order in which they
  /// can run.
  SmallVector<SmallVector<unsigned>> components;
  SmallVector<unsigned> layers; ///< layers by node
  unsigned numLayers = 0;
};

/// Returns true for a loop whose number of rounds is known before its first
/// round.
bool isCounted(Operation *op);

/// Computes the layers of a counted loop whose tensor code is not outlined yet.
LoopLayers findLayers(LoopLikeOpInterface loop, const TensorCode &code);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_LOOPLAYERS_H
