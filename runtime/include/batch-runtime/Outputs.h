//===- Outputs.h - Results of all instances ---------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_OUTPUTS_H
#define BATCH_RUNTIME_OUTPUTS_H

#include "batch-runtime/Session.h"

#include <optional>
#include <string>
#include <vector>

namespace batchrt {

/// One named output, its rows stacked over instances in input order.
struct Output {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> rowShape;
  bool ragged = false;             ///< else one row for each instance
  std::vector<char> data;          ///< dense rows
  std::vector<int64_t> offsets{0}; ///< row ranges of the instances

  int64_t rows() const { return offsets.back(); }
  int64_t instances() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t rowElements() const { return elementCount(rowShape); }
  std::vector<int64_t> shape() const;
};

/// Rows of an output, where a session has them.
struct RowSource {
  const Type *type; ///< of a tensor or a number; null: zeros
  int64_t cell;
  int64_t rows; ///< 1, or so many of a tensor that has a dimension more
};

/// Copies the rows of an output to an array, whose strides are in bytes.
void copyRows(const Session &session, const std::vector<RowSource> &sources,
              DType type, const std::vector<int64_t> &rowShape, char *to,
              const int64_t *strides);

/// Collects the results of an entry. A tensor or scalar result is one output of
/// its name; a list, or a tensor whose rows another result counts, one ragged
/// output; an ADT result one ragged output for each
/// field name that is a tensor or scalar, rows in post-order: depth-first from
/// the root, fields in declared order, a shared node at its first visit. Where
/// two results have fields of one name, the outputs are RESULT.FIELD; where the
/// variants of a result disagree on a field's type, VARIANT.FIELD.
class OutputCollector {
public:
  explicit OutputCollector(const Descriptor &descriptor);

  /// Forgets what has been collected and found. Its memory is kept, unless it
  /// is large.
  void clear();
  /// Appends the results of one instance of the session's mini-batch.
  void collect(const Session &session, int64_t instance);
  /// As collect(), but of the rows only says where they are: no data.
  void find(const Session &session, int64_t instance);
  /// What was found of an output since clear(); it is there until the session
  /// goes on.
  const std::vector<RowSource> &found(size_t output) const {
    return sources[output];
  }
  const std::vector<Output> &outputs() const { return list; }
  /// The result of the entry that is an output by itself; -1 for fields of ADT
  /// values.
  int resultOf(size_t output) const;
  /// Writes all outputs; nothing is left under the name if that fails.
  void write(const std::string &path) const;

private:
  int addOutput(const std::string &name, const Type &type, bool ragged);
  void appendNothing();
  void append(int output, const Session &session, const Type &type,
              int64_t cell);
  void appendRows(size_t result, const Session &session, int64_t instance);
  void walk(const Session &session, size_t result, int64_t root);
  void pushChildren(const Session &session, int64_t node);

  const Descriptor &descriptor;
  std::vector<Output> list;
  std::vector<std::vector<RowSource>> sources; ///< by output
  /// The output of each result that is no ADT value, else -1.
  std::vector<int> plain;
  /// [result][variant number][field] -> output or -1
  std::vector<std::vector<std::vector<int>>> fields;
  // The traversal.
  struct Visit {
    int64_t node;
    size_t mark; ///< its children are those on the stack above
  };
  std::vector<Visit> path;
  std::vector<int64_t> children;
  std::vector<uint64_t> seen;
  uint64_t epoch = 0;
};

/// The outputs of one instance as a JSON object: by name the elements of its
/// row, or, of a ragged output, an array of such rows.
std::string toJson(const std::vector<Output> &outputs, int64_t instance);

/// The result of a comparison.
struct Difference {
  double largestError = 0; ///< |a-b| / max(|b|, rms of the output)
  /// The first place that exceeds the tolerance, in words.
  std::optional<std::string> first;
};

/// Compares with a reference, bit for bit (-0 equals +0, NaN equals NaN), or
/// with a tolerance on |a-b| / max(|b|, rms of the reference output).
Difference compareOutputs(const std::vector<Output> &outputs,
                          const std::vector<Output> &reference,
                          std::optional<double> tolerance);

/// Compares with a file that has the entries "INSTANCE.OUTPUT":
/// |a-b| <= absolute + relative * |b|, integers exactly. Instances that were
/// not run are skipped.
Difference compareExpected(const std::vector<Output> &outputs,
                           const TensorFile &expected, double relative,
                           double absolute, int64_t *compared);

} // namespace batchrt

#endif // BATCH_RUNTIME_OUTPUTS_H
