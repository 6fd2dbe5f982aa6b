//===- RecInterfaces.cpp - Interfaces of rec ops --------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Batch/Dialect/Rec/Rec.h"

using namespace mlir;
using namespace mlir::rec;

#include "Batch/Dialect/Rec/RecInterfaces.cpp.inc"
#include "Batch/Dialect/Rec/RecOpInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Names the block of each case after the variant.
void MatchOp::getAsmBlockNames(OpAsmSetBlockNameFn setName) {
  for (auto [number, region] : llvm::enumerate(getRegions()))
    if (!region.empty())
      setName(&region.front(), getCaseName(number).getValue());
}

void MatchOp::getSuccessorRegions(RegionBranchPoint point,
                                  SmallVectorImpl<RegionSuccessor> &regions) {
  if (!point.isParent()) {
    regions.emplace_back(getOperation(), getResults());
    return;
  }
  // The fields that the cases receive are not operands of this op.
  for (Region &region : getRegions())
    regions.emplace_back(&region);
}

void MatchOp::getRegionInvocationBounds(
    ArrayRef<Attribute>, SmallVectorImpl<InvocationBounds> &bounds) {
  bounds.append(getNumRegions(), InvocationBounds(/*lb=*/0, /*ub=*/1));
}

void MapOp::getSuccessorRegions(RegionBranchPoint,
                                SmallVectorImpl<RegionSuccessor> &regions) {
  // The elements that the body receives are not operands of this op, and no
  // single run of the body yields the resulting lists.
  regions.emplace_back(&getBody());
  regions.emplace_back(getOperation(), getResults().take_front(0));
}

SmallVector<Region *> MapOp::getLoopRegions() { return {&getBody()}; }

OperandRange FoldOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void FoldOp::getSuccessorRegions(RegionBranchPoint,
                                 SmallVectorImpl<RegionSuccessor> &regions) {
  regions.emplace_back(&getBody(), getAccumulators());
  regions.emplace_back(getOperation(), getResults());
}

SmallVector<Region *> FoldOp::getLoopRegions() { return {&getBody()}; }

Block::BlockArgListType FoldOp::getRegionIterArgs() {
  return getAccumulators();
}

std::optional<MutableArrayRef<OpOperand>> FoldOp::getYieldedValuesMutable() {
  return getYield().getOperandsMutable();
}

std::optional<ResultRange> FoldOp::getLoopResults() { return getResults(); }

MutableOperandRange YieldOp::getMutableSuccessorOperands(RegionSuccessor) {
  if (isa<MapOp>((*this)->getParentOp()))
    return getOperandsMutable().slice(0, 0);
  return getOperandsMutable();
}

//===----------------------------------------------------------------------===//
// Lists and values of ADTs
//===----------------------------------------------------------------------===//

using Edges = SmallVectorImpl<ValueFlowEdge>;

SmallVector<ValueFlowEdge>
mlir::rec::getValueFlow(Operation *op, SymbolTableCollection &symbolTables) {
  SmallVector<ValueFlowEdge> edges;
  if (auto flow = dyn_cast<ValueFlowOpInterface>(op))
    flow.getValueFlow(symbolTables, edges);
  return edges;
}

void ConstructOp::getValueFlow(SymbolTableCollection &symbolTables,
                               Edges &edges) {
  VariantOp variant = lookupVariant(*this, getVariant(), symbolTables);
  for (auto [number, field] : llvm::enumerate(getFields()))
    edges.push_back({ValueFlowEdge::Build, field, getResult(), variant,
                     static_cast<unsigned>(number)});
}

void MatchOp::getValueFlow(SymbolTableCollection &symbolTables, Edges &edges) {
  edges.push_back({ValueFlowEdge::Decide, getValue(), {}, {}});
  for (auto [number, region] : llvm::enumerate(getRegions())) {
    VariantOp variant = lookupCase(*this, number, symbolTables);
    for (BlockArgument argument : region.getArguments())
      edges.push_back({ValueFlowEdge::Read, getValue(), argument, variant,
                       argument.getArgNumber()});
  }
}

/// Appends the edges from `list` to `to`. `list` is a sequence or a value of a
/// list-shaped ADT, and `to` is an element or a list of all elements.
static void appendElements(Operation *op, Value list, Value to,
                           SymbolTableCollection &symbolTables, Edges &edges) {
  auto type = dyn_cast<AdtType>(list.getType());
  if (!type) {
    edges.push_back({ValueFlowEdge::Element, list, to, {}});
    return;
  }
  AdtOp adt = lookupAdt(op, type.getName(), symbolTables);
  std::optional<ListShape> shape = getListShape(adt);
  // Code that walks the list matches each of its links.
  edges.push_back({ValueFlowEdge::Decide, list, {}, {}});
  edges.push_back({ValueFlowEdge::Decide, list, {}, shape->link, shape->rest});
  edges.push_back({ValueFlowEdge::Read, list, to, shape->link, shape->element});
  edges.push_back({ValueFlowEdge::Read, list, to, shape->link, shape->rest});
}

void ElementsOp::getValueFlow(SymbolTableCollection &symbolTables,
                              Edges &edges) {
  appendElements(*this, getValue(), getList(), symbolTables, edges);
}

void MapOp::getValueFlow(SymbolTableCollection &symbolTables, Edges &edges) {
  for (auto [list, element] : llvm::zip_equal(getLists(), getElements()))
    appendElements(*this, list, element, symbolTables, edges);
}

void FoldOp::getValueFlow(SymbolTableCollection &symbolTables, Edges &edges) {
  for (auto [list, element] : llvm::zip_equal(getLists(), getElements()))
    appendElements(*this, list, element, symbolTables, edges);
}

void YieldOp::getValueFlow(SymbolTableCollection &, Edges &edges) {
  auto map = dyn_cast<MapOp>((*this)->getParentOp());
  if (!map)
    return;
  for (auto [operand, result] :
       llvm::zip_equal(getOperands(), map.getResults()))
    edges.push_back({ValueFlowEdge::Gather, operand, result, {}});
}

/// Appends no edges, because an empty list has no operands and no elements.
void EmptyOp::getValueFlow(SymbolTableCollection &, Edges &) {}

void AppendOp::getValueFlow(SymbolTableCollection &, Edges &edges) {
  edges.push_back({ValueFlowEdge::Same, getList(), getResult(), {}});
  edges.push_back({ValueFlowEdge::Gather, getElement(), getResult(), {}});
}

/// Appends a `Count` edge, because the length of a list depends on the data
/// structure, not on the elements.
void LengthOp::getValueFlow(SymbolTableCollection &, Edges &edges) {
  edges.push_back({ValueFlowEdge::Count, getList(), getResult(), {}});
}

/// Appends a `Decide` edge for the position, because control flow needs its
/// value. Appends an `Element` edge for the result.
void ElementOp::getValueFlow(SymbolTableCollection &, Edges &edges) {
  edges.push_back({ValueFlowEdge::Decide, getPosition(), {}, {}});
  edges.push_back({ValueFlowEdge::Element, getList(), getResult(), {}});
}

/// Appends no edges, because a `rec.phase` has no operands and no results.
void PhaseOp::getValueFlow(SymbolTableCollection &, Edges &) {}
