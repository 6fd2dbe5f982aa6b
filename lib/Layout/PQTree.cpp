//===- PQTree.cpp - Orders in which sets are consecutive ------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction has three steps. `bubble` finds the pertinent nodes, which are
// above leaves of the set, and the parents of these nodes. It works upwards
// from the leaves; a child inside a Q node gets its parent from a neighbor.
// `labelNodes` labels the pertinent nodes as full or partial. All leaves below
// a full node are in the set. This step only sets labels, so the tree is
// unchanged if no template fits. Then the templates change the tree: P2 ... P6,
// Q2 and Q3 in the numbering of Booth and Lueker.
//
//===----------------------------------------------------------------------===//

#include "Batch/Layout/PQTree.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace batchrt;

PQTree::PQTree(int32_t numLeaves) : leaves(numLeaves) {
  nodes.resize(numLeaves);
  for (NodeData &leaf : nodes)
    leaf.kind = Kind::Leaf;
  if (numLeaves == 1)
    top = 0;
  pseudo = newNode(Kind::Q);
  if (numLeaves < 2)
    return;
  top = newNode(Kind::P);
  for (Node leaf = 0; leaf < numLeaves; ++leaf)
    addToP(top, leaf);
}

bool PQTree::reduce(const std::vector<int32_t> &set, bool *changed) {
  if (changed)
    *changed = false;
  ++reduction;
  queue.clear();
  for (int32_t leaf : set) {
    assert(leaf >= 0 && leaf < leaves && "no such leaf");
    NodeData &data = touch(leaf);
    if (data.mark == Mark::Queued)
      continue;
    data.mark = Mark::Queued;
    data.pertinentLeaves = 1;
    queue.push_back(leaf);
  }
  int32_t numPertinent = static_cast<int32_t>(queue.size());
  if (numPertinent < 2 || numPertinent == leaves)
    return true;
  if (!bubble())
    return false;

  // Keep the leaves of the set, which come first in the queue.
  queue.resize(numPertinent);
  Node root = labelNodes(numPertinent);
  if (root == none)
    return false;
  Kind kind = nodes[root].kind;
  if (nodes[root].label == Label::Full ||
      (kind == Kind::Q && nodes[root].numPartial == 0))
    return true;

  for (size_t i = numPertinent; queue[i] != root; ++i) {
    if (label(queue[i]) != Label::Partial)
      continue;
    if (nodes[queue[i]].kind == Kind::P)
      applyP(queue[i]);
    else
      applyQ(queue[i]);
  }
  if (kind == Kind::P)
    applyRootP(root);
  else
    applyQ(root);
  if (changed)
    *changed = true;
  return true;
}

//===----------------------------------------------------------------------===//
// Finding the pertinent nodes
//===----------------------------------------------------------------------===//

/// Clears the data that an earlier reduction left in a node.
PQTree::NodeData &PQTree::touch(Node node) {
  NodeData &data = nodes[node];
  if (data.reduction == reduction)
    return data;
  ++visits;
  data.reduction = reduction;
  data.mark = Mark::Unmarked;
  data.label = Label::Empty;
  data.numPartial = 0;
  data.upper = none;
  data.pertinentChildren = data.pertinentLeaves = data.fullChildren = 0;
  data.firstFull = data.nextFull = none;
  return data;
}

PQTree::Label PQTree::label(Node node) const {
  const NodeData &data = nodes[node];
  return data.reduction == reduction ? data.label : Label::Empty;
}

bool PQTree::isQChild(Node node) const {
  Node parent = nodes[node].parent;
  return parent == interior ||
         (parent != none && nodes[parent].kind == Kind::Q);
}

/// Returns the neighbor of `node`, a child of a Q node, on the side away from
/// `previous`.
PQTree::Node PQTree::nextSibling(Node node, Node previous) const {
  const NodeData &data = nodes[node];
  return data.sibling[data.sibling[0] == previous ? 1 : 0];
}

void PQTree::unblock(Node node, Node parent) {
  nodes[node].mark = Mark::Unblocked;
  nodes[node].upper = parent;
  if (parent != none)
    ++touch(parent).pertinentChildren;
}

bool PQTree::bubble() {
  // Number of runs of blocked siblings, and a flag that is set if the root of
  // the tree was reached.
  int64_t blocks = 0, offTheTop = 0;
  blocked.clear();
  size_t next = 0;
  while (static_cast<int64_t>(queue.size() - next) + blocks + offTheTop > 1) {
    if (next == queue.size())
      return false;
    Node node = queue[next++];
    nodes[node].mark = Mark::Blocked;

    Node blockedSiblings[2], parent = nodes[node].parent;
    int numBlocked = 0;
    if (isQChild(node))
      for (Node sibling : nodes[node].sibling) {
        if (sibling == none || nodes[sibling].reduction != reduction)
          continue;
        if (nodes[sibling].mark == Mark::Blocked)
          blockedSiblings[numBlocked++] = sibling;
        else if (nodes[sibling].mark == Mark::Unblocked)
          parent = nodes[sibling].upper;
      }
    if (parent == interior) {
      blocks += 1 - numBlocked;
      blocked.push_back(node);
      continue;
    }

    unblock(node, parent);
    for (int i = 0; i < numBlocked; ++i)
      for (Node previous = node, sibling = blockedSiblings[i];
           sibling != none && nodes[sibling].reduction == reduction &&
           nodes[sibling].mark == Mark::Blocked;) {
        unblock(sibling, parent);
        Node after = nextSibling(sibling, previous);
        previous = sibling;
        sibling = after;
      }
    blocks -= numBlocked;
    if (parent == none) {
      offTheTop = 1;
    } else if (nodes[parent].mark == Mark::Unmarked) {
      nodes[parent].mark = Mark::Queued;
      queue.push_back(parent);
    }
  }
  if (blocks == 0)
    return true;
  touch(pseudo);
  for (Node node : blocked)
    if (nodes[node].mark == Mark::Blocked)
      unblock(node, pseudo);
  return true;
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// Returns the root of the pertinent nodes, or `none` if no template fits. The
/// queue then contains the pertinent nodes up to the root, children first.
PQTree::Node PQTree::labelNodes(int32_t numPertinent) {
  for (size_t i = 0; i < queue.size(); ++i) {
    Node node = queue[i];
    bool isRoot = nodes[node].pertinentLeaves == numPertinent;
    if (!labelNode(node, isRoot))
      return none;
    if (isRoot)
      return node;
    NodeData &data = nodes[node];
    NodeData &parent = nodes[data.upper];
    parent.pertinentLeaves += data.pertinentLeaves;
    if (data.label == Label::Full) {
      data.nextFull = parent.firstFull;
      parent.firstFull = node;
      ++parent.fullChildren;
    } else {
      if (parent.numPartial == 2)
        return none;
      parent.partial[parent.numPartial++] = node;
    }
    if (--parent.pertinentChildren == 0)
      queue.push_back(data.upper);
  }
  assert(false && "pertinent nodes without a root");
  return none;
}

/// Finds the run of pertinent children of a Q node, starting from one of them
/// in both directions.
PQTree::Run PQTree::pertinentRun(Node node) const {
  const NodeData &data = nodes[node];
  Node start = data.fullChildren ? data.firstFull : data.partial[0];
  bool startsPartial = data.fullChildren == 0;
  int32_t full = startsPartial ? 0 : 1, partial = startsPartial ? 1 : 0;
  Run run;
  for (int side = 0; side < 2; ++side) {
    Node previous = start, sibling = nodes[start].sibling[side];
    auto step = [&] {
      Node after = nextSibling(sibling, previous);
      previous = sibling;
      sibling = after;
    };
    for (; sibling != none && label(sibling) == Label::Full; step())
      ++full;
    run.partial[side] = sibling != none && label(sibling) == Label::Partial;
    if (run.partial[side]) {
      ++partial;
      step();
    }
    run.beyond[side] = sibling;
  }
  run.consecutive = full == data.fullChildren && partial == data.numPartial;
  return run;
}

/// Labels a node. Returns false if no template fits.
bool PQTree::labelNode(Node node, bool isRoot) {
  NodeData &data = nodes[node];
  data.label = Label::Partial;
  int maxPartial = isRoot ? 2 : 1;
  switch (data.kind) {
  case Kind::P:
    if (data.fullChildren == data.children)
      data.label = Label::Full;
    return data.numPartial <= maxPartial;
  case Kind::Q: {
    if (data.numPartial > maxPartial)
      return false;
    Run run = pertinentRun(node);
    if (!run.consecutive)
      return false;
    if (data.numPartial == 0 && run.beyond[0] == none && run.beyond[1] == none)
      data.label = Label::Full;
    if (isRoot)
      return true;
    // The set extends beyond the node. One end of the node must be a full
    // child, or a partial child that can be reversed so that its full side
    // faces outwards.
    for (int side = 0; side < 2; ++side)
      if (run.beyond[side] == none && !run.partial[side])
        return true;
    return false;
  }
  default:
    data.label = Label::Full;
    return true;
  }
}

//===----------------------------------------------------------------------===//
// Changing the tree
//===----------------------------------------------------------------------===//

PQTree::Node PQTree::newNode(Kind kind) {
  Node node = static_cast<Node>(nodes.size());
  if (freeNodes.empty()) {
    nodes.emplace_back();
  } else {
    node = freeNodes.back();
    freeNodes.pop_back();
    nodes[node] = NodeData();
  }
  nodes[node].kind = kind;
  nodes[node].reduction = reduction;
  return node;
}

void PQTree::release(Node node) {
  nodes[node].kind = Kind::Free;
  freeNodes.push_back(node);
}

void PQTree::replaceSibling(Node node, Node sibling, Node by) {
  NodeData &data = nodes[node];
  data.sibling[data.sibling[0] == sibling ? 0 : 1] = by;
}

/// Replaces `node` with `by`, which is not in the tree yet.
void PQTree::replace(Node node, Node by) {
  const NodeData &old = nodes[node];
  NodeData &data = nodes[by];
  data.parent = old.parent;
  for (int side = 0; side < 2; ++side) {
    data.sibling[side] = old.sibling[side];
    if (old.sibling[side] != none)
      replaceSibling(old.sibling[side], node, by);
  }
  if (old.parent == none)
    top = by;
  else if (old.parent != interior)
    for (Node &end : nodes[old.parent].end)
      if (end == node)
        end = by;
  data.upper = old.upper;
  if (old.upper != none)
    for (Node &partial : nodes[old.upper].partial)
      if (partial == node)
        partial = by;
}

/// Detaches a child from a P node.
void PQTree::detach(Node node) {
  NodeData &data = nodes[node];
  NodeData &parent = nodes[data.parent];
  for (int side = 0; side < 2; ++side)
    if (data.sibling[side] == none)
      parent.end[side] = data.sibling[1 - side];
    else
      nodes[data.sibling[side]].sibling[1 - side] = data.sibling[1 - side];
  --parent.children;
  data.sibling[0] = data.sibling[1] = none;
}

void PQTree::addToP(Node p, Node child) {
  NodeData &parent = nodes[p];
  NodeData &data = nodes[child];
  data.parent = p;
  data.sibling[0] = parent.end[1];
  data.sibling[1] = none;
  if (parent.end[1] == none)
    parent.end[0] = child;
  else
    nodes[parent.end[1]].sibling[1] = child;
  parent.end[1] = child;
  ++parent.children;
}

void PQTree::addToQ(Node q, int side, Node child) {
  Node end = nodes[q].end[side];
  replaceSibling(end, none, child);
  nodes[end].parent = interior;
  nodes[child].sibling[0] = end;
  nodes[child].sibling[1] = none;
  nodes[child].parent = q;
  nodes[q].end[side] = child;
}

/// Returns the side of a partial Q node where its full children are.
int PQTree::fullSide(Node q) const {
  return label(nodes[q].end[0]) == Label::Full ? 0 : 1;
}

/// Detaches the full children from a P node and returns them as one node, or
/// `none` if there are none.
PQTree::Node PQTree::groupFull(Node p) {
  Node first = nodes[p].firstFull;
  if (nodes[p].fullChildren < 2) {
    if (first != none)
      detach(first);
    return first;
  }
  Node group = newNode(Kind::P);
  nodes[group].label = Label::Full;
  for (Node child = first; child != none; child = nodes[child].nextFull) {
    detach(child);
    addToP(group, child);
  }
  return group;
}

/// Returns what remains of a detached P node: the node itself, its only child,
/// or `none`.
PQTree::Node PQTree::remainder(Node p) {
  nodes[p].label = Label::Empty;
  if (nodes[p].children > 1)
    return p;
  Node child = nodes[p].end[0];
  if (child != none)
    detach(child);
  release(p);
  return child;
}

/// Replaces `q`, a partial Q node in another Q node, with the children of `q`.
/// The full children face the pertinent neighbor of `q`, or outwards if it has
/// none.
void PQTree::flatten(Node q) {
  const NodeData data = nodes[q];
  int inner = 0;
  auto isPertinent = [&](Node sibling) {
    return sibling != none && label(sibling) != Label::Empty;
  };
  if (isPertinent(data.sibling[1]) ||
      (!isPertinent(data.sibling[0]) && data.sibling[1] == none))
    inner = 1;
  int full = fullSide(q);
  for (int side = 0; side < 2; ++side) {
    Node end = data.end[side];
    Node neighbor = data.sibling[side == full ? inner : 1 - inner];
    replaceSibling(end, none, neighbor);
    if (neighbor != none) {
      replaceSibling(neighbor, q, end);
      nodes[end].parent = interior;
      continue;
    }
    nodes[end].parent = data.parent;
    for (Node &outermost : nodes[data.parent].end)
      if (outermost == q)
        outermost = end;
  }
  release(q);
}

/// Applies templates P3 and P5, which produce a Q node with the empty children
/// on one side and the full children on the other.
void PQTree::applyP(Node node) {
  Node full = groupFull(node);
  if (nodes[node].numPartial == 0) {
    Node q = newNode(Kind::Q);
    nodes[q].label = Label::Partial;
    replace(node, q);
    Node empty = remainder(node);
    nodes[q].end[0] = empty;
    nodes[q].end[1] = full;
    for (int side = 0; side < 2; ++side) {
      NodeData &child = nodes[nodes[q].end[side]];
      child.parent = q;
      child.sibling[0] = nodes[q].end[1 - side];
      child.sibling[1] = none;
    }
    return;
  }
  Node q = nodes[node].partial[0];
  detach(q);
  replace(node, q);
  int side = fullSide(q);
  if (full != none)
    addToQ(q, side, full);
  if (Node empty = remainder(node); empty != none)
    addToQ(q, 1 - side, empty);
}

/// Applies templates P2, P4 and P6, which place the full children between the
/// children of the partial ones and leave the empty ones unchanged.
void PQTree::applyRootP(Node node) {
  Node full = groupFull(node);
  if (nodes[node].numPartial == 0) {
    addToP(node, full);
    return;
  }
  Node q = nodes[node].partial[0];
  int side = fullSide(q);
  if (full != none)
    addToQ(q, side, full);
  if (nodes[node].numPartial == 2) {
    Node other = nodes[node].partial[1];
    detach(other);
    int otherSide = fullSide(other);
    Node inner = nodes[q].end[side], outer = nodes[other].end[otherSide];
    replaceSibling(inner, none, outer);
    replaceSibling(outer, none, inner);
    nodes[inner].parent = nodes[outer].parent = interior;
    nodes[q].end[side] = nodes[other].end[1 - otherSide];
    nodes[nodes[q].end[side]].parent = q;
    release(other);
  }
  if (nodes[node].children == 1) {
    detach(q);
    replace(node, q);
    release(node);
  }
}

/// Applies templates Q2 and Q3.
void PQTree::applyQ(Node node) {
  int numPartial = nodes[node].numPartial;
  for (int i = 0; i < numPartial; ++i)
    flatten(nodes[node].partial[i]);
}

//===----------------------------------------------------------------------===//
// Reading the tree
//===----------------------------------------------------------------------===//

std::vector<PQTree::Node> PQTree::children(Node node) const {
  std::vector<Node> result;
  Node previous = none;
  for (Node child = nodes[node].end[0]; child != none;) {
    result.push_back(child);
    Node next = nodes[node].kind == Kind::P ? nodes[child].sibling[1]
                                            : nextSibling(child, previous);
    previous = child;
    child = next;
  }
  return result;
}

std::vector<PQTree::Node> PQTree::preorder() const {
  std::vector<Node> result, stack;
  if (top != none)
    stack.push_back(top);
  while (!stack.empty()) {
    Node node = stack.back();
    stack.pop_back();
    result.push_back(node);
    std::vector<Node> below = children(node);
    stack.insert(stack.end(), below.rbegin(), below.rend());
  }
  return result;
}

std::vector<int32_t> PQTree::frontier() const {
  std::vector<int32_t> result = preorder();
  result.erase(std::remove_if(result.begin(), result.end(),
                              [&](Node node) { return node >= leaves; }),
               result.end());
  return result;
}

/// Returns an error message if `node` or a link to its children is wrong, and
/// otherwise an empty string. Marks the children in `seen`, so the walk
/// terminates even if links are wrong.
std::string PQTree::checkNode(Node node, std::vector<char> &seen) const {
  const NodeData &data = nodes[node];
  std::string name = "node " + std::to_string(node);
  if ((data.kind == Kind::Leaf) != (node < leaves) || node == pseudo ||
      data.kind == Kind::Free)
    return name + " has a wrong kind";
  int64_t count = 0;
  Node previous = none;
  for (Node child = data.end[0]; child != none;) {
    const NodeData &childData = nodes[child];
    std::string childName = "node " + std::to_string(child);
    if (seen[child]++)
      return childName + " is in two places";
    ++count;
    bool isEnd = previous == none || child == data.end[1];
    Node parent = data.kind == Kind::Q && !isEnd ? interior : node;
    if (childData.parent != parent)
      return childName + " has a wrong parent";
    if (childData.sibling[0] != previous &&
        (data.kind == Kind::P || childData.sibling[1] != previous))
      return childName + " is not linked to its neighbor";
    Node next = data.kind == Kind::P ? childData.sibling[1]
                                     : nextSibling(child, previous);
    if ((child == data.end[1]) != (next == none))
      return name + " has a wrong end";
    previous = child;
    child = next;
  }
  if (data.kind == Kind::P && (count < 2 || count != data.children))
    return name + " is a P node with " + std::to_string(count) +
           " children; expected " + std::to_string(data.children);
  if (data.kind == Kind::Q && count < 3)
    return name + " is a Q node with " + std::to_string(count) +
           " children; expected at least 3";
  if (data.kind == Kind::Leaf && count != 0)
    return name + " is a leaf with children";
  return "";
}

std::string PQTree::check() const {
  if (top == none)
    return leaves == 0 ? "" : "the tree has no root";
  std::vector<char> seen(nodes.size(), 0);
  seen[top] = 1;
  if (nodes[top].parent != none || nodes[top].sibling[0] != none ||
      nodes[top].sibling[1] != none)
    return "the root has a parent or siblings";
  std::vector<Node> stack{top};
  while (!stack.empty()) {
    Node node = stack.back();
    stack.pop_back();
    if (std::string message = checkNode(node, seen); !message.empty())
      return message;
    for (Node child : children(node))
      stack.push_back(child);
  }
  for (Node node : freeNodes)
    if (nodes[node].kind != Kind::Free || seen[node]++)
      return "node " + std::to_string(node) + " is both free and used";
  seen[pseudo] = 1;
  for (size_t node = 0; node < nodes.size(); ++node)
    if (!seen[node])
      return "node " + std::to_string(node) + " is neither free nor used";
  return "";
}

std::string
PQTree::verify(const std::vector<std::vector<int32_t>> &sets) const {
  std::vector<Node> order = preorder();
  std::vector<Node> parents(nodes.size(), none);
  for (Node node : order)
    for (Node child : children(node))
      parents[child] = node;
  std::vector<int32_t> below(nodes.size()), inSet(nodes.size());
  auto addUp = [&](std::vector<int32_t> &counts) {
    for (size_t i = order.size(); i-- > 1;)
      counts[parents[order[i]]] += counts[order[i]];
  };
  std::fill(below.begin(), below.begin() + leaves, 1);
  addUp(below);

  for (size_t s = 0; s < sets.size(); ++s) {
    std::string message =
        "set " + std::to_string(s) + " is not consecutive in every order";
    std::fill(inSet.begin(), inSet.end(), 0);
    for (int32_t leaf : sets[s])
      inSet[leaf] = 1;
    int32_t size = std::accumulate(inSet.begin(), inSet.end(), 0);
    addUp(inSet);
    for (Node node : order) {
      if (inSet[node] == 0 || inSet[node] == below[node])
        continue;
      if (inSet[node] != size)
        return message;
      // Check that all leaves of the set are below one child, or that they are
      // all leaves of adjacent children of a Q node.
      int64_t runs = 0;
      bool inRun = false, inOneChild = false;
      for (Node child : children(node)) {
        inOneChild |= inSet[child] == size;
        runs += inSet[child] && !inRun;
        inRun = inSet[child];
      }
      if (!inOneChild && (nodes[node].kind != Kind::Q || runs != 1))
        return message;
    }
  }
  return "";
}
