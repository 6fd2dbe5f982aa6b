//===- AssignSlots.cpp - Tables for value classes -------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/ValueClasses.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/Rec/AdtLookup.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "Batch/Transforms/Memory/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include <map>

namespace mlir::batch {
#define GEN_PASS_DEF_ASSIGNSLOTSPASS
#include "Batch/Transforms/Memory/Passes.h.inc"
} // namespace mlir::batch

using namespace mlir;
using namespace mlir::batch;

namespace {

class SlotAssigner {
public:
  SlotAssigner(ModuleOp module, StringRef layouts)
      : module(module), layouts(layouts), symbols(module), program(module),
        sharedness(program), flow(program), classes(program, sharedness, flow),
        builder(module.getContext()) {}

  LogicalResult run();

private:
  void findTransient();
  LogicalResult makeTables();
  LogicalResult layOutTables();
  LogicalResult layOutTable(TableOp table, StringRef primitives);
  LogicalResult checkLayout(TableOp table);
  FlatSymbolRefAttr getSource(RankedTensorType row, int64_t parameter);
  FailureOr<ReadAttr> getRead(KernelOp kernel, unsigned argument);
  void markLocations();
  void markWaits();
  LogicalResult markKernels();

  ModuleOp module;
  StringRef layouts;
  SymbolTable symbols;
  InstanceProgram program;
  Sharedness sharedness;
  ValueFlow flow;
  ValueClasses classes;
  OpBuilder builder;
  /// For each class, true if control flow waits and only functions in progress
  /// hold rows of the class.
  SmallVector<bool> isTransient;
  /// Table of each class, or null for a class without computed members.
  SmallVector<FlatSymbolRefAttr> tables;
};

} // namespace

/// Rows of at least this many bytes are worth separate slot numbers.
static constexpr int64_t kLongRow = 4096;
/// The corresponding limit for rows into which kernels insert. An insert is in
/// place only if all results that share slots are inserts.
static constexpr int64_t kInsertedRow = 512;

/// Key of the classes that share slot numbers: the number of results of each
/// kernel in the class, the size of a long row in bytes, and a flag for
/// transient classes. Long rows do not share slot numbers with shorter rows,
/// because the slot of a long row is reused once nothing reads the row.
using Signature = std::tuple<std::map<StringRef, unsigned>, int64_t, bool>;

static Signature getSignature(const ValueClass &valueClass, bool isTransient) {
  std::map<StringRef, unsigned> producers;
  bool anyInserts = false;
  for (auto [kernel, result] : valueClass.producers) {
    ++producers[kernel.getSymName()];
    anyInserts |= bool(kernel.getResultAttr(result, kInPlaceAttr));
  }
  int64_t longBytes = 0;
  RankedTensorType row = valueClass.row;
  if (row.hasStaticShape()) {
    int64_t bytes = row.getNumElements() * elementBytes(row.getElementType());
    longBytes = bytes >= (anyInserts ? kInsertedRow : kLongRow) ? bytes : 0;
  }
  return {producers, longBytes, isTransient};
}

/// Finds the transient classes of a program that waits. No member of these
/// classes is in a list, in a ragged tensor or in a data structure. None is an
/// argument or result of a memoized or traversed function.
void SlotAssigner::findTransient() {
  bool waits = module.walk([](AwaitOp) { return WalkResult::interrupt(); })
                   .wasInterrupted();
  isTransient.assign(classes.getClasses().size(), waits);
  if (!waits)
    return;
  auto hold = [&](Value value) {
    if (flow.contains(value) && carriesTensor(value.getType()) &&
        !sharedness.isShared(value))
      isTransient[classes.getClass(value)] = false;
  };
  auto holdLists = [&](ValueRange values) {
    for (Value value : values)
      if (auto tensor = dyn_cast<RankedTensorType>(value.getType());
          !tensor || rec::isRaggedTensor(tensor))
        hold(value);
  };
  DenseSet<StringAttr> traversed;
  module.walk([&](TraverseOp traverse) {
    for (auto name : traverse.getFunctions().getAsRange<FlatSymbolRefAttr>())
      traversed.insert(name.getAttr());
  });
  for (func::FuncOp function : program.getFunctions()) {
    auto inspector =
        symbols.lookup<func::FuncOp>(getInspectorName(function.getSymName()));
    if (inspector && (inspector->hasAttr(kMemoizedAttr) ||
                      traversed.contains(inspector.getSymNameAttr()))) {
      llvm::for_each(function.getArguments(), hold);
      llvm::for_each(function.front().getTerminator()->getOperands(), hold);
    }
    function.walk([&](Block *block) { holdLists(block->getArguments()); });
    function.walk([&](Operation *op) { holdLists(op->getResults()); });
  }
  for (auto adt : module.getOps<rec::AdtOp>())
    for (rec::VariantOp variant : adt.getVariants())
      for (unsigned field = 0; field < variant.getNumFields(); ++field)
        if (flow.containsField(variant, field))
          isTransient[classes.getFieldClass(variant, field)] = false;
}

LogicalResult SlotAssigner::makeTables() {
  std::map<Signature, int64_t> groups;
  builder.setInsertionPoint(program.getFunctions().front());
  for (auto [number, valueClass] : llvm::enumerate(classes.getClasses())) {
    auto &table = tables.emplace_back();
    if (valueClass.producers.empty())
      continue;
    auto [kernel, result] = valueClass.producers.front();
    std::string name = !valueClass.name.empty()
                           ? valueClass.name.str()
                           : (kernel.getSymName() + "_" + Twine(result)).str();
    auto [group, inserted] = groups.try_emplace(
        getSignature(valueClass, isTransient[number]), groups.size());
    auto op = TableOp::create(builder, kernel.getLoc(), name, valueClass.row,
                              group->second, AffineMap(), isTransient[number]);
    symbols.insert(op);
    op->moveBefore(program.getFunctions().front());
    table = FlatSymbolRefAttr::get(op);
  }
  return layOutTables();
}

/// Parses "PRIMITIVES" for all tables, or "NAME: PRIMITIVES; ...".
LogicalResult SlotAssigner::layOutTables() {
  SmallVector<StringRef> entries;
  layouts.split(entries, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    auto [name, primitives] = entry.split(':');
    if (!entry.contains(':')) {
      for (auto table : module.getOps<TableOp>())
        if (failed(layOutTable(table, entry)))
          return failure();
      continue;
    }
    auto table = symbols.lookup<TableOp>(name.trim());
    if (!table) {
      auto diag = emitError(program.getEntry().getLoc())
                  << "unknown table '" << name.trim()
                  << "' in option 'layout'; expected one of ";
      llvm::interleaveComma(module.getOps<TableOp>(), diag, [&](TableOp known) {
        diag << "'" << known.getSymName() << "'";
      });
      return diag;
    }
    if (failed(layOutTable(table, primitives)))
      return failure();
  }
  for (auto table : module.getOps<TableOp>())
    if (failed(checkLayout(table)))
      return failure();
  return success();
}

LogicalResult SlotAssigner::layOutTable(TableOp table, StringRef primitives) {
  primitives = primitives.trim();
  StringRef nextTo = primitives;
  if (nextTo.consume_front("next_to(") && nextTo.consume_back(")")) {
    table.setNextTo(nextTo.trim().ltrim('@'));
    return success();
  }
  auto row = cast<RankedTensorType>(table.getRow());
  auto emitError = [&]() {
    return table.emitError("table '") << table.getSymName() << "': ";
  };
  FailureOr<AffineMap> map = applyLayoutPrimitives(
      emitError, row.getShape(), primitives, module.getContext());
  if (failed(map) ||
      failed(TableLayout::verify(emitError, row.getShape(),
                                 elementBytes(row.getElementType()), *map)))
    return failure();
  table.setLayout(*map);
  return success();
}

/// Checks that the rows of `table` are row-major if code reads them by address.
LogicalResult SlotAssigner::checkLayout(TableOp table) {
  if (table.getOwnLayout().isRowMajor())
    return success();
  auto hasLayout = [&](unsigned number) {
    return tables[number] && tables[number].getAttr() == table.getSymNameAttr();
  };
  for (auto [number, valueClass] : llvm::enumerate(classes.getClasses()))
    if (hasLayout(number) &&
        (valueClass.hasInputs || !valueClass.parameterRows.empty()))
      return table.emitError("rows of table '")
             << table.getSymName()
             << "' must be row-major, because the same operands also read "
                "rows of "
             << (valueClass.hasInputs ? "inputs" : "parameters")
             << ", which are row-major; split only its slots";
  for (func::FuncOp function : program.getFunctions()) {
    WalkResult result = function.walk([&](tensor::ExtractOp extract) {
      Value tensor = extract.getTensor();
      if (sharedness.isShared(tensor) || !flow.contains(tensor) ||
          !hasLayout(classes.getClass(tensor)))
        return WalkResult::advance();
      extract.emitOpError("reads an element of a row of table '")
          << table.getSymName()
          << "', so rows of this table must be row-major; split only its slots";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

FlatSymbolRefAttr SlotAssigner::getSource(RankedTensorType row,
                                          int64_t parameter) {
  return FlatSymbolRefAttr::get(
      getOrCreateSource(module, symbols, row, parameter));
}

FailureOr<ReadAttr> SlotAssigner::getRead(KernelOp kernel, unsigned argument) {
  MLIRContext *context = module.getContext();
  Type type = kernel.getArgumentTypes()[argument];
  if (kernel.isShared(argument))
    return ReadAttr::get(context, ReadKind::Shared, {}, false);
  if (type.isIntOrIndexOrFloat())
    return ReadAttr::get(context, ReadKind::Scalar, {}, false);
  bool ragged = kernel.isRagged(argument);
  unsigned number = classes.getOperandClass(kernel, argument);
  const ValueClass &valueClass = classes.getClasses()[number];
  unsigned places = (valueClass.producers.empty() ? 0 : 1) +
                    valueClass.parameterRows.size() + valueClass.hasInputs;
  // A ragged argument without a place is valid: its list has no elements.
  if (places == 0 && !ragged)
    return kernel.emitError("argument #")
           << argument << " is neither computed nor an input";
  // Ragged rows are read by address, because the unbatched code leaves them
  // where they were computed.
  if (places > 1 || ragged)
    return ReadAttr::get(context, ReadKind::Rows, tables[number], ragged);
  FlatSymbolRefAttr from = tables[number];
  if (valueClass.hasInputs)
    from = getSource(valueClass.row, -1);
  else if (!from)
    from = getSource(valueClass.parameterRows.front().second,
                     valueClass.parameterRows.front().first);
  return ReadAttr::get(context, ReadKind::Gather, from, ragged);
}

/// Records where tensors are stored, as attributes of the inspector and of
/// variants. Callers need them to pass inputs and read results.
void SlotAssigner::markLocations() {
  func::FuncOp entry = program.getEntry();
  auto inspector =
      symbols.lookup<func::FuncOp>(getInspectorName(entry.getSymName()));
  Operation *ret = entry.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(ret->getOperands())) {
    if (!carriesTensor(value.getType()))
      continue;
    FlatSymbolRefAttr table;
    if (flow.contains(value) && !sharedness.getParameter(value))
      table = tables[classes.getClass(value)];
    if (table)
      inspector.setResultAttr(index, kTableAttr, table);
  }
  unsigned position = 0;
  for (BlockArgument argument : entry.getArguments()) {
    if (sharedness.isShared(argument))
      continue;
    if (carriesTensor(argument.getType()))
      inspector.setArgAttr(
          position, kSourceAttr,
          getSource(classes.getClasses()[classes.getClass(argument)].row, -1));
    ++position;
  }
  for (auto adt : module.getOps<rec::AdtOp>())
    for (rec::VariantOp variant : adt.getVariants()) {
      NamedAttrList inTables, inSources;
      for (unsigned field = 0; field < variant.getNumFields(); ++field) {
        if (!flow.containsField(variant, field))
          continue;
        unsigned number = classes.getFieldClass(variant, field);
        if (tables[number])
          inTables.set(variant.getFieldName(field), tables[number]);
        if (classes.getClasses()[number].hasInputs)
          inSources.set(variant.getFieldName(field),
                        getSource(classes.getClasses()[number].row, -1));
      }
      if (!inTables.empty())
        variant->setAttr(kTableAttr,
                         inTables.getDictionary(module.getContext()));
      if (!inSources.empty())
        variant->setAttr(kSourceAttr,
                         inSources.getDictionary(module.getContext()));
    }
}

/// Records on each `batch.await` the table of the row that it reads. A row that
/// no kernel computes exists before the run, so its await becomes an extract.
void SlotAssigner::markWaits() {
  DenseMap<int64_t, FlatSymbolRefAttr> tableOf;
  for (func::FuncOp function : program.getFunctions())
    function.walk([&](ForceOp force) {
      if (force.getNumber() && flow.contains(force.getTensor()))
        tableOf[*force.getNumber()] =
            tables[classes.getClass(force.getTensor())];
    });
  module.walk([&](AwaitOp await) {
    auto known = tableOf.find(await.getNumber());
    if (known == tableOf.end())
      return;
    if (known->second) {
      await.setTableAttr(known->second);
      return;
    }
    builder.setInsertionPoint(await);
    auto read =
        batch::ExtractOp::create(builder, await.getLoc(), await.getRow(),
                                 await.getIndices(), await.getRowType());
    await.replaceAllUsesWith(read.getResult());
    await.erase();
  });
}

/// Records on kernels how a step reads their operands and where it stores
/// results.
LogicalResult SlotAssigner::markKernels() {
  for (auto kernel : module.getOps<KernelOp>()) {
    if (!classes.isInvoked(kernel))
      continue;
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      FailureOr<ReadAttr> read = getRead(kernel, i);
      if (failed(read))
        return failure();
      kernel.setArgAttr(i, kReadAttr, *read);
      if (kernel.isShared(i) &&
          !kernel.getArgAttrOfType<IntegerAttr>(i, kParameterAttr))
        return kernel.emitError("argument #")
               << i
               << " is shared, but has no attribute 'batch.parameter' that "
                  "specifies the parameter";
    }
    for (unsigned i = 0; i < kernel.getNumResults(); ++i)
      kernel.setResultAttr(i, kTableAttr,
                           tables[classes.getResultClass(kernel, i)]);
  }
  return success();
}

LogicalResult SlotAssigner::run() {
  func::FuncOp entry = program.getEntry();
  if (!entry || !module.getOps<TableOp>().empty())
    return success();
  if (!symbols.lookup(getInspectorName(entry.getSymName())))
    return success();
  if (failed(flow.verify()))
    return failure();
  findTransient();
  if (failed(makeTables()))
    return failure();
  markLocations();
  markWaits();
  if (failed(markKernels()))
    return failure();
  remark::analysis(entry.getLoc(),
                   remark::RemarkOpts::name("Slots").category("batch"))
      << (Twine(llvm::count_if(
              tables, [](FlatSymbolRefAttr table) { return bool(table); })) +
          " result tables; all gathers are inside operators")
             .str();
  return success();
}

namespace {
class AssignSlotsPass
    : public batch::impl::AssignSlotsPassBase<AssignSlotsPass> {
  using AssignSlotsPassBase::AssignSlotsPassBase;
  void runOnOperation() override {
    if (failed(SlotAssigner(getOperation(), layout).run()))
      signalPassFailure();
  }
};
} // namespace
