//===- SealObject.cpp - Seals an object written by hand -------------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// seal-object FILE: appends a length and a checksum to FILE, as batch-compile
// does.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/ObjectSeal.h"

#include <cstdio>
#include <fstream>
#include <iterator>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: seal-object FILE\n");
    return 1;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(in), {});
  in.close();
  std::ofstream out(argv[1], std::ios::binary | std::ios::app);
  out << batchrt::sealOf(bytes.data(), bytes.size());
  out.close();
  return bytes.empty() || !out;
}
