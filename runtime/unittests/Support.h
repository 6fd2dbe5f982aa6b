//===- Support.h - Common code of tests -------------------------*- C++ -*-===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BATCH_RUNTIME_UNITTESTS_SUPPORT_H
#define BATCH_RUNTIME_UNITTESTS_SUPPORT_H

#include "batch-runtime/Error.h"

#include "gtest/gtest.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <unistd.h>

/// A directory that is removed at the end of the test.
class TemporaryFolder {
public:
  TemporaryFolder() {
    path = testing::TempDir() + "batch-XXXXXX";
    if (!mkdtemp(path.data()))
      std::abort();
  }
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (error)
      std::fprintf(stderr, "%s: %s\n", path.c_str(), error.message().c_str());
  }
  std::string file(const std::string &name) const { return path + "/" + name; }
  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }

private:
  std::string path;
};

/// Returns the message of the batchrt::Error that `body` raises, or "no error".
template <class Body>
std::string messageOf(Body body) {
  try {
    body();
  } catch (const batchrt::Error &error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_MESSAGE(part, ...)                                              \
  EXPECT_PRED2(                                                                \
      [](const std::string &message, const std::string &wanted) {              \
        return message.find(wanted) != std::string::npos;                      \
      },                                                                       \
      messageOf([&] { __VA_ARGS__; }), part)

#endif // BATCH_RUNTIME_UNITTESTS_SUPPORT_H
