//===- Evaluator.h - Code for the elements of a value -----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_CODEGEN_STAGES_EVALUATOR_H
#define BATCH_CODEGEN_STAGES_EVALUATOR_H

#include "CodeBuilder.h"
#include "ElementSources.h"
#include "ModuleTables.h"
#include "StagePlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::uprog {

struct ReductionLoops;

/// One index of an access: `base` or, with `lanes`, the vector of indices
/// (base, base + step, ...). `residue` is base modulo the number of lanes, or
/// -1 if unknown. All indices of the access are in [lower, upper); the range is
/// unknown if upper is -1. With `partial`, some indices may be out of range;
/// their elements are not used.
struct Index {
  Value base;
  bool lanes = false;
  int64_t residue = -1;
  int64_t lower = -1, upper = -1;
  int64_t step = 1;
  bool partial = false;
};
using Indices = SmallVector<Index, 4>;

/// Arguments of a stage function.
struct StageArguments {
  Value step, packings, scratch, work, rowBegin, rowEnd, share, shares;
  /// A BatchIndexError, if the operator checks indices.
  Value indexError;
};

/// Emits code that computes elements of values, one at a time or one per lane
/// of a vector. The values may be operands, parameters, results and scratch of
/// earlier stages, tiles of this stage, or values that are not in memory yet.
/// An element that was already computed at the same indices is reused.
class Evaluator {
public:
  Evaluator(CodeBuilder &b, const StagePlan &plan, ModuleTables &tables);

  /// Starts the code of stage `number`. Requires that
  /// CodeBuilder::beginFunction() was called before.
  void beginStage(int64_t number, const StageArguments &arguments);
  void endStage();

  /// Returns the element of `value` at `indices`, or a vector of elements.
  /// Returns a scalar if the element is the same in all lanes, and null after
  /// an error.
  Value eval(Value value, ArrayRef<Index> indices);
  /// Returns the address of the element of `value` at `indices`. Requires that
  /// only views are between the element and memory.
  Value address(Value value, ArrayRef<Index> indices);
  /// Returns the body's results for the given block arguments and loop indices.
  /// In a reduction, a product that is added to an accumulator becomes one fma.
  SmallVector<Value> evalBody(Block &body, ValueRange arguments,
                              ArrayRef<Index> dims, bool reduction);
  /// Returns the indices of an operand, given the indices of the loops.
  Indices operandIndices(AffineMap map, ArrayRef<Index> dims);
  /// Returns the loop indices of `op`, given the indices of its results. The
  /// indices of reduction loops are null.
  Indices loopIndices(linalg::LinalgOp op, ArrayRef<Index> results);
  /// Returns the results of one elementwise op on scalars or vectors.
  SmallVector<Value> evalElement(Operation *op, ValueRange operands);
  /// Returns the operands of the body of `op`; accumulators are null.
  SmallVector<Value> evalInputs(linalg::LinalgOp op, ArrayRef<Index> dims);

  /// Records that `element` is the element of `value` at `indices`.
  void remember(Value value, ArrayRef<Index> indices, Value element);

  /// Returns the results of `reduction` at each of `elements`, grouped by
  /// element. Reduces in the order of the loops. With `vector`, the results are
  /// vectors of columns. Calls `enter(e)` before the start values of element e
  /// are computed.
  CodeBuilder::Values reduce(const Reduction &reduction,
                             ArrayRef<Indices> elements, bool vector,
                             llvm::function_ref<void(size_t)> enter = {});

  /// Returns the indices of row `row` of `space`, where rows have columns()
  /// elements.
  Indices positionOf(const RowSpace &space, Value row);

  /// Stores an element or a vector of `value`.
  void store(Value computed, Value value, const Storage &storage,
             ArrayRef<Index> indices);

  /// Makes the emitted code read `value` from a tile in the worker's scratch.
  void setTile(Value value, Value pointer, int64_t stride);
  /// Sets the row and the column at which the tile begins.
  void setTilePosition(Value row, Value column);
  Value tilePointer(Value value, Value row, Value column);
  Value loadTile(Value value, Value row, Value column, bool vector);
  void storeTile(Value element, Value value, Value row, Value column,
                 bool vector);
  /// Returns an i1 that is true if `stage` must copy an operand for the inserts
  /// of later stages. Returns null if it has no operand to copy.
  Value mustCopy(const Stage &stage);
  /// Computes the values that a row needs for all its columns: its address in
  /// every operand that the stage reads, and the locations of its inserts.
  void prepareRow(const Stage &stage, ArrayRef<Index> indices);
  /// Returns the address of row `row` of an operand.
  Value rowPointer(BlockArgument argument, Value row);
  /// Records `pointer` as the address of row `row` of an operand.
  void rememberRow(BlockArgument argument, Value row, Value pointer);

  // Indices.
  Index index(Value base) { return {base}; }
  Index index(int64_t value);
  Index add(const Index &a, const Index &b);
  Index add(const Index &a, int64_t b);
  Index mul(const Index &a, int64_t b);

  // Values that a stage needs at its entry. Each is loaded once.
  Value getCount();
  Value getOffset(int64_t domain, Value position);
  Value getPacking(int64_t packing);

  Value broadcast(Value scalar);
  /// Returns the mask of the lanes below `end` in a vector that starts at
  /// `base`.
  Value lanesBelow(Value base, Value end);
  Type vectorOf(Type element) { return VectorType::get({lanes}, element); }
  int64_t getLanes() const { return lanes; }
  bool hasFailed() const { return failed; }
  void fail(Operation *op, const Twine &message);
  Value iota();

private:
  friend struct RegionScope;
  using Key = std::vector<const void *>;

  static Key keyOf(Value value, ArrayRef<Index> indices);
  Value evalUncached(Value value, ArrayRef<Index> indices);
  Value evalArgument(BlockArgument argument, ArrayRef<Index> indices);
  Value evalOp(Operation *op, OpResult value, ArrayRef<Index> indices);
  /// Returns the index that `value` computes in the body of a structured op.
  Index evalIndex(Value value, ArrayRef<Index> dims,
                  llvm::function_ref<Value(Value)> lookup);
  std::optional<int64_t> getRaggedDomain(tensor::ExtractOp op) const;
  Value evalExtract(tensor::ExtractOp op, ArrayRef<Index> dims,
                    llvm::function_ref<Value(Value)> lookup);
  /// Emits code that checks an assertion. If the assertion fails, the code
  /// reports the index that `op` compares with a limit.
  void evalAssert(cf::AssertOp op, llvm::function_ref<Value(Value)> lookup);
  /// Returns the first extent of a parameter, as an index.
  Value countRows(int64_t parameter);
  Value evalConstant(arith::ConstantOp op, ArrayRef<Index> indices);
  Value evalView(ArrayRef<ElementSource> sources, ArrayRef<Index> indices);
  /// Returns true if `condition` may hold for some lanes of `index` but not for
  /// others.
  bool splitsLanes(const IndexCondition &condition, const Index &index) const;
  /// Returns the mask of the lanes of `index` for which `condition` holds.
  Value lanesWhere(const IndexCondition &condition, const Index &index);
  Value evalSegmentReduce(Operation *op, ArrayRef<Index> indices);
  Value evalScalar(Value value);
  /// Returns, for each loop of `op`, the limit at which the loop may end for
  /// all of `elements`. If a loop has no limit, its value is null.
  SmallVector<Value> evalLimits(const ReductionLoops &loops,
                                linalg::LinalgOp op,
                                ArrayRef<Indices> elements);
  /// Returns a*b + c, rounded once.
  Value evalProductSum(ValueRange operands);
  Value safeDivisor(Operation *op, ValueRange operands);
  Value indexValue(const Index &index);
  Value ownerOf(int64_t domain, Value row);
  /// Returns an address that the step contains: the address of a result's first
  /// row, or of the list of the addresses of the result's rows. The address is
  /// null if the rows are rows of operands.
  Value resultBase(int64_t result);
  /// Loads the pointer at `place`, or returns `otherwise` if `base` is null.
  Value loadUnlessNull(Value base, Value place, Value otherwise);
  Value isNull(Value pointer);
  /// Converts the indices of an element of the inserted value to its indices
  /// within a row of the destination. The first of `indices` is the row.
  Indices insertIndices(InsertOp insert, ArrayRef<Index> indices);
  Value storagePointer(Value value, const Storage &storage, int64_t domain,
                       Value row);
  /// Location of an element or a vector in a row: the position of the first
  /// element, and the distances of a vector's other elements from it. These
  /// distances are multiples of `stride` (0: one element) or separate
  /// `offsets`. All numbers count elements.
  struct Place {
    Value first;
    int64_t stride = 0;
    Value offsets;
  };
  Place locate(const TableLayout &layout, ArrayRef<Index> indices);
  /// Returns the number of bytes from slot 0 to `slot`.
  Value slotOffset(const TableLayout &layout, Value slot);
  Value loadElement(Value row, ArrayRef<int64_t> shape,
                    const TableLayout &layout, Type element,
                    ArrayRef<Index> indices);
  /// Quotients and remainders of divisions in an access.
  using Divisions = llvm::SmallDenseMap<std::pair<AffineExpr, int64_t>,
                                        std::pair<Index, Index>>;
  Index evalExpr(AffineExpr expr, ArrayRef<Index> dims, Divisions &divisions);
  std::pair<Index, Index> divide(const Index &a, int64_t b);
  Value mask(Value base, int64_t extent);
  /// Returns the mask of the lanes of `index` that are in range for a dimension
  /// of `extent`.
  Value mask(const Index &index, int64_t extent);
  /// Returns the indices of all lanes.
  Value laneIndices(const Index &index);
  Value atEntry(Key key, llvm::function_ref<Value()> make);
  Value *find(const Key &key);
  int64_t mod(int64_t value) const;

  CodeBuilder &b;
  const StagePlan &plan;
  ModuleTables &tables;
  int64_t lanes;
  int64_t stage = 0;
  StageArguments arguments;
  Operation *marker = nullptr; ///< entry code is inserted before this op
  std::vector<std::map<Key, Value>> scopes;
  std::map<Key, Value> entryValues;
  struct Tile {
    Value pointer;
    int64_t stride;
  };
  DenseMap<Value, Tile> tiles;
  Value tileRow, tileColumn;
  bool addressOnly = false; ///< loads return addresses, not elements
  bool failed = false;
};

} // namespace mlir::uprog

#endif // BATCH_CODEGEN_STAGES_EVALUATOR_H
