//===- Staging.h - Splitting an operator into stages ------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Analysis of uprog-stage-operators. The stages depend only on the kind of the
// target (CPU or GPU) and on the width of its vectors. Views (slices,
// concatenations, reshapes, transposes) and elementwise code of low cost are
// fused into their readers. Every other op is a node. The nodes of a stage have
// the same rows and the same inner shape, and read each other only element by
// element. A node that reads another node in any other way is in a later
// stage.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_STAGING_H
#define BATCH_CODEGEN_STAGES_STAGING_H

#include "StagePlan.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::uprog {

/// One index of an access, over the dimensions of a node: d0 is its row,
/// followed by its inner dimensions and its reduction dimensions. With `lanes`,
/// the index contains the dimension along which vectors run, with factor one
/// unless StagedNode::anywhere is set. The rest of the index is `residue`
/// modulo the number of lanes (-1: unknown).
struct SymbolicIndex {
  AffineExpr expr;
  bool lanes = false;
  int64_t residue = -1;
};
using SymbolicIndices = SmallVector<SymbolicIndex, 4>;

/// Access to an argument, a constant or a result of a node.
struct Read {
  Value base;
  SymbolicIndices indices;
  bool nonLocalRow = false; ///< the row that is read is not the
                            ///< reader's row
};

/// Op that a stage computes. Without an op, the node only copies rows: the rows
/// of a result of the operator, or of an operand into which inserts write.
struct StagedNode {
  Operation *op = nullptr;
  RowSpace space;
  SmallVector<Read> reads;
  /// Vectors begin at multiples of this number of elements. For a reduction,
  /// this number and the order of additions depend only on its type, not on
  /// other ops of the operator.
  int64_t lanes = 1;
  /// True if the node runs one element at a time because some access does not
  /// fit vectors.
  bool scalar = false;
  /// True if vectors may have elements at a stride, and may cross from one
  /// operand of a view to the next.
  bool anywhere = false;
  /// Sorted positions, along the last reduction dimension, at which a
  /// concatenated operand changes from one piece to the next.
  SmallVector<int64_t> breaks;
  /// Attribute that specifies how a reduction runs: a PackedAttr, InPlaceAttr,
  /// CopiedAttr, GatheredAttr or ReducedAttr.
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
  /// Creates a copy of the operator whose body consists of the stages.
  OperatorOp write(OpBuilder &builder);

private:
  struct Stage {
    RowSpace space;
    bool scalar = false;
    /// Division of the stage among workers, and a flag: workers wait for each
    /// other before the stage. See uprog.stage.
    std::optional<int64_t> sharedDims;
    bool barrier = false;
    SmallVector<StagedNode *> nodes;
    /// Values written by this stage: results of the operator, each with -1, and
    /// values in scratch memory, each with its offset.
    SmallVector<std::pair<Value, int64_t>> stores;
  };

  LogicalResult checkArguments();
  LogicalResult checkLayouts();
  int64_t chooseLanes();
  const RowSpace &getSpace(Value value) const {
    return spaces.find(value)->second;
  }
  /// Returns the node that computes `value`, or null for an argument or the
  /// result of an op that is fused into its readers.
  StagedNode *getNode(Value value) const;
  TableLayout getLayout(Value value) const;
  LogicalResult computeSpaces();
  LogicalResult computeSpace(Operation *op);
  /// Returns the domain of the rows of a result, if known.
  std::optional<int64_t> findDomain(OpResult result);
  LogicalResult checkView(Operation *op);
  bool isVirtual(Operation *op);
  LogicalResult addNode(Operation *op);
  /// Fills in the node of an insert. The node has the shape of the inserted
  /// value.
  LogicalResult readInsert(StagedNode &node, InsertOp insert);
  bool isRowOperand(BlockArgument argument) const {
    return rows->stepOperands[argument.getArgNumber()] >= 0 &&
           getSpace(argument).domain == RowSpace::kTasks;
  }
  void addCopies();
  LogicalResult classifyReduction(StagedNode &node, linalg::LinalgOp op);
  /// Factor of a contraction: parameters that are read from panels.
  struct Factor {
    PanelsAttr panels;
    int64_t firstGroup = 0, nOffset = 0, kOffset = 0;
    unsigned left = 0; ///< index of the product's other input
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
  /// Returns the panels that the code of the target reads.
  PanelsAttr getPanels(ArrayRef<int64_t> parameters, int64_t n, int64_t k,
                       bool transposed, ArrayRef<int64_t> extents = {},
                       ArrayRef<int64_t> order = {});
  /// Returns the parameters that are read in place, one per access.
  SmallVector<int64_t> getParameters(ArrayRef<Read> reads);
  int64_t getStride(const Read &read, AffineExpr dim);
  /// Positions along `dim` at which a concatenation changes from one piece to
  /// the next.
  struct Breaks {
    AffineExpr dim;
    SmallVector<int64_t> positions;
  };
  /// Returns true if stages load `value` instead of computing it in readers.
  bool isLoaded(Value value);
  /// `node` reads `value[indices]`. Follows this read through views to the
  /// values that are actually read. Returns false if an access does not fit the
  /// lanes. An access may cross from piece to piece along `breaks->dim`.
  bool resolve(const StagedNode &node, Value value,
               ArrayRef<SymbolicIndex> indices, bool nonLocalRow,
               SmallVectorImpl<Read> &reads, Breaks *breaks = nullptr);
  /// Follows a read of `value` at the indices to which `map` maps `dims`.
  bool resolve(const StagedNode &node, Value value, AffineMap map,
               ArrayRef<SymbolicIndex> dims, SmallVectorImpl<Read> &reads);
  /// Adds the reads of the operands of a LinalgOp, or of operand `only`, with
  /// the lanes along dimension `lanesDim` of the node. Returns false if a read
  /// does not fit the lanes.
  bool readOperands(StagedNode &node, std::optional<unsigned> lanesDim,
                    SmallVectorImpl<Read> &reads,
                    std::optional<unsigned> only = std::nullopt);
  /// Adds the reads of the `tensor.extract`s in the body of `linalgOp` for loop
  /// indices `dims`. Returns false if a read does not fit the lanes.
  bool readInBody(const StagedNode &node, linalg::LinalgOp linalgOp,
                  ArrayRef<SymbolicIndex> dims, SmallVectorImpl<Read> &reads,
                  Breaks *breaks);
  /// Returns true for an operand that contains the offsets at which the ragged
  /// rows of tasks begin.
  bool isOffsets(Value value);
  bool isAligned(const Read &read, const StagedNode &reader);
  /// Returns all nodes. The nodes that only copy come last. All other nodes
  /// come after the nodes that they read.
  SmallVector<StagedNode *> listNodes();
  LogicalResult assignLevels();
  void makeStages();
  void storeResults();
  /// Chooses how workers divide each stage, and where they need a barrier.
  void shareStages();
  /// Returns the operands whose rows are read to compute one row of the stage.
  SmallVector<BlockArgument> getRowReads(const Stage &stage);
  SymbolicIndices identity(const RowSpace &space, bool vector);

  friend class StageWriter;
  friend class StageSharing;

  OperatorOp op;
  StageTarget target;
  int64_t unknowns = 0; ///< number of indices that bodies compute
  int64_t vectorBits, lanes;
  std::optional<OperatorRows> rows;
  llvm::MapVector<Value, RowSpace> spaces;
  DenseMap<Operation *, bool> virtualOps;
  DenseMap<Operation *, int64_t> cheapness;
  std::vector<std::unique_ptr<StagedNode>> nodes;
  DenseMap<Operation *, StagedNode *> nodeOf;
  /// One pseudo node for each yielded value that no node computes.
  std::vector<std::unique_ptr<StagedNode>> copies;
  SmallVector<StagedNode *> copyOfResult;
  /// Operands into which inserts write. Each has a node that copies its rows if
  /// the result is written to other rows.
  llvm::MapVector<Value, std::unique_ptr<StagedNode>> roots;
  SmallVector<Stage> stages;
  /// Values that are read back after their stage.
  DenseSet<Value> stored;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_STAGING_H
