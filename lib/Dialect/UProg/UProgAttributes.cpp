//===- UProgAttributes.cpp - Verification of uprog attributes -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Dialect/UProg/UProg.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::uprog;

using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Operands and results of operators
//===----------------------------------------------------------------------===//

static LogicalResult verifyPlace(EmitError emitError, AffineMap layout,
                                 int64_t blockBytes) {
  if (layout && layout.getNumSymbols() != 0)
    return emitError() << "a layout must have no symbols";
  if (blockBytes < 0)
    return emitError() << "'block_bytes' must be at least 0";
  return success();
}

LogicalResult OperandAttr::verify(EmitError emitError, OperandKind kind,
                                  int64_t number, int64_t ragged,
                                  AffineMap layout, int64_t blockBytes) {
  bool numbered = kind == OperandKind::Shared || kind == OperandKind::Offsets;
  if (numbered != (number >= 0))
    return emitError()
           << "'shared' and 'offsets' require a number; other kinds "
              "do not take one";
  bool isRow = kind == OperandKind::Gather || kind == OperandKind::Rows;
  if (!isRow && (ragged >= 0 || layout || blockBytes))
    return emitError() << "'" << stringifyOperandKind(kind)
                       << "' does not take 'ragged', 'layout' or "
                          "'block_bytes'";
  return verifyPlace(emitError, layout, blockBytes);
}

LogicalResult ResultAttr::verify(EmitError emitError, int64_t siblings,
                                 int64_t position, AffineMap layout,
                                 int64_t blockBytes, bool rows) {
  if (position < 0 || position >= siblings)
    return emitError()
           << "'position' must be at least 0 and less than 'siblings', got "
           << position << " and " << siblings;
  if (rows && (siblings > 1 || layout || blockBytes != 0))
    return emitError() << "'rows' cannot be combined with 'siblings', 'layout' "
                          "or 'block_bytes'";
  return verifyPlace(emitError, layout, blockBytes);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Checks the indices of the stages that have a barrier before them.
static LogicalResult verifyBarriers(EmitError emitError,
                                    ArrayRef<int64_t> barriers) {
  int64_t last = 0;
  for (int64_t stage : barriers) {
    if (stage <= last)
      return emitError()
             << "'barriers' must be in ascending order and at least 1";
    last = stage;
  }
  return success();
}

LogicalResult WorkersAttr::verify(EmitError emitError,
                                  ArrayRef<int64_t> barriers,
                                  int64_t fixedScratch, int64_t taskScratch,
                                  int64_t mostScratch, int64_t rowSplit,
                                  int64_t stageRows, int64_t shareTasks) {
  if (fixedScratch < 0 || taskScratch < 0 || mostScratch < 0)
    return emitError() << "scratch memory must be at least 0 bytes";
  if (rowSplit < 1 || shareTasks < 1 || stageRows < 0)
    return emitError() << "'row_split' and 'share_tasks' must be at least 1, "
                          "and 'stage_rows' at least 0";
  return verifyBarriers(emitError, barriers);
}

LogicalResult CodeAttr::verify(EmitError emitError, int64_t stages,
                               int64_t taskScratch,
                               ArrayRef<int64_t> raggedScratch,
                               WorkersAttr workers) {
  if (stages < 0)
    return emitError() << "'stages' must be at least 0, got " << stages;
  if (taskScratch < 0 ||
      llvm::any_of(raggedScratch, [](int64_t bytes) { return bytes < 0; }))
    return emitError() << "scratch memory must be at least 0 bytes";
  if (workers && !workers.getBarriers().empty() &&
      workers.getBarriers().back() >= stages)
    return emitError() << "a barrier is before stage "
                       << workers.getBarriers().back()
                       << ", but the last stage is " << stages - 1;
  return success();
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

LogicalResult StagingAttr::verify(EmitError emitError, StageTarget,
                                  int64_t vectorBits, int64_t lanes) {
  if (vectorBits < 128 || !llvm::isPowerOf2_64(vectorBits))
    return emitError()
           << "'vector_bits' must be a power of two and at least 128";
  if (lanes < 1 || !llvm::isPowerOf2_64(lanes) || lanes * 32 > vectorBits)
    return emitError() << "'lanes' must be a power of two, and each lane must "
                          "have at least 32 of the "
                       << vectorBits << " bits";
  return success();
}

LogicalResult RowsAttr::verify(EmitError emitError, RowsKind kind,
                               int64_t domain) {
  if ((kind == RowsKind::Ragged) != (domain >= 0))
    return emitError()
           << "'ragged' requires a domain; other kinds do not take one";
  return success();
}

LogicalResult PanelsAttr::verify(EmitError emitError,
                                 ArrayRef<int64_t> parameters,
                                 ArrayRef<int64_t> extents,
                                 ArrayRef<int64_t> order, int64_t n, int64_t k,
                                 int64_t width, bool transposed) {
  if (parameters.empty())
    return emitError() << "panels require at least one parameter";
  if (n < 1 || k < 1 || width < 1)
    return emitError() << "'n', 'k' and 'width' must be at least 1";
  if (parameters.size() > 1 && !transposed)
    return emitError() << "several parameters are stacked along 'n', so they "
                          "must be 'transposed'";
  if (extents.empty() && order.empty())
    return success();
  if (parameters.size() > 1 || transposed)
    return emitError() << "'extents' and 'order' cannot be combined with "
                          "several parameters or 'transposed'";
  if (order.size() != extents.size() || !isPermutationVector(order))
    return emitError()
           << "'order' must be a permutation of the dimensions of 'extents'";
  // Each dimension belongs as a whole to n, to k or to the groups.
  int64_t inner = 1;
  bool hasN = n == 1, hasK = n * k == 1;
  for (int64_t dim : llvm::reverse(order)) {
    if (extents[dim] < 1)
      return emitError() << "'extents' must be at least 1";
    inner *= extents[dim];
    hasN |= inner == n;
    hasK |= hasN && inner == n * k;
  }
  if (!hasK)
    return emitError() << "'order' must end in dimensions whose extents have "
                          "the product 'n', preceded by dimensions whose "
                          "extents have the product 'k'";
  return success();
}

int64_t PanelsAttr::getGroups() const {
  int64_t elements = 1;
  for (int64_t extent : getExtents())
    elements *= extent;
  return getExtents().empty() ? 1 : elements / (getN() * getK());
}

/// Checks that positions along a reduction are positive and ascending.
static LogicalResult verifyBreaks(EmitError emitError,
                                  ArrayRef<int64_t> breaks) {
  int64_t last = 0;
  for (int64_t position : breaks) {
    if (position <= last)
      return emitError()
             << "'breaks' must be in ascending order and at least 1";
    last = position;
  }
  return success();
}

LogicalResult PackedAttr::verify(EmitError emitError, ArrayRef<int64_t> breaks,
                                 ArrayRef<int64_t> groups, unsigned left,
                                 PanelsAttr panels, int64_t firstGroup,
                                 int64_t nOffset, int64_t kOffset, bool) {
  if (left > 1)
    return emitError() << "'left' must be 0 or 1, the index of an input of the "
                          "contraction";
  if (nOffset < 0 || nOffset >= panels.getN() || kOffset < 0 ||
      kOffset >= panels.getK())
    return emitError() << "'n_offset' and 'k_offset' must be within the panels";
  if (nOffset % panels.getWidth() != 0)
    return emitError() << "'n_offset' must be a multiple of the panels' width, "
                       << panels.getWidth();
  if (firstGroup < 0 || firstGroup >= panels.getGroups())
    return emitError() << "'first_group' must be the number of a group of the "
                          "panels, 0 to "
                       << panels.getGroups() - 1;
  return verifyBreaks(emitError, breaks);
}

int64_t PackedAttr::getFirstElement() const {
  PanelsAttr panels = getPanels();
  int64_t width = panels.getWidth();
  int64_t panel = getFirstGroup() * llvm::divideCeil(panels.getN(), width) +
                  getNOffset() / width;
  return (panel * panels.getK() + getKOffset()) * width;
}

LogicalResult InPlaceAttr::verify(EmitError emitError, ArrayRef<int64_t> breaks,
                                  ArrayRef<int64_t> groups, ArrayRef<int64_t>,
                                  unsigned left, int64_t leftStride,
                                  int64_t rightStride) {
  if (left > 1)
    return emitError() << "'left' must be 0 or 1, the index of an input of the "
                          "contraction";
  if (leftStride < 1 || rightStride < 1)
    return emitError() << "'left_stride' and 'right_stride' must be at least 1";
  return verifyBreaks(emitError, breaks);
}

LogicalResult CopiedAttr::verify(EmitError emitError, ArrayRef<int64_t> breaks,
                                 ArrayRef<int64_t> groups, unsigned left, bool,
                                 bool) {
  if (left > 1)
    return emitError() << "'left' must be 0 or 1, the index of an input of the "
                          "contraction";
  return verifyBreaks(emitError, breaks);
}

LogicalResult GatheredAttr::verify(EmitError emitError, unsigned left,
                                   PanelsAttr panels, int64_t leftStride,
                                   int64_t run, bool) {
  if (left > 1)
    return emitError() << "'left' must be 0 or 1, the index of an input of the "
                          "contraction";
  if (panels.getWidth() != 1)
    return emitError()
           << "panels must have 'width' 1, because each row of A is a panel";
  if (leftStride < 1 || run < 1)
    return emitError() << "'left_stride' and 'run' must be at least 1";
  return success();
}

LogicalResult ReducedAttr::verify(EmitError emitError, ReducedKind,
                                  ArrayRef<int64_t> breaks) {
  return verifyBreaks(emitError, breaks);
}

//===----------------------------------------------------------------------===//
// Discardable attributes of operations
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> uprog::getGroups(Attribute reduction) {
  return llvm::TypeSwitch<Attribute, ArrayRef<int64_t>>(reduction)
      .Case<PackedAttr, InPlaceAttr, CopiedAttr>(
          [](auto attr) { return attr.getGroups(); })
      .Default([](Attribute) { return ArrayRef<int64_t>(); });
}

/// Checks `how` against the inner dimensions of the stage that contains `op`.
static LogicalResult verifyInnerDims(Operation *op, Attribute how) {
  ArrayRef<int64_t> shape = cast<StageOp>(op->getParentOp()).getShape();
  ArrayRef<int64_t> groups = getGroups(how);
  int64_t count = 1;
  for (auto [i, dim] : llvm::enumerate(groups)) {
    if (dim < 0 || dim + 1 >= static_cast<int64_t>(shape.size()) ||
        llvm::is_contained(groups.take_front(i), dim))
      return op->emitOpError(
          "'groups' must be distinct inner dimensions of the "
          "stage, excluding the last");
    count *= shape[dim];
  }
  if (auto packed = dyn_cast<PackedAttr>(how);
      packed && packed.getFirstGroup() + count > packed.getPanels().getGroups())
    return op->emitOpError("selects one of ")
           << count << " groups of panels, starting at group "
           << packed.getFirstGroup() << ", but the number of groups is "
           << packed.getPanels().getGroups();
  if (isa<GatheredAttr>(how) && shape.size() < 2)
    return op->emitOpError("gathers columns, so the stage must have inner "
                           "dimensions for rows and columns");
  return success();
}

static LogicalResult verifyReduction(Operation *op, Attribute how) {
  if (!isa<PackedAttr, InPlaceAttr, CopiedAttr, GatheredAttr, ReducedAttr>(how))
    return op->emitOpError("'uprog.reduction' must be #uprog.packed, "
                           "#uprog.in_place, #uprog.copied, #uprog.gathered or "
                           "#uprog.reduced");
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumReductionLoops() == 0 ||
      !isa<StageOp>(op->getParentOp()))
    return op->emitOpError(
        "has 'uprog.reduction', but is not a reduction in a stage");
  if (isa<InPlaceAttr>(how) && linalgOp.getNumReductionLoops() != 1)
    return op->emitOpError(
        "reads its operands in place, but reduces along more than one "
        "dimension");
  if (!isa<ReducedAttr>(how) && linalgOp.getNumDpsInputs() != 2)
    return op->emitOpError("is not a contraction of two inputs");
  return verifyInnerDims(op, how);
}

LogicalResult UProgDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attr) {
  StringRef name = attr.getName();
  Attribute value = attr.getValue();
  if (name == kReductionAttr)
    return verifyReduction(op, value);
  if (name == kCodeAttr)
    return isa<CodeAttr>(value) && isa<FunctionOpInterface>(op)
               ? success()
               : op->emitOpError("'uprog.code' must be a #uprog.code attribute "
                                 "on a function or a uprog.operator");
  if (name == kLevelAttr) {
    auto level = dyn_cast<StringAttr>(value);
    return level && symbolizeLevel(level) && isa<FunctionOpInterface>(op)
               ? success()
               : op->emitOpError("'uprog.level' must be \"block\", \"cluster\" "
                                 "or \"device\" on a function");
  }
  if (name == kClusterSizeAttr) {
    auto size = dyn_cast<IntegerAttr>(value);
    return size && size.getType().isInteger(64) && isa<ModuleOp>(op) &&
                   size.getInt() >= 1 && size.getInt() <= kMostClusterBlocks
               ? success()
               : op->emitOpError(
                     "'uprog.cluster_size' must be an i64 from 1 to ")
                     << kMostClusterBlocks << " on a module";
  }
  if (name == kStagingAttr)
    return isa<StagingAttr>(value) && isa<OperatorOp>(op)
               ? success()
               : op->emitOpError("'uprog.staging' must be a #uprog.staging "
                                 "attribute on a uprog.operator");
  if (name == kPackingsAttr) {
    auto list = dyn_cast<ArrayAttr>(value);
    return list && isa<ModuleOp>(op) &&
                   llvm::all_of(list, llvm::IsaPred<PanelsAttr, PaddedAttr>)
               ? success()
               : op->emitOpError(
                     "'uprog.packings' must be an array of #uprog.panels and "
                     "#uprog.padded attributes on a module");
  }
  if (name == kIndicesAttr) {
    auto list = dyn_cast<ArrayAttr>(value);
    return list && isa<ModuleOp>(op) &&
                   llvm::all_of(list, llvm::IsaPred<StringAttr>)
               ? success()
               : op->emitOpError(
                     "'uprog.indices' must be an array of strings on a module");
  }
  if (name == kInstancesAttr) {
    auto facts = dyn_cast<DictionaryAttr>(value);
    auto isInteger = [&](StringRef key) {
      return facts.getAs<IntegerAttr>(key) != nullptr;
    };
    static const std::array<StringRef, 8> integers = {
        "bytes",        "tasks",      "capacity",   "set_bytes",
        "member_bytes", "node_bytes", "node_cells", "node_values"};
    auto loops = facts ? facts.getAs<ArrayAttr>("loops") : nullptr;
    auto kernels =
        facts ? facts.getAs<DictionaryAttr>("kernel_loops") : nullptr;
    auto isString = [](NamedAttribute entry) {
      return isa<StringAttr>(entry.getValue());
    };
    return isa<ModuleOp>(op) && loops && kernels &&
                   llvm::all_of(integers, isInteger) &&
                   llvm::all_of(loops, llvm::IsaPred<StringAttr>) &&
                   llvm::all_of(kernels, isString)
               ? success()
               : op->emitOpError("'uprog.instances' must be a dictionary on a "
                                 "module, with the integers '")
                     << llvm::join(integers, "', '")
                     << "', an array 'loops' and a dictionary 'kernel_loops', "
                        "both of strings";
  }
  return op->emitOpError("attribute '")
         << name << "' is not supported on operations";
}
