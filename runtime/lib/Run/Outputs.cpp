//===- Outputs.cpp - Results of all instances -----------------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Outputs.h"
#include "../Formats/StridedCopy.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/OutputFile.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

using namespace batchrt;

std::vector<int64_t> Output::shape() const {
  std::vector<int64_t> shape = rowShape;
  shape.insert(shape.begin(), rows());
  return shape;
}

/// Returns the innermost element type of a list, and any other type itself.
static const Type &rowType(const Type &type) {
  const Type *row = &type;
  while (row->kind == Type::List)
    row = &row->element();
  return *row;
}

static DType outputType(const Type &row) {
  return row.kind == Type::Index ? DType::I64 : row.dtype;
}

OutputCollector::OutputCollector(const Descriptor &descriptor)
    : descriptor(descriptor), fields(descriptor.results.size()) {
  // For each name: the results that have this name, or a field of this name.
  std::map<std::string, std::set<size_t>> users;
  auto reachable = [&](const Type &type) {
    std::vector<int> adts{rowType(type).adt};
    for (size_t i = 0; i < adts.size(); ++i)
      for (const Variant &variant : descriptor.adts[adts[i]].variants)
        for (const Field &field : variant.fields) {
          int adt = rowType(field.type).adt;
          if (field.type.holdsNodes() &&
              std::find(adts.begin(), adts.end(), adt) == adts.end())
            adts.push_back(adt);
        }
    return adts;
  };
  std::vector<std::vector<int>> adts(descriptor.results.size());
  for (size_t r = 0; r < descriptor.results.size(); ++r) {
    const Field &result = descriptor.results[r];
    if (!result.type.holdsNodes()) {
      users[result.name].insert(r);
      continue;
    }
    adts[r] = reachable(result.type);
    for (int adt : adts[r])
      for (const Variant &variant : descriptor.adts[adt].variants)
        for (const Field &field : variant.fields)
          users[field.name].insert(r);
  }

  for (size_t r = 0; r < descriptor.results.size(); ++r) {
    const Field &result = descriptor.results[r];
    plain.push_back(-1);
    if (!result.type.holdsNodes()) {
      bool ragged = result.type.kind == Type::List || result.rows >= 0;
      plain[r] = addOutput(result.name, result.type, ragged);
      if (result.rows >= 0)
        list.back().rowShape.erase(list.back().rowShape.begin());
      continue;
    }
    // One output per field name, unless fields of this name differ in type.
    std::map<std::string, std::string> types;
    std::set<std::string> mixed;
    auto each = [&](auto body) {
      for (int adt : adts[r])
        for (const Variant &variant : descriptor.adts[adt].variants)
          for (size_t f = 0; f < variant.fields.size(); ++f)
            if (!variant.fields[f].type.holdsNodes())
              body(variant, f, variant.fields[f]);
    };
    each([&](const Variant &, size_t, const Field &field) {
      std::string type = describe(descriptor, rowType(field.type));
      if (types.emplace(field.name, type).first->second != type)
        mixed.insert(field.name);
    });
    fields[r].resize(256);
    std::map<std::string, int> known;
    each([&](const Variant &variant, size_t f, const Field &field) {
      std::string name = field.name;
      if (mixed.count(name))
        name = variant.name + "." + name;
      if (users[field.name].size() > 1)
        name = result.name + "." + name;
      auto [it, added] = known.emplace(name, -1);
      if (added)
        it->second = addOutput(name, field.type, true);
      std::vector<int> &targets = fields[r][variant.number];
      targets.resize(variant.fields.size(), -1);
      targets[f] = it->second;
    });
  }
}

int OutputCollector::resultOf(size_t output) const {
  auto found = std::find(plain.begin(), plain.end(), static_cast<int>(output));
  return found == plain.end() ? -1 : static_cast<int>(found - plain.begin());
}

int OutputCollector::addOutput(const std::string &name, const Type &type,
                               bool ragged) {
  const Type &row = rowType(type);
  Output output;
  output.name = name;
  output.type = outputType(row);
  output.ragged = ragged;
  if (row.kind == Type::Tensor)
    output.rowShape = row.shape;
  list.push_back(std::move(output));
  sources.emplace_back();
  return static_cast<int>(list.size()) - 1;
}

void OutputCollector::append(int number, const Session &session,
                             const Type &type, int64_t cell) {
  if (type.kind == Type::List) {
    const int64_t *pool = session.context().listPool + listFirst(cell);
    // The recursion is as deep as the nesting of lists in the type.
    for (int64_t i = 0; i < listLength(cell); ++i)
      append(number, session, type.element(), pool[i]);
    return;
  }
  sources[number].push_back({&type, cell, 1});
  ++list[number].offsets.back();
}

/// Appends rows of a result. Another result contains the number of rows.
void OutputCollector::appendRows(size_t result, const Session &session,
                                 int64_t instance) {
  const Field &field = descriptor.results[result];
  const Field &counter = descriptor.results[field.rows];
  const int64_t cell = session.context().results[field.rows][instance];
  const int64_t count = loadInteger(outputType(counter.type),
                                    reinterpret_cast<const char *>(&cell), 0);
  const int64_t most = field.type.shape.front();
  if (count < 0 || count > most)
    raise("instance ", session.forest().firstInstance + instance, ": result '",
          counter.name, "' specifies ", count, " rows for '", field.name,
          "'; expected 0 to ", most);
  sources[plain[result]].push_back(
      {&field.type, session.context().results[result][instance], count});
  list[plain[result]].offsets.back() += count;
}

/// Appends an instance without results: zeros, or no rows for ragged outputs.
void OutputCollector::appendNothing() {
  for (size_t number = 0; number < list.size(); ++number) {
    if (list[number].ragged)
      continue;
    sources[number].push_back({nullptr, 0, 1});
    ++list[number].offsets.back();
  }
}

void OutputCollector::clear() {
  constexpr size_t large = (64 << 20) / sizeof(RowSource);
  for (Output &output : list) {
    output.data.clear();
    output.offsets.assign(1, 0);
  }
  for (std::vector<RowSource> &rows : sources) {
    if (rows.capacity() > large)
      rows = {};
    rows.clear();
  }
}

void OutputCollector::collect(const Session &session, int64_t instance) {
  find(session, instance);
  for (size_t number = 0; number < list.size(); ++number) {
    Output &output = list[number];
    const size_t at = output.data.size();
    const int64_t bytes = byteSize(output.type);
    output.data.resize(output.rows() * output.rowElements() * bytes);
    copyRows(session, sources[number], output.type, output.rowShape,
             output.data.data() + at,
             denseStrides(output.shape(), bytes).data());
    sources[number].clear();
  }
}

void batchrt::copyRows(const Session &session,
                       const std::vector<RowSource> &sources, DType type,
                       const std::vector<int64_t> &rowShape, char *to,
                       const int64_t *strides) {
  const int64_t bytes = byteSize(type);
  const std::vector<int64_t> dense = denseStrides(rowShape, bytes),
                             padded = paddedStrides(rowShape, type);
  const int64_t denseBytes = elementCount(rowShape) * bytes;
  // Rows without dimensions are the elements of one padded row.
  const int64_t paddedBytes =
      rowShape.empty() ? bytes : RowLayout(rowShape, type).rowBytes();
  const std::vector<TableInfo> &tables = session.descriptor().tables;
  std::vector<char> copied;
  for (const auto &[of, cell, rows] : sources) {
    const char *from = reinterpret_cast<const char *>(&cell);
    bool isPadded = false;
    if (!of) {
      copied.assign(denseBytes, 0);
      from = copied.data();
    } else if (of->kind == Type::Tensor) {
      from = session.tensor(*of, cell);
      isPadded = of->table < 0 || tables[of->table].elements.digits.empty();
      if (!isPadded) {
        copied.resize(elementCount(of->shape) * bytes);
        tables[of->table].elements.unpad(of->shape, type, from, copied.data());
        from = copied.data();
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      copyStrided(rowShape.size(), rowShape.data(), bytes, from,
                  isPadded ? padded.data() : dense.data(), to, strides + 1);
      from += isPadded ? paddedBytes : denseBytes;
      to += strides[0];
    }
  }
}

void OutputCollector::find(const Session &session, int64_t instance) {
  session.collect();
  for (Output &output : list)
    output.offsets.push_back(output.offsets.back());
  if (!session.failure(instance).empty()) {
    appendNothing();
    return;
  }
  for (size_t r = 0; r < descriptor.results.size(); ++r) {
    const Type &type = descriptor.results[r].type;
    int64_t cell = session.context().results[r][instance];
    if (descriptor.results[r].rows >= 0) {
      appendRows(r, session, instance);
      continue;
    }
    if (plain[r] >= 0) {
      append(plain[r], session, type, cell);
      continue;
    }
    if (seen.size() < static_cast<size_t>(session.context().numNodes))
      seen.resize(session.context().numNodes, 0);
    ++epoch;
    walk(session, r, cell);
  }
}

/// Appends the nodes that `cell`, a value of type `type`, contains, in reverse
/// order.
static void pushNodes(const BatchContext &context, const Type &type,
                      int64_t cell, std::vector<int64_t> &out) {
  if (type.kind == Type::Adt)
    out.push_back(cell);
  else if (type.kind == Type::List)
    for (int64_t i = listLength(cell); i-- > 0;)
      pushNodes(context, type.element(), context.listPool[listFirst(cell) + i],
                out);
}

void OutputCollector::pushChildren(const Session &session, int64_t node) {
  const BatchContext &context = session.context();
  const Variant &variant = *descriptor.variantByNumber(context.variants[node]);
  for (size_t f = variant.fields.size(); f-- > 0;)
    if (variant.fields[f].type.holdsNodes())
      pushNodes(context, variant.fields[f].type, context.cells[f][node],
                children);
}

void OutputCollector::walk(const Session &session, size_t result,
                           int64_t root) {
  const BatchContext &context = session.context();
  children.clear();
  path.clear();
  pushNodes(context, descriptor.results[result].type, root, children);
  // The unvisited children of a visit are above its mark in `children`. The
  // last one is visited next.
  path.push_back({-1, 0});
  while (!path.empty()) {
    Visit visit = path.back();
    if (children.size() > visit.mark) {
      int64_t child = children.back();
      children.pop_back();
      if (seen[child] == epoch)
        continue;
      seen[child] = epoch;
      path.push_back({child, children.size()});
      pushChildren(session, child);
      continue;
    }
    path.pop_back();
    if (visit.node < 0)
      continue;
    const Variant &variant =
        *descriptor.variantByNumber(context.variants[visit.node]);
    const std::vector<int> &targets = fields[result][variant.number];
    for (size_t f = 0; f < targets.size(); ++f)
      if (targets[f] >= 0)
        append(targets[f], session, variant.fields[f].type,
               context.cells[f][visit.node]);
  }
}

/// Writes a JSON object for each instance, on a line of its own.
static void writeJsonLines(const std::string &path,
                           const std::vector<Output> &outputs) {
  writeFile(path, [&](const auto &write) {
    const int64_t instances = outputs.empty() ? 0 : outputs[0].instances();
    for (int64_t i = 0; i < instances; ++i) {
      const std::string line = toJson(outputs, i) + "\n";
      write(line.data(), line.size());
    }
  });
}

void OutputCollector::write(const std::string &path) const {
  if (std::filesystem::path(path).extension() == ".jsonl")
    return writeJsonLines(path, list);
  std::vector<NamedTensor> tensors;
  for (const Output &output : list) {
    tensors.push_back(
        {output.name, output.type, output.shape(), output.data.data()});
    if (output.ragged)
      tensors.push_back(
          {output.name + ".offsets",
           DType::I64,
           {static_cast<int64_t>(output.offsets.size())},
           reinterpret_cast<const char *>(output.offsets.data())});
  }
  writeTensorFile(path, tensors);
}
