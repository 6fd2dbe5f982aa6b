//===- ObjectLayout.cpp - Numbers shared by objects and the runtime -------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ObjectLayout.h"

#include "Batch/Dialect/Batch/ElementTypes.h"
#include "Batch/Dialect/Batch/MachineLayout.h"
#include "Batch/Dialect/Batch/Views.h"
#include "Batch/Dialect/UProg/UProg.h"
#include "Batch/Target/ABI/ABILayout.h"
#include "Batch/Target/ABI/SymbolNames.h"
#include "batch-runtime/DescriptorKeys.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mlir::batch;
namespace json = llvm::json;
namespace key = batchrt::key;

ObjectLayout::ObjectLayout(ModuleOp module) : module(module), variants(module) {
  for (auto kernel : module.getOps<KernelOp>())
    kernels.try_emplace(kernel.getSymNameAttr(), kernels.size());
  for (auto table : module.getOps<TableOp>()) {
    tables.try_emplace(table.getSymNameAttr(), tables.size());
    tableRowBytes[table.getSymNameAttr()] = table.getOwnLayout().getRowBytes();
  }
  for (auto source : module.getOps<SourceOp>())
    sources.try_emplace(source.getSymNameAttr(), sources.size() + 1);
  transientTables = llvm::any_of(module.getOps<TableOp>(), [](TableOp table) {
    return table.getTransient();
  });
  waits = module.walk([](AwaitOp) { return WalkResult::interrupt(); })
              .wasInterrupted();
  assignRecordCells();
  findConstantKernels();
  SymbolTable symbols(module);
  module.walk([&](TraverseOp traverse) {
    reservations[traverse] = reserve(traverse, constantKernels);
    for (auto name : traverse.getFunctions().getAsRange<FlatSymbolRefAttr>()) {
      auto function = symbols.lookup<FunctionOpInterface>(name.getAttr());
      memos[name.getAttr()] = memoCount;
      memoCount += function.getNumResults();
      traversedAdts[name.getAttr()] =
          cast<rec::AdtType>(function.getArgumentTypes().back());
    }
  });
}

int64_t ObjectLayout::numberCounted(Operation *op) {
  auto [it, isNew] =
      countedPlaces.try_emplace(op->getLoc(), counted.size() + 1);
  if (isNew) {
    std::string text = "a loop";
    if (auto function = dyn_cast<func::FuncOp>(op))
      text = ("function '" + function.getSymName() + "'").str();
    counted.push_back(text + describePlace(op->getLoc()));
  }
  return it->second;
}

int64_t ObjectLayout::getSource(int64_t parameter, Type row) const {
  for (auto source : module.getOps<SourceOp>())
    if (source.getParameter() &&
        static_cast<int64_t>(*source.getParameter()) == parameter &&
        source.getRow() == row)
      return sources.lookup(source.getSymNameAttr());
  return 0;
}

int64_t ObjectLayout::getMemo(StringAttr function) const {
  auto it = memos.find(function);
  return it == memos.end() ? -1 : it->second;
}

std::pair<int64_t, int64_t>
ObjectLayout::getVariantRange(rec::AdtType adt) const {
  int64_t first = -1, count = 0;
  for (int64_t number = 0; number < variants.size(); ++number)
    if (variants.getVariant(number).getAdt().getType() == adt) {
      first = first < 0 ? number : first;
      ++count;
    }
  return {first, count};
}

void ObjectLayout::assignRecordCells() {
  // For each operand, the first operand that is equal to it in all records so
  // far.
  DenseMap<StringAttr, SmallVector<unsigned>> equal;
  module.walk([&](RecordOp record) {
    OperandRange inputs = record.getInputs();
    auto [it, isNew] = equal.try_emplace(record.getKernelAttr().getAttr());
    SmallVector<unsigned> &first = it->second;
    for (unsigned i = 0; i < inputs.size(); ++i) {
      if (isNew)
        first.push_back(llvm::find(inputs, inputs[i]) - inputs.begin());
      else if (inputs[first[i]] != inputs[i])
        first[i] = i;
    }
  });
  for (auto kernel : module.getOps<KernelOp>()) {
    ArrayRef<unsigned> first = equal[kernel.getSymNameAttr()];
    SmallVector<int64_t> &cells = recordCells[kernel];
    int64_t next = 1;
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      if (kernel.isShared(i))
        continue;
      unsigned operand = cells.size();
      bool isCopy = operand < first.size() && first[operand] != operand;
      cells.push_back(isCopy ? cells[first[operand]] : next++);
    }
  }
}

/// Returns true if both handles always refer to the same row of a source.
static bool areSameConstantRow(Value a, Value b) {
  auto rowA = a.getDefiningOp<RowOp>(), rowB = b.getDefiningOp<RowOp>();
  APInt indexA, indexB;
  return rowA && rowB && rowA.getSourceAttr() == rowB.getSourceAttr() &&
         matchPattern(rowA.getIndex(), m_ConstantInt(&indexA)) &&
         matchPattern(rowB.getIndex(), m_ConstantInt(&indexB)) &&
         indexA == indexB;
}

void ObjectLayout::findConstantKernels() {
  for (auto kernel : module.getOps<KernelOp>())
    constantKernels.insert(kernel);
  // Every record, including the first, is compared with the kernel's first
  // record.
  DenseMap<Operation *, RecordOp> first;
  SymbolTable symbols(module);
  module.walk([&](RecordOp record) {
    auto kernel = symbols.lookup<KernelOp>(record.getKernelAttr().getAttr());
    RecordOp other = first.try_emplace(kernel, record).first->second;
    if (!llvm::all_of_zip(record.getInputs(), other.getInputs(),
                          areSameConstantRow))
      constantKernels.erase(kernel);
  });
}

int64_t ObjectLayout::getResultBytes(KernelOp kernel, unsigned result) const {
  auto table =
      kernel.getResultAttrOfType<FlatSymbolRefAttr>(result, kTableAttr);
  if (table)
    return tableRowBytes.lookup(table.getAttr());
  return getRowBytes(cast<RankedTensorType>(kernel.getResultTypes()[result]));
}

int64_t ObjectLayout::getRecordBytes(KernelOp kernel) const {
  int64_t last = 0;
  for (int64_t cell : getRecordCells(kernel))
    last = std::max(last, cell);
  return (1 + last) * abi::kCellBytes;
}

//===----------------------------------------------------------------------===//
// The descriptor
//===----------------------------------------------------------------------===//

static std::string describeScalar(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static json::Array describeShape(ArrayRef<int64_t> shape) {
  json::Array array;
  for (int64_t size : shape)
    array.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return array;
}

FailureOr<json::Value> ObjectLayout::describeType(Location loc, Type type,
                                                  Attribute table,
                                                  Attribute source) const {
  if (isElementType(type))
    return json::Value(describeScalar(type));
  if (auto adt = dyn_cast<rec::AdtType>(type))
    return json::Value(
        json::Object{{key::adt, adt.getName().getValue().str()}});
  if (auto list = dyn_cast<rec::ListType>(type)) {
    FailureOr<json::Value> element =
        describeType(loc, list.getElementType(), table, source);
    if (failed(element))
      return failure();
    return json::Value(json::Object{{key::list, *element}});
  }
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (llvm::any_of(tensor.getShape().drop_front(tensor.getRank() ? 1 : 0),
                     ShapedType::isDynamic))
      return emitError(loc)
             << "a value of type " << type
             << " cannot be an argument or result of the entry; only the first "
                "dimension of a tensor may differ between instances";
    if (!isElementType(tensor.getElementType()))
      return emitError(loc)
             << "a value of type " << type
             << " cannot be an argument or result of the entry, because the "
                "runtime does not support its element type";
    if (!tensor.hasStaticShape())
      return describeType(
          loc,
          rec::ListType::get(RankedTensorType::get(
              tensor.getShape().drop_front(), tensor.getElementType())),
          table, source);
    json::Object object{{key::tensor, describeShape(tensor.getShape())},
                        {key::dtype, describeScalar(tensor.getElementType())}};
    if (auto name = dyn_cast_or_null<FlatSymbolRefAttr>(table))
      object[key::table] = getTable(name.getAttr());
    if (auto name = dyn_cast_or_null<FlatSymbolRefAttr>(source))
      object[key::source] = getSource(name.getAttr());
    return json::Value(std::move(object));
  }
  return emitError(loc) << "a value of type " << type
                        << " cannot be an argument or result of the entry";
}

/// Returns the lines of the model from which a kernel was created: for each
/// file, the line numbers in ascending order.
static json::Object describeLines(KernelOp kernel) {
  std::map<std::string, std::set<int64_t>> lines;
  auto add = [&](Location loc) {
    if (auto place = loc->findInstanceOf<FileLineColLoc>())
      lines[llvm::sys::path::filename(place.getFilename()).str()].insert(
          place.getLine());
  };
  auto addAll = [&](Location loc) {
    if (auto places = dyn_cast<FusedLoc>(loc))
      llvm::for_each(places.getLocations(), add);
    else
      add(loc);
  };
  // A kernel that occurs in several places has a fused location, which contains
  // the locations of all these places.
  if (isa<FusedLoc>(kernel.getLoc()))
    addAll(kernel.getLoc());
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!op.hasTrait<OpTrait::ConstantLike>() && !isa<tensor::EmptyOp>(op))
      addAll(op.getLoc());
  json::Object described;
  for (const auto &[file, numbers] : lines)
    described[file] = json::Array(numbers);
  return described;
}

FailureOr<json::Value> ObjectLayout::describeKernel(KernelOp kernel) const {
  json::Array operands, results, ragged;
  DenseSet<int64_t> domains;
  auto function = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      kernel, StringAttr::get(kernel.getContext(),
                              getOperatorName(kernel.getSymName())));
  auto code = function
                  ? function->getAttrOfType<uprog::CodeAttr>(uprog::kCodeAttr)
                  : uprog::CodeAttr();
  if (!code)
    return kernel.emitError("the kernel's operator has no code; run "
                            "convert-operators-to-cpu first");
  ArrayRef<int64_t> raggedBytes = code.getRaggedScratch();
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (kernel.isShared(i))
      continue;
    auto read = kernel.getArgAttrOfType<ReadAttr>(i, kReadAttr);
    json::Object operand;
    operand[key::cell] = getRecordCells(kernel)[operands.size()];
    operand[key::kind] =
        read ? stringifyReadKind(read.getKind()).str() : key::rows;
    if (read && read.getFrom()) {
      StringAttr from = read.getFrom().getAttr();
      if (std::optional<int64_t> variable = findVariable(from))
        operand[key::variable] = *variable;
      else if (tables.contains(from))
        operand[key::table] = getTable(from);
      else
        operand[key::source] = getSource(from);
    }
    if (kernel.isRagged(i)) {
      operand[key::ragged] = true;
      auto domain = kernel.getArgAttrOfType<IntegerAttr>(i, kRaggedAttr);
      int64_t number = domain ? domain.getInt() : 0;
      if (domains.insert(number).second &&
          number < static_cast<int64_t>(raggedBytes.size()))
        ragged.push_back(
            json::Object{{key::operand, static_cast<int64_t>(operands.size())},
                         {key::bytes, raggedBytes[number]}});
    }
    operands.push_back(std::move(operand));
  }
  for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
    auto table = kernel.getResultAttrOfType<FlatSymbolRefAttr>(i, kTableAttr);
    if (isBlock(kernel))
      results.push_back(
          json::Object{{key::rowBytes, getResultBytes(kernel, i)}});
    // A module with only unbatched code has no tables.
    else if (table)
      results.push_back(json::Object{{key::table, getTable(table.getAttr())},
                                     {key::position, kernel.getPosition(i)},
                                     {key::siblings, kernel.getSiblings(i)}});
    auto argument = kernel.getResultAttrOfType<IntegerAttr>(i, kInPlaceAttr);
    if (!argument || results.size() <= i)
      continue;
    int64_t operand =
        llvm::count_if(llvm::seq<int64_t>(0, argument.getInt()),
                       [&](int64_t other) { return !kernel.isShared(other); });
    (*results[i].getAsObject())[key::inPlace] = operand;
  }
  json::Object described{{key::name, kernel.getSymName().str()},
                         {key::phase, static_cast<int64_t>(kernel.getPhase())},
                         {key::deferred, kernel.getDeferred()},
                         {key::constant, isConstant(kernel)},
                         {key::operands, std::move(operands)},
                         {key::results, std::move(results)},
                         {key::taskScratch, code.getTaskScratch()},
                         {key::raggedScratch, std::move(ragged)}};
  if (json::Object lines = describeLines(kernel); !lines.empty())
    described[key::lines] = std::move(lines);
  if (auto copied = kernel->getAttrOfType<IntegerAttr>(kCopiedBytesAttr))
    described[key::copiedBytes] = copied.getInt();
  if (uprog::WorkersAttr workers = code.getWorkers()) {
    described[key::workerScratch] =
        json::Array{workers.getFixedScratch(), workers.getTaskScratch(),
                    workers.getMostScratch()};
    described[key::shareTasks] = workers.getShareTasks();
  }
  return json::Value(std::move(described));
}

LogicalResult ObjectLayout::describeEntry(json::Object &object,
                                          func::FuncOp entry) const {
  func::FuncOp inspector;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(kInspectorAttr))
      inspector = function;
  json::Array parameters, arguments, results;
  unsigned position = 0;
  for (BlockArgument argument : entry.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (auto name = entry.getArgAttrOfType<StringAttr>(index, kSharedAttr)) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type)
        return entry.emitError("argument #")
               << index
               << " is a parameter and must be a tensor; pass a scalar as a "
                  "tensor of rank 0";
      parameters.push_back(
          json::Object{{key::name, name.str()},
                       {key::shape, describeShape(type.getShape())},
                       {key::dtype, describeScalar(type.getElementType())}});
      continue;
    }
    auto name = entry.getArgAttrOfType<StringAttr>(index, kNameAttr);
    FailureOr<json::Value> type =
        describeType(entry.getLoc(), argument.getType(), {},
                     inspector ? inspector.getArgAttr(position, kSourceAttr)
                               : entry.getArgAttr(index, kSourceAttr));
    if (failed(type))
      return failure();
    arguments.push_back(json::Object{
        {key::name, name ? name.str() : ("arg" + Twine(index)).str()},
        {key::type, *type}});
    ++position;
  }
  for (auto [index, resultType] : llvm::enumerate(entry.getResultTypes())) {
    auto name = entry.getResultAttrOfType<StringAttr>(index, kNameAttr);
    FailureOr<json::Value> type = describeType(
        entry.getLoc(), resultType,
        inspector ? inspector.getResultAttr(index, kTableAttr) : Attribute(),
        {});
    if (failed(type))
      return failure();
    json::Object result{
        {key::name, name ? name.str() : ("result" + Twine(index)).str()},
        {key::type, *type}};
    if (auto rows = entry.getResultAttrOfType<StringAttr>(index, kRowsAttr))
      for (unsigned other = 0; other < entry.getNumResults(); ++other)
        if (entry.getResultAttr(other, kNameAttr) == rows)
          result[key::rows] = other;
    results.push_back(std::move(result));
  }
  object[key::parameters] = std::move(parameters);
  object[key::arguments] = std::move(arguments);
  object[key::results] = std::move(results);
  return success();
}

/// Describes where rows are stored: packings of parameters, sources and tables.
void ObjectLayout::describeRows(json::Object &object) const {
  // Packings that kernels read, followed by a packing for each source that has
  // no packing yet.
  json::Array packingList;
  DenseMap<int64_t, int64_t> rowPackings;
  if (auto packings = module->getAttrOfType<ArrayAttr>(uprog::kPackingsAttr))
    for (Attribute packing : packings) {
      if (auto padded = dyn_cast<uprog::PaddedAttr>(packing)) {
        rowPackings[padded.getParameter()] = packingList.size();
        packingList.push_back(
            json::Object{{key::parameter, padded.getParameter()},
                         {key::packing, key::rows}});
        continue;
      }
      auto panels = cast<uprog::PanelsAttr>(packing);
      json::Object described{{key::parameter, panels.getParameters().front()},
                             {key::packing, key::panels},
                             {key::n, panels.getN()},
                             {key::k, panels.getK()},
                             {key::transposed, panels.getTransposed()},
                             {key::width, panels.getWidth()}};
      if (panels.getParameters().size() > 1)
        described[key::stacked] =
            json::Array(panels.getParameters().drop_front());
      if (!panels.getExtents().empty()) {
        described[key::extents] = json::Array(panels.getExtents());
        described[key::order] = json::Array(panels.getOrder());
      }
      packingList.push_back(std::move(described));
    }
  json::Array sourceList;
  sourceList.push_back(nullptr);
  for (auto source : module.getOps<SourceOp>()) {
    auto row = cast<RankedTensorType>(source.getRow());
    if (!source.getParameter()) {
      sourceList.push_back(
          json::Object{{key::input, describeShape(row.getShape())},
                       {key::dtype, describeScalar(row.getElementType())}});
      continue;
    }
    int64_t parameter = *source.getParameter();
    auto [it, inserted] =
        rowPackings.try_emplace(parameter, packingList.size());
    if (inserted)
      packingList.push_back(
          json::Object{{key::parameter, parameter}, {key::packing, key::rows}});
    sourceList.push_back(
        json::Object{{key::parameter, parameter}, {key::packing, it->second}});
  }
  object[key::packings] = std::move(packingList);
  if (auto indices = module->getAttrOfType<ArrayAttr>(uprog::kIndicesAttr)) {
    json::Array list;
    for (auto text : indices.getAsValueRange<StringAttr>())
      list.push_back(text.str());
    object[key::indices] = std::move(list);
  }
  if (!counted.empty())
    object[key::counted] = json::Array(counted);
  object[key::sources] = std::move(sourceList);

  json::Array tableList;
  int64_t groups = 0;
  for (auto table : module.getOps<TableOp>()) {
    groups = std::max<int64_t>(groups, table.getGroup() + 1);
    TableLayout layout = table.getTableLayout();
    json::Object described{
        {key::name, table.getSymName().str()},
        {key::rowBytes, layout.getBlockBytes()},
        {key::group, static_cast<int64_t>(table.getGroup())}};
    int64_t ownBytes = table.getOwnLayout().getBlockBytes() / layout.getBlock();
    if (ownBytes != layout.getBlockBytes())
      described[key::ownBytes] = ownBytes;
    if (table.getTransient())
      described[key::transient] = true;
    if (layout.getBlock() > 1) {
      described[key::block] = layout.getBlock();
      described[key::slotBytes] = layout.getSlotBytes();
    }
    if (table.getNextTo()) {
      described[key::nextTo] = getTable(table.getNextToAttr().getAttr());
      described[key::offset] = table.getOffset();
    }
    if (!layout.isRowMajor()) {
      int64_t bytes =
          elementBytes(cast<RankedTensorType>(table.getRow()).getElementType());
      json::Array digits;
      for (const TableLayout::Digit &digit : layout.getDigits())
        digits.push_back(json::Array{digit.dim, digit.divisor, digit.modulus,
                                     digit.stride * bytes});
      described[key::run] = layout.getRun();
      described[key::digits] = std::move(digits);
    }
    tableList.push_back(std::move(described));
  }
  object[key::tables] = std::move(tableList);
  object[key::groups] = groups;
}

static json::Object describeInstances(DictionaryAttr instances) {
  json::Array loops;
  for (auto loop :
       instances.getAs<ArrayAttr>("loops").getAsValueRange<StringAttr>())
    loops.push_back(loop.str());
  json::Object kernelLoops;
  for (NamedAttribute loop : instances.getAs<DictionaryAttr>("kernel_loops"))
    kernelLoops[loop.getName().str()] = cast<StringAttr>(loop.getValue()).str();
  auto number = [&](StringRef name) {
    return instances.getAs<IntegerAttr>(name).getInt();
  };
  return json::Object{{key::bytes, number("bytes")},
                      {key::tasks, number("tasks")},
                      {key::capacity, number("capacity")},
                      {key::memberBytes, number("member_bytes")},
                      {key::setBytes, number("set_bytes")},
                      {key::loops, std::move(loops)},
                      {key::kernelLoops, std::move(kernelLoops)},
                      {key::nodeBytes, number("node_bytes")},
                      {key::nodeCells, number("node_cells")},
                      {key::nodeValues, number("node_values")}};
}

FailureOr<json::Value> ObjectLayout::describeAdts() const {
  json::Array adts;
  for (auto adt : module.getOps<rec::AdtOp>()) {
    json::Array list;
    for (rec::VariantOp variant : adt.getVariants()) {
      auto inTables = variant->getAttrOfType<DictionaryAttr>(kTableAttr);
      auto inSources = variant->getAttrOfType<DictionaryAttr>(kSourceAttr);
      json::Array fields;
      for (unsigned field = 0; field < variant.getNumFields(); ++field) {
        StringRef name = variant.getFieldName(field);
        FailureOr<json::Value> type =
            describeType(variant.getLoc(), variant.getFieldType(field),
                         inTables ? inTables.get(name) : Attribute(),
                         inSources ? inSources.get(name) : Attribute());
        if (failed(type))
          return failure();
        fields.push_back(
            json::Object{{key::name, name.str()}, {key::type, *type}});
      }
      list.push_back(json::Object{
          {key::name, variant.getSymName().str()},
          {key::number,
           variants.getNumber(adt.getType(), FlatSymbolRefAttr::get(
                                                 variant.getSymNameAttr()))},
          {key::fields, std::move(fields)}});
    }
    json::Object description{{key::name, adt.getSymName().str()},
                             {key::variants, std::move(list)}};
    if (std::optional<rec::Kind> kind = adt.getKind())
      description[key::kind] = rec::stringifyKind(*kind);
    if (std::optional<int64_t> arity = adt.getArity())
      description[key::arity] = *arity;
    adts.push_back(std::move(description));
  }
  if (variants.size() > 256)
    return emitError(module.getLoc())
           << "the ADTs of the module have " << variants.size()
           << " variants in total; a compiled object can have at most 256";
  return json::Value(std::move(adts));
}

std::optional<int64_t> ObjectLayout::findVariable(StringAttr name) const {
  for (auto machine : module.getOps<MachineOp>())
    for (auto [number, variable] :
         llvm::enumerate(machine.getBody().getOps<VariableOp>()))
      if (variable.getSymNameAttr() == name)
        return number;
  return std::nullopt;
}

/// Returns true if `kernel` is the code of a machine's block.
bool ObjectLayout::isBlock(KernelOp kernel) const {
  return llvm::any_of(module.getOps<MachineOp>(), [&](MachineOp machine) {
    return isa_and_nonnull<BlockOp>(
        SymbolTable::lookupSymbolIn(machine, kernel.getSymNameAttr()));
  });
}

/// Describes the variables and blocks of a program that runs in lockstep.
json::Value ObjectLayout::describeMachine(MachineOp machine) const {
  MachineLayout layout(machine);
  json::Array variables, blocks;
  for (auto &[name, variable] : layout.getVariables())
    variables.push_back(json::Object{{key::name, name.str()},
                                     {key::rowBytes, variable.rowBytes},
                                     {key::stack, variable.hasStack}});
  for (auto block : machine.getBody().getOps<BlockOp>()) {
    auto [stackBytes, topBytes] = layout.countBytes(block);
    json::Object described{{key::name, block.getSymName().str()},
                           {key::stackBytes, stackBytes},
                           {key::topBytes, topBytes}};
    for (auto invoke : block.getBody().front().getOps<InvokeOp>()) {
      described[key::kernel] = kernels.lookup(invoke.getKernelAttr().getAttr());
      json::Array inPlace;
      for (OpResult result : invoke->getResults())
        inPlace.push_back(int64_t(layout.isInPlace(result)));
      if (llvm::is_contained(inPlace, json::Value(int64_t(1))))
        described[key::inPlace] = std::move(inPlace);
    }
    blocks.push_back(std::move(described));
  }
  return json::Object{{key::frames, bool(machine.getFrames())},
                      {key::variables, std::move(variables)},
                      {key::blocks, std::move(blocks)}};
}

/// Describes the launch of a persistent kernel. `module` contains its code, or
/// the code for the emulator.
json::Value ObjectLayout::describeLaunch(DictionaryAttr launch) const {
  json::Object object;
  object[key::kernel] = launch.getAs<StringAttr>("kernel").str();
  object[key::executor] = launch.getAs<StringAttr>("executor").str();
  object[key::blockSize] = launch.getAs<IntegerAttr>("block_size").getInt();
  object[key::clusterSize] = launch.getAs<IntegerAttr>("cluster_size").getInt();
  int64_t shared = launch.getAs<IntegerAttr>("shared_bytes").getInt();
  for (auto function : module.getOps<func::FuncOp>())
    if (auto bytes = function->getAttrOfType<IntegerAttr>(kEmulatedAttr))
      shared += bytes.getInt();
  object[key::sharedBytes] = shared;
  for (auto binary : module.getOps<gpu::BinaryOp>())
    if (auto target = dyn_cast<NVVM::NVVMTargetAttr>(
            cast<gpu::ObjectAttr>(binary.getObjects()[0]).getTarget()))
      object[key::chip] = target.getChip().str();
  return json::Value(std::move(object));
}

/// Returns true if instances cannot share memoized calls of the inspector. In
/// this case, all memoized calls have a node among their arguments, and no node
/// belongs to two instances.
static bool isSeparable(ModuleOp module) {
  return llvm::all_of(module.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return !function->hasAttr(kMemoizedAttr) ||
           llvm::any_of(function.getArgumentTypes(),
                        llvm::IsaPred<rec::AdtType>);
  });
}

FailureOr<json::Value> ObjectLayout::describe(const InstanceProgram &program,
                                              const Target &target) const {
  json::Object object;
  object[key::abi] = BATCH_ABI_VERSION;
  object[key::name] = module.getSymName().value_or("").str();
  json::Array features;
  for (const std::string &feature : target.features)
    features.push_back(feature);
  object[key::target] = json::Object{{key::triple, target.triple.str()},
                                     {key::cpu, target.cpu.str()},
                                     {key::features, std::move(features)}};
  json::Object sizes;
  if (auto named = module->getAttrOfType<DictionaryAttr>(kSizesAttr))
    for (NamedAttribute size : named)
      sizes[size.getName().strref()] =
          cast<IntegerAttr>(size.getValue()).getInt();
  object[key::sizes] = std::move(sizes);
  if (failed(describeEntry(object, program.getEntry())))
    return failure();
  describeRows(object);
  FailureOr<json::Value> adts = describeAdts();
  if (failed(adts))
    return failure();
  object[key::adts] = std::move(*adts);
  object[key::cellColumns] = std::max<int64_t>(1, variants.getMaxFields());

  json::Array kernelList;
  for (auto kernel : module.getOps<KernelOp>()) {
    FailureOr<json::Value> described = describeKernel(kernel);
    if (failed(described))
      return failure();
    kernelList.push_back(std::move(*described));
  }
  object[key::kernels] = std::move(kernelList);
  object[key::memo] = memoCount;
  bool inspects = false, executes = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (auto launch = function->getAttrOfType<DictionaryAttr>(kLaunchAttr))
      object[key::device] = describeLaunch(launch);
    inspects |= function->hasAttr(kInspectorAttr);
    executes |= function->hasAttr(kExecutorAttr);
  }
  object[key::separable] = isSeparable(module);
  object[key::waits] = waits;
  for (auto machine : module.getOps<MachineOp>())
    object[key::lockstep] = describeMachine(machine);
  if (auto instances =
          module->getAttrOfType<DictionaryAttr>(uprog::kInstancesAttr))
    object[key::replicate] = describeInstances(instances);
  if (auto policy = module->getAttrOfType<PolicyAttr>(kPolicyAttr)) {
    object[key::policy] = batchrt::policyName(policy.getKind());
    if (StringAttr table = policy.getTable())
      object[key::policyTable] = table.getValue().str();
  }
  if (FunctionOpInterface entry = lookupEntry(module))
    if (auto reason = entry->getAttrOfType<StringAttr>(kNotBatchedAttr))
      object[key::notBatched] = reason.getValue().str();
  object[key::has] = json::Object{{key::inspect, inspects},
                                  {key::execute, executes},
                                  {key::unbatched, true}};
  return json::Value(std::move(object));
}
