//===- Components.cpp - Strongly connected components ---------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batch/Analysis/Components.h"

#include "llvm/ADT/GraphTraits.h"
#include "llvm/ADT/SCCIterator.h"

using namespace mlir;

namespace {
struct Node {
  SmallVector<const Node *> successors;
};
} // namespace

template <>
struct llvm::GraphTraits<const Node *> {
  using NodeRef = const Node *;
  using ChildIteratorType = ArrayRef<const Node *>::iterator;
  static NodeRef getEntryNode(NodeRef node) { return node; }
  static ChildIteratorType child_begin(NodeRef node) {
    return node->successors.begin();
  }
  static ChildIteratorType child_end(NodeRef node) {
    return node->successors.end();
  }
};

SmallVector<SmallVector<unsigned>>
batch::findComponents(ArrayRef<SmallVector<unsigned>> successors) {
  // The root has edges to all other nodes, so its component comes last.
  std::vector<Node> nodes(successors.size() + 1);
  for (auto [node, numbers] : llvm::zip(nodes, successors))
    for (unsigned number : numbers)
      node.successors.push_back(&nodes[number]);
  for (const Node &node : ArrayRef(nodes).drop_back())
    nodes.back().successors.push_back(&node);

  SmallVector<SmallVector<unsigned>> components;
  const Node *root = &nodes.back();
  for (auto it = llvm::scc_begin(root); !it.isAtEnd(); ++it) {
    auto &component = components.emplace_back();
    for (const Node *node : *it)
      component.push_back(node - nodes.data());
    llvm::sort(component);
  }
  components.pop_back();
  return components;
}
