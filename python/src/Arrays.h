//===- Arrays.h - Arrays of Python's for the C API --------------*- C++ -*-===//
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

/// The name that NumPy and JAX have for a type.
const char *typeName(BatchElementType type);

/// Arrays that stay valid while the C API reads them.
class ArrayList {
public:
  ArrayList() = default;
  ~ArrayList();
  ArrayList(const ArrayList &) = delete;
  ArrayList &operator=(const ArrayList &) = delete;

  /// Of a field of this type: NumPy has no bfloat16, but int16 with its bits.
  BatchArray add(nanobind::handle object, const char *what,
                 BatchElementType wanted);

private:
  using ReadArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

  bool addBuffer(nanobind::handle object, BatchArray &result);
  BatchArray addArray(nanobind::handle object, const char *what);

  std::deque<std::vector<int64_t>> extents;
  std::deque<Py_buffer> buffers; ///< which point into themselves
  std::vector<ReadArray> kept;
};

struct FreeMemory {
  void operator()(char *memory) const noexcept;
};
/// Memory for an array, so aligned that JAX takes it as it is.
using Memory = std::unique_ptr<char, FreeMemory>;
Memory makeMemory(size_t bytes);
} // namespace batch::python

#endif // BATCH_PYTHON_ARRAYS_H
