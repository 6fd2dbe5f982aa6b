//===- Staging.h - Splitting an operator into stages ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The analysis behind uprog-stage-operators; the number of lanes of a vector is
// all it knows of the target. Views (slices, concatenations, reshapes,
// transposes) and elementwise code of low cost vanish into their readers. Every
// other op is a node. A stage is a set of nodes with the same rows and the same
// inner shape that read each other only element by element; a node that reads
// another in any other way is in a later stage.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_STAGING_H
#define BATCH_CODEGEN_STAGES_STAGING_H

#include "StagePlan.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::uprog {

/// One index of an access, over the dimensions of a node: d0 is its row, then
/// come its inner dimensions, then its reduction dimensions. `lanes`: the
/// dimension that runs along the lanes of a vector occurs in it, with factor
/// one unless the node's vectors have elements from anywhere, and the rest is
/// `residue` modulo the number of lanes (-1: unknown).
struct SymbolicIndex {
  AffineExpr expr;
  bool lanes = false;
  int64_t residue = -1;
};
using SymbolicIndices = SmallVector<SymbolicIndex, 4>;

/// An access to an argument, a constant or a node's result.
struct Read {
  Value base;
  SymbolicIndices indices;
  bool nonLocalRow = false; ///< of a non-local row: not the reader's own
};

/// An op that a stage computes, or, without an op, rows that it only copies: a
/// result of the operator, or an operand that a result is made of by inserts.
struct StagedNode {
  Operation *op = nullptr;
  RowSpace space;
  SmallVector<Read> reads;
  /// Vectors begin at multiples of this many elements. For a reduction it
  /// depends only on its type, and so does the order in which it adds, whatever
  /// else the operator computes.
  int64_t lanes = 1;
  /// Runs one element at a time because some access does not fit vectors.
  bool scalar = false;
  /// Vectors may have elements at a stride, and cross from one operand of a
  /// view to the next.
  bool anywhere = false;
  /// The positions, along the last reduction dimension, where a concatenated
  /// operand goes from one piece to the next; sorted.
  SmallVector<int64_t> breaks;
  /// How a reduction runs: a PackedAttr, InPlaceAttr, CopiedAttr, GatheredAttr
  /// or ReducedAttr.
  Attribute reduction;
  int64_t level = 0;
  int64_t stage = -1;
};

/// Splits one operator into stages.
class Staging {
public:
  Staging(OperatorOp op, StageTarget target, int64_t vectorBits);

  /// Emits an error at the first op that is not supported.
  LogicalResult run();
  /// Makes a copy of the operator whose body consists of the stages.
  OperatorOp write(OpBuilder &builder);

private:
  struct Stage {
    RowSpace space;
    bool scalar = false;
    /// How workers share the stage, and whether they wait for each other before
    /// it; see uprog.stage.
    std::optional<int64_t> sharedDims;
    bool barrier = false;
    SmallVector<StagedNode *> nodes;
    /// Values written by this stage: results of the operator and, with their
    /// offset, values in scratch memory (others: -1).
    SmallVector<std::pair<Value, int64_t>> stores;
  };

  LogicalResult checkArguments();
  LogicalResult checkLayouts();
  int64_t chooseLanes();
  const RowSpace &getSpace(Value value) const {
    return spaces.find(value)->second;
  }
  /// The node that computes `value`, or null for a leaf or a view.
  StagedNode *getNode(Value value) const;
  TableLayout getLayout(Value value) const;
  LogicalResult computeSpaces();
  LogicalResult computeSpace(Operation *op);
  /// The domain of the rows of a result, if it is known.
  std::optional<int64_t> findDomain(OpResult result);
  LogicalResult checkView(Operation *op);
  bool isVirtual(Operation *op);
  LogicalResult addNode(Operation *op);
  /// Makes the node of an insert, which has the shape of what is inserted.
  LogicalResult readInsert(StagedNode &node, InsertOp insert);
  bool isRowOperand(BlockArgument argument) const {
    return rows->stepOperands[argument.getArgNumber()] >= 0 &&
           getSpace(argument).domain == RowSpace::kTasks;
  }
  void addCopies();
  LogicalResult classifyReduction(StagedNode &node, linalg::LinalgOp op);
  /// The parameters in panels that a contraction reads.
  struct Factor {
    PanelsAttr panels;
    int64_t nOffset = 0, kOffset = 0;
    unsigned left = 0; ///< the other input
    SmallVector<int64_t> groups = {};
  };
  std::optional<Factor> matchPacked(StagedNode &node, linalg::LinalgOp op);
  std::optional<Factor> matchPanel(const StagedNode &node, const Read &read);
  std::optional<Factor> matchGroups(const StagedNode &node, const Read &read);
  PanelsAttr matchStack(StagedNode &node, MutableArrayRef<Read> reads);
  bool matchInPlace(StagedNode &node, linalg::LinalgOp op);
  bool matchCopied(StagedNode &node, linalg::LinalgOp op);
  /// Matches a product of a parameter with the columns of a view.
  bool matchGathered(StagedNode &node, linalg::LinalgOp op);
  /// The panels that the code of the target reads.
  PanelsAttr getPanels(ArrayRef<int64_t> parameters, int64_t n, int64_t k,
                       bool transposed);
  /// The parameters that are read in place, one per access.
  SmallVector<int64_t> getParameters(ArrayRef<Read> reads);
  int64_t getStride(const Read &read, AffineExpr dim);
  /// Pieces of concatenations along a dimension.
  struct Breaks {
    AffineExpr dim;
    SmallVector<int64_t> positions;
  };
  /// True if a stage loads `value`: its readers do not compute it.
  bool isLoaded(Value value);
  /// Follows `value[indices]`, which `node` reads, through views to the values
  /// that are really read. Returns false if an access does not fit the lanes;
  /// one that crosses from piece to piece along `breaks->dim` fits.
  bool resolve(const StagedNode &node, Value value,
               ArrayRef<SymbolicIndex> indices, bool nonLocalRow,
               SmallVectorImpl<Read> &reads, Breaks *breaks = nullptr);
  /// Follows `value` at what `map` makes of `dims`.
  bool resolve(const StagedNode &node, Value value, AffineMap map,
               ArrayRef<SymbolicIndex> dims, SmallVectorImpl<Read> &reads);
  /// The reads of the operands of a LinalgOp, with the lanes along dimension
  /// `lanesDim` of the node. `only`: a single operand.
  bool readOperands(StagedNode &node, std::optional<unsigned> lanesDim,
                    SmallVectorImpl<Read> &reads,
                    std::optional<unsigned> only = std::nullopt);
  /// Adds the reads of the `tensor.extract`s in the body of `linalgOp`, whose
  /// loops have indices `dims`. False if one does not fit the lanes.
  bool readInBody(const StagedNode &node, linalg::LinalgOp linalgOp,
                  ArrayRef<SymbolicIndex> dims, SmallVectorImpl<Read> &reads,
                  Breaks *breaks);
  /// True for the operand that says where the ragged rows of tasks begin.
  bool isOffsets(Value value);
  bool isAligned(const Read &read, const StagedNode &reader);
  /// All nodes, producers first but for those that only copy.
  SmallVector<StagedNode *> listNodes();
  LogicalResult assignLevels();
  void makeStages();
  void storeResults();
  /// Chooses how workers share each stage, and where they need a barrier.
  void shareStages();
  /// The operands whose rows a row of the stage reads.
  SmallVector<BlockArgument> getRowReads(const Stage &stage);
  SymbolicIndices identity(const RowSpace &space, bool vector);

  friend class StageWriter;
  friend class StageSharing;

  OperatorOp op;
  StageTarget target;
  int64_t unknowns = 0; ///< indices that a body computes, so far
  int64_t vectorBits, lanes;
  std::optional<OperatorRows> rows;
  llvm::MapVector<Value, RowSpace> spaces;
  DenseMap<Operation *, bool> virtualOps;
  DenseMap<Operation *, int64_t> cheapness;
  std::vector<std::unique_ptr<StagedNode>> nodes;
  DenseMap<Operation *, StagedNode *> nodeOf;
  /// One pseudo node per yielded value that no node computes.
  std::vector<std::unique_ptr<StagedNode>> copies;
  SmallVector<StagedNode *> copyOfResult;
  /// The operands that inserts write into; each has a node that copies its rows
  /// if the result has others.
  llvm::MapVector<Value, std::unique_ptr<StagedNode>> roots;
  SmallVector<Stage> stages;
  /// Values that are read back after their stage.
  DenseSet<Value> stored;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_STAGING_H
