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

/// A named output: the rows of all instances, stacked in input order.
struct Output {
  std::string name;
  DType type = DType::F32;
  std::vector<int64_t> rowShape;
  bool ragged = false;             ///< false: one row for each instance
  std::vector<char> data;          ///< dense rows
  std::vector<int64_t> offsets{0}; ///< row ranges of the instances

  int64_t rows() const { return offsets.back(); }
  int64_t instances() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t rowElements() const { return elementCount(rowShape); }
  std::vector<int64_t> shape() const;
};

/// Location of rows of an output in a session.
struct RowSource {
  const Type *type; ///< type of a tensor or a scalar; null: zeros
  int64_t cell;
  int64_t rows; ///< number of rows: 1, or any number for a tensor with one more
                ///< dimension
};

/// Copies the rows of an output to an array with strides in bytes.
void copyRows(const Session &session, const std::vector<RowSource> &sources,
              DType type, const std::vector<int64_t> &rowShape, char *to,
              const int64_t *strides);

/// Collects the results of an entry. A tensor or scalar result becomes one
/// output with its name. A list becomes one ragged output, as does a tensor
/// whose number of rows is another result. An ADT result becomes one ragged
/// output for each name of a tensor or scalar field. The rows of such an output
/// are in post-order: depth-first from the root, fields in declared order, a
/// shared node at its first visit. If two results have fields with the same
/// name, the outputs are named RESULT.FIELD. If the variants of a result
/// disagree on a field's type, the outputs are named VARIANT.FIELD.
class OutputCollector {
public:
  explicit OutputCollector(const Descriptor &descriptor);

  /// Clears all rows that have been collected or found. Keeps their memory
  /// unless it is large.
  void clear();
  /// Appends the results of one instance of the session's mini-batch.
  void collect(const Session &session, int64_t instance);
  /// Like collect(), but only records the locations of the rows, without data.
  void find(const Session &session, int64_t instance);
  /// Returns the locations that find() has recorded for an output since the
  /// last call of clear(). They are valid until the session's next run.
  const std::vector<RowSource> &found(size_t output) const {
    return sources[output];
  }
  const std::vector<Output> &outputs() const { return list; }
  /// Returns the number of the entry's result that an output stores, or -1 for
  /// fields of ADT values.
  int resultOf(size_t output) const;
  /// Writes all outputs to a file: a JSON object per instance if its name ends
  /// in .jsonl, else safetensors. On failure, no partial file is left.
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
  std::vector<std::vector<RowSource>> sources; ///< indexed by output
  /// For each result: its output, or -1 for an ADT value.
  std::vector<int> plain;
  /// [result][variant number][field] -> output or -1
  std::vector<std::vector<std::vector<int>>> fields;
  // State of the traversal of ADT values.
  struct Visit {
    int64_t node;
    size_t mark; ///< its children are above this position in `children`
  };
  std::vector<Visit> path;
  std::vector<int64_t> children;
  std::vector<uint64_t> seen;
  uint64_t epoch = 0;
};

/// Returns the outputs of one instance as a JSON object. The object maps names
/// to the elements of the instance's row, or to an array of rows if the output
/// is ragged.
std::string toJson(const std::vector<Output> &outputs, int64_t instance);

/// The result of a comparison.
struct Difference {
  double largestError = 0; ///< |a-b| / max(|b|, rms of the reference)
  /// A description of the first difference that exceeds the tolerance.
  std::optional<std::string> first;
};

/// Compares outputs with a reference. The tolerance limits |a-b| / max(|b|, rms
/// of the reference output). Without a tolerance, the comparison is bit for
/// bit, except that -0 equals +0 and NaN equals NaN.
Difference compareOutputs(const std::vector<Output> &outputs,
                          const std::vector<Output> &reference,
                          std::optional<double> tolerance);

/// Compares outputs with a file that has entries "INSTANCE.OUTPUT": floats by
/// |a-b| <= absolute + relative * |b|, integers exactly. Skips instances that
/// were not run.
Difference compareExpected(const std::vector<Output> &outputs,
                           const TensorFile &expected, double relative,
                           double absolute, int64_t *compared);

} // namespace batchrt

#endif // BATCH_RUNTIME_OUTPUTS_H
