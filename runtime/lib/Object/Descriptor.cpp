//===- Descriptor.cpp - Parsing descriptors -------------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Descriptor.h"
#include "batch-runtime/DescriptorKeys.h"
#include "batch-runtime/Error.h"

#include <nlohmann/json.hpp>

#include <array>
#include <set>

using namespace batchrt;
using nlohmann::json;

bool Type::holdsNodes() const {
  const Type *type = this;
  while (type->kind == List)
    type = &type->element();
  return type->kind == Adt;
}

const Variant *AdtInfo::find(const std::string &variant) const {
  for (const Variant &candidate : variants)
    if (candidate.name == variant)
      return &candidate;
  return nullptr;
}

namespace {
const json &member(const json &object, const char *key) {
  if (!object.is_object() || !object.contains(key))
    raise("the descriptor lacks '", key, "'");
  return object[key];
}

const json &optional(const json &object, const char *key) {
  static const json empty = json::array();
  return object.is_object() && object.contains(key) ? object[key] : empty;
}

template <class T>
T value(const json &object, const char *key, T fallback) {
  return object.is_object() && object.contains(key) && !object[key].is_null()
             ? object[key].get<T>()
             : fallback;
}

class TypeParser {
public:
  explicit TypeParser(const json &adts) {
    for (size_t i = 0; i < adts.size(); ++i)
      numbers[member(adts[i], key::name).get<std::string>()] = i;
  }

  Type parse(const json &text) const {
    Type result;
    Type *type = &result;
    const json *from = &text;
    while (from->is_object() && from->contains(key::list)) {
      type->kind = Type::List;
      type->elements.resize(1);
      type = &type->elements[0];
      from = &(*from)[key::list];
    }
    if (from->is_string()) {
      type->dtype = parseTypeName(from->get<std::string>());
      type->kind = *from == "index"       ? Type::Index
                   : isFloat(type->dtype) ? Type::Float
                                          : Type::Integer;
    } else if (from->is_object() && from->contains(key::adt)) {
      auto it = numbers.find((*from)[key::adt].get<std::string>());
      if (it == numbers.end())
        raise("the descriptor names an unknown ADT ", (*from)[key::adt].dump());
      type->kind = Type::Adt;
      type->adt = it->second;
    } else if (from->is_object() && from->contains(key::tensor)) {
      type->kind = Type::Tensor;
      type->shape = (*from)[key::tensor].get<std::vector<int64_t>>();
      for (int64_t extent : type->shape)
        if (extent < 0)
          raise("the descriptor has a tensor type without a static shape");
      type->dtype = parseTypeName(value<std::string>(*from, key::dtype, "f32"));
      type->table = value(*from, key::table, -1);
      type->source = value(*from, key::source, -1);
    } else {
      raise("the descriptor has an unknown type ", from->dump());
    }
    return result;
  }

  std::vector<Field> fields(const json &list) const {
    std::vector<Field> result;
    for (const json &field : list)
      result.push_back({value<std::string>(field, key::name, ""),
                        parse(member(field, key::type)),
                        value(field, key::rows, -1)});
    return result;
  }

private:
  std::map<std::string, int> numbers;
};

OperandInfo parseOperand(const json &text) {
  OperandInfo operand;
  std::string kind = member(text, key::kind).get<std::string>();
  if (kind == key::gather)
    operand.kind = OperandInfo::Gather;
  else if (kind == key::rows)
    operand.kind = OperandInfo::Rows;
  else if (kind == key::scalar)
    operand.kind = OperandInfo::Scalar;
  else
    raise("the descriptor has an unknown operand kind '", kind, "'");
  operand.table = value(text, key::table, -1);
  operand.source = value(text, key::source, -1);
  operand.variable = value(text, key::variable, -1);
  operand.cell = member(text, key::cell).get<int64_t>();
  operand.ragged = value(text, key::ragged, false);
  return operand;
}

LockstepInfo parseLockstep(const json &text) {
  LockstepInfo lockstep;
  lockstep.frames = value(text, key::frames, false);
  for (const json &entry : member(text, key::variables))
    lockstep.variables.push_back({member(entry, key::name).get<std::string>(),
                                  member(entry, key::rowBytes).get<int64_t>(),
                                  value(entry, key::stack, false)});
  for (const json &entry : member(text, key::blocks))
    lockstep.blocks.push_back({member(entry, key::name).get<std::string>(),
                               value(entry, key::kernel, -1),
                               value<int64_t>(entry, key::stackBytes, 0),
                               value<int64_t>(entry, key::topBytes, 0),
                               value(entry, key::inPlace, std::vector<int>())});
  return lockstep;
}

KernelInfo parseKernel(const json &text) {
  KernelInfo kernel;
  kernel.name = member(text, key::name).get<std::string>();
  kernel.phase = value<int64_t>(text, key::phase, 0);
  kernel.constant = value(text, key::constant, false);
  kernel.deferred = value(text, key::deferred, false);
  for (const json &operand : optional(text, key::operands)) {
    kernel.operands.push_back(parseOperand(operand));
    int64_t cell = kernel.operands.back().cell;
    if (cell < 1 || cell > kernel.recordCells)
      raise("kernel '", kernel.name, "' has an operand in cell ", cell,
            " of its records; expected 1 to ", kernel.recordCells);
    kernel.recordCells = std::max(kernel.recordCells, cell + 1);
  }
  // In a lockstep program, results of blocks have `rowBytes` instead of a
  // table.
  for (const json &result : optional(text, key::results))
    if (result.contains(key::rowBytes)) {
      kernel.resultBytes.push_back(result[key::rowBytes].get<int64_t>());
      kernel.resultRoots.push_back(value(result, key::inPlace, -1));
    } else if (int table = member(result, key::table).get<int>(); table >= 0) {
      kernel.results.push_back({table, value<int64_t>(result, key::position, 0),
                                value<int64_t>(result, key::siblings, 1),
                                value(result, key::inPlace, -1)});
    }
  kernel.copiedBytes = value<int64_t>(text, key::copiedBytes, 0);
  kernel.taskScratch = value<int64_t>(text, key::taskScratch, 0);
  for (const json &scratch : optional(text, key::raggedScratch))
    kernel.raggedScratch.push_back(
        {member(scratch, key::operand).get<int>(),
         member(scratch, key::bytes).get<int64_t>()});
  if (text.contains(key::workerScratch)) {
    auto bytes = text[key::workerScratch].get<std::array<int64_t, 3>>();
    kernel.workerScratch = {bytes[0], bytes[1], bytes[2]};
  }
  kernel.shareTasks =
      std::max<int64_t>(value<int64_t>(text, key::shareTasks, 1), 1);
  kernel.lines = value<decltype(kernel.lines)>(text, key::lines, {});
  return kernel;
}

PackingInfo parsePacking(const json &text) {
  PackingInfo packing;
  packing.parameter = member(text, key::parameter).get<int>();
  std::string kind = member(text, key::packing).get<std::string>();
  if (kind != key::rows && kind != key::panels)
    raise("the descriptor has an unknown packing '", kind, "'");
  packing.panels = kind == key::panels;
  if (packing.panels) {
    packing.n = member(text, key::n).get<int64_t>();
    packing.k = member(text, key::k).get<int64_t>();
    packing.width = member(text, key::width).get<int64_t>();
    packing.transposed = value(text, key::transposed, false);
    packing.stacked = value(text, key::stacked, std::vector<int>());
    packing.extents = value(text, key::extents, std::vector<int64_t>());
    packing.order = value(text, key::order, std::vector<int>());
  }
  return packing;
}

AdtInfo parseAdt(const json &text, int number, const TypeParser &types) {
  AdtInfo adt;
  adt.name = member(text, key::name).get<std::string>();
  adt.kind = value<std::string>(text, key::kind, "");
  adt.arity = value<int64_t>(text, key::arity, -1);
  for (const json &from : member(text, key::variants)) {
    Variant variant;
    variant.name = member(from, key::name).get<std::string>();
    variant.number = member(from, key::number).get<int>();
    variant.adt = number;
    variant.fields = types.fields(optional(from, key::fields));
    adt.variants.push_back(std::move(variant));
  }
  return adt;
}

/// Names the fields that have no name: `prefix` followed by their number.
void nameFields(std::vector<Field> &fields, const char *prefix) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name.empty())
      fields[i].name = prefix + std::to_string(i);
}

TableInfo parseTable(const json &text) {
  TableInfo table;
  table.name = value<std::string>(text, key::name, "");
  table.rowBytes = member(text, key::rowBytes).get<int64_t>();
  table.group = value(text, key::group, 0);
  table.block = value<int64_t>(text, key::block, 1);
  table.slotBytes = value<int64_t>(text, key::slotBytes, 0);
  table.ownBytes = value<int64_t>(text, key::ownBytes, table.rowBytes);
  table.nextTo = value(text, key::nextTo, -1);
  table.transient = value(text, key::transient, false);
  table.offset = value<int64_t>(text, key::offset, 0);
  table.elements.run = value<int64_t>(text, key::run, 1);
  for (const json &digit : optional(text, key::digits)) {
    auto numbers = digit.get<std::array<int64_t, 4>>();
    table.elements.digits.push_back(
        {numbers[0], numbers[1], numbers[2], numbers[3]});
  }
  return table;
}

SourceInfo parseSource(const json &text) {
  SourceInfo source;
  if (text.is_object() && text.contains(key::input)) {
    source.input = true;
    source.shape = text[key::input].get<std::vector<int64_t>>();
    source.dtype = parseTypeName(value<std::string>(text, key::dtype, "f32"));
  } else if (text.is_object()) {
    source.parameter = member(text, key::parameter).get<int>();
    source.packing = member(text, key::packing).get<int>();
  }
  return source;
}

LaunchInfo parseLaunch(const json &text) {
  LaunchInfo launch;
  launch.kernel = value<std::string>(text, key::kernel, "");
  launch.chip = value<std::string>(text, key::chip, "");
  launch.executor = value<std::string>(text, key::executor, "device");
  launch.blockSize = value<int64_t>(text, key::blockSize, 0);
  launch.clusterSize = value<int64_t>(text, key::clusterSize, 1);
  launch.sharedBytes = value<int64_t>(text, key::sharedBytes, 0);
  return launch;
}

Policy parsePolicy(const json &root) {
  auto name = value<std::string>(root, key::policy, "depth");
  std::optional<Policy> known = findPolicy(name);
  if (!known)
    raise("the descriptor has an unknown policy '", name, "'");
  return *known;
}
} // namespace

Descriptor::Descriptor(const char *text) {
  try {
    json root = json::parse(text);
    name = value<std::string>(root, key::name, "");
    const json &target = optional(root, key::target);
    triple = value<std::string>(target, key::triple, "");
    cpu = value<std::string>(target, key::cpu, "");
    features = value(target, key::features, std::vector<std::string>());
    for (const json &entry : optional(root, key::parameters))
      parameters.push_back(
          {member(entry, key::name).get<std::string>(),
           member(entry, key::shape).get<std::vector<int64_t>>(),
           parseTypeName(value<std::string>(entry, key::dtype, "f32"))});
    for (const json &entry : optional(root, key::packings))
      packings.push_back(parsePacking(entry));

    const json &adtList = optional(root, key::adts);
    TypeParser types(adtList);
    for (const json &entry : adtList)
      adts.push_back(parseAdt(entry, static_cast<int>(adts.size()), types));
    cellColumns = value<int64_t>(root, key::cellColumns, 0);
    arguments = types.fields(optional(root, key::arguments));
    results = types.fields(optional(root, key::results));
    nameFields(arguments, "argument");
    nameFields(results, "result");

    for (const json &entry : optional(root, key::tables))
      tables.push_back(parseTable(entry));
    groups = value(root, key::groups, 0);
    for (const json &entry : optional(root, key::sources))
      sources.push_back(parseSource(entry));
    if (sources.empty())
      sources.emplace_back();
    for (const json &entry : optional(root, key::kernels))
      kernels.push_back(parseKernel(entry));
    indices = value(root, key::indices, std::vector<std::string>());
    counted = value(root, key::counted, std::vector<std::string>());
    memo = value<int64_t>(root, key::memo, 0);
    separable = value(root, key::separable, false);
    waits = value(root, key::waits, false);
    policy = parsePolicy(root);
    if (root.contains(key::policyTable))
      if (std::string wrong = stateMachine.parse(
              root[key::policyTable].get<std::string>(), "the object's policy");
          !wrong.empty())
        raise(wrong);
    if (root.contains(key::device))
      launch = parseLaunch(root[key::device]);
    if (root.contains(key::lockstep))
      lockstep = parseLockstep(root[key::lockstep]);
    if (root.contains(key::replicate)) {
      const json &text = root[key::replicate];
      replicate = ReplicateInfo{
          member(text, key::bytes).get<int64_t>(),
          member(text, key::tasks).get<int64_t>(),
          value(text, key::capacity, int64_t(1)),
          value(text, key::memberBytes, int64_t(0)),
          value(text, key::setBytes, int64_t(0)),
          member(text, key::loops).get<std::vector<std::string>>(),
          value(text, key::kernelLoops, std::map<std::string, std::string>()),
          value(text, key::nodeBytes, int64_t(0)),
          value(text, key::nodeCells, int64_t(0)),
          value(text, key::nodeValues, int64_t(0))};
    }
    notBatched = value(root, key::notBatched, std::string());
    const json &has = optional(root, key::has);
    hasInspect = value(has, key::inspect, false);
    hasExecute = value(has, key::execute, false);
    hasUnbatched = value(has, key::unbatched, false);
  } catch (const json::exception &error) {
    raise("the descriptor is malformed: ", error.what());
  }
  check();
  for (const AdtInfo &adt : adts)
    for (const Variant &variant : adt.variants) {
      if (variant.number >= static_cast<int>(byNumber.size()))
        byNumber.resize(variant.number + 1);
      byNumber[variant.number] = &variant;
    }
}

static void checkRange(int64_t index, size_t size, const char *what) {
  if (index < 0 || index >= static_cast<int64_t>(size))
    raise("the descriptor refers to ", what, " ", index,
          ", but there are only ", size);
}

void Descriptor::check() const {
  for (const PackingInfo &packing : packings)
    checkPacking(packing);
  checkVariants();
  for (const Field &result : results)
    if (result.rows >= 0) {
      checkRange(result.rows, results.size(), "result");
      if (result.type.kind != Type::Tensor || result.type.shape.empty())
        raise("the descriptor specifies a row count for result '", result.name,
              "', which has no rows");
    }
  for (const TableInfo &table : tables)
    checkTable(table);
  if (sources.size() > 128)
    raise("the descriptor has ", sources.size(),
          " sources, but the limit is 128");
  for (const SourceInfo &source : sources)
    if (source.packing >= 0)
      checkRange(source.packing, packings.size(), "packing");
  for (const KernelInfo &kernel : kernels)
    checkKernel(kernel);
  if (lockstep)
    for (const BlockInfo &block : lockstep->blocks)
      if (block.kernel >= 0)
        checkRange(block.kernel, kernels.size(), "kernel");
}

int64_t PackingInfo::groups() const {
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  return extents.empty() ? 1 : elements / (n * k);
}

/// Checks that `order` contains each dimension of a packing once, with the
/// dimensions of n last and those of k before them.
static void checkOrder(const PackingInfo &packing) {
  std::set<int> dims(packing.order.begin(), packing.order.end());
  bool fits = packing.order.size() == packing.extents.size() &&
              dims.size() == packing.order.size() && packing.stacked.empty() &&
              packing.n > 0 && packing.k > 0;
  int64_t inner = 1;
  bool hasN = packing.n == 1, hasK = packing.n == 1 && packing.k == 1;
  for (size_t i = packing.order.size(); fits && i-- > 0;) {
    int dim = packing.order[i];
    if (dim < 0 || dim >= static_cast<int>(packing.extents.size()) ||
        packing.extents[dim] < 1) {
      fits = false;
      break;
    }
    inner *= packing.extents[dim];
    hasN |= inner == packing.n;
    hasK |= hasN && inner == packing.n * packing.k;
  }
  if (!fits || !hasK)
    raise("the descriptor has a packing of panels whose extents do not "
          "multiply to k x n");
}

void Descriptor::checkPacking(const PackingInfo &packing) const {
  checkRange(packing.parameter, parameters.size(), "parameter");
  if (packing.panels && (packing.width <= 0 || packing.n < 0 || packing.k < 0))
    raise("the descriptor has a malformed packing of panels");
  if (!packing.extents.empty() || !packing.order.empty())
    checkOrder(packing);
  if (packing.stacked.empty())
    return;
  int64_t rows = 0;
  auto addRows = [&](int parameter) {
    checkRange(parameter, parameters.size(), "parameter");
    const std::vector<int64_t> &shape = parameters[parameter].shape;
    if (!packing.transposed || shape.size() != 2 || shape[1] != packing.k)
      raise("the descriptor stacks parameter '", parameters[parameter].name,
            "', whose shape does not fit");
    rows += shape[0];
  };
  addRows(packing.parameter);
  std::for_each(packing.stacked.begin(), packing.stacked.end(), addRows);
  if (rows != packing.n)
    raise("the descriptor stacks ", rows,
          " rows of parameters, but the panels have ", packing.n);
}

void Descriptor::checkVariants() const {
  std::set<int> numbers;
  for (const AdtInfo &adt : adts)
    for (const Variant &variant : adt.variants) {
      checkRange(variant.number, 256, "variant number");
      if (!numbers.insert(variant.number).second)
        raise("the descriptor uses variant number ", variant.number, " twice");
      if (static_cast<int64_t>(variant.fields.size()) > cellColumns)
        raise("the descriptor is malformed: variant '", variant.name,
              "' has more fields than there are cell columns");
    }
}

void Descriptor::checkTable(const TableInfo &table) const {
  checkRange(table.group, groups, "group");
  if (table.block < 1 || (table.block & (table.block - 1)) != 0)
    raise("the descriptor has blocks of ", table.block, " slots in table '",
          table.name, "'; expected a power of two");
  if (table.nextTo >= 0) {
    checkRange(table.nextTo, tables.size(), "table");
    const TableInfo &owner = tables[table.nextTo];
    if (owner.nextTo >= 0 || owner.group != table.group ||
        owner.block != table.block || owner.rowBytes != table.rowBytes)
      raise("the descriptor has table '", table.name, "' next to '", owner.name,
            "', but their groups, blocks or row sizes differ, or '", owner.name,
            "' is itself next to a table");
  }
  bool malformed = table.elements.run < 1;
  for (const ElementLayout::Digit &digit : table.elements.digits)
    malformed |= digit.dim < 0 || digit.divisor < 1 || digit.modulus < 0;
  if (malformed)
    raise("the descriptor has a malformed layout for table '", table.name, "'");
}

void Descriptor::checkKernel(const KernelInfo &kernel) const {
  for (const OperandInfo &operand : kernel.operands) {
    if (operand.table >= 0)
      checkRange(operand.table, tables.size(), "table");
    if (operand.source >= 0)
      checkRange(operand.source, sources.size(), "source");
    if (operand.variable >= 0)
      checkRange(operand.variable, lockstep ? lockstep->variables.size() : 0,
                 "variable");
    else if (operand.table < 0 && operand.source < 0 &&
             operand.kind == OperandInfo::Gather)
      raise("kernel '", kernel.name,
            "' has an operand without a table or a source");
  }
  for (const ResultInfo &result : kernel.results) {
    checkRange(result.table, tables.size(), "table");
    if (result.inPlace >= 0)
      checkRange(result.inPlace, kernel.operands.size(), "operand");
  }
  for (const RaggedScratch &scratch : kernel.raggedScratch)
    checkRange(scratch.operand, kernel.operands.size(), "operand");
}

std::string batchrt::describe(const Descriptor &descriptor, const Type &type) {
  std::string text;
  const Type *inner = &type;
  for (; inner->kind == Type::List; inner = &inner->element())
    text += "list of ";
  if (inner->kind == Type::Adt)
    return text + descriptor.adts[inner->adt].name;
  if (inner->kind == Type::Index)
    return text + "index";
  if (inner->kind != Type::Tensor)
    return text + typeName(inner->dtype);
  text += "tensor<";
  for (int64_t extent : inner->shape)
    text += std::to_string(extent) + "x";
  return text + typeName(inner->dtype) + ">";
}
