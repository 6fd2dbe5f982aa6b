//===- Scalarize.cpp - Convert rank-0 tensors to scalars ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A *known* value is a rank-0 tensor that elementwise operations compute from
// constants and from elements of inputs and parameters. Structured control flow
// may carry it. Where control flow extracts the element of a known value, the
// pass converts the whole chain to scalars: first the values that loops and
// branches carry, then, pattern by pattern, the operations in between.
//
// Front ends also make a loop carry all values that it reads, parameters
// included. The pass first removes the values that a loop carries unchanged,
// with the upstream canonicalization of loops.
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ControlStructure.h"
#include "Batch/Dialect/Batch/Batch.h"
#include "Batch/Transforms/Import/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::batch {
#define GEN_PASS_DEF_SCALARIZEPASS
#include "Batch/Transforms/Import/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

static bool isRankZero(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 0;
}

//===----------------------------------------------------------------------===//
// Operations of rank 0
//===----------------------------------------------------------------------===//

/// Element of a tensor: the tensor and the indices of the element.
struct ElementPlace {
  Value tensor;
  SmallVector<OpFoldResult> indices;
};

/// If `value` is a slice of one element, perhaps reshaped, returns the element
/// that the slice extracts. Returns none for any other tensor.
static std::optional<ElementPlace> findPlace(Value value) {
  auto shape = cast<RankedTensorType>(value.getType());
  if (!shape.hasStaticShape() || shape.getNumElements() != 1)
    return std::nullopt;
  while (auto *op = value.getDefiningOp()) {
    if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  auto slice = value.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return std::nullopt;
  return ElementPlace{slice.getSource(), slice.getMixedOffsets()};
}

/// Returns true for a tensor whose elements are available to control flow
/// without a wait: an argument of the entry, an argument that is an input at
/// all calls, or a field.
static bool isInput(Value value, InputTensors &inputs) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isa<RankedTensorType>(value.getType()))
    return false;
  Operation *owner = argument.getOwner()->getParentOp();
  return owner->hasAttr(kEntryAttr) ||
         (isa<func::FuncOp, rec::MatchOp>(owner) && inputs.contains(value));
}

/// Returns the rank-0 tensors from which `op`, an elementwise op, computes its
/// rank-0 result. Returns none for every other op.
static std::optional<SmallVector<Value>> getElementwiseOperands(Operation *op) {
  if (isa<arith::ConstantOp, tensor::FromElementsOp, tensor::EmptyOp>(op))
    return SmallVector<Value>();
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return SmallVector<Value>();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (linalgOp.getNumLoops() != 0 ||
        llvm::any_of(linalgOp.getBlock()->without_terminator(),
                     [](Operation &inner) {
                       return inner.getNumRegions() != 0 || !isPure(&inner) ||
                              isa<tensor::TensorDialect>(inner.getDialect());
                     }))
      return std::nullopt;
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      if (linalgOp.payloadUsesValueFromOperand(&operand) &&
          isa<RankedTensorType>(operand.get().getType()))
        operands.push_back(operand.get());
    return operands;
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && isPure(op) &&
      op->getNumResults() == 1 &&
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        operands.push_back(operand);
    return operands;
  }
  return std::nullopt;
}

namespace {

/// Extracts the elements of an operation's operands instead of the element of
/// its result.
struct ComputeScalar : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getIndices().empty())
      return rewriter.notifyMatchFailure(op, "not of rank 0");
    auto result = dyn_cast<OpResult>(op.getTensor());
    if (!result)
      return rewriter.notifyMatchFailure(op, "not computed");
    Operation *def = result.getOwner();
    Location loc = def->getLoc();
    rewriter.setInsertionPoint(def);
    auto take = [&](Value operand) -> Value {
      if (!isa<RankedTensorType>(operand.getType()))
        return operand;
      return tensor::ExtractOp::create(rewriter, loc, operand, ValueRange());
    };
    if (std::optional<ElementPlace> place = findPlace(result)) {
      SmallVector<Value> indices =
          getValueOrCreateConstantIndexOp(rewriter, loc, place->indices);
      rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, place->tensor,
                                                     indices);
      return success();
    }
    if (!getElementwiseOperands(def))
      return rewriter.notifyMatchFailure(op, "not elementwise");
    if (auto fill = dyn_cast<linalg::FillOp>(def)) {
      rewriter.replaceOp(op, fill.getInputs().front());
      return success();
    }
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(def)) {
      IRMapping mapping;
      for (OpOperand &operand : def->getOpOperands())
        if (linalgOp.payloadUsesValueFromOperand(&operand))
          mapping.map(linalgOp.getMatchingBlockArgument(&operand),
                      take(operand.get()));
      for (Operation &inner : linalgOp.getBlock()->without_terminator())
        rewriter.clone(inner, mapping);
      Value yielded = linalgOp.getBlock()->getTerminator()->getOperand(
          result.getResultNumber());
      rewriter.replaceOp(op, mapping.lookupOrDefault(yielded));
      return success();
    }
    // Folders handle ops that are not elementwise.
    if (!OpTrait::hasElementwiseMappableTraits(def))
      return rewriter.notifyMatchFailure(op, "no operation on scalars");
    OperationState state(loc, def->getName());
    for (Value operand : def->getOperands())
      state.operands.push_back(take(operand));
    state.addTypes(op.getType());
    state.addAttributes(llvm::to_vector(def->getDiscardableAttrs()));
    state.propertiesAttr = def->getPropertiesAsAttribute();
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Values that control flow carries
//===----------------------------------------------------------------------===//

/// Rank-0 tensors that the loops and branches of a function carry.
class CarriedTensors {
public:
  CarriedTensors(func::FuncOp function, InputTensors &inputs);

  /// Converts to scalars the tensors that `reads` depend on. Returns the new
  /// reads, which extract the scalars to carry.
  SmallVector<Operation *> scalarize(ArrayRef<tensor::ExtractOp> reads);
  /// Adds `read` to `reads` if it reads a known value of rank 0 that is not an
  /// input. If the value depends on elements of inputs, also adds, recursively,
  /// the reads that compute the positions of these elements.
  void addReads(tensor::ExtractOp read,
                llvm::SetVector<tensor::ExtractOp> &reads) const;

private:
  void findKnown();
  /// Returns true if `value` is computed from inputs and constants only.
  /// Appends to `positions` the indices at which inputs are read to compute
  /// `value`.
  bool isKnown(Value value, SmallVectorImpl<Value> *positions = nullptr) const;
  void demand(Value value);
  void convert(Value value);

  InputTensors &inputs;
  /// Operands that supply each carried value.
  llvm::MapVector<Value, SmallVector<OpOperand *, 2>> sources;
  /// Classes of carried values that must have the same type because the same
  /// operand supplies them.
  llvm::EquivalenceClasses<Value> classes;
  DenseSet<Value> unknown;
  DenseSet<Value> demanded;
};

} // namespace

CarriedTensors::CarriedTensors(func::FuncOp function, InputTensors &inputs)
    : inputs(inputs) {
  DenseMap<OpOperand *, Value> first;
  auto add = [&](OpOperand &operand, Value target) {
    if (!isRankZero(target))
      return;
    sources[target].push_back(&operand);
    classes.insert(target);
    auto [it, isNew] = first.try_emplace(&operand, target);
    if (!isNew)
      classes.unionSets(it->second, target);
  };
  function.walk([&](RegionBranchOpInterface branch) {
    // Only these ops may change the types of the values that they carry.
    if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(branch))
      return;
    auto visit = [&](RegionBranchPoint point, Operation *op) {
      SmallVector<RegionSuccessor> successors;
      branch.getSuccessorRegions(point, successors);
      for (RegionSuccessor successor : successors) {
        OperandRange operands = branch.getSuccessorOperands(point, successor);
        ValueRange inputs = successor.getSuccessorInputs();
        for (auto [i, input] : llvm::enumerate(inputs))
          add(op->getOpOperand(operands.getBeginOperandIndex() + i), input);
      }
    };
    if (!isa<scf::IfOp>(branch))
      visit(RegionBranchPoint::parent(), branch);
    for (Region &region : branch->getRegions())
      if (!region.empty())
        if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(
                region.front().getTerminator()))
          visit(end, end);
  });
  findKnown();
}

bool CarriedTensors::isKnown(Value value,
                             SmallVectorImpl<Value> *positions) const {
  SmallVector<Value> work = {value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second || isInput(next, inputs))
      continue;
    if (sources.contains(next)) {
      if (unknown.contains(next))
        return false;
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (!op)
      return false;
    if (std::optional<ElementPlace> place = findPlace(next)) {
      if (!isInput(place->tensor, inputs))
        return false;
      for (OpFoldResult index : place->indices)
        if (auto position = dyn_cast<Value>(index); position && positions)
          positions->push_back(position);
      continue;
    }
    std::optional<SmallVector<Value>> operands = getElementwiseOperands(op);
    if (!operands || !isRankZero(next))
      return false;
    work.append(*operands);
  }
  return true;
}

void CarriedTensors::addReads(tensor::ExtractOp read,
                              llvm::SetVector<tensor::ExtractOp> &reads) const {
  SmallVector<tensor::ExtractOp> work = {read};
  DenseSet<Value> seen; ///< visited scalars that compute indices
  while (!work.empty()) {
    tensor::ExtractOp next = work.pop_back_val();
    SmallVector<Value> numbers;
    if (reads.contains(next) || !next.getIndices().empty() ||
        isInput(next.getTensor(), inputs) ||
        !isKnown(next.getTensor(), &numbers))
      continue;
    reads.insert(next);
    while (!numbers.empty()) {
      Value number = numbers.pop_back_val();
      Operation *op = number.getDefiningOp();
      if (!op || isa<RankedTensorType>(number.getType()) ||
          !seen.insert(number).second)
        continue;
      if (auto other = dyn_cast<tensor::ExtractOp>(op))
        work.push_back(other);
      else if (isPure(op))
        numbers.append(op->operand_begin(), op->operand_end());
    }
  }
}

/// Finds the unknown carried values. A carried value is known unless it or a
/// value of its class has an unknown source.
void CarriedTensors::findKnown() {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto &[value, operands] : sources) {
      bool isUnknown = llvm::any_of(operands,
                                    [&](OpOperand *operand) {
                                      return !isKnown(operand->get());
                                    }) ||
                       llvm::any_of(classes.members(value), [&](Value other) {
                         return unknown.contains(other);
                       });
      if (isUnknown)
        changed |= unknown.insert(value).second;
    }
  }
}

/// Marks the carried values from which `value` is computed.
void CarriedTensors::demand(Value value) {
  SmallVector<Value> work = {value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (sources.contains(next)) {
      for (Value member : classes.members(next)) {
        demanded.insert(member);
        work.push_back(member);
        for (OpOperand *operand : sources.lookup(member))
          work.push_back(operand->get());
      }
    } else if (Operation *op = next.getDefiningOp()) {
      if (auto operands = getElementwiseOperands(op))
        work.append(*operands);
    }
  }
}

/// Converts a carried value to a scalar, and creates a tensor from the scalar
/// where the value is used.
void CarriedTensors::convert(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  value.setType(type.getElementType());
  if (value.use_empty())
    return;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto tensor =
      tensor::FromElementsOp::create(builder, value.getLoc(), type, value);
  value.replaceAllUsesExcept(tensor.getResult(), tensor);
}

SmallVector<Operation *>
CarriedTensors::scalarize(ArrayRef<tensor::ExtractOp> reads) {
  for (tensor::ExtractOp read : reads)
    demand(read.getTensor());
  llvm::SetVector<OpOperand *> operands;
  for (auto &[value, from] : sources)
    if (demanded.contains(value) && !unknown.contains(value))
      operands.insert(from.begin(), from.end());
  for (auto &[value, from] : sources)
    if (demanded.contains(value) && !unknown.contains(value))
      convert(value);
  SmallVector<Operation *> elements;
  for (OpOperand *operand : operands) {
    OpBuilder builder(operand->getOwner());
    auto element = tensor::ExtractOp::create(
        builder, operand->getOwner()->getLoc(), operand->get(), ValueRange());
    operand->set(element);
    elements.push_back(element);
  }
  return elements;
}

//===----------------------------------------------------------------------===//
// Values that loops carry unchanged
//===----------------------------------------------------------------------===//

/// Returns true if an iteration forwards one of its carried values unchanged.
static bool carriesUnchanged(LoopLikeOpInterface loop) {
  auto passesAny = [](ValueRange given, ValueRange next) {
    return llvm::any_of(llvm::zip(given, next), [](auto pair) {
      return std::get<0>(pair) == std::get<1>(pair);
    });
  };
  if (auto forOp = dyn_cast<scf::ForOp>(*loop))
    return passesAny(forOp.getRegionIterArgs(), forOp.getYieldedValues());
  if (auto whileOp = dyn_cast<scf::WhileOp>(*loop))
    return passesAny(whileOp.getBeforeArguments(),
                     whileOp.getConditionOp().getArgs()) &&
           passesAny(whileOp.getAfterArguments(),
                     whileOp.getYieldOp().getOperands());
  return false;
}

/// Removes the values that loops carry unchanged.
static void dropUnchanged(func::FuncOp function) {
  SmallVector<Operation *> loops;
  bool any = false;
  function.walk([&](LoopLikeOpInterface loop) {
    loops.push_back(loop);
    any |= carriesUnchanged(loop);
  });
  if (!any)
    return;
  RewritePatternSet patterns(function.getContext());
  scf::ForOp::getCanonicalizationPatterns(patterns, function.getContext());
  scf::WhileOp::getCanonicalizationPatterns(patterns, function.getContext());
  (void)applyOpPatternsGreedily(loops, std::move(patterns));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

class ScalarizePass : public batch::impl::ScalarizePassBase<ScalarizePass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      dropUnchanged(function);
    InstanceProgram program(getOperation());
    if (!program.getEntry())
      return;
    Sharedness sharedness(program);
    TensorCode code(program, sharedness);
    InputTensors inputs(program, sharedness);
    for (func::FuncOp function : program.getFunctions())
      scalarize(function, code, inputs);
  }

  void scalarize(func::FuncOp function, const TensorCode &code,
                 InputTensors &inputs) {
    CarriedTensors carried(function, inputs);
    llvm::SetVector<tensor::ExtractOp> found;
    function.walk([&](tensor::ExtractOp read) {
      if (!code.contains(read))
        carried.addReads(read, found);
    });
    if (found.empty())
      return;
    ArrayRef<tensor::ExtractOp> reads = found.getArrayRef();
    // The patterns below leave reads unchanged if they do not match the op that
    // computes the tensor.
    SmallVector<Operation *> roots(reads.begin(), reads.end());
    llvm::append_range(roots, carried.scalarize(reads));
    RewritePatternSet patterns(&getContext());
    patterns.add<ComputeScalar>(&getContext());
    tensor::ExtractOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyOpPatternsGreedily(roots, std::move(patterns));
  }
};

} // namespace
