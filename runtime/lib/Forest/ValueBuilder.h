//===- ValueBuilder.h - Building the values of one instance -----*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_LIB_FOREST_VALUEBUILDER_H
#define BATCH_RUNTIME_LIB_FOREST_VALUEBUILDER_H

#include "batch-runtime/Forest.h"

#include <functional>

namespace batchrt {

/// Builds one instance from values in the order of the input text, with forward
/// and backward references. Places the nodes in a forest, children before
/// parents, in post-order from each root. Drops nodes that no root reaches. No
/// function recurses over user data.
class ValueBuilder {
public:
  explicit ValueBuilder(const Descriptor &descriptor)
      : descriptor(descriptor) {}

  /// Adds a node. Raw cells are as in ABI.h, but refer to raw nodes, raw list
  /// entries, and handles of input tensors. `cells` has one cell for each
  /// field. Raises an error without a location if the node has more children
  /// than its ADT allows.
  int64_t addNode(const Variant &variant, const int64_t *cells);
  /// Adds a node whose cells the caller fills in later, before it calls
  /// links().
  int64_t addUnlinked(const Variant &variant, const int64_t *cells);
  int64_t addList(const int64_t *cells, int64_t count);
  int64_t *cells(int64_t node) { return &pool[nodes[node].cells]; }
  void links(int64_t node);
  const Variant &variant(int64_t node) const { return *nodes[node].variant; }

  /// Opens a scope: a list of nodes in which {"ref": i} refers to node i.
  int64_t openScope();
  void addToScope(int64_t scope, int64_t node);
  int64_t scopeSize(int64_t scope) const {
    return static_cast<int64_t>(scopes[scope].size());
  }
  /// Adds a raw node that refers to node `index` of a scope. place() raises an
  /// error that begins with `where` if that node does not exist or is not of
  /// the given ADT.
  int64_t addReference(int64_t scope, int64_t index, int adt,
                       std::string where);

  /// Sets argument `argument` of the next instance of the forest.
  void place(Forest &forest, int argument, const Type &type, int64_t cell);
  /// Finishes the instance: places its nodes and drops all raw data.
  void finishInstance(Forest &forest, int64_t line);
  void reset();

  int64_t largestIndex = 0;

private:
  struct Node {
    const Variant *variant; ///< null: a reference
    int64_t cells;
    int64_t children = 0, childCount = 0;
    int64_t placed = unplaced;
    int64_t inScope = -1; ///< number in its scope
  };
  struct Reference {
    int64_t scope, index;
    int adt;
    std::string where;
  };
  static constexpr int64_t unplaced = -1, open = -2;

  int64_t resolve(int64_t node) const;
  void placeNodes(Forest &forest, int64_t root);
  void emit(Forest &forest, Node &node);
  int64_t placeCell(Forest &forest, const Type &type, int64_t cell,
                    TensorCell where);
  void collectNodes(const Type &type, int64_t cell,
                    std::vector<int64_t> &out) const;
  void checkArity(const Node &node) const;
  /// Returns the number of values of ADT `adt` that a cell of the type
  /// contains.
  int64_t countParts(const Type &type, int64_t cell, int adt) const;
  [[noreturn]] void reportCycle(int64_t node) const;
  [[noreturn]] void reportShared(int64_t node) const;

  const Descriptor &descriptor;
  std::vector<Node> nodes;
  std::vector<int64_t> pool, lists, children;
  std::vector<std::vector<int64_t>> scopes;
  std::vector<Reference> references;
  struct Visit {
    int64_t node, next;
  };
  std::vector<Visit> path;
};

} // namespace batchrt

#endif // BATCH_RUNTIME_LIB_FOREST_VALUEBUILDER_H
