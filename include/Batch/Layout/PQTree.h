//===- PQTree.h - Orders in which sets are consecutive ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PQ tree of Booth and Lueker (Testing for the consecutive ones property,
// interval graphs, and graph planarity using PQ-tree algorithms, 1976). It
// represents all orders of the numbers 0 ... n-1 in which each of several sets
// is consecutive. Does not depend on IR.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LAYOUT_PQTREE_H
#define BATCH_LAYOUT_PQTREE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace batchrt {

/// The leaves of the tree are the numbers. Read from left to right, they form
/// an order. The children of a P node may be in any order, and the children of
/// a Q node in their order or its reverse. P nodes have at least two children,
/// Q nodes at least three.
class PQTree {
public:
  using Node = int32_t;
  static constexpr Node none = -1;
  enum class Kind : uint8_t { Leaf, P, Q, Free };

  /// Creates the tree of all orders of 0 ... numLeaves-1.
  explicit PQTree(int32_t numLeaves);

  /// Keeps only the orders in which `set` is consecutive. If there is no such
  /// order, returns false and leaves the tree unchanged. Visits only nodes that
  /// the set touches. If all reductions of a tree succeed, their total time is
  /// linear in the sizes of the sets. Sets `changed` to true if the orders of
  /// the tree change, and to false otherwise.
  bool reduce(const std::vector<int32_t> &set, bool *changed = nullptr);

  /// Returns one of the orders that the tree represents.
  std::vector<int32_t> frontier() const;

  /// Returns the number of leaves. Leaf number i is node i.
  int32_t numLeaves() const { return leaves; }
  /// Returns an exclusive upper bound on node numbers.
  int32_t numNodes() const { return static_cast<int32_t>(nodes.size()); }
  /// Returns the root, or `none` if there are no leaves.
  Node root() const { return top; }
  Kind kind(Node node) const { return nodes[node].kind; }
  /// Returns the children of a node from left to right.
  std::vector<Node> children(Node node) const;

  /// Returns a description of the first error in the structure of the tree, or
  /// an empty string if there is none.
  std::string check() const;
  /// Returns a description of the first set that is not consecutive in some
  /// order of the tree. Returns an empty string if all sets are consecutive in
  /// all orders. Does not depend on how the tree was built.
  std::string verify(const std::vector<std::vector<int32_t>> &sets) const;

  /// Returns the total number of nodes visited by all reductions so far. This
  /// number is the cost of the reductions.
  int64_t visited() const { return visits; }

private:
  enum class Mark : uint8_t { Unmarked, Queued, Blocked, Unblocked };
  enum class Label : uint8_t { Empty, Partial, Full };

  struct NodeData {
    /// Parent: `none` for the root, and `interior` for interior children of a Q
    /// node. All other nodes, including the two outermost children of a Q node,
    /// store their parent.
    Node parent = none;
    /// Under a P node, the previous and the next child. Under a Q node, the two
    /// neighbors in no particular order, so a Q node can be reversed in
    /// constant time.
    Node sibling[2] = {none, none};
    /// The first and the last child of a P node, or the two outermost children
    /// of a Q node.
    Node end[2] = {none, none};
    /// Number of children of a P node.
    int32_t children = 0;
    Kind kind = Kind::Free;

    // These fields are valid only in reduction number `reduction`.
    Mark mark = Mark::Unmarked;
    Label label = Label::Empty;
    uint8_t numPartial = 0;
    uint32_t reduction = 0;
    /// Parent of the node. Unlike `parent`, this field is also set for interior
    /// children.
    Node upper = none;
    int32_t pertinentChildren = 0, pertinentLeaves = 0, fullChildren = 0;
    Node firstFull = none, nextFull = none;
    Node partial[2] = {none, none};
  };
  static constexpr Node interior = -2;

  /// Run of adjacent pertinent children of a Q node.
  struct Run {
    bool consecutive; ///< true if the run contains all pertinent children
    /// For each side: the neighbor of the run, or `none` at the end of the Q
    /// node, and whether the outermost child of the run is partial.
    Node beyond[2];
    bool partial[2];
  };

  NodeData &touch(Node node);
  Label label(Node node) const;
  bool isQChild(Node node) const;
  Node nextSibling(Node node, Node previous) const;

  bool bubble();
  void unblock(Node node, Node parent);
  Node labelNodes(int32_t numPertinent);
  Run pertinentRun(Node node) const;
  bool labelNode(Node node, bool isRoot);

  Node newNode(Kind kind);
  void release(Node node);
  void replace(Node node, Node by);
  void replaceSibling(Node node, Node sibling, Node by);
  void detach(Node node);
  void addToP(Node p, Node child);
  void addToQ(Node q, int side, Node child);
  int fullSide(Node q) const;
  Node groupFull(Node p);
  Node remainder(Node p);
  void flatten(Node q);
  void applyP(Node node);
  void applyRootP(Node node);
  void applyQ(Node node);

  std::string checkNode(Node node, std::vector<char> &seen) const;
  std::vector<Node> preorder() const;

  std::vector<NodeData> nodes;
  std::vector<Node> freeNodes;
  int32_t leaves;
  Node top = none;
  /// Represents a Q node of which only some interior children are pertinent.
  /// The actual Q node cannot be found in linear time, and is not needed.
  Node pseudo;
  uint32_t reduction = 0;
  int64_t visits = 0;
  /// Reused buffers: a work list, and the nodes that wait for an unblocked
  /// neighbor.
  std::vector<Node> queue, blocked;
};

} // namespace batchrt

#endif // BATCH_LAYOUT_PQTREE_H
