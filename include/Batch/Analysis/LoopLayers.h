//===- LoopLayers.h - What rounds of a loop can run before ------*- C++ -*-===//
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

/// What LoopLayers asks of a loop's body.
struct LoopTasks {
  /// True for an op that can lie in layer 0, 2, …, unless it is of a
  /// recurrence: in that of what it depends on.
  function_ref<bool(Operation *)> isTask;
  /// True for such an op that is worth a layer in which all rounds run
  /// together.
  function_ref<bool(Operation *)> multiplies;
  /// True if other layers can read this result of an op.
  function_ref<bool(Value)> isStored;
};

/// The layers of a loop that knows its rounds: each can run for many rounds
/// before the next one does (loop distribution: Allen and Kennedy, "Automatic
/// Translation of Fortran Programs to Vector Form", 1987). A recurrence lies in
/// one layer. Layers 0, 2, … consist of tasks of no recurrence, which can run
/// for all these rounds together; layers 1, 3, … run round after round.
class LoopLayers {
public:
  LoopLayers(LoopLikeOpInterface loop, const LoopTasks &tasks);

  /// Makes one layer of all but layer 0.
  void mergeRounds();
  /// Makes layers for a wavefront of all but layer 0: what reads a result of
  /// another recurrence or task is of a later layer, and all run by rounds.
  void separateReaders();

  /// True for an op that any layer can compute again: it depends on the round
  /// alone, and gives numbers or views.
  bool isFree(Operation *op) const { return free.contains(op); }
  /// The layer of an op in the body that is not free.
  unsigned getLayer(Operation *op) const { return layers[numbers.at(op)]; }
  /// The layer that hands on argument `index` of those that rounds hand on.
  unsigned getArgumentLayer(unsigned index) const {
    return layers[numbers.size() + index];
  }
  /// One more than the last layer.
  unsigned getNumLayers() const { return numLayers; }
  /// The bytes of parameters that products of the layers 2, 4, … read, before
  /// they are outlined.
  int64_t countParameterBytes(const Sharedness &sharedness) const;

private:
  bool dependsOnRoundAlone(Operation *op);
  void addEdges(Value value, unsigned node, bool mayCross);
  void assignLayers(const LoopTasks &tasks);

  LoopLikeOpInterface loop;
  Block &body;
  DenseSet<Operation *> free;
  /// Nodes are the ops that are not free, in order, then what rounds hand on.
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<Operation *> ops;
  SmallVector<SmallVector<unsigned>> successors;
  /// Recurrences, and nodes of none, in an order in which they can run.
  SmallVector<SmallVector<unsigned>> components;
  SmallVector<unsigned> layers; ///< by node
  unsigned numLayers = 0;
};

/// True for a loop that knows its number of rounds before the first one.
bool isCounted(Operation *op);

/// The layers of a counted loop before its tensor code is outlined.
LoopLayers findLayers(LoopLikeOpInterface loop, const TensorCode &code);

} // namespace mlir::batch

#endif // BATCH_ANALYSIS_LOOPLAYERS_H
