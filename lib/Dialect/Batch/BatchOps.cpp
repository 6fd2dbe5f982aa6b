//===- BatchOps.cpp - Operations of the batch dialect ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../FunctionSyntax.h"
#include "Batch/Dialect/Batch/Batch.h"

#include "Batch/Dialect/Batch/ElementTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::batch;

#define GET_OP_CLASSES
#include "Batch/Dialect/Batch/BatchOps.cpp.inc"

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<KernelOp>(parser, result);
}

void KernelOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }

SmallVector<unsigned> KernelOp::getTaskArguments() {
  SmallVector<unsigned> arguments;
  for (unsigned i = 0; i < getNumArguments(); ++i)
    if (!isShared(i))
      arguments.push_back(i);
  return arguments;
}

bool KernelOp::isShared(unsigned index) {
  return static_cast<bool>(getArgAttr(index, kSharedAttr));
}

int64_t KernelOp::getPosition(unsigned index) {
  Attribute table = getResultAttr(index, kTableAttr);
  int64_t position = 0;
  for (unsigned i = 0; i < index; ++i)
    position += table && getResultAttr(i, kTableAttr) == table;
  return position;
}

int64_t KernelOp::getSiblings(unsigned index) {
  Attribute table = getResultAttr(index, kTableAttr);
  int64_t siblings = table ? 0 : 1;
  for (unsigned i = 0; table && i < getNumResults(); ++i)
    siblings += getResultAttr(i, kTableAttr) == table;
  return siblings;
}

bool KernelOp::isRagged(unsigned index) {
  auto type = dyn_cast<RankedTensorType>(getArgumentTypes()[index]);
  return !isShared(index) && type && type.getRank() > 0 && type.isDynamicDim(0);
}

LogicalResult KernelOp::verify() {
  if (static_cast<int64_t>(getPhase()) < 0)
    return emitOpError("phase must not be negative");
  auto checkElements = [&](Type type) -> LogicalResult {
    Type element = getElementTypeOrSelf(type);
    if (isElementType(element))
      return success();
    return emitOpError("has unsupported element type ")
           << element << "; expected index, i1, i8, i16, i32, i64, f16, bf16, "
           << "f32 or f64";
  };
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    if (type.isIntOrIndexOrFloat() || isa<RankedTensorType>(type))
      if (failed(checkElements(type)))
        return failure();
    if (isShared(index) || type.isIntOrIndexOrFloat())
      continue;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return emitOpError("argument #")
             << index << " must be a scalar or a ranked tensor, got " << type;
    for (int64_t dim = 1; dim < tensor.getRank(); ++dim)
      if (tensor.isDynamicDim(dim))
        return emitOpError("argument #")
               << index
               << " may have a dynamic extent only in its first dimension, got "
               << type;
  }
  for (auto [index, type] : llvm::enumerate(getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return emitOpError("result #")
             << index << " must be a static tensor, got " << type;
    if (failed(checkElements(type)))
      return failure();
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  if (getBody().empty())
    return emitOpError("requires a body");
  auto checkExtents = [](Location loc, Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !llvm::is_contained(tensor.getShape(), 0))
      return success();
    return mlir::emitError(loc) << "kernels do not support type " << type
                                << ", because it has no elements";
  };
  for (BlockArgument argument : getBody().getArguments())
    if (failed(checkExtents(argument.getLoc(), argument.getType())))
      return failure();
  for (Operation &op : getBody().front())
    for (Type type : op.getResultTypes())
      if (failed(checkExtents(op.getLoc(), type)))
        return failure();
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("must end in batch.yield");
  if (yield.getOperandTypes() != TypeRange(getResultTypes()))
    return yield.emitOpError(
        "operand types differ from the result types of the kernel");
  return success();
}

/// Returns true if `name` refers to a place where rows are stored: a table, a
/// source or a variable of a machine.
static bool namesRows(ModuleOp module, FlatSymbolRefAttr name,
                      SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupSymbolIn(module, name);
  if (isa_and_nonnull<TableOp, SourceOp>(symbol))
    return true;
  return llvm::any_of(module.getOps<MachineOp>(), [&](MachineOp machine) {
    return isa_and_nonnull<VariableOp>(symbols.lookupSymbolIn(machine, name));
  });
}

/// Checks the attribute that specifies how a step reads argument `index`.
static LogicalResult verifyRead(KernelOp kernel, unsigned index, ReadAttr read,
                                SymbolTableCollection &symbols) {
  bool isShared = read.getKind() == ReadKind::Shared;
  if (isShared != kernel.isShared(index))
    return kernel.emitOpError("argument #")
           << index << (isShared ? " is" : " is not") << " read as shared, but "
           << (isShared ? "'batch.shared' is missing" : "has 'batch.shared'");
  if (read.getSegments() != kernel.isRagged(index))
    return kernel.emitOpError("argument #")
           << index
           << ": 'segments' must be set if and only if the argument is ragged";
  FlatSymbolRefAttr from = read.getFrom();
  if (read.getKind() == ReadKind::Gather && !from)
    return kernel.emitOpError("argument #")
           << index
           << " requires 'from', the table or source that it is read from";
  auto module = kernel->getParentOfType<ModuleOp>();
  if (from && !namesRows(module, from, symbols))
    return kernel.emitOpError("argument #")
           << index << " refers to unknown batch.table, batch.source or "
           << "batch.variable " << from;
  auto table = dyn_cast_or_null<TableOp>(
      from ? symbols.lookupSymbolIn(module, from) : nullptr);
  Type argument = kernel.getArgumentTypes()[index];
  if (kernel.isRagged(index)) {
    auto rows = cast<RankedTensorType>(argument);
    argument = RankedTensorType::get(rows.getShape().drop_front(),
                                     rows.getElementType());
  }
  if (table && table.getRow() != argument)
    return kernel.emitOpError("argument #")
           << index << " expects rows of type " << argument << ", but table "
           << from << " has rows of type " << table.getRow();
  return success();
}

LogicalResult KernelOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (unsigned i = 0; i < getNumArguments(); ++i)
    if (auto read = getArgAttrOfType<ReadAttr>(i, kReadAttr))
      if (failed(verifyRead(*this, i, read, symbols)))
        return failure();
  auto module = (*this)->getParentOfType<ModuleOp>();
  for (auto [i, type] : llvm::enumerate(getResultTypes())) {
    auto name = getResultAttrOfType<FlatSymbolRefAttr>(i, kTableAttr);
    if (!name)
      continue;
    auto table =
        dyn_cast_or_null<TableOp>(symbols.lookupSymbolIn(module, name));
    if (!table)
      return emitOpError("result #")
             << i << " refers to unknown batch.table " << name;
    if (table.getRow() != type)
      return emitOpError("result #")
             << i << " has type " << type << ", but table " << name
             << " has rows of type " << table.getRow();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// InvokeOp, RecordOp
//===----------------------------------------------------------------------===//

/// Returns the kernel that `op` names. Emits an error if there is none.
static FailureOr<KernelOp> lookupKernel(Operation *op, FlatSymbolRefAttr name,
                                        SymbolTableCollection &symbols) {
  // All kernels belong to the module, even if a block of a machine invokes
  // them.
  auto kernel =
      symbols.lookupSymbolIn<KernelOp>(op->getParentOfType<ModuleOp>(), name);
  if (!kernel)
    return op->emitOpError("refers to unknown batch.kernel ") << name;
  return kernel;
}

LogicalResult InvokeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<KernelOp> kernel = lookupKernel(*this, getKernelAttr(), symbols);
  if (failed(kernel))
    return failure();
  if (getInputs().getTypes() != TypeRange(kernel->getArgumentTypes()))
    return emitOpError(
               "operand types differ from the argument types of kernel ")
           << getKernelAttr();
  if (getResultTypes() != TypeRange(kernel->getResultTypes()))
    return emitOpError("result types differ from the result types of kernel ")
           << getKernelAttr();
  return success();
}

LogicalResult RecordOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FailureOr<KernelOp> kernel = lookupKernel(*this, getKernelAttr(), symbols);
  if (failed(kernel))
    return failure();
  unsigned perTask = 0;
  for (unsigned i = 0, e = kernel->getNumArguments(); i < e; ++i)
    perTask += !kernel->isShared(i);
  if (getInputs().size() != perTask)
    return emitOpError("kernel ")
           << getKernelAttr() << " takes " << perTask
           << " per-task operands, got " << getInputs().size();
  if (getNumResults() != kernel->getNumResults())
    return emitOpError("kernel ")
           << getKernelAttr() << " has " << kernel->getNumResults()
           << " results, got " << getNumResults();
  // A handle represents a tensor, and a list of handles a ragged tensor.
  Type handle = HandleType::get(getContext());
  unsigned position = 0;
  for (unsigned i = 0, e = kernel->getNumArguments(); i < e; ++i) {
    if (kernel->isShared(i))
      continue;
    Type expected = kernel->getArgumentTypes()[i];
    if (kernel->isRagged(i))
      expected = rec::ListType::get(handle);
    else if (isa<RankedTensorType>(expected))
      expected = handle;
    Type type = getInputs()[position++].getType();
    if (type != expected)
      return emitOpError("operand #")
             << position - 1 << " must be " << expected << " for argument #"
             << i << " of kernel " << getKernelAttr() << ", got " << type;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// DepthOp, ResolveOp, GhostOp, ForceOp
//===----------------------------------------------------------------------===//

OpFoldResult DepthOp::fold(FoldAdaptor) {
  if (getInputs().empty())
    return IntegerAttr::get(IndexType::get(getContext()), 0);
  return {};
}

/// Appends no edges, because depths are known when tasks are recorded, before
/// any tensor is computed.
void DepthOp::getValueFlow(SymbolTableCollection &,
                           SmallVectorImpl<rec::ValueFlowEdge> &) {}

void ResolveOp::getValueFlow(SymbolTableCollection &,
                             SmallVectorImpl<rec::ValueFlowEdge> &edges) {
  edges.push_back({rec::ValueFlowEdge::Same, getValue(), getResult(), {}});
}

void GhostOp::getValueFlow(SymbolTableCollection &,
                           SmallVectorImpl<rec::ValueFlowEdge> &edges) {
  edges.push_back({rec::ValueFlowEdge::Same, getValue(), getResult(), {}});
}

void ForceOp::getValueFlow(SymbolTableCollection &,
                           SmallVectorImpl<rec::ValueFlowEdge> &edges) {
  edges.push_back({rec::ValueFlowEdge::Same, getTensor(), getResult(), {}});
}

//===----------------------------------------------------------------------===//
// TableOp, SourceOp
//===----------------------------------------------------------------------===//

/// Returns true for a vector of dynamic extent. Parameters may have such types.
static bool isDynamicVector(RankedTensorType type) {
  return type.getRank() == 1 && !type.hasStaticShape();
}

static LogicalResult verifyRow(Operation *op, Type row) {
  auto tensor = dyn_cast<RankedTensorType>(row);
  if (!tensor || !tensor.hasStaticShape())
    return op->emitOpError("rows must be static tensors, got ") << row;
  return success();
}

LogicalResult TableOp::verify() {
  if (failed(verifyRow(*this, getRow())))
    return failure();
  auto row = cast<RankedTensorType>(getRow());
  if (!getLayout())
    return success();
  return TableLayout::verify([&] { return emitOpError(); }, row.getShape(),
                             elementBytes(row.getElementType()), *getLayout());
}

LogicalResult TableOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getNextTo())
    return success();
  auto owner = symbols.lookupNearestSymbolFrom<TableOp>(*this, getNextToAttr());
  if (!owner)
    return emitOpError("refers to unknown batch.table ") << getNextToAttr();
  if (owner.getNextTo() || owner == *this)
    return emitOpError("'next_to' cannot refer to ")
           << getNextToAttr() << ", which itself has 'next_to'";
  if (owner.getGroup() != getGroup())
    return emitOpError("is in group ")
           << getGroup() << ", but is next to " << getNextToAttr()
           << " of group " << owner.getGroup()
           << "; only tables of one group have the same slots";
  if (owner.getOwnLayout().getBlock() != getOwnLayout().getBlock())
    return emitOpError("is next to ")
           << getNextToAttr() << ", but splits slots differently; split the "
           << "slots of both tables in the same way";
  return success();
}

void TableOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                    Type row, int64_t group, AffineMap layout, bool transient) {
  build(builder, state, name, row, group,
        layout ? AffineMapAttr::get(layout) : AffineMapAttr(), {}, transient);
}

TableLayout TableOp::getOwnLayout() {
  auto row = cast<RankedTensorType>(getRow());
  return TableLayout(row.getShape(), elementBytes(row.getElementType()),
                     getLayout().value_or(AffineMap()));
}

/// Returns the tables that share storage with `table`. The owner of the storage
/// comes first. The rows of the other tables follow its rows.
static SmallVector<TableOp> getNeighbors(TableOp table) {
  StringRef owner = table.getNextTo().value_or(table.getSymName());
  SmallVector<TableOp> tables;
  for (auto other : cast<ModuleOp>(table->getParentOp()).getOps<TableOp>())
    if (other.getSymName() == owner)
      tables.insert(tables.begin(), other);
    else if (other.getNextTo() == owner)
      tables.push_back(other);
  return tables;
}

TableLayout TableOp::getTableLayout() {
  TableLayout layout = getOwnLayout();
  int64_t bytes = 0;
  for (TableOp table : getNeighbors(*this))
    bytes += table.getOwnLayout().getBlockBytes();
  layout.setBlockBytes(bytes);
  return layout;
}

int64_t TableOp::getOffset() {
  int64_t bytes = 0;
  for (TableOp table : getNeighbors(*this)) {
    if (table == *this)
      break;
    bytes += table.getOwnLayout().getBlockBytes();
  }
  return bytes;
}

LogicalResult SourceOp::verify() {
  auto row = dyn_cast<RankedTensorType>(getRow());
  if (getParameter() && row && isDynamicVector(row))
    return success();
  return verifyRow(*this, getRow());
}

//===----------------------------------------------------------------------===//
// The inspector
//===----------------------------------------------------------------------===//

/// Checks that the symbol `source` of an op refers to a batch.source.
static LogicalResult verifySource(Operation *op, FlatSymbolRefAttr source,
                                  SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<SourceOp>(op, source))
    return op->emitOpError("refers to unknown batch.source ") << source;
  return success();
}

LogicalResult RowOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySource(*this, getSourceAttr(), symbols);
}

LogicalResult NumRowsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySource(*this, getSourceAttr(), symbols);
}

LogicalResult
ExtractOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                            ValueRange operands, DictionaryAttr attributes,
                            OpaqueProperties properties, RegionRange regions,
                            SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  types.push_back(getElementTypeOrSelf(adaptor.getRowType()));
  return success();
}

/// Checks the type of the row that `op` reads, and the number of indices. If
/// `vectors` is true, the row may be a vector of dynamic extent.
static LogicalResult verifyRead(Operation *op, Type type, size_t indices,
                                bool vectors) {
  auto row = cast<RankedTensorType>(type);
  if (!isElementType(row.getElementType()) ||
      (!row.hasStaticShape() && !(vectors && isDynamicVector(row))))
    return op->emitOpError("has a row of unsupported type ") << row;
  if (static_cast<int64_t>(indices) != row.getRank())
    return op->emitOpError(
               "requires one index per dimension of the row; expected ")
           << row.getRank() << ", got " << indices;
  return success();
}

LogicalResult ExtractOp::verify() {
  if (failed(verifyRead(*this, getRowType(), getIndices().size(),
                        /*vectors=*/true)))
    return failure();
  if (getRow().getDefiningOp<RecordOp>())
    return emitOpError(
        "reads a result of a task that has not run yet; use batch.await");
  return success();
}

LogicalResult AwaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                        ValueRange operands,
                                        DictionaryAttr attributes,
                                        OpaqueProperties properties,
                                        RegionRange regions,
                                        SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  types.push_back(getElementTypeOrSelf(adaptor.getRowType()));
  return success();
}

LogicalResult AwaitOp::verify() {
  return verifyRead(*this, getRowType(), getIndices().size(),
                    /*vectors=*/false);
}

LogicalResult AwaitOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!getTable())
    return success();
  auto table = symbols.lookupNearestSymbolFrom<TableOp>(*this, getTableAttr());
  if (!table)
    return emitOpError("refers to unknown batch.table ") << getTableAttr();
  if (table.getRow() != getRowType())
    return emitOpError("reads rows of type ")
           << getRowType() << ", but table " << getTableAttr()
           << " has rows of type " << table.getRow();
  return success();
}

LogicalResult ConcurrentOp::verify() {
  if (getBranches().size() < 2)
    return emitOpError("requires at least two regions");
  SmallVector<Type> types;
  for (Region &branch : getBranches())
    llvm::append_range(types,
                       branch.front().getTerminator()->getOperandTypes());
  if (!llvm::equal(types, getResultTypes()))
    return emitOpError("has results of types (")
           << getResultTypes() << "), but its regions yield (" << types << ")";
  return success();
}

LogicalResult TraverseOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto name : getFunctions().getAsRange<FlatSymbolRefAttr>()) {
    auto function =
        symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, name);
    if (!function)
      return emitOpError("refers to unknown function ") << name;
    if (function.getNumArguments() != 1 ||
        !isa<rec::AdtType>(function.getArgumentTypes()[0]))
      return emitOpError("function ")
             << name << " must take exactly one argument, an ADT value";
  }
  return success();
}

LogicalResult LookupOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getFunctionAttr());
  if (!function)
    return emitOpError("refers to unknown function ") << getFunctionAttr();
  // The last argument of the function is the node. A context may precede it.
  if (function.getNumArguments() == 0 ||
      function.getArgumentTypes().back() != getNode().getType())
    return emitOpError("node must have the type of the last argument of ")
           << getFunctionAttr() << ", got " << getNode().getType();
  if (TypeRange(function.getResultTypes()) != getResultTypes())
    return emitOpError("result types differ from the result types of ")
           << getFunctionAttr();
  return success();
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

LogicalResult StartLanesOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<MachineOp>(*this, getMachineAttr()))
    return emitOpError("refers to unknown batch.machine ") << getMachineAttr();
  return success();
}

LogicalResult LaneOpsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<BlockOp>(*this, getBlockAttr()))
    return emitOpError("refers to unknown batch.block ") << getBlockAttr();
  return success();
}
