//===- count-accesses.cpp - Counts memory accesses on the emulator --------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// count-accesses OBJECT.so INPUTS.jsonl BLOCKS BEGIN END BYTES
//
// Runs a mini-batch of all inputs and prints a JSON object. For each block and
// warp, "writes" contains the number of bytes written to [BEGIN, END) of the
// last BYTES bytes of shared memory. "reads" contains the number of bytes read
// from each region of global memory.
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Emulator.h"
#include "batch-runtime/Error.h"
#include "batch-runtime/Forest.h"
#include "batch-runtime/Object.h"
#include "batch-runtime/Parameters.h"
#include "batch-runtime/Session.h"

#include <iostream>

using namespace batchrt;

static void countAccesses(const std::vector<std::string> &words) {
  if (words.size() != 6)
    raise("usage: count-accesses OBJECT.so INPUTS.jsonl BLOCKS BEGIN END "
          "BYTES");
  CompiledObject object = CompiledObject::open(words[0]);
  InputOptions given;
  given.inputs = words[1];
  Inputs inputs(object.descriptor(), given);
  BoundParameters parameters(object.descriptor(),
                             {"random:1", inputs.largestIndex});
  AccessCounts counts;
  // The variables of a block come first in its shared memory.
  const int64_t first =
      object.descriptor().launch->sharedBytes - std::stoll(words[5]);
  counts.begin = first + std::stoll(words[3]);
  counts.end = first + std::stoll(words[4]);
  SessionOptions options;
  options.emulator.blocks = std::stoll(words[2]);
  options.emulator.counts = &counts;
  Session session(object, parameters, inputs.tensors, options);
  for (auto &forest : inputs.batches)
    session.run(*forest);
  const char *before = "{\"writes\": [";
  for (const std::vector<int64_t> &warps : counts.writes) {
    std::cout << before;
    before = ", ";
    const char *inside = "[";
    for (int64_t bytes : warps) {
      std::cout << inside << bytes;
      inside = ", ";
    }
    std::cout << ']';
  }
  before = "], \"reads\": {";
  for (const auto &[region, bytes] : counts.reads) {
    std::cout << before << '"' << region << "\": " << bytes;
    before = ", ";
  }
  std::cout << "}}\n";
}

int main(int count, char **words) {
  try {
    countAccesses(std::vector<std::string>(words + 1, words + count));
  } catch (const std::exception &error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
