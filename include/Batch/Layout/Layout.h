//===- Layout.h - Variables in the order of batches -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Orders variables in memory so that the values read or written by a batch of
// operators are adjacent. The order of the operators is the same for all
// operands and results (ED-Batch, section 3.2 and appendix B). Does not depend
// on IR.
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_LAYOUT_LAYOUT_H
#define BATCH_LAYOUT_LAYOUT_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace batchrt {

struct Variable {
  int64_t bytes = 0;
  /// Variables in different spaces are never adjacent.
  int32_t space = 0;
};

/// Batch of operators. `accesses` are its operands and results. Each access
/// lists one variable per operator. All accesses list the operators in the same
/// order.
struct BatchAccesses {
  std::vector<std::vector<int32_t>> accesses;

  int32_t numOperators() const {
    return accesses.empty() ? 0 : static_cast<int32_t>(accesses[0].size());
  }
};

struct LayoutProblem {
  std::vector<Variable> variables;
  std::vector<BatchAccesses> batches;
  /// If true, an operand that is the same variable for all operators is read in
  /// place. Otherwise it is copied for each operator.
  bool sharedReads = false;
};

/// Access that needs a gather copy, because its variables are not adjacent in
/// the required order. The copy gathers an operand or scatters a result.
struct AccessCopy {
  enum class Reason {
    /// A variable occurs twice, so no layout avoids the copy.
    repeated,
    /// The variables are in several spaces, so no layout avoids the copy.
    spaces,
    /// The access conflicts with accesses that need no copy.
    conflict
  };
  int32_t batch;
  int32_t access;
  int64_t bytes;
  Reason reason;
};

struct Layout {
  /// All variables, in the order of their locations in memory.
  std::vector<int32_t> order;
  /// Operators of each batch, in the order of the memory locations of their
  /// operands and results.
  std::vector<std::vector<int32_t>> operators;
  /// Copies, ordered by batch and then by access.
  std::vector<AccessCopy> copies;

  int64_t bytesCopied() const;
};

/// Returns a description of the first error in a problem: accesses of one batch
/// with different lengths, or a variable that does not exist. Returns an empty
/// string if there is none.
std::string checkProblem(const LayoutProblem &problem);

/// Finds an order, if one exists, that needs no copies except those that every
/// layout needs. The search is exact, and its time is nearly linear in the
/// total size of the accesses.
std::optional<Layout> findLayoutWithoutConflicts(const LayoutProblem &problem);

/// Returns the result of findLayoutWithoutConflicts() if there is one.
/// Otherwise returns a layout that copies the fewest bytes and, among such
/// layouts, needs the fewest copies. If the problem is large or has many
/// conflicts, adds accesses greedily instead, beginning with those that have
/// the most bytes. An access that conflicts with accesses added earlier is
/// copied. Finding a conflict takes a logarithmic number of attempts, each of
/// which costs as much as a call of findLayoutWithoutConflicts().
Layout findLayout(const LayoutProblem &problem);

/// Computes the copies that a given order of variables needs. Orders the
/// operators of each batch so that the fewest bytes are copied.
Layout layoutInOrder(const LayoutProblem &problem, std::vector<int32_t> order);

/// Returns a description of the first error in a layout, or an empty string.
/// Does not depend on how the layout was found. It is an error if a variable or
/// an operator does not occur exactly once. It is also an error if an access is
/// neither consecutive in the order of its batch nor copied. Unnecessary
/// copies, and copies with the wrong number of bytes, are also errors.
std::string verifyLayout(const LayoutProblem &problem, const Layout &layout);

} // namespace batchrt

#endif // BATCH_LAYOUT_LAYOUT_H
