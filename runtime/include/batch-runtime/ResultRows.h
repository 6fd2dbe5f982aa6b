//===- ResultRows.h - Rows of the results of a run --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_RESULTROWS_H
#define BATCH_RUNTIME_RESULTROWS_H

#include "batch-runtime/ABI.h"
#include "batch-runtime/Descriptor.h"
#include "batch-runtime/Forest.h"

#include <utility>
#include <vector>

namespace batchrt {

/// Returns the result cell of an instance without results: no node, no task, or
/// an empty list.
inline int64_t noValue(const Type &type) {
  return type.kind == Type::List ? 0 : -1;
}

/// Finds the tensors in the results of a mini-batch, including those in fields
/// of ADT values. A result may be empty (noValue). The next mini-batch reuses
/// its memory.
class ResultRows {
public:
  /// Calls `body(handle, table)` for every tensor. A tensor that occurs in
  /// several places is visited once per place.
  template <class Body>
  void forEach(const Descriptor &descriptor, const BatchContext &context,
               int64_t numInstances, const Body &body) {
    seen.assign(context.numNodes, false);
    for (size_t r = 0; r < descriptor.results.size(); ++r) {
      const Type &type = descriptor.results[r].type;
      for (int64_t i = 0; i < numInstances; ++i) {
        work.emplace_back(&type, context.results[r][i]);
        while (!work.empty())
          visit(descriptor, context, body);
      }
    }
  }

private:
  template <class Body>
  void visit(const Descriptor &descriptor, const BatchContext &context,
             const Body &body) {
    auto [type, cell] = work.back();
    work.pop_back();
    if (type->kind == Type::Tensor) {
      body(cell, type->table);
    } else if (type->kind == Type::List) {
      for (int64_t i = 0; i < listLength(cell); ++i)
        work.emplace_back(&type->element(),
                          context.listPool[listFirst(cell) + i]);
    } else if (type->kind == Type::Adt && cell >= 0 && !seen[cell]) {
      seen[cell] = true;
      const Variant *variant =
          descriptor.variantByNumber(context.variants[cell]);
      for (size_t f = 0; f < variant->fields.size(); ++f)
        work.emplace_back(&variant->fields[f].type, context.cells[f][cell]);
    }
  }

  std::vector<std::pair<const Type *, int64_t>> work;
  std::vector<bool> seen; ///< indexed by node
};

} // namespace batchrt

#endif // BATCH_RUNTIME_RESULTROWS_H
