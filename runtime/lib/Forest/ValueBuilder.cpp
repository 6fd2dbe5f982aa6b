//===- ValueBuilder.cpp - Building the values of one instance -------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueBuilder.h"
#include "batch-runtime/Error.h"

#include <algorithm>

using namespace batchrt;

Forest::Forest(const Descriptor &descriptor)
    : cells(descriptor.cellColumns), arguments(descriptor.arguments.size()) {}

int64_t ValueBuilder::addUnlinked(const Variant &variant,
                                  const int64_t *cells) {
  Node node{&variant, static_cast<int64_t>(pool.size())};
  pool.insert(pool.end(), cells, cells + variant.fields.size());
  nodes.push_back(node);
  return static_cast<int64_t>(nodes.size()) - 1;
}

int64_t ValueBuilder::addNode(const Variant &variant, const int64_t *cells) {
  int64_t node = addUnlinked(variant, cells);
  links(node);
  return node;
}

void ValueBuilder::links(int64_t number) {
  Node &node = nodes[number];
  node.children = static_cast<int64_t>(children.size());
  for (size_t i = 0; i < node.variant->fields.size(); ++i)
    collectNodes(node.variant->fields[i].type, pool[node.cells + i], children);
  node.childCount = static_cast<int64_t>(children.size()) - node.children;
  checkArity(node);
}

void ValueBuilder::checkArity(const Node &node) const {
  const AdtInfo &adt = descriptor.adts[node.variant->adt];
  if (adt.arity < 0)
    return;
  int64_t parts = 0;
  for (size_t i = 0; i < node.variant->fields.size(); ++i)
    parts += countParts(node.variant->fields[i].type, pool[node.cells + i],
                        node.variant->adt);
  if (parts > adt.arity)
    raise("'", node.variant->name, "' has ", parts, " children of ADT ",
          adt.name, ", but the model declares arity ", adt.arity);
}

int64_t ValueBuilder::countParts(const Type &type, int64_t cell,
                                 int adt) const {
  if (type.kind != Type::List)
    return type.kind == Type::Adt && type.adt == adt;
  if (!type.element().holdsNodes())
    return 0;
  int64_t parts = 0;
  // The depth of the recursion depends on the type, not on the data.
  for (int64_t i = 0; i < listLength(cell); ++i)
    parts += countParts(type.element(), lists[listFirst(cell) + i], adt);
  return parts;
}

int64_t ValueBuilder::addList(const int64_t *cells, int64_t count) {
  int64_t first = static_cast<int64_t>(lists.size());
  lists.insert(lists.end(), cells, cells + count);
  if (lists.size() > INT32_MAX)
    raise("the lists of one instance have 2^31 or more entries");
  return listCell(first, count);
}

int64_t ValueBuilder::openScope() {
  scopes.emplace_back();
  return static_cast<int64_t>(scopes.size()) - 1;
}

void ValueBuilder::addToScope(int64_t scope, int64_t node) {
  nodes[node].inScope = static_cast<int64_t>(scopes[scope].size());
  scopes[scope].push_back(node);
}

int64_t ValueBuilder::addReference(int64_t scope, int64_t index, int adt,
                                   std::string where) {
  nodes.push_back({nullptr, static_cast<int64_t>(references.size())});
  references.push_back({scope, index, adt, std::move(where)});
  return static_cast<int64_t>(nodes.size()) - 1;
}

/// Returns the node itself, or the node that a reference refers to.
int64_t ValueBuilder::resolve(int64_t number) const {
  const Node &node = nodes[number];
  if (node.variant)
    return number;
  const Reference &reference = references[node.cells];
  const std::vector<int64_t> &scope = scopes[reference.scope];
  if (reference.index >= static_cast<int64_t>(scope.size()))
    raise(reference.where, "{\"ref\": ", reference.index,
          "} is out of range: \"nodes\" has ", scope.size(),
          scope.size() == 1 ? " node" : " nodes", ", numbered from 0");
  int64_t target = scope[reference.index];
  if (nodes[target].variant->adt != reference.adt)
    raise(reference.where, "{\"ref\": ", reference.index, "} is of ADT ",
          descriptor.adts[nodes[target].variant->adt].name, "; expected ADT ",
          descriptor.adts[reference.adt].name);
  return target;
}

void ValueBuilder::collectNodes(const Type &type, int64_t cell,
                                std::vector<int64_t> &out) const {
  if (type.kind == Type::Adt)
    out.push_back(cell);
  if (type.kind != Type::List || !type.holdsNodes())
    return;
  // The depth of the recursion depends on the type, not on the data.
  for (int64_t i = 0; i < listLength(cell); ++i)
    collectNodes(type.element(), lists[listFirst(cell) + i], out);
}

void ValueBuilder::reportCycle(int64_t node) const {
  size_t first = path.size();
  while (first > 0 && path[first - 1].node != node)
    --first;
  std::string names;
  for (size_t i = first - 1; i < path.size(); ++i) {
    int64_t number = nodes[path[i].node].inScope;
    if (number >= 0)
      names += (names.empty() ? "" : " -> ") + std::to_string(number);
    if (names.size() > 200) {
      names += " -> ...";
      break;
    }
  }
  names += " -> " + std::to_string(nodes[node].inScope);
  raise("nodes ", names,
        " (numbered from 0 in \"nodes\") form a cycle; ADT values must be "
        "acyclic");
}

void ValueBuilder::reportShared(int64_t node) const {
  const AdtInfo &adt = descriptor.adts[nodes[node].variant->adt];
  raise("node ", nodes[node].inScope,
        " (numbered from 0 in \"nodes\") is a child of two nodes, but the "
        "model declares ADT ",
        adt.name, " as 'kind ", adt.kind,
        "'; declare it 'kind dag', or copy the node");
}

/// Visits nodes depth-first from the root, and emits each after its children.
void ValueBuilder::placeNodes(Forest &forest, int64_t root) {
  if (nodes[root].placed != unplaced)
    return;
  path.clear();
  nodes[root].placed = open;
  path.push_back({root, 0});
  while (!path.empty()) {
    Visit &visit = path.back();
    Node &node = nodes[visit.node];
    if (visit.next == node.childCount) {
      emit(forest, node);
      path.pop_back();
      continue;
    }
    int64_t child = resolve(children[node.children + visit.next++]);
    if (nodes[child].placed == open)
      reportCycle(child);
    if (nodes[child].placed == unplaced) {
      nodes[child].placed = open;
      path.push_back({child, 0});
    } else if (descriptor.adts[nodes[child].variant->adt].isUnshared()) {
      reportShared(child);
    }
  }
}

void ValueBuilder::emit(Forest &forest, Node &node) {
  int64_t number = forest.numNodes++;
  if (number >= INT32_MAX)
    raise("the mini-batch has 2^31 or more nodes; use a smaller batch "
          "(--batch)");
  forest.variants.push_back(static_cast<uint8_t>(node.variant->number));
  for (size_t c = 0; c < forest.cells.size(); ++c) {
    int64_t cell = 0;
    if (c < node.variant->fields.size())
      cell =
          placeCell(forest, node.variant->fields[c].type, pool[node.cells + c],
                    {TensorCell::Field, static_cast<int64_t>(c), number, 0});
    forest.cells[c].push_back(cell);
  }
  node.placed = number;
}

/// Translates a raw cell whose nodes have all been placed in the forest.
int64_t ValueBuilder::placeCell(Forest &forest, const Type &type, int64_t cell,
                                TensorCell where) {
  switch (type.kind) {
  case Type::Adt:
    return nodes[resolve(cell)].placed;
  case Type::Tensor:
    where.handle = cell;
    forest.tensors.push_back(where);
    return cell;
  case Type::List: {
    int64_t length = listLength(cell), first = forest.listSize;
    forest.listSize += length;
    if (forest.listSize > INT32_MAX)
      raise("the lists of the mini-batch have 2^31 or more entries; use a "
            "smaller batch (--batch)");
    forest.listPool.resize(forest.listSize);
    for (int64_t i = 0; i < length; ++i) {
      int64_t entry =
          placeCell(forest, type.element(), lists[listFirst(cell) + i],
                    {TensorCell::List, 0, first + i, 0});
      forest.listPool[first + i] = entry;
    }
    return listCell(first, length);
  }
  default:
    return cell;
  }
}

void ValueBuilder::place(Forest &forest, int argument, const Type &type,
                         int64_t cell) {
  std::vector<int64_t> roots;
  collectNodes(type, cell, roots);
  for (int64_t root : roots)
    placeNodes(forest, resolve(root));
  int64_t placed =
      placeCell(forest, type, cell,
                {TensorCell::Argument, argument, forest.numInstances, 0});
  forest.arguments[argument].push_back(placed);
}

void ValueBuilder::finishInstance(Forest &forest, int64_t line) {
  ++forest.numInstances;
  forest.instanceNodes.push_back(forest.numNodes);
  forest.lines.push_back(line);
  reset();
}

void ValueBuilder::reset() {
  nodes.clear();
  pool.clear();
  lists.clear();
  children.clear();
  scopes.clear();
  references.clear();
}
