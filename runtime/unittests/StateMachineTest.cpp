//===- StateMachineTest.cpp - Tests of state machines and their files -----===//
//
// Part of the Batch project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "batch-runtime/Schedule/StateMachine.h"
#include "PolicyGraphs.h"

using namespace batchrt;
using namespace batchrt::test;

TEST(StateMachine, RoundTrip) {
  for (int seed = 0; seed < 30; ++seed) {
    TaskGraph graph = someGraph(seed);
    LearningOptions options;
    options.trials = 10;
    for (int e = 0; e < numEncodings; ++e) {
      StateMachine stateMachine =
          learn({graph}, namesOf(graph), static_cast<Encoding>(e), options)
              .stateMachine;
      std::string text = stateMachine.print();
      StateMachine read;
      ASSERT_EQ(read.parse(text, "file"), "");
      EXPECT_EQ(read.print(), text);
      EXPECT_EQ(read.types(), namesOf(graph));
      EXPECT_EQ(read.states(), stateMachine.states());
      PolicyScheduler scheduler;
      size_t batches = scheduler.follow(graph, stateMachine).batches.size();
      EXPECT_EQ(scheduler.follow(graph, read).batches.size(), batches);
    }
  }
}

TEST(StateMachine, MalformedFiles) {
  const std::string good = "batch-policy 1\n"
                           "encoding sort\n"
                           "kernel leaf\n"
                           "kernel inner node\n"
                           "state 0 1 : 1\n"
                           "state 1 0 : 0\n"
                           "end\n";
  StateMachine stateMachine;
  ASSERT_EQ(stateMachine.parse(good, "f"), "");
  EXPECT_EQ(stateMachine.print(), good);
  auto replaced = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "f:1: the file ends before 'end'"},
      {"{}\n", "f:1: expected 'batch-policy', found '{}'"},
      {replaced("policy 1", "policy 2"),
       "f:1: unsupported version 2; expected version 1"},
      {replaced("sort", "graph"),
       "f:2: unknown encoding 'graph'; expected base, max, sort, share or "
       "urgency"},
      {replaced("inner node", "leaf"), "f:4: duplicate kernel 'leaf'"},
      {replaced("kernel leaf", "kernel"), "f:3: expected the name of a kernel"},
      {replaced("0 1 : 1", "0 2 : 0"),
       "f:5: kernel 2 is out of range for 2 kernels"},
      {replaced("0 1 : 1", "0 -1 : 0"), "f:5: expected a number, found '-1'"},
      {replaced("0 1 : 1", "0 1 1"), "f:5: expected 'state KERNELS : KERNEL'"},
      {replaced("0 1 : 1", ": 1"), "f:5: expected 'state KERNELS : KERNEL'"},
      {replaced("0 1 : 1", "0 0 : 0"), "f:5: kernel 0 is listed twice"},
      {replaced("0 1 : 1", "0 : 1"),
       "f:5: kernel 1 is not one of the ready kernels"},
      {replaced("1 0 : 0", "0 1 : 0"), "f:6: duplicate state"},
      {replaced("end", "ende"), "f:7: expected 'state' or 'end', found 'ende'"},
      {replaced("end\n", ""), "f:7: the file ends before 'end'"},
      {good + "more\n", "f:8: unexpected text after 'end'"},
      // With encoding `share`, the last number of a state is a share. With
      // encoding `urgency`, it is the most urgent kernel.
      {replaced("sort", "share"),
       "f:5: kernel 1 is not one of the ready kernels"},
      {"batch-policy 1\nencoding share\nkernel a\nstate 0 8 : 0\nend\n",
       "f:4: expected eighths from 0 to 7, found '8'"},
      {replaced("sort", "urgency"),
       "f:5: kernel 1 is not one of the ready kernels"},
      {replaced("sort", "base"),
       "f:6: the kernels are not in the order of their numbers"},
  };
  for (const auto &[text, message] : cases)
    EXPECT_EQ(stateMachine.parse(text, "f"), message);
  EXPECT_EQ(stateMachine.print(), good);
  std::string many = "batch-policy 1\nencoding sort\n";
  for (size_t i = 0; i <= TaskGraph::maxTypes; ++i)
    many += "kernel " + std::to_string(i) + "\n";
  EXPECT_EQ(stateMachine.parse(many, "f"),
            "f:4099: too many kernels; expected at most 4096");
}

TEST(StateMachine, OtherNumbersOfKernels) {
  StateMachine stateMachine(Encoding::Base, {"a", "b"});
  stateMachine.set({0, 1}, 0);
  EXPECT_EQ(stateMachine.renumber({"b", "c"}),
            "the policy is for another program: unknown kernel 'a'; learn a "
            "policy from this program");
  EXPECT_EQ(stateMachine.next({0, 1}), 0);
  EXPECT_EQ(stateMachine.renumber({"c", "b", "a"}), "");
  EXPECT_EQ(stateMachine.next({1, 2}), 2);
  EXPECT_EQ(stateMachine.next({0, 1}), -1);
  StateMachine max(Encoding::Max, {"a", "b"});
  max.set({0, 1, 1}, 0);
  EXPECT_EQ(max.renumber({"b", "a"}), "");
  EXPECT_EQ(max.next({0, 1, 0}), 1);
  StateMachine urgency(Encoding::Urgency, {"a", "b"});
  urgency.set({0, 1, 1}, 1);
  EXPECT_EQ(urgency.renumber({"c", "b", "a"}), "");
  EXPECT_EQ(urgency.next({1, 2, 1}), 1);
  StateMachine share(Encoding::Share, {"a", "b"});
  share.set({1, 0, 7}, 0);
  EXPECT_EQ(share.renumber({"b", "a"}), "");
  EXPECT_EQ(share.next({0, 1, 7}), 1);
}
