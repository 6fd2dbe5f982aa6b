//===- Layout.h - Variables in the order of batches -------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An order of variables in memory in which the values that a batch of operators
// reads and writes lie next to each other, for all operands and results in the
// same order (ED-Batch, section 3.2 and appendix B). Free of IR.
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
  /// Variables of different spaces are never next to each other.
  int32_t space = 0;
};

/// A batch of operators: `accesses` are its operands and results; each lists
/// one variable per operator, in the same order of operators.
struct BatchAccesses {
  std::vector<std::vector<int32_t>> accesses;

  int32_t numOperators() const {
    return accesses.empty() ? 0 : static_cast<int32_t>(accesses[0].size());
  }
};

struct LayoutProblem {
  std::vector<Variable> variables;
  std::vector<BatchAccesses> batches;
  /// An operand that is the same variable for all operators is read in place;
  /// otherwise it is copied for each of them.
  bool sharedReads = false;
};

/// An access for which a gather copy gathers (an operand) or scatters (a
/// result), because its variables are not where the batch needs them.
struct AccessCopy {
  enum class Reason {
    /// A variable occurs twice; no layout helps.
    repeated,
    /// Its variables are of several spaces; no layout helps.
    spaces,
    /// It does not fit the accesses that need no copy.
    conflict
  };
  int32_t batch;
  int32_t access;
  int64_t bytes;
  Reason reason;
};

struct Layout {
  /// All variables in the order in which they lie in memory.
  std::vector<int32_t> order;
  /// The operators of every batch in the order in which they lie in memory.
  std::vector<std::vector<int32_t>> operators;
  /// In the order of batches and accesses.
  std::vector<AccessCopy> copies;

  int64_t bytesCopied() const;
};

/// Returns what is wrong with a problem, accesses of one batch with different
/// lengths or a variable that does not exist; empty if nothing is.
std::string checkProblem(const LayoutProblem &problem);

/// Finds an order that copies nothing except accesses that no layout helps, if
/// there is one. Exact; nearly linear in the size of all accesses.
std::optional<Layout> findLayoutWithoutConflicts(const LayoutProblem &problem);

/// The same if there is one. Otherwise copies the fewest bytes, and then with
/// the fewest copies; in large problems, or ones with many conflicts, accesses
/// are satisfied one after another instead, most bytes first, and those that do
/// not fit the ones before are copied. An attempt is as fast as the function
/// above; a conflict takes a logarithmic number of them.
Layout findLayout(const LayoutProblem &problem);

/// The copies that a given order of variables needs. The operators of a batch
/// are in the order that suits most bytes.
Layout layoutInOrder(const LayoutProblem &problem, std::vector<int32_t> order);

/// Returns what is wrong with a layout, from its orders alone: not every
/// variable or operator occurs exactly once, or an access is neither
/// consecutive in the order of its batch nor copied, or is copied without need.
/// Empty if nothing is wrong.
std::string verifyLayout(const LayoutProblem &problem, const Layout &layout);

} // namespace batchrt

#endif // BATCH_LAYOUT_LAYOUT_H
