//===- Error.h - Errors with messages for the user --------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_ERROR_H
#define BATCH_RUNTIME_ERROR_H

#include <sstream>
#include <stdexcept>
#include <string>

namespace batchrt {

/// An error in the user's input: files, values, parameters, objects. The
/// message gives the location of the error and explains how to fix it.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

template <class... Parts>
std::string concat(const Parts &...parts) {
  std::ostringstream stream;
  (void)(stream << ... << parts);
  return stream.str();
}

template <class... Parts>
[[noreturn]] void raise(const Parts &...parts) {
  throw Error(concat(parts...));
}

/// Returns a shape as text, such as "[4,256]". An extent of -1 is printed as
/// "?".
template <class Shape>
std::string shapeName(const Shape &shape) {
  std::string text = "[";
  for (auto extent : shape) {
    if (text.size() > 1)
      text += ",";
    text += extent < 0 ? "?" : std::to_string(extent);
  }
  return text + "]";
}

} // namespace batchrt

#endif // BATCH_RUNTIME_ERROR_H
