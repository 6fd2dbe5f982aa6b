//===- Parts.h - Checked conversions of Python objects ----------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_PYTHON_PARTS_H
#define BATCH_PYTHON_PARTS_H

#include <nanobind/nanobind.h>

#include <string>

namespace batch::python {
/// Returns an object as a T without a conversion. If it is not a T, raises a
/// TypeError, "expected WHAT, got ...".
template <class T>
T as(nanobind::handle object, const std::string &what) {
  T result;
  if (nanobind::try_cast(object, result, /*convert=*/false))
    return result;
  const std::string type =
      nanobind::cast<std::string>(nanobind::type_name(object.type()));
  throw nanobind::type_error(("expected " + what + ", got " + type).c_str());
}

/// Returns the object as a tuple of `count` elements. If it is not such a
/// tuple, raises a TypeError, "expected WHAT, got ...".
inline nanobind::tuple partsOf(nanobind::handle object, size_t count,
                               const std::string &what) {
  auto result = as<nanobind::tuple>(object, what);
  if (result.size() != count)
    throw nanobind::type_error(("expected " + what +
                                ", got a tuple of length " +
                                std::to_string(result.size()))
                                   .c_str());
  return result;
}
} // namespace batch::python

#endif // BATCH_PYTHON_PARTS_H
