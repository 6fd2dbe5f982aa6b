//===- StageRowsTest.cpp - Tests of limits of rows on a device ------------===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/StageRows.h"
#include "Support.h"

using namespace batchrt;

namespace {
// Kernels that need rows for results, for scratch memory and for list elements.
const char description[] = R"({
  "tables": [{"name": "n", "rowBytes": 64, "group": 0},
             {"name": "wide", "rowBytes": 65536, "group": 0}],
  "groups": 1,
  "kernels": [
    {"name": "small", "results": [{"table": 0}]},
    {"name": "wide", "results": [{"table": 0}, {"table": 1}]},
    {"name": "stored", "results": [{"table": 0}], "taskScratch": 65536},
    {"name": "block", "results": [{"rowBytes": 4}, {"rowBytes": 65536}]},
    {"name": "lists", "operands": [{"cell": 1, "kind": "gather", "table": 0,
                                    "ragged": true}],
     "results": [{"table": 0}],
     "raggedScratch": [{"operand": 0, "bytes": 65536}]}]
})";
enum { Small, Wide, Stored, Block, Lists };
} // namespace

TEST(StageRows, OfTasks) {
  const Descriptor descriptor(description);
  auto check = [&](int64_t kernel, int64_t tasks) {
    checkStageRows(descriptor, descriptor.kernels[kernel], tasks);
  };
  check(Small, mostStageRows);
  EXPECT_MESSAGE("a step of kernel 'small' has 2146435072 tasks with up to 1 "
                 "rows each, but the limit of a device is 2146435071 rows; use "
                 "a smaller batch (--batch)",
                 check(Small, mostStageRows + 1));
  for (int64_t kernel : {Wide, Stored, Block}) {
    check(kernel, mostStageRows / 1024);
    EXPECT_MESSAGE("has 2096128 tasks with up to 1024 rows each",
                   check(kernel, mostStageRows / 1024 + 1));
    // The product has more than 64 bits.
    EXPECT_MESSAGE("up to 1024 rows each", check(kernel, INT64_MAX));
  }
}

TEST(StageRows, OfLists) {
  const Descriptor descriptor(description);
  int32_t offsets[] = {0, 5, static_cast<int32_t>(mostStageRows / 1024)};
  BatchOperand operand = {nullptr, nullptr, offsets};
  BatchStep step = {};
  step.kernel = Lists;
  step.count = 2;
  step.operands = &operand;
  checkStageRows(descriptor, step);
  ++offsets[2];
  EXPECT_MESSAGE("a step of kernel 'lists' has 2096128 elements of lists with "
                 "up to 1024 rows each",
                 checkStageRows(descriptor, step));
}

TEST(StageRows, OfInstances) {
  ReplicateInfo info;
  info.tasks = 64;
  info.bytes = mostStageRows / 4 * 64;
  info.memberBytes = info.bytes;
  checkInstanceRows(info, 100); // one instance at a time
  info.capacity = 5;
  checkInstanceRows(info, 4);
  EXPECT_MESSAGE("5 instances that run at the same time have up to "
                 "2683043835 rows",
                 checkInstanceRows(info, 100));
  info.capacity = 1;
  info.nodeBytes = mostStageRows / 64 * 64;
  checkInstanceRows(info, 100);
  info.nodeBytes += 64;
  EXPECT_MESSAGE("1 instance has up to", checkInstanceRows(info, 100));
  info.capacity = 3;
  info.nodeBytes = mostStageRows / 64 / 2 * 64;
  checkInstanceRows(info, 2);
  EXPECT_MESSAGE("3 instances that run", checkInstanceRows(info, 3));
}
