//===- StagePlan.h - How an operator falls into stages ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The analysis in front of code generation; it knows no target but the number
// of lanes of a vector. Views (slices, concatenations, reshapes, transposes)
// and cheap elementwise code over operands vanish into their readers. Every
// other op is a node. A stage is a set of nodes with the same rows and the same
// inner shape that read each other only element by element; a node that reads
// another in any other way has an earlier stage before it.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CONVERSION_OPERATORCODE_STAGEPLAN_H
#define BATCH_CONVERSION_OPERATORCODE_STAGEPLAN_H

#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::uprog {

/// The rows of a value and the shape of one row.
struct RowSpace {
  static constexpr int64_t kOnce = -2;  ///< one row, without a row dimension
  static constexpr int64_t kTasks = -1; ///< a row per task
  int64_t domain = kOnce;               ///< or the number of a ragged domain
  SmallVector<int64_t, 3> shape;

  bool hasRows() const { return domain != kOnce; }
  int64_t rank() const { return shape.size(); }
  int64_t columns() const { return shape.empty() ? 1 : shape.back(); }
  /// Rows of `columns()` elements in one row of the space.
  int64_t leading() const;
  bool operator==(const RowSpace &other) const {
    return domain == other.domain && shape == other.shape;
  }
  bool operator!=(const RowSpace &other) const { return !(*this == other); }
};

/// One index of an access, over the dimensions of a node: d0 is its row, then
/// its inner dimensions, then its reduction dimensions. `lanes`: the dimension
/// that runs through the lanes of a vector occurs in it with factor one, and
/// the rest is `residue` modulo the number of lanes (-1: unknown).
struct SymbolicIndex {
  AffineExpr expr;
  bool lanes = false;
  int64_t residue = -1;
};

/// An access to an argument, a constant or a node's result.
struct Read {
  Value base;
  SmallVector<SymbolicIndex, 4> indices;
  bool foreignRow = false; ///< of another row than the reader's
};

enum class NodeKind {
  Elementwise,   ///< one element from elements
  Panels,        ///< contraction with a parameter in the panels form
  InPlace,       ///< contraction that reads both operands where they lie
  Columns,       ///< reduction, output columns in the lanes
  Lanes,         ///< reduction, reduced elements in the lanes
  Sequential,    ///< reduction, one element after the other
  SegmentReduce, ///< reduction over the ragged rows of a task
};

/// Columns that a register tile covers at least, of rows with `columns`.
int64_t getPanelWidth(int64_t columns, int64_t lanes);

/// The second operand of a contraction, B[k + kOffset][n + nOffset] of
/// a parameter with extents `n` by `k`, or of several, stacked along `n`.
struct PanelOperand {
  SmallVector<int64_t, 1> parameters;
  int64_t n, k;
  bool transposed;
  int64_t nOffset, kOffset;
  int64_t width;
};

struct Node {
  Operation *op = nullptr;
  NodeKind kind = NodeKind::Elementwise;
  RowSpace space;
  SmallVector<Read> reads;
  /// Where vectors begin is a multiple of these elements. Those of a reduction
  /// follow from its type alone, and so does the order in which it adds up,
  /// whatever else the operator computes.
  int64_t lanes = 1;
  /// Runs one element at a time because some access does not fit vectors.
  bool scalar = false;
  /// Where, along the last reduction dimension, a concatenated operand goes
  /// from one piece to the next; sorted.
  SmallVector<int64_t> breaks;
  int64_t level = 0;
  int64_t stage = -1;
  // Contractions: number of the input that is A, extent of the reduction.
  unsigned left = 0;
  int64_t depth = 0;
  // InPlace only: elements between rows of A and of B.
  int64_t leftStride = 0, rightStride = 0;
  // Panels only.
  bool packVectors = true; ///< A is packed in vectors
  PanelOperand right{};

  bool isContraction() const {
    return kind == NodeKind::Panels || kind == NodeKind::InPlace;
  }
  /// Of the first result.
  int64_t elementBytes() const {
    return batch::elementBytes(getElementTypeOrSelf(op->getResult(0)));
  }
};

/// Where a value that outlives its stage lies.
struct Storage {
  enum Kind { Result, Scratch } kind;
  int64_t index;  ///< result number
  int64_t offset; ///< bytes, to be multiplied by the number of rows
};

struct Stage {
  RowSpace space;
  bool scalar = false;
  SmallVector<Node *> nodes;
  /// Values written by this stage, results and scratch.
  SmallVector<std::pair<Value, Storage>> stores;
};

/// What the contractions of an operator take; a ragged row counts like a task.
struct ContractionCost {
  int64_t weightBytes = 0; ///< of parameters that they read
  int64_t taskFlops = 0;   ///< of all stages
  int64_t stageFlops = 0;  ///< of the stage that has most
};

using batch::elementBytes;
using batch::TableLayout;

/// True if every element of `value` is +0 or undefined.
bool isZero(Value value);
/// True if `op` is a sum of products: acc + a*b with one reduction dimension.
bool isContraction(linalg::LinalgOp op);
/// The op that combines a new element with the accumulator in the only result
/// of a reduction, or null.
Operation *getCombiner(linalg::LinalgOp op);

class StagePlan {
public:
  StagePlan(OperatorOp op, int64_t vectorBits)
      : op(op), vectorBits(vectorBits), lanes(chooseLanes()) {}

  /// Emits an error at the op that is not supported.
  LogicalResult build();

  ArrayRef<Stage> getStages() const { return stages; }
  int64_t getTaskScratch() const { return taskScratch; }
  ArrayRef<int64_t> getRaggedScratch() const { return raggedScratch; }
  /// Lanes of all vectors of the operator: the elements that fit of the widest
  /// type that its rows or reductions have.
  int64_t getLanes() const { return lanes; }
  OperatorOp getOperator() const { return op; }

  const RowSpace &getSpace(Value value) const {
    return spaces.find(value)->second;
  }
  /// The node that makes `value`, or null for a leaf or a view.
  Node *getNode(Value value) const;
  /// Where `value` is stored, or null, and the stage that stores it.
  const Storage *getStorage(Value value) const;
  int64_t getStoringStage(Value value) const;
  /// The i32 offsets of ragged domain `d` belong to this operand of a step.
  int64_t getRaggedOperand(int64_t domain) const;
  /// The layout of an argument, a result, or an intermediate in scratch memory.
  TableLayout getLayout(Value value) const;
  const TableLayout &getResultLayout(unsigned result) const {
    return resultLayouts[result];
  }
  /// That of rows with these attributes of an operator's argument or result.
  static TableLayout makeLayout(ArrayRef<int64_t> row, Type element,
                                DictionaryAttr attributes = {});
  /// Position of argument `index` among the operands of a step, or -1.
  int64_t getStepOperand(unsigned index) const { return stepOperands[index]; }
  ContractionCost getContractionCost() const;

private:
  int64_t chooseLanes();
  /// Elements of a vector of that type; of 32 bits if it is narrower.
  int64_t getNaturalLanes(Type element) const;
  LogicalResult computeSpaces();
  LogicalResult computeLayouts();
  LogicalResult computeSpace(Operation *op);
  bool isVirtual(Operation *op);
  LogicalResult addNode(Operation *op);
  LogicalResult classifyReduction(Node &node, linalg::LinalgOp op);
  bool matchPanels(Node &node, linalg::LinalgOp op);
  bool matchStack(Node &node, MutableArrayRef<Read> reads);
  bool matchInPlace(Node &node, linalg::LinalgOp op);
  int64_t getStride(const Read &read, AffineExpr dim);
  /// Pieces of concatenations along a dimension.
  struct Breaks {
    AffineExpr dim;
    SmallVector<int64_t> positions;
  };
  /// Follows `value[indices]`, which `node` reads, through views to what is
  /// really read. Returns false if an access does not fit the lanes; where it
  /// crosses from piece to piece along `breaks->dim` it does.
  bool resolve(const Node &node, Value value, ArrayRef<SymbolicIndex> indices,
               bool foreignRow, SmallVectorImpl<Read> &reads,
               Breaks *breaks = nullptr);
  /// What the operands of a LinalgOp read, with the lanes along dimension
  /// `lanesDim` of the node. `only`: a single operand.
  bool readOperands(Node &node, std::optional<unsigned> lanesDim,
                    SmallVectorImpl<Read> &reads,
                    std::optional<unsigned> only = std::nullopt);
  bool isAligned(const Read &read, const Node &reader);
  int64_t getWeightBytes(const Node &node) const;
  void assignLevels();
  void makeStages();
  SmallVector<SymbolicIndex, 4> identity(const RowSpace &space, bool vector);

  OperatorOp op;
  int64_t vectorBits, lanes;
  llvm::MapVector<Value, RowSpace> spaces;
  DenseMap<Operation *, bool> virtualOps;
  DenseMap<Operation *, int64_t> cheapness;
  std::vector<std::unique_ptr<Node>> nodes;
  DenseMap<Operation *, Node *> nodeOf;
  /// One pseudo node per yielded value that no node makes.
  std::vector<std::unique_ptr<Node>> copies;
  SmallVector<Node *> copyOfResult;
  SmallVector<Stage> stages;
  llvm::MapVector<Value, std::pair<Storage, int64_t>> storages;
  SmallVector<int64_t> stepOperands;
  SmallVector<TableLayout> argumentLayouts, resultLayouts;
  int64_t taskScratch = 0;
  SmallVector<int64_t> raggedScratch;
};

} // namespace mlir::uprog

#endif // BATCH_CONVERSION_OPERATORCODE_STAGEPLAN_H
