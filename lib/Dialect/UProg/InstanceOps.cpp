//===- InstanceOps.cpp - Running single instances -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InstanceOps.h"
#include "Batch/Dialect/Batch/ElementTypes.h"
#include "Batch/Dialect/UProg/UProg.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::uprog;

LogicalResult uprog::verifyRowType(Operation *op, RankedTensorType type) {
  if (type.hasStaticShape() && batch::isElementType(type.getElementType()))
    return success();
  return op->emitOpError("does not support rows of type ")
         << type << "; expected a static shape and numeric elements";
}

LogicalResult BufferOp::verify() {
  if (failed(verifyRowType(*this, cast<RankedTensorType>(getType()))))
    return failure();
  const auto copies = static_cast<int64_t>(getCopies());
  if (copies < 1)
    return emitOpError("expects at least 1 copy, got ") << copies;
  return success();
}

void RowOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  // With `in_turn`, the op writes the number of the copy to use next.
  if (getInTurn())
    effects.emplace_back(MemoryEffects::Write::get());
}

LogicalResult RowOp::verify() {
  if (getInTurn() && !getAvoided().empty())
    return emitOpError("cannot combine 'in_turn' with 'avoiding'");
  // Only memory that all units share has space for several members.
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (getMember() && program && program.getLevel() != Level::Device)
    return emitOpError("has a member of a set, but is in a ")
           << stringifyLevel(program.getLevel())
           << "-level program; only device-level programs run sets";
  return success();
}

LogicalResult RowOp::verifySymbolUses(SymbolTableCollection &) {
  auto buffer = SymbolTable::lookupNearestSymbolFrom<BufferOp>(
      (*this)->getParentOfType<ModuleOp>(), getBufferAttr());
  if (!buffer)
    return emitOpError("refers to unknown uprog.buffer ") << getBufferAttr();
  if (getAvoided().size() >= buffer.getCopies())
    return emitOpError("avoids ")
           << getAvoided().size() << " of the " << buffer.getCopies()
           << " copies of " << getBufferAttr()
           << "; at least one copy must remain";
  return success();
}

LogicalResult ParameterRowOp::verifySymbolUses(SymbolTableCollection &) {
  auto source = SymbolTable::lookupNearestSymbolFrom<batch::SourceOp>(
      (*this)->getParentOfType<ModuleOp>(), getSourceAttr());
  if (!source || !source.getParameter())
    return emitOpError("refers to ")
           << getSourceAttr() << ", which is not a batch.source of a parameter";
  return success();
}

LogicalResult LoadOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &results) {
  results.push_back(cast<RankedTensorType>(adaptor.getType()).getElementType());
  return success();
}

LogicalResult LoadOp::verify() {
  int64_t rank = cast<RankedTensorType>(getType()).getRank();
  if (static_cast<int64_t>(getIndices().size()) != rank)
    return emitOpError("has ") << getIndices().size()
                               << " indices, but the tensor has rank " << rank;
  return success();
}

/// Returns true if `datum` is the type that represents `type` in programs. A
/// row represents a tensor, and all other types represent themselves.
static bool isDatumOf(Type datum, Type type) {
  return isa<RankedTensorType>(type) ? isa<RowType>(datum) : datum == type;
}

/// Returns the kernel that an op names. Emits an error if the kernel is unknown
/// or has ragged arguments.
static FailureOr<batch::KernelOp> findKernel(Operation *op,
                                             FlatSymbolRefAttr name) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<batch::KernelOp>(
      op->getParentOfType<ModuleOp>(), name);
  if (!kernel)
    return op->emitOpError("refers to unknown batch.kernel ") << name;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (kernel.isRagged(i))
      return op->emitOpError("refers to ")
             << name << ", whose argument #" << i
             << " is ragged; ragged arguments are not supported";
  return kernel;
}

/// Checks the operands of a kernel's task, except parameters.
static LogicalResult verifyInputs(Operation *op, batch::KernelOp kernel,
                                  ValueRange inputs) {
  SmallVector<unsigned> perTask = kernel.getTaskArguments();
  if (perTask.size() != inputs.size())
    return op->emitOpError("has ")
           << inputs.size() << " operands for a task, but @"
           << kernel.getSymName() << " takes " << perTask.size();
  for (auto [number, input] : llvm::zip_equal(perTask, inputs)) {
    Type type = kernel.getArgumentTypes()[number];
    if (!isDatumOf(input.getType(), type))
      return op->emitOpError("has an operand of type ")
             << input.getType() << " for argument #" << number << " of @"
             << kernel.getSymName() << ", which has type " << type;
  }
  return success();
}

static LogicalResult verifyOutputs(Operation *op, batch::KernelOp kernel,
                                   ValueRange outputs) {
  if (kernel.getNumResults() == outputs.size())
    return success();
  return op->emitOpError("has rows for ")
         << outputs.size() << " results, but @" << kernel.getSymName()
         << " has " << kernel.getNumResults();
}

/// Checks that a task writes a result into the row of an operand only if the
/// kernel inserts the result into this operand.
static LogicalResult verifyInPlace(Operation *op, ValueRange inputs,
                                   ValueRange outputs, batch::KernelOp kernel) {
  SmallVector<unsigned> perTask = kernel.getTaskArguments();
  for (auto [index, output] : llvm::enumerate(outputs)) {
    if (!llvm::is_contained(inputs, output))
      continue;
    auto root =
        kernel.getResultAttrOfType<IntegerAttr>(index, batch::kInPlaceAttr);
    const auto *position =
        root ? llvm::find(perTask, static_cast<unsigned>(root.getInt()))
             : perTask.end();
    if (position == perTask.end() ||
        inputs[position - perTask.begin()] != output)
      return op->emitOpError("reuses the row of an operand for result #")
             << index << ", but @" << kernel.getSymName()
             << " does not insert that result into this operand";
  }
  return success();
}

LogicalResult SiteOp::verifySymbolUses(SymbolTableCollection &) {
  FailureOr<batch::KernelOp> kernel = findKernel(*this, getKernelAttr());
  if (failed(kernel) || failed(verifyInputs(*this, *kernel, getInputs())) ||
      failed(verifyOutputs(*this, *kernel, getOutputs())))
    return failure();
  return verifyInPlace(*this, getInputs(), getOutputs(), *kernel);
}

/// Checks the list of tasks and the ops that use it.
LogicalResult TasksOp::verifySymbolUses(SymbolTableCollection &) {
  const auto capacity = static_cast<int64_t>(getCapacity());
  if (capacity < 1)
    return emitOpError("expects a capacity of at least 1, got ") << capacity;
  FailureOr<batch::KernelOp> kernel = findKernel(*this, getKernelAttr());
  if (failed(kernel))
    return failure();
  // The rows of results are operands either of the tasks or of the step.
  bool ofTasks = llvm::any_of(getTasks().getUsers(), [](Operation *user) {
    auto put = dyn_cast<PutTaskOp>(user);
    return put && !put.getOutputs().empty();
  });
  std::optional<SmallVector<bool>> inPlace;
  for (Operation *user : getTasks().getUsers()) {
    if (auto put = dyn_cast<PutTaskOp>(user)) {
      if (failed(verifyInputs(put, *kernel, put.getInputs())))
        return failure();
      SmallVector<bool> own(put.getOutputs().size());
      for (auto [index, output] : llvm::enumerate(put.getOutputs())) {
        own[index] = llvm::is_contained(put.getInputs(), output);
        if (index < kernel->getNumResults() &&
            !kernel->getResultAttr(index, batch::kRowListAttr))
          return put.emitOpError("has a row for result #")
                 << index << ", but that result of @" << kernel->getSymName()
                 << " does not have 'batch.row_list'";
      }
      if (inPlace.value_or(own) != own)
        return put.emitOpError("must write the same results in place as the "
                               "other tasks of the list");
      inPlace = own;
      if (ofTasks && (failed(verifyOutputs(put, *kernel, put.getOutputs())) ||
                      failed(verifyInPlace(put, put.getInputs(),
                                           put.getOutputs(), *kernel))))
        return failure();
    }
    auto batch = dyn_cast<BatchOp>(user);
    if (!batch)
      continue;
    if (!ofTasks) {
      if (failed(verifyOutputs(batch, *kernel, batch.getOutputs())))
        return failure();
    } else if (!batch.getOutputs().empty()) {
      return batch.emitOpError(
          "has rows for results, but its tasks specify their own rows");
    }
  }
  return success();
}

/// Checks that the list comes from a uprog.tasks directly, not through control
/// flow.
static LogicalResult verifyTasks(Operation *op, Value tasks) {
  if (tasks.getDefiningOp<TasksOp>())
    return success();
  return op->emitOpError("tasks must be the result of a uprog.tasks");
}

LogicalResult PutTaskOp::verify() { return verifyTasks(*this, getTasks()); }

LogicalResult BatchOp::verify() { return verifyTasks(*this, getTasks()); }

LogicalResult NextRoundOp::verify() {
  IntegerAttr count;
  if (!getCount() || !matchPattern(getCount(), m_Constant(&count)))
    return success();
  const int64_t rounds = count.getInt();
  if (rounds < 0 || rounds > kMostCountedRounds)
    return emitOpError("counts ")
           << rounds << " rounds; expected 0 to " << kMostCountedRounds;
  return success();
}

LogicalResult ResultOp::verify() {
  bool isRow = isa<RowType>(getValue().getType());
  if (isRow != getType().has_value() ||
      (isRow && !isa<RankedTensorType>(*getType())))
    return emitOpError("requires a tensor type if and only if its value is a "
                       "'!uprog.row'");
  return success();
}

//===----------------------------------------------------------------------===//
// Rows and instances
//===----------------------------------------------------------------------===//

namespace {
class InstanceVerifier {
public:
  explicit InstanceVerifier(ProgramOp program)
      : module(program->getParentOfType<ModuleOp>()),
        entry(batch::lookupEntry(module)) {
    for (unsigned i = 0; entry && i < entry.getNumArguments(); ++i)
      if (!entry.getArgAttr(i, batch::kSharedAttr))
        arguments.push_back(entry.getArgumentTypes()[i]);
  }

  LogicalResult verify(Operation *op);

private:
  Type getType(Value row);
  LogicalResult checkRow(Operation *op, Value row, Type type);
  LogicalResult checkInputs(Operation *op, batch::KernelOp kernel,
                            ValueRange inputs);
  LogicalResult checkOutputs(Operation *op, batch::KernelOp kernel,
                             ValueRange outputs, ArrayRef<int64_t> leading);
  LogicalResult checkFields(ConstructOp op);
  LogicalResult checkArgument(ArgumentOp op);
  LogicalResult checkResult(ResultOp op);
  batch::KernelOp getKernel(StringRef name) {
    return module.lookupSymbol<batch::KernelOp>(name);
  }

  ModuleOp module;
  FunctionOpInterface entry;
  SmallVector<Type> arguments; ///< types of an instance's arguments
};
} // namespace

bool uprog::isDatumOrList(Type datum, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !rec::isRaggedTensor(tensor))
    return isDatumOf(datum, type);
  return datum == rec::ListType::get(RankedTensorType::get(
                      tensor.getShape().drop_front(), tensor.getElementType()));
}

/// Returns the type of the tensor in a row, or null if the op that created the
/// row does not specify it.
Type InstanceVerifier::getType(Value row) {
  if (auto made = row.getDefiningOp<RowOp>()) {
    auto buffer = module.lookupSymbol<BufferOp>(made.getBuffer());
    return buffer ? buffer.getType() : Type();
  }
  if (auto ofNode = row.getDefiningOp<NodeRowOp>()) {
    auto rows = module.lookupSymbol<NodeRowsOp>(ofNode.getRows());
    return rows ? rows.getType() : Type();
  }
  if (auto parameter = row.getDefiningOp<ParameterRowOp>()) {
    auto source = module.lookupSymbol<batch::SourceOp>(parameter.getSource());
    return source ? source.getRow() : Type();
  }
  if (auto slice = row.getDefiningOp<SliceOp>()) {
    auto type = cast<RankedTensorType>(slice.getType());
    return RankedTensorType::get(type.getShape().drop_front(),
                                 type.getElementType());
  }
  auto argument = row.getDefiningOp<ArgumentOp>();
  return argument && argument.getNumber() < arguments.size()
             ? arguments[argument.getNumber()]
             : Type();
}

LogicalResult InstanceVerifier::checkRow(Operation *op, Value row, Type type) {
  Type known = isa<RowType>(row.getType()) ? getType(row) : Type();
  if (!known || known == type)
    return success();
  return op->emitOpError("expects a row of type ") << type << ", got " << known;
}

/// Checks that an op may write a row.
static LogicalResult checkWritten(Operation *op, Value row) {
  if (!isa_and_nonnull<ArgumentOp, ParameterRowOp, ListElementOp, FieldOp>(
          row.getDefiningOp()))
    return success();
  return op->emitOpError("writes a row of an input or parameter; copy it "
                         "first");
}

LogicalResult InstanceVerifier::checkInputs(Operation *op,
                                            batch::KernelOp kernel,
                                            ValueRange inputs) {
  // verifyInputs() checks the number of inputs.
  for (auto [number, input] :
       llvm::zip(kernel ? kernel.getTaskArguments() : SmallVector<unsigned>(),
                 inputs))
    if (failed(checkRow(op, input, kernel.getArgumentTypes()[number])))
      return failure();
  return success();
}

LogicalResult InstanceVerifier::checkOutputs(Operation *op,
                                             batch::KernelOp kernel,
                                             ValueRange outputs,
                                             ArrayRef<int64_t> leading) {
  for (auto [result, output] : llvm::zip(
           kernel ? kernel.getResultTypes() : ArrayRef<Type>(), outputs)) {
    auto type = cast<RankedTensorType>(result);
    if (failed(checkWritten(op, output)))
      return failure();
    if (!leading.empty() && type.getRank() == 0)
      return op->emitOpError("cannot combine results of type ")
             << type << " in one row; expected results of rank at least 1";
    SmallVector<int64_t> shape(leading);
    llvm::append_range(shape, type.getShape());
    if (failed(checkRow(op, output,
                        RankedTensorType::get(shape, type.getElementType()))))
      return failure();
  }
  return success();
}

LogicalResult InstanceVerifier::checkFields(ConstructOp op) {
  // ConstructOp::verifySymbolUses() reports an unknown variant.
  auto variant = dyn_cast_or_null<rec::VariantOp>(
      SymbolTable::lookupNearestSymbolFrom(op, op.getVariant()));
  if (!variant)
    return success();
  for (auto [number, field] : llvm::enumerate(op.getFields()))
    if (number < variant.getNumFields() &&
        failed(checkRow(op, field, variant.getFieldType(number))))
      return failure();
  return success();
}

LogicalResult InstanceVerifier::checkArgument(ArgumentOp op) {
  if (!entry)
    return success();
  if (op.getNumber() >= arguments.size())
    return op.emitOpError("argument number ")
           << op.getNumber() << " is out of range; an instance has "
           << arguments.size() << " arguments";
  Type type = arguments[op.getNumber()];
  if (isDatumOrList(op.getValue().getType(), type))
    return success();
  return op.emitOpError("has type ")
         << op.getValue().getType() << ", but the argument has type " << type;
}

LogicalResult InstanceVerifier::checkResult(ResultOp op) {
  if (op.getType() && failed(checkRow(op, op.getValue(), *op.getType())))
    return failure();
  if (!entry)
    return success();
  if (op.getNumber() >= entry.getNumResults())
    return op.emitOpError("result number ")
           << op.getNumber() << " is out of range; an instance has "
           << entry.getNumResults() << " results";
  Type given = op.getType().value_or(op.getValue().getType());
  Type type = entry.getResultTypes()[op.getNumber()];
  if (given == type)
    return success();
  return op.emitOpError("has a value of type ")
         << given << ", but the result has type " << type;
}

/// If a row has a member, checks that its program has cells, which specify the
/// number of members.
static LogicalResult checkMember(RowOp row) {
  auto program = row->getParentOfType<ProgramOp>();
  if (!row.getMember() || !program.getBody().getOps<CellsOp>().empty())
    return success();
  return row.emitOpError("has a member, but its program lacks a 'uprog.cells' "
                         "that specifies the number of members");
}

/// Checks that the capacity is at least 1.
template <class OpTy>
static LogicalResult checkCapacity(OpTy op) {
  const auto capacity = static_cast<int64_t>(op.getCapacity());
  if (capacity >= 1)
    return success();
  return op.emitOpError("expects a capacity of at least 1, got ") << capacity;
}

LogicalResult InstanceVerifier::verify(Operation *op) {
  if (auto cells = dyn_cast<CellsOp>(op))
    return checkCapacity(cells);
  if (auto members = dyn_cast<MembersOp>(op))
    return checkCapacity(members);
  if (auto row = dyn_cast<RowOp>(op))
    return checkMember(row);
  if (auto load = dyn_cast<LoadOp>(op))
    return checkRow(op, load.getRow(), load.getType());
  if (auto slice = dyn_cast<SliceOp>(op))
    return checkRow(op, slice.getWhole(), slice.getType());
  if (auto copy = dyn_cast<CopyOp>(op))
    return success(succeeded(checkWritten(op, copy.getTo())) &&
                   succeeded(checkRow(op, copy.getFrom(), copy.getType())) &&
                   succeeded(checkRow(op, copy.getTo(), copy.getType())));
  if (auto site = dyn_cast<SiteOp>(op)) {
    batch::KernelOp kernel = getKernel(site.getKernel());
    return success(succeeded(checkInputs(op, kernel, site.getInputs())) &&
                   succeeded(checkOutputs(op, kernel, site.getOutputs(), {})));
  }
  if (auto put = dyn_cast<PutTaskOp>(op)) {
    batch::KernelOp kernel =
        getKernel(put.getTasks().getDefiningOp<TasksOp>().getKernel());
    return success(succeeded(checkInputs(op, kernel, put.getInputs())) &&
                   succeeded(checkOutputs(op, kernel, put.getOutputs(), {})));
  }
  if (auto batch = dyn_cast<BatchOp>(op)) {
    auto tasks = batch.getTasks().getDefiningOp<TasksOp>();
    return checkOutputs(op, getKernel(tasks.getKernel()), batch.getOutputs(),
                        static_cast<int64_t>(tasks.getCapacity()));
  }
  if (auto element = dyn_cast<ListElementOp>(op)) {
    Type type =
        cast<rec::ListType>(element.getList().getType()).getElementType();
    if (isDatumOrList(element.getElement().getType(), type))
      return success();
    return op->emitOpError("has type ")
           << element.getElement().getType()
           << ", but the list has elements of type " << type;
  }
  if (auto construct = dyn_cast<ConstructOp>(op))
    return checkFields(construct);
  if (auto argument = dyn_cast<ArgumentOp>(op))
    return checkArgument(argument);
  if (auto result = dyn_cast<ResultOp>(op))
    return checkResult(result);
  return success();
}

LogicalResult uprog::verifyInstances(ProgramOp program) {
  InstanceVerifier verifier(program);
  WalkResult result = program.getBody().walk(
      [&](Operation *op) { return WalkResult(verifier.verify(op)); });
  return failure(result.wasInterrupted());
}
