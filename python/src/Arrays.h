//===- Arrays.h - Python arrays for the C API -------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_PYTHON_ARRAYS_H
#define BATCH_PYTHON_ARRAYS_H

#include "batch-runtime/CAPI.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <deque>
#include <memory>
#include <vector>

namespace batch::python {
nanobind::dlpack::dtype dlpackType(BatchElementType type);

/// Returns the NumPy and JAX name of a type.
const char *typeName(BatchElementType type);

/// Arrays that stay valid while the C API reads them.
class ArrayList {
public:
  ArrayList() = default;
  ~ArrayList();
  ArrayList(const ArrayList &) = delete;
  ArrayList &operator=(const ArrayList &) = delete;

  /// Adds the array of a field. `what` names the field in messages. For type
  /// bfloat16, which NumPy does not support, the array may have type int16 and
  /// the same bits.
  BatchArray add(nanobind::handle object, const char *what,
                 BatchElementType wanted);

private:
  using ReadArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

  bool addBuffer(nanobind::handle object, BatchArray &result);
  BatchArray addArray(nanobind::handle object, const char *what);

  std::deque<std::vector<int64_t>> extents;
  std::deque<Py_buffer> buffers; ///< a deque: a Py_buffer can point into itself
  std::vector<ReadArray> owned;
};

struct FreeMemory {
  void operator()(char *memory) const noexcept;
};
/// Memory of an array, aligned so that JAX uses it without a copy.
using Memory = std::unique_ptr<char, FreeMemory>;
Memory makeMemory(size_t bytes);
} // namespace batch::python

#endif // BATCH_PYTHON_ARRAYS_H
