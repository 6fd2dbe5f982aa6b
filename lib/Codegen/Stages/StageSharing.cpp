//===- StageSharing.cpp - How workers share stages ------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Workers that run few tasks together divide every stage among themselves, by
// columns or by rows. A later stage needs a barrier only if a worker may access
// data that another worker writes. It needs no barrier if both stages assign
// the same elements to the same worker.
//
//===----------------------------------------------------------------------===//

#include "Staging.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

/// FLOPs that two workers could execute in the time that they wait at a
/// barrier.
static constexpr int64_t kBarrierFlops = int64_t(1) << 15;
/// FLOPs that a worker could execute in the time that an elementwise op takes
/// to read and write a byte.
static constexpr int64_t kFlopsPerByte = 4;

namespace {
/// Elements that a stage reads or writes. Each index is an expression over the
/// dimensions of the stage, where d0 is the row, or null if there is no such
/// expression.
struct Access {
  Value location;
  bool write = false;
  bool ownRow = true; ///< true if the row is the one that the stage computes
  SmallVector<AffineExpr> indices;
};

/// Worker that accesses an element, as a function of the element's indices. The
/// worker is the same for elements with equal positions in the leading
/// dimensions, or with equal columns. The kind is Null if there is no such
/// function.
struct Owner {
  enum Kind { Null, One, Columns, Rows } kind = Null;
  int64_t domain = RowSpace::kOnce;  ///< domain of rows
  SmallVector<int64_t, 3> extents{}; ///< extents of the dimensions that
                                     ///< determine the worker

  bool isSame(const Owner &other) const {
    return kind != Null && kind == other.kind && domain == other.domain &&
           extents == other.extents;
  }
};
} // namespace

namespace mlir::uprog {

/// Chooses how workers divide the stages of one operator.
class StageSharing {
public:
  explicit StageSharing(Staging &staging);
  void run();

private:
  using Stage = Staging::Stage;
  /// For each stage, the number of leading dimensions whose positions are
  /// divided among workers, or none if workers divide the columns.
  using Choice = SmallVector<std::optional<int64_t>>;

  void addAccesses(size_t number);
  Access makeInsertAccess(InsertOp insert) const;
  /// Returns the location of `value`. The result of an insert has the location
  /// of the value that it inserts into.
  Value getLocation(Value value) const;
  int64_t countPanels(const Stage &stage) const {
    int64_t columns = std::max<int64_t>(stage.space.columns(), 1);
    return llvm::divideCeil(columns, getPanelWidth(columns, staging.lanes));
  }
  /// Returns the sorted dimensions in which the matrices of the stage differ.
  static SmallVector<int64_t> listGroups(const Stage &stage);
  bool canShareElements(const Stage &stage) const;
  /// Returns true if rows may be divided among workers by their positions in
  /// the first `dims` dimensions.
  bool canShareRows(const Stage &stage, int64_t dims) const;
  std::optional<int64_t> choose(const Stage &stage, int64_t dims) const;
  Owner findOwner(const Stage &stage, std::optional<int64_t> dims,
                  const Access &access) const;
  bool conflict(size_t earlier, size_t later, const Choice &choice) const;
  /// Returns, for each stage, whether workers wait at a barrier before the
  /// stage.
  SmallVector<bool> placeBarriers(const Choice &choice) const;
  int64_t estimate(const Choice &choice) const;

  Staging &staging;
  std::vector<SmallVector<Access>> accesses; ///< of each stage
};

} // namespace mlir::uprog

StageSharing::StageSharing(Staging &staging)
    : staging(staging), accesses(staging.stages.size()) {
  for (size_t i = 0, e = staging.stages.size(); i < e; ++i)
    addAccesses(i);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

Value StageSharing::getLocation(Value value) const {
  while (auto insert = value.getDefiningOp<InsertOp>())
    value = insert.getDest();
  return value;
}

/// Returns the elements of the destination that an insert writes.
Access StageSharing::makeInsertAccess(InsertOp insert) const {
  MLIRContext *context = insert.getContext();
  Access access{getLocation(insert.getDest()), /*write=*/true};
  access.indices.push_back(getAffineDimExpr(0, context));
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  unsigned next = 1;
  for (size_t dim = 0; dim < dropped.size(); ++dim) {
    int64_t offset = insert.getOffsets()[dim];
    AffineExpr index;
    if (!dropped[dim]) {
      index = getAffineDimExpr(next++, context) * insert.getStrides()[dim];
      index = ShapedType::isDynamic(offset) ? AffineExpr() : index + offset;
    }
    access.indices.push_back(index);
  }
  return access;
}

void StageSharing::addAccesses(size_t number) {
  const Stage &stage = staging.stages[number];
  SmallVector<Access> &list = accesses[number];
  for (const StagedNode *node : staging.listNodes()) {
    if (node->stage != static_cast<int64_t>(number))
      continue;
    for (const Read &read : node->reads) {
      Access access{getLocation(read.base), /*write=*/false, !read.nonLocalRow};
      for (const SymbolicIndex &index : read.indices)
        access.indices.push_back(index.expr);
      list.push_back(std::move(access));
    }
  }
  for (auto [value, offset] : stage.stores) {
    if (auto insert = value.getDefiningOp<InsertOp>()) {
      list.push_back(makeInsertAccess(insert));
      continue;
    }
    Access access{value, /*write=*/true};
    for (const SymbolicIndex &index : staging.identity(stage.space, false))
      access.indices.push_back(index.expr);
    list.push_back(std::move(access));
  }
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

Owner StageSharing::findOwner(const Stage &stage, std::optional<int64_t> dims,
                              const Access &access) const {
  const RowSpace &space = stage.space,
                 &there = staging.getSpace(access.location);
  MLIRContext *context = access.location.getContext();
  ArrayRef<AffineExpr> indices(access.indices);
  if (!dims) {
    // The indices do not determine the worker if workers divide the panels of
    // all matrices, or panels that the stage packs.
    if (!canShareRows(stage, 0) || !listGroups(stage).empty())
      return {};
    if (countPanels(stage) == 1)
      return {Owner::One};
    if (there.rank() == 0 || there.columns() != space.columns() ||
        indices.back() != getAffineDimExpr(space.rank(), context))
      return {};
    return {Owner::Columns, RowSpace::kOnce, {space.columns()}};
  }
  if (there.domain != space.domain || there.rank() < *dims || !access.ownRow)
    return {};
  if (space.hasRows()) {
    if (indices.front() != getAffineDimExpr(0, context))
      return {};
    indices = indices.drop_front();
  }
  ArrayRef<int64_t> extents = ArrayRef(space.shape).take_front(*dims);
  for (auto [i, extent] : llvm::enumerate(extents))
    if (there.shape[i] != extent ||
        indices[i] != getAffineDimExpr(i + 1, context))
      return {};
  return {Owner::Rows, space.domain, llvm::to_vector<3>(extents)};
}

bool StageSharing::conflict(size_t earlier, size_t later,
                            const Choice &choice) const {
  for (const Access &first : accesses[earlier]) {
    Owner owner = findOwner(staging.stages[earlier], choice[earlier], first);
    for (const Access &second : accesses[later])
      if (first.location == second.location && (first.write || second.write) &&
          !owner.isSame(
              findOwner(staging.stages[later], choice[later], second)))
        return true;
  }
  return false;
}

SmallVector<bool> StageSharing::placeBarriers(const Choice &choice) const {
  SmallVector<bool> barriers(choice.size());
  size_t last = 0;
  for (size_t stage = 1; stage < choice.size(); ++stage)
    for (size_t earlier = last; earlier < stage; ++earlier)
      if (conflict(earlier, stage, choice)) {
        barriers[stage] = true;
        last = stage;
      }
  return barriers;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

SmallVector<int64_t> StageSharing::listGroups(const Stage &stage) {
  SmallVector<int64_t> groups;
  for (const StagedNode *node : stage.nodes)
    if (node->reduction)
      llvm::append_range(groups, getGroups(node->reduction));
  llvm::sort(groups);
  groups.erase(llvm::unique(groups), groups.end());
  return groups;
}

/// Returns true if the elements of a row may be divided among workers. The
/// stage must compute only reductions whose reduced elements are in lanes.
bool StageSharing::canShareElements(const Stage &stage) const {
  return stage.space.rank() > 0 && countPanels(stage) == 1 &&
         !stage.nodes.empty() &&
         llvm::all_of(stage.nodes, [](const StagedNode *node) {
           auto reduced = dyn_cast_or_null<ReducedAttr>(node->reduction);
           return reduced && reduced.getKind() == ReducedKind::Lanes;
         });
}

bool StageSharing::canShareRows(const Stage &stage, int64_t dims) const {
  SmallVector<int64_t> groups = listGroups(stage);
  if (groups.empty())
    return llvm::none_of(stage.nodes, [](const StagedNode *node) {
      return isa_and_nonnull<CopiedAttr, GatheredAttr>(node->reduction);
    });
  // Each worker must get whole matrices.
  return dims <= static_cast<int64_t>(groups.size()) &&
         groups.back() + 1 == static_cast<int64_t>(groups.size());
}

std::optional<int64_t> StageSharing::choose(const Stage &stage,
                                            int64_t dims) const {
  int64_t rank = stage.space.rank();
  if (dims > 0 && (rank > dims || (rank == dims && canShareElements(stage))) &&
      canShareRows(stage, dims))
    return dims;
  int64_t most = std::max<int64_t>(rank - 1, 0);
  if (countPanels(stage) > 1 || !stage.space.hasRows() ||
      !canShareRows(stage, most))
    return std::nullopt;
  return most;
}

/// Estimates the time that two workers take to run one task. Returns the FLOPs
/// that a worker could execute in this time.
int64_t StageSharing::estimate(const Choice &choice) const {
  int64_t sum = 0;
  for (auto [i, stage] : llvm::enumerate(staging.stages)) {
    int64_t shares = countPanels(stage);
    for (int64_t dim : listGroups(stage))
      shares *= stage.space.shape[dim];
    if (choice[i]) {
      shares = 1;
      for (int64_t extent : ArrayRef(stage.space.shape).take_front(*choice[i]))
        shares *= extent;
    }
    int64_t elements = stage.space.leading() * stage.space.columns();
    int64_t work = kFlopsPerByte * 4 * elements, parameters = 0;
    for (const StagedNode *node : stage.nodes) {
      if (!node->reduction)
        continue;
      auto op = cast<linalg::LinalgOp>(node->op);
      SmallVector<unsigned> reduced;
      op.getReductionDims(reduced);
      int64_t terms = 2 * elements;
      for (unsigned dim : reduced)
        terms *= op.getStaticLoopRanges()[dim];
      work += terms;
      // If workers divide the rows, each worker reads all columns of a
      // parameter.
      if (isa<PackedAttr>(node->reduction))
        parameters += terms / (2 * stage.space.leading()) * 4;
    }
    int64_t most = llvm::divideCeil(shares, 2);
    sum += work / shares * most;
    sum +=
        kFlopsPerByte * (choice[i] ? parameters : parameters / shares * most);
  }
  return sum + kBarrierFlops * llvm::count(placeBarriers(choice), true);
}

void StageSharing::run() {
  int64_t most = 0;
  for (const Stage &stage : staging.stages)
    most = std::max(most, stage.space.rank());
  Choice best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int64_t dims = 0; dims <= most; ++dims) {
    Choice choice;
    for (const Stage &stage : staging.stages)
      choice.push_back(choose(stage, dims));
    int64_t cost = estimate(choice);
    if (cost < least) {
      least = cost;
      best = choice;
    }
  }
  SmallVector<bool> barriers = placeBarriers(best);
  for (auto [i, stage] : llvm::enumerate(staging.stages)) {
    stage.sharedDims = best[i];
    stage.barrier = barriers[i];
  }
}

void Staging::shareStages() {
  if (!stages.empty())
    StageSharing(*this).run();
}
